"""The setting `timeout` closes clients that send and receive nothing."""

import select
import time
import unittest

from peer import request
from zsetd import ZsetdTest

TIMEOUTS_S = 3, 12, 48  # the next one if the machine was too slow for the steps of the test
MB = 1 << 20
TEXT = b"x" * (16 * MB)  # more than the socket buffers hold


class IdleClients(ZsetdTest):
    def setUp(self):
        self.timeout_s = TIMEOUTS_S[0]
        self.was_late = False
        self.start("--timeout", str(self.timeout_s))

    def in_time(self, test):
        """Runs the test, and again with a longer timeout if one of its steps was late."""
        for self.timeout_s in TIMEOUTS_S:
            self.start("--timeout", str(self.timeout_s))
            self.was_late = False
            try:
                return test()
            except (AssertionError, OSError, EOFError):
                if not self.was_late or self.timeout_s == TIMEOUTS_S[-1]:
                    raise

    def timeout_passes(self, step):
        """Repeats the step, ten times or more, until a client that is idle in the meantime is
        closed."""
        idle = self.connect()
        last = time.monotonic()
        while not select.select([idle.socket], [], [], self.timeout_s / 10)[0]:
            step()
            self.was_late |= time.monotonic() - last > self.timeout_s / 2
            last = time.monotonic()
        self.was_late |= time.monotonic() - last > self.timeout_s / 2
        self.assertEqual(idle.rest(), b"")

    def test_are_closed(self):
        start = time.monotonic()
        self.assertEqual(self.connect().rest(), b"")
        self.assertGreater(time.monotonic() - start, self.timeout_s * 0.9)

    def test_subscribers_are_not_closed(self):
        listener = self.connect()
        self.assertEqual(listener.ask("SUBSCRIBE", "news"), [b"subscribe", b"news", 1])
        self.timeout_passes(lambda: None)
        self.assertEqual(self.connect().ask("PUBLISH", "news", "x"), 1)
        self.assertEqual(listener.reply(), [b"message", b"news", b"x"])

    def test_a_client_that_sends_a_request_slowly_is_not_closed(self):
        self.in_time(self.take_long_over_a_request)

    def take_long_over_a_request(self):
        client = self.connect()
        echo = request("ECHO", TEXT)
        sent = [0]

        def send_some():
            sent[0] += client.socket.send(echo[sent[0]:sent[0] + 1024])

        self.timeout_passes(send_some)
        client.socket.sendall(echo[sent[0]:])
        self.assertEqual(client.reply(), TEXT)

    def test_a_client_that_reads_a_reply_slowly_is_not_closed(self):
        self.in_time(self.take_long_over_a_reply)

    def take_long_over_a_reply(self):
        client = self.connect(receive_buffer=MB // 16)
        self.assertEqual(client.ask("ZADD", "z", 1, TEXT), 1)
        client.send("ZRANGE", "z", 0, 0)
        expected = b"*1\r\n$%d\r\n%b\r\n" % (len(TEXT), TEXT)
        taken = bytearray()
        self.timeout_passes(lambda: taken.extend(client.lines.read(MB // 2)))
        taken += client.lines.read(len(expected) - len(taken))
        self.assertTrue(taken == expected, f"{len(taken)} bytes")


if __name__ == "__main__":
    unittest.main()
