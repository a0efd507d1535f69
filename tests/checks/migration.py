"""MIGRATE from zsetd and from redis-server, to both and to targets that misbehave. Both servers act
and reply alike.

ZSETD is the path of the program."""

import os
import pathlib
import random
import socket
import threading
import unittest

import redis
from redis.exceptions import ResponseError

from random_values import Maker, read
from server_process import ServerProcess, eventually, free_port

PROGRAMS = {"zsetd": os.environ["ZSETD"], "redis-server": "redis-server"}
PAIRS = [(source, target) for source in PROGRAMS for target in PROGRAMS]

CONNECTING = "IOERR error or timeout connecting to the client"
WRITING = "IOERR error or timeout writing to target instance"
READING = "IOERR error or timeout reading to target instance"
TARGET = "Target instance replied with error: "


class MigrationTest(unittest.TestCase):
    def start(self, name, *options):
        server = ServerProcess(PROGRAMS[name], *options)
        self.addCleanup(lambda: self.assertIsNone(server.stop()))
        client = redis.Redis(port=server.port)
        client.connection_pool.connection_kwargs["socket_timeout"] = 60
        client.server = server
        self.addCleanup(client.close)
        return client

    def migrate(self, source, port, key, *options, database=0, timeout=20000):
        """Returns the reply, or the text of the error."""
        try:
            return source.execute_command("MIGRATE", "127.0.0.1", port, key, database, timeout,
                                          *options)
        except ResponseError as error:
            return str(error)


def for_each_pair(test):
    """Runs the test with each server as source and as target."""
    def run(self):
        for source, target in PAIRS:
            with self.subTest(source=source, target=target):
                test(self, self.start(source), self.start(target))
    return run


def for_each_source(test):
    def run(self):
        for source in PROGRAMS:
            with self.subTest(source=source):
                test(self, self.start(source))
    return run


