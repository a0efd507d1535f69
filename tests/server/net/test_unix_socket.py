"""The Unix socket: its permissions, and how its clients are reported."""

import contextlib
import os
import pathlib
import socket
import subprocess
import tempfile
import unittest

import redis
from server_process import eventually, free_port
from zsetd import PROGRAM, ZsetdTest


class UnixSocket(ZsetdTest):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "zsetd.sock")

    def start_there(self, *options):
        self.start("--unixsocket", self.path, *options)
        client = redis.Redis(unix_socket_path=self.path)
        self.addCleanup(client.close)
        return client

    def test_is_open_next_to_the_port(self):
        client = self.start_there()
        self.assertTrue(client.set("k", "v"))
        self.assertEqual(self.connect().ask("GET", "k"), b"v")

    def test_has_the_permissions_of_the_setting(self):
        client = self.start_there("--unixsocketperm", "700")
        self.assertEqual(os.stat(self.path).st_mode & 0o777, 0o700)
        self.assertEqual(client.config_get("unixsocketperm"), {"unixsocketperm": "700"})

    def test_is_reported_as_the_address_of_its_clients(self):
        client = self.start_there()
        info = client.client_info()
        self.assertEqual(info["addr"], f"{self.path}:0")
        self.assertEqual(info["laddr"], f"{self.path}:0")
        self.assertEqual(info["flags"], "U")

    def test_file_is_removed_with_the_server_and_an_old_one_is_replaced(self):
        pathlib.Path(self.path).touch()
        self.start_there()
        self.assertIsNone(self.server.stop())
        self.assertFalse(os.path.exists(self.path))

    def test_of_a_server_is_not_taken_by_another(self):
        self.start_there()
        second = subprocess.run([PROGRAM, "--port", str(free_port()), "--unixsocket", self.path,
                                 "--save", ""], capture_output=True, text=True, timeout=20)
        self.assertEqual(second.returncode, 1)
        self.assertIn(f"Cannot listen on {self.path}: Address already in use", second.stderr)
        with contextlib.closing(redis.Redis(unix_socket_path=self.path)) as client:
            self.assertTrue(client.ping())

    def test_works_with_redis_cli(self):
        self.start_there()
        answer = subprocess.run(["redis-cli", "-s", self.path, "PING"], capture_output=True,
                                text=True, timeout=20)
        self.assertEqual(answer.stdout, "PONG\n")

    def test_may_be_the_only_listener(self):
        process = subprocess.Popen([PROGRAM, "--port", "0", "--unixsocket", self.path, "--save", ""],
                                   stdout=subprocess.DEVNULL)
        try:
            self.assertTrue(eventually(self.connects))
        finally:
            process.terminate()
            self.assertEqual(process.wait(20), 0)

    def connects(self):
        with socket.socket(socket.AF_UNIX) as probe:
            return probe.connect_ex(self.path) == 0

    def test_unusable_path_prevents_the_start(self):
        for path in "/nowhere/at/all", "x" * 200:
            end = subprocess.run([PROGRAM, "--port", str(free_port()), "--unixsocket", path,
                                  "--save", ""], capture_output=True, text=True, timeout=20)
            self.assertEqual(end.returncode, 1)
            self.assertIn(f"Cannot listen on {path}", end.stderr)


if __name__ == "__main__":
    unittest.main()
