"""A master that is asked to end waits until its replicas have acknowledged all changes. The tests
also run on redis-server, to prove that they hold for it."""

import contextlib
import pathlib
import signal
import tempfile
import time

import redis

from peer import Peer
from servers import REDIS, ZSETD, ReplicationTest

KEYS = 20_000
WAITS = "Waiting for replicas before shutting down."
FAILED = "ERR Errors trying to SHUTDOWN. Check logs."


class ShutdownTest(ReplicationTest):
    """A master with a replica that can be stopped."""

    def start_pair(self, *options, timeout_s=60, replica=ZSETD):
        self.master = self.start(ZSETD, "--shutdown-timeout", str(timeout_s), *options)
        self.replica = self.start(replica, "--replicaof", f"127.0.0.1 {self.master.port}")
        self.await_link(self.replica)
        self.await_online(self.master)

    def await_online(self, master):
        """Waits until the replica has acknowledged, so that no synchronization is in progress."""
        is_online = lambda: (master.info().get("slave0", {}).get("state") == "online"
                             and master.client.wait(1, 10) == 1)
        self.await_that(is_online, master.log)

    @contextlib.contextmanager
    def stopped_replica(self):
        """Stops the replica, which then receives and sends nothing, until the context ends."""
        self.replica.process.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self.replica.process.send_signal(signal.SIGCONT)

    def folder(self):
        """Returns a folder that outlives a server, for the server started after it."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        return folder.name

    def peer(self, server=None):
        peer = Peer((server or self.master).port)
        self.addCleanup(peer.close)
        return peer

    def write_much(self):
        pipeline = self.master.client.pipeline(transaction=False)
        for number in range(KEYS):
            pipeline.set(f"k{number}", "x" * 1000)
        self.assertTrue(all(pipeline.execute()))

    def await_wait(self):
        self.await_that(self.time_left, self.master.log)

    def time_left(self):
        return self.master.info("server").get("shutdown_in_milliseconds")

    def assert_waits(self, *peers):
        """Asserts that none of the peers has received anything. A PING of another client gets its
        reply."""
        self.master.client.ping()
        for peer in peers:
            peer.socket.setblocking(False)
            with self.assertRaises(BlockingIOError):
                peer.socket.recv(1)
            peer.socket.settimeout(20)

    def assert_ended(self):
        self.assertEqual(self.master.exit_code(), 0, self.master.log())


class Shutdown(ShutdownTest):
    def check_no_write_is_lost(self, ask):
        self.start_pair()
        with self.stopped_replica():
            self.write_much()
            ask()
            self.await_wait()
            self.assertIn(WAITS, self.master.log())
        self.assert_ended()
        self.assertIn("1 of 1 replicas are in sync when shutting down.", self.master.log())
        self.await_that(lambda: self.replica.client.dbsize() == KEYS,
                        lambda: f"{self.replica.client.dbsize()} of {KEYS} keys")

    def test_sigterm_waits_for_a_stopped_replica(self):
        self.check_no_write_is_lost(lambda: self.master.ask_to_leave())

    def test_sigint_waits_for_a_stopped_replica(self):
        self.check_no_write_is_lost(lambda: self.master.ask_to_leave(signal.SIGINT))

    def test_shutdown_waits_for_a_stopped_replica(self):
        self.check_no_write_is_lost(lambda: self.peer().send("SHUTDOWN"))

    def test_shutdown_nosave_waits_for_a_stopped_replica(self):
        self.check_no_write_is_lost(lambda: self.peer().send("SHUTDOWN", "NOSAVE", "FORCE"))

    def test_writes_wait_and_reads_do_not(self):
        self.start_pair()
        writer = self.peer()
        with self.stopped_replica():
            self.master.client.set("a", "1")
            self.master.ask_to_leave()
            self.await_wait()
            writer.send("SET", "b", "2")
            self.assertEqual(self.master.client.get("a"), b"1")
            self.master.client.client_unpause()
            self.assertIsNone(self.master.client.get("b"))
            self.assert_waits(writer)
        self.assertEqual(writer.rest(), b"")
        self.assert_ended()
        self.assertEqual(self.replica.client.get("a"), b"1")
        self.assertIsNone(self.replica.client.get("b"))

    def test_shutdown_timeout_limits_the_wait(self):
        self.start_pair(timeout_s=1)
        with self.stopped_replica():
            self.master.client.set("a", "1")
            start = time.monotonic()
            self.master.ask_to_leave()
            self.assert_ended()
        self.assertGreater(time.monotonic() - start, 0.9)
        self.assertRegex(self.master.log(), f"Lagging replica 127.0.0.1:{self.replica.port} "
                         r"reported offset \d+ behind master, lag=\d+, state=online\.")
        self.assertIn("0 of 1 replicas are in sync when shutting down.", self.master.log())

    def test_a_timeout_of_0_does_not_wait(self):
        self.start_pair(timeout_s=0)
        with self.stopped_replica():
            self.master.client.set("a", "1")
            self.master.ask_to_leave()
            self.assert_ended()
        self.assertNotIn(WAITS, self.master.log())
        self.assertIn("0 of 1 replicas are in sync when shutting down.", self.master.log())

    def test_now_does_not_wait(self):
        self.start_pair()
        with self.stopped_replica():
            self.master.client.set("a", "1")
            self.assertEqual(self.peer().ask_until_end("SHUTDOWN", "NOW"), b"")
            self.assert_ended()
        self.assertNotIn(WAITS, self.master.log())

    def test_abort_cancels_the_wait_and_clients_continue(self):
        self.start_pair()
        first, second, writer, other = (self.peer() for _ in range(4))
        with self.stopped_replica():
            self.master.client.set("a", "1")
            first.send("SHUTDOWN")
            self.await_wait()
            second.send("SHUTDOWN", "FORCE")
            writer.send("SET", "b", "2")
            self.assert_waits(first, second, writer)
            self.assertEqual(other.ask("SHUTDOWN", "ABORT"), b"OK")
            self.assertEqual(str(first.reply()), FAILED)
            self.assertEqual(str(second.reply()), FAILED)
            self.assertEqual(writer.reply(), b"OK")
            self.assertIsNone(self.time_left())
            self.assertIn("Shutdown manually aborted.", self.master.log())
            self.assertEqual(str(other.ask("SHUTDOWN", "ABORT")), "ERR No shutdown in progress.")
            errors = self.master.client.info("errorstats")["errorstat_ERR"]
            self.assertEqual(errors, "count=3")
        # redis-server 7.0.15 ends by an assertion if a client whose SHUTDOWN was aborted sends a
        # request.
        client = writer if ZSETD == REDIS else first
        self.assertEqual(client.ask("SET", "c", "3"), b"OK")
        self.assert_same(self.master, self.replica)

    def test_abort_cancels_a_signal(self):
        self.start_pair()
        with self.stopped_replica():
            self.master.client.set("a", "1")
            self.master.ask_to_leave()
            self.await_wait()
            self.assertTrue(self.master.client.execute_command("SHUTDOWN", "ABORT"))
            self.assertTrue(self.master.client.set("b", "2"))
        self.assert_same(self.master, self.replica)
        self.master.ask_to_leave()
        self.assert_ended()

    def test_a_client_that_waits_may_disconnect(self):
        self.start_pair()
        client = self.peer()
        with self.stopped_replica():
            self.master.client.set("a", "1")
            client.send("SHUTDOWN")
            self.await_wait()
            client.close()
            is_gone = lambda: "cmd=shutdown" not in str(
                self.master.client.execute_command("CLIENT LIST"))
            self.await_that(is_gone, self.master.log)
            self.assertTrue(self.time_left())
        self.assert_ended()

    def test_a_client_that_waits_is_blocked(self):
        self.start_pair()
        client = self.peer()
        number = client.ask("CLIENT", "ID")
        with self.stopped_replica():
            self.master.client.set("a", "1")
            client.send("SHUTDOWN")
            self.await_wait()
            self.assertEqual(self.master.client.info("clients")["blocked_clients"], 1)
            flags = {each["id"]: each["flags"] for each in self.master.client.client_list()}
            self.assertEqual(flags[str(number)], "b")
            self.assertEqual(self.master.client.client_kill_filter(_id=number), 1)
            self.assertEqual(client.rest(), b"")
            self.assertTrue(self.time_left())
        self.assert_ended()

    def test_sigterm_may_be_repeated(self):
        self.start_pair()
        with self.stopped_replica():
            self.master.client.set("a", "1")
            self.master.ask_to_leave()
            self.await_wait()
            self.master.ask_to_leave()
            for _ in range(20):
                self.assertTrue(self.time_left())
        self.assert_ended()
        self.assertIn("1 of 1 replicas are in sync when shutting down.", self.master.log())

    def test_a_second_sigint_ends_immediately(self):
        self.start_pair()
        with self.stopped_replica():
            self.master.client.set("a", "1")
            self.master.ask_to_leave(signal.SIGINT)
            self.await_wait()
            self.master.expected_exit_code = 1
            self.master.ask_to_leave(signal.SIGINT)
            self.assertEqual(self.master.exit_code(), 1)
        self.assertIn("You insist... exiting now.", self.master.log())

    def test_a_replica_that_disconnects_is_not_waited_for(self):
        self.start_pair()
        with self.stopped_replica():
            self.master.client.set("a", "1")
            self.master.ask_to_leave()
            self.await_wait()
            self.master.client.client_kill_filter(_type="slave")
            self.assert_ended()

    def test_a_replica_in_a_synchronization_is_waited_for(self):
        self.start_pair(timeout_s=3)
        self.master.client.set("a", "1")
        self.assertEqual(self.master.client.wait(1, 20_000), 1)
        late = self.peer()
        late.send("PSYNC", "?", "-1")
        self.await_that(lambda: self.master.info()["connected_slaves"] == 2, self.master.log)
        self.master.ask_to_leave()
        self.assert_ended()
        self.assertIn("1 of 2 replicas are in sync when shutting down.", self.master.log())

    def test_signals_have_options(self):
        for name, number in (("sigterm", signal.SIGTERM), ("sigint", signal.SIGINT)):
            with self.subTest(name):
                folder = self.folder()
                self.start_pair("--dir", folder, f"--shutdown-on-{name}", "save", "now")
                value = self.master.client.config_get(f"shutdown-on-{name}")
                self.assertEqual(value, {f"shutdown-on-{name}": "save now"})
                with self.stopped_replica():
                    self.master.client.set("a", "1")
                    self.master.ask_to_leave(number)
                    self.assert_ended()
                self.assertNotIn(WAITS, self.master.log())
                self.assertTrue(pathlib.Path(folder, "dump.rdb").exists())

    def test_a_signal_without_a_snapshot(self):
        folder = self.folder()
        self.start_pair("--dir", folder, "--save", "3600 1")
        self.master.client.set("a", "1")
        self.master.client.config_set("shutdown-on-sigterm", "nosave")
        self.master.ask_to_leave()
        self.assert_ended()
        self.assertFalse(pathlib.Path(folder, "dump.rdb").exists())

    def test_a_signal_with_force_ends_despite_errors(self):
        folder = self.folder()
        self.start_pair("--dir", folder, "--save", "3600 1")
        self.master.client.set("a", "1")
        self.master.client.config_set("shutdown-on-sigterm", "force")
        pathlib.Path(folder, "dump.rdb").mkdir()  # no file can replace it
        self.master.ask_to_leave()
        self.assert_ended()

    def test_settings_of_signals_are_checked(self):
        self.start_pair()
        refusals = {"save nosave": "shutdown options SAVE and NOSAVE can't be used simultaneously",
                    "soon": "argument(s) must be one of the following: "
                            "default, save, nosave, now, force"}
        for value, reason in refusals.items():
            with self.assertRaises(redis.ResponseError) as refusal:
                self.master.client.config_set("shutdown-on-sigint", value)
            self.assertTrue(str(refusal.exception).endswith(" - " + reason), refusal.exception)
        for value, kept in (("force now", "now force"), ("default now", "now"), ("default", "default")):
            self.master.client.config_set("shutdown-on-sigint", value)
            self.assertEqual(self.master.client.config_get("shutdown-on-sigint"),
                             {"shutdown-on-sigint": kept})

    def test_an_error_while_saving_lets_clients_continue(self):
        folder = self.folder()
        self.start_pair("--dir", folder, "--save", "3600 1")
        client, writer = self.peer(), self.peer()
        pathlib.Path(folder, "dump.rdb").mkdir()  # no file can replace it
        with self.stopped_replica():
            self.master.client.set("a", "1")
            client.send("SHUTDOWN")
            self.await_wait()
            writer.send("SET", "b", "2")
            self.assert_waits(client, writer)
        self.assertEqual(str(client.reply()), FAILED)
        self.assertEqual(writer.reply(), b"OK")
        self.assertIsNone(self.time_left())
        self.assert_same(self.master, self.replica)
        pathlib.Path(folder, "dump.rdb").rmdir()

    def test_the_snapshot_contains_the_final_data(self):
        """A master that restarts continues the history, so its replica needs no snapshot."""
        options = ("--dir", self.folder(), "--save", "3600 1")
        self.start_pair(*options)
        with self.stopped_replica():
            for number in range(1000):
                self.master.client.set(f"k{number}", number)
            self.master.ask_to_leave()
            self.await_wait()
        self.assert_ended()
        again = self.start(ZSETD, *options, port=self.master.port)
        self.await_that(lambda: again.info("stats")["sync_partial_ok"] == 1, again.log)
        self.assertEqual(again.info("stats")["sync_full"], 0)
        self.assertEqual(again.client.dbsize(), 1000)
        self.await_link(self.replica)
        self.assert_same(again, self.replica)

    def test_it_is_denied_in_transactions_and_scripts(self):
        self.start_pair()
        client = self.peer()
        client.ask("MULTI")
        self.assertEqual(str(client.ask("SHUTDOWN")), "ERR Command not allowed inside a transaction")
        self.assertIn("EXECABORT", str(client.ask("EXEC")))
        self.assertIn("This Redis command is not allowed from script",
                      str(client.ask("EVAL", "return redis.call('shutdown')", "0")))
        self.assertTrue(self.master.client.ping())


class OfZsetd(ShutdownTest):
    def test_now_ends_a_wait(self):
        self.start_pair()
        first, second = self.peer(), self.peer()
        with self.stopped_replica():
            self.master.client.set("a", "1")
            first.send("SHUTDOWN")
            self.await_wait()
            second.send("SHUTDOWN", "NOW")
            self.assertEqual((first.rest(), second.rest()), (b"", b""))
            self.assert_ended()

    def test_a_replica_of_the_other_kind_is_waited_for(self):
        self.start_pair(replica=REDIS)
        with self.stopped_replica():
            self.write_much()
            self.master.ask_to_leave()
            self.await_wait()
        self.assert_ended()
        self.assertEqual(self.replica.client.dbsize(), KEYS)

    def test_a_replica_waits_for_its_own_replicas(self):
        """The stream of its master continues while the replica waits for its own replicas."""
        top = self.start(ZSETD)
        self.master = self.start(ZSETD, "--replicaof", f"127.0.0.1 {top.port}",
                                 "--shutdown-timeout", "60")
        self.await_link(self.master)
        self.replica = self.start(ZSETD, "--replicaof", f"127.0.0.1 {self.master.port}")
        self.await_link(self.replica)
        with self.stopped_replica():
            top.client.set("a", "1")
            self.await_that(lambda: self.master.client.get("a"), self.master.log)
            self.master.ask_to_leave()
            self.await_wait()
            top.client.set("b", "2")
            self.await_that(lambda: self.master.client.get("b"), self.master.log)
        self.assert_ended()
        self.assertEqual(self.replica.client.get("a"), b"1")
