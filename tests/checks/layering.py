"""Includes point down, from layer to layer and from folder to folder inside a layer. Reads every
#include and fails for each one that does not."""

import collections
import pathlib
import re
import unittest

HOUSE = pathlib.Path(__file__).resolve().parents[2]

# A folder is a layer. Maps each layer to the layers that it may include.
_ENGINE = {"server/engine", "core", "protocol"}
SEES = {
    "core": {"core"},
    "protocol": {"protocol"},
    "server/engine": _ENGINE,
    "server/commands": _ENGINE | {"server/commands"},
    "server/persistence": _ENGINE | {"server/persistence"},
    "server/replication": _ENGINE | {"server/persistence", "server/replication"},
    "server/cluster": _ENGINE | {"server/cluster"},
    "server/scripting": _ENGINE | {"server/scripting"},
    "server/process": _ENGINE | {"server/process"},
    "server/http": _ENGINE | {"server/process", "server/http"},
    "server/net": _ENGINE | {"server/process", "server/net"},
    "server": _ENGINE | {"server/process", "server/commands", "server/persistence",
                         "server/replication", "server/cluster", "server/scripting", "server/http", "server/net", "server"},
}

# The folders inside each layer, lowest first. A folder may include the folders before it, and "."
# is the layer's own folder. This rules out cycles between folders.
FOLDERS = {
    "core": ["util", "hashing", "string", "geo", "hyperloglog", "list", "sorted_set/block",
             "sorted_set/skip_list", "sorted_set/form", "sorted_set", "hash", "set", "sorted_set/operations", "stream",
             "keyspace"],
    "protocol": ["text", "resp", "rdb"],
    "server/engine": ["support", "command", "config", "state", "services", "client", "metrics",
                      "propagation", "store/stream", "store", "notify", "acl", "request", ".", "port"],
    "server/persistence": ["file", "snapshot", "log", "."],
    "server/commands": ["common", "zset", "zset/add", "zset/pop", "geo", "diagnostics", "admin", "cluster",
                        "connection", "debug",
                        "docs", "hash", "hyperloglog", "key", "list", "pubsub", "scripting", "set",
                        "stream",
                        "string", "transaction", "."],
    "server/net": ["socket", ".", "migration"],
    "server/cluster": ["topology", "message", "bus", "migration", "."],
    "server/scripting": ["interpreter", "library", "."],
}
MOST_SOURCES_IN_A_FOLDER = 30

# Commands on keys reach the keys, their arguments, their reply and their client through a Call, and
# use nothing else of the engine. There are two exceptions: FLUSHALL also affects the files on disk,
# and MIGRATE connects to other servers.
KEY_COMMANDS = {f"server/commands/{family}"
                for family in ("geo", "hash", "hyperloglog", "key", "list", "set", "stream", "string",
                               "zset", "zset/add", "zset/pop")}
NOT_FOR_KEY_COMMANDS = re.compile(
    r"server/engine/((admin_call|engine|clients)\.h|services/|state/|metrics/|notify/|store/store\.h)")
KEY_COMMANDS_EXCEPTIONS = {"server/commands/key/database.cc", "server/commands/key/migrate.cc"}

# The layers that may include each external library. Every layer may include a library that is not
# listed.
ONLY_FOR = {
    "boost": {"server/net", "server/http", "server"},
    "prometheus": {"server/http"},
    "lua.hpp": {"server/scripting"},
    "luajit.h": {"server/scripting"},
    "msgpuck.h": {"server/scripting"},
    "isa-l": {"protocol"},
    "systemd": {"server/process"},
    "rapidjson": {"server/scripting", "server/http"},
    "spdlog": {"server/process"},
}

# core and protocol do not depend on the operating system: their angle-bracket includes are limited
# to the C++ standard library. There are five exceptions. The first reports the real size of an
# allocation, for memory accounting. The second has the processor's 16-byte instructions, and the third its
# multiplication of polynomials. The fourth compresses strings as Redis's format requires, and the fifth
# computes its checksum.
PURE = {"core", "protocol"}
PURE_EXCEPTIONS = {"malloc.h", "emmintrin.h", "wmmintrin.h", "liblzf/lzf.h", "isa-l/crc64.h"}

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)


def layer_of(path):
    """Returns the layer of a file, or None for an external file, such as absl/..."""
    return max((layer for layer in SEES if path.startswith(layer + "/")), key=len, default=None)


def folder_rank(path):
    """Returns the position of a file's folder in its layer."""
    layer = layer_of(path)
    folder = pathlib.PurePosixPath(path).parent.relative_to(layer).as_posix()
    return FOLDERS.get(layer, ["."]).index(folder)


def complaint(path, bracket, included):
    """Returns the problem with this include in this file, or None."""
    layer = layer_of(path)
    target = layer_of(included)
    folder = pathlib.PurePosixPath(path).parent.as_posix()
    if folder in KEY_COMMANDS and path not in KEY_COMMANDS_EXCEPTIONS:
        if NOT_FOR_KEY_COMMANDS.match(included):
            return "commands on keys may not see that"
    if target is not None and target != layer:
        return None if target in SEES[layer] else f"{layer} may not see {target}"
    if target is not None:
        return None if folder_rank(included) <= folder_rank(path) else "a later folder of the layer"
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
    """Returns one line for each bad include of a file."""
    found = ((included, complaint(path, bracket, included))
             for bracket, included in INCLUDE.findall(text))
    return [f"{path}: {included}: {why}" for included, why in found if why]


