"""The command line of bench/compare/versus."""

import argparse
import importlib.util
import os
import pathlib
import sys

from versus_lib.load import CLIENTS

HOUSE = pathlib.Path(__file__).resolve().parents[3]

FULL = {"rounds": 3, "members": 1_000_000, "share": 1.0, "scale": 1.0, "disturb": 1.0, "seconds": 8}
QUICK = {"rounds": 1, "members": 100_000, "share": 0.3, "scale": 0.02, "disturb": 0.02,
         "seconds": 3}


def read(description):
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    _add_what(parser)
    _add_where(parser)
    parser.add_argument("--zsetd", metavar="PROGRAM", help="measure this program; do not build it")
    parser.add_argument(
        "--server", action="append", metavar="NAME=COMMAND",
        help="another server to compare with, instead of redis-server; may be repeated. {port} and"
        " {dir} in COMMAND are replaced; without {port} it gets the options of Redis")
    parser.set_defaults(**(QUICK if "--quick" in sys.argv else FULL))
    options = parser.parse_args()
    if problem := _problem(options):
        parser.error(problem)
    return options


def _problem(options):
    """Returns the reason why the run could not write its results, or None. A run lasts minutes."""
    if options.report and options.quick:
        return "--quick is too inaccurate for --report, which writes docs/benchmarks.md"
    if options.report and options.only:
        return "--report measures its own rows; --only cannot select them"
    for name in "rounds", "connections", "members", "scale", "disturb", "seconds":
        if getattr(options, name) <= 0:
            return f"--{name} must be above 0"
    for file in options.json, options.csv:
        if file and not os.access(pathlib.Path(file).resolve().parent, os.W_OK):
            return f"{file} cannot be written"
    if options.svg and not _can_become_folder(pathlib.Path(options.svg).resolve()):
        return f"{options.svg} cannot be written"
    if (options.svg or options.report) and options.zsetd and not importlib.util.find_spec("matplotlib"):
        return "plots need python3-matplotlib; scripts/install bench installs it"
    return None


def _can_become_folder(path):
    """Returns whether files can be written in this folder, which may not exist yet."""
    while not path.exists():
        path = path.parent
    return path.is_dir() and os.access(path, os.W_OK)


def _add_what(parser):
    parser.add_argument("--quick", action="store_true", help="small and less accurate; takes one or two minutes")
    parser.add_argument("--latency", action="store_true",
                        help="instead of speed and memory: percentiles at half the rate that"
                        " saturates the server, while large operations run")
    parser.add_argument("--report", action="store_true",
                        help="instead: selected rows, with pauses and growth, as a section of"
                        " docs/benchmarks.md with plots; compared with redis-server, and with"
                        " Debian 13's valkey-server (scripts/valkey)")
    parser.add_argument("--only", default="", metavar="TEXT", help="only rows whose name contains TEXT")
    parser.add_argument("--rounds", type=int, metavar="N", help="rounds of each speed workload; 3")
    parser.add_argument("--connections", type=int, metavar="N", default=CLIENTS,
                        help=f"connections that send single commands; {CLIENTS}")
    parser.add_argument("--members", type=int, metavar="N",
                        help="members of the sets for pipelined requests; other sets and keys have a"
                        " tenth of it; 1000000")
    parser.add_argument("--scale", type=float, metavar="X",
                        help="the size of the contents whose memory is measured; 1")
    parser.add_argument("--disturb", type=float, metavar="X",
                        help="the size of the operations during --latency: a deleted set of 5000000 X"
                        " members, 1000000 X keys that expire, unions of 480000 X; 1")
    parser.add_argument("--seconds", type=float, metavar="S", help="the duration of a run of --latency; 8")


def _add_where(parser):
    parser.add_argument("--json", metavar="FILE", help="write all measurements to this file")
    parser.add_argument("--csv", metavar="FILE", help="write all measurements to this file, one line each")
    parser.add_argument("--svg", metavar="FOLDER", help="draw plots of ratios and latencies in this folder")
