"""Requests get their replies in order, however the network splits them."""

import unittest

from peer import request
from zsetd import ZsetdTest

STREAM = (request("ECHO", "a") + b"PING inline\r\n" + request("ECHO", b"\r\n$1\r\n*") + b"\r\n" +
          request("ZADD", "z", "1.5", "m") + b"*0\r\n" + request("ECHO", "") + request("ZCARD", "z"))
REPLIES = b"$1\r\na\r\n$6\r\ninline\r\n$7\r\n\r\n$1\r\n*\r\n:%d\r\n$0\r\n\r\n:1\r\n"


class Requests(ZsetdTest):
    def setUp(self):
        self.start()
        self.client = self.connect()
        self.other = self.connect()

    def arrived(self):
        """Waits until the server has read all earlier bytes. It serves clients in order of
        arrival."""
        self.assertEqual(self.other.ask("PING"), b"PONG")

    def receive(self, size):
        return self.client.lines.read(size)

    def test_may_be_cut_at_any_byte(self):
        for cut in range(1, len(STREAM)):
            self.client.socket.sendall(STREAM[:cut])
            self.arrived()
            self.client.socket.sendall(STREAM[cut:])
            expected = REPLIES % (cut == 1)
            self.assertEqual(self.receive(len(expected)), expected, f"cut at {cut}")

    def test_may_arrive_byte_by_byte(self):
        for byte in STREAM:
            self.client.socket.sendall(bytes([byte]))
            self.arrived()
        self.assertEqual(self.receive(len(REPLIES % 1)), REPLIES % 1)

    def test_that_is_being_run_counts_as_buffered(self):
        size = len(request("CLIENT", "INFO"))
        self.assertIn(b" qbuf=%d " % size, self.client.ask("CLIENT", "INFO"))

    def test_many_in_one_write_are_answered_in_order(self):
        count = 20_000
        self.client.socket.sendall(b"".join(request("ECHO", i) for i in range(count)))
        for i in range(count):
            self.assertEqual(self.client.reply(), b"%d" % i)

    def test_replies_to_one_read_are_sent_in_one_write(self):
        pings = 100
        for _ in range(50):
            self.client.socket.sendall(request("PING") * pings)
            self.assertEqual(self.client.socket.recv(1 << 16), b"+PONG\r\n" * pings)

    def test_an_unfinished_request_of_one_client_delays_no_other(self):
        self.client.socket.sendall(request("ECHO", "x" * 1000)[:-500])
        for i in range(10):
            self.assertEqual(self.other.ask("ECHO", i), b"%d" % i)


if __name__ == "__main__":
    unittest.main()
