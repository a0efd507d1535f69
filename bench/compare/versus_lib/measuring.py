"""Measurements that several comparisons use: the CPU of a server and the waits of its clients."""

import concurrent.futures
import json
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

import redis

from versus_lib import generator, servers
from versus_lib.report import table


class Folder:
    """The folder of a server, which remains after the server has ended."""

    def __init__(self, program):
        self.program = program
        self.path = tempfile.mkdtemp(prefix="persistence-")

    def running(self, *options):
        """Runs the server on all cores, because its threads and children are measured, too."""
        return servers.running(servers.Spec(self.program, self._command(*options)), servers.ALL_CORES)

    def _command(self, *options):
        return f"{self.program} --port {{port}} --dir {self.path} --save '' " + " ".join(options)

    def remove(self):
        shutil.rmtree(self.path)


def cpu_of(client):
    """Returns the CPU seconds of the server and of its children that have ended."""
    info = client.info("cpu")
    return sum(info[f"used_cpu_{kind}"] for kind in ("user", "sys", "user_children", "sys_children"))


def system_cpu_of(client):
    """Returns the CPU seconds that the server has spent in the kernel."""
    return client.info("cpu")["used_cpu_sys"]


def change_of_member(members):
    """Returns a step for load_generator: a new score for a member that fill_set() has added."""
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
    parser.add_argument("--seconds", type=int, default=8, help="the duration of the load; 8")
    parser.add_argument("--rate", type=int,
                        help="requests per second; the default is half the rate that saturates each server")
    parser.add_argument("--io-threads", type=int, default=1, metavar="N", help="threads of each server; 1")
    parser.add_argument("--realtime", action="store_true",
                        help="the load generator and the main thread of the server run before all other threads, "
                             "so that none of their waits is one for a core; needs root")


def longest_turn_ms(client):
    """Returns the longest turn of a thread with the engine since CONFIG RESETSTAT, as INFO of zsetd reports it.

    No request waits longer for one turn of another. Redis does not report such a time: None.
    """
    longest = client.info("threads").get("engine_lock_longest_exclusive_us")
    return None if longest is None else longest / 1000


class Traffic:
    """Measures latencies from the time when requests are due, at a given rate or at half the saturating rate."""

    SATURATION_REQUESTS = 100_000
    SATURATION_ROUNDS = 3  # the median counts

    def __init__(self, port, step, options):
        self._port = port
        self._client = redis.Redis(port=port)
        self._step = step
        self._rate = options.rate or self._saturating_rate() / 2
        self._requests = int(self._rate * options.seconds)
        self._is_first = options.realtime
        if options.realtime:
            generator.run_first(self._client.info("server")["process_id"])

    def _saturating_rate(self):
        rounds = [generator.run(self._port, self._step, 1, self.SATURATION_REQUESTS)
                  for _ in range(self.SATURATION_ROUNDS)]
        return statistics.median(figures["requests_per_second"] for figures in rounds)

    def alone(self):
        """Returns the figures of load_generator without other load, and the longest turn with the engine."""
        self._client.config_resetstat()
        figures = generator.run(self._port, self._step, 1, self._requests, self._rate,
                                is_first=self._is_first)
        return {**figures, "turn_ms": longest_turn_ms(self._client)}

    def beside(self, action):
        """Like alone(), but repeats the action until all requests have their replies."""
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
    """Measures the programs alternately, for this number of rounds, and prints the median of each figure.

    `measure` returns the figures of a program by title, None if the program has no such figure. Writes all
    figures to `json_file`, if given.
    """
    for program in programs.values():
        if not shutil.which(program):
            sys.exit(f"there is no {program}")
    found = []
    for turn in range(rounds):
        print(f"round {turn + 1}", file=sys.stderr)
        found.append({name: measure(program) for name, program in programs.items()})
    rows = [["", *programs, "ratio"]]
    for title in found[0]["zsetd"]:
        ours, theirs = (_median(each[name][title] for each in found) for name in programs)
        both = ours is not None and theirs is not None
        rows.append([title, _figure(ours), _figure(theirs), _figure(ours / theirs) if both else ""])
    print(table(rows))
    if json_file:
        pathlib.Path(json_file).write_text(json.dumps(found, indent=1), encoding="utf-8")


def _median(figures):
    present = sorted(figure for figure in figures if figure is not None)
    return present[len(present) // 2] if present else None


def _figure(number):
    return "" if number is None else f"{number:,.2f}"
