"""The page's requests to the server: read-only commands as an ACL user, and none without a
password."""

import base64
import json
import time
import unittest

from http_test import HttpTest
from server_process import eventually

USERS = ["--user", "viewer", "on", ">secret", "~*", "+@all"]


def basic(user, password):
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()


class PageApi(HttpTest):
    def post(self, commands, user="viewer", password="secret", **headers):
        head = {"Content-Type": "application/json", "Authorization": basic(user, password), **headers}
        body = commands if isinstance(commands, (str, bytes)) else json.dumps({"commands": commands})
        status, _, text = self.request("POST", "/api/commands", body, head)
        return status, json.loads(text)

    def history(self, user="viewer", password="secret", **headers):
        head = {"Content-Type": "application/json", "Authorization": basic(user, password), **headers}
        status, _, text = self.request("POST", "/api/history", "{}", head)
        return status, json.loads(text)

    def ask(self, *commands):
        status, answer = self.post(list(commands))
        self.assertEqual(status, 200, answer)
        return answer["replies"]

    def test_kinds_of_replies(self):
        self.start(*USERS)
        client = self.connect()
        client.ask("SET", "text", "Zürich")
        client.ask("SET", "bytes", b"\xff\x00")
        client.ask("RPUSH", "list", "a", "b")
        client.ask("SET", b"\xfe", "odd key")
        self.assertEqual(
            self.ask(["GET", "text"], ["GET", "bytes"], ["LRANGE", "list", "0", "-1"], ["GET", "none"],
                     ["STRLEN", "text"], ["LLEN", "text"], ["GET", {"hex": "fe"}], ["PING"], ["NONSENSE"]),
            ["Zürich", {"hex": "ff00"}, ["a", "b"], None, 7,
             {"error": "WRONGTYPE Operation against a key holding the wrong kind of value"}, "odd key", "PONG",
             {"error": "ERR unknown command 'NONSENSE', with args beginning with: "}])

    def test_every_command_that_writes_blocks_or_runs_scripts_is_refused(self):
        self.start(*USERS)
        client = self.connect()
        client.ask("SET", "k", "v")
        infos = client.ask("COMMAND")
        names = [(info[0].decode(), {str(flag.decode()) for flag in info[2]}, abs(info[1])) for info in infos]
        allowed = {"dbsize", "ping", "echo", "info", "time", "lastsave", "role", "select", "command"}
        tried = 0
        for name, flags, arity in names:
            if "readonly" in flags or name in allowed or name in ("quit", "reset"):
                continue
            tried += 1
            reply = self.ask([name] + ["1"] * (arity - 1))[0]
            self.assertIsInstance(reply, dict, name)
            self.assertRegex(reply["error"], "is not a read-only command|unknown subcommand|wrong number|"
                                             "Unknown subcommand", name)
        self.assertGreater(tried, 80)
        self.assertEqual(client.ask("GET", "k"), b"v")

    def test_even_read_only_scripts_are_refused(self):
        self.start(*USERS)
        for command in (["EVAL_RO", "return 1", "0"], ["EVALSHA_RO", "x", "0"], ["FCALL_RO", "f", "0"]):
            self.assertIn("is not a read-only command", self.ask(command)[0]["error"])

    def test_secrets_are_not_readable(self):
        self.start(*USERS, "--requirepass", "main")
        for command in (["CONFIG", "GET", "requirepass"], ["ACL", "LIST"], ["ACL", "GETUSER", "viewer"],
                        ["MONITOR"], ["SUBSCRIBE", "c"], ["AUTH", "default", "main"]):
            self.assertIn("is not a read-only command", self.ask(command)[0]["error"])

    def test_renamed_commands_keep_their_rules(self):
        self.start(*USERS, "--rename-command", "SET", "ping2")
        self.assertIn("'set' is not a read-only command", self.ask(["ping2", "a", "b"])[0]["error"])

    def test_failed_logins_slow_down_one_user_and_not_others(self):
        """Behind a proxy all users share its address."""
        self.start(*USERS, "--user", "other", "on", ">other", "~*", "+@all")
        for number in range(10):
            self.assertEqual(self.post([["PING"]])[0], 200)
            self.assertEqual(self.post([["PING"]], password=f"guess {number}")[0], 401)
        self.assertEqual(self.post([["PING"]], user="other", password="other")[0], 200)
        self.assertEqual(self.post([["PING"]], user="other", password="wrong")[0], 401)
        body, head = '{"commands":[["PING"]]}', {"Content-Type": "application/json"}
        for password in ("guess", "secret"):  # a right password must not stand out
            head["Authorization"] = basic("viewer", password)
            status, headers, text = self.request("POST", "/api/commands", body, head)
            self.assertEqual(status, 429)
            self.assertIn("Too many logins", json.loads(text)["error"])
            self.assertIn(int(headers["Retry-After"]), range(1, 6))
        self.assertEqual(self.post([["PING"]], user="other", password="other")[0], 200)
        self.assertEqual(self.request("GET", "/metrics")[0], 200)
        self.assertTrue(eventually(lambda: self.post([["PING"]])[0] == 200))
        denied = self.connect().ask("INFO", "stats").split(b"acl_access_denied_auth:")[1]
        self.assertTrue(denied.startswith(b"11\r\n"))

    def test_nothing_without_a_password(self):
        self.start(*USERS, "--user", "default", "on", ">main", "~*", "+@all")
        commands = [["PING"]]
        self.assertEqual(self.post(commands, password="wrong")[0], 401)
        self.assertEqual(self.post(commands, user="nobody")[0], 401)
        for header in ("", "Basic", "Basic !!!", "Basic " + base64.b64encode(b"viewer").decode(), "Bearer x"):
            self.assertEqual(self.post(commands, Authorization=header)[0], 401, header)
        client = self.connect()
        client.ask("AUTH", "main")
        self.assertGreaterEqual(len(client.ask("ACL", "LOG")), 1)
        client.ask("ACL", "LOG", "RESET")
        for _ in range(20):
            self.assertEqual(self.post(commands, Authorization="")[0], 401)
        self.assertEqual(client.ask("ACL", "LOG"), [], "a request without a login is no failed login")
        self.assertEqual(self.history(Authorization="")[0], 401)

    def test_a_request_without_a_login_is_one_of_the_default_user_if_it_needs_no_password(self):
        self.start()
        self.assertEqual(self.post([["ACL", "WHOAMI"]], Authorization="")[0], 200)
        self.assertEqual(self.post([["PING"]], Authorization="", Host="evil.example:1")[0], 403)

    def test_history(self):
        self.start(*USERS, "--user", "narrow", "on", ">secret", "+get")
        client = self.connect()
        for _ in range(100):
            client.ask("GET", "none")
        self.assertTrue(eventually(lambda: self.history()[1]["points"]))
        status, answer = self.history()
        self.assertEqual(status, 200)
        at, *figures = answer["points"][0]
        self.assertLess(abs(at - time.time()), 60)
        figures = dict(zip(answer["columns"], figures, strict=True))
        self.assertGreater(figures["commands"], 20)
        self.assertGreater(figures["in"], 100)
        self.assertGreater(figures["used"], 100000)
        self.assertGreaterEqual(figures["connected"], 1)
        self.assertEqual(figures["hits"], 0)
        self.assertLessEqual(figures["p50"], figures["p99"])
        self.assertEqual(self.history(user="narrow"), (400, {"error": "This user may not run INFO."}))
        self.assertEqual(self.history(password="wrong")[0], 401)
        self.assertEqual(self.history(**{"Content-Type": "text/plain"})[0], 415)
        self.assertEqual(self.request("GET", "/api/history")[0], 405)

    def test_acl_rules_apply(self):
        self.start("--user", "narrow", "on", ">secret", "~mine:*", "+get")
        status, answer = self.post([["GET", "mine:a"], ["GET", "a"], ["STRLEN", "mine:a"], ["INFO"]], user="narrow")
        self.assertEqual(status, 200)
        self.assertIsNone(answer["replies"][0])
        for reply in answer["replies"][1:]:
            self.assertTrue(reply["error"].startswith("NOPERM"), reply)

    def test_a_user_without_password_is_limited_to_this_machine(self):
        self.start()
        self.assertEqual(self.post([["PING"]], user="default", password="")[0], 200)
        self.assertEqual(self.post([["PING"]], user="default", password="", Host="localhost:1")[0], 200)
        status, answer = self.post([["PING"]], user="default", password="", Host="evil.example:1")
        self.assertEqual(status, 403)
        self.assertIn("needs no password", answer["error"])

    def test_a_user_without_password_may_use_a_configured_host_name(self):
        self.start("--metrics-hosts", "mine.example", "two.example")
        for host, status in (("mine.example:1", 200), ("Two.Example", 200), ("evil.example", 403)):
            self.assertEqual(self.post([["PING"]], user="default", password="", Host=host)[0], status, host)

    def test_other_sites_cannot_send_requests(self):
        """A browser sends JSON to another site only if that site permits it in its reply to
        OPTIONS."""
        self.start(*USERS)
        self.assertEqual(self.post([["PING"]], **{"Content-Type": "text/plain"})[0], 415)
        status, headers, _ = self.request("OPTIONS", "/api/commands")
        self.assertEqual(status, 405)
        self.assertNotIn("Access-Control-Allow-Origin", headers)

    def test_malformed_requests_are_refused(self):
        self.start(*USERS)
        for body in ("", "x", "[]", "{}", '{"commands": []}', '{"commands": [[]]}', '{"commands": [[1]]}',
                     '{"commands": ["PING"]}', '{"commands": [[{"hex": "f"}]]}', '{"commands": [["\\ud800"]]}',
                     '{"commands": ' + "[" * 60000):
            self.assertEqual(self.post(body)[0], 400, body[:80])
        self.assertEqual(self.post([["PING"]] * 513)[0], 400)
        self.assertEqual(len(self.ask(*[["PING"]] * 512)), 512)

    def test_long_replies_are_refused(self):
        self.start(*USERS)
        client = self.connect()
        client.ask("SET", "long", b"x" * (5 << 20))
        client.ask("SET", "half", b"x" * (3 << 20))
        client.ask("SADD", "set", *[f"{i:>1000}" for i in range(100)])
        replies = self.ask(["PING"], ["GET", "long"], ["PING"])
        self.assertEqual(replies[0], "PONG")
        self.assertIn("too long", replies[1]["error"])
        replies = self.ask(["GET", "half"], ["GET", "half"], ["PING"])
        self.assertEqual(len(replies[0]), 3 << 20)
        self.assertIn("too long", replies[1]["error"])
        self.assertIn("error", self.ask(["SRANDMEMBER", "set", "-1000000"])[0])

    def test_a_paused_server_is_not_waited_for(self):
        self.start(*USERS)
        client = self.connect()
        client.ask("CLIENT", "PAUSE", "100000", "ALL")
        self.assertIn("paused", self.ask(["GET", "k"])[0]["error"])

    def test_a_running_script_is_reported(self):
        self.start(*USERS, "--busy-reply-threshold", "1")
        client, other = self.connect(), self.connect()
        client.send("EVAL", "while true do end", 0)
        self.assertTrue(eventually(lambda: str(other.ask("GET", "k")).startswith("BUSY")))
        self.assertTrue(self.ask(["GET", "k"])[0]["error"].startswith("BUSY"))
        self.assertEqual(other.ask("SCRIPT", "KILL"), b"OK")

    def test_its_clients_are_removed(self):
        self.start(*USERS)
        client = self.connect()
        for _ in range(20):
            self.ask(["SELECT", "3"], ["DBSIZE"])
        self.assertEqual(len(client.ask("CLIENT", "LIST").splitlines()), 1)

    def test_databases_are_selected_for_one_request(self):
        self.start(*USERS)
        client = self.connect()
        client.ask("SELECT", 3)
        client.ask("SET", "k", "v")
        self.assertEqual(self.ask(["SELECT", "3"], ["GET", "k"]), ["OK", "v"])
        self.assertEqual(self.ask(["GET", "k"]), [None])


if __name__ == "__main__":
    unittest.main()
