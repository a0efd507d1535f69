"""The replies of a replica that is loading its master's data, compared with redis-server."""

import contextlib

from peer import Peer, request
from servers import REDIS, ZSETD, ReplicationTest

KEYS = 300_000  # of the first try; a fast machine needs more
MOST_TRIES = 7
# Makes redis-server serve clients often enough during the load.
OPTIONS = ("--loading-process-events-interval-bytes", "1024")

LOADS = {"swapdb": "async_loading", "disabled": "loading"}  # the field of INFO

ASKED = [("PING",), ("GET", "old"), ("SET", "new", "1"), ("EXISTS", "key:1"), ("CONFIG", "REWRITE"),
         ("SAVE",), ("BGSAVE",), ("BGREWRITEAOF",), ("PSYNC", "?", "-1"), ("SYNC",),
         ("MODULE", "LOAD", "/nothing"), ("CLUSTER", "MEET", "127.0.0.1", "1"),
         ("REPLICAOF", "127.0.0.1", "1"), ("SLAVEOF", "NO", "ONE"), ("PUBLISH", "news", "x"),
         ("EVAL", "return redis.call('get', 'old')", "0"), ("FUNCTION", "LIST"),
         ("MULTI",), ("GET", "old"), ("EXEC",), ("MULTI",), ("BGSAVE",), ("EXEC",)]

# Queued before the load; EXEC is sent during the load.
QUEUED = [[("GET", "old")], [("PING",), ("BGSAVE",)], [("SLAVEOF", "NO", "ONE")],
          [("PUBLISH", "news", "x")], []]


class Loading(ReplicationTest):
    maxDiff = None

    def answers(self, program, how):
        """Returns the replies at one moment of the load of a full synchronization, with a master
        that the replica has followed before. Each transaction has its own client."""
        master = self.start(REDIS, "--repl-backlog-size", "16kb")
        master.client.set("old", "value")
        proxy = self.proxy_to(master)
        options = OPTIONS if program == REDIS else ()
        replica = self.start(program, *options, "--repl-diskless-load", how)
        replica.follow(proxy.port)
        self.await_link(replica)
        for tries in range(MOST_TRIES):
            master.client.execute_command("DEBUG", "POPULATE", KEYS << tries // 2, "key", 20)
            with contextlib.ExitStack() as stack:
                peers = [stack.enter_context(contextlib.closing(Peer(replica.port)))
                         for _ in range(1 + len(QUEUED))]
                for peer, queued in zip(peers[1:], QUEUED, strict=True):
                    for words in (("MULTI",), *queued):
                        peer.ask(*words)
                syncs = master.client.info("stats")["sync_full"]
                proxy.stall()
                proxy.cut()
                master.client.set("long", "x" * 100_000)
                proxy.flow()
                self.await_that(lambda: replica.client.info("persistence")[LOADS[how]] == 1 or
                                (master.client.info("stats")["sync_full"] > syncs and
                                 replica.is_linked()), replica.log)
                requests = b"".join(request(*words) for words in ASKED)
                for peer in peers[1:]:
                    peer.send("EXEC")
                peers[0].socket.sendall(requests)
                replies = [[peer.reply()] for peer in peers[1:]]
                replies.append([peers[0].reply() for _ in ASKED])
                if replica.client.info("persistence")[LOADS[how]] == 1:
                    return [str(reply) for part in replies for reply in part]
                self.await_link(replica)
        return self.fail(f"{program} is never asked while it loads")

    def test_replies_are_those_of_redis_while_the_old_data_is_kept(self):
        self.assertEqual(self.answers(REDIS, "swapdb"), self.answers(ZSETD, "swapdb"))

    def test_replies_are_those_of_redis_after_the_old_data_is_dropped(self):
        self.assertEqual(self.answers(REDIS, "disabled"), self.answers(ZSETD, "disabled"))
