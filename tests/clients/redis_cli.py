"""Drives the stock redis-cli: commands in as a person types them, replies out as JSON."""

import json
import os
import subprocess

PORT = os.environ["PORT"]


def start(*arguments):
    """A redis-cli with pipes for a terminal."""
    return subprocess.Popen(["redis-cli", "-p", PORT, "--json", *map(str, arguments)], text=True,
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def reply(line):
    """A reply as a value. One that is an error stays text: error:"ERR ..."."""
    return line if line.startswith("error:") else json.loads(line)


def typed(cli, lines):
    """The replies to these lines, after which redis-cli leaves. It may have nothing to grumble."""
    out, grumble = cli.communicate("".join(line + "\n" for line in lines), timeout=30)
    assert (cli.returncode, grumble) == (0, ""), (cli.returncode, grumble)
    return [reply(line) for line in out.splitlines()]
