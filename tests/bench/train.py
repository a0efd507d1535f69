"""bench/compare/train runs each workload without an error."""

import os
import pathlib
import subprocess
import unittest

TRAIN = pathlib.Path(__file__).resolve().parents[2] / "bench/compare/train"


class Train(unittest.TestCase):
    def test_every_workload_runs(self):
        done = subprocess.run(["/usr/bin/python3", "-B", TRAIN, os.environ["ZSETD"], os.environ["LOAD_GENERATOR"],
                               "--members", "1000", "--requests", "100"], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))

    def test_a_failed_request_is_reported(self):
        done = subprocess.run(["/usr/bin/python3", "-B", TRAIN, os.environ["ZSETD"], "/bin/false"],
                              capture_output=True, text=True)
        self.assertNotEqual(done.returncode, 0)


if __name__ == "__main__":
    unittest.main()
