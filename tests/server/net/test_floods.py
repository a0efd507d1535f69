"""A client that exceeds the input limits, or sends HTTP, is closed without other effects."""

import unittest

from peer import Peer, request
from server_process import eventually
from zsetd import ZsetdTest

MB = 1 << 20


class Floods(ZsetdTest):
    def figure(self, client, section, name):
        """Returns the value of this field of INFO."""
        lines = client.ask("INFO", section).decode().split("\r\n")
        return dict(line.split(":", 1) for line in lines if ":" in line)[name]

    def assert_closed(self, client, data):
        try:
            client.socket.sendall(data)
            client.close_half()
        except OSError:
            pass  # the server closed while the client was sending
        self.assertEqual(client.rest_until_broken(), b"")

    def test_beyond_client_query_buffer_limit_end_the_connection(self):
        self.start("--client-query-buffer-limit", "2mb")
        other = self.connect()
        self.assertEqual(other.ask("SET", "k", b"x" * MB), b"OK")
        self.assert_closed(self.connect(), request("SET", "k", b"y" * (3 * MB)))
        self.assertEqual(other.ask("STRLEN", "k"), MB)
        self.assertEqual(self.figure(other, "stats", "client_query_buffer_limit_disconnections"), "1")
        self.assertIn("query buffer limit exceeded", self.server.log())

    def test_may_be_allowed_while_the_server_runs(self):
        self.start("--client-query-buffer-limit", "1mb")
        client = self.connect()
        self.assertEqual(client.ask("CONFIG", "SET", "client-query-buffer-limit", "4mb"), b"OK")
        self.assertEqual(client.ask("SET", "k", b"x" * (2 * MB)), b"OK")

    def test_of_requests_that_are_run_on_arrival_are_accepted(self):
        self.start("--client-query-buffer-limit", "1mb")
        client = self.connect()
        client.socket.sendall(request("SET", "k", b"x" * 50_000) * 100)
        self.assertTrue(all(client.reply() == b"OK" for _ in range(100)))

    def test_of_a_transaction_end_the_connection(self):
        self.start("--client-query-buffer-limit", "3mb")
        other = self.connect()
        self.assertEqual(other.ask("SET", "k", "1"), b"OK")
        client = self.connect()
        self.assertEqual(client.ask("MULTI"), b"OK")
        for _ in range(2):
            self.assertEqual(client.ask("SET", "k", b"x" * MB), b"QUEUED")
        self.assert_closed(client, request("SET", "k", b"x" * MB) + request("EXEC"))
        self.assertEqual(other.ask("GET", "k"), b"1")

    def test_of_an_unauthenticated_client_that_does_not_read_end_at_1_mb(self):
        self.start("--requirepass", "secret")
        stranger = Peer(self.server.port, receive_buffer=4096)
        self.addCleanup(stranger.close)
        error = b"-NOAUTH Authentication required.\r\n"
        try:
            while True:
                stranger.socket.sendall(b"PING\r\n" * 10_000)
        except OSError:
            pass
        self.assertLess(len(stranger.rest_until_broken()), 1_000_000 * len(error))
        other = self.connect()
        self.assertEqual(other.ask("AUTH", "secret"), b"OK")
        self.assertEqual(self.figure(other, "stats", "client_output_buffer_limit_disconnections"), "1")

    def test_of_http_are_logged_once_a_minute(self):
        self.start()
        posts = b"POST / HTTP/1.1\r\nHost: localhost\r\n\r\n"
        for _ in range(10):
            self.assert_closed(self.connect(), posts)
        self.assertEqual(self.server.log().count("possible cross-protocol attack"), 1)
        client = self.connect()
        self.assertTrue(eventually(lambda: self.figure(client, "clients", "connected_clients") == "1"))


if __name__ == "__main__":
    unittest.main()
