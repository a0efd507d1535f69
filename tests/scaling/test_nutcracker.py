"""The recipes of docs/recipes.md through nutcracker (twemproxy) over three servers, as
docs/scaling.md describes."""

import subprocess
import unittest

from redis.exceptions import ConnectionError, ResponseError

from proxy import EXAMPLES, ProxyTest, program
from server_process import eventually, free_port


class Nutcracker(ProxyTest):
    def setUp(self):
        self.shards = [self.start_server(), self.start_server(), self.start_server()]
        port = free_port()
        addresses = {f"127.0.0.1:640{number}": f"127.0.0.1:{shard.port}"
                     for number, shard in enumerate(self.shards, 1)}
        self.start_proxy([program("nutcracker"), "-a", "127.0.0.1", "-s", str(free_port()), "-c"],
                         "nutcracker.yml", {**addresses, "127.0.0.1:6380": f"127.0.0.1:{port}"},
                         port)
        self.proxy = self.connect(port)
        self.assertTrue(self.proxy.ping())

    def ask(self, *words):
        return self.proxy.execute_command(*words)

    def shard_of(self, key):
        holders = [shard for shard in self.shards if shard.client.exists(key)]
        self.assertEqual(len(holders), 1, key)
        return holders[0]

    def check_closes(self, *words):
        """Asserts that the proxy does not know the request and closes the client's connection."""
        with self.assertRaises(ConnectionError, msg=words):
            self.ask(*words)

    def test_keys_are_spread(self):
        for number in range(300):
            self.proxy.zadd(f"seen:{number}", {"item": number})
        sizes = [shard.client.dbsize() for shard in self.shards]
        self.assertEqual(sum(sizes), 300)
        self.assertGreater(min(sizes), 50)
        for number in range(300):
            self.assertEqual(self.proxy.zscore(f"seen:{number}", "item"), number)

    def test_recency_list(self):
        for item in range(40):
            self.assertEqual(self.proxy.zadd("seen:42", {item: 1700000000 + item}), 1)
            self.proxy.zremrangebyrank("seen:42", 0, -31)
            self.assertTrue(self.proxy.expire("seen:42", 604800))
        self.assertEqual(self.proxy.zrevrange("seen:42", 0, 1), ["39", "38"])
        self.assertEqual(self.proxy.zcard("seen:42"), 30)

    def test_recency_list_in_one_call(self):
        for item in range(40):
            self.ask("ZADD", "seen:42", "MAXLEN", 30, "EX", 604800, item, item)
        self.assertEqual(self.proxy.zcard("seen:42"), 30)
        self.assertGreater(self.proxy.ttl("seen:42"), 604000)

    def test_top_ten(self):
        hours = [f"{{top}}:20180708_{hour:02}" for hour in range(24)]
        for number, hour in enumerate(hours):
            self.assertEqual(self.ask("ZADD", hour, 1, "a", "INCR", "EX", 179200), 1)
            self.assertEqual(self.proxy.zincrby(hour, number, "b"), number)
        self.assertEqual(self.proxy.zunionstore("{top}:day", hours), 2)
        self.assertTrue(self.proxy.expire("{top}:day", 60))
        self.assertEqual(self.proxy.zrange("{top}:day", -10, -1, withscores=True),
                         [("a", 24), ("b", sum(range(24)))])
        shard = self.shard_of("{top}:day")
        self.assertTrue(all(self.shard_of(hour) is shard for hour in hours))
        # To avoid a temporary key, ZUNION runs in a script: the proxy would take the number of keys
        # for a key.
        code = ("local words = {unpack(KEYS)} for _, word in ipairs(ARGV) do words[#words + 1] = word "
                "end return redis.call('ZUNION', #KEYS, unpack(words))")
        options = ["REV", "LIMIT", 0, 1, "WITHSCORES"]
        self.assertEqual(self.proxy.eval(code, 24, *hours, *options), ["b", str(sum(range(24)))])
        for command in ("ZUNION", "ZINTER"):
            replies = {tuple(self.ask(command, count, *hours[:count])) for count in range(1, 25)}
            self.assertIn((), replies)

    def test_a_union_without_a_common_tag_lacks_keys(self):
        """There is no error: the request goes to the server of the first key."""
        names = [f"hour:{number}" for number in range(30)]
        for name in names:
            self.proxy.zadd(name, {name: 1})
        self.assertLess(self.proxy.zunionstore("day", names), 30)

    def test_copies(self):
        for number in range(20):
            self.proxy.set(f"{{{number}}}:a", "v")
            self.assertTrue(self.proxy.copy(f"{{{number}}}:a", f"{{{number}}}:b"))
            self.assertIs(self.shard_of(f"{{{number}}}:a"), self.shard_of(f"{{{number}}}:b"))

    def test_chat_list(self):
        self.assertTrue(self.proxy.mset({"msg:7": "hello", "msg:8": "hi", "msg:9": "ho"}))
        self.assertEqual(self.proxy.zadd("chat:1", {"msg:7": 7, "msg:8": 8}), 2)
        self.assertEqual(self.proxy.zrange("chat:1", -50, -1), ["msg:7", "msg:8"])
        self.assertEqual(self.proxy.mget("msg:7", "msg:8", "none", "msg:9"),
                         ["hello", "hi", None, "ho"])
        self.assertEqual(self.proxy.zrem("chat:1", "msg:7"), 1)
        self.assertEqual(self.proxy.delete("msg:7", "msg:8", "none"), 2)

    def test_live_events(self):
        self.proxy.zadd("visitors", {"anna": 1700000000, "bert": 1700000050})
        self.assertEqual(self.proxy.zremrangebyscore("visitors", "-inf", "(1700000040"), 1)
        self.assertEqual(self.proxy.zcard("visitors"), 1)
        self.check_closes("PUBLISH", "events", "anna came")
        self.check_closes("SUBSCRIBE", "events")

    def test_transactions_become_scripts(self):
        self.check_closes("MULTI")
        self.check_closes("WATCH", "locks")
        code = ("redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', ARGV[1])"
                "return redis.call('ZADD', KEYS[1], 'NX', ARGV[1] + 30, ARGV[2])")
        self.assertEqual(self.proxy.eval(code, 1, "locks", 100, "job:1"), 1)
        self.assertEqual(self.proxy.eval(code, 1, "locks", 110, "job:1"), 0)
        self.assertEqual(self.proxy.eval(code, 1, "locks", 130, "job:1"), 1)
        self.check_closes("SCRIPT", "LOAD", code)  # so each server needs an EVAL before EVALSHA
        self.check_closes("FCALL", "f", 1, "locks")

    def test_pipelines(self):
        pipeline = self.proxy.pipeline(transaction=False)
        for number in range(1000):
            pipeline.zadd(f"key:{number}", {"a": number})
            pipeline.zscore(f"key:{number}", "a")
        replies = pipeline.execute()
        self.assertEqual(replies, [each for number in range(1000) for each in (1, number)])

    def test_extensions_of_zsetd_run_in_scripts(self):
        self.proxy.zadd("{league}:2", {"anna": 1, "bert": 2})
        call = "return redis.call(ARGV[1], KEYS[1], unpack(ARGV, 2))"
        for words in [("ZPOPBYSCORE", "{league}:2", "-inf", "now"),
                      ("ZAROUND", "{league}:2", "anna", 1, 1), ("ZMREVRANK", "{league}:2", "anna"),
                      ("ZADDEX", "online", "EX", 60, "MEMBERS", 1, 17, "user:42"),
                      ("ZTTL", "online", "MEMBERS", 1, "user:42")]:
            self.check_closes(*words)
        self.assertEqual(self.proxy.eval(call, 1, "{league}:2", "ZAROUND", "anna", 1, 1),
                         [0, ["anna", "bert"]])
        self.assertEqual(self.proxy.eval(call, 1, "{league}:2", "ZPOPBYSCORE", "-inf", 1),
                         ["anna", "1"])
        self.assertEqual(self.proxy.eval("return redis.call('ZMOVE', KEYS[1], KEYS[2], ARGV[1])", 2,
                                         "{league}:2", "{league}:1", "bert"), 1)
        self.assertEqual(self.proxy.eval(call, 1, "online", "ZADDEX", "EX", 60, "MEMBERS", 1, 17,
                                         "user:42"), 1)
        self.assertEqual(self.proxy.eval(call, 1, "online", "ZTTL", "MEMBERS", 1, "user:42"), [60])
        self.assertEqual(self.proxy.zcard("online"), 1)
        self.assertEqual(self.proxy.zcount("online", "-inf", "now"), 1)

    def test_delayed_jobs_are_polled(self):
        self.proxy.zadd("jobs", {"job:1": 1})
        self.assertEqual(self.ask("ZRANGEBYSCORE", "jobs", "-inf", "now", "LIMIT", 0, 1), ["job:1"])
        self.assertEqual(self.proxy.zrem("jobs", "job:1"), 1)
        self.check_closes("BZPOPBYSCORE", 0, "jobs", "-inf", "now")
        self.check_closes("BZPOPMIN", "jobs", 1)
        self.check_closes("BLPOP", "jobs", 1)

    def test_options_beyond_those_of_redis(self):
        """The proxy counts the arguments of some commands."""
        self.proxy.zadd("scores", {"anna": 1})
        self.check_closes("ZINCRBY", "scores", 1, "anna", "MAXLEN", 10)
        self.check_closes("ZREVRANK", "scores", "anna", "TIES", "COMPETITION")

    def test_scores_that_are_ids(self):
        for shard in self.shards:
            shard.client.config_set("zset-refuse-inexact-integers", "yes")
        with self.assertRaises(ResponseError):
            self.ask("ZADD", "timeline", "9007199254740993", "post:1")

    def test_a_server_that_is_down_fails_its_own_keys_only(self):
        keys = [f"key:{number}" for number in range(60)]
        for key in keys:
            self.proxy.set(key, "v")
        down = self.shards[1]
        lost = {key for key in keys if down.client.exists(key)}
        down.client.close()
        down.kill()
        down.expected_exit_code = -9
        for key in keys:
            if key in lost:
                with self.assertRaises((ResponseError, ConnectionError)):
                    self.proxy.set(key, "w")
            else:
                self.assertTrue(self.proxy.set(key, "w"))
        self.assertEqual(sum(shard.client.dbsize() for shard in self.shards if shard is not down),
                         len(keys) - len(lost))

    def test_the_file_is_well_formed(self):
        check = [program("nutcracker"), "-t", "-c", EXAMPLES / "nutcracker.yml"]
        self.assertEqual(subprocess.run(check, capture_output=True).returncode, 0)


if __name__ == "__main__":
    unittest.main()
