"""A master whose replies a test chooses."""

import contextlib
import socket
import threading

ID = b"0123456789abcdef0123456789abcdef01234567"
EMPTY = b"REDIS0010\xff" + bytes(8)
ONE_KEY = b"REDIS0010\x00\x03new\x011\xff" + bytes(8)


class FakeMaster:
    """Replies to the handshake, then calls the test's `sync`."""

    def __init__(self, knows_psync=True):
        self.knows_psync = knows_psync
        self.asked = []  # requests for a synchronization
        self.said = []   # later requests
        self.sync = lambda connection, words: None
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self):
        self._listener.close()

    def _accept(self):
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection):
        is_linked = False
        with contextlib.suppress(OSError, ValueError), connection, \
                connection.makefile("rb") as lines:
            while line := lines.readline():
                if line == b"\n":
                    continue
                words = []
                for _ in range(int(line[1:])):
                    size = int(lines.readline()[1:])
                    words.append(lines.read(size + 2)[:-2])
                if is_linked:
                    self.said.append(words)
                elif words[0] == b"PING":
                    connection.sendall(b"+PONG\r\n")
                elif words[0] == b"REPLCONF":
                    connection.sendall(b"+OK\r\n")
                elif words[0] == b"PSYNC" and not self.knows_psync:
                    connection.sendall(b"-ERR unknown command 'PSYNC'\r\n")
                else:
                    self.asked.append(words)
                    is_linked = True
                    self.sync(connection, words)
