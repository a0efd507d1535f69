"""If the system refuses a thread, the size of a file or a descriptor, the server reports it and
continues. It recovers when the system permits it again."""

import errno
import mmap
import os
import resource
import struct
import subprocess
import tempfile
import unittest

from server_process import eventually, free_port
from zsetd import PROGRAM, Zsetd, ZsetdTest

MANY = 1000
NO_THREAD = "cannot create a thread: " + os.strerror(errno.EAGAIN)


class LimitTest(ZsetdTest):
    def field(self, name):
        """Returns this field of INFO."""
        info = self.client.ask("INFO", "everything").decode()
        return info.partition(f"\n{name}:")[2].partition("\r")[0]

    def becomes(self, name, value):
        return eventually(lambda: self.field(name) == value)

    def assert_saves(self):
        self.assertEqual(self.client.ask("BGSAVE"), b"Background saving started")
        self.assertTrue(self.becomes("rdb_bgsave_in_progress", "0"))
        self.assertEqual(self.field("rdb_last_bgsave_status"), "ok")

    def assert_refuses(self, *words, reason=""):
        reply = self.client.ask(*words)
        self.assertIsInstance(reply, RuntimeError)
        self.assertIn(reason, str(reply))


@unittest.skipIf(os.environ["SANITIZER"], "a sanitizer wants to be loaded first")
class Threads(LimitTest):
    def setUp(self):
        file = tempfile.NamedTemporaryFile()
        self.addCleanup(file.close)
        file.write(bytes(8))
        file.flush()
        self.left = mmap.mmap(file.fileno(), 8)
        self.addCleanup(self.left.close)
        self.environment = {"LD_PRELOAD": os.environ["LIMITED_THREADS"], "THREADS_LEFT": file.name,
                            "MALLOC_CONF": "background_thread:false"}  # its threads would count

    def permit(self, count):
        struct.pack_into("q", self.left, 0, count)

    def serve(self, *options):
        self.permit(MANY)
        self.start(*options, environment=self.environment)
        self.client = self.connect()

    def serve_without_further_threads(self, *options):
        self.serve(*options)
        self.assertEqual(self.client.ask("SET", "key", "value"), b"OK")
        self.permit(0)

    def reported(self, text=NO_THREAD):
        return eventually(lambda: text in self.server.log())

    def test_that_are_missing_at_the_start_prevent_it(self):
        with tempfile.TemporaryDirectory() as folder:
            options = ["--appendonly", "yes", "--io-threads", "3", "--dir", folder,
                       "--metrics-port", str(free_port())]
            self.serve(*options)
            needed = MANY - struct.unpack("q", self.left[:])[0]
            self.assertGreaterEqual(needed, 6)
            self.assertIsNone(self.server.stop())
            for count in range(needed):
                self.permit(count)
                end = subprocess.run(
                    [PROGRAM, "--port", str(free_port()), *options], capture_output=True,
                    text=True, timeout=60, env={**os.environ, **self.environment})
                self.assertEqual(end.returncode, 1, end.stdout)
                self.assertRegex(end.stdout, f"# Cannot start: .*{NO_THREAD}")
                self.assertIn(NO_THREAD, end.stderr)
            self.serve(*options)

    def test_that_are_missing_fail_a_snapshot(self):
        self.serve_without_further_threads()
        self.assert_refuses("BGSAVE")
        self.assertEqual(self.field("rdb_last_bgsave_status"), "err")
        self.assertTrue(self.reported("Cannot save the snapshot: " + NO_THREAD))
        self.assertEqual(self.client.ask("SAVE"), b"OK")  # needs none
        self.permit(MANY)
        self.assert_saves()

    def test_that_are_missing_fail_an_automatic_snapshot(self):
        self.serve_without_further_threads("--save", "1 1")
        self.assertTrue(self.reported())
        self.assert_refuses("SET", "a", "b", reason="MISCONF")
        self.permit(MANY)
        self.assertTrue(self.becomes("rdb_last_bgsave_status", "ok"))
        self.assertEqual(self.client.ask("SET", "a", "b"), b"OK")

    def test_that_are_missing_prevent_a_log(self):
        self.serve_without_further_threads()
        for count in range(2):
            self.permit(count)
            self.assert_refuses("CONFIG", "SET", "appendonly", "yes", reason="Unable to turn on AOF")
            self.assertEqual(self.client.ask("CONFIG", "GET", "appendonly"), [b"appendonly", b"no"])
            self.assert_refuses("BGREWRITEAOF")
            self.assertEqual(self.client.ask("SET", "a", count), b"OK")
        self.assertTrue(self.reported("Cannot append to"))
        self.permit(MANY)
        self.assertEqual(self.client.ask("CONFIG", "SET", "appendonly", "yes"), b"OK")
        self.assertTrue(self.becomes("aof_rewrite_in_progress", "0"))
        self.assertEqual(self.field("aof_last_bgrewrite_status"), "ok")

    def test_that_are_missing_fail_a_rewrite(self):
        self.serve("--appendonly", "yes")
        self.permit(0)
        self.assertEqual(self.client.ask("BGREWRITEAOF"),
                         b"Background append only file rewriting started")
        self.assertTrue(self.becomes("aof_last_bgrewrite_status", "err"))
        self.assertTrue(self.reported("Cannot rewrite the append only file: " + NO_THREAD))
        self.assertEqual(self.client.ask("SET", "a", "b"), b"OK")
        self.permit(MANY)
        self.client.ask("BGREWRITEAOF")
        self.assertTrue(self.becomes("aof_last_bgrewrite_status", "ok"))

    def test_that_are_missing_for_the_first_base_are_requested_again(self):
        self.serve_without_further_threads()
        self.permit(2)  # those of the log
        self.assertEqual(self.client.ask("CONFIG", "SET", "appendonly", "yes"), b"OK")
        self.assertTrue(self.becomes("aof_last_bgrewrite_status", "err"))
        self.permit(MANY)
        self.assertTrue(self.becomes("aof_last_bgrewrite_status", "ok"))

    def test_that_are_missing_at_the_master_delay_a_full_synchronization(self):
        for diskless in "yes", "no":
            with self.subTest(diskless=diskless):
                self.serve_without_further_threads("--repl-diskless-sync", diskless,
                                                   "--repl-diskless-sync-delay", "0")
                replica = Zsetd(PROGRAM, "--save", "", "--replicaof",
                                f"127.0.0.1 {self.server.port}", awaits_data=False)
                self.addCleanup(self._see_off, replica)
                self.assertTrue(self.reported("Cannot send a snapshot to replicas"))
                self.permit(MANY)
                self.assertTrue(eventually(lambda: self.field("slave0").find("state=online") > 0))

    def test_that_are_missing_at_a_replica_keep_its_data(self):
        master = Zsetd(PROGRAM, "--repl-diskless-sync-delay", "0")
        self.addCleanup(self._see_off, master)
        for data, count in (("", 0), ("old", 0), ("old", 1)):  # the first one checks the snapshot
            with self.subTest(data=data, count=count):
                self.serve()
                if data:
                    self.client.ask("SET", data, "v")
                self.permit(count)
                self.assertEqual(self.client.ask("REPLICAOF", "127.0.0.1", master.port), b"OK")
                self.assertTrue(self.reported(
                    "Failed trying to load the MASTER synchronization DB: " + NO_THREAD))
                self.assertEqual(self.client.ask("DBSIZE"), len(data) > 0)
                self.permit(MANY)
                self.assertTrue(self.becomes("master_link_status", "up"))
                self.assertEqual(self.client.ask("DBSIZE"), 0)


