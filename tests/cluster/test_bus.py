"""The cluster bus: clusters that redis-cli creates and changes, of zsetd alone and together with
redis-server."""

import contextlib
import json
import logging
import os
import pathlib
import socket
import struct
import tempfile
import threading
import time
import unittest

import redis
from redis.cluster import ClusterNode, RedisCluster

from nodes import BUS_DISTANCE, REDIS, SLOTS, ZSETD, BusTest
from server_process import ServerProcess

logging.disable(logging.CRITICAL)  # redis-py logs each redirection

KILLS = int(os.environ.get("KILLS", "3"))


def cluster_client(node):
    return RedisCluster(startup_nodes=[ClusterNode("127.0.0.1", node.port)], decode_responses=True)


class Tools(BusTest):
    """redis-cli on three masters; each test leaves the cluster whole."""

    PROGRAMS = [ZSETD, ZSETD, ZSETD]

    def test_check_info_and_call(self):
        first = self.cluster[0]
        text = self.cli("check", first.address)
        self.assertIn("[OK] All nodes agree about slots configuration.", text)
        self.assertIn("[OK] All 16384 slots covered.", text)
        self.assertIn(f"keys in {len(self.running())} masters.", self.cli("info", first.address))
        self.assertEqual(self.cli("call", first.address, "ping").count("PONG"), len(self.running()))

    def test_keys_of_a_single_server_are_imported(self):
        first = self.cluster[0]
        source = ServerProcess(REDIS)
        self.addCleanup(source.stop)
        with redis.Redis(port=source.port) as client:
            for i in range(100):
                client.zadd(f"import:{i}", {"member": i})
            client.set("import:expires", "x", px=10_000_000)
        address = f"127.0.0.1:{source.port}"
        self.cli("import", first.address, "--cluster-from", address, "--cluster-copy")
        self.cli("import", first.address, "--cluster-from", address, "--cluster-replace")
        with redis.Redis(port=source.port) as client:
            self.assertEqual(client.dbsize(), 0)
        client = cluster_client(first)
        for i in range(100):
            self.assertEqual(client.zscore(f"import:{i}", "member"), i)
        self.assertGreater(client.pttl("import:expires"), 9_000_000)
        client.flushall()
        client.close()

    def test_reshard_and_rebalance(self):
        first, second = self.cluster[:2]
        client = cluster_client(first)
        for i in range(200):
            client.set(f"key:{i}", i)
        self.cli("reshard", first.address, "--cluster-from", first.id, "--cluster-to", second.id,
                 "--cluster-slots", 20, "--cluster-yes")
        self.await_health()
        self.cli("check", first.address)
        self.cli("rebalance", first.address, "--cluster-threshold", 1)
        self.await_health()
        for i in range(200):
            self.assertEqual(client.get(f"key:{i}"), str(i))
            client.delete(f"key:{i}")
        client.close()


class ToolsMixed(Tools):
    """Further tests, and those of Tools, with a redis-server as the second master."""

    PROGRAMS = [ZSETD, REDIS, ZSETD]

    def test_backup_has_the_data_of_all_masters(self):
        first = self.cluster[0]
        client = cluster_client(first)
        for i in range(30):
            client.set(f"saved:{i}", i)
        with tempfile.TemporaryDirectory() as folder:
            self.cli("backup", first.address, folder)
            files = list(pathlib.Path(folder).glob("*.rdb"))
            self.assertEqual(len(files), len(self.running()))
            self.assertEqual(sum(file.read_bytes().count(b"saved:") for file in files), 30)
            nodes = json.loads(pathlib.Path(folder, "nodes.json").read_text())
            self.assertEqual(sum(node["slots_count"] for node in nodes), SLOTS)
        client.flushall()
        client.close()

    def test_node_timeout_is_set_on_all_nodes(self):
        first = self.cluster[0]
        for timeout in (1234, self.TIMEOUT_MS):
            self.cli("set-timeout", first.address, timeout)
            for node in self.running():
                self.assertEqual(node.client.config_get("cluster-node-timeout"),
                                 {"cluster-node-timeout": str(timeout)})

    def test_fix_ends_an_interrupted_move(self):
        first, second = self.cluster[:2]
        slot = 1
        source = self.master_of(slot)
        target = second if source is first else first
        source.command("CLUSTER", "SETSLOT", slot, "MIGRATING", target.id)
        target.command("CLUSTER", "SETSLOT", slot, "IMPORTING", source.id)
        self.assertIn("Fixing open slot 1", self.cli("fix", first.address))
        self.cli("check", first.address)

    def test_nodes_are_added_and_removed(self):
        first = self.cluster[0]
        for program in (ZSETD, REDIS):
            node = self.add_node(program)
            self.cli("add-node", node.address, first.address, "--cluster-slave")
            self.await_health()
            self.assertIn("slave", first.view()[node.id][0])
            self.cli("del-node", first.address, node.id)
            self.await_that(lambda: all(node.id not in other.view() for other in self.running()
                                        if other is not node))
            self.assertEqual(list(node.view()), [node.id])
            self.assertIsNone(node.stop())
            node.server = None


