"""maxmemory holds while clients write, and maxmemory-clients while they do not read."""

import contextlib
import subprocess
import tempfile
import time
import unittest

from peer import request
from server_process import eventually
from zsetd import SANITIZED, ZsetdTest

MB = 1 << 20
LIMIT = 30 * MB
NOISE = MB  # bytes of buffers that are allocated and freed
TRACE_SYNCS = ["strace", "-qq", "-o", "/dev/null", "-e", "trace=fdatasync,fsync"]


def can_trace():
    return subprocess.run([*TRACE_SYNCS, "true"], capture_output=True).returncode == 0


@unittest.skipIf(SANITIZED, "memory is counted in another way")
class MemoryLimits(ZsetdTest):
    def start_with(self, *options):
        self.start("--maxmemory", str(LIMIT), "--enable-debug-command", "yes", *options)
        self.client = self.connect()

    def info(self, field):
        text = self.client.ask("INFO", "everything").decode()
        return text.split(f"\r\n{field}:")[1].split("\r\n")[0]

    def used(self):
        return int(self.info("used_memory"))

    def fill(self, count, size, first=0):
        """Sets `count` keys, a thousand in a pipeline. Returns the number of errors."""
        errors = 0
        for start in range(first, first + count, 1000):
            numbers = range(start, min(start + 1000, first + count))
            self.client.socket.sendall(b"".join(request("SET", f"key:{i}", "x" * size) for i in numbers))
            errors += sum(self.client.reply() != b"OK" for _ in numbers)
        return errors

    def test_hold_while_keys_are_evicted(self):
        self.start_with("--maxmemory-policy", "allkeys-lru")
        for round in range(10):
            self.assertEqual(self.fill(10_000, 1000, first=10_000 * round), 0)
            self.assertLess(self.used(), LIMIT + NOISE)
        self.assertGreater(self.used(), LIMIT * 0.9)
        self.assertGreater(int(self.info("evicted_keys")), 50_000)
        self.assertGreater(self.client.ask("DBSIZE"), 20_000)

    @unittest.skipUnless(can_trace(), "strace cannot trace here")
    def test_do_not_count_what_waits_for_a_slow_disk(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.start("--dir", folder.name, "--appendonly", "yes", "--maxmemory", str(8 * MB),
                   "--maxmemory-policy", "allkeys-lru")
        self.client = self.connect()
        slow_disk = subprocess.Popen([*TRACE_SYNCS, "-f", "-e", "inject=fdatasync,fsync:delay_enter=900000",
                                      "-p", str(self.server.process.pid)])
        self.addCleanup(slow_disk.wait)
        self.addCleanup(slow_disk.kill)
        errors = rounds = 0
        until = time.monotonic() + 2.5
        while time.monotonic() < until or rounds < 10:
            errors += self.fill(1000, 2000, first=1000 * rounds)
            rounds += 1
        self.assertEqual(errors, 0)
        self.assertGreater(int(self.info("evicted_keys")), 1000 * rounds - 4000)
        # About 3,000 keys fit. Bytes that count by mistake would leave room for few of them.
        self.assertGreater(self.client.ask("DBSIZE"), 1500)

    def test_hold_if_no_key_may_be_evicted(self):
        self.start_with()
        self.assertGreater(self.fill(50_000, 1000), 10_000)
        self.assertLess(self.used(), LIMIT + NOISE)
        self.assertEqual(self.client.ask("GET", "key:0"), b"x" * 1000)
        for i in range(1000):
            self.assertEqual(self.client.ask("DEL", f"key:{i}"), 1)
        self.assertEqual(self.client.ask("SET", "key:0", "x"), b"OK")

    def test_one_command_exceeds_them_by_at_most_its_own_size(self):
        self.start_with()
        large = 20 * MB
        self.assertEqual(self.client.ask("SETRANGE", "a", large, "x"), large + 1)
        self.assertEqual(self.client.ask("SETRANGE", "b", large, "x"), large + 1)
        refused = self.client.ask("SETRANGE", "c", large, "x")
        self.assertIsInstance(refused, RuntimeError)
        self.assertLess(self.used(), LIMIT + large + NOISE)
        self.assertEqual(self.client.ask("DEL", "b"), 1)
        self.assertEqual(self.client.ask("SET", "c", "x"), b"OK", "memory being freed counts as free")

    def test_large_values_are_evicted_without_a_wait(self):
        self.start_with("--maxmemory-policy", "allkeys-lru")
        for key in range(40):
            self.client.ask("SETRANGE", key, 2 * MB, "x")
        self.assertGreaterEqual(int(self.info("evicted_keys")), 25)
        self.assertGreaterEqual(self.client.ask("DBSIZE"), 10, "no more than had to go")
        self.assertTrue(eventually(lambda: self.used() < LIMIT + NOISE))
        self.assertGreaterEqual(int(self.info("lazyfreed_objects")), 25)

    def test_keys_in_use_stay(self):
        self.start_with("--maxmemory-policy", "allkeys-lru")
        hot = [f"hot:{i}" for i in range(100)]
        for key in hot:
            self.client.ask("SET", key, "x" * 1000)
        for round in range(6):
            time.sleep(1.01)  # the time of the last use is in seconds
            self.assertEqual(self.fill(10_000, 1000, first=10_000 * round), 0)
            self.client.ask("TOUCH", *hot)
        self.assertGreaterEqual(self.client.ask("EXISTS", *hot), 95)

    def test_are_met_in_the_background_when_they_are_lowered(self):
        self.start_with("--maxmemory-policy", "allkeys-random")
        self.fill(20_000, 1000)
        self.client.ask("CONFIG", "SET", "maxmemory", "10mb")
        self.assertTrue(eventually(lambda: self.used() < 10 * MB + NOISE))

    def test_hold_for_clients_together(self):
        self.start_with("--maxmemory-clients", "10mb")
        small = self.connect()
        self.assertEqual(small.ask("PING"), b"PONG")
        greedy = self.connect()
        self.assertEqual(greedy.ask("MULTI"), b"OK")
        with contextlib.suppress(ConnectionError):  # the connection may close earlier
            greedy.send("SET", "key", "x" * (12 * MB))
        self.assertIn(greedy.rest_until_broken(), (b"", b"+QUEUED\r\n"))
        self.assertEqual(self.info("evicted_clients"), "1")
        self.assertEqual(small.ask("PING"), b"PONG")

    def test_spare_clients_with_no_evict(self):
        self.start_with("--maxmemory-clients", "30%")
        spared = self.connect()
        self.assertEqual(spared.ask("CLIENT", "NO-EVICT", "ON"), b"OK")
        self.assertEqual(spared.ask("MULTI"), b"OK")
        self.assertEqual(spared.ask("SET", "key", "x" * (12 * MB)), b"QUEUED")
        time.sleep(0.3)  # long enough for several checks of the clients
        self.assertEqual(spared.ask("EXEC"), [b"OK"])
        self.assertEqual(self.info("evicted_clients"), "0")

    def test_close_a_client_that_does_not_read(self):
        self.start_with("--maxmemory-clients", "5mb")
        reader, slow = self.connect(), self.connect(receive_buffer=4096)
        for client in reader, slow:
            client.ask("SUBSCRIBE", "news")
        for _ in range(12):  # the sockets hold some of them
            self.client.ask("PUBLISH", "news", "x" * MB)
            self.assertEqual(len(reader.reply()[2]), MB)
        self.assertTrue(eventually(lambda: self.info("evicted_clients") == "1"))
        self.assertEqual(self.client.ask("PUBLISH", "news", "x"), 1)

    def test_hold_for_an_unfinished_request_immediately(self):
        self.start_with("--maxmemory-clients", "5mb")
        self.assertEqual(self.client.ask("DEBUG", "PAUSE-CRON", 1), b"OK")
        greedy = self.connect()
        with contextlib.suppress(ConnectionError):
            greedy.socket.sendall(b"*2\r\n$4\r\nECHO\r\n$%d\r\n" % (20 * MB) + b"x" * (8 * MB))
        self.assertEqual(greedy.rest_until_broken(), b"")
        self.assertEqual(self.info("evicted_clients"), "1")

    def test_hold_as_soon_as_they_are_lowered_for_clients(self):
        self.start_with()
        self.assertEqual(self.client.ask("DEBUG", "PAUSE-CRON", 1), b"OK")
        greedy = self.connect()
        greedy.ask("MULTI")
        greedy.ask("SET", "key", "x" * (8 * MB))
        self.assertEqual(self.client.ask("CONFIG", "SET", "maxmemory-clients", "4mb"), b"OK")
        self.assertEqual(self.info("evicted_clients"), "1")
        self.assertEqual(self.info("connected_clients"), "1")

    def test_do_not_count_keys_after_unwatch(self):
        self.start_with("--client-query-buffer-limit", "1mb")
        for _ in range(3000):
            self.assertEqual(self.client.ask("WATCH", "k" * 1000), b"OK")
            self.assertEqual(self.client.ask("UNWATCH"), b"OK")

    def test_cost_no_more_for_a_client_with_many_subscriptions(self):
        self.start_with("--maxmemory-clients", "1gb", "--maxmemory", "0")
        listener, count = self.connect(), 50_000
        listener.ask("HELLO", 3)
        listener.send("SUBSCRIBE", *range(count))
        for _ in range(count):
            listener.reply()
        other = self.connect()
        other.ask("HELLO", 3)
        costs = []
        for client in other, listener:
            before = self.server.cpu_seconds()
            client.socket.sendall(request("PING") * 3000)
            for _ in range(3000):
                self.assertEqual(client.reply(), b"PONG")
            costs.append(self.server.cpu_seconds() - before)
        self.assertLess(costs[1], 10 * costs[0] + 1, "a walk over all channels for each takes 9 s")

    def fill_beside_clients(self):
        """Fills the memory with large values, next to clients with a limit of their own."""
        self.start("--maxmemory", "11mb", "--maxmemory-policy", "allkeys-lru",
                   "--maxmemory-clients", "3mb", "--client-output-buffer-limit", "pubsub", "0", "0", "0")
        self.client = self.connect()
        for key in range(50):
            self.client.ask("SETRANGE", f"key:{key}", 100_000, "x")
        self.readers = [self.connect(receive_buffer=4096) for _ in range(20)]

    def assert_clients_went_before_keys(self):
        self.assertTrue(eventually(lambda: int(self.info("evicted_clients")) > 0))
        self.assertEqual(self.info("evicted_keys"), "0")
        self.assertEqual(self.client.ask("DBSIZE"), 50)
        self.assertGreater(int(self.info("connected_clients")), 1)

    def test_of_clients_spare_keys_from_messages(self):
        self.fill_beside_clients()
        for reader in self.readers:
            reader.ask("SUBSCRIBE", "news")
        for _ in range(43):
            self.client.ask("PUBLISH", "news", "x" * 100_000)
        self.assert_clients_went_before_keys()

    def test_of_clients_spare_keys_from_replies(self):
        self.fill_beside_clients()
        with self.server.frozen():
            for reader in self.readers:
                reader.socket.sendall(request("MGET", "key:0") * 100)
        self.assert_clients_went_before_keys()

    def add_long_members(self, key, count):
        add = "for i = 1, ARGV[1] do redis.call('ZADD', KEYS[1], i, string.rep('x', 1000) .. i) end"
        self.client.ask("EVAL", add, 1, key, count)

    def test_of_clients_spare_keys_from_live_tops(self):
        self.fill_beside_clients()
        self.client.ask("DEL", "key:0")
        self.add_long_members("top", 1000)
        for reader in self.readers[:4]:
            reader.ask("SUBSCRIBE", "__top@0__:1000:top")
        self.assert_clients_went_before_keys()

    def test_refuse_to_keep_the_elements_of_a_large_live_top(self):
        self.start("--notify-keyspace-events", "r")
        self.client, reader = self.connect(), self.connect()
        self.add_long_members("top", 1000)
        self.client.ask("CONFIG", "SET", "maxmemory", "1mb")
        self.assertIn("OOM", str(reader.ask("SUBSCRIBE", "__top@0__:1000:top")))
        self.assertEqual(reader.ask("SUBSCRIBE", "__top@0__:3:top")[0], b"subscribe")
        self.client.ask("ZREMRANGEBYRANK", "top", 0, 0)
        self.assertTrue(reader.reply()[2].startswith(b"out x"))

    def test_delay_the_messages_of_a_live_top_that_grows(self):
        self.start("--notify-keyspace-events", "r")
        self.client, reader = self.connect(), self.connect()
        self.add_long_members("top", 1000)
        self.client.ask("ZADD", "top", *[word for i in range(1000) for word in (0, f"short:{i}")])
        reader.ask("SUBSCRIBE", "__top@0__:1000:top")
        self.client.ask("CONFIG", "SET", "maxmemory", "1mb")
        used = self.used()
        self.client.ask("ZREMRANGEBYRANK", "top", 0, 999)
        time.sleep(0.1)  # ten times as long as a message waits otherwise
        self.assertLess(self.used(), used + NOISE // 2)
        self.client.ask("CONFIG", "SET", "maxmemory", 0)
        message = reader.reply()[2]
        self.assertEqual(message.count(b"out short:"), 1000)
        self.assertEqual(message.count(b"in "), 1000)

    def test_do_not_make_evictions_feed_themselves(self):
        self.start("--maxmemory-policy", "allkeys-random", "--maxmemory-eviction-tenacity", "100")
        self.client = self.connect()
        names = [b"%0*d" % (1000, i) for i in range(300)]
        for name in names:
            self.client.ask("SET", name, "v")
        readers = [self.connect() for _ in range(10)]
        for reader in readers:
            reader.ask("HELLO", 3)
            reader.ask("CLIENT", "TRACKING", "ON")
            for name in names:
                reader.ask("GET", name)
        self.client.ask("CONFIG", "SET", "maxmemory", self.used() - 40_000)
        self.assertTrue(eventually(lambda: int(self.info("evicted_keys")) > 0))
        time.sleep(0.5)  # several ticks
        self.assertLess(int(self.info("evicted_keys")), 100)