class FileSizes(LimitTest):
    MOST = 100_000

    def fill(self):
        for i in range(2 * self.MOST // 1000):
            reply = self.client.ask("SET", f"key{i}", os.urandom(1000))
            if reply != b"OK":
                return reply
        return None

    def limit(self, size):
        self.server.limit(resource.RLIMIT_FSIZE, size)

    def test_fail_a_snapshot(self):
        self.start()
        self.client = self.connect()
        self.fill()
        self.limit(self.MOST)
        self.client.ask("BGSAVE")
        self.assertTrue(self.becomes("rdb_last_bgsave_status", "err"))
        self.assertIn(os.strerror(errno.EFBIG), self.server.log())
        self.limit(resource.RLIM_INFINITY)
        self.assert_saves()

    def test_fail_a_write_to_the_log(self):
        self.start("--appendonly", "yes")
        self.client = self.connect()
        self.limit(self.MOST)
        self.assertIn("MISCONF", str(self.fill()))
        self.assertEqual(self.field("aof_last_write_status"), "err")
        self.limit(resource.RLIM_INFINITY)
        self.assertTrue(self.becomes("aof_last_write_status", "ok"))
        self.assertIsNone(self.fill())


class Descriptors(LimitTest):
    def test_of_a_lowered_limit_concern_only_a_new_maxclients(self):
        self.start()
        self.client = self.connect()
        before = self.client.ask("CONFIG", "GET", "maxclients")
        most = self.server.open_files() + 10
        resource.prlimit(self.server.process.pid, resource.RLIMIT_NOFILE, (most, most))
        self.assertEqual(self.client.ask("CONFIG", "SET", "loglevel", "verbose"), b"OK")
        self.assertEqual(self.client.ask("CONFIG", "SET", *before), b"OK")
        self.assert_refuses("CONFIG", "SET", "maxclients", "20000", reason="not able to handle")
        self.assertEqual(self.client.ask("CONFIG", "GET", "maxclients"), before)
