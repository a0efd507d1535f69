"""Clusters with a static topology: cluster clients, moves of slots, replicas and restarts, and the
exchange of nodes.conf with redis-server."""

import logging
import os
import pathlib
import subprocess
import threading
import unittest

import redis
from redis.cluster import ClusterNode, RedisCluster

from nodes import REDIS, SLOTS, ZSETD, ClusterTest, free_node_port, line

logging.disable(logging.CRITICAL)  # redis-py logs each redirection

KEYS = 2000
K_SLOT = 7629  # of the key k
NO_DELAY = ("--repl-diskless-sync-delay", "0")


def cluster_client(node):
    return RedisCluster(startup_nodes=[ClusterNode("127.0.0.1", node.port)], decode_responses=True)


def owns(node, slot):
    """Returns whether the node serves the slot, as it states itself."""
    return any(first <= slot <= last and master[2] == node.id
               for first, last, master, *_ in node.command("CLUSTER", "SLOTS"))


def topology_in(node):
    """Returns the lines of the node's view without times and the states of links."""
    lines = [text.split() for text in node.command("CLUSTER", "NODES").splitlines()]
    return [words[:4] + words[6:7] + words[8:] for words in lines]


def move_slot(slot, source, target, others=()):
    """Moves a slot like redis-cli: key by key, then its owner."""
    target.command("CLUSTER", "SETSLOT", slot, "IMPORTING", source.id)
    source.command("CLUSTER", "SETSLOT", slot, "MIGRATING", target.id)
    while keys := source.command("CLUSTER", "GETKEYSINSLOT", slot, 10):
        source.command("MIGRATE", "127.0.0.1", target.port, "", 0, 5000, "KEYS", *keys)
    for node in (target, source, *others):
        node.command("CLUSTER", "SETSLOT", slot, "NODE", target.id)


