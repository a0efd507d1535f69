"""The replies that TTL may give, however long a client has been delayed."""

import math
import time


def ttls(set_s, since):
    """Returns the possible times to live of a key that was given `set_s` seconds at `since` or
    later."""
    return range(set_s - math.ceil(time.monotonic() - since), set_s + 1)
