"""Single commands. Each is one or two rows of a table."""

import dataclasses
from collections.abc import Callable, Iterable

from versus_lib import contents as holding
from versus_lib.generator import Step

RAND = "__rand_int__"  # redis-benchmark replaces it with a number of twelve digits


@dataclasses.dataclass(frozen=True)
class Speed:
    """One command that redis-benchmark sends repeatedly to a server with `contents`."""

    name: str
    words: tuple
    contents: Callable[[int], Iterable[bytes]] = holding.nothing
    unit: str = ""  # the unit of the size of the contents
    spread: int = 1  # a random number is below the size of the contents times this
    weight: int = 1  # the factor by which it is sent less often than others
    pipelines: tuple = (1, 16)
    giving_back: str = ""  # for commands that remove contents: the request that adds them again in long runs

    def size_at(self, pipeline, members):
        """Returns the size of the contents: all members for pipelined requests to sets, otherwise a tenth."""
        return members if pipeline > 1 and self.unit == "members" else members // 10

    def title_at(self, size):
        return f"{self.name}, {size:,} {self.unit}" if self.unit else self.name

    def requests_of(self, count, size):
        """Returns the number of requests. Commands that remove contents leave half of them."""
        return min(count, size // 2) if self.giving_back else count // self.weight

    def step(self, size, _server="redis-server"):
        """Returns the request for load_generator. Each number is a separate variable."""
        text = "\n".join(filter(None, (" ".join(self.words), self.giving_back)))
        places = range(text.count(RAND))
        for place in places:
            text = text.replace(RAND, f"{{any{place}}}", 1)
        return Step(tuple(text.split("\n")),
                    tuple(("random", f"any{place}", size * self.spread) for place in places))


def _on_board(name, words, **more):
    return Speed(name, words, holding.board, "members", **more)


def _on_keys(name, words):
    return Speed(name, words, holding.keys, "keys")


_NEW = f"ZADD board {RAND} {RAND}"

SPEED = (
    Speed("PING", ("PING",)),
    _on_keys("SET", ("SET", f"key:{RAND}", RAND)),
    _on_keys("GET", ("GET", f"key:{RAND}")),
    _on_keys("MSET of 10", ("MSET", *(f"key:{RAND}", RAND) * 10)),
    Speed("INCR", ("INCR", f"counter:{RAND}")),
    Speed("EVALSHA of return 1", ("EVALSHA", holding.sha(holding.SHORT_SCRIPT), "0"), holding.scripts),
    Speed("EVALSHA, sliding window",
          ("EVALSHA", holding.sha(holding.WINDOW_SCRIPT), "1", f"window:{RAND}", RAND, RAND),
          holding.scripts, "windows"),
    Speed("LPUSH", ("LPUSH", "list", RAND)),
    Speed("XADD", ("XADD", "stream", "*", "sensor", RAND, "value", RAND)),
    Speed("XRANGE of 1000", ("XRANGE", "events", "-", "+", "COUNT", "1000"), holding.events, "entries",
          weight=10, pipelines=(1,)),
    Speed("PFADD, sparse and dense", ("PFADD", f"day:{RAND}", RAND), unit="days", spread=1),
    Speed("PFCOUNT", ("PFCOUNT", "visitors"), holding.visitors, "visitors"),
    Speed("ZADD, new members", ("ZADD", "board", RAND, RAND), spread=10_000),
    _on_board("ZADD", ("ZADD", "board", RAND, RAND)),
    _on_board("ZINCRBY", ("ZINCRBY", "board", RAND, RAND)),
    _on_board("ZSCORE", ("ZSCORE", "board", RAND)),
    _on_board("ZRANK", ("ZRANK", "board", RAND)),
    _on_board("ZREVRANGE 0 9", ("ZREVRANGE", "board", "0", "9")),
    _on_board("ZRANGEBYSCORE LIMIT 10",
              ("ZRANGEBYSCORE", "board", RAND, "+inf", "LIMIT", "0", "10")),
    _on_board("ZRANGE of 1000", ("ZRANGE", "board", "0", "999"), weight=10, pipelines=(1,)),
    _on_board("ZREM", ("ZREM", "board", RAND), giving_back=_NEW),
    _on_board("ZPOPMIN", ("ZPOPMIN", "board"), giving_back=_NEW),
)
