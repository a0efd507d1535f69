"""Random requests of a master: what its stream and its log contain."""

from peer import request

ELEMENTS = ["a", "b", "1", "-7", "", "x" * 100, "\r\n*1"]


class Stream:
    """The requests of a master, and the bytes that it sends."""

    def __init__(self, source):
        self.random = source
        self.requests = []
        for _ in range(source.randrange(1, 30)):
            self.unit()

    def key(self, kind):
        return f"{kind}{self.random.randrange(4)}"

    def element(self):
        return self.random.choice(ELEMENTS)

    def write(self):
        number = self.random.randrange(1000)
        return self.random.choice([
            lambda: ("SET", self.key("s"), self.element()),
            lambda: ("SET", self.key("s"), self.element(), "PXAT", 4102444800000 + number),
            lambda: ("APPEND", self.key("a"), self.element()), lambda: ("INCRBY", self.key("n"), number),
            lambda: ("RPUSH", self.key("l"), self.element(), self.element()), lambda: ("LPOP", self.key("l")),
            lambda: ("HSET", self.key("h"), self.element(), number), lambda: ("HDEL", self.key("h"), self.element()),
            lambda: ("SADD", self.key("t"), self.element(), number), lambda: ("SREM", self.key("t"), self.element()),
            lambda: ("ZADD", self.key("z"), number, self.element()), lambda: ("ZREM", self.key("z"), self.element()),
            lambda: ("ZADD", self.key("z"), "INCR", 1, self.element()),
            lambda: ("DEL", self.key(self.random.choice("slhtz"))), lambda: ("SELECT", self.random.randrange(3)),
            lambda: ("SWAPDB", 0, 1), lambda: ("PERSIST", self.key("s")),
            lambda: ("PEXPIREAT", self.key("z"), 4102444800000 + number)])()

    def unit(self):
        kind = self.random.random()
        if kind < 0.15:
            block = [self.write() for _ in range(self.random.randrange(4))]
            self.requests += [("MULTI",), *block, ("EXEC",)]
        elif kind < 0.25:
            self.requests.append(self.random.choice([("PING",), ("REPLCONF", "GETACK", "*"), ("PUBLISH", "c", "m")]))
        else:
            self.requests.append(self.write())

    def data(self):
        return b"".join(request(*words) for words in self.requests)
