"""Runs the same random steps on zsetd and on redis-server, and compares replies and data.

STEPS is their number, SEED the first round's seed. A round starts with an empty database and has
its own seed, so SEED=<that seed> STEPS=1 reproduces a difference. If replies or data differ, the
round is repeated and compared after each step, and its steps are written to a file."""

import contextlib
import os
import pathlib
import random
import socket
import tempfile
import time
import unittest

from bit_steps import KEYS, LIST, BitSteps
from server_process import ServerProcess

ZSETD = os.environ["ZSETD"]
ROUND = 2000
BATCH = 100  # steps that are sent together


def encode(words):
    return b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%b\r\n" % (len(word), word) for word in words)


class Connection:
    """Sends requests together, and returns the bytes of the replies."""

    END = b"$11\r\nend-of-step\r\n"

    def __init__(self, server):
        self.socket = socket.create_connection(("127.0.0.1", server.port), timeout=60)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def send(self, requests):
        """Each request is followed by a marker in the replies."""
        self.socket.sendall(b"".join(requests))

    def receive(self, count):
        received = bytearray()
        while received.count(self.END) < count:
            data = self.socket.recv(1 << 20)
            if not data:
                raise ConnectionError("the server has closed the connection")
            received += data
        replies = bytes(received).split(self.END)
        assert len(replies) == count + 1 and not replies[-1]
        return replies[:-1]


class Pair:
    """Both servers, which receive the same requests."""

    MARK = encode([b"ECHO", b"end-of-step"])

    def __init__(self, servers):
        self.connections = [Connection(server) for server in servers]

    def close(self):
        for connection in self.connections:
            connection.socket.close()

    def ask(self, requests):
        """Returns the replies of each server to each of the requests, which are lists of words."""
        data = [encode(words) + self.MARK for words in requests]
        for connection in self.connections:
            connection.send(data)
        return [connection.receive(len(data)) for connection in self.connections]

    def await_time(self, until_ms):
        """Returns when the clocks of both servers are past this time."""
        while True:
            clocks = [replies[0].split(b"\r\n") for replies in self.ask([[b"TIME"]])]
            now_ms = min(int(clock[2]) * 1000 + int(clock[4]) // 1000 for clock in clocks)
            if now_ms > until_ms:
                return
            time.sleep((until_ms - now_ms + 1) / 1000)


# Returns the data to compare after the steps: the bytes of each string, and each deadline.
LOOK = [[command, key] for key in [*KEYS, LIST] for command in (b"GET", b"PEXPIRETIME", b"TYPE")]


def is_of_a_newer_redis(words, ours, expected):
    """Returns whether zsetd replies like newer releases than 7.0.15: GETRANGE with an end before
    the first byte is empty, and BITCOUNT and BITPOS check all arguments before they look at the
    key."""
    if words[0] == b"EVAL":
        words = words[3:]
    if words[0] in (b"GETRANGE", b"SUBSTR"):
        return ours == b"$0\r\n\r\n" and expected.startswith(b"$1\r\n") and words[3].startswith(b"-")
    looked_first = expected in (b":0\r\n", b":-1\r\n") or expected.startswith(b"-WRONGTYPE ")
    return words[0] in (b"BITCOUNT", b"BITPOS") and ours.startswith(b"-ERR ") and looked_first


class Bits(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.servers = [ServerProcess(ZSETD), ServerProcess("redis-server")]

    @classmethod
    def tearDownClass(cls):
        for server in cls.servers:
            server.stop()

    def run_round(self, seed, batch):
        """Returns the steps up to the first difference, and a description of it; no text if nothing
        differs."""
        with contextlib.closing(Pair(self.servers)) as pair:
            return self.compare(pair, seed, batch)

    def compare(self, pair, seed, batch):
        source = BitSteps(seed)
        active = b"%d" % (seed % 2)  # with even seeds expired keys stay until a step finds them
        begun = pair.ask([[b"FLUSHALL"], [b"DEBUG", b"SET-ACTIVE-EXPIRE", active], [b"RPUSH", LIST, b"x"]])
        self.assertEqual(begun, 2 * [[b"+OK\r\n", b"+OK\r\n", b":1\r\n"]])
        steps = []
        while len(steps) < ROUND:
            start = len(steps)
            while len(steps) < start + batch and not (steps[start:] and steps[-1].until_ms):
                steps.append(source.next())
            own, theirs = pair.ask([step.words for step in steps[start:]])
            for step, ours, expected in zip(steps[start:], own, theirs):
                if ours != expected and not is_of_a_newer_redis(step.words, ours, expected):
                    where = steps.index(step) + 1
                    return steps[:where], f"replies to {step}\nzsetd: {ours}\nRedis: {expected}"
            if steps[-1].until_ms:
                pair.await_time(steps[-1].until_ms)
            own, theirs = pair.ask(LOOK)
            for look, ours, expected in zip(LOOK, own, theirs):
                if ours != expected:
                    return steps, f"{look}\nzsetd: {ours}\nRedis: {expected}"
        return steps, ""

    def report(self, seed, difference):
        """Repeats the round step by step, and writes its steps to a file."""
        steps, again = self.run_round(seed, batch=1)
        file = pathlib.Path(tempfile.gettempdir(), f"zsetd-bits-{seed}.txt")
        file.write_text("\n".join(str(step) for step in steps) + "\n")
        self.fail(f"seed {seed}: {difference}\n\nagain, after {len(steps)} steps, which are in {file}: "
                  f"{again or 'no difference'}")

    def test_replies_and_bytes_are_those_of_redis(self):
        seed = int(os.environ.get("SEED", random.randrange(10**9)))
        rounds = -(-int(os.environ.get("STEPS", 20_000)) // ROUND)
        for number in range(seed, seed + rounds):
            _, difference = self.run_round(number, BATCH)
            if difference:
                self.report(number, difference)


if __name__ == "__main__":
    unittest.main()
