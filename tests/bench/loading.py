"""The load generator, and the minimal server that gives the baseline, as programs."""

import json
import os
import socket
import subprocess
import threading
import unittest

from versus_lib.servers import Spec, running

GENERATOR = os.environ["LOAD_GENERATOR"]
PONG = Spec("bare epoll", f"{os.environ['PONG_SERVER']} {{port}}")
STALL_S = 0.3


def generate(port, *words):
    return subprocess.run([GENERATOR, "--port", str(port), *words], capture_output=True, text=True)


def stall_once(listener):
    """Replies to PING on one connection. The first reply is delayed."""
    client, _ = listener.accept()
    with client:
        threading.Event().wait(STALL_S)
        while asked := client.recv(1 << 16):
            client.sendall(b"+PONG\r\n" * asked.count(b"*"))


class Loading(unittest.TestCase):
    def test_all_requests_get_replies_up_to_whole_batches(self):
        with running(PONG) as server:
            done = generate(server.port, "--requests", "1001", "--steps", "16", "PING", "PING")
        figures = json.loads(done.stdout)
        self.assertEqual(figures["requests"], 1024)
        percentiles = [figures[f"{name}_ms"] for name in ("p50", "p90", "p99", "p99_9", "max")]
        self.assertEqual(percentiles, sorted(percentiles))

    def test_a_rate_is_kept(self):
        with running(PONG) as server:
            done = generate(server.port, "--requests", "101", "--rate", "500", "PING")
        self.assertGreaterEqual(json.loads(done.stdout)["seconds"], 0.2)

    def test_a_stall_delays_all_requests_that_became_due_during_it(self):
        with socket.create_server(("127.0.0.1", 0)) as listener:
            threading.Thread(target=stall_once, args=(listener,), daemon=True).start()
            done = generate(listener.getsockname()[1], "--connections", "1", "--requests", "100",
                            "--rate", "500", "PING")
        figures = json.loads(done.stdout)
        self.assertGreaterEqual(figures["max_ms"], 900 * STALL_S)  # starts before the first call
        self.assertGreaterEqual(figures["p50_ms"], 500 * STALL_S)

    def test_an_error_of_the_server_is_reported(self):
        with running(Spec("zsetd", f"{os.environ['ZSETD']} --port {{port}} --save ''")) as server:
            done = generate(server.port, "FROBNICATE")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertTrue(done.stderr.startswith(
            "load_generator: the server answered -ERR unknown command"), done.stderr)


if __name__ == "__main__":
    unittest.main()
