"""Disabled by default: access from other machines, and dangerous commands."""

import socket
import subprocess
import unittest

from server_process import free_port
from zsetd import PROGRAM, ZsetdTest


def own_address():
    """Returns an address of this machine that other machines see, or None. Sends no data."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # RFC 5737: reserved for documentation
        except OSError:
            return None
        return probe.getsockname()[0]


class Protection(ZsetdTest):
    def from_afar(self):
        return self.connect(host=own_address())

    @unittest.skipIf(own_address() is None, "this machine has no address but its own")
    def test_without_a_password_only_this_machine_is_accepted(self):
        self.start("--bind", "*")
        near = self.connect()
        denied = self.from_afar().rest()
        self.assertTrue(denied.startswith(b"-DENIED Redis is running in protected mode because "))
        self.assertTrue(denied.endswith(b"connections from the outside.\r\n"))
        self.assertIn(b"rejected_connections:1\r\n", near.ask("INFO", "stats"))
        near.ask("CONFIG", "SET", "requirepass", "secret")
        self.assertEqual(str(self.from_afar().ask("PING")), "NOAUTH Authentication required.")
        near.ask("CONFIG", "SET", "requirepass", "")
        near.ask("CONFIG", "SET", "protected-mode", "no")
        self.assertEqual(self.from_afar().ask("PING"), b"PONG")

    def test_renamed_command_has_only_its_new_name(self):
        self.start("--rename-command", "GET", "fetch", "--rename-command", "CONFIG", "",
                   "--rename-command", "ACL", "rights")
        client = self.connect()
        self.assertIn("unknown command 'GET'", str(client.ask("GET", "k")))
        self.assertIn("unknown command 'CONFIG'", str(client.ask("CONFIG", "GET", "port")))
        self.assertIn("unknown command ''", str(client.ask("", "GET", "port")))
        self.assertIsNone(client.ask("Fetch", "k"))
        self.assertEqual(client.ask("COMMAND", "INFO", "get", "config", "config|get"), [None] * 3)
        self.assertEqual(client.ask("COMMAND", "INFO", "fetch")[0][0], b"get")
        self.assertNotIn(b"config", client.ask("COMMAND", "LIST"))
        self.assertEqual(client.ask("RIGHTS", "SETUSER", "u", "+get"), b"OK")
        self.assertIn("Unknown command", str(client.ask("RIGHTS", "SETUSER", "u", "+fetch")))
        self.assertTrue(client.ask("RIGHTS", "HELP")[0].startswith(b"ACL <subcommand>"))

    def test_wrong_renaming_stops_the_start(self):
        for names, reason in [(["NOSUCH", "x"], "No such command in rename-command"),
                              (["GET", "SET"], "Target command name already exists"),
                              (["GET"], "wrong number of arguments")]:
            end = subprocess.run([PROGRAM, "--port", str(free_port()), "--rename-command", *names],
                                 capture_output=True, text=True, timeout=20)
            self.assertEqual(end.returncode, 1)
            self.assertIn(reason, end.stderr)

    def test_modules_are_disabled_unless_a_setting_enables_them(self):
        self.start()
        closed = str(self.connect().ask("MODULE", "LOAD", "x"))
        self.assertTrue(closed.startswith("ERR MODULE command not allowed. If the "
                                          "enable-module-command option is set to "), closed)
        self.start("--enable-module-command", "local")
        self.assertEqual(str(self.connect().ask("MODULE", "LOAD", "x")),
                         "ERR Error loading the extension. Please check the server logs.")


if __name__ == "__main__":
    unittest.main()
