"""Sorting with nested sequences: counting sort with a count for each element, and radix sort by groups of 4 bits."""

import sys

import numpy as np
from harness import check, options

from rtcg.copperhead import collect, count, cu, indices, join, permute, split_at, unzip


@cu
def counting_sort(x):
    """Each element goes to where the number of those that precede it says; this takes n * n comparisons."""

    def rank(i):
        before, after = split_at(x, i)
        return count([b <= x[i] for b in before]) + count([a < x[i] for a in after])

    return permute(x, [rank(i) for i in indices(x)])


@cu
def quad_radix_sort(x, bits, lsb):
    """x by its bits from `lsb` up to but not including `bits`, four at a time."""
    if lsb >= bits:
        return x
    else:
        keys, groups = unzip(collect(lambda xi: (xi >> lsb) & 15, x))
        return quad_radix_sort(join(groups), bits, lsb + 4)


def main(arguments=None):
    chosen = options(__doc__, arguments, size=2_000, size_here=100)
    x = np.random.default_rng(8).integers(0, 2**31, chosen.size, dtype=np.int32)
    # Equal elements, too.
    few = x % 17
    with chosen.place:
        for values, bits in ((x, 32), (few, 8)):
            check(counting_sort(values), np.sort(values))
            check(quad_radix_sort(values, bits, 0), np.sort(values))
    print(f"two sorts of {chosen.size} numbers at {chosen.place.name}: equal to NumPy")


if __name__ == "__main__":
    sys.exit(main())
