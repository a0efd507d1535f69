"""A server that is asked to leave answers first what it has received, and waits for nobody long."""

import signal
import time
import unittest

from peer import request
from zsetd import ZsetdTest

GRACE_S = 5  # as in server/net/server.cc


class Endings(ZsetdTest):
    def setUp(self):
        self.start()

    def leave_amid(self, happening, end=signal.SIGTERM):
        """Has what happens and the signal reach the server at once."""
        with self.server.frozen():
            happening()
            self.server.ask_to_leave(end)

    def assert_left(self):
        self.assertEqual(self.server.exit_code(), 0)

    def test_what_many_clients_sent_is_answered(self):
        clients = [self.connect() for _ in range(50)]

        def all_ask():
            for i, client in enumerate(clients):
                client.send("ECHO", i)

        self.leave_amid(all_ask)
        for i, client in enumerate(clients):
            self.assertEqual(client.reply(), b"%d" % i)
            self.assertEqual(client.rest(), b"")
        self.assert_left()

    def test_half_a_request_is_forgotten(self):
        client = self.connect()
        self.leave_amid(lambda: client.socket.sendall(request("PING") + request("PING")[:-1]))
        self.assertEqual(client.rest(), b"+PONG\r\n")
        self.assert_left()

    def test_idle_clients_do_not_delay_the_end(self):
        clients = [self.connect() for _ in range(10)]
        self.assertTrue(all(client.ask("PING") for client in clients))
        start = time.monotonic()
        self.server.ask_to_leave()
        for client in clients:
            self.assertEqual(client.rest(), b"")
        self.assert_left()
        self.assertLess(time.monotonic() - start, GRACE_S - 0.5)

    def test_those_who_connect_at_that_moment_do_not_delay_the_end(self):
        start = time.monotonic()
        self.leave_amid(lambda: [self.connect() for _ in range(50)])
        self.assert_left()
        self.assertLess(time.monotonic() - start, GRACE_S - 0.5)


if __name__ == "__main__":
    unittest.main()
