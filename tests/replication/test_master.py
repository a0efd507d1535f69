"""zsetd as the master of redis-server, and of tools that use the replication protocol."""

import os
import pathlib
import random
import signal
import socket
import subprocess
import tempfile
import threading
import time

import redis

from peer import Peer, request
from servers import REDIS, ZSETD, Load, ReplicationTest


class Master(ReplicationTest):
    replica_program = REDIS

    def replica_of(self, master, *options):
        replica = self.start(self.replica_program, *options)
        replica.follow(master.port)
        return replica

    def check_full_sync(self, *options):
        master = self.start(ZSETD, *options)
        Load(1).run(master, 3000)
        replica = self.replica_of(master)
        self.await_link(replica)
        Load(2).run(master, 1000)
        self.assert_same(master, replica)
        self.assertEqual(master.info("stats")["sync_full"], 1)

    def test_full_sync_by_stream(self):
        self.check_full_sync("--repl-diskless-sync", "yes")

    def test_full_sync_by_file(self):
        self.check_full_sync("--repl-diskless-sync", "no")

    def test_config_resetstat_restarts_the_counts_of_synchronizations(self):
        master = self.start(ZSETD)
        replica = self.replica_of(master)
        self.await_link(replica)
        counted = master.info("stats")
        self.assertEqual(counted["sync_full"], 1)
        master.client.config_resetstat()
        counted = master.info("stats")
        for name in ("sync_full", "sync_partial_ok", "sync_partial_err"):
            self.assertEqual(counted[name], 0, name)
        master.client.execute_command("CLIENT", "KILL", "TYPE", "replica")
        self.await_that(lambda: master.info("stats")["sync_partial_ok"] == 1, "no partial sync")
        master.client.config_resetstat()
        self.assertEqual(master.info("stats")["sync_partial_ok"], 0)

    def test_writes_during_the_snapshot_follow(self):
        master = self.start(ZSETD)
        Load(1).run(master, 10000)
        ended = threading.Event()

        runs = []

        def write():
            while not ended.is_set():
                Load(len(runs)).run(master, 300)
                runs.append(None)

        writer = threading.Thread(target=write)
        writer.start()
        try:
            replicas = [self.replica_of(master) for _ in range(2)]
            for replica in replicas:
                self.await_link(replica)
            before = len(runs)
            self.await_that(lambda: len(runs) > before + 3, "no more is written")
        finally:
            ended.set()
            writer.join()
        for replica in replicas:
            self.assert_same(master, replica)

    def test_partial_sync_after_a_lost_link(self):
        master = self.start(ZSETD)
        Load(1).run(master, 1000)
        replica = self.replica_of(master)
        self.await_link(replica)
        for seed in range(5):
            master.client.execute_command("CLIENT", "KILL", "TYPE", "replica")
            Load(seed).run(master, 300)
            self.assert_same(master, replica)
        stats = master.info("stats")
        self.assertEqual(stats["sync_full"], 1)
        self.assertGreaterEqual(stats["sync_partial_ok"], 1)

    def test_full_sync_if_the_backlog_is_too_short(self):
        master = self.start(ZSETD, "--repl-backlog-size", "100kb")
        replica = self.replica_of(master)
        self.await_link(replica)
        replica.client.execute_command("REPLICAOF", "NO", "ONE")
        self.await_that(lambda: master.info()["connected_slaves"] == 0, "it stays")
        master.client.set("long", "x" * 300000)
        replica.follow(master.port)
        self.await_link(replica)
        self.assert_same(master, replica)
        stats = master.info("stats")
        self.assertEqual(stats["sync_full"], 2)
        self.assertGreaterEqual(stats["sync_partial_err"], 1)

    def test_messages_reach_subscribers_of_the_replica(self):
        master = self.start(ZSETD)
        replica = self.replica_of(master)
        self.await_link(replica)
        listener = replica.client.pubsub()
        listener.subscribe("news")
        self.assertEqual(listener.get_message(timeout=10)["type"], "subscribe")
        master.client.publish("news", "hello")
        self.assertEqual(listener.get_message(timeout=10)["data"], b"hello")
        listener.close()

    def test_expired_keys_are_deleted_by_the_master(self):
        master = self.start(ZSETD)
        replica = self.replica_of(master)
        self.await_link(replica)
        for i in range(100):
            master.client.set(f"k{i}", "v", px=50)
        self.await_that(lambda: master.client.dbsize() == 0, "keys stay")
        self.await_that(lambda: replica.client.dbsize() == 0, "keys stay on the replica")

    def test_wait_counts_replicas_that_have_acknowledged(self):
        master = self.start(ZSETD)
        self.assertEqual(master.client.wait(1, 50), 0)
        replicas = [self.replica_of(master) for _ in range(2)]
        for replica in replicas:
            self.await_link(replica)
        master.client.set("k", "v")
        self.assertEqual(master.client.wait(2, 10000), 2)
        for replica in replicas:
            self.assertEqual(replica.client.get("k"), b"v")
        replicas[0].kill()
        master.client.set("k", "w")
        self.assertEqual(master.client.wait(2, 300), 1)

    def test_writes_are_refused_without_replicas(self):
        master = self.start(ZSETD, "--min-replicas-to-write", "1")
        with self.assertRaisesRegex(redis.ResponseError, "NOREPLICAS"):
            master.client.set("k", "v")
        with self.assertRaisesRegex(redis.ResponseError, "NOREPLICAS"):
            master.client.eval("return redis.call('set', 'k', 'v')", 0)
        replica = self.replica_of(master)
        self.await_link(replica)
        self.await_that(lambda: master.info()["min_slaves_good_slaves"] == 1, "it is not good")
        master.client.set("k", "v")
        self.assert_same(master, replica)

    def test_a_replica_counts_as_soon_as_it_is_online(self):
        master = self.start(ZSETD)
        self.replica_of(master)
        self.await_that(lambda: master.info().get("slave0", {}).get("state") == "online", master.log)
        master.client.config_set("min-replicas-to-write", 1)
        self.assertTrue(master.client.set("k", "v"))
        self.assertEqual(master.client.eval("return redis.call('incr', 'n')", 0), 1)

    def test_a_replica_that_is_silent_does_not_count(self):
        master = self.start(ZSETD, "--min-replicas-to-write", "1", "--min-replicas-max-lag", "1")
        replica = self.replica_of(master)
        self.await_link(replica)
        accepts = lambda: self.accepts_writes(master)
        self.await_that(accepts, "it is not good")
        replica.process.send_signal(signal.SIGSTOP)
        try:
            self.await_that(lambda: not accepts(), "it stays good")
        finally:
            replica.process.send_signal(signal.SIGCONT)
        self.await_that(accepts, "it does not become good again")
        master.client.client_kill_filter(_type="slave")
        self.await_that(accepts, "it does not become good after it has left")

    @staticmethod
    def accepts_writes(server):
        try:
            return server.client.set("k", "v")
        except redis.ResponseError:
            return False

    def test_reports_about_a_replica(self):
        master = self.start(ZSETD)
        replica = self.replica_of(master)
        self.await_link(replica)
        master.client.set("k", "v")
        self.assertEqual(master.client.wait(1, 10000), 1)
        info = master.info()
        self.assertEqual((info["role"], info["connected_slaves"]), ("master", 1))
        self.assertEqual(info["slave0"]["ip"], "127.0.0.1")
        self.assertEqual(info["slave0"]["port"], replica.port)
        self.assertEqual(info["slave0"]["state"], "online")
        role = master.client.execute_command("ROLE")
        self.assertEqual(role[0], b"master")
        self.assertEqual(role[2][0][:2], [b"127.0.0.1", str(replica.port).encode()])
        (line,) = master.client.client_list(_type="replica")
        self.assertEqual(line["flags"], "S")
        self.assertEqual(master.info()["master_replid"], replica.info()["master_replid"])

    def test_the_history_survives_a_restart(self):
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            options = ["--dir", folder, "--save", "3600 1"]
            master = self.start(ZSETD, *options)
            Load(1).run(master, 1000)
            replica = self.replica_of(master, "--repl-timeout", "60")
            self.await_link(replica)
            Load(2).run(master, 1000)
            self.assert_same(master, replica)
            self.assertIsNone(master.stop())
            master = self.start(ZSETD, *options)
            replica.client.replicaof("127.0.0.1", master.port)
            self.await_link(replica)
            Load(2).run(master, 1000)
            self.assert_same(master, replica)
            stats = master.info("stats")
            self.assertEqual((stats["sync_full"], stats["sync_partial_ok"]), (0, 1),
                             replica.log()[-3000:] + master.log()[-2000:] + str(master.info()))
            self.assertIsNone(master.stop())

    def test_the_configuration_file_names_the_master(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "server.conf")
            path.write_text("maxmemory 100mb\n")
            master, server = self.start(ZSETD), self.start(ZSETD, config=str(path))
            server.follow(master.port)
            server.client.config_rewrite()
            self.assertIn(f"\nreplicaof 127.0.0.1 {master.port}\n", path.read_text())
            server.client.execute_command("REPLICAOF", "NO", "ONE")
            server.client.config_rewrite()
            self.assertNotIn("replicaof 127", path.read_text())

    def test_failover_exchanges_roles(self):
        master = self.start(ZSETD)
        replica = self.replica_of(master)
        self.await_link(replica)
        Load(2).run(master, 1000)
        master.client.execute_command("FAILOVER")
        self.await_that(lambda: replica.info()["role"] == "master", lambda: f"{replica.info()}\n{master.log()}")
        self.await_link(master)
        replica.client.set("k", "after")
        self.await_that(lambda: master.client.get("k") == b"after", "no stream")
        self.await_that(lambda: master.info()["master_failover_state"] == "no-failover", master.info())
        self.assertEqual(replica.info("stats")["sync_full"], 0)

    def test_payloads_of_members_reach_replicas_of_zsetd_alone(self):
        if not os.environ["ZSETD"].endswith("zsetd"):
            self.skipTest("redis-server has no payloads")
        master = self.start(ZSETD)
        master.client.zadd("z", {f"m{i}": i for i in range(3000)})
        for i in range(0, 3000, 2):
            master.client.execute_command("ZSETDATA", "z", f"m{i}", f"data {i}")
        master.client.zadd("small", {"a": 1})
        master.client.execute_command("ZSETDATA", "small", "a", "in the snapshot")
        stock, own = self.replica_of(master), self.start(ZSETD)
        own.follow(master.port)
        for replica in (stock, own):
            self.await_link(replica)
        master.client.execute_command("ZPOPMIN", "z", 2, "WITHDATA")
        master.client.execute_command("ZSETDATA", "z", "m3", "in the stream")
        master.client.execute_command("ZMOVEBYSCORE", "z", "small", 5, 9, "COUNT", 2, "SCORE", 7)
        master.client.zadd("z", {"m4": 10000})
        for replica in (stock, own):
            self.assert_same(master, replica)
        asked = ("ZGETDATA", "z", "m2", "m3", "m4", "m7", "m2998"), ("ZGETDATA", "small", "a", "m5", "m6")
        for words in asked:
            self.assertEqual(own.client.execute_command(*words), master.client.execute_command(*words))
        self.assertEqual(own.client.execute_command(*asked[1]), [b"in the snapshot", None, b"data 6"])

    def test_scores_with_a_form_are_exact_on_zsetd_and_rounded_on_redis(self):
        if not os.environ["ZSETD"].endswith("zsetd"):
            self.skipTest("redis-server has no forms of scores")
        master = self.start(ZSETD)
        ask = master.client.execute_command
        ask("ZADD", "large", "FORM", "INT64", *(word for i in range(2000) for word in (2**53 + i, f"m{i}")))
        ask("ZADD", "game", "FORM", "TUPLE", 32, "32:DESC", "END", "4000000000/3", "a", "4000000000/2", "b")
        ask("ZADD", "hot", "FORM", "HALFLIFE", 60, *(word for i in range(2000) for word in (i, f"m{i}")))
        stock, own = self.replica_of(master), self.start(ZSETD)
        own.follow(master.port)
        for replica in (stock, own):
            self.await_link(replica)
        for amount in 1e6, 0.001, 2e6:
            ask("ZINCRBY", "hot", amount, "m7")
        ask("ZINCRBY", "cold", 3, "a", "FORM", "HALFLIFE", 1)
        ask("ZREMRANGEBYSCORE", "hot", 0, 3)
        ask("ZADD", "large", 2**62 + 1, "m1")
        ask("ZINCRBY", "large", 2, "m1")
        ask("ZPOPMIN", "large", 3)
        ask("ZREMRANGEBYRANK", "large", 1, 2)
        ask("ZMOVEBYSCORE", "large", "moved", "-inf", "+inf", "COUNT", 2)
        ask("ZRANGESTORE", "stored", "game", 0, -1)
        for replica in (stock, own):
            self.assert_same(master, replica)
        for key in "large", "moved", "game", "stored":
            self.assertEqual(own.client.execute_command("ZFORM", key), ask("ZFORM", key))
            words = ("ZRANGE", key, 0, -1, "WITHSCORES")
            pairs = ask(*words)
            self.assertEqual(own.client.execute_command(*words), pairs)
        for key in "hot", "cold":
            self.assertEqual(own.client.dump(key), master.client.dump(key))
            self.assertEqual(stock.client.zrange(key, 0, -1), master.client.zrange(key, 0, -1))
        self.assertEqual(ask("ZRANGE", "large", -1, -1), [b"m1"])
        self.assertEqual(stock.client.zscore("large", "m1"), float(2**62))

    def test_long_removals_of_rounded_scores_leave_the_same_elements(self):
        if not os.environ["ZSETD"].endswith("zsetd"):
            self.skipTest("redis-server has no forms of scores")
        master = self.start(ZSETD)
        ask = master.client.execute_command
        stock, own = self.replica_of(master), self.start(ZSETD)
        own.follow(master.port)
        for replica in (stock, own):
            self.await_link(replica)
        source = random.Random(seed := random.randrange(10**9))
        forms = {"i": ("INT64",), "t": ("TUPLE", 60, "4:DESC", "END")}
        for turn in range(12):
            for key, form in forms.items():
                ask("DEL", key)
                numbers = [2**53 + source.randrange(2 ** source.randrange(11, 16)) for _ in range(4000)]
                scores = [f"{number}/{number % 16}" if key == "t" else number for number in numbers]
                members = source.sample(range(10**6), len(scores))
                ask("ZADD", key, "FORM", *form, *(word for pair in zip(scores, members) for word in pair))
                first = source.randrange(500)
                ask(*source.choice([
                    ("ZREMRANGEBYRANK", key, first, first + source.randrange(1025, 3000)),
                    ("ZPOPMIN", key, 1025 + first), ("ZPOPMAX", key, 1025 + first),
                    ("ZADD", key, "MAXLEN", 1000 + first, scores[0], "new"),
                    ("ZPOPBYSCORE", key, scores[first], "+inf", "COUNT", 2000, "REV")]))
            for replica in (stock, own):
                with self.subTest(seed=seed, turn=turn):
                    self.assert_same(master, replica)

    def test_deadlines_of_hash_fields_reach_replicas(self):
        if not os.environ["ZSETD"].endswith("zsetd"):
            self.skipTest("redis-server 7.0 has no HEXPIRE")
        for how in ("7.4", "7.0"):
            with self.subTest(how):
                master = self.start(ZSETD, "--propagation-compatibility", how)
                zsetd = self.start(ZSETD, "--replicaof", f"127.0.0.1 {master.port}")
                old = self.start(REDIS, "--replicaof", f"127.0.0.1 {master.port}")
                for replica in (zsetd, old):
                    self.await_link(replica)
                client = master.client
                client.hset("h", mapping={"a": 1, "b": 2, "c": 3})
                client.execute_command("HEXPIRE", "h", 1000, "FIELDS", 2, "a", "b")
                client.execute_command("HPERSIST", "h", "FIELDS", 1, "b")
                client.execute_command("HPEXPIRE", "h", 1, "FIELDS", 1, "c")
                self.await_that(lambda: client.hlen("h") == 2, "it does not expire")
                for replica in (zsetd, old):
                    self.await_that(lambda: replica.client.hgetall("h") == {b"a": b"1", b"b": b"2"}
                                    and replica.info()["master_repl_offset"] ==
                                    master.info()["master_repl_offset"], replica.log)
                    self.assertTrue(replica.is_linked())
                times = lambda server: server.client.execute_command(
                    "HPEXPIRETIME", "h", "FIELDS", 2, "a", "b")
                self.assertEqual(times(zsetd), times(master))
                self.assertEqual("unknown command" in old.log().lower(), how == "7.4")
                self.assertEqual(master.client.info("stats")["sync_full"], 2)

    def test_failover_takes_its_options_in_any_order(self):
        master, replica = self.start(ZSETD), None
        for order in (("TO", "TIMEOUT", "FORCE"), ("TIMEOUT", "FORCE", "TO"),
                      ("FORCE", "TO", "TIMEOUT"), ("TO", "FORCE", "TIMEOUT")):
            with self.subTest(order=order):
                replica = replica or self.replica_of(master)
                self.await_link(replica)
                self.await_that(lambda: master.info().get("slave0", {}).get("state") == "online",
                                master.info)
                values = {"TO": ("TO", "127.0.0.1", replica.port), "TIMEOUT": ("TIMEOUT", 60_000),
                          "FORCE": ("FORCE",)}
                master.client.execute_command("FAILOVER",
                                              *(word for name in order for word in values[name]))
                self.await_that(lambda: replica.info()["role"] == "master", replica.info())
                self.await_link(master)
                self.await_that(lambda: master.info()["master_failover_state"] == "no-failover",
                                master.info)
                master, replica = replica, master

    def test_failover_is_refused_without_replicas(self):
        master = self.start(ZSETD)
        with self.assertRaisesRegex(redis.ResponseError, "requires connected replicas"):
            master.client.execute_command("FAILOVER")
        with self.assertRaisesRegex(redis.ResponseError, "No failover in progress"):
            master.client.execute_command("FAILOVER", "ABORT")

    def test_a_pause_of_clients_does_not_pause_replicas(self):
        master = self.start(ZSETD, "--repl-timeout", "2")
        replica = self.replica_of(master)
        self.await_link(replica)
        master.client.client_pause(4000)
        time.sleep(3.5)
        self.await_that(lambda: master.info()["connected_slaves"] == 1, "it was given up")
        self.assertTrue(replica.is_linked())
        self.assertEqual(master.info("stats")["sync_full"], 1)

    def test_a_replica_that_does_not_read_the_snapshot_is_disconnected(self):
        master = self.start(ZSETD, "--repl-timeout", "2", "--repl-diskless-sync", "yes")
        for i in range(60):
            master.client.set(f"k{i}", os.urandom(1 << 20))
        with socket.create_connection(("127.0.0.1", master.port)) as stuck:
            stuck.sendall(b"REPLCONF capa eof\r\n")
            self.assertEqual(stuck.recv(64), b"+OK\r\n")
            stuck.sendall(b"PSYNC ? -1\r\n")
            self.await_that(lambda: master.info()["connected_slaves"] == 1, "no replica")
            self.await_that(lambda: master.info()["connected_slaves"] == 0, "it is kept")
        self.await_that(lambda: not master.info("persistence")["rdb_bgsave_in_progress"], "it goes on")

    def test_writes_acknowledged_before_the_end_are_on_the_replica(self):
        master = self.start(ZSETD)
        replica = self.replica_of(master)
        self.await_link(replica)
        for number in range(200):
            master.client.set("k", number)
        self.assertIsNone(master.stop())
        self.await_that(lambda: replica.client.get("k") == b"199", "it was lost")


