"""The data that Sentinel reads from a server, and the replies to its commands, compared with
redis-server. Both servers are put into the same situations, and must show the same in each."""

import contextlib
import itertools
import os
import pathlib
import struct
import tempfile
import threading

from fake_master import ID, FakeMaster
from peer import Peer, request
from sentinel_view import View
from server_process import free_port
from servers import REDIS, ZSETD, ReplicationTest

HELLO = "__sentinel__:hello"
# Keeps offsets constant once all replicas have all changes.
OPTIONS = ("--repl-ping-replica-period", "3600")

# Sentinel's requests on its command link, in the order of a first contact, and requests of clients.
CONTACT = (("PING",), ("CLIENT", "SETNAME", "sentinel-0123456789-cmd"), ("PUBLISH", HELLO, "x"),
           ("SCRIPT", "KILL"), ("GET", "key"), ("SET", "key", "value"))


def plain(reply):
    """Returns a reply in a form that can be compared."""
    if isinstance(reply, list):
        return [plain(part) for part in reply]
    return f"-{reply}" if isinstance(reply, RuntimeError) else reply


def receive_snapshot(peer):
    """Reads the reply to PSYNC to the end of the snapshot."""
    while not (line := peer.lines.readline()).startswith(b"$"):
        pass
    if not line.startswith(b"$EOF:"):
        return peer.lines.read(int(line[1:]))
    end, received = line[5:-2], b""
    while not received.endswith(end):
        received += peer.lines.read(1)
    return received


class EndlessSnapshot:
    """A dump.rdb without keys, which a server keeps loading until the context ends."""

    # An unknown field. Redis serves clients only after every 2 MB of the file.
    PIECE = b"\xfa\x05field\x80" + struct.pack(">I", 1 << 16) + bytes(1 << 16)

    def __init__(self, folder):
        self.path = pathlib.Path(folder, "dump.rdb")
        os.mkfifo(self.path)
        self.is_over = threading.Event()
        self.writer = threading.Thread(target=self._write)

    def _write(self):
        with self.path.open("wb") as fifo:  # waits for the server
            fifo.write(b"REDIS0010\xfe\x00")
            while not self.is_over.is_set():
                fifo.write(self.PIECE)
            fifo.write(b"\xff" + bytes(8))

    def __enter__(self):
        self.writer.start()
        return self

    def __exit__(self, *_):
        self.is_over.set()
        self.writer.join()


class Group:
    """Servers of one program in one situation."""

    def __init__(self, test, program):
        self.test = test
        self.program = program
        self.names = {}  # by port

    def start(self, name, *options, **more):
        """Starts a server with a configuration file, which CONFIG REWRITE needs."""
        folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.test.addCleanup(folder.cleanup)
        path = pathlib.Path(folder.name, "server.conf")
        path.write_text("maxmemory 100mb\n")
        server = self.test.start(self.program, *OPTIONS, *options, config=str(path), **more)
        server.file = path
        self.names[server.port] = name
        if more.get("awaits_data", True):
            self.await_cron(server)
        return server

    def await_cron(self, server):
        """redis-server sends a PING to replicas that connect before its first serverCron()."""
        set_by_cron = lambda: server.client.info("memory")["used_memory_rss"] > 0
        self.test.await_that(set_by_cron, server.log)

    def replica(self, name, master, *options):
        server = self.start(name, *options, "--replicaof", f"127.0.0.1 {master.port}")
        self.test.await_link(server)
        return server

    def fake_master(self, *said):
        """Returns a master that replies with these bytes to a request for a synchronization."""
        master = FakeMaster()
        self.test.addCleanup(master.close)
        master.sync = lambda connection, words: connection.sendall(b"".join(said))
        self.names[master.port] = "fake"
        return master

    def settle(self, master, replicas):
        """Waits until this number of replicas have acknowledged all changes."""
        master.client.set("settled", "yes")

        def have_all():
            info = master.info()
            return all(info.get(f"slave{number}", {}).get("offset") == info["master_repl_offset"]
                       for number in range(replicas))

        self.test.await_that(have_all, master.info)

    def view(self, server):
        """Returns the view at a moment when the server is not trying to connect to its master."""
        seen = []

        def is_connecting():
            seen.append(View(*self.ask(server, ("INFO",), ("ROLE",)), self.names).shown())
            return seen[-1]["role"][3:4] == ["connecting"]

        self.test.await_that(lambda: not is_connecting(), "it never stops connecting")
        return seen[-1]

    def ask(self, server, *requests):
        """Returns the replies to these requests, which one client sends together."""
        with contextlib.closing(Peer(server.port)) as peer:
            peer.socket.sendall(b"".join(request(*words) for words in requests))
            return [plain(peer.reply()) for _ in requests]

    def reconfigure(self, server, *role):
        """Reconfigures the server as Sentinel does. Returns the replies, and the master that the
        file names."""
        replies = self.ask(server, ("MULTI",), ("SLAVEOF", *role), ("CONFIG", "REWRITE"),
                           ("CLIENT", "KILL", "TYPE", "normal"),
                           ("CLIENT", "KILL", "TYPE", "pubsub"), ("EXEC",), ("PING",))
        lines = [line.split() for line in server.file.read_text().splitlines()]
        (*_, master) = [None, *(words for words in lines if words[:1] == ["replicaof"])]
        return replies, master and self.names[int(master[2])]


