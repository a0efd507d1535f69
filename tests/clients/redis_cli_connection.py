"""redis-cli in interactive use: it greets, shows hints, and reconnects after its connection was
cut."""

import os
import subprocess
import unittest

import redis_cli

IS_ZSETD = os.environ["SERVER"] == "zsetd"


def run(*arguments):
    """Returns the output of redis-cli for a command in its arguments. Standard error must be
    empty."""
    cli = subprocess.run(["redis-cli", "-p", redis_cli.PORT, *arguments],
                         capture_output=True, text=True, timeout=30)
    assert cli.stderr == "", cli.stderr
    return cli.stdout


def typed(*lines):
    return redis_cli.typed(redis_cli.start("-3"), lines)


class Connection(unittest.TestCase):
    def test_first_commands_print_what_redis_prints(self):
        self.assertEqual(run("PING"), "PONG\n")
        for protocol in ("-2", "-3"):
            with self.subTest(protocol=protocol):
                key = "connection" + protocol
                as_typed = [protocol, "--no-raw"]
                self.assertEqual(run(*as_typed, "ZADD", key, "1.5", "x"), "(integer) 1\n")
                self.assertEqual(run(*as_typed, "ZRANGE", key, "0", "-1"), '1) "x"\n')
                self.assertEqual(run(*as_typed, "GET", "connection:none"), "(nil)\n")
        self.assertEqual(run("-3", "--no-raw", "ZSCORE", "connection-3", "x"), "(double) 1.5\n")

    def test_both_loopback_addresses_accept_clients(self):
        for host in ("127.0.0.1", "::1"):
            with self.subTest(host=host):
                self.assertEqual(run("-h", host, "PING"), "PONG\n")

    def test_the_server_reports_its_name_and_version(self):
        self.assertIn("proto 3\n", run("-3", "HELLO"))
        self.assertIn("redis_version:7.", run("INFO", "server"))
        self.assertIn("role:master", run("INFO"))

    def test_each_command_is_documented(self):
        [docs] = typed("COMMAND DOCS ZADD")
        self.assertTrue(docs["zadd"]["summary"])

    def test_an_unknown_command_is_named(self):
        [error] = typed("ZAD k 1 x")
        self.assertTrue(error.startswith("error:\"ERR unknown command 'ZAD', with args"), error)

    @unittest.skipUnless(IS_ZSETD, "new in Redis 7.2")
    def test_a_client_reports_its_library(self):
        lines = "CLIENT SETINFO LIB-NAME redis-cli\nCLIENT INFO\n"
        out, _ = redis_cli.start("-3").communicate(lines, timeout=30)
        self.assertIn(" lib-name=redis-cli ", out)  # redis-cli does not print this reply as JSON

    def test_a_killed_client_connects_again(self):
        cli = redis_cli.start()
        cli.stdin.write("CLIENT ID\n")
        cli.stdin.flush()
        first = redis_cli.reply(cli.stdout.readline())
        self.assertEqual(typed(f"CLIENT KILL ID {first}"), [1])
        out, _ = cli.communicate("PING\nPING\nCLIENT ID\n", timeout=30)  # the first reconnects
        *pongs, second = map(redis_cli.reply, out.splitlines())
        self.assertEqual(set(pongs), {"PONG"})
        self.assertNotEqual(second, first)
