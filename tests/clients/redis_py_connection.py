"""redis-py connects, sets its client info, and reconnects after its connection was cut."""

import os
import subprocess
import sys
import unittest

import redis

PORT = int(os.environ["PORT"])
IS_ZSETD = os.environ["SERVER"] == "zsetd"

FIRST_STEPS = f"""
import redis
server = redis.Redis(port={PORT})
print(server.ping(), server.zadd("connection:first", {{"x": 1}}))
server.close()
"""


class Connection(unittest.TestCase):
    def connect(self, **options):
        server = redis.Redis(port=PORT, decode_responses=True, **options)
        self.addCleanup(server.close)
        return server

    def test_first_steps_print_no_warning(self):
        steps = subprocess.run([sys.executable, "-c", FIRST_STEPS], capture_output=True, text=True)
        self.assertEqual((steps.stdout, steps.stderr), ("True 1\n", ""))

    def test_both_loopback_addresses_accept_clients(self):
        for host in ("127.0.0.1", "::1"):
            with self.subTest(host=host):
                self.assertTrue(self.connect(host=host).ping())

    def test_a_client_is_known_by_its_name(self):
        server = self.connect(client_name="painter", db=3)
        self.assertEqual(server.client_getname(), "painter")
        names = {client["id"]: client["name"] for client in server.client_list()}
        self.assertEqual(names[str(server.client_id())], "painter")
        self.assertEqual(server.client_info()["db"], 3)

    @unittest.skipUnless(IS_ZSETD, "new in Redis 7.2")
    def test_a_client_reports_its_library(self):
        server = self.connect(single_connection_client=True)
        self.assertTrue(server.execute_command("CLIENT SETINFO", "LIB-NAME", "redis-py"))
        self.assertEqual(server.client_info()["lib-name"], "redis-py")

    def test_databases_are_apart(self):
        self.connect(db=1).set("connection:db", "one")
        self.assertIsNone(self.connect(db=2).get("connection:db"))
        self.assertEqual(self.connect(db=1).get("connection:db"), "one")

    def test_info_reports_a_version_and_a_role(self):
        info = self.connect().info()
        self.assertGreaterEqual(info["redis_version"], "7.0")
        self.assertEqual(info["role"], "master")

    def test_a_killed_client_connects_again(self):
        server = self.connect()
        first = server.client_id()
        self.assertEqual(self.connect().client_kill_filter(_id=first), 1)
        self.assertTrue(server.ping())
        self.assertNotEqual(server.client_id(), first)
