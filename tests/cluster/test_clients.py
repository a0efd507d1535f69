"""Cluster clients that write while slots move and while a master fails: redis-py, ioredis and
node-redis on six nodes, of zsetd and redis-server.

A move loses no write and causes no error. After a failover only writes of the failed master are
absent that its replica had not received, and none of those that WAIT has acknowledged.
"""

import json
import logging
import pathlib
import subprocess
import threading
import time
import unittest

import redis
from redis.cluster import ClusterNode, RedisCluster

from nodes import REDIS, SLOTS, ZSETD, BusTest

logging.disable(logging.CRITICAL)  # redis-py logs each redirection

HERE = pathlib.Path(__file__).resolve().parent
MOVED_SLOTS = 5
ERRORS = (redis.RedisError, redis.exceptions.RedisClusterException)


def tag_of(slot):
    return next(tag for tag in map(str, range(1_000_000)) if redis.crc.key_slot(tag.encode()) == slot)


class PyWriter(threading.Thread):
    """redis-py. It waits for the replica after each write, on the connection of the write. After an
    error it connects again: version 4.3 does not recover from the loss of a node by itself."""

    def __init__(self, nodes, keys):
        super().__init__(daemon=True)
        self.nodes = nodes
        self.client = self.connected()
        self.keys = keys
        self.acknowledged = []
        self.by_replica = []
        self.errors = []
        self.ends = False
        self.start()

    def connected(self):
        nodes = [ClusterNode("127.0.0.1", node.port) for node in self.nodes if node.is_running()]
        return RedisCluster(startup_nodes=nodes, decode_responses=True)

    def run(self):
        number = 0
        while not self.ends:
            key, member = self.keys[number % len(self.keys)], f"redis-py:{number}"
            number += 1
            try:
                self.client.zadd(key, {member: 1})
                self.acknowledged.append((key, member, time.time() * 1000))
                node = self.client.get_node_from_key(key)
                if self.client.execute_command("WAIT", 1, 100, target_nodes=node):
                    self.by_replica.append((key, member))
            except ERRORS as error:
                self.errors.append(repr(error))
                self.connect_again()

    def connect_again(self):
        self.client.close()
        while not self.ends:
            try:
                self.client = self.connected()
                return
            except ERRORS:
                time.sleep(0.02)

    def status(self):
        return {"acknowledged": len(self.acknowledged), "errors": list(self.errors)}

    def end(self):
        self.ends = True
        self.join(60)
        self.client.close()
        return self.acknowledged


class NodeWriter:
    """A client for Node.js, which also receives the messages of a shard channel."""

    def __init__(self, kind, node, channel, keys):
        self.process = subprocess.Popen(
            ["node", HERE / "cluster_writer.mjs", kind, str(node.port), channel, *keys],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def _ask(self, word):
        print(word, file=self.process.stdin, flush=True)
        return json.loads(self.process.stdout.readline())

    def status(self):
        return self._ask("status")

    def end(self):
        acknowledged = self._ask("end")
        self.process.communicate(timeout=60)
        return acknowledged

    def kill(self):
        self.process.kill()
        self.process.communicate()


@unittest.skipUnless((HERE.parent / "clients/node_modules/ioredis").exists(), "the clients are not installed")
class Clients(BusTest):
    PROGRAMS = [ZSETD, REDIS, ZSETD]
    REPLICAS = [ZSETD, ZSETD, REDIS]

    def start_writers(self, first_slot):
        tags = [tag_of(slot) for slot in (first_slot, first_slot + 1, 0, SLOTS // 2, SLOTS - 1)]
        keys = [f"{{{tag}}}:{number}" for number in range(4) for tag in tags]
        self.channel = f"{{{tags[0]}}}:news"
        node = self.cluster[0]
        self.writers = {"redis-py": PyWriter(self.cluster, keys)}
        for kind in ("ioredis", "node-redis"):
            self.writers[kind] = NodeWriter(kind, node, self.channel, keys)
            self.addCleanup(self.writers[kind].kill)
        self.await_progress()

    def await_progress(self):
        """Waits until each client has written further members."""
        before = {kind: writer.status()["acknowledged"] for kind, writer in self.writers.items()}
        for kind, writer in self.writers.items():
            self.await_that(lambda: writer.status()["acknowledged"] > before[kind] + 50,
                            f"{kind} does not advance: {writer.status()['errors'][-5:]}")

    def publish(self, slot, message):
        """Publishes until both subscribers have received it: one may be about to subscribe again."""
        def has_arrived():
            self.master_of(slot).command("SPUBLISH", self.channel, message)
            return all(message in self.writers[kind].status()["messages"] for kind in ("ioredis", "node-redis"))

        self.await_that(has_arrived, f"{message} does not arrive")

    def move(self, source, target):
        self.cli("reshard", source.address, "--cluster-from", source.id, "--cluster-to", target.id,
                 "--cluster-slots", MOVED_SLOTS, "--cluster-yes")

    def test_writes_survive_moves_and_a_failover(self):
        master, target = self.cluster[0], self.cluster[2]
        slot = int(master.view()[master.id][3][0].split("-")[0])
        self.start_writers(slot)
        self.publish(slot, "before")
        for source, receiver in ((master, target), (target, master)):
            self.move(source, receiver)
            self.publish(slot, f"at {receiver.port}")
        self.await_progress()
        for kind, writer in self.writers.items():
            self.assertEqual(writer.status()["errors"], [], kind)

        replica, = self.replicas_of(master)
        at = time.time() * 1000
        written = master.client.info("replication")["master_repl_offset"]
        self.await_that(lambda: replica.client.info("replication")["slave_repl_offset"] >= written)
        self.await_progress()
        master.kill()
        self.await_that(lambda: self.master_of(slot) is replica and all(node.is_up() for node in self.running()))
        replaced_at = time.time() * 1000
        self.await_progress()
        self.publish(slot, "after")
        self.start_node(master)
        self.await_health()
        self.check_members(at, replaced_at, slot)

    def check_members(self, synchronous_at, replaced_at, slot):
        """Only writes of the failed master, between these times, may be absent."""
        client = RedisCluster(startup_nodes=[ClusterNode("127.0.0.1", self.cluster[0].port)], decode_responses=True)
        owner = client.get_node_from_key(tag_of(slot))
        lost = []
        for kind, writer in self.writers.items():
            acknowledged = writer.end()
            present = {key: set(client.zrange(key, 0, -1)) for key in {key for key, *_ in acknowledged}}
            lost += [each for each in acknowledged if each[1] not in present[each[0]]]
            if kind == "redis-py":
                self.assertEqual([each for each in writer.by_replica if each[1] not in present[each[0]]], [])
                self.assertGreater(len(writer.by_replica), 100)
        for key, member, time_ms in lost:
            self.assertEqual(client.get_node_from_key(key), owner, (key, member))
            self.assertTrue(synchronous_at < time_ms < replaced_at, (key, member, time_ms, synchronous_at, replaced_at))
        client.close()


if __name__ == "__main__":
    unittest.main()
