"""Writes all measurements in machine-readable forms."""

import csv
import json
import pathlib
import sys

from versus_lib import report


def write_json(path, runs):
    record = {"machine": report.machine(), "command": sys.argv, "runs": runs}
    pathlib.Path(path).write_text(json.dumps(record, indent=1), encoding="utf-8")


def write_csv(path, runs):
    """Writes a line for each measurement. A figure that a kind of measurement does not have is empty."""
    columns = list(dict.fromkeys(name for run in runs for name in run))
    with pathlib.Path(path).open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, columns)
        table.writeheader()
        table.writerows(runs)
