"""The five recipes through redis-cli, in RESP2 and in RESP3."""

import os
import time
import unittest

import redis_cli
import top_ten
from ttls import ttls

IS_ZSETD = os.environ["SERVER"] == "zsetd"
NOW = 1531051200
RACED_TIMESTAMPS = 200


def scored(reply):
    """Returns a reply WITHSCORES as pairs (member, score): RESP2 has a flat list of texts, RESP3
    has pairs."""
    flat = [part for pair in reply for part in (pair if isinstance(pair, list) else [pair])]
    return [(member, float(score)) for member, score in zip(flat[::2], flat[1::2])]


class Recipes:
    protocol = None

    def start(self, *arguments):
        cli = redis_cli.start(f"-{self.protocol}", "-n", self.protocol, *arguments)
        self.addCleanup(cli.__exit__, None, None, None)
        return cli

    def type(self, *lines):
        return redis_cli.typed(self.start(), lines)

    def check(self, *dialogue):
        """Types lines and compares their replies: line, reply, line, reply, ..."""
        self.assertEqual(self.type(*dialogue[::2]), list(dialogue[1::2]))

    def wait_until_gone(self, key):
        deadline = time.monotonic() + 60
        while self.type(f"EXISTS {key}") != [0] and time.monotonic() < deadline:
            pass
        self.check(f"EXISTS {key}", 0, f"TTL {key}", -2)

    def view(self, item, timestamp):
        return self.type(f"ZADD recent:ann {timestamp} {item}", "ZREMRANGEBYRANK recent:ann 0 -4",
                         "EXPIRE recent:ann 60")

    def test_recency_list_keeps_the_latest_and_expires(self):
        for timestamp, item in enumerate(["tea", "jam", "rye"], NOW):
            self.assertEqual(self.view(item, timestamp), [1, 0, 1])
        self.assertEqual(self.view("tea", NOW + 3), [0, 0, 1])
        start = time.monotonic()
        self.assertEqual(self.view("fig", NOW + 4), [1, 1, 1])
        self.check("ZREVRANGE recent:ann 0 -1", ["fig", "tea", "rye"])
        [ttl_s] = self.type("TTL recent:ann")
        self.assertIn(ttl_s, ttls(60, start))
        self.check("PEXPIRE recent:ann 20", 1)
        self.wait_until_gone("recent:ann")
        self.check("ZREVRANGE recent:ann 0 -1", [])

    def count_in_two_calls(self, key, numbers):
        replies = self.type(*(line for number in numbers for line in (
            f'ZINCRBY {key} 1 "{number}"', f"EXPIRE {key} {top_ten.BUCKET_TTL_S}")))
        self.assertEqual(replies[1::2], [1] * len(numbers))
        return replies[::2]

    def count_in_one_call(self, key, numbers):
        return self.type(*(f'ZADD {key} 1 "{number}" INCR EX {top_ten.BUCKET_TTL_S}'
                           for number in numbers))

    def check_top_ten(self, count):
        lookups = top_ten.random_lookups(top_ten.printed_seed())
        for key, numbers in lookups.items():
            start = time.monotonic()
            scores = [float(score) for score in count(key, numbers)]
            self.assertEqual(scores, top_ten.running_counts(numbers))
            trimmed, ttl_s = self.type(f"ZREMRANGEBYRANK {key} 0 -{top_ten.KEPT + 1}", f"TTL {key}")
            self.assertEqual(trimmed, max(0, len(set(numbers)) - top_ten.KEPT))
            self.assertIn(ttl_s, ttls(top_ten.BUCKET_TTL_S, start))
        keys = " ".join(lookups)
        self.type(f"ZUNIONSTORE top 24 {keys}")
        self.check(f"EXPIRE top {top_ten.TOP_TTL_S}", 1)
        expected = top_ten.top_ten(lookups)
        self.check("ZRANGE top -10 -1", [number for number, _ in expected])
        [highest_first] = self.type("ZRANGE top 0 9 REV WITHSCORES")
        self.assertEqual(scored(highest_first), expected[::-1])
        self.check(f"DEL top {keys}", 25)

    def test_top_ten_of_the_last_24_hours_in_two_calls(self):
        self.check_top_ten(self.count_in_two_calls)

    @unittest.skipUnless(IS_ZSETD, "no other server has it")
    def test_top_ten_of_the_last_24_hours_in_one_call(self):
        self.check_top_ten(self.count_in_one_call)

    def test_chat_list_shows_the_latest_message_of_each_room(self):
        self.check(
            'MSET chat:work:from bob chat:work:text hello', "OK",
            f"ZADD chats:ann {NOW} work", 1,
            'MSET chat:home:from eve chat:home:text "soup is ready"', "OK",
            f"ZADD chats:ann {NOW + 1} home", 1,
            'MSET chat:work:from bob chat:work:text "anyone \\"here\\"?\\r\\n"', "OK",
            f"ZADD chats:ann {NOW + 2} work", 0,
            "ZREVRANGE chats:ann 0 -1", ["work", "home"],
            "MGET chat:work:text chat:home:text", ['anyone "here"?\r\n', "soup is ready"],
            "ZREM chats:ann work gym", 1,
            "ZREVRANGE chats:ann 0 -1", ["home"],
            "MGET chat:work:from chat:gym:from", ["bob", None])

    def test_live_events_are_received_and_expire(self):
        listener = self.start("SUBSCRIBE", "events:new")
        self.addCleanup(listener.kill)
        self.assertTrue(listener.stdout.readline().startswith("Reading messages"))
        self.assertEqual(redis_cli.reply(listener.stdout.readline()),
                         ["subscribe", "events:new", 1])
        for minute in range(5):
            event = f"goal {minute}"
            self.check(f'ZADD events {NOW + 60 * minute} "{event}"', 1,
                       f'PUBLISH events:new "{event}"', 1)
            self.assertEqual(redis_cli.reply(listener.stdout.readline()),
                             ["message", "events:new", event])
        self.check(f"ZRANGEBYSCORE events ({NOW + 120} +inf", ["goal 3", "goal 4"],
                   f"ZCOUNT events {NOW + 60} {NOW + 180}", 3,
                   f"ZREMRANGEBYSCORE events -inf ({NOW + 120}", 2,
                   "ZCARD events", 3)

    def test_visitors_are_those_with_a_recent_heartbeat(self):
        self.check(f"ZADD visitors {NOW} ann", 1,
                   f"ZADD visitors {NOW + 5} bob", 1,
                   f"ZADD visitors {NOW + 20} ann", 0,
                   f"ZADD visitors {NOW + 31} eve", 1,
                   f"ZREMRANGEBYSCORE visitors -inf {NOW + 31 - 20}", 1,
                   "ZCARD visitors", 2,
                   "ZRANGE visitors 0 -1", ["ann", "eve"])

    def readings_of(self, writer):
        for timestamp in range(RACED_TIMESTAMPS):
            yield "MULTI"
            yield f"ZREMRANGEBYSCORE readings {timestamp} {timestamp}"
            yield f"ZADD readings {timestamp} {writer}:{timestamp}"
            yield "EXEC"

    def test_of_two_processes_racing_on_a_timestamp_one_element_remains(self):
        writers = {name: self.start() for name in ("left", "right")}
        for name, cli in writers.items():  # sends both their lines before it waits for either
            cli.stdin.writelines(line + "\n" for line in self.readings_of(name))
            cli.stdin.flush()
        done = [reply for cli in writers.values() for reply in redis_cli.typed(cli, [])[3::4]]
        self.assertEqual([added for _, added in done], [1] * 2 * RACED_TIMESTAMPS)
        self.assertEqual(sum(replaced for replaced, _ in done), RACED_TIMESTAMPS)
        [remaining] = self.type("ZRANGE readings 0 -1 WITHSCORES")
        self.assertEqual([score for _, score in scored(remaining)], list(range(RACED_TIMESTAMPS)))

    def test_expiring_set_as_a_list_of_keys(self):
        start = time.monotonic()
        for number, ttl_s in enumerate([100, 200, 300]):
            self.check(f"LPUSH sessions session:{number}", number + 1,
                       f'SET session:{number} "ticket {number}"', "OK",
                       f"EXPIRE session:{number} {ttl_s}", 1)
        self.check("PEXPIRE session:1 20", 1)
        self.wait_until_gone("session:1")
        self.check("LRANGE sessions 0 -1", ["session:2", "session:1", "session:0"],
                   "MGET session:2 session:1 session:0", ["ticket 2", None, "ticket 0"],
                   "LREM sessions 0 session:1", 1,
                   "LRANGE sessions 0 -1", ["session:2", "session:0"])
        [ttl_s] = self.type("TTL session:2")
        self.assertIn(ttl_s, ttls(300, start))


class RecipesInResp2(Recipes, unittest.TestCase):
    protocol = 2


class RecipesInResp3(Recipes, unittest.TestCase):
    protocol = 3
