"""Random snapshot files that a server may have written: types 0 to 18, in the encodings of many releases."""

import struct

END = b"\xff"
FAR, PAST = 4102444800000, 1000000000000  # instants in milliseconds
WORDS = [b"", b"a", b"ab", b"x" * 63, b"x" * 64, b"y" * 300, b"\r\n\0\xff", b"0", b"-1", b"7", b"127", b"-129",
         b"4095", b"32768", b"8388607", b"-8388609", b"2147483648", b"9223372036854775807", b"12345678901234567890",
         b"007", b"1.5", b"z" * 5000]
SCORES = [0.0, 1.0, -1.5, 1 / 3, 1e300, float("inf"), float("-inf"), 2.0**53]


def length(number):
    if number < 1 << 6:
        return bytes([number])
    if number < 1 << 14:
        return struct.pack(">H", number | 1 << 14)
    return b"\x80" + struct.pack(">I", number)


def integer(word):
    """Returns the number that the word is the usual text of, if it fits into 64 bits, or None."""
    text = word.removeprefix(b"-")
    if not text.isdigit() or len(text) > 19 or b"%d" % int(word) != word:
        return None
    return int(word) if -(1 << 63) <= int(word) < 1 << 63 else None


def fits(number, bits):
    return -(1 << bits - 1) <= number < 1 << bits - 1


