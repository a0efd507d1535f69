"""Contents whose resident bytes are measured. Each is a row of a table."""

import dataclasses
from collections.abc import Callable, Iterable

from versus_lib import contents as holding


@dataclasses.dataclass(frozen=True)
class Memory:
    """Contents of a server, and their number at full size."""

    title: str  # with a placeholder for the size
    full_size: int
    contents: Callable[[int], Iterable[bytes]]

    def size_at(self, scale):
        return int(self.full_size * scale)

    def title_at(self, scale):
        return self.title.format(self.size_at(scale))


MEMORY = (
    Memory("one set of {:,} members, numerals", 2_000_000, holding.board),
    Memory("one set of {:,} members, user:8f3a09c2e7", 2_000_000, holding.named_board),
    Memory("{:,} leaderboards of 300", 2_000, holding.leaderboards),
    Memory("{:,} recency lists of 30", 60_000, holding.recency_lists),
    Memory("{:,} recency lists, 10 views later each", 60_000, holding.recency_lists_in_use),
    Memory("{:,} keys with deadlines", 500_000, holding.keys_with_deadlines),
    Memory("{:,} entries of a stream, two small numbers", 1_000_000, holding.events),
    Memory("{:,} such entries of a stream, pending in a group", 1_000_000, holding.delivered_events),
    Memory("{:,} entries of a stream, three fields of 8 bytes", 1_000_000, holding.short_readings),
    Memory("{:,} entries of a stream, three fields of 24 bytes", 1_000_000, holding.long_readings),
    Memory("{:,} entries of a stream, three identifiers", 1_000_000, holding.identifiers),
    Memory("{:,} cached scripts", 1_000, holding.different_scripts),
    Memory("{:,} values of 0 to 499 bytes, rewritten", 200_000, holding.values_rewritten),
)
