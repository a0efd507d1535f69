"""Compares HyperLogLogs on zsetd and on redis-server. See paired_rounds.py."""

import unittest

from hyperloglog_steps import DAMAGED, LIST, WHOLE, HyperLogLogSteps
from paired_rounds import PairedRounds


class HyperLogLogs(PairedRounds):
    NAME = "hyperloglog"
    STEPS = HyperLogLogSteps
    BEGIN = [[b"RPUSH", LIST, b"x"], [b"CONFIG", b"SET", b"hll-sparse-max-bytes", b"3000"]]

    # The bytes of each string.
    LOOK = [[command, key] for key in [*WHOLE, *DAMAGED] for command in (b"GET", b"TYPE")]

    def test_replies_and_bytes_are_those_of_redis(self):
        self.check_rounds()


if __name__ == "__main__":
    unittest.main()
