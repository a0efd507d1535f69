"""Random steps on streams and their groups, which give the same replies on each server.

IDs are given or follow from given ones, and idle times are not compared, because the clocks of the
servers differ. Approximate trims are left out: blocks have other sizes in the two servers."""

import random

from paired_rounds import Step

KEYS = [b"s%d" % number for number in range(3)]
GROUPS = [b"g", b"h"]
CONSUMERS = [b"a", b"b", b"c"]
LIST = b"list"  # of another type, for the errors

# The state of a stream without times. KEYS[1] is the stream.
LOOK = b"""
local function pending(group)
  local entries = redis.call('XPENDING', KEYS[1], group, '-', '+', 100000)
  for _, entry in ipairs(entries) do table.remove(entry, 3) end
  return entries
end
if redis.call('TYPE', KEYS[1]).ok ~= 'stream' then return {} end
local info = redis.call('XINFO', 'STREAM', KEYS[1])
local state = {}
for i = 1, #info, 2 do
  if not info[i]:find('radix') then table.insert(state, {info[i], info[i + 1]}) end
end
local groups = redis.call('XINFO', 'GROUPS', KEYS[1])
local result = {state, groups, redis.call('XRANGE', KEYS[1], '-', '+'), redis.call('XREVRANGE', KEYS[1], '+', '-')}
for _, group in ipairs(groups) do
  table.insert(result, pending(group[2]))
  local consumers = redis.call('XINFO', 'CONSUMERS', KEYS[1], group[2])
  for _, consumer in ipairs(consumers) do table.insert(result, {consumer[2], consumer[4]}) end
  table.insert(result, redis.call('XPENDING', KEYS[1], group[2]))
end
return result
"""


