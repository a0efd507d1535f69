"""The targets of the sorted set, figure by figure."""

import dataclasses

OURS = "zsetd"
THOUSAND, MILLION = 1_000, 1_000_000


@dataclasses.dataclass(frozen=True)
class AtMost:
    """A counter that must not exceed the aim."""

    title: str
    key: tuple  # benchmark, size
    counter: str
    aim: float
    form: str = "{:,.1f}"

    def row(self, found):
        entry = found.get((self.key[0], OURS, self.key[1]))
        if entry is None:
            return None
        value = entry[self.counter]
        return _row(self.title, self.form, value, "at most ", self.aim, value <= self.aim)


@dataclasses.dataclass(frozen=True)
class AtMostTimes:
    """A counter that must not exceed the counter of another benchmark by more than the factor `aim`."""

    title: str
    key: tuple
    other: tuple
    counter: str
    aim: float

    def row(self, found):
        entry = found.get((self.key[0], OURS, self.key[1]))
        other = found.get((self.other[0], OURS, self.other[1]))
        if entry is None or other is None:
            return None
        value = entry[self.counter] / other[self.counter]
        return _row(self.title, "{:.2f}", value, "at most ", self.aim, value <= self.aim)


def _row(title, form, value, prefix, aim, reached):
    return [title, form.format(value), prefix + f"{aim:g}", "reached" if reached else "**missed**"]


_MEMORY = [
    AtMost(f"bytes a member, {title}", (f"Memory/{name}", 5 * MILLION), "bytes", aim)
    for title, name, aim in (
        ("20 random bytes, random scores", "random20", 33.5),
        ("20 random bytes, timestamps", "random20_timestamps", 28),
        ("member:%013d, random scores", "padded", 15),
        ("member:%013d, timestamps", "padded_timestamps", 10))
] + [AtMost("bytes a member, %d in order", ("Memory/shortest_timestamps", MILLION), "bytes", 10),
     AtMostTimes("bytes after ten new scores each, times those before",
                 ("Memory/random20_ten_updates", MILLION), ("Insert", MILLION), "bytes", 1.15)]

_TIMES = [
    AtMostTimes(f"insert, {title}, {size:,} members, times ascending",
                (descending, size), (ascending, size), "ns", 1.3)
    for title, descending, ascending in (
        ("scores descending", "InsertDescending", "InsertInOrder"),
        ("scores of -time", "InsertNegativeTime", "InsertInOrder"),
        ("equal scores, members descending", "InsertEqualDescending", "InsertEqualInOrder"))
    for size in (THOUSAND, MILLION, 5 * MILLION)]

_PAUSES = [
    AtMost("99.99 % of inserts up to 5,000,000, microseconds", ("GrowthPauses", 5 * MILLION),
           "p99.99_us", 10),
    AtMost("the longest of them", ("GrowthPauses", 5 * MILLION), "worst_us", 50),
    AtMost("99.99 % of new keys up to 10,000,000, microseconds", ("KeyPauses", 10 * MILLION),
           "p99.99_us", 10),
    AtMost("the longest of them", ("KeyPauses", 10 * MILLION), "worst_us", 50),
    AtMost("99.99 % of new keys with deadlines", ("KeyPausesWithDeadlines", 10 * MILLION),
           "p99.99_us", 10),
    AtMost("the longest of them", ("KeyPausesWithDeadlines", 10 * MILLION), "worst_us", 50),
    AtMost("removing half of 5,000,000 by range, milliseconds", ("RemoveHalfByRange", 5 * MILLION),
           "ms", 5),
]

AIMS = _MEMORY + _TIMES + _PAUSES
