"""What the top-ten recipe is fed, and what it must answer, for the clients tested from Python.

Phone numbers are looked up, and each lookup counts one for its number in the bucket of its hour, a
sorted set named like 20180708_20. A bucket lives for two days and some hours, then nobody asks.
"""

import collections
import datetime
import os
import random

BUCKET_TTL_S = 179200
TOP_TTL_S = 3600
KEPT = 30  # members that trimming leaves in a bucket


def printed_seed():
    """Chance for one test; SEED in the environment repeats what failed."""
    seed = int(os.environ.get("SEED", random.randrange(2**32)))
    print("SEED", seed)
    return random.Random(seed)


def random_lookups(rng):
    """For each bucket of the last 24 hours the numbers looked up, in order; a few of them often."""
    first = datetime.datetime(2018, 7, 7, 21)
    keys = [f"{first + datetime.timedelta(hours=hour):%Y%m%d_%H}" for hour in range(24)]
    numbers = [f"{rng.randrange(200, 999)}-555-{rng.randrange(10000):04}" for _ in range(60)]
    return {key: [numbers[int(rng.triangular(0, 60, 0))] for _ in range(rng.randrange(60, 120))]
            for key in keys}


def running_counts(numbers):
    """What each of these lookups makes its number's count."""
    counts = collections.Counter()
    return [counts.update([number]) or counts[number] for number in numbers]


def highest(counts, number):
    """The highest `number` of counts as (member, count), lowest first; equals by their bytes."""
    return sorted(counts.items(), key=lambda item: (item[1], item[0]))[-number:]


def top_ten(lookups):
    """The ten numbers looked up most, lowest first, by the KEPT highest of each bucket."""
    total = collections.Counter()
    for numbers in lookups.values():
        total.update(dict(highest(collections.Counter(numbers), KEPT)))
    return highest(total, 10)
