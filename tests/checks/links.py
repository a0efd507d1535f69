"""Relative links in the documents lead to files and headings that exist.

In docs/ and CONTRIBUTING.md, paths in code spans must exist too, so that "where to change what"
stays correct when files are moved. Such a path starts in one of the source folders and may contain
`*`.
"""

import pathlib
import re
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
NOT_OURS = {"build", "node_modules", ".git"}
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
PATH = re.compile(r"`((?:bench|conf|core|docs|protocol|scripts|server|tests)/[\w./*-]*)`")
CODE = re.compile(r"^( *)(`{3,4})\w*\n[\s\S]*?^\1\2$|^ {4,}\S.*$|`[^`\n]*`", re.MULTILINE)
HEADING = re.compile(r"^#+ +(.*?) *$", re.MULTILINE)


def documents():
    return sorted(file for file in TOP.rglob("*.md")
                  if not NOT_OURS & set(file.relative_to(TOP).parts))


def anchor(heading):
    """Returns the fragment that GitHub generates for a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def anchors(file):
    return {anchor(heading) for heading in HEADING.findall(file.read_text())}


def bad_links(file, text):
    """Returns the links in this text of a document that lead nowhere."""
    for link in LINK.findall(CODE.sub("", text)):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, fragment = link.partition("#")
        target = (file.parent / path).resolve() if path else file
        if not target.exists():
            yield link
        elif fragment and fragment not in (anchors(target) if target.suffix == ".md" else ()):
            yield link


def bad_paths(text):
    """Returns the paths in code spans that do not exist."""
    return [path for path in PATH.findall(text) if not any(TOP.glob(path.rstrip("/")))]


class Links(unittest.TestCase):
    def test_every_relative_link_has_a_target(self):
        self.assertTrue(documents())
        bad = [f"{file.relative_to(TOP)}: {link}" for file in documents()
               for link in bad_links(file, file.read_text())]
        self.assertEqual(bad, [], "\n" + "\n".join(bad))

    def test_every_path_in_the_documents_exists(self):
        bad = [f"{file.relative_to(TOP)}: {path}" for file in documents()
               for path in bad_paths(file.read_text())]
        self.assertEqual(bad, [], "\n" + "\n".join(bad))

    def test_a_bad_link_is_found(self):
        readme = TOP / "README.md"
        for text in "[a](none.md)", "see [a](README.md#no-such-heading)", "[a](docs/none/)":
            with self.subTest(text=text):
                self.assertEqual(len(list(bad_links(readme, text))), 1)
        for text in "[a](https://example.org/none)", "`[a](none.md)`", "[a](README.md#zsetd)":
            with self.subTest(text=text):
                self.assertEqual(list(bad_links(readme, text)), [])
        self.assertEqual(bad_paths("`core/none.h` and `core/sorted_set/*.h`"), ["core/none.h"])


if __name__ == "__main__":
    unittest.main()