# A layer in CMakeLists.txt: zsetd_layer(FOLDER LIBRARY...).
LAYER = re.compile(r"^zsetd_layer\((\S+)([^)]*)\)", re.MULTILINE)


def linked(text):
    """Returns, for each layer, the layers that its library gets by its link list in CMakeLists.txt
    and by theirs, and itself."""
    lists = {folder: libraries.split() for folder, libraries in LAYER.findall(text)}
    lists["server"] = re.search(r"target_link_libraries\(zsetd PRIVATE ([^)]*)\)", text)[1].split()
    folders = {folder.removeprefix("server/"): folder for folder in lists}

    def reached(folder):
        return {folder}.union(*(reached(folders[library]) for library in lists[folder]
                                if library in folders))
    return {folder: reached(folder) for folder in lists}


class Layering(unittest.TestCase):
    def test_every_include_points_down(self):
        files = [file for layer in ("core", "protocol", "server")
                 for file in sorted((HOUSE / layer).rglob("*")) if file.suffix in (".h", ".cc")]
        for file in files:
            folder_rank(file.relative_to(HOUSE).as_posix())  # may include every folder
        self.assertTrue(files)
        bad = [line for file in files
               for line in complaints(file.relative_to(HOUSE).as_posix(), file.read_text())]
        self.assertEqual(bad, [], "\n" + "\n".join(bad))

    def test_each_layer_links_the_layers_that_it_may_include(self):
        links = linked((HOUSE / "CMakeLists.txt").read_text())
        self.assertEqual(links, SEES)

    def test_no_folder_has_too_many_sources(self):
        folders = collections.Counter(
            file.parent.relative_to(HOUSE).as_posix() for layer in ("core", "protocol", "server")
            for file in (HOUSE / layer).rglob("*") if file.suffix in (".h", ".cc"))
        crowded = {folder: n for folder, n in folders.items() if n > MOST_SOURCES_IN_A_FOLDER}
        self.assertEqual(crowded, {})

    def test_an_include_that_points_up_is_found(self):
        for path, line in [
            ("core/list/list.cc", '#include "protocol/resp/args.h"'),
            ("core/list/list.cc", '#include "server/engine/engine.h"'),
            ("core/list/list.cc", '#include "list.h"'),
            ("core/list/list.cc", "#include <spdlog/spdlog.h>"),
            ("server/net/session.cc", "#include <spdlog/spdlog.h>"),
            ("core/list/list.cc", "#include <unistd.h>"),
            ("core/list/list.cc", "#  include <sys/socket.h>"),
            ("protocol/resp/args.h", '#include "core/util/range.h"'),
            ("server/engine/engine.h", "#include <boost/asio.hpp>"),
            ("server/engine/engine.h", '#include "server/commands/all_commands.h"'),
            ("server/commands/zset/zset_remove.cc", '#include "server/net/session.h"'),
            ("server/net/session.cc", '#include "server/commands/all_commands.h"'),
            ("server/net/session.cc", '#include "server/persistence/snapshot_service.h"'),
            ("server/persistence/snapshot_service.cc", '#include "server/main.h"'),
            ("server/persistence/snapshot/dataset.cc", '#include "server/persistence/log/log_thread.h"'),
            ("core/util/glob.cc", '#include "core/list/list.h"'),
            ("server/net/socket/tls.h", '#include "server/net/session.h"'),
            ("server/engine/services/services.h", '#include "server/engine/client/client.h"'),
            ("server/replication/replicas.h", '#include "server/process/clock.h"'),
            ("server/engine/client/client.h", '#include "server/engine/engine.h"'),
            ("server/engine/engine.h", "#include <lua.hpp>"),
            ("server/scripting/sandbox.cc", '#include "server/commands/all_commands.h"'),
            ("server/commands/zset/add/zset_add.cc", '#include "server/engine/admin_call.h"'),
            ("server/commands/key/scan.cc", '#include "server/engine/notify/channels.h"'),
            ("server/commands/key/scan.cc", '#include "server/engine/services/replica_registry.h"'),
        ]:
            with self.subTest(path=path, line=line):
                self.assertEqual(len(complaints(path, f"// {line}\n{line}\n")), 1)

    def test_an_include_that_points_down_passes(self):
        for path, line in [
            ("core/list/list.cc", "#include <vector>"),
            ("core/list/list.cc", "#include <malloc.h>"),
            ("core/list/list.cc", '#include "absl/container/btree_set.h"'),
            ("server/commands/zset/zset_remove.cc", '#include "core/sorted_set/sorted_set.h"'),
            ("server/commands/zset/zset_remove.cc", '#include "server/engine/call.h"'),
            ("server/commands/admin/config.cc", '#include "server/engine/admin_call.h"'),
            ("server/net/session.cc", "#include <boost/asio.hpp>"),
            ("server/net/session.cc", "#include <sys/socket.h>"),
            ("server/main.cc", '#include "server/commands/all_commands.h"'),
        ]:
            with self.subTest(path=path, line=line):
                self.assertEqual(complaints(path, line), [])


if __name__ == "__main__":
    unittest.main()
