"""The append-only log keeps acknowledged writes if the server is killed at any moment, with each
policy, also during a rewrite."""

import contextlib
import os
import pathlib
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time

import redis

from server_process import ServerProcess, eventually
from zsetd import PROGRAM, ZsetdTest

KILLS = int(os.environ.get("ZSETD_KILLS", "12"))
LIFE_S = {"always": 0.3, "everysec": 1.5, "no": 0.3}  # everysec syncs after a second
CLIENTS = 6
IN_A_PIPELINE = 16
MEMBERS = 1000  # of each client's set


def values_of(client):
    """Returns the digest of each key's value, so that a difference names its key."""
    return {key: client.execute_command("DEBUG", "DIGEST-VALUE", key) for key in client.keys()}


class Writer(threading.Thread):
    """Sends pipelined transactions until the server ends. Counts the acknowledged ones in
    `counts`."""

    def __init__(self, port, number, counts):
        super().__init__()
        self.number = number
        self.counts = counts
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.start()

    def run(self):
        with self.socket, self.socket.makefile("rb") as replies:
            try:
                while True:
                    self.socket.sendall(self.pipeline())
                    for _ in range(IN_A_PIPELINE):
                        self.counts[self.number] = self.count_in(replies)
            except (OSError, EOFError):
                pass

    def pipeline(self):
        first = self.counts[self.number]
        commands = (f"MULTI\r\nINCR count:{self.number}\r\nZADD members:{self.number} {count} {count % MEMBERS}\r\n"
                    f"SET value:{self.number} {'x' * 500}\r\nEXEC\r\n"
                    for count in range(first, first + IN_A_PIPELINE))
        return "".join(commands).encode()

    @staticmethod
    def count_in(replies):
        """Reads all replies to one transaction. Returns the reply of INCR."""
        lines = [replies.readline() for _ in range(8)]  # OK, 3 QUEUED, 3 in an array
        if not lines[-1].endswith(b"\r\n"):
            raise EOFError
        if not lines[5].startswith(b":"):
            raise AssertionError(f"no count in {lines}")
        return int(lines[5][1:])


