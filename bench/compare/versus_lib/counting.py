"""Counts the instructions of some commands in one server under callgrind, and compares them with a
baseline.

The server has a fixed seed, and each pipeline is one round of its event loop, so that the counts of the same
program differ by less than one percent. They depend on the compiler, the C library and the processor's features.
The baseline states these, and is compared only where they are the same.
"""

import itertools
import json
import os
import pathlib
import platform
import random
import re
import shlex
import shutil
import socket
import statistics
import subprocess
import tempfile
import time

from versus_lib import servers

BASELINE = pathlib.Path(__file__).resolve().parents[2] / "instructions_baseline.json"
ROUND = "zsetd::Poller::RunRound*"
OPTIONS = "--port {port} --dir {dir} --save '' --appendonly no --random-seed 1 --io-threads 1 --hz 1"
PIPELINE = 16
CHUNKS = 10  # counts of each command
PIPELINES = 5  # of each chunk
WARM_UP = 10  # pipelines that are not counted
MEMBERS = 5000
START_S = 120


def commands(source):
    """Returns a function for each counted command, which returns the words of a request."""
    number = lambda: source.randrange(MEMBERS)
    member = lambda: f"member:{number():06}"
    key = lambda: f"key:{number():06}"
    return {
        "PING": lambda: ["PING"],
        "SET": lambda: ["SET", key(), "a value of usual length"],
        "GET": lambda: ["GET", key()],
        "INCR": lambda: ["INCR", f"counter:{source.randrange(100)}"],
        "EXPIRE": lambda: ["EXPIRE", key(), "1000"],
        "ZADD of a new score": lambda: ["ZADD", "board", str(number()), member()],
        "ZADD of a new member": lambda: ["ZADD", "new", str(number()), f"other:{source.randrange(10**9)}"],
        "ZINCRBY": lambda: ["ZINCRBY", "board", "5", member()],
        "ZSCORE": lambda: ["ZSCORE", "board", member()],
        "ZRANK": lambda: ["ZRANK", "board", member()],
        "ZRANGE of ten": lambda: ["ZRANGE", "board", "100", "109"],
        "ZRANGEBYSCORE of ten": lambda: ["ZRANGEBYSCORE", "board", str(number()), "+inf", "LIMIT", "0", "10"],
        "ZPOPMIN": lambda: ["ZPOPMIN", "queue"],
        "HSET": lambda: ["HSET", f"hash:{source.randrange(100)}", f"f{source.randrange(20)}", "value"],
        "HGET": lambda: ["HGET", f"hash:{source.randrange(100)}", f"f{source.randrange(20)}"],
        "RPUSH": lambda: ["RPUSH", f"list:{source.randrange(100)}", "element"],
        "LPOP": lambda: ["LPOP", f"list:{source.randrange(100)}"],
        "SADD": lambda: ["SADD", f"set:{source.randrange(100)}", member()],
        "SISMEMBER": lambda: ["SISMEMBER", f"set:{source.randrange(100)}", member()],
        "XADD": lambda: ["XADD", f"stream:{source.randrange(100)}", "*", "field", "value"],
        "EVAL": lambda: ["EVAL", "return redis.call('GET', KEYS[1])", "1", key()],
        "PUBLISH": lambda: ["PUBLISH", "channel", "message"],
    }


def fill(source):
    """Returns the requests that make the data of the commands."""
    for name in ("board", "queue"):
        for first in range(0, MEMBERS, 100):
            yield ["ZADD", name, *(word for i in range(first, first + 100)
                                   for word in (str(source.randrange(MEMBERS)), f"member:{i:06}"))]
    for i in range(0, MEMBERS, 2):
        yield ["SET", f"key:{i:06}", "a value"]


def encode(words):
    return b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%b\r\n" % (len(word), word.encode()) for word in words)


