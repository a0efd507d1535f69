"""Reports the progress of a run on stderr; on a terminal, one line is updated."""

import sys
import time


class Progress:
    def __init__(self, steps):
        self._steps = steps
        self._begun = 0
        self._start = time.monotonic()

    def begin(self, title):
        """Starts the next step."""
        self._begun += 1
        if sys.stderr.isatty():
            self._write(f"{title} ...", end="")

    def tell(self, text):
        """Prints a line that later output does not overwrite."""
        self._write(text, end="\n")

    def _write(self, text, end):
        over = "\r\033[K" if sys.stderr.isatty() else ""
        seconds = time.monotonic() - self._start
        print(f"{over}[{seconds:3.0f} s] {self._begun}/{self._steps}  {text}",
              end=end, file=sys.stderr, flush=True)
