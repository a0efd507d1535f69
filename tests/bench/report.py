"""The arithmetic of bench/compare/versus: medians, ratios, tables."""

import csv
import os
import pathlib
import tempfile
import unittest

from versus_lib import page, records, report
from versus_lib.servers import Spec


def speed(server, cpu_us, workload="GET", pipeline=1):
    return {"kind": "speed", "workload": workload, "pipeline": pipeline, "server": server,
            "cpu_us": cpu_us, "requests_per_second": 1000 / cpu_us,
            "p50_ms": 1.0, "p99_ms": 2.0, "max_ms": cpu_us}


GET = [speed("zsetd", 3), speed("redis", 8), speed("zsetd", 2), speed("redis", 4),
       speed("zsetd", 90), speed("redis", 6)]
PING = [speed(name, cpu, "PING", 16) for name, cpu in
        (("zsetd", 3), ("redis", 4), (report.FLOOR, 1))]


class Page(unittest.TestCase):
    def setUp(self):
        same = {"zsetd": 1.5, "redis-server": 30.0}
        points = {"zsetd": [(100, 1.0), (1000, 1.1)], "redis-server": [(100, 2.0), (1000, 4.0)]}
        self.figures = page.Figures({"GET": same}, {"ZADD": points, "ZRANK": points}, {"a set": same},
                                    {"DEL": same}, 1.0)

    def test_a_new_section_replaces_the_old_one(self):
        text = page.replace_section("# B\n\nintro\n\n## First\n\nx\n", f"{page.BEGIN}\none\n{page.END}")
        self.assertEqual(text, f"# B\n\nintro\n\n{page.BEGIN}\none\n{page.END}\n\n## First\n\nx\n")
        again = page.replace_section(text, f"{page.BEGIN}\ntwo\n{page.END}")
        self.assertEqual(again, text.replace("one", "two"))

    def test_the_section_names_machine_commit_and_servers(self):
        specs = [Spec("zsetd", os.environ["ZSETD"]), Spec("redis-server", "redis-server")]
        text = page.section(self.figures, specs, "abc1234", "images",
                            ["--report", "--zsetd", "/x/zsetd", "--quick"])
        self.assertIn("`bench/compare/versus --report --quick`", text)
        self.assertIn(report.machine(), text)
        self.assertIn("commit abc1234", text)
        self.assertRegex(text, r"zsetd-\d+\.\d+\.\d+, redis-server \d+\.\d+\.\d+")
        self.assertIn("| GET | 1.50 µs | 30.00 µs |", text)

    def test_plots_are_the_same_for_the_same_figures(self):
        try:
            import matplotlib  # installed with the packages for benchmarks
        except ImportError:
            self.skipTest("matplotlib is not installed")
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            page.draw(self.figures, folder)
            first = {path.name: path.read_bytes() for path in folder.glob("*.svg")}
            page.draw(self.figures, folder)
            self.assertEqual(first, {path.name: path.read_bytes() for path in folder.glob("*.svg")})
            self.assertEqual(set(first), {"cpu.svg", "memory.svg", "pauses.svg", "growth.svg"})


class Report(unittest.TestCase):
    def test_a_figure_is_the_median_of_its_rounds(self):
        self.assertEqual(report.medians(GET, "cpu_us"), {"zsetd": 3, "redis": 6})

    def test_a_ratio_is_the_first_server_divided_by_another(self):
        self.assertEqual(report.ratios(GET, "cpu_us"), {"redis": 0.5})
        self.assertEqual(report.ratios(GET, "requests_per_second"), {"redis": 2})

    def test_a_row_is_a_workload_at_one_pipeline(self):
        rows = report.by_row(GET + [speed("zsetd", 1, pipeline=16)])
        self.assertEqual(list(rows), [("GET", 1), ("GET", 16)])
        self.assertEqual(rows["GET", 1], GET)

    def test_the_floor_has_its_own_row(self):
        rows = report.by_row(PING)
        self.assertEqual(report.ratios(rows["PING", 16], "cpu_us"), {"redis": 0.75})
        self.assertEqual(report.ratios(rows["PING by a bare epoll server", 16], "cpu_us"),
                         {"redis": 0.25})

    def test_tables_contain_all_figures(self):
        memory = [{"kind": "memory", "workload": "a set", "server": name, "resident_mb": size}
                  for name, size in (("zsetd", 14), ("redis", 100))]
        more = {"kind": "latency", "p99_9_ms": 7.5, "due_per_second": 500}
        latency = [{**run, **more} for run in GET]
        text = report.markdown(PING + GET + memory + latency)
        for line in ("| GET | 1 | 3.00 | 6.00 | **0.50** | 333 | 167 | **2.00** |",
                     "| GET | 1 | 1.000 | 1.000 | 2.000 | 2.000 | 3.000 | 6.000 |",
                     "| PING by a bare epoll server | 16 | 1.00 | 4.00 | **0.25** | 1,000 | 250 |"
                     " **4.00** |",
                     "| a set | 14.0 | 100.0 | **0.14** |",
                     "| GET | 1 | 500 | 500 | 1.000 | 1.000 | 2.000 | 2.000 | 7.500 | 7.500 |"
                     " 3.000 | 6.000 |"):
            self.assertIn(line, text.splitlines())

    def test_the_lines_of_a_table_are_as_long_as_its_head(self):
        for text in report.markdown(GET + PING).split("\n\n")[1:]:
            self.assertEqual(len({line.count("|") for line in text.splitlines()}), 1, text)


class Records(unittest.TestCase):
    def test_csv_has_a_line_for_each_measurement(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "runs.csv")
            records.write_csv(path, GET[:2] + [{"kind": "memory", "resident_mb": 5}])
            with path.open(encoding="utf-8", newline="") as file:
                rows = list(csv.DictReader(file))
        self.assertEqual([row["cpu_us"] for row in rows], ["3", "8", ""])
        self.assertEqual(rows[2]["resident_mb"], "5")


if __name__ == "__main__":
    unittest.main()
