"""Failovers by redis-sentinel: it discovers, monitors, promotes and reconfigures zsetd like
redis-server, also in groups that contain both."""

import itertools
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import threading

import redis

from sentinels import NAME, SentinelTest
from servers import PATIENCE_S, REDIS, ZSETD

KILLS = int(os.environ.get("KILLS", "3"))  # of masters, in each test
PROCEDURE = pathlib.Path(__file__).resolve().parents[2] / "conf/examples/planned-failover"
WRITES = 60  # acknowledged writes between two kills


class Failovers(SentinelTest):
    def write(self, port, first, acknowledged):
        """Writes until the server ends. A write is acknowledged if WAIT reports that a replica has
        it."""
        client = redis.Redis(port=port, socket_timeout=2)
        try:
            for number in itertools.count(first):
                client.zadd("written", {f"m{number}": number})
                if client.wait(1, 1000) >= 1:
                    acknowledged.append(number)
        except (redis.ConnectionError, redis.TimeoutError, redis.ResponseError):
            pass
        finally:
            client.close()

    def kill_under_load(self, master, acknowledged):
        first = acknowledged[-1] + 1000 if acknowledged else 0
        before = len(acknowledged)
        writer = threading.Thread(target=self.write, args=(master.port, first, acknowledged))
        writer.start()
        self.await_that(lambda: len(acknowledged) >= before + WRITES, self.report)
        master.kill()
        writer.join()

    def kill_at_rest(self, master, replicas):
        """Kills the master when all replicas have the same data, so each needs only later
        changes."""
        master.client.zadd("written", {"rest": 0})
        self.assertEqual(master.client.wait(replicas, 1000 * PATIENCE_S), replicas)
        master.kill()

    def check_failovers(self, *programs):
        self.start_group(*programs)
        acknowledged = []
        for number in range(KILLS):
            master = self.master()
            syncs = {port: server.info("stats")["sync_full"] for port, server in self.servers.items()}
            at_rest = number % 2 == 1
            if at_rest:
                self.kill_at_rest(master, len(programs) - 1)
            else:
                self.kill_under_load(master, acknowledged)
            promoted = self.await_failover(master)
            kept = {int(score) for _, score in promoted.client.zrange("written", 0, -1,
                                                                     withscores=True)}
            self.assertEqual(set(acknowledged) - kept, set(), "acknowledged, and lost")
            for server in self.servers.values():
                if server.port not in (promoted.port, master.port):
                    self.await_that(lambda each=server: each.is_linked() and each.info()[
                        "master_port"] == promoted.port, self.report)
            if at_rest:
                self.assertEqual(promoted.info("stats")["sync_full"], syncs[promoted.port])
            back = self.replace(master)
            self.await_that(lambda: back.info()["role"] == "slave" and back.is_linked(),
                            self.report)
            for server in self.servers.values():
                if server.port != promoted.port:
                    self.assert_same(promoted, server)
            self.await_all_known(len(programs) - 1)

    def test_servers_of_one_kind(self):
        self.check_failovers(ZSETD, ZSETD, ZSETD)

    def test_a_mixed_group(self):
        self.check_failovers(ZSETD, REDIS, ZSETD)


