"""The figures of MEMORY add up: the bytes of all keys are those that the allocator has allocated
for data."""

import unittest

from server_process import eventually
from zsetd import SANITIZED, ZsetdTest

KEYS = 100_000  # DEBUG POPULATE creates entries of equal size for this number
BUCKET = 8  # bytes per key in the table, which MEMORY STATS counts as overhead
MANY = 20_000  # small streams or groups
NOISE = 200_000  # bytes of buffers that are allocated and freed


def as_dict(pairs):
    return dict(zip(pairs[::2], pairs[1::2]))


@unittest.skipIf(SANITIZED, "another allocator is at work")
class MemoryFigures(ZsetdTest):
    def setUp(self):
        self.start("--enable-debug-command", "yes")
        self.client = self.connect()

    def stats(self):
        return as_dict(self.client.ask("MEMORY", "STATS"))

    def test_of_an_empty_server_are_those_of_its_start(self):
        stats = self.stats()
        self.assertLessEqual(stats[b"startup.allocated"], stats[b"total.allocated"])
        self.assertLess(stats[b"dataset.bytes"], NOISE)

    def test_add_up(self):
        self.client.ask("DEBUG", "POPULATE", str(KEYS))
        usage = KEYS * (self.client.ask("MEMORY", "USAGE", "key:12345") - BUCKET)
        stats = self.stats()
        self.assertEqual(stats[b"keys.count"], KEYS)
        self.assertAlmostEqual(stats[b"dataset.bytes"], usage, delta=NOISE)

    def assert_real_bytes(self, requests, counted):
        """Each request adds memory. The growth of counted() is that of the allocated bytes."""
        counted_before, real_before = counted(), self.stats()[b"total.allocated"]
        for request in requests:
            self.client.ask(*request)
        real = self.stats()[b"total.allocated"] - real_before
        self.assertAlmostEqual((counted() - counted_before) / real, 1, delta=0.07)

    def test_of_small_streams_are_those_of_the_allocator(self):
        def counted():
            return MANY * (self.client.ask("MEMORY", "USAGE", "stream:12345") or 0)

        self.assert_real_bytes(
            [("XADD", f"stream:{i:05}", "*", "field", "value") for i in range(MANY)], counted
        )

    def test_of_consumer_groups_are_those_of_the_allocator(self):
        def counted():
            return self.client.ask("MEMORY", "USAGE", "stream")

        self.client.ask("XADD", "stream", "1-1", "field", "value")
        groups = [f"group:{i:05}" for i in range(MANY)]
        self.assert_real_bytes([("XGROUP", "CREATE", "stream", each, 0) for each in groups], counted)
        read = ("COUNT", 1, "STREAMS", "stream", ">")
        self.assert_real_bytes(
            [("XREADGROUP", "GROUP", each, "consumer", *read) for each in groups], counted
        )

    def test_fall_again(self):
        self.client.ask("DEBUG", "POPULATE", str(KEYS))
        peak = self.stats()[b"total.allocated"]
        self.client.ask("FLUSHALL")
        self.assertTrue(eventually(lambda: self.stats()[b"total.allocated"] < peak / 4))
        self.assertGreaterEqual(self.stats()[b"peak.allocated"], peak)
