"""CLUSTER MIGRATESLOTS: what clients see of the keys on their way, and failovers of either side."""

import contextlib
import os
import re
import socket
import struct
import tempfile
import threading
import time
import unittest

import redis
import redis.crc

from nodes import SLOTS, ClusterTest
from server_process import eventually

SLOT = SLOTS // 2 + 7
KEYS = 20000
BIG_KEYS = 500
HOUR_S = 3600
SANITIZED = bool(os.environ.get("SANITIZER"))


class GrantProxy:
    """Forwards the connections of a source to its target, and holds the grant until release()."""

    def __init__(self, target_port):
        self.target_port = target_port
        self.grant = b""
        self.is_held, self.is_released = threading.Event(), threading.Event()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                source, _ = self.listener.accept()
            except OSError:
                return
            target = socket.create_connection(("127.0.0.1", self.target_port))
            for ends in ((source, target), (target, source)):
                threading.Thread(target=self.forward, args=ends, daemon=True).start()

    def forward(self, reader, writer):
        try:
            while received := reader.recv(65536):
                if b"FINISH" in received:
                    self.grant = received
                    self.is_held.set()
                    self.is_released.wait()
                writer.sendall(received)
        except OSError:
            pass
        for end in (reader, writer):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def close(self):
        self.is_released.set()
        self.listener.close()

    def granted_epoch(self):
        return int(re.search(rb"FINISH\r\n\$\d+\r\n\d+\r\n\$\d+\r\n(\d+)", self.grant)[1])


