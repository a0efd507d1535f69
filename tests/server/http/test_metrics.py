"""The metrics as Prometheus scrapes them, and the limits of the HTTP server that serves them."""

import json
import pathlib
import re
import resource
import shutil
import socket
import subprocess
import threading
import unittest

from http_test import HttpTest
from server_process import eventually

EXAMPLES = pathlib.Path(__file__).resolve().parents[3] / "conf" / "examples"

# Metrics that prometheus-redis-exporter 1.45 exports for Redis 7.0, without those about itself.
OF_THE_EXPORTER = """
    redis_active_defrag_running redis_allocator_active_bytes redis_allocator_allocated_bytes
    redis_allocator_frag_bytes redis_allocator_frag_ratio redis_allocator_resident_bytes
    redis_allocator_rss_bytes redis_allocator_rss_ratio redis_aof_current_rewrite_duration_sec
    redis_aof_enabled redis_aof_last_bgrewrite_status redis_aof_last_cow_size_bytes
    redis_aof_last_rewrite_duration_sec redis_aof_last_write_status redis_aof_rewrite_in_progress
    redis_aof_rewrite_scheduled redis_blocked_clients redis_client_recent_max_input_buffer_bytes
    redis_client_recent_max_output_buffer_bytes redis_clients_in_timeout_table redis_cluster_connections
    redis_cluster_enabled redis_commands_duration_seconds_total redis_commands_failed_calls_total
    redis_commands_processed_total redis_commands_rejected_calls_total redis_commands_total
    redis_config_maxclients redis_config_maxmemory redis_connected_clients redis_connected_slaves
    redis_connections_received_total redis_cpu_sys_children_seconds_total
    redis_cpu_sys_main_thread_seconds_total redis_cpu_sys_seconds_total
    redis_cpu_user_children_seconds_total redis_cpu_user_main_thread_seconds_total
    redis_cpu_user_seconds_total redis_db_avg_ttl_seconds redis_db_keys redis_db_keys_expiring
    redis_defrag_hits redis_defrag_key_hits redis_defrag_key_misses redis_defrag_misses
    redis_errors_total redis_evicted_keys_total redis_expired_keys_total redis_expired_stale_percentage
    redis_expired_time_cap_reached_total redis_instance_info redis_keyspace_hits_total
    redis_keyspace_misses_total redis_last_slow_execution_duration_seconds redis_latest_fork_seconds
    redis_lazyfree_pending_objects redis_loading_dump_file redis_master_repl_offset
    redis_mem_clients_normal redis_mem_clients_slaves redis_mem_fragmentation_bytes
    redis_mem_fragmentation_ratio redis_mem_not_counted_for_eviction_bytes redis_memory_max_bytes
    redis_memory_used_bytes redis_memory_used_dataset_bytes redis_memory_used_lua_bytes
    redis_memory_used_overhead_bytes redis_memory_used_peak_bytes redis_memory_used_rss_bytes
    redis_memory_used_scripts_bytes redis_memory_used_startup_bytes redis_net_input_bytes_total
    redis_net_output_bytes_total redis_pubsub_channels redis_pubsub_patterns
    redis_rdb_bgsave_in_progress redis_rdb_changes_since_last_save
    redis_rdb_current_bgsave_duration_sec redis_rdb_last_bgsave_duration_sec
    redis_rdb_last_bgsave_status redis_rdb_last_cow_size_bytes redis_rdb_last_save_timestamp_seconds
    redis_rejected_connections_total redis_repl_backlog_first_byte_offset
    redis_repl_backlog_history_bytes redis_repl_backlog_is_active redis_replica_partial_resync_accepted
    redis_replica_partial_resync_denied redis_replica_resyncs_full redis_replication_backlog_bytes
    redis_second_repl_offset redis_slave_expires_tracked_keys redis_slowlog_last_id redis_slowlog_length
    redis_start_time_seconds redis_up redis_uptime_in_seconds redis_latency_percentiles_usec
    redis_config_io_threads
    """.split()
OF_A_SANITIZED_BUILD = "redis_allocator_"  # missing there: another allocator


def samples(text):
    """Returns the values of a scrape, by name with labels as written."""
    return {name: float(value) for name, value in
            (line.rsplit(" ", 1) for line in text.splitlines() if line and not line.startswith("#"))}


def families(text):
    return set(re.findall(r"^# TYPE (\S+)", text, re.MULTILINE))


