"""The command line of bench/compare/versus."""

import argparse
import pathlib
import sys

HOUSE = pathlib.Path(__file__).resolve().parents[3]

FULL = {"rounds": 3, "members": 1_000_000, "share": 1.0, "scale": 1.0, "disturb": 1.0, "seconds": 8}
QUICK = {"rounds": 1, "members": 100_000, "share": 0.3, "scale": 0.02, "disturb": 0.02,
         "seconds": 3}


def read(description):
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    _add_what(parser)
    _add_where(parser)
    parser.add_argument("--zsetd", metavar="PROGRAM", help="measure this one, and build none")
    parser.add_argument(
        "--server", action="append", metavar="NAME=COMMAND",
        help="another server to compare with, instead of redis-server; may be repeated. {port} and"
        " {dir} in COMMAND are filled in; without {port} it gets Redis's options")
    parser.set_defaults(**(QUICK if "--quick" in sys.argv else FULL))
    return parser.parse_args()


def _add_what(parser):
    parser.add_argument("--quick", action="store_true", help="a minute or two, small and rough")
    parser.add_argument("--latency", action="store_true",
                        help="instead of speed and memory: percentiles at half of the rate that"
                        " saturates the server, while large things are done beside")
    parser.add_argument("--report", action="store_true",
                        help="instead: a choice of rows, with pauses and growth, as a section of"
                        " docs/benchmarks.md with plots; beside redis-server, and valkey-server if"
                        " there is one")
    parser.add_argument("--only", default="", metavar="TEXT", help="rows with this in the name")
    parser.add_argument("--rounds", type=int, metavar="N", help="of each speed workload; 3")
    parser.add_argument("--members", type=int, metavar="N",
                        help="of the sets that pipelined requests go to, and ten times what others"
                        " have; 1000000")
    parser.add_argument("--scale", type=float, metavar="X",
                        help="of the contents whose memory is measured; 1")
    parser.add_argument("--disturb", type=float, metavar="X",
                        help="of what --latency does beside: a set of 5000000 X members deleted,"
                        " 1000000 X keys that expire, unions of 480000 X; 1")
    parser.add_argument("--seconds", type=float, metavar="S", help="of a run of --latency; 8")


def _add_where(parser):
    parser.add_argument("--json", metavar="FILE", help="write every measurement there")
    parser.add_argument("--csv", metavar="FILE", help="the same as a table, one line each")
    parser.add_argument("--svg", metavar="FOLDER", help="draw ratios and latencies there")
