"""How a replica reacts to masters that misbehave, or are very old."""

import fcntl
import pathlib
import socket
import struct
import tempfile
import termios
import time

import redis

from fake_master import EMPTY, ID, ONE_KEY, FakeMaster
from peer import Peer, request
from servers import ZSETD, ReplicationTest



def receive_queue(host, port, peer_port):
    """Returns the number of bytes that the system has received for `port` of this machine from
    `peer_port`, and that the program has not read yet. Returns None if the connection no longer
    exists."""
    for line in pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:]:
        _, local, remote, state, queues, *_ = line.split()
        if (int(local.split(":")[1], 16), int(remote.split(":")[1], 16)) == (port, peer_port) and state == "01":
            return int(queues.split(":")[1], 16)
    return None


def unread_bytes(connection):
    """Returns the number of bytes sent over this connection that the peer program has not read
    yet."""
    under_way = struct.unpack("i", fcntl.ioctl(connection, termios.TIOCOUTQ, bytes(4)))[0]
    return under_way + (receive_queue(*connection.getpeername(), connection.getsockname()[1]) or 0)


LIBRARY = "#!lua name=library\nredis.register_function('f', function() return 1 end)"


class Masters(ReplicationTest):
    def follow(self, *options, knows_psync=True):
        """Returns a master, and a replica with these options that is going to follow it."""
        master = FakeMaster(knows_psync)
        self.addCleanup(master.close)
        replica = self.start(ZSETD, *options)
        replica.client.set("own", "1")
        return master, replica

    def follow_one_that_says_once(self, change):
        """Returns a replica that receives a snapshot and this change, requests a synchronization
        again, and receives only the snapshot."""
        master, replica = self.follow()
        answers = [change, b""]
        master.sync = lambda connection, words: connection.sendall(
            self.full_sync(ONE_KEY) + request("SET", "a", "1") + answers.pop(0))
        replica.follow(master.port)
        self.await_that(lambda: len(master.asked) == 2, replica.log)
        return master, replica

    @staticmethod
    def full_sync(snapshot, offset=100):
        return b"+FULLRESYNC %s %d\r\n$%d\r\n%s" % (ID, offset, len(snapshot), snapshot)

    def test_a_snapshot_of_an_unknown_version_keeps_the_data(self):
        for snapshot in (b"REDIS0099" + bytes(100), b"VALKEY999" + bytes(100), b"no snapshot",
                         b"REDIS"):
            with self.subTest(snapshot=snapshot[:9]):
                master, replica = self.follow()
                master.sync = lambda connection, words: connection.sendall(
                    self.full_sync(snapshot))
                replica.follow(master.port)
                self.await_that(lambda: "Cannot use the snapshot of MASTER" in replica.log(),
                                "the refusal is not in the log")
                self.assertEqual(replica.client.get("own"), b"1")
                master.sync = lambda connection, words: connection.sendall(
                    self.full_sync(ONE_KEY))
                self.await_link(replica)  # it retries
                self.assertEqual(replica.client.get("new"), b"1")
                self.assertIsNone(replica.client.get("own"))

    def test_a_snapshot_that_cannot_be_loaded_keeps_the_data(self):
        key = b"\x00\x03new\x011"
        end = b"\xff" + bytes(8)
        snapshots = {
            "a part of unknown meaning": ONE_KEY[:12] + b"\xee" * 20,
            "cut off": b"REDIS0010" + key,
            "without its checksum": b"REDIS0010" + key + b"\xff",
            "a wrong checksum": b"REDIS0010" + key + b"\xff" + b"checksum",
            "a damaged stream": b"REDIS0010" + key + b"\x0f\x06stream\x01\x03abc" + end,
            "a value of a module": b"REDIS0010" + key + b"\x07\x06module\x01\x00" + end,
            "an unknown type": b"REDIS0010" + key + b"\x63\x01k\x01v" + end,
            "a database too many": b"REDIS0010\xfe\x20" + key + end,
            "a key twice": b"REDIS0010" + key + key + end,
            "a member twice": b"REDIS0010" + key + b"\x02\x01s\x02\x01a\x01a" + end,
            "a score that is no number": b"REDIS0010" + key + b"\x03\x01z\x01\x01a\xfd" + end,
            "a damaged listpack": b"REDIS0010" + key + b"\x10\x01h\x04\x00\x00\x00\x00" + end,
            "a library that cannot run": b"REDIS0010\xf5\x10no library at al" + key + end,
        }
        for how in ("disabled", "swapdb"):
            master, replica = self.follow("--repl-diskless-load", how)
            replica.client.function_load(LIBRARY)
            functions = replica.client.function_dump()
            for name, snapshot in snapshots.items():
                with self.subTest(name, how=how):
                    before = len(replica.log())
                    master.sync = lambda connection, words, snapshot=snapshot: connection.sendall(
                        self.full_sync(snapshot))
                    replica.follow(master.port)
                    self.await_that(lambda: "Failed trying to load" in replica.log()[before:],
                                    "it is loaded")
                    self.assertEqual(replica.client.get("own"), b"1")
                    self.assertEqual(replica.client.dbsize(), 1)
                    self.assertEqual(replica.client.function_dump(), functions)
                    replica.client.replicaof("NO", "ONE")  # so the next attempt needs no pause
            master.sync = lambda connection, words: connection.sendall(self.full_sync(ONE_KEY))
            replica.follow(master.port)
            self.await_link(replica)
            self.assertEqual(replica.client.keys(), [b"new"])

    def test_keys_without_elements_are_skipped(self):
        for load in "disabled", "swapdb", "on-empty-db":
            with self.subTest(load=load):
                master, replica = self.follow("--repl-diskless-load", load)
                master.sync = lambda connection, words: connection.sendall(
                    self.full_sync(b"REDIS0009\x05\x01z\x00\x00\x01a\x011\x02\x01s\x00\xff" + bytes(8)))
                replica.follow(master.port)
                self.await_link(replica)
                self.assertEqual(replica.client.keys(), [b"a"])
                self.assertIn("empty keys skipped: 2.", replica.log())

    def test_a_master_without_psync_receives_sync(self):
        master, replica = self.follow(knows_psync=False)
        master.sync = lambda connection, words: connection.sendall(
            b"\n$%d\r\n%s" % (len(ONE_KEY), ONE_KEY) + request("SET", "more", "2"))
        replica.follow(master.port)
        self.await_that(lambda: replica.client.get("more") == b"2", "the stream is not applied")
        self.assertEqual(master.asked, [[b"SYNC"]])
        self.assertEqual(replica.client.get("new"), b"1")
        time.sleep(1.5)
        self.assertEqual(master.said, [])  # it does not know ACK

    def test_getack_is_acknowledged_immediately(self):
        master, replica = self.follow()
        connections = []

        def sync(connection, words):
            connection.sendall(self.full_sync(EMPTY))
            connections.append(connection)

        master.sync = sync
        replica.follow(master.port)
        self.await_link(replica)
        stream = request("SELECT", "0") + request("SET", "a", "1") + request("REPLCONF", "GETACK", "*")
        offset = b"%d" % (100 + len(stream))
        connections[0].sendall(stream)
        self.await_that(lambda: [b"REPLCONF", b"ACK", offset] in master.said, master.said)
        before = len(master.said)
        self.await_that(lambda: len(master.said) >= before + 2, "it does not go on")
        self.assertEqual(master.said[-1], [b"REPLCONF", b"ACK", offset])

    def test_a_link_that_ends_after_its_snapshot_while_a_script_runs_is_restored(self):
        master, replica = self.follow("--busy-reply-threshold", "20")
        whole = self.full_sync(ONE_KEY)
        connections = []

        def sync(connection, words):
            connection.sendall(whole if connections else whole[:-4])
            connections.append(connection)

        def is_busy():
            try:
                return not replica.client.ping()
            except redis.ResponseError as error:
                return "BUSY" in str(error)

        master.sync = sync
        replica.follow(master.port)
        self.await_that(lambda: connections, "it does not ask")
        caller = Peer(replica.port)
        caller.send("EVAL", "while true do end", "0")
        self.await_that(is_busy, "the script is not busy")
        connections[0].sendall(whole[-4:])
        self.await_that(lambda: unread_bytes(connections[0]) == 0, "it is not read")
        connections[0].setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        peer = connections[0].getpeername()
        connections[0].shutdown(socket.SHUT_RD)  # causes a reset when the master's thread closes it
        self.await_that(lambda: receive_queue(*peer, master.port) is None, "there is no reset")
        replica.client.script_kill()
        caller.reply()
        caller.close()
        self.await_that(lambda: len(master.asked) == 2, replica.log())
        self.await_link(replica)
        self.assertEqual(replica.client.get("new"), b"1")

    def test_only_durable_changes_are_acknowledged_with_a_log(self):
        master, replica = self.follow()
        replica.client.config_set("appendonly", "yes")
        connections = []

        def sync(connection, words):
            connection.sendall(self.full_sync(EMPTY))
            connections.append(connection)

        master.sync = sync
        replica.follow(master.port)
        self.await_link(replica)
        stream = request("SET", "a", "1") * 100
        connections[0].sendall(stream)
        offset = b"%d" % (100 + len(stream))
        self.await_that(lambda: [b"REPLCONF", b"ACK", offset, b"FACK", offset] in master.said,
                        master.said)

    def test_a_change_that_cannot_be_applied_causes_a_full_sync(self):
        for change in (request("VADD", "a", "b"), request("LPUSH", "new", "x"), b"*no\r\n",
                       request("MULTI") + request("LPUSH", "new", "x") + request("EXEC")):
            with self.subTest(change=change):
                master, replica = self.follow_one_that_says_once(change)
                self.assertEqual(master.asked[1], [b"PSYNC", b"?", b"-1"])
                self.assertIn("== CRITICAL ==", replica.log())
                self.await_link(replica)

    def test_commands_that_no_master_propagates_are_not_applied(self):
        for words in (("REPLICAOF", "NO", "ONE"), ("SHUTDOWN", "NOSAVE"), ("MONITOR",),
                      ("PSYNC", "?", "-1"), ("SUBSCRIBE", "news"), ("CLIENT", "TRACKING", "ON"),
                      ("CLIENT", "KILL", "TYPE", "master"), ("WATCH", "a"),
                      ("CONFIG", "SET", "maxmemory", "1"), ("DEBUG", "RELOAD")):
            for change in (request(*words),
                           request("MULTI") + request(*words) + request("EXEC")):
                with self.subTest(change=change):
                    _, replica = self.follow_one_that_says_once(change)
                    self.assertIn("no server propagates this", replica.log())
                    self.await_link(replica)
                    self.assertEqual(replica.client.get("a"), b"1")

    def test_a_lost_link_continues_after_the_last_complete_unit(self):
        master, replica = self.follow()
        whole = request("SET", "a", "1") + request("MULTI") + request("INCR", "a") + \
            request("EXEC")
        half = request("MULTI") + request("INCR", "a") + b"*1\r\n$4\r\nEX"

        def sync(connection, words):
            if len(master.asked) == 1:
                connection.sendall(self.full_sync(EMPTY) + whole + half)
                self.await_that(lambda: unread_bytes(connection) == 0, "it is not read")
                connection.shutdown(socket.SHUT_RDWR)
            else:
                connection.sendall(b"+CONTINUE " + ID[::-1] + b"\r\n" + half + b"EC\r\n")

        master.sync = sync
        replica.follow(master.port)
        self.await_that(lambda: replica.client.get("a") == b"3", replica.log())
        self.assertEqual(master.asked[1], [b"PSYNC", ID, b"%d" % (101 + len(whole))])
        info = replica.info()
        self.assertEqual(info["master_replid"], ID[::-1].decode())
        self.assertEqual(info["master_replid2"], ID.decode())
        self.assertEqual(info["second_repl_offset"], 101 + len(whole))
        self.assertEqual(replica.client.get("a"), b"3")

    def test_a_snapshot_after_a_flush_has_the_offset_of_its_stream(self):
        before = request("RPUSH", "list", "x") + request("FUNCTION", "LOAD", LIBRARY)
        flushes = {"alone": request("FLUSHALL"),
                   "in a transaction": request("MULTI") + request("RPUSHX", "list", "y") +
                   request("LSET", "list", "0", "z") + request("FLUSHALL") +
                   request("SET", "in", "it") + request("EXEC"),
                   "in a script": request("EVAL", "redis.call('lset', 'list', 0, 'z') "
                                          "redis.call('flushall') "
                                          "redis.call('set', 'in', 'it')", "0")}
        for name, flush in flushes.items():
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                # The writes before the flush fail on the dataset that exists after the flush.
                stream = before + request("LSET", "list", "0", "y") + flush + \
                    request("RPUSH", "after", "1") + request("LSET", "after", "0", "2")
                master, replica = self.follow("--dir", folder, "--save", "3600 1000")
                connections = []

                def sync(connection, words, stream=stream):
                    connection.sendall(b"+CONTINUE\r\n" + stream[int(words[2]) - 101:]
                                       if words[1] == ID else self.full_sync(EMPTY))
                    connections.append(connection)

                master.sync = sync
                replica.follow(master.port)
                self.await_link(replica)
                connections[0].sendall(stream)
                self.await_that(lambda: replica.client.lindex("after", 0) == b"2", replica.log)
                replica.kill()
                back = self.start(ZSETD, "--dir", folder, "--save", "3600 1000", "--replicaof",
                                  f"127.0.0.1 {master.port}")
                self.await_link(back)
                self.await_that(lambda: back.client.lindex("after", 0) == b"2", back.log)
                self.assertNotIn("CRITICAL", back.log())
                self.assertEqual(len(master.asked), 2)
                self.assertGreaterEqual(int(master.asked[1][2]), 101 + stream.index(b"FLUSHALL")
                                        if name == "alone" else 101 + stream.index(flush))
                self.assertEqual(back.client.get("in"), None if name == "alone" else b"it")
                back.kill()  # its folder is deleted

    def test_it_follows_after_many_refusals(self):
        master, replica = self.follow()
        refusals = [b"-LOADING Redis is loading\r\n", b"-NOMASTERLINK no\r\n",
                    b"-MASTERDOWN no\r\n", b"-whatever\r\n"]
        master.sync = lambda connection, words: connection.sendall(
            refusals.pop(0) if refusals else self.full_sync(ONE_KEY))
        replica.follow(master.port)
        self.await_link(replica)
        self.assertEqual(replica.client.get("new"), b"1")