class BetweenServers(MigrationTest):
    @for_each_pair
    def test_every_type_arrives(self, source, target):
        seed = random.randrange(2**32)
        print("seed", seed)
        maker = Maker(seed)
        for number in range(60):
            key = f"key:{number}"
            maker.fill(source, key)
            before = read(source, key)
            self.assertEqual(self.migrate(source, target.server.port, key), b"OK")
            self.assertEqual(read(target, key), before)
            self.assertEqual(source.exists(key), 0)

    def test_ids_of_producers_are_not_dropped(self):
        """redis-server 7.0 reads any stream without such IDs. It refuses others, and the key stays."""
        source, target = self.start("zsetd"), self.start("redis-server")
        port = target.server.port
        source.execute_command("XADD", "plain", "1-1", "f", "v")
        self.assertEqual(self.migrate(source, port, "plain"), b"OK")
        self.assertEqual(target.xlen("plain"), 1)
        source.execute_command("XADD", "marked", "IDMP", "producer", "1", "*", "f", "v")
        self.assertEqual(self.migrate(source, port, "marked"),
                         TARGET + "ERR DUMP payload version or checksum are wrong")
        self.assertEqual((source.xlen("marked"), target.exists("marked")), (1, 0))
        other = self.start("zsetd")
        self.assertEqual(self.migrate(source, other.server.port, "marked"), b"OK")
        first = other.xrange("marked")[0][0]
        self.assertEqual(other.execute_command("XADD", "marked", "IDMP", "producer", "1", "*", "f", "v"), first)

    @for_each_pair
    def test_a_large_value_arrives(self, source, target):
        value = random.randbytes(1 << 20) * 30
        source.set("large", value)
        for start in range(0, 300_000, 10_000):
            source.zadd("set", {f"member:{n}": n * 1.5 for n in range(start, start + 10_000)})
        expected = source.zrange("set", 0, -1, withscores=True)
        reply = self.migrate(source, target.server.port, "", "KEYS", "large", "set", "none")
        self.assertEqual(reply, b"OK")
        self.assertEqual(target.get("large"), value)
        self.assertEqual(target.zrange("set", 0, -1, withscores=True), expected)
        self.assertEqual(source.dbsize(), 0)

    @for_each_pair
    def test_many_keys_arrive(self, source, target):
        keys = [f"key:{n}" for n in range(60_000)]
        source.mset({key: key for key in keys})
        self.assertEqual(self.migrate(source, target.server.port, "", "KEYS", *keys), b"OK")
        self.assertEqual(source.dbsize(), 0)
        self.assertEqual(target.dbsize(), len(keys))
        self.assertEqual(target.get(keys[-1]), keys[-1].encode())

    @for_each_pair
    def test_deadlines_arrive(self, source, target):
        source.set("a", 1, px=500_000)
        source.set("b", 1)
        self.migrate(source, target.server.port, "", "KEYS", "a", "b")
        self.assertTrue(400_000 < target.pttl("a") <= 500_000)
        self.assertEqual(target.pttl("b"), -1)

    @for_each_pair
    def test_options(self, source, target):
        port = target.server.port
        source.set("k", "new")
        target.set("k", "old")
        busy = TARGET + "BUSYKEY Target key name already exists."
        self.assertEqual(self.migrate(source, port, "k"), busy)
        self.assertEqual(source.get("k"), b"new")
        self.assertEqual(self.migrate(source, port, "k", "COPY", "replace"), b"OK")
        self.assertEqual((source.get("k"), target.get("k")), (b"new", b"new"))
        self.assertEqual(self.migrate(source, port, "k", "REPLACE"), b"OK")
        self.assertEqual(source.exists("k"), 0)
        self.assertEqual(self.migrate(source, port, "k"), b"NOKEY")
        self.assertEqual(self.migrate(source, port, "", "KEYS", "k", "l"), b"NOKEY")
        self.assertEqual(self.migrate(source, port, "", "KEYS"), b"NOKEY")

    @for_each_pair
    def test_some_of_the_keys_may_be_refused(self, source, target):
        source.mset({"a": 1, "b": 2, "c": 3})
        target.set("b", "taken")
        reply = self.migrate(source, target.server.port, "", "KEYS", "a", "b", "c")
        self.assertEqual(reply, TARGET + "BUSYKEY Target key name already exists.")
        self.assertEqual(source.keys(), [b"b"])
        self.assertEqual(target.mget("a", "b", "c"), [b"1", b"taken", b"3"])

    @for_each_pair
    def test_a_key_that_is_named_twice(self, source, target):
        source.set("a", 1)
        reply = self.migrate(source, target.server.port, "", "REPLACE", "KEYS", "a", "a")
        self.assertEqual(reply, b"OK")
        self.assertEqual((source.exists("a"), target.get("a")), (0, b"1"))

    @for_each_pair
    def test_databases(self, source, target):
        port = target.server.port
        other = redis.Redis(port=port, db=3)
        self.addCleanup(other.close)
        for key, database in [("a", 3), ("b", 3), ("c", 0), ("d", 3)]:
            source.set(key, key)
            self.assertEqual(self.migrate(source, port, key, database=database), b"OK")
        self.assertEqual(sorted(other.keys()), [b"a", b"b", b"d"])
        source.set("e", 1)
        wrong = TARGET + "ERR DB index is out of range"
        self.assertEqual(self.migrate(source, port, "e", database=16), wrong)
        self.assertEqual(source.get("e"), b"1")
        if source.server.name == "zsetd":  # Redis has already stored the key in the database
            self.assertEqual((other.exists("e"), target.exists("e")), (0, 0))
        self.assertEqual(self.migrate(source, port, "e", "REPLACE", database=3), b"OK")
        self.assertEqual(other.get("e"), b"1")

    @for_each_pair
    def test_credentials(self, source, target):
        port = target.server.port
        target.execute_command("ACL SETUSER", "mover", "on", ">secret", "~*", "+@all")
        target.execute_command("CONFIG SET", "requirepass", "word")
        target = redis.Redis(port=port, password="word")
        self.addCleanup(target.close)
        source.mset({"a": 1, "b": 2, "c": 3})
        self.assertEqual(self.migrate(source, port, "a"),
                         TARGET + "NOAUTH Authentication required.")
        wrong = TARGET + "WRONGPASS invalid username-password pair or user is disabled."
        self.assertEqual(self.migrate(source, port, "a", "AUTH", "wrong"), wrong)
        self.assertEqual(self.migrate(source, port, "a", "AUTH2", "mover", "word"), wrong)
        self.assertEqual(self.migrate(source, port, "a", "AUTH", "word"), b"OK")
        self.assertEqual(self.migrate(source, port, "b", "AUTH2", "mover", "secret"), b"OK")
        self.assertEqual(self.migrate(source, port, "", "AUTH", "word", "KEYS", "c"), b"OK")
        self.assertEqual(target.mget("a", "b", "c"), [b"1", b"2", b"3"])

    @for_each_pair
    def test_it_is_propagated_as_the_deletion(self, source, target):
        source.execute_command("CONFIG SET", "appendonly", "yes")
        self.assertTrue(eventually(lambda: source.info("persistence")["aof_rewrite_in_progress"] == 0))
        source.mset({"a": 1, "b": 2, "c": 3})
        target.set("b", 0)
        self.migrate(source, target.server.port, "", "KEYS", "a", "b", "c")
        self.migrate(source, target.server.port, "b", "COPY", "REPLACE")
        folder = pathlib.Path(source.config_get("dir")["dir"]) / "appendonlydir"
        end = b"*3\r\n$3\r\nDEL\r\n$1\r\na\r\n$1\r\nc\r\n"
        log = lambda: b"".join(file.read_bytes() for file in sorted(folder.glob("*.incr.aof")))
        self.assertTrue(eventually(lambda: log().endswith(end)), log())  # another thread writes it

    @for_each_pair
    def test_events(self, source, target):
        source.execute_command("CONFIG SET", "notify-keyspace-events", "KEA")
        events = source.pubsub()
        events.psubscribe("__keyevent@0__:*")
        self.assertEqual(events.get_message(timeout=20)["type"], "psubscribe")
        source.set("a", 1)
        self.migrate(source, target.server.port, "a", "COPY")
        self.migrate(source, target.server.port, "a", "REPLACE")
        seen = [events.get_message(timeout=20)["channel"] for _ in range(2)]
        self.assertEqual(seen, [b"__keyevent@0__:set", b"__keyevent@0__:del"])
        events.close()

    def test_connections_are_kept_for_ten_seconds(self):
        count = lambda source: source.info("stats")["migrate_cached_sockets"]
        sources = []
        for source, target in [(self.start(each), self.start(target)) for each, target in PAIRS]:
            source.mset({"a": 1, "b": 2})
            self.assertEqual(count(source), 0)
            before = target.info("stats")["total_connections_received"]
            self.migrate(source, target.server.port, "a")
            self.migrate(source, target.server.port, "b")
            self.assertEqual(target.info("stats")["total_connections_received"], before + 1)
            self.assertEqual(count(source), 1)
            sources.append(source)
        for source in sources:
            self.assertTrue(eventually(lambda: count(source) == 0))

    @for_each_pair
    def test_a_kept_connection_that_the_target_has_closed(self, source, target):
        source.mset({"a": 1, "b": 2})
        self.assertEqual(self.migrate(source, target.server.port, "a"), b"OK")
        target.client_kill_filter(_type="normal", skipme=True)
        self.assertEqual(self.migrate(source, target.server.port, "b"), b"OK")
        self.assertEqual(target.mget("a", "b"), [b"1", b"2"])

    @for_each_source
    def test_the_server_itself_is_refused_as_a_target(self, source):
        source.set("a", 1)
        self.assertEqual(self.migrate(source, source.server.port, "a", timeout=50), READING)
        self.assertEqual(source.get("a"), b"1")


