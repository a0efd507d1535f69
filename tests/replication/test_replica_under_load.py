"""A zsetd that follows redis-server over a link that is cut and stalls, while the data changes."""

import contextlib
import random
import tempfile
import threading
import time

import redis

from servers import REDIS, ZSETD, Load, ReplicationTest


class Handshake(ReplicationTest):
    """A handshake that is cut is repeated. Until it succeeds, the replica keeps its data."""

    HANDSHAKE_BYTES = 190  # of each direction, and a part of the stream

    def check(self, **direction):
        self.proxy.cut_after(**direction)
        before = self.proxy.cuts
        self.replica.follow(self.proxy.port)
        self.await_that(lambda: self.proxy.cuts > before, f"{direction}: nothing is cut")
        self.proxy.cut_after()
        self.assertEqual(self.replica.client.get("own"), b"1", direction)
        self.replica.client.execute_command("REPLICAOF", "NO", "ONE")

    def test_a_link_that_is_cut_at_every_byte(self):
        master = self.start(REDIS)
        Load(1).run(master, 200)
        self.proxy = self.proxy_to(master)
        self.replica = self.start(ZSETD)
        self.replica.client.set("own", "1")
        for count in range(1, self.HANDSHAKE_BYTES):
            self.check(to_replica=count)
            self.check(to_master=count)
        self.proxy.cut_after(to_replica=100)
        self.replica.follow(self.proxy.port)
        self.await_that(lambda: not self.replica.is_linked(), "the link is up")
        self.proxy.cut_after()
        self.await_link(self.replica)  # without another command
        self.assert_same(master, self.replica)


class Stream(ReplicationTest):
    def start_load(self, master, seed):
        """Runs until the test ends, or stop_load()."""
        self.loading = True
        load = Load(seed)

        def run():
            while self.loading:
                load.run(master, 200)
                time.sleep(0.005)  # so that the backlog holds the changes of one second

        self.thread = threading.Thread(target=run)
        self.thread.start()
        self.addCleanup(self.stop_load)

    def stop_load(self):
        self.loading = False
        self.thread.join()

    def test_a_link_that_is_cut_at_random_bytes_continues_there(self):
        seed = random.randrange(1 << 32)
        print(f"seed {seed}")
        pick = random.Random(seed)
        master = self.start(REDIS, "--repl-backlog-size", "100mb")
        proxy = self.proxy_to(master)
        replica = self.start(ZSETD, "--replicaof", f"127.0.0.1 {proxy.port}")
        self.await_link(replica)
        self.start_load(master, seed)
        for _ in range(8):
            proxy.cut_after(to_replica=pick.randrange(150, 50_000))
            before = proxy.cuts
            proxy.cut()
            self.await_that(lambda: proxy.cuts > before, "nothing is cut")
        proxy.cut_after()
        self.stop_load()
        self.await_link(replica)
        self.assert_same(master, replica)
        stats = master.client.info("stats")
        self.assertEqual(stats["sync_full"], 1)
        self.assertGreater(stats["sync_partial_ok"], 7)

    def test_a_link_that_stalls_is_closed_and_restored(self):
        master = self.start(REDIS)
        proxy = self.proxy_to(master)
        replica = self.start(ZSETD, "--replicaof", f"127.0.0.1 {proxy.port}", "--repl-timeout", "2")
        self.await_link(replica)
        proxy.stall()
        self.await_that(lambda: not replica.is_linked(), "the link is up")
        self.assertIn("repl-timeout", replica.log())
        master.client.set("a", "1")
        proxy.cut()
        proxy.flow()
        self.await_link(replica)
        self.assert_same(master, replica)

    def test_a_master_that_is_restarted_is_followed_again(self):
        with tempfile.TemporaryDirectory() as folder:
            master = self.start(REDIS, "--dir", folder)
            proxy = self.proxy_to(master)
            replica = self.start(ZSETD, "--replicaof", f"127.0.0.1 {proxy.port}")
            self.await_link(replica)
            before = replica.info()["slave_repl_offset"]
            self.start_load(master, 5)
            has_much = lambda: replica.info()["slave_repl_offset"] > before + 100_000
            self.await_that(has_much, replica.log)
            self.stop_load()
            self.assert_same(master, replica)
            master.client.execute_command("SAVE")
            master.client.set("lost", "with the restart")
            master.kill()
            master.expected_exit_code = -9
            self.await_that(lambda: not replica.is_linked(), "the link is up")
            restarted = self.start(REDIS, "--dir", folder)
            proxy.target = restarted.port
            self.await_link(replica)
            restarted.client.set("after", "1")
            self.assert_same(restarted, replica)
            self.assertIsNone(replica.client.get("lost"))

    def test_a_replica_with_a_log_and_one_that_runs_scripts_keep_up(self):
        master = self.start(REDIS, "--repl-backlog-size", "100mb")
        replica = self.start(ZSETD, "--replicaof", f"127.0.0.1 {master.port}", "--appendonly", "yes",
                             "--busy-reply-threshold", "10")
        self.await_link(replica)
        self.start_load(master, 6)
        for _ in range(5):
            replica.client.execute_command(
                "EVAL_RO", "local n = 0 for i = 1, 20000000 do n = n + i % 7 end return n", 0)
            with contextlib.suppress(redis.exceptions.ResponseError):  # one is in progress
                replica.client.execute_command("BGREWRITEAOF")
        self.stop_load()
        self.assert_same(master, replica)
        self.assertEqual(master.client.info("stats")["sync_full"], 1)
