"""A proxy between a replica and its master that cuts the link after a number of bytes, or stalls
it."""

import socket
import threading

PATIENCE_S = 60


class Proxy:
    """Forwards connections to the port `target`. A connection keeps the limits set when it was
    accepted."""

    def __init__(self, target):
        self.target = target
        self.rename = None  # a word of the master and the word of the same length that replaces it
        self.cuts = 0
        self.connections = 0
        self._most = {}
        self._flows = threading.Event()
        self._flows.set()
        self._open = set()
        self._lock = threading.Lock()
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def cut_after(self, to_replica=None, to_master=None):
        """New connections end as soon as this many bytes have been forwarded; None: never."""
        self._most = {"replica": to_replica, "master": to_master}

    def stall(self):
        """Forwards nothing and closes nothing until flow()."""
        self._flows.clear()

    def flow(self):
        self._flows.set()

    def cut(self):
        """Closes the current connections."""
        with self._lock:
            open_now, self._open = self._open, set()
        for end in open_now:
            self._end(end)

    def close(self):
        self._listener.close()
        self.flow()
        self.cut()

    @staticmethod
    def _end(end):
        try:
            end.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass

    def _accept(self):
        while True:
            try:
                replica, _ = self._listener.accept()
            except OSError:
                return
            most = dict(self._most)
            self.connections += 1
            try:
                master = socket.create_connection(("127.0.0.1", self.target))
            except OSError:
                replica.close()
                continue
            threading.Thread(target=self._serve, args=(replica, master, most), daemon=True).start()

    def _serve(self, replica, master, most):
        with self._lock:
            self._open |= {replica, master}
        with replica, master:
            for end in (replica, master):
                end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            back = threading.Thread(target=self._pass_on,
                                    args=(replica, master, most.get("master")))
            back.start()
            self._pass_on(master, replica, most.get("replica"))
            back.join()
            with self._lock:
                self._open -= {replica, master}

    def _pass_on(self, source, sink, left):
        try:
            while left is None or left > 0:
                data = source.recv(1 << 16)
                self._flows.wait()
                if not data:
                    break
                if self.rename:
                    data = data.replace(*self.rename)
                if left is not None:
                    data = data[:left]
                    left -= len(data)
                sink.sendall(data)
        except OSError:
            pass
        if left == 0:
            self.cuts += 1
        self._end(source)
        self._end(sink)
