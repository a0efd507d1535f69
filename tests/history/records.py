"""The history of a run: the requests of clients, their replies, and the data at the end. The
checks are functions of these records alone, so that tests can plant violations.

An operation is sent at most once. Its end is one of

    acknowledged by all   the reply arrived, and then WAIT returned the number of all replicas
    acknowledged by one   the same, but WAIT returned fewer than all, and at least one
    acknowledged          the reply arrived; WAIT was not called, or returned 0
    refused               the server replied with an error, so that nothing has changed
    unknown               the connection ended first
"""

import collections
import dataclasses
import itertools

REFUSED, UNKNOWN, ACKNOWLEDGED, BY_ONE, BY_ALL = range(5)


@dataclasses.dataclass
class Operation:
    kind: str  # push, score, entry, pair, move or count
    client: int
    number: int  # of this client, ascending
    begin: float
    end: float = 0.0
    outcome: int = UNKNOWN
    reply: int = 0  # of count: the value of the counter

    @property
    def element(self):
        return f"{self.client}:{self.number}"


@dataclasses.dataclass
class Final:
    """The data at the end. Elements are listed in the order of their key."""
    push: list = dataclasses.field(default_factory=list)  # a list, by RPUSH
    score: list = dataclasses.field(default_factory=list)  # a sorted set, by ZADD
    entry: list = dataclasses.field(default_factory=list)  # a stream, by XADD
    pair: tuple = ((), ())  # two lists, by RPUSH within a transaction
    source: list = dataclasses.field(default_factory=list)  # sorted sets, by a move from one to the other
    target: list = dataclasses.field(default_factory=list)
    counters: dict = dataclasses.field(default_factory=dict)  # by client

    def of(self, kind):
        return {"push": self.push, "score": self.score, "entry": self.entry,
                "pair": self.pair[0], "move": self.target}[kind]


KINDS = ("push", "score", "entry", "pair", "move")


def lost(operations, final, least):
    """Returns the operations with at least this outcome whose effect is absent."""
    found = {kind: set(final.of(kind)) for kind in KINDS}
    return [each for each in operations if each.kind != "count" and each.outcome >= least
            and each.element not in found[each.kind]]


def violations(operations, final):
    """Returns a sentence for each violated guarantee."""
    return [*lost_despite_wait(operations, final), *repeated(final), *invented(operations, final),
            *out_of_order(operations, final), *in_part(final), *miscounted(operations, final)]


def lost_despite_wait(operations, final):
    for each in lost(operations, final, BY_ALL):
        yield f"{each.kind} {each.element} is lost, although all replicas had acknowledged it"


def repeated(final):
    for kind in KINDS:
        for element, times in collections.Counter(final.of(kind)).items():
            if times > 1:
                yield f"{kind} {element} occurs {times} times"
    for element in set(final.source) & set(final.target):
        yield f"move {element} is in both sets"


def invented(operations, final):
    """Elements that no client has sent, or that the server has refused."""
    for kind in KINDS:
        possible = {each.element for each in operations if each.kind == kind and each.outcome != REFUSED}
        for element in set(final.of(kind)) - possible:
            yield f"{kind} {element} exists, although it was refused or never sent"


def out_of_order(operations, final):
    """If an operation has its reply before the same client sends another one, the first one's
    element precedes. An operation with an unknown end may take effect at any later time."""
    by_element = {(each.kind, each.element): each for each in operations}
    for kind in ("push", "entry", "pair"):
        newest = {}
        for element in final.of(kind):
            operation = by_element.get((kind, element))
            if operation is None:
                continue
            previous = newest.get(operation.client)
            if previous is not None and operation.outcome >= ACKNOWLEDGED and operation.end < previous.begin:
                yield f"{kind} {element} follows {previous.element}, which was sent after its reply"
            if previous is None or operation.begin > previous.begin:
                newest[operation.client] = operation


def in_part(final):
    """Both lists of a pair are changed by the same transactions."""
    first, second = final.pair
    for at, (one, other) in enumerate(itertools.zip_longest(first, second)):
        if one != other:
            yield f"place {at} of the pair has {one} and {other}: a transaction was executed in part"
            return


def miscounted(operations, final):
    """An acknowledged value is a lower bound: the history that contains it survives."""
    counts = collections.defaultdict(lambda: [0, 0, 0])
    for each in operations:
        if each.kind == "count":
            least = counts[each.client]
            least[0] = max(least[0], each.reply if each.outcome == BY_ALL else 0)
            least[1] += each.outcome == BY_ALL
            least[2] += each.outcome != REFUSED
    for client, (value, acknowledged, sent) in counts.items():
        found = final.counters.get(client, 0)
        if not max(value, acknowledged) <= found <= sent:
            yield (f"the counter of client {client} is {found}: {sent} increments were sent, all replicas "
                   f"acknowledged {acknowledged} of them and the value {value}")
