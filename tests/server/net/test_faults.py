"""If the network fails in any way, no other client notices, and no request is lost or run twice."""

import contextlib
import errno
import mmap
import os
import struct
import tempfile
import unittest

from peer import Peer, request
from server_process import eventually
from zsetd import ZsetdTest

SHORT = -1  # no error: the call transfers less than it could
ALWAYS, OFTEN, SELDOM = 256, 100, 30  # in 256
CALLS = "accept", "receive", "send"


@unittest.skipIf(os.environ["SANITIZER"], "a sanitizer wants to be loaded first")
class Faults(ZsetdTest):
    def setUp(self):
        file = tempfile.NamedTemporaryFile()
        self.addCleanup(file.close)
        file.write(bytes(8 * len(CALLS)))
        file.flush()
        self.faults = mmap.mmap(file.fileno(), 8 * len(CALLS))
        self.addCleanup(self.faults.close)
        self.start(environment={"LD_PRELOAD": os.environ["BROKEN_NETWORK"], "FAULTS": file.name})
        self.addCleanup(self.end_faults)

    @contextlib.contextmanager
    def fault(self, call, in_256, error):
        at = 8 * CALLS.index(call)
        struct.pack_into("Ii", self.faults, at, in_256, error)
        yield
        struct.pack_into("Ii", self.faults, at, 0, 0)

    def end_faults(self):
        self.faults[:] = bytes(len(self.faults))

    def served(self):
        with contextlib.suppress(OSError, EOFError):
            return self.connect().ask("PING") == b"PONG"

    def test_of_accept_block_no_client_permanently(self):
        served = self.connect()
        self.assertEqual(served.ask("PING"), b"PONG")
        for error in errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM, errno.EPROTO:
            with self.fault("accept", ALWAYS, error):
                waiting = self.connect()
                waiting.send("PING")
                self.assertTrue(eventually(lambda: os.strerror(error) in self.server.log()))
                self.assertEqual(served.ask("PING"), b"PONG")
            self.assertEqual(waiting.reply(), b"PONG")

    def test_of_accept_that_cost_one_connection_cost_no_other(self):
        with self.fault("accept", OFTEN, errno.ECONNABORTED):
            self.assertGreater(sum(bool(self.served()) for _ in range(30)), 0)
        with self.fault("accept", OFTEN, errno.EINTR):
            self.assertTrue(all(self.served() for _ in range(30)))

    def assert_all_is_right(self, client):
        for i in range(100):
            client.send("INCRBY", "n", i)
        self.assertEqual([client.reply() for _ in range(100)], [i * (i + 1) // 2 for i in range(100)])
        text = os.urandom(3000)
        self.assertEqual(client.ask("ECHO", text), text)
        self.assertEqual(client.ask("DEL", "n"), 1)

    def test_that_are_temporary_change_nothing(self):
        for call in "receive", "send":
            for error in errno.EINTR, SHORT:
                with self.subTest(call=call, error=error), self.fault(call, OFTEN, error):
                    self.assert_all_is_right(self.connect())

    def test_that_break_a_connection_break_no_other(self):
        other = self.connect()
        self.assertEqual(other.ask("PING"), b"PONG")
        self.assertTrue(self.served())  # so the server waits for the next request of `other`
        for call in "receive", "send":
            for error in errno.ECONNRESET, errno.EPIPE, errno.ETIMEDOUT, errno.ENOBUFS:
                with self.subTest(call=call, error=error):
                    with self.fault(call, ALWAYS, error), Peer(self.server.port).socket as client:
                        client.sendall(request("SET", "k", error))
                        self.assertEqual(self.rest(client), b"")
                    self.assertEqual(self.connect().ask("DEL", "k"), 1 if call == "send" else 0)
        self.assertEqual(other.ask("PING"), b"PONG")

    def rest(self, connection):
        """Returns all bytes until the server closes, or the connection breaks."""
        with contextlib.suppress(ConnectionResetError):
            return connection.recv(100)
        return b""

    def test_of_a_transaction_do_all_of_it_or_nothing(self):
        observer = self.connect()
        self.assertEqual(observer.ask("MSET", "a", 0, "b", 0), b"OK")
        self.assertTrue(self.served())
        moved = request("MULTI") + request("INCR", "a") + request("INCR", "b") + request("EXEC")
        for call in "receive", "send":
            for _ in range(100):
                client = Peer(self.server.port)
                with self.fault(call, SELDOM, errno.ECONNRESET), contextlib.suppress(OSError):
                    for byte in range(0, len(moved), 20):
                        client.socket.sendall(moved[byte:byte + 20])
                    client.close_half()
                    client.rest_until_broken()
                client.close()
        a, b = observer.ask("MGET", "a", "b")
        self.assertEqual(a, b)
        self.assertGreater(int(a), 0)


if __name__ == "__main__":
    unittest.main()
