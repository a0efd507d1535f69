"""An unbounded reply uses bounded memory and delays no other client."""

import time
import unittest

from peer import request
from server_process import eventually
from zsetd import SANITIZED, ZsetdTest

MB = 1 << 20
BOUND = 32 * MB  # in addition to the earlier memory of the server
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

    def test_is_produced_as_the_client_reads(self):
        self.client.send("ZRANDMEMBER", "z", -BILLION)
        self.assertEqual(self.client.lines.readline(), b"*%d\r\n" % BILLION)
        for _ in range(20):
            self.read(MB)
            self.assertEqual(self.other.ask("PING"), b"PONG")
        self.assert_bounded()

    def test_is_not_produced_if_the_client_does_not_read(self):
        self.client.send("ZRANDMEMBER", "z", -BILLION, "WITHSCORES")
        deadline = time.monotonic() + 1
        while time.monotonic() < deadline:
            self.assertEqual(self.other.ask("PING"), b"PONG")
        self.assert_bounded()

    def test_contains_all_data_of_its_start(self):
        count = 200_000
        self.client.socket.sendall(request("ZRANDMEMBER", "z", -count) + request("PING"))
        self.assertEqual(self.client.lines.readline(), b"*%d\r\n" % count)
        self.other.ask("DEL", "z")
        told = {self.client.reply() for _ in range(count)}
        self.assertEqual(told, {b"a", b"b", b"c"})
        self.assertEqual(self.client.reply(), b"PONG")

    def test_is_finished_for_a_client_that_has_closed_its_half(self):
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

    def test_many_messages_do_not_delay_it(self):
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

    def test_is_not_sent_with_replies_off(self):
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

    def test_of_a_transaction_is_neither_copied_nor_kept_once_sent(self):
        count = 200
        self.other.ask("SET", "k", b"x" * MB)
        before = self.server.peak_memory()
        self.client.socket.sendall(request("MULTI") + request("GET", "k") * count + request("EXEC"))
        for _ in range(1 + count):
            self.client.reply()
        self.assertEqual(self.client.lines.readline(), b"*%d\r\n" % count)
        for _ in range(count - 20):
            self.assertEqual(len(self.client.reply()), MB)
        if not SANITIZED:
            self.assertLess(self.server.peak_memory() - before, (count + 40) * MB)
            used = lambda: self.used_memory()
            self.assertTrue(eventually(lambda: used() < 30 * MB), used())
        for _ in range(20):
            self.assertEqual(self.client.reply(), b"x" * MB)

    def used_memory(self):
        return int(self.other.ask("INFO", "memory").split(b"used_memory:")[1].split(b"\r\n")[0])

    def test_draws_of_many_clients_share_one_copy(self):
        self.fill()
        for command, key in ("ZRANDMEMBER", "zset"), ("SRANDMEMBER", "set"), ("HRANDFIELD", "hash"):
            with self.subTest(command=command):
                size = self.other.ask("MEMORY", "USAGE", key, "SAMPLES", 0)
                before = self.used_memory()
                clients = [self.connect() for _ in range(20)]
                for client in clients:
                    client.send(command, key, -2**62)
                    self.assertTrue(client.lines.readline().startswith(b"*"))
                self.assertLess(self.used_memory() - before, 20 * 2 * MB + 3 * size)
                for client in clients:
                    client.close()
                if not SANITIZED:  # a sanitizer retains freed memory
                    self.assertTrue(eventually(lambda: self.used_memory() - before < size // 2))

    def test_draws_from_values_that_change_count_as_memory_of_their_clients(self):
        self.fill()
        for command, key, change in (("ZRANDMEMBER", "zset", "ZADD"), ("SRANDMEMBER", "set", "SADD"),
                                     ("HRANDFIELD", "hash", "HSET")):
            with self.subTest(command=command):
                clients = [self.connect(receive_buffer=4096) for _ in range(3)]
                for number, client in enumerate(clients):
                    new = {"ZADD": (1, number), "SADD": (number,), "HSET": (number, 1)}[change]
                    self.other.ask(change, key, *new)
                    client.send(command, key, -2**62)
                    client.lines.readline()
                sizes = [int(line.split(b"tot-mem=")[1].split()[0])
                         for line in self.other.ask("CLIENT", "LIST").split(b"\n")
                         if b"cmd=" + command.lower().encode() in line]
                self.assertEqual(len(sizes), 3)
                self.assertGreater(min(sizes), MB)
                self.other.ask("CONFIG", "SET", "maxmemory-clients", 2 * min(sizes))
                self.assertTrue(eventually(
                    lambda: self.other.ask("INFO", "stats").split(b"evicted_clients:")[1][:1] != b"0"))
                self.other.ask("CONFIG", "SET", "maxmemory-clients", 0, "client-output-buffer-limit",
                               "normal 1mb 0 0")
                self.assertTrue(eventually(lambda: b"cmd=" + command.lower().encode() not in
                                           self.other.ask("CLIENT", "LIST")))
                self.other.ask("CONFIG", "SET", "client-output-buffer-limit", "normal 0 0 0")
                self.other.ask("CONFIG", "RESETSTAT")

    def fill(self):
        """Creates collections of some megabytes each."""
        words = [b"%08d" % number * 4 for number in range(50_000)]
        self.other.ask("SADD", "set", *words)
        self.other.ask("ZADD", "zset", *(each for word in words for each in (1, word)))
        self.other.ask("HSET", "hash", *(each for word in words for each in (word, 1)))

    def test_about_a_million_commands_delays_no_client(self):
        count = 1_000_000
        self.client.send("COMMAND", "DOCS", *[b"get"] * count)
        self.assertEqual(self.client.lines.readline(), b"*%d\r\n" % (2 * count))
        before = self.server.peak_memory()
        self.assertEqual(self.client.reply(), b"get")
        self.assertEqual(self.client.reply()[0], b"summary")
        self.assertEqual(self.other.ask("PING"), b"PONG")
        if not SANITIZED:
            self.assertLess(self.server.peak_memory() - before, 32 * MB)
        infos = self.other.ask("COMMAND", "INFO", *[b"get", b"none"] * 1000)
        self.assertEqual([info and info[0] for info in infos], [b"get", None] * 1000)

    def test_about_a_million_commands_is_aborted_in_a_transaction(self):
        self.other.ask("CONFIG", "SET", "client-output-buffer-limit", "normal 1mb 0 0")
        self.client.socket.sendall(request("MULTI") +
                                   request("COMMAND", "DOCS", *[b"get"] * 1_000_000) + request("EXEC"))
        before = self.server.cpu_seconds()
        self.assertNotIn(b"summary", self.client.rest_until_broken())
        if not SANITIZED:
            self.assertLess(self.server.cpu_seconds() - before, 5)

    def test_beyond_the_limit_is_aborted_while_it_is_written(self):
        self.other.ask("CONFIG", "SET", "client-output-buffer-limit", "normal 1mb 0 0")
        self.other.ask("SET", "k", b"x" * (MB // 2))
        for words in [("MGET", *["k"] * 10_000)], [("MULTI",), *[("GET", "k")] * 1000, ("EXEC",)]:
            with self.subTest(first=words[0][0]):
                client = self.connect()
                client.socket.sendall(b"".join(request(*each) for each in words))
                self.assertNotIn(b"x", client.rest_until_broken())
                self.assertEqual(self.other.ask("PING"), b"PONG")
        self.assert_bounded()

    def test_of_sort_with_missing_keys_is_aborted(self):
        self.other.ask("CONFIG", "SET", "client-output-buffer-limit", "normal 1mb 0 0")
        self.other.ask("RPUSH", "list", *range(20_000))
        self.client.send("SORT", "list", "BY", "nosort", *["GET", "none:*"] * 1000)  # 100 MB of nulls
        self.assertEqual(self.client.rest_until_broken(), b"")
        self.assert_bounded()
        misses = self.other.ask("INFO", "stats").split(b"keyspace_misses:")[1].split()[0]
        self.assertLess(int(misses), 1_000_000)

    def test_of_every_collection_is_aborted(self):
        self.other.ask("CONFIG", "SET", "client-output-buffer-limit", "normal 1mb 0 0")
        values = [b"%05d" % number * 10 for number in range(40_000)]
        self.other.ask("RPUSH", "list", *values)
        self.other.ask("SADD", "set", *values)
        self.other.ask("ZADD", "zset", *(word for value in values for word in (1, value)))
        self.other.ask("HSET", "hash", *(word for value in values for word in (value, 1)))
        for words in [("LRANGE", "list", 0, -1), ("SMEMBERS", "set"), ("HGETALL", "hash"),
                      ("ZUNION", 2, "zset", "none"), ("SORT", "list", "ALPHA"), ("SUNION", "set", "none")]:
            with self.subTest(words=words):
                client = self.connect()
                client.send(*words)
                self.assertEqual(client.rest_until_broken(), b"")
        self.assertEqual(self.other.ask("LRANGE", "list", 0, 1), values[:2])
        self.assertEqual(self.connect().ask("ZRANGE", "zset", 0, -1), values)  # never exceeds the limit


class LongRanges(ZsetdTest):
    """Replies of many elements are those of the instant at which the request ran."""

    COUNT = 20_000

    def setUp(self):
        self.start()
        self.client = self.connect()
        self.other = self.connect()
        add = "for i = 1, ARGV[1] do %s end"
        self.client.ask("EVAL", add % "redis.call('ZADD', KEYS[1], i, 'member:' .. i)", 1, "z", self.COUNT)
        self.client.ask("EVAL", add % "redis.call('XADD', KEYS[1], i .. '-1', 'n', i)", 1, "s", self.COUNT)

    def reply_while_changed(self, *words):
        """Returns the reply, while whose first part waits the other client empties both keys."""
        self.client.socket.sendall(request(*words) + request("PING"))
        first = self.client.lines.peek(1)[:1]
        self.other.ask("ZREMRANGEBYRANK", "z", 0, -1)
        self.other.ask("XTRIM", "s", "MAXLEN", 0)
        self.assertIn(first, (b"*", b"%"))
        reply = self.client.reply()
        self.assertEqual(self.client.reply(), b"PONG")
        return reply

    def members(self, first=1):
        return [b"member:%d" % i for i in range(first, self.COUNT + 1)]

    def entries(self, first=1, last=COUNT):
        return [[b"%d-1" % i, [b"n", b"%d" % i]] for i in range(first, last + 1)]

    def test_of_a_sorted_set(self):
        self.assertEqual(self.reply_while_changed("ZRANGE", "z", 0, -1), self.members())

    def test_of_a_sorted_set_reversed_with_scores(self):
        reply = self.reply_while_changed("ZREVRANGEBYSCORE", "z", "inf", 3_001, "WITHSCORES")
        self.assertEqual(reply[::2], self.members(3_001)[::-1])
        self.assertEqual(reply[1::2], [b"%d" % i for i in range(self.COUNT, 3_000, -1)])

    def test_of_members_that_match(self):
        members = [member for member in self.members() if member.endswith(b"7")]
        reply = self.reply_while_changed("ZRANGE", "z", 0, -1, "MATCH", "*7", "LIMIT", 1, 1_900)
        self.assertEqual(reply, members[1:1_901])
        self.assertEqual(self.other.ask("ZRANGE", "z", 0, -1, "MATCH", "*7"), [])

    @unittest.skipIf(SANITIZED, "memory is counted in another way")
    def test_of_the_first_members_that_match_needs_no_copy(self):
        add = "for i = 1, ARGV[1] do redis.call('ZADD', KEYS[1], i, string.rep('x', 1000) .. i) end"
        self.client.ask("EVAL", add, 1, "long", self.COUNT)
        before = self.server.peak_memory()
        self.assertEqual(len(self.client.ask("ZRANGE", "long", 0, -1, "MATCH", "*7", "LIMIT", 1, 100)), 100)
        self.assertLess(self.server.peak_memory() - before, 10 * MB)

    def test_of_members_of_which_none_matches(self):
        self.assertEqual(self.reply_while_changed("ZRANGE", "z", 0, -1, "MATCH", "x*"), [])

    def test_of_a_stream(self):
        self.assertEqual(self.reply_while_changed("XRANGE", "s", "-", "+"), self.entries())

    def test_of_the_end_of_a_stream(self):
        reply = self.reply_while_changed("XREVRANGE", "s", 19_950, "-", "COUNT", 5_000)
        self.assertEqual(reply, self.entries(14_951, 19_950)[::-1])

    def test_of_the_start_of_a_stream(self):
        reply = self.reply_while_changed("XRANGE", "s", 30, "+", "COUNT", 5_000)
        self.assertEqual(reply, self.entries(30, 5_029))

    def test_of_two_streams(self):
        self.client.ask("XADD", "t", "1-1", "f", "v")
        reply = self.reply_while_changed("XREAD", "STREAMS", "t", "s", 0, 100)
        self.assertEqual(reply, [[b"t", [[b"1-1", [b"f", b"v"]]]], [b"s", self.entries(100)]])

    def test_are_whole_in_a_transaction(self):
        for words in ["MULTI"], ["ZRANGE", "z", 0, -1], ["XRANGE", "s", "-", "+"]:
            self.client.ask(*words)
        self.assertEqual(self.client.ask("EXEC"), [self.members(), self.entries()])

    def test_share_a_copy(self):
        self.other.ask("ZRANDMEMBER", "z", -1_000_000)  # has a copy of another kind
        clients = [self.connect() for _ in range(5)]
        for client in clients:
            client.send("ZRANGE", "z", 0, -1)
        for client in clients:
            self.assertEqual(client.reply(), self.members())


if __name__ == "__main__":
    unittest.main()
