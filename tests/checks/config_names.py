"""CONFIG GET * of zsetd against that of redis-server 7.0.15: no name is missing, and what is not
this server's own choice has Redis's default.

Asks the two servers that listen on ZSETD_PORT and PORT.
"""

import os
import unittest

import redis

# Settings whose defaults differ, and why.
OTHER_DEFAULTS = {
    "bind": "this machine alone",
    "client-output-buffer-limit": "normal clients have limits",
    "syslog-ident": "the program's name",
    # What the test starts the servers with, or what they run in.
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
