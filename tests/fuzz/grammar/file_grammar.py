"""Servers that load the files of a grammar, for the tests of snapshots and logs."""

import pathlib
import random
import tempfile

import redis

from mutations import ROUNDS, SEED, mutated
from servers import ZSETD, ReplicationTest

SEEDS = range(SEED, SEED + 3 * ROUNDS)  # of the files


class FileTest(ReplicationTest):
    """A subclass has OPTIONS of its servers, and load(server, data), which returns whether the server has
    loaded the file."""

    OPTIONS = ()

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.zsetd = self.start_in_folder(ZSETD)

    def start_in_folder(self, program):
        """Starts a server in a folder with its name."""
        folder = self.folder / pathlib.Path(program).name
        folder.mkdir()
        return self.start(program, "--dir", str(folder), *self.OPTIONS)

    def check_mutated(self, file_of):
        refused = 0
        for seed in SEEDS:
            with self.subTest(seed=seed):
                source = random.Random(seed)
                refused += not self.load(self.zsetd, mutated(source, file_of(source)))
                digest = self.zsetd.digest()
                self.zsetd.client.execute_command("DEBUG", "RELOAD")
                self.assertEqual(self.zsetd.digest(), digest, "the data cannot be saved")
        self.assertGreater(refused, 0)

    def check_valid(self, redis_server, file_of):
        for seed in SEEDS:
            with self.subTest(seed=seed):
                data = file_of(random.Random(seed))
                self.assertTrue(self.load(redis_server, data))
                self.assertTrue(self.load(self.zsetd, data))
                self.assertEqual(self.zsetd.digest(), redis_server.digest())

    def accepts(self, server, *words):
        try:
            server.client.execute_command(*words)
        except redis.ResponseError:
            return False
        return True
