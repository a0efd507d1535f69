"""Clients change the data of three nodes, under three Sentinels or in a cluster, while faults occur. Afterwards the
history of what they sent and received is checked against the data (records.py).

PROGRAM is the server, zsetd by default. With HISTORY_SECONDS, random faults occur for this time;
without it, a few chosen ones. HISTORY_SEED repeats the choices, but not the timing. The guarantee:
a write that `WAIT 2` acknowledged, with two replicas, survives each of the faults. Losses of other
acknowledged writes are no violations. Their number is printed.
"""

import os
import pathlib
import random
import tempfile
import time
import unittest

import redis

import faults
from clients import MOVES, Client
from group import ClusterGroup, SentinelGroup
from records import ACKNOWLEDGED, BY_ALL, BY_ONE, Final, lost, violations
from server_process import eventually

PROGRAM = os.environ.get("PROGRAM") or os.environ["ZSETD"]
SECONDS = int(os.environ.get("HISTORY_SECONDS", "0"))
SEED = int(os.environ.get("HISTORY_SEED", "0")) or random.randrange(1, 10**6)
REPORT = os.environ.get("HISTORY_REPORT")
CLIENTS = 4
REPLICAS = 2
WRITES = 20  # acknowledged by all replicas before each fault
IS_ZSETD = pathlib.Path(PROGRAM).name != "redis-server"


class History(unittest.TestCase):
    GROUP = SentinelGroup

    def setUp(self):
        folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.addCleanup(folder.cleanup)
        self.random = random.Random(SEED)
        self.group = self.GROUP(PROGRAM, folder.name)
        self.addCleanup(self.group.close)
        self.made = []

    def key(self, name):
        return self.group.KEY_PREFIX + name

    def prepare_moves(self):
        client = self.group.master().client
        for number in range(CLIENTS):
            client.zadd(self.key("source"), {f"{number}:{move}": number * MOVES + move for move in range(MOVES)})
        self.assertEqual(client.wait(REPLICAS, 20_000), REPLICAS)

    def start_clients(self):
        ports = [node.proxy_port for node in self.group.nodes]
        clients = [Client(number, ports, REPLICAS, SEED, IS_ZSETD, self.group.KEY_PREFIX) for number in range(CLIENTS)]
        for client in clients:
            client.start()
        return clients

    def await_writes(self, clients):
        """Waits until all replicas have acknowledged further writes, so that a fault can lose some."""
        count = lambda: sum(client.acknowledged_by_all for client in clients)
        before = count()
        self.assertTrue(eventually(lambda: count() >= before + WRITES, 60), self.group.report)

    def make_fault(self, fault, clients):
        """Makes a fault amid writes that all replicas acknowledge, and waits for the recovery."""
        self.made.append(fault.__name__)
        self.await_writes(clients)
        fault(self.group, self.random)
        self.group.await_settled()
        if IS_ZSETD:
            self.assertEqual(self.group.unexpected_ends, [])

    def make_faults(self, clients):
        if not SECONDS:
            for fault in faults.ESSENTIAL:
                self.make_fault(fault, clients)
            return
        possible = faults.possible(self.group)
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            self.make_fault(self.random.choice(possible), clients)

    def await_convergence(self):
        master = self.group.master()
        offset = lambda: [node.info()["master_repl_offset"] for node in self.group.nodes]
        digests = lambda: [node.client.execute_command("DEBUG", "DIGEST") for node in self.group.nodes]
        is_same = lambda: len(set(offset())) == 1 and len(set(digests())) == 1
        self.assertTrue(eventually(is_same, 30), lambda: f"{offset()} {digests()}\n{self.group.report()}")
        return master.client

    def read(self, client):
        words = lambda elements: [element.decode() for element in elements]
        entries = client.xrange(self.key("entry"))
        return Final(
            push=words(client.lrange(self.key("push"), 0, -1)), score=words(client.zrange(self.key("score"), 0, -1)),
            entry=[fields[b"element"].decode() for _, fields in entries],
            pair=(words(client.lrange(self.key("pair1"), 0, -1)), words(client.lrange(self.key("pair2"), 0, -1))),
            source=words(client.zrange(self.key("source"), 0, -1)), target=words(client.zrange(self.key("target"), 0, -1)),
            counters={number: int(client.get(self.key(f"count:{number}")) or 0) for number in range(CLIENTS)})

    def test_writes_that_all_replicas_acknowledged_survive(self):
        self.prepare_moves()
        clients = self.start_clients()
        begin = time.monotonic()
        try:
            self.make_faults(clients)
        finally:
            for client in clients:
                client.stops.set()
            for client in clients:
                client.join()
        seconds = time.monotonic() - begin
        for client in clients:
            self.assertIsNone(client.error)
        operations = [operation for client in clients for operation in client.operations]
        final = self.read(self.await_convergence())
        found = violations(operations, final)
        if len(final.source) + len(final.target) != CLIENTS * MOVES:
            found.append("a move has lost or duplicated a member")
        self.report(operations, final, seconds)
        if IS_ZSETD or not found:
            self.assertEqual(found[:20], [], f"seed {SEED}, {self.made}\n{self.group.report()}")
        else:
            print(f"redis-server: {len(found)} violations, such as: {found[:3]}")

    def report(self, operations, final, seconds):
        acknowledged = [each for each in operations if each.outcome >= ACKNOWLEDGED and each.kind != "count"]
        absent = lost(operations, final, ACKNOWLEDGED)
        figures = []
        for name, outcome in (("without replicas", ACKNOWLEDGED), ("by one replica", BY_ONE),
                              ("by all replicas", BY_ALL)):
            all_of, gone = ([each for each in which if each.outcome == outcome]
                            for which in (acknowledged, absent))
            figures.append(f"{len(gone)} of {len(all_of)} {name}")
        text = (f"{pathlib.Path(PROGRAM).name}, {self.GROUP.__name__}: {len(self.made)} faults in {seconds:.0f} s, "
                f"seed {SEED}; {len(self.group.unexpected_ends)} unexpected ends; {self.group.disagreements} "
                f"permanent disagreements of Sentinels; lost acknowledged writes: {', '.join(figures)}")
        if SECONDS:
            print(text, flush=True)
        if REPORT:
            with open(REPORT, "a", encoding="utf-8") as file:
                print(text, file=file)


@unittest.skipUnless(SECONDS, "only with HISTORY_SECONDS; cluster.partitions has the short form")
class ClusterHistory(History):
    GROUP = ClusterGroup


if __name__ == "__main__":
    unittest.main()
