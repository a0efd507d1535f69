"""Generates the head of each page of the command reference from the replies of the server on $PORT.

Compares the pages in docs/commands with the replies; `--write` writes them instead. The head has the
usage, complexity, flags and so on, which come from COMMAND DOCS and COMMAND INFO; the server generates
these from its command rows. The rest of each page is written by hand, and stays as it is. The pages of
complete families must have certain sections. page_examples.py plays their examples.
"""

import os
import pathlib
import re
import sys

import redis
import redis.connection

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "docs" / "commands"
HOW_TO_WRITE = ("run\n  tests/support/with_server build/release/zsetd "
                "/usr/bin/python3 tests/checks/command_reference.py --write")

# The groups of COMMAND DOCS in the order of the index, with page and title.
FAMILIES = {
    "sorted-set": ("sorted-sets", "Sorted sets"),
    "geo": ("geo", "Geospatial"),
    "string": ("strings", "Strings"),
    "bitmap": ("bitmaps", "Bitmaps"),
    "hyperloglog": ("hyperloglogs", "HyperLogLogs"),
    "list": ("lists", "Lists"),
    "hash": ("hashes", "Hashes"),
    "set": ("sets", "Sets"),
    "stream": ("streams", "Streams"),
    "generic": ("keys", "Keys"),
    "transactions": ("transactions", "Transactions"),
    "pubsub": ("pubsub", "Pub/sub"),
    "connection": ("connection", "Connection"),
    "scripting": ("scripting", "Scripting"),
    "server": ("server", "Server"),
    "cluster": ("cluster", "Cluster"),
}

# Families whose pages are complete: each page has the sections below, and explains each option.
COMPLETE = {"sorted-sets", "keys", "strings", "bitmaps", "hashes", "lists", "sets", "geo", "hyperloglogs",
            "streams", "scripting", "pubsub", "transactions"}
SECTIONS = ["## Reply", "## Examples", "## Errors"]
# Families for administration, whose pages have a short form.
SHORT = {"connection", "server", "cluster"}

BEGIN, END = "<!-- begin generated -->\n", "<!-- end generated -->\n"
CODE_BLOCK = re.compile(r"^```[\s\S]*?^```$", re.MULTILINE)
OPTION = re.compile(r"[A-Z][A-Z0-9-]+")


def text(value):
    return value.decode() if isinstance(value, bytes) else value


def pairs(flat):
    return {text(name): value for name, value in zip(flat[::2], flat[1::2])}


def usage(arguments, separator=" "):
    """Returns the arguments as on a command line: [optional], <one|of|several>, repeated ..."""
    return separator.join(argument_usage(pairs(argument)) for argument in arguments)


def argument_usage(argument):
    kind, flags = text(argument["type"]), {text(flag) for flag in argument.get("flags", [])}
    inner = argument.get("arguments", [])
    token = text(argument.get("token", b""))
    if kind == "pure-token":
        shown = token
    else:
        shown = (usage(inner, "|") if kind == "oneof" else usage(inner) if inner
                 else text(argument["name"]))
        if kind == "oneof" and (token or "optional" not in flags or "multiple" in flags):
            shown = f"<{shown}>"
        value, shown = shown, f"{token} {shown}" if token else shown
        if "multiple" in flags:
            shown += f" [{shown if 'multiple_token' in flags else value} ...]"
    return f"[{shown}]" if "optional" in flags else shown


