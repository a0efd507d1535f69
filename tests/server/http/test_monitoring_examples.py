"""Replication in the metrics, the probes, and the examples for Prometheus and Grafana, which work on a
master with a replica. Prometheus and promtool are used if they are installed (./check --metrics)."""

import json
import pathlib
import re
import shutil
import subprocess
import tempfile
import time
import unittest
import urllib.parse
import urllib.request

from http_test import HttpTest
from peer import Peer
from server_process import eventually, free_port
from test_metrics import families, samples

EXAMPLES = pathlib.Path(__file__).resolve().parents[3] / "conf" / "examples"
ALERTS = EXAMPLES / "prometheus-alerts.yml"
ALERT_TESTS = pathlib.Path(__file__).resolve().parent / "alert_tests.yml"
PANELS = json.loads((EXAMPLES / "grafana-dashboard.json").read_text())["panels"]
QUERIES = [target["expr"] for panel in PANELS for target in panel["targets"]]
# Queries that have no result on servers that are well and idle.
MAY_BE_EMPTY = re.compile(r"redis_errors_total|keyspace_hits")


class PairTest(HttpTest):
    """A master and a replica, each with an HTTP port."""

    def start_pair(self, *options):
        self.master = self.start("--min-replicas-to-write", "1", "--latency-monitor-threshold", "1", *options)
        self.master_http = self.http_port
        self.replica = self.start("--replicaof", f"127.0.0.1 {self.master.port}", "--min-replicas-to-write", "1")
        self.replica_http = self.http_port
        self.assertTrue(eventually(lambda: self.link_is_up() and self.is_online()))

    def scrape(self, port):
        self.http_port = port
        status, _, text = self.request("GET", "/metrics")
        self.assertEqual(status, 200)
        return text

    def value(self, port, prefix):
        return [value for name, value in samples(self.scrape(port)).items() if name.startswith(prefix)]

    def link_is_up(self):
        return self.value(self.replica_http, "redis_master_link_up") == [1]

    def is_online(self):
        return 'slave_state="online"' in self.scrape(self.master_http)

    def ask(self, server, *words):
        client = Peer(server.port)
        try:
            return client.ask(*words)
        finally:
            client.close()


class Replication(PairTest):
    def test_a_master_and_a_replica_have_the_metrics_of_the_exporter(self):
        self.start_pair()
        self.ask(self.master, "ZADD", "z", 1, "a")
        self.ask(self.master, "DEBUG", "SLEEP", "0.005")
        text = self.scrape(self.master_http)
        for name in "offset_bytes", "lag_seconds":
            self.assertRegex(text, rf'redis_connected_slave_{name}{{slave_ip="127.0.0.1",slave_port='
                                   rf'"{self.replica.port}",slave_state="online"}} \d+')
        self.assertRegex(text, r'redis_latency_spike_duration_seconds{event_name="command"} 0.0\d+')
        self.assertRegex(text, r'redis_latency_spike_last{event_name="command"} \d{10}')
        self.assertEqual(samples(text)["zsetd_good_replicas"], 1)
        self.assertEqual(samples(text)["zsetd_min_replicas_to_write"], 1)
        labels = f'master_host="127.0.0.1",master_port="{self.master.port}"'
        values = samples(self.scrape(self.replica_http))
        self.assertEqual(values[f"redis_master_link_up{{{labels}}}"], 1)
        self.assertEqual(values[f'redis_slave_info{{{labels},read_only="1"}}'], 1)
        self.assertIn(f"redis_slave_repl_offset{{{labels}}}", values)
        self.assertEqual(values["zsetd_min_replicas_to_write"], 1)
        self.assertNotIn("zsetd_good_replicas", values, "ZsetdFewReplicas would fire")

    def test_replicas_that_announce_the_same_address_share_their_series(self):
        self.start_pair()
        for _ in range(2):
            tool = Peer(self.master.port)
            self.addCleanup(tool.close)
            tool.send("SYNC")
        self.assertTrue(eventually(lambda: self.scrape(self.master_http).count("redis_connected_slaves 3")))
        series = [line.rpartition(" ")[0] for line in self.scrape(self.master_http).splitlines()]
        self.assertEqual(len(series), len(set(series)))


