"""Generates the command reference in docs/commands from the replies of the server on $PORT.

Compares the pages with the committed ones; `--write` writes them instead. Names, summaries, usage,
complexity, arity, flags and categories come from COMMAND DOCS and COMMAND INFO, which the server
generates from its command rows. Text about zsetd's own extensions is in this file.
"""

import os
import pathlib
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
    "list": ("lists", "Lists"),
    "hash": ("hashes", "Hashes"),
    "set": ("sets", "Sets"),
    "generic": ("keys", "Keys"),
    "transactions": ("transactions", "Transactions"),
    "pubsub": ("pubsub", "Pub/sub"),
    "connection": ("connection", "Connection"),
    "scripting": ("scripting", "Scripting"),
    "server": ("server", "Server"),
    "cluster": ("cluster", "Cluster"),
}

PRESENT = """\
A bound may be `now`, the server's Unix time in seconds with the milliseconds as a fraction, or `nowms`, the
same in milliseconds; `(now` leaves out what comes due this very millisecond. In a transaction and in a
script the time stands still.
"""

MEMBERS_EXPIRE = """\
The reply is an array with a number for each member: 1 if its expiration is set, 2 if the member was removed
because the time has passed, 0 if NX, XX, GT or LT forbade it, -2 if there is no such member or key. As
[HEXPIRE](https://redis.io/docs/latest/commands/hexpire/) has it for the fields of a hash: a member without
an expiration has a later one than any, so GT refuses it and LT does not.

A member that has expired is never seen: not in counts, ranks, scans or results. It is removed as soon as its
time has come, whether or not anybody asks for it; subscribers are notified of `zexpired`, and of `del` if
the set is empty then. To overwrite a member (ZADD, GEOADD) removes its expiration, to increment it (ZINCRBY,
ZADD INCR) does not; what NX, XX, GT or LT leave as it is keeps it. RENAME, COPY, MOVE, DUMP and RESTORE keep
expirations; the result of ZUNIONSTORE, ZRANGESTORE and other commands that compute a set has none.

Expirations are in snapshots and in the append-only log in a form that redis-server passes over: it reads
the members and their scores. When a member expires a ZREM is written, which every server understands.
"""

MEMBERS_ASKED = """\
The reply is an array with a number for each member: -1 if it has no expiration, -2 if there is no such member
or key. {} See [ZEXPIRE](#zexpire).
"""

# Text by command name: zsetd's extensions of Redis commands, and notes on its own commands.
EXTENSIONS = {
    "hexpire": """\
As in Redis 8: a field that has expired is never seen, and is deleted as soon as its time has come (`hexpired`).
HSET removes the expiration of a field, HINCRBY and HINCRBYFLOAT keep it. A snapshot of a dataset in which
fields expire is written as RDB version 12: Redis loads it from 7.4 on. Without such fields, and in the
append-only log, nothing differs from what Redis 7.0 reads.
""",
    "zexpire": MEMBERS_EXPIRE,
    **dict.fromkeys(["zpexpire", "zexpireat", "zpexpireat"],
                    "The same as [ZEXPIRE](#zexpire), with the time in another form.\n"),
    "zttl": MEMBERS_ASKED.format("Seconds are rounded up."),
    **dict.fromkeys(["zpttl", "zexpiretime", "zpexpiretime"], MEMBERS_ASKED.format("").replace("  ", " ")),
    "zpersist": """\
The reply is an array with a number for each member: 1 if its expiration was removed, -1 if it had none, -2 if
there is no such member or key. See [ZEXPIRE](#zexpire).
""",
    "zaddex": """\
As [ZADD](#zadd) with these options, and the members that are added or updated get the expiration, or with
KEEPTTL keep theirs; without either they have none afterwards. Members that NX, XX, GT or LT leave as they are
keep theirs. A time that has passed removes the members. The reply is ZADD's: the number of members added,
with CH also of those whose score has changed. Options come in any order before MEMBERS.
See [ZEXPIRE](#zexpire) for what an expiration is.
""",
    "zpopbyscore": """\
min and max are those of [ZRANGEBYSCORE](#zrangebyscore), `now` and `nowms` included; min comes first with REV
too. Without REV the lowest-scoring members go, with it the highest. Without COUNT one member goes, and
the reply is that of [ZPOPMIN](#zpopmin) without a count: the member and its score; with COUNT it is that
of ZPOPMIN with a count. Nothing in the range: an empty array. Subscribers are notified of `zpopmin`, with
REV of `zpopmax`.
""",
    "bzpopbyscore": """\
The range is that of [ZPOPBYSCORE](#zpopbyscore). With a max of `now` or `nowms` the client is served
when time reaches the first element, without any change of the key: `BZPOPBYSCORE 0 jobs -inf now` is a
queue of delayed jobs. Clients are served in the order in which they blocked. The reply is
the key, the member and its score, as of [BZPOPMIN](#bzpopmin); with COUNT the key and an array of pairs, as
of [BZMPOP](#bzmpop); after the timeout, in a transaction and in a script null.
""",
    **dict.fromkeys(["zunion", "zinter", "zdiff"], """\
BYSCORE, REV and LIMIT select from the result as they do from a set in [ZRANGE](#zrange), except that min
stands before max with REV too: `REV LIMIT 0 10` replies the ten highest scores, without sorting the
rest and without a key for the result.
"""),
    "zaround": """\
`before` and `after` are numbers of neighbours; there are fewer where the set ends. The reply has two elements: the
member's rank, and an array that is the reply of [ZRANGE](#zrange), with the member in it. REV counts
and orders from the highest score. An unknown member: null.
""",
    "zmove": """\
A member's expiration goes with it. A member that the destination has already gets the score and the
expiration of the source. The reply is the number of members
that the source had. Subscribers are notified of `zrem` and `zadd`.
""",
    **dict.fromkeys(["zrank", "zrevrank"], """\
With TIES COMPETITION members of equal score share the best of their ranks, and the next has the rank that
it has without: 0, 1, 1, 3. TIES ORDINAL is the default: 0, 1, 2, 3, members of equal score in
lexicographical order.
"""),
    **dict.fromkeys(["zrangebyscore", "zrevrangebyscore", "zcount", "zremrangebyscore"], PRESENT),
    **dict.fromkeys(["zrange", "zrangestore"], "With BYSCORE: " + PRESENT),
    "zadd": """\
A time to live, MAXLEN and the options' free order are zsetd's own; Redis's ZADD has neither.

    ZADD key {leading} score member {score member} {trailing}

    leading   NX | XX | GT | LT | CH, and every trailing option
    trailing  INCR | EX seconds | PX milliseconds | EXAT unix-time-seconds
              | PXAT unix-time-milliseconds | KEEPTTL
              | MAXLEN count [KEEP HIGHEST | KEEP LOWEST]

- No option is a number, so where a score is expected a word is either a score or an option. The
  argument after a score is always a member: `ZADD key 1 INCR` adds a member named `INCR`.
- INCR takes a single score and member.
- At most one of EX, PX, EXAT, PXAT and KEEPTTL may be given. It takes effect if the key exists after
  the command has run. Without one of them the time to live stays as it is.
- With MAXLEN the set has at most `count` members afterwards, whether or not the request has changed
  one: the lowest-scoring ones go, with KEEP LOWEST the highest-scoring ones. The reply is that of ZADD
  without MAXLEN, and subscribers are notified of `zadd`, then of `zremrangebyrank` if members went.
- A request with any error changes nothing.
""",
    "zincrby": """\
The options are zsetd's own: one of EX, PX, EXAT, PXAT and KEEPTTL, and MAXLEN, may follow the member,
with the meaning that they have for [ZADD](#zadd).
""",
}

