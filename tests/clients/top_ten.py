"""Inputs and expected results of the top-ten recipe for clients that are tested from Python.

Phone numbers are looked up. Each lookup adds 1 to the number's count in the bucket of its hour, a
sorted set with a name like 20180708_20. A bucket expires after two days and some hours.
"""

import collections
import datetime
import os
import random

BUCKET_TTL_S = 179200
TOP_TTL_S = 3600
KEPT = 30  # number of members that trimming keeps in a bucket


def printed_seed():
    """Prints the seed of one test. SEED in the environment reproduces a failed run."""
    seed = int(os.environ.get("SEED", random.randrange(2**32)))
    print("SEED", seed)
    return random.Random(seed)


def random_lookups(rng):
    """Returns the numbers looked up in each of the last 24 hourly buckets, in order. A few occur
    often."""
    first = datetime.datetime(2018, 7, 7, 21)
    keys = [f"{first + datetime.timedelta(hours=hour):%Y%m%d_%H}" for hour in range(24)]
    numbers = [f"{rng.randrange(200, 999)}-555-{rng.randrange(10000):04}" for _ in range(60)]
    return {key: [numbers[int(rng.triangular(0, 60, 0))] for _ in range(rng.randrange(60, 120))]
            for key in keys}


def running_counts(numbers):
    """Returns the count of each looked-up number after its lookup."""
    counts = collections.Counter()
    return [counts.update([number]) or counts[number] for number in numbers]


def highest(counts, number):
    """Returns the `number` highest counts as (member, count), lowest first; equal counts by the
    members' bytes."""
    return sorted(counts.items(), key=lambda item: (item[1], item[0]))[-number:]


def top_ten(lookups):
    """Returns the ten most frequent numbers, lowest first, computed from the KEPT highest of each
    bucket."""
    total = collections.Counter()
    for numbers in lookups.values():
        total.update(dict(highest(collections.Counter(numbers), KEPT)))
    return highest(total, 10)
