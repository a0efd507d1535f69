"""Follows documents: writes their programs into a folder, and types their commands into a shell there.

    page_programs.py [PAGE ...]

A block of Markdown whose first line is `# name` or `// name` is a file. In a block with the language
`shell`, a line that begins with `$ ` is a command, which continues after a `\\` at the end of a line. The
lines below are its output; `...` is any number of lines. A comment before a block changes how it is
followed: `<!-- not run -->` omits it, and `<!-- varies: REGEX -->` allows other text that matches.

The ports of the pages may be in use, so commands, files and outputs get free ports instead. ZSETD is the
path of the program. Packages of npm come from tests/clients.
"""

import os
import pathlib
import re
import select
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from page_examples import agrees  # noqa: E402
from server_process import free_port  # noqa: E402

TOP = pathlib.Path(__file__).resolve().parents[2]
PATIENCE_S = 60
BLOCK = re.compile(r"(?:^<!-- (?P<conditions>[^\n]*) -->\n)?"
                   r"^```(?P<language>\w+)\n(?P<text>[\s\S]*?)^```$", re.MULTILINE)
FILE_NAME = re.compile(r"(?:#|//) ([\w.-]+\.\w+)\n")
PORT = re.compile(r"\b(?:6379|638\d|26379|9121)\b")
DONE = "end of the command"

# Adds the default port, and waits for a server that was started just before.
WRAPPERS = {
    "zsetd": '[[ " $* " == *" --port "* ]] || set -- "$@" --port 6379\nexec "$ZSETD" "$@"',
    "redis-cli": '[[ " $* " == *" -p "* ]] || set -- -p 6379 "$@"\n'
                 "for _ in {1..100}; do\n"
                 '  out=$(/usr/bin/redis-cli --no-raw "$@" 2>&1)\n'
                 '  [[ $out == "Could not connect"* || $out == *LOADING* ]] || break\n'
                 "  sleep 0.1\n"
                 "done\n"
                 'printf "%s\\n" "$out"',
    "python3": 'exec /usr/bin/python3 -B -u "$@"'}


class Ports:
    """Replaces the ports of a page by free ones, and back."""

    def __init__(self):
        self._free = {}

    def into(self, text):
        return PORT.sub(lambda match: self._free.setdefault(match[0], str(free_port())), text)

    def back(self, text):
        for wanted, free in self._free.items():
            text = text.replace(free, wanted)
        return text


class Shell:
    """A shell in a folder of its own. close() also ends the programs in its background."""

    def __init__(self, folder, ports):
        self._ports = ports
        programs = folder / "bin"
        programs.mkdir()
        for name, text in WRAPPERS.items():
            (programs / name).write_text("#!/bin/bash\n" + ports.into(text) + "\n")
            (programs / name).chmod(0o755)
        (folder / "node_modules").symlink_to(TOP / "tests/clients/node_modules")
        environment = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}"}
        self._process = subprocess.Popen(
            ["bash"], cwd=folder, env=environment, start_new_session=True, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def close(self):
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._process.stdin.close()
        self._process.stdout.close()

    def run(self, command):
        """Returns the lines that the command prints."""
        self._process.stdin.write(f"{self._ports.into(command)}\necho; echo {DONE}\n")
        self._process.stdin.flush()
        output, deadline = b"", time.monotonic() + PATIENCE_S
        while not output.endswith(f"\n{DONE}\n".encode()):
            if not select.select([self._process.stdout], [], [], deadline - time.monotonic())[0]:
                raise TimeoutError(f"{command}: no end after {PATIENCE_S} s; its output:\n"
                                   f"{output.decode()}")
            output += os.read(self._process.stdout.fileno(), 65536)
        text = self._ports.back(output.decode().removesuffix(f"\n{DONE}\n"))
        return text.removesuffix("\n").split("\n") if text else []


def commands(text):
    """Returns pairs of a command and the lines of its output."""
    found, continues = [], False
    for line in text.splitlines():
        if continues:
            found[-1] = (found[-1][0] + "\n" + line, [])
        elif line.startswith("$ "):
            found.append((line[2:], []))
        else:
            assert found, f"a block begins with {line!r}"
            found[-1][1].append(line)
        continues = line.endswith("\\") and not found[-1][1]
    return found


def follow(page):
    """Returns the problems of a page as text, and the number of commands that were run."""
    ports, problems, count = Ports(), [], 0
    with tempfile.TemporaryDirectory() as folder:
        shell = Shell(pathlib.Path(folder), ports)
        try:
            for block in BLOCK.finditer(page.read_text()):
                conditions, name = block["conditions"] or "", FILE_NAME.match(block["text"])
                if conditions == "not run":
                    continue
                if name:
                    pathlib.Path(folder, name[1]).write_text(ports.into(block["text"]))
                if block["language"] != "shell":
                    continue
                varies = conditions.removeprefix("varies: ")
                for command, wanted in commands(block["text"]):
                    count += 1
                    shown = shell.run(command)
                    if not agrees(wanted, shown, varies):
                        problems.append("\n".join([f"{page.relative_to(TOP)}: $ {command}",
                                                   "  the page:", *wanted, "  the output:", *shown]))
        except (AssertionError, TimeoutError) as error:
            problems.append(f"{page.relative_to(TOP)}: {error}")
        finally:
            shell.close()
    return problems, count


def main():
    pages = [pathlib.Path(path).resolve() for path in sys.argv[1:]]
    pages = pages or [page for page in sorted((TOP / "docs").rglob("*.md"))
                      if re.search(r"^```shell$", page.read_text(), re.MULTILINE)]
    problems, total = [], 0
    for page in pages:
        found, count = follow(page)
        problems += found
        total += count
    print(f"{total} commands run on {len(pages)} pages")
    if problems:
        sys.exit("\n\n".join(problems))


if __name__ == "__main__":
    main()
