"""DEBUG is available only where the setting enable-debug-command permits it."""

import unittest

from zsetd import ZsetdTest

REFUSED = "ERR DEBUG command not allowed."


class Debugging(ZsetdTest):
    def ask(self, allowed, *words):
        self.start("--enable-debug-command", allowed)
        return str(self.connect().ask(*words))

    def test_is_disabled_by_default(self):
        self.assertIn(REFUSED, self.ask("no", "DEBUG", "SLEEP", "0"))

    def test_may_be_limited_to_this_machine(self):
        self.assertIn("OK", self.ask("local", "DEBUG", "SLEEP", "0"))

    def test_writes_to_the_log(self):
        self.ask("yes", "DEBUG", "LOG", "a line of one's own")
        self.assertIn("DEBUG LOG: a line of one's own", self.server.log())

    def test_cannot_be_enabled_while_the_server_runs(self):
        self.assertIn("can't set immutable config",
                      self.ask("no", "CONFIG", "SET", "enable-debug-command", "yes"))
