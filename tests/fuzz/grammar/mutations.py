"""Changes of bytes that a grammar has produced, and pieces in which they are sent."""

import os
import random

# Grammars start with this seed. Each round has its own seed, which a failure prints.
SEED = int(os.environ.get("GRAMMAR_SEED", "0")) or random.randrange(1, 10**9)
ROUNDS = int(os.environ.get("GRAMMAR_ROUNDS", "10"))

INSERTED = [b"\0", b"\r\n", b"\n", b"\r", b" ", b":", b"\xff" * 9, b"-1", b"0", b"99999999999999999999",
            b"$", b"*", b"+", b"*1\r\n", b"$-1\r\n", b"x" * 300, b"\r\n\r\n"]


def mutated(source, data):
    """Returns the bytes with one to three changes."""
    for _ in range(source.randrange(1, 4)):
        at, other = sorted(source.randrange(len(data) + 1) for _ in range(2))
        data = source.choice([
            lambda: data[:at] + source.choice(INSERTED) + data[at:],
            lambda: data[:at] + data[other:] if other - at < 40 else data[:at] + data[at + 1:],
            lambda: data[:at] + data[at:other] * 2 + data[other:],
            lambda: data[:at] + bytes([source.randrange(256)]) + data[at + 1:],
            lambda: data[:at]])() or b"x"
    return data


def pieces(source, data):
    """Divides the bytes in random places."""
    while data:
        size = source.choice([1, 2, 7, 100, len(data), len(data)])
        yield data[:size]
        data = data[size:]
