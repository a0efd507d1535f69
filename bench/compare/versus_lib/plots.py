"""Bar charts as SVG: the ratio of each row, and the latency of its requests."""

import pathlib

from versus_lib import report


_SHORTEST_MS = 0.01  # the start of the bars, because a logarithmic scale has no zero


def draw(runs, folder):
    """Draws one file for each kind of figure that was measured. Returns the paths."""
    import matplotlib  # loads slowly, and is needed only here
    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "zsetd"  # equal figures produce an equal file

    pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
    figures = (("speed", "cpu_us", "CPU per request", _ratios),
               ("speed", "requests_per_second", "requests per second", _ratios),
               ("speed", "p99_ms", "99 % wait less than, ms", _waits),
               ("memory", "resident_mb", "resident memory", _ratios),
               ("latency", "p99_ms", "99 % wait less than, ms, disturbed", _waits),
               ("latency", "p99_9_ms", "99.9 % wait less than, ms, disturbed", _waits))
    paths = []
    for kind, figure, title, bars in figures:
        if some := [run for run in runs if run["kind"] == kind]:
            paths.append(pathlib.Path(folder, f"{kind}-{figure.removesuffix('_ms')}.svg"))
            _draw(bars(some, figure), title, bars is _waits, paths[-1])
    return paths


def _ratios(runs, figure):
    own = runs[0]["server"]
    return {row: {f"{own} / {name}": ratio for name, ratio in report.ratios(same, figure).items()}
            for row, same in report.by_row(runs).items()}


def _waits(runs, figure):
    return {row: report.medians(same, figure) for row, same in report.by_row(runs).items()}


def _draw(rows, title, is_wait, path):
    from matplotlib import pyplot

    names = list(next(iter(rows.values())))
    figure, axes = pyplot.subplots(figsize=(9, 1.5 + 0.3 * len(rows)), layout="constrained")
    height = 0.8 / len(names)
    for number, name in enumerate(names):
        places = [row + number * height for row in range(len(rows))]
        widths = [list(values.values())[number] for values in rows.values()]
        axes.barh(places, widths, height, label=name)
    labels = [title_ if pipeline is None else f"{title_}, pipeline {pipeline}"
              for title_, pipeline in rows]
    axes.set_yticks([row + 0.4 - height / 2 for row in range(len(rows))], labels)
    axes.margins(y=0.01)
    axes.invert_yaxis()
    axes.set_title(title, loc="left")
    if is_wait:
        axes.set(xscale="log", xlim=(_SHORTEST_MS, None))
    else:
        axes.axvline(1, color="black", linewidth=0.8)
    axes.grid(axis="x", alpha=0.3)
    axes.legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=len(names))
    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)
