"""Includes point down: reads every #include of the layers and fails for one that does not."""

import pathlib
import re
import unittest

HOUSE = pathlib.Path(__file__).resolve().parent.parent

# A folder is a layer. What each may see of the house:
_ENGINE = {"server/engine", "core", "protocol"}
SEES = {
    "core": {"core"},
    "protocol": {"protocol"},
    "server/engine": _ENGINE,
    "server/commands": _ENGINE | {"server/commands"},
    "server/persistence": _ENGINE | {"server/persistence"},
    "server/process": _ENGINE | {"server/process"},
    "server/net": _ENGINE | {"server/process", "server/net"},
    "server": _ENGINE | {"server/process", "server/commands", "server/persistence", "server/net", "server"},
}

# And of the world outside. A library not named here is open to everyone.
ONLY_FOR = {
    "boost": {"server/net", "server"},
    "spdlog": {layer for layer in SEES if layer.startswith("server")},
}

# core and protocol know no operating system: of angle brackets they may use the C++ standard
# library's. Of the exceptions one is how memory is counted, telling what an allocation really costs;
# another holds the processor's instructions for sixteen bytes at a time; and one compresses strings
# as Redis's format has them.
PURE = {"core", "protocol"}
PURE_EXCEPTIONS = {"malloc.h", "emmintrin.h", "liblzf/lzf.h"}

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)


def layer_of(path):
    """The layer that a file stands in, or None for one outside of the house, such as absl/..."""
    return max((layer for layer in SEES if path.startswith(layer + "/")), key=len, default=None)


def complaint(layer, bracket, included):
    """What is wrong with this include in this layer, or None."""
    target = layer_of(included)
    if target is not None:
        return None if target in SEES[layer] else f"{layer} may not see {target}"
    library = included.split("/")[0]
    if layer not in ONLY_FOR.get(library, SEES):
        return f"{layer} may not use {library}"
    if library == "absl":
        return None
    if bracket == '"' and not (HOUSE / included).exists():
        return "a quoted include is a path from the top of the house, or abseil's"
    if layer in PURE and re.search(r"[./]", included) and included not in PURE_EXCEPTIONS:
        return f"{layer} uses abseil and the C++ standard library only"
    return None


def complaints(path, text):
    """One line for each bad include of a file."""
    found = ((included, complaint(layer_of(path), bracket, included))
             for bracket, included in INCLUDE.findall(text))
    return [f"{path}: {included}: {why}" for included, why in found if why]


class Layering(unittest.TestCase):
    def test_every_include_points_down(self):
        files = [file for layer in ("core", "protocol", "server")
                 for file in sorted((HOUSE / layer).rglob("*")) if file.suffix in (".h", ".cc")]
        self.assertNotIn(None, [layer_of(file.relative_to(HOUSE).as_posix()) for file in files])
        self.assertTrue(files)
        bad = [line for file in files
               for line in complaints(file.relative_to(HOUSE).as_posix(), file.read_text())]
        self.assertEqual(bad, [], "\n" + "\n".join(bad))

    def test_an_include_that_does_not_is_seen(self):
        for path, line in [
            ("core/list/list.cc", '#include "protocol/resp/words.h"'),
            ("core/list/list.cc", '#include "server/engine/engine.h"'),
            ("core/list/list.cc", '#include "list.h"'),
            ("core/list/list.cc", "#include <spdlog/spdlog.h>"),
            ("core/list/list.cc", "#include <unistd.h>"),
            ("core/list/list.cc", "#  include <sys/socket.h>"),
            ("protocol/resp/words.h", '#include "core/util/range.h"'),
            ("server/engine/engine.h", "#include <boost/asio.hpp>"),
            ("server/engine/engine.h", '#include "server/commands/tables.h"'),
            ("server/commands/zset/zset_remove.cc", '#include "server/net/session.h"'),
            ("server/net/session.cc", '#include "server/commands/tables.h"'),
            ("server/net/session.cc", '#include "server/persistence/snapshot.h"'),
            ("server/persistence/snapshot.cc", '#include "server/main.h"'),
        ]:
            with self.subTest(path=path, line=line):
                self.assertEqual(len(complaints(path, f"// {line}\n{line}\n")), 1)

    def test_an_include_that_does_passes(self):
        for path, line in [
            ("core/list/list.cc", "#include <vector>"),
            ("core/list/list.cc", "#include <malloc.h>"),
            ("core/list/list.cc", '#include "absl/container/btree_set.h"'),
            ("server/commands/zset/zset_remove.cc", '#include "core/sorted_set/sorted_set.h"'),
            ("server/net/session.cc", "#include <boost/asio.hpp>"),
            ("server/net/session.cc", "#include <sys/socket.h>"),
            ("server/main.cc", '#include "server/commands/tables.h"'),
        ]:
            with self.subTest(path=path, line=line):
                self.assertEqual(complaints(path, line), [])


if __name__ == "__main__":
    unittest.main()
