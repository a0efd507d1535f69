"""CLUSTER MIGRATESLOTS: slots that move as a whole between nodes, under load, and cancelled. With
LONG=1 the load lasts longer, and nodes are killed."""

import os
import socket
import threading
import time
import unittest

import redis
import redis.crc

from nodes import SLOTS, ClusterTest
from server_process import eventually

LONG = "LONG" in os.environ
SECONDS = 10 if LONG else 0.4
HALF = SLOTS // 2
STALLED = (HALF + 5000, HALF + 5100)


def keys_of(first, last, count, prefix="key"):
    """Returns keys whose slots are in a range."""
    keys, number = [], 0
    while len(keys) < count:
        key = f"{prefix}:{number}"
        number += 1
        if first <= redis.crc.key_slot(key.encode()) <= last:
            keys.append(key)
    return keys


class Writer(threading.Thread):
    """Increments counters on one connection and follows MOVED. Any other error ends it."""

    def __init__(self, nodes, keys):
        super().__init__(daemon=True)
        self.ports = {node.address: node.port for node in nodes}
        self.keys, self.counts, self.longest, self.error = keys, {}, 0, None
        self.client = redis.Redis(port=nodes[0].port)
        self.is_over = threading.Event()
        self.start()

    def run(self):
        try:
            number = 0
            while not self.is_over.is_set():
                self.write(self.keys[number % len(self.keys)])
                number += 1
        except Exception as error:  # the test reports it
            self.error = error
        self.client.close()

    def write(self, key):
        start = time.monotonic()
        while True:
            try:
                pipe = self.client.pipeline(transaction=True)
                pipe.incr(key).zincrby(f"{{{key}}}:set", 1, "member")
                pipe.zincrby(f"{{{key}}}:ids", 1, "member").execute()
                break
            except redis.exceptions.ResponseError as error:
                moved = str(error)
                # redis-py leaves out the code of an error that it knows
                address = moved.split(" ")[-1]
                if address not in self.ports:
                    raise
                self.client.close()
                self.client = redis.Redis(port=self.ports[address])
        self.counts[key] = self.counts.get(key, 0) + 1
        self.longest = max(self.longest, time.monotonic() - start)

    def finish(self):
        self.is_over.set()
        self.join()
        return self.counts