class Metrics(HttpTest):
    def scrape(self):
        status, headers, text = self.request("GET", "/metrics")
        self.assertEqual(status, 200)
        self.assertTrue(headers["Content-Type"].startswith("text/plain; version=0.0.4"), headers)
        return text

    def test_values_equal_those_of_the_server(self):
        self.start("--maxmemory", "100mb", "--slowlog-log-slower-than", "0")
        client = self.connect()
        for i in range(7):
            client.ask("ZADD", "z", i, f"m{i}")
        client.ask("SET", "s", "x", "EX", "1000")
        client.ask("GET", "s")
        client.ask("GET", "none")
        client.ask("NONSENSE")
        client.ask("SELECT", 3)
        client.ask("SET", "s", "x")
        values = samples(self.scrape())
        self.assertEqual(values['redis_commands_total{cmd="zadd"}'], 7)
        self.assertEqual(values['redis_commands_latencies_usec_count{cmd="zadd"}'], 7)
        self.assertEqual(values['redis_commands_latencies_usec_bucket{cmd="zadd",le="+Inf"}'], 7)
        self.assertEqual(values['redis_db_keys{db="db0"}'], 2)
        self.assertEqual(values['redis_db_keys_expiring{db="db0"}'], 1)
        self.assertEqual(values['redis_db_keys{db="db3"}'], 1)
        self.assertEqual(values["redis_keyspace_hits_total"], 1)
        self.assertEqual(values["redis_keyspace_misses_total"], 1)
        self.assertEqual(values['redis_errors_total{err="ERR"}'], 1)
        self.assertEqual(values["redis_memory_max_bytes"], 100 << 20)
        self.assertEqual(values["redis_connected_clients"], 1)
        self.assertEqual(values["redis_rdb_last_bgsave_status"], 1)
        self.assertEqual(values["zsetd_expiry_lag_seconds"], 0)
        self.assertGreater(values["redis_slowlog_length"], 7)

    def test_buckets_are_cumulative(self):
        self.start()
        self.connect().ask("ECHO", "x")
        counts = [value for name, value in samples(self.scrape()).items()
                  if name.startswith('redis_commands_latencies_usec_bucket{cmd="echo"')]
        self.assertEqual(counts, sorted(counts))
        self.assertEqual(counts[-1], 1)

    def test_names_are_those_of_the_exporter(self):
        self.start()
        client = self.connect()
        client.ask("SET", "k", "v")
        client.ask("NONSENSE")
        missing = set(OF_THE_EXPORTER) - families(self.scrape())
        self.assertEqual({name for name in missing if not name.startswith(OF_A_SANITIZED_BUILD)}, set())

    def test_a_label_can_contain_any_bytes_of_a_client(self):
        self.start()
        client = self.connect()
        client.ask("EVAL", 'return redis.error_reply("A\\"B\\\\ x")', 0)
        line = [line for line in self.scrape().splitlines() if line.startswith("redis_errors_total")]
        self.assertEqual(line, ['redis_errors_total{err="A\\"B\\\\"} 1'])

    def test_a_label_is_utf8_as_prometheus_requires(self):
        self.start()
        client = self.connect()
        for code in [b"\xff:", "é".encode()]:
            client.send("EVAL", "return redis.error_reply(ARGV[1])", 0, code + b" x")
            self.assertEqual(client.lines.readline(), b"-" + code + b" x\r\n")
        lines = [line for line in self.scrape().splitlines() if line.startswith("redis_errors_total")]
        self.assertEqual(lines, ['redis_errors_total{err="é"} 1', 'redis_errors_total{err="\\\\xff_"} 1'])

    def test_scrapes_at_the_same_time(self):
        self.start()
        results = []

        def scrape():
            results.append(self.request("GET", "/metrics")[0])

        threads = [threading.Thread(target=scrape) for _ in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(results, [200] * 16)

    def test_a_running_script_does_not_delay_scrapes(self):
        self.start("--busy-reply-threshold", "1")
        client = self.connect()
        client.ask("SET", "k", "x", "PX", "1000000")
        client.ask("PEXPIRE", "k", "20")
        client.send("EVAL", "while true do end", 0)
        other = self.connect()
        self.assertTrue(eventually(lambda: str(other.ask("GET", "k")).startswith("BUSY")))
        self.assertTrue(eventually(lambda: samples(self.scrape())["zsetd_expiry_lag_seconds"] > 0),
                        "time stands still while a script runs")
        self.assertEqual(other.ask("SCRIPT", "KILL"), b"OK")


class Server(HttpTest):
    def test_is_off_by_default(self):
        server = super(HttpTest, self).start()
        self.assertEqual(self.connect().ask("CONFIG", "GET", "metrics-port"), [b"metrics-port", b"0"])
        self.assertNotIn("Metrics", server.log())

    def test_a_port_in_use_prevents_the_start(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            port = taken.getsockname()[1]
            with self.assertRaisesRegex(RuntimeError, f"Cannot listen on 127.0.0.1 port {port} "):
                super(HttpTest, self).start("--metrics-port", str(port), "--metrics-bind", "127.0.0.1")

    def test_unknown_paths_and_methods(self):
        self.start()
        self.assertEqual(self.request("GET", "/nonsense")[0], 404)
        self.assertEqual(self.request("POST", "/metrics")[0], 405)
        status, headers, body = self.request("HEAD", "/metrics")
        self.assertEqual((status, body), (200, ""))
        self.assertGreater(int(headers["Content-Length"]), 1000)

    def test_a_connection_serves_several_requests(self):
        self.start()
        request = b"GET /nonsense HTTP/1.1\r\nHost: x\r\n\r\n"
        last = request.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")
        self.assertEqual(self.exchange(request + request + last).count(b"HTTP/1.1 404"), 3)

    def test_bytes_that_are_not_http_are_refused(self):
        self.start()
        self.assertTrue(self.exchange(b"PING\r\n\r\n").startswith(b"HTTP/1.1 400"))
        self.assertTrue(self.exchange(b"\x16\x03\x01\x00\xa5\r\n\r\n").startswith(b"HTTP/1.1 400"))

    def test_large_requests_are_refused(self):
        self.start()
        head = b"GET / HTTP/1.1\r\nX: " + b"x" * 20000 + b"\r\n\r\n"
        self.assertTrue(self.exchange(head).startswith(b"HTTP/1.1 413"))
        body = b"POST / HTTP/1.1\r\nContent-Length: 10000000\r\n\r\n"
        self.assertTrue(self.exchange(body).startswith(b"HTTP/1.1 413"))

    def test_the_length_of_a_request_is_not_ambiguous(self):
        """A proxy in front could find another request after the first."""
        self.start()
        post = b"POST /api/commands HTTP/1.1\r\nHost: localhost\r\n"
        inner = b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n"
        length = b"Content-Length: %d\r\n" % len(inner)
        chunked = b"Transfer-Encoding: chunked\r\n"
        for head, status in ((b"Transfer-Encoding: xchunked\r\n" + length, 400),
                             (length + b"Transfer-Encoding: identity\r\n", 400),
                             (length + chunked, 400), (length * 2 + chunked, 400),
                             (b"Transfer-Encoding: xchunked\r\n", 501),
                             (b"Transfer-Encoding: gzip\r\n", 501),
                             (b"Transfer-Encoding: gzip, chunked\r\n", 501),
                             (chunked + b"Transfer-Encoding: identity\r\n", 400),
                             (chunked * 2, 400), (b"Transfer-Encoding:\r\n", 501)):
            reply = self.exchange(post + head + b"\r\n" + inner)
            self.assertTrue(reply.startswith(b"HTTP/1.1 %d " % status), (head, reply[:200]))
            self.assertIn(b"\r\nConnection: close\r\n", reply)
            self.assertEqual(reply.count(b"HTTP/1.1 "), 1, (head, reply))
        reply = self.exchange(post.replace(b"1.1", b"1.0") + chunked + b"\r\n0\r\n\r\n")
        self.assertTrue(reply.startswith(b"HTTP/1.0 400 "), reply)
        reply = self.exchange(post + chunked + b"Connection: close\r\n\r\n2\r\n{}\r\n0\r\n\r\n")
        self.assertTrue(reply.startswith(b"HTTP/1.1 415 "), reply)

    def test_the_host_is_named_once(self):
        self.start()
        for head in b"", b"Host: a\r\nHost: b\r\n":
            reply = self.exchange(b"GET /metrics HTTP/1.1\r\n" + head + b"\r\n")
            self.assertTrue(reply.startswith(b"HTTP/1.1 400 "), reply[:200])

    def test_the_target_may_name_the_host(self):
        self.start()
        for target, status in ((b"http://localhost/metrics", 200), (b"http://127.0.0.1:9121/metrics?a", 200),
                               (b"http://evil.example/metrics", 403), (b"HTTP://localhost", 200),
                               (b"http:///metrics", 403)):
            reply = self.exchange(b"GET " + target + b" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            self.assertTrue(reply.startswith(b"HTTP/1.1 %d " % status), (target, reply[:200]))

    def test_other_sites_do_not_get_metrics_under_their_own_names(self):
        """A name that another site owns may resolve to this machine."""
        self.start("--metrics-hosts", "scrape.example")
        for host, status in (("evil.example", 403), ("evil.example:9121", 403), ("127.0.0.1.evil.example", 403),
                             ("localhost.evil.example", 403), ("", 200), ("127.0.0.1", 200), ("10.1.2.3:1", 200),
                             ("localhost:9121", 200), ("LOCALHOST", 200), ("[::1]:9121", 200),
                             ("scrape.example:9121", 200), ("Scrape.Example", 200)):
            self.assertEqual(self.request("GET", "/metrics", headers={"Host": host})[0], status, host)
        reply = self.exchange(b"GET /metrics HTTP/1.0\r\n\r\n")
        self.assertTrue(reply.startswith(b"HTTP/1.0 200 "), "a check without a Host header, as of HAProxy")

    def test_every_name_may_be_permitted(self):
        self.start("--metrics-hosts", "*")
        self.assertEqual(self.request("GET", "/metrics", headers={"Host": "any.example"})[0], 200)

    def test_a_client_that_expects_100_continue_receives_it(self):
        self.start()
        head = (b"POST /api/commands HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nConnection: close\r\n"
                b"Expect: 100-Continue\r\n\r\n")
        with socket.create_connection(("127.0.0.1", self.http_port), timeout=20) as raw, raw.makefile("rb") as lines:
            raw.sendall(head)
            self.assertEqual(lines.readline() + lines.readline(), b"HTTP/1.1 100 Continue\r\n\r\n")
            raw.sendall(b"{}")
            self.assertTrue(lines.readline().startswith(b"HTTP/1.1 415 "))
        reply = self.exchange(head.replace(b"100-Continue", b"something-else"))
        self.assertTrue(reply.startswith(b"HTTP/1.1 417 "), reply)
        reply = self.exchange(head.replace(b"Length: 2", b"Length: 10000000"))
        self.assertTrue(reply.startswith(b"HTTP/1.1 413 "), reply)
        reply = self.exchange(head.replace(b"Length: 2", b"Length: 0"))
        self.assertTrue(reply.startswith(b"HTTP/1.1 415 "), "there is nothing to continue with")

    def test_slow_clients_do_not_block_a_scrape(self):
        """This includes clients that send a header slowly, and clients that do not read their
        response."""
        self.start()
        for begun in b"G", b"GET /metrics HTTP/1.1\r\n", b"GET /metrics HTTP/1.1\r\nHost: x\r\nX: ":
            slow = [socket.create_connection(("127.0.0.1", self.http_port)) for _ in range(100)]
            for each in slow:
                try:
                    each.sendall(begun)
                except OSError:
                    pass  # closed to make room for a later one
            for _ in range(3):
                self.assertEqual(self.request("GET", "/metrics")[0], 200)
            for each in slow:
                each.close()

    def test_waits_without_work_while_no_descriptor_is_free(self):
        self.start()
        self.server.limit(resource.RLIMIT_NOFILE, 3)  # all of these are open
        with socket.create_connection(("127.0.0.1", self.http_port), timeout=20) as waiting:
            waiting.sendall(b"GET /metrics HTTP/1.0\r\n\r\n")
            self.assertLess(self.server.cpu_seconds_of(interval_s=1), 0.2)
            self.server.limit(resource.RLIMIT_NOFILE, self.server.open_files() + 10)
            self.assertTrue(waiting.recv(100).startswith(b"HTTP/1.0 200 "))

    def test_an_earlier_client_stays_when_another_opens_many_connections(self):
        self.start()
        with socket.socket() as early:
            early.bind(("127.0.0.2", 0))
            early.connect(("127.0.0.1", self.http_port))
            early.sendall(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n")
            self.assertEqual(self.request("GET", "/metrics")[0], 200)  # the header is read
            slow = []
            for _ in range(100):
                slow.append(socket.create_connection(("127.0.0.1", self.http_port)))
                slow[-1].sendall(b"GET")
                self.assertEqual(self.request("GET", "/nonsense")[0], 404)
            early.sendall(b"\r\n")
            self.assertTrue(early.recv(100).startswith(b"HTTP/1.1 200 "))
            for each in slow:
                each.close()

    def test_idle_connections_make_room(self):
        self.start()
        idle = [socket.create_connection(("127.0.0.1", self.http_port)) for _ in range(100)]
        self.assertEqual(self.request("GET", "/metrics")[0], 200)
        for each in idle:
            each.close()

    def test_the_server_ends_while_connections_are_open(self):
        server = self.start()
        with socket.create_connection(("127.0.0.1", self.http_port)) as idle:
            idle.sendall(b"GET /met")
            self.assertIsNone(server.stop())


if __name__ == "__main__":
    unittest.main()
