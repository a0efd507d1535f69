"""redis-cli's special modes, and prometheus-redis-exporter: they work without a warning.

oracle.redis_tools runs the same tests on redis-server, to prove that they hold for it too.
"""

import os
import re
import shutil
import socket
import subprocess
import time
import unittest
import urllib.request

import redis

PORT = os.environ["PORT"]
PATIENCE_S = 60


def cli(*options, data=None):
    run = subprocess.run(["redis-cli", "-p", PORT, *options], input=data, capture_output=True,
                         timeout=PATIENCE_S)
    return run.returncode, run.stdout.decode(errors="replace"), run.stderr.decode()


def first_lines(count, *options):
    """Returns the first lines of a run that would never end."""
    with subprocess.Popen(["stdbuf", "-oL", "redis-cli", "-p", PORT, *options], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True) as run:
        try:
            return [run.stdout.readline().rstrip("\n") for _ in range(count)]
        finally:
            run.kill()


class Tools(unittest.TestCase):
    def setUp(self):
        self.client = redis.Redis(port=int(PORT))
        self.client.flushall()
        self.client.config_set("maxmemory-policy", "noeviction")
        self.client.zadd("board", {f"m{i}": i for i in range(300)})
        self.client.zadd("small", {"m": 1})
        self.client.set("text", "x" * 5000)
        self.client.rpush("list", *range(50))
        self.client.hset("hash", mapping={f"f{i}": i for i in range(20)})
        self.client.sadd("set", *range(40))
        self.addCleanup(self.client.close)

    def output(self, *options, data=None):
        code, out, err = cli(*options, data=data)
        self.assertEqual((code, err), (0, ""), out)
        self.assertNotIn("Warning", out)
        self.assertNotIn("(error)", out)
        return out

    def test_bigkeys(self):
        out = self.output("--bigkeys")
        self.assertRegex(out, r"Sampled 6 keys in the keyspace!")
        self.assertRegex(out, r'Biggest +zset found \'?"?"board"\'? has 300 members')
        self.assertRegex(out, r'Biggest string found \'?"?"text"\'? has 5000 bytes')

    def test_memkeys(self):
        out = self.output("--memkeys")
        self.assertRegex(out, r"Sampled 6 keys in the keyspace!")
        self.assertRegex(out, r'Biggest string found \'?"?"text"\'? has \d+ bytes')

    def test_hotkeys(self):
        self.client.config_set("maxmemory-policy", "allkeys-lfu")
        for _ in range(300):
            self.client.get("text")
        out = self.output("--hotkeys")
        self.assertRegex(out, r'hot key found with counter: \d+\tkeyname: "text"')

    def test_stat(self):
        lines = first_lines(4, "--stat", "-i", "0.05")
        self.assertRegex(lines[0], r"-- data -+ -+ load -+")
        self.assertRegex(lines[1], r"keys +mem +clients +blocked +requests +connections")
        self.assertRegex(lines[2], r"^6 +\d+\.\d+[KMG] +\d+ +0 +\d+ ")

    def test_latency(self):
        out = self.output("--latency", "-i", "0.2", "--raw")
        self.assertRegex(out, r"^\d+ \d+ \d+\.\d+ \d+\n$")

    def test_latency_dist(self):
        lines = first_lines(12, "--latency-dist", "-i", "0.1")
        self.assertIn(". - * #          .01 .125 .25 .5 milliseconds", lines)
        self.assertTrue(any("\x1b[" in line for line in lines), "a line of measurements")

    def test_scan(self):
        self.client.mset({f"key:{i}": "v" for i in range(2000)})
        out = self.output("--scan", "--pattern", "key:*")
        self.assertEqual(sorted(out.split()), sorted(f"key:{i}" for i in range(2000)))

    def test_scan_of_binary_names(self):
        self.client.set(b"odd\xff", "v")
        self.assertEqual(self.output("--scan", "--quoted-pattern", '"odd\\xff*"'), "odd\ufffd\n")

    def test_pipe(self):
        data = b"".join(b"*3\r\n$3\r\nSET\r\n$%d\r\npipe:%d\r\n$1\r\nv\r\n" % (len(b"pipe:%d" % i), i)
                        for i in range(20000))
        out = self.output("--pipe", data=data)
        self.assertIn("errors: 0, replies: 20000", out)
        self.assertEqual(self.client.exists("pipe:19999"), 1)

    def test_pipe_counts_errors(self):
        code, out, _ = cli("--pipe", data=b"*2\r\n$4\r\nINCR\r\n$4\r\ntext\r\n")
        self.assertNotEqual(code, 0)
        self.assertIn("errors: 1, replies: 1", out)

    def test_help(self):
        self.assertIn("ZADD", self.output("help", "zadd"))

    def test_redis_benchmark_with_all_tests_by_name(self):
        names = ("ping_inline,ping_mbulk,set,get,incr,lpush,rpush,lpop,rpop,sadd,hset,spop,zadd,zpopmin,"
                 "lrange_100,lrange_300,lrange_500,lrange_600,mset")
        run = subprocess.run(["redis-benchmark", "-p", PORT, "-q", "-n", "500", "-t", names, "--csv"],
                             capture_output=True, text=True, timeout=PATIENCE_S)
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        lines = run.stdout.splitlines()
        self.assertEqual(len(lines), 21, run.stdout)
        self.assertNotIn("WARNING", run.stdout)


class Exporter(unittest.TestCase):
    def setUp(self):
        if shutil.which("prometheus-redis-exporter") is None:
            self.skipTest("prometheus-redis-exporter is not installed")
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.process = subprocess.Popen(
            ["prometheus-redis-exporter", "--redis.addr", f"redis://127.0.0.1:{PORT}",
             "--web.listen-address", f"127.0.0.1:{self.port}", "--check-keys", "*", "--export-client-list"],
            stderr=subprocess.PIPE, text=True)

    def scrape(self):
        for _ in range(400):
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/metrics", timeout=20) as page:
                    return page.read().decode()
            except OSError:
                self.assertIsNone(self.process.poll(), "the exporter has ended")
                time.sleep(0.05)
        return ""

    def test_finds_everything_without_a_warning(self):
        client = redis.Redis(port=int(PORT))
        client.flushall()
        client.zadd("board", {"a": 1, "b": 2})
        client.set("text", "xyz")
        text = self.scrape()
        self.process.terminate()
        log = self.process.communicate(timeout=PATIENCE_S)[1]
        self.assertIn("redis_up 1", text)
        self.assertIn('redis_exporter_last_scrape_error{err=""} 0', text)
        self.assertIn('redis_db_keys{db="db0"} 2', text)
        self.assertIn('redis_key_size{db="db0",key="board"} 2', text)
        self.assertIn('redis_commands_total{cmd="zadd"}', text)
        self.assertEqual(re.findall(r"level=(?:warning|error|fatal).*", log), [])


if __name__ == "__main__":
    unittest.main()
