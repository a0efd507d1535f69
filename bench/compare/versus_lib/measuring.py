"""What several comparisons measure: the CPU of a server, and how long its clients wait."""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading
import time

import redis

from versus_lib.report import table


class Folder:
    """A server in a folder that outlives it."""

    def __init__(self, program):
        self.program = program
        self.path = tempfile.mkdtemp(prefix="persistence-")

    def command(self, *options):
        return f"{self.program} --port {{port}} --dir {self.path} --save '' " + " ".join(options)

    def remove(self):
        shutil.rmtree(self.path)


def cpu_of(client):
    """Seconds of the server and of its children that have ended."""
    info = client.info("cpu")
    return sum(info[f"used_cpu_{kind}"] for kind in ("user", "sys", "user_children", "sys_children"))


def fill_set(client, members):
    for first in range(0, members, 50_000):
        pipe = client.pipeline(transaction=False)
        for start in range(first, min(first + 50_000, members), 500):
            words = [word for i in range(start, min(start + 500, members))
                     for word in (str(i * 7919 % members), f"member:{i}")]
            pipe.execute_command("ZADD", "set", *words)
        pipe.execute()


class Waits:
    """A client that sends a request all the time, and how long it waited."""

    def __init__(self, port, request):
        """`request` returns the words of the next one."""
        self._client = redis.Redis(port=port)
        self._request = request
        self._ends = threading.Event()
        self._waits = []
        self._thread = threading.Thread(target=self._run)

    def _run(self):
        while not self._ends.is_set():
            words = self._request()
            start = time.perf_counter()
            self._client.execute_command(*words)
            self._waits.append((time.perf_counter() - start) * 1000)

    def longest_ms(self):
        return max(self._waits)

    def of_most_ms(self):
        """99.9 % of the requests waited no longer."""
        return sorted(self._waits)[len(self._waits) * 999 // 1000]

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._ends.set()
        self._thread.join()


def benchmark(port, *options):
    result = subprocess.run(["redis-benchmark", "-p", str(port), "--csv", *options],
                            capture_output=True, text=True, check=True)
    return float(result.stdout.splitlines()[-1].split(",")[1].strip('"'))


def compare(programs, rounds, measure, json_file=None):
    """Measures the programs alternately, for that number of rounds, and prints the median of each figure;
    `measure` returns them by title. Every figure goes into the file, if there is one."""
    for program in programs.values():
        if not shutil.which(program):
            sys.exit(f"there is no {program}")
    found = []
    for turn in range(rounds):
        print(f"round {turn + 1}", file=sys.stderr)
        found.append({name: measure(program) for name, program in programs.items()})
    rows = [["", *programs, "ratio"]]
    for title in found[0]["zsetd"]:
        ours, theirs = (sorted(each[name][title] for each in found)[len(found) // 2]
                        for name in programs)
        rows.append([title, f"{ours:,.2f}", f"{theirs:,.2f}", f"{ours / theirs:.2f}"])
    print(table(rows))
    if json_file:
        pathlib.Path(json_file).write_text(json.dumps(found, indent=1), encoding="utf-8")
