"""A default run of redis-benchmark prints only figures, without errors or warnings."""

import os
import re
import subprocess
import unittest

FIGURES = 20  # lines of the default run: two forms of ping; four of lrange, with a push before them
FIGURE = re.compile(r"[^:]+: [0-9.]+ requests per second, p50=[0-9.]+ msec")


def finished_lines(out):
    """Returns the lines that a terminal finally shows. redis-benchmark overwrites a line while it
    measures."""
    lines = (line.split("\r")[-1].strip() for line in out.split("\n"))
    return [line for line in lines if line]


class Benchmark(unittest.TestCase):
    def check(self, *options):
        run = subprocess.run(["redis-benchmark", "-p", os.environ["PORT"], "-q", "-n", "2000",
                              *options], capture_output=True)
        self.assertEqual((run.returncode, run.stderr), (0, b""))
        lines = finished_lines(run.stdout.decode())
        self.assertEqual([line for line in lines if not FIGURE.fullmatch(line)], [])
        self.assertEqual(len(lines), FIGURES, lines)

    def test_one_request_at_a_time(self):
        self.check("-P", "1")

    def test_sixteen_requests_at_a_time(self):
        self.check("-P", "16")

    def test_from_two_threads(self):
        self.check("--threads", "2", "-P", "16")

    def test_in_resp3(self):
        self.check("-3")
