"""New connections are accepted whatever happens to other connections."""

import contextlib
import os
import pathlib
import resource
import socket
import tempfile
import unittest

from peer import Peer, request
from server_process import eventually, free_port
from zsetd import PROGRAM, Zsetd, ZsetdTest


class Connecting(ZsetdTest):
    def served(self):
        """Returns a new client if the server replies to it."""
        client = self.connect()
        with contextlib.suppress(OSError, EOFError):
            return client if client.ask("PING") == b"PONG" else None

    def test_beyond_maxclients_is_refused_until_one_leaves(self):
        self.start("--maxclients", "3")
        clients = [eventually(self.served) for _ in range(3)]
        for _ in range(10):
            self.assertEqual(self.connect().rest(), b"-ERR max number of clients reached\r\n")
        clients[0].close()
        self.assertTrue(eventually(self.served))
        self.assertEqual(clients[1].ask("PING"), b"PONG")

    def test_beyond_maxclients_is_refused_even_after_a_request(self):
        self.start("--maxclients", "1")
        served = eventually(self.served)
        with self.server.frozen():
            client = self.connect()
            client.send("PING")
        self.assertEqual(str(client.reply()), "ERR max number of clients reached")
        self.assertEqual(served.ask("PING"), b"PONG")

    def test_works_after_many_connections_that_break(self):
        self.start()
        half = request("PING")
        for i in range(1000):
            client = Peer(self.server.port)
            client.socket.sendall(half[:i % len(half)])
            client.vanish()
        observer = self.connect()
        self.assertTrue(eventually(lambda: observer.ask("CLIENT", "LIST").count(b"\n") == 1))

    def test_works_after_connections_that_broke_in_the_queue(self):
        self.start()
        with self.server.frozen():
            for _ in range(100):
                Peer(self.server.port).vanish()
        self.assertEqual(self.connect().ask("PING"), b"PONG")

    def test_many_simultaneous_clients_are_all_served(self):
        self.start()
        with self.server.frozen():
            clients = [self.connect() for _ in range(300)]
            for i, client in enumerate(clients):
                client.send("ECHO", i)
        for i, client in enumerate(clients):
            self.assertEqual(client.reply(), b"%d" % i)

    def test_resumes_when_file_descriptors_are_available_again(self):
        self.start()
        served = self.connect()
        self.assertEqual(served.ask("PING"), b"PONG")
        self.server.limit(resource.RLIMIT_NOFILE, self.server.open_files())
        waiting = [self.connect() for _ in range(5)]
        for client in waiting:
            client.send("PING")
        self.assertTrue(eventually(lambda: "Too many open files" in self.server.log()))
        self.assertEqual(served.ask("PING"), b"PONG")
        self.server.limit(resource.RLIMIT_NOFILE, self.server.open_files() + 10)
        for client in waiting:
            self.assertEqual(client.reply(), b"PONG")

    def start_with_files(self, count, *options):
        """Starts a server that can open this many files."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        program = pathlib.Path(folder.name, "zsetd")
        program.write_text(f'#!/bin/sh\nulimit -n {count}\nexec {PROGRAM} "$@"\n')
        program.chmod(0o700)
        self.server = Zsetd(str(program), *options)
        self.addCleanup(self._see_off, self.server)

    def maxclients(self, client):
        return int(client.ask("CONFIG", "GET", "maxclients")[1])

    def assert_saves(self, client):
        """Asserts that snapshots, rewrites and writes succeed while all clients are connected."""
        info = lambda: client.ask("INFO", "persistence")
        self.assertNotIsInstance(client.ask("BGSAVE"), RuntimeError)
        self.assertTrue(eventually(lambda: b"rdb_bgsave_in_progress:0\r" in info()))
        self.assertNotIsInstance(client.ask("BGREWRITEAOF"), RuntimeError)
        self.assertTrue(eventually(lambda: b"aof_rewrite_in_progress:0\r" in info()))
        for field in b"rdb_last_bgsave_status", b"aof_last_bgrewrite_status", b"aof_last_write_status":
            self.assertIn(field + b":ok\r", info())
        self.assertEqual(client.ask("SET", "k", "v"), b"OK")

    def test_as_many_as_possible_leave_files_for_the_server(self):
        """As many clients as files allow, with all threads, and the most connections of HTTP and of
        MIGRATE."""
        target = self.start("--bind", "0.0.0.0", "--protected-mode", "no")
        for threads in 1, 16:
            with self.subTest(threads=threads):
                metrics_port = free_port()
                self.start_with_files(200, "--io-threads", str(threads), "--appendonly", "yes",
                                      "--metrics-port", str(metrics_port))
                client = self.connect()
                count = self.maxclients(client)
                self.assertGreater(count, 40)
                self.assertLess(count, 200)
                for _ in range(40):
                    page = socket.create_connection(("127.0.0.1", metrics_port))
                    self.addCleanup(page.close)
                others = []
                for _ in range(count - 1):
                    others.append(eventually(self.served))
                    self.assertIsNotNone(others[-1])
                self.assertEqual(self.connect().rest(), b"-ERR max number of clients reached\r\n")
                self.assertEqual(client.ask("SET", "k", "v"), b"OK")
                for i in range(1, 65):
                    self.assertEqual(client.ask("MIGRATE", f"127.0.0.{i}", target.port, "k", "0", "10000", "COPY",
                                                "REPLACE"), b"OK")
                self.assert_saves(client)
                for each in others:
                    each.close()

    def test_clients_that_do_not_close_after_quit_leave_files_for_the_server(self):
        self.start_with_files(150, "--appendonly", "yes")
        client = self.connect()
        count = self.maxclients(client)

        def are_refused():
            for _ in range(3 * count):
                self.connect().send("QUIT")
            return b"rejected_connections:0\r" not in client.ask("INFO", "stats")

        self.assertTrue(eventually(are_refused))
        self.assert_saves(client)
        self.assertNotIn("Too many open files", self.server.log())

    def test_beyond_maxclients_in_a_cluster_has_the_text_of_redis(self):
        self.start("--cluster-enabled", "yes", "--maxclients", "1")
        self.assertIsNotNone(eventually(self.served))
        self.assertEqual(self.connect().rest(),
                         b"-ERR max number of clients + cluster connections reached\r\n")

    def test_maxclients_raises_the_limit_of_files(self):
        self.start("--maxclients", "10")
        client = self.connect()
        self.server.limit(resource.RLIMIT_NOFILE, 50)
        self.assertEqual(client.ask("CONFIG", "SET", "maxclients", 60), b"OK")
        clients = [eventually(self.served) for _ in range(59)]
        self.assertNotIn(None, clients)

    def keepalive_s(self, client):
        """Returns the seconds until the server's system sends the next keepalive probe; 0 if it
        sends none."""
        ends = [f":{self.server.port:04X}", f":{client.socket.getsockname()[1]:04X}"]
        for line in pathlib.Path("/proc/net/tcp").read_text().splitlines():
            fields = line.split()
            if fields[1].endswith(ends[0]) and fields[2].endswith(ends[1]):
                timer, jiffies = fields[5].split(":")
                return int(jiffies, 16) / os.sysconf("SC_CLK_TCK") if timer == "02" else 0

    def test_sends_keepalive_probes_to_silent_clients(self):
        self.start("--tcp-keepalive", "100")
        client = self.connect()
        self.assertEqual(client.ask("CONFIG", "SET", "tcp-keepalive", "0"), b"OK")
        self.assertTrue(eventually(lambda: 0 < self.keepalive_s(client) <= 100))
        unasked = self.connect()
        self.assertEqual(unasked.ask("PING"), b"PONG")
        self.assertTrue(eventually(lambda: self.keepalive_s(unasked) == 0))


if __name__ == "__main__":
    unittest.main()