class StreamSteps:
    """Generates the steps of one seed."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.last_ms = 0
        self.most_fields = self.random.choice([1, 2, 5, 60])
        self.kinds = [
            (40, self.add), (8, self.range), (10, self.read_group), (10, self.acknowledge), (6, self.claim),
            (4, self.auto_claim), (4, self.trim), (6, self.delete_entries), (5, self.read), (3, self.pending),
            (3, self.group), (2, self.set_id), (1, self.limit), (1, self.delete), (1, self.copy), (2, self.length),
            (2, self.strange)]
        self.weights = [weight for weight, _ in self.kinds]
        self.makers = [maker for _, maker in self.kinds]

    def next(self):
        words = self.random.choices(self.makers, self.weights)[0]()
        *before, words = words if isinstance(words[0], list) else [words]
        if self.random.random() < 0.05:
            words = [b"EVAL", b"return redis.pcall(unpack(ARGV))", 0, *words]
        return Step([*before, words])

    # --- Arguments. ---

    def key(self):
        return LIST if self.random.random() < 0.01 else self.random.choice(KEYS)

    def place(self):
        """A key and a group."""
        return [self.key(), self.random.choice(GROUPS)]

    def consumer(self):
        return self.random.choice(CONSUMERS)

    @staticmethod
    def with_consumer(keys, group, consumer, words):
        """Creates the consumer before the request. Redis 7.0 does not create one that receives nothing."""
        return [*([b"XGROUP", b"CREATECONSUMER", key, group, consumer] for key in keys), words]

    def id(self):
        """Often one that exists, or existed."""
        kind = self.random.random()
        if kind < 0.02:
            return self.random.choice([b"x", b"-1", b"1-", b"1-2-3", b"18446744073709551615-18446744073709551615"])
        ms = max(self.last_ms - self.random.choice([0, 1, 5, 30, 300]), 0)
        return b"%d-%d" % (ms, self.random.randrange(3)) if kind < 0.9 else b"%d" % ms

    def ids(self):
        return [self.id() for _ in range(self.random.choice([1, 1, 2, 5, 20]))]

    def new_id(self):
        if self.random.random() < 0.05:  # not the greatest one, which no entry can follow
            return self.random.choice([b"x", b"0-0", b"%d-1" % max(self.last_ms - 1, 0), b"%d" % self.last_ms])
        self.last_ms += self.random.choice([0, 1, 1, 1, 2, 1000])
        return b"%d-*" % self.last_ms

    def value(self):
        number = self.random.randrange(10 ** self.random.choice([1, 3, 18]))
        return self.random.choice([b"%d", b"-%d", b"value %d", b"", b"\0\r\n%d", b"%d" + 300 * b"x"]).replace(
            b"%d", b"%d" % number)

    def fields(self):
        count = self.random.choice([1, 2, self.random.randrange(1, self.most_fields + 1)])
        names = [b"f%d" % number for number in range(count)]
        if self.random.random() < 0.1:
            self.random.shuffle(names)
        return [word for name in names for word in (name, self.value())]

    def threshold(self):
        """A trim of all but the newest entries."""
        if self.random.random() < 0.5:
            return [b"MAXLEN", self.random.choice([0, 1, 30, 200, 200, 400])]
        return [b"MINID", self.random.choice([b"=", b"="]), self.id()]

    def option(self, chance, *words):
        return list(words) if self.random.random() < chance else []

    def bound(self):
        return self.random.choice([b"", b"", b"("]) + self.id()

    # --- Requests. ---

    def add(self):
        return [b"XADD", self.key(), *self.option(0.1, b"NOMKSTREAM"), *(self.threshold() if
                self.random.random() < 0.1 else []), self.new_id(), *self.fields()]

    def range(self):
        count = self.option(0.6, b"COUNT", self.random.choice([-1, 0, 1, 7, 100]))
        first, last = self.random.choice([b"-", self.bound()]), self.random.choice([b"+", self.bound()])
        if self.random.random() < 0.5:
            return [b"XRANGE", self.key(), first, last, *count]
        return [b"XREVRANGE", self.key(), last, first, *count]

    def read(self):
        keys = [self.key() for _ in range(self.random.choice([1, 2, 3]))]
        ids = [self.random.choice([b"0", b"$", self.id()]) for _ in keys]
        return [b"XREAD", *self.option(0.7, b"COUNT", self.random.choice([0, 1, 20])), b"STREAMS", *keys, *ids]

    def read_group(self):
        keys = [self.key() for _ in range(self.random.choice([1, 1, 2, 3]))]
        ids = [b">" if self.random.random() < 0.7 else self.random.choice([b"0", self.id()]) for _ in keys]
        group, consumer = self.random.choice(GROUPS), self.consumer()
        return self.with_consumer(keys, group, consumer, [
            b"XREADGROUP", b"GROUP", group, consumer, *self.option(0.8, b"COUNT", self.random.choice([1, 3, 50])),
            *self.option(0.1, b"NOACK"), b"STREAMS", *keys, *ids])

    def acknowledge(self):
        return [b"XACK", *self.place(), *self.ids()]

    def claim(self):
        (key, group), consumer = self.place(), self.consumer()
        return self.with_consumer([key], group, consumer, [
            b"XCLAIM", key, group, consumer, 0, *self.ids(), *self.option(0.4, b"FORCE"),
            *self.option(0.3, b"JUSTID"), *self.option(0.2, b"RETRYCOUNT", self.random.randrange(9)),
            *self.option(0.1, b"IDLE", 5), *self.option(0.1, b"LASTID", self.id())])

    def auto_claim(self):
        (key, group), consumer = self.place(), self.consumer()
        return self.with_consumer([key], group, consumer, [
            b"XAUTOCLAIM", key, group, consumer, 0, self.random.choice([b"-", b"0", self.id()]),
            *self.option(0.7, b"COUNT", self.random.choice([1, 5, 50])), *self.option(0.3, b"JUSTID")])

    def trim(self):
        return [b"XTRIM", self.key(), *self.threshold()]

    def delete_entries(self):
        return [b"XDEL", self.key(), *self.ids()]

    def pending(self):
        """Without idle times: the summary."""
        return [b"XPENDING", *self.place()]

    def group(self):
        where = self.place()
        return [b"XGROUP", *self.random.choice([
            [b"CREATE", *where, b"0", *self.option(0.3, b"MKSTREAM")], [b"CREATE", *where, b"$"],
            [b"CREATE", *where, self.id(), b"ENTRIESREAD", self.random.randrange(-1, 50)],
            [b"SETID", *where, self.random.choice([b"0", b"$", self.id()])], [b"DESTROY", *where],
            [b"CREATECONSUMER", *where, self.consumer()], [b"DELCONSUMER", *where, self.consumer()]])]

    def set_id(self):
        """If two reasons to refuse a lower ID apply, the newest Redis reports another one than 7.0."""
        self.last_ms += self.random.choice([0, 1, 50])
        return [b"XSETID", self.key(), b"%d-9" % self.last_ms, *self.option(0.3, b"ENTRIESADDED", self.random.randrange(2000)),
                *self.option(0.3, b"MAXDELETEDID", self.id())]

    def limit(self):
        """redis-server 7.0.15 crashes after some changes of stream-node-max-bytes."""
        return [b"CONFIG", b"SET", b"stream-node-max-entries", self.random.choice([1, 2, 100, 200])]

    def delete(self):
        return [b"DEL", self.key()]

    def copy(self):
        return [b"COPY", self.random.choice(KEYS), self.random.choice(KEYS), b"REPLACE"]

    def length(self):
        return [b"XLEN", self.key()]

    def strange(self):
        return self.random.choice([
            [b"XADD", self.key(), b"*"], [b"XADD", self.key(), b"0-0", b"f", b"v"], [b"XTRIM", self.key(), b"MAXLEN"],
            [b"XTRIM", self.key(), b"MAXLEN", b"=", -1], [b"XREADGROUP", b"GROUP", b"g", b"a", b"STREAMS", self.key()],
            [b"XREAD", b"COUNT", 1], [b"XCLAIM", *self.place(), b"a", b"x", self.id()],
            [b"XRANGE", self.key(), b"-"], [b"XINFO", b"STREAM", b"none"], [b"XGROUP", b"CREATE", b"none", b"g", b"$"]])
