"""The bus, the links of replicas and moves of slots under TLS, of zsetd together with redis-server."""

import socket
import tempfile
import unittest

import redis

from certificates import Certificates
from nodes import BUS_DISTANCE, REDIS, SLOTS, ZSETD, BusTest, free_node_port


class Tls(BusTest):
    PROGRAMS = [ZSETD, REDIS, ZSETD]
    REPLICAS = [REDIS]

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        certificates = Certificates(folder.name)
        cls.authority = certificates.authority
        cls.certificate, cls.key = certificates.make("node")
        cls.CLI_OPTIONS = ("--tls", "--cacert", cls.authority, "--cert", cls.certificate, "--key", cls.key)
        super().setUpClass()

    @classmethod
    def options_of(cls, node):
        if not node.tls_port:
            node.tls_port = free_node_port()
        return ("--tls-port", str(node.tls_port), "--tls-cert-file", cls.certificate, "--tls-key-file", cls.key,
                "--tls-ca-cert-file", cls.authority, "--tls-cluster", "yes", "--tls-replication", "yes")

    def tls_client(self, node):
        client = redis.Redis(port=node.tls_port, ssl=True, ssl_ca_certs=self.authority, ssl_certfile=self.certificate,
                             ssl_keyfile=self.key, decode_responses=True)
        self.addCleanup(client.close)
        return client

    @staticmethod
    def ports_in_nodes(client):
        """Returns the ports by the names of nodes."""
        lines = [line.split(" ") for line in client.execute_command("CLUSTER", "NODES").splitlines()]
        return {words[0]: int(words[1].split(":")[1].split("@")[0]) for words in lines}

    @staticmethod
    def ports_in_shards(client):
        nodes = [dict(zip(node[::2], node[1::2])) for shard in client.execute_command("CLUSTER", "SHARDS")
                 for node in dict(zip(shard[::2], shard[1::2]))["nodes"]]
        return {node["id"]: (node["port"], node["tls-port"]) for node in nodes}

    @staticmethod
    def ports_in_slots(client):
        """Those of masters: a replica is absent until it has data."""
        return {node[2]: node[1] for _, _, node, *_ in client.execute_command("CLUSTER", "SLOTS")}

    def test_clients_get_the_ports_of_their_kind(self):
        plain = {node.id: node.port for node in self.cluster}
        with_tls = {node.id: node.tls_port for node in self.cluster}
        masters = {node.id for node in self.cluster if node.role() == "master"}
        of_masters = lambda ports: {id: port for id, port in ports.items() if id in masters}
        both = {node.id: (node.port, node.tls_port) for node in self.cluster}
        for node in self.cluster:
            with self.subTest(program=node.program):
                self.assertEqual(self.ports_in_nodes(node.client), plain)
                self.assertEqual(self.ports_in_nodes(self.tls_client(node)), with_tls)
                self.assertEqual(self.ports_in_slots(node.client), of_masters(plain))
                self.assertEqual(self.ports_in_slots(self.tls_client(node)), of_masters(with_tls))
                self.assertEqual(self.ports_in_shards(node.client), both)

    def test_redirections_have_the_port_of_their_kind(self):
        for slot in (0, SLOTS // 2, SLOTS - 1):
            owner = self.master_of(slot)
            key = next(key for key in map(str, range(100_000)) if redis.crc.key_slot(key.encode()) == slot)
            for node in self.cluster:
                if node is owner or node.role() != "master":
                    continue
                for client, port in ((node.client, owner.port), (self.tls_client(node), owner.tls_port)):
                    with self.assertRaisesRegex(redis.ResponseError, f"{slot} 127.0.0.1:{port}$"):
                        client.get(key)

    def test_slots_move_between_programs(self):
        first, second, third = self.cluster[:3]
        slot = int(first.view()[first.id][3][0].split("-")[0])
        tag = next(tag for tag in map(str, range(100_000)) if redis.crc.key_slot(tag.encode()) == slot)
        for i in range(50):
            self.master_of(slot).command("ZADD", f"{{{tag}}}:{i}", i, "member")
        for source, target in ((first, second), (second, third), (third, first)):
            self.cli("reshard", first.address, "--cluster-from", source.id, "--cluster-to", target.id,
                     "--cluster-slots", 1, "--cluster-yes")
            self.assertEqual(target.command("CLUSTER", "COUNTKEYSINSLOT", slot), 50)
        self.await_health()

    def test_slots_move_as_a_whole_over_tls(self):
        first, third = self.cluster[0], self.cluster[2]
        slot = int(third.view()[third.id][3][-1].split("-")[-1])
        tag = next(tag for tag in map(str, range(100_000)) if redis.crc.key_slot(tag.encode()) == slot)
        for i in range(50):
            third.client.zadd(f"{{{tag}}}:{i}", {"member": i})
        for source, target in ((third, first), (first, third)):
            self.assertEqual(source.command("CLUSTER", "MIGRATESLOTS", "SLOTSRANGE", slot, slot, "NODE", target.id),
                             "OK")
            self.await_that(lambda: self.master_of(slot) is target)
            self.assertEqual(target.client.zscore(f"{{{tag}}}:49", "member"), 49)
            self.assertEqual(target.command("CLUSTER", "COUNTKEYSINSLOT", slot), 50)
        self.await_health()

    def test_replicas_follow_and_replace_their_master_over_tls(self):
        master = next(node for node in self.cluster if self.replicas_of(node))
        replica, = self.replicas_of(master)
        for old, new in ((master, replica), (replica, master)):
            self.assertEqual(new.client.info("replication")["master_port"], old.tls_port)
            new.command("CLUSTER", "FAILOVER")
            self.await_that(lambda: new.role() == "master" and old.role() == "slave")
            self.await_health()

    def test_announced_ports_reach_the_other_nodes(self):
        for node in self.cluster[:2]:
            others = [other for other in self.cluster if other is not node]
            for port, tls_port in ((1233, 1234), (0, 0)):
                node.command("CONFIG", "SET", "cluster-announce-port", port, "cluster-announce-tls-port", tls_port)
                expected = port or node.port, tls_port or node.tls_port
                self.await_that(lambda: all(self.ports_in_shards(other.client)[node.id] == expected
                                            for other in others))
        self.await_health()

    def test_bytes_without_tls_are_no_message(self):
        node = self.cluster[0]
        with socket.create_connection(("127.0.0.1", node.tls_port + BUS_DISTANCE)) as link:
            link.settimeout(30)
            link.sendall(b"RCmb" + bytes(2252))
            while link.recv(65536):
                pass


if __name__ == "__main__":
    unittest.main()
