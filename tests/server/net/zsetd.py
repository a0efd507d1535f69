"""A separate zsetd for each test, and the system's figures about its process."""

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
SANITIZED = os.environ.get("SANITIZER", "") != ""  # which changes memory and speed


class Zsetd(ServerProcess):
    """A zsetd, and the system's figures about its process."""

    @contextlib.contextmanager
    def frozen(self):
        """Suspends the server, which then finds all events of this context together."""
        self.process.send_signal(signal.SIGSTOP)
        os.waitpid(self.process.pid, os.WUNTRACED)
        try:
            yield
        finally:
            self.process.send_signal(signal.SIGCONT)

    def peak_memory(self):
        """Returns the peak of the server's resident memory so far, in bytes."""
        return self._status("VmHWM:")

    def memory(self):
        return self._status("VmRSS:")

    def addresses(self):
        return self._status("VmSize:")

    def _status(self, field):
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.split(field)[1].split()[0]) << 10

    def limit(self, what, most):
        """Sets the soft limit and keeps the hard limit."""
        _, highest = resource.prlimit(self.process.pid, what)
        resource.prlimit(self.process.pid, what, (most, highest))

    def cpu_seconds_of(self, interval_s):
        """Returns the processor time that the server uses during this interval."""
        before = self.cpu_seconds()
        time.sleep(interval_s)
        return self.cpu_seconds() - before

    def cpu_seconds(self):
        """Returns the processor time that the server has used. Other programs do not add to it, so
        a test can bound the cost of a request by it."""
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def open_files(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))


class ZsetdTest(unittest.TestCase):
    """Starts servers. A server that is still running at the end of the test must end without an
    error."""

    def start(self, *options, **more):
        self.server = Zsetd(PROGRAM, *options, **more)
        self.addCleanup(self._see_off, self.server)
        return self.server

    def connect(self, **options):
        """Returns a client of the server that was started last."""
        peer = Peer(self.server.port, **options)
        self.addCleanup(peer.close)
        return peer

    def _see_off(self, server):
        self.assertIsNone(server.stop())
