"""Operations that run in parallel with the requests whose latency is measured.

A set of millions is deleted, a million keys expire, and a union of 24 buckets runs every second.
"""

import contextlib
import threading
import time
from typing import NamedTuple

from versus_lib import contents, generator, load

KEYS_DUE_S, SET_DELETED_S = 1, 2  # after the start
IN_A_REQUEST = 10                 # members added by one request
FILLED_A_SECOND = 100_000         # keys, at least: all must be set before they are due

_SET, _DAY, _BUCKET = "disturbing:set", "disturbing:day", "disturbing:hour"


class Disturbance(NamedTuple):
    """The sizes of the disturbing operations."""

    members: int
    keys: int
    stories: int  # in each bucket


def at_scale(scale):
    return Disturbance(int(5_000_000 * scale), int(1_000_000 * scale), int(20_000 * scale))


@contextlib.contextmanager
def going_on(port, size):
    """Prepares the operations, which takes some time. They run while the caller's block runs."""
    _fill_set(port, size.members)
    load.fill(port, contents.hours(size.stories, _BUCKET))
    start = _fill_keys(port, size.keys)
    failures, stop = [], threading.Event()
    threads = [threading.Thread(target=_guarded, args=(failures, job, port, start, stop))
               for job in (_delete_set, _unite)]
    time.sleep(max(0.0, start - time.time()))
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    if failures:
        raise failures[0]


def _fill_set(port, members):
    pairs = " ".join(f"{{score}} user:{number}:{{member}}" for number in range(IN_A_REQUEST))
    step = generator.Step((f"ZADD {_SET} {pairs}",),
                          (("random", "score", members), ("counter", "member", 1)))
    generator.run(port, step, 16, max(members // IN_A_REQUEST, 1))


def _fill_keys(port, keys):
    """Sets the keys. Returns the Unix time at which a run must start, so that they are due early in it."""
    start = time.time() + 1 + keys / FILLED_A_SECOND
    due = int(1000 * (start + KEYS_DUE_S))
    step = generator.Step((f"SET disturbing:{{key}} x PXAT {due}",), (("counter", "key", 1),))
    generator.run(port, step, 16, keys)
    return start


def _guarded(failures, job, port, start, stop):
    try:
        job(port, start, stop)
    except (OSError, RuntimeError) as failure:
        failures.append(failure)


def _delete_set(port, start, stop):
    if not stop.wait(start + SET_DELETED_S - time.time()):
        load.ask(port, "DEL", _SET)


def _unite(port, start, stop):
    buckets = [f"{_BUCKET}:{contents.number(hour)}" for hour in range(contents.HOURS)]
    due = start
    while not stop.wait(due - time.time()):
        load.ask(port, "ZUNIONSTORE", _DAY, len(buckets), *buckets)
        due = max(due + 1, time.time())
