"""A server program for tests, on its own port, with an empty dataset that is not persisted."""

import os
import pathlib
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import time

# Each server runs in a temporary folder. These options keep Redis from writing there at all.
OPTIONS = {"redis-server": ["--save", "", "--appendonly", "no", "--enable-debug-command", "yes"],
           "zsetd": ["--save", "", "--enable-debug-command", "yes"]}

# The same tests run with several threads, too (see tests/server/net/CMakeLists.txt).
if "IO_THREADS" in os.environ:
    OPTIONS["zsetd"] += ["--io-threads", os.environ["IO_THREADS"]]

# long enough for a sanitizer, next to other tests, on a small machine
START_S = 60
LEAVE_S = 60
PATIENCE_S = 60


def eventually(holds, patience_s=PATIENCE_S):
    """Calls `holds` until it returns a true value. Returns the last value."""
    deadline = time.monotonic() + patience_s
    while not (answer := holds()) and time.monotonic() < deadline:
        time.sleep(0.002)
    return answer


def free_port():
    """Returns a free port below the range of outgoing connections."""
    while True:
        port = random.randrange(20000, 32000)
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) != 0:
                return port


class ServerProcess:
    """A server that listens on `port` until stop(). It does not outlive the test."""

    def __init__(self, program, *options, config=None, environment=None, output=None,
                 awaits_data=True, port=None):
        """`config` is the configuration file. `output` is a file for standard output, if log() does
        not read it. Returns when the data is loaded, or as soon as the server listens."""
        is_ready = self.answers if awaits_data else self.listens
        self.name = pathlib.Path(program).name
        self.expected_exit_code = 0
        self._folder = tempfile.TemporaryDirectory()
        self._log_file = pathlib.Path(self._folder.name, "log")
        options = [*OPTIONS.get(self.name, []), *options]
        for _ in range(3):  # another program may take the port before the server
            self.port = port or free_port()
            command = [os.path.abspath(shutil.which(program) or program),
                       *([config] if config else []), "--port", str(self.port), *options]
            self._launch(command, {**os.environ, **(environment or {})}, output)
            if eventually(lambda: self.ended() or is_ready(), START_S) and not self.ended():
                return
            self.kill()
        raise RuntimeError(f"{self.name} does not start; its log:\n{self.log()}")

    def _launch(self, command, environment, output):
        with self._log_file.open("wb") as log:
            self.process = subprocess.Popen(
                ["setpriv", "--pdeathsig", "KILL", "--", *command], cwd=self._folder.name,
                stdout=output or log, stderr=log, env=environment)

    def listens(self):
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0

    def answers(self):
        """Returns whether the server listens and has finished loading its data."""
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=START_S) as probe:
                probe.sendall(b"PING\r\n")
                return not probe.recv(64).startswith(b"-LOADING")
        except (ConnectionError, TimeoutError):
            return False

    def log(self):
        return self._log_file.read_text(errors="replace")

    def ended(self):
        return self.process.poll() is not None

    def ask_to_leave(self, number=signal.SIGTERM):
        self.process.send_signal(number)

    def exit_code(self):
        """Waits until the server has ended. Returns its exit code."""
        return self.process.wait(LEAVE_S)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self):
        """Asks the server to end, if it is running. Returns the problem with its end, or None."""
        if not self.ended():
            self.ask_to_leave()
        with self._folder:
            try:
                code = self.exit_code()
            except subprocess.TimeoutExpired:
                self.kill()
                return f"{self.name} did not leave within {LEAVE_S} s; its log:\n{self.log()}"
            if code != self.expected_exit_code:
                return f"{self.name} left with exit code {code}; its log:\n{self.log()}"
        return None
