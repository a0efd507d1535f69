"""Runs the commands of docs/cluster.md as they are, with other ports. A client
writes during the move from Redis to zsetd. Takes two minutes: `./check --cluster-kills`."""

import os
import pathlib
import re
import socket
import subprocess
import tempfile
import threading
import unittest

import redis
from redis.cluster import ClusterNode, RedisCluster

from nodes import REDIS, run_cli
from server_process import ServerProcess, eventually

ZSETD = pathlib.Path(os.environ["ZSETD"]).resolve()
PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs/cluster.md"
FIRST_PORT = 17000
PORTS = {"60": FIRST_PORT, "70": FIRST_PORT + 100, "71": FIRST_PORT + 200}  # of 6001, 7001, 7101


def with_free_ports(text):
    return re.sub(r"\b(60|70|71)(\d\d)\b", lambda found: str(PORTS[found[1]] + int(found[2])), text)


def commands_of(first_heading, last_heading):
    """Returns the indented lines between two headings of the page."""
    section = PAGE.read_text().split(f"## {first_heading}\n")[1].split(f"## {last_heading}\n")[0]
    return with_free_ports("\n".join(line[4:] for line in section.splitlines() if line.startswith("    ")))


@unittest.skipUnless(os.environ.get("WALKTHROUGH"), "takes two minutes: ./check --cluster-kills")
class Walkthrough(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.addCleanup(self.end_servers)

    def end_servers(self):
        for port in range(FIRST_PORT, FIRST_PORT + 300):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    subprocess.run(["redis-cli", "-p", str(port), "shutdown", "nosave", "force"], capture_output=True)

    def run_commands(self, text):
        path = f"{ZSETD.parent}:{os.environ['PATH']}"
        end = subprocess.run(["bash", "-c", f"set -euo pipefail\n{text}"], cwd=self.folder, text=True,
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=900,
                             env={**os.environ, "PATH": path})
        self.assertEqual(end.returncode, 0, end.stdout)
        return end.stdout

    def check(self, port):
        code, text = run_cli("check", f"127.0.0.1:{port}")
        self.assertEqual(code, 0, text)
        self.assertIn("[OK] All 16384 slots covered.", text)
        return text

    def test_a_cluster_is_made_extended_and_fails_over(self):
        text = self.run_commands(commands_of("A cluster of six nodes", "From a Redis Cluster, without downtime"))
        self.assertIn("[OK] All 16384 slots covered.", text)
        self.assertIn("bob", text)
        self.assertEqual(text.count("master,fail"), 1, text)
        self.assertIn("3 masters", self.check(PORTS["70"] + 2))

    def test_a_redis_cluster_moves_without_an_error(self):
        servers = []
        for number in (1, 2, 3):
            servers.append(ServerProcess(REDIS, "--cluster-enabled", "yes", port=PORTS["60"] + number))
            self.addCleanup(servers[-1].stop)
        addresses = [f"127.0.0.1:{server.port}" for server in servers]
        self.assertEqual(run_cli("create", *addresses, "--cluster-yes")[0], 0)
        client = RedisCluster(startup_nodes=[ClusterNode("127.0.0.1", servers[0].port)], decode_responses=True)
        errors, ends, written = [], threading.Event(), []

        def write():
            while not ends.is_set():
                try:
                    client.set(f"key:{len(written)}", len(written))
                    written.append(len(written))
                except (redis.RedisError, redis.exceptions.RedisClusterException) as error:
                    errors.append(repr(error))

        for server in servers:
            with redis.Redis(port=server.port, decode_responses=True) as one:
                self.assertTrue(eventually(lambda: "cluster_state:ok" in one.execute_command("CLUSTER", "INFO")))
        writer = threading.Thread(target=write)
        writer.start()
        try:
            self.run_commands(commands_of("From a Redis Cluster, without downtime", "Settings"))
        finally:
            ends.set()
            writer.join()
        self.assertEqual(errors, [])
        self.assertGreater(len(written), 100)
        self.assertIn("3 masters", self.check(PORTS["71"] + 1))
        new = RedisCluster(startup_nodes=[ClusterNode("127.0.0.1", PORTS["71"] + 1)], decode_responses=True)
        self.assertEqual({node.port for node in new.get_primaries()}, {PORTS["71"] + number for number in (1, 2, 3)})
        for number in written:
            self.assertEqual(new.get(f"key:{number}"), str(number))


if __name__ == "__main__":
    unittest.main()
