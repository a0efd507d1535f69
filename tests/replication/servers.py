"""Masters and replicas for tests, each in its own process."""

import os
import random
import signal
import unittest

import redis
from redis.backoff import ConstantBackoff
from redis.retry import Retry

from peer import Peer, request as encode
from proxy import Proxy
from server_process import ServerProcess, eventually

ZSETD = os.environ["ZSETD"]
REDIS = "redis-server"
PATIENCE_S = 60


class Server(ServerProcess):
    def __init__(self, program, *options, **more):
        options = ("--repl-diskless-sync-delay", "0", "--repl-ping-replica-period", "1", *options)
        super().__init__(program, *options, **more)
        self.program = program
        self.options = options
        self.client = self.connect()

    def kill(self):
        self.expected_exit_code = -signal.SIGKILL
        super().kill()

    def connect(self, **options):
        """Returns a client that reconnects after the server or a Sentinel has closed its
        connection."""
        return redis.Redis(port=self.port, socket_timeout=PATIENCE_S,
                           retry=Retry(ConstantBackoff(0.05), 3),
                           retry_on_error=[redis.ConnectionError], **options)

    def follow(self, port):
        self.client.execute_command("REPLICAOF", "127.0.0.1", port)

    def info(self, section="replication"):
        return self.client.info(section)

    def is_linked(self):
        return self.info().get("master_link_status") == "up"

    def digest(self):
        return self.client.execute_command("DEBUG", "DIGEST")


class ReplicationTest(unittest.TestCase):
    def start(self, program, *options, **more):
        server = Server(program, *options, **more)
        self.addCleanup(self._see_off, server)
        return server

    def _see_off(self, server):
        server.client.close()
        self.assertIsNone(server.stop())

    def proxy_to(self, server):
        proxy = Proxy(server.port)
        self.addCleanup(proxy.close)
        return proxy

    def await_that(self, holds, what, patience_s=PATIENCE_S):
        """Fails if `holds` never returns a true value. `what` is the message, or a function that
        returns it."""
        if not eventually(holds, patience_s):
            self.fail(what() if callable(what) else what)

    def await_link(self, replica):
        self.await_that(replica.is_linked, "no link: " + replica.log()[-2000:])

    def assert_same(self, master, replica):
        """Waits until both servers have the same data."""
        is_same = lambda: (replica.info()["master_repl_offset"] ==
                           master.info()["master_repl_offset"]
                           and master.digest() == replica.digest())
        self.await_that(is_same, f"{master.info()}\n{replica.info()}\n{replica.log()[-2000:]}")


