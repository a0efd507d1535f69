"""The recipes that take one call here, through redis-py's generic command call."""

import os
import threading
import time
import unittest

import redis

PORT = int(os.environ["PORT"])


class BeyondRedis(unittest.TestCase):
    def connect(self):
        server = redis.Redis(port=PORT, decode_responses=True)
        self.addCleanup(server.close)
        return server

    def setUp(self):
        self.server = self.connect()
        self.server.flushall()
        self.ask = self.server.execute_command

    def in_background(self, *words):
        """Sends the command from a client of its own. Returns a function that waits for its reply and
        the time at which it came."""
        server = self.connect()
        client_id = server.client_id()
        found = {}

        def ask():
            found["reply"] = server.execute_command(*words)
            found["at"] = time.time()

        thread = threading.Thread(target=ask, daemon=True)
        blocked = self.server.info("clients")["blocked_clients"] + 1
        thread.start()

        def reply():
            thread.join(timeout=10)
            return found.get("reply"), found.get("at")

        while self.server.info("clients")["blocked_clients"] < blocked:
            time.sleep(0.005)
        return client_id, reply

    def test_delayed_jobs_are_served_when_they_are_due(self):
        _, first = self.in_background("BZPOPBYSCORE", 0, "jobs", "-inf", "now")
        _, second = self.in_background("BZPOPBYSCORE", 0, "jobs", "-inf", "now", "COUNT", 10)
        due = time.time() + 0.2
        self.ask("ZADD", "jobs", due, "late")
        self.ask("ZADD", "jobs", time.time() - 1, "early")
        self.assertEqual(first()[0][:2], ["jobs", "early"])
        (key, [[job, score]]), served_at = second()
        self.assertEqual((key, job, float(score)), ("jobs", "late", due))
        self.assertGreaterEqual(served_at, due)
        self.assertEqual(self.server.exists("jobs"), 0)

    def test_a_worker_that_waits_for_jobs_can_be_unblocked(self):
        self.ask("ZADD", "jobs", time.time() + 1000, "later")
        worker, reply = self.in_background("BZPOPBYSCORE", 0, "jobs", "-inf", "now")
        self.assertEqual(self.server.client_unblock(worker), 1)
        self.assertIsNone(reply()[0])
        self.assertIsNone(self.ask("BZPOPBYSCORE", 0.01, "jobs", "-inf", "now"))
        self.assertEqual(self.ask("ZPOPBYSCORE", "jobs", "-inf", "now"), [])
        self.assertEqual(self.ask("ZPOPBYSCORE", "jobs", "now", "inf")[0], "later")

    def test_a_recency_list_in_one_call(self):
        for item in range(5):
            self.ask("ZADD", "seen", "MAXLEN", 3, "EX", 60, 1700000000 + item, item)
        self.assertEqual(self.server.zrevrange("seen", 0, -1), ["4", "3", "2"])
        self.assertIn(self.server.ttl("seen"), range(55, 61))
        for lap in (70, 50, 60):
            self.ask("ZADD", "best", lap, f"lap {lap}", "MAXLEN", 2, "KEEP", "LOWEST")
        self.assertEqual(self.server.zrange("best", 0, -1), ["lap 50", "lap 60"])
        self.assertEqual(float(self.ask("ZINCRBY", "hour", 1, "x", "MAXLEN", 10, "EX", 9)), 1)


if __name__ == "__main__":
    unittest.main()
