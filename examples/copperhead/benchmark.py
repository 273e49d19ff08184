"""How many bytes per second an identity moves."""

import sys
import time

import numpy as np
from harness import check, options

from rtcg.copperhead import cu, cuarray, force, map


@cu
def identity(x):
    return map(lambda xi: xi, x)


def main(arguments=None):
    chosen = options(__doc__, arguments, size=1_000_000, size_here=1_000, iterations=(10, 2))
    x = np.random.default_rng(4).standard_normal(chosen.size, np.float32)
    with chosen.place:
        there = cuarray(x)
        result = identity(there)
        begun = time.perf_counter()
        for _ in range(chosen.iterations):
            result = identity(there)
        # Calls do not wait; the copy to the host does.
        check(result, x)
        seconds = time.perf_counter() - begun
        force(result, chosen.place)
    moved_bytes = 2 * x.nbytes * chosen.iterations
    print(f"identity of {chosen.size} elements at {chosen.place.name}: {moved_bytes / seconds / 1e9:.3f} GB/s")


if __name__ == "__main__":
    sys.exit(main())
