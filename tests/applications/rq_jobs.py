"""The jobs of the test of rq."""

import pathlib


def add(a, b):
    return a + b


def fail_until(path, times):
    """Fails until it was called more often than that; each call adds a byte to the file."""
    file = pathlib.Path(path)
    calls = len(file.read_bytes()) if file.exists() else 0
    file.write_bytes(b"x" * (calls + 1))
    if calls < times:
        raise RuntimeError("not yet")
    return calls
