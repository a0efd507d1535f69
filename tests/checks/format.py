"""Every C++ file is formatted as .clang-format specifies.

`--write` formats the files instead. `// clang-format off` preserves drawings in comments.
"""

import pathlib
import shutil
import subprocess
import sys

TOP = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = "bench", "core", "protocol", "server", "tests"
NOT_OURS = "node_modules"

# the version of Debian 12; other versions break lines differently
PROGRAMS = "clang-format-14", "clang-format"


def files():
    return sorted(file for folder in FOLDERS for file in (TOP / folder).rglob("*")
                  if file.suffix in (".cc", ".h") and NOT_OURS not in file.parts)


def main():
    program = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if program is None:
        sys.exit("clang-format is not installed")
    how = ["-i"] if "--write" in sys.argv else ["--dry-run", "-Werror"]
    result = subprocess.run([program, *how, *files()], cwd=TOP)
    if result.returncode:
        sys.exit("run\n  python3 tests/checks/format.py --write")


if __name__ == "__main__":
    main()
