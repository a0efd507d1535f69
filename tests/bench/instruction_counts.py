"""The comparison of instruction counts with a baseline."""

import random
import unittest

from versus_lib import counting

HERE = {"compiler": "GCC 12", "C library": "glibc 2.36"}
BASELINE = {"environment": HERE, "instructions": {"GET": 1000, "SET": 2000}}


class Baseline(unittest.TestCase):
    def setUp(self):
        for name in ("environment", "shutil"):
            self.addCleanup(setattr, counting, name, getattr(counting, name))
        counting.environment = lambda program: HERE

    def test_growth_is_in_percent(self):
        self.assertEqual(counting.growth({"GET": 1040, "SET": 1900, "NEW": 1}, BASELINE), {"GET": 4, "SET": -5})

    def test_another_compiler_is_not_compared(self):
        counting.environment = lambda program: {**HERE, "compiler": "GCC 13"}
        self.assertEqual(counting.why_not_here("zsetd", BASELINE),
                         "compiler is GCC 13, but GCC 12 in the baseline")

    def test_a_missing_tool_is_the_reason(self):
        class Nowhere:
            which = staticmethod(lambda tool: None)

        counting.shutil = Nowhere
        self.assertEqual(counting.why_not_here("zsetd", BASELINE), "valgrind is not installed")

    def test_each_command_of_the_baseline_is_counted(self):
        baseline = counting.read(counting.BASELINE)
        self.assertEqual(set(baseline["instructions"]), set(counting.commands(random.Random(1))))


if __name__ == "__main__":
    unittest.main()
