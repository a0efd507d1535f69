"""Time and bytes against the size of the set, as SVG."""

import pathlib

PANELS = (
    ("insert, ns", "Insert", "ns"),
    ("score of a member, ns", "ScoreHit", "ns"),
    ("rank of a member, ns", "Rank", "ns"),
    ("ten by rank, ns", "TenByRank", "ns"),
    ("a hundred by score, ns", "HundredByScore", "ns"),
    ("bytes a member, of 20 bytes", "Insert", "bytes"),
)


def draw(found, path):
    import matplotlib  # loads slowly, and is needed only here
    matplotlib.use("svg")
    from matplotlib import pyplot

    matplotlib.rcParams["svg.hashsalt"] = "zsetd"  # equal figures produce an equal file
    figure, axes = pyplot.subplots(2, 3, figsize=(13, 7), layout="constrained")
    for panel, (title, benchmark, counter) in zip(axes.flat, PANELS):
        for who in dict.fromkeys(key[1] for key in found if key[0] == benchmark):
            points = sorted((size, entry[counter]) for (name, set_, size), entry in found.items()
                            if name == benchmark and set_ == who and counter in entry)
            panel.plot(*zip(*points), marker="o", label=who)
        panel.set(title=title, xscale="log", xlabel="members", ylim=(0, None))
        panel.grid(alpha=0.3)
    axes.flat[0].legend()
    pathlib.Path(path).parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Date": None})
