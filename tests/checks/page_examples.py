"""Plays the examples of the documents against the server on $PORT, and compares the replies.

    page_examples.py [--record] [PAGE or FOLDER ...]

An example is a block of Markdown with the language `console`:

    > ZADD board 3100 anna            a request; redis-cli shows the reply as below
    (integer) 1
    a> BLPOP jobs 0                   a request of client a; no reply means that it waits
    b> RPUSH jobs mail
    (integer) 1
    a<                                the reply or message that client a receives later
    1) "jobs"
    2) "mail"
    # 100 milliseconds later          time passes
    ...                               any number of lines of a reply

The blocks of a page are one session that begins with an empty server. A comment before a block changes
how it is played: `<!-- zsetd -->` is not played on redis-server, `<!-- resp3 -->` begins with HELLO 3, and
`<!-- varies: REGEX -->` allows other text that matches the expression. Conditions are separated by `; `.

If a page has a table of replies (`| RESP2 | RESP3 | |`), the page is played in both protocols, and the kind
of each reply to the page's command must be in the table. redis-server plays pages of commands that it has.

--record writes the replies into the pages instead. Read them before you commit them.
"""

import os
import pathlib
import re
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from console import Console, PLAIN_TEXT, words  # noqa: E402

TOP = pathlib.Path(__file__).resolve().parents[2]
DOCS = TOP / "docs"

ORACLE_VERSION = (7, 0, 15)
BLOCK = re.compile(r"(?:^<!-- (?P<conditions>[^\n]*) -->\n)?^```console\n(?P<text>[\s\S]*?)^```$",
                   re.MULTILINE)
REQUEST = re.compile(r"([a-z]*)> (.*)")
RECEIVED = re.compile(r"([a-z]+)<")
PAUSE = re.compile(r"# (\d+) (milli)?seconds? later")
SINCE = re.compile(r"^\| In (\w+) since \| ([\d.]+) \|$", re.MULTILINE)
KINDS_TABLE = re.compile(r"^\| RESP2 \| RESP3 \| \|\n\|[-|]+\|\n((?:\|.*\|\n)+)", re.MULTILINE)
SUBSCRIBES = re.compile(r"[ps]?(un)?subscribe$", re.IGNORECASE)


class Page:
    """A document with examples."""

    def __init__(self, file):
        self.file = file
        self.text = file.read_text()
        self.blocks = list(BLOCK.finditer(self.text))
        title = re.search(r"^# (.*)$", self.text, re.MULTILINE)
        self.command = title[1].split() if title else []
        self.kinds = self._kinds()

    def _kinds(self):
        """Returns the kinds of replies that the page lists for each protocol, or None."""
        table = KINDS_TABLE.search(self.text)
        if not table:
            return None
        rows = [[cell.strip() for cell in row.split("|")[1:3]] for row in table[1].splitlines()]
        return {2: [row[0] for row in rows], 3: [row[1] for row in rows]}

    def is_in_oracle(self, block):
        """Returns whether redis-server 7.0 has the command, and replies to the block as zsetd does."""
        since = SINCE.search(self.text)
        known = since is None or (since[1] == "Redis" and
                                  tuple(map(int, since[2].split("."))) <= ORACLE_VERSION)
        differences = self.text.find("\n## Differences from Redis")
        return (known and "zsetd" not in conditions(block)
                and not 0 <= differences < block.start())


def conditions(block):
    """Returns the conditions in the comment before a block: names, and values such as of `varies`."""
    found = {}
    for condition in (block["conditions"] or "").split("; "):
        name, _, value = condition.partition(": ")
        found[name] = value
    return found


def steps(text):
    """Returns pairs of a line that acts (a request, a pause) and the lines of its reply."""
    found = []
    for line in text.splitlines():
        if REQUEST.fullmatch(line) or RECEIVED.fullmatch(line) or PAUSE.fullmatch(line):
            found.append((line, []))
        else:
            assert found, f"a block begins with {line!r}"
            found[-1][1].append(line)
    return found


def waits(line, wanted, later):
    """Returns whether a request has no reply before the client's next line, which receives it."""
    name = line.partition(">")[0]
    following = next((other for other, _ in later if re.match(rf"{name}[<>]", other)), "")
    return not wanted and following == f"{name}<"


def agrees(wanted, lines, varies):
    """Returns whether the lines of a reply are those of the page. `...` is any number of lines."""
    def same(text):
        return re.sub(varies, "*", text) if varies else text
    pattern = "".join("(?:.*\n)*" if line == "..." else re.escape(same(line)) + "\n"
                      for line in wanted)
    return re.fullmatch(pattern, "".join(same(line) + "\n" for line in lines)) is not None