class Clients(ClusterTest):
    @classmethod
    def setUpClass(cls):
        cls.cluster = cls.start_nodes(cls.nodes_of_class(3))

    def tearDown(self):
        for node in self.cluster:
            node.command("FLUSHALL")

    def test_redis_py_reads_and_writes_on_all_nodes(self):
        nodes = self.cluster
        client = cluster_client(nodes[0])
        for i in range(KEYS):
            client.zadd(f"key:{i}", {"member": i})
        for i in range(KEYS):
            self.assertEqual(client.zscore(f"key:{i}", "member"), i)
        sizes = [node.command("DBSIZE") for node in nodes]
        self.assertEqual(sum(sizes), KEYS)
        self.assertTrue(all(size > KEYS // 5 for size in sizes), sizes)
        self.assertEqual(len(set(client.scan_iter(count=100))), KEYS)
        self.assertEqual(client.zunionstore("{board}:week", ["{board}:1", "{board}:2"]), 0)
        with self.assertRaises(redis.exceptions.RedisClusterException):
            client.mget("a", "b")
        client.close()

    def test_slots_move_under_load_without_errors(self):
        nodes = self.cluster
        client = cluster_client(nodes[0])
        slot = client.keyslot("{tag}")
        source = next(node for node in nodes if owns(node, slot))
        target = nodes[(nodes.index(source) + 1) % 3]
        others = [node for node in nodes if node not in (source, target)]
        for i in range(300):
            client.set(f"{{tag}}:{i}", i)
        errors, done = [], threading.Event()

        def load():
            mine = cluster_client(nodes[0])
            while not done.is_set():
                for i in range(300):
                    try:
                        if mine.get(f"{{tag}}:{i}") != str(i):
                            errors.append(f"{i} is lost")
                        mine.set(f"{{tag}}:{i}", i)
                    except redis.RedisError as error:
                        errors.append(repr(error))
            mine.close()

        loader = threading.Thread(target=load)
        loader.start()
        for _ in range(4):
            move_slot(slot, source, target, others)
            source, target = target, source
        done.set()
        loader.join()
        self.assertEqual(errors[:5], [])
        self.assertEqual(source.command("CLUSTER", "COUNTKEYSINSLOT", slot), 300)
        self.assertEqual(target.command("CLUSTER", "COUNTKEYSINSLOT", slot), 0)
        client.close()

    def test_ioredis_reads_and_writes_on_all_nodes(self):
        nodes = self.cluster
        here = pathlib.Path(__file__).resolve().parent
        if not (here.parent / "clients/node_modules/ioredis").exists():
            self.skipTest("ioredis is not installed")
        end = subprocess.run(["node", here / "ioredis_cluster.mjs", str(nodes[0].port)],
                             capture_output=True, text=True, timeout=300)
        self.assertEqual(end.returncode, 0, end.stdout + end.stderr)


class Topology(ClusterTest):
    def test_survives_a_kill(self):
        first, second = self.nodes(2)
        self.write_files([first, second])
        for node in (first, second):
            node.start()
        move_slot(5, first, second)
        second.command("CLUSTER", "SETSLOT", 6, "IMPORTING", first.id)
        first.command("CLUSTER", "SETSLOT", 6, "MIGRATING", second.id)
        before = topology_in(first), topology_in(second)
        for node in (first, second):
            node.kill()
            node.start()
        self.assertEqual((topology_in(first), topology_in(second)), before)
        self.assertIn("[6->-", str(before[0]))
        self.assertIn("[6-<-", str(before[1]))

    def test_the_file_is_complete_within_about_a_second_and_after_the_end(self):
        node, = self.start_nodes(self.nodes(1))
        other = "b" * 40
        node.stop()
        node.nodes_file.write_text(node.nodes_file.read_text() +
                                   f"{other} 127.0.0.1:1@2 master - 0 0 1 connected\n")
        node.start()
        node.command("CLUSTER", "SETSLOT", 5, "MIGRATING", other)
        unsynced = pathlib.Path(f"{node.nodes_file}.unsynced")
        self.assertIn(f"[5->-{other}]", unsynced.read_text())
        self.await_that(lambda: f"[5->-{other}]" in node.nodes_file.read_text(), "nodes.conf lacks a mark")
        self.await_that(lambda: not unsynced.read_text(), "the records remain")
        node.command("CLUSTER", "SETSLOT", 6, "MIGRATING", other)
        node.stop()
        self.assertIn(f"[6->-{other}]", node.nodes_file.read_text())
        self.assertFalse(unsynced.exists())

    def test_keys_without_an_owner_are_claimed(self):
        node, = self.nodes(1)
        node.start()
        node.command("CLUSTER", "ADDSLOTSRANGE", 0, SLOTS - 1)
        node.command("SET", "k", "v")
        node.command("CLUSTER", "DELSLOTSRANGE", 0, SLOTS - 1)
        node.command("SAVE")
        node.stop()
        node.start()
        self.assertEqual(node.command("CLUSTER", "COUNTKEYSINSLOT", K_SLOT), 1)
        self.assertIn("cluster_slots_assigned:1\r\n", node.command("CLUSTER", "INFO"))

    def test_a_file_is_used_by_one_server(self):
        node, = self.start_nodes(self.nodes(1))
        end = subprocess.run([ZSETD, "--port", str(free_node_port()), "--cluster-enabled", "yes",
                              "--dir", node.folder.name, "--save", ""],
                             capture_output=True, text=True, timeout=60)
        self.assertNotEqual(end.returncode, 0)
        self.assertIn("is already used by a different server", end.stdout + end.stderr)

    def test_an_invalid_file_is_refused(self):
        node, = self.nodes(1)
        node.nodes_file.write_text("nonsense\n")
        end = subprocess.run([ZSETD, "--port", str(free_node_port()), "--cluster-enabled", "yes",
                              "--dir", node.folder.name, "--save", ""],
                             capture_output=True, text=True, timeout=60)
        self.assertNotEqual(end.returncode, 0)
        self.assertIn("line 1: a node's line needs 8 words at least", end.stderr)

    def test_files_are_exchanged_with_redis_server(self):
        nodes = self.nodes(2)
        self.write_files(nodes)
        first = nodes[0]
        first.start()
        first.command("CLUSTER", "SETSLOT", 5, "MIGRATING", nodes[1].id)
        first.stop()
        first.start(REDIS)
        text = str(first.command("CLUSTER", "NODES"))
        self.assertIn("0-8191", text)
        first.command("CLUSTER", "SETSLOT", 6, "MIGRATING", nodes[1].id)
        first.command("CLUSTER", "SAVECONFIG")
        first.stop()
        first.start()
        self.assertIn(f"[5->-{nodes[1].id}] [6->-{nodes[1].id}]", first.nodes_file.read_text())


class Data(ClusterTest):
    def fill(self, node):
        with node.client.pipeline(transaction=False) as pipeline:
            for i in range(KEYS):
                pipeline.zadd(f"key:{i}", {"member": i})
                pipeline.set(f"{{tag}}:{i}", i, px=None if i % 2 else 3_600_000)
            pipeline.execute()

    def test_survives_reloads_rewrites_and_restarts(self):
        node, = self.nodes(1)
        options = ("--appendonly", "yes", "--enable-debug-command", "yes")
        node.start(ZSETD, *options)
        node.command("CLUSTER", "ADDSLOTSRANGE", 0, SLOTS - 1)
        self.fill(node)
        digest = node.command("DEBUG", "DIGEST")
        node.command("DEBUG", "RELOAD")
        self.assertEqual(node.command("DEBUG", "DIGEST"), digest)
        node.command("BGREWRITEAOF")
        self.await_that(lambda: node.client.info("persistence")["aof_rewrite_in_progress"] == 0,
                        "the rewrite does not end")
        node.kill()
        node.start(ZSETD, *options)
        self.assertEqual(node.command("DEBUG", "DIGEST"), digest)
        self.assertEqual(len(list(node.client.scan_iter(count=50))), 2 * KEYS)
        self.assertEqual(node.command("CLUSTER", "COUNTKEYSINSLOT", 8338), KEYS)
        self.assertIsNotNone(node.command("RANDOMKEY"))

    def test_expires(self):
        node, = self.nodes(1)
        node.start()
        node.command("CLUSTER", "ADDSLOTSRANGE", 0, SLOTS - 1)
        self.fill(node)
        for i in range(100):
            node.command("PEXPIRE", f"key:{i}", 1)
        self.await_that(lambda: node.command("DBSIZE") == 2 * KEYS - 100, "keys do not expire")

    @unittest.skipIf(os.environ.get("SANITIZER"), "memory is counted in another way")
    def test_is_evicted(self):
        node, = self.nodes(1)
        node.start()
        node.command("CLUSTER", "ADDSLOTSRANGE", 0, SLOTS - 1)
        self.fill(node)
        node.command("CONFIG", "SET", "maxmemory-policy", "allkeys-lru")
        used = node.client.info("memory")["used_memory"]
        node.command("CONFIG", "SET", "maxmemory", used - 100_000)
        self.await_that(lambda: node.client.info("stats")["evicted_keys"] > 0, "nothing is evicted")
        self.assertGreater(node.command("DBSIZE"), KEYS // 2)


class Replicas(ClusterTest):
    def test_a_replica_follows_its_master_and_serves_reads(self):
        master, replica = self.nodes(2)
        self.write_files([master], replica)
        master.start(None, *NO_DELAY)
        replica.start()
        self.await_that(master.is_up, master.server.log())
        master.command("SET", "k", "v")
        self.await_that(lambda: replica.client.info("replication")["master_link_status"] == "up" and
                        replica.command("DBSIZE") == 1, replica.server.log())
        with self.assertRaisesRegex(redis.ResponseError, f"{K_SLOT} 127.0.0.1:{master.port}"):
            replica.command("GET", "k")
        with replica.client.client() as one:
            one.execute_command("READONLY")
            self.assertEqual(one.execute_command("GET", "k"), "v")
            with self.assertRaisesRegex(redis.ResponseError, f"{K_SLOT} 127.0.0.1:{master.port}"):
                one.execute_command("SET", "k", "x")
            one.execute_command("READWRITE")
            with self.assertRaisesRegex(redis.ResponseError, f"{K_SLOT} 127.0.0.1:{master.port}"):
                one.execute_command("GET", "k")

    def test_a_failover_waits_for_the_data_of_the_master(self):
        master, replica = self.nodes(2)
        self.write_files([master], replica)
        master.start(None, "--repl-diskless-sync-delay", "60")
        replica.start()
        self.await_that(master.is_up, master.server.log())
        master.command("SET", "k", "v")

        def accepts_failover():
            try:
                return replica.command("CLUSTER", "FAILOVER") == "OK"
            except redis.ResponseError:  # the bus has no link yet
                return False

        self.await_that(accepts_failover, replica.server.log())
        self.assertEqual(replica.client.info("replication")["master_link_status"], "down")
        master.command("CONFIG", "SET", "repl-diskless-sync-delay", "0")
        self.await_that(lambda: replica.client.info("replication")["role"] == "master", replica.server.log())
        self.assertEqual(replica.command("GET", "k"), "v")
        self.await_that(lambda: master.client.info("replication").get("master_link_status") == "up" and
                        master.command("DBSIZE") == 1, master.server.log())

    def test_an_empty_node_becomes_a_replica(self):
        master, replica = self.nodes(2)
        self.write_files([master], None)
        master.start(None, *NO_DELAY)
        self.await_that(master.is_up, master.server.log())
        master.command("SET", "k", "v")
        replica.nodes_file.write_text(line(master, replica, f"0-{SLOTS - 1}") + "\n" +
                                      line(replica, replica, "") + "\n")
        replica.start()
        replica.command("CLUSTER", "REPLICATE", master.id)
        self.await_that(lambda: replica.client.info("replication")["master_link_status"] == "up",
                        replica.server.log())
        self.assertEqual(replica.command("DBSIZE"), 1)
        self.assertEqual(replica.command("CLUSTER", "MYSHARDID"), master.id)
        replica.command("CLUSTER", "RESET", "HARD")
        self.assertEqual(replica.command("DBSIZE"), 0)
        self.assertNotEqual(replica.command("CLUSTER", "MYID"), replica.id)
        self.assertEqual(replica.client.info("replication")["role"], "master")


if __name__ == "__main__":
    unittest.main()
