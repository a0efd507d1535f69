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

    def test_that_do_not_read_are_closed_at_the_hard_limit_while_one_command_runs(self):
        """A script, a transaction or a command writes far more than the limit at a time."""
        keys = [b"key:%d" % number for number in range(50_000)]
        script = "for i = 1, 1000 do redis.call('%s', %s ARGV[1]) end"

        def run_transaction():
            self.publisher.socket.sendall(
                request("MULTI") + request("PUBLISH", "news", MESSAGE) * 1000 + request("EXEC"))
            for _ in range(1001):
                self.publisher.reply()
            self.assertEqual(len(self.publisher.reply()), 1000)

        def delete_keys():
            self.publisher.ask("MSET", *[word for key in keys for word in (key, "")])
            self.publisher.ask("CONFIG", "SET", "notify-keyspace-events", "KEA")
            self.publisher.ask("DEL", *keys)

        run_script = lambda command, name: self.publisher.ask(
            "EVAL", script % (command, name), 0, MESSAGE)
        tracks = [("HELLO", "3"), ("CLIENT", "TRACKING", "ON")]
        for listens, cause in (
                ([("PSUBSCRIBE", "*")], lambda: run_script("PUBLISH", "'news',")),
                ([("MONITOR",)], lambda: run_script("ECHO", "")),
                ([("SUBSCRIBE", "news")], run_transaction),
                ([("PSUBSCRIBE", "*")], delete_keys),
                ([*tracks, ("MGET", *keys[:5000])],
                 lambda: self.publisher.ask(
                     "EVAL", "for i = 1, #ARGV do redis.call('SET', ARGV[i], '') end", 0, *keys))):
            with self.subTest(listens=listens[-1][:2]):
                self.start_with("64kb 0 0", "--maxmemory-clients", "0")
                listeners = [self.connect(receive_buffer=4096) for _ in range(20)]
                for listener in listeners:
                    for words in listens:
                        listener.ask(*words)
                before = self.server.peak_memory()
                cause()
                for listener in listeners:
                    listener.rest_until_broken()
                self.assertTrue(
                    eventually(lambda: self.publisher.ask("CLIENT", "LIST").count(b"\n") == 1))
                closed = self.publisher.ask("INFO", "stats").split(
                    b"client_output_buffer_limit_disconnections:")[1].split()[0]
                self.assertEqual(int(closed), len(listeners))
                self.assertIn("output buffer limit exceeded", self.server.log())
                if not SANITIZED:
                    self.assertLess(self.server.peak_memory() - before, 100 * MB)

    def test_that_are_closed_take_no_element(self):
        """A client that is closed for its messages cannot receive the element that it waits for."""
        self.start_with("64kb 0 0")
        client = self.connect(receive_buffer=4096)
        client.ask("HELLO", "3")
        client.ask("SUBSCRIBE", "news")
        client.send("BLPOP", "list", 0)
        self.assertTrue(eventually(
            lambda: b"blocked_clients:1\r" in self.publisher.ask("INFO", "clients")))
        self.publisher.ask("EVAL", "for i = 1, 100 do redis.call('PUBLISH', 'news', ARGV[1]) end "
                           "redis.call('RPUSH', 'list', 'element')", 0, MESSAGE)
        client.rest_until_broken()
        self.assertEqual(self.publisher.ask("LRANGE", "list", 0, -1), [b"element"])

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

    def test_that_have_read_all_are_not_closed_for_what_was_unsent(self):
        """A message of 2 MB is sent in parts; the limit permits one of them at a time."""
        self.start_with("2600000 0 0")
        listener = self.listen()
        message = b"x" * 2_000_000
        for _ in range(20):
            self.assertEqual(self.publish(message), 1)
            self.assertTrue(listener.reply()[2] == message)

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
