"""zsetd loads snapshots of redis-server, and the other way round: each type, each encoding,
deadlines, sizes around each limit. DEBUG DIGEST compares the data; redis-check-rdb checks the files
that zsetd writes.

Starts the programs ZSETD and redis-server.
"""

import os
import pathlib
import random
import shutil
import subprocess
import tempfile
import unittest

import redis

from server_process import ServerProcess, eventually

ZSETD = os.environ["ZSETD"]
REDIS = "redis-server"

SIZES = [1, 2, 63, 64, 65, 127, 128, 129, 511, 512, 513, 1500]  # limits of encodings and of lengths
LENGTHS = [0, 1, 20, 21, 44, 45, 63, 64, 65, 4095, 4096, 9000, 16383, 16384, 70000]
NUMBERS = [0, 1, -1, 127, 128, -128, -129, 255, 4095, 4096, -4096, -4097, 32767, 32768, -32769,
           2**23 - 1, 2**23, -2**23 - 1, 2**31 - 1, 2**31, -2**31 - 1, 2**63 - 1, -2**63]


def texts(seed):
    """Returns texts of all lengths and numbers of all sizes, in random order."""
    source = random.Random(seed)
    some = [b"%d" % number for number in NUMBERS]
    some += [b"ab" * (length // 2) + b"c" * (length % 2) for length in LENGTHS]
    some += [source.randbytes(length) for length in LENGTHS]
    source.shuffle(some)
    return some


def fill_streams(pipe, seed):
    source = random.Random(seed)
    for size in (1, 2, 99, 100, 101, 250):  # a node has at most 100 entries
        ids = [f"{i + 1}-{source.randrange(10**6)}" for i in range(size)]
        for i, entry in enumerate(ids):
            pipe.xadd(f"stream:{size}", {"number": source.randrange(10**6), "text": "x" * (i % 90)}, id=entry)
        pipe.xdel(f"stream:{size}", *ids[::5])
        pipe.xgroup_create(f"stream:{size}", "group", ids[size // 3])
        pipe.xreadgroup("group", "consumer", {f"stream:{size}": ">"}, count=70)
    for i, text in enumerate(texts(seed)):
        pipe.xadd("stream:texts", {text: text, "same": i}, id=f"{i + 1}-1")


def fill(server, seed):
    source = random.Random(seed)
    pipe = server.pipeline(transaction=False)
    for number, text in enumerate(texts(seed)):
        pipe.set(b"text:%d" % number, text)
        pipe.set(b"key:" + text, number)
    for size in SIZES:
        words = [b"%d:%d" % (size, i) for i in range(size)]
        numbers = source.sample(range(10**6), size)
        pipe.rpush(f"list:{size}", *words)
        pipe.rpush(f"list:numbers:{size}", *numbers)
        pipe.sadd(f"set:{size}", *words)
        pipe.sadd(f"set:numbers:{size}", *numbers)
        pipe.sadd(f"set:large:{size}", *(number << 40 for number in numbers))
        pipe.hset(f"hash:{size}", mapping={word: word * 2 for word in words})
        pipe.hset(f"hash:long:{size}", mapping={word: b"v" * (i % 70) for i, word in enumerate(words)})
        pipe.zadd(f"zset:{size}", {word: source.random() for word in words})
        pipe.zadd(f"zset:numbers:{size}", {number: number for number in numbers})
        pipe.zadd(f"zset:long:{size}", {b"m" * (60 + i % 9) + word: -i for i, word in enumerate(words)})
    fill_streams(pipe, seed)
    pipe.rpush("list:texts", *texts(seed))
    pipe.sadd("set:texts", *texts(seed))
    pipe.hset("hash:texts", mapping={text: text for text in texts(seed)})
    pipe.zadd("zset:texts", {text: i for i, text in enumerate(texts(seed))})
    pipe.zadd("zset:scores", {"inf": float("inf"), "-inf": float("-inf"), "0": 0.0, "third": 1 / 3,
                              "small": 5e-324, "large": 1.7e308, "whole": 2.0**53})
    for i in range(50):
        pipe.set(f"lasting:{i}", i, ex=1000 + i)
        pipe.set(f"short:{i}", i, px=1)
    pipe.execute_command("SELECT", 3)
    pipe.set("there", "3")
    pipe.zadd("scores", {"a": 1})
    pipe.pexpireat("scores", 2**42)
    pipe.execute_command("SELECT", 0)
    pipe.execute()


class RdbExchange(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def start(self, program, folder, *options):
        folder.mkdir(exist_ok=True)
        server = ServerProcess(program, "--dir", str(folder), *options)
        self.addCleanup(lambda: self.assertIsNone(server.stop()))
        client = redis.Redis(port=server.port)
        self.assertTrue(eventually(lambda: not client.info("persistence")["loading"]))
        return client

    def exchange(self, source_program, *options):
        seed = random.randrange(2**32)
        source = self.start(source_program, self.folder / "from", *options)
        fill(source, seed)
        source.save()
        short = [f"short:{i}" for i in range(50)]
        # Redis includes expired keys in its digest until they are deleted.
        self.assertTrue(eventually(lambda: not source.exists(*short)))
        digest = source.execute_command("DEBUG", "DIGEST")
        deadlines = [source.pexpiretime(f"lasting:{i}") for i in range(50)]
        file = self.folder / "from" / "dump.rdb"
        check = subprocess.run(["redis-check-rdb", str(file)], capture_output=True)
        self.assertEqual(check.returncode, 0, check.stdout)
        for name, program in (("redis", REDIS), ("zsetd", ZSETD)):
            with self.subTest(seed=seed, to=name):
                (self.folder / name).mkdir()
                shutil.copy(file, self.folder / name)
                copy = self.start(program, self.folder / name, *options)
                self.assertEqual(copy.execute_command("DEBUG", "DIGEST"), digest)
                self.assertEqual([copy.pexpiretime(f"lasting:{i}") for i in range(50)], deadlines)
                self.assertEqual(copy.get("short:1"), None)
                self.assertEqual(copy.xpending("stream:250", "group")["pending"], 70)

    def test_files_of_zsetd(self):
        self.exchange(ZSETD)

    def test_files_of_zsetd_uncompressed_and_without_checksum(self):
        self.exchange(ZSETD, "--rdbcompression", "no", "--rdbchecksum", "no")

    def test_files_of_redis(self):
        self.exchange(REDIS)

    def test_files_of_redis_uncompressed_and_without_checksum(self):
        self.exchange(REDIS, "--rdbcompression", "no", "--rdbchecksum", "no")

    def fill_with_deadlines(self, server):
        """Creates sets in which every third member has its own deadline. Returns the replies of
        ZPEXPIRETIME."""
        for key, members in (("few", 5), ("many", 9000)):
            names = [f"member {i * 7919 % members}" for i in range(members)]
            server.zadd(key, {name: i % 100 for i, name in enumerate(names)})
            pipe = server.pipeline(transaction=False)
            for i in range(0, members, 3):
                pipe.execute_command("ZPEXPIREAT", key, 2**42 + i, "MEMBERS", 1, names[i])
            pipe.execute()
        server.execute_command("ZPEXPIRE", "few", 1, "MEMBERS", 1, "member 1")
        self.assertTrue(eventually(lambda: server.zcard("few") == 4))
        return self.deadlines_of_members(server)

    def deadlines_of_members(self, server):
        return [server.execute_command("ZPEXPIRETIME", key, "MEMBERS", members,
                                       *(f"member {i}" for i in range(members)))
                for key, members in (("few", 5), ("many", 9000))]

    def fill_with_deadlines_of_fields(self, server):
        """Creates hashes in which every third field has its own deadline. Returns the replies of
        HPEXPIRETIME."""
        for key, fields in (("small", 6), ("large", 3000)):
            server.hset(key, mapping={f"field {i}": i for i in range(fields)})
            pipe = server.pipeline(transaction=False)
            for i in range(0, fields, 3):
                pipe.execute_command("HPEXPIREAT", key, 2**42 + i, "FIELDS", 1, f"field {i}")
            pipe.execute()
        return self.deadlines_of_fields(server)

    def deadlines_of_fields(self, server):
        return [server.execute_command("HPEXPIRETIME", key, "FIELDS", fields,
                                       *(f"field {i}" for i in range(fields)))
                for key, fields in (("small", 6), ("large", 3000))]

    def expect_kept(self, origin, digest, deadlines, *options):
        for name, program in (("redis", REDIS), ("zsetd", ZSETD)):
            with self.subTest(to=name):
                shutil.copytree(origin, self.folder / name)
                copy = self.start(program, self.folder / name, *options)
                self.assertEqual(copy.execute_command("DEBUG", "DIGEST"), digest)
                if program == ZSETD:
                    self.assertEqual(self.deadlines_of_members(copy), deadlines)

    def test_deadlines_of_members_in_snapshots(self):
        source = self.start(ZSETD, self.folder / "from")
        deadlines = self.fill_with_deadlines(source)
        self.assertEqual(deadlines[0][1], -2)
        self.assertEqual(sum(deadline >= 2**42 for deadline in deadlines[1]), 3000)
        digest = source.execute_command("DEBUG", "DIGEST")
        source.execute_command("DEBUG", "RELOAD")
        self.assertEqual(self.deadlines_of_members(source), deadlines)
        source.save()
        check = subprocess.run(["redis-check-rdb", str(self.folder / "from" / "dump.rdb")], capture_output=True)
        self.assertEqual(check.returncode, 0, check.stdout)
        self.expect_kept(self.folder / "from", digest, deadlines)

    def test_deadlines_of_fields_in_snapshots(self):
        source = self.start(ZSETD, self.folder / "from")
        deadlines = self.fill_with_deadlines_of_fields(source)
        self.assertEqual([sum(deadline >= 2**42 for deadline in each) for each in deadlines], [2, 1000])
        digest = source.execute_command("DEBUG", "DIGEST")
        source.execute_command("DEBUG", "RELOAD")
        self.assertEqual(self.deadlines_of_fields(source), deadlines)
        self.assertEqual(source.execute_command("DEBUG", "DIGEST"), digest)
        file = self.folder / "from" / "dump.rdb"
        self.assertTrue(file.read_bytes().startswith(b"REDIS0012"))
        source.execute_command("HPERSIST", "small", "FIELDS", 6, *(f"field {i}" for i in range(6)))
        source.delete("large")
        source.save()
        self.assertTrue(file.read_bytes().startswith(b"REDIS0010"))

    def test_deadlines_of_members_and_fields_in_the_append_only_log(self):
        options = ("--appendonly", "yes", "--appendfsync", "always")
        source = self.start(ZSETD, self.folder / "from", "--propagation-compatibility", "7.0", *options)
        deadlines = self.fill_with_deadlines(source)
        self.fill_with_deadlines_of_fields(source)
        self.expect_kept(self.folder / "from", source.execute_command("DEBUG", "DIGEST"), deadlines, *options)

    def test_use_of_keys_is_preserved(self):
        for policy, field in (("allkeys-lru", "idletime"), ("allkeys-lfu", "freq")):
            for source_program, program in ((ZSETD, REDIS), (REDIS, ZSETD)):
                with self.subTest(policy=policy, source=source_program):
                    folder = self.folder / f"{policy}-{pathlib.Path(source_program).name}"
                    options = ("--maxmemory-policy", policy)
                    source = self.start(source_program, folder, *options)
                    payload = source.set("k", "v") and source.dump("k")
                    use = ("IDLETIME", 3000) if field == "idletime" else ("FREQ", 77)
                    source.execute_command("RESTORE", "k", 0, payload, "REPLACE", *use)
                    source.save()
                    target_folder = self.folder / (folder.name + "-to")
                    target_folder.mkdir()
                    shutil.copy(folder / "dump.rdb", target_folder)
                    copy = self.start(program, target_folder, *options)
                    self.assertAlmostEqual(copy.object(field, "k"), use[1], delta=3)


if __name__ == "__main__":
    unittest.main()
