"""Random HTTP requests, valid ones and mutated ones, in pieces and in pipelines.

The server sends whole responses only. It responds to each valid request, with the status that its method and
path require. It runs no command that writes, closes all connections, and continues to serve. See
mutations.py for the variables."""

import base64
import json
import os
import random
import socket
import unittest

from http_test import HttpTest
from mutations import ROUNDS, SEED, mutated, pieces
from server_process import eventually

METHODS = ["GET", "GET", "GET", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"]
PATHS = {"/metrics": "GET", "/healthz": "GET", "/readyz": "GET", "/": "GET", "/api/commands": "POST",
         "/api/history": "POST",
         "/none": None, "/metrics/": None, "/../etc/passwd": None, "/%2e%2e": None}
COMMANDS = [["GET", "k"], ["SET", "k", "changed"], ["FLUSHALL"], ["DEL", "k"], ["EVAL", "return 1", "0"],
            ["ZRANGE", "z", "0", "-1"], ["INFO"], [], ["BLPOP", "k", "0"], ["SHUTDOWN"], ["SUBSCRIBE", "c"], [7]]
LOGIN = "Basic " + base64.b64encode(b"default:password").decode()


class Requests:
    """The requests of one connection: their bytes, and the status that each must get."""

    def __init__(self, source):
        self.random = source
        self.statuses = []
        self.data = b"".join(self.request() for _ in range(source.randrange(1, 6)))

    def request(self):
        path = self.random.choice(list(PATHS))
        method = self.random.choice(METHODS) if self.random.random() < 0.4 else PATHS[path] or "GET"
        body = b""
        headers = {"Host": self.random.choice(["localhost", "127.0.0.1:9", "[::1]"])}
        if method == "POST" and self.random.random() < 0.9:
            headers |= {"Content-Type": "application/json", "Authorization": LOGIN}
            commands = self.random.sample(COMMANDS, self.random.randrange(4))
            body = json.dumps({"commands": commands} if self.random.random() < 0.5 else commands).encode()
        if body or method in ("POST", "PUT", "PATCH"):
            headers["Content-Length"] = str(len(body))
        for _ in range(self.random.randrange(3)):
            headers[f"X-{self.random.randrange(9)}"] = self.random.choice(["", "a", "b" * 500, "\t x "])
        self.statuses.append(self.status(method, path, "Authorization" in headers))
        query = self.random.choice(["", "", "?a=b", "?" + "q" * 100])
        lines = [f"{method} {path}{query} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items())]
        return "\r\n".join([*lines, "", ""]).encode() + body

    @staticmethod
    def status(method, path, has_login):
        """Returns the required status, or None if it depends on the body."""
        if path.startswith("/api/") and method == "POST":
            return None if has_login else 415
        return 404 if PATHS[path] is None else 405 if method != PATHS[path] else 200


def read_responses(data):
    """Returns the statuses of whole responses. Fails if the bytes are anything else."""
    statuses = []
    while data:
        head, separator, data = data.partition(b"\r\n\r\n")
        assert separator, f"an incomplete head: {head[:200]}"
        line, *headers = head.decode().split("\r\n")
        version, status, _ = line.split(" ", 2)
        assert version in ("HTTP/1.1", "HTTP/1.0") and 100 <= int(status) < 600, line
        fields = dict(header.lower().split(": ", 1) if ": " in header else (header.lower().rstrip(":"), "")
                      for header in headers)
        if status == "100":
            continue
        length = int(fields["content-length"])
        assert len(data) >= length, f"a body of {len(data)} bytes instead of {length}"
        data = data[length:]
        statuses.append(int(status))
    return statuses


class Grammar(HttpTest):
    def exchange_in_pieces(self, source, data, leaves_early):
        """Sends the bytes, then closes the sending half. Returns the bytes of all responses, or None if
        the connection has ended with a reset: the server refuses a request before all of it has
        arrived."""
        received = b""
        with socket.create_connection(("127.0.0.1", self.http_port), timeout=30) as raw:
            try:
                for piece in pieces(source, data):
                    raw.sendall(piece)
                if leaves_early:
                    return None
                raw.shutdown(socket.SHUT_WR)
                while chunk := raw.recv(1 << 16):
                    received += chunk
            except OSError:
                return None
        return received

    def test_requests_of_a_grammar(self):
        server = self.start("--requirepass", "password")
        control = self.connect()
        control.ask("AUTH", "password")
        control.ask("SET", "k", "value")
        control.ask("ZADD", "z", 1, "m")
        digest = control.ask("DEBUG", "DIGEST")
        self.request("GET", "/healthz")
        files = server.open_files()
        for seed in range(SEED, SEED + ROUNDS * 5):
            source = random.Random(seed)
            requests = Requests(source)
            is_valid = source.random() < 0.4
            data = requests.data if is_valid else mutated(source, requests.data)
            leaves_early = source.random() < 0.1
            received = self.exchange_in_pieces(source, data, leaves_early)
            with self.subTest(seed=seed, data=data):
                if received is None:
                    self.assertTrue(leaves_early or not is_valid, "the connection was reset")
                    continue
                # A mutation can produce HEAD, whose response has no body.
                statuses = read_responses(received) if b"HEAD" not in data else []
                if is_valid:
                    self.assertEqual(len(statuses), len(requests.statuses))
                    for status, required in zip(statuses, requests.statuses):
                        self.assertIn(status, [required] if required else [200, 400])
        self.assertEqual(control.ask("DEBUG", "DIGEST"), digest, "a request has changed the data")
        self.assertEqual(self.request("GET", "/healthz")[0], 200)
        self.assertTrue(eventually(lambda: server.open_files() <= files, 20), "connections remain open")
        if os.environ.get("SANITIZER", "") == "":
            self.assertLess(server.memory(), 200 << 20)


if __name__ == "__main__":
    unittest.main()