class Messages(BusTest):
    """Messages between nodes, with a redis-server as the second master."""

    PROGRAMS = [ZSETD, REDIS, ZSETD]
    REPLICAS = [ZSETD]

    def owner_and_other(self, slot):
        """Returns the zsetd master of the slot and another zsetd master."""
        first, _, third = self.cluster[:3]
        owner = self.master_of(slot)
        return owner, third if owner is first else first

    def test_links_and_counts(self):
        first = self.cluster[0]
        links = first.command("CLUSTER", "LINKS")
        fields = [dict(zip(link[::2], link[1::2])) for link in links]
        others = {node.id for node in self.running()} - {first.id}
        for direction in ("to", "from"):
            self.assertEqual({link["node"] for link in fields if link["direction"] == direction},
                             others)
        info = first.command("CLUSTER", "INFO")
        for direction in ("sent", "received"):
            self.assertRegex(info, rf"cluster_stats_messages_ping_{direction}:[1-9]")
            self.assertRegex(info, rf"cluster_stats_messages_{direction}:[1-9]")
        section = first.client.info("cluster")
        self.assertEqual(section["cluster_state"], "ok")
        self.assertEqual(section["cluster_slots_ok"], SLOTS)
        self.assertEqual(first.client.info("clients")["cluster_connections"], 2 * len(others))

    def test_messages_reach_all_nodes(self):
        subscribers = []
        for node in self.running():
            subscriber = node.client.pubsub(ignore_subscribe_messages=True)
            subscriber.subscribe("news")
            subscriber.get_message(timeout=1)
            subscribers.append(subscriber)
        for node in self.running():
            text = f"from {node.port}"
            self.assertEqual(node.command("PUBLISH", "news", text), 1)
            for subscriber in subscribers:
                self.assertEqual(subscriber.get_message(timeout=10)["data"], text)
        for subscriber in subscribers:
            subscriber.close()

    def test_shard_messages_reach_the_shard(self):
        master = self.cluster[0]
        replica, = self.replicas_of(master)
        tag = tag_of(int(master.view()[master.id][3][0].split("-")[0]))
        with socket.create_connection(("127.0.0.1", replica.port)) as subscriber:
            subscriber.sendall(b"SSUBSCRIBE %s\r\n" % tag.encode())
            self.await_bytes(subscriber, b"ssubscribe")
            self.assertEqual(master.command("SPUBLISH", tag, "hello"), 0)
            self.await_bytes(subscriber, b"hello")

    def await_bytes(self, connection, wanted):
        connection.settimeout(30)
        received = b""
        while wanted not in received:
            piece = connection.recv(65536)
            self.assertNotEqual(piece, b"", received)
            received += piece
        return received

    def test_a_lost_slot_ends_waits_and_subscriptions_and_its_keys_are_deleted(self):
        key = "x"
        slot = key_slot(key)
        source, target = self.owner_and_other(slot)
        source.command("SET", "{x}:1", "left behind")
        with socket.create_connection(("127.0.0.1", source.port)) as waiting, \
                socket.create_connection(("127.0.0.1", source.port)) as subscriber:
            waiting.sendall(b"BLPOP x 0\r\n")
            subscriber.sendall(b"SSUBSCRIBE x\r\n")
            self.await_bytes(subscriber, b"ssubscribe")
            self.await_that(lambda: source.client.info("clients")["blocked_clients"] == 1)
            target.command("CLUSTER", "SETSLOT", slot, "IMPORTING", source.id)
            target.command("CLUSTER", "SETSLOT", slot, "NODE", target.id)
            self.assertEqual(self.await_bytes(waiting, b"\r\n"),
                             f"-MOVED {slot} {target.address}\r\n".encode())
            self.await_bytes(subscriber, b"sunsubscribe")
        self.await_that(lambda: source.command("CLUSTER", "COUNTKEYSINSLOT", slot) == 0)
        for replica in self.replicas_of(source):
            self.await_that(lambda: replica.command("DBSIZE") == source.command("DBSIZE"))
        self.await_health()

    def test_a_node_that_does_not_exist_is_forgotten(self):
        first = self.cluster[0]
        self.assertEqual(first.command("CLUSTER", "MEET", "127.0.0.1", 1), "OK")
        self.assertTrue(any("handshake" in flags for flags, *_ in first.view().values()))
        self.await_that(lambda: not any("handshake" in flags for flags, *_ in first.view().values()))

    def test_a_restarted_node_keeps_its_name_and_slots(self):
        third = self.cluster[2]
        before = third.view()[third.id][3]
        self.assertIsNone(third.stop())
        self.start_node(third)
        self.await_health()
        self.assertEqual(third.view()[third.id][3], before)

    def test_other_bytes_close_the_link(self):
        first = self.cluster[0]

        def end_of(data):
            with socket.create_connection(("127.0.0.1", first.port + BUS_DISTANCE)) as link:
                link.sendall(data)
                link.settimeout(30)
                try:
                    return link.recv(65536)
                except ConnectionResetError:
                    return b""

        def header(length, kind=0, version=1, signature=b"RCmb"):
            return signature + struct.pack(">IHHHH", length, version, 0, kind, 0)

        self.assertEqual(end_of(b"PING\r\n" * 10), b"")
        self.assertEqual(end_of(header(2256, signature=b"RCmc") + bytes(100)), b"")
        for length in (0, 15, 2255, 0x7fffffff, 0xffffffff):
            self.assertEqual(end_of(header(length)), b"", length)
        for kind in range(14):  # of an unknown node, and with counts that do not fit
            with socket.create_connection(("127.0.0.1", first.port + BUS_DISTANCE)) as link:
                link.sendall(header(2300, kind) + os.urandom(2300 - 16))
        links = []
        for _ in range(300):  # more than are taken
            links.append(socket.create_connection(("127.0.0.1", first.port + BUS_DISTANCE)))
        for link in links:
            link.close()
        self.assertTrue(first.is_up())
        self.await_health()


