"""Random commands on strings, lists, hashes, sets and sorted sets, alone, in scripts and in transactions,
which give the same replies on each server.

Left out are replies that depend on random choices or on the order in a hash table, unless the step sorts
them, and deadlines relative to the clock. A script calls several commands, converts their replies and errors,
and returns them. A transaction is one step of several requests, so that no other step is between them."""

import random

from paired_rounds import Step

TYPES = ("string", "list", "hash", "set", "zset")
KEYS = [f"{kind}{number}".encode() for kind in TYPES for number in range(3)]
FUTURE_MS = 4102444800000  # 2100-01-01
ELEMENTS = [b"a", b"b", b"c", b"d", b"e", b"10", b"-3", b"2.5", b"", b"x" * 70]

# Runs requests, which follow their lengths in ARGV, and returns their replies. Errors become texts.
SCRIPT = b"""
local replies, at = {}, 1
local function plain(reply)
  if type(reply) ~= 'table' then return reply == false and 'none' or reply end
  if reply.err then return 'error ' .. reply.err end
  if reply.ok then return 'status ' .. reply.ok end
  local list = {}
  for i, each in ipairs(reply) do list[i] = plain(each) end
  return list
end
while at <= #ARGV do
  local count = tonumber(ARGV[at])
  local words = {}
  for i = 1, count do words[i] = ARGV[at + i] end
  replies[#replies + 1] = plain(redis.pcall(unpack(words)))
  at = at + count + 1
end
return replies
"""

# Runs a request, and sorts its reply, whose order differs between the servers.
SORTED = b"local r = redis.pcall(unpack(ARGV)) if not r.err then table.sort(r) end return r"


