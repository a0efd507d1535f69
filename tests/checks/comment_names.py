"""Files and classes that comments name exist, so that a rename or a removal also updates the
comments.

A comment names a file by its path or its last part, such as core/list/list.h or list.h, and a class or function in
backticks, such as `Keyspace`, or with its class, such as SortedSet::Cut(). Names without a capital letter are
parameters, commands or settings, and are not checked.
"""

import pathlib
import re
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = "bench", "core", "protocol", "server", "tests"
SOURCES = ".cc", ".h", ".py", ".mjs", ".js"
NOT_OURS = {"build", "node_modules", ".git"}

CPP_COMMENT = re.compile(r"//[^\n]*")
PYTHON_COMMENT = re.compile(r'"""[\s\S]*?"""|(?<!\S)#[^\n]*')
STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"')

FILE = re.compile(r"(?<![\w/.<-])((?:\w+/)*\w+\.(?:h|cc|py|lua|mjs|md|cmake))\b(?!/)")
NAME = re.compile(r"`([A-Z]\w*[a-z]\w*)(?:\(\))?`|\b(?<!::)([A-Z]\w*(?:::\w+)+)")

# Files outside the project: of the standard library, of test servers, or created while a test runs.
FOREIGN_FILES = {"lua.hpp", "rapidjson.h", "module.h"}


def sources():
    return sorted(file for folder in FOLDERS for file in (TOP / folder).rglob("*")
                  if file.suffix in SOURCES and not NOT_OURS & set(file.parts))


def comments_of(file, text):
    """Returns the comments of a source file, one text each."""
    pattern = PYTHON_COMMENT if file.suffix == ".py" else CPP_COMMENT
    return pattern.findall(text if file.suffix == ".py" else STRING.sub('""', text))


def code_of(file, text):
    """Returns the source without its comments and strings."""
    pattern = PYTHON_COMMENT if file.suffix == ".py" else CPP_COMMENT
    return pattern.sub("", text if file.suffix == ".py" else STRING.sub('""', text))


class House:
    """Returns all files of the project, and all words of its code."""

    def __init__(self):
        self.texts = {file: file.read_text(encoding="utf-8") for file in sources()}
        self.paths = ["/" + file.relative_to(TOP).as_posix() for file in TOP.rglob("*")
                      if file.is_file() and not NOT_OURS & set(file.relative_to(TOP).parts)]
        self.endings = {"/".join(path.split("/")[-n:]) for path in self.paths
                        for n in range(1, path.count("/") + 1)}
        self.words = {word for file, text in self.texts.items()
                      if file.suffix != ".py" for word in re.findall(r"\w+", code_of(file, text))}

    def unknown(self, comment):
        """Returns the files and classes that the comment names but that do not exist."""
        for name in FILE.findall(comment):
            if name not in self.endings and name not in FOREIGN_FILES:
                yield name
        for name in map("".join, NAME.findall(comment)):
            if not all(part in self.words for part in name.split("::")):
                yield name


class CommentNames(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.house = House()

    def test_every_file_and_class_in_a_comment_exists(self):
        bad = [f"{file.relative_to(TOP)}: {name}" for file, text in self.house.texts.items()
               for comment in comments_of(file, text) for name in self.house.unknown(comment)]
        self.assertEqual(bad, [], "\n" + "\n".join(bad))

    def test_unknown_names_are_found(self):
        for comment, name in (("// See no_such_file.h.", "no_such_file.h"),
                              ("// As core/none/list.h has it.", "core/none/list.h"),
                              ("// `NoSuchClass` does it.", "NoSuchClass"),
                              ("// After `SortedSet::NoSuchStep()`.", "SortedSet::NoSuchStep")):
            with self.subTest(comment=comment):
                self.assertEqual(list(self.house.unknown(comment)), [name])
        for comment in ("// core/list/list.h and list.h", "// `SortedSet::Cut()` of `key`",
                        "// `ZADD`, <memory>, example.com"):
            with self.subTest(comment=comment):
                self.assertEqual(list(self.house.unknown(comment)), [])


if __name__ == "__main__":
    unittest.main()
