"""A client that does not read uses bounded memory and delays no other client."""

import threading
import unittest

from peer import request
from server_process import eventually
from zsetd import SANITIZED, ZsetdTest

MB = 1 << 20
BOUND = 32 * MB  # in addition to the earlier memory; far less than the replies


class SlowReaders(ZsetdTest):
    def setUp(self):
        self.start()
        self.slow = self.connect(receive_buffer=4096)
        self.other = self.connect()
        self.assertEqual(self.other.ask("PING"), b"PONG")
        self.before = self.server.peak_memory()

    def assert_bounded(self):
        if not SANITIZED:
            self.assertLess(self.server.peak_memory() - self.before, BOUND)

    def send_until_blocked(self, data, most):
        """Sends until the server stops reading, while the other client is served. Returns the bytes
        sent."""
        self.slow.socket.setblocking(False)
        sent = refused = 0
        while refused < 20 and sent < most:
            try:
                sent += self.slow.socket.send(data[sent % len(data):])
                refused = 0
            except BlockingIOError:
                refused += 1
                self.assertEqual(self.other.ask("PING"), b"PONG")
        self.slow.socket.settimeout(20)
        return sent

    def test_may_send_requests_until_its_socket_blocks(self):
        text = b"x" * (64 << 10)
        echo = request("ECHO", text)
        sent = self.send_until_blocked(echo, most=256 * MB)
        self.assertLess(sent, 64 * MB)
        self.assert_bounded()
        left = echo[sent % len(echo):]
        sender = threading.Thread(target=self.slow.socket.sendall, args=(left,))
        sender.start()
        for _ in range(sent // len(echo) + 1):
            self.assertEqual(self.slow.reply(), text)
        sender.join()

    def test_gets_every_reply_when_it_reads_at_last(self):
        text, count = b"x" * MB, 200
        self.other.ask("ZADD", "z", 1, text)
        self.before = self.server.peak_memory()
        self.slow.socket.sendall(request("ZRANGE", "z", 0, 0) * count)
        for i in range(10):
            self.assertEqual(self.other.ask("ECHO", i), b"%d" % i)
        for _ in range(count):
            self.assertEqual(self.slow.reply(), [text])
        self.assert_bounded()

    def account(self, field):
        """Returns a field of the slow client in CLIENT LIST."""
        clients = self.other.ask("CLIENT", "LIST", "ID", self.number)
        return int(clients.split(b" %b=" % field.encode())[1].split()[0])

    def test_is_charged_for_replies_that_wait_for_it(self):
        self.other.ask("ZADD", "z", 1, b"x" * (16 * MB))
        self.number = self.slow.ask("CLIENT", "ID")
        waiting = request("PING") * 10
        self.slow.socket.sendall(request("ZRANGE", "z", 0, 0) + waiting)
        self.assertTrue(eventually(lambda: self.account("omem") > 4 * MB))
        self.assertTrue(eventually(lambda: self.account("qbuf") == len(waiting)))
        self.slow.lines.read(12 * MB)
        self.assertTrue(eventually(lambda: self.account("omem") < 4 * MB))


if __name__ == "__main__":
    unittest.main()
