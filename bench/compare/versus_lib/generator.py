"""Runs load_generator, which, unlike redis-benchmark, supports steps of several requests and a fixed rate."""

import json
import subprocess
from typing import NamedTuple

from versus_lib.options import HOUSE

PROGRAM = HOUSE / "build/release/bench/load/load_generator"


class Step(NamedTuple):
    """Requests that are sent together. {name} in them is the value of a variable."""

    requests: tuple
    variables: tuple = ()  # (random or counter, name, bound or start)
    listeners: int = 0  # subscribers of the channel `events`


def run(port, step, at_once, requests, rate=None, connections=None):
    """Sends the requests, `at_once` steps at a time. Returns the figures of load_generator."""
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
    done = subprocess.run([*command, *step.requests], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip())
    return json.loads(done.stdout)
