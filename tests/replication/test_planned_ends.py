"""Planned shutdowns of masters under load, with random behaviour of the replicas. If the master
reports that a replica is in sync, that replica has every acknowledged write."""

import os
import random
import re
import signal
import threading
import time

from peer import Peer
from servers import REDIS, ZSETD, ReplicationTest

ROUNDS = int(os.environ.get("ROUNDS", "8"))
SEED = int(os.environ.get("SEED", "0")) or random.SystemRandom().randrange(1, 1 << 32)
WRITERS = 4
TIMEOUT_S = 60

ENDS = (("SIGTERM",), ("SIGTERM", "SIGTERM"), ("SIGINT",), ("SHUTDOWN",), ("SHUTDOWN", "SHUTDOWN"),
        ("SHUTDOWN NOSAVE",), ("SHUTDOWN SAVE",), ("SHUTDOWN FORCE",), ("SIGTERM", "SHUTDOWN FORCE"),
        ("SHUTDOWN", "ABORT", "SIGTERM"), ("SIGTERM", "ABORT", "SHUTDOWN"))


class Writer(threading.Thread):
    """Appends numbers to its own list until the server closes its connection."""

    def __init__(self, port, name, pick):
        super().__init__(daemon=True)
        self.name = name
        self.acknowledged = 0
        self.pick = pick
        self.peer = Peer(port)
        self.peer.socket.settimeout(TIMEOUT_S)

    def run(self):
        try:
            while True:
                count = self.pick.choice((1, 1, 16))
                self.send(count)
                for _ in range(count):
                    length = self.peer.reply()
                    if not isinstance(length, int):
                        return
                    self.acknowledged = length
        except (OSError, EOFError):
            pass

    def send(self, count):
        filler = "x" * self.pick.choice((1, 100, 3000))
        for _ in range(count):
            self.peer.send("RPUSH", self.name, filler)


class PlannedEnds(ReplicationTest):
    def setUp(self):
        self.pick = random.Random(SEED)

    def start_group(self):
        self.master = self.start(ZSETD, "--shutdown-timeout", str(TIMEOUT_S))
        self.proxy = self.proxy_to(self.master)
        programs = [ZSETD, self.pick.choice((ZSETD, ZSETD, REDIS))]
        self.replicas = [self.start(program, "--replicaof", f"127.0.0.1 {port}")
                         for program, port in zip(programs, (self.master.port, self.proxy.port))]
        for replica in self.replicas:
            self.await_link(replica)
        self.await_that(lambda: self.master.client.wait(2, 20) == 2, self.master.log)

    def hold_up(self):
        """Stops one replica, stalls the link of the other, does both, or neither. Returns functions
        that undo it."""
        ways = [(lambda: self.replicas[0].process.send_signal(signal.SIGSTOP),
                 lambda: self.replicas[0].process.send_signal(signal.SIGCONT)),
                (self.proxy.stall, self.proxy.flow)]
        chosen = [way for way in ways if self.pick.random() < 0.6]
        for begin, _ in chosen:
            begin()
        return [end for _, end in chosen]

    def ask(self, word):
        if word.startswith("SIG"):
            return self.master.ask_to_leave(getattr(signal, word))
        peer = Peer(self.master.port)
        self.addCleanup(peer.close)
        if word == "ABORT":
            return peer.ask("SHUTDOWN", "ABORT")
        return peer.send(*word.split())

    def ask_in_turn(self, words):
        """Sends the words. Waits until each word has taken effect before it sends the next, unless
        the server has ended."""
        for word in words:
            try:
                self.ask(word)
            except (OSError, EOFError):
                return
            if word != "ABORT":
                self.await_that(lambda: self.master.ended() or self.waits(), self.master.log)

    def waits(self):
        """Returns whether the master waits for replicas, or has already stopped waiting."""
        if "replicas are in sync when shutting down." in self.master.log():
            return True
        try:
            peer = Peer(self.master.port)
        except OSError:
            return True
        try:
            return b"shutdown_in_milliseconds" in peer.ask("INFO", "server")
        except (OSError, EOFError):
            return True
        finally:
            peer.close()

    def check_round(self):
        self.start_group()
        writers = [Writer(self.master.port, f"l{number}", random.Random(self.pick.random()))
                   for number in range(WRITERS)]
        for writer in writers:
            writer.start()
        self.await_that(lambda: all(writer.acknowledged > 100 for writer in writers),
                        self.master.log)
        resume = self.hold_up()
        before = sum(writer.acknowledged for writer in writers)
        self.await_that(lambda: sum(writer.acknowledged for writer in writers) > before + 200,
                        self.master.log)
        ends = self.pick.choice(ENDS)
        story = f"seed {SEED}: {ends}, {len(resume)} held up"
        self.ask_in_turn(ends)
        for end in self.pick.sample(resume, len(resume)):
            time.sleep(self.pick.random() * 0.3)  # one after the other, for different interleavings
            end()
        try:
            self.assertEqual(self.master.exit_code(), 0)
        except Exception as failure:
            raise AssertionError(f"{story}\n{self.master.log()}") from failure
        for writer in writers:
            writer.join(TIMEOUT_S)
            self.assertFalse(writer.is_alive(), story)
            writer.peer.close()
        counts = re.findall(r"(\d) of (\d) replicas are in sync when shutting down", self.master.log())
        self.assertEqual(counts[-1:], [("2", "2")], f"{story}\n{self.master.log()}")
        acknowledged = {writer.name: writer.acknowledged for writer in writers}
        for replica in self.replicas:
            has_all = lambda: all(replica.client.llen(name) >= length
                                  for name, length in acknowledged.items())
            self.await_that(has_all, lambda: f"{story}\n{acknowledged}, the replica has "
                            f"{[replica.client.llen(name) for name in acknowledged]}\n"
                            f"{self.master.log()}", patience_s=10)
        self.proxy.close()

    def test_no_acknowledged_write_is_lost(self):
        for _ in range(ROUNDS):
            self.check_round()
            self.doCleanups()


if __name__ == "__main__":
    import unittest
    unittest.main()
