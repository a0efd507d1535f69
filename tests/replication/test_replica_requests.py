"""Requests of a client that is a replica: its output is the stream, which no reply may divide. The
tests in `Requests` also run on redis-server, to prove that they hold for it."""

import signal
import time

from peer import Peer
from scripted_replica import ScriptedReplica
from servers import ZSETD, ReplicationTest


class RequestTest(ReplicationTest):
    def setUp(self):
        self.master = self.start(ZSETD, "--repl-ping-replica-period", "1000")

    def scripted_replica(self, *psync, **more):
        replica = ScriptedReplica(self.master, *psync, **more)
        self.addCleanup(replica.close)
        return replica

    def assert_streams(self, replica):
        """Asserts that the stream continues with the next change."""
        self.master.client.set("k", "v")
        words = replica.next_request()
        if words[0] == b"SELECT":
            words = replica.next_request()
        self.assertEqual([words[0].upper(), *words[1:]], [b"SET", b"k", b"v"])


class Requests(RequestTest):
    def test_a_reply_closes_the_connection(self):
        for words in (("PING",), ("SUBSCRIBE", "k"), ("SSUBSCRIBE", "k"), ("GET", "k"), ("NIX",),
                      ("CLIENT", "TRACKING", "ON", "BCAST"), ("HELLO", 3), ("MULTI",),
                      ("REPLCONF", "capa", "eof"), ("CLIENT", "REPLY", "ON"), ("EVAL", "return 1", 0),
                      ("SRANDMEMBER", "k", -1_000_000), ("QUIT",), ("DEBUG", "SLEEP", 0)):
            with self.subTest(words):
                replica = self.scripted_replica()
                replica.peer.send(*words)
                self.assertEqual(replica.peer.rest(), b"")

    def test_commands_without_a_reply_have_no_effect_on_the_stream(self):
        replica = self.scripted_replica()
        for words in (("REPLCONF", "ACK", 0), ("REPLCONF", "GETACK", "*"), ("PSYNC", "?", -1),
                      ("MONITOR",)):
            with self.subTest(words):
                replica.peer.send(*words)
                replica.peer.socket.sendall(b"\n")
                self.assert_streams(replica)

    def test_words_after_the_offset_have_no_effect(self):
        self.assert_streams(self.scripted_replica("?", -1, "foo"))
        self.assert_streams(self.scripted_replica("?", -1, "foo", "failover"))


class Streams(RequestTest):
    def test_invalidations_that_are_redirected_to_a_replica_are_not_sent(self):
        replica = self.scripted_replica(protocol=3)
        (it,) = self.master.client.client_list(_type="replica")
        self.master.client.execute_command("CLIENT", "TRACKING", "ON", "BCAST", "REDIRECT", it["id"])
        for _ in range(2):
            self.assert_streams(replica)

    def test_a_replica_that_waits_for_its_own_replicas_does_not_change_the_stream(self):
        middle = self.start(ZSETD, "--replicaof", f"127.0.0.1 {self.master.port}")
        self.await_link(middle)
        last = self.start(ZSETD, "--replicaof", f"127.0.0.1 {middle.port}")
        self.await_link(last)
        self.assert_same(self.master, middle)
        last.process.send_signal(signal.SIGSTOP)
        try:
            self.master.client.set("k", "v")
            self.assert_same(self.master, middle)
            waiting = Peer(middle.port)
            self.addCleanup(waiting.close)
            waiting.send("SHUTDOWN")
            left = lambda: middle.info("server").get("shutdown_in_milliseconds")
            self.await_that(left, middle.log)
            time.sleep(0.1)
            self.assertEqual(middle.info()["master_repl_offset"],
                             self.master.info()["master_repl_offset"])
            middle.client.execute_command("SHUTDOWN", "ABORT")
        finally:
            last.process.send_signal(signal.SIGCONT)
        self.assert_same(middle, last)