class MigrationFailures(ClusterTest):
    def start(self, of_first, *options, environment_of_second=()):
        """Starts a master with the lower half of the slots and a replica, and one with the upper half."""
        self.first, self.second, self.replica = self.nodes(3)
        self.second.environment = dict(environment_of_second)
        self.write_files([self.first, self.second], self.replica)
        self.options = ("--cluster-node-timeout", "1000", "--repl-diskless-sync-delay", "0", *options)
        for node in (self.first, self.second, self.replica):
            node.start(None, *self.options)
        for node in (self.first, self.second, self.replica):
            self.await_that(node.is_up, node.server.log)
        self.await_that(lambda: self.replica.client.info("replication")["master_link_status"] == "up",
                        self.replica.server.log)
        self.slot = 7 if of_first else SLOT
        self.tag = tag = next(str(i) for i in range(10**6) if redis.crc.key_slot(b"%d" % i) == self.slot)
        pipe = (self.first if of_first else self.second).client.pipeline(transaction=False)
        for i in range(KEYS):
            pipe.set(f"{{{tag}}}:{i}", i)
        pipe.execute()

    @staticmethod
    def await_that(holds, what):
        assert eventually(holds), what()

    def move(self, source, target):
        self.assertEqual(source.command("CLUSTER", "MIGRATESLOTS", "SLOTSRANGE", self.slot, self.slot, "NODE",
                                        target.id), "OK")

    def migration(self, node):
        words = node.command("CLUSTER", "GETSLOTMIGRATIONS")
        return dict(zip(words[0][::2], words[0][1::2]))

    def state(self, node):
        return self.migration(node)["state"]

    def acknowledged(self, node):
        """Returns when the node has received the last bytes of the migration, in seconds of its clock."""
        return self.migration(node)["last_ack_time"]

    def count(self, node):
        return node.command("CLUSTER", "COUNTKEYSINSLOT", self.slot)

    def stop_half_way(self, source, target):
        """Starts to move the slot. Some keys have arrived when this returns, and no more arrive."""
        self.move(source, target)
        while self.count(target) == 0:
            self.assertNotEqual(self.state(source), "success")
        target.command("CLIENT", "PAUSE", 600000, "WRITE")
        self.assertIn(self.state(source), ("snapshotting", "waiting-to-pause", "failover-paused"))

    def assert_sees_no_key(self, node):
        client = node.client
        self.assertEqual(client.dbsize(), 0)
        self.assertEqual(client.keys("*"), [])
        self.assertEqual(list(client.scan_iter(count=1000)), [])
        self.assertIsNone(client.randomkey())
        self.assertNotIn("db0", client.info("keyspace"))

    def test_the_target_fails_over(self):
        self.start(of_first=False)
        source, target = self.second, self.first
        self.stop_half_way(source, target)
        self.assert_sees_no_key(target)
        self.await_that(lambda: self.count(self.replica) > 0, self.replica.server.log)
        self.assert_sees_no_key(self.replica)
        self.assertEqual(self.replica.command("CLUSTER", "FAILOVER", "TAKEOVER"), "OK")
        self.await_that(lambda: self.state(source) == "failed", source.server.log)
        while self.count(self.replica) > 0:
            self.assert_sees_no_key(self.replica)
        self.await_that(lambda: self.count(target) == 0, target.server.log)
        self.assertEqual(source.client.dbsize(), KEYS)
        self.await_that(lambda: "master" in source.view()[self.replica.id][0], source.server.log)
        self.move(source, self.replica)
        self.await_that(lambda: self.state(source) == "success", source.server.log)
        self.assertEqual(self.replica.client.dbsize(), KEYS)
        self.await_that(lambda: source.client.dbsize() == 0, source.server.log)

    @unittest.skipIf(SANITIZED, "a sanitizer wants to be the first that is loaded")
    def test_a_clock_that_is_set_does_not_end_the_import(self):
        with tempfile.NamedTemporaryFile() as shift:
            shift.write(struct.pack("q", 0))
            shift.flush()
            clock = {"LD_PRELOAD": os.environ["SHIFTED_CLOCK"], "CLOCK_SHIFT": shift.name}
            self.start(of_first=True, environment_of_second=clock)
            source, target = self.first, self.second
            for i in range(BIG_KEYS):
                source.command("SET", f"{{{self.tag}}}:big:{i}", "x" * 100_000)
            self.move(source, target)
            self.await_that(lambda: self.count(target) > 0, source.server.log)
            source.suspend()
            self.addCleanup(source.resume)
            self.await_that(lambda: self.acknowledged(target) + 2 < int(target.command("TIME")[0]), target.server.log)
            self.assertNotIn(self.state(target), ("success", "failed"))
            shift.seek(0)
            shift.write(struct.pack("q", HOUR_S))
            shift.flush()
            self.await_that(lambda: int(target.command("TIME")[0]) > time.time() + HOUR_S / 2, target.server.log)
            until = time.monotonic() + 0.5  # several ticks
            while time.monotonic() < until:
                self.assertNotEqual(self.state(target), "failed")
            source.resume()
            self.await_that(lambda: self.state(source) == "success", source.server.log)
            self.assertEqual(target.client.dbsize(), KEYS + BIG_KEYS)

    def test_the_source_fails_over(self):
        self.start(of_first=True)
        source, target = self.first, self.second
        with socket.create_connection(("127.0.0.1", self.replica.port)) as resp3:
            resp3.settimeout(30)
            self.stop_half_way(source, target)
            self.assertEqual(self.replica.command("CLUSTER", "FAILOVER", "TAKEOVER"), "OK")
            self.await_that(lambda: self.state(target) == "failed", target.server.log)
            self.assert_sees_no_key(target)
            target.command("CLIENT", "UNPAUSE")
            self.await_that(lambda: self.count(target) == 0, target.server.log)
            self.assertEqual(self.replica.client.dbsize(), KEYS)
            # A client with RESP3 that tracks a key is notified when the key leaves.
            key = self.replica.client.randomkey()
            resp3.sendall(f"HELLO 3\r\nCLIENT TRACKING ON\r\nGET {key}\r\n".encode())
            self.await_that(lambda: "master" in self.replica.view()[target.id][0], target.server.log)
            self.move(self.replica, target)
            self.await_that(lambda: self.state(self.replica) == "success", self.replica.server.log)
            self.assertEqual(target.client.dbsize(), KEYS)
            received = b""
            while b"invalidate" not in received:
                received += resp3.recv(10000)
            resp3.sendall(f"GET {key}\r\nCLUSTER GETSLOTMIGRATIONS\r\n".encode())
            while b"message" not in received:
                received += resp3.recv(10000)
            self.assertIn(f"-MOVED {self.slot} ".encode(), received)
            self.assertIn(b"*1\r\n%11\r\n$4\r\nname\r\n", received)

    def hold_grant(self, *options):
        """Starts a migration whose grant is on its way when this returns."""
        self.start(True, *options)
        source, target = self.first, self.second
        proxy = GrantProxy(target.port)
        self.addCleanup(proxy.close)
        target.command("CONFIG", "SET", "cluster-announce-port", proxy.port)
        self.await_that(lambda: f":{proxy.port}@" in source.command("CLUSTER", "NODES"), source.server.log)
        self.move(source, target)
        self.assertTrue(proxy.is_held.wait(30))
        return source, target, proxy

    def test_a_grant_without_a_reply_is_outbid(self):
        source, target, proxy = self.hold_grant()
        self.await_that(lambda: self.state(source) == "failed", source.server.log)
        key = f"{{{self.tag}}}:0"
        self.await_that(lambda: self.writes(source, key), source.server.log)
        own_epoch = int(re.search(r"cluster_my_epoch:(\d+)", source.command("CLUSTER", "INFO"))[1])
        self.assertGreater(own_epoch, proxy.granted_epoch())
        proxy.is_released.set()
        self.await_that(lambda: self.state(target) == "failed", target.server.log)
        self.assertEqual(source.client.get(key), "after")

    def test_a_restarted_source_serves_no_slot_that_its_target_may_take(self):
        source, target, proxy = self.hold_grant("--appendonly", "yes", "--cluster-node-timeout", "15000")
        source.kill()
        source.start(None, *self.options)
        self.await_that(source.is_up, source.server.log)
        key = f"{{{self.tag}}}:0"
        with self.assertRaisesRegex(redis.exceptions.ResponseError, "Hash slot not served"):
            source.client.set(key, "after")
        self.await_that(lambda: self.writes(source, key), source.server.log)
        proxy.is_released.set()
        self.await_that(lambda: self.state(target) == "failed", target.server.log)
        self.assertEqual(source.client.get(key), "after")

    @staticmethod
    def writes(node, key):
        try:
            return node.client.set(key, "after")
        except redis.exceptions.ResponseError:
            return False

    def test_the_target_of_waiting_migrations_is_forgotten(self):
        self.start(of_first=True)
        source, target = self.first, self.second
        target.suspend()  # so that the first migrations do not end
        words = []
        for slot in range(20):
            words += ["SLOTSRANGE", slot, slot, "NODE", target.id]
        self.assertEqual(source.command("CLUSTER", "MIGRATESLOTS", *words), "OK")
        self.assertEqual(source.command("CLUSTER", "FORGET", target.id), "OK")
        self.await_that(lambda: all(dict(zip(each[::2], each[1::2]))["state"] == "failed"
                                    for each in source.command("CLUSTER", "GETSLOTMIGRATIONS")),
                        source.server.log)
        self.assertIn("The target is not known any more", source.server.log())
        self.assertEqual(source.client.dbsize(), KEYS)
        target.resume()


if __name__ == "__main__":
    unittest.main()
