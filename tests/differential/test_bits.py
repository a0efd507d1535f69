"""Compares strings of bits on zsetd and on redis-server. See paired_rounds.py."""

import unittest

from bit_steps import KEYS, LIST, BitSteps
from paired_rounds import PairedRounds


def is_of_a_newer_redis(words, ours, expected):
    """Returns whether zsetd replies like newer releases than 7.0.15: GETRANGE with an end before
    the first byte is empty, and BITCOUNT and BITPOS check all arguments before they look at the
    key."""
    if words[0] == b"EVAL":
        words = words[3:]
    if words[0] in (b"GETRANGE", b"SUBSTR"):
        return ours == b"$0\r\n\r\n" and expected.startswith(b"$1\r\n") and words[3].startswith(b"-")
    looked_first = expected in (b":0\r\n", b":-1\r\n") or expected.startswith(b"-WRONGTYPE ")
    return words[0] in (b"BITCOUNT", b"BITPOS") and ours.startswith(b"-ERR ") and looked_first


class Bits(PairedRounds):
    NAME = "bits"
    STEPS = BitSteps
    BEGIN = [[b"RPUSH", LIST, b"x"]]

    # The bytes of each string, and each deadline.
    LOOK = [[command, key] for key in [*KEYS, LIST] for command in (b"GET", b"PEXPIRETIME", b"TYPE")]
    may_differ = staticmethod(is_of_a_newer_redis)

    def test_replies_and_bytes_are_those_of_redis(self):
        self.check_rounds()


if __name__ == "__main__":
    unittest.main()
