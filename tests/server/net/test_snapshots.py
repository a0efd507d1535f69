"""Snapshots preserve the data when the server ends: by SIGTERM, by SHUTDOWN, or killed at any
moment."""

import itertools
import os
import pathlib
import random
import re
import signal
import subprocess
import tempfile
import threading
import time
import unittest

import redis

from peer import request
from server_process import ServerProcess, eventually
from zsetd import PROGRAM, Zsetd, ZsetdTest

KILLS = int(os.environ.get("ZSETD_KILLS", "10"))


class Snapshots(ZsetdTest):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.file = self.folder / "dump.rdb"

    def serve(self, *options, save="3600 1"):
        server = self.start("--dir", str(self.folder), "--save", save, *options)
        client = redis.Redis(port=server.port)
        self.addCleanup(client.close)
        return client

    def refusal(self, *options):
        """Returns the error output of a server that does not start."""
        run = subprocess.run([PROGRAM, "--port", "0", "--unixsocket", str(self.folder / "socket"),
                              "--dir", str(self.folder), *options], capture_output=True, timeout=20)
        self.assertNotEqual(run.returncode, 0)
        return run.stderr.decode()

    def test_sigterm_saves_if_there_are_save_points(self):
        for save, kept in (("3600 1", 1), ("", 1)):  # the second keeps the earlier data
            client = self.serve(save=save)
            client.set(f"key{save}", "v")
            self.assertIsNone(self.server.stop())
            self.assertEqual(self.serve().dbsize(), kept)
            self.assertIsNone(self.server.stop())

    def test_a_flush_is_saved_before_the_next_script_runs(self):
        client = self.serve("--busy-reply-threshold", "20", save="3600 1000")
        client.set("a", "1")
        client.save()
        peer = self.connect()
        peer.socket.sendall(request("FLUSHALL") + request("EVAL", "while true do end", "0"))
        self.assertEqual(peer.reply(), b"OK")
        self.server.kill()
        self.server.expected_exit_code = -signal.SIGKILL
        self.assertEqual(self.serve().dbsize(), 0)

    def test_the_main_thread_does_not_sleep_between_the_slices_of_a_snapshot(self):
        client = self.serve(save="")
        pipe = client.pipeline(transaction=False)
        for i in range(200_000):
            pipe.set(f"key{i}", i)
        pipe.execute()
        before, asked = self.sleeps(), itertools.count()

        def is_saved():
            next(asked)
            return not client.info("persistence")["rdb_bgsave_in_progress"]

        client.bgsave()
        self.assertTrue(eventually(is_saved))
        # There are more than a thousand slices of 0.1 ms. The thread may wait before each INFO.
        self.assertLess(self.sleeps() - before, 2 * next(asked) + 100)

    def sleeps(self):
        """How often the main thread has waited."""
        status = pathlib.Path(f"/proc/{self.server.process.pid}/status").read_text(encoding="utf-8")
        return int(re.search(r"^voluntary_ctxt_switches:\s+(\d+)", status, re.MULTILINE)[1])

    def load_slowly(self, write, *options):
        """Starts a server that loads a file while `write` writes it. `write` receives the file and
        a client."""
        client = self.serve()
        for i in range(2000):
            client.set(f"key{i}", "value" * 20)
        self.assertIsNone(self.server.stop())
        self.bytes = self.file.read_bytes()
        self.file.unlink()
        os.mkfifo(self.file)
        self.start("--dir", str(self.folder), *options, awaits_data=False)
        client = redis.Redis(port=self.server.port)
        self.addCleanup(client.close)
        with self.file.open("wb", buffering=0) as fifo:
            fifo.write(self.bytes[:1000])
            write(fifo, client)

    def test_requests_that_need_no_data_are_served_during_the_load(self):
        def write(fifo, client):
            for request in "GET key1", "SET a b", "PING", "EVAL x 0", "SAVE", "DBSIZE":
                with self.assertRaisesRegex(redis.exceptions.BusyLoadingError,
                                            "Redis is loading the dataset in memory"):
                    client.execute_command(*request.split())
            info = client.info("persistence")
            self.assertEqual((info["loading"], info["async_loading"]), (1, 0))
            self.assertGreaterEqual(info["loading_loaded_bytes"], 0)
            self.assertIn("loading_eta_seconds", info)
            self.assertEqual(client.config_get("save"), {"save": "3600 1"})
            with self.assertRaises(redis.ResponseError):
                client.config_set("appendonly", "yes")
            with self.assertRaises(redis.ResponseError):
                client.execute_command("DEBUG", "RELOAD", "NOSAVE")
            fifo.write(self.bytes[1000:])

        self.load_slowly(write, "--save", "3600 1")
        client = redis.Redis(port=self.server.port)
        self.assertTrue(eventually(self.server.answers))
        self.assertEqual(client.dbsize(), 2000)
        self.assertEqual(client.info("persistence")["loading"], 0)
        client.close()

    def test_an_end_during_the_load_keeps_the_file(self):
        for word in "SIGTERM", "SHUTDOWN":
            def write(fifo, client):
                self.assertEqual(client.info("persistence")["loading"], 1)
                if word == "SIGTERM":
                    self.server.ask_to_leave()
                else:
                    with self.assertRaises(redis.ConnectionError):
                        client.execute_command("SHUTDOWN")
                        client.ping()
                self.assertTrue(eventually(lambda: not self.server.listens()))

            self.load_slowly(write, "--save", "3600 1")
            self.assertEqual(self.server.exit_code(), 0)
            self.assertTrue(self.file.is_fifo())
            self.file.unlink()

    def test_a_damaged_file_ends_a_server_that_already_listens(self):
        def write(fifo, client):
            self.assertEqual(client.info("persistence")["loading"], 1)
            fifo.write(b"\xff" * 100 + self.bytes[1100:])

        self.load_slowly(write)
        self.assertEqual(self.server.exit_code(), 1)
        self.server.expected_exit_code = 1
        self.assertIn("Cannot load", self.server.log())
        self.assertIn("redis-check-rdb", self.server.log())

    def test_shutdown_obeys_save_and_nosave(self):
        for save, word, kept in (("3600 1", "NOSAVE", 0), ("", "SAVE", 1), ("3600 1", None, 2)):
            client = self.serve(save=save)
            client.set(f"key{word}", "v")
            try:
                client.execute_command("SHUTDOWN", *([word] if word else []))
            except redis.ConnectionError:
                pass
            self.assertEqual(self.server.exit_code(), 0)
            self.assertEqual(self.serve(save="").dbsize(), kept)
            self.assertIsNone(self.server.stop())

    def test_the_server_continues_if_it_cannot_save(self):
        client = self.serve()
        client.set("k", "v")
        self.folder.rename(gone := self.folder.with_name(self.folder.name + "-gone"))
        try:
            with self.assertRaisesRegex(redis.ResponseError, "Errors trying to SHUTDOWN. Check logs."):
                client.execute_command("SHUTDOWN")
            self.server.ask_to_leave()
            self.assertTrue(eventually(lambda: "its data could not be saved" in self.server.log()))
            self.assertEqual(client.get("k"), b"v")
        finally:
            gone.rename(self.folder)

    def test_a_second_server_in_the_directory_is_refused(self):
        self.serve()
        self.assertIn("another server keeps its data in the directory", self.refusal("--save", "3600 1"))

    def test_a_damaged_file_is_refused_and_kept(self):
        self.serve().set("k", "v" * 1000)
        self.assertIsNone(self.server.stop())
        damaged = bytearray(self.file.read_bytes())
        damaged[len(damaged) - 12] ^= 1
        self.file.write_bytes(damaged)
        for save in "", "3600 1":
            refusal = self.refusal("--save", save)
            self.assertRegex(refusal, f"Cannot load '{self.file}': at byte [0-9]+ of {len(damaged)}")
            self.assertIn("move it away to start without data", refusal)
        self.assertEqual(self.file.read_bytes(), damaged)
        self.assertEqual([each.name for each in self.folder.iterdir()], ["dump.rdb"])

    def test_keys_without_elements_are_skipped_and_counted(self):
        """Redis before 6.2 could save such keys."""
        self.file.write_bytes(b"REDIS0009\x00\x01a\x011" + b"\x02\x03set\x00" + b"\x0e\x04list\x00"
                              + b"\xff" + bytes(8))
        client = self.serve()
        self.assertEqual(client.keys(), [b"a"])
        log = self.server.log()
        self.assertIn(" * rdbLoadObject skipping empty key: set\n", log)
        self.assertIn(" * rdbLoadObject skipping empty key: list\n", log)
        self.assertIn(" * Done loading RDB, keys loaded: 1, keys expired: 0, empty keys skipped: 2.\n", log)

    def test_a_missing_directory_is_refused(self):
        self.assertIn("No such file or directory", self.refusal("--dir", str(self.folder / "none")))

    def test_drafts_of_killed_servers_are_removed(self):
        draft = self.folder / "temp-zsetd-1-1.rdb"
        draft.write_bytes(b"half")
        users = self.folder / "temp-zsetd-users.acl"
        users.write_text("user default on nopass ~* &* +@all\n")
        self.serve("--aclfile", str(users))
        self.assertFalse(draft.exists())
        self.assertTrue(users.exists())

    def test_background_saving_shows_one_instant_under_load(self):
        client = self.serve()
        client.execute_command("DEBUG", "POPULATE", 200000, "k", 50)
        client.mset({"first": 0, "second": 0})
        stop = threading.Event()

        def write():
            own = redis.Redis(port=self.server.port)
            count = 0
            while not stop.is_set():
                count += 1
                own.mset({"first": count, "second": count})  # they never differ
                own.rename("k:1", "k:renamed")
                own.rename("k:renamed", "k:1")
            own.close()

        writer = threading.Thread(target=write)
        writer.start()
        try:
            for _ in range(3):
                client.bgsave()
                self.assertTrue(eventually(lambda: client.info()["rdb_bgsave_in_progress"] == 0))
                self.assertEqual(client.info()["rdb_last_bgsave_status"], "ok")
                folder = tempfile.TemporaryDirectory()
                copy = pathlib.Path(folder.name, "dump.rdb")
                copy.write_bytes(self.file.read_bytes())
                with folder:
                    other = ServerProcess(PROGRAM, "--dir", folder.name)
                    loaded = redis.Redis(port=other.port)
                    self.assertEqual(loaded.dbsize(), 200002)
                    self.assertEqual(loaded.get("first"), loaded.get("second"))
                    self.assertTrue(loaded.exists("k:1") != loaded.exists("k:renamed"))
                    loaded.close()
                    self.assertIsNone(other.stop())
        finally:
            stop.set()
            writer.join()

    def test_killed_at_any_moment_it_restarts_with_an_earlier_state(self):
        source = random.Random()
        saved = 0
        for kill in range(KILLS):
            client = self.serve()
            count = int(client.get("count") or 0)
            self.assertGreaterEqual(count, saved)
            self.assertEqual(client.zcard("members"), count)
            if kill == 0:
                client.execute_command("DEBUG", "POPULATE", 20000, "k", 50)
            ends = time.monotonic() + source.uniform(0.05, 0.4)
            while time.monotonic() < ends:
                with client.pipeline(transaction=True) as pipe:
                    count = pipe.incr("count").zadd("members", {str(count + 1): count}).execute()[0]
                if source.randrange(20) == 0:
                    eventually(lambda: not client.info("persistence")["rdb_bgsave_in_progress"])
                    client.save()
                    saved = count
                elif source.randrange(10) == 0:
                    try:
                        client.bgsave()
                    except redis.ResponseError:
                        pass  # one is in progress
            self.server.kill()
            self.server.expected_exit_code = -signal.SIGKILL


if __name__ == "__main__":
    unittest.main()
