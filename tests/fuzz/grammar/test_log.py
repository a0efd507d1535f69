"""Random append-only files, valid ones and mutated ones.

zsetd and redis-server load the same data from a valid file, and from one that ends within a request. A mutated file
is loaded, or refused with an error; the server still runs, and can save its data and load it again. See mutations.py
for the variables."""

import pathlib
import random
import tempfile
import unittest

from file_grammar import FileTest
from mutations import ROUNDS, SEED
from peer import request
from servers import REDIS
from stream_grammar import Stream

NOT_LOGGED = ("PING", "PUBLISH", "REPLCONF")


def log_of(source):
    requests = [words for words in Stream(source).requests if words[0] not in NOT_LOGGED]
    return b"".join(request(*words) for words in [("SELECT", source.randrange(3)), *requests])


class Grammar(FileTest):
    OPTIONS = ("--appendonly", "yes")

    def load(self, server, data):
        """Writes the data over the log."""
        log, = (self.folder / server.name).glob("appendonlydir/*.incr.aof")
        log.write_bytes(data)
        return self.accepts(server, "DEBUG", "LOADAOF")

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
        self.check_valid(self.start_in_folder(REDIS), log_of)

    def test_files_that_a_crash_cuts_off_are_loaded_as_redis_server_does(self):
        for seed in range(SEED, SEED + ROUNDS):
            with self.subTest(seed=seed):
                source = random.Random(seed)
                data = log_of(source)
                data = data[:source.randrange(len(data))]
                self.assertTrue(self.load(self.zsetd, data))
                self.assertEqual(self.zsetd.digest(), self.digest_of(data))

    def test_mutated_files_do_no_harm(self):
        self.check_mutated(log_of)


if __name__ == "__main__":
    unittest.main()
