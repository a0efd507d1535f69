"""The delays of other clients by large operations and by keys that expire."""

import contextlib
import dataclasses
import multiprocessing
import random
import socket
import statistics
import time

from versus_lib.load import encode, fill

SOURCE, BIG = "source", "big"
SETTLE_S = 0.3       # a pause before and after an action, so that other activity is not measured
AT_ONCE = 100_000    # keys due in the same millisecond
IN_A_SECOND = 1_000  # keys due one after another
LISTEN_S = 30        # an event that has not arrived by then counts with this delay


@dataclasses.dataclass(frozen=True)
class Action:
    """A command on a new set."""

    title: str
    words: tuple


ACTIONS = (
    Action("DEL of {members} members", ("DEL", BIG)),
    Action("SET over them", ("SET", BIG, "x")),
    Action("PEXPIRE of them", ("PEXPIRE", BIG, "1")),
    Action("ZREMRANGEBYRANK of half", ("ZREMRANGEBYRANK", BIG, "0", "{half}")),
    Action("ZREMRANGEBYSCORE of half", ("ZREMRANGEBYSCORE", BIG, "-inf", "0.5")),
    Action("FLUSHALL", ("FLUSHALL",)),
)


class Connection:
    """A connection that sends a request and reads the single line of its reply."""

    def __init__(self, port):
        self._socket = socket.create_connection(("127.0.0.1", port))
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.lines = self._socket.makefile("rb")

    def ask(self, *words):
        self._socket.sendall(encode(*words))
        reply = self.lines.readline()
        if not reply or reply.startswith(b"-"):
            raise RuntimeError(f"{words[0]}: {reply.decode()}")
        return reply

    def give_up_after(self, seconds):
        self._socket.settimeout(seconds)

    def message(self):
        """Returns the next message of a channel, or None if none arrives in time."""
        with contextlib.suppress(TimeoutError):
            return [self.lines.readline() for _ in range(7)][-1].strip()


def fill_set(port, members):
    chance = random.Random(1)

    def requests():
        for first in range(0, members, 100):
            words = ["ZADD", SOURCE]
            for member in range(first, min(first + 100, members)):
                words += [chance.random(), f"user:{member * 7919 % 2**31:010x}"]
            yield encode(*words)

    fill(port, requests())


def _watch(port, stop, found):
    """Sends PING until stopped, and puts the latencies in milliseconds into `found`."""
    connection, waits = Connection(port), []
    while not stop.is_set():
        before = time.perf_counter()
        connection.ask("PING")
        waits.append(1000 * (time.perf_counter() - before))
    found.put(waits)


def _summary(figures):
    figures.sort()
    return figures[len(figures) * 99 // 100], figures[-1]


@contextlib.contextmanager
def watched_by_others(port):
    """Runs a client that sends PING during the block. Yields a list that contains the summary afterwards."""
    stop, found, summary = multiprocessing.Event(), multiprocessing.Queue(), []
    watcher = multiprocessing.Process(target=_watch, args=(port, stop, found))
    watcher.start()
    time.sleep(SETTLE_S)
    yield summary
    time.sleep(SETTLE_S)
    stop.set()
    summary += _summary(found.get())
    watcher.join()


def with_waits(port, action):
    """Returns the 99th percentile and the maximum of the latency during the action on a copy of the set."""
    connection = Connection(port)
    connection.ask("ZUNIONSTORE", BIG, 1, SOURCE)
    half = int(connection.ask("ZCARD", BIG)[1:]) // 2
    with watched_by_others(port) as summary:
        connection.ask(*(word.format(half=half - 1) for word in action.words))
    with contextlib.suppress(RuntimeError):
        connection.ask("DEL", BIG)
    return summary


def longest_waits(port, action, members, rounds):
    """Returns the longest latency during the action on a set of this size, measured several times: the median
    and the maximum."""
    longest = []
    for _ in range(rounds):
        if Connection(port).ask("EXISTS", SOURCE) == b":0\r\n":  # at first, and after FLUSHALL
            fill_set(port, members)
        longest.append(with_waits(port, action)[1])
    return statistics.median(longest), max(longest)


def expiry_lags(port, keys):
    """Returns the delay by keys that are due together, and the lag of events of keys due one by one."""
    fill(port, (encode("SET", f"later:{key}", "x", "EX", 100_000 + key) for key in range(keys)))
    due = int(1000 * time.time()) + 3000
    fill(port, (encode("SET", f"once:{key}", "x", "PXAT", due) for key in range(AT_ONCE)))
    with watched_by_others(port) as at_once:
        time.sleep(max(0.0, due / 1000 - time.time()) + 1)
    return {f"{AT_ONCE:,} keys due in the same millisecond": at_once,
            f"lag of `expired`, {IN_A_SECOND:,} keys in a second among {{keys}}": _lags(port)}


def _lags(port):
    def requests(start):
        for number in range(IN_A_SECOND):
            yield encode("SET", f"due:{start + number}", "x", "PXAT", start + number)

    return event_lags(port, "x", "expired", requests)


def event_lags(port, event_class, event, requests):
    """Returns the delay of the events of keys `due:MILLISECOND`: 99th percentile and maximum.

    `requests(start)` sets the keys, one for each millisecond from `start` on.
    """
    asking, listening = Connection(port), Connection(port)
    asking.ask("CONFIG", "SET", "notify-keyspace-events", "E" + event_class)
    listening.ask("SUBSCRIBE", "__keyevent@0__:" + event)
    for _ in range(5):
        listening.lines.readline()
    start = int(1000 * time.time()) + 2000
    fill(port, requests(start))
    listening.give_up_after(LISTEN_S)
    lags, end = [], start / 1000 + LISTEN_S
    while len(lags) < IN_A_SECOND and time.time() < end and (key := listening.message()):
        if key.startswith(b"due:"):
            lags.append(1000 * time.time() - int(key[4:]))
    lags += [1000.0 * LISTEN_S] * (IN_A_SECOND - len(lags))
    return _summary(lags)
