"""bench/compare/versus refuses options before it measures, and does not overwrite the documents."""

import pathlib
import subprocess
import unittest

VERSUS = pathlib.Path(__file__).resolve().parents[2] / "bench/compare/versus"


class VersusOptions(unittest.TestCase):
    def refusal(self, *options, status=2):
        done = subprocess.run(["/usr/bin/python3", "-B", VERSUS, "--zsetd", "/no/zsetd", *options],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stderr

    def test_a_quick_report_is_refused(self):
        self.assertIn("docs/benchmarks.md", self.refusal("--report", "--quick"))

    def test_a_file_that_cannot_be_written_is_refused(self):
        self.assertIn("/no/such/file.json cannot be written", self.refusal("--json", "/no/such/file.json"))

    def test_a_folder_that_cannot_be_written_is_refused(self):
        self.assertIn("/dev/null/plots cannot be written", self.refusal("--svg", "/dev/null/plots"))

    def test_a_number_that_measures_nothing_is_refused(self):
        self.assertIn("--rounds must be above 0", self.refusal("--rounds", "0"))
        self.assertIn("--seconds must be above 0", self.refusal("--seconds", "-1"))

    def test_a_report_of_some_rows_is_refused(self):
        self.assertIn("--only", self.refusal("--report", "--only", "GET"))

    def test_a_name_that_no_row_has_is_refused_before_anything_is_built(self):
        self.assertEqual(self.refusal("--only", "nosuch", status=1), "versus: no row has a name that contains 'nosuch'\n")


if __name__ == "__main__":
    unittest.main()
