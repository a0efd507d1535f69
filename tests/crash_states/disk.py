"""A disk that computes the states which a crash of the machine may leave.

The model promises no more than POSIX. A file's bytes are safe after fsync or fdatasync of the file, a
name after fsync of its directory. Until then

- of the bytes of a file any prefix may be on the disk, or the length without some of the pages,
  which then read as zeros;
- of the creations, renames and removals in a directory any may be on the disk. Journals keep their
  order, but the model keeps only the order of those that concern the same name.
"""

import copy
import os

PAGE = 4096


class File:
    def __init__(self, data=b""):
        self.safe = bytes(data)  # after the last sync
        self.data = bytearray(data)  # as programs see it
        self.generation = 0  # incremented by each change

    def write(self, offset, data):
        self.data[len(self.data):offset] = bytes(max(offset - len(self.data), 0))
        self.data[offset:offset + len(data)] = data
        self.generation += 1

    def append(self, data):
        self.write(len(self.data), data)

    def truncate(self, size):
        self.data[size:] = bytes(max(size - len(self.data), 0))
        self.generation += 1

    def after_crash(self, random):
        """Returns the bytes in one of the possible states."""
        safe, data = self.safe, bytes(self.data)
        if safe == data:
            return data
        kind = random.randrange(5)
        if kind == 0:
            return safe
        if kind == 1 or not data.startswith(safe):
            return random.choice([safe, data])
        if kind in (2, 3):
            return data[:random.randrange(len(safe), len(data) + 1)]
        result = bytearray(data[:random.randrange(len(safe), len(data) + 1)])
        for page in range(len(safe) // PAGE, len(result) // PAGE + 1):
            if random.random() < 0.5:
                first = max(page * PAGE, len(safe))
                result[first:(page + 1) * PAGE] = bytes(len(result[first:(page + 1) * PAGE]))
        return bytes(result)


class Disk:
    """Files by path, and the changes of names that are not safe yet."""

    def __init__(self, contents=None):
        self.names = {path: File(data) for path, data in (contents or {}).items()}
        self.pending = []  # changes of names: (path, file or None)
        self.safe_names = dict(self.names)

    def copy(self):
        return copy.deepcopy(self)

    def create(self, path):
        """Opens a file for writing; returns it. An existing file keeps its bytes."""
        if path not in self.names:
            self._name(path, File())
        return self.names[path]

    def rename(self, source, target):
        file = self.names[source]
        # One change, because a renamed file has one name after a crash.
        self.pending.append([(target, file), (source, None)])
        self.names[target] = file
        del self.names[source]

    def remove(self, path):
        self._name(path, None)

    def _name(self, path, file):
        self.pending.append([(path, file)])
        if file is None:
            self.names.pop(path, None)
        else:
            self.names[path] = file

    def sync_directory(self, directory):
        still_pending = []
        for change in self.pending:
            if os.path.dirname(change[0][0]) == directory:
                self._apply(self.safe_names, change)
            else:
                still_pending.append(change)
        self.pending = still_pending

    @staticmethod
    def _apply(names, change):
        for path, file in change:
            if file is None:
                names.pop(path, None)
            else:
                names[path] = file

    def after_kill(self):
        """Returns the contents if only the process ends: all changes remain."""
        return {path: bytes(file.data) for path, file in self.names.items()}

    def after_crash(self, random):
        """Returns the contents in one of the states that a crash of the machine may leave."""
        names = dict(self.safe_names)
        kind = random.randrange(3)
        kept = random.randrange(len(self.pending) + 1)
        for at, change in enumerate(self.pending):
            # A third with all names, a third with those of a prefix, and a third with any of them.
            if kind == 0 or (at < kept if kind == 1 else random.random() < 0.5):
                self._apply(names, change)
        states = {}  # a file that is linked by two names has one state
        return {path: states.setdefault(id(file), file.after_crash(random)) for path, file in names.items()}
