"""The contents of a server before a measurement, as encoded requests. They are the same in every run."""

import hashlib
import random

from versus_lib.load import encode

SEEN = 30
WEEK_S = 604_800
HOURS = 24


def number(value):
    """Formats a number like redis-benchmark and load_generator."""
    return f"{value:012d}"


def nothing(_size):
    return ()


# A script that does nothing, and a rate limiter with a sliding window: ten requests in a minute.
SHORT_SCRIPT = "return 1"
WINDOW_SCRIPT = """
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', ARGV[1] - 60000)
local count = redis.call('ZCARD', KEYS[1])
if count < 10 then redis.call('ZADD', KEYS[1], ARGV[1], ARGV[2]) end
redis.call('PEXPIRE', KEYS[1], 60000)
return count
"""


# Scripts that take a due job, and that return the rank and the neighbours of a player.
POP_DUE_SCRIPT = """
local now = redis.call('TIME')[1]
local jobs = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now, 'LIMIT', 0, 1)
if #jobs > 0 then redis.call('ZREM', KEYS[1], jobs[1]) end
return jobs
"""
AROUND_SCRIPT = """
local rank = redis.call('ZREVRANK', KEYS[1], ARGV[1])
if not rank then return rank end
local first = math.max(rank - 5, 0)
return {rank, redis.call('ZREVRANGE', KEYS[1], first, rank + 5, 'WITHSCORES')}
"""


def events(size):
    """A stream of entries of two small numbers, and a group that has read none of them."""
    for event in range(size):
        yield encode("XADD", "events", f"{1 + event}-0", "sensor", event % 1000, "value", event * 7 % 5000)
    yield encode("XGROUP", "CREATE", "events", "group", "0")


def short_readings(size):
    """A stream of entries of three fields of 8 bytes."""
    chance = random.Random(8)
    return entries(size, lambda: chance.randbytes(8))


def long_readings(size):
    """A stream of entries of three fields of 24 bytes."""
    chance = random.Random(8)
    return entries(size, lambda: chance.randbytes(24))


def identifiers(size):
    """A stream of entries of three identifiers of 24 hexadecimal digits."""
    chance = random.Random(8)
    return entries(size, lambda: f"{chance.getrandbits(96):024x}")


def entries(size, value):
    for event in range(size):
        yield encode("XADD", "readings", f"{1_700_000_000_000 + event}-0",
                     *(word for name in ("station", "reading", "operator") for word in (name, value())))


def delivered_events(size):
    """A group whose consumer has read all events, and has acknowledged none."""
    yield from events(size)
    for _ in range(0, size, 1000):
        yield encode("XREADGROUP", "GROUP", "group", "reader", "COUNT", 1000, "STREAMS", "events", ">")


FIRST_JOB = 1_700_000_000


def jobs_in_a_stream(size):
    """A stream of jobs, and a consumer that has read a thousand of them."""
    for job in range(size):
        yield encode("XADD", "jobs", f"{FIRST_JOB + job}-0", "job", job)
    yield encode("XGROUP", "CREATE", "jobs", "group", "0")
    yield encode("XREADGROUP", "GROUP", "group", "reader", "COUNT", 1000, "STREAMS", "jobs", ">")


def visitors(size):
    """A HyperLogLog of visitors."""
    for first in range(0, size, 100):
        yield encode("PFADD", "visitors", *(number(visitor) for visitor in range(first, min(first + 100, size))))


def jobs(size):
    """Delayed jobs that are due only in the distant future, and the script that takes a due job."""
    yield encode("SCRIPT", "LOAD", POP_DUE_SCRIPT)
    for job in range(size):
        yield encode("ZADD", "jobs", 4_000_000_000 + job, f"later:{number(job)}")


def board_with_scripts(size):
    yield encode("SCRIPT", "LOAD", AROUND_SCRIPT)
    yield from board(size)


def scripts(_size):
    yield encode("SCRIPT", "LOAD", SHORT_SCRIPT)
    yield encode("SCRIPT", "LOAD", WINDOW_SCRIPT)


def different_scripts(size):
    """Scripts that differ only in a comment, loaded by SCRIPT LOAD."""
    for script in range(size):
        yield encode("SCRIPT", "LOAD", f"{WINDOW_SCRIPT}-- {script}")


def sha(script):
    return hashlib.sha1(script.encode()).hexdigest()


def board(size):
    """One sorted set of `size` members in order of name, with random scores below `size`."""
    chance = random.Random(1)
    for first in range(0, size, 100):
        words = ["ZADD", "board"]
        for member in range(first, min(first + 100, size)):
            words += [chance.randrange(size), number(member)]
        yield encode(*words)


def scored_names(chance, count, scores):
    for _ in range(count):
        yield chance.randrange(scores)
        yield f"user:{chance.getrandbits(40):010x}"


def named_board(size):
    """Like board(), with random names: zsetd packs numerals into fewer bytes than other members."""
    chance = random.Random(5)
    for _ in range(size // 100):
        yield encode("ZADD", "board", *scored_names(chance, 100, size))


def leaderboards(count):
    """Many sets of a few hundred members, too large for the packed encoding."""
    chance = random.Random(7)
    for board in range(count):
        yield encode("ZADD", f"board:{board}", *scored_names(chance, 300, 1_000_000))


def hours(size, name="hour"):
    """24 buckets of `size` counted stories, for the top ten of a day. Each has half of all stories."""
    chance = random.Random(6)
    for hour in range(HOURS):
        told = chance.sample(range(2 * size), size)
        for first in range(0, size, 100):
            words = ["ZADD", f"{name}:{number(hour)}"]
            for story in told[first:first + 100]:
                words += [chance.randrange(1, 100), f"story:{number(story)}"]
            yield encode(*words)


def keys(size):
    for key in range(size):
        yield encode("SET", f"key:{number(key)}", number(key))


def recency_lists(users, name=str):
    """The items that each user viewed last; `name` formats the number of a user."""
    chance = random.Random(2)
    for user in range(users):
        words = ["ZADD", f"seen:{name(user)}"]
        for step in range(SEEN):
            words += [1_700_000_000 + 60 * step, chance.randrange(1_000_000)]
        yield encode(*words)
        yield encode("EXPIRE", f"seen:{name(user)}", WEEK_S)


def recency_lists_in_use(users, name=str):
    """Like recency_lists(), after ten more views by each user at unrelated times."""
    yield from recency_lists(users, name)
    chance = random.Random(3)
    for step in range(10 * users):
        user = f"seen:{name(chance.randrange(users))}"
        yield encode("ZADD", user, 1_700_010_000 + step, chance.randrange(1_000_000))
        yield encode("ZREMRANGEBYRANK", user, 0, -SEEN - 1)


def numbered_recency_lists_in_use(users):
    return recency_lists_in_use(users, number)


def keys_with_deadlines(size):
    for key in range(size):
        yield encode("SET", f"session:{key}", f"user:{key}", "EX", WEEK_S + key)


def values_rewritten(size):
    chance = random.Random(4)
    for _ in range(4 * size):
        yield encode("SET", f"page:{chance.randrange(size)}", "x" * chance.randrange(500))
