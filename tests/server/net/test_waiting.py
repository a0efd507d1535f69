"""Blocked clients: requests that they sent after the blocking one, and how they may disconnect."""

import unittest

from peer import request
from server_process import eventually
from zsetd import ZsetdTest

MB = 1 << 20

# Exceeds the 1 MB that the server reads after a request that waits, by no more than any receive
# window holds.
MUCH = request("PING") * ((MB + 48 * 1024) // len(request("PING")))


class Waiting(ZsetdTest):
    def setUp(self):
        self.start()
        self.client = self.connect()
        self.other = self.connect()

    def waiting(self):
        return int(dict(line.split(b":") for line in self.other.ask("INFO", "clients").split(b"\r\n")
                        if b":" in line)[b"blocked_clients"])

    def wait_on(self, *words):
        self.client.send(*words)
        self.assertTrue(eventually(lambda: self.waiting() == 1))

    def test_a_client_that_leaves_takes_no_element(self):
        for leave in self.client.close, self.client.vanish, self.client.close_half:
            with self.subTest(leave.__name__):
                self.client = self.connect()
                leave = getattr(self.client, leave.__name__)
                self.wait_on("BLPOP", "l", 0)
                leave()
                self.assertTrue(eventually(lambda: self.waiting() == 0))
                self.assertEqual(self.other.ask("RPUSH", "l", "x"), 1)
                self.assertEqual(self.other.ask("LPOP", "l"), b"x")

    def test_a_client_that_leaves_unread_requests_takes_no_element(self):
        for leave in self.client.close, self.client.vanish, self.client.close_half:
            with self.subTest(leave.__name__):
                self.client = self.connect()
                leave = getattr(self.client, leave.__name__)
                self.wait_on("BLPOP", "l", 0)
                files = self.server.open_files()
                self.client.send_until_arrived(MUCH)
                leave()
                self.assertTrue(eventually(lambda: self.waiting() == 0))
                self.assertTrue(eventually(lambda: self.server.open_files() < files))
                self.assertEqual(self.other.ask("RPUSH", "l", "x"), 1)
                self.assertEqual(self.other.ask("LPOP", "l"), b"x")

    def test_a_paused_client_that_leaves_unread_requests_is_forgotten(self):
        self.other.ask("CLIENT", "PAUSE", 600_000, "WRITE")
        self.wait_on("SET", "k", "v")
        self.client.send_until_arrived(MUCH)
        self.client.vanish()
        self.assertTrue(eventually(lambda: self.waiting() == 0))
        self.other.ask("CLIENT", "UNPAUSE")
        self.assertIsNone(self.other.ask("GET", "k"))

    def test_the_server_sleeps_while_a_half_closed_client_has_replies_to_read(self):
        self.other.ask("SET", "k", b"x" * 8 * MB)
        self.client.socket.sendall(request("GET", "k") * 4)
        self.client.close_half()
        self.assertTrue(eventually(lambda: self.server.cpu_seconds_of(0.2) < 0.1))
        for _ in range(4):
            self.assertEqual(len(self.client.reply()), 8 * MB)
        self.assertEqual(self.client.rest(), b"")

    def test_a_killed_client_takes_no_element(self):
        number = self.client.ask("CLIENT", "ID")
        self.wait_on("BZPOPMIN", "k", 0)
        self.assertEqual(self.other.ask("CLIENT", "KILL", "ID", number), 1)
        self.assertEqual(self.waiting(), 0)
        self.assertEqual(self.other.ask("ZADD", "k", 1, "x"), 1)
        self.assertEqual(self.other.ask("ZCARD", "k"), 1)
        self.assertEqual(self.client.rest_until_broken(), b"")

    def test_another_client_can_end_a_wait(self):
        number = self.client.ask("CLIENT", "ID")
        self.wait_on("BLPOP", "l", 0)
        self.assertIn(b"flags=b", self.other.ask("CLIENT", "LIST", "ID", number))
        self.assertEqual(self.other.ask("CLIENT", "UNBLOCK", number), 1)
        self.assertIsNone(self.client.reply())
        self.wait_on("BLPOP", "l", 0)
        self.assertEqual(self.other.ask("CLIENT", "UNBLOCK", number, "ERROR"), 1)
        self.assertIn("UNBLOCKED", str(self.client.reply()))
        self.assertEqual(self.other.ask("CLIENT", "UNBLOCK", number), 0)
        stats = self.other.ask("INFO", "commandstats").decode()
        self.assertRegex(stats, "cmdstat_blpop:calls=2,.*,rejected_calls=0,failed_calls=1")

    def test_a_timeout_is_reported_without_other_requests(self):
        self.client.send("BLPOP", "l", "0.02")
        self.assertIsNone(self.client.reply())

    def test_many_requests_after_it_get_replies(self):
        count = 4 * MB // len(request("PING"))
        self.wait_on("BLPOP", "l", 0)
        self.client.socket.sendall(request("PING") * count)
        self.other.ask("RPUSH", "l", "x")
        self.assertEqual(self.client.reply(), [b"l", b"x"])
        for _ in range(count):
            self.assertEqual(self.client.reply(), b"PONG")

    def test_large_replies_after_it_are_all_sent(self):
        self.other.ask("SET", "k", b"x" * MB)
        self.client.socket.sendall(request("BLPOP", "l", 0) + request("GET", "k") * 20)
        self.assertTrue(eventually(lambda: self.waiting() == 1))
        self.other.ask("RPUSH", "l", "x")
        self.assertEqual(self.client.reply(), [b"l", b"x"])
        for _ in range(20):
            self.assertEqual(len(self.client.reply()), MB)

    def test_a_client_without_replies_can_quit_after_it(self):
        self.client.socket.sendall(request("CLIENT", "REPLY", "OFF") + request("BLPOP", "l", 0) +
                                   request("QUIT"))
        self.assertTrue(eventually(lambda: self.waiting() == 1))
        self.other.ask("RPUSH", "l", "x")
        self.assertEqual(self.client.rest(), b"")

    def test_the_end_of_the_server_does_not_wait_for_them(self):
        self.wait_on("BLPOP", "l", 0)
        self.other.send("SHUTDOWN")
        self.assertEqual(self.client.rest_until_broken(), b"")
        self.assertEqual(self.server.exit_code(), 0)

    def test_many_are_served_each_once_in_order_of_arrival(self):
        peers = [self.connect() for _ in range(50)]
        for number, peer in enumerate(peers):
            peer.send("BLPOP", "l", 0)
            self.assertTrue(eventually(lambda: self.waiting() == number + 1))
        self.other.ask("RPUSH", "l", *range(50))
        for number, peer in enumerate(peers):
            self.assertEqual(peer.reply(), [b"l", b"%d" % number])
        self.assertEqual(self.waiting(), 0)


if __name__ == "__main__":
    unittest.main()
