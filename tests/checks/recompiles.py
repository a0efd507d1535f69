"""A change of a leaf header of the engine recompiles few objects.

Counts, in the graph of includes, the sources that include the header, also through others and through the
precompiled headers.
"""

import pathlib
import re
import unittest

HOUSE = pathlib.Path(__file__).resolve().parents[2]
MOST_OBJECTS = 60

# Their sources include it by way of a precompiled header.
ENGINE = "server/engine/engine.h"
ABOVE_ENGINE = tuple(f"server/{layer}/" for layer in
                     ("commands", "scripting", "persistence", "replication", "cluster", "net", "http"))

# Headers of classes that one other class owns. Its header forward-declares them.
LEAVES = ["server/engine/acl/acl_log.h", "server/engine/metrics/slow_log.h",
          "server/engine/notify/monitors.h", "server/engine/store/evictor.h"]

INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)
PRECOMPILED = re.compile(r"^foreach\(header ([^)]*)\)", re.MULTILINE)


def precompiled(text):
    """Returns the project's own headers that are precompiled, from CMakeLists.txt."""
    return [f"core/util/{name}.h" for names in PRECOMPILED.findall(text) for name in names.split()]


class Graph:
    """The includes of the sources of the server."""

    def __init__(self, texts, precompiled_headers):
        self._precompiled = precompiled_headers
        self._includes = {path: [name for name in INCLUDE.findall(text) if name in texts]
                          for path, text in texts.items()}

    def reached(self, path):
        """Returns all headers that this source includes, directly or not."""
        left = self._includes[path] + self._precompiled
        if path.startswith(ABOVE_ENGINE):
            left.append(ENGINE)
        found = set()
        while left:
            header = left.pop()
            if header not in found:
                found.add(header)
                left += self._includes[header]
        return found

    def objects_with(self, header):
        return sum(path.endswith(".cc") and header in self.reached(path) for path in self._includes)


class Recompiles(unittest.TestCase):
    def test_a_leaf_header_of_the_engine_reaches_few_objects(self):
        texts = {file.relative_to(HOUSE).as_posix(): file.read_text()
                 for layer in ("core", "protocol", "server") for file in (HOUSE / layer).rglob("*")
                 if file.suffix in (".h", ".cc")}
        graph = Graph(texts, precompiled((HOUSE / "CMakeLists.txt").read_text()))
        for header in LEAVES:
            with self.subTest(header=header):
                self.assertTrue(0 < graph.objects_with(header) <= MOST_OBJECTS,
                                graph.objects_with(header))

    def test_a_precompiled_header_counts_for_every_source(self):
        self.assertEqual(precompiled("foreach(header glob time)\n  list(APPEND A b)\nendforeach()\n"),
                         ["core/util/glob.h", "core/util/time.h"])
        graph = Graph({"core/a.h": '#include "core/b.h"\n', "core/b.h": "", "core/c.cc": "",
                       "other/d.cc": '#include "core/b.h"\n', "other/e.cc": ""}, ["core/a.h"])
        self.assertEqual(graph.objects_with("core/b.h"), 3)
        graph = Graph({"core/a.h": "", "core/c.cc": '#include "core/a.h"\n', "core/d.cc": ""}, [])
        self.assertEqual(graph.objects_with("core/a.h"), 1)

    def test_the_precompiled_headers_exist(self):
        headers = precompiled((HOUSE / "CMakeLists.txt").read_text())
        self.assertTrue(headers)
        for header in headers:
            self.assertTrue((HOUSE / header).is_file(), header)


if __name__ == "__main__":
    unittest.main()
