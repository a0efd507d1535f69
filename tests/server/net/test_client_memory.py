"""All memory that a client makes the server allocate is counted for the client (tot-mem), whatever
its use."""

import time
import unittest

from peer import request
from server_process import eventually
from zsetd import SANITIZED, ZsetdTest

KB = 1 << 10
MB = 1 << 20
NOISE = 100 * KB  # of the client that asks
STEADY_S = 0.35


@unittest.skipIf(SANITIZED, "memory is counted in another way")
class ClientMemory(ZsetdTest):
    OPTIONS = []

    def setUp(self):
        # A slow request would leave the client's name in the slow log.
        self.start("--client-output-buffer-limit", "pubsub", "0", "0", "0",
                   "--slowlog-log-slower-than", "-1", *self.OPTIONS)
        self.observer = self.connect()
        self.client = self.connect(receive_buffer=4096)
        self.number = self.client.ask("CLIENT", "ID")

    def used(self):
        info = self.observer.ask("INFO", "memory").decode()
        return int(info.split("used_memory:")[1].split("\r\n")[0])

    def total(self):
        """Returns the client's tot-mem; 0 if it has disconnected."""
        line = self.observer.ask("CLIENT", "LIST", "ID", self.number)
        return int(line.split(b" tot-mem=")[1].split()[0]) if line else 0

    def settled(self):
        """Returns the used and the accounted memory, once neither has changed for some of the
        server's ticks, in which buffers shrink."""
        last, since = None, time.monotonic()
        deadline = since + 10
        while time.monotonic() < min(since + STEADY_S, deadline):
            now = self.used(), self.total()
            if now != last:
                last, since = now, time.monotonic()
            time.sleep(0.05)
        return last

    def assert_accounted(self, cause, least, most_of=2.5):
        """`cause` makes the server allocate `least` bytes or more, which must count for the
        client."""
        used_before, total_before = self.settled()
        cause()
        taken = accounted = 0

        def is_accounted():
            nonlocal taken, accounted
            used, total = self.settled()
            taken, accounted = used - used_before, total - total_before
            return taken > least and taken - NOISE <= accounted <= most_of * taken + NOISE

        eventually(is_accounted)  # a thread that frees memory may not have run yet
        self.assertGreater(taken, least, "the cause takes too little memory")
        self.assertGreaterEqual(accounted + NOISE, taken)
        self.assertLessEqual(accounted, most_of * taken + NOISE)

    def ask_all(self, requests):
        replies = []
        for words in requests:
            replies.append(self.client.ask(*words))
        return replies

    def names(self, count, size=8):
        return [b"%0*d" % (size, number) for number in range(count)]

    def test_of_a_queue(self):
        requests = [("MULTI",), *[("DEL", *[""] * 10_000)] * 20, *[("PING",)] * 5000]
        self.assert_accounted(lambda: self.ask_all(requests), 3 * MB)

    def test_of_watches(self):
        for size in 8, 40:
            with self.subTest(size=size):
                self.client.ask("UNWATCH")
                keys = self.names(30_000, size)
                self.assert_accounted(lambda: self.client.ask("WATCH", *keys), 2 * MB)

    def test_of_subscriptions(self):
        for command in "SUBSCRIBE", "PSUBSCRIBE", "SSUBSCRIBE":
            with self.subTest(command=command):
                names = self.names(20_000, 20)

                def subscribe():
                    self.client.send(command, *names)
                    for _ in names:
                        self.client.reply()
                self.assert_accounted(subscribe, 2 * MB)

    def add_long_members(self, key, count):
        add = "for i = 1, ARGV[1] do redis.call('ZADD', KEYS[1], i, string.rep('x', 1000) .. i) end"
        self.observer.ask("EVAL", add, 1, key, count)

    def follow_tops(self, key, counts):
        for count in counts:
            self.client.ask("SUBSCRIBE", f"__toprev@0__:{count}:{key}")

    def test_of_the_elements_of_live_tops(self):
        self.add_long_members("top", 1000)
        self.follow_tops("top", [1])  # the allocator caches memory of this size from now on
        self.client.ask("UNSUBSCRIBE")
        self.assert_accounted(lambda: self.follow_tops("top", range(990, 1000)), 8 * MB)

    def test_of_elements_that_live_tops_have_reported(self):
        self.observer.ask("CONFIG", "SET", "notify-keyspace-events", "r")
        self.add_long_members("top", 1)
        self.follow_tops("top", range(990, 1000))
        self.add_long_members("late", 1000)
        self.assert_accounted(lambda: self.observer.ask("RENAME", "late", "top"), 8 * MB)
        self.observer.ask("UNLINK", "top")
        for _ in range(20):  # two messages of each channel
            self.client.reply()
        self.assertTrue(eventually(lambda: self.total() < MB), self.total())

    def test_of_tracking_prefixes(self):
        self.client.ask("HELLO", 3)
        prefixes = [word for name in self.names(5000, 200) for word in ("PREFIX", name)]
        self.assert_accounted(
            lambda: self.client.ask("CLIENT", "TRACKING", "ON", "BCAST", *prefixes), MB, most_of=4)

    def test_of_waiting(self):
        keys = self.names(20_000, 20)
        self.assert_accounted(lambda: self.client.send("BLPOP", *keys, 0), 3 * MB)

    def test_of_a_request_that_is_held_back(self):
        self.observer.ask("CLIENT", "PAUSE", 100_000, "WRITE")
        self.assert_accounted(lambda: self.client.send("SET", "key", "x" * (3 * MB)), 3 * MB)
        self.observer.ask("CLIENT", "UNPAUSE")

    def test_of_an_unfinished_request(self):
        start = b"*3\r\n$3\r\nSET\r\n$3\r\nkey\r\n$%d\r\n" % (10 * MB)
        self.assert_accounted(
            lambda: self.client.send_until_arrived(start + b"x" * (6 * MB)), 6 * MB)
        self.assertLess(self.total(), 13 * MB, "what the request needs, in the next size of the allocator")

    def test_of_unfinished_words(self):
        start = b"*1000000\r\n" + b"$1\r\nx\r\n" * 400_000
        self.assert_accounted(lambda: self.client.send_until_arrived(start), 6 * MB)

    def test_of_its_name(self):
        self.assert_accounted(lambda: self.client.ask("CLIENT", "SETNAME", "n" * (2 * MB)), 2 * MB)

    def test_of_replies_that_it_does_not_read(self):
        self.observer.ask("SETRANGE", "s", 5 * MB, "x")
        self.assert_accounted(lambda: self.client.send("GET", "s"), 3 * MB)

    def test_of_messages_that_it_does_not_read(self):
        self.client.ask("SUBSCRIBE", "news")

        def publish():
            for _ in range(1000):
                self.observer.ask("PUBLISH", "news", "x" * (10 * KB))
        self.assert_accounted(publish, 4 * MB)

    def test_of_messages_that_wait_for_a_long_reply(self):
        self.observer.ask("ZADD", "z", 1, "x" * 1000)
        self.client.ask("HELLO", 3)
        self.client.ask("SUBSCRIBE", "news")
        self.client.send("ZRANDMEMBER", "z", -10**9)

        def publish():
            for _ in range(400):
                self.observer.ask("PUBLISH", "news", "x" * (10 * KB))
        self.assert_accounted(publish, 3 * MB)

    def test_of_a_long_reply(self):
        for start in range(0, 200_000, 10_000):
            elements = [word for i in range(start, start + 10_000) for word in (i * 7919 % 100_003, i * 37)]
            self.observer.ask("ZADD", "z", *elements)
        self.assert_accounted(lambda: self.client.send("ZRANDMEMBER", "z", -10**9), MB, most_of=4)

    def test_of_a_connection(self):
        count = 100
        used = self.used()
        idle = [self.connect() for _ in range(count)]
        for peer in idle:
            peer.ask("PING")
        taken = self.used() - used
        lines = self.observer.ask("CLIENT", "LIST").split(b"\n")
        accounted = sum(int(line.split(b" tot-mem=")[1].split()[0]) for line in lines if b"cmd=ping" in line)
        self.assertGreaterEqual(accounted + NOISE, taken)
        self.assertLessEqual(accounted, 2 * taken + NOISE)


@unittest.skipIf(SANITIZED, "memory is counted in another way")
class IdleBuffers(ZsetdTest):
    def test_are_released(self):
        self.start()
        observer = self.connect()
        used = lambda: int(observer.ask("INFO", "memory").split(b"used_memory:")[1].split(b"\r\n")[0])
        before = used()
        clients = [self.connect() for _ in range(3)]
        for client in clients:
            self.assertEqual(client.ask("SET", "key", "x" * (20 * MB)), b"OK")
            self.assertEqual(len(client.ask("GET", "key")), 20 * MB)
        half = self.connect()
        half.send_until_arrived(request("ECHO", "x" * (8 * MB)) + b"*2\r\n$4\r\nECHO\r\n$3\r\nab")
        self.assertEqual(len(half.reply()), 8 * MB)
        observer.ask("DEL", "key")
        self.assertTrue(eventually(lambda: used() - before < 200 * KB))
        for client in clients:
            self.assertEqual(client.ask("PING"), b"PONG")
        half.socket.sendall(b"c\r\n")
        self.assertEqual(half.reply(), b"abc")


if __name__ == "__main__":
    unittest.main()
