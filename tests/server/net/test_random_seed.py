"""A run can be reproduced: all random choices and hashes derive from one seed, which the log
prints."""

import pathlib
import re
import tempfile
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

    def ids_with(self, seed):
        """Returns the IDs of a run: of the process, of its replication history and of its node."""
        with tempfile.TemporaryDirectory() as folder:
            self.start("--random-seed", str(seed), "--cluster-enabled", "yes", "--dir", folder)
            peer = self.connect()
            info = peer.ask("INFO", "everything").decode()
            ids = {re.search(rf"{name}:([0-9a-f]{{40}})", info)[1] for name in ("run_id", "master_replid")}
            self.assertIn(peer.ask("CLUSTER", "MYID").decode(), pathlib.Path(folder, "nodes.conf").read_text())
            return ids | {peer.ask("CLUSTER", "MYID").decode()}

    def test_two_servers_with_the_same_seed_have_different_ids(self):
        self.assertEqual(len(self.ids_with(7) | self.ids_with(7)), 6)


if __name__ == "__main__":
    unittest.main()
