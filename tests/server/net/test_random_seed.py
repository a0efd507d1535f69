"""A run can be reproduced: all random choices and hashes derive from one seed, which the log
prints."""

import re
import unittest

from zsetd import ZsetdTest

DRAWN = re.compile(r"Random seed: (\d+)")


class RandomSeed(ZsetdTest):
    def run_with(self, seed):
        """Returns the seed in the log, and replies that depend on random choices and on hashes."""
        server = self.start("--random-seed", str(seed))
        peer = self.connect()
        for at in range(500):
            peer.ask("ZADD", "set", str(at), f"member {at}")
            peer.ask("SET", f"key {at}", "")
        replies = [peer.ask("ZRANDMEMBER", "set", "20"), peer.ask("SCAN", "0", "COUNT", "50"),
                   peer.ask("RANDOMKEY")]
        return int(DRAWN.search(server.log())[1]), replies

    def test_reproduces_a_run(self):
        drawn, replies = self.run_with(0)
        self.assertNotEqual(drawn, 0)
        self.assertEqual(self.run_with(drawn), (drawn, replies))
        other, other_replies = self.run_with(drawn ^ 1)
        self.assertEqual(other, drawn ^ 1)
        self.assertNotEqual(other_replies, replies)


if __name__ == "__main__":
    unittest.main()
