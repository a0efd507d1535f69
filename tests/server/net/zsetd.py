"""A zsetd of one's own for each test, and what the system tells of it."""

import contextlib
import os
import pathlib
import random
import resource
import signal
import socket
import subprocess
import tempfile
import time
import unittest

from peer import Peer

PROGRAM = os.environ["ZSETD"]
SANITIZED = os.environ.get("SANITIZER", "") != ""  # memory and speed are not its own then

START_S = 20  # under a sanitizer, beside other tests, on a small machine
LEAVE_S = 20


def eventually(holds, patience_s=20):
    """Asks `holds` until it does; what it answered last."""
    deadline = time.monotonic() + patience_s
    while not (answer := holds()) and time.monotonic() < deadline:
        time.sleep(0.002)
    return answer


def free_port():
    """A free port below those the system hands out, so that no client's own socket takes it."""
    while True:
        port = random.randrange(20000, 32000)
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) != 0:
                return port


class Zsetd:
    """A zsetd that listens on a free port."""

    def __init__(self, *options, environment=None):
        self.folder = tempfile.TemporaryDirectory()
        self.log_file = pathlib.Path(self.folder.name, "log")
        self.expected_exit_code = 0
        for _ in range(3):  # a port may be taken by another before the server has it
            self.port = free_port()
            with self.log_file.open("wb") as log:
                self.process = subprocess.Popen(
                    [PROGRAM, "--port", str(self.port), *options], cwd=self.folder.name,
                    stdout=log, stderr=subprocess.STDOUT, env={**os.environ, **(environment or {})})
            if eventually(lambda: self.ended() or self.listens(), START_S) and not self.ended():
                return
            self.kill()
        raise RuntimeError("zsetd does not start:\n" + self.log())

    def listens(self):
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0

    def log(self):
        return self.log_file.read_text(errors="replace")

    def ended(self):
        return self.process.poll() is not None

    def ask_to_leave(self, number=signal.SIGTERM):
        self.process.send_signal(number)

    @contextlib.contextmanager
    def frozen(self):
        """Holds the server still, so that it finds at once all that happens meanwhile."""
        self.process.send_signal(signal.SIGSTOP)
        os.waitpid(self.process.pid, os.WUNTRACED)
        try:
            yield
        finally:
            self.process.send_signal(signal.SIGCONT)

    def exit_code(self):
        """Waits until the server has left."""
        return self.process.wait(LEAVE_S)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def peak_memory(self):
        """The most bytes that the server has had in memory so far."""
        return self._status("VmHWM:")

    def memory(self):
        return self._status("VmRSS:")

    def addresses(self):
        return self._status("VmSize:")

    def _status(self, field):
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.split(field)[1].split()[0]) << 10

    def limit(self, what, most):
        resource.prlimit(self.process.pid, what, (most, most))

    def open_files(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))


class ZsetdTest(unittest.TestCase):
    """Has a server, which must leave in peace if it is still there when the test is done."""

    def start(self, *options, **more):
        self.server = Zsetd(*options, **more)
        self.addCleanup(self._see_off, self.server)
        return self.server

    def connect(self, **options):
        """A client of the server that was started last."""
        peer = Peer(self.server.port, **options)
        self.addCleanup(peer.close)
        return peer

    def _see_off(self, server):
        if not server.ended():
            server.ask_to_leave()
        try:
            self.assertEqual(server.exit_code(), server.expected_exit_code, "the server's log:\n" + server.log())
        finally:
            server.kill()
            server.folder.cleanup()