GENERATED = "<!-- Generated by tests/checks/command_reference.py from the command rows. -->\n\n"


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

    def section(self):
        arguments = abs(self.arity) - len(self.name.split())
        count = f"{arguments} argument{'' if arguments == 1 else 's'}"
        lines = [f"## {self.name}\n\n", f"    {self.usage}\n\n", f"{self.summary}\n\n",
                 "| | |\n|---|---|\n",
                 f"| Complexity | {self.complexity} |\n",
                 f"| Arity | {self.arity}: {'at least ' if self.arity < 0 else ''}{count} |\n",
                 f"| Flags | {', '.join(self.flags) or 'none'} |\n",
                 f"| ACL categories | {', '.join(self.categories) or 'none'} |\n",
                 self.origin()]
        if self.key in EXTENSIONS:
            title = "" if self.since.startswith("zsetd") else "**Extension.** "
            lines += ["\n", title, EXTENSIONS[self.key]]
        return "".join(lines)

    def origin(self):
        server, _, version = self.since.rpartition(" ")
        return f"| In {server or 'Redis'} since | {version} |\n"

    def row(self, page):
        """Returns the command's row in the index."""
        anchor = self.name.lower().replace(" ", "-")
        return f"| [{self.name}]({page}#{anchor}) | {self.summary} |\n"


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


def page(title, members):
    sections = "\n".join(command.section() for command in members)
    return f"{GENERATED}# {title}\n\n[All commands](README.md)\n\n{sections}"


def index(families):
    lines = [GENERATED, "# Command reference\n\n",
             "Each page lists one family; every command has its usage, complexity, arity, flags and ACL "
             "categories.\nThe same text comes from `COMMAND DOCS` and `COMMAND INFO`.\n\n",
             "Usage: `[...]` is optional, `<a|b>` is a choice, `...` repeats the argument before it.\n"]
    for group, members in families.items():
        name, title = FAMILIES[group]
        rows = "".join(command.row(f"{name}.md") for command in members)
        lines.append(f"\n## {title}\n\n| command | |\n|---|---|\n{rows}")
    return "".join(lines)


def pages(client):
    """Returns the text of each page by file name."""
    found = commands(client)
    missing = {command.group for command in found} - set(FAMILIES)
    assert not missing, f"groups without a page: {missing}"
    unknown = set(EXTENSIONS) - {command.key for command in found}
    assert not unknown, f"extensions of commands that do not exist: {unknown}"
    families = {group: [command for command in found if command.group == group]
                for group in FAMILIES}
    return {"README.md": index(families),
            **{f"{name}.md": page(title, families[group])
               for group, (name, title) in FAMILIES.items()}}


def main():
    # hiredis, which redis-py uses if installed, cannot read replies as deeply nested as COMMAND
    # DOCS.
    pool = redis.ConnectionPool(port=int(os.environ["PORT"]),
                                parser_class=redis.connection.PythonParser)
    client = redis.Redis(connection_pool=pool)
    client.set_response_callback("COMMAND", lambda reply, **_: reply)  # redis-py expects a list
    wanted = pages(client)
    committed = {file.name: file.read_text() for file in FOLDER.glob("*.md")}
    if "--write" in sys.argv:
        for name in set(committed) - set(wanted):
            (FOLDER / name).unlink()
        for name, content in wanted.items():
            (FOLDER / name).write_text(content)
    elif committed != wanted:
        stale = sorted(name for name in set(committed) | set(wanted)
                       if committed.get(name) != wanted.get(name))
        sys.exit(f"docs/commands is not current ({', '.join(stale)}): {HOW_TO_WRITE}")


if __name__ == "__main__":
    main()
