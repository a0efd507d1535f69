"""The server survives whatever happens to its log."""

import os
import unittest

from zsetd import ZsetdTest


class Logs(ZsetdTest):
    def test_survive_the_loss_of_their_reader(self):
        reader, writer = os.pipe()
        self.start("--loglevel", "debug", output=writer)
        os.close(reader)
        os.close(writer)
        for _ in range(3):  # each is logged
            self.assertEqual(self.connect().ask("PING"), b"PONG")


if __name__ == "__main__":
    unittest.main()
