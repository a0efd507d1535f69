"""If the system refuses the size of a file or a descriptor, the server reports it and continues. It
recovers when the system permits it again."""

import errno
import os
import resource

from server_process import eventually
from zsetd import ZsetdTest


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
