"""Configuration as used by services, distributions and test harnesses: files, processes,
signals."""

import contextlib
import itertools
import os
import pathlib
import re
import signal
import socket
import subprocess
import tempfile
import time
import unittest

from certificates import Certificates
from peer import Peer
from server_process import eventually, free_port
from zsetd import PROGRAM, Zsetd, ZsetdTest

STOCK = pathlib.Path("/etc/redis/redis.conf")  # Debian's redis-server


def run(*words, **more):
    """Runs the program with these arguments until it ends."""
    return subprocess.run([PROGRAM, *words], capture_output=True, text=True, timeout=20, **more)


class FolderTest(ZsetdTest):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def file(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return str(path)

    def reaches(self, port, host="127.0.0.1"):
        with socket.socket() as probe:
            return probe.connect_ex((host, port)) == 0


class StockFile(FolderTest):
    def setUp(self):
        super().setUp()
        if not os.access(STOCK, os.R_OK):
            self.skipTest(f"{STOCK} cannot be read")

    def test_starts_unchanged_except_for_port_and_paths(self):
        """Runs in the background, as the file specifies. The test sets only port and paths."""
        port, log, pid = free_port(), self.folder / "log", self.folder / "pid"
        start = run(str(STOCK), "--port", str(port), "--dir", str(self.folder),
                    "--logfile", str(log), "--pidfile", str(pid))
        self.assertEqual((start.returncode, start.stdout, start.stderr), (0, "", ""))
        number = int(pid.read_text())
        self.addCleanup(lambda: eventually(lambda: not pathlib.Path(f"/proc/{number}").exists()))
        self.addCleanup(os.kill, number, signal.SIGTERM)
        client = Peer(port)
        self.assertEqual(client.ask("PING"), b"PONG")
        self.assertEqual(client.ask("CONFIG", "GET", "replica-priority"),
                         [b"replica-priority", b"100"])
        self.assertEqual(client.ask("CONFIG", "GET", "oom-score-adj-values"),
                         [b"oom-score-adj-values", b"0 200 800"])
        client.close()
        warnings = [line for line in log.read_text().splitlines() if "have no effect" in line]
        self.assertEqual(len(warnings), 1)
        self.assertIn("aof-use-rdb-preamble", warnings[0])
        self.assertNotIn("maxmemory", warnings[0])

    def test_is_preserved_by_a_rewrite(self):
        text = re.sub(r"(?m)^(daemonize|pidfile|logfile|dir) .*\n", "", STOCK.read_text())
        path = self.file("redis.conf", text)
        server = self.start("--dir", str(self.folder), config=path)
        client = self.connect()
        self.assertEqual(client.ask("CONFIG", "SET", "repl-timeout", "61"), b"OK")
        self.assertEqual(client.ask("CONFIG", "REWRITE"), b"OK")
        written = pathlib.Path(path).read_text().splitlines()
        lost = set(text.splitlines()) - set(written)
        self.assertEqual({line.split()[0] for line in lost},
                         {"port", "client-output-buffer-limit"}, lost)
        self.assertIn("repl-timeout 61", written)
        self.assertIsNone(server.stop())
        self.start(config=path)


# Directives and values that the files of newer releases set, in addition to those of Debian's file.
NEWEST = {
    "Redis 8": """
        hide-user-data-from-log yes
        locale-collate ""
        proc-title-template "{title} {listen-addr} {server-mode}"
        enable-debug-command no
        client-output-buffer-limit normal 0 0 0
        client-output-buffer-limit replica 256mb 64mb 60
        client-output-buffer-limit pubsub 32mb 8mb 60
        set-max-listpack-entries 128
        repl-diskless-load disabled
        latency-tracking yes
        io-threads 4
        lookahead 16
        stream-node-max-bytes 4096
        list-max-listpack-size -2
        lazyfree-lazy-user-flush no
        jemalloc-bg-thread yes
        """,
    "Valkey 9": """
        primaryauth "secret"
        repl-diskless-sync-max-replicas 0
        dual-channel-replication-enabled no
        lazyfree-lazy-eviction yes
        lazyfree-lazy-expire yes
        log-format logfmt
        log-timestamp-format iso8601
        commandlog-execution-slower-than 10000
        commandlog-slow-execution-max-len 128
        commandlog-request-larger-than 1048576
        commandlog-reply-larger-than 1048576
        list-max-listpack-size -2
        extended-redis-compatibility no
        replica-priority 100
        """,
}


class NewestFiles(FolderTest):
    def test_start(self):
        for release, text in NEWEST.items():
            with self.subTest(release):
                path = self.file("newest.conf", text)
                check = run("--check-config", path)
                self.assertEqual(check.returncode, 0, check.stdout)
                server = self.start(config=path)
                self.assertEqual(self.connect().ask("PING"), b"PONG")
                self.assertTrue(eventually(lambda: "have no effect" in server.log()))
                self.assertEqual(server.log().count("have no effect"), 1)


class Checks(FolderTest):
    def test_a_file_that_can_be_used(self):
        check = run("--check-config", self.file("x.conf", "port 1\nslave-lazy-flush no\n"), "--hz", "20")
        self.assertEqual(check.returncode, 0)
        self.assertEqual(check.stdout, "works (2):\n  port, hz\n"
                                       "accepted, without effect here (1):\n  replica-lazy-flush\n"
                                       "zsetd can start with this configuration.\n")

    def test_everything_that_a_start_would_refuse(self):
        path = self.file("x.conf", "port 1\nio-threads 0\nloadmodule /x.so\n")
        check = run("--check-config", path)
        self.assertEqual(check.returncode, 1)
        self.assertIn(">>> 'io-threads 0'\n", check.stdout)
        self.assertIn(">>> 'loadmodule /x.so'\nmodules are not loaded", check.stdout)
        self.assertIn("cannot start", check.stdout)

    def test_files_that_settings_refer_to(self):
        for text in ("dir /no/such/folder", "user bob +nonsense", "rename-command nonsense x",
                     "tls-port 1\ntls-cert-file /no/such/file"):
            with self.subTest(text):
                check = run("--check-config", self.file("x.conf", text + "\n"))
                self.assertEqual(check.returncode, 1, check.stdout)
                self.assertIn("refused:", check.stdout)

    def test_what_no_start_accepts(self):
        port = free_port()
        cluster = f"port {port}\ncluster-enabled yes\n"
        for text in ("port 0", 'bind ""', f"port {port}\nmetrics-port {port}", 'metrics-port 1\nmetrics-bind ""',
                     f"port {port}\ntls-port {port}", "logfile /no/such/log", "unixsocket /no/such/socket",
                     "unixsocket " + "a" * 200, cluster + "replicaof 127.0.0.1 1", cluster + "port 60000",
                     cluster + f"cluster-port {port}", cluster + "cluster-config-file /no/such/file"):
            with self.subTest(text):
                path = self.file("x.conf", f"dir {self.folder}\n{text}\n")
                self.assertEqual(run("--check-config", path).returncode, 1)
                self.assertEqual(run(path).returncode, 1)
                self.assertEqual(os.listdir(self.folder), ["x.conf"])

    def test_standard_input(self):
        check = run("--check-config", "-", input="port 7\n")
        self.assertEqual((check.returncode, check.stdout.splitlines()[0]), (0, "works (1):"))

    def test_debians_file(self):
        if not os.access(STOCK, os.R_OK):
            self.skipTest(f"{STOCK} cannot be read")
        check = run("--check-config", str(STOCK), "--dir", str(self.folder))
        self.assertEqual(check.returncode, 0, check.stdout)


class Refusals(FolderTest):
    def test_are_reported_together(self):
        path = self.file("bad.conf", "appendonly maybe\nport 1x\nsave 60 x\nreplicaof 10.0.0.1\n"
                                     "cluster-enabled maybe\nloadmodule /x.so\ntimeout 1\n")
        end = run(path, "--io-threads", "0", "--nonsense", "1")
        self.assertNotEqual(end.returncode, 0)
        self.assertIn("zsetd --check-config FILE", end.stderr)
        refused = re.findall(r"(?m)^>>> '(.*)'$", end.stderr)
        self.assertEqual(refused, ["appendonly maybe", "port 1x", "save 60 x",
                                   "replicaof 10.0.0.1", "cluster-enabled maybe",
                                   "loadmodule /x.so", "--io-threads 0", "--nonsense 1"])

    def test_a_misspelt_option_has_a_suggestion(self):
        end = run("--maxmemory-polcy", "noeviction")
        self.assertIn("Did you mean 'maxmemory-policy'?", end.stderr)

    def test_a_failed_start_is_in_the_log_file_too(self):
        path = self.folder / "zsetd.log"
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            end = run("--bind", "127.0.0.1", "--port", str(taken.getsockname()[1]), "--logfile", str(path),
                      "--dir", str(self.folder))
        self.assertEqual(end.returncode, 1)
        log = path.read_text()
        self.assertIn("# Cannot start: ", log)
        self.assertIn("Address already in use", log)
        self.assertNotIn("\\x0a", log)

    def test_of_a_daemon_reach_the_process_that_starts_it(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            end = run("--daemonize", "yes", "--bind", "127.0.0.1", "--port",
                      str(taken.getsockname()[1]), "--dir", str(self.folder),
                      "--pidfile", str(self.folder / "pid"))
        self.assertEqual(end.returncode, 1)
        self.assertIn("Address already in use. Another program uses it", end.stderr)
        self.assertFalse((self.folder / "pid").exists())


class Process(FolderTest):
    def test_pid_file_lives_as_long_as_the_server(self):
        path = self.folder / "pid"
        server = self.start("--pidfile", str(path))
        self.assertTrue(eventually(lambda: path.exists() and path.read_text()))
        self.assertEqual(int(path.read_text()), server.process.pid)
        self.assertIsNone(server.stop())
        self.assertFalse(path.exists())

    def test_pid_file_is_not_changed_by_a_server_that_cannot_lock_the_directory(self):
        path = self.folder / "pid"
        options = ["--pidfile", str(path), "--dir", str(self.folder), "--appendonly", "yes"]
        server = self.start(*options)
        self.assertTrue(eventually(lambda: path.exists() and path.read_text()))
        second = run(*options, "--port", str(free_port()))
        self.assertEqual(second.returncode, 1)
        self.assertIn("another server keeps its data in the directory", second.stderr)
        self.assertEqual(int(path.read_text()), server.process.pid)

    def test_pid_file_of_another_process_stays(self):
        path = self.folder / "pid"
        server = self.start("--pidfile", str(path))
        self.assertTrue(eventually(lambda: path.exists() and path.read_text()))
        path.write_text("1\n")
        self.assertIsNone(server.stop())
        self.assertEqual(path.read_text(), "1\n")

    def test_a_pid_file_that_cannot_be_written_is_a_warning(self):
        server = self.start("--pidfile", "/no/such/folder/pid")
        warning = "Cannot write the pidfile '/no/such/folder/pid'"
        self.assertTrue(eventually(lambda: warning in server.log()), server.log())

    def test_a_daemon_releases_memory_like_a_foreground_server(self):
        """The allocator's threads exist after the fork."""
        path = self.folder / "pid"
        run("--daemonize", "yes", "--pidfile", str(path), "--port", str(free_port()),
            "--dir", str(self.folder))
        number = int(path.read_text())
        server = self.start("--io-threads", "1")

        def threads(process):
            status = pathlib.Path(f"/proc/{process}/status").read_text()
            return int(status.split("Threads:")[1].split()[0])

        try:
            self.assertTrue(eventually(lambda: threads(number) >= threads(server.process.pid)))
            self.assertEqual(os.getsid(number), number)
            self.assertEqual(os.readlink(f"/proc/{number}/fd/0"), "/dev/null")
            self.assertEqual(os.readlink(f"/proc/{number}/fd/2"), "/dev/null")
        finally:
            os.kill(number, signal.SIGTERM)
            eventually(lambda: not path.exists())

    def test_closed_standard_streams_become_dev_null(self):
        """Otherwise files of the server get their numbers, and a daemon closes them."""
        streams = ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"]
        for daemonize, closed in itertools.product(("yes", "no"), streams):
            with self.subTest(daemonize=daemonize, closed=closed), tempfile.TemporaryDirectory() as folder:
                pid, port = pathlib.Path(folder, "pid"), free_port()
                options = ["--port", str(port), "--dir", folder, "--pidfile", str(pid), "--save", "", "--daemonize",
                           daemonize, "--logfile", f"{folder}/log", "--appendonly", "yes", "--appendfsync", "always"]
                started = subprocess.Popen(["sh", "-c", f'exec "$@" {closed}', "sh", PROGRAM, *options],
                                           stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                           stderr=subprocess.DEVNULL)
                try:
                    self.assertTrue(eventually(lambda: pid.exists() and pid.read_text() and self.reaches(port), 20))
                    self.check_streams(int(pid.read_text()), port)
                finally:
                    with contextlib.suppress(FileNotFoundError):
                        os.kill(int(pid.read_text()), signal.SIGTERM)
                    ended = eventually(lambda: not pid.exists(), 20)
                    started.kill()
                    started.wait()
                self.assertTrue(ended)

    def check_streams(self, number, port):
        with contextlib.closing(Peer(port)) as client:
            self.assertTrue(eventually(lambda: client.ask("SET", "k", "v") == b"OK", 20))
            client.ask("BGSAVE")
            done = lambda: b"rdb_bgsave_in_progress:0\r\nrdb_last_save" in client.ask("INFO", "persistence")
            self.assertTrue(eventually(done, 20))
        for stream in range(3):
            self.assertEqual(os.readlink(f"/proc/{number}/fd/{stream}"), "/dev/null")

    def test_systemd_is_notified_of_the_start_and_of_the_end(self):
        path = str(self.folder / "notify")
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notify:
            notify.bind(path)
            notify.settimeout(20)
            server = self.start("--supervised", "systemd", "--daemonize", "yes",
                                environment={"NOTIFY_SOCKET": path})
            self.assertIn(b"READY=1\n", notify.recv(1000))
            self.assertIn(b"process_supervised:systemd\r\n", self.connect().ask("INFO", "server"))
            self.assertIsNone(server.process.poll(), "it stays in the foreground")
            self.assertIsNone(server.stop())
            self.assertIn(b"STOPPING=1\n", notify.recv(1000))

    def test_systemd_may_listen_in_the_abstract_namespace(self):
        name = f"zsetd-test-{os.getpid()}"
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notify:
            notify.bind("\0" + name)
            notify.settimeout(20)
            self.start("--supervised", "auto", environment={"NOTIFY_SOCKET": "@" + name})
            self.assertIn(b"READY=1\n", notify.recv(1000))

    def test_a_supervisor_that_is_missing_is_a_warning(self):
        server = self.start("--supervised", "systemd")
        self.assertIn("supervised systemd", server.log())
        self.assertIn(b"process_supervised:no\r\n", self.connect().ask("INFO", "server"))

    def test_shutdown_timeout_bounds_the_wait_for_clients(self):
        server = self.start("--shutdown-timeout", "1")
        client = self.connect(receive_buffer=4096)
        client.ask("SET", "k", b"x" * (8 << 20))
        number = client.ask("CLIENT", "ID")
        client.send("GET", "k")
        other = self.connect()
        is_unread = lambda: b" omem=0 " not in other.ask("CLIENT", "LIST", "ID", number)
        self.assertTrue(eventually(is_unread))
        start = time.monotonic()
        server.ask_to_leave()
        self.assertEqual(server.exit_code(), 0)
        self.assertGreater(time.monotonic() - start, 0.5)


class Words(FolderTest):
    def test_the_log_starts_with_the_facts_that_an_operator_needs(self):
        server = self.start("--maxmemory", "100mb", "--maxmemory-policy", "allkeys-lru",
                            config=self.file("my.conf", "hz 20\n"))
        log = server.log()
        self.assertIn(f"configured by {self.folder}/my.conf", log)
        self.assertIn("Memory: 100.00M, policy allkeys-lru. Durability: none", log)

    def test_populating_reports_its_progress(self):
        server = self.start()
        self.assertEqual(self.connect().ask("DEBUG", "POPULATE", "300000"), b"OK")
        self.assertIn("DEBUG POPULATE: 100000 of 300000 keys", server.log())

    def test_version_has_the_format_of_redis(self):
        text = run("--version").stdout
        self.assertRegex(text, r"\ARedis server v=\d+\.\d+\.\d+ sha=\S+ malloc=\S+ bits=64 "
                               r"build=zsetd-\d+\.\d+\.\d+\n"
                               r"zsetd \d+\.\d+\.\d+, compatible with Redis \d+\.\d+\.\d+\n\Z")

    def test_the_log_has_the_lines_that_harnesses_wait_for(self):
        server = self.start()
        ready = re.compile(r"^%d:M \d\d [A-Z][a-z][a-z] \d{4} \d\d:\d\d:\d\d\.\d{3} \* "
                           r"Ready to accept connections tcp$" % server.process.pid, re.MULTILINE)
        self.assertTrue(eventually(lambda: ready.search(server.log())), server.log())
        self.assertRegex(server.log(), f" PID: {server.process.pid}.*Server initialized")

    def test_each_kind_of_listener_has_a_ready_line(self):
        path = str(self.folder / "redis.sock")
        certificate, key = Certificates(self.folder).make("server")
        server = self.start("--unixsocket", path, "--tls-port", str(free_port()),
                            "--tls-cert-file", certificate, "--tls-key-file", key,
                            "--tls-auth-clients", "no")
        lines = ["Ready to accept connections tcp", "Ready to accept connections tls",
                 "Ready to accept connections unix",
                 f"The server is now ready to accept connections at {path}"]
        self.assertTrue(eventually(lambda: lines[-1] in server.log()), server.log())
        shown = [line.partition(" * ")[2] for line in server.log().splitlines()]
        self.assertEqual([line for line in shown if "eady to accept" in line], lines)

    def test_every_line_of_the_log_has_the_layout_of_redis(self):
        server = self.start("--loglevel", "debug")
        client = self.connect()
        client.ask("DEBUG", "LOG", "a warning")
        client.ask("REPLICAOF", "127.0.0.1", free_port())
        client.ask("REPLICAOF", "NO", "ONE")
        client.ask("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "no")
        is_closed = lambda: re.search(r" - Closed ", server.log())
        self.assertTrue(eventually(is_closed), server.log())
        line = re.compile(r"%d:[MS] \d\d [A-Z][a-z][a-z] \d{4} \d\d:\d\d:\d\d\.\d{3} [.*#-] \S.*"
                          % server.process.pid)
        for each in server.log().splitlines():
            self.assertTrue(line.fullmatch(each), each)
        self.assertRegex(server.log(), r":S [^*#]* \* Connecting to MASTER")
        self.assertRegex(server.log(), r":M [^*#]* \* MASTER MODE enabled")
        self.assertRegex(server.log(), r" # DEBUG LOG: a warning")

    def test_a_missing_command_is_logged_once(self):
        server = self.start()
        client = self.connect()
        client.ask("CLIENT", "SETINFO", "LIB-NAME", "jobs")
        client.ask("CLIENT", "SETINFO", "LIB-VER", "1.2")
        for words in [("VADD", "s", "*", "a", "b")] * 3 + [("vAdd",), ("VSIM", "h"), ("NONSENSE",)]:
            self.assertTrue(str(client.ask(*words)).startswith("ERR unknown command"), words)
        lines = [line for line in server.log().splitlines() if "which Redis has" in line]
        self.assertEqual(len(lines), 2, lines)
        self.assertIn(" # ", lines[0])
        self.assertIn("VADD", lines[0])
        self.assertIn("jobs 1.2", lines[0])
        self.assertIn("VSIM", lines[1])

    def test_hardened_files_load(self):
        users = self.file("users.acl", "user default on nopass ~* &* +@all -save -bgsave -cluster\n"
                                       "user app on nopass ~app:* -@all +@read +psync +vadd|s\n")
        path = self.file("zsetd.conf", f"aclfile {users}\nrename-command BGSAVE \"\"\n"
                                       "rename-command MIGRATE hidden\nrename-command VADD \"\"\n")
        server = self.start(config=path)
        client = self.connect()
        before = client.ask("ACL", "LIST")
        self.assertIn(b"+vadd|s", before[0])
        self.assertEqual(client.ask("ACL", "SAVE"), b"OK")
        self.assertEqual(client.ask("ACL", "LOAD"), b"OK")
        self.assertEqual(client.ask("ACL", "LIST"), before)
        self.assertIsNone(server.stop())


class Logs(FolderTest):
    def test_sighup_opens_the_file_again(self):
        log, old = self.folder / "log", self.folder / "log.1"
        server = self.start("--logfile", str(log), "--loglevel", "verbose")
        log.rename(old)
        server.ask_to_leave(signal.SIGHUP)
        self.assertTrue(eventually(log.exists))
        before = old.read_text()
        client = self.connect()
        self.assertEqual(client.ask("PING"), b"PONG")
        self.assertTrue(eventually(lambda: " - Accepted " in log.read_text()))
        self.assertEqual(old.read_text(), before)

    def test_sighup_does_not_end_a_server_that_starts(self):
        port = free_port()
        with subprocess.Popen([PROGRAM, "-"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                              cwd=self.folder, text=True) as server:
            status = pathlib.Path(f"/proc/{server.pid}/status")
            bit = 1 << (signal.SIGHUP - 1)
            ignores = lambda: int(re.search(r"SigIgn:\s*(\w+)", status.read_text())[1], 16) & bit
            self.assertTrue(eventually(ignores), "it waits for its settings")
            server.send_signal(signal.SIGHUP)
            server.stdin.write(f'port {port}\nsave ""\n')
            server.stdin.close()
            self.assertTrue(eventually(lambda: self.reaches(port)))
            server.terminate()
        self.assertEqual(server.returncode, 0)

    def test_sighup_does_not_end_a_server_that_cannot_open_it(self):
        log = self.folder / "inner" / "log"
        log.parent.mkdir()
        server = self.start("--logfile", str(log))
        old = self.folder / "old"
        log.parent.rename(old)
        server.ask_to_leave(signal.SIGHUP)
        self.assertTrue(eventually(lambda: "Cannot open the log file" in (old / "log").read_text()))
        self.assertEqual(self.connect().ask("PING"), b"PONG")

    def test_arguments_of_a_client_cannot_add_a_line(self):
        server = self.start()
        self.connect().ask("DEBUG", "LOG", "a\n99:M 01 Jan 2026 00:00:00.000 # forged\x1b[2J")
        self.assertTrue(eventually(lambda: "DEBUG LOG: a\\x0a99" in server.log()))
        self.assertIn("forged\\x1b[2J\n", server.log())

    def test_the_system_log_contains_the_log_too(self):
        captured = self.folder / "syslog"
        server = self.start("--syslog-enabled", "yes", "--syslog-ident", "mine", "--syslog-facility",
                            "local3", environment={"LD_PRELOAD": os.environ["CAPTURED_SYSLOG"],
                                                   "CAPTURED_SYSLOG_FILE": str(captured)})
        self.assertTrue(eventually(lambda: "Ready to accept" in captured.read_text()))
        local3, info = 19 << 3, 6
        self.assertIn(f"open mine {local3}\n", captured.read_text())
        self.assertIn(f"{info} Ready to accept connections tcp\n", captured.read_text())
        server.ask_to_leave(signal.SIGHUP)
        self.assertTrue(eventually(lambda: "Received SIGHUP" in captured.read_text()))


class ListenAddresses(FolderTest):
    def set(self, client, *pairs):
        return client.ask("CONFIG", "SET", *pairs)

    def test_the_port_changes_and_connections_stay(self):
        server = self.start()
        client, other = self.connect(), free_port()
        old = server.port
        self.assertEqual(self.set(client, "port", other), b"OK")
        self.assertTrue(self.reaches(other))
        self.assertFalse(self.reaches(old))
        self.assertEqual(client.ask("PING"), b"PONG")
        with contextlib.closing(Peer(other)) as another:
            self.assertEqual(another.ask("PING"), b"PONG")
        self.assertIn(b"tcp_port:%d" % other, client.ask("INFO", "server"))
        self.assertEqual(self.set(client, "port", 0), b"OK")
        self.assertFalse(self.reaches(other))
        self.assertEqual(self.set(client, "port", old), b"OK")
        self.assertTrue(self.reaches(old))

    def test_a_port_in_use_changes_nothing(self):
        server = self.start()
        client = self.connect()
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            reply = self.set(client, "port", taken.getsockname()[1])
        self.assertEqual(str(reply), "ERR CONFIG SET failed (possibly related to argument 'port') - "
                                     "Unable to listen on this port. Check server logs.")
        self.assertEqual(client.ask("CONFIG", "GET", "port"), [b"port", b"%d" % server.port])
        self.assertTrue(self.reaches(server.port))

    def test_the_bus_of_a_cluster_limits_the_port(self):
        """Otherwise nodes.conf would have a bus port that does not exist."""
        server = self.start("--cluster-enabled", "yes")
        client = self.connect()
        self.assertEqual(str(self.set(client, "port", 55536)),
                         "ERR CONFIG SET failed (possibly related to argument 'port') - The port of the cluster "
                         "bus would be 65536: set cluster-port, or a port below 55536")
        self.assertTrue(self.reaches(server.port))
        self.assertEqual(client.ask("CONFIG", "GET", "port"), [b"port", b"%d" % server.port])

    def test_a_port_in_use_keeps_the_directory_and_the_log_level(self):
        self.start()
        client = self.connect()
        with socket.socket() as taken, tempfile.TemporaryDirectory() as elsewhere:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            self.assertIsInstance(client.ask("CONFIG", "SET", "dir", elsewhere, "loglevel", "warning",
                                             "port", taken.getsockname()[1]), Exception)
            self.assertEqual(client.ask("SAVE"), b"OK")
            self.assertEqual(os.listdir(elsewhere), [])
        self.assertIn("DB saved on disk", self.server.log())

    def test_a_relative_directory_is_restored_after_a_rejected_change(self):
        (self.folder / "other").mkdir()
        self.start("--dir", str(self.folder), "--enable-protected-configs", "yes")
        client = self.connect()
        self.assertEqual(self.set(client, "dir", "other"), b"OK")
        before = str(self.folder / "other").encode()
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            for rejected in ("port", taken.getsockname()[1]), ("maxclients", 2_000_000_000):
                self.assertIsInstance(client.ask("CONFIG", "SET", "dir", "/", *rejected), Exception)
                self.assertEqual(client.ask("CONFIG", "GET", "dir"), [b"dir", before])
                self.assertEqual(os.readlink(f"/proc/{self.server.process.pid}/cwd").encode(), before)

    def test_the_addresses_change(self):
        server = self.start("--bind", "127.0.0.1")
        client = self.connect()
        self.assertFalse(self.reaches(server.port, "127.0.0.2"))
        self.assertEqual(self.set(client, "bind", "127.0.0.1 127.0.0.2"), b"OK")
        self.assertTrue(self.reaches(server.port, "127.0.0.2"))
        self.assertEqual(self.set(client, "bind", "*"), b"OK")
        self.assertTrue(self.reaches(server.port, "127.0.0.3"))
        self.assertEqual(self.set(client, "bind", "127.0.0.2"), b"OK")
        self.assertFalse(self.reaches(server.port))
        reply = self.set(client, "bind", "192.0.2.1")
        self.assertEqual(str(reply), "ERR CONFIG SET failed (possibly related to argument 'bind') - "
                                     "Failed to bind to specified addresses.")
        self.assertTrue(self.reaches(server.port, "127.0.0.2"))
        self.assertEqual(self.set(client, "bind", "127.0.0.1"), b"OK")


class RefusedChanges(FolderTest):
    """CONFIG SET with several settings, of which the append-only log refuses its own. All others
    keep their old effect, not only their old value."""

    def setUp(self):
        super().setUp()
        for folder in self.folder, self.folder / "other":
            folder.mkdir(exist_ok=True)
            (folder / "appendonlydir").touch()  # so that the log cannot begin
        self.start("--dir", str(self.folder), "--bind", "127.0.0.1", "--maxclients", "100",
                   "--enable-protected-configs", "yes")
        self.client = self.connect()

    def refuse(self, *pairs):
        names = pairs[::2]
        before = self.client.ask("CONFIG", "GET", *names)
        reply = self.client.ask("CONFIG", "SET", *pairs, "appendonly", "yes")
        self.assertIsInstance(reply, RuntimeError, pairs)
        self.assertEqual(self.client.ask("CONFIG", "GET", *names), before)

    def test_keep_the_port(self):
        other = free_port()
        for port in other, 0:
            self.refuse("port", port)
            self.assertTrue(self.reaches(self.server.port))
            self.assertFalse(self.reaches(other))
        self.assertEqual(self.client.ask("CONFIG", "SET", "port", other), b"OK")
        self.assertTrue(self.reaches(other))
        self.assertFalse(self.reaches(self.server.port))

    def test_keep_the_addresses(self):
        for bind in "127.0.0.1 127.0.0.2", "*", "127.0.0.2":
            self.refuse("bind", bind)
            self.assertTrue(self.reaches(self.server.port))
            self.assertFalse(self.reaches(self.server.port, "127.0.0.2"))

    def test_open_no_tls_port(self):
        certificate, key = Certificates(self.folder).make("server")
        tls_port = free_port()
        self.refuse("tls-cert-file", certificate, "tls-key-file", key, "tls-auth-clients", "no",
                    "tls-port", tls_port)
        self.assertFalse(self.reaches(tls_port))

    def test_keep_the_directory(self):
        self.refuse("dir", str(self.folder / "other"))
        self.assertEqual(os.readlink(f"/proc/{self.server.process.pid}/cwd"), str(self.folder))

    def test_keep_the_log_level(self):
        self.refuse("loglevel", "warning")
        self.assertEqual(self.client.ask("SAVE"), b"OK")
        self.assertIn("DB saved on disk", self.server.log())

    def test_keep_the_limit_of_clients(self):
        self.refuse("maxclients", 1)
        self.assertEqual(self.connect().ask("PING"), b"PONG")

    def test_keep_the_password(self):
        self.refuse("requirepass", "secret")
        self.assertEqual(self.connect().ask("PING"), b"PONG")

    def test_keep_the_limit_of_memory(self):
        self.refuse("maxmemory", 1, "maxmemory-policy", "allkeys-lru")
        self.assertEqual(self.client.ask("SET", "k", "v"), b"OK")
        self.assertEqual(self.client.ask("GET", "k"), b"v")


class Rewrites(FolderTest):
    def test_a_relative_directory_is_written_as_a_full_path(self):
        (self.folder / "other").mkdir()
        config = self.file("zsetd.conf", f"dir {self.folder}\nenable-protected-configs yes\n")
        self.start(config=config)
        client = self.connect()
        self.assertEqual(client.ask("CONFIG", "SET", "dir", "other"), b"OK")
        self.assertEqual(client.ask("CONFIG", "GET", "dir"), [b"dir", str(self.folder / "other").encode()])
        self.assertEqual(client.ask("CONFIG", "REWRITE"), b"OK")
        self.assertIn(f"dir {self.folder}/other\n", pathlib.Path(config).read_text())
        reply = client.ask("CONFIG", "SET", "dir", "none")
        self.assertEqual(str(reply), "ERR CONFIG SET failed (possibly related to argument 'dir') - "
                                     "No such file or directory")

    def test_no_value_becomes_another_setting(self):
        path = self.file("zsetd.conf", "")
        server = self.start("--dir", str(self.folder), config=path)
        client = self.connect()
        evil = "TLSv1.2\nenable-module-command yes\nuser evil on nopass ~* &* +@all"
        for name in ["tls-protocols", "tls-ciphers", "proc-title-template", "masterauth", "bind",
                     "replica-announce-ip", "ignore-warnings", "requirepass"]:
            client.ask("CONFIG", "SET", name, evil)
        client.ask("ACL", "SETUSER", "bob", "+get|a\nuser evil on nopass ~* &* +@all")
        self.assertEqual(client.ask("CONFIG", "REWRITE"), b"OK")
        lines = pathlib.Path(path).read_text().splitlines()
        self.assertFalse([line for line in lines if line.startswith(("enable-module", "user evil"))])
        self.assertIsNone(server.stop())
        self.start(config=path)
        client = self.connect()
        self.assertEqual(client.ask("AUTH", evil), b"OK")
        self.assertEqual(client.ask("ACL", "USERS"), [b"default"])
        self.assertEqual(client.ask("CONFIG", "GET", "tls-protocols"), [b"tls-protocols", b""])
        self.assertEqual(client.ask("CONFIG", "GET", "ignore-warnings"),
                         [b"ignore-warnings", evil.encode()])

    def test_a_rewrite_file_leaves_the_configuration_file_as_it_is(self):
        """As in the package, whose configuration file must not change."""
        saved = self.folder / "saved.conf"
        text = (f"# mine\nrewrite-file {saved}\nrequirepass one\nuser anna on >two ~* +get\n"
                "replicaof 127.0.0.1 1\nmaxmemory 64mb\n")
        path = self.file("zsetd.conf", text)
        self.start("--dir", str(self.folder), config=path)
        client = self.connect()
        self.assertEqual(client.ask("AUTH", "one"), b"OK")
        self.assertEqual(client.ask("CONFIG", "REWRITE"), b"OK")
        self.assertNotIn("user", saved.read_text())
        self.assertNotIn("maxmemory", saved.read_text())
        for name, value in ("maxmemory", "0"), ("requirepass", "three"):
            self.assertEqual(client.ask("CONFIG", "SET", name, value), b"OK")
        self.assertEqual(client.ask("REPLICAOF", "NO", "ONE"), b"OK")
        self.assertEqual(client.ask("ACL", "SETUSER", "ben", "on", ">four"), b"OK")
        self.assertEqual(client.ask("ACL", "DELUSER", "anna"), 1)
        self.assertEqual(client.ask("CONFIG", "REWRITE"), b"OK")
        self.assertEqual(pathlib.Path(path).read_text(), text)
        self.assertEqual(saved.stat().st_mode & 0o777, 0o600)
        server = self.start("--dir", str(self.folder), config=path)
        self.assertTrue(eventually(lambda: str(saved) in server.log()))
        client = self.connect()
        self.assertEqual(client.ask("AUTH", "three"), b"OK")
        self.assertEqual(client.ask("ACL", "USERS"), [b"ben", b"default"])
        self.assertEqual(client.ask("ROLE")[0], b"master")
        self.assertEqual(client.ask("CONFIG", "GET", "maxmemory"), [b"maxmemory", b"0"])

    def test_includes_stay_relative_to_the_directory_of_the_start(self):
        (self.folder / "data").mkdir()
        start = self.folder / "started [1]*"
        start.mkdir()
        (start / "first.conf").write_text("maxmemory 100mb\nsave 100 1\n")
        (start / "second.conf").write_text("timeout 7\n")
        for rewrite_file in "", f"rewrite-file {self.folder}/saved.conf\n":
            with self.subTest(rewrite_file=rewrite_file):
                text = f"include [f]*.conf\ninclude second.conf\ndir {self.folder}/data\n{rewrite_file}"
                path = self.file("zsetd.conf", text)
                server = self.start_in(start, path)
                client = self.connect()
                for name, value in ("maxmemory", "0"), ("timeout", "0"), ("save", "900 5"):
                    self.assertEqual(client.ask("CONFIG", "SET", name, value), b"OK")
                for _ in range(2):
                    self.assertEqual(client.ask("CONFIG", "REWRITE"), b"OK")
                self.assertIsNone(server.stop())
                server = self.start_in(start, path)
                client = self.connect()
                for name, value in ("maxmemory", b"0"), ("timeout", b"0"), ("save", b"900 5"):
                    self.assertEqual(client.ask("CONFIG", "GET", name)[1], value)
                self.assertIsNone(server.stop())

    def start_in(self, directory, config):
        """Starts a server in this working directory, without options except the port."""
        script = self.folder / "start"
        script.write_text(f"#!/bin/sh\ncd '{directory}' && exec '{os.path.abspath(PROGRAM)}' \"$@\"\n")
        script.chmod(0o755)
        self.server = Zsetd(script, config=config)
        self.addCleanup(self._see_off, self.server)
        return self.server

    def test_a_rewrite_file_belongs_in_the_configuration_file(self):
        path = self.file("zsetd.conf", "rewrite-file saved.conf\n")
        self.assertIn("it must be an absolute path", run(path).stderr)
        end = run("--rewrite-file", "/tmp/saved.conf")
        self.assertIn("only the configuration file may contain it", end.stderr)
        self.assertEqual(end.returncode, 1)

    def test_tls_is_checked_while_it_is_off(self):
        self.start()
        client = self.connect()
        for name, value in [("tls-ciphers", "nonsense"), ("tls-ciphersuites", "nonsense")]:
            self.assertIn("Unable to update TLS configuration",
                          str(client.ask("CONFIG", "SET", name, value)))
        self.assertEqual(client.ask("CONFIG", "SET", "tls-ciphers", "HIGH:!aNULL"), b"OK")


class Secrets(FolderTest):
    def test_a_renamed_auth_has_its_password_hidden(self):
        path = self.file("zsetd.conf", "rename-command AUTH letmein\nrequirepass topsecret\n"
                                       "slowlog-log-slower-than 0\n")
        self.start(config=path)
        watcher, client = self.connect(), self.connect()
        self.assertEqual(watcher.ask("LETMEIN", "topsecret"), b"OK")
        self.assertEqual(watcher.ask("MONITOR"), b"OK")
        self.assertEqual(client.ask("letmein", "default", "topsecret"), b"OK")
        self.assertIn(b'"letmein" "(redacted)" "(redacted)"', watcher.reply())
        self.assertNotIn(b"topsecret", repr(client.ask("SLOWLOG", "GET")).encode())


if __name__ == "__main__":
    unittest.main()