class AppendLog(ZsetdTest):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.log = self.folder / "appendonlydir"

    def serve(self, *options, policy="always"):
        self.server = self.start("--dir", str(self.folder), "--save", "", "--appendonly", "yes",
                                 "--appendfsync", policy, *options)
        client = redis.Redis(port=self.server.port)
        self.addCleanup(client.close)
        return client

    def kill(self):
        self.server.kill()
        self.server.expected_exit_code = -signal.SIGKILL

    def test_a_restart_restores_everything(self):
        for policy in "always", "everysec", "no":
            with self.subTest(policy=policy):
                client = self.serve(policy=policy)
                client.zadd("z", {policy: 1, "m": 2})
                client.set("k", policy, ex=1000)
                digest = client.execute_command("DEBUG", "DIGEST")
                self.assertIsNone(self.server.stop())
                client = self.serve(policy=policy)
                self.assertEqual(client.execute_command("DEBUG", "DIGEST"), digest)
                self.assertIsNone(self.server.stop())

    def test_debug_loadaof_restores_everything(self):
        client = self.serve(policy="everysec")
        pipeline = client.pipeline(transaction=False)
        for i in range(1000):
            pipeline.zadd("z", {f"m{i}": i})
        pipeline.execute()
        digest = client.execute_command("DEBUG", "DIGEST")
        client.execute_command("DEBUG", "LOADAOF")
        self.assertEqual(client.execute_command("DEBUG", "DIGEST"), digest)
        client.set("k", "v")
        digest = client.execute_command("DEBUG", "DIGEST")
        self.kill()
        self.assertEqual(self.serve().execute_command("DEBUG", "DIGEST"), digest)

    def test_a_rewrite_creates_a_missing_directory(self):
        client = self.serve("--auto-aof-rewrite-min-size", "1000", "--auto-aof-rewrite-percentage", "100")
        client.set("a", 1)
        shutil.rmtree(self.log)
        client.set("b", 2)
        client.bgrewriteaof()
        self.await_rewrite(client)
        self.assertEqual(client.info("persistence")["aof_last_bgrewrite_status"], "ok")
        client.set("c", 3)
        self.kill()
        client = self.serve("--auto-aof-rewrite-min-size", "1000", "--auto-aof-rewrite-percentage", "100")
        self.assertEqual(sorted(client.keys()), [b"a", b"b", b"c"])
        shutil.rmtree(self.log)
        client.set("large", "x" * 10000)
        self.assertTrue(eventually(lambda: client.info("persistence")["aof_rewrites"] > 0))
        self.await_rewrite(client)
        self.kill()
        self.assertEqual(self.serve().dbsize(), 4)

    def await_rewrite(self, client):
        self.assertTrue(eventually(lambda: not client.info("persistence")["aof_rewrite_in_progress"]))

    def test_the_log_stays_in_its_directory_if_dir_changes(self):
        client = self.serve("--enable-protected-configs", "yes")
        client.set("a", 1)
        (self.folder / "other" / "appendonlydir").mkdir(parents=True)
        client.config_set("dir", str(self.folder / "other"))
        client.set("b", 2)
        client.bgrewriteaof()
        self.assertTrue(eventually(lambda: not client.info("persistence")["aof_rewrite_in_progress"]))
        client.execute_command("DEBUG", "LOADAOF")
        self.assertEqual(client.dbsize(), 2)
        self.kill()
        self.assertEqual(os.listdir(self.folder / "other" / "appendonlydir"), [])
        self.assertEqual(self.serve().mget("a", "b"), [b"1", b"2"])

    def test_the_directory_of_the_log_stays_locked_if_dir_changes(self):
        client = self.serve("--enable-protected-configs", "yes")
        client.set("a", 1)
        (self.folder / "other").mkdir()
        client.config_set("dir", str(self.folder / "other"))
        client.save()
        second = subprocess.run([PROGRAM, "--port", "0", "--unixsocket", str(self.folder / "socket"),
                                 "--dir", str(self.folder), "--appendonly", "yes"],
                                capture_output=True, timeout=20)
        self.assertNotEqual(second.returncode, 0)
        self.assertIn(b"another server keeps its data in the directory", second.stderr)
        client.config_set("dir", str(self.folder))
        client.save()

    def check_log_and_base(self, client, check):
        """Calls `check` with a client after the log, and then its base, was loaded."""
        client.execute_command("DEBUG", "LOADAOF")
        check(client)
        client.bgrewriteaof()
        self.assertTrue(eventually(lambda: not client.info("persistence")["aof_rewrite_in_progress"]))
        self.kill()
        check(self.serve())

    def test_payloads_are_in_the_log_and_in_its_base(self):
        client = self.serve()
        client.zadd("z", {"a": 1, "b": 2, "c": 3})
        self.assertEqual(client.execute_command("ZSETDATA", "z", "a", "A", "b", "x" * 300, "c", ""), 3)
        client.execute_command("ZMOVE", "z", "moved", "c")

        def check(client):
            self.assertEqual(client.execute_command("ZGETDATA", "z", "a", "b"), [b"A", b"x" * 300])
            self.assertEqual(client.execute_command("ZGETDATA", "moved", "c"), [b""])

        self.check_log_and_base(client, check)

    def test_forms_of_scores_are_in_the_log_and_in_its_base(self):
        client = self.serve()
        ask = client.execute_command
        ask("ZADD", "ids", "FORM", "INT64", 2**53, "a", 2**53 + 1, "b")
        ask("ZINCRBY", "ids", 2**60, "a")
        ask("ZADD", "game", "FORM", "TUPLE", 32, "32:DESC", "END", "4000000000/3", "a", "4000000000/2", "b")
        for amount in 3, 0.1:
            ask("ZINCRBY", "hot", amount, "a", "FORM", "HALFLIFE", 60)
        ask("ZADD", "hot", 3, "b")
        dump = client.dump("hot")

        def check(client):
            self.assertEqual(client.dump("hot"), dump)
            self.assertEqual(client.execute_command("ZFORM", "game"), b"TUPLE 32 32:DESC")
            self.assertEqual(client.execute_command("ZRANGE", "ids", 0, -1, "WITHSCORES"),
                             [b"b", str(2**53 + 1).encode(), b"a", str(2**60 + 2**53).encode()])
            self.assertEqual(client.execute_command("ZRANGE", "game", 0, -1, "WITHSCORES"),
                             [b"a", b"4000000000/3", b"b", b"4000000000/2"])

        self.check_log_and_base(client, check)

    def test_an_element_that_expires_last_delays_no_reader(self):
        client = self.serve()
        client.zadd("z", {"a": 1})
        client.execute_command("HSET", "h", "f", "1")
        client.execute_command("ZPEXPIRE", "z", 1, "MEMBERS", 1, "a")
        client.execute_command("HPEXPIRE", "h", 1, "FIELDS", 1, "f")
        reader = redis.Redis(port=self.server.port, socket_timeout=20)
        self.addCleanup(reader.close)
        self.assertTrue(eventually(lambda: reader.info("stats")["expired_subkeys"] == 2))
        self.assertEqual(reader.exists("z", "h"), 0)
        self.assertEqual(reader.dbsize(), 0)
        self.assertEqual(reader.keys(), [])

    def test_debug_commands_that_change_data_delay_no_reader(self):
        client = self.serve()
        reader = redis.Redis(port=self.server.port, socket_timeout=20)
        self.addCleanup(reader.close)
        for words in (("RELOAD",), ("LOADAOF",), ("POPULATE", 10), ("RELOAD", "NOSAVE")):
            with self.subTest(words=words):
                client.execute_command("DEBUG", *words)
                self.assertIn(reader.dbsize(), (0, 10))
                reader.get("key:1")

    def test_a_script_that_does_not_end_leaves_nothing(self):
        """The server ends while the script runs, by SHUTDOWN NOSAVE or by two signals."""
        body = "redis.call('set', 'a', 1) redis.call('set', 'b', 1) while true do end"
        library = f"#!lua name=l\nredis.register_function('f', function() {body} end)"
        runs = {"EVAL": [("EVAL", body, "0")],
                "FCALL": [("FCALL", "f", "0")],
                "EXEC": [("MULTI",), ("SET", "c", "1"), ("EVAL", body, "0"), ("EXEC",)]}
        for name, run in runs.items():
            for end in "SHUTDOWN", "signals":
                for with_replica in False, True:
                    with self.subTest(run=name, end=end, with_replica=with_replica):
                        self.end_amid(run, library, end, with_replica)

    def end_amid(self, run, library, end, with_replica):
        client = self.serve("--busy-reply-threshold", "20", "--shutdown-timeout", "1",
                            "--repl-diskless-sync-delay", "0")
        master = self.server
        client.flushall()
        client.function_load(library, replace=True)
        client.set("before", "1")
        if with_replica:
            replica = self.start("--replicaof", f"127.0.0.1 {master.port}")
            self.server = master
            follower = redis.Redis(port=replica.port)
            self.addCleanup(follower.close)
            self.assertTrue(eventually(lambda: follower.info("replication")["master_link_status"] == "up"))
            self.assertEqual(follower.get("before"), b"1")
        caller, other = self.connect(), self.connect()
        for words in run:
            caller.send(*words)
        self.assertTrue(eventually(lambda: str(other.ask("PING")).startswith("BUSY")))
        if end == "SHUTDOWN":
            other.send("SHUTDOWN", "NOSAVE")
        else:
            master.ask_to_leave()
            self.assertTrue(eventually(lambda: not master.listens()))
            master.ask_to_leave()
        self.assertEqual(master.exit_code(), 0)
        if with_replica:
            self.assertEqual(follower.keys(), [b"before"])
        self.assertEqual(self.serve().keys(), [b"before"])
        self.assertIsNone(self.server.stop())

    def test_sigterm_completes_a_log_that_waits_for_a_snapshot_and_a_script(self):
        self.start("--dir", str(self.folder), "--shutdown-timeout", "0",
                   "--busy-reply-threshold", "20", "--repl-diskless-sync-delay", "0")
        client = redis.Redis(port=self.server.port)
        self.addCleanup(client.close)
        for i in range(40):
            client.set(i, os.urandom(1 << 20))
        replica = self.connect(receive_buffer=4096)
        replica.send("PSYNC", "?", "-1")
        self.assertTrue(eventually(lambda: client.info("replication")["connected_slaves"] == 1))
        client.config_set("appendonly", "yes")
        client.set("acknowledged", 1)
        self.assertEqual(client.info("persistence")["aof_rewrite_scheduled"], 1)
        caller, other = self.connect(), self.connect()
        caller.send("EVAL", "while true do end", "0")
        self.assertTrue(eventually(lambda: str(other.ask("PING")).startswith("BUSY")))
        self.server.ask_to_leave()
        self.assertTrue(eventually(lambda: "A script is running" in self.server.log()))
        self.assertEqual(other.ask("SCRIPT", "KILL"), b"OK")
        self.assertEqual(self.server.exit_code(), 0)
        client = self.serve()
        self.assertEqual(client.get("acknowledged"), b"1")
        self.assertEqual(client.dbsize(), 41)

    def test_a_log_that_starts_within_a_transaction_contains_each_write_once(self):
        for with_replica in False, True:
            with self.subTest(with_replica=with_replica):
                folder = tempfile.TemporaryDirectory()
                self.addCleanup(folder.cleanup)
                master = self.start("--dir", folder.name, "--repl-diskless-sync-delay", "0")
                client = redis.Redis(port=master.port)
                self.addCleanup(client.close)
                if with_replica:
                    self.start("--replicaof", f"127.0.0.1 {master.port}")
                    self.assertTrue(eventually(
                        lambda: client.info("replication").get("slave0", {}).get("state") == "online"))
                pipeline = client.pipeline(transaction=True)
                pipeline.rpush("l", "x")
                pipeline.config_set("appendonly", "yes")
                pipeline.info("persistence")
                pipeline.rpush("l", "y")
                info = pipeline.execute()[2]
                self.assertEqual((info["aof_enabled"], info["aof_rewrite_scheduled"]), (1, 1))
                self.assertTrue(eventually(
                    lambda: (pathlib.Path(folder.name) / "appendonlydir" /
                             "appendonly.aof.manifest").exists()
                    and not client.info("persistence")["aof_rewrite_in_progress"]))
                self.assertEqual(client.execute_command("WAITAOF", 1, 0, 0)[0], 1)
                self.assertIsNone(master.stop())
                restarted = self.start("--dir", folder.name, "--appendonly", "yes")
                again = redis.Redis(port=restarted.port)
                self.addCleanup(again.close)
                self.assertEqual(again.lrange("l", 0, -1), [b"x", b"y"])

    def test_acknowledged_writes_survive_a_kill(self):
        """With each policy the log contains each acknowledged write and no part of a unit. Each
        client counts by itself; each transaction changes a counter and a set."""
        source = random.Random()
        counts = [0] * CLIENTS
        policy = None
        for kill in range(KILLS):
            killed = f"kill {kill} with {policy}"
            policy = ["always", "everysec", "no"][kill % 3]
            control = self.serve(policy=policy)
            self.compare_with(control, counts, killed)
            writers = [Writer(self.server.port, each, counts) for each in range(CLIENTS)]
            if source.randrange(2) == 0:
                time.sleep(source.uniform(0, 0.1))
                with contextlib.suppress(redis.ResponseError):  # one may have started by itself
                    control.bgrewriteaof()
            time.sleep(source.uniform(0.02, LIFE_S[policy]))
            self.kill()
            for writer in writers:
                writer.join()
        self.compare_with(self.serve(), counts, f"the last kill with {policy}")

    def compare_with(self, control, counts, killed):
        """Checks that a restart has restored all acknowledged transactions. Takes over their
        counts."""
        for each, count in enumerate(counts):
            counts[each] = int(control.get(f"count:{each}") or 0)
            self.assertGreaterEqual(counts[each], count, f"acknowledged writes are lost by {killed}")
            self.assertEqual(control.zcard(f"members:{each}"), min(counts[each], MEMBERS), killed)

    def test_replies_wait_for_the_disk_and_others_do_not(self):
        client = self.serve()
        for i in range(50):
            client.set("k", i)
        with client.pipeline(transaction=False) as pipe:
            for i in range(3000):
                pipe.incr("n")
            self.assertEqual(pipe.execute()[-1], 3000)
        self.assertEqual(client.execute_command("WAITAOF", 1, 0, 0), [1, 0])

    def test_redis_reads_the_log_and_agrees(self):
        client = self.serve(policy="no")
        source = random.Random()
        for i in range(2000):
            key = f"k{source.randrange(50)}"
            command = source.choice([
                ("SET", "s" + key, i, "EX", 1000), ("ZADD", "z" + key, i, f"m{i % 40}"),
                ("ZADD", "z" + key, 1, "m", "INCR", "EX", 500), ("SPOP", "t" + key),
                ("SADD", "t" + key, i, i + 1), ("INCRBYFLOAT", "f" + key, "0.1"),
                ("HSET", "h" + key, i % 9, i), ("RPUSH", "l" + key, i), ("LPOP", "l" + key),
                ("GEOADD", "g" + key, "13.4", "52.5", f"m{i}"), ("EVAL", "return redis.call('incr', KEYS[1])", 1, "n"),
                ("DEL", "z" + key), ("EXPIRE", "h" + key, 300), ("GETEX", "s" + key, "PERSIST")])
            client.execute_command(*command)
            if i == 1000:
                client.bgrewriteaof()
        self.assertTrue(eventually(lambda: not client.info("persistence")["aof_rewrite_in_progress"]))
        client.set("last", "1")
        values = values_of(client)
        digest = client.execute_command("DEBUG", "DIGEST")
        self.assertIsNone(self.server.stop())
        manifest = self.log / "appendonly.aof.manifest"
        check = subprocess.run(["redis-check-aof", str(manifest)], capture_output=True, text=True)
        self.assertEqual(check.returncode, 0, check.stdout + check.stderr)
        other = ServerProcess("redis-server", "--dir", str(self.folder), "--appendonly", "yes")
        self.addCleanup(other.stop)
        theirs = redis.Redis(port=other.port)
        self.assertTrue(eventually(lambda: not theirs.info("persistence")["loading"]))
        self.assertEqual(values_of(theirs), values)
        self.assertEqual(theirs.execute_command("DEBUG", "DIGEST"), digest)
        theirs.zadd("theirs", {"a": 1})
        theirs.execute_command("SET", "k", "v", "PX", 10**6)
        digest = theirs.execute_command("DEBUG", "DIGEST")
        self.assertIsNone(other.stop())
        self.assertEqual(self.serve().execute_command("DEBUG", "DIGEST"), digest)

    def test_a_start_removes_files_that_a_rewrite_has_replaced(self):
        """A directory cannot be removed like a file, so the manifest keeps the name of the file."""
        for program in PROGRAM, "redis-server":
            with self.subTest(program=program):
                client = self.serve()
                client.flushall()
                client.set("k", 1)
                manifest = self.log / "appendonly.aof.manifest"
                old_base = next(self.log.glob("*.base.rdb"))
                contents = old_base.read_bytes()
                old_base.unlink()
                old_base.mkdir()
                client.bgrewriteaof()
                self.assertTrue(eventually(
                    lambda: not client.info("persistence")["aof_rewrite_in_progress"]))
                client.incr("k")
                digest = client.execute_command("DEBUG", "DIGEST")
                self.assertEqual(client.info("persistence")["aof_last_bgrewrite_status"], "ok")
                self.assertIsNone(self.server.stop())
                self.assertIn(f"file {old_base.name} seq", manifest.read_text())
                self.assertIn("type h", manifest.read_text())
                old_base.rmdir()
                old_base.write_bytes(contents)
                check = subprocess.run(["redis-check-aof", str(manifest)], capture_output=True, text=True)
                self.assertEqual(check.returncode, 0, check.stdout + check.stderr)

                other = ServerProcess(program, "--dir", str(self.folder), "--appendonly", "yes")
                self.addCleanup(other.stop)
                theirs = redis.Redis(port=other.port)
                self.addCleanup(theirs.close)
                self.assertTrue(eventually(lambda: not theirs.info("persistence")["loading"]))
                self.assertEqual(theirs.execute_command("DEBUG", "DIGEST"), digest)
                self.assertTrue(eventually(lambda: not old_base.exists()))
                self.assertNotIn("type h", manifest.read_text())
                self.assertEqual(len(list(self.log.iterdir())), 3)
                self.assertIsNone(other.stop())

    def test_deadlines_of_hash_fields_are_kept_in_either_form(self):
        """Redis 7.0 loads the log only in zsetd's private form."""
        for how in ("7.4", "7.0"):
            with self.subTest(how):
                client = self.serve("--propagation-compatibility", how)
                client.flushall()
                client.bgrewriteaof()
                self.assertTrue(eventually(
                    lambda: not client.info("persistence")["aof_rewrite_in_progress"]))
                client.hset("h", mapping={"a": 1, "b": 2})
                client.execute_command("HEXPIRE", "h", 1000, "FIELDS", 2, "a", "b")
                client.execute_command("HPERSIST", "h", "FIELDS", 1, "b")
                times = lambda client: client.execute_command("HPEXPIRETIME", "h", "FIELDS", 2, "a", "b")
                wanted = times(client)
                self.assertIsNone(self.server.stop())
                written = b"".join(path.read_bytes() for path in self.log.glob("*.incr.aof"))
                self.assertEqual(b"\0zsetd" in written, how == "7.0")
                other = subprocess.Popen(["redis-server", "--dir", str(self.folder), "--appendonly", "yes",
                                          "--port", "0", "--save", "", "--unixsocket",
                                          str(self.folder / "socket")], stdout=subprocess.PIPE)
                if how == "7.0":
                    theirs = redis.Redis(unix_socket_path=str(self.folder / "socket"))
                    loads = lambda: theirs.hgetall("h") == {b"a": b"1", b"b": b"2"}

                    def has_loaded():
                        with contextlib.suppress(redis.ConnectionError, redis.ResponseError):
                            return loads()
                        return False
                    self.assertTrue(eventually(has_loaded))
                    theirs.close()
                    other.terminate()
                output, _ = other.communicate(timeout=60)
                self.assertEqual(b"Unknown command 'HPEXPIREAT'" in output, how == "7.4")
                client = self.serve()
                self.assertEqual(times(client), wanted)
                self.assertIsNone(self.server.stop())

    def test_a_log_of_redis_loads_while_it_is_rewritten(self):
        other = ServerProcess("redis-server", "--dir", str(self.folder), "--appendonly", "yes")
        theirs = redis.Redis(port=other.port)
        for i in range(500):
            theirs.zadd("z", {f"m{i}": i})
            theirs.lpush("l", i)
            theirs.set(f"k{i}", i, ex=1000)
        theirs.execute_command("EVAL", "redis.call('set', 'x', 1); redis.call('set', 'y', 2)", 0)
        theirs.bgrewriteaof()
        self.assertTrue(eventually(lambda: not theirs.info("persistence")["aof_rewrite_in_progress"]))
        theirs.spop("none")
        theirs.zpopmin("z", 5)
        digest = theirs.execute_command("DEBUG", "DIGEST")
        other.kill()
        self.assertEqual(self.serve().execute_command("DEBUG", "DIGEST"), digest)

    def test_a_full_disk_refuses_writes_and_recovers(self):
        """Uses a file system of two megabytes, if this process may mount one."""
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "none", str(self.folder)],
                                 capture_output=True)
        if mounted.returncode != 0:
            self.skipTest("no file system can be mounted here")
        self.addCleanup(subprocess.run, ["umount", "-l", str(self.folder)])
        client = self.serve(policy="everysec")
        ballast = self.folder / "ballast"
        ballast.write_bytes(b"x" * (1 << 20))
        refused = None
        for i in range(400):
            try:
                client.set(f"k{i}", b"v" * 10000)
            except redis.ResponseError as error:
                refused = str(error)
                break
            time.sleep(0.001)
        else:
            refused = eventually(lambda: self.refusal_of(client))
        self.assertIn("MISCONF Errors writing to the AOF file: No space left on device", refused)
        ballast.unlink()
        self.assertTrue(eventually(lambda: not self.refusal_of(client)))
        digest = client.execute_command("DEBUG", "DIGEST")
        self.assertIsNone(self.server.stop())
        self.assertEqual(self.serve().execute_command("DEBUG", "DIGEST"), digest)

    @staticmethod
    def refusal_of(client):
        try:
            client.set("probe", 1)
            return None
        except redis.ResponseError as error:
            return str(error)
