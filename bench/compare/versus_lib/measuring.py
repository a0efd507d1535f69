"""Measurements of several comparisons: the CPU of a server and the waits of its clients."""

import concurrent.futures
import json
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

from versus_lib import generator, servers
from versus_lib.report import table


class Folder:
    """A server in a folder that outlives it."""

    def __init__(self, program):
        self.program = program
        self.path = tempfile.mkdtemp(prefix="persistence-")

    def running(self, *options):
        """On all cores, because the work of its threads and children is measured, too."""
        return servers.running(servers.Spec(self.program, self._command(*options)), servers.ALL_CORES)

    def _command(self, *options):
        return f"{self.program} --port {{port}} --dir {self.path} --save '' " + " ".join(options)

    def remove(self):
        shutil.rmtree(self.path)


def cpu_of(client):
    """Seconds of the server and of its children that have ended."""
    info = client.info("cpu")
    return sum(info[f"used_cpu_{kind}"] for kind in ("user", "sys", "user_children", "sys_children"))


def change_of_member(members):
    """A request of a load generator: another score for a member that fill_set() has added."""
    return generator.Step(("ZADD set {score} member:{member}",),
                          (("random", "score", members), ("random", "member", members)))


def fill_set(client, members):
    for first in range(0, members, 50_000):
        pipe = client.pipeline(transaction=False)
        for start in range(first, min(first + 50_000, members), 500):
            words = [word for i in range(start, min(start + 500, members))
                     for word in (str(i * 7919 % members), f"member:{i:012}")]
            pipe.execute_command("ZADD", "set", *words)
        pipe.execute()


def add_traffic_options(parser):
    parser.add_argument("--seconds", type=int, default=8, help="of requests whose waits are measured; 8")
    parser.add_argument("--rate", type=int,
                        help="of these requests, a second; half of what saturates each server")


class Traffic:
    """How long requests wait from when they are due: at a rate, or half of that which saturates a server."""

    SATURATION_REQUESTS = 100_000
    SATURATION_ROUNDS = 3  # of which the median counts

    def __init__(self, port, step, options):
        self._port = port
        self._step = step
        self._rate = options.rate or self._saturating_rate() / 2
        self._requests = int(self._rate * options.seconds)

    def _saturating_rate(self):
        rounds = [generator.run(self._port, self._step, 1, self.SATURATION_REQUESTS)
                  for _ in range(self.SATURATION_ROUNDS)]
        return statistics.median(figures["requests_per_second"] for figures in rounds)

    def alone(self):
        """The figures of the load generator without other load."""
        return generator.run(self._port, self._step, 1, self._requests, self._rate)

    def beside(self, action):
        """Like the function above, while the action is repeated until all requests have their replies."""
        with concurrent.futures.ThreadPoolExecutor(max_workers=1) as executor:
            running = executor.submit(self.alone)
            while not running.done():
                action()
        return running.result()


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
