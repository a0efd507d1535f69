"""How connections end: received requests get replies, and no state of a client remains."""

import unittest

from peer import request
from server_process import eventually
from zsetd import ZsetdTest

MB = 1 << 20
LARGE = b"x" * (16 * MB)  # more than the socket buffers hold


class Closings(ZsetdTest):
    def setUp(self):
        self.start()
        self.client = self.connect()

    def assert_alone(self, observer):
        """Waits until this client is the only one."""
        clients = lambda: observer.ask("CLIENT", "LIST").count(b"\n")
        self.assertTrue(eventually(lambda: clients() == 1), observer.ask("CLIENT", "LIST"))

    def test_a_client_that_closes_its_half_gets_all_replies(self):
        self.client.socket.sendall(b"".join(request("ECHO", i) for i in range(1000)))
        self.client.close_half()
        self.assertEqual([int(self.client.reply()) for _ in range(1000)], list(range(1000)))
        self.assertEqual(self.client.rest(), b"")

    def test_a_killed_client_is_closed_before_the_killer_gets_its_reply(self):
        for _ in range(50):
            victim = self.connect()
            number = victim.ask("CLIENT", "ID")
            self.assertEqual(self.client.ask("CLIENT", "KILL", "ID", number), 1)
            victim.socket.setblocking(False)
            self.assertEqual(victim.socket.recv(1), b"")

    def test_a_client_that_closes_its_half_gets_large_replies(self):
        self.client.ask("SET", "k", LARGE)
        self.client.socket.sendall(request("GET", "k") * 3)
        self.client.close_half()
        for _ in range(3):
            self.assertTrue(self.client.reply() == LARGE)
        self.assertEqual(self.client.rest(), b"")

    def test_a_client_that_closes_its_half_amid_a_request_gets_no_reply(self):
        self.client.socket.sendall(request("PING") + request("SET", "k", "v")[:-1])
        self.client.close_half()
        self.assertEqual(self.client.rest(), b"+PONG\r\n")
        self.assertEqual(self.connect().ask("EXISTS", "k"), 0)

    def test_requests_after_quit_get_no_reply(self):
        self.client.socket.sendall(request("PING") + request("QUIT") + request("SET", "k", "v"))
        self.assertEqual(self.client.rest(), b"+PONG\r\n+OK\r\n")
        self.assertEqual(self.connect().ask("EXISTS", "k"), 0)

    def test_quit_waits_for_large_replies(self):
        self.client.ask("SET", "k", LARGE)
        self.client.socket.sendall(request("GET", "k") * 3 + request("QUIT"))
        for _ in range(3):
            self.assertTrue(self.client.reply() == LARGE)
        self.assertEqual(self.client.rest(), b"+OK\r\n")

    def test_bytes_after_quit_cost_no_reply(self):
        """Otherwise the system would discard data in transit, because the socket is closed with
        unread bytes."""
        client, value = self.connect(receive_buffer=4096), b"x" * MB
        client.ask("SET", "k", value)
        client.socket.sendall(request("GET", "k") + request("QUIT") + b"x" * (2 * MB))
        self.assertTrue(client.reply() == value)
        self.assertEqual(client.rest(), b"+OK\r\n")

    def test_a_client_that_keeps_sending_after_quit_is_closed(self):
        self.client.ask("QUIT")
        with self.assertRaises(OSError):
            while True:
                self.client.socket.sendall(b"x" * MB)

    def test_a_client_that_stays_after_quit_is_closed(self):
        self.client.ask("PING")
        before = self.server.open_files()
        idle = [self.connect() for _ in range(5)]
        for client in idle:
            client.ask("QUIT")
        self.assertTrue(eventually(lambda: self.server.open_files() <= before))

    def test_a_protocol_error_is_reported_after_the_earlier_replies(self):
        self.client.socket.sendall(request("PING") + b"*1\r\n+PING\r\n" + request("SET", "k", "v"))
        expected = b"+PONG\r\n-ERR Protocol error: expected '$', got '+'\r\n"
        self.assertEqual(self.client.rest(), expected)
        self.assertEqual(self.connect().ask("EXISTS", "k"), 0)

    def test_a_client_that_kills_itself_gets_a_reply(self):
        number = self.client.ask("CLIENT", "ID")
        kill = request("CLIENT", "KILL", "ID", number, "SKIPME", "NO")
        self.client.socket.sendall(kill + request("SET", "k", "v"))
        self.assertEqual(self.client.rest(), b":1\r\n")
        self.assertEqual(self.connect().ask("EXISTS", "k"), 0)

    def test_requests_of_a_client_killed_while_it_does_not_read_are_dropped(self):
        self.client.ask("SET", "k", LARGE)
        number = self.client.ask("CLIENT", "ID")
        self.client.socket.sendall(request("GET", "k") * 100 + request("DEL", "k"))
        other = self.connect()
        self.assertEqual(other.ask("CLIENT", "KILL", "ID", number), 1)
        self.assert_alone(other)
        self.assertEqual(other.ask("EXISTS", "k"), 1)
        self.assertLess(len(self.client.rest_until_broken()), len(LARGE))

    def test_a_client_that_vanishes_leaves_no_state(self):
        watcher, listener, transaction, half = (self.connect() for _ in range(4))
        watcher.ask("WATCH", "k")
        listener.ask("SUBSCRIBE", "news")
        listener.ask("PSUBSCRIBE", "n*")
        transaction.ask("MULTI")
        transaction.ask("SET", "k", "v")
        half.socket.sendall(request("SET", "k", "v")[:-1])
        for gone in watcher, listener, transaction, half:
            gone.vanish()
        self.assert_alone(self.client)
        self.assertEqual(self.client.ask("PUBLISH", "news", "x"), 0)
        self.assertEqual(self.client.ask("EXISTS", "k"), 0)
        self.assertEqual(self.client.ask("SET", "k", "v"), b"OK")

    def test_a_client_that_vanishes_before_a_large_reply_leaves_no_state(self):
        self.client.ask("SET", "k", LARGE)
        for _ in range(20):
            gone = self.connect()
            gone.socket.sendall(request("GET", "k") * 3)
            gone.vanish()
        self.assert_alone(self.client)


if __name__ == "__main__":
    unittest.main()
