"""The link to the master is a client in CLIENT LIST. The tests also run on redis-server, to prove
that they hold for it."""

import time

import redis

from servers import REDIS, ZSETD, ReplicationTest


class MasterClient(ReplicationTest):
    def setUp(self):
        self.begun = time.monotonic()
        self.master = self.start(REDIS)
        self.replica = self.start(ZSETD, "--replicaof", f"127.0.0.1 {self.master.port}")
        self.await_link(self.replica)
        self.master.client.execute_command("SELECT", "0")
        client = self.master.connect(db=3)
        client.set("key", "value")
        client.close()
        self.assert_same(self.master, self.replica)

    def links(self):
        return self.replica.client.client_list(_type="master")

    def kill(self, *filters):
        return self.replica.client.execute_command("CLIENT", "KILL", *filters)

    def reconnects(self):
        return self.master.info("stats")["sync_partial_ok"]

    def await_another_link(self, before):
        """Waits until the killed link has reconnected and continues with a partial
        synchronization."""
        self.await_that(lambda: self.reconnects() == before + 1, self.replica.log)
        self.await_link(self.replica)
        self.master.client.incr("counter")
        self.assert_same(self.master, self.replica)
        self.assertEqual(self.master.info("stats")["sync_full"], 1)

    def test_it_is_listed(self):
        (link,) = self.links()
        self.assertEqual(link["flags"], "M")
        self.assertEqual(link["addr"], f"127.0.0.1:{self.master.port}")
        (replica,) = self.master.client.client_list(_type="replica")
        self.assertEqual(link["laddr"], replica["addr"])
        self.assertEqual(link["user"], "(superuser)")
        self.assertEqual(link["db"], "3")
        self.assertIn(link["cmd"], ("set", "ping"))
        self.assertLessEqual(int(link["age"]), time.monotonic() - self.begun + 1)
        self.assertGreater(int(link["fd"]), 0)

    def test_it_is_among_all_clients(self):
        (link,) = self.links()
        ids = [int(client["id"]) for client in self.replica.client.client_list()]
        self.assertIn(int(link["id"]), ids)
        self.assertEqual(ids, sorted(ids))
        self.assertEqual(len(ids), len(set(ids)))
        (by_id,) = self.replica.client.client_list(client_id=[link["id"]])
        self.assertEqual(by_id["flags"], "M")
        for kind in ("normal", "pubsub", "replica"):
            flags = [client["flags"] for client in self.replica.client.client_list(_type=kind)]
            self.assertNotIn("M", flags)

    def test_it_counts_as_connected_unlike_replicas(self):
        self.await_that(lambda: self.replica.client.info("clients")["connected_clients"] == 2,
                        self.replica.client.client_list)
        self.await_that(lambda: self.master.client.info("clients")["connected_clients"] == 1,
                        self.master.client.client_list)
        chained = self.start(ZSETD, "--replicaof", f"127.0.0.1 {self.replica.port}")
        self.await_link(chained)
        self.await_that(lambda: self.replica.client.info("clients")["connected_clients"] == 2,
                        self.replica.client.client_list)

    def test_it_is_killed_by_type(self):
        before = self.reconnects()
        self.assertEqual(self.kill("TYPE", "master"), 1)
        self.await_another_link(before)

    def test_it_is_killed_by_id(self):
        before = self.reconnects()
        (link,) = self.links()
        self.assertEqual(self.kill("ID", link["id"]), 1)
        self.await_another_link(before)

    def test_it_is_killed_by_address(self):
        for filters in (("ADDR",), ("LADDR",), ()):
            with self.subTest(filters=filters):
                before = self.reconnects()
                (link,) = self.links()
                address = link["laddr" if filters == ("LADDR",) else "addr"]
                self.assertIn(self.kill(*filters, address), (1, b"OK", True))
                self.await_another_link(before)

    def test_it_is_killed_in_a_transaction(self):
        before = self.reconnects()
        with self.replica.client.pipeline(transaction=True) as pipe:
            pipe.execute_command("CLIENT", "KILL", "TYPE", "master").ping()
            self.assertEqual(pipe.execute(), [1, True])
        self.await_another_link(before)

    def test_filters_that_do_not_match_spare_it(self):
        before = self.reconnects()
        other = self.replica.connect()
        other.ping()
        self.assertEqual(self.kill("TYPE", "normal"), 1)
        self.assertEqual(self.kill("USER", "default"), 0)
        with self.assertRaises(redis.ResponseError):
            self.kill("USER", "(superuser)")
        other.close()
        self.assertEqual(len(self.links()), 1)
        self.assertEqual(self.reconnects(), before)

    def test_it_does_not_exist_without_a_link(self):
        self.master.kill()
        self.await_that(lambda: not self.replica.is_linked(), "the link is up")
        self.assertEqual(self.links(), [])
        self.assertEqual(self.kill("TYPE", "master"), 0)
        self.replica.client.execute_command("REPLICAOF", "NO", "ONE")
        self.assertEqual(self.links(), [])
        self.assertEqual(self.kill("TYPE", "master"), 0)
