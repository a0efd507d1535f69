"""Large requests and replies, and their memory."""

import os
import resource
import signal
import unittest

from peer import request
from server_process import eventually
from zsetd import SANITIZED, ZsetdTest

MB = 1 << 20


class LargeRequests(ZsetdTest):
    def test_beyond_proto_max_bulk_len_are_refused(self):
        self.start("--proto-max-bulk-len", "1mb")
        client = self.connect()
        self.assertEqual(client.ask("SET", "k", b"x" * MB), b"OK")
        client.send("SET", "k", b"x" * (MB + 1))
        self.assertEqual(client.rest(), b"-ERR Protocol error: invalid bulk length\r\n")
        self.assertEqual(self.connect().ask("STRLEN", "k"), MB)

    def test_may_be_allowed_while_the_server_runs(self):
        self.start("--proto-max-bulk-len", "1mb")
        client, other = self.connect(), self.connect()
        client.ask("PING")
        self.assertEqual(other.ask("CONFIG", "SET", "proto-max-bulk-len", "2mb"), b"OK")
        self.assertEqual(client.ask("SET", "k", b"x" * (2 * MB)), b"OK")

    def test_of_100_mb_take_memory_only_while_they_are_kept(self):
        self.start()
        client = self.connect()
        client.ask("PING")
        before = self.server.memory()
        value = os.urandom(MB) * 100
        self.assertEqual(client.ask("SET", "k", value), b"OK")
        self.assertTrue(client.ask("GET", "k") == value)
        self.assertEqual(client.ask("DEL", "k"), 1)
        if not SANITIZED:
            given_back = lambda: self.server.memory() - before < 25 * MB
            self.assertTrue(eventually(given_back), self.server.memory() - before)

    def test_that_stay_incomplete_take_memory_for_received_bytes_only(self):
        self.start()
        before = self.server.peak_memory()
        for _ in range(50):
            self.connect().socket.sendall(b"*1000000\r\n$500000000\r\nx")
        self.assertEqual(self.connect().ask("PING"), b"PONG")
        if not SANITIZED:
            self.assertLess(self.server.peak_memory() - before, 10 * MB)

    @unittest.skipIf(SANITIZED, "a sanitizer wants nearly all addresses")
    def test_beyond_all_memory_end_the_server(self):
        """Otherwise the server could continue with a request half run."""
        self.start()
        client = self.connect()
        self.server.limit(resource.RLIMIT_CORE, 0)
        self.server.limit(resource.RLIMIT_AS, self.server.addresses() + 64 * MB)
        with self.assertRaises(OSError):
            client.socket.sendall(request("ECHO", b"x" * (256 * MB)))
        self.assertEqual(self.server.exit_code(), -signal.SIGABRT)
        self.assertIn("zsetd is out of memory and has to stop", self.server.log())
        self.server.expected_exit_code = -signal.SIGABRT


if __name__ == "__main__":
    unittest.main()
