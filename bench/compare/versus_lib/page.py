"""The human-readable report: a section of docs/benchmarks.md, and its plots.

`versus --report` measures selected rows on all servers. Then it writes the section between the two marks, and
plots as SVG files. The section names the machine, the versions of the servers and the commit.
"""

import dataclasses
import os
import pathlib
import re
import subprocess
import sys

from versus_lib import measure, pauses, report, servers
from versus_lib.memory import MEMORY
from versus_lib.workloads import SPEED

BEGIN, END = "<!-- versus --report: begin -->", "<!-- versus --report: end -->"
COMMANDS = ("SET", "GET", "ZADD", "ZINCRBY", "ZRANK", "ZREVRANGE 0 9", "ZRANGEBYSCORE LIMIT 10", "ZPOPMIN")
GROWING = ("ZADD", "ZRANK")
SHARES = (0.01, 0.1, 1.0)  # the sizes at which growth is measured, as shares of the members
PIPELINE = 16
PAUSE_ROUNDS = 5  # of which the report has the median
COLOURS = ("#2f6f5e", "#c2762b", "#5b6fc7", "#8a8f8c")


@dataclasses.dataclass
class Figures:
    """The results: name of a row -> name of a server -> figure."""

    cpu_us: dict
    growth: dict  # command -> server -> [(members, µs)]
    bytes_each: dict
    longest_ms: dict
    load: float  # the load average during the measurement


def measured(options, specs, progress):
    """Measures all figures of the report. Calls `progress` with the name of each measurement."""
    before = os.getloadavg()[2]
    figures = Figures(_cpu(options, specs, progress), _growth(options, specs, progress),
                      _memory(options, specs, progress), _pauses(options, specs, progress), 0)
    figures.load = (before + os.getloadavg()[2]) / 2
    return figures


def _workload(name):
    return next(workload for workload in SPEED if workload.name == name)


def _median_cpu(workload, options, spec):
    runs = [measure.speed(workload, PIPELINE, options, spec) for _ in range(options.rounds)]
    return sorted(run["cpu_us"] for run in runs)[len(runs) // 2]


def _cpu(options, specs, progress):
    found = {}
    for name in COMMANDS:
        for spec in specs:
            progress(f"CPU of {name}: {spec.name}")
            found.setdefault(name, {})[spec.name] = _median_cpu(_workload(name), options, spec)
    return found


def _growth(options, specs, progress):
    found = {}
    whole = options.members
    for name in GROWING:
        for spec in specs:
            line = found.setdefault(name, {}).setdefault(spec.name, [])
            for share in SHARES:
                options.members = int(whole * share)
                progress(f"{name} of {options.members:,}: {spec.name}")
                line.append((options.members, _median_cpu(_workload(name), options, spec)))
    options.members = whole
    return found


def _memory(options, specs, progress):
    found = {}
    for workload in MEMORY:
        title = workload.title_at(options.scale)
        for spec in specs:
            progress(f"memory of {title}: {spec.name}")
            figures = measure.memory(workload, options.scale, spec)
            found.setdefault(title, {})[spec.name] = (
                1e6 * figures["resident_mb"] / workload.size_at(options.scale))
    return found


def _pauses(options, specs, progress):
    found = {}
    members = int(5 * options.members * options.disturb)
    for spec in specs:
        with servers.running(spec) as server:
            for action in pauses.ACTIONS:
                progress(f"{action.title}: {spec.name}")
                title = action.title.format(members=f"{members:,}")
                found.setdefault(title, {})[spec.name] = pauses.longest_waits(
                    server.port, action, members, PAUSE_ROUNDS)[0]
        with servers.running(spec) as server:
            keys = int(options.members * options.disturb)
            progress(f"keys that expire: {spec.name}")
            for title, (p99, longest) in pauses.expiry_lags(server.port, keys).items():
                is_lag = title.startswith("lag")
                title = title.format(keys=f"{keys:,}").replace("`", "") + (", 99 %" if is_lag else "")
                found.setdefault(title, {})[spec.name] = p99 if is_lag else longest
    return found


def draw(figures, folder):
    """Draws the plots, as SVG files in the folder."""
    import matplotlib
    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "zsetd"  # equal figures produce an equal file
    matplotlib.rcParams["font.family"] = "sans-serif"
    folder.mkdir(parents=True, exist_ok=True)
    _bars(figures.cpu_us, f"CPU time per request, µs, pipeline {PIPELINE}", folder / "cpu.svg")
    _bars(figures.bytes_each, "resident bytes of each (bars: ratios)", folder / "memory.svg", is_relative=True)
    _bars(figures.longest_ms, "longest waits, ms (bars: ratios)", folder / "pauses.svg", is_relative=True)
    _lines(figures.growth, folder / "growth.svg")


def _bars(rows, title, path, is_relative=False):
    """Draws a bar for each server and row, with its value as text. If `is_relative`, the length is the ratio to the
    second server, because the values of the rows differ too much for one scale."""
    from matplotlib import pyplot

    names = list(next(iter(rows.values())))
    reference = names[min(1, len(names) - 1)]
    units = [row[reference] if is_relative else 1 for row in rows.values()]
    figure, axes = pyplot.subplots(figsize=(8.6, 1.1 + 0.42 * len(rows)), layout="constrained")
    height = 0.8 / len(names)
    for number, name in enumerate(names):
        values = [row[name] for row in rows.values()]
        bars = axes.barh([at + number * height for at in range(len(rows))],
                         [value / unit for value, unit in zip(values, units)], height, label=name,
                         color=COLOURS[number % len(COLOURS)])
        axes.bar_label(bars, [f"{value:,.2f}" if value < 10 else f"{value:,.0f}" for value in values],
                       padding=3, fontsize=8)
    axes.set_yticks([at + 0.4 - height / 2 for at in range(len(rows))], list(rows))
    axes.invert_yaxis()
    axes.margins(x=0.12)
    _finish(figure, [axes], title, path, names)


def _lines(growth, path):
    from matplotlib import pyplot

    figure, all_axes = pyplot.subplots(1, len(growth), figsize=(8.6, 3), layout="constrained", sharey=True)
    for axes, (command, lines) in zip(all_axes, growth.items()):
        for number, (name, points) in enumerate(lines.items()):
            axes.plot(*zip(*points), marker="o", label=name, color=COLOURS[number % len(COLOURS)])
        axes.set(xscale="log", ylim=(0, None), xlabel="members")
        axes.set_title(command, loc="left", fontsize=10)
        axes.grid(alpha=0.3)
    _finish(figure, all_axes, f"CPU time per request as sets grow, µs, pipeline {PIPELINE}", path,
            list(next(iter(growth.values()))))


def _finish(figure, all_axes, title, path, names):
    from matplotlib import pyplot

    for axes in all_axes:
        axes.grid(axis="x", alpha=0.3)
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
    figure.suptitle(title, x=0.01, ha="left", fontsize=11)
    figure.legend(*all_axes[0].get_legend_handles_labels(), loc="upper right", ncols=len(names),
                  frameon=False, fontsize=9)
    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)


