"""One measurement: a new server, one workload, its figures."""

import functools

from versus_lib import generator, load, servers

REQUESTS = {1: 60_000, 16: 300_000}  # by pipeline; about half a second each
RECIPE_REQUESTS = 240_000


@functools.lru_cache(maxsize=2)  # the next workload probably uses the same contents
def encoded(contents, size):
    return list(contents(size))


def speed(workload, pipeline, options, spec):
    """Measures the CPU per request of a server with the workload's contents; redis-benchmark is the load."""
    size = workload.size_at(pipeline, options.members)
    requests = workload.requests_of(int(REQUESTS[pipeline] * options.share), size)

    def drive(port):
        return requests, load.drive(port, workload.words, pipeline, requests,
                                    size * workload.spread, options.connections)

    return _measured(workload, pipeline, size, spec, drive)


def recipe(workload, pipeline, options, spec):
    """Measures the CPU per command of a recipe, or per whole step; load_generator is the load."""
    size = workload.size_at(pipeline, options.members)
    step = workload.step(size, spec.name)
    at_once = pipeline // len(workload.requests)
    in_step = len(step.requests)
    steps = workload.requests_of(int(RECIPE_REQUESTS * options.share), size) // len(workload.requests)
    counted = 1 if workload.per == "command" else in_step

    def drive(port):
        figures = generator.run(port, step, at_once, max(steps, 1) * in_step)
        figures["requests_per_second"] /= counted
        return figures.pop("requests") // counted, figures

    return _measured(workload, pipeline, size, spec, drive)


def _measured(workload, pipeline, size, spec, drive):
    with servers.running(spec) as server:
        load.fill(server.port, encoded(workload.contents, size))
        before = server.cpu_seconds()
        requests, figures = drive(server.port)
        spent = server.cpu_seconds() - before
    return {"workload": workload.title_at(size), "pipeline": pipeline, "server": spec.name,
            "requests": requests, "cpu_us": 1e6 * spent / requests, **figures}


def memory(workload, scale, spec):
    """Measures the resident memory that the contents add to an empty server."""
    with servers.running(spec) as server:
        empty = server.resident_bytes()
        load.fill(server.port, workload.contents(workload.size_at(scale)))
        grown = server.resident_bytes() - empty
    return {"workload": workload.title_at(scale), "server": spec.name,
            "resident_mb": grown / 1e6}
