"""Compares the command table that COMMAND INFO reports with that of redis-server 7.0.15.

Connects to the two servers that listen on ZSETD_PORT and PORT.
"""

import os
import unittest

import redis
import redis.connection

PARTS = ["name", "arity", "flags", "first key", "last key", "key step", "categories", "tips",
         "key specs"]

# The differences that are allowed, with reasons.
ALLOWED = {
    ("zincrby", "arity"): "takes the EX family after the member",
    ("zrank", "arity"): "takes WITHSCORE since Redis 7.2",
    ("zrevrank", "arity"): "takes WITHSCORE since Redis 7.2",
    ("sinterstore", "key specs"): "overwrites its destination, as the newest Redis says",
    ("xreadgroup", "key specs"): "STREAMS may be the name of the group: its value is skipped",
    ("wait", "flags"): "is blocking, and allowed in scripts, since Redis 7.2",
    ("wait", "categories"): "is blocking since Redis 7.2",
}

ORACLE = 7, 0, 15


class Server:
    def __init__(self, port):
        # hiredis, which redis-py uses if installed, cannot read replies as deeply nested as COMMAND
        # DOCS.
        pool = redis.ConnectionPool(port=port, decode_responses=True,
                                    parser_class=redis.connection.PythonParser)
        self.connection = redis.Redis(connection_pool=pool)

    def names(self):
        """Returns every command, and every subcommand as `command|subcommand`."""
        return self.connection.execute_command("COMMAND LIST")

    def since(self, name):
        """Returns the version that had the command first, such as "7.2.0" or "zsetd 0.1.0"."""
        container, _, part = name.partition("|")
        docs = self.docs_of(self.connection.execute_command("COMMAND DOCS", container), container)
        return (self.docs_of(docs["subcommands"], name) if part else docs)["since"]

    def docs_of(self, replies, name):
        docs = dict(zip(replies[::2], replies[1::2]))[name]
        return dict(zip(docs[::2], docs[1::2]))

    def row(self, name):
        """Returns the properties that are compared, by PARTS; None if the server does not know the
        command."""
        answer = self.ask(name)
        if answer is None:
            return None
        row = dict(zip(PARTS, answer))
        for part in ["flags", "categories", "tips"]:
            row[part] = sorted(row[part])
        row["key specs"] = [self.spec(pairs) for pairs in row["key specs"]]
        return row

    def spec(self, pairs):
        """Returns the key specs without the notes that Redis adds to some of them."""
        spec = dict(zip(pairs[::2], pairs[1::2]))
        spec.pop("notes", None)
        return spec

    def ask(self, name):
        # redis-py does not convert the reply to "COMMAND INFO": it only recognizes "COMMAND".
        return self.connection.execute_command("COMMAND INFO", name)[0]


ZSETD = Server(int(os.environ["ZSETD_PORT"]))
REDIS = Server(int(os.environ["PORT"]))


def is_newer(name):
    """Whether the command is zsetd's own, Valkey's, or of a newer Redis release than the oracle."""
    version = ZSETD.since(name)
    return version.startswith(("zsetd ", "Valkey ")) or tuple(map(int, version.split("."))) > ORACLE


class CommandTable(unittest.TestCase):
    def test_every_row_is_that_of_redis(self):
        for name in ZSETD.names():
            with self.subTest(name):
                self.compare(name, ZSETD.row(name), REDIS.row(name))

    def test_every_subcommand_is_listed(self):
        names = set(ZSETD.names())
        for name in names:
            if "|" not in name:
                self.assertEqual({sub[0] for sub in ZSETD.ask(name)[9]} - names, set())

    def test_redis_has_no_newer_command_and_every_older_one(self):
        names = set(ZSETD.names())
        unknown = names - set(REDIS.names())
        self.assertEqual(sorted(unknown ^ set(filter(is_newer, names))), [])

    def test_rules_may_name_every_command_of_redis(self):
        for name in REDIS.names():
            with self.subTest(name):
                answer = ZSETD.connection.execute_command("ACL SETUSER", "hardened", "-" + name)
                self.assertTrue(answer)

    def compare(self, name, ours, theirs):
        if theirs is None:
            return
        allowed = {part for command, part in ALLOWED if command == name}
        for part in set(PARTS) - allowed:
            self.assertEqual(ours[part], theirs[part], f"{name}: {part}")

    def test_every_allowed_difference_exists(self):
        for name, part in ALLOWED:
            with self.subTest(name):
                ours, theirs = ZSETD.row(name), REDIS.row(name)
                self.assertNotEqual(ours[part], theirs[part])


if __name__ == "__main__":
    unittest.main()
