"""Servers under measurement. Each is started on a separate core, observed, and always stopped."""

import contextlib
import os
import pathlib
import shlex
import socket
import subprocess
import tempfile
import time

from versus_lib.options import HOUSE

# With one core, server and load share it; CPU time is still accurate, wall time is not.
LOAD_CORE, *_, SERVER_CORE = sorted(os.sched_getaffinity(0)) * 2

# For servers whose threads and children are included in the measurement.
ALL_CORES = frozenset(os.sched_getaffinity(0))

_START_PATIENCE_S = 5
_STOP_PATIENCE_S = 5

# No server writes to disk.
_REDIS_OPTIONS = "--port {port} --dir {dir} --save '' --appendonly no"


class Spec:
    """The name and the command of a server. A command without {port} gets the options of Redis."""

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

    @property
    def pid(self):
        return self._process.pid

    def cpu_seconds(self):
        """Returns user and system time of all threads, in nanosecond resolution; /proc/PID/stat has only ticks."""
        # The scheduler clock of the process, as clock_getcpuclockid(3) of the GNU C library computes it.
        return time.clock_gettime((~self._process.pid << 3) | 2)

    def resident_bytes(self):
        """Returns the anonymous resident bytes, without pages of programs and libraries."""
        return self._memory("RssAnon")

    def forget_peak(self):
        """Resets the maximum that peak_bytes() returns."""
        pathlib.Path(f"/proc/{self._process.pid}/clear_refs").write_text("5", encoding="ascii")

    def peak_bytes(self):
        """Returns the maximum of the resident bytes, with pages of programs and libraries."""
        return self._memory("VmHWM")

    def _memory(self, name):
        status = pathlib.Path(f"/proc/{self._process.pid}/status").read_text(encoding="ascii")
        line = next(line for line in status.splitlines() if line.startswith(f"{name}:"))
        return int(line.split()[1]) * 1024


@contextlib.contextmanager
def running(spec, cores=frozenset({SERVER_CORE}), start_s=_START_PATIENCE_S):
    """Starts the server in an empty folder, and stops it at the end of the block, also after an error."""
    with tempfile.TemporaryDirectory(prefix="versus-") as folder:
        log_path = pathlib.Path(folder, "log")
        port = free_port()
        with log_path.open("w", encoding="utf-8") as log:
            process = subprocess.Popen(
                spec.argv(port, folder), stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                preexec_fn=lambda: os.sched_setaffinity(0, cores))
        try:
            _await_answer(spec.name, process, port, log_path, start_s)
            yield Server(port, process)
        finally:
            _stop(process)


def unpacked_valkey():
    """Returns Debian 13's valkey-server, which it downloads the first time. Debian 12 has none."""
    folder = HOUSE / "build/valkey"
    subprocess.run([HOUSE / "scripts/valkey", folder], check=True)
    return folder / "valkey-server"


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _await_answer(name, process, port, log_path, patience_s):
    """Waits until the server has loaded its data. Each reply that it is still loading extends the patience."""
    deadline = time.monotonic() + patience_s
    while time.monotonic() < deadline and process.poll() is None:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)) as probe:
            probe.sendall(b"*1\r\n$4\r\nPING\r\n")
            reply = probe.recv(16)
            if reply.startswith(b"+PONG"):
                return
            if reply.startswith(b"-LOADING"):
                deadline = time.monotonic() + patience_s
        time.sleep(0.01)
    raise RuntimeError(f"{name} does not answer; it said:\n{log_path.read_text(encoding='utf-8')}")


def _stop(process):
    process.terminate()
    try:
        process.wait(_STOP_PATIENCE_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
