"""A raw connection to a server."""

import fcntl
import socket
import struct
import termios

from server_process import eventually

PATIENCE_S = 60


def request(*words):
    """Returns the bytes of a request."""
    encoded = [word if isinstance(word, bytes) else str(word).encode() for word in words]
    return b"*%d\r\n" % len(encoded) + b"".join(b"$%d\r\n%b\r\n" % (len(w), w) for w in encoded)


class Peer:
    """A client. Replies are Python values: bytes, int, list, dict, None; an error is a
    RuntimeError."""

    def __init__(self, port, host="127.0.0.1", receive_buffer=None):
        self.socket = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
        if receive_buffer is not None:  # before connecting, which announces the window
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket.settimeout(PATIENCE_S)
        self.socket.connect((host, port))
        self.lines = self.socket.makefile("rb")

    def send(self, *words):
        self.socket.sendall(request(*words))

    def send_until_arrived(self, data):
        """Sends, and waits until the server's system has received all bytes, even if the server
        does not read."""
        self.socket.sendall(data)
        under_way = lambda: struct.unpack("i", fcntl.ioctl(self.socket, termios.TIOCOUTQ, bytes(4)))[0]
        if not eventually(lambda: under_way() == 0, PATIENCE_S):
            raise TimeoutError("the sent bytes do not arrive")

    def ask(self, *words):
        self.send(*words)
        return self.reply()

    def ask_until_end(self, *words):
        """Sends this request and returns all bytes that the server sends until it closes."""
        self.send(*words)
        return self.rest()

    def reply(self):
        line = self.lines.readline()
        if not line.endswith(b"\r\n"):
            raise EOFError(line)
        kind, rest = line[:1], line[1:-2]
        if kind == b"+":
            return rest
        if kind == b"-":
            return RuntimeError(rest.decode())
        if kind == b":":
            return int(rest)
        if kind == b"_":
            return None
        if kind == b"$":
            return None if rest == b"-1" else self.lines.read(int(rest) + 2)[:-2]
        if kind in b"*>~":
            return None if rest == b"-1" else [self.reply() for _ in range(int(rest))]
        if kind == b"%":
            return {self.reply(): self.reply() for _ in range(int(rest))}
        raise ValueError(line)

    def rest(self):
        """Returns all bytes until the server closes."""
        return self.lines.read()

    def rest_until_broken(self):
        """Returns all bytes until the server closes, or the connection breaks."""
        received = bytearray()
        try:
            while chunk := self.lines.read1():
                received += chunk
        except ConnectionResetError:
            pass
        return received

    def close_half(self):
        """Closes the sending half of the connection."""
        self.socket.shutdown(socket.SHUT_WR)

    def close(self):
        self.lines.close()
        self.socket.close()

    def vanish(self):
        """Closes with a reset, as if the client's machine had restarted."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close()
