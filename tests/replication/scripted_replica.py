"""A replica whose requests a test chooses."""

from peer import Peer, request


class ScriptedReplica:
    def __init__(self, master, *psync, port=0, protocol=2):
        """Follows the master, with these words of PSYNC or from a snapshot."""
        self.peer = Peer(master.port)
        if protocol == 3:
            self.peer.ask("HELLO", 3)
        self.peer.ask("REPLCONF", "listening-port", port)
        self.peer.ask("REPLCONF", "capa", "psync2")
        self.peer.send("PSYNC", *(psync or ("?", -1)))
        self.offset = int(self._line().split()[2])
        length = int(self._line()[1:])
        self.peer.lines.read(length)
        self.acknowledge()

    def _line(self):
        """Returns the next line that is not a sign of life."""
        while (line := self.peer.lines.readline()) == b"\n":
            pass
        return line

    def next_request(self):
        """Returns the next request of the stream."""
        words = self.peer.reply()
        self.offset += len(request(*words))
        return words

    def read_until(self, *words):
        while self.next_request()[:len(words)] != list(words):
            pass

    def acknowledge(self):
        """Acknowledges the stream as far as it has been read."""
        self.peer.send("REPLCONF", "ACK", self.offset)

    def close(self):
        self.peer.close()
