"""Compares strings, lists, hashes, sets and sorted sets on zsetd and on redis-server, alone, in scripts
and in transactions. See paired_rounds.py."""

import unittest

from mixed_steps import KEYS, MixedSteps
from paired_rounds import PairedRounds


class Mixed(PairedRounds):
    NAME = "mixed"
    STEPS = MixedSteps

    # The value, the type and the deadline of each key. Digests do not depend on the order of hashes and sets.
    LOOK = [[b"DEBUG", b"DIGEST-VALUE", *KEYS],
            *([command, key] for key in KEYS for command in (b"TYPE", b"PEXPIRETIME"))]

    def test_replies_and_values_are_those_of_redis(self):
        self.check_rounds()


if __name__ == "__main__":
    unittest.main()
