"""The addresses of the setting `bind`."""

import contextlib
import socket
import subprocess
import unittest

from server_process import free_port
from zsetd import PROGRAM, ZsetdTest

LOOPBACK = [(socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")]
NOBODYS = "192.0.2.1"  # RFC 5737: reserved for documentation, so no machine has it


def exists(family, address):
    with contextlib.suppress(OSError), socket.socket(family) as probe:
        probe.bind((address, 0))
        return True
    return False


class Listening(ZsetdTest):
    def assert_does_not_start(self, reason, *options, port=None):
        command = [PROGRAM, "--port", str(port or free_port()), "--save", "", *options]
        end = subprocess.run(command, capture_output=True, text=True, timeout=20)
        self.assertEqual(end.returncode, 1)
        self.assertIn(reason, end.stderr)

    def test_is_on_every_existing_loopback_address(self):
        self.start()
        for family, address in LOOPBACK:
            if exists(family, address):
                self.assertEqual(self.connect(host=address).ask("PING"), b"PONG")

    def test_is_only_on_the_configured_addresses(self):
        self.start("--bind", "127.0.0.1")
        with socket.socket() as probe:
            self.assertNotEqual(probe.connect_ex(("127.0.0.2", self.server.port)), 0)

    def test_skips_a_missing_address_after_a_minus(self):
        self.start("--bind", f"-{NOBODYS}", "127.0.0.1")
        self.assertEqual(self.connect().ask("PING"), b"PONG")

    def test_fails_on_a_missing_address(self):
        self.assert_does_not_start(f"Cannot listen on {NOBODYS}", "--bind", "127.0.0.1", NOBODYS)

    def test_fails_on_an_address_in_use_even_after_a_minus(self):
        for family, address in filter(lambda each: exists(*each), LOOPBACK):
            with socket.socket(family) as taken:
                port = free_port()  # where connections to an earlier server may remain
                taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                taken.bind((address, port))
                taken.listen()
                reason = f"Cannot listen on {address} port {port}: Address already in use"
                self.assert_does_not_start(reason, "--bind", address, port=port)
                self.assert_does_not_start(reason, "--bind", "-" + address, port=port)

    def test_fails_on_an_invalid_address_even_after_a_minus(self):
        for word in "nonsense", "-nonsense":
            reason = "'nonsense' is not an IP address"
            self.assert_does_not_start(reason, "--bind", "127.0.0.1", word)

    def test_fails_without_any_address(self):
        for words in "", "-" + NOBODYS:
            self.assert_does_not_start("bind: there is no address to listen on", "--bind", words)


if __name__ == "__main__":
    unittest.main()
