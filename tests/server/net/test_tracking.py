"""Caching clients are notified of changed keys, on their own connection or on another."""

import unittest

from server_process import eventually
from zsetd import SANITIZED, ZsetdTest

MB = 1 << 20
CHANNEL = b"__redis__:invalidate"


class Tracking(ZsetdTest):
    def start_with(self, *options):
        self.start(*options)
        self.writer = self.connect()

    def redirected(self, *options, protocol="2"):
        """Returns a client, and the one that receives its invalidations."""
        told, client = self.connect(), self.connect()
        told.ask("HELLO", protocol)
        self.told_id = told.ask("CLIENT", "ID")
        if protocol == "2":
            told.ask("SUBSCRIBE", CHANNEL)
        self.assertEqual(client.ask("CLIENT", "TRACKING", "ON", "REDIRECT", self.told_id, *options), b"OK")
        return client, told

    def info(self, field):
        lines = self.writer.ask("INFO", "everything").decode().splitlines()
        return dict(line.split(":", 1) for line in lines if ":" in line)[field]

    def test_resp2_is_notified_on_a_channel_of_another_connection(self):
        self.start_with()
        client, told = self.redirected()
        client.ask("MGET", "a", "b")
        self.writer.ask("MSET", "a", 1, "b", 2, "c", 3)
        self.assertEqual(told.reply(), [b"message", CHANNEL, [b"a"]])
        self.assertEqual(told.reply(), [b"message", CHANNEL, [b"b"]])
        self.writer.ask("FLUSHALL")
        self.assertEqual(told.reply(), [b"message", CHANNEL, None])

    def test_resp3_can_be_notified_on_another_connection_too(self):
        self.start_with()
        client, told = self.redirected("BCAST", "PREFIX", "user:", protocol="3")
        client.ask("MSET", "user:2", 1, "user:1", 2, "other", 3)
        self.assertEqual(told.reply(), [b"invalidate", [b"user:1", b"user:2"]])
        self.assertEqual(client.ask("CLIENT", "GETREDIR"), self.told_id)

    def test_a_redirecting_client_is_notified_when_its_target_disconnects(self):
        self.start_with()
        client, told = self.redirected()
        client.ask("HELLO", "3")
        client.ask("GET", "k")
        told.close()
        self.assertTrue(eventually(lambda: self.info("connected_clients") == "2"))
        self.writer.ask("SET", "k", 1)
        self.assertEqual(client.reply(), [b"tracking-redir-broken", self.told_id])
        self.assertIn(b"broken_redirect", client.ask("CLIENT", "TRACKINGINFO")[b"flags"])

    def test_swapped_databases_count_as_changed(self):
        self.start_with()
        client, told = self.redirected()
        self.writer.ask("SET", "other", 1)
        client.ask("GET", "k")
        self.writer.ask("SWAPDB", 0, 1)
        self.assertEqual(told.reply(), [b"message", CHANNEL, None])

    def test_a_key_beyond_the_limit_is_invalidated(self):
        self.start_with("--tracking-table-max-keys", "10")
        client, told = self.redirected()
        for i in range(100):
            client.ask("GET", i)
        forgotten = {told.reply()[2][0] for _ in range(90)}
        self.assertEqual(len(forgotten), 90)
        self.assertEqual(self.info("tracking_total_keys"), "10")

    def test_a_client_that_disconnected_is_forgotten(self):
        self.start_with()
        stays, _ = self.redirected()
        for _ in range(100):
            comes = self.connect()
            comes.ask("CLIENT", "TRACKING", "ON")
            comes.ask("GET", "popular")
            comes.close()
        self.assertTrue(eventually(lambda: self.info("tracking_clients") == "1"))
        stays.ask("GET", "popular")
        self.assertLess(int(self.info("tracking_total_items")), 50)
        stays.ask("CLIENT", "TRACKING", "OFF")
        self.assertEqual(self.info("tracking_total_keys"), "0")

    def test_a_client_that_does_not_read_is_closed(self):
        self.start_with("--client-output-buffer-limit", "pubsub", "2mb", "0", "0")
        silent = self.connect(receive_buffer=4096)
        silent.ask("HELLO", "3")
        silent.ask("CLIENT", "TRACKING", "ON", "BCAST")
        before, key = self.server.peak_memory(), b"k" * (16 << 10)
        for _ in range(32 * MB // len(key)):
            self.writer.ask("SET", key, 1)
        self.assertTrue(eventually(lambda: self.info("tracking_clients") == "0"))
        if not SANITIZED:
            self.assertLess(self.server.peak_memory() - before, 16 * MB)

    def test_large_replies_close_no_client(self):
        self.start_with("--client-output-buffer-limit", "pubsub", "2mb", "0", "0")
        large = b"x" * (32 * MB)
        self.writer.ask("SET", "large", large)
        slow = self.connect(receive_buffer=4096)
        slow.ask("HELLO", "3")
        slow.ask("CLIENT", "TRACKING", "ON")
        slow.send("GET", "large")
        self.assertTrue(eventually(lambda: self.info("tracking_total_keys") == "1"))
        self.writer.ask("DEL", "large")
        self.assertEqual(slow.reply(), large)
        self.assertEqual(slow.reply(), [b"invalidate", [b"large"]])

    def test_prefixes_are_bounded(self):
        self.start_with()
        client = self.connect()
        client.ask("HELLO", 3)
        turn_on = "CLIENT", "TRACKING", "ON", "BCAST"
        self.assertIn("too long", str(client.ask(*turn_on, "PREFIX", b"p" * 65_537)))
        self.assertEqual(client.ask(*turn_on, "PREFIX", b"p" * 65_536), b"OK")
        many = [word for number in range(100_000) for word in ("PREFIX", "%06d" % number)]
        self.assertIn("Too many", str(client.ask(*turn_on, *many)))
        self.assertEqual(client.ask(*turn_on, *many[2:]), b"OK")
        self.assertIn("Too many", str(client.ask(*turn_on, "PREFIX", "q")))
        self.assertEqual(self.info("tracking_total_prefixes"), "100000")
        totals = [int(line.split(b"tot-mem=")[1].split()[0])
                  for line in self.writer.ask("CLIENT", "LIST").splitlines()]
        self.assertGreater(max(totals), 10 * MB)
        self.assertEqual(client.ask("CLIENT", "TRACKING", "OFF"), b"OK")
        self.assertEqual(self.info("tracking_total_prefixes"), "0")

    def test_prefixes_cost_no_more_than_their_bytes(self):
        """If each prefix were compared with each other, this would take minutes."""
        self.start_with()
        client = self.connect()
        client.ask("HELLO", 3)
        turn_on = "CLIENT", "TRACKING", "ON", "BCAST"
        many = [word for number in range(90_000) for word in ("PREFIX", "%06d" % number)]
        before = self.server.cpu_seconds()
        self.assertEqual(str(client.ask(*turn_on, *many, "PREFIX", "0899991")),
                         "ERR Prefix '089999' overlaps with another provided prefix '0899991'. "
                         "Prefixes for a single client must not overlap.")
        self.assertEqual(client.ask(*turn_on, *many), b"OK")
        self.assertEqual(str(client.ask(*turn_on, "PREFIX", "q", "PREFIX", "0899991")),
                         "ERR Prefix '0899991' overlaps with an existing prefix '089999'. "
                         "Prefixes for a single client must not overlap.")
        for number in range(0, 50_000, 5_000):
            self.writer.ask("SET", "%06d:x" % number, 1)
            self.assertEqual(client.reply(), [b"invalidate", [b"%06d:x" % number]])
        if not SANITIZED:
            self.assertLess(self.server.cpu_seconds() - before, 20)


if __name__ == "__main__":
    unittest.main()
