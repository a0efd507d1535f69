"""bench/compare/versus sends the requests that its rows name, and no server replies with an
error."""

import os
import types
import unittest

from versus_lib import generator, latency, load, measure
from versus_lib.memory import MEMORY
from versus_lib.recipes import RECIPES
from versus_lib.servers import Spec, running
from versus_lib.workloads import SPEED

OPTIONS = types.SimpleNamespace(members=1000, share=0.002, disturb=0.0002, seconds=0.1)
SPECS = (Spec("zsetd", f"{os.environ['ZSETD']} --port {{port}} --save ''"),
         Spec("redis-server", "redis-server"))


class Rows(unittest.TestCase):
    def test_the_pipelined_requests_go_to_all_members(self):
        row = next(row for row in SPEED if row.name == "ZADD")
        sizes = [row.size_at(pipeline, 1_000_000) for pipeline in row.pipelines]
        self.assertEqual([row.title_at(size) for size in sizes],
                         ["ZADD, 100,000 members", "ZADD, 1,000,000 members"])

    def test_no_run_empties_its_set(self):
        for row in SPEED:
            if row.giving_back:
                self.assertEqual(row.requests_of(300_000, 1000), 500)

    def test_titles_are_different(self):
        titles = [(row.title_at(row.size_at(pipeline, 1000)), pipeline)
                  for row in SPEED + RECIPES for pipeline in row.pipelines]
        self.assertEqual(len(titles), len(set(titles)))

    def test_memory_rows_name_their_real_size(self):
        self.assertEqual(MEMORY[0].title_at(1), "one set of 2,000,000 members, numerals")
        self.assertEqual(MEMORY[0].title_at(0.01), "one set of 20,000 members, numerals")


class Requests(unittest.TestCase):
    def setUp(self):
        self.program, generator.PROGRAM = generator.PROGRAM, os.environ["LOAD_GENERATOR"]

    def tearDown(self):
        generator.PROGRAM = self.program

    def test_all_requests_get_replies(self):
        for spec in SPECS:
            with running(spec) as server:
                for row in SPEED + RECIPES:
                    with self.subTest(server=spec.name, row=row.name):
                        load.ask(server.port, "FLUSHALL")
                        load.fill(server.port, row.contents(200))
                        figures = generator.run(server.port, row.step(200), 2, 100)
                        self.assertGreaterEqual(figures["requests"], 100)

    def test_a_recipe_is_measured_on_its_own_server(self):
        union = next(row for row in RECIPES if row.per == "union")
        run = measure.recipe(union, 4, OPTIONS, SPECS[0])
        self.assertEqual((run["workload"], run["pipeline"], run["requests"]),
                         ("top-ten recipe, per union", 4, 1))
        self.assertGreater(run["cpu_us"], 0)

    def test_latency_is_measured_under_disturbance(self):
        row = next(row for row in SPEED if row.name == "ZPOPMIN")
        for spec in SPECS:
            run = latency.measured(row, 16, OPTIONS, spec)
            self.assertGreaterEqual(run["p99_9_ms"], run["p99_ms"])


if __name__ == "__main__":
    unittest.main()
