"""The operations of a server on its files and the replies that it sends, as strace reports them."""

import os
import re
import subprocess

from disk import Disk
from server_process import ServerProcess, eventually

CALLS = ("openat,close,write,writev,pwrite64,pwritev,sendto,sendmsg,fsync,fdatasync,rename,renameat,"
         "renameat2,unlink,unlinkat,ftruncate,link,linkat,fallocate")
LINE = re.compile(rb"(\d+) +(.*)")
CALL = re.compile(rb"(\w+)\((.*?)(?:\) += (-?\d+).*| <unfinished \.\.\.>)$", re.DOTALL)
RESUMED = re.compile(rb"<\.\.\. (\w+) resumed>(.*?)\) += (-?\d+)")
WORD = re.compile(rb'"((?:\\x[0-9a-f]{2})*)"(\.\.\.)?')


def is_available():
    """Returns whether strace can trace here."""
    try:
        return subprocess.run(["strace", "-D", "-o", "/dev/null", "true"], capture_output=True).returncode == 0
    except FileNotFoundError:
        return False


class TracedServer(ServerProcess):
    """A server whose system calls are written to a file."""

    def __init__(self, program, *options, trace, **more):
        self.trace = trace
        super().__init__(program, *options, **more)

    def _launch(self, command, environment, output):
        # The search for leaks by the address sanitizer needs ptrace for itself.
        options = environment.get("ASAN_OPTIONS", "")
        environment = {**environment, "ASAN_OPTIONS": f"{options}:detect_leaks=0".lstrip(":")}
        super()._launch(["strace", "-D", "-f", "--seccomp-bpf", "-q", "-xx", "-s", str(1 << 22), "-e",
                         f"trace={CALLS}", "-e", "signal=none", "-o", str(self.trace), "--", *command],
                        environment, output)

    def lines(self):
        """Ends the server. Returns the lines of the trace."""
        self.ask_to_leave()
        self.exit_code()
        end = re.compile(rb"^%d +\+\+\+ exited with 0 \+\+\+$" % self.process.pid, re.MULTILINE)  # strace pads PIDs
        assert eventually(lambda: end.search(self.trace.read_bytes()), 10), f"strace does not end\n{self.log()}"
        assert self.stop() is None
        return self.trace.read_bytes().splitlines()


def words_in(text):
    """Returns the decoded strings among the arguments of a call."""
    found = WORD.findall(text)
    assert not any(is_cut for _, is_cut in found), "strace has shortened a string"
    return [bytes.fromhex(word.replace(rb"\x", b"").decode()) for word, _ in found]


class Replay:
    """Repeats a trace on a disk. Iteration yields after each call that changes files, syncs them or
    sends a reply."""

    def __init__(self, lines, folder, contents):
        self.lines = lines
        self.folder = str(folder)
        self.disk = Disk(contents)
        self.sent = bytearray()  # all replies so far
        self._open = {}  # (path, file or None) by descriptor
        self._begun = {}  # by thread

    def __iter__(self):
        """Yields the name of each call, and whether it changes names."""
        for line in self.lines:
            match = LINE.match(line)
            thread, text = match[1], match[2]
            if (call := CALL.match(text)) and not text.startswith(b"<..."):
                name, arguments, result = call[1].decode(), call[2], call[3]
                begun = self._begin(name, arguments)
                if result is None:
                    self._begun[thread] = name, arguments, begun
                    continue
            elif resumed := RESUMED.match(text):
                name, arguments, begun = self._begun.pop(thread)
                arguments, result = arguments + resumed[2], resumed[3]
            else:
                continue  # the end of a thread
            if int(result) >= 0 and self._end(name, arguments, int(result), begun):
                yield name

    def _inside(self, path):
        return path == self.folder or path.startswith(self.folder + "/")

    def _begin(self, name, arguments):
        """Notes the state at the begin of a call, because other threads continue until it ends."""
        if name in ("sendto", "sendmsg", "writev", "write") and self._descriptor(arguments) not in self._open:
            self.sent += b"".join(words_in(arguments))
        if name == "close":
            self._open.pop(self._descriptor(arguments), None)
        if name in ("fsync", "fdatasync"):
            _, file = self._open.get(self._descriptor(arguments), (None, None))
            return bytes(file.data) if file else len(self.disk.pending)
        return None

    @staticmethod
    def _descriptor(arguments):
        return int(re.match(rb"\d+", arguments)[0])

    def _end(self, name, arguments, result, begun):
        """Returns whether the call concerns files, or sends."""
        if name == "openat":
            return self._opened(arguments, result)
        if name in ("rename", "renameat", "renameat2"):
            return self._renamed(*map(self._path, words_in(arguments)[:2]))
        if name in ("unlink", "unlinkat"):
            return self._removed(self._path(words_in(arguments)[0]))
        if name == "close":
            return False
        number = self._descriptor(arguments)
        if number not in self._open:
            return name in ("sendto", "sendmsg")
        path, file = self._open[number]
        if name in ("write", "writev"):
            file.append(b"".join(words_in(arguments))[:result])
        elif name == "ftruncate":
            file.truncate(int(arguments.rsplit(b",", 1)[1]))
        elif name in ("fsync", "fdatasync"):
            self._synced(path, file, begun)
        else:
            raise AssertionError(f"the model does not know {name}")
        return True

    def _path(self, word):
        return os.path.join(self.folder, word.decode())

    def _opened(self, arguments, descriptor):
        path = self._path(words_in(arguments)[0])
        self._open.pop(descriptor, None)
        if not self._inside(path):
            return False
        if os.path.basename(path) != "log" and b"O_DIRECTORY" in arguments:
            self._open[descriptor] = path, None
            return False
        if b"O_WRONLY" not in arguments and b"O_RDWR" not in arguments:
            return False
        is_new = path not in self.disk.names
        if is_new and b"O_CREAT" not in arguments:
            return False
        file = self.disk.create(path)
        if b"O_TRUNC" in arguments and file.data:
            file.truncate(0)
        self._open[descriptor] = path, file
        return is_new

    def _renamed(self, source, target):
        if not self._inside(source):
            return False
        self.disk.rename(source, target)
        return True

    def _removed(self, path):
        if not self._inside(path) or path not in self.disk.names:
            return False
        self.disk.remove(path)
        return True

    def _synced(self, path, file, begun):
        """Makes safe what existed when the sync began."""
        if file is None:
            later = self.disk.pending[begun:]
            del self.disk.pending[begun:]
            self.disk.sync_directory(path)
            self.disk.pending += later
        else:
            file.safe = begun
