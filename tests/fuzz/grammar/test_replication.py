"""Random streams of a master, valid ones and mutated ones, in pieces.

After a valid stream the replica has the data of a server that received the same requests, and has acknowledged
the offset. After a mutated stream it still runs, its data is consistent, and it follows a valid master again.
See mutations.py for the variables."""

import pathlib
import random
import tempfile
import unittest

from fake_master import FakeMaster
from mutations import ROUNDS, SEED, mutated, pieces
from peer import Peer, request
from server_process import eventually
from servers import ZSETD, ReplicationTest
from stream_grammar import Stream

class Grammar(ReplicationTest):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.snapshot_file = pathlib.Path(folder.name, "dump.rdb")
        self.reference = self.start(ZSETD, "--dir", folder.name)
        self.replica = self.start(ZSETD)
        self.master = FakeMaster()
        self.addCleanup(self.master.close)

    def play(self, stream):
        """Sends the requests to the reference."""
        requests = [words for words in stream.requests if words[0] != "REPLCONF"]
        peer = Peer(self.reference.port)
        peer.socket.sendall(b"".join(request(*words) for words in requests))
        for words in requests:
            reply = peer.reply()
            for each in reply if isinstance(reply, list) else [reply]:
                self.assertNotIsInstance(each, RuntimeError, words)
        peer.close()

    def prepare(self, source):
        """Returns the header and the snapshot of a master, and the stream that follows."""
        self.reference.client.flushall()
        self.play(Stream(source))
        self.reference.client.save()
        snapshot = self.snapshot_file.read_bytes()
        stream = Stream(source)
        self.play(stream)
        if source.random() < 0.5:
            sent = b"$%d\r\n%b" % (len(snapshot), snapshot)
        else:
            mark = bytes(source.choice(b"0123456789abcdef") for _ in range(40))
            sent = b"$EOF:%b\r\n%b%b" % (mark, snapshot, mark)
        return sent, stream

    def serve(self, source, data):
        """Lets the replica follow the fake master, which sends these bytes in pieces to each
        connection."""
        cuts = list(pieces(source, data))

        def sync(connection, words):
            for piece in cuts:
                connection.sendall(piece)

        self.replica.client.execute_command("REPLICAOF", "NO", "ONE")  # ends the link of the last round
        self.master.sync = sync
        self.master.asked.clear()
        self.master.said.clear()
        self.replica.follow(self.master.port)
        self.await_that(lambda: self.master.asked, self.replica.log)

    def check_valid(self, source, seed):
        sent, stream = self.prepare(source)
        offset = source.randrange(10**9)
        replication_id = b"%040x" % source.randrange(1 << 160)
        self.serve(source, b"+FULLRESYNC %b %d\r\n%b%b" % (replication_id, offset, sent, stream.data()))
        wanted = offset + len(stream.data())
        self.await_that(lambda: self.replica.info().get("slave_repl_offset") == wanted,
                        lambda: f"seed {seed}: {self.replica.info()}\n{self.replica.log()[-2000:]}")
        self.assertEqual(self.replica.digest(), self.reference.digest(), f"seed {seed}")
        acknowledged = lambda: [b"REPLCONF", b"ACK", b"%d" % wanted] in self.master.said
        self.await_that(acknowledged, lambda: f"seed {seed}: no acknowledgement of {wanted}")

    def check_mutated(self, source, seed):
        sent, stream = self.prepare(source)
        head = b"+FULLRESYNC %040x %d\r\n" % (source.randrange(1 << 160), source.randrange(10**9))
        if source.random() < 0.3:
            data = mutated(source, head) + sent + stream.data()
        elif source.random() < 0.4:
            data = head + mutated(source, sent) + stream.data()
        else:
            data = head + sent + mutated(source, stream.data())
        self.serve(source, data)
        eventually(lambda: len(self.master.asked) > 1 or self.master.said, 0.2)
        self.replica.client.execute_command("REPLICAOF", "NO", "ONE")
        digest = self.replica.digest()
        self.replica.client.execute_command("DEBUG", "RELOAD")
        self.assertEqual(self.replica.digest(), digest, f"seed {seed}: the data cannot be saved")

    def test_streams_of_a_grammar(self):
        for seed in range(SEED, SEED + ROUNDS):
            source = random.Random(seed)
            with self.subTest(seed=seed):
                (self.check_valid if seed % 2 else self.check_mutated)(source, seed)


if __name__ == "__main__":
    unittest.main()
