"""The model of the disk leaves exactly the states that POSIX allows."""

import random
import unittest

from disk import PAGE, Disk
from trace import Replay


def states(disk, count=400):
    """Returns the possible contents after a crash, as sets of (path, bytes)."""
    source = random.Random(1)
    return {frozenset(disk.after_crash(source).items()) for _ in range(count)}


class Model(unittest.TestCase):
    def setUp(self):
        self.disk = Disk({"/d/a": b"old"})

    def test_synced_bytes_remain_and_others_may_be_cut_anywhere(self):
        file = self.disk.create("/d/a")
        file.append(b"12")
        self.assertEqual({dict(state)["/d/a"] for state in states(self.disk)},
                         {b"old", b"old1", b"old12", b"old\0", b"old\0\0"})
        file.safe = bytes(file.data)
        self.assertEqual(states(self.disk), {frozenset({("/d/a", b"old12")})})

    def test_pages_may_be_missing(self):
        file = self.disk.create("/d/a")
        file.append(b"x" * 3 * PAGE)
        holes = [dict(state)["/d/a"] for state in states(self.disk)]
        self.assertTrue(any(hole.startswith(b"old\0") and hole.endswith(b"x") for hole in holes))
        self.assertTrue(all(hole.startswith(b"old") for hole in holes))

    def test_a_renamed_file_without_a_sync_may_be_empty(self):
        self.disk.create("/d/b").append(b"new")
        self.disk.sync_directory("/d")
        self.disk.rename("/d/b", "/d/a")
        self.assertIn(frozenset({("/d/a", b"")}), states(self.disk))

    def test_a_rename_happens_as_a_whole(self):
        file = self.disk.create("/d/b")
        file.append(b"new")
        file.safe = b"new"
        self.disk.sync_directory("/d")
        self.disk.rename("/d/b", "/d/a")
        before, after = frozenset({("/d/a", b"old"), ("/d/b", b"new")}), frozenset({("/d/a", b"new")})
        self.assertEqual(states(self.disk), {before, after})
        self.disk.sync_directory("/d")
        self.assertEqual(states(self.disk), {after})

    def test_directories_are_synced_separately(self):
        self.disk.create("/d/e/b")
        self.disk.remove("/d/a")
        self.disk.sync_directory("/d")
        self.assertEqual(states(self.disk), {frozenset(), frozenset({("/d/e/b", b"")})})


class Traces(unittest.TestCase):
    @staticmethod
    def hex(text):
        return "".join(f"\\x{byte:02x}" for byte in text.encode())

    def replay(self, *lines):
        replay = Replay([line.encode() for line in lines], "/d", {})
        return replay, list(replay)

    def test_operations_and_replies_are_read(self):
        replay, names = self.replay(
            f'7 openat(AT_FDCWD, "{self.hex("/d/a")}", O_WRONLY|O_CREAT|O_APPEND, 0644) = 5',
            f'7 write(5, "{self.hex("ab")}", 2) = 2', "7 fdatasync(5) = 0", "7 close(5) = 0",
            f'7 write(5, "{self.hex("elsewhere")}", 9) = 9',
            f'7 sendto(6, "{self.hex("+OK")}", 3, MSG_NOSIGNAL, NULL, 0) = 3',
            f'7 rename("{self.hex("/d/a")}", "{self.hex("/d/b")}") = 0', "7 +++ exited with 0 +++")
        self.assertEqual(names, ["openat", "write", "fdatasync", "sendto", "rename"])
        self.assertEqual(replay.disk.after_kill(), {"/d/b": b"ab"})
        self.assertEqual(replay.disk.names["/d/b"].safe, b"ab")
        self.assertIn(b"+OK", replay.sent)

    def test_a_sync_covers_what_was_written_before_it_began(self):
        replay, _ = self.replay(
            f'7 openat(AT_FDCWD, "{self.hex("/d/a")}", O_WRONLY|O_CREAT, 0644) = 5',
            f'7 write(5, "{self.hex("ab")}", 2) = 2', "8 fdatasync(5 <unfinished ...>",
            f'7 write(5, "{self.hex("cd")}", 2) = 2', "8 <... fdatasync resumed>) = 0")
        self.assertEqual(replay.disk.names["/d/a"].safe, b"ab")
        self.assertEqual(replay.disk.after_kill(), {"/d/a": b"abcd"})


if __name__ == "__main__":
    unittest.main()
