"""The least and the greatest element with their indices, by one reduction of 4-tuples."""

import sys

import numpy as np
from harness import check, options

from rtcg.copperhead import cu, cuarray, indices, max_bound_el, min_bound_el, reduce, zip


@cu
def extrema_op(a, b):
    a_low_index, a_low, a_high_index, a_high = a
    b_low_index, b_low, b_high_index, b_high = b
    low = (a_low_index, a_low) if a_low < b_low else (b_low_index, b_low)
    high = (a_high_index, a_high) if a_high > b_high else (b_high_index, b_high)
    low_index, low_value = low
    high_index, high_value = high
    return low_index, low_value, high_index, high_value


@cu
def extrema(x):
    identity = (-1, max_bound_el(x), -1, min_bound_el(x))
    return reduce(extrema_op, zip(indices(x), x, indices(x), x), identity)


def main(arguments=None):
    chosen = options(__doc__, arguments, size=1_000_000, size_here=2_000)
    # Distinct values: of equal ones any may be found.
    x = np.random.default_rng(2).permutation(chosen.size).astype(np.float32)
    with chosen.place:
        low_index, low, high_index, high = extrema(cuarray(x))
    check(low_index, np.int64(x.argmin()))
    check(low, x.min())
    check(high_index, np.int64(x.argmax()))
    check(high, x.max())
    print(f"extrema of {chosen.size} at {chosen.place.name}: x[{low_index}] = {low}, x[{high_index}] = {high}")


if __name__ == "__main__":
    sys.exit(main())
