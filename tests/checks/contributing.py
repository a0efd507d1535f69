"""Follows the steps of "Add a command" in CONTRIBUTING.md in a copy of the tree.

Adds the example's files and lines, and checks that they compile without a warning, follow the
layers and have the format. With CONTRIBUTING_BUILD=1 (./check --contributing) it also runs the commands
of the last step: they build the server, play the transcript and complete the command's page.
"""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import textwrap
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
PAGE = (TOP / "CONTRIBUTING.md").read_text()
SECTION = PAGE[PAGE.index("## Add a command"):PAGE.index("## Add a setting")]

BLOCK = re.compile(r"^( *)(`{3,4})\w*\n([\s\S]*?)^\1\2$", re.MULTILINE)
FILE_NAME = re.compile(r"(?:// |# |<!-- )(\S+/\S+)(?: -->)?\n")
SHELL = re.compile(r"(?:^ {7}\S.*\n| {11}\S.*\n)+", re.MULTILINE)
FIELD = re.compile(r"`\.(\w+)`")
COMPILER = ["c++", "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Wshadow", "-Werror",
            "-Wno-missing-field-initializers", "-I."]


def blocks():
    """Returns the file and the text of each fenced block of the section. The first line of a block names
    the file."""
    texts = [textwrap.dedent(text) for _, _, text in BLOCK.findall(SECTION)]
    return [(name[1], text[name.end():]) for text in texts for name in [FILE_NAME.match(text)]]


def add(tree, path, text):
    """Creates the file, or adds the text to it after the last line that begins in the same way."""
    file = tree / path
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return
    kin = text[:text.index("Hello")]
    lines = file.read_text().splitlines(keepends=True)
    last = max(n for n, line in enumerate(lines) if line.startswith(kin))
    file.write_text("".join(lines[:last + 1] + [text] + lines[last + 1:]))


def run(tree, *words, **options):
    done = subprocess.run(words, cwd=tree, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, **options)
    return "" if done.returncode == 0 else f"{words}: {done.stdout}"


class Contributing(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.tree = pathlib.Path(folder.name) / "zsetd"
        shutil.copytree(TOP, self.tree, symlinks=True, ignore=shutil.ignore_patterns(
            "build", ".git", "node_modules", "__pycache__", "images"))
        for path, text in blocks():
            add(self.tree, path, text)

    def test_the_example_compiles_and_keeps_the_rules(self):
        sources = [path for path, _ in blocks() if path.endswith(".cc")]
        self.assertEqual(len(sources), 1)
        for source in sources + ["server/commands/all_commands.cc"]:
            self.assertEqual(run(self.tree, *COMPILER, source), "")
            self.assertEqual(run(self.tree, "clang-format", "--dry-run", "--Werror", source), "")
        self.assertEqual(run(self.tree, "/usr/bin/python3", "-B", "tests/checks/layering.py"), "")

    def test_the_fields_that_the_page_names_are_fields_of_a_row(self):
        rows = (TOP / "server/engine/command/command.h").read_text()
        fields = set(FIELD.findall(SECTION))
        self.assertLessEqual({"since", "group", "key_use", "member_at"}, fields)
        for field in fields:
            self.assertRegex(rows, rf"\b{field}( = .*)?;")

    @unittest.skipUnless(os.environ.get("CONTRIBUTING_BUILD"), "./check --contributing")
    def test_the_commands_build_play_and_document_it(self):
        self.assertEqual(run(self.tree, "cmake", "--preset", "release"), "")
        commands = textwrap.dedent(SHELL.findall(SECTION)[-1])
        self.assertIn("--target zsetd transcript_engine_test", commands)
        self.assertEqual(run(self.tree, "/bin/sh", "-ec", commands), "")
        reference = (self.tree / "docs/commands/sorted-sets/zhello.md").read_text()
        self.assertIn("# ZHELLO", reference)
        self.assertIn("The score, or 0 if the member does not exist.", reference)


if __name__ == "__main__":
    unittest.main()