class MixedSteps:
    """Generates the steps of one seed. Scores are sums of powers of two, because newer releases than 7.0.15
    write others with fewer digits. -0 is left out, because Redis keeps it only in some encodings."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.makers = {"string": self.string, "list": self.list, "hash": self.hash, "set": self.set,
                       "zset": self.zset, "names": self.names, "any": self.any}
        # Rounds differ in the types that they use most.
        self.weights = [self.random.choice([1, 1, 6]) for _ in self.makers]

    def next(self):
        kind = self.random.random()
        if kind < 0.1:
            return Step(self.script([self.command() for _ in range(self.random.randrange(1, 6))]))
        if kind < 0.2:
            return Step(self.transaction())
        return Step(self.command())

    # --- Arguments. ---

    def key(self, kind):
        kind = self.random.choice(TYPES) if self.random.random() < 0.06 else kind
        return f"{kind}{self.random.randrange(3)}".encode()

    def element(self):
        return self.random.choice(ELEMENTS)

    def elements(self, most=4):
        return [self.element() for _ in range(self.random.randrange(1, most + 1))]

    def index(self):
        return self.random.choice([0, 1, 2, 5, -1, -2, -5, 100, -100])

    def number(self):
        return self.random.choice([0, 1, -1, 7, 10**6, -(10**6), 2**62, b"x", b"1.5"])

    def score(self):
        return self.random.choice([0, 1, -1, b"2.5", b"1e3", b"inf", b"-inf", b"nan", b"0.25", 3, 5, 8])

    def bound(self):
        return self.random.choice([b"-inf", b"+inf", 0, 1, b"(1", b"(3", 5, b"(inf", b"x"])

    def lex(self):
        return self.random.choice([b"-", b"+", b"[a", b"(b", b"[d", b"(", b"[", b"x"])

    def future(self):
        return FUTURE_MS + self.random.randrange(5) * 10**6

    def when(self):
        return self.future() if self.random.random() < 0.9 else 1000

    def maybe(self, *words, chance=0.3):
        return list(words) if self.random.random() < chance else []

    def limit(self):
        return self.maybe(b"LIMIT", self.random.choice([0, 1, -1]), self.random.choice([2, 0, -1]))

    # --- Requests. ---

    def command(self):
        kind = self.random.choices(list(self.makers), self.weights)[0]
        return self.makers[kind]()

    def script(self, requests):
        words = [b"EVAL", SCRIPT, 0]
        for request in requests:
            words += [len(request), *request]
        return words

    def transaction(self):
        """All requests of a transaction, with WATCH, errors while queuing, and DISCARD."""
        requests = []
        if self.random.random() < 0.3:
            watched = self.key("string")
            requests.append([b"WATCH", watched])
            if self.random.random() < 0.3:
                requests.append([b"SET", watched, self.element()])
        requests.append([b"MULTI"])
        for _ in range(self.random.randrange(5)):
            requests.append(self.script([self.command()]) if self.random.random() < 0.2 else self.command())
        if self.random.random() < 0.1:
            requests.append(self.random.choice([[b"NOSUCH"], [b"GET"], [b"MULTI"], [b"WATCH", b"k"]]))
        requests.append([b"DISCARD"] if self.random.random() < 0.1 else [b"EXEC"])
        requests += self.maybe([b"UNWATCH"]) + self.maybe([b"EXEC"], chance=0.05)
        return requests

    def string(self):
        key = self.key("string")
        return self.random.choice([
            lambda: [b"SET", key, self.element(), *self.maybe(self.random.choice([b"NX", b"XX"])),
                     *self.maybe(b"GET"), *self.maybe(self.random.choice([b"KEEPTTL"]))],
            lambda: [b"SET", key, self.element(), b"PXAT", self.future()],
            lambda: [b"GET", key], lambda: [b"GETDEL", key], lambda: [b"GETSET", key, self.element()],
            lambda: [b"GETEX", key, *self.random.choice([[], [b"PERSIST"], [b"PXAT", self.future()]])],
            lambda: [b"SETNX", key, self.element()], lambda: [b"APPEND", key, self.element()],
            lambda: [b"STRLEN", key], lambda: [b"INCR", key], lambda: [b"DECR", key],
            lambda: [b"INCRBY", key, self.number()], lambda: [b"DECRBY", key, self.number()],
            lambda: [b"INCRBYFLOAT", key, self.random.choice([b"0.1", b"-2.5", b"1e5", b"inf", b"x", 3])],
            lambda: [b"SETRANGE", key, self.random.choice([0, 3, 12, -1]), self.element()],
            lambda: [b"GETRANGE", key, self.random.choice([0, 1, 2]), self.random.choice([0, 3, 100])],
            lambda: [b"MGET", *(self.key("string") for _ in range(3))],
            lambda: [b"MSET", key, self.element(), self.key("string"), self.element()],
            lambda: [b"MSETNX", key, self.element(), self.key("string"), self.element()],
            lambda: [b"LCS", key, self.key("string"), *self.maybe(b"LEN"), *self.maybe(b"IDX")]])()

    def list(self):
        key = self.key("list")
        side = lambda: self.random.choice([b"LEFT", b"RIGHT"])
        return self.random.choice([
            lambda: [self.random.choice([b"LPUSH", b"RPUSH", b"RPUSH", b"LPUSHX", b"RPUSHX"]), key, *self.elements()],
            lambda: [b"RPUSH", key, *self.elements(30)],
            lambda: [self.random.choice([b"LPOP", b"RPOP"]), key, *self.maybe(self.random.choice([0, 1, 3, -1]))],
            lambda: [b"LRANGE", key, self.index(), self.index()], lambda: [b"LLEN", key],
            lambda: [b"LINDEX", key, self.index()], lambda: [b"LSET", key, self.index(), self.element()],
            lambda: [b"LINSERT", key, self.random.choice([b"BEFORE", b"AFTER"]), self.element(), self.element()],
            lambda: [b"LREM", key, self.random.choice([0, 1, -2]), self.element()],
            lambda: [b"LTRIM", key, self.index(), self.index()],
            lambda: [b"LMOVE", key, self.key("list"), side(), side()], lambda: [b"RPOPLPUSH", key, self.key("list")],
            lambda: [b"LMPOP", 2, key, self.key("list"), side(), *self.maybe(b"COUNT", self.random.choice([1, 2, 0]))],
            lambda: [b"LPOS", key, self.element(), *self.maybe(b"RANK", self.random.choice([1, -1, 2, 0])),
                     *self.maybe(b"COUNT", self.random.choice([0, 1, 2])), *self.maybe(b"MAXLEN", 3)],
            lambda: [b"SORT", key, *self.maybe(b"LIMIT", 0, 3), *self.maybe(b"DESC"), b"ALPHA",
                     *self.maybe(b"STORE", self.key("list"))]])()

    def hash(self):
        key = self.key("hash")
        return self.random.choice([
            lambda: [b"HSET", key, *(word for _ in range(3) for word in (self.element(), self.element()))],
            lambda: [b"HSETNX", key, self.element(), self.element()], lambda: [b"HGET", key, self.element()],
            lambda: [b"HMGET", key, *self.elements()], lambda: [b"HDEL", key, *self.elements()],
            lambda: [b"HEXISTS", key, self.element()], lambda: [b"HLEN", key],
            lambda: [b"HSTRLEN", key, self.element()], lambda: [b"HINCRBY", key, self.element(), self.number()],
            lambda: [b"HINCRBYFLOAT", key, self.element(), self.random.choice([b"0.1", b"-2.5", b"1e5", b"nan", 3])],
            lambda: [b"EVAL", SORTED, 0, self.random.choice([b"HKEYS", b"HVALS", b"HGETALL"]), key]])()

    def set(self):
        key, other = self.key("set"), self.key("set")
        return self.random.choice([
            lambda: [b"SADD", key, *self.elements(6)], lambda: [b"SREM", key, *self.elements()],
            lambda: [b"SADD", key, *(self.random.randrange(20) for _ in range(4))],
            lambda: [b"SISMEMBER", key, self.element()], lambda: [b"SMISMEMBER", key, *self.elements()],
            lambda: [b"SCARD", key], lambda: [b"SMOVE", key, other, self.element()],
            lambda: [self.random.choice([b"SUNIONSTORE", b"SINTERSTORE", b"SDIFFSTORE"]), self.key("set"), key, other],
            lambda: [b"SINTERCARD", 2, key, other, *self.maybe(b"LIMIT", self.random.choice([0, 1, 2]))],
            lambda: [b"EVAL", SORTED, 0, self.random.choice([b"SUNION", b"SINTER", b"SDIFF"]), key, other],
            lambda: [b"EVAL", SORTED, 0, b"SMEMBERS", key]])()

    def zset(self):
        key, other = self.key("zset"), self.key("zset")
        options = lambda: self.random.sample([b"NX", b"XX", b"GT", b"LT", b"CH", b"INCR"], self.random.choice([0, 0, 1, 2]))
        side = lambda: self.random.choice([b"MIN", b"MAX"])
        operation = lambda: [2, key, other, *self.maybe(b"WEIGHTS", self.random.choice([1, 3, b"0.5", b"inf", b"x"]), 2),
                             *self.maybe(b"AGGREGATE", self.random.choice([b"SUM", b"MIN", b"MAX"]))]
        return self.random.choice([
            lambda: [b"ZADD", key, *options(), self.score(), self.element()],
            lambda: [b"ZADD", key, *(word for element in self.elements(6) for word in (self.score(), element))],
            lambda: [b"ZINCRBY", key, self.score(), self.element()], lambda: [b"ZREM", key, *self.elements()],
            lambda: [b"ZSCORE", key, self.element()], lambda: [b"ZMSCORE", key, *self.elements()],
            lambda: [self.random.choice([b"ZRANK", b"ZREVRANK"]), key, self.element()],
            lambda: [b"ZCARD", key], lambda: [b"ZCOUNT", key, self.bound(), self.bound()],
            lambda: [b"ZRANGE", key, self.index(), self.index(), *self.maybe(b"REV"), *self.maybe(b"WITHSCORES")],
            lambda: [b"ZRANGE", key, self.bound(), self.bound(), b"BYSCORE", *self.maybe(b"REV"), *self.limit()],
            lambda: [b"ZRANGEBYSCORE", key, self.bound(), self.bound(), *self.maybe(b"WITHSCORES"), *self.limit()],
            lambda: [b"ZRANGESTORE", other, key, self.index(), self.index(), *self.maybe(b"REV")],
            lambda: [b"ZPOPMIN", key, *self.maybe(self.random.choice([0, 2, -1]))], lambda: [b"ZPOPMAX", key],
            lambda: [b"ZMPOP", 2, key, other, side(), *self.maybe(b"COUNT", self.random.choice([1, 3, 0]))],
            lambda: [b"ZREMRANGEBYRANK", key, self.index(), self.index()],
            lambda: [b"ZREMRANGEBYSCORE", key, self.bound(), self.bound()],
            lambda: [b"ZUNIONSTORE", self.key("zset"), *operation()],
            lambda: [b"ZINTERSTORE", self.key("zset"), *operation()],
            lambda: [b"ZDIFFSTORE", self.key("zset"), 2, key, other],
            lambda: [b"ZUNION", *operation(), *self.maybe(b"WITHSCORES")], lambda: [b"ZINTER", *operation()],
            lambda: [b"ZDIFF", 2, key, other, *self.maybe(b"WITHSCORES")],
            lambda: [b"ZINTERCARD", 2, key, other, *self.maybe(b"LIMIT", 1)]])()

    def names(self):
        """Ranges of members are defined only if all scores are equal."""
        key = f"names{self.random.randrange(2)}".encode()
        return self.random.choice([
            lambda: [b"ZADD", key, *(word for element in self.elements(6) for word in (0, element))],
            lambda: [b"ZREM", key, self.element()], lambda: [b"ZLEXCOUNT", key, self.lex(), self.lex()],
            lambda: [b"ZRANGE", key, self.lex(), self.lex(), b"BYLEX", *self.maybe(b"REV"), *self.limit()],
            lambda: [b"ZREVRANGEBYLEX", key, self.lex(), self.lex(), *self.limit()],
            lambda: [b"ZRANGESTORE", b"names0", b"names1", self.lex(), self.lex(), b"BYLEX"],
            lambda: [b"ZREMRANGEBYLEX", key, self.lex(), self.lex()]])()

    def any(self):
        key, other = self.random.choice(KEYS), self.random.choice(KEYS)
        how = lambda: self.maybe(self.random.choice([b"NX", b"XX", b"GT", b"LT"]))
        return self.random.choice([
            lambda: [b"DEL", key, *self.maybe(other)], lambda: [b"UNLINK", key], lambda: [b"EXISTS", key, other, key],
            lambda: [b"TYPE", key], lambda: [b"RENAME", key, other], lambda: [b"RENAMENX", key, other],
            lambda: [b"COPY", key, other, *self.maybe(b"REPLACE")], lambda: [b"PERSIST", key],
            lambda: [b"PEXPIREAT", key, self.when(), *how()],
            lambda: [b"EXPIREAT", key, self.when() // 1000, *how()], lambda: [b"PEXPIRETIME", key],
            lambda: [b"EXPIRETIME", key], lambda: [b"TOUCH", key, other], lambda: [b"DBSIZE"],
            lambda: [b"ECHO", self.element()], lambda: [b"GET"],
            lambda: [b"EVAL_RO", b"return redis.pcall('set', KEYS[1], 1)", 1, key],
            lambda: [b"EVAL_RO", b"return redis.pcall('exists', KEYS[1])", 1, key]])()