class Migrations(ClusterTest):
    def start_pair(self, *options, replica=False):
        """Starts the target, which owns the lower half of the slots, and the source."""
        nodes = self.nodes(3 if replica else 2)
        self.write_files(nodes[:2], *nodes[2:])
        for node in nodes:
            node.start(None, "--cluster-node-timeout", "3000", "--repl-diskless-sync-delay", "0",
                       *options)
        for node in nodes:
            self.await_that(node.is_up, node.server.log)
        return nodes

    def move(self, source, target, *ranges):
        self.assertEqual(source.command("CLUSTER", "MIGRATESLOTS", "SLOTSRANGE", *ranges, "NODE",
                                        target.id), "OK")

    def last(self, node):
        words = node.command("CLUSTER", "GETSLOTMIGRATIONS")
        return dict(zip(words[0][::2], words[0][1::2])) if words else {"state": "none"}

    def await_state(self, node, state):
        self.await_that(lambda: self.last(node)["state"] == state,
                        lambda: f"{self.last(node)}\n{node.server.log()[-2000:]}")

    def await_that(self, holds, what):
        self.assertTrue(eventually(holds), what() if callable(what) else what)

    def test_one_cluster(self):
        target, source, replica = self.start_pair(replica=True)
        for check in (self.check_errors, self.check_load, self.check_both_sides,
                      self.check_waiting_clients, self.check_expiry, self.check_cancelled,
                      self.check_password, self.check_flushed):
            with self.subTest(check.__name__):
                check(target, source, replica)

    def check_load(self, target, source, replica):
        """No write is lost."""
        keys = keys_of(HALF, HALF + 3000, 200)
        source.client.rpush(f"{{{keys[0]}}}:list", *range(1000))
        source.client.hset(f"{{{keys[1]}}}:hash", mapping={str(i): i for i in range(1000)})
        source.client.set(f"{{{keys[2]}}}:short", "x", px=10**7)
        source.command("ZADD", f"{{{keys[3]}}}:due", 1, "member")
        for key in keys:
            source.command("ZADD", f"{{{key}}}:ids", "FORM", "INT64", 2**53, "member")
        writer = Writer([source, target], keys)
        time.sleep(SECONDS / 2)
        self.move(source, target, HALF, HALF + 3000)
        self.await_state(source, "success")
        self.await_state(target, "success")
        time.sleep(SECONDS / 2)
        counts = writer.finish()
        self.assertIsNone(writer.error)
        self.assertLess(writer.longest, 4)
        if LONG:
            print(f"\n{sum(counts.values())} writes, the longest took {writer.longest:.3f} s")
        client = target.client
        pipe = client.pipeline(transaction=False)
        for key in counts:
            pipe.get(key)
            pipe.zscore(f"{{{key}}}:set", "member")
            pipe.execute_command("ZRANGE", f"{{{key}}}:ids", 0, -1, "WITHSCORES")
        found = pipe.execute()
        self.assertEqual([int(value) for value in found[::3]], list(counts.values()))
        self.assertEqual(found[1::3], list(counts.values()))
        self.assertEqual(found[2::3], [["member", str(2**53 + count)] for count in counts.values()])
        self.assertEqual(client.llen(f"{{{keys[0]}}}:list"), 1000)
        self.assertEqual(client.hlen(f"{{{keys[1]}}}:hash"), 1000)
        self.assertGreater(client.pttl(f"{{{keys[2]}}}:short"), 10**6)
        self.await_that(lambda: source.client.dbsize() == 0, source.server.log)
        self.await_that(lambda: replica.client.dbsize() == client.dbsize(), replica.server.log)
        with redis.Redis(port=replica.port) as reader:
            reader.execute_command("READONLY")
            self.await_that(lambda: all(int(reader.get(key)) == count
                                        for key, count in counts.items()), replica.server.log)
        view = self.last(source)
        self.assertEqual((view["operation"], view["slot_ranges"], view["source_node"],
                          view["target_node"], view["message"], view["cow_size"]),
                         ("EXPORT", f"{HALF}-{HALF + 3000}", source.id, target.id, "", 0))
        self.assertEqual(self.last(target)["name"], view["name"])
        self.await_that(lambda: f"{HALF + 3001}-{SLOTS - 1}" in target.view()[source.id][3],
                        target.server.log)

    def check_both_sides(self, target, source, _):
        """Keys are renamed from before the cursor of the copy to after it, and vice versa."""
        slot = HALF + 3001
        tag = keys_of(slot, slot, 1)[0]
        pipe = source.client.pipeline(transaction=False)
        for i in range(3000):
            pipe.set(f"{{{tag}}}:{i}", i)
        pipe.execute()
        self.move(source, target, slot, slot)
        names, number = list(range(3000)), 0
        while self.last(source)["state"] not in ("success", "failed") and number < 1500:
            try:
                source.client.rename(f"{{{tag}}}:{number}", f"{{{tag}}}:{2999 - number}")
                names[2999 - number], names[number] = names[number], None
                number += 1
            except redis.exceptions.ResponseError:
                break  # MOVED
        self.await_state(source, "success")
        values = target.client.mget([f"{{{tag}}}:{i}" for i in range(3000)])
        self.assertEqual(values, [None if name is None else str(name) for name in names])

    def check_waiting_clients(self, target, source, _):
        key = keys_of(HALF + 3100, HALF + 4000, 1)[0]
        slot = redis.crc.key_slot(key.encode())
        with socket.create_connection(("127.0.0.1", source.port)) as waiting, \
                redis.Redis(port=source.port) as watching:
            waiting.sendall(f"BZPOPMIN {key} 0\r\n".encode())
            pipe = watching.pipeline(transaction=True)
            pipe.watch(key)
            pipe.multi()
            pipe.set(key, 1)
            self.await_that(lambda: source.client.info("clients")["blocked_clients"] == 1, "")
            self.move(source, target, slot, slot)
            waiting.settimeout(30)
            self.assertEqual(waiting.recv(100), f"-MOVED {slot} {target.address}\r\n".encode())
            with self.assertRaises(redis.exceptions.ResponseError):
                pipe.execute()
        self.assertIsNone(target.client.get(key))

    def check_expiry(self, target, source, replica):
        """Until the target has the slots, their source decides what expires. Here the test is the
        source."""
        slot = HALF + 4600
        key = "{" + keys_of(slot, slot, 1)[0] + "}"
        own = keys_of(0, HALF - 1, 1)[0]
        deadline = int(time.time() * 1000) + 400
        payloads = self.expiring_payloads(source, deadline)
        with redis.Redis(port=target.port, single_connection_client=True) as link:
            def restore(name, at, payload):
                link.execute_command("RESTORE", key + name, at, payload, "ABSTTL")

            link.execute_command("CLUSTER", "SYNCSLOTS", "BEGIN", "SOURCE", source.id, "NAME",
                                 "f" * 40, "SLOTSRANGE", slot, slot)
            for name in ("kept", "due"):
                restore(name, deadline, payloads[0])
                restore(name + ":hash", 0, payloads[1])
                restore(name + ":set", 0, payloads[2])
            target.client.set(own, 1, pxat=deadline)
            time.sleep(0.6)
            restore("late", deadline, payloads[0])
            restore("late:hash", 0, payloads[1])
            self.await_keys(slot, 8, target, replica)
            self.await_that(lambda: own not in target.client.keys(), "own keys expire")
            for name in ("kept", "late"):
                self.assertEqual(link.incr(key + name), 101)
                self.assertTrue(link.persist(key + name))
                link.execute_command("HPERSIST", f"{key}{name}:hash", "FIELDS", 1, "a")
            link.execute_command("ZPERSIST", f"{key}kept:set", "MEMBERS", 1, "a")
            link.execute_command("CLUSTER", "SYNCSLOTS", "PAUSED")
            link.execute_command("CLUSTER", "SYNCSLOTS", "FINISH", 60000, 1000000)
        self.await_keys(slot, 5, target, replica)
        self.assertEqual(target.client.mget(key + "kept", key + "late"), ["101", "101"])
        for name in ("kept", "late"):
            self.assertEqual(target.client.hgetall(f"{key}{name}:hash"), {"a": "1"})
        self.assertEqual(target.client.zrange(f"{key}kept:set", 0, -1), ["a"])
        self.await_that(lambda: target.command("DEBUG", "DIGEST") ==
                        replica.command("DEBUG", "DIGEST"), "the replica differs")

    def expiring_payloads(self, source, deadline):
        """Returns dumps of a string, and of a hash and a sorted set with that deadline."""
        key = keys_of(HALF + 4700, HALF + 4700, 1)[0]
        names = [f"{{{key}}}:{name}" for name in ("string", "hash", "set")]
        with redis.Redis(port=source.port) as client:
            client.set(names[0], 100)
            client.hset(names[1], mapping={"a": 1, "b": 2})
            client.zadd(names[2], {"a": 1, "b": 2})
            client.execute_command("HPEXPIREAT", names[1], deadline, "FIELDS", 2, "a", "b")
            client.execute_command("ZPEXPIREAT", names[2], deadline, "MEMBERS", 2, "a", "b")
            return [client.dump(name) for name in names]

    def await_keys(self, slot, count, *nodes):
        for node in nodes:
            self.await_that(lambda: node.command("CLUSTER", "COUNTKEYSINSLOT", slot) == count,
                            lambda: node.command("CLUSTER", "GETKEYSINSLOT", slot, 100))

    def check_errors(self, target, source, _):
        def error(*words, node=source):
            with self.assertRaises(redis.exceptions.ResponseError) as raised:
                node.command("CLUSTER", *words)
            return str(raised.exception)
        move = ("MIGRATESLOTS", "SLOTSRANGE")
        self.assertIn("wrong number of arguments", error("MIGRATESLOTS"))
        self.assertIn("syntax error", error("MIGRATESLOTS", "INVALID", 0, 1))
        for words, text in [
                ((0,), "No end slot for final slot range"),
                ((16380, 16388), "Invalid or out of range slot"),
                (("a", 0), "No slot ranges specified"),
                ((9, 8), "Start slot number 9 is greater than end slot number 8."),
                ((0, SLOTS - 1), "Requested slots span multiple shards"),
                ((0, 5, 3, 6), "Slot range 3-6 overlaps with previous range 0-5."),
                ((HALF, HALF), "syntax error"),
                ((HALF, HALF, "NODE"), "syntax error"),
                ((HALF, HALF, "NODE", "x"), "Invalid node name: x"),
                ((HALF, HALF, "NODE", "f" * 40), "Unknown node name: " + "f" * 40),
                ((0, 0, "NODE", target.id), "Slots are not served by this node."),
                ((HALF, HALF, "NODE", source.id), "Target node can not be this node."),
                ((HALF, HALF, "NODE", target.id, "SLOTSRANGE", HALF, HALF, "NODE", target.id),
                 "Slot ranges in migrations overlap.")]:
            self.assertEqual(error(*move, *words), text)
        self.assertEqual(error("CANCELSLOTMIGRATIONS"), "No migrations ongoing")
        self.assertEqual(source.command("CLUSTER", "GETSLOTMIGRATIONS"), [])
        source.command("CLUSTER", "SETSLOT", HALF, "MIGRATING", target.id)
        self.assertEqual(error(*move, SLOTS - 1, SLOTS - 1), "Slots are being manually migrated.")
        source.command("CLUSTER", "SETSLOT", HALF, "STABLE")
        for words in [("BEGIN",), ("BEGIN", "SOURCE", source.id), ("FINISH", "x"), ("NONE",),
                      ("BEGIN", "SOURCE", source.id, "NAME", "x", "SLOTSRANGE", HALF, HALF)]:
            error("SYNCSLOTS", *words, node=target)

    def start_stalled(self, target, source):
        """Starts a migration whose target does not apply what it receives. Returns the keys."""
        keys = keys_of(*STALLED, 50)
        for key in keys:
            source.client.set(key, "x")
        target.command("CLIENT", "PAUSE", 600000, "WRITE")
        self.move(source, target, *STALLED)
        self.await_state(target, "receiving-snapshot")
        return keys

    def assert_keeps(self, source, keys):
        for key in keys:
            self.assertEqual(source.client.get(key), "x")
            self.assertTrue(source.client.set(key, "x"))

    def check_cancelled(self, target, source, _):
        size = target.client.dbsize()
        keys = self.start_stalled(target, source)
        with self.assertRaises(redis.exceptions.ResponseError) as raised:
            source.command("CLUSTER", "SETSLOT", SLOTS - 1, "MIGRATING", target.id)
        self.assertEqual(str(raised.exception), "Slot export in progress.")
        with self.assertRaises(redis.exceptions.ResponseError) as raised:
            self.move(source, target, STALLED[0], STALLED[0])
        self.assertEqual(str(raised.exception), f"I am already migrating slot {STALLED[0]}.")
        self.assertEqual(source.command("CLUSTER", "CANCELSLOTMIGRATIONS"), "OK")
        self.await_state(source, "cancelled")
        self.await_state(target, "failed")
        target.command("CLIENT", "UNPAUSE")
        self.assert_keeps(source, keys)
        self.await_that(lambda: target.client.dbsize() == size, target.server.log)
        self.move(source, target, *STALLED)
        self.await_state(source, "success")
        self.assert_keeps(target, keys)

    def check_flushed(self, target, source, _):
        tag = keys_of(SLOTS - 1, SLOTS - 1, 1)[0]
        for i in range(30):  # more than the source sends before a reply
            source.client.set(f"{{{tag}}}:{i}", os.urandom(100000))
        target.command("CLIENT", "PAUSE", 600000, "WRITE")
        self.move(source, target, SLOTS - 2, SLOTS - 1)
        self.await_state(source, "snapshotting")
        source.client.flushall()
        self.await_state(source, "failed")
        self.assertEqual(self.last(source)["message"], "The data of the source was flushed")
        self.await_state(target, "failed")

    @unittest.skipUnless(LONG, "takes long")
    def test_the_target_is_killed(self):
        target, source = self.start_pair()
        keys = self.start_stalled(target, source)
        target.kill()
        self.await_state(source, "failed")
        target.start(None, "--cluster-node-timeout", "3000")
        self.await_that(source.is_up, source.server.log)
        self.assert_keeps(source, keys)

    @unittest.skipUnless(LONG, "takes long")
    def test_a_restarted_target_deletes_what_it_had_received(self):
        options = ("--appendonly", "yes", "--cluster-node-timeout", "3000")
        target, source = self.start_pair("--appendonly", "yes")
        tag = keys_of(HALF, HALF, 1)[0]
        pipe = source.client.pipeline(transaction=False)
        for i in range(20000):
            pipe.set(f"{{{tag}}}:{i}", "x")
        pipe.execute()
        self.move(source, target, HALF, HALF)
        while target.command("CLUSTER", "COUNTKEYSINSLOT", HALF) == 0:  # DBSIZE does not count them
            self.assertNotEqual(self.last(source)["state"], "success")
        target.command("CLIENT", "PAUSE", 600000, "WRITE")
        target.kill()
        self.await_that(lambda: self.last(source)["state"] in ("failed", "success"), "")
        self.assertEqual(self.last(source)["state"], "failed")
        target.start(None, *options)
        self.await_that(target.is_up, target.server.log)
        self.await_that(lambda: target.client.dbsize() == 0, target.server.log)
        self.assertNotIn("[", " ".join(target.view()[target.id][3]))
        self.assertEqual(source.client.dbsize(), 20000)

    @unittest.skipUnless(LONG, "takes long")
    def test_the_source_is_killed(self):
        target, source = self.start_pair()
        self.start_stalled(target, source)
        source.kill()
        self.await_state(target, "failed")
        target.command("CLIENT", "UNPAUSE")
        self.await_that(lambda: target.client.dbsize() == 0, target.server.log)

    def check_password(self, target, source, _):
        slot = HALF + 4500
        target.command("CONFIG", "SET", "requirepass", "secret")
        self.move(source, target, slot, slot)
        self.await_state(source, "failed")
        self.assertIn("NOAUTH", self.last(source)["message"])
        source.command("CONFIG", "SET", "masterauth", "secret")
        self.move(source, target, slot, slot)
        self.await_state(source, "success")
        target.command("CONFIG", "SET", "requirepass", "")
        source.command("CONFIG", "SET", "masterauth", "")


if __name__ == "__main__":
    unittest.main()
