"""Announced addresses and endpoints, changed by CONFIG SET while nodes run, and the limit of unsent
messages: zsetd and redis-server as two masters of one cluster."""

import re
import socket
import unittest

import redis

from nodes import BUS_DISTANCE, REDIS, ZSETD, ClusterTest

FIRST_SLOT_KEY = "3560"  # of slot 0
LAST_SLOT_KEY = "39296"  # of slot 16383


class Addresses(ClusterTest):
    @classmethod
    def setUpClass(cls):
        cls.pair = cls.nodes_of_class(2)
        cls.write_files(cls.pair)
        for node, program in zip(cls.pair, (ZSETD, REDIS)):
            node.start(program, "--cluster-node-timeout", "600")  # for frequent pings
        for node in cls.pair:
            cls.await_that(lambda: cls.links_are_up(node))

    @classmethod
    def await_that(cls, holds, what=""):
        super().await_that(holds, what or "\n".join(node.server.log() for node in cls.pair))

    def tearDown(self):
        for node in self.pair:
            node.command("CONFIG", "SET", "cluster-announce-hostname", "",
                         "cluster-preferred-endpoint-type", "ip")

    @staticmethod
    def links_are_up(node):
        return len(node.command("CLUSTER", "LINKS")) == 2

    def pairs(self):
        """Returns each node with the other one."""
        return self.pair, self.pair[::-1]

    def announce(self, node, **settings):
        node.command("CONFIG", "SET", *(word for name, value in settings.items()
                                        for word in ("cluster-announce-" + name.replace("_", "-"), value)))

    @staticmethod
    def address_of(node, observer):
        """Returns "ip:port@bus-port,hostname" as the observer knows it."""
        lines = observer.command("CLUSTER", "NODES").splitlines()
        return next(line.split(" ")[1] for line in lines if line.startswith(node.id))

    def test_changes_reach_the_other_node(self):
        for node, other in self.pairs():
            ports = f"{node.port}@{node.port + BUS_DISTANCE}"
            for settings, expected in (({"ip": "127.0.0.2"}, f"127.0.0.2:{ports}"),
                                       ({"ip": "127.0.0.1"}, f"127.0.0.1:{ports}"),
                                       ({"ip": ""}, f"127.0.0.1:{ports}"),
                                       ({"port": 1234}, f"127.0.0.1:1234@{node.port + BUS_DISTANCE}"),
                                       ({"port": 0}, f"127.0.0.1:{ports}")):
                self.announce(node, **settings)
                self.await_that(lambda: self.address_of(node, other) == expected,
                                (settings, self.address_of(node, other)))

    def test_host_names_reach_the_other_node(self):
        """redis-server 7.0 sends and accepts extensions of messages only while it has a name itself."""
        stock = self.pair[1]
        self.announce(stock, hostname="stock.example")
        for node, other in (self.pair[::-1], self.pair):
            for name in ("a.example", "b.example"):
                self.announce(node, hostname=name)
                self.await_that(lambda: self.address_of(node, other).endswith("," + name))

    def test_the_other_node_connects_to_the_announced_bus_port(self):
        for node, other in self.pairs():
            with socket.create_server(("127.0.0.1", 0)) as announced:
                announced.settimeout(60)
                self.announce(node, bus_port=announced.getsockname()[1])
                link, _ = announced.accept()
                with link:
                    self.assertEqual(link.recv(4), b"RCmb")
            self.announce(node, bus_port=0)
            self.await_that(lambda: self.links_are_up(other))

    def test_endpoints_are_those_of_redis(self):
        first, second = self.pair
        self.announce(second, hostname="b.example")
        for node in self.pair:
            self.await_that(lambda: self.address_of(first, node).endswith(f"@{first.port + BUS_DISTANCE}") and
                            self.address_of(second, node).endswith(",b.example"))
        endpoints = {"ip": ("127.0.0.1", "127.0.0.1"), "hostname": ("?", "b.example"), "unknown-endpoint": ("", "")}
        for kind, (first, second) in endpoints.items():
            with self.subTest(kind):
                slots = []
                for node, other, other_endpoint, key in (
                        (*self.pair, second, LAST_SLOT_KEY), (*self.pair[::-1], first, FIRST_SLOT_KEY)):
                    node.command("CONFIG", "SET", "cluster-preferred-endpoint-type", kind)
                    self.await_that(node.is_up)
                    with self.assertRaisesRegex(redis.ResponseError, f" {re.escape(other_endpoint)}:{other.port}$"):
                        node.command("GET", key)
                    slots.append(sorted(node.command("CLUSTER", "SLOTS")))
                self.assertEqual(slots[0], slots[1])

    def test_links_to_a_stopped_node_are_limited(self):
        message = bytes(1 << 20)
        for node, other in self.pairs():
            node.command("CONFIG", "SET", "cluster-link-sendbuf-limit", 2 << 20)
            other.suspend()
            try:
                for _ in range(20):
                    node.command("PUBLISH", "channel", message)
                self.await_that(lambda: self.overflows(node) > 0)
            finally:
                other.resume()
            self.await_that(lambda: self.links_are_up(node))
            subscriber = other.client.pubsub(ignore_subscribe_messages=True)
            subscriber.subscribe("news")
            subscriber.get_message(timeout=1)
            self.await_that(lambda: node.command("PUBLISH", "news", "x") is not None and
                            subscriber.get_message(timeout=0.1))
            subscriber.close()

    @staticmethod
    def overflows(node):
        return int(re.search(r"total_cluster_links_buffer_limit_exceeded:(\d+)",
                             node.command("CLUSTER", "INFO"))[1])


if __name__ == "__main__":
    unittest.main()