class Connection:
    """Sends pipelines, and reads one reply to each request."""

    END = b"$11\r\nend-of-pipe\r\n"

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=START_S)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def ask(self, requests):
        self.socket.sendall(b"".join(map(encode, [*requests, ["ECHO", "end-of-pipe"]])))
        received = b""
        while not received.endswith(self.END):
            data = self.socket.recv(1 << 20)
            if not data:
                raise ConnectionError("the server has closed the connection")
            received += data
        if b"\r\n-" in received or received.startswith(b"-"):
            raise ValueError(f"an error among the replies: {received[:300]}")


def count(program):
    """Returns the instructions per request of each command, with an equal share of its round. Rounds
    that also serve a timer only add, so the lower half of the chunks counts."""
    with tempfile.TemporaryDirectory(prefix="instructions-") as folder:
        counts = pathlib.Path(folder, "counts")
        command = (f"valgrind --tool=callgrind --callgrind-out-file={counts} --toggle-collect={ROUND} "
                   f"{shlex.quote(program)} {OPTIONS}")
        with servers.running(servers.Spec(program, command), start_s=START_S) as server:
            connection = Connection(server.port)
            source = random.Random(1)
            requests = list(fill(source))
            for first in range(0, len(requests), PIPELINE):
                connection.ask(requests[first:first + PIPELINE])
            found = {}
            dumps = itertools.count(1)
            for name, make in commands(source).items():
                for _ in range(WARM_UP):
                    connection.ask([make() for _ in range(PIPELINE)])
                dump(server, counts, next(dumps))
                chunks = []
                for _ in range(CHUNKS):
                    for _ in range(PIPELINES):
                        connection.ask([make() for _ in range(PIPELINE)])
                    chunks.append(dump(server, counts, next(dumps)) / (PIPELINES * PIPELINE))
                found[name] = statistics.mean(sorted(chunks)[:CHUNKS // 2])
            connection.socket.close()
            return found


def dump(server, counts, number):
    """Lets callgrind write its counts to a file, and set them to 0. Returns their sum."""
    subprocess.run(["vgdb", f"--pid={server.pid}", "dump"], check=True, capture_output=True, timeout=60)
    path = pathlib.Path(f"{counts}.{number}")
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if path.exists() and (found := re.search(r"^totals: (\d+)", path.read_text(encoding="utf-8"), re.MULTILINE)):
            return int(found[1])
        time.sleep(0.01)
    raise RuntimeError("callgrind has written no counts")


def environment(program):
    """Returns what the counts depend on, other than the program's source."""
    text = lambda *words: subprocess.run(words, capture_output=True, text=True, check=True).stdout
    flags = set(re.search(r"^flags\s*:(.*)", pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8"),
                          re.MULTILINE)[1].split()) if platform.machine() == "x86_64" else set()
    return {"compiler": " ".join(re.findall(r"(?:GCC|clang).*", text("readelf", "-p", ".comment", program))),
            "C library": os.confstr("CS_GNU_LIBC_VERSION"), "valgrind": text("valgrind", "--version").strip(),
            "processor": " ".join([platform.machine(), *sorted(flags & {"avx2", "avx512f", "erms"})])}


def why_not_here(program, baseline):
    """Returns the reason for which a program cannot be compared with a baseline here; empty if it can."""
    for tool in ("valgrind", "vgdb", "readelf"):
        if not shutil.which(tool):
            return f"{tool} is not installed"
    here = environment(program)
    different = [name for name, value in baseline["environment"].items() if here.get(name) != value]
    return "".join(f"{name} is {here.get(name)}, but {baseline['environment'][name]} in the baseline; "
                   for name in different).removesuffix("; ")


def read(file):
    return json.loads(pathlib.Path(file).read_text(encoding="utf-8"))


def write(file, program, found):
    content = {"environment": environment(program),
               "instructions": {name: round(value) for name, value in found.items()}}
    pathlib.Path(file).write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def growth(found, baseline):
    """Returns the growth of each command in percent."""
    return {name: (found[name] - before) / before * 100 for name, before in baseline["instructions"].items()}
