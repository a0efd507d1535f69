"""Random steps on strings of bits, which give the same replies and the same bytes on each server.

A step does not depend on the speed of a server. A deadline is in the past, far away, or soon. For a
soon deadline the step states it, and no other step runs until the clocks of both servers have
passed it. The keys are few and the strings short, so that the steps meet each other's results."""

import random
import time

from paired_rounds import Step

KEYS = [b"k%d" % number for number in range(8)]
LIST = b"list"  # of another type, for the errors

FAR_MS = 4_000_000_000_000
SOON_MS = 15
LONGEST = 300  # bytes that most steps reach


class BitSteps:
    """Generates the steps of one seed."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.expired = None  # the key whose deadline has just passed
        self.kinds = [
            (30, self.set_bit), (8, self.get_bit), (8, self.bit_count), (8, self.bit_pos),
            (25, self.bit_field), (6, self.bit_field_ro), (25, self.bit_op), (10, self.set_range),
            (6, self.get_range), (8, self.append), (10, self.set), (3, self.get), (5, self.delete),
            (5, self.rename), (5, self.copy), (6, self.expire), (2, self.expire_soon),
            (3, self.persist), (2, self.counter), (2, self.strange)]
        self.weights = [weight for weight, _ in self.kinds]
        self.makers = [maker for _, maker in self.kinds]

    def next(self):
        words, until_ms = self.random.choices(self.makers, self.weights)[0](), None
        if isinstance(words, tuple):
            words, until_ms = words
        elif self.random.random() < 0.1:
            # In a script the step is part of a larger unit. Errors are part of the reply.
            words = [b"EVAL", b"return redis.pcall(unpack(ARGV))", 0, *words]
        step = Step(words, until_ms)
        self.expired = step.words[1] if until_ms else None
        return step

    # --- Arguments. ---

    def key(self):
        if self.expired and self.random.random() < 0.7:
            return self.expired
        return LIST if self.random.random() < 0.01 else self.random.choice(KEYS)

    def keys(self):
        return [self.key() for _ in range(self.random.choice([1, 1, 2, 2, 3, 5, 9]))]

    def small(self):
        """Returns a size, often at a limit of bytes, words or encodings."""
        borders = [0, 1, 7, 8, 9, 15, 16, 31, 32, 33, 43, 44, 45, 63, 64, 65, 127, 128, 255, 256]
        return self.random.choice([self.random.choice(borders), self.random.randrange(LONGEST)])

    def bit_offset(self):
        kind = self.random.random()
        if kind < 0.02:
            return self.random.choice([-1, 2**32, 2**63, b"x", b"", b"+1", b" 1", b"01"])
        if kind < 0.04:
            return self.random.randrange(8 * 40_000)
        return self.random.choice([self.small(), 8 * self.small() + self.random.randrange(8)])

    def index(self):
        kind = self.random.random()
        if kind < 0.02:
            return self.random.choice([2**63 - 1, -2**63, 2**63, b"x", b""])
        return self.random.choice([self.small(), -self.small(), 8 * self.small(), -8 * self.small()])

    def data(self):
        kind = self.random.randrange(6)
        if kind == 0:
            return b"%d" % self.random.choice([0, 1, 12, -7, 9999, 10**12, 2**63 - 1, -2**63])
        if kind == 1:
            return bytes([self.random.choice([0, 1, 127, 128, 255])]) * self.small()
        return self.random.randbytes(self.small() if kind < 4 else self.random.randrange(12))

    def past_or_far(self):
        """Returns a time in milliseconds since 1970, and whether it is in whole seconds."""
        at = self.random.choice([1, 1000, FAR_MS + self.random.randrange(10**6) * 1000])
        return at

    # --- Requests. ---

    def set_bit(self):
        bit = self.random.choice([0, 1, 1]) if self.random.random() < 0.99 else b"2"
        return [b"SETBIT", self.key(), self.bit_offset(), bit]

    def get_bit(self):
        return [b"GETBIT", self.key(), self.bit_offset()]

    def bit_count(self):
        words = [b"BITCOUNT", self.key()]
        if self.random.random() < 0.8:
            words += [self.index(), self.index()]
            words += self.random.choice([[], [], [b"BYTE"], [b"bit"], [b"BIT"]])
        return words

    def bit_pos(self):
        words = [b"BITPOS", self.key(), self.random.choice([0, 1])]
        if self.random.random() < 0.7:
            words.append(self.index())
            if self.random.random() < 0.7:
                words.append(self.index())
                words += self.random.choice([[], [], [b"BYTE"], [b"bit"], [b"BIT"]])
        return words

    def field(self):
        sign = self.random.choice([b"i", b"u"])
        most = 64 if sign == b"i" else 63
        bits = self.random.choice([1, 2, 3, 7, 8, 9, 16, 31, 32, 33, 63, most])
        if self.random.random() < 0.01:
            bits = self.random.choice([0, 64, 65, b"x"])
        position = self.bit_offset()
        if self.random.random() < 0.3:
            position = b"#%d" % self.random.randrange(30)
        return [sign + str(bits).encode() if isinstance(bits, int) else sign + bits, position]

    def number(self):
        return self.random.choice([0, 1, -1, 5, -100, 255, 2**31, -2**31, 2**62, 2**63 - 1, -2**63,
                                   self.random.randrange(-2**63, 2**63)])

    def bit_field(self):
        words = [b"BITFIELD", self.key()]
        for _ in range(self.random.choice([1, 1, 2, 3, 6])):
            kind = self.random.randrange(7)
            if kind == 0:
                words += [b"OVERFLOW", self.random.choice([b"WRAP", b"SAT", b"FAIL", b"sat"])]
            elif kind < 3:
                words += [b"GET", *self.field()]
            elif kind < 5:
                words += [b"SET", *self.field(), self.number()]
            else:
                words += [b"INCRBY", *self.field(), self.number()]
        return words

    def bit_field_ro(self):
        words = [b"BITFIELD_RO", self.key()]
        for _ in range(self.random.randrange(3)):
            words += [b"GET", *self.field()]
        return words

    def bit_op(self):
        name = self.random.choice([b"AND", b"OR", b"XOR", b"NOT", b"and"])
        keys = self.keys()
        if name == b"NOT" and self.random.random() < 0.95:
            keys = keys[:1]
        return [b"BITOP", name, self.random.choice([self.key(), keys[0]]), *keys]

    def set_range(self):
        offset = self.small() if self.random.random() < 0.98 else self.random.choice([-1, 2**40, b"x"])
        return [b"SETRANGE", self.key(), offset, self.data()]

    def get_range(self):
        return [self.random.choice([b"GETRANGE", b"SUBSTR"]), self.key(), self.index(), self.index()]

    def append(self):
        return [b"APPEND", self.key(), self.data()]

    def set(self):
        words = [b"SET", self.key(), self.data()]
        words += self.random.choice([[], [], [b"KEEPTTL"], [b"NX"], [b"XX"], [b"GET"],
                                     [b"PXAT", FAR_MS], [b"PXAT", self.past_or_far()]])
        return words

    def get(self):
        return self.random.choice([[b"GET", self.key()], [b"STRLEN", self.key()],
                                   [b"GETDEL", self.key()], [b"GETSET", self.key(), self.data()],
                                   [b"GETEX", self.key(), b"PERSIST"], [b"MGET", *self.keys()]])

    def delete(self):
        return [self.random.choice([b"DEL", b"UNLINK", b"EXISTS"]), *self.keys()]

    def rename(self):
        return [self.random.choice([b"RENAME", b"RENAMENX"]), self.key(), self.key()]

    def copy(self):
        return [b"COPY", self.key(), self.key(), *self.random.choice([[], [b"REPLACE"]])]

    def expire(self):
        option = self.random.choice([[], [], [b"NX"], [b"XX"], [b"GT"], [b"LT"]])
        key, at = self.key(), self.past_or_far()
        if self.random.random() < 0.3:
            return [b"EXPIREAT", key, max(at // 1000, 0), *option]
        if self.random.random() < 0.3:
            return [self.random.choice([b"EXPIRE", b"PEXPIRE"]), key, self.random.choice([0, -1, -100]),
                    *option]
        return [b"PEXPIREAT", key, at, *option]

    def expire_soon(self):
        deadline_ms = int(time.time() * 1000) + SOON_MS
        return [b"PEXPIREAT", self.key(), deadline_ms], deadline_ms

    def persist(self):
        return [self.random.choice([b"PERSIST", b"PEXPIRETIME", b"TYPE"]), self.key()]

    def counter(self):
        return [self.random.choice([b"INCR", b"DECR"]), self.key()]

    def strange(self):
        return self.random.choice([
            [b"RPUSH", LIST, b"x"], [b"BITOP", b"NOPE", self.key(), self.key()],
            [b"SETBIT", self.key()], [b"BITCOUNT", self.key(), 1], [b"BITFIELD", self.key(), b"GET"]])
