"""Clients that change data and record each operation. They find the master by trying all nodes, so
that a master that was replaced receives writes for as long as it accepts them."""

import random
import socket
import threading
import time

from peer import Peer
from records import ACKNOWLEDGED, BY_ALL, BY_ONE, REFUSED, Operation

PATIENCE_S = 0.7
PAUSE_S = 0.004  # between operations
MOVES = 4000  # of each client, prepared in the source
MOVE_BY_SCRIPT = "local moved = redis.call('zrem', KEYS[1], ARGV[1]) redis.call('zadd', KEYS[2], ARGV[2], ARGV[1]) return moved"
NOT_HERE = ("READONLY", "LOADING", "MASTERDOWN", "UNBLOCKED", "MOVED", "CLUSTERDOWN")


class Client(threading.Thread):
    def __init__(self, number, ports, replicas, seed, has_moves, key_prefix):
        super().__init__(daemon=True)
        self.number = number
        self.ports = ports
        self.replicas = replicas
        self.random = random.Random(f"{seed} {number}")
        self.has_moves = has_moves  # whether the server has ZMOVEBYSCORE
        self.key = lambda name: key_prefix + name
        self.operations = []
        self.acknowledged_by_all = 0
        self.stops = threading.Event()
        self.error = None
        self._peer = None
        self._moved = 0

    def run(self):
        try:
            while not self.stops.is_set():
                self._step()
                time.sleep(PAUSE_S)
        except Exception as error:  # the test reports it
            self.error = error
        finally:
            self._leave()

    def _step(self):
        kinds = ["push", "score", "entry", "pair", "count"] + ["move"] * (self._moved < MOVES)
        operation = Operation(self.random.choice(kinds), self.number, len(self.operations), time.monotonic())
        if operation.kind == "move":
            operation.number = self._moved  # names an element that the source contains
            self._moved += 1
        try:
            peer = self._connected()
        except (OSError, EOFError):
            return self._leave()
        self.operations.append(operation)
        try:
            replies = self._send(peer, operation)
        except (OSError, EOFError):
            return self._leave()
        operation.end = time.monotonic()
        errors = [str(reply) for reply in replies if isinstance(reply, RuntimeError)]
        if errors:
            operation.outcome = REFUSED
            if any(error.startswith(NOT_HERE) or "READONLY" in error for error in errors):
                self._leave()
            time.sleep(0.01)
            return
        operation.outcome = ACKNOWLEDGED
        operation.reply = replies[-1] if operation.kind == "count" else 0
        self._wait(peer, operation)

    def _wait(self, peer, operation):
        wanted = self.random.choice([0, 1, self.replicas, self.replicas])
        if wanted == 0:
            return
        try:
            count = peer.ask("WAIT", wanted, 300)
        except (OSError, EOFError):
            return self._leave()
        if isinstance(count, RuntimeError):  # the server became a replica in the meantime
            return self._leave()
        if count >= 1:
            operation.outcome = BY_ALL if count >= self.replicas else BY_ONE
            self.acknowledged_by_all += operation.outcome == BY_ALL

    def _send(self, peer, operation):
        """Sends the requests of an operation together. Returns their replies."""
        element = operation.element
        score = operation.client * MOVES + operation.number
        by_score = ("ZMOVEBYSCORE", self.key("source"), self.key("target"), score, score)
        by_script = ("EVAL", MOVE_BY_SCRIPT, 2, self.key("source"), self.key("target"), element, score)
        requests = {
            "push": [("RPUSH", self.key("push"), element)],
            "score": [("ZADD", self.key("score"), score, element)],
            "entry": [("XADD", self.key("entry"), "*", "element", element)],
            "pair": [("MULTI",), ("RPUSH", self.key("pair1"), element), ("RPUSH", self.key("pair2"), element), ("EXEC",)],
            "move": [by_score if self.has_moves else by_script],
            "count": [("INCR", self.key(f"count:{self.number}"))]}[operation.kind]
        for words in requests:
            peer.send(*words)
        replies = [peer.reply() for _ in requests]
        if isinstance(replies[-1], list):  # of EXEC
            replies += replies[-1]
        return replies

    def _connected(self):
        if self._peer is None:
            self._peer = Peer(self.random.choice(self.ports))
            self._peer.socket.settimeout(PATIENCE_S)
            self._peer.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return self._peer

    def _leave(self):
        if self._peer is not None:
            self._peer.close()
            self._peer = None
