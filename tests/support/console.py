"""A client that shows replies as redis-cli does on a terminal, in RESP2 or RESP3."""

import re
import socket

PATIENCE_S = 60

KINDS = {b"+": "simple string", b"-": "error", b":": "integer", b"$": "bulk string", b"*": "array",
         b",": "double", b"#": "boolean", b"%": "map", b"~": "set", b"_": "null",
         b"=": "verbatim string", b"(": "big number", b">": "push"}
AGGREGATES = {"array": (")", "(empty array)"), "map": ("#", "(empty hash)"),
              "set": ("~", "(empty set)"), "push": (">", "(empty push)")}
ESCAPES = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\a": "\\a", "\b": "\\b", "\\": "\\\\", '"': '\\"'}
UNESCAPED = {"n": "\n", "r": "\r", "t": "\t", "a": "\a", "b": "\b"}

# Commands whose reply redis-cli prints as plain text also in RESP2.
PLAIN_TEXT = re.compile(
    r"(info( .*)?|lolwut( .*)?|client (list|info|list .*)|cluster (nodes|info)|memory (doctor|malloc-stats)"
    r"|latency (doctor|graph .*))$", re.IGNORECASE)

WORD = re.compile(r'"((?:[^"\\]|\\.)*)"|\'((?:[^\'\\]|\\.)*)\'|(\S+)')
ESCAPE = re.compile(r"\\(x[0-9a-fA-F]{2}|.)")


def words(line):
    """Divides a line into arguments, with the quotes and escapes of redis-cli."""
    def character(match):
        code = match[1]
        return chr(int(code[1:], 16)) if len(code) > 1 else UNESCAPED.get(code, code)
    return [ESCAPE.sub(character, double) if match[0][0] == '"' else
            single.replace("\\'", "'") if match[0][0] == "'" else plain
            for match in WORD.finditer(line)
            for double, single, plain in [match.groups(default="")]]


def quoted(text):
    """Returns the text of a string as redis-cli shows it."""
    return '"' + "".join(ESCAPES.get(c) or (c if " " <= c <= "~" else f"\\x{ord(c):02x}")
                         for c in text) + '"'


class Reply:
    """A reply: its kind, such as "bulk string", and its value."""

    def __init__(self, kind, value):
        self.kind = kind
        self.value = value

    def lines(self, plain_text=False):
        """Returns the lines that redis-cli prints."""
        if self.kind in AGGREGATES:
            return self._aggregate_lines()
        value = self.value
        if plain_text and self.kind == "bulk string" or self.kind == "verbatim string":
            return value.replace("\r\n", "\n").removesuffix("\n").split("\n")
        shown = {"error": lambda: f"(error) {value}", "integer": lambda: f"(integer) {value}",
                 "double": lambda: f"(double) {value}", "nil": lambda: "(nil)",
                 "null": lambda: "(nil)", "boolean": lambda: "(true)" if value == "t" else "(false)",
                 "bulk string": lambda: quoted(value)}
        return [shown.get(self.kind, lambda: value)()]

    def _aggregate_lines(self):
        mark, empty = AGGREGATES[self.kind]
        if not self.value:
            return [empty]
        width = len(str(len(self.value)))
        indent = " " * (width + 2)
        found = []
        for number, element in enumerate(self.value, 1):
            lines = element.lines() if self.kind != "map" else self._pair_lines(element)
            found.append(f"{number:{width}}{mark} {lines[0]}")
            found += [indent + line for line in lines[1:]]
        return found

    @staticmethod
    def _pair_lines(pair):
        *key, last = pair[0].lines()
        value = pair[1].lines()
        if pair[1].kind in AGGREGATES and pair[1].value:
            return [*key, f"{last} =>", *value]  # redis-cli adds a space, which pages omit
        return [*key, f"{last} => {value[0]}"]


class Console:
    """A connection to a server. Characters of requests and replies are bytes (latin-1)."""

    def __init__(self, port, protocol=2):
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S)
        self._input = self._socket.makefile("rb")
        if protocol == 3:
            self.send(["HELLO", "3"])
            self.read()

    def close(self):
        self._input.close()
        self._socket.close()

    def send(self, arguments):
        encoded = [argument.encode("latin-1") for argument in arguments]
        self._socket.sendall(b"*%d\r\n" % len(encoded) + b"".join(
            b"$%d\r\n%s\r\n" % (len(word), word) for word in encoded))

    def call(self, *arguments):
        self.send(arguments)
        return self.read()

    def read(self):
        """Returns the next reply or push."""
        line = self._input.readline()
        if not line:
            raise ConnectionError("the server closed the connection")
        kind, rest = KINDS[line[:1]], line[1:-2].decode("latin-1")
        if rest == "-1" and kind in ("bulk string", "array"):
            return Reply("nil", None)
        if kind == "map":
            return Reply(kind, [(self.read(), self.read()) for _ in range(int(rest))])
        if kind in AGGREGATES:
            return Reply(kind, [self.read() for _ in range(int(rest))])
        if kind in ("bulk string", "verbatim string"):
            text = self._input.read(int(rest) + 2)[:-2].decode("latin-1")
            return Reply(kind, text[4:] if kind == "verbatim string" else text)
        return Reply(kind, rest)
