"""Mixed commands for some seconds, next to clients that vanish, stall and flood. At the end the
data contains all acknowledged writes and nothing else. SOAK_SECONDS=3600 runs it for an hour."""

import contextlib
import os
import random
import threading
import time
import unittest

from peer import Peer, request
from server_process import eventually
from zsetd import SANITIZED, ZsetdTest

SECONDS = int(os.environ.get("SOAK_SECONDS", "4"))
SEED = int(os.environ.get("SOAK_SEED", "1"))
MB = 1 << 20


class Worker(threading.Thread):
    """Repeats its turn until the time is up; `error` is the exception that ended it."""

    def __init__(self, port, name, end):
        super().__init__(name=name, daemon=True)
        self.port, self.end, self.error = port, end, None
        self.random = random.Random(f"{SEED} {name}")
        self.start()

    def run(self):
        try:
            while time.monotonic() < self.end:
                self.turn()
        except Exception as error:  # the test reports it
            self.error = error


class Scorer(Worker):
    """Uses the server correctly, and knows the data that it must find in the end."""

    def __init__(self, port, name, end):
        self.peer = Peer(port)
        self.scores, self.list = {}, []
        super().__init__(port, name, end)

    def turn(self):
        wanted = []
        for _ in range(self.random.randrange(1, 30)):
            wanted.append(self.random.choice([self.add, self.remove, self.push])())
        got = [self.peer.reply() for _ in wanted]
        assert got == wanted, (got, wanted)

    def add(self):
        member, score = b"%d" % self.random.randrange(200), self.random.randrange(1000)
        self.peer.send("ZINCRBY", f"{self.name}:z", score, member)
        self.scores[member] = self.scores.get(member, 0) + score
        return b"%d" % self.scores[member]

    def remove(self):
        member = b"%d" % self.random.randrange(200)
        self.peer.send("ZREM", f"{self.name}:z", member)
        return 0 if self.scores.pop(member, None) is None else 1

    def push(self):
        value = self.random.randbytes(self.random.choice([0, 10, 1000]))
        self.peer.send("RPUSH", f"{self.name}:l", value)
        self.list.append(value)
        return len(self.list)

    def check(self, peer, case):
        reply = peer.ask("ZRANGE", f"{self.name}:z", 0, -1, "WITHSCORES")
        wanted = sorted((score, member) for member, score in self.scores.items())
        case.assertEqual(reply, [each for score, member in wanted for each in (member, b"%d" % score)])
        case.assertEqual(peer.ask("LRANGE", f"{self.name}:l", 0, -1), self.list)


class Vanisher(Worker):
    """Disconnects amid a transaction that moves two counters together."""

    def turn(self):
        move = request("MULTI") + request("INCR", "a") + request("INCR", "b") + request("EXEC")
        peer = Peer(self.port)
        peer.socket.sendall((move * 3)[:self.random.randrange(3 * len(move))])
        self.random.choice([peer.vanish, peer.close])()


class Waiter(Worker):
    """Waits for an event that never occurs, and disconnects."""

    def turn(self):
        peer = Peer(self.port)
        peer.send(*self.random.choice([("BZPOPMIN", "never", 0), ("BLPOP", "never", 0.01),
                                       ("SUBSCRIBE", "news"), ("MONITOR",)]))
        peer.socket.sendall(request("PING") * self.random.randrange(100))
        time.sleep(0.01)
        self.random.choice([peer.vanish, peer.close])()


class Staller(Worker):
    """Requests large replies and reads none of them."""

    def turn(self):
        peer = Peer(self.port, receive_buffer=4096)
        peer.socket.settimeout(0.05)
        with contextlib.suppress(OSError):
            for _ in range(50):
                peer.socket.sendall(request("ECHO", b"x" * (64 << 10)))
        peer.vanish()


class Flooder(Worker):
    """Sends invalid bytes, as many as it can."""

    def turn(self):
        peer = Peer(self.port)
        with contextlib.suppress(OSError):
            kind = self.random.randrange(3)
            if kind == 0:
                peer.socket.sendall(self.random.randbytes(100_000))
            elif kind == 1:
                peer.socket.sendall(b"*2147483647\r\n" + b"$1\r\nx\r\n" * 10_000)
            else:
                peer.socket.sendall(request("PUBLISH", "news", b"x" * 1000) * 100)
        self.random.choice([peer.vanish, peer.close])()


class Soak(ZsetdTest):
    def test_ends_with_the_acknowledged_writes_and_nothing_else(self):
        self.start()
        end = time.monotonic() + SECONDS
        kinds = [Scorer, Scorer, Scorer, Vanisher, Vanisher, Waiter, Staller, Flooder]
        workers = [kind(self.server.port, f"{kind.__name__}{i}", end) for i, kind in enumerate(kinds)]
        for worker in workers:
            worker.join(SECONDS + 60)
            self.assertIsNone(worker.error, worker.name)
        observer = self.connect()
        self.assertTrue(eventually(lambda: observer.ask("CLIENT", "LIST").count(b"\n") == 4))
        for scorer in workers[:3]:
            scorer.check(observer, self)
        a, b = observer.ask("MGET", "a", "b")
        self.assertEqual(a, b)
        self.assertEqual(set(observer.ask("KEYS", "*")) - {b"a", b"b"},
                         {f"{scorer.name}:{kind}".encode() for scorer in workers[:3] for kind in "zl"})
        if not SANITIZED:
            self.assertLess(self.server.peak_memory(), 300 * MB)


if __name__ == "__main__":
    unittest.main()
