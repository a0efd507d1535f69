"""Random command lines and configuration files mean the same to zsetd and to redis-server. Either
both servers start or both refuse. If both start, their settings are equal."""

import os
import pathlib
import random
import socket
import subprocess
import tempfile
import unittest

import redis

from server_process import eventually

ZSETD = os.environ["ZSETD"]
REDIS = "redis-server"
CASES = int(os.environ.get("START_CASES", "150"))
SEED = int(os.environ.get("START_SEED", "0")) or random.randrange(1 << 32)

VALUES = {"hz": ["20", "50", "x", ""],
          "maxmemory": ["700mb", "1gb", "5x"],
          "timeout": ["7", "-1", "11"],
          "loglevel": ["verbose", "notice", "loud"],
          "masterauth": ["secret", "two words", "--dashes", "", "'", "a\\b"],
          "notify-keyspace-events": ["KEA", "", "Kx", "!"],
          "save": ["900 1", "900 1 300 10", "", "900", "60 10000", '""', "''", "x 1", "0 1"],
          "client-output-buffer-limit": ["normal 1mb 1mb 1", "pubsub 1 2 3", "crowd 1 2 3", "normal 1"],
          "latency-tracking-info-percentiles": ["50 99", "", "101", "99.9"]}
# Settings for which zsetd accepts several values in one word, which Redis refuses.
LAX = {"client-output-buffer-limit", "latency-tracking-info-percentiles"}


def accepts(path):
    with socket.socket(socket.AF_UNIX) as probe:
        return probe.connect_ex(str(path)) == 0


class Case:
    """Random arguments, which follow those that set the server's addresses, and text for standard
    input."""

    def __init__(self, pick):
        self.pick = pick
        self.words = [word for _ in range(pick.randrange(4)) for word in self.option()]
        self.text = None
        if pick.random() < 0.4:
            self.text = "".join(self.line() + "\n" for _ in range(pick.randrange(4)))
            self.words.append("-")

    def setting(self):
        name = self.pick.choice(sorted(VALUES))
        return self.pick.choice([name, name, name, name.upper()]), self.pick.choice(VALUES[name])

    def option(self):
        name, value = self.setting()
        quoted = value if name.lower() in LAX or '"' in value else f'"{value}"'
        shapes = [lambda: [f"--{name}", value],
                  lambda: [f"--{name} {value}"],
                  lambda: [f"--{name} ", value],
                  lambda: [f"--{name}"],
                  lambda: [f"--{name} "],
                  lambda: [f"--{name}", *value.split()],
                  lambda: [f"--{name}", *value.split(), *self.option()],
                  lambda: [f"--{name}", quoted],
                  lambda: [f"--{name} {quoted}"],
                  lambda: [f" --{name}", value],
                  lambda: [f"--{name}\t{value}\n{self.line()}"],
                  lambda: ["--", name, value],
                  lambda: [f"--# {name}"],
                  lambda: [value]]
        weights = [6, 6, 2, 2, 1, 4, 2, 2, 2, 1, 1, 1, 1, 1]
        return self.pick.choices(shapes, weights)[0]()

    def line(self):
        name, value = self.setting()
        return self.pick.choice([f"{name} {value}", f'{name} "{value}"', f"  {name}\t'{value}'  ", name,
                                 f"{name} {value} # no comment", f"# {name}", "", f'"{name}" {value}'])

    def run(self, program):
        """Returns the settings of a server that starts; None if it refuses to start."""
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "socket")
            command = [program, "--client-output-buffer-limit", "normal 0 0 0",  # Redis's default
                       "--port", "0", "--unixsocket", str(path), "--dir", folder, *self.words]
            input_path = pathlib.Path(folder, "input")
            input_path.write_text(self.text or "")
            with input_path.open() as text:
                process = subprocess.Popen(command, stdin=text, stdout=subprocess.DEVNULL,
                                           stderr=subprocess.DEVNULL, cwd=folder)
            try:
                self.assert_decided(eventually(lambda: accepts(path) or process.poll() is not None))
                if process.poll() is not None:
                    return None
                with redis.Redis(unix_socket_path=str(path)) as client:
                    return {name: client.config_get(name)[name] for name in VALUES}
            finally:
                process.kill()
                process.wait()

    def assert_decided(self, decided):
        assert decided, f"neither starts nor ends: {self.words} {self.text!r}"


class StartArguments(unittest.TestCase):
    maxDiff = None

    def test_mean_the_same_as_in_redis(self):
        print(f"START_SEED={SEED}")
        pick = random.Random(SEED)
        accepted = 0
        for number in range(CASES):
            case = Case(pick)
            expected = case.run(REDIS)
            accepted += expected is not None
            self.assertEqual(expected, case.run(ZSETD), f"case {number}: {case.words} {case.text!r}")
        self.assertGreater(accepted, CASES // 10)
        self.assertLess(accepted, CASES)


if __name__ == "__main__":
    unittest.main()
