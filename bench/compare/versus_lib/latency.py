"""Latencies at half of a server's maximum throughput, while large operations run in parallel.

Requests are due at a fixed rate, and latency counts from the time when a request was due: a stall
counts against all requests that are due during it.
"""

import statistics

from versus_lib import disturbance, generator, load, measure, servers

SATURATION_REQUESTS = 100_000
SATURATION_ROUNDS = 3  # the median counts: a single high rate may exceed what the server can sustain
QUICK = ("SET", "ZADD", "recency recipe")  # the rows of a quick run


def measured(workload, pipeline, options, spec):
    """Returns the percentiles of one workload on a new server, at half the rate that saturates it."""
    size = workload.size_at(pipeline, options.members)
    step = workload.step(size, spec.name)
    at_once = max(pipeline // len(step.requests), 1)
    most = workload.requests_of(int(SATURATION_REQUESTS * options.share), size)
    with servers.running(spec) as server:
        load.fill(server.port, measure.encoded(workload.contents, size))
        full_rate = _saturation(server.port, step, at_once, most)
        with disturbance.going_on(server.port, disturbance.at_scale(options.disturb)):
            requests = max(int(full_rate / 2 * options.seconds), 1)
            figures = generator.run(server.port, step, at_once, requests, full_rate / 2)
    return {"workload": workload.title_at(size), "pipeline": pipeline, "server": spec.name,
            "due_per_second": full_rate / 2, **figures}


def _saturation(port, step, at_once, requests):
    """Returns the maximum number of requests per second of the server."""
    rounds = [generator.run(port, step, at_once, requests) for _ in range(SATURATION_ROUNDS)]
    return statistics.median(figures["requests_per_second"] for figures in rounds)
