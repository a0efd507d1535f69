"""The README's table of commands against the one that the server on $PORT has.

`--write` puts the server's table into the README instead of comparing.
"""

import os
import pathlib
import sys

import redis

README = pathlib.Path(__file__).resolve().parent.parent / "README.md"
BEGIN, END = "<!-- commands -->\n", "<!-- /commands -->\n"
TITLES = {
    "sorted-set": "Sorted sets",
    "geo": "Places",
    "string": "Strings",
    "bitmap": "Bits",
    "list": "Lists",
    "hash": "Hashes",
    "set": "Sets",
    "generic": "Keys",
    "transactions": "Transactions",
    "pubsub": "Channels",
    "connection": "Connection",
    "scripting": "Scripts",
    "server": "Server",
}


def text(value):
    return value.decode() if isinstance(value, bytes) else value


def pairs(flat):
    return {text(name): value for name, value in zip(flat[::2], flat[1::2])}


def rows(client):
    """(group, name, summary) of each command; a subcommand counts as one, HELP does not."""
    for name, flat in pairs(client.execute_command("COMMAND", "DOCS")).items():
        docs = pairs(flat)
        for part, inner in pairs(docs.get("subcommands", [])).items():
            if not part.endswith("|help"):
                yield text(docs["group"]), part, text(pairs(inner)["summary"])
        if "subcommands" not in docs:
            yield text(docs["group"]), name, text(docs["summary"])


def table(client):
    lines = ["| command | |\n", "|---|---|\n"]
    by_name = sorted(rows(client), key=lambda row: row[1])
    for group, title in TITLES.items():
        lines.append(f"| **{title}** | |\n")
        for _, name, summary in (row for row in by_name if row[0] == group):
            lines.append(f"| {name.replace('|', ' ').upper()} | {summary} |\n")
    missing = {row[0] for row in by_name} - set(TITLES)
    assert not missing, f"groups without a title: {missing}"
    return "".join(lines)


def main():
    client = redis.Redis(port=int(os.environ["PORT"]))
    client.set_response_callback("COMMAND", lambda reply, **_: reply)  # it knows COMMAND INFO alone
    before, rest = README.read_text().split(BEGIN)
    found, after = rest.split(END)
    wanted = table(client)
    if "--write" in sys.argv:
        README.write_text(before + BEGIN + wanted + END + after)
    elif found != wanted:
        sys.exit("README.md does not tell the commands of the server: run\n"
                 "  tests/clients/with_server build/release/zsetd "
                 "/usr/bin/python3 tests/readme_table.py --write")


if __name__ == "__main__":
    main()