class SentinelView(ReplicationTest):
    maxDiff = None

    def compare(self, situation):
        """`situation` puts a group into a situation and returns the views that are compared."""
        seen = [situation(Group(self, program)) for program in (REDIS, ZSETD)]
        for expected, found in zip(*seen, strict=True):
            self.assertEqual(expected, found)

    def test_a_master_alone(self):
        def situation(group):
            master = group.start("master")
            return [group.view(master), group.ask(master, *CONTACT)]

        self.compare(situation)

    def test_masters_with_replicas(self):
        def situation(group):
            master = group.start("master")
            first = group.replica("first", master)
            group.settle(master, 1)
            seen = [group.view(master), group.view(first)]
            second = group.replica("second", master, "--replica-announce-ip", "10.0.0.2",
                                   "--replica-announce-port", "7", "--replica-priority", "7",
                                   "--replica-announced", "no")
            group.settle(master, 2)
            return [*seen, *map(group.view, (master, first, second)),
                    *(group.ask(server, *CONTACT) for server in (master, first, second))]

        self.compare(situation)

    def test_replicas_that_are_not_promoted(self):
        def situation(group):
            master = group.start("master")
            replica = group.replica("replica", master)
            replica.client.config_set("replica-priority", "0")
            group.settle(master, 1)
            return [group.view(replica)]

        self.compare(situation)

    def test_a_chain(self):
        def situation(group):
            first = group.start("first")
            second = group.replica("second", first)
            third = group.replica("third", second)
            group.settle(first, 1)
            self.await_that(lambda: second.info()["slave0"]["offset"] ==
                            first.info()["master_repl_offset"], "it acknowledges nothing")
            seen = [*map(group.view, (first, second, third))]
            first.kill()
            self.await_that(lambda: not second.is_linked(), "the link is up")
            return [*seen, group.view(second), group.view(third)]

        self.compare(situation)

    def test_a_link_that_is_down(self):
        for stale in ("yes", "no"):
            with self.subTest(stale=stale):
                def situation(group, stale=stale):
                    master = group.start("master")
                    replica = group.replica("replica", master, "--replica-serve-stale-data", stale)
                    group.settle(master, 1)
                    master.kill()
                    self.await_that(lambda: not replica.is_linked(), "the link is up")
                    return [group.view(replica),
                            group.ask(replica, *CONTACT, ("SUBSCRIBE", HELLO))]

                self.compare(situation)

    def test_a_link_that_was_never_up(self):
        port = free_port()

        def situation(group):
            group.names[port] = "nobody"
            replica = group.start("replica", "--replicaof", f"127.0.0.1 {port}",
                                  "--replica-serve-stale-data", "no")
            return [group.view(replica), group.ask(replica, *CONTACT)]

        self.compare(situation)

    def test_a_synchronization(self):
        full = b"+FULLRESYNC " + ID + b" 100\r\n"
        for said in ((), (full,), (full, b"$1000\r\nREDIS0010"),
                     (full, b"$EOF:" + ID + b"\r\nREDIS0010")):
            with self.subTest(said=said):
                def situation(group, said=said):
                    master = group.fake_master(*said)
                    replica = group.start("replica")
                    replica.client.set("key", "value")
                    replica.follow(master.port)
                    self.await_that(lambda: master.asked, "it does not ask")
                    is_begun = lambda: replica.info()["master_sync_in_progress"] == bool(said)
                    self.await_that(is_begun, replica.info)
                    return [group.view(replica), group.ask(replica, *CONTACT)]

                self.compare(situation)

    def test_replicas_that_wait_for_a_snapshot(self):
        def situation(group):
            master = group.start("master", "--repl-diskless-sync-delay", "1000",
                                 "--repl-diskless-sync", "yes")
            with contextlib.closing(Peer(master.port)) as peer:
                peer.ask("REPLCONF", "listening-port", "7", "capa", "eof", "capa", "psync2")
                peer.send("PSYNC", "?", "-1")
                self.await_that(lambda: master.info()["connected_slaves"] == 1, "no replica")
                return [group.view(master)]

        self.compare(situation)

    def test_replicas_that_are_receiving_a_snapshot(self):
        for diskless in ("yes", "no"):
            with self.subTest(diskless=diskless):
                def situation(group, diskless=diskless):
                    master = group.start("master", "--repl-diskless-sync", diskless,
                                         "--rdbcompression", "no")
                    for number in range(16):
                        master.client.setrange(f"k{number}", 1 << 20, "x")
                    with contextlib.closing(Peer(master.port, receive_buffer=4096)) as peer:
                        peer.ask("REPLCONF", "listening-port", "7", "capa", "eof", "capa",
                                 "psync2")
                        peer.send("PSYNC", "?", "-1")
                        self.assertTrue(peer.lines.readline().startswith(b"+FULLRESYNC"))
                        while not peer.lines.readline().startswith(b"$"):
                            pass
                        return [group.view(master)]

                self.compare(situation)

    def test_replicas_that_have_a_snapshot_and_acknowledge_nothing(self):
        for diskless, only in itertools.product(("yes", "no"), "01"):
            with self.subTest(diskless=diskless, only=only):
                def situation(group, diskless=diskless, only=only):
                    master = group.start("master", "--repl-diskless-sync", diskless)
                    with contextlib.closing(Peer(master.port)) as peer:
                        peer.ask("REPLCONF", "listening-port", "7", "capa", "eof", "capa",
                                 "psync2", "rdb-only", only)
                        peer.send("PSYNC", "?", "-1")
                        receive_snapshot(peer)
                        is_sent = lambda: not {"wait_bgsave", "send_bulk"} & {
                            value["state"] for value in master.info().values()
                            if isinstance(value, dict)}
                        self.await_that(is_sent, master.info)
                        return [group.view(master)]

                self.compare(situation)

    def test_a_failover(self):
        def situation(group):
            master = group.start("master")
            first = group.replica("first", master)
            second = group.replica("second", master)
            group.settle(master, 2)
            with contextlib.closing(Peer(first.port)) as listener:
                listener.ask("SUBSCRIBE", HELLO)
                first.client.close()
                seen = [group.ask(first, ("PUBLISH", HELLO, "x")), plain(listener.reply())]
                master.kill()
                for replica in (first, second):
                    self.await_that(lambda each=replica: not each.is_linked(), "the link is up")
                seen.append(group.reconfigure(first, "NO", "ONE"))
                self.assertEqual(listener.rest(), b"")
            seen.append(group.reconfigure(second, "127.0.0.1", first.port))
            self.await_link(second)
            group.settle(first, 1)
            seen += [group.view(first), group.view(second)]
            back = group.start("master", port=master.port)
            seen.append(group.view(back))
            seen.append(group.reconfigure(back, "127.0.0.1", first.port))
            self.await_link(back)
            group.settle(first, 2)
            return [*seen, *map(group.view, (first, second, back)),
                    group.reconfigure(back, "127.0.0.1", first.port),
                    group.ask(back, ("REPLICAOF", "127.0.0.1", first.port))]

        self.compare(situation)

    def test_a_server_without_a_file(self):
        requests = (("CONFIG", "REWRITE"), ("MULTI",), ("SLAVEOF", "NO", "ONE"),
                    ("CONFIG", "REWRITE"), ("EXEC",))
        replies = [Group(self, program).ask(self.start(program), *requests)
                   for program in (REDIS, ZSETD)]
        self.assertEqual(*replies)

    def test_a_script_that_does_not_end(self):
        for writes in ("", "redis.call('set', 'key', 'value') "):
            with self.subTest(writes=bool(writes)):
                def situation(group, writes=writes):
                    server = group.start("server", "--busy-reply-threshold", "50")
                    with contextlib.closing(Peer(server.port)) as peer:
                        peer.send("EVAL", writes + "while true do end", "0")
                        is_busy = lambda: "-BUSY" in str(group.ask(server, ("PING",)))
                        self.await_that(is_busy, "it is not busy")
                        seen = group.ask(server, ("INFO",), ("ROLE",), *CONTACT[:4])
                        if writes:
                            server.kill()
                        else:
                            seen += [str(plain(peer.reply()))[:20], group.ask(server, *CONTACT)]
                    return seen

                self.compare(situation)

    def test_a_server_that_is_loading(self):
        """The file is a fifo, which ends after the views are taken, however fast the server
        loads."""
        def situation(group):
            with tempfile.TemporaryDirectory() as folder:
                fifo = EndlessSnapshot(folder)
                server = group.start("server", "--dir", folder, awaits_data=False)
                with fifo:
                    info, role, *replies = group.ask(server, ("INFO",), ("ROLE",), *CONTACT,
                                                     ("SUBSCRIBE", HELLO))
                self.assertIn(b"\nloading:1", info)
                self.await_that(server.answers, server.log)
                return [View(info, role, group.names).shown(), replies]

        self.compare(situation)
