"""Figures as Markdown tables: the median of the rounds, and how the first server compares."""

import os
import pathlib
import statistics


def machine():
    """The processor and the number of its cores."""
    info = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8")
    model = next((line.partition(":")[2].strip() for line in info.splitlines()
                  if line.startswith("model name")), os.uname().machine)
    return f"{model}, {os.cpu_count()} cores"


def markdown(speed, memory):
    """The whole report."""
    tables = ([_speed_table(speed)] if speed else []) + ([_memory_table(memory)] if memory else [])
    return "\n\n".join([f"On {machine()}:", *tables])


def summary(runs):
    """The main figure of each server for one workload."""
    figure, unit = ("cpu_us", "µs") if "cpu_us" in runs[0] else ("resident_mb", "MB")
    figures = zip(_names(runs), _medians(runs, figure))
    return ", ".join(f"{name} {value:.2f} {unit}" for name, value in figures)


def _speed_table(runs):
    """A row a workload and pipeline: CPU per request, then requests per second."""
    rows = [["request", "pipeline", *_heading("CPU µs", runs), *_heading("requests/s", runs)]]
    for workload, pipeline in dict.fromkeys((run["workload"], run["pipeline"]) for run in runs):
        same = [run for run in runs if (run["workload"], run["pipeline"]) == (workload, pipeline)]
        rows.append([workload, str(pipeline), *_compared(same, "cpu_us", "{:.2f}"),
                     *_compared(same, "requests_per_second", "{:,.0f}")])
    return table(rows)


def _memory_table(runs):
    """A row a workload: the resident megabytes that its contents take."""
    rows = [["contents", *_heading("MB", runs)]]
    for workload in dict.fromkeys(run["workload"] for run in runs):
        same = [run for run in runs if run["workload"] == workload]
        rows.append([workload, *_compared(same, "resident_mb", "{:.1f}")])
    return table(rows)


def _heading(figure, runs):
    own, *others = _names(runs)
    return [f"{figure}, {own}", *others, *["ratio"] * len(others)]


def _compared(runs, figure, form):
    own, *others = _medians(runs, figure)
    return [*(form.format(value) for value in (own, *others)),
            *(f"**{own / other:.2f}**" for other in others)]


def _names(runs):
    return list(dict.fromkeys(run["server"] for run in runs))


def _medians(runs, figure):
    return [statistics.median(run[figure] for run in runs if run["server"] == name)
            for name in _names(runs)]


def table(rows):
    """The rows, of which the first is the head."""
    rule = ["---"] + ["---:"] * (len(rows[0]) - 1)
    return "\n".join(f"| {' | '.join(row)} |" for row in [rows[0], rule, *rows[1:]])
