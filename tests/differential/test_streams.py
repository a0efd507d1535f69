"""Compares streams on zsetd and on redis-server. See paired_rounds.py."""

import unittest

from paired_rounds import PairedRounds
from stream_steps import KEYS, LIST, LOOK, StreamSteps


class Streams(PairedRounds):
    NAME = "streams"
    STEPS = StreamSteps
    BEGIN = [[b"RPUSH", LIST, b"x"], [b"CONFIG", b"SET", b"stream-node-max-entries", b"100"],
             [b"CONFIG", b"SET", b"stream-node-max-bytes", b"4096"]]

    # The entries, the state and the groups of each stream. The digest has the entries.
    LOOK = [[b"EVAL", LOOK, b"1", key] for key in KEYS] + [[b"DEBUG", b"DIGEST-VALUE", *KEYS]]

    def test_replies_and_states_are_those_of_redis(self):
        self.check_rounds()


if __name__ == "__main__":
    unittest.main()
