"""Keys are deleted at their deadlines without any access, whatever happens to the clock."""

import os
import pathlib
import re
import struct
import tempfile
import time
import unittest

from peer import request
from server_process import eventually
from zsetd import SANITIZED, ZsetdTest

HOUR_S = 3600
SHIFTED_CLOCK = os.environ["SHIFTED_CLOCK"]


class Deadlines(ZsetdTest):
    def test_free_their_keys_without_any_access(self):
        """Each key is added after the previous one expired, and the next tick is up to a second
        away."""
        self.start("--hz", "1", "--notify-keyspace-events", "Ex")
        client, listener = self.connect(), self.connect()
        event = b"__keyevent@0__:expired"
        listener.ask("SUBSCRIBE", event)
        delays = []
        for i in range(15):
            start = time.monotonic()
            client.ask("SET", i, "x", "PX", 20)
            self.assertEqual(listener.reply(), [b"message", event, b"%d" % i])
            delays.append(time.monotonic() - start)
        self.assertLess(min(delays[1:]), 0.5)


@unittest.skipIf(SANITIZED, "a sanitizer wants to be the first that is loaded")
class Clock(ZsetdTest):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.shift = pathlib.Path(folder.name, "shift")
        self.shift.write_bytes(struct.pack("q", 0))
        self.start(environment={"LD_PRELOAD": SHIFTED_CLOCK, "CLOCK_SHIFT": str(self.shift)})
        self.client = self.connect()

    def set_clock(self, shift_s):
        with self.shift.open("r+b") as file:
            file.write(struct.pack("q", shift_s))
        now = time.time() + shift_s
        self.assertAlmostEqual(int(self.client.ask("TIME")[0]), now, delta=10)

    def assert_keys_still_go(self):
        self.client.ask("SET", "new", "x", "PX", 30)
        self.assertTrue(eventually(lambda: self.client.ask("EXISTS", "new") == 0))
        self.assertTrue(eventually(lambda: self.client.ask("DBSIZE") == self.lasting))

    def test_set_at_any_time_keeps_replicas_connected(self):
        master = self.server
        replica = self.start("--replicaof", f"127.0.0.1 {master.port}")
        self.client.ask("CONFIG", "SET", "repl-diskless-sync-delay", "0")
        self.assertTrue(eventually(lambda: b"state=online" in self.client.ask("INFO", "replication")))
        self.client.ask("CONFIG", "SET", "min-replicas-to-write", "1")
        for shift_s in (HOUR_S, -HOUR_S, 0):
            self.set_clock(shift_s)
            until = time.monotonic() + 2.5  # the time of two acknowledgements
            while time.monotonic() < until:
                self.assertEqual(self.client.ask("SET", "k", "v"), b"OK", shift_s)
            self.assertIn(b"connected_slaves:1", self.client.ask("INFO", "replication"))
        self.assertNotIn("timedout", master.log())

    def test_set_back_is_followed(self):
        self.client.ask("SET", "k", "x", "EX", HOUR_S)
        self.lasting = 1
        self.set_clock(-HOUR_S)
        self.assertAlmostEqual(self.client.ask("TTL", "k"), 2 * HOUR_S, delta=20)
        self.assert_keys_still_go()

    def test_set_back_does_not_freeze_figures(self):
        def commands_per_second():
            line = re.search(rb"instantaneous_ops_per_sec:(\d+)", self.client.ask("INFO", "stats"))
            return int(line[1])

        self.client.socket.sendall(request("PING") * 10_000)
        self.assertEqual({self.client.reply() for _ in range(10_000)}, {b"PONG"})
        self.assertTrue(eventually(lambda: commands_per_second() > 2000))
        self.set_clock(-HOUR_S)
        self.assertTrue(eventually(lambda: commands_per_second() < 1000))

    def test_set_forward_is_followed(self):
        self.client.ask("SET", "k", "x", "EX", HOUR_S)
        self.lasting = 0
        self.set_clock(24 * HOUR_S)
        self.assertTrue(eventually(lambda: self.client.ask("DBSIZE") == 0))
        self.assert_keys_still_go()

    def test_set_forward_past_many_deadlines_delays_no_client(self):
        count = 100_000
        keys = b"".join(request("SET", i, "x", "EX", HOUR_S) for i in range(count))
        self.client.socket.sendall(keys)
        self.assertEqual({self.client.reply() for _ in range(count)}, {b"OK"})
        self.set_clock(HOUR_S)
        left = set()
        while (size := self.client.ask("DBSIZE")) > 0:
            left.add(size)
        self.assertGreater(len(left), 3)

    def test_set_forward_and_back_is_followed(self):
        self.lasting = 0
        self.set_clock(24 * HOUR_S)
        self.assert_keys_still_go()
        self.set_clock(0)
        self.assert_keys_still_go()


if __name__ == "__main__":
    unittest.main()