class Target:
    """Listens, and calls `serve` with each connection in turn."""

    def __init__(self, serve, backlog=5):
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=backlog)
        self.port = self.listener.getsockname()[1]
        self.connections = 0
        self.serve = serve
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _run(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            self.connections += 1
            with connection:
                self.serve(connection)

    def close(self):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()


def read_request(stream):
    """Reads a request. Returns False at the end of the stream."""
    line = stream.readline()
    for _ in range(int(line[1:] or 0)):
        stream.read(int(stream.readline()[1:]) + 2)
    return bool(line)


def answer(*replies):
    """A target that sends one of these replies per request, and closes after the last one."""
    def serve(connection):
        with connection.makefile("rb") as stream:
            for reply in replies:
                if not read_request(stream):
                    return
                connection.sendall(reply)
    return serve


class BadTargets(MigrationTest):
    def meet(self, source, serve):
        """Returns the target. Stores three keys in the source."""
        source.mset({"a": 1, "b": 2, "c": 3})
        target = Target(serve)
        self.addCleanup(target.close)
        return target

    def check_left(self, source, *keys):
        self.assertEqual(sorted(source.keys()), sorted(key.encode() for key in keys))

    @for_each_source
    def test_no_server_listens(self, source):
        source.set("a", 1)
        self.assertEqual(self.migrate(source, free_port(), "a"), WRITING)
        self.assertEqual(self.migrate(source, "none", "a"), WRITING)
        try:
            source.execute_command("MIGRATE", "no.such.host.invalid", 1, "a", 0, 100)
        except ResponseError as error:
            self.assertEqual(str(error), CONNECTING)
        self.assertEqual(source.info("stats")["migrate_cached_sockets"], 0)

    @for_each_source
    def test_it_does_not_reply(self, source):
        done = threading.Event()
        self.addCleanup(done.set)
        target = self.meet(source, lambda connection: done.wait(60))
        self.assertEqual(self.migrate(source, target.port, "a", timeout=100), READING)
        self.check_left(source, "a", "b", "c")
        self.assertEqual(target.connections, 1)  # a timeout is not retried

    @for_each_source
    def test_it_does_not_read(self, source):
        done = threading.Event()
        self.addCleanup(done.set)

        def serve(connection):
            connection.recv(23)
            connection.sendall(b"+OK\r\n")  # to SELECT
            done.wait(60)

        target = self.meet(source, serve)
        source.set("large", bytes(1 << 25))
        source.config_set("rdbcompression", "no")
        self.assertEqual(self.migrate(source, target.port, "large", timeout=100), WRITING)
        self.assertEqual(source.strlen("large"), 1 << 25)

    @for_each_source
    def test_it_closes_immediately(self, source):
        target = self.meet(source, lambda connection: None)
        self.assertIn(self.migrate(source, target.port, "a"), [READING, WRITING])
        self.check_left(source, "a", "b", "c")
        eventually(lambda: target.connections >= 2)
        self.assertEqual(target.connections, 2)  # one retry

    @for_each_source
    def test_it_closes_in_between(self, source):
        target = self.meet(source, answer(b"+OK\r\n", b"+OK\r\n", b"", b""))
        reply = self.migrate(source, target.port, "", "KEYS", "a", "b", "c")
        self.assertEqual(reply, READING)
        self.check_left(source, "b", "c")  # the acknowledged key is deleted
        self.assertEqual(target.connections, 1)
        self.assertEqual(source.info("stats")["migrate_cached_sockets"], 0)

    @for_each_source
    def test_it_closes_after_an_error(self, source):
        target = self.meet(source, answer(b"+OK\r\n", b"-NO not now\r\n", b"+OK\r\n", b""))
        reply = self.migrate(source, target.port, "", "KEYS", "a", "b", "c")
        self.assertEqual(reply, TARGET + "NO not now")
        self.check_left(source, "a", "c")
        self.assertEqual(source.info("stats")["migrate_cached_sockets"], 0)

    @for_each_source
    def test_it_replies_with_errors(self, source):
        target = self.meet(source, answer(b"+OK\r\n", b"-A one\r\n", b"+OK\r\n",
                                           b"-B two\r\n"))
        reply = self.migrate(source, target.port, "", "KEYS", "a", "b", "c")
        self.assertEqual(reply, TARGET + "A one")
        self.check_left(source, "a", "c")

    def test_it_is_another_kind_of_server(self):
        """Redis takes any reply except an error as an acknowledgement."""
        source = self.start("zsetd")
        source.set("a", 1)
        for reply in [b"HTTP/1.1 400 Bad Request\r\n\r\n", b":1\r\n", b"\r\n", b"\n" * 100, b"+OK"]:
            target = Target(answer(b"+OK\r\n", reply))
            self.addCleanup(target.close)
            self.assertEqual(self.migrate(source, target.port, "a"), READING)
            self.assertEqual(source.get("a"), b"1")

    def test_its_reply_is_endless(self):
        source = self.start("zsetd")
        source.set("a", 1)

        def serve(connection):
            try:
                while True:
                    connection.sendall(bytes(1 << 20))
            except OSError:
                pass

        target = Target(serve)
        self.addCleanup(target.close)
        self.assertIn(self.migrate(source, target.port, "a"), [READING, WRITING])
        self.assertEqual(source.get("a"), b"1")

    def test_a_member_with_a_payload_migrates_to_zsetd_only(self):
        source = self.start("zsetd")
        source.zadd("set", {"a": 1, "b": 2})
        source.execute_command("ZSETDATA", "set", "a", "data")
        other, target = self.start("redis-server"), self.start("zsetd")
        self.assertEqual(self.migrate(source, other.server.port, "set"),
                         TARGET + "ERR Bad data format")
        self.assertEqual(self.migrate(source, target.server.port, "set"), b"OK")
        self.assertEqual(target.execute_command("ZGETDATA", "set", "a", "b"), [b"data", None])

    def test_a_member_with_a_deadline_migrates_to_zsetd_only(self):
        source = self.start("zsetd")
        source.zadd("set", {"a": 1, "b": 2})
        source.execute_command("ZEXPIRE", "set", 1000, "MEMBERS", 1, "a")
        other, target = self.start("redis-server"), self.start("zsetd")
        self.assertEqual(self.migrate(source, other.server.port, "set"),
                         TARGET + "ERR Bad data format")
        self.assertEqual(self.migrate(source, target.server.port, "set"), b"OK")
        self.assertEqual(target.execute_command("ZTTL", "set", "MEMBERS", 2, "a", "b")[1], -1)
        self.assertGreater(target.execute_command("ZTTL", "set", "MEMBERS", 2, "a", "b")[0], 900)


if __name__ == "__main__":
    unittest.main()
