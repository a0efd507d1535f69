"""Messages reach subscribers without delay. A subscriber that does not read is closed and delays no
other."""

import time
import unittest

from peer import request
from server_process import eventually
from zsetd import SANITIZED, ZsetdTest

MB = 1 << 20
MESSAGE = b"x" * (16 << 10)
LARGE = b"x" * (16 * MB)  # more than the socket buffers hold
MANY = len(LARGE) // len(MESSAGE)


class Subscribers(ZsetdTest):
    def start_with(self, limit="0 0 0", *options):
        """Starts a server with an output limit for subscribers: hard, soft, seconds."""
        self.start("--client-output-buffer-limit", "pubsub", *limit.split(), *options)
        self.publisher = self.connect()

    def listen(self, **options):
        listener = self.connect(**options)
        self.assertEqual(listener.ask("SUBSCRIBE", "news"), [b"subscribe", b"news", 1])
        return listener

    def publish(self, message=MESSAGE):
        """Returns the number of clients that received it."""
        return self.publisher.ask("PUBLISH", "news", message)

    def test_receive_messages_immediately(self):
        """Each message is sent after the previous one arrived, and the next tick is up to a second
        away."""
        self.start_with("0 0 0", "--hz", "1")
        listener, delays = self.listen(), []
        for i in range(20):
            start = time.monotonic()
            self.publisher.send("PUBLISH", "news", i)
            self.assertEqual(listener.reply(), [b"message", b"news", b"%d" % i])
            delays.append(time.monotonic() - start)
            self.assertEqual(self.publisher.reply(), 1)
        self.assertLess(min(delays[1:]), 0.5)

    def test_receive_all_messages_of_a_batch(self):
        self.start_with()
        listeners = [self.listen() for _ in range(10)]
        self.publisher.socket.sendall(b"".join(request("PUBLISH", "news", i) for i in range(1000)))
        for listener in listeners:
            self.assertEqual([int(listener.reply()[2]) for _ in range(1000)], list(range(1000)))

    def test_receive_their_own_messages_after_the_reply(self):
        self.start_with()
        client = self.connect()
        client.ask("HELLO", "3")
        client.ask("SUBSCRIBE", "news")
        self.assertEqual(client.ask("PUBLISH", "news", "x"), 1)
        self.assertEqual(client.reply(), [b"message", b"news", b"x"])

    def test_that_do_not_read_are_closed_at_the_hard_limit(self):
        self.start_with("2mb 0 0")
        listener = self.listen(receive_buffer=4096)
        before = self.server.peak_memory()
        count = 0
        while self.publish() > 0:
            count += 1
            self.assertLess(count, MANY)
        self.assertGreater(count, 2 * MB // len(MESSAGE))
        self.assertEqual(self.publisher.ask("CLIENT", "LIST").count(b"\n"), 1)
        self.assertLess(len(listener.rest_until_broken()), count * len(MESSAGE))
        if not SANITIZED:
            self.assertLess(self.server.peak_memory() - before, 16 * MB)

    def test_that_do_not_read_are_closed_after_the_soft_limits_time(self):
        self.start_with("0 2mb 1")
        self.listen(receive_buffer=4096)
        for _ in range(MANY):
            self.publish()
        listeners = lambda: self.publisher.ask("PUBSUB", "NUMSUB", "news")[1]
        self.assertTrue(eventually(lambda: listeners() == 0))

    def test_that_do_not_read_are_kept_during_the_soft_limits_time(self):
        self.start_with("0 2mb 3600")
        listener = self.listen(receive_buffer=4096)
        self.assertTrue(all(self.publish() == 1 for _ in range(MANY)))
        self.assertTrue(all(listener.reply()[2] == MESSAGE for _ in range(MANY)))

    def test_that_continue_to_read_are_not_closed(self):
        self.start_with("2mb 0 0")
        listener = self.listen()
        for _ in range(MANY):
            self.assertEqual(self.publish(), 1)
            self.assertTrue(listener.reply()[2] == MESSAGE)

    def test_that_do_not_read_delay_no_other_subscriber(self):
        self.start_with()
        self.listen(receive_buffer=4096)
        listener = self.listen()
        for _ in range(MANY):
            self.assertEqual(self.publish(), 2)
            self.assertTrue(listener.reply()[2] == MESSAGE)

    def test_that_read_slowly_get_replies_during_endless_messages(self):
        self.start_with()
        self.publisher.ask("SET", "k", LARGE)
        client = self.connect(receive_buffer=4096)
        client.ask("HELLO", "3")
        client.ask("SUBSCRIBE", "news")
        client.socket.sendall(request("GET", "k") + request("ECHO", "answer"))
        received = b""
        for _ in range(2 * MANY):
            while self.waiting_bytes() < 1000 << 10:  # above it, requests may have to wait
                self.publish()
            received = received[-10:] + client.lines.read(len(MESSAGE))
            if b"answer" in received:
                return
        self.fail("not answered")

    def waiting_bytes(self):
        """Returns the number of bytes that the server still holds for the listener."""
        client = self.publisher.ask("CLIENT", "LIST", "TYPE", "PUBSUB")
        return sum(int(client.split(field)[1].split()[0]) for field in (b" obl=", b" omem="))


if __name__ == "__main__":
    unittest.main()
