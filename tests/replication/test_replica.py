"""zsetd as the replica of redis-server: how it connects, what it replicates, what it refuses."""

import signal
import tempfile
import threading
import time

import redis

from certificates import Certificates
from server_process import free_port
from servers import PATIENCE_S, REDIS, ZSETD, Load, ReplicationTest


class Linking(ReplicationTest):
    def test_it_receives_the_masters_data(self):
        master = self.start(REDIS)
        Load(1).run(master, 3000)
        master.client.function_load("#!lua name=lib\nredis.register_function('f', function() return 7 end)")
        replica = self.start(ZSETD)
        replica.client.set("own", "goes")
        replica.follow(master.port)
        self.await_link(replica)
        self.assert_same(master, replica)
        self.assertIsNone(replica.client.get("own"))
        self.assertEqual(replica.client.function_list()[0][1], b"lib")
        master.client.function_load("#!lua name=more\nredis.register_function('g', function() return 8 end)")
        self.await_that(lambda: len(replica.client.function_list()) == 2, "the library is missing")

    def test_snapshots_come_from_disk_too(self):
        master = self.start(REDIS, "--repl-diskless-sync", "no")
        Load(2).run(master, 3000)
        replica = self.start(ZSETD, "--replicaof", f"127.0.0.1 {master.port}")
        self.await_link(replica)
        self.assert_same(master, replica)

    def test_it_receives_the_masters_changes(self):
        master = self.start(REDIS)
        replica = self.start(ZSETD, "--replicaof", f"127.0.0.1 {master.port}")
        self.await_link(replica)
        Load(3).run(master, 5000)
        self.assert_same(master, replica)
        self.assertEqual(master.client.wait(1, 5000), 1)

    def test_a_name_is_looked_up(self):
        master = self.start(REDIS)
        master.client.set("a", "1")
        replica = self.start(ZSETD, "--replicaof", f"localhost {master.port}")
        self.await_link(replica)
        self.assertEqual(replica.client.get("a"), b"1")

    def test_it_authenticates(self):
        master = self.start(REDIS, "--requirepass", "secret")
        master.client.execute_command("AUTH", "secret")
        master.client = master.connect(password="secret")
        master.client.execute_command(
            "ACL", "SETUSER", "copier", "on", ">word", "+psync", "+replconf", "+ping")
        master.client.set("a", "1")
        for options in (("--masterauth", "secret"),
                        ("--masteruser", "copier", "--masterauth", "word")):
            replica = self.start(ZSETD, "--replicaof", f"127.0.0.1 {master.port}", *options)
            self.await_link(replica)
            self.assertEqual(replica.client.get("a"), b"1")
        replica = self.start(ZSETD, "--replicaof", f"127.0.0.1 {master.port}",
                             "--masterauth", "wrong")
        self.await_that(lambda: "the master refuses AUTH: -WRONGPASS" in replica.log(),
                        "the refusal is not in the log")
        replica.client.config_set("masterauth", "secret")
        self.await_link(replica)

    def test_it_follows_by_tls(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        certificates = Certificates(folder.name)
        certificate, key = certificates.make("server")
        tls_port = free_port()
        files = ("--tls-cert-file", certificate, "--tls-key-file", key,
                 "--tls-ca-cert-file", certificates.authority)
        master = self.start(REDIS, "--tls-port", str(tls_port), *files)
        Load(4).run(master, 3000)
        replica = self.start(ZSETD, "--tls-replication", "yes", *files)
        replica.follow(tls_port)
        self.await_link(replica)
        Load(5).run(master, 3000)
        self.assert_same(master, replica)
        # The replica rejects a master whose certificate another authority has signed.
        with tempfile.TemporaryDirectory() as elsewhere:
            stranger = self.start(ZSETD, "--tls-replication", "yes", "--tls-cert-file", certificate,
                                  "--tls-key-file", key, "--tls-ca-cert-file",
                                  Certificates(elsewhere).authority)
            stranger.follow(tls_port)
            self.await_that(lambda: "certificate verify failed" in stranger.log(),
                            "it trusts any certificate")
            self.assertFalse(stranger.is_linked())

    def test_it_presents_its_own_certificate_to_the_master(self):
        folders = [tempfile.TemporaryDirectory() for _ in range(2)]
        for folder in folders:
            self.addCleanup(folder.cleanup)
        certificates, others = (Certificates(folder.name) for folder in folders)
        tls_port = free_port()
        certificate, key = certificates.make("master")
        master = self.start(REDIS, "--tls-port", str(tls_port), "--tls-cert-file", certificate,
                            "--tls-key-file", key, "--tls-ca-cert-file", certificates.authority)
        certificate, key = certificates.make("replica", password="secret")
        other, other_key = others.make("server")  # the master does not accept it
        replica = self.start(ZSETD, "--tls-replication", "yes", "--tls-cert-file", other,
                             "--tls-key-file", other_key, "--tls-ca-cert-file",
                             certificates.authority, "--tls-client-cert-file", certificate,
                             "--tls-client-key-file", key, "--tls-client-key-file-pass", "secret")
        replica.follow(tls_port)
        self.await_link(replica)
        master.client.set("a", "1")
        self.assert_same(master, replica)
        self.check_live_change(replica, certificates)

    def check_live_change(self, replica, certificates):
        """An unreadable file is refused when it is set. The next link uses a valid one."""
        with self.assertRaisesRegex(redis.ResponseError, "Unable to update TLS configuration"):
            replica.client.config_set("tls-client-key-file", "/none")
        with self.assertRaisesRegex(redis.ResponseError, "Unable to update TLS configuration"):
            replica.client.config_set("tls-client-key-file-pass", "wrong")
        certificate, key = certificates.make("another")
        replica.client.execute_command("CONFIG", "SET", "tls-client-cert-file", certificate,
                                       "tls-client-key-file", key)
        replica.client.client_kill_filter(_type="master")
        self.await_that(lambda: not replica.is_linked(), "the link stays")
        self.await_link(replica)

    def test_it_becomes_a_master_with_the_data(self):
        master = self.start(REDIS)
        Load(6).run(master, 1000)
        replica = self.start(ZSETD, "--replicaof", f"127.0.0.1 {master.port}")
        self.await_link(replica)
        self.assert_same(master, replica)
        master.kill()
        master.expected_exit_code = -9
        offset = replica.info()["slave_repl_offset"]
        id_before = replica.info()["master_replid"]
        replica.client.execute_command("REPLICAOF", "NO", "ONE")
        info = replica.info()
        self.assertEqual(info["role"], "master")
        self.assertEqual(info["master_replid2"], id_before)
        self.assertEqual(info["second_repl_offset"], offset + 1)
        self.assertNotEqual(info["master_replid"], id_before)
        replica.client.set("a", "1")


class Requests(ReplicationTest):
    def setUp(self):
        self.master = self.start(REDIS)
        self.replica = self.start(ZSETD, "--replicaof", f"127.0.0.1 {self.master.port}")
        self.await_link(self.replica)

    def test_writes_are_refused_unless_allowed(self):
        with self.assertRaisesRegex(redis.exceptions.ReadOnlyError, "read only replica"):
            self.replica.client.set("a", "1")
        self.replica.client.config_set("replica-read-only", "no")
        self.replica.client.set("a", "1")

    def test_a_replica_without_link_may_refuse_requests(self):
        client = self.replica.client
        self.master.client.set("a", "1")
        self.await_that(lambda: client.get("a") == b"1", "the change is missing")
        self.master.kill()
        self.master.expected_exit_code = -9
        self.await_that(lambda: not self.replica.is_linked(), "the link is up")
        self.assertEqual(client.get("a"), b"1")
        client.config_set("replica-serve-stale-data", "no")
        with self.assertRaisesRegex(redis.exceptions.ResponseError, "MASTERDOWN"):
            client.get("a")
        self.assertTrue(client.info())

    def test_a_key_past_its_deadline_is_invisible_and_stays_until_the_master_deletes_it(self):
        self.master.client.execute_command("DEBUG", "SET-ACTIVE-EXPIRE", "0")
        self.master.client.set("a", "1", px=50)
        self.await_that(lambda: self.replica.client.dbsize() == 1, "the key is missing")
        self.await_that(lambda: self.replica.client.get("a") is None, "the key is visible")
        self.assertEqual(self.replica.client.dbsize(), 1)
        # A millisecond later the key has expired for redis-server too, and the request deletes it.
        self.await_that(lambda: self.master.client.get("a") is None, "the master has it")
        self.await_that(lambda: self.replica.client.dbsize() == 0, "the key stays")

    def test_messages_reach_subscribers_of_the_replica(self):
        listener = self.replica.connect().pubsub()
        listener.subscribe("news")
        self.assertEqual(listener.get_message(timeout=5)["type"], "subscribe")
        self.master.client.publish("news", "hello")
        self.assertEqual(listener.get_message(timeout=5)["data"], b"hello")
        listener.close()

    def test_blocked_clients_of_a_master_that_becomes_a_replica_are_unblocked(self):
        server = self.start(ZSETD)
        errors = []

        def wait():
            try:
                server.connect().blpop("nothing")
            except redis.exceptions.ResponseError as error:
                errors.append(str(error))

        thread = threading.Thread(target=wait)
        thread.start()
        self.await_that(lambda: server.client.info("clients")["blocked_clients"] == 1, "no wait")
        server.follow(self.master.port)
        thread.join(10)
        self.assertEqual(len(errors), 1)
        self.assertIn("UNBLOCKED", errors[0])


class Information(ReplicationTest):
    SAME = ("role master_host master_port master_link_status master_sync_in_progress "
            "slave_read_repl_offset slave_repl_offset slave_priority slave_read_only "
            "replica_announced connected_slaves master_failover_state master_replid "
            "master_replid2 master_repl_offset second_repl_offset").split()

    def test_a_linked_replica_reports_what_redis_reports(self):
        master = self.start(REDIS)
        replicas = [self.start(program, "--replicaof", f"127.0.0.1 {master.port}")
                    for program in (REDIS, ZSETD)]
        for replica in replicas:
            self.await_link(replica)
        Load(7).run(master, 1000)
        for replica in replicas:
            self.assert_same(master, replica)
        redis_info, zsetd_info = (replica.info() for replica in replicas)
        self.assertEqual(list(redis_info), list(zsetd_info))
        for name in self.SAME:
            self.assertEqual(redis_info[name], zsetd_info[name], name)
        self.assertLess(zsetd_info["master_last_io_seconds_ago"], PATIENCE_S)
        role = [replica.client.execute_command("ROLE") for replica in replicas]
        self.assertEqual(*role)
        slaves = master.info()
        for name in ("slave0", "slave1"):
            self.assertEqual(slaves[name]["state"], "online")
        self.assertEqual({slaves["slave0"]["port"], slaves["slave1"]["port"]},
                         {replica.port for replica in replicas})

    def test_bytes_from_the_master_are_counted(self):
        master = self.start(REDIS)
        replica = self.start(ZSETD, "--replicaof", f"127.0.0.1 {master.port}")
        self.await_link(replica)
        before = replica.client.info("stats")
        for _ in range(1000):
            master.client.incr("a")
        self.assert_same(master, replica)
        after = replica.client.info("stats")
        grown = {name: after[name] - before[name] for name in before
                 if isinstance(before[name], int)}
        self.assertGreaterEqual(grown["total_commands_processed"], 1000)
        self.assertGreaterEqual(grown["total_net_repl_input_bytes"], 20_000)
        self.assertGreaterEqual(grown["total_net_input_bytes"], 20_000)

    def test_a_replica_without_link_reports_what_redis_reports(self):
        master = self.start(REDIS)
        replicas = [self.start(program, "--replicaof", f"127.0.0.1 {master.port}")
                    for program in (REDIS, ZSETD)]
        for replica in replicas:
            self.await_link(replica)
        master.kill()
        master.expected_exit_code = -9
        for replica in replicas:
            self.await_that(lambda: not replica.is_linked(), "the link is up")
        redis_info, zsetd_info = (replica.info() for replica in replicas)
        self.assertEqual(list(redis_info), list(zsetd_info))
        for name in self.SAME:
            self.assertEqual(redis_info[name], zsetd_info[name], name)
        self.assertIn(zsetd_info["master_link_down_since_seconds"], (0, 1, 2, 3))
        self.assertEqual(zsetd_info["master_last_io_seconds_ago"], -1)

    def test_a_replica_that_was_never_linked_reports_what_redis_reports(self):
        port = free_port()
        redis_info, zsetd_info = (self.start(program, "--replicaof", f"127.0.0.1 {port}").info()
                                  for program in (REDIS, ZSETD))
        self.assertEqual(list(redis_info), list(zsetd_info))
        for name in ("master_link_status", "master_last_io_seconds_ago", "slave_repl_offset",
                     "master_link_down_since_seconds", "slave_read_repl_offset"):
            self.assertEqual(redis_info[name], zsetd_info[name], name)

    def test_the_master_lists_the_announced_address(self):
        master = self.start(REDIS)
        replica = self.start(ZSETD, "--replicaof", f"127.0.0.1 {master.port}",
                             "--replica-announce-ip", "10.1.2.3", "--replica-announce-port", "7")
        self.await_link(replica)
        slave = master.info()["slave0"]
        self.assertEqual((slave["ip"], slave["port"]), ("10.1.2.3", 7))


class Streams(ReplicationTest):
    def group_of(self, server):
        """Without the number of entries read, which XCLAIM does not carry: it is old on Redis's replicas, too."""
        group, = server.client.xinfo_groups("early")
        return {name: group[name] for name in group if name not in ("entries-read", "lag")}

    def test_streams_and_their_groups_follow_the_master(self):
        for master_program in (REDIS, ZSETD):
            master = self.start(master_program)
            master.client.xgroup_create("early", "g", mkstream=True)
            for i in range(300):
                master.client.xadd("early", {"n": i, "text": "x" * (i % 30)})
            master.client.xreadgroup("g", "a", {"early": ">"}, count=100)
            replica = self.start(ZSETD, "--replicaof", f"127.0.0.1 {master.port}")
            self.await_link(replica)
            master.client.xreadgroup("g", "b", {"early": ">"}, count=50)
            master.client.xack("early", "g", *[each["message_id"] for each in
                                               master.client.xpending_range("early", "g", "-", "+", 20)])
            master.client.xadd("late", {"a": "b"}, maxlen=10, approximate=True)
            master.client.xtrim("early", 120, approximate=False)
            self.await_that(lambda: replica.client.xlen("early") == 120, replica.log)
            self.assert_same(master, replica)
            self.assertEqual(replica.client.xrange("early"), master.client.xrange("early"))
            self.assertEqual(replica.client.xpending("early", "g"), master.client.xpending("early", "g"))
            self.assertEqual(self.group_of(replica), self.group_of(master))
            self.assertEqual(replica.client.xrange("late"), master.client.xrange("late"))


class LogLines(ReplicationTest):
    def test_they_name_the_client_that_changes_the_role(self):
        for program in (REDIS, ZSETD):
            with self.subTest(program):
                master, server = self.start(REDIS), self.start(program)
                client = server.connect(client_name="operator")
                client.execute_command("REPLICAOF", "127.0.0.1", master.port)
                client.execute_command("REPLICAOF", "NO", "ONE")
                who = r"user request from 'id=\d+ addr=127\.0\.0\.1:\d+ .* name=operator .*'"
                self.assertRegex(server.log(),
                                 rf"REPLICAOF 127\.0\.0\.1:{master.port} enabled \({who}\)")
                self.assertRegex(server.log(), rf"MASTER MODE enabled \({who}\)")
                client.close()


class Elements(ReplicationTest):
    def test_one_past_its_deadline_has_no_time_left_until_the_master_removes_it(self):
        master = self.start(ZSETD)
        replica = self.start(ZSETD, "--replicaof", f"127.0.0.1 {master.port}")
        self.await_link(replica)
        for words in (("ZADD", "z", 1, "a"), ("ZPEXPIRE", "z", 300, "MEMBERS", 1, "a"),
                      ("HSET", "h", "a", 1), ("HPEXPIRE", "h", 300, "FIELDS", 1, "a")):
            master.client.execute_command(*words)
        self.assertEqual(master.client.wait(1, 10_000), 1)
        left = lambda *words: replica.client.execute_command(*words)[0]
        master.process.send_signal(signal.SIGSTOP)
        try:
            for key, command, unit in ("z", "ZPTTL", "MEMBERS"), ("h", "HPTTL", "FIELDS"):
                self.await_that(lambda: left(command, key, unit, 1, "a") <= 0, "it has no deadline")
            time.sleep(0.05)
            for key, command, unit in (("z", "ZPTTL", "MEMBERS"), ("h", "HPTTL", "FIELDS"),
                                       ("z", "ZTTL", "MEMBERS"), ("h", "HTTL", "FIELDS")):
                self.assertEqual(left(command, key, unit, 1, "a"), 0, command)
        finally:
            master.process.send_signal(signal.SIGCONT)


class WritableReplicas(ReplicationTest):
    def test_they_delete_expired_keys_of_their_own_clients(self):
        for program in (REDIS, ZSETD):
            with self.subTest(program):
                master = self.start(REDIS)
                replica = self.start(program, "--replica-read-only", "no", "--replicaof",
                                     f"127.0.0.1 {master.port}")
                self.await_link(replica)
                master.client.execute_command("DEBUG", "SET-ACTIVE-EXPIRE", "0")
                master.client.set("masters", "1", px=100)
                client = replica.client
                left = lambda: client.info("keyspace").get("db0", {"keys": 0})["keys"]
                self.await_that(lambda: left() == 1, "it does not receive the key")
                self.await_that(lambda: client.exists("masters") == 0, "it stays")
                client.set("set", "1", px=100)
                client.set("expired", "1")
                client.pexpire("expired", 100)
                client.set("renamed", "1", px=100)
                client.rename("renamed", "moved")
                client.set("later", "1", px=10_000_000)
                client.set("persisted", "1", px=1000)
                client.persist("persisted")
                client.set("removed", "1", px=100)
                client.delete("removed")
                self.await_that(lambda: left() == 3, left)  # the master's key, later, persisted
                self.assertEqual(sorted(client.keys()), [b"later", b"persisted"])
                self.assertEqual(client.dbsize(), 3)

    def test_they_delete_expired_elements_of_keys_that_their_clients_changed(self):
        master = self.start(ZSETD)
        with tempfile.TemporaryDirectory() as folder:
            options = ["--replica-read-only", "no", "--dir", folder, "--appendonly", "yes"]
            replica = self.start(ZSETD, *options, "--replicaof", f"127.0.0.1 {master.port}")
            self.await_link(replica)
            run = replica.client.execute_command
            members = [word for number in range(100) for word in (1, f"m{number}")]
            run("ZADD", "z", 5, "kept")
            run("ZADDEX", "z", "PX", 100, "MEMBERS", 100, *members)
            run("ZADDEX", "z", "PX", 200, "MEMBERS", 1, 1, "later")
            run("HSET", "h", "kept", 1)
            run("HSETEX", "h", "PX", 100, "FIELDS", 1, "a", 1)
            run("HSETEX", "gone", "PX", 100, "FIELDS", 1, "a", 1)
            run("HSETEX", "key", "PX", 10_000_000, "FIELDS", 1, "a", 1)
            run("PEXPIRE", "key", 100)
            elements = lambda: (run("ZRANGE", "z", 0, -1), run("HKEYS", "h"), replica.client.dbsize())
            self.await_that(lambda: elements() == ([b"kept"], [b"kept"], 2), elements)
            run("REPLICAOF", "NO", "ONE")
            replica.kill()
            replica = self.start(ZSETD, *options)
            run = replica.client.execute_command
            self.assertEqual(elements(), ([b"kept"], [b"kept"], 2))
            replica.kill()

    def test_they_keep_elements_whose_deadlines_are_the_masters(self):
        master = self.start(ZSETD)
        replica = self.start(ZSETD, "--replica-read-only", "no", "--replicaof",
                             f"127.0.0.1 {master.port}")
        self.await_link(replica)
        master.client.execute_command("ZADDEX", "z", "PX", 200, "MEMBERS", 1, 1, "a")
        self.assertEqual(master.client.wait(1, 10_000), 1)
        master.process.send_signal(signal.SIGSTOP)
        try:
            time.sleep(0.4)
            self.assertEqual(replica.client.zrange("z", 0, -1), [b"a"])
        finally:
            master.process.send_signal(signal.SIGCONT)

    def test_with_a_log_and_several_databases_they_delete_them_too(self):
        master = self.start(ZSETD)
        with tempfile.TemporaryDirectory() as folder:
            replica = self.start(ZSETD, "--replica-read-only", "no", "--dir", folder,
                                 "--appendonly", "yes", "--replicaof", f"127.0.0.1 {master.port}")
            self.await_link(replica)
            in_five = replica.connect(db=5)
            in_five.set("moved", "1", px=300)
            in_five.set("flushed", "1", px=300)
            in_five.swapdb(5, 6)
            replica.client.set("a", "1", px=300)
            self.await_that(lambda: not replica.client.info("keyspace"),
                            lambda: str(replica.client.info("keyspace")))
            self.assertEqual(replica.client.info("stats")["expired_keys"], 3)
            replica.client.execute_command("REPLICAOF", "NO", "ONE")
            replica.client.set("a", "1", px=100)
            self.await_that(lambda: replica.client.dbsize() == 0, "it does not expire")
            in_five.close()


class CommandsThatItDoesNotKnow(ReplicationTest):
    def renaming_proxy_to(self, master):
        proxy = self.proxy_to(master)
        proxy.rename = b"RESTORE-ASKING", b"RESTORE-ABSENT"
        return proxy

    def run_foreign(self, client):
        """Runs a command that the proxy renames to one that zsetd does not know."""
        client.set("a", 0)
        foreign = ("RESTORE-ASKING", "events", 0, client.dump("a"))
        client.execute_command(*foreign)
        with client.pipeline(transaction=True) as transaction:
            transaction.set("a", 1).execute_command(*foreign, "REPLACE")
            transaction.incr("a").execute()
        client.set("old", "1")
        client.rename("events", "old")
        client.incr("a")
        client.set("last", "1")

    def test_with_the_setting_they_are_skipped(self):
        master = self.start(REDIS)
        with tempfile.TemporaryDirectory() as folder:
            options = ("--rdb-skip-unknown", "yes", "--dir", folder, "--appendonly", "yes",
                       "--appendfsync", "always")
            proxy = self.renaming_proxy_to(master)
            replica = self.start(ZSETD, *options, "--replicaof", f"127.0.0.1 {proxy.port}")
            self.await_link(replica)
            self.await_that(lambda: replica.client.info("persistence")["aof_enabled"] == 1
                            and replica.client.info("persistence")["aof_rewrite_in_progress"] == 0,
                            "the log does not begin")
            self.run_foreign(master.client)
            has_all = lambda: replica.client.get("last") == b"1"
            self.await_that(has_all, replica.log)
            self.assertEqual(replica.client.get("a"), b"3")
            self.assertEqual(sorted(replica.client.keys()), [b"a", b"last"])
            self.assertEqual(master.client.info("stats")["sync_full"], 1)
            self.assertIn("Skipping 'RESTORE-ABSENT' from MASTER", replica.log())
            self.assertNotIn("CRITICAL", replica.log())
            replica.ask_to_leave()
            self.assertEqual(replica.exit_code(), 0)
            restarted = self.start(ZSETD, *options)
            self.assertEqual(sorted(restarted.client.keys()), [b"a", b"last"])

    def test_without_it_the_log_names_the_command_and_the_setting(self):
        master = self.start(REDIS)
        proxy = self.renaming_proxy_to(master)
        replica = self.start(ZSETD, "--replicaof", f"127.0.0.1 {proxy.port}")
        self.await_link(replica)
        master.client.set("a", "1")
        master.client.execute_command("RESTORE-ASKING", "copy", 0, master.client.dump("a"))
        self.await_that(lambda: "'RESTORE-ABSENT': unknown command" in replica.log(), replica.log)
        self.assertIn("rdb-skip-unknown yes", replica.log())
        self.await_link(replica)  # its snapshot contains the key
        self.assert_same(master, replica)

    def test_commands_of_the_master_are_counted(self):
        for program in (REDIS, ZSETD):
            master = self.start(REDIS)
            replica = self.start(program, "--replicaof", f"127.0.0.1 {master.port}")
            self.await_link(replica)
            before = replica.client.info("stats")["total_commands_processed"]
            for i in range(100):
                master.client.set("a", i)
            self.await_that(lambda: replica.client.get("a") == b"99", replica.log)
            stats = replica.client.info("commandstats")
            self.assertEqual(stats["cmdstat_set"]["calls"], 100, program)
            after = replica.client.info("stats")["total_commands_processed"]
            self.assertGreaterEqual(after - before, 100)


class Loading(ReplicationTest):
    KEYS = 100_000

    def fill(self, master, keys):
        master.client.execute_command("DEBUG", "POPULATE", keys, "key", 20)

    def test_the_old_data_is_served_until_the_new_data_is_loaded(self):
        master = self.start(REDIS)
        self.fill(master, self.KEYS)
        replica = self.start(ZSETD, "--repl-diskless-load", "swapdb")
        replica.client.set("old", "1")
        replica.follow(master.port)
        answers = []
        while not answers or answers[-1] == (b"1", 1):
            answers.append(tuple(replica.client.pipeline(transaction=True).get("old").dbsize()
                                 .execute()))
        self.assertGreater(len(answers), 1)
        self.assertEqual(answers[-1], (None, self.KEYS))
        self.assert_same(master, replica)

    def test_a_link_that_ends_during_the_load_continues_at_the_end_of_the_snapshot(self):
        """Repeats with more data if the machine finishes loading before the test can observe it."""
        def is_loaded_or_loading():
            seen.append(replica.client.info("persistence")["async_loading"])
            return seen[-1] or replica.is_linked()

        for keys in (self.KEYS << tries for tries in range(6)):
            master = self.start(REDIS)
            self.fill(master, keys)
            proxy = self.proxy_to(master)
            replica = self.start(ZSETD, "--repl-diskless-load", "swapdb")
            replica.client.set("old", "1")
            replica.follow(proxy.port)
            seen = []
            self.await_that(is_loaded_or_loading, "nothing is loaded")
            proxy.cut()
            if seen[-1]:
                break
        Load(8).run(master, 500)
        self.await_link(replica)
        self.assert_same(master, replica)
        self.assertEqual(master.client.info("stats")["sync_full"], 1)
        self.assertEqual(master.client.info("stats")["sync_partial_ok"], 1)

    def test_changes_that_arrive_during_the_load_are_applied_afterwards(self):
        for how in ("swapdb", "disabled"):
            with self.subTest(how=how):
                master = self.start(REDIS)
                self.fill(master, self.KEYS)
                replica = self.start(ZSETD, "--repl-diskless-load", how)
                replica.client.set("old", "1")
                replica.follow(master.port)
                load = Load(9)
                while not replica.is_linked():
                    load.run(master, 50)
                self.assert_same(master, replica)

    def test_a_snapshot_that_a_replica_has_saved_is_continued(self):
        master = self.start(REDIS)
        with tempfile.TemporaryDirectory() as folder:
            replica = self.start(REDIS, "--dir", folder, "--replicaof", f"127.0.0.1 {master.port}")
            self.await_link(replica)
            Load(12).run(master, 2000)
            master.client.execute_command("DEBUG", "SET-ACTIVE-EXPIRE", "0")
            master.client.set("due", "1", px=1)
            self.await_that(lambda: replica.info()["slave_repl_offset"] ==
                            master.info()["master_repl_offset"], "it does not follow")
            replica.client.save()
            replica.ask_to_leave()
            self.assertEqual(replica.exit_code(), 0)
            Load(13).run(master, 500)
            restarted = self.start(ZSETD, "--dir", folder, "--replicaof",
                                   f"127.0.0.1 {master.port}")
            self.await_link(restarted)
            keys = lambda server: sum(database["keys"] for database in
                                      server.client.info("keyspace").values())
            self.await_that(lambda: keys(master) == keys(restarted), "due keys are missing")
            master.client.execute_command("DEBUG", "SET-ACTIVE-EXPIRE", "1")
            self.assert_same(master, restarted)
            stats = master.client.info("stats")
            self.assertEqual((stats["sync_full"], stats["sync_partial_ok"]), (1, 1))

    def test_a_log_restarts_with_the_masters_data(self):
        master = self.start(REDIS)
        Load(10, expires=False).run(master, 2000)
        with tempfile.TemporaryDirectory() as folder:
            options = ("--dir", folder, "--appendonly", "yes")
            replica = self.start(ZSETD, *options)
            replica.client.set("own", "1")
            replica.follow(master.port)
            self.await_link(replica)
            is_rewritten = lambda: (
                replica.client.info("persistence")["aof_enabled"] == 1
                and replica.client.info("persistence")["aof_rewrite_in_progress"] == 0)
            self.await_that(is_rewritten, "the log does not begin")
            Load(11, expires=False).run(master, 2000)
            self.assert_same(master, replica)
            digest = replica.digest()
            replica.ask_to_leave()
            self.assertEqual(replica.exit_code(), 0)
            restarted = self.start(ZSETD, *options)
            self.assertEqual(restarted.digest(), digest)
