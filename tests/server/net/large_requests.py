"""Large requests and replies, and how much memory they take."""

import resource
import signal
import unittest

from peer import request
from zsetd import SANITIZED, ZsetdTest

MB = 1 << 20


class LargeRequests(ZsetdTest):
    @unittest.skipIf(SANITIZED, "a sanitizer wants nearly all addresses")
    def test_beyond_all_memory_end_the_server(self):
        """Rather than leave it with a request half run."""
        self.start()
        client = self.connect()
        self.server.limit(resource.RLIMIT_CORE, 0)
        self.server.limit(resource.RLIMIT_AS, self.server.addresses() + 64 * MB)
        with self.assertRaises(OSError):
            client.socket.sendall(request("ECHO", b"x" * (256 * MB)))
        self.assertEqual(self.server.exit_code(), -signal.SIGABRT)
        self.server.expected_exit_code = -signal.SIGABRT


if __name__ == "__main__":
    unittest.main()
