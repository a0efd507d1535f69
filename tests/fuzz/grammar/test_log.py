"""Random append-only files, valid ones and mutated ones.

zsetd and redis-server load the same data from a valid file, and from one that ends within a request. A mutated file
is loaded, or refused with an error; the server still runs, and can save its data and load it again. See mutations.py
for the variables."""

import pathlib
import random
import tempfile
import unittest

import redis

from mutations import ROUNDS, SEED, mutated
from peer import request
from servers import REDIS, ZSETD, ReplicationTest
from stream_grammar import Stream

FILES_IN_A_ROUND = 3
NOT_LOGGED = ("PING", "PUBLISH", "REPLCONF")


def log_of(source):
    requests = [words for words in Stream(source).requests if words[0] not in NOT_LOGGED]
    return b"".join(request(*words) for words in [("SELECT", source.randrange(3)), *requests])


class Grammar(ReplicationTest):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.zsetd = self.start_with_log(ZSETD)

    def start_with_log(self, program):
        folder = self.folder / pathlib.Path(program).name
        folder.mkdir()
        return self.start(program, "--dir", str(folder), "--appendonly", "yes")

    def load(self, server, data):
        """Writes the data over the log. Returns whether the server has loaded it."""
        log, = (self.folder / server.name).glob("appendonlydir/*.incr.aof")
        log.write_bytes(data)
        try:
            server.client.execute_command("DEBUG", "LOADAOF")
        except redis.ResponseError:
            return False
        return True

    def digest_of(self, data):
        """Returns the digest of a redis-server that starts with this log."""
        with tempfile.TemporaryDirectory() as folder:
            logs = pathlib.Path(folder, "appendonlydir")
            logs.mkdir()
            (logs / "appendonly.aof.manifest").write_text("file appendonly.aof.1.incr.aof seq 1 type i\n")
            (logs / "appendonly.aof.1.incr.aof").write_bytes(data)
            server = self.start(REDIS, "--dir", folder, "--appendonly", "yes")
            digest = server.digest()
            self.assertIsNone(server.stop())
            return digest

    def test_valid_files_are_loaded_as_redis_server_does(self):
        redis_server = self.start_with_log(REDIS)
        for seed in range(SEED, SEED + ROUNDS * FILES_IN_A_ROUND):
            with self.subTest(seed=seed):
                data = log_of(random.Random(seed))
                self.assertTrue(self.load(redis_server, data))
                self.assertTrue(self.load(self.zsetd, data))
                self.assertEqual(self.zsetd.digest(), redis_server.digest())

    def test_files_that_a_crash_cuts_off_are_loaded_as_redis_server_does(self):
        for seed in range(SEED, SEED + ROUNDS):
            with self.subTest(seed=seed):
                source = random.Random(seed)
                data = log_of(source)
                data = data[:source.randrange(len(data))]
                self.assertTrue(self.load(self.zsetd, data))
                self.assertEqual(self.zsetd.digest(), self.digest_of(data))

    def test_mutated_files_do_no_harm(self):
        refused = 0
        for seed in range(SEED, SEED + ROUNDS * FILES_IN_A_ROUND):
            with self.subTest(seed=seed):
                source = random.Random(seed)
                refused += not self.load(self.zsetd, mutated(source, log_of(source)))
                digest = self.zsetd.digest()
                self.zsetd.client.execute_command("DEBUG", "RELOAD")
                self.assertEqual(self.zsetd.digest(), digest, "the data cannot be saved")
        self.assertGreater(refused, 0)


if __name__ == "__main__":
    unittest.main()
