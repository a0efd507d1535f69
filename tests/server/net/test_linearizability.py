"""Linearizability of single members with several threads (io-threads).

Clients send ZADD, ZSCORE and ZRANK of a few members at random, several at the same time. Each request has an
interval, from before it is sent until its reply is received. The history of a member must have an order of its
requests that agrees with the intervals and in which each reply is right (Herlihy and Wing, "Linearizability: a
correctness condition for concurrent objects", 1990). The order is searched as in Wing and Gong, "Testing and
verifying concurrent objects", 1993, with the visited states remembered."""

import collections
import os
import random
import re
import select
import socket
import time
import unittest

from peer import request
from zsetd import ZsetdTest

SEED = int(os.environ.get("SEED", random.randrange(1 << 30)))
SECONDS = float(os.environ.get("SECONDS", 1))
CLIENTS = 12
KEYS = 4
MOST_IN_A_HISTORY = 60  # requests, before a new key takes the place
GRID = 10  # fixed members have the scores 0, GRID, 2 * GRID ..., so a rank depends on the score
FIXED = 100

Operation = collections.namedtuple("Operation", "start end kind value")


def is_linearizable(history):
    """Returns whether the operations have such an order. The member is missing at first. The value of a write is
    the new score, that of a read is the score in the reply, None for a missing member; that of a rank is the
    number of fixed members with a lower score."""
    history = sorted(history)
    everything = (1 << len(history)) - 1
    seen = set()
    todo = [(0, None)]
    while todo:
        state = todo.pop()
        if state in seen:
            continue
        seen.add(state)
        done, score = state
        if done == everything:
            return True
        # Only an operation that began before all the others ended may be next.
        waiting = [at for at in range(len(history)) if not done >> at & 1]
        first_end = min(history[at].end for at in waiting)
        for at in waiting:
            operation = history[at]
            if operation.start > first_end:
                break
            if operation.kind == "write":
                todo.append((done | 1 << at, operation.value))
            elif operation.value == (score if operation.kind == "read" else rank_of(score)):
                todo.append((done | 1 << at, score))
    return False


def rank_of(score):
    """Returns the rank of a member whose score differs from the fixed ones."""
    return None if score is None else min(score // GRID + 1, FIXED)


class Checker(unittest.TestCase):
    def check(self, expected, *operations):
        self.assertEqual(is_linearizable([Operation(*each) for each in operations]), expected)

    def test_accepts_any_order_of_simultaneous_requests(self):
        self.check(True, (0, 9, "write", 1), (1, 8, "write", 2), (2, 7, "read", 1))
        self.check(True, (0, 9, "write", 1), (1, 8, "write", 2), (2, 7, "read", 2))
        self.check(True, (0, 9, "write", 1), (1, 8, "read", None))
        self.check(True, (0, 1, "write", 25), (2, 3, "rank", 3))

    def test_refuses_a_stale_read(self):
        self.check(False, (0, 1, "write", 1), (2, 3, "write", 2), (4, 5, "read", 1))
        self.check(False, (0, 1, "write", 1), (2, 3, "read", None))
        self.check(False, (0, 1, "write", 25), (2, 3, "rank", 2))

    def test_refuses_reads_that_go_back(self):
        self.check(False, (0, 1, "write", 1), (2, 9, "write", 2), (3, 4, "read", 2), (5, 6, "read", 1))

    def test_refuses_a_value_that_was_never_written(self):
        self.check(False, (0, 9, "write", 1), (1, 8, "read", 3))


class Client:
    """Has one request under way at a time."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.running = None  # the request: history, kind, value, start

    def send(self, history, kind, value, *words):
        self.running = (history, kind, value, time.monotonic_ns())
        self.socket.sendall(request(*words))

    def receive(self):
        """Adds the operation to its history. Replies are short, so they arrive in one piece."""
        reply = self.socket.recv(4096)
        history, kind, value, start = self.running
        self.running = None
        if history is None:
            return
        if not reply.endswith(b"\r\n") or reply[:1] not in b":$":
            raise AssertionError(reply)
        if kind != "write":
            value = None if reply == b"$-1\r\n" else int(reply.split(b"\r\n")[-2].lstrip(b":"))
        history.append(Operation(start, time.monotonic_ns(), kind, value))


class Linearizability(ZsetdTest):
    def histories(self, *others):
        """Returns the histories of members. Meanwhile, two more clients for each of `others` repeat that
        request."""
        rng = random.Random(SEED)
        self.start("--io-threads", "4")
        setup = self.connect()
        setup.ask("ZADD", "fixed", *(word for i in range(FIXED) for word in (i * GRID, f"fixed{i}")))
        histories = []  # one for each key
        sent = []  # requests
        places = [None] * KEYS  # the keys in use
        clients = [Client(self.server.port) for _ in range(CLIENTS)]
        noise = [(Client(self.server.port), words) for words in others for _ in range(2)]
        by_socket = {each.socket: each for each in clients + [client for client, _ in noise]}
        for opened in by_socket:
            self.addCleanup(opened.close)
        until = time.monotonic() + SECONDS
        while time.monotonic() < until or any(client.running for client in clients):
            for client in clients:
                if client.running or time.monotonic() >= until:
                    continue
                place = rng.randrange(KEYS)
                if places[place] is None or sent[places[place]] == MOST_IN_A_HISTORY:
                    places[place] = len(histories)
                    histories.append([])
                    sent.append(0)
                    setup.ask("COPY", "fixed", f"key{places[place]}")
                number = places[place]
                key, history = f"key{number}", histories[number]
                sent[number] += 1
                kind = rng.choice(["write", "read", "rank"])
                if kind == "write":
                    score = sent[number] * GRID + 1 + rng.randrange(GRID - 1)
                    client.send(history, kind, score, "ZADD", key, score, "member")
                else:
                    client.send(history, kind, None, "ZSCORE" if kind == "read" else "ZRANK", key, "member")
            for client, words in noise:
                if not client.running:
                    client.send(None, None, None, *words)
            for ready in select.select(list(by_socket), [], [], 1)[0]:
                by_socket[ready].receive()
        return histories

    def check(self, *others):
        histories = self.histories(*others)
        self.assertGreater(sum(map(len, histories)), 100 * min(SECONDS, 1))
        for history in histories:
            self.assertTrue(is_linearizable(history), f"SEED={SEED}: {sorted(history)}")

    def test_among_reads(self):
        self.check(("GET", "other"), ("ZRANGE", "fixed", 0, -1))
        figures = self.connect().ask("INFO", "threads").decode()
        self.assertGreater(int(re.search(r"engine_lock_shared_requests:(\d+)", figures)[1]), 100)

    def test_among_slow_writes(self):
        self.check(("ZRANGESTORE", "copy", "fixed", 0, -1), ("ZUNIONSTORE", "copy", 2, "fixed", "fixed"))


if __name__ == "__main__":
    unittest.main()
