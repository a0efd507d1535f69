"""Every crash leaves a state from which zsetd starts with all acknowledged changes, and with none in
part.

A server runs under strace while clients change data and settings. The trace is repeated on a model of
the disk (disk.py). At random points the model leaves the state of a kill, or one of the states that a
crash of the machine may leave. A server starts on it, and its data is compared with the replies that
had been sent before that point.

CRASH_STATES is the number of states of each scenario, CRASH_SEED repeats a choice.
"""

import contextlib
import os
import pathlib
import random
import re
import tempfile
import threading
import unittest

import redis

import trace
from peer import Peer
from server_process import ServerProcess, free_port

ZSETD = os.environ["ZSETD"]
STATES = int(os.environ.get("CRASH_STATES", "15"))
SEED = int(os.environ.get("CRASH_SEED", "0")) or random.randrange(1, 10**6)
CLIENTS = 3
UNSYNCED = ("mark",)  # subjects of changes that survive a kill, but perhaps not a crash
ACKNOWLEDGED = re.compile(rb"ack:(\w+):(\d+)\r\n")
# The documented error of a log in whose end pages are missing, and the setting that removes this end.
DAMAGED = r"Cannot load '.*\.incr\.aof': .*at byte \d+ of \d+: "
REPAIR = ("--aof-load-corrupt-tail-max-size", "1000000")


def acknowledge(subject, number):
    """A request whose reply marks a change as acknowledged in the trace."""
    return "ECHO", f"ack:{subject}:{number}"


class Writer(threading.Thread):
    """Sends transactions that change a counter, a list and a sorted set together."""

    def __init__(self, port, number, count):
        super().__init__()
        self.peer = Peer(port)
        self.random = random.Random(number)
        self.number = number
        self.count = count
        self.start()

    def run(self):
        for count in range(1, self.count + 1):
            number = self.number
            for words in (("MULTI",), ("INCR", f"n:{number}"), ("RPUSH", f"l:{number}", count),
                          ("ZADD", f"z:{number}", count, count),
                          ("SET", f"v:{number}", "x" * self.random.choice([10, 10, 6000])),
                          acknowledge(f"w{number}", count), ("EXEC",)):
                self.peer.send(*words)
            for _ in range(7):
                self.peer.reply()
        self.peer.close()


def written(client):
    """Returns how many transactions of each writer the data contains. Fails if one is in part."""
    counts = {}
    for number in range(CLIENTS):
        count = int(client.get(f"n:{number}") or 0)
        expected = [b"%d" % each for each in range(1, count + 1)]
        if client.lrange(f"l:{number}", 0, -1) != expected or client.zrange(f"z:{number}", 0, -1) != expected:
            raise AssertionError(f"a transaction of writer {number} is present in part after {count}")
        counts[f"w{number}"] = count
    return counts


