"""Random values of every type and encoding."""

import random
import struct


def read_stream(server, key):
    """Returns all of a stream except the numbers of its nodes, in which servers differ, and the last activity of its
    consumers, which Redis 7.0 lacks."""
    info = server.execute_command("XINFO", "STREAM", key, "FULL", "COUNT", 0)
    for group in info[-1]:
        for consumer in group[-1]:
            if b"active-time" in consumer:
                at = consumer.index(b"active-time")
                del consumer[at:at + 2]
    return info[:2] + info[6:]


READ = {
    b"string": lambda server, key: server.get(key),
    b"list": lambda server, key: server.lrange(key, 0, -1),
    b"set": lambda server, key: server.smembers(key),
    b"hash": lambda server, key: server.hgetall(key),
    b"zset": lambda server, key: server.zrange(key, 0, -1, withscores=True),
    b"stream": read_stream,
}


def read(server, key):
    kind = server.type(key)
    return kind, READ[kind](server, key)


class Maker:
    """Fills a key with random values, chosen so that every encoding occurs."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def word(self):
        kind = self.random.randrange(5)
        if kind == 0:
            return b"%d" % self.random.randrange(-(2**63), 2**63)
        if kind == 1:
            return b"%d" % self.random.randrange(-200, 70000)
        if kind == 2:
            return b"ab" * self.random.choice([0, 1, 20, 33, 40, 100, 3000, 10000])
        return self.random.randbytes(self.random.choice([1, 3, 20, 60, 70, 130]))

    def score(self):
        number = struct.unpack("d", self.random.randbytes(8))[0]
        some = [number, float("inf"), float("-inf"), 0.1, -3.0, 2.0**60]
        return self.random.choice([each for each in some if each == each])

    def fill(self, server, key):
        server.delete(key)
        size = self.random.choice([1, 2, 5, 100, 127, 128, 129, 600, 1500])
        words = [self.word() for _ in range(size)]
        kind = self.random.randrange(7)
        if kind == 0:
            server.set(key, words[0])
        elif kind == 1:
            server.rpush(key, *words)
        elif kind == 2:
            server.sadd(key, *words)
        elif kind == 3:
            server.sadd(key, *(self.random.randrange(2**40) for _ in range(size)))
        elif kind == 4:
            server.hset(key, mapping={word: self.word() for word in words})
        elif kind == 5:
            server.zadd(key, {word: self.score() for word in words})
        else:
            self.add_entries(server, key, words)
            self.add_groups(server, key)

    def add_entries(self, server, key, words):
        """Adds an entry for each word, and deletes some of the entries."""
        pipe = server.pipeline(transaction=False)
        for number, word in enumerate(words, 1):
            names = [b"first", b"second", self.word()][:self.random.choice([1, 2, 2, 2, 3])]
            pipe.xadd(key, {name: word if name == b"first" else self.word() for name in names},
                      id=f"{number // 3 + 1}-{number}")
        if self.random.randrange(2) == 0:
            deleted = self.random.sample(range(1, len(words) + 1), len(words) // 3)
            pipe.xdel(key, "9-0", *(f"{number // 3 + 1}-{number}" for number in deleted))
        pipe.execute()

    def add_groups(self, server, key):
        for group in (b"early", b"late")[:self.random.randrange(3)]:
            server.xgroup_create(key, group, "0")
            for consumer in (b"a", b"b"):
                found = server.xreadgroup(group, consumer, {key: ">"}, count=self.random.choice([1, 50, 700]))
                delivered = [each for each, _ in found[0][1]] if found else []
                if some := delivered[::3]:
                    server.xack(key, group, *some)
