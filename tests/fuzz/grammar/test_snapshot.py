"""Random snapshot files, valid ones and mutated ones.

zsetd and redis-server load the same data from a valid file. A mutated file is loaded, or refused with an error;
the server still runs, and can save its data and load it again. See mutations.py for the variables."""

import unittest

from file_grammar import FileTest
from servers import REDIS
from snapshot_grammar import Snapshot


def file_of(source):
    return Snapshot(source).data


class Grammar(FileTest):
    def load(self, server, data):
        (self.folder / server.name / "dump.rdb").write_bytes(data)
        return self.accepts(server, "DEBUG", "RELOAD", "NOSAVE")

    def test_valid_files_are_loaded_as_redis_server_does(self):
        self.check_valid(self.start_in_folder(REDIS), file_of)

    def test_mutated_files_do_no_harm(self):
        self.check_mutated(file_of)


if __name__ == "__main__":
    unittest.main()
