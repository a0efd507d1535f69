"""A mixed load on a master with four threads, a log, snapshots, a memory limit and a replica. Its memory,
descriptors, latency and the digest of its replica stay the same.

SOAK_SECONDS is the duration. In a run of a minute or more, the second half of the samples is compared with
the first. A shorter run checks fixed limits and the digests. SOAK_SEED repeats the requests."""

import os
import pathlib
import random
import statistics
import tempfile
import threading
import time

from peer import Peer, request
from server_process import eventually
from zsetd import SANITIZED, ZsetdTest

SECONDS = int(os.environ.get("SOAK_SECONDS", "6"))
SEED = int(os.environ.get("SOAK_SEED", "0")) or random.randrange(1, 10**6)
IS_LONG = SECONDS >= 60
MB = 1 << 20
MOST_MEMORY = 8 * MB
WORKERS = 4
BATCH = 50
KEYS = 60_000  # more than fit, so that keys are evicted
CHECKS = 3  # of the digests, at least
SCRIPT = ("local n = redis.call('INCR', KEYS[1]) redis.call('ZADD', KEYS[2], n, ARGV[1]) "
          "if n % 50 == 0 then redis.call('DEL', KEYS[2]) end return n")


class Worker(threading.Thread):
    """Sends batches of random requests while it may."""

    END = b"$3\r\nend\r\n"

    def __init__(self, port, number, may_send):
        super().__init__(daemon=True)
        self.random = random.Random(f"{SEED} {number}")
        self.peer = Peer(port)
        self.may_send = may_send
        self.is_idle = threading.Event()
        self.stops = False
        self.sent = 0
        self.error = None
        self.start()

    def run(self):
        try:
            while not self.stops:
                if not self.may_send.is_set():
                    self.is_idle.set()
                    self.may_send.wait(0.1)
                    continue
                self.is_idle.clear()
                self.send_batch()
        except Exception as error:  # the test reports it
            self.error = error
        finally:
            self.is_idle.set()
            self.peer.close()

    def send_batch(self):
        data = b"".join(request(*self.request()) for _ in range(BATCH)) + request("ECHO", "end")
        self.peer.socket.sendall(data)
        tail = b""
        while not tail.endswith(self.END):
            received = self.peer.socket.recv(1 << 18)
            if not received:
                raise ConnectionError("the server has closed the connection")
            tail = (tail + received)[-100:]
        self.sent += BATCH

    def request(self):
        pick = self.random
        key = lambda kind: f"{kind}:{pick.randrange(KEYS)}"
        few = lambda kind: f"{kind}:{pick.randrange(50)}"
        value = lambda: "v" * pick.choice([10, 100, 2000])
        return pick.choice([
            lambda: ("SET", key("s"), value()), lambda: ("SET", key("s"), value(), "PX", pick.randrange(1, 3000)),
            lambda: ("GET", key("s")), lambda: ("ZADD", few("z"), pick.randrange(1000), f"m{pick.randrange(500)}"),
            lambda: ("ZADD", few("z"), pick.randrange(1000), f"m{pick.randrange(500)}", "EX", 5),
            lambda: ("ZRANGE", few("z"), 0, 9), lambda: ("ZPOPMIN", few("z"), 3),
            lambda: ("HSET", few("h"), f"f{pick.randrange(100)}", value()), lambda: ("HDEL", few("h"), f"f{pick.randrange(100)}"),
            lambda: ("RPUSH", few("l"), value()), lambda: ("LPOP", few("l"), 2), lambda: ("LTRIM", few("l"), 0, 100),
            lambda: ("SADD", few("t"), pick.randrange(1000)), lambda: ("SPOP", few("t")),
            lambda: ("XADD", few("x"), "MAXLEN", "~", 200, "*", "f", value()), lambda: ("PEXPIRE", few("l"), 2000),
            lambda: ("EVAL", SCRIPT, 2, few("n"), few("zs"), f"m{pick.randrange(300)}"),
            lambda: ("PUBLISH", "c", "message"), lambda: ("DEL", few("h")), lambda: ("INCR", few("n"))])()


class Sample:
    def __init__(self, server, replica, latencies_ms):
        self.memory = server.memory()
        self.replica_memory = replica.memory()
        self.files = server.open_files()
        self.replica_files = replica.open_files()
        self.latency_ms = statistics.quantiles(latencies_ms, n=100)[98] if len(latencies_ms) > 10 else 0

    def __str__(self):
        return (f"{self.memory // MB} MB, {self.files} files; replica {self.replica_memory // MB} MB, "
                f"{self.replica_files} files; 99 % of PING within {self.latency_ms:.1f} ms")


