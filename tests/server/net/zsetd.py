"""A zsetd of its own for each test, and what the system reports about it."""

import contextlib
import os
import pathlib
import resource
import signal
import time
import unittest

from peer import Peer
from server_process import ServerProcess

PROGRAM = os.environ["ZSETD"]
SANITIZED = os.environ.get("SANITIZER", "") != ""  # memory and speed are not its own then


class Zsetd(ServerProcess):
    """A zsetd, and what the system tells of it."""

    @contextlib.contextmanager
    def frozen(self):
        """Holds the server still, so that it finds at once all that happens meanwhile."""
        self.process.send_signal(signal.SIGSTOP)
        os.waitpid(self.process.pid, os.WUNTRACED)
        try:
            yield
        finally:
            self.process.send_signal(signal.SIGCONT)

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
        """Leaves what it may be raised to as it is."""
        _, highest = resource.prlimit(self.process.pid, what)
        resource.prlimit(self.process.pid, what, (most, highest))

    def cpu_seconds_of(self, interval_s):
        """The processor time that the server takes while so much time passes."""
        before = self.cpu_seconds()
        time.sleep(interval_s)
        return self.cpu_seconds() - before

    def cpu_seconds(self):
        """The processor time that the server has taken. Other programs do not add to it, so a test can
        bound the cost of a request by it."""
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def open_files(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))


class ZsetdTest(unittest.TestCase):
    """Has a server, which must leave in peace if it is still there when the test is done."""

    def start(self, *options, **more):
        self.server = Zsetd(PROGRAM, *options, **more)
        self.addCleanup(self._see_off, self.server)
        return self.server

    def connect(self, **options):
        """A client of the server that was started last."""
        peer = Peer(self.server.port, **options)
        self.addCleanup(peer.close)
        return peer

    def _see_off(self, server):
        self.assertIsNone(server.stop())