class Player:
    """Plays the blocks of one page in one protocol."""

    def __init__(self, page, port, protocol):
        self._page = page
        self._port = port
        self._protocol = protocol
        self._clients = {}
        self.problems = []

    def __enter__(self):
        client = Console(self._port)
        for request in ["FLUSHALL"], ["SCRIPT", "FLUSH"], ["FUNCTION", "FLUSH"]:
            assert client.call(*request).value == "OK"
        client.close()
        return self

    def __exit__(self, *_):
        self._disconnect()

    def _disconnect(self):
        for client in self._clients.values():
            client.close()
        self._clients.clear()

    def play(self, block):
        """Plays a block. Returns its text with the replies of the server."""
        rules = conditions(block)
        protocol = 3 if "resp3" in rules else self._protocol
        if "resp3" in rules:
            self._disconnect()
        played = []
        script = steps(block["text"])
        for number, (line, wanted) in enumerate(script):
            if REQUEST.fullmatch(line) and waits(line, wanted, script[number + 1:]):
                self._request(line, protocol)
                time.sleep(0.05)  # so that the request arrives before that of the next client
                played.append(line)
                continue
            shown = self._step(line, wanted, protocol)
            if not agrees(wanted, shown, rules.get("varies")):
                if protocol == 2 or "resp3" in rules:
                    self._complain(line, wanted, shown)
                wanted = shown
            played += [line, *wanted]
        if "resp3" in rules:
            self._disconnect()
        return "".join(line + "\n" for line in played)

    def _complain(self, line, wanted, shown):
        self.problems.append("\n".join([f"{self._page.file.relative_to(TOP)}: {line}", "  the page:",
                                        *wanted, "  the server:", *shown]))

    def _step(self, line, wanted, protocol):
        pause = PAUSE.fullmatch(line)
        if pause:
            time.sleep(int(pause[1]) / (1000 if pause[2] else 1))
            return wanted
        received = RECEIVED.fullmatch(line)
        if received:
            return self._clients[received[1]].read().lines()
        client, arguments = self._request(line, protocol)
        count = max(1, len(arguments) - 1) if SUBSCRIBES.fullmatch(arguments[0]) else 1
        replies = [client.read() for _ in range(count)]
        for reply in replies:
            self._check_kind(line, arguments, reply, protocol)
        return [text.rstrip(" ") for reply in replies
                for text in reply.lines(PLAIN_TEXT.match(" ".join(arguments)) is not None)]

    def _request(self, line, protocol):
        """Sends the request of a line. Returns the client and the arguments."""
        name, request = REQUEST.fullmatch(line).groups()
        if name not in self._clients:
            self._clients[name] = Console(self._port, protocol)
        arguments = words(request)
        self._clients[name].send(arguments)
        return self._clients[name], arguments

    def _check_kind(self, line, arguments, reply, protocol):
        """Compares the kind of a reply to the page's command with the table of the page."""
        own = [word.upper() for word in arguments[:len(self._page.command)]] == self._page.command
        if not own or not self._page.kinds or reply.kind == "error" or reply.value == "QUEUED":
            return
        kinds = self._page.kinds[protocol]
        if not any(kind in ("any", reply.kind) or kind.startswith(reply.kind + " ") for kind in kinds):
            self.problems.append(f"{self._page.file.relative_to(TOP)}: {line}: the reply in RESP{protocol}"
                                 f" is of the kind {reply.kind}, which the table lacks")


def play(page, port, is_oracle):
    """Plays a page. Returns the problems, and the blocks with the replies of the server."""
    problems, played = [], []
    for protocol in (2, 3) if page.kinds else (2,):
        with Player(page, port, protocol) as player:
            for block in page.blocks:
                if not is_oracle or page.is_in_oracle(block):
                    text = player.play(block)
                    if protocol == 2:
                        played.append((block, text))
            problems += player.problems
    return problems, played


def record(page, played):
    """Writes the replies of the server into the page."""
    text = page.text
    for block, replies in reversed(played):
        text = text[:block.start("text")] + replies + text[block.end("text"):]
    page.file.write_text(text)


def main():
    arguments = [argument for argument in sys.argv[1:] if argument != "--record"]
    paths = [pathlib.Path(path).resolve() for path in arguments or [DOCS, TOP / "README.md"]]
    files = sorted(file for path in paths for file in (path.rglob("*.md") if path.is_dir() else [path]))
    port, is_oracle = int(os.environ["PORT"]), os.environ.get("SERVER") == "redis-server"
    problems, count = [], 0
    for page in filter(lambda page: page.blocks, map(Page, files)):
        try:
            found, played = play(page, port, is_oracle)
        except (AssertionError, ConnectionError, TimeoutError) as error:
            found, played = [f"{page.file.relative_to(TOP)}: {error}"], []
        count += len(played)
        if "--record" in sys.argv:
            record(page, played)
        else:
            problems += found
    print(f"{count} blocks played")
    if problems:
        sys.exit("\n\n".join(problems))


if __name__ == "__main__":
    main()
