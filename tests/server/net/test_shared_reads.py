"""Reads that run on several threads at the same time (io-threads)."""

import re
import threading
import time
import unittest

from peer import request
from test_io_threads import SECONDS, THREADS, IoThreadsTest


class SharedReads(IoThreadsTest):
    def test_see_whole_transactions(self):
        """Writers replace several values in one transaction. Readers on all threads never see a mixture, and
        never a value that is older than one that they have seen."""
        self.start()
        names = [f"key{number}" for number in range(8)]
        self.connect().ask("MSET", *(word for name in names for word in (name, 0)))
        done = threading.Event()

        def write(_):
            client = self.connect()
            for i in self.steps(400):
                words = [("MULTI",), *(("SET", name, i + 1) for name in names), ("EXEC",)]
                client.socket.sendall(b"".join(request(*each) for each in words))
                replies = [client.reply() for _ in words]
                if replies[-1] != [b"OK"] * len(names):
                    raise AssertionError(replies)
            done.set()

        def read(_):
            client = self.connect()
            last = 0
            while not done.is_set():
                client.socket.sendall(request("MGET", *names) + request("GET", names[0]) * 3)
                values = [int(value) for value in client.reply()]
                later = [int(client.reply()) for _ in range(3)]
                if len(set(values)) != 1 or [last, values[0], *later] != sorted([last, values[0], *later]):
                    raise AssertionError(last, values, later)
                last = later[-1]

        self.run_together(write, *[read] * 7)
        figures = self.connect().ask("INFO", "threads").decode()
        self.assertGreater(int(re.search(r"engine_lock_shared_requests:(\d+)", figures)[1]), 100)

    def test_have_complete_measurements(self):
        self.start()
        client = self.connect()
        client.ask("SET", "key", "value")
        readers = [self.connect() for _ in range(2 * THREADS)]
        for reader in readers:
            reader.socket.sendall((request("GET", "key") + request("GET", "none")) * 10)
        for reader in readers:
            for _ in range(20):
                reader.reply()
        info = client.ask("INFO", "everything").decode()
        self.assertIn(f"cmdstat_get:calls={20 * len(readers)},", info)
        self.assertIn(f"keyspace_hits:{10 * len(readers)}\r", info)
        self.assertIn(f"keyspace_misses:{10 * len(readers)}\r", info)
        self.assertEqual(client.ask("CONFIG", "RESETSTAT"), b"OK")
        self.assertNotIn(b"cmdstat_get:", client.ask("INFO", "commandstats"))

    def test_run_next_to_everything_else(self):
        """For the thread sanitizer and the asserts; and each reply has a valid form. Values change their
        representation, expire and are evicted; snapshots are written, and figures of all threads read."""
        self.start("--maxmemory", "300mb", "--maxmemory-policy", "allkeys-lru", "--notify-keyspace-events", "",
                   "--slowlog-log-slower-than", "1000")
        until = time.monotonic() + SECONDS / 4
        ranges = [("zrange", "0", "9"), ("zrevrange", "0", "99"), ("zrangebyscore", "0", "50"),
                  ("zrevrangebyscore", "50", "0"), ("zrangebylex", "-", "+"), ("zrevrangebylex", "+", "-"),
                  ("zcount", "0", "50"), ("zlexcount", "-", "+")]
        members = [(name, "3") for name in ("zrank", "zrevrank", "zscore", "zmscore", "zmrank", "zmrevrank")]
        reads = {
            "string": [("get",), ("strlen",), ("getrange", "0", "3"), ("substr", "1", "2"), ("mget",)],
            "hash": [("hget", "3"), ("hmget", "3", "4"), ("hgetall",), ("hkeys",), ("hvals",), ("hlen",),
                     ("hexists", "3"), ("hstrlen", "3")],
            "list": [("lrange", "0", "-1"), ("lindex", "2"), ("llen",)],
            "set": [("smembers",), ("scard",), ("sismember", "3"), ("smismember", "3", "4")],
            "board": [*ranges, *members, ("zcard",), ("zaround", "3", "2", "2"), ("zrankof", "5")],
        }
        for kind in reads:
            reads[kind] += [(name,) for name in ("type", "ttl", "pttl", "expiretime", "pexpiretime", "exists")]
        writes = {
            "string": lambda rng: ("SET", rng.choice(["7", "short", "x" * 300])),
            "hash": lambda rng: ("HSET", rng.randrange(200), rng.choice(["7", "x" * 80])),
            "list": lambda rng: (rng.choice(["RPUSH", "LPUSH"]), rng.choice(["7", "x" * 80])),
            "set": lambda rng: ("SADD", rng.choice([str(rng.randrange(600)), "word"])),
            "board": lambda rng: ("ZADD", rng.randrange(100), rng.randrange(300)),
        }
        key = lambda kind, rng: f"{kind}{rng.randrange(8)}"

        def read(rng):
            client = self.connect()
            while time.monotonic() < until:
                words = []
                for _ in range(10):
                    kind = rng.choice(list(reads))
                    name, *more = rng.choice(reads[kind])
                    words.append((name, key(kind, rng), *more))
                client.socket.sendall(b"".join(request(*each) for each in words))
                for each in words:
                    reply = client.reply()
                    if isinstance(reply, RuntimeError):
                        raise AssertionError(each) from reply

        def write(rng):
            client = self.connect()
            while time.monotonic() < until:
                kind = rng.choice(list(writes))
                name, *more = writes[kind](rng)
                client.ask(name, key(kind, rng), *more)
                client.ask(*rng.choice([
                    ("DEL", key(kind, rng)), ("PEXPIRE", key(kind, rng), rng.randrange(1, 20)), ("PING",),
                    ("HPEXPIRE", key("hash", rng), 5, "FIELDS", 1, "3"), ("LPOP", key("list", rng), 50)]))

        shared = []

        def count_shared(client):
            figures = client.ask("INFO", "threads").decode()
            shared.append(int(re.search(r"engine_lock_shared_requests:(\d+)", figures)[1]))

        def look(rng):
            client = self.connect()
            while time.monotonic() < until:
                count_shared(client)
                client.ask("CONFIG", "RESETSTAT")
                client.ask(*rng.choice([
                    ("INFO", "everything"), ("CLIENT", "LIST"), ("SLOWLOG", "GET"),
                    ("LATENCY", "HISTOGRAM"), ("BGSAVE",), ("MEMORY", "USAGE", key("board", rng)),
                    ("CONFIG", "SET", "maxmemory", rng.choice(["1", "300mb"])), ("CLIENT", "INFO"),
                    ("CONFIG", "SET", "maxmemory", "300mb"), ("CONFIG", "SET", "latency-tracking", "no"),
                    ("CONFIG", "SET", "latency-tracking", "yes"), ("SCAN", 0), ("FLUSHALL",)]))

        self.run_together(write, write, look, *[read] * 5)
        count_shared(self.connect())
        self.assertGreater(sum(shared), 100)

    def test_find_no_expired_key(self):
        self.start("--hz", "1")
        readers = [self.connect() for _ in range(THREADS)]
        for _ in self.steps(20):
            readers[0].ask("SET", "key", "value", "PX", 30)
            until = time.monotonic() + 0.030
            while time.monotonic() < until + 0.002:
                for reader in readers:
                    before = time.monotonic()
                    reply = reader.ask("GET", "key")
                    if reply is not None and before > until + 0.001:
                        self.fail("an expired key was found")


if __name__ == "__main__":
    unittest.main()
