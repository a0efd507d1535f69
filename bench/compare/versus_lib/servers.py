"""Servers under measurement: started on a core of their own, observed, always stopped."""

import contextlib
import os
import pathlib
import shlex
import socket
import subprocess
import tempfile
import time

# With one core, server and load share it; CPU time is still accurate, wall time is not.
LOAD_CORE, *_, SERVER_CORE = sorted(os.sched_getaffinity(0)) * 2

# For servers whose threads and children are included in the measurement.
ALL_CORES = frozenset(os.sched_getaffinity(0))

_START_PATIENCE_S = 5
_STOP_PATIENCE_S = 5

# Nothing is written to disk, by any server.
_REDIS_OPTIONS = "--port {port} --dir {dir} --save '' --appendonly no"


class Spec:
    """A server to start: its name and its command; one without {port} is given Redis's options."""

    def __init__(self, name, command):
        self.name = name
        self._command = command if "{port}" in command else f"{command} {_REDIS_OPTIONS}"

    @property
    def program(self):
        return shlex.split(self._command)[0]

    def argv(self, port, folder):
        return [word.format(port=port, dir=folder) for word in shlex.split(self._command)]


class Server:
    """A running process that answers on `port`."""

    def __init__(self, port, process):
        self.port = port
        self._process = process

    def cpu_seconds(self):
        """User and system time of all its threads, to the nanosecond; /proc/PID/stat has only ticks."""
        # As clock_getcpuclockid(3) builds it in the GNU C library: the process's scheduler clock.
        return time.clock_gettime((~self._process.pid << 3) | 2)

    def resident_bytes(self):
        """Those of its own, without pages of programs and libraries that are used for the first time."""
        return self._memory("RssAnon")

    def forget_peak(self):
        """peak_bytes() is that since then."""
        pathlib.Path(f"/proc/{self._process.pid}/clear_refs").write_text("5", encoding="ascii")

    def peak_bytes(self):
        """The most that was resident, with pages of programs and libraries."""
        return self._memory("VmHWM")

    def _memory(self, name):
        status = pathlib.Path(f"/proc/{self._process.pid}/status").read_text(encoding="ascii")
        line = next(line for line in status.splitlines() if line.startswith(f"{name}:"))
        return int(line.split()[1]) * 1024


@contextlib.contextmanager
def running(spec, cores=frozenset({SERVER_CORE})):
    """Starts the server in an empty folder and stops it on the way out, whatever happened."""
    with tempfile.TemporaryDirectory(prefix="versus-") as folder:
        log_path = pathlib.Path(folder, "log")
        port = free_port()
        with log_path.open("w", encoding="utf-8") as log:
            process = subprocess.Popen(
                spec.argv(port, folder), stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                preexec_fn=lambda: os.sched_setaffinity(0, cores))
        try:
            _await_answer(spec.name, process, port, log_path)
            yield Server(port, process)
        finally:
            _stop(process)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _await_answer(name, process, port, log_path):
    deadline = time.monotonic() + _START_PATIENCE_S
    while time.monotonic() < deadline and process.poll() is None:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)) as probe:
            probe.sendall(b"*1\r\n$4\r\nPING\r\n")
            if probe.recv(16).startswith(b"+PONG"):
                return
        time.sleep(0.01)
    raise RuntimeError(f"{name} does not answer; it said:\n{log_path.read_text(encoding='utf-8')}")


def _stop(process):
    process.terminate()
    try:
        process.wait(_STOP_PATIENCE_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
