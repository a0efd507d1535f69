"""Compares the command table that COMMAND INFO reports with that of redis-server 7.0.15.

Connects to the two servers that listen on ZSETD_PORT and PORT.
"""

import os
import unittest

import redis

PARTS = ["name", "arity", "flags", "first key", "last key", "key step", "categories", "tips",
         "key specs"]

# The differences that are allowed, with reasons.
ALLOWED = {
    ("zincrby", "arity"): "takes the EX family after the member",
    ("zrank", "arity"): "takes WITHSCORE since Redis 7.2",
    ("zrevrank", "arity"): "takes WITHSCORE since Redis 7.2",
    ("sinterstore", "key specs"): "overwrites its destination, as the newest Redis says",
    ("wait", "flags"): "is blocking, and allowed in scripts, since Redis 7.2",
    ("wait", "categories"): "is blocking since Redis 7.2",
}

# Commands of newer Redis releases that 7.0.15 lacks.
NEWER = {"client|setinfo", "client|no-touch", "cluster|myshardid", "waitaof"}

NEWER |= {"hexpire", "hpexpire", "hexpireat", "hpexpireat", "hexpiretime", "hpexpiretime"}
NEWER |= {"httl", "hpttl", "hpersist", "hgetdel", "hgetex", "hsetex"}

# Commands that no Redis release has.
NEWER |= {"bzpopbyscore", "zpopbyscore", "zmrank", "zmrevrank", "zaround", "zmove"}
NEWER |= {"zaddex", "zexpire", "zpexpire", "zexpireat", "zpexpireat", "zexpiretime", "zpexpiretime"}
NEWER |= {"zttl", "zpttl", "zpersist"}


class Server:
    def __init__(self, port):
        self.connection = redis.Redis(port=port, decode_responses=True)

    def names(self):
        """Returns every command, and every subcommand as `command|subcommand`."""
        return self.connection.execute_command("COMMAND LIST")

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


class CommandTable(unittest.TestCase):
    def test_every_row_is_that_of_redis(self):
        for name in ZSETD.names():
            with self.subTest(name):
                self.compare(name, ZSETD.row(name), REDIS.row(name))

    def test_every_subcommand_is_listed(self):
        names = ZSETD.names()
        for name in names:
            if "|" not in name:
                self.assertLessEqual({sub[0] for sub in ZSETD.ask(name)[9]}, set(names))
        self.assertLessEqual(set(names) - NEWER, set(REDIS.names()))

    def test_rules_may_name_every_command_of_redis(self):
        for name in REDIS.names():
            with self.subTest(name):
                answer = ZSETD.connection.execute_command("ACL SETUSER", "hardened", "-" + name)
                self.assertTrue(answer)

    def compare(self, name, ours, theirs):
        if theirs is None:
            self.assertIn(name, NEWER, "Redis has no such command")
            return
        allowed = {part for command, part in ALLOWED if command == name}
        for part in set(PARTS) - allowed:
            self.assertEqual(ours[part], theirs[part], f"{name}: {part}")

    def test_every_allowed_difference_exists(self):
        for name, part in ALLOWED:
            with self.subTest(name):
                ours, theirs = ZSETD.row(name), REDIS.row(name)
                self.assertNotEqual(ours[part], theirs[part])
        for name in NEWER & set(ZSETD.names()):
            self.assertIsNone(REDIS.row(name))


if __name__ == "__main__":
    unittest.main()
