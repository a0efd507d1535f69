"""The recipes that need only one call on zsetd, through redis-py's generic command call."""

import os
import threading
import time
import unittest

import redis

from ttls import ttls

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
        """Sends the command from a separate client. Returns a function that waits for the reply,
        and returns it with the time at which it arrived."""
        server = self.connect()
        client_id = server.client_id()
        found = {}

        def ask():
            try:
                found["reply"] = server.execute_command(*words)
            except redis.ConnectionError:
                return  # the test has killed this client
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
        self.ask("ZADD", "jobs", due, "late", due - 10, "early")  # the first worker may take it
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

    def kill(self, client_id):
        """Ends a worker: its connection is closed while it has a job or waits for one."""
        self.assertEqual(self.server.client_kill_filter(_id=client_id), 1)

    def test_a_job_whose_worker_dies_is_lost_unless_it_is_leased(self):
        doomed, steady = self.connect(), self.connect()
        self.ask("ZADD", "jobs", time.time() - 2, "mail", time.time() - 1, "report")
        popped = doomed.execute_command("BZPOPBYSCORE", 0, "jobs", "-inf", "now")
        leased = doomed.execute_command("BZMOVEBYSCORE", 0, "jobs", "running", "-inf", "now", "ADD", 0.3)
        self.assertEqual([popped[1], leased[1]], ["mail", "report"])
        lease_ends = float(self.server.zscore("running", "report"))
        self.assertAlmostEqual(lease_ends, time.time() + 0.3, delta=0.25)
        self.kill(doomed.client_id())

        found = []
        while not found:  # the other worker returns jobs before it takes the next one
            found = steady.execute_command("ZMOVEBYSCORE", "running", "jobs", "-inf", "now", "COUNT", 100)
            time.sleep(0.01)
        self.assertGreaterEqual(time.time(), lease_ends)
        key, job, _ = steady.execute_command("BZMOVEBYSCORE", 0, "jobs", "running", "-inf", "now", "ADD", 30)
        self.assertEqual((key, job), ("jobs", "report"))
        self.assertEqual(steady.zrem("running", "report"), 1)
        self.assertEqual(self.server.exists("jobs", "running"), 0)  # "mail" is lost

    def test_a_worker_that_is_killed_while_it_waits_takes_no_job(self):
        doomed, _ = self.in_background("BZMOVEBYSCORE", 0, "jobs", "running", "-inf", "now", "ADD", 30)
        _, reply = self.in_background("BZMOVEBYSCORE", 0, "jobs", "running", "-inf", "now", "ADD", 30)
        self.kill(doomed)
        self.ask("ZADD", "jobs", time.time() + 0.1, "mail")
        (key, job, due), served_at = reply()
        self.assertEqual((key, job), ("jobs", "mail"))
        self.assertGreaterEqual(served_at, float(due))
        longer = time.time() + 60
        self.assertEqual(self.ask("ZADD", "running", "XX", "GT", "CH", longer, "mail"), 1)
        self.assertEqual(self.ask("ZADD", "running", "XX", "GT", "CH", longer, "other"), 0)
        self.assertEqual(self.ask("ZMOVEBYSCORE", "running", "jobs", "-inf", "now", "COUNT", 100), [])

    def test_jobs_with_their_data(self):
        with self.server.pipeline() as pipeline:
            pipeline.zadd("jobs", {"job:1": 10, "job:2": 20})
            pipeline.execute_command("ZSETDATA", "jobs", "job:1", "mail anna", "job:2", b"\x00\xff")
            self.assertEqual(pipeline.execute(), [2, 2])
        moved = self.ask("ZMOVEBYSCORE", "jobs", "running", "-inf", 15, "WITHDATA")
        self.assertEqual([moved[0], float(moved[1]), moved[2]], ["job:1", 10, "mail anna"])
        self.assertEqual(self.ask("ZGETDATA", "running", "job:1", "job:2"), ["mail anna", None])
        binary = redis.Redis(port=PORT)
        self.addCleanup(binary.close)
        self.assertEqual(binary.execute_command("ZRANGE", "jobs", 0, -1, "WITHDATA"), [b"job:2", b"\x00\xff"])
        _, waiting = self.in_background("BZPOPBYSCORE", 0, "later", "-inf", "now", "WITHDATA")
        with self.server.pipeline() as pipeline:
            pipeline.zadd("later", {"job:3": 30})
            pipeline.execute_command("ZSETDATA", "later", "job:3", "x")
            pipeline.execute()
        key, job, due, data = waiting()[0]
        self.assertEqual((key, job, float(due), data), ("later", "job:3", 30, "x"))
        self.assertEqual(self.server.zrem("running", "job:1"), 1)
        self.assertEqual(self.ask("ZADD", "running", 1, "job:1"), 1)
        self.assertEqual(self.ask("ZGETDATA", "running", "job:1"), [None])

    def test_a_recency_list_in_one_call(self):
        start = time.monotonic()
        for item in range(5):
            self.ask("ZADD", "seen", "MAXLEN", 3, "EX", 60, 1700000000 + item, item)
        self.assertEqual(self.server.zrevrange("seen", 0, -1), ["4", "3", "2"])
        self.assertIn(self.server.ttl("seen"), ttls(60, start))
        for lap in (70, 50, 60):
            self.ask("ZADD", "best", lap, f"lap {lap}", "MAXLEN", 2, "KEEP", "LOWEST")
        self.assertEqual(self.server.zrange("best", 0, -1), ["lap 50", "lap 60"])
        self.assertEqual(float(self.ask("ZINCRBY", "hour", 1, "x", "MAXLEN", 10, "EX", 9)), 1)

    def test_a_leaderboard(self):
        self.server.zadd("scores", {"ann": 50, "bob": 40, "cid": 40, "dan": 30, "eve": 20})
        self.assertEqual(self.ask("ZREVRANK", "scores", "bob", "TIES", "COMPETITION"), 1)
        self.assertEqual(self.ask("ZREVRANK", "scores", "dan", "TIES", "COMPETITION"), 3)
        self.assertEqual(self.ask("ZMREVRANK", "scores", "ann", "eve", "none"), [0, 4, None])
        self.server.zadd("scores:2", {"fay": 45, "gil": 10})
        ranks = [self.ask("ZRANKOF", key, 40, "bob", "REV") for key in ("scores", "scores:2")]
        self.assertEqual(sum(ranks), 3)  # ann, fay and cid precede bob
        rank, around = self.ask("ZAROUND", "scores", "dan", 1, 5, "REV", "WITHSCORES")
        self.assertEqual((rank, around[::2]), (3, ["bob", "dan", "eve"]))
        self.assertIsNone(self.ask("ZAROUND", "scores", "none", 1, 1))
        self.assertEqual(self.ask("ZMOVE", "scores", "league:1", "ann", "none"), 1)
        self.assertEqual(self.server.zrange("league:1", 0, -1, withscores=True), [("ann", 50)])

    def test_the_top_ten_without_a_temporary_key(self):
        for hour in range(24):
            self.server.zadd(f"hour:{hour}", {f"story:{i}": i for i in range(hour, hour + 30)})
        hours = [f"hour:{hour}" for hour in range(24)]
        self.server.zunionstore("day", hours)
        expected = self.server.zrevrange("day", 0, 9, withscores=True)
        top = self.ask("ZUNION", 24, *hours, "REV", "LIMIT", 0, 10, "WITHSCORES")
        if not isinstance(top[0], tuple):
            top = [(top[i], float(top[i + 1])) for i in range(0, len(top), 2)]
        self.assertEqual(top, expected)

    def test_members_expire(self):
        events = self.server.config_get("notify-keyspace-events")["notify-keyspace-events"]
        self.addCleanup(self.server.config_set, "notify-keyspace-events", events)
        self.server.config_set("notify-keyspace-events", "Kz")
        listener = self.server.pubsub()
        self.addCleanup(listener.close)
        listener.subscribe("__keyspace@0__:online")
        start = time.monotonic()
        self.assertEqual(self.ask("ZADDEX", "online", "EX", 60, "MEMBERS", 2, 17, "user:42", 3, "user:7"), 2)
        self.assertEqual(float(self.ask("ZINCRBY", "online", 1, "user:42")), 18)
        self.assertEqual(self.ask("ZPEXPIRE", "online", 150, "MEMBERS", 2, "user:7", "nobody"), [1, -2])
        self.assertIn(self.ask("ZTTL", "online", "MEMBERS", 1, "user:42")[0], ttls(60, start))
        heard = []
        while "zexpired" not in heard:
            message = listener.get_message(ignore_subscribe_messages=True, timeout=10)
            if message is not None:
                heard.append(message["data"])
        self.assertEqual(heard, ["zadd", "zexpire", "zincr", "zexpire", "zexpired"])
        self.assertEqual(self.server.zrange("online", 0, -1), ["user:42"])
        self.assertEqual(self.ask("ZPERSIST", "online", "MEMBERS", 1, "user:42"), [1])

    def test_changes_of_members_are_announced(self):
        self.server.config_set("notify-keyspace-events", "Tz")
        self.addCleanup(self.server.config_set, "notify-keyspace-events", "")
        with self.server.pubsub(ignore_subscribe_messages=True) as listener:
            listener.subscribe("__subkeyevent@0__:zadd")
            while self.server.pubsub_numsub("__subkeyevent@0__:zadd")[0][1] == 0:
                time.sleep(0.005)
            self.server.zadd("online", {"anna": 1700000000, "bert": 1700000000})
            message = None
            for _ in range(100):
                message = message or listener.get_message(timeout=0.1)
            self.assertEqual(message["data"], "6:online|4:anna,4:bert")

    def test_a_live_top_two(self):
        self.server.config_set("notify-keyspace-events", "r")
        self.addCleanup(self.server.config_set, "notify-keyspace-events", "")
        self.server.zadd("scores", {"bert": 3800, "carl": 3000})
        channel = "__toprev@0__:2:scores"
        with self.server.pubsub(ignore_subscribe_messages=True) as listener:
            listener.subscribe(channel)
            while self.server.pubsub_numsub(channel)[0][1] == 0:
                time.sleep(0.005)
            with self.server.pipeline() as changes:
                changes.zadd("scores", {"anna": 4200, "dora": 10}).zincrby("scores", 100, "bert").execute()
            message = None
            for _ in range(100):
                message = message or listener.get_message(timeout=0.1)
            self.assertEqual(message["data"], "out carl\nin 0 4200 anna\nmove 0 1 3900 bert")
        self.assertEqual(self.server.zrange("scores", 0, 1, desc=True), ["anna", "bert"])

    def test_more_points_first_then_the_earlier_one(self):
        self.assertEqual(self.ask("ZADD", "game", "FORM", "TUPLE", 32, "31:DESC", "END",
                                  "3100/1795478000", "anna", "3100/1795477000", "ben"), 2)
        self.assertEqual(self.server.zrevrange("game", 0, -1), ["ben", "anna"])
        self.assertEqual(self.ask("ZADD", "game", "GT", "CH", "3200/1795479000", "anna"), 1)
        self.assertEqual(self.ask("ZREVRANGE", "game", 0, 0, "WITHSCORES"), ["anna", "3200/1795479000"])

    def test_trending_posts(self):
        form = ("FORM", "HALFLIFE", 86400, "MAXLEN", 10000)
        for votes, post in (1, "post:1"), (5, "post:2"), (3, "post:3"), (1, "post:1"):
            self.ask("ZINCRBY", "trending", votes, post, *form)
        self.assertEqual(self.server.zrevrange("trending", 0, 1), ["post:2", "post:3"])
        self.assertAlmostEqual(self.server.zscore("trending", "post:1"), 2, places=2)
        self.assertEqual(self.server.zremrangebyscore("trending", 0, 0.01), 0)

    def test_integers_that_a_score_cannot_hold_are_refused(self):
        self.server.config_set("zset-refuse-inexact-integers", "yes")
        self.addCleanup(self.server.config_set, "zset-refuse-inexact-integers", "no")
        with self.assertRaisesRegex(redis.ResponseError, "cannot hold exactly"):
            self.ask("ZADD", "timeline", 2**53 + 1, "post:1")
        self.assertEqual(self.ask("ZADD", "timeline", 2**53, "post:1"), 1)


if __name__ == "__main__":
    unittest.main()
