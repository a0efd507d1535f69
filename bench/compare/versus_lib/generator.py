"""Runs load_generator, which, unlike redis-benchmark, supports steps of several requests and a fixed rate."""

import json
import os
import subprocess
from typing import NamedTuple

from versus_lib.options import HOUSE

PROGRAM = HOUSE / "build/release/bench/load/load_generator"


class Step(NamedTuple):
    """Requests that are sent together. {name} in them is the value of a variable."""

    requests: tuple
    variables: tuple = ()  # (random or counter, name, bound or start)
    listeners: int = 0  # subscribers of the channel `events`


def run_first(thread):
    """Lets a thread (0: this one) run before all threads without a real-time priority. Needs root.

    Threads and processes that it starts later have the normal priority.
    """
    os.sched_setscheduler(thread, os.SCHED_FIFO | os.SCHED_RESET_ON_FORK, os.sched_param(1))


def run(port, step, at_once, requests, rate=None, connections=None, is_first=False):
    """Sends the requests, `at_once` steps at a time. Returns the figures of load_generator.

    `is_first`: its thread runs before all threads without a real-time priority.
    """
    command = [str(PROGRAM), "--port", str(port), "--steps", str(at_once),
               "--requests", str(requests)]
    if connections:
        command += ["--connections", str(connections)]
    if rate:
        command += ["--rate", str(rate)]
    if step.listeners:
        command += ["--listeners", f"{step.listeners}=events"]
    for kind, name, number in step.variables:
        command += [f"--{kind}", f"{name}={number}"]
    done = subprocess.run([*command, *step.requests], capture_output=True, text=True, check=False,
                          preexec_fn=(lambda: run_first(0)) if is_first else None)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip())
    return json.loads(done.stdout)
