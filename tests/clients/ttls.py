"""What TTL may answer, however long a client has been kept waiting."""

import math
import time


def ttls(set_s, since):
    """Now, of a deadline that was set at `since` or later, to be `set_s` seconds away."""
    return range(set_s - math.ceil(time.monotonic() - since), set_s + 1)
