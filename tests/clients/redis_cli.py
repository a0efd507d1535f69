"""Drives the stock redis-cli: types commands and reads the replies as JSON."""

import json
import os
import subprocess

PORT = os.environ["PORT"]


def start(*arguments):
    """Starts redis-cli with pipes instead of a terminal."""
    return subprocess.Popen(["redis-cli", "-p", PORT, "--json", *map(str, arguments)], text=True,
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def reply(line):
    """Returns a reply as a value. An error stays text: error:"ERR ..."."""
    return line if line.startswith("error:") else json.loads(line)


def typed(cli, lines):
    """Types these lines, closes redis-cli and returns the replies. It must print nothing to
    standard error."""
    out, grumble = cli.communicate("".join(line + "\n" for line in lines), timeout=30)
    assert (cli.returncode, grumble) == (0, ""), (cli.returncode, grumble)
    return [reply(line) for line in out.splitlines()]