def version_of(spec):
    """Returns name and version of the server, such as "redis-server 7.0.15"."""
    line = subprocess.run([spec.program, "--version"], capture_output=True, text=True, check=False).stdout
    own = re.search(r"build=(zsetd-\S+)", line)
    number = re.search(r"v=(\S+)", line)
    return own[1] if own else f"{spec.name} {number[1]}" if number else spec.name


def command(words):
    """Returns the command line of the measurement, without --zsetd."""
    words = ["bench/compare/versus", *words]
    if "--zsetd" in words:
        at = words.index("--zsetd")
        del words[at:at + 2]
    return " ".join(words)


def section(figures, specs, commit, images, words):
    """Returns the text between the marks; `words` is the command line."""
    names = [spec.name for spec in specs]
    lines = [BEGIN, "## At a glance\n",
             f"Measured by `{command(words)}` on {report.machine()}, at commit {commit}:",
             f"{', '.join(version_of(spec) for spec in specs)}. Lower is better everywhere. The load average was",
             f"{figures.load:.0f}, which increases waits, but not CPU time and memory.\n"]
    for title, name, rows, form in (
            ("CPU time per request", "cpu", figures.cpu_us, "{:.2f} µs"),
            ("Memory", "memory", figures.bytes_each, "{:,.0f} bytes"),
            ("Pauses and expiry", "pauses", figures.longest_ms, "{:,.1f} ms")):
        lines += [f"![{title}]({images}/{name}.svg)\n",
                  report.table([["", *names]] + [
                      [row, *(form.format(values[server]) for server in names)] for row, values in rows.items()]),
                  ""]
    lines += [f"![growth with size]({images}/growth.svg)\n", END]
    return "\n".join(lines)


def replace_section(text, new):
    """Returns the document with the new section: instead of the old one, or before its first section."""
    if BEGIN in text:
        return text[:text.index(BEGIN)] + new + text[text.index(END) + len(END):]
    at = text.index("\n## ") + 1
    return text[:at] + new + "\n\n" + text[at:]


def write(figures, specs, house):
    """Writes the plots and the section. Returns the written files."""
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=house, capture_output=True, text=True,
                            check=False).stdout.strip() or "unknown"
    folder = pathlib.Path(house, "docs/images/benchmarks")
    draw(figures, folder)
    document = pathlib.Path(house, "docs/benchmarks.md")
    document.write_text(replace_section(document.read_text(encoding="utf-8"),
                                        section(figures, specs, commit, "images/benchmarks", sys.argv[1:])),
                        encoding="utf-8")
    return [document, *sorted(folder.glob("*.svg"))]
