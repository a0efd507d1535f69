"""One measurement: a fresh server, one workload, its figures."""

import functools

from versus_lib import load, servers

REQUESTS = {1: 60_000, 16: 300_000}  # by pipeline; about half a second each


@functools.lru_cache(maxsize=1)
def _contents(workload, size):
    return list(workload.contents(size))


def speed(workload, pipeline, members, share, spec):
    """What a request costs a server that holds `members` of the workload's contents."""
    requests = max(int(REQUESTS[pipeline] * share / workload.weight), load.CLIENTS)
    with servers.running(spec) as server:
        load.fill(server.port, _contents(workload, members))
        before = server.cpu_seconds()
        figures = load.drive(
            server.port, workload.words, pipeline, requests, members * workload.spread)
        spent = server.cpu_seconds() - before
    return {"workload": workload.name, "pipeline": pipeline, "server": spec.name,
            "requests": requests, "cpu_us": 1e6 * spent / requests, **figures}


def memory(workload, scale, spec):
    """How much the contents add to an empty server."""
    with servers.running(spec) as server:
        empty = server.resident_bytes()
        load.fill(server.port, workload.contents(workload.size_at(scale)))
        grown = server.resident_bytes() - empty
    return {"workload": workload.title_at(scale), "server": spec.name,
            "resident_mb": grown / 1e6}
