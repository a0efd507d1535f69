"""Random steps on HyperLogLogs, which give the same replies and the same bytes on each server.

Some keys hold only strings that these commands made. Others also hold damaged strings: their headers,
runs and registers are random. Runs are complete, because redis-server reads the zero byte after a
string whose last run is cut off. Damaged strings get one element at a time, because redis-server
keeps the elements before one that it refuses."""

import random

from paired_rounds import Step

WHOLE = [b"k%d" % number for number in range(5)]
DAMAGED = [b"d%d" % number for number in range(4)]
LIST = b"list"  # of another type, for the errors

REGISTERS = 16384
DENSE_BYTES = 12288


def zero_run(length):
    stored = length - 1
    return bytes([stored]) if length <= 64 else bytes([0x40 | stored >> 8, stored & 0xFF])


class HyperLogLogSteps:
    """Generates the steps of one seed."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.elements = self.random.choice([30, 1000, 20_000, 10**9])  # distinct ones
        self.kinds = [
            (40, self.add), (15, self.add_to_damaged), (15, self.count), (15, self.merge), (6, self.debug),
            (6, self.damage), (6, self.set_damaged), (2, self.limit), (2, self.delete), (2, self.reload),
            (1, self.strange)]
        self.weights = [weight for weight, _ in self.kinds]
        self.makers = [maker for _, maker in self.kinds]

    def next(self):
        words = self.random.choices(self.makers, self.weights)[0]()
        if self.random.random() < 0.05:
            words = [b"EVAL", b"return redis.pcall(unpack(ARGV))", 0, *words]
        return Step(words)

    # --- Arguments. ---

    def key(self):
        kind = self.random.random()
        if kind < 0.01:
            return self.random.choice([LIST, b"none"])
        return self.random.choice(DAMAGED if kind < 0.2 else WHOLE)

    def element(self):
        number = self.random.randrange(self.elements)
        return self.random.choice([b"%d", b"element %d", b"\x00\xff%d"]) % number

    def value_run(self):
        value = self.random.choice([1, 1, 2, 3, self.random.randrange(1, 33)])
        length = self.random.randrange(1, 5)
        return bytes([0x80 | value - 1 << 2 | length - 1]), length

    def runs(self):
        """Returns runs that describe all registers, or too few, or too many."""
        runs, left = b"", REGISTERS
        for _ in range(self.random.choice([0, 1, 3, 30, 300])):
            if self.random.random() < 0.5:
                run, length = self.value_run()
            else:
                length = self.random.choice([1, 2, 63, 64, 65, self.random.randrange(1, 600)])
                run = zero_run(length)
            if length < left:
                runs, left = runs + run, left - length
        kind = self.random.random()
        if kind < 0.7:
            runs += zero_run(left)
        elif kind < 0.8:
            runs += zero_run(REGISTERS)
        return runs

    def header(self, encoding):
        estimate = self.random.randbytes(8) if self.random.random() < 0.5 else 7 * b"\0" + b"\x80"
        return b"HYLL" + bytes([encoding]) + self.random.choice([b"\0\0\0", b"abc"]) + estimate

    # --- Requests. ---

    def add(self):
        elements = self.random.choice([0, 1, 1, 1, 2, 5, 50, 300])
        return [b"PFADD", self.random.choice(WHOLE), *(self.element() for _ in range(elements))]

    def add_to_damaged(self):
        return [b"PFADD", self.random.choice(DAMAGED), self.element()]

    def keys(self):
        return [self.key() for _ in range(self.random.choice([1, 1, 1, 2, 3, 9]))]

    def count(self):
        return [b"PFCOUNT", *self.keys()]

    def merge(self):
        return [b"PFMERGE", *self.keys()]

    def debug(self):
        name = self.random.choice([b"GETREG", b"decode", b"DECODE", b"ENCODING", b"TODENSE", b"nope"])
        return [b"PFDEBUG", name, self.key()]

    def damage(self):
        """Overwrites bytes of the header, which may make it another string, or of the estimate."""
        offset = self.random.choice([0, 4, 4, 5, 8])
        data = self.random.choice([b"\0", b"\1", b"\2", b"HYLL", 7 * b"\0" + b"\x80"])
        return [b"SETRANGE", self.random.choice(DAMAGED), offset, data]

    def set_damaged(self):
        if self.random.random() < 0.2:
            size = self.random.choice([DENSE_BYTES, DENSE_BYTES, DENSE_BYTES - 1, 0])
            value = self.header(0) + self.random.choice([self.random.randbytes(size), size * b"\xff"])
        elif self.random.random() < 0.1:
            value = self.random.choice([b"", b"HYLL", b"HYLL\1", b"1234", self.header(2) + b"\x7f\xff"])
        else:
            value = self.header(1) + self.runs()
        return [b"SET", self.random.choice(DAMAGED), value]

    def limit(self):
        most = self.random.choice([0, 30, 300, 3000, 3000, 3000, 100_000])
        return [b"CONFIG", b"SET", b"hll-sparse-max-bytes", most]

    def delete(self):
        return [b"DEL", self.key()]

    def reload(self):
        """A key that is read from a dump is no longer prepared for changes."""
        return [b"COPY", self.random.choice(WHOLE), self.random.choice(WHOLE), b"REPLACE"]

    def strange(self):
        return self.random.choice([[b"PFADD"], [b"PFCOUNT"], [b"PFMERGE"], [b"PFDEBUG", b"GETREG"],
                                   [b"PFADD", LIST, b"x"], [b"PFCOUNT", self.key(), LIST]])