def signed(number, bits):
    return number.to_bytes(bits // 8, "little", signed=True)


def string(source, word):
    """A string: its bytes, a number, or compressed."""
    number = integer(word)
    if number is not None and source.random() < 0.7:
        for kind, bits in enumerate((8, 16, 32)):
            if fits(number, bits):
                return bytes([0xc0 | kind]) + signed(number, bits)
    if len(word) > 2 and source.random() < 0.3:
        packed = compressed(word)
        return b"\xc3" + length(len(packed)) + length(len(word)) + packed
    return length(len(word)) + word


def compressed(word):
    """LZF: literal runs, and copies of the byte before where it repeats."""
    out, at = b"", 0
    while at < len(word):
        run = 0
        while at and at + run < len(word) and run < 264 and word[at + run] == word[at - 1]:
            run += 1
        if run >= 9:
            out += bytes([7 << 5, run - 9, 0])
            at += run
        else:
            size = min(32, len(word) - at) if run else 1
            out += bytes([size - 1]) + word[at:at + size]
            at += size
    return out


def listpack_entry(source, word):
    number = integer(word)
    if number is not None and source.random() < 0.9:
        if 0 <= number < 128:
            entry = bytes([number])
        elif fits(number, 13):
            entry = struct.pack(">H", 0xc000 | number & 0x1fff)
        else:
            kind, bits = next((k, b) for k, b in ((0xf1, 16), (0xf2, 24), (0xf3, 32), (0xf4, 64)) if fits(number, b))
            entry = bytes([kind]) + signed(number, bits)
    elif len(word) < 64:
        entry = bytes([0x80 | len(word)]) + word
    elif len(word) < 4096:
        entry = struct.pack(">H", 0xe000 | len(word)) + word
    else:
        entry = b"\xf0" + struct.pack("<I", len(word)) + word
    rest, back = len(entry), b""  # the length again, to be read from its end
    while rest >> 7:
        back = bytes([rest & 127 | 128]) + back
        rest >>= 7
    return entry + bytes([rest]) + back


def listpack(source, words):
    body = b"".join(listpack_entry(source, word) for word in words)
    return struct.pack("<IH", len(body) + 7, len(words)) + body + END


def ziplist(source, words):
    body, before, last = b"", 0, 10
    for word in words:
        number = integer(word)
        head = bytes([before]) if before < 254 else b"\xfe" + struct.pack("<I", before)
        if number is not None and source.random() < 0.9:
            if 0 <= number <= 12:
                entry = bytes([0xf1 + number])
            else:
                kind, bits = next((k, b) for k, b in ((0xfe, 8), (0xc0, 16), (0xf0, 24), (0xd0, 32), (0xe0, 64))
                                  if fits(number, b))
                entry = bytes([kind]) + signed(number, bits)
        elif len(word) < 64:
            entry = bytes([len(word)]) + word
        elif len(word) < 1 << 14:
            entry = struct.pack(">H", 1 << 14 | len(word)) + word
        else:
            entry = b"\x80" + struct.pack(">I", len(word)) + word
        last, before = 10 + len(body), len(head) + len(entry)
        body += head + entry
    return struct.pack("<IIH", len(body) + 11, last, len(words)) + body + END


def zipmap(words):
    return bytes([len(words) // 2]) + b"".join(
        bytes([len(word)]) + (b"\0" if at % 2 else b"") + word for at, word in enumerate(words)) + END


def score_text(score):
    if score in (float("inf"), float("-inf")):
        return b"\xfe" if score > 0 else END
    text = b"%.17g" % score
    return bytes([len(text)]) + text


class Snapshot:
    """The bytes of a file."""

    def __init__(self, source):
        self.random = source
        self.data = b"REDIS%04d" % source.choice([6, 9, 10])
        for name in source.sample([b"redis-ver", b"ctime", b"used-mem", b"other"], source.randrange(3)):
            self.data += b"\xfa" + string(source, name) + string(source, source.choice(WORDS))
        for database in sorted(source.sample(range(5), source.randrange(1, 4))):
            self.add_database(database)
        self.data += END + b"\0" * 8  # no checksum

    def add_database(self, number):
        keys = self.random.sample(WORDS, self.random.randrange(1, 8))
        self.data += b"\xfe" + length(number)
        if self.random.random() < 0.7:
            self.data += b"\xfb" + length(len(keys)) + length(self.random.randrange(len(keys) + 1))
        for key in keys:
            kind = self.random.random()
            if kind < 0.2:
                self.data += b"\xfc" + struct.pack("<q", self.random.choice([FAR, PAST]))
            elif kind < 0.3:
                self.data += b"\xfd" + struct.pack("<i", PAST // 1000)
            if kind > 0.9:
                self.data += self.random.choice([b"\xf8" + length(100), b"\xf9\x07"])  # for eviction
            code, value = self.value()
            self.data += bytes([code]) + string(self.random, key) + value

    def value(self):
        return self.random.choice([self.plain_string, self.elements, self.pairs, self.scored])()

    def words(self, most=12):
        return self.random.sample(WORDS, self.random.randrange(1, most))

    def strings(self, words):
        return b"".join(string(self.random, word) for word in words)

    def packed(self, pack, words):
        return string(self.random, pack(self.random, words))

    def plain_string(self):
        return 0, string(self.random, self.random.choice(WORDS))

    def elements(self):
        """A list or a set."""
        words = self.words()
        code = self.random.choice([1, 2, 10, 11, 14, 18])
        if code == 11:
            numbers = sorted(integer(word) for word in WORDS if integer(word) is not None)
            numbers = sorted(self.random.sample(numbers, self.random.randrange(1, len(numbers))))
            bits = next(b for b in (16, 32, 64) if all(fits(number, b) for number in numbers))
            packed = struct.pack("<II", bits // 8, len(numbers)) + b"".join(signed(n, bits) for n in numbers)
            return code, string(self.random, packed)
        if code == 10:
            return code, self.packed(ziplist, words)
        if code == 14:
            nodes = [self.words(4) for _ in range(self.random.randrange(1, 4))]
            return code, length(len(nodes)) + b"".join(self.packed(ziplist, node) for node in nodes)
        if code == 18:
            nodes = [b"\x01" + string(self.random, self.random.choice(WORDS[1:])) if self.random.random() < 0.2 else
                     b"\x02" + self.packed(listpack, self.words(4)) for _ in range(self.random.randrange(1, 4))]
            return code, length(len(nodes)) + b"".join(nodes)
        return code, length(len(words)) + self.strings(words)

    def pairs(self):
        """A hash."""
        fields = self.words()
        words = [word for field in fields for word in (field, self.random.choice(WORDS))]
        code = self.random.choice([4, 9, 13, 16])
        if code == 4:
            return code, length(len(fields)) + self.strings(words)
        if code == 9:
            short = [word if len(word) < 254 else b"s%d" % at for at, word in enumerate(words)]
            return code, string(self.random, zipmap(short))
        return code, self.packed(ziplist if code == 13 else listpack, words)

    def scored(self):
        """A sorted set. Packed ones are in order."""
        pairs = sorted((self.random.choice(SCORES), member) for member in self.words())
        code = self.random.choice([3, 5, 12, 17])
        if code in (3, 5):
            self.random.shuffle(pairs)
            encode = score_text if code == 3 else lambda score: struct.pack("<d", score)
            return code, length(len(pairs)) + b"".join(
                string(self.random, member) + encode(score) for score, member in pairs)
        words = [word for score, member in pairs for word in (member, b"%.17g" % score)]
        return code, self.packed(ziplist if code == 12 else listpack, words)
