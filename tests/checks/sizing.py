"""scripts/size measures about what the table in docs/sizing.md states. ZSETD is the path of the program.

Measures less data than the table, so that figures may differ by a fifth."""

import importlib.machinery
import importlib.util
import os
import pathlib
import re
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
ROW = re.compile(r"^\| (.+?) \| (\d[\d,]*) per \w+ \| [\d,–]+ \|$", re.MULTILINE)
TOLERANCE = 0.2
MEASURED = 40000


def load_size():
    loader = importlib.machinery.SourceFileLoader("size", str(TOP / "scripts/size"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("size", loader))
    loader.exec_module(module)
    module.MOST_MEASURED = MEASURED
    return module


class Sizing(unittest.TestCase):
    def test_the_table_is_what_the_server_takes(self):
        size = load_size()
        page = {name: int(number.replace(",", "")) for name, number in
                ROW.findall((TOP / "docs/sizing.md").read_text())}
        self.assertEqual(list(page), [name for name, _, _ in size.TABLE])
        for name, words, unit in size.TABLE:
            with self.subTest(name):
                per_key, per_element, _ = size.measure(os.environ["ZSETD"], words.split())
                measured = per_key if unit == "key" else per_element
                self.assertLess(abs(measured - page[name]), max(1.5, TOLERANCE * page[name]))


if __name__ == "__main__":
    unittest.main()
