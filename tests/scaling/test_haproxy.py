"""HAProxy checks each server with ROLE, so clients reach the master."""

import subprocess
import unittest

from redis.exceptions import ConnectionError

from proxy import EXAMPLES, ProxyTest, program
from server_process import eventually, free_port

# A replica whose reply to ROLE contains "master" in the name of its master.
REPLICA = ["--replicaof", "master.invalid", "6379", "--replica-read-only", "no"]


class HAProxy(ProxyTest):
    def setUp(self):
        self.first = self.start_server("zsetd")
        self.second = self.start_server("redis-server", *REPLICA)
        for server in (self.first, self.second):
            server.client.set("name", server.name)
        self.masters, self.replicas = free_port(), free_port()
        addresses = {"10.0.0.11:6379": f"127.0.0.1:{self.first.port}",
                     "10.0.0.12:6379": f"127.0.0.1:{self.second.port}",
                     "127.0.0.1:6401": f"127.0.0.1:{self.masters}",
                     "127.0.0.1:6402": f"127.0.0.1:{free_port()}",
                     "127.0.0.1:6403": f"127.0.0.1:{free_port()}",
                     "127.0.0.1:6411": f"127.0.0.1:{self.replicas}"}
        self.start_proxy([program("haproxy"), "-db", "-f"], "haproxy.cfg", addresses, self.masters)

    def server_at(self, port):
        """Returns the name of the server that a new connection reaches, or None."""
        client = self.connect(port)
        try:
            return client.get("name")
        except ConnectionError:
            return None
        finally:
            client.close()

    def check_server_at(self, port, name):
        """HAProxy assumes that all servers qualify until it has checked them, and sends clients to
        each in turn."""
        self.assertTrue(eventually(lambda: {self.server_at(port) for _ in range(8)} == {name}))

    def test_clients_reach_the_master(self):
        self.check_server_at(self.masters, "zsetd")
        self.check_server_at(self.replicas, "redis-server")

    def test_clients_follow_to_another_master(self):
        self.check_server_at(self.masters, "zsetd")
        client = self.connect(self.masters)
        self.assertEqual(client.get("name"), "zsetd")
        self.first.client.close()
        self.first.kill()
        self.first.expected_exit_code = -9
        self.second.client.execute_command("REPLICAOF", "NO", "ONE")
        self.check_server_at(self.masters, "redis-server")

    def test_the_file_is_well_formed(self):
        check = [program("haproxy"), "-c", "-f", EXAMPLES / "haproxy.cfg"]
        self.assertEqual(subprocess.run(check, capture_output=True).returncode, 0)


if __name__ == "__main__":
    unittest.main()
