"""MONITOR over sockets, and slow commands."""

import time
import unittest

from server_process import eventually
from zsetd import SANITIZED, ZsetdTest

MB = 1 << 20


class Monitoring(ZsetdTest):
    def start_with(self, *options):
        self.start(*options)
        self.client = self.connect()

    def test_reports_the_current_time(self):
        self.start_with()
        monitor = self.connect()
        self.assertEqual(monitor.ask("MONITOR"), b"OK")
        self.client.ask("PING")
        self.assertAlmostEqual(float(monitor.reply().split()[0]), time.time(), delta=10)

    def test_a_client_that_does_not_read_is_closed(self):
        self.start_with("--client-output-buffer-limit", "pubsub", "2mb", "0", "0")
        monitor = self.connect(receive_buffer=4096)
        monitor.ask("MONITOR")
        before, value = self.server.peak_memory(), b"v" * (16 << 10)
        for _ in range(32 * MB // len(value)):
            self.client.ask("SET", "k", value)
        self.assertTrue(eventually(lambda: self.client.ask("CLIENT", "LIST").count(b"\n") == 1))
        self.assertIn(b"client_output_buffer_limit_disconnections:1\r\n", self.client.ask("INFO", "stats"))
        if not SANITIZED:
            self.assertLess(self.server.peak_memory() - before, 16 * MB)

    def test_slow_events_are_recorded_drawn_and_explained(self):
        self.start_with("--latency-monitor-threshold", "1", "--slowlog-log-slower-than", "-1")
        words = [b"m%d" % i for i in range(100_000)]
        while not self.client.ask("LATENCY", "LATEST"):
            self.client.ask("SADD", "set", *words)
            self.client.ask("DEL", "set")
        [[event, second, last, worst]] = self.client.ask("LATENCY", "LATEST")[:1]
        self.assertIn(event, [b"command", b"fast-command"])
        self.assertLessEqual(last, worst)
        self.assertIn([second, last], self.client.ask("LATENCY", "HISTORY", event))
        graph = self.client.ask("LATENCY", "GRAPH", event).decode().splitlines()
        self.assertRegex(graph[0], rf"{event.decode()} - high \d+ ms, low \d+ ms \(all time high \d+ ms\)")
        self.assertEqual(graph[1], "-" * 80)
        advice = self.client.ask("LATENCY", "DOCTOR")
        self.assertIn(event, advice)
        self.assertIn(b"slowlog-log-slower-than", advice)
        self.assertEqual(self.client.ask("LATENCY", "RESET", event), 1)


if __name__ == "__main__":
    unittest.main()
