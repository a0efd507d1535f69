"""Partitions between the nodes of a cluster, made by a proxy in front of each node: the minority
stops serving, the majority replaces a master, and all agree after the repair."""

import os
import tempfile
import time
import unittest

import redis

from faults import CUT, STALL
from group import ClusterGroup
from network import CLIENT, Rule
from server_process import eventually

NODE_TIMEOUT_S = 1
KEY = "{group}key"


class Partitions(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        cls.addClassCleanup(folder.cleanup)
        cls.group = ClusterGroup(os.environ["ZSETD"], folder.name)
        cls.addClassCleanup(cls.group.close)
        for node in cls.group.all_nodes():
            node.client.config_set("min-replicas-to-write", 0)

    def await_that(self, holds):
        self.assertTrue(eventually(holds), self.group.report)

    def error_of(self, node, *words):
        try:
            node.client.execute_command(*words)
        except redis.ResponseError as error:
            return str(error)
        return ""

    def test_a_master_in_a_minority_stops_and_is_replaced(self):
        for rule in (CUT, STALL):
            with self.subTest(cuts=rule.cuts):
                group, master = self.group, self.group.master()
                master.client.set(KEY, "before")
                self.assertEqual(master.client.wait(2, 20_000), 2)
                since = time.monotonic()
                group.network.separate({master.name}, group.others(master), rule)
                self.await_that(lambda: self.error_of(master, "SET", KEY, "lost").startswith("CLUSTERDOWN"))
                self.assertGreater(time.monotonic() - since, NODE_TIMEOUT_S / 2)
                self.assertIn("The cluster is down", self.error_of(master, "GET", KEY))
                master.client.config_set("cluster-allow-reads-when-down", "yes")
                self.assertIn(master.client.get(KEY), (b"before", b"lost"))
                self.assertIn("only accepts read commands", self.error_of(master, "SET", KEY, "x"))
                master.client.config_set("cluster-allow-reads-when-down", "no")

                self.await_that(lambda: group.master() is not master)
                new = group.master()
                self.await_that(lambda: self.error_of(new, "SET", KEY, "after") == "")
                group.network.heal(cut=True)
                group.await_settled()
                self.assertIs(group.master(), new)
                for node in group.nodes:
                    with node.client.client() as client:
                        client.execute_command("READONLY")
                        self.assertTrue(eventually(lambda: client.get(KEY) == b"after"), group.report)

    def test_slow_and_broken_links_cause_no_failover(self):
        group, master = self.group, self.group.master()
        names = group.parties() | {CLIENT}
        group.network.separate(names, names, Rule(delay_s=0.05))
        group.network.halve(group.parties(), group.parties())
        epoch = master.client.execute_command("CLUSTER", "INFO").split(b"cluster_my_epoch:")[1].split()[0]
        time.sleep(NODE_TIMEOUT_S)
        group.network.heal()
        group.await_settled()
        self.assertIs(group.master(), master)
        self.assertIn(b"cluster_my_epoch:" + epoch, master.client.execute_command("CLUSTER", "INFO"))

    def test_a_lost_shard_stops_the_others_unless_they_need_no_full_coverage(self):
        group = self.group
        lost = group.voters[1]
        master = group.master()
        lost.kill()
        try:
            self.await_that(lambda: self.error_of(master, "SET", KEY, "x").startswith("CLUSTERDOWN"))
            master.client.config_set("cluster-require-full-coverage", "no")
            self.await_that(lambda: self.error_of(master, "SET", KEY, "x") == "")
            self.assertTrue(self.error_of(master, "SET", "39296", "x").startswith("MOVED 16383"))
            master.client.config_set("cluster-require-full-coverage", "yes")
            self.await_that(lambda: self.error_of(master, "SET", KEY, "x").startswith("CLUSTERDOWN"))
        finally:
            lost.start()
        group.await_settled()


if __name__ == "__main__":
    unittest.main()