class Command:
    """A command, or a subcommand named with its command, such as CONFIG GET."""

    def __init__(self, name, docs, info):
        self.key = name
        self.name = name.replace("|", " ").upper()
        self.group = text(docs["group"])
        self.summary = text(docs["summary"])
        self.usage = " ".join([self.name, usage(docs.get("arguments", []))]).rstrip()
        self.complexity = text(docs["complexity"])
        self.since = text(docs["since"])
        self.arity = info[1]
        self.flags = sorted(text(flag) for flag in info[2])
        self.categories = sorted(text(category) for category in info[6])

    def path(self):
        """Returns the path of the command's page in the folder of the reference."""
        return f"{FAMILIES[self.group][0]}/{self.key.replace('|', '-')}.md"

    def head(self):
        """Returns the generated part of the command's page."""
        arguments = abs(self.arity) - len(self.name.split())
        count = f"{arguments} argument{'' if arguments == 1 else 's'}"
        server, _, version = self.since.rpartition(" ")
        family = FAMILIES[self.group][1]
        anchor = re.sub(r"[^\w\- ]", "", family.lower()).replace(" ", "-")
        return "".join([
            f"# {self.name}\n\n", f"    {self.usage}\n\n", f"{self.summary}\n\n",
            "| | |\n|---|---|\n",
            f"| Complexity | {self.complexity} |\n",
            f"| Arity | {self.arity}: {'at least ' if self.arity < 0 else ''}{count} |\n",
            f"| Flags | {', '.join(self.flags) or 'none'} |\n",
            f"| ACL categories | {', '.join(self.categories) or 'none'} |\n",
            f"| In {server or 'Redis'} since | {version} |\n\n",
            f"[All commands](../README.md) · [{family}](../README.md#{anchor})\n"])

    def row(self):
        """Returns the command's row in the index."""
        return f"| [{self.name}]({self.path()}) | {self.summary} |\n"

    def lacks(self, page):
        """Returns the parts that the command's page lacks, as text. Empty if its family is incomplete."""
        family = FAMILIES[self.group][0]
        if family not in COMPLETE | SHORT:
            return []
        written = page.partition(END)[2]
        missing = [section for section in (SECTIONS if family in COMPLETE else SECTIONS[:1])
                   if f"\n{section}\n" not in written]
        if family in COMPLETE and not re.search(rf"^[a-z]*> {self.name}\b", written,
                                                re.MULTILINE | re.IGNORECASE):
            missing.append("an example of the command")
        prose = CODE_BLOCK.sub("", written)
        options = OPTION.findall(self.usage.removeprefix(self.name))
        return missing + [f"the option {option}" for option in dict.fromkeys(options)
                          if not re.search(rf"\b{option}\b", prose)]


def commands(client):
    """Returns all commands sorted by name. Subcommands other than HELP replace their container."""
    docs = pairs(client.execute_command("COMMAND", "DOCS"))
    infos = {text(info[0]): info for info in client.execute_command("COMMAND", "INFO")}
    found = []
    for name, flat in docs.items():
        own = pairs(flat)
        inner = {text(info[0]): info for info in infos[name][9]}
        for part, part_docs in pairs(own.get("subcommands", [])).items():
            if not part.endswith("|help"):
                found.append(Command(part, pairs(part_docs), inner[part]))
        if "subcommands" not in own:
            found.append(Command(name, own, infos[name]))
    return sorted(found, key=lambda command: command.name)


def index(families):
    """Returns the generated part of the index."""
    lines = []
    for group, members in families.items():
        rows = "".join(command.row() for command in members)
        lines.append(f"## {FAMILIES[group][1]}\n\n| command | |\n|---|---|\n{rows}")
    return "\n".join(lines)


def with_generated(page, generated):
    """Returns the page with a new generated part. On a page that has none it comes first."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if begin and end:
        return before + BEGIN + generated + END + after
    return BEGIN + generated + END + ("\n" + page if page else "")


def pages(client, committed):
    """Returns the text of each page by path. `committed` contains the pages as they are now."""
    found = commands(client)
    unknown = {command.group for command in found} - set(FAMILIES)
    assert not unknown, f"groups without a folder: {unknown}"
    families = {group: [command for command in found if command.group == group]
                for group in FAMILIES}
    wanted = {command.path(): with_generated(committed.get(command.path(), ""), command.head())
              for command in found}
    wanted["README.md"] = with_generated(committed.get("README.md", ""), index(families))
    return wanted, found


def complaints(committed, wanted, found):
    """Returns the differences between the committed pages and the wanted ones, as text."""
    stale = sorted(path for path in set(committed) | set(wanted)
                   if committed.get(path) != wanted.get(path))
    missing = {command.path(): command.lacks(wanted[command.path()]) for command in found}
    return ([f"not current: {', '.join(stale)}; {HOW_TO_WRITE}"] if stale else []) + [
        f"{path} lacks {', '.join(lack)} (CONTRIBUTING.md, \"Add a command\")"
        for path, lack in missing.items() if lack]


def write(committed, wanted):
    for path in set(committed) - set(wanted):
        if path != "README.md":
            (FOLDER / path).unlink()
    for path, content in wanted.items():
        (FOLDER / path).parent.mkdir(exist_ok=True)
        (FOLDER / path).write_text(content)


def main():
    # hiredis, which redis-py uses if installed, cannot read replies as deeply nested as COMMAND
    # DOCS.
    pool = redis.ConnectionPool(port=int(os.environ["PORT"]),
                                parser_class=redis.connection.PythonParser)
    client = redis.Redis(connection_pool=pool)
    client.set_response_callback("COMMAND", lambda reply, **_: reply)  # redis-py expects a list
    committed = {str(file.relative_to(FOLDER)): file.read_text() for file in FOLDER.rglob("*.md")}
    wanted, found = pages(client, committed)
    if "--write" in sys.argv:
        write(committed, wanted)
        committed = wanted
    if problems := complaints(committed, wanted, found):
        sys.exit("docs/commands:\n" + "\n".join(problems))


if __name__ == "__main__":
    main()
