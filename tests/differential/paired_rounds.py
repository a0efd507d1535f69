"""Runs rounds of the same random steps on zsetd and on redis-server, and compares replies and data.

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

from server_process import ServerProcess

ZSETD = os.environ["ZSETD"]
ROUND = 2000
BATCH = 100  # steps that are sent together


def encode(words):
    """Returns the bytes of a request, or of several requests if `words` is a list of requests."""
    if isinstance(words[0], list):
        return b"".join(map(encode, words))
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


class Step:
    """A request, or a list of requests that are sent together, such as a transaction. `until_ms` is the
    deadline that has to pass before the next step."""

    def __init__(self, words, until_ms=None):
        self.words = as_bytes(words)
        self.until_ms = until_ms

    def __str__(self):
        requests = self.words if isinstance(self.words[0], list) else [self.words]
        return "\n".join(" ".join(map(quoted, words)) for words in requests)


def as_bytes(words):
    return [as_bytes(word) if isinstance(word, list) else word if isinstance(word, bytes) else str(word).encode()
            for word in words]


def quoted(word):
    """Returns a word quoted as redis-cli and transcripts read it."""
    if word and all(33 <= byte < 127 and byte not in b"\"'\\" for byte in word):
        return word.decode()
    plain = lambda byte: chr(byte) if 32 <= byte < 127 and byte not in b"\"\\" else f"\\x{byte:02x}"
    return '"' + "".join(plain(byte) for byte in word) + '"'


class PairedRounds(unittest.TestCase):
    """A test of a family of commands derives from it, and states what differs."""

    NAME = None  # of the family, in the name of the file of steps
    STEPS = None  # a class: STEPS(seed).next() returns the next step
    BEGIN = []  # requests at the start of a round
    LOOK = []  # requests that return the data to compare after steps

    @staticmethod
    def may_differ(words, ours, expected):
        """Returns whether these different replies to a step are intended."""
        return False

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
        source = self.STEPS(seed)
        active = b"%d" % (seed % 2)  # with even seeds expired keys stay until a step finds them
        own, theirs = pair.ask([[b"FLUSHALL"], [b"DEBUG", b"SET-ACTIVE-EXPIRE", active], *self.BEGIN])
        self.assertEqual(own, theirs)
        steps = []
        while len(steps) < ROUND:
            start = len(steps)
            while len(steps) < start + batch and not (steps[start:] and steps[-1].until_ms):
                steps.append(source.next())
            own, theirs = pair.ask([step.words for step in steps[start:]])
            for step, ours, expected in zip(steps[start:], own, theirs):
                if ours != expected and not self.may_differ(step.words, ours, expected):
                    where = steps.index(step) + 1
                    return steps[:where], f"replies to {step}\nzsetd: {ours}\nRedis: {expected}"
            if steps[-1].until_ms:
                pair.await_time(steps[-1].until_ms)
            own, theirs = pair.ask(self.LOOK)
            for look, ours, expected in zip(self.LOOK, own, theirs):
                if ours != expected:
                    return steps, f"{look}\nzsetd: {ours}\nRedis: {expected}"
        return steps, ""

    def report(self, seed, difference):
        """Repeats the round step by step, and writes its steps to a file."""
        steps, again = self.run_round(seed, batch=1)
        file = pathlib.Path(tempfile.gettempdir(), f"zsetd-{self.NAME}-{seed}.txt")
        file.write_text("\n".join(str(step) for step in steps) + "\n")
        self.fail(f"seed {seed}: {difference}\n\nagain, after {len(steps)} steps, which are in {file}: "
                  f"{again or 'no difference'}")

    def check_rounds(self):
        seed = int(os.environ.get("SEED", random.randrange(10**9)))
        rounds = -(-int(os.environ.get("STEPS", 20_000)) // ROUND)
        for number in range(seed, seed + rounds):
            _, difference = self.run_round(number, BATCH)
            if difference:
                self.report(number, difference)

