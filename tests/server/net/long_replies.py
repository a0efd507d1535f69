"""An unbounded reply uses bounded memory and delays no other client."""

import time
import unittest

from peer import request
from zsetd import SANITIZED, ZsetdTest

MB = 1 << 20
BOUND = 32 * MB  # beyond what the server had before
BILLION = 1_000_000_000


class LongReplies(ZsetdTest):
    def setUp(self):
        self.start()
        self.client = self.connect()
        self.other = self.connect()
        self.client.ask("ZADD", "z", 1, "a", 2, "b", 3, "c")
        self.before = self.server.peak_memory()

    def assert_bounded(self):
        if not SANITIZED:
            self.assertLess(self.server.peak_memory() - self.before, BOUND)

    def read(self, size):
        self.assertEqual(len(self.client.lines.read(size)), size)

    def test_comes_as_it_is_read(self):
        self.client.send("ZRANDMEMBER", "z", -BILLION)
        self.assertEqual(self.client.lines.readline(), b"*%d\r\n" % BILLION)
        for _ in range(20):
            self.read(MB)
            self.assertEqual(self.other.ask("PING"), b"PONG")
        self.assert_bounded()

    def test_does_not_come_where_nobody_reads(self):
        self.client.send("ZRANDMEMBER", "z", -BILLION, "WITHSCORES")
        deadline = time.monotonic() + 1
        while time.monotonic() < deadline:
            self.assertEqual(self.other.ask("PING"), b"PONG")
        self.assert_bounded()

    def test_tells_all_of_what_was_there_when_it_began(self):
        count = 200_000
        self.client.socket.sendall(request("ZRANDMEMBER", "z", -count) + request("PING"))
        self.assertEqual(self.client.lines.readline(), b"*%d\r\n" % count)
        self.other.ask("DEL", "z")
        told = {self.client.reply() for _ in range(count)}
        self.assertEqual(told, {b"a", b"b", b"c"})
        self.assertEqual(self.client.reply(), b"PONG")

    def test_is_finished_for_who_will_say_no_more(self):
        count = 200_000
        self.client.send("ZRANDMEMBER", "z", -count)
        self.client.close_half()
        self.assertEqual(len(self.client.reply()), count)
        self.assertEqual(self.client.rest(), b"")

    def test_ends_with_its_client(self):
        self.client.send("ZRANDMEMBER", "z", -BILLION)
        self.read(MB)
        self.client.vanish()
        self.assertEqual(self.other.ask("PING"), b"PONG")
        self.assert_bounded()

    def test_messages_wait_for_its_end(self):
        count = 200_000
        self.client.ask("HELLO", 3)
        self.client.ask("SUBSCRIBE", "news")
        self.client.send("ZRANDMEMBER", "z", -count)
        self.assertEqual(self.client.lines.readline(), b"*%d\r\n" % count)
        self.assertEqual(self.other.ask("PUBLISH", "news", "today"), 1)
        for _ in range(count):
            self.assertIn(self.client.reply(), {b"a", b"b", b"c"})
        self.assertEqual(self.client.reply(), [b"message", b"news", b"today"])

    def test_many_messages_do_not_hold_it_up(self):
        count, member, message = 20_000, b"x" * 1000, b"y" * MB
        self.client.ask("ZADD", "long", 1, member)
        self.client.ask("HELLO", 3)
        self.client.ask("SUBSCRIBE", "news")
        self.client.send("ZRANDMEMBER", "long", -count)
        self.assertEqual(self.client.lines.readline(), b"*%d\r\n" % count)
        for _ in range(3):
            self.assertEqual(self.other.ask("PUBLISH", "news", message), 1)
        for _ in range(count):
            self.assertEqual(self.client.reply(), member)
        for _ in range(3):
            self.assertEqual(self.client.reply(), [b"message", b"news", message])

    def test_nobody_hears_it_with_replies_off(self):
        self.client.send("CLIENT", "REPLY", "SKIP")
        self.client.send("ZRANDMEMBER", "z", -BILLION)
        self.assertEqual(self.client.ask("PING"), b"PONG")

    def test_is_whole_within_a_transaction(self):
        count = 20_000
        for words in ["MULTI"], ["ZRANDMEMBER", "z", -count], ["PING"]:
            self.client.ask(*words)
        members, pong = self.client.ask("EXEC")
        self.assertEqual(len(members), count)
        self.assertEqual(pong, b"PONG")

    def test_beyond_the_limit_is_given_up_while_it_is_written(self):
        self.other.ask("CONFIG", "SET", "client-output-buffer-limit", "normal 1mb 0 0")
        self.other.ask("SET", "k", b"x" * (MB // 2))
        for words in [("MGET", *["k"] * 10_000)], [("MULTI",), *[("GET", "k")] * 1000, ("EXEC",)]:
            with self.subTest(first=words[0][0]):
                client = self.connect()
                client.socket.sendall(b"".join(request(*each) for each in words))
                self.assertNotIn(b"x", client.rest_until_broken())
                self.assertEqual(self.other.ask("PING"), b"PONG")
        self.assert_bounded()

    def test_of_every_collection_is_given_up(self):
        self.other.ask("CONFIG", "SET", "client-output-buffer-limit", "normal 1mb 0 0")
        values = [b"%05d" % number * 10 for number in range(40_000)]
        self.other.ask("RPUSH", "list", *values)
        self.other.ask("SADD", "set", *values)
        self.other.ask("ZADD", "zset", *(word for value in values for word in (1, value)))
        self.other.ask("HSET", "hash", *(word for value in values for word in (value, 1)))
        for words in [("LRANGE", "list", 0, -1), ("SMEMBERS", "set"), ("ZRANGE", "zset", 0, -1),
                      ("HGETALL", "hash"), ("SORT", "list", "ALPHA"), ("SUNION", "set", "none")]:
            with self.subTest(words=words):
                client = self.connect()
                client.send(*words)
                self.assertEqual(client.rest_until_broken(), b"")
        self.assertEqual(self.other.ask("LRANGE", "list", 0, 1), values[:2])


if __name__ == "__main__":
    unittest.main()