class PlannedFailovers(SentinelTest):
    """Runs SENTINEL FAILOVER under load, with a master that keeps running. Both masters accept
    writes for some seconds."""

    def setUp(self):
        self.start_group(ZSETD, ZSETD, ZSETD)
        for sentinel in self.sentinels:
            sentinel.ask("SET", NAME, "down-after-milliseconds", 20_000)
        self.acknowledged = []
        self.stops = False

    def write(self, port, replicas):
        """Writes until the server is no longer a master. A write counts if this many replicas have
        it."""
        client = redis.Redis(port=port, socket_timeout=PATIENCE_S)
        try:
            for number in itertools.count():
                client.zadd("written", {f"m{number}": number})
                if replicas == 0 or client.wait(replicas, 100) >= replicas:
                    self.acknowledged.append(number)
                if self.stops:
                    return
        except (redis.ConnectionError, redis.ReadOnlyError):
            pass
        finally:
            client.close()

    def check_no_write_is_lost(self, fail_over, replicas):
        old = self.master()
        writer = threading.Thread(target=self.write, args=(old.port, replicas))
        writer.start()
        try:
            self.await_that(lambda: len(self.acknowledged) >= WRITES, self.report)
            fail_over()
            new = self.await_failover(old)
            self.await_that(lambda: old.info()["role"] == "slave", self.report, patience_s=60)
        finally:
            self.stops = True
            writer.join()
        kept = {int(score) for _, score in new.client.zrange("written", 0, -1, withscores=True)}
        self.assertEqual(set(self.acknowledged) - kept, set(), "acknowledged, and lost")
        self.await_that(old.is_linked, self.report, patience_s=60)
        self.assert_same(new, old)

    def test_the_procedure_loses_no_write(self):
        sentinel = self.sentinels[0].process
        words = [PROCEDURE, "127.0.0.1", str(sentinel.port), NAME]
        self.check_no_write_is_lost(lambda: subprocess.run(words, check=True), replicas=0)

    def test_the_procedure_changes_nothing_if_a_replica_lags(self):
        old = self.master()
        lagging = next(server for server in self.servers.values() if server is not old)
        lagging.process.send_signal(signal.SIGSTOP)
        try:
            old.client.set("a", "1")
            words = [PROCEDURE, "127.0.0.1", str(self.sentinels[0].process.port), NAME]
            result = subprocess.run(words, capture_output=True, text=True)
        finally:
            lagging.process.send_signal(signal.SIGCONT)
        self.assertEqual(result.returncode, 1)
        self.assertIn("the replicas do not catch up\nplanned-failover: nothing has changed", result.stderr)
        self.assertTrue(old.client.set("b", "2"))
        self.assertIs(self.master(), old)

    def test_the_procedure_keeps_its_pause_if_sentinel_may_have_begun(self):
        old = self.master()
        with tempfile.TemporaryDirectory() as folder:
            stub = pathlib.Path(folder, "redis-cli")
            stub.write_text('#!/bin/sh\ncase "$*" in *"SENTINEL FAILOVER"*) exit 1 ;; esac\n'
                            f'exec {shutil.which("redis-cli")} "$@"\n', encoding="ascii")
            stub.chmod(0o755)
            words = [PROCEDURE, "127.0.0.1", str(self.sentinels[0].process.port), NAME]
            result = subprocess.run(words, capture_output=True, text=True, check=False,
                                    env={**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"})
        self.assertEqual(result.returncode, 1)
        self.assertIn("Sentinel may have begun the failover", result.stderr)
        self.assertNotIn("nothing has changed", result.stderr)
        writer = redis.Redis(port=old.port, socket_timeout=1)
        with self.assertRaises(redis.TimeoutError):
            writer.set("b", "2")
        old.client.execute_command("CLIENT", "UNPAUSE")

    def test_writes_that_all_replicas_have_survive(self):
        """The new master acknowledges nothing to the old one any more, so WAIT does not count
        it."""
        self.check_no_write_is_lost(lambda: self.sentinels[0].ask("FAILOVER", NAME), replicas=2)


class Reconfiguration(SentinelTest):
    def test_roles_are_exchanged_on_demand(self):
        self.start_group(ZSETD, ZSETD)
        old = self.master()
        old.client.set("a", "1")
        self.assertEqual(old.client.wait(1, PATIENCE_S * 1000), 1)
        self.sentinels[0].ask("FAILOVER", "group")
        new = self.await_failover(old)
        self.await_that(lambda: old.info()["role"] == "slave" and old.is_linked(), old.log)
        new.client.set("b", "2")
        self.assert_same(new, old)
        self.assertEqual(old.client.get("a"), b"1")

    def test_a_replica_with_priority_0_is_not_promoted(self):
        self.start_group(ZSETD, ZSETD, ZSETD)
        old = self.master()
        never, other = [server for server in self.servers.values() if server is not old]
        never.client.config_set("replica-priority", "0")
        for sentinel in self.sentinels:
            self.await_that(lambda each=sentinel: self.knows_priority_0(each), sentinel.state())
        old.kill()
        self.assertEqual(self.await_failover(old).port, other.port)

    @staticmethod
    def knows_priority_0(sentinel):
        for replica in sentinel.replicas():
            words = [word if isinstance(word, bytes) else str(word).encode() for word in
                     (sum(replica.items(), ()) if isinstance(replica, dict) else replica)]
            if words[words.index(b"slave-priority") + 1] == b"0":
                return True
        return False