class Failover(BusTest):
    """A failed master is replaced by its replica, and returns as a replica. Each kind of server is a
    master that fails, a replica that is promoted, and a voter. `./check --cluster-kills` kills more."""

    PROGRAMS = [ZSETD, REDIS, ZSETD]
    REPLICAS = [REDIS, ZSETD, ZSETD]

    def fill(self, client, tag, count=100):
        for i in range(count):
            client.zadd(f"{{{tag}}}:{i}", {"member": i})

    def check(self, client, tag, count=100):
        for i in range(count):
            self.assertEqual(client.zscore(f"{{{tag}}}:{i}", "member"), i)

    def replace(self, master):
        """Kills a master and waits until its replica serves its slots. Returns the replica."""
        replica, = self.replicas_of(master)
        slot = int(master.view()[master.id][3][0].split("-")[0])
        self.await_that(lambda: replica.client.info("replication")["slave_repl_offset"] ==
                        master.client.info("replication")["master_repl_offset"])
        master.kill()
        self.await_that(lambda: self.master_of(slot) is replica and
                        all(node.is_up() for node in self.running()))
        return replica

    def test_a_killed_master_is_replaced_and_returns_as_a_replica(self):
        for number in range(KILLS):
            master = next(node for node in (self.cluster[number % 3], self.cluster[number % 3 + 3])
                          if node.role() == "master")
            with self.subTest(program=master.program, number=number):
                slot = int(master.view()[master.id][3][0].split("-")[0])
                tag = tag_of(slot)
                client = cluster_client(self.running()[0])
                self.fill(client, tag)
                replica = self.replace(master)
                client.close()
                client = cluster_client(replica)
                self.check(client, tag)
                self.start_node(master)
                self.await_health()
                self.assertEqual(master.view()[master.id][1], replica.id)
                self.await_that(lambda: master.command("DBSIZE") == replica.command("DBSIZE"))
                client.close()

    def test_manual_failovers_exchange_the_roles_and_lose_no_write(self):
        for master in [node for node in self.cluster if node.role() == "master"]:
            slot = int(master.view()[master.id][3][0].split("-")[0])
            key = f"{{{tag_of(slot)}}}:counter"
            replica, = self.replicas_of(master)
            with self.subTest(master=master.program, replica=replica.program):
                writer = Writer(self.running()[0], key)
                self.await_that(lambda: writer.acknowledged > 50)
                replica.command("CLUSTER", "FAILOVER")
                self.await_that(lambda: replica.role() == "master" and master.role() == "slave")
                so_far = writer.acknowledged
                self.await_that(lambda: writer.acknowledged > so_far + 50)
                self.await_health()
                master.command("CLUSTER", "FAILOVER")
                self.await_that(lambda: master.role() == "master" and replica.role() == "slave")
                self.await_health()
                writer.end()
                self.assertEqual(writer.lost, [])
                self.assertEqual(int(cluster_client(master).get(key)), writer.acknowledged)

    def test_manual_failovers_succeed_while_clients_wait_for_acknowledgements(self):
        """The master asks its replicas for acknowledgements, but not beyond the offset that it has announced."""
        nodes = [self.cluster[2], self.cluster[5]]  # both of zsetd
        key = f"{{{tag_of(16383)}}}:acknowledged"
        ends = threading.Event()

        def write(node):
            client = redis.Redis(port=node.port)
            while not ends.is_set():
                with contextlib.suppress(redis.RedisError):
                    client.set(key, "x" * 100)
                    client.wait(1, 100)
            client.close()

        writers = [threading.Thread(target=write, args=(node,)) for node in nodes * 12]
        for writer in writers:
            writer.start()
        try:
            for _ in range(5):
                replica = next(node for node in nodes if node.role() == "slave")
                replica.command("CLUSTER", "FAILOVER")
                self.await_that(lambda: replica.role() == "master")
                self.await_health()
        finally:
            ends.set()
            for writer in writers:
                writer.join()

    def test_setslot_on_a_replica_has_the_error_that_redis_cli_ignores(self):
        """A master may become a replica just before redis-cli informs it that its last slot has moved."""
        for node in self.cluster:
            if node.role() == "slave":
                with self.assertRaises(redis.ResponseError) as caught:
                    node.command("CLUSTER", "SETSLOT", 0, "NODE", self.cluster[0].id)
                self.assertEqual(str(caught.exception), "Please use SETSLOT only with masters.", node.program)

    def test_takeover_and_force(self):
        for kind in ("TAKEOVER", "FORCE"):
            master = next(node for node in self.cluster if node.role() == "master")
            replica, = self.replicas_of(master)
            replica.command("CLUSTER", "FAILOVER", kind)
            self.await_that(lambda: replica.role() == "master" and master.role() == "slave")
            self.await_health()


class Writer:
    """Increments a counter until end(). No increment is repeated after an error, so each reply
    that is greater by more than one shows an increment whose reply was lost."""

    def __init__(self, node, key):
        self.acknowledged = 0
        self.lost = []
        self._client = cluster_client(node)
        self._key = key
        self._client.set(key, 0)
        self._ends = False
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self):
        while not self._ends:
            try:
                value = self._client.incr(self._key)
            except redis.RedisError:
                continue
            if value < self.acknowledged + 1:
                self.lost.append((self.acknowledged, value))
            self.acknowledged = value

    def end(self):
        self._ends = True
        self._thread.join()
        self._client.close()


def tag_of(slot):
    """Returns a hash tag whose slot is in the same third of the slots."""
    return next(tag for tag in ("a", "b", "c", "d", "e", "f", "g", "h")
                if key_slot(tag) * 3 // SLOTS == slot * 3 // SLOTS)


def key_slot(key):
    return redis.crc.key_slot(key.encode())


if __name__ == "__main__":
    unittest.main()