class Load:
    """Random changes of all types in several databases, with the commands of Redis 7.0."""

    SCRIPT = ("redis.call('incr', KEYS[1]) redis.call('rpush', KEYS[2], ARGV[1]) "
              "return redis.call('srandmember', KEYS[3])")

    def __init__(self, seed, expires=True):
        """Without `expires` no key has a deadline."""
        self.random = random.Random(seed)
        self.expires = expires

    def run(self, server, count):
        """Sends `count` requests, some in transactions. Ignores the replies."""
        requests = []
        for _ in range(count):
            if self.random.random() < 0.05:
                requests.append(("SELECT", self.random.randrange(4)))
            if self.random.random() < 0.1:
                requests += [("MULTI",), *(self.request() for _ in range(self.random.randrange(4))),
                             ("EXEC",)]
            else:
                requests.append(self.request())
        peer = Peer(server.port)
        peer.socket.sendall(b"".join(encode(*words) for words in requests))
        for _ in requests:
            peer.reply()
        peer.close()

    def request(self):
        while True:
            request = self._any()
            if self.expires or not {"PX", "EXPIRE", "PEXPIRE"} & set(request):
                return request

    def _any(self):
        pick = self.random
        key = lambda kind: f"{kind}{pick.randrange(8)}"
        word = lambda: f"w{pick.randrange(60)}"
        number = lambda: pick.randrange(1000)
        any_key = lambda: key(pick.choice("slhtzgpx"))
        return pick.choice([
            lambda: ("SET", key("s"), word() * pick.randrange(1, 200)),
            lambda: ("SET", key("s"), word(), "PX", 50 + number()),
            lambda: ("INCRBYFLOAT", key("f"), "1.5"),
            lambda: ("APPEND", key("s"), word()),
            lambda: ("SETRANGE", key("s"), pick.randrange(50), word()),
            lambda: ("BITFIELD", key("b"), "SET", "u8", number(), pick.randrange(256)),
            lambda: ("PFADD", key("p"), *(number() for _ in range(pick.randrange(300)))),
            lambda: ("PFCOUNT", key("p")),
            lambda: ("PFMERGE", key("p"), key("p"), key("p")),
            lambda: ("PFDEBUG", "TODENSE" if number() < 200 else "ENCODING", key("p")),
            lambda: ("GETDEL", key("s")),
            lambda: ("LPUSH", key("l"), word(), word()),
            lambda: ("RPOP", key("l")),
            lambda: ("LMOVE", key("l"), key("l"), "LEFT", "RIGHT"),
            lambda: ("LINSERT", key("l"), "BEFORE", word(), word()),
            lambda: ("HSET", key("h"), word(), number(), word(), word()),
            lambda: ("HINCRBYFLOAT", key("h"), "n", "0.25"),
            lambda: ("HDEL", key("h"), word()),
            lambda: ("SADD", key("t"), *(word() for _ in range(pick.randrange(1, 30)))),
            lambda: ("SADD", key("t"), number(), number()),
            lambda: ("SPOP", key("t"), pick.randrange(5)),
            lambda: ("SINTERSTORE", key("t"), key("t"), key("t")),
            lambda: ("ZADD", key("z"), number(), word(), pick.random() * 100, word()),
            lambda: ("ZADD", key("z"), "INCR", number(), word()),
            lambda: ("ZPOPMIN", key("z"), pick.randrange(4)),
            lambda: ("ZREMRANGEBYRANK", key("z"), 0, pick.randrange(3)),
            lambda: ("ZUNIONSTORE", key("z"), 2, key("z"), key("z")),
            lambda: ("ZRANGESTORE", key("z"), key("z"), 0, 20),
            lambda: ("GEOADD", key("g"), pick.uniform(-90, 90), pick.uniform(-80, 80), word()),
            lambda: ("XADD", key("x"), "*", word(), number(), word(), word()),
            lambda: ("XADD", key("x"), pick.choice(("MAXLEN", "MINID")), "~", number(), "*", word(), number()),
            lambda: ("XTRIM", key("x"), "MAXLEN", pick.choice("=~"), number()),
            lambda: ("XGROUP", "CREATE", key("x"), "g", pick.choice("0$")),
            lambda: ("XREADGROUP", "GROUP", "g", word(), "COUNT", number(), "STREAMS", key("x"), ">"),
            lambda: ("XAUTOCLAIM", key("x"), "g", word(), 0, "-", "COUNT", number()),
            lambda: ("XGROUP", "DELCONSUMER", key("x"), "g", word()),
            lambda: ("EVAL", self.SCRIPT, 3, key("n"), key("l"), key("t"), word()),
            lambda: ("EXPIRE", any_key(), 1 + pick.randrange(100)),
            lambda: ("PEXPIRE", any_key(), 20 + number()),
            lambda: ("PERSIST", any_key()),
            lambda: ("DEL", any_key()),
            lambda: ("RENAME", any_key(), key("s")),
            lambda: ("COPY", any_key(), key("z"), "REPLACE"),
            lambda: ("MOVE", any_key(), pick.randrange(4)),
            lambda: ("SORT", key("l"), "ALPHA", "STORE", key("l")),
            lambda: ("SWAPDB", pick.randrange(4), pick.randrange(4)) if number() < 50
            else ("PUBLISH", "news", word()),
            lambda: ("FLUSHDB",) if number() < 20 else ("INCR", key("n")),
        ])()