@unittest.skipUnless(trace.is_available(), "strace cannot trace here")
class CrashStates(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.random = random.Random(SEED)

    def record(self, work, options, contents=None):
        """Runs a server with these options and files, calls `work`, and ends the server. Returns
        the lines of the trace."""
        data = self.folder / "data"
        data.mkdir()
        for path, text in (contents or {}).items():
            pathlib.Path(path).write_bytes(text)
        config = data / "zsetd.conf"
        server = trace.TracedServer(ZSETD, *self.located(options, data), trace=self.folder / "trace",
                                    config=str(config) if config.exists() else None)
        try:
            work(server)
        finally:
            lines = server.lines()
        return lines

    @staticmethod
    def located(options, folder):
        return ["--dir", str(folder), *(option.replace("{dir}", str(folder)) for option in options)]

    def check_states(self, lines, contents, options, check):
        """Starts servers on states of the disk and calls `check` with a client and the acknowledged
        numbers by subject."""
        folder = self.folder / "data"
        points = self.choose_points(list(trace.Replay(lines, folder, contents)))
        replay = trace.Replay(lines, folder, contents)
        for at, name in enumerate(replay):
            for is_kill in points.get(at, ()):
                after = replay.disk.after_kill() if is_kill else replay.disk.after_crash(self.random)
                acknowledged = {subject.decode(): int(number)
                                for subject, number in ACKNOWLEDGED.findall(bytes(replay.sent))
                                if is_kill or subject.decode() not in UNSYNCED}
                what = f"{'kill' if is_kill else 'crash'} after call {at}, {name}; seed {SEED}"
                with self.subTest(what):
                    self.check_state(after, options, check, acknowledged)

    def choose_points(self, names):
        """Half of the points are next to changes of names, half are anywhere."""
        changes = [at for at, name in enumerate(names) if name in ("openat", "rename", "unlink", "ftruncate")]
        points = {}
        for number in range(STATES):
            at = self.random.randrange(len(names))
            if number % 2 and changes:
                at = min(max(self.random.choice(changes) + self.random.randrange(-1, 4), 0), len(names) - 1)
            points.setdefault(at, []).append(number % 5 == 0)
        return points

    def check_state(self, contents, options, check, acknowledged):
        with tempfile.TemporaryDirectory(dir=self.folder) as state:
            for path, data in contents.items():
                target = pathlib.Path(state, pathlib.Path(path).relative_to(self.folder / "data"))
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(data)
            config = pathlib.Path(state, "zsetd.conf")
            server = self.start_on(state, options, str(config) if config.exists() else None)
            try:
                with redis.Redis(port=server.port) as client:
                    check(client, acknowledged)
            finally:
                server.kill()
                server.stop()  # removes its folder

    def start_on(self, state, options, config):
        options = self.located(options, state)
        if "--cluster-enabled" in options:
            options = (*options, "--cluster-port", str(free_port()))  # not in the range of outgoing connections
        try:
            return ServerProcess(ZSETD, *options, config=config)
        except RuntimeError as error:
            self.assertRegex(str(error), DAMAGED)
        return ServerProcess(ZSETD, *options, *REPAIR, config=config)

    def check_written(self, client, acknowledged):
        counts = written(client)
        for subject, count in acknowledged.items():
            self.assertGreaterEqual(counts[subject], count, f"acknowledged changes of {subject} are lost")

    def test_a_log_with_rewrites(self):
        options = ("--save", "", "--appendonly", "yes", "--appendfsync", "always")

        def work(server):
            writers = [Writer(server.port, number, 40) for number in range(CLIENTS)]
            with redis.Redis(port=server.port) as control:
                for _ in range(3):
                    with contextlib.suppress(redis.ResponseError):  # one is in progress
                        control.bgrewriteaof()
                    writers[0].join(0.05)
                for writer in writers:
                    writer.join()

        lines = self.record(work, options)
        self.check_states(lines, {}, options, self.check_written)

    def test_snapshots(self):
        options = ("--save", "")

        def work(server):
            with redis.Redis(port=server.port) as control:
                for number in range(6):
                    writers = [Writer(server.port, 0, 1)]
                    writers[0].join()
                    control.save()
                    control.execute_command(*acknowledge("saved", number + 1))

        lines = self.record(work, options)

        def check(client, acknowledged):
            # Each writer starts at 1 again, so the list has the ones of all saves.
            count = int(client.get("n:0") or 0)
            self.assertGreaterEqual(count, acknowledged.get("saved", 0), "a finished save is lost")
            self.assertEqual(client.lrange("l:0", 0, -1), [b"1"] * count, "a transaction in part")

        self.check_states(lines, {}, options, check)

    def test_users_settings_and_nodes(self):
        options = ("--save", "", "--aclfile", "{dir}/users.acl", "--cluster-enabled", "yes")
        data = self.folder / "data"
        before = {str(data / "zsetd.conf"): b"# A comment that remains.\nslowlog-max-len 1\nmaxclients 200\n",
                  str(data / "users.acl"): b"user default on nopass ~* &* +@all\n"}

        def work(server):
            with redis.Redis(port=server.port) as control:
                ask = control.execute_command
                ask(*acknowledge("id", int(ask("CLUSTER", "MYID"), 16) % 10**9))
                for number in range(1, 13):
                    ask("CLUSTER", "ADDSLOTS", number)
                    ask(*acknowledge("slot", number))
                    ask("ACL", "SETUSER", f"u{number}", "on", f">password{number}", "~*", "+@all")
                    ask("ACL", "SAVE")
                    ask(*acknowledge("user", number))
                    ask("CONFIG", "SET", "slowlog-max-len", number + 1, "hash-max-listpack-entries", number + 1)
                    ask("CONFIG", "REWRITE")
                    ask(*acknowledge("setting", number + 1))

        lines = self.record(work, options, before)

        def check(client, acknowledged):
            ask = client.execute_command
            node_id = int(ask("CLUSTER", "MYID"), 16) % 10**9
            self.assertEqual(acknowledged.get("id", node_id), node_id, "the node has another ID")
            slots = int(re.search(r"cluster_slots_assigned:(\d+)", str(ask("CLUSTER", "INFO")))[1])
            self.assertGreaterEqual(slots, acknowledged.get("slot", 0), "a slot is lost")
            users = {user.decode() for user in ask("ACL", "USERS")} - {"default"}
            self.assertEqual(sorted(users), sorted(f"u{number}" for number in range(1, len(users) + 1)))
            self.assertGreaterEqual(len(users), acknowledged.get("user", 0), "a user is lost")
            length, entries = (int(ask("CONFIG", "GET", name)[1])
                               for name in ("slowlog-max-len", "hash-max-listpack-entries"))
            self.assertIn((length, entries), [(1, 512), (length, length)], "settings in part")
            self.assertGreaterEqual(length, acknowledged.get("setting", 1), "a setting is lost")

        self.check_states(lines, before, options, check)

    def test_nodes_of_a_reshard(self):
        """The marks of a move are not synced, other changes of nodes.conf are, with all earlier marks."""
        options = ("--save", "", "--cluster-enabled", "yes")
        own, other = "a" * 40, "b" * 40
        before = {str(self.folder / "data" / "nodes.conf"): (
            f"{own} 127.0.0.1:0@0 myself,master - 0 0 1 connected 0-8191\n"
            f"{other} 127.0.0.1:1@2 master - 0 0 2 connected 8192-16000\n"
            "vars currentEpoch 2 lastVoteEpoch 0\n").encode()}
        marks_of_slot = 4

        def work(server):
            with redis.Redis(port=server.port) as control:
                ask = control.execute_command
                for mark in range(1, 41):
                    ask("CLUSTER", "SETSLOT", mark, "MIGRATING", other)
                    ask(*acknowledge("mark", mark))
                    if mark % marks_of_slot == 0:
                        ask("CLUSTER", "ADDSLOTS", 16000 + mark // marks_of_slot)
                        ask(*acknowledge("slot", mark // marks_of_slot))

        lines = self.record(work, options, before)

        def check(client, acknowledged):
            client.response_callbacks.clear()
            nodes = client.execute_command("CLUSTER", "NODES").decode()
            marks = [int(slot) for slot in re.findall(rf"\[(\d+)->-{other}\]", nodes)]
            self.assertEqual(marks, list(range(1, len(marks) + 1)), "marks of different times")
            slots = re.search(r"16001(?:-(\d+))?", nodes)
            slots = int(slots[1] or 16001) - 16000 if slots else 0
            self.assertGreaterEqual(slots, acknowledged.get("slot", 0), "a slot is lost")
            self.assertIn(len(marks) - slots * marks_of_slot, range(-1, marks_of_slot + 1), "a text in part")
            self.assertGreaterEqual(len(marks), acknowledged.get("mark", 0), "a mark is lost")

        self.check_states(lines, before, options, check)


if __name__ == "__main__":
    unittest.main()
