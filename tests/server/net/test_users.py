"""Users kept in files: those of the configuration file, and the ACL file."""

import pathlib
import subprocess
import tempfile
import unittest

from server_process import free_port
from zsetd import PROGRAM, ZsetdTest


class Users(ZsetdTest):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.acl_file = self.folder / "users.acl"

    def configure(self, *lines):
        path = self.folder / "zsetd.conf"
        path.write_text("\n".join(lines) + "\n")
        return str(path)

    def start_with_file(self, *lines):
        self.acl_file.write_text("\n".join(lines) + "\n")
        self.start("--aclfile", str(self.acl_file))
        return self.connect()

    def whoami(self, user, password):
        client = self.connect()
        client.ask("AUTH", user, password)
        return client.ask("ACL", "WHOAMI")

    def test_are_read_from_the_configuration_file_and_kept_by_config_rewrite(self):
        config = self.configure("user alice on >secret +@all ~* (+get ~a)", "# mine",
                                "user default on nopass +@all ~* &*")
        server = self.start(config=config)
        self.assertEqual(self.whoami("alice", "secret"), b"alice")
        admin = self.connect()
        admin.ask("ACL", "SETUSER", "bob", "on", ">word", "+acl|whoami")
        before = admin.ask("ACL", "LIST")
        self.assertEqual(admin.ask("CONFIG", "REWRITE"), b"OK")
        text = pathlib.Path(config).read_text()
        self.assertIn("# mine\n", text)
        self.assertNotIn("secret", text)
        self.assertIsNone(server.stop())
        self.start("--dir", ".", config=config)  # the first one's directory is deleted
        self.assertEqual(self.whoami("bob", "word"), b"bob")
        self.assertEqual(self.connect().ask("ACL", "LIST"), before)

    def test_default_user_of_the_configuration_file_starts_without_permissions(self):
        self.start("--user", "default", "on", "nopass", "~*", "+@all")
        self.assertIn("NOPERM", str(self.connect().ask("SUBSCRIBE", "x")))

    def test_are_read_from_the_acl_file_and_saved_there(self):
        admin = self.start_with_file("user alice on >secret +@all ~*",
                                     "user default on nopass ~* &* +@all")
        mode = 0o640
        self.acl_file.chmod(mode)
        self.assertEqual(self.whoami("alice", "secret"), b"alice")
        admin.ask("ACL", "SETUSER", "eve", "on", ">x", "+acl|whoami")
        before = admin.ask("ACL", "LIST")
        self.assertEqual(admin.ask("ACL", "SAVE"), b"OK")
        self.assertEqual(self.acl_file.stat().st_mode & 0o777, mode)
        self.assertEqual(admin.ask("ACL", "DELUSER", "eve"), 1)
        self.assertEqual(admin.ask("ACL", "LOAD"), b"OK")
        self.assertEqual(admin.ask("ACL", "LIST"), before)
        self.assertEqual(self.whoami("eve", "x"), b"eve")

    def test_acl_load_loads_all_of_a_file_or_nothing(self):
        admin = self.start_with_file("user alice on nopass +@all ~*")
        before = admin.ask("ACL", "LIST")
        self.acl_file.write_text("user alice on\nuser bob +nosuch\n")
        self.assertIn("+nosuch", str(admin.ask("ACL", "LOAD")))
        self.acl_file.write_text("user alice on\nuser\tbob on\nuser carl\ton\n")
        error = str(admin.ask("ACL", "LOAD"))
        self.assertIn(":2 should start with user keyword", error)
        self.assertIn(":3: username 'carl\ton' contains invalid characters", error)
        self.acl_file.unlink()
        self.assertIn("opening file", str(admin.ask("ACL", "LOAD")))
        self.assertEqual(admin.ask("ACL", "LIST"), before)

    def test_acl_load_closes_clients_of_removed_users_and_of_forbidden_channels(self):
        admin = self.start_with_file("user alice on nopass +@all ~* &*")
        listeners = {}
        admin.ask("ACL", "SETUSER", "doug", "on", "nopass", "+@all", "&test*")
        admin.ask("ACL", "SETUSER", "gone", "on", "nopass", "+@all", "&*")
        for user in "alice", "doug", "gone":
            listeners[user] = self.connect()
            listeners[user].ask("AUTH", user, "x")
            listeners[user].ask("SUBSCRIBE", "test1")
        self.acl_file.write_text("user alice on nopass +@all ~* &*\nuser doug on nopass &other\n")
        self.assertEqual(admin.ask("ACL", "LOAD"), b"OK")
        self.assertEqual(listeners["doug"].rest(), b"")
        self.assertEqual(listeners["gone"].rest(), b"")
        admin.ask("PUBLISH", "test1", "hello")
        self.assertEqual(listeners["alice"].reply(), [b"message", b"test1", b"hello"])

    def test_errors_keep_the_server_from_starting(self):
        self.acl_file.write_text("user alice on nonsense\n")
        for lines, reason in [
                (["user alice +nosuch"], "Unknown command or category name in ACL"),
                (["user alice on", "user alice off"], "Duplicate user"),
                ([f"aclfile {self.acl_file}"], "Syntax error"),
                (["aclfile /nowhere/at/all"], "No such file"),
                ([f"aclfile {self.acl_file}", "user bob on"], "not in both")]:
            command = [PROGRAM, self.configure(*lines), "--port", str(free_port())]
            end = subprocess.run(command, capture_output=True, text=True, timeout=20)
            self.assertEqual(end.returncode, 1, lines)
            self.assertIn(reason, end.stderr)


if __name__ == "__main__":
    unittest.main()
