"""FAILOVER hands over as soon as a replica has acknowledged everything. The tests of its first class also
run on redis-server, to prove that they hold for it."""

import signal
import time

import redis

from peer import Peer
from scripted_replica import ScriptedReplica
from servers import REDIS, ZSETD, ReplicationTest


class FailoverTest(ReplicationTest):
    def scripted_replica(self, master):
        replica = ScriptedReplica(master)
        self.addCleanup(replica.close)
        return replica

    def state(self, master):
        return master.info()["master_failover_state"]

    def acknowledged(self, master):
        return master.info().get("slave0", {}).get("offset")

    def await_acknowledged(self, master):
        """Waits until the only replica has acknowledged the whole stream."""
        has_all = lambda: self.acknowledged(master) == master.info()["master_repl_offset"]
        self.await_that(has_all, lambda: str(master.info()))


class Failovers(FailoverTest):
    def test_a_replica_that_has_everything_is_asked_nothing(self):
        for program in (REDIS, ZSETD):
            with self.subTest(program):
                master = self.start(ZSETD, "--repl-ping-replica-period", "1000")
                replica = self.start(program, "--repl-ping-replica-period", "1000")
                replica.follow(master.port)
                self.await_link(replica)
                master.client.set("k", "v")
                self.await_acknowledged(master)
                offset = master.info()["master_repl_offset"]
                master.client.execute_command("FAILOVER")
                self.await_that(lambda: replica.info()["role"] == "master", replica.info)
                self.assertEqual(replica.info()["second_repl_offset"], offset + 1)
                self.await_link(master)

    def test_the_last_acknowledgement_ends_the_wait(self):
        """The server has a tick once a second, which the handover must not wait for."""
        took = []
        for _ in range(3):
            master = self.start(ZSETD, "--hz", "1", "--repl-ping-replica-period", "1000")
            replica = self.scripted_replica(master)
            self.await_acknowledged(master)
            master.client.set("k", "v")
            master.client.execute_command("FAILOVER")
            self.assertEqual(self.state(master), "waiting-for-sync")
            time.sleep(0.05)
            replica.offset = master.info()["master_repl_offset"]
            began = time.monotonic()
            replica.acknowledge()
            self.await_that(lambda: self.state(master) != "waiting-for-sync", "it waits")
            took.append(time.monotonic() - began)
        self.assertLess(sorted(took)[1], 0.05, took)

    def test_it_replies_to_a_wait_before_the_roles_change(self):
        master = self.start(ZSETD)
        replica = self.scripted_replica(master)
        self.await_acknowledged(master)
        writer = Peer(master.port)
        self.addCleanup(writer.close)
        writer.ask("SET", "k", "v")
        writer.send("WAIT", 1, 0)
        replica.read_until(b"REPLCONF")
        master.client.execute_command("FAILOVER")
        replica.offset = master.info()["master_repl_offset"]
        replica.acknowledge()
        self.assertEqual(writer.reply(), 1)

    def test_changes_of_its_transaction_reach_the_replica(self):
        for program in (REDIS, ZSETD):
            with self.subTest(program):
                master = self.start(ZSETD)
                replica = self.start(program)
                replica.follow(master.port)
                self.await_link(replica)
                self.await_acknowledged(master)
                peer = Peer(master.port)
                self.addCleanup(peer.close)
                for words in ("MULTI",), ("SET", "a", 1), ("FAILOVER",), ("SET", "b", 2):
                    peer.ask(*words)
                self.assertEqual(peer.ask("EXEC"), [b"OK"] * 3)
                self.await_that(lambda: replica.info()["role"] == "master", replica.info)
                self.assertEqual(replica.client.mget("a", "b"), [b"1", b"2"])
                self.await_link(master)
                self.assertEqual(replica.info("stats")["sync_full"], 0)

    def test_force_needs_a_target_and_a_timeout(self):
        master = self.start(ZSETD)
        self.scripted_replica(master)
        for words in ("FORCE",), ("TIMEOUT", 5, "FORCE"), ("TO", "127.0.0.1", 1, "FORCE"):
            with self.subTest(words), self.assertRaises(redis.ResponseError) as error:
                master.client.execute_command("FAILOVER", *words)
            self.assertEqual(str(error.exception), "FAILOVER with force option requires both a "
                                                   "timeout and target HOST and IP.")


class WaitingFailovers(FailoverTest):
    def test_it_rarely_asks_for_acknowledgements(self):
        """Each request has to be acknowledged, too, which redis-server does once a second."""
        master = self.start(ZSETD)
        replica = self.scripted_replica(master)
        self.await_acknowledged(master)
        master.client.set("k", "v")
        master.client.execute_command("FAILOVER")
        replica.read_until(b"REPLCONF")
        for _ in range(10):
            self.assertEqual(master.client.wait(1, 100), 0)
        self.assertEqual(master.info()["master_repl_offset"], replica.offset)
        replica.acknowledge()
        replica.peer.rest()

    def test_a_second_failover_does_not_wait_for_the_period_of_the_first(self):
        master, replica = self.start(ZSETD), self.start(ZSETD)
        replica.follow(master.port)
        for number in range(4):
            self.await_link(replica)
            master.client.set("k", number)
            master.client.execute_command("FAILOVER", "TIMEOUT", 700)
            self.await_that(lambda: replica.info()["role"] == "master", replica.info)
            master, replica = replica, master

    def test_replicas_receive_signs_of_life(self):
        master = self.start(ZSETD)
        others, target = [self.start(REDIS), self.start(ZSETD)], self.start(ZSETD)
        for replica in *others, target:
            replica.follow(master.port)
            self.await_link(replica)
        for server in master, *others:
            server.client.config_set("repl-timeout", 3)
        target.process.send_signal(signal.SIGSTOP)
        try:
            master.client.set("k", 1)
            master.client.execute_command("FAILOVER", "TO", "127.0.0.1", target.port)
            time.sleep(7)
            self.assertEqual(self.state(master), "waiting-for-sync")
            self.assertTrue(all(other.is_linked() for other in others))
            self.assertEqual(master.info("stats")["sync_partial_ok"], 0)
        finally:
            target.process.send_signal(signal.SIGCONT)
