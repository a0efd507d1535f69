"""Commands that are sent together, as in docs/recipes.md."""

import dataclasses
from collections.abc import Callable, Iterable

from versus_lib import contents as holding
from versus_lib.generator import Step


@dataclasses.dataclass(frozen=True)
class Recipe:
    """Steps of several requests, which load_generator sends repeatedly."""

    name: str
    per: str  # the unit of the figures: command, or a name for the whole step
    requests: tuple
    size_of: Callable[[int], int]  # the size of the contents, from the number of members of a large set
    variables: Callable[[int], tuple]  # from the size
    contents: Callable[[int], Iterable[bytes]] = holding.nothing
    at_once: tuple = (1, 4)  # steps
    weight: int = 1
    listeners: int = 0
    in_one_call: tuple = ()  # the equivalent requests with extensions of zsetd

    @property
    def pipelines(self):
        return tuple(steps * len(self.requests) for steps in self.at_once)

    def size_at(self, _pipeline, members):
        return self.size_of(members)

    def title_at(self, _size):
        return f"{self.name}, per {self.per}"

    def requests_of(self, count, _size):
        return max(count // self.weight, len(self.requests))

    def requests_on(self, server):
        """Returns the requests for the server with this name."""
        return self.in_one_call if self.in_one_call and server.startswith("zsetd") else self.requests

    def step(self, size, server="redis-server"):
        return Step(self.requests_on(server), self.variables(size), self.listeners)


_BUCKETS = " ".join(f"hour:{holding.number(hour)}" for hour in range(holding.HOURS))


def _counted_stories(size):
    return ("random", "hour", holding.HOURS), ("random", "story", 2 * size)


_CLOCK = ("counter", "clock", 1_700_000_000)


def _in_order(name, request):
    """Adds new members in an order in which each is at an end of the set."""
    return Recipe(f"ZADD, {name}", "command", (request,), size_of=lambda members: members // 10,
                  variables=lambda _size: (_CLOCK, ("random", "user", 10**12)), at_once=(1, 16))


RECIPES = (
    _in_order("oldest first", "ZADD log {clock} user:{user}"),
    _in_order("newest first by -time", "ZADD log -{clock} user:{user}"),
    _in_order("equal scores, members ascending", "ZADD names 0 name:{clock}"),
    _in_order("equal scores, members descending", "ZADD names 0 name:{900000000000-clock}"),
    Recipe("recency recipe", "command",
           ("ZADD seen:{user} {clock} {item}",
            f"ZREMRANGEBYRANK seen:{{user}} 0 {-holding.SEEN - 1}",
            f"EXPIRE seen:{{user}} {holding.WEEK_S}",
            "ZREVRANGE seen:{user} 0 9"),
           size_of=lambda members: members * 6 // 100,
           variables=lambda users: (("random", "user", users), ("random", "item", 1_000_000),
                                    ("counter", "clock", 1_701_000_000)),
           contents=holding.numbered_recency_lists_in_use),
    Recipe("top-ten recipe", "count",
           ("ZINCRBY hour:{hour} 1 story:{story}",),
           size_of=lambda members: members // 50, variables=_counted_stories,
           contents=holding.hours, at_once=(1, 16)),
    Recipe("top-ten recipe", "union",
           (f"ZUNIONSTORE top:day {holding.HOURS} {_BUCKETS}",
            "ZREMRANGEBYRANK top:day 0 -10001",
            "ZRANGE top:day -10 -1 WITHSCORES",
            "EXPIRE top:day 60"),
           size_of=lambda members: members // 50, variables=lambda _size: (),
           contents=holding.hours, at_once=(1,), weight=1000),
    Recipe("live events", "command",
           ("ZADD visitors {clock} user:{user}",
            "ZRANGEBYSCORE visitors ({clock-10} +inf",
            "ZREMRANGEBYSCORE visitors -inf ({clock-10000}",
            "ZCARD visitors",
            "ZREM visitors user:{leaver}",
            "PUBLISH events user:{user}"),
           size_of=lambda members: members // 10,
           variables=lambda users: (_CLOCK, ("random", "user", users),
                                    ("random", "leaver", users)),
           at_once=(1, 3), listeners=5),

    # A consumer of a group. Requests of several connections arrive in any order, so jobs that were read before
    # are acknowledged.
    Recipe("queue in a stream", "job",
           ("XADD jobs * job {job}",
            "XREADGROUP GROUP group reader COUNT 1 STREAMS jobs >",
            "XACK jobs group {job}-0"),
           size_of=lambda members: members // 10,
           variables=lambda _size: (("counter", "job", holding.FIRST_JOB),),
           contents=holding.jobs_in_a_stream, at_once=(1, 5)),
    Recipe("XREADGROUP COUNT 1 and XACK", "job",
           ("XREADGROUP GROUP group reader COUNT 1 STREAMS jobs >", "XACK jobs group {job}-0"),
           size_of=lambda members: members * 13 // 100,
           variables=lambda _size: (("counter", "job", holding.FIRST_JOB),),
           contents=holding.jobs_in_a_stream, at_once=(1, 8)),

    # One call with an extension of zsetd, compared with the equivalent requests to Redis.
    Recipe("recency list in one call", "view",
           ("ZADD seen:{user} {clock} {item}",
            f"ZREMRANGEBYRANK seen:{{user}} 0 {-holding.SEEN - 1}",
            f"EXPIRE seen:{{user}} {holding.WEEK_S}"),
           in_one_call=(f"ZADD seen:{{user}} MAXLEN {holding.SEEN} EX {holding.WEEK_S} {{clock}} {{item}}",),
           size_of=lambda members: members * 6 // 100,
           variables=lambda users: (("random", "user", users), ("random", "item", 1_000_000),
                                    ("counter", "clock", 1_701_000_000)),
           contents=holding.numbered_recency_lists_in_use, at_once=(1, 4)),
    Recipe("top ten without a temporary key", "union",
           (f"ZUNIONSTORE top:day {holding.HOURS} {_BUCKETS}",
            "ZRANGE top:day 0 9 REV WITHSCORES",
            "EXPIRE top:day 60"),
           in_one_call=(f"ZUNION {holding.HOURS} {_BUCKETS} REV LIMIT 0 10 WITHSCORES",),
           size_of=lambda members: members // 50, variables=lambda _size: (),
           contents=holding.hours, at_once=(1,), weight=1000),
    Recipe("delayed jobs: add and take one", "job",
           ("ZADD jobs {clock} job:{job}",
            f"EVALSHA {holding.sha(holding.POP_DUE_SCRIPT)} 1 jobs"),
           in_one_call=("ZADD jobs {clock} job:{job}", "ZPOPBYSCORE jobs -inf now"),
           size_of=lambda members: members // 10,
           variables=lambda _size: (("counter", "clock", 1_700_000_000), ("random", "job", 10**12)),
           contents=holding.jobs, at_once=(1, 8)),
    Recipe("rank and ten neighbours", "look",
           (f"EVALSHA {holding.sha(holding.AROUND_SCRIPT)} 1 board {{member}}",),
           in_one_call=("ZAROUND board {member} 5 5 REV WITHSCORES",),
           size_of=lambda members: members,
           variables=lambda size: (("random", "member", size),),
           contents=holding.board_with_scripts, at_once=(1, 16)),
)
