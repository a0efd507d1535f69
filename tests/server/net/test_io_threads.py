"""Several threads that serve clients (io-threads): the results must be those of one thread. Each test
runs clients at the same time, at random, and compares what they see with a model."""

import contextlib
import os
import random
import re
import signal
import threading
import time
import unittest

from peer import Peer, request
from server_process import eventually
from zsetd import SANITIZED, ZsetdTest

SEED = int(os.environ.get("SEED", random.randrange(1 << 30)))
SCALE = float(os.environ.get("SCALE", 1))  # of the number of steps
SECONDS = float(os.environ.get("SECONDS", 2))  # of the test with a thousand clients
THREADS = 4


class IoThreadsTest(ZsetdTest):
    def start(self, *options, **more):
        return super().start("--io-threads", str(THREADS), *options, **more)

    def run_together(self, *functions):
        """Runs the functions on threads of their own. Each gets a random generator."""
        problems = []

        def run(number, function):
            try:
                function(random.Random(SEED + number))
            except Exception as problem:  # reported by the test's own thread
                problems.append(problem)

        threads = [threading.Thread(target=run, args=arguments) for arguments in enumerate(functions)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if problems:
            raise AssertionError(f"SEED={SEED}") from problems[0]

    def steps(self, count):
        return range(max(int(count * SCALE), 1))

    @staticmethod
    def threads(client):
        """Returns the figures of each thread in INFO."""
        text = client.ask("INFO", "threads").decode()
        return [{name: int(value) for name, value in re.findall(r"(\w+)=(\d+)", line)}
                for line in re.findall(r"io_thread_\d+:(.*)\r", text)]


class Threads(IoThreadsTest):
    def test_share_the_clients(self):
        self.start()
        clients = [self.connect() for _ in range(4 * THREADS)]
        for client in clients:
            self.assertEqual(client.ask("PING"), b"PONG")
        figures = self.threads(clients[0])
        self.assertEqual(len(figures), THREADS)
        for number, each in enumerate(figures):
            self.assertEqual(each["clients"], 4)
            self.assertGreaterEqual(each["requests"], 4)
            self.assertEqual(clients[0].ask("CLIENT", "LIST").count(b" io-thread=%d " % number), 4)
        for client in clients[1:]:
            client.close()
        count = lambda: sum(each["clients"] for each in self.threads(clients[0]))
        self.assertTrue(eventually(lambda: count() == 1))

    def test_are_set_at_the_start_only(self):
        self.start()
        client = self.connect()
        self.assertEqual(client.ask("CONFIG", "GET", "io-threads"), [b"io-threads", b"4"])
        self.assertIn("can't set immutable config", str(client.ask("CONFIG", "SET", "io-threads", 2)))
        self.assertIn(b"io_threads_active:1\r\n", client.ask("INFO", "server"))

    def test_wait_without_using_the_processor(self):
        self.start("--hz", "1")
        for _ in range(THREADS):
            self.connect().ask("PING")
        self.assertLess(self.server.cpu_seconds_of(1), 0.1)

    def test_end_with_the_server(self):
        for how in ("SIGTERM", "SHUTDOWN", "NOW"):
            with self.subTest(how):
                server = self.start()
                clients = [self.connect() for _ in range(2 * THREADS)]
                for client in clients:
                    client.send("BLPOP", "list", 0)
                last = self.connect()
                last.ask("PING")
                if how == "SIGTERM":
                    server.ask_to_leave()
                else:
                    last.send("SHUTDOWN", *([how] if how == "NOW" else []))
                self.assertEqual(server.exit_code(), 0)
                for client in clients:
                    self.assertEqual(client.rest_until_broken(), b"")

    def test_run_the_requests_that_have_arrived_before_the_end(self):
        server = self.start("--appendonly", "yes")
        clients = [self.connect() for _ in range(2 * THREADS)]
        for client in clients:
            client.ask("PING")
        with server.frozen():
            for number, client in enumerate(clients):
                client.send_until_arrived(request("SET", f"key{number}", "value") * 100)
            server.ask_to_leave()
        for client in clients:
            self.assertEqual(client.rest(), b"+OK\r\n" * 100)
        self.assertEqual(server.exit_code(), 0)


class Deadlines(IoThreadsTest):
    """A request on any thread may set a deadline that the main thread must meet."""

    def setUp(self):
        self.start("--hz", "1", "--notify-keyspace-events", "Ex")
        self.clients = [self.connect() for _ in range(THREADS)]

    def test_of_waits(self):
        for client in self.clients:
            start = time.monotonic()
            self.assertIsNone(client.ask("BLPOP", "list", "0.05"))
            self.assertLess(time.monotonic() - start, 0.5)

    def test_of_keys(self):
        subscriber = self.connect()
        subscriber.ask("SUBSCRIBE", "__keyevent@0__:expired")
        for client in self.clients:
            start = time.monotonic()
            client.ask("SET", "key", "value", "PX", 50)
            self.assertEqual(subscriber.reply()[2], b"key")
            self.assertLess(time.monotonic() - start, 0.5)

    def test_of_a_pause(self):
        for client in self.clients:
            self.assertEqual(client.ask("CLIENT", "PAUSE", 50, "WRITE"), b"OK")
            start = time.monotonic()
            self.assertEqual(client.ask("SET", "key", "value"), b"OK")
            self.assertLess(time.monotonic() - start, 0.5)


class Requests(IoThreadsTest):
    def test_transactions_are_atomic(self):
        """Transfers between accounts keep the sum, which other transactions and scripts see."""
        self.start()
        accounts = [f"account{number}" for number in range(5)]
        self.connect().ask("MSET", *(word for name in accounts for word in (name, 100)))

        def transfer(rng):
            client = self.connect()
            for _ in self.steps(300):
                source, target = rng.sample(accounts, 2)
                amount = rng.randrange(10)
                client.ask("WATCH", source)
                balance = int(client.ask("GET", source))
                client.send("MULTI")
                client.send("SET", source, balance - amount)  # wrong, unless WATCH works
                client.send("INCRBY", target, amount)
                client.send("EXEC")
                replies = [client.reply() for _ in range(4)]
                if replies[3] is not None and replies[3][0] != b"OK":
                    raise AssertionError(replies)

        def check(rng):
            client = self.connect()
            script = ("local sum = 0 for _, key in ipairs(KEYS) do sum = sum + redis.call('GET', key) "
                      "end return sum")
            for _ in self.steps(300):
                if rng.random() < 0.5:
                    client.ask("MULTI")
                    for name in accounts:
                        client.ask("GET", name)
                    total = sum(map(int, client.ask("EXEC")))
                else:
                    total = client.ask("EVAL", script, len(accounts), *accounts)
                if total != 500:
                    raise AssertionError(total)

        self.run_together(*[transfer] * 6, *[check] * 3)

    def test_each_element_is_popped_once(self):
        """Consumers block, time out, disconnect while they wait, and pop in transactions."""
        self.start()
        count = len(self.steps(400))
        producers, consumers = 4, 6
        popped = [[] for _ in range(consumers)]
        done = threading.Event()

        def produce(number):
            def run(rng):
                client = self.connect()
                for i in range(count):
                    client.ask(rng.choice(["RPUSH", "LPUSH"]), f"queue{rng.randrange(2)}",
                               f"{number}:{i}")
            return run

        def consume(number):
            def run(rng):
                client = self.connect()
                while True:
                    ends = done.is_set()
                    reply = client.ask("BLPOP", "queue0", "queue1", rng.choice(["0.01", "0.05"]))
                    if reply is not None:
                        popped[number].append(reply[1])
                    elif ends:
                        return
                    if rng.random() < 0.02:
                        client.close()
                        client = self.connect()
            return run

        def produce_all(_):
            self.run_together(*map(produce, range(producers)))
            done.set()

        self.run_together(produce_all, *map(consume, range(consumers)))
        found = sorted(element for each in popped for element in each)
        self.assertEqual(found, sorted(f"{number}:{i}".encode() for number in range(producers)
                                       for i in range(count)), f"SEED={SEED}")

    def test_a_client_that_disconnects_while_it_waits_loses_no_element(self):
        self.start()
        client = self.connect()
        for _ in self.steps(200):
            waiting = [self.connect() for _ in range(3)]
            for each in waiting:
                each.send("BLPOP", "list", 0)
            if not eventually(lambda: b"blocked_clients:3\r" in client.ask("INFO", "clients")):
                self.fail("the clients do not block")
            for each in waiting:
                each.vanish()
            if not eventually(lambda: b"blocked_clients:0\r" in client.ask("INFO", "clients")):
                self.fail("the clients do not leave")
            self.assertEqual(client.ask("RPUSH", "list", "element"), 1)
            self.assertEqual(client.ask("LPOP", "list"), b"element")

    def test_messages_arrive_in_order_at_all_subscribers(self):
        self.start()
        count = len(self.steps(400))
        publishers, subscribers = 3, 5
        ready = threading.Barrier(publishers + subscribers)
        received = [[] for _ in range(subscribers)]

        def publish(number):
            def run(rng):
                client = self.connect()
                ready.wait()
                for i in range(count):
                    reply = client.ask("PUBLISH", f"channel{number}", i)
                    if reply != subscribers:
                        raise AssertionError(reply)
                    if rng.random() < 0.1:
                        client.ask("SET", "key", i)
            return run

        def subscribe(number):
            def run(_):
                client = self.connect()
                client.ask("PSUBSCRIBE", "channel*")
                ready.wait()
                for _ in range(publishers * count):
                    _, _, channel, message = client.reply()
                    received[number].append((channel, int(message)))
            return run

        self.run_together(*map(publish, range(publishers)), *map(subscribe, range(subscribers)))
        for each in received:
            self.assertEqual(each, received[0], f"not one order; SEED={SEED}")
        for number in range(publishers):
            mine = [message for channel, message in received[0]
                    if channel == f"channel{number}".encode()]
            self.assertEqual(mine, list(range(count)))

    def test_killed_clients_have_run_what_they_have_replies_for(self):
        """Each victim counts in a key of its own. A victim whose connection ends may have run one
        request more than it has replies."""
        self.start()
        victims = 6
        done = threading.Event()
        acknowledged, ends = [0] * victims, [0] * victims

        def live(number):
            def run(_):
                while not done.is_set():
                    client = Peer(self.server.port)
                    with contextlib.closing(client):
                        try:
                            client.ask("CLIENT", "SETNAME", f"victim{number}")
                            while not done.is_set():
                                reply = client.ask("INCR", f"key{number}")
                                if not isinstance(reply, int):
                                    raise AssertionError(reply)
                                acknowledged[number] += 1
                        except (EOFError, ConnectionError):
                            ends[number] += 1
            return run

        def kill(rng):
            client = self.connect()
            for _ in self.steps(300):
                clients = re.findall(r"id=(\d+) .*? name=(\S*)",
                                     client.ask("CLIENT", "LIST").decode())
                found = [number for number, name in clients if name.startswith("victim")]
                if found:
                    client.ask("CLIENT", "KILL", "ID", rng.choice(found))
            done.set()

        self.run_together(*map(live, range(victims)), kill)
        client = self.connect()
        for number in range(victims):
            run = int(client.ask("GET", f"key{number}") or 0)
            self.assertLessEqual(acknowledged[number], run, f"SEED={SEED}")
            self.assertLessEqual(run, acknowledged[number] + ends[number], f"SEED={SEED}")
        self.assertGreater(sum(ends), 0)

    def test_a_slow_script_lets_all_threads_refuse_requests(self):
        self.start("--busy-reply-threshold", "50")
        others = [self.connect() for _ in range(2 * THREADS)]
        for client in others:
            client.ask("PING")
        slow = self.connect()
        slow.send("EVAL", "while true do end", 0)
        time.sleep(0.1)
        for client in others:
            self.assertIn("BUSY", str(client.ask("GET", "key")))
        self.assertEqual(others[0].ask("SCRIPT", "KILL"), b"OK")
        self.assertIn("Script killed", str(slow.reply()))
        for client in others:
            self.assertIsNone(client.ask("GET", "key"))

    def test_tracking_and_monitor_cross_threads(self):
        self.start()
        readers = [self.connect() for _ in range(THREADS)]
        for client in readers:
            client.ask("HELLO", 3)
            self.assertEqual(client.ask("CLIENT", "TRACKING", "ON"), b"OK")
            self.assertIsNone(client.ask("GET", "key"))
        monitor = self.connect()
        self.assertEqual(monitor.ask("MONITOR"), b"OK")
        self.connect().ask("SET", "key", "value")
        for client in readers:
            self.assertEqual(client.reply(), [b"invalidate", [b"key"]])
        self.assertIn(b'"SET" "key" "value"', monitor.reply())

    def test_clients_do_everything_at_random(self):
        """No model: the server stays up, and ends without an error."""
        self.start("--appendonly", "yes", "--maxmemory-clients", "1mb")
        big = b"x" * 3000

        def run(rng):
            client = Peer(self.server.port)
            for _ in self.steps(150):
                key = f"key{rng.randrange(20)}"
                steps = [
                    [("SET", key, big), ("GET", key)], [("DEL", key)], [("INCR", "number")],
                    [("ZADD", "set", rng.randrange(99), key), ("ZRANGE", "set", 0, -1)],
                    [("MULTI",), ("RPUSH", "list", key), ("LPOP", "list"), ("EXEC",)],
                    [("BLPOP", "list", "0.001")], [("RPUSH", "list", "element")],
                    [("SUBSCRIBE", "channel"), ("UNSUBSCRIBE", "channel")],
                    [("PUBLISH", "channel", big)] * 5, [("CLIENT", "LIST")],
                    [("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes", "ID", rng.randrange(500))],
                    [("CLIENT", "NO-EVICT", "on")], [("CLIENT", "REPLY", "SKIP"), ("PING",), ("PING",)],
                    [("SET", key, "x", "PX", 2)], [("EVAL", "return redis.call('INCR', 'n')", 0)],
                    [("CONFIG", "SET", "maxmemory-clients", rng.choice(["100kb", "1mb"]))],
                    [("INFO",)], [("FLUSHALL", rng.choice(["SYNC", "ASYNC"]))], [("BGSAVE",)],
                    [("CONFIG", "SET", "appendfsync", rng.choice(["always", "everysec"]))],
                ]
                words = rng.choice(steps)
                try:
                    client.socket.sendall(b"".join(request(*each) for each in words))
                    if rng.random() < 0.9:
                        client.reply()
                    if rng.random() < 0.1:
                        raise EOFError
                except (EOFError, ConnectionError):
                    rng.choice([client.close, client.vanish])()
                    client = Peer(self.server.port)
            client.close()

        self.run_together(*[run] * 12)
        self.assertEqual(self.connect().ask("PING"), b"PONG")

    def test_a_thousand_clients_subscribe_block_kill_and_leave(self):
        """No model: the server stays up, serves all, and forgets the clients. SECONDS is the time."""
        self.start("--maxclients", "2000", "--appendonly", "yes")
        until = time.monotonic() + SECONDS
        killed = (EOFError, ConnectionError, RuntimeError)

        def live(rng):
            clients = []
            while time.monotonic() < until or len(clients) < 125:
                if len(clients) < 125:
                    clients.append(Peer(self.server.port))
                client = rng.choice(clients)
                steps = [
                    [("SUBSCRIBE", f"channel{rng.randrange(5)}")], [("PUBLISH", "channel1", "message")],
                    [("BLPOP", f"list{rng.randrange(5)}", "0.05")], [("RPUSH", "list1", "element")],
                    [("BZPOPMIN", "board", "0.05")], [("ZADD", "board", 1, rng.randrange(9))],
                    [("MULTI",), ("INCR", "number"), ("EXEC",)], [("GET", "number")],
                    [("CLIENT", "KILL", "ID", rng.randrange(2, 3000))], [("PSUBSCRIBE", "c*")],
                    [("CLIENT", "KILL", "TYPE", "pubsub")], [("ZRANK", "board", "1"), ("GET", "number")],
                    [("CLIENT", "TRACKING", "ON", "BCAST")], [("WAIT", 1, 20)],
                ]
                try:
                    client.socket.sendall(b"".join(request(*each) for each in rng.choice(steps)))
                    if rng.random() < 0.03:
                        raise EOFError
                except killed:
                    clients.remove(client)
                    rng.choice([client.close, client.vanish])()
            for client in clients:
                client.close()

        self.run_together(*[live] * 8)
        last = self.connect()
        count = lambda: b"connected_clients:1\r" in last.ask("INFO", "clients")
        self.assertTrue(eventually(count), last.ask("CLIENT", "LIST"))
        self.assertIn(b"blocked_clients:0\r", last.ask("INFO", "clients"))
        self.assertEqual(last.ask("PUBSUB", "CHANNELS"), [])


class Limits(IoThreadsTest):
    def test_of_users_change_for_the_next_request_on_every_thread(self):
        """Also of requests that run in shared turns."""
        self.start()
        admins = [self.connect() for _ in range(THREADS)]
        admins[0].ask("SET", "key", "value")
        admins[0].ask("ACL", "SETUSER", "reader", "on", "nopass", "~*", "+get", "+ping")
        readers = [self.connect() for _ in range(2 * THREADS)]
        for reader in readers:
            self.assertEqual(reader.ask("AUTH", "reader", "any"), b"OK")
        for number in self.steps(10):
            admin = admins[number % THREADS]
            for rule, expected in (("-get", "NOPERM"), ("+get", "value"), ("resetkeys", "NOPERM"),
                                   ("~*", "value")):
                self.assertEqual(admin.ask("ACL", "SETUSER", "reader", rule), b"OK")
                for reader in readers:
                    self.assertIn(expected, str(reader.ask("GET", "key")), rule)
        for reader in readers[::2]:
            reader.send("GET", "key")
        self.assertEqual(admins[1].ask("ACL", "DELUSER", "reader"), 1)
        for number, reader in enumerate(readers):
            self.assertIn(reader.rest_until_broken(), (b"", b"$5\r\nvalue\r\n"), number)

    @unittest.skipIf(SANITIZED, "memory is counted in another way")
    def test_of_memory_hold_while_all_threads_write_and_read(self):
        """The replies that other threads are sending evict no keys."""
        limit, size, count = 12 << 20, 100_000, 50
        self.start("--maxmemory", str(limit), "--maxmemory-policy", "allkeys-lru")

        def use(rng):
            client = self.connect()
            for _ in self.steps(100):
                if client.ask("SET", f"key{rng.randrange(4 * count)}", b"x" * size) != b"OK":
                    raise AssertionError("not set")
                client.ask("GET", f"key{rng.randrange(4 * count)}")

        self.run_together(*[use] * 2 * THREADS)
        client = self.connect()
        used = lambda: int(re.search(r"used_memory:(\d+)", client.ask("INFO", "memory").decode())[1])
        self.assertTrue(eventually(lambda: used() < limit + size), used())
        self.assertGreater(int(re.search(rb"evicted_keys:(\d+)", client.ask("INFO", "stats"))[1]), 0)
        self.assertGreater(client.ask("DBSIZE"), count)


class Settings(IoThreadsTest):
    def test_listeners_change_from_any_thread(self):
        self.start()
        clients = [self.connect() for _ in range(THREADS)]
        for round_number in self.steps(10):
            client = clients[round_number % THREADS]
            address = "127.0.0.1" if round_number % 2 else "127.0.0.1 127.0.0.2"
            self.assertEqual(client.ask("CONFIG", "SET", "bind", address), b"OK")
            self.connect().ask("PING")

    def test_a_master_is_followed_from_any_thread(self):
        master = self.start("--repl-diskless-sync-delay", "0")
        self.connect().ask("SET", "key", "value")
        self.start()
        clients = [self.connect() for _ in range(THREADS)]
        for client in clients * 2:
            self.assertEqual(client.ask("REPLICAOF", "127.0.0.1", master.port), b"OK")
            self.assertTrue(eventually(
                lambda: b"master_link_status:up" in client.ask("INFO", "replication")))
            self.assertEqual(client.ask("GET", "key"), b"value")
            self.assertEqual(client.ask("REPLICAOF", "NO", "ONE"), b"OK")

    def test_the_log_file_is_reopened_under_load(self):
        server = self.start("--loglevel", "verbose")

        def connect(_):
            for _ in self.steps(100):
                with contextlib.closing(Peer(server.port)) as client:
                    client.ask("PING")

        def reopen(_):
            for _ in self.steps(20):
                server.process.send_signal(signal.SIGHUP)
                time.sleep(0.01)

        self.run_together(reopen, *[connect] * 4)


if __name__ == "__main__":
    unittest.main()
