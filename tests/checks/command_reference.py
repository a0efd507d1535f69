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
same time in milliseconds. `(now` excludes elements that are due in the current millisecond. The time does not
advance during a transaction or a script.
"""

MEMBERS_EXPIRE = """\
The reply is an array with a number for each member: 1 if its expiration is set; 2 if the member was removed
because the time has passed; 0 if NX, XX, GT or LT prevented the change; -2 if the member or the key does not
exist. The conditions are those of [HEXPIRE](https://redis.io/docs/latest/commands/hexpire/) for the fields of a
hash: a member without an expiration counts as one that expires later than any other, so GT never changes it
and LT always does.

A member that has expired is never visible: not in counts, ranks, scans or results. The server removes it as
soon as its time has passed, even if no client accesses it. Subscribers are notified of `zexpired`, and of `del`
if the set is then empty. Overwriting a member (ZADD, GEOADD) removes its expiration; incrementing it (ZINCRBY,
ZADD INCR) does not. A member that NX, XX, GT or LT leave unchanged keeps its expiration. RENAME, COPY, MOVE, DUMP
and RESTORE keep expirations. The result of ZUNIONSTORE, ZRANGESTORE and other commands that compute a set has
none.

Snapshots and the append-only log contain expirations in a form that redis-server ignores: it reads the members
and their scores. When a member expires, a ZREM is propagated, which every server understands.
"""

MEMBERS_ASKED = """\
The reply is an array with a number for each member: -1 if it has no expiration, -2 if the member or the key does
not exist. {} See [ZEXPIRE](#zexpire).
"""

# Text by command name: zsetd's extensions of Redis commands, and notes on its own commands.
EXTENSIONS = {
    "hexpire": """\
As in Redis 8: a field that has expired is never visible, and is deleted as soon as its time has passed
(`hexpired`). HSET removes the expiration of a field; HINCRBY and HINCRBYFLOAT keep it. If a field of any hash has
an expiration, the snapshot is written as RDB version 12, which Redis loads from 7.4 on. Otherwise Redis 7.0 reads
the snapshot. For the append-only log see `propagation-compatibility` in
[configuration.md](../configuration.md#replication).
""",
    "zexpire": MEMBERS_EXPIRE,
    **dict.fromkeys(["zpexpire", "zexpireat", "zpexpireat"],
                    "Like [ZEXPIRE](#zexpire), with the time in another form.\n"),
    "zttl": MEMBERS_ASKED.format("Seconds are rounded up."),
    **dict.fromkeys(["zpttl", "zexpiretime", "zpexpiretime"], MEMBERS_ASKED.format("").replace("  ", " ")),
    "zpersist": """\
The reply is an array with a number for each member: 1 if its expiration was removed, -1 if it had none, -2 if
the member or the key does not exist. See [ZEXPIRE](#zexpire).
""",
    "zaddex": """\
Like [ZADD](#zadd) with these options. Members that are added or updated get the given expiration; with KEEPTTL
they keep their own, and without either they have none afterwards. Members that NX, XX, GT or LT leave unchanged
keep theirs. A time that has passed removes the members. The reply is the number of members added, with CH also
of members whose score has changed. The options may have any order and precede MEMBERS. [ZEXPIRE](#zexpire)
describes expirations.
""",
    "zpopbyscore": """\
min and max are those of [ZRANGEBYSCORE](#zrangebyscore), including `now` and `nowms`. min precedes max, also with
REV. Without REV the lowest-scoring members are removed, with REV the highest-scoring. Without COUNT one member is
removed, and the reply is that of [ZPOPMIN](#zpopmin) without a count: the member and its score. With COUNT it is
that of ZPOPMIN with a count. If the range contains no member, the reply is an empty array. Subscribers are notified
of `zpopmin`, with REV of `zpopmax`.
""",
    "bzpopbyscore": """\
The range is that of [ZPOPBYSCORE](#zpopbyscore). If max is `now` or `nowms`, the client is served as soon as the
time reaches the score of the first element, even without a change of the key: `BZPOPBYSCORE 0 jobs -inf now` is a
queue of delayed jobs. Clients are served in the order in which they blocked. The reply is the key, the member and
its score, as for [BZPOPMIN](#bzpopmin). With COUNT it is the key and an array of pairs, as for [BZMPOP](#bzmpop).
After the timeout, and if no member is in the range in a transaction or a script, the reply is null.
""",
    **dict.fromkeys(["zunion", "zinter", "zdiff"], """\
BYSCORE, REV and LIMIT select elements of the result as [ZRANGE](#zrange) selects elements of a set, except that min
precedes max also with REV. `REV LIMIT 0 10` returns the ten highest scores. It does not sort the other elements and
needs no key for the result.
"""),
    "zaround": """\
`before` and `after` are numbers of neighbours; there are fewer at the ends of the set. The reply has two elements:
the rank of the member, and an array in the form of [ZRANGE](#zrange) that includes the member. REV counts
and orders from the highest score. If the member does not exist, the reply is null.
""",
    "zmove": """\
A member keeps its expiration. If the destination already has the member, it gets the score and the expiration of
the source. The reply is the number of members that the source contained. Subscribers are notified of `zrem` and
`zadd`.
""",
    **dict.fromkeys(["zrank", "zrevrank"], """\
With TIES COMPETITION members of equal score share the best of their ranks, and the next member keeps its own
rank: 0, 1, 1, 3. TIES ORDINAL is the default: 0, 1, 2, 3, with members of equal score in lexicographical order.
"""),
    **dict.fromkeys(["zrangebyscore", "zrevrangebyscore", "zcount", "zremrangebyscore"], PRESENT),
    **dict.fromkeys(["zrange", "zrangestore"], "With BYSCORE: " + PRESENT),
    "zadd": """\
A time to live, MAXLEN and the free order of options are extensions of zsetd.

    ZADD key {leading} score member {score member} {trailing}

    leading   NX | XX | GT | LT | CH, and every trailing option
    trailing  INCR | EX seconds | PX milliseconds | EXAT unix-time-seconds
              | PXAT unix-time-milliseconds | KEEPTTL
              | MAXLEN count [KEEP HIGHEST | KEEP LOWEST]

- No option is a number, so a word in the place of a score is either a score or an option. The argument after a
  score is always a member: `ZADD key 1 INCR` adds a member named `INCR`.
- INCR takes a single score and member.
- At most one of EX, PX, EXAT, PXAT and KEEPTTL may be given. It takes effect if the key exists after
  the command has run. Without one of them the time to live does not change.
- With MAXLEN the set has at most `count` members afterwards, even if the request changed none. The
  lowest-scoring members are removed, with KEEP LOWEST the highest-scoring. The reply is that of ZADD
  without MAXLEN. Subscribers are notified of `zadd`, then of `zremrangebyrank` if members were removed.
- A request with any error changes nothing.
""",
    "zincrby": """\
The options are extensions of zsetd: one of EX, PX, EXAT, PXAT and KEEPTTL, and MAXLEN, may follow the member.
They have the same meaning as for [ZADD](#zadd).
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
             "Each page lists one family, with usage, complexity, arity, flags and ACL categories of each "
             "command.\n`COMMAND DOCS` and `COMMAND INFO` return the same text.\n\n",
             "Usage: `[...]` is optional, `<a|b>` is a choice, `...` repeats the word or group before it.\n"]
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
