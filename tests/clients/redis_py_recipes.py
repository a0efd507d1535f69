"""The five recipes through redis-py."""

import multiprocessing
import os
import time
import unittest

import redis

import top_ten
from ttls import ttls

PORT = int(os.environ["PORT"])
IS_ZSETD = os.environ["SERVER"] == "zsetd"
NOW = 1531051200
RACED_TIMESTAMPS = 200


def connect():
    return redis.Redis(port=PORT, decode_responses=True)


def wait_until(claim, deadline_s=60):
    deadline = time.monotonic() + deadline_s
    while not claim() and time.monotonic() < deadline:
        time.sleep(0.005)
    return claim()


def write_one_reading_per_timestamp(writer, both_ready):
    """One of two processes that write their readings for the same timestamps."""
    server = connect()
    both_ready.wait()
    replaced = 0
    for timestamp in range(RACED_TIMESTAMPS):
        with server.pipeline() as pipeline:
            pipeline.zremrangebyscore("readings", timestamp, timestamp)
            pipeline.zadd("readings", {f"{writer}:{timestamp}": timestamp})
            removed, added = pipeline.execute()
        assert added == 1
        replaced += removed
    server.incrby("readings:replaced", replaced)


class Recipes(unittest.TestCase):
    def setUp(self):
        self.server = connect()
        self.addCleanup(self.server.close)

    def view(self, item, timestamp, length=3, ttl_s=60):
        added = self.server.zadd("recent:ann", {item: timestamp})
        trimmed = self.server.zremrangebyrank("recent:ann", 0, -length - 1)
        self.assertTrue(self.server.expire("recent:ann", ttl_s))
        return added, trimmed

    def test_recency_list_keeps_the_latest_and_expires(self):
        for timestamp, item in enumerate(["tea", "jam", "rye"], NOW):
            self.assertEqual(self.view(item, timestamp), (1, 0))
        self.assertEqual(self.view("tea", NOW + 3), (0, 0))
        start = time.monotonic()
        self.assertEqual(self.view("fig", NOW + 4), (1, 1))
        self.assertEqual(self.server.zrevrange("recent:ann", 0, -1), ["fig", "tea", "rye"])
        self.assertIn(self.server.ttl("recent:ann"), ttls(60, start))
        self.server.pexpire("recent:ann", 20)
        self.assertTrue(wait_until(lambda: self.server.exists("recent:ann") == 0))
        self.assertEqual(self.server.zrevrange("recent:ann", 0, -1), [])

    def count_in_two_calls(self, key, number):
        score = self.server.zincrby(key, 1, number)
        self.assertTrue(self.server.expire(key, top_ten.BUCKET_TTL_S))
        return score

    def count_in_one_call(self, key, number):
        return float(self.server.execute_command(
            "ZADD", key, 1, number, "INCR", "EX", top_ten.BUCKET_TTL_S))

    def check_top_ten(self, count):
        lookups = top_ten.random_lookups(top_ten.printed_seed())
        for key, numbers in lookups.items():
            start = time.monotonic()
            scores = [count(key, number) for number in numbers]
            self.assertEqual(scores, top_ten.running_counts(numbers))
            trimmed = self.server.zremrangebyrank(key, 0, -top_ten.KEPT - 1)
            self.assertEqual(trimmed, max(0, len(set(numbers)) - top_ten.KEPT))
            self.assertIn(self.server.ttl(key), ttls(top_ten.BUCKET_TTL_S, start))
        self.server.zunionstore("top", list(lookups))
        self.assertTrue(self.server.expire("top", top_ten.TOP_TTL_S))
        expected = top_ten.top_ten(lookups)
        self.assertEqual(self.server.zrange("top", -10, -1), [number for number, _ in expected])
        self.assertEqual(self.server.zrange("top", 0, 9, desc=True, withscores=True),
                         expected[::-1])
        self.assertEqual(self.server.delete("top", *lookups), 25)

    def test_top_ten_of_the_last_24_hours_in_two_calls(self):
        self.check_top_ten(self.count_in_two_calls)

    @unittest.skipUnless(IS_ZSETD, "no other server has it")
    def test_top_ten_of_the_last_24_hours_in_one_call(self):
        self.check_top_ten(self.count_in_one_call)

    def say(self, room, timestamp, sender, text):
        self.assertTrue(self.server.mset({f"chat:{room}:from": sender, f"chat:{room}:text": text}))
        return self.server.zadd("chats:ann", {room: timestamp})

    def chats(self):
        rooms = self.server.zrevrange("chats:ann", 0, -1)
        return rooms, self.server.mget([f"chat:{room}:text" for room in rooms])

    def test_chat_list_shows_the_latest_message_of_each_room(self):
        self.assertEqual(self.say("work", NOW, "bob", "hello"), 1)
        self.assertEqual(self.say("home", NOW + 1, "eve", "soup is ready"), 1)
        self.assertEqual(self.say("work", NOW + 2, "bob", "anyone \"here\"?\r\n"), 0)
        self.assertEqual(self.chats(),
                         (["work", "home"], ["anyone \"here\"?\r\n", "soup is ready"]))
        self.assertEqual(self.server.zrem("chats:ann", "work", "gym"), 1)
        self.assertEqual(self.chats(), (["home"], ["soup is ready"]))
        self.assertEqual(self.server.mget("chat:work:from", "chat:gym:from"), ["bob", None])

    def test_live_events_are_received_and_expire(self):
        listener = self.server.pubsub(ignore_subscribe_messages=False)
        self.addCleanup(listener.close)
        listener.subscribe("events:new")
        self.assertEqual(listener.get_message(timeout=5)["type"], "subscribe")
        for minute in range(5):
            event = f"goal {minute}"
            self.assertEqual(self.server.zadd("events", {event: NOW + 60 * minute}), 1)
            self.assertEqual(self.server.publish("events:new", event), 1)
            self.assertEqual(listener.get_message(timeout=5)["data"], event)
        self.assertEqual(self.server.zrangebyscore("events", f"({NOW + 120}", "+inf"),
                         ["goal 3", "goal 4"])
        self.assertEqual(self.server.zcount("events", NOW + 60, NOW + 180), 3)
        self.assertEqual(self.server.zremrangebyscore("events", "-inf", f"({NOW + 120}"), 2)
        self.assertEqual(self.server.zcard("events"), 3)

    def test_visitors_are_those_with_a_recent_heartbeat(self):
        for second, visitor in [(0, "ann"), (5, "bob"), (20, "ann"), (31, "eve")]:
            self.server.zadd("visitors", {visitor: NOW + second})
        self.assertEqual(self.server.zremrangebyscore("visitors", "-inf", NOW + 31 - 20), 1)
        self.assertEqual(self.server.zcard("visitors"), 2)
        self.assertEqual(self.server.zrange("visitors", 0, -1), ["ann", "eve"])

    def test_of_two_processes_racing_on_a_timestamp_one_element_remains(self):
        both_ready = multiprocessing.Barrier(2)
        writers = [multiprocessing.Process(target=write_one_reading_per_timestamp,
                                           args=(name, both_ready)) for name in ("left", "right")]
        for writer in writers:
            writer.start()
        for writer in writers:
            writer.join()
            self.assertEqual(writer.exitcode, 0)
        remaining = self.server.zrange("readings", 0, -1, withscores=True)
        self.assertEqual([score for _, score in remaining], list(range(RACED_TIMESTAMPS)))
        self.assertEqual(self.server.get("readings:replaced"), str(RACED_TIMESTAMPS))

    def test_expiring_set_as_a_list_of_keys(self):
        start = time.monotonic()
        for number, ttl_s in enumerate([100, 200, 300]):
            key = f"session:{number}"
            self.assertEqual(self.server.lpush("sessions", key), number + 1)
            self.assertTrue(self.server.set(key, f"ticket {number}"))
            self.assertTrue(self.server.expire(key, ttl_s))
        self.server.pexpire("session:1", 20)
        self.assertTrue(wait_until(lambda: self.server.ttl("session:1") == -2))
        keys = self.server.lrange("sessions", 0, -1)
        self.assertEqual(keys, ["session:2", "session:1", "session:0"])
        self.assertEqual(self.server.mget(keys), ["ticket 2", None, "ticket 0"])
        self.assertIn(self.server.ttl("session:2"), ttls(300, start))
        self.assertEqual(self.server.lrem("sessions", 0, "session:1"), 1)
        self.assertEqual(self.server.lrange("sessions", 0, -1), ["session:2", "session:0"])
