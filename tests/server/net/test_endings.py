"""A server that is asked to stop first replies to the requests that it has received. It waits for
clients only for a limited time."""

import signal
import time
import unittest

from peer import request
from zsetd import ZsetdTest

GRACE_S = 3  # a shutdown-timeout that a test waits for
FAR_AWAY_S = 3600  # a timeout that no test waits for

ECHOES = 2_200  # more than three reads, and no more than a socket holds unread
LARGE_REPLIES = 16


class Endings(ZsetdTest):
    def setUp(self):
        self.start("--shutdown-timeout", str(FAR_AWAY_S))

    def leave_amid(self, happening, end=signal.SIGTERM):
        """Makes `happening` and the signal reach the server together."""
        with self.server.frozen():
            happening()
            self.server.ask_to_leave(end)

    def assert_left(self):
        self.assertEqual(self.server.exit_code(), 0)

    def assert_echoed_amid(self, happening):
        """Asserts that a client receives all replies to many requests if `happening` coincides with
        them."""
        client = self.connect()
        with self.server.frozen():
            client.send_until_arrived(b"".join(request("ECHO", i) for i in range(ECHOES)))
            happening()
        self.assertEqual([int(client.reply()) for _ in range(ECHOES)], list(range(ECHOES)))
        self.assertEqual(client.rest(), b"")

    def test_sigterm_finishes_received_requests(self):
        self.assert_echoed_amid(self.server.ask_to_leave)
        self.assert_left()

    def test_sigint_finishes_received_requests(self):
        self.assert_echoed_amid(lambda: self.server.ask_to_leave(signal.SIGINT))
        self.assert_left()

    def test_shutdown_finishes_received_requests(self):
        other = self.connect()
        self.assert_echoed_amid(lambda: other.send_until_arrived(request("SHUTDOWN")))
        self.assertEqual(other.rest(), b"")
        self.assert_left()

    def test_shutdown_is_the_last_request_that_is_run(self):
        client = self.connect()
        client.socket.sendall(request("ECHO", "a") + request("SHUTDOWN") + request("ECHO", "b"))
        self.assertEqual(client.rest(), b"$1\r\na\r\n")
        self.assert_left()

    def test_many_clients_get_their_replies(self):
        clients = [self.connect() for _ in range(50)]

        def all_ask():
            for i, client in enumerate(clients):
                client.send_until_arrived(request("ECHO", i))

        self.leave_amid(all_ask)
        for i, client in enumerate(clients):
            self.assertEqual(client.reply(), b"%d" % i)
            self.assertEqual(client.rest(), b"")
        self.assert_left()

    def test_half_a_request_is_dropped(self):
        client = self.connect()
        self.leave_amid(lambda: client.send_until_arrived(request("PING") + request("PING")[:-1]))
        self.assertEqual(client.rest(), b"+PONG\r\n")
        self.assert_left()

    def test_a_client_that_reads_late_gets_all_replies(self):
        client = self.connect(receive_buffer=1 << 16)
        text = b"x" * (1 << 20)
        self.ask_for_much(client, text)
        self.server.ask_to_leave()
        self.assertTrue(all(client.reply() == [text] for _ in range(LARGE_REPLIES)))
        self.assertEqual(client.rest(), b"")
        self.assert_left()

    def test_a_client_that_keeps_sending_gets_all_replies(self):
        """Requests that arrive too late do not break the connection while replies are in
        transit."""
        client = self.connect(receive_buffer=4096)
        text = b"x" * 300_000  # more than the client's socket holds, less than the server's
        client.ask("SET", "k", text)
        with self.server.frozen():
            client.send_until_arrived(request("GET", "k"))
            self.server.ask_to_leave()
        while self.server.listens():
            pass
        for _ in range(200):
            client.socket.sendall(request("PING"))
            time.sleep(0.001)  # before and after the server closes its half
        self.assertEqual(client.reply(), text)
        self.assertEqual(client.rest().replace(b"+PONG\r\n", b""), b"")
        self.assert_left()

    def ask_for_much(self, client, text):
        """Requests far more replies than the sockets can hold."""
        client.ask("ZADD", "z", 1, text)
        client.socket.sendall(request("ZRANGE", "z", 0, 0) * LARGE_REPLIES)

    def test_the_wait_for_a_client_that_does_not_read_is_limited(self):
        self.connect().ask("CONFIG", "SET", "shutdown-timeout", GRACE_S)
        self.ask_for_much(self.connect(receive_buffer=4096), b"x" * (1 << 20))
        start = time.monotonic()
        self.server.ask_to_leave()
        self.assert_left()
        self.assertGreater(time.monotonic() - start, GRACE_S - 0.5)

    def test_the_second_signal_waits_for_no_client(self):
        self.ask_for_much(self.connect(receive_buffer=4096), b"x" * (1 << 20))
        self.server.ask_to_leave()
        while self.server.listens():  # until it has received the first
            pass
        self.server.ask_to_leave()
        self.assert_left()

    def test_idle_clients_do_not_delay_the_end(self):
        clients = [self.connect() for _ in range(10)]
        self.assertTrue(all(client.ask("PING") for client in clients))
        self.server.ask_to_leave()
        for client in clients:
            self.assertEqual(client.rest(), b"")
        self.assert_left()

    def test_new_clients_do_not_delay_the_end(self):
        self.leave_amid(lambda: [self.connect() for _ in range(50)])
        self.assert_left()


if __name__ == "__main__":
    unittest.main()
