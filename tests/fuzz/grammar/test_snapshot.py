"""Random snapshot files, valid ones and mutated ones.

zsetd and redis-server load the same data from a valid file. A mutated file is loaded, or refused with an error;
the server still runs, and can save its data and load it again. See mutations.py for the variables."""

import pathlib
import random
import tempfile
import unittest

import redis

from mutations import ROUNDS, SEED, mutated
from servers import REDIS, ZSETD, ReplicationTest
from snapshot_grammar import Snapshot

FILES_IN_A_ROUND = 3


class Grammar(ReplicationTest):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.zsetd = self.start(ZSETD, "--dir", self.make("zsetd"))

    def make(self, name):
        (self.folder / name).mkdir()
        return str(self.folder / name)

    def load(self, server, data):
        """Returns the error, or None."""
        (self.folder / server.name / "dump.rdb").write_bytes(data)
        try:
            server.client.execute_command("DEBUG", "RELOAD", "NOSAVE")
        except redis.ResponseError as error:
            return error
        return None

    def test_valid_files_are_loaded_as_redis_server_does(self):
        redis_server = self.start(REDIS, "--dir", self.make("redis-server"))
        for seed in range(SEED, SEED + ROUNDS * FILES_IN_A_ROUND):
            with self.subTest(seed=seed):
                data = Snapshot(random.Random(seed)).data
                self.assertIsNone(self.load(redis_server, data))
                self.assertIsNone(self.load(self.zsetd, data))
                self.assertEqual(self.zsetd.digest(), redis_server.digest())

    def test_mutated_files_do_no_harm(self):
        refused = 0
        for seed in range(SEED, SEED + ROUNDS * FILES_IN_A_ROUND):
            with self.subTest(seed=seed):
                source = random.Random(seed)
                data = mutated(source, Snapshot(source).data)
                refused += self.load(self.zsetd, data) is not None
                digest = self.zsetd.digest()
                self.zsetd.client.execute_command("DEBUG", "RELOAD")
                self.assertEqual(self.zsetd.digest(), digest, "the data cannot be saved")
        self.assertGreater(refused, 0)


if __name__ == "__main__":
    unittest.main()