class Probes(PairTest):
    def probe(self, path, port):
        self.http_port = port
        return self.request("GET", path)[0]

    def test_a_replica_is_ready_while_it_has_its_master(self):
        self.start_pair()
        for port in self.master_http, self.replica_http:
            self.assertEqual([self.probe("/healthz", port), self.probe("/readyz", port)], [200, 200])
        self.master.kill()
        self.master.expected_exit_code = self.master.process.poll()
        self.assertTrue(eventually(lambda: self.probe("/readyz", self.replica_http) == 503))
        self.assertEqual(self.request("GET", "/readyz")[2], "The link to the master is down.\n")
        self.assertEqual(self.probe("/healthz", self.replica_http), 200)

    def test_a_running_script_does_not_delay_probes(self):
        self.start("--busy-reply-threshold", "1")
        client = self.connect()
        client.send("EVAL", "while true do end", 0)
        other = self.connect()
        self.assertTrue(eventually(lambda: str(other.ask("GET", "k")).startswith("BUSY")))
        self.assertEqual(self.request("GET", "/healthz")[0], 200)
        self.assertEqual(other.ask("SCRIPT", "KILL"), b"OK")

    def test_only_get_is_allowed(self):
        self.start()
        self.assertEqual(self.request("POST", "/readyz")[0], 405)


class Examples(PairTest):
    def test_they_name_metrics_that_exist(self):
        self.start_pair()
        self.ask(self.master, "SET", "k", "v")
        self.ask(self.master, "NONSENSE")
        self.ask(self.master, "DEBUG", "SLEEP", "0.005")
        self.start("--cluster-enabled", "yes", "--cluster-port", str(free_port()))
        known = families(self.scrape(self.http_port))
        known |= families(self.scrape(self.master_http)) | families(self.scrape(self.replica_http))
        rules = re.findall(r"expr: ([\s\S]*?)\n        (?:for|labels):", ALERTS.read_text())
        named = {name.removesuffix("_bucket") for expr in QUERIES + rules
                 for name in re.findall(r"\b(?:redis|zsetd)_\w+", expr)}
        self.assertGreater(len(named), 30)
        self.assertEqual(named - known, set())

    @unittest.skipUnless(shutil.which("promtool"), "promtool is not installed")
    def test_the_alerts_fire(self):
        for command in ["check", "rules", ALERTS], ["test", "rules", ALERT_TESTS]:
            done = subprocess.run(["promtool", *command], capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    @unittest.skipUnless(shutil.which("prometheus"), "prometheus is not installed")
    def test_prometheus_answers_the_queries_of_the_dashboard(self):
        self.start_pair()
        with tempfile.TemporaryDirectory() as folder, self.prometheus(pathlib.Path(folder)):
            self.assertTrue(eventually(lambda: len(self.query("redis_up")) == 2))
            deadline = time.monotonic() + 10
            while time.monotonic() < deadline:  # rates need two scrapes
                self.ask(self.master, "ZADD", "z", 1, "a")
                self.ask(self.master, "NONSENSE")
                self.ask(self.master, "DEBUG", "SLEEP", "0.005")
                time.sleep(0.5)
            for expr in QUERIES:
                with self.subTest(expr):
                    result = self.query(expr.replace("$instance", ".*"))
                    self.assertTrue(result or MAY_BE_EMPTY.search(expr), expr)
            rules = [rule for group in self.api("rules")["groups"] for rule in group["rules"]]
            self.assertEqual({rule["health"] for rule in rules}, {"ok"})
            self.assertEqual([rule["name"] for rule in rules if rule["state"] == "firing"], [])

    def api(self, path):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/api/v1/{path}", timeout=20) as reply:
            return json.load(reply)["data"]

    def query(self, expr):
        try:
            return self.api("query?" + urllib.parse.urlencode({"query": expr}))["result"]
        except OSError as error:
            if isinstance(error, urllib.error.HTTPError) and error.code == 400:
                self.fail(f"{expr}: {error.read().decode()}")
            return []

    def prometheus(self, folder):
        """Runs Prometheus with the example's configuration for this pair."""
        self.port = free_port()
        text = (EXAMPLES / "prometheus.yml").read_text()
        text = text.replace('"127.0.0.1:9121"', f'"127.0.0.1:{self.master_http}", "127.0.0.1:{self.replica_http}"')
        text = text.replace("scrape_interval: 10s", "scrape_interval: 1s")
        text = "global:\n  evaluation_interval: 1s\n" + text
        (folder / "prometheus.yml").write_text(text)
        shutil.copy(ALERTS, folder)
        return Process(["prometheus", f"--config.file={folder}/prometheus.yml",
                        f"--storage.tsdb.path={folder}/data",
                        f"--web.listen-address=127.0.0.1:{self.port}"])


class Process:
    """A program that ends with the block."""

    def __init__(self, command):
        self._process = subprocess.Popen(["setpriv", "--pdeathsig", "KILL", "--", *command],
                                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._process.terminate()
        self._process.wait(60)


if __name__ == "__main__":
    unittest.main()
