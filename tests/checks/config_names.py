"""Compares CONFIG GET * of zsetd with that of redis-server 7.0.15. No name is missing, and each
setting has Redis's default unless zsetd deliberately chose another.

Connects to the two servers that listen on ZSETD_PORT and PORT.
"""

import os
import unittest

import redis

# Settings whose defaults differ, with reasons.
OTHER_DEFAULTS = {
    "bind": "this machine alone",
    "client-output-buffer-limit": "normal clients have limits",
    "syslog-ident": "the program's name",
    # Settings that depend on the test's arguments or its environment.
    "dir": "", "port": "", "enable-debug-command": "", "save": "", "logfile": "", "pidfile": "",
    "maxclients": "as many as the system's limit of open files allows",
}

NEWER = [
    # 7.2
    "locale-collate", "set-max-listpack-entries", "set-max-listpack-value",
    "cluster-announce-human-nodename",
    # 7.4
    "hide-user-data-from-log", "max-new-connections-per-cycle",
    "max-new-tls-connections-per-cycle", "server-cpulist", "bio-cpulist", "aof-rewrite-cpulist",
    "bgsave-cpulist",
    # 8.0 and later
    "replica-full-sync-buffer-limit", "cluster-compatibility-sample-ratio", "repl-rdb-channel",
    "lookahead", "cluster-slot-stats-enabled", "key-memory-histograms",
    # Valkey
    "primaryauth", "primaryuser", "availability-zone", "rdb-version-check", "import-mode",
    "dual-channel-replication-enabled", "unixsocketgroup", "extended-redis-compatibility",
]


def settings(port):
    return redis.Redis(port=int(port), decode_responses=True).config_get("*")


ZSETD = settings(os.environ["ZSETD_PORT"])
REDIS = settings(os.environ["PORT"])


class ConfigNames(unittest.TestCase):
    def test_no_name_of_redis_is_missing(self):
        self.assertEqual(set(REDIS) - set(ZSETD), set())

    def test_no_name_of_newer_releases_is_missing(self):
        self.assertEqual(set(NEWER) - set(ZSETD), set())

    def test_defaults_are_those_of_redis(self):
        for name in set(REDIS) - set(OTHER_DEFAULTS):
            with self.subTest(name):
                self.assertEqual(ZSETD.get(name), REDIS[name])


if __name__ == "__main__":
    unittest.main()
