"""A change of a leaf header of the engine recompiles few objects.

Counts, in the graph of includes, the sources that include the header, also through others and through the
precompiled header of their layer.
"""

import pathlib
import re
import unittest

HOUSE = pathlib.Path(__file__).resolve().parents[2]
MOST_OBJECTS = 60

# Headers of classes that one other class owns. Its header forward-declares them.
LEAVES = ["server/engine/acl/acl_log.h", "server/engine/metrics/slow_log.h",
          "server/engine/notify/monitors.h", "server/engine/store/evictor.h"]

INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)
LAYER = re.compile(r"^zsetd_layer\(([\w/]+)", re.MULTILINE)
PRECOMPILED = re.compile(r"^zsetd_precompile\((\w+) ([^)]*)\)", re.MULTILINE)
REUSED = re.compile(r"^zsetd_precompiled_for\((\w+) ([^)]*)\)", re.MULTILINE)


def precompiled(text):
    """Returns the precompiled headers of each layer by its folder, from CMakeLists.txt. The folder of
    server/main.cc is "server"."""
    folders = {folder.removeprefix("server/"): folder for folder in LAYER.findall(text)}
    folders["zsetd"] = "server"
    of_target = {target: headers.split() for target, headers in PRECOMPILED.findall(text)}
    for owner, targets in REUSED.findall(text):
        of_target |= {target: of_target[owner] for target in targets.split()}
    return {folder: of_target.get(target, []) for target, folder in folders.items()}


class Graph:
    """The includes of the sources of the server."""

    def __init__(self, texts, precompiled_headers):
        self._precompiled = precompiled_headers
        self._includes = {path: [name for name in INCLUDE.findall(text) if name in texts]
                          for path, text in texts.items()}

    def reached(self, path):
        """Returns all headers that this source includes, directly or not."""
        folder = max((folder for folder in self._precompiled if path.startswith(folder + "/")),
                     key=len)
        left = self._includes[path] + self._precompiled[folder]
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

    def test_a_precompiled_header_counts_for_its_layer(self):
        self.assertEqual(precompiled("zsetd_layer(core)\nzsetd_layer(server/engine core)\n"
                                     "zsetd_precompile(core core/a.h)\n"
                                     "zsetd_precompiled_for(core engine)\n"),
                         {"core": ["core/a.h"], "server/engine": ["core/a.h"], "server": []})
        graph = Graph({"core/a.h": '#include "core/b.h"\n', "core/b.h": "", "core/c.cc": "",
                       "other/d.cc": '#include "core/b.h"\n', "other/e.cc": ""},
                      {"core": ["core/a.h"], "other": []})
        self.assertEqual(graph.objects_with("core/b.h"), 2)
        self.assertEqual(graph.objects_with("core/a.h"), 1)


if __name__ == "__main__":
    unittest.main()