class MasterOfItsOwn(Master):
    """Repeats the tests with zsetd replicas."""

    replica_program = ZSETD

    def test_a_chain_of_replicas(self):
        first = self.start(ZSETD)
        Load(1).run(first, 1000)
        second = self.replica_of(first)
        self.await_link(second)
        third = self.replica_of(second)
        self.await_link(third)
        Load(2).run(first, 1000)
        self.assert_same(first, second)
        self.assert_same(second, third)
        second.client.replicaof("NO", "ONE")
        self.await_link(third)
        Load(2).run(second, 1000)
        self.assert_same(second, third)
        fourth = self.replica_of(third)  # the stream that it forwards has a selected database
        self.await_link(fourth)
        Load(3).run(second, 300)
        self.assert_same(third, fourth)
        self.assertEqual(second.info("stats")["sync_full"], 1, second.log()[-3000:] + third.log()[-3000:])


class Histories(ReplicationTest):
    def run_transaction(self, server, *requests):
        """Runs these requests, each given as text, in a transaction. Returns the reply of EXEC."""
        requests = [("MULTI",), *(each.split() for each in requests), ("EXEC",)]
        peer = Peer(server.port)
        peer.socket.sendall(b"".join(request(*words) for words in requests))
        replies = [peer.reply() for _ in requests]
        peer.close()
        return replies[-1]

    def test_a_promotion_within_a_transaction_reaches_replicas_as_a_whole(self):
        """Before it, a writable replica writes to a database that the stream has not selected."""
        for log in "no", "yes":
            with self.subTest(log=log):
                first = self.start(ZSETD)
                first.client.set("a", "1")
                second = self.start(ZSETD, "--replica-read-only", "no", "--appendonly", log)
                second.follow(first.port)
                self.await_link(second)
                third = self.start(ZSETD)
                third.follow(second.port)
                self.await_link(third)
                self.run_transaction(second, "SELECT 3", "REPLICAOF NO ONE", "SET b 1", "INCR n")
                self.await_link(third)
                self.assert_same(second, third)
                second.follow(first.port)
                self.await_link(second)
                self.run_transaction(second, "SELECT 5", *(["SET b 2"] if log == "yes" else []),
                                     "REPLICAOF NO ONE", "INCR n")
                self.await_link(third)
                self.assert_same(second, third)

    def test_a_master_that_follows_within_a_transaction_has_the_data_of_its_master(self):
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            options = ["--dir", folder, "--appendonly", "yes", "--appendfsync", "always"]
            other = self.start(ZSETD)
            Load(1, expires=False).run(other, 300)
            master = self.start(ZSETD, *options)
            replica = self.start(ZSETD)
            replica.follow(master.port)
            self.await_link(replica)
            result = self.run_transaction(master, "INCR n", f"REPLICAOF 127.0.0.1 {other.port}",
                                          "ROLE", "INCR n")
            self.assertEqual((result[0], result[2][0], result[3]), (1, b"slave", 2))
            self.await_link(master)
            self.assert_same(other, master)
            self.await_link(replica)
            self.assert_same(master, replica)
            digest = other.digest()
            self.await_that(lambda: not master.info("persistence")["aof_rewrite_in_progress"],
                            "the log does not begin")
            master.kill()
            self.assertEqual(self.start(ZSETD, *options).digest(), digest)

    def test_a_master_at_the_end_of_a_transaction_stays_a_master(self):
        other, master = self.start(ZSETD), self.start(ZSETD)
        replica = self.start(REDIS)
        replica.follow(master.port)
        self.await_link(replica)
        self.run_transaction(master, "INCR n", f"REPLICAOF 127.0.0.1 {other.port}", "REPLICAOF NO ONE",
                             "INCR n")
        self.assertEqual(master.client.role()[0], b"master")
        self.assert_same(master, replica)
        self.assertEqual(replica.client.get("n"), b"2")
        self.assertEqual(master.info("stats")["sync_full"], 1)

    def test_a_replica_does_not_continue_from_before_a_flush_that_was_saved(self):
        for requests, kept in (
                ([("FLUSHALL",)], None),
                ([("MULTI",), ("INCR", "n"), ("FLUSHALL",), ("EXEC",)], None),
                ([("MULTI",), ("INCR", "n"), ("DEBUG", "RELOAD"), ("EXEC",)], b"2"),
                ([("MULTI",), ("FLUSHALL",), ("INCR", "n"), ("DEBUG", "RELOAD"), ("EXEC",)], b"1")):
            with self.subTest(requests=requests), \
                    tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
                options = ["--dir", folder, "--save", "3600 1000"]
                master = self.start(ZSETD, *options)
                proxy = self.proxy_to(master)
                replica = self.start(REDIS)
                replica.follow(proxy.port)
                self.await_link(replica)
                master.client.set("n", "1")
                self.assert_same(master, replica)
                proxy.stall()
                peer = Peer(master.port)
                peer.socket.sendall(b"".join(request(*words) for words in requests))
                for _ in requests:
                    peer.reply()
                peer.close()
                master.kill()
                proxy.cut()
                proxy.flow()
                master = self.start(ZSETD, *options, port=master.port)
                self.await_link(replica)
                master.client.set("after", "1")
                self.assert_same(master, replica)
                self.assertEqual(replica.client.get("n"), kept)
                master.kill()  # its folder is deleted


