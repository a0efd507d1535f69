"""What is measured: requests for speed, contents for memory. The same on every run and server."""

import dataclasses
import random
from collections.abc import Callable, Iterable

from versus_lib.load import encode

RAND = "__rand_int__"  # redis-benchmark puts a number of twelve digits here


def _number(value):
    return f"{value:012d}"


def _nothing(_size):
    return ()


def _board(size):
    """One sorted set of `size` members in order of name, their scores below `size` at random."""
    chance = random.Random(1)
    for first in range(0, size, 100):
        words = ["ZADD", "board"]
        for member in range(first, min(first + 100, size)):
            words += [chance.randrange(size), _number(member)]
        yield encode(*words)


def _named(size):
    """The same with random names. Numerals, as above, zsetd packs tighter than others do."""
    chance = random.Random(5)
    for _ in range(size // 100):
        words = ["ZADD", "board"]
        for _ in range(100):
            words += [chance.randrange(size), f"user:{chance.getrandbits(40):010x}"]
        yield encode(*words)


def _hours(size):
    """24 buckets of counted stories, as the top ten of a day has: each holds half of all stories."""
    chance = random.Random(6)
    stories = [f"story:{chance.randrange(10**9):09d}" for _ in range(2 * size // 5)]
    for hour in range(24):
        told = chance.sample(stories, size // 5)
        for first in range(0, len(told), 100):
            words = ["ZADD", f"hour:{hour}"]
            for story in told[first:first + 100]:
                words += [chance.randrange(1, 100), story]
            yield encode(*words)


def _keys(size):
    for key in range(size):
        yield encode("SET", f"key:{_number(key)}", _number(key))


@dataclasses.dataclass(frozen=True)
class Speed:
    """One command sent over and over to a server that holds `contents`."""

    name: str
    words: tuple
    contents: Callable[[int], Iterable[bytes]] = _nothing
    spread: int = 1  # a random number is below the size of the contents times this
    weight: int = 1  # it is sent so many times less often than others; if not 1, in no pipeline


SPEED = (
    Speed("PING", ("PING",)),
    Speed("SET", ("SET", f"key:{RAND}", RAND), _keys),
    Speed("GET", ("GET", f"key:{RAND}"), _keys),
    Speed("MSET of 10", ("MSET", *(f"key:{RAND}", RAND) * 10), _keys),
    Speed("INCR", ("INCR", f"counter:{RAND}")),
    Speed("LPUSH", ("LPUSH", "list", RAND)),
    Speed("ZADD, new members", ("ZADD", "board", RAND, RAND), spread=10_000),
    Speed("ZADD, new scores", ("ZADD", "board", RAND, RAND), _board),
    Speed("ZINCRBY", ("ZINCRBY", "board", RAND, RAND), _board),
    Speed("ZSCORE", ("ZSCORE", "board", RAND), _board),
    Speed("ZRANK", ("ZRANK", "board", RAND), _board),
    Speed("ZREVRANGE 0 9", ("ZREVRANGE", "board", "0", "9"), _board),
    Speed("ZRANGEBYSCORE LIMIT 0 10",
          ("ZRANGEBYSCORE", "board", RAND, "+inf", "LIMIT", "0", "10"), _board),
    Speed("ZRANGE 0 999", ("ZRANGE", "board", "0", "999"), _board, weight=10),
    Speed("ZUNIONSTORE of 24", ("ZUNIONSTORE", "day", "24", *(f"hour:{hour}" for hour in range(24))),
          _hours, weight=1000),
)

SEEN = 30
WEEK_S = 604_800


def _recency_lists(users):
    chance = random.Random(2)
    for user in range(users):
        words = ["ZADD", f"seen:{user}"]
        for step in range(SEEN):
            words += [1_700_000_000 + 60 * step, chance.randrange(1_000_000)]
        yield encode(*words)
        yield encode("EXPIRE", f"seen:{user}", WEEK_S)


def _recency_lists_in_use(users):
    yield from _recency_lists(users)
    chance = random.Random(3)
    for step in range(10 * users):
        user = f"seen:{chance.randrange(users)}"
        yield encode("ZADD", user, 1_700_010_000 + step, chance.randrange(1_000_000))
        yield encode("ZREMRANGEBYRANK", user, 0, -SEEN - 1)


def _keys_with_deadlines(keys):
    for key in range(keys):
        yield encode("SET", f"session:{key}", f"user:{key}", "EX", WEEK_S + key)


def _values_rewritten(keys):
    chance = random.Random(4)
    for _ in range(4 * keys):
        yield encode("SET", f"page:{chance.randrange(keys)}", "x" * chance.randrange(500))


@dataclasses.dataclass(frozen=True)
class Memory:
    """Contents whose resident bytes are measured."""

    title: str  # with a place for the size
    full_size: int
    contents: Callable[[int], Iterable[bytes]]

    def size_at(self, scale):
        return int(self.full_size * scale)

    def title_at(self, scale):
        return self.title.format(self.size_at(scale))


MEMORY = (
    Memory("one set of {:,} members, numerals", 2_000_000, _board),
    Memory("one set of {:,} members, user:8f3a09c2e7", 2_000_000, _named),
    Memory("{:,} recency lists of 30", 60_000, _recency_lists),
    Memory("{:,} recency lists, 10 views later each", 60_000, _recency_lists_in_use),
    Memory("{:,} keys with deadlines", 500_000, _keys_with_deadlines),
    Memory("{:,} values of 0 to 499 bytes, rewritten", 200_000, _values_rewritten),
)
