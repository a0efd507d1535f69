"""Figures as Markdown tables: the medians of the rounds, and ratios of the first server to the others."""

import os
import pathlib
import statistics

FLOOR = "bare epoll"  # a server that only replies to PING: the lower bound


def machine():
    """Returns the processor and the number of its cores."""
    info = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8")
    model = next((line.partition(":")[2].strip() for line in info.splitlines()
                  if line.startswith("model name")), os.uname().machine)
    return f"{model}, {os.cpu_count()} cores"


def markdown(runs):
    """Returns the whole report."""
    makers = {"speed": (_speed_table, _wait_table), "memory": (_memory_table,),
              "latency": (_latency_table,)}
    tables = [make(some) for kind, these in makers.items()
              if (some := [run for run in runs if run["kind"] == kind]) for make in these]
    return "\n\n".join([f"On {machine()}:", *tables])


def summary(runs):
    """Returns the main figure of each server for one workload."""
    figure, unit = {"speed": ("cpu_us", "µs"), "memory": ("resident_mb", "MB"),
                    "latency": ("p99_ms", "ms")}[runs[0]["kind"]]
    return ", ".join(f"{name} {value:.2f} {unit}"
                     for name, value in medians(runs, figure).items())


def medians(runs, figure):
    """Returns the medians by server, in the order of measurement, without servers that lack the figure."""
    found = {}
    for run in runs:
        if figure in run:
            found.setdefault(run["server"], []).append(run[figure])
    return {name: statistics.median(values) for name, values in found.items()}


def ratios(runs, figure):
    """Returns the first server's figure divided by that of each other server, by the other's name."""
    (_, own), *others = medians(runs, figure).items()
    return {name: own / value for name, value in others}


def by_row(runs):
    """Returns the runs by (title, pipeline). The lower bound has a separate row, compared with the same others."""
    rows = {}
    for run in runs:
        rows.setdefault((run["workload"], run.get("pipeline")), []).append(run)
    found = {}
    for (title, pipeline), same in rows.items():
        floor = [run for run in same if run["server"] == FLOOR]
        servers = [run for run in same if run["server"] != FLOOR]
        found[title, pipeline] = servers
        if floor:
            others = [run for run in servers if run["server"] != servers[0]["server"]]
            found[f"{title} by a bare epoll server", pipeline] = floor + others
    return found


def _speed_table(runs):
    """A row per workload and pipeline: CPU per request, then requests per second."""
    rows = [["request", "pipeline", *_heading("CPU µs", runs), *_heading("requests/s", runs)]]
    for (title, pipeline), same in by_row(runs).items():
        rows.append([title, str(pipeline), *_compared(same, "cpu_us", "{:,.2f}"),
                     *_compared(same, "requests_per_second", "{:,.0f}")])
    return table(rows)


def _wait_table(runs):
    """A row per workload and pipeline: the latency at the maximum throughput."""
    figures = {"p50_ms": "50 % ms", "p99_ms": "99 % ms", "max_ms": "longest ms"}
    return _percentile_table(runs, figures)


def _latency_table(runs):
    """A row per workload and pipeline: the latency at half the maximum throughput, during large operations."""
    figures = {"due_per_second": "due/s", "p50_ms": "50 % ms", "p99_ms": "99 % ms",
               "p99_9_ms": "99.9 % ms", "max_ms": "longest ms"}
    return _percentile_table(runs, figures)


def _percentile_table(runs, figures):
    rows = [["waits", "pipeline", *(f"{head}, {name}" for head in figures.values()
                                    for name in _names(runs))]]
    for (title, pipeline), same in by_row(runs).items():
        cells = [_form(figure).format(value) for figure in figures
                 for value in medians(same, figure).values()]
        rows.append([title, str(pipeline), *cells])
    return table(rows)


def _form(figure):
    return "{:.3f}" if figure.endswith("_ms") else "{:,.0f}"


def _memory_table(runs):
    """A row per workload: the resident megabytes of its contents."""
    rows = [["contents", *_heading("MB", runs)]]
    rows += [[title, *_compared(same, "resident_mb", "{:.1f}")]
             for (title, _), same in by_row(runs).items()]
    return table(rows)


def _heading(figure, runs):
    own, *others = _names(runs)
    return [f"{figure}, {own}", *others, *["ratio"] * len(others)]


def _compared(runs, figure, form):
    return [*(form.format(value) for value in medians(runs, figure).values()),
            *(f"**{value:.2f}**" for value in ratios(runs, figure).values())]


def _names(runs):
    return [name for name in dict.fromkeys(run["server"] for run in runs) if name != FLOOR]


def table(rows):
    """Returns a Markdown table; the first row is the header."""
    rule = ["---"] + ["---:"] * (len(rows[0]) - 1)
    return "\n".join(f"| {' | '.join(row)} |" for row in [rows[0], rule, *rows[1:]])