class Tools(ReplicationTest):
    """redis-cli as a replica."""

    def cli(self, master, *options, timeout=30):
        return subprocess.run(["redis-cli", "-p", str(master.port), *options], timeout=timeout,
                              capture_output=True, text=True, check=True)

    def check_rdb(self, *options):
        master = self.start(ZSETD, *options)
        Load(1, expires=False).run(master, 3000)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "dump.rdb")
            self.cli(master, "--rdb", str(path))
            check = subprocess.run(["redis-check-rdb", str(path)], capture_output=True, text=True,
                                   check=False)
            self.assertEqual(check.returncode, 0, check.stdout)
            oracle = self.start(REDIS, "--dir", folder)
            self.assertEqual(oracle.digest(), master.digest())

    def test_rdb_by_stream(self):
        self.check_rdb("--repl-diskless-sync", "yes")

    def test_rdb_by_file(self):
        self.check_rdb("--repl-diskless-sync", "no")

    def test_functions_rdb(self):
        master = self.start(ZSETD)
        Load(1).run(master, 1000)
        master.client.function_load(
            "#!lua name=lib\nredis.register_function('f', function() return 1 end)")
        with tempfile.TemporaryDirectory() as folder:
            self.cli(master, "--functions-rdb", str(pathlib.Path(folder, "dump.rdb")))
            oracle = self.start(REDIS, "--dir", folder)
            self.assertEqual(oracle.client.dbsize(), 0)
            self.assertEqual(oracle.client.execute_command("FCALL", "f", 0), 1)

    def test_replica_shows_the_stream(self):
        master = self.start(ZSETD)
        with subprocess.Popen(["stdbuf", "-oL", "redis-cli", "-p", str(master.port), "--replica"],
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as run:
            try:
                self.await_that(lambda: master.info()["connected_slaves"] == 1, "no replica")
                self.await_that(lambda: master.info().get("slave0", {}).get("state") == "online",
                              master.info())
                master.client.set("k", "v")
                lines = []
                while len(lines) < 100 and '"k"' not in "".join(lines):
                    lines.append(run.stdout.readline())
                self.assertIn('"k"', "".join(lines).replace(",", ""))
            finally:
                run.kill()