class Soak(ZsetdTest):
    def start_servers(self):
        folders = [tempfile.TemporaryDirectory() for _ in range(2)]
        for folder in folders:
            self.addCleanup(folder.cleanup)
        shared = ("--appendonly", "yes", "--io-threads", "4", "--repl-diskless-sync-delay", "0")
        self.master = self.start("--dir", folders[0].name, "--maxmemory", str(MOST_MEMORY), "--maxmemory-policy",
                                 "allkeys-lru", "--save", "5 1000", *shared)
        self.control = self.connect()
        self.replica = self.start("--dir", folders[1].name, "--replicaof", f"127.0.0.1 {self.master.port}", *shared)
        self.follower = self.connect()
        self.addCleanup(self.control.close)
        self.assertTrue(eventually(lambda: b"master_link_status:up" in self.follower.ask("INFO", "replication")))

    def fill(self):
        """Fills the memory, so that keys are evicted from the start."""
        for first in range(0, KEYS // 10, 500):
            self.control.socket.sendall(b"".join(request("SET", f"s:{first + i}", "v" * 2000) for i in range(500)))
            for _ in range(500):
                self.assertEqual(self.control.reply(), b"OK")

    def check_digests(self):
        """Stops the load for a moment, and compares the data of both servers."""
        self.may_send.clear()
        for worker in self.workers:
            self.assertTrue(worker.is_idle.wait(60))
        digests = lambda: [peer.ask("DEBUG", "DIGEST") for peer in (self.control, self.follower)]
        self.assertTrue(eventually(lambda: len(set(digests())) == 1, 30), f"the replica differs; seed {SEED}")
        self.may_send.set()

    def measure(self, until):
        latencies_ms = []
        while time.monotonic() < until:
            begin = time.monotonic()
            self.control.ask("PING")
            latencies_ms.append((time.monotonic() - begin) * 1000)
            time.sleep(0.01)
        return Sample(self.master, self.replica, latencies_ms)

    def test_memory_descriptors_latency_and_digests_stay_the_same(self):
        self.start_servers()
        self.fill()
        self.may_send = threading.Event()
        self.may_send.set()
        self.workers = [Worker(self.master.port, number, self.may_send) for number in range(WORKERS)]
        samples = []
        begin = time.monotonic()
        interval_s = SECONDS / (40 if IS_LONG else 4 * CHECKS)
        while time.monotonic() < begin + SECONDS:
            samples.append(self.measure(time.monotonic() + interval_s))
            if len(samples) % 4 == 0:
                self.check_digests()
                self.control.ask("BGREWRITEAOF")
            for worker in self.workers:
                self.assertIsNone(worker.error)
        self.check_digests()
        for worker in self.workers:
            worker.stops = True
        for worker in self.workers:
            worker.join()
        if IS_LONG:
            print(f"seed {SEED}: {sum(worker.sent for worker in self.workers):,} requests in {SECONDS} s\n"
                  f"first quarter: {samples[len(samples) // 4]}\nend:           {samples[-1]}", flush=True)
        self.check_activity()
        self.check_samples(samples)

    def check_activity(self):
        """The load has caused what the test is about."""
        info = dict(line.split(":", 1) for line in self.control.ask("INFO", "everything").decode().split("\r\n")
                    if ":" in line)
        for name in ("evicted_keys", "expired_keys", "rdb_saves", "aof_rewrites"):
            self.assertGreater(int(info[name]), 0, name)
        self.assertEqual(int(info["sync_full"]), 1, "the replica has lost its link")

    def check_samples(self, samples):
        self.assertLess(max(sample.files for sample in samples), 60)
        self.assertLess(max(sample.replica_files for sample in samples), 60)
        if SANITIZED:
            return
        self.assertLess(max(sample.memory for sample in samples), 150 * MB)
        self.assertLess(max(sample.replica_memory for sample in samples), 150 * MB)
        if not IS_LONG:
            return
        settled = samples[len(samples) // 4:]  # after the memory is full
        first, last = settled[:len(settled) // 2], settled[len(settled) // 2:]
        for name, growth in (("memory", 1.15), ("replica_memory", 1.15), ("files", 1.3), ("replica_files", 1.3),
                             ("latency_ms", 4)):
            before, after = (statistics.median(getattr(sample, name) for sample in half) for half in (first, last))
            self.assertLess(after, before * growth + 1, f"{name} grows; seed {SEED}")
