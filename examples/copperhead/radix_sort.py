"""Radix sort, one bit at a time: scans from both sides, permutations, tail recursion over arrays."""

import sys

import numpy as np
from harness import check, options

from rtcg.copperhead import cu, indices, int64, map, op_add, permute, rscan, scan


@cu
def radix_sort(x, bits, lsb):
    """x by its bits from `lsb` up to but not including `bits`."""

    def distance(flag, ones_before, zeros_after):
        if flag == 0:
            return -ones_before
        else:
            return +zeros_after

    if lsb >= bits:
        return x
    else:
        flags = map(lambda xi: int64((xi >> lsb) & 1), x)
        ones = scan(op_add, flags)
        zeros = rscan(op_add, [flag ^ 1 for flag in flags])
        places = map(op_add, indices(x), map(distance, flags, ones, zeros))
        return radix_sort(permute(x, places), bits, lsb + 1)


def main(arguments=None):
    chosen = options(__doc__, arguments, size=100_000, size_here=277, bits=(32, 8))
    dtype = np.uint32 if chosen.bits > 31 else np.int32
    x = np.random.default_rng(3).integers(0, 2**chosen.bits, chosen.size, dtype=dtype)
    with chosen.place:
        found = radix_sort(x, chosen.bits, 0)
    check(found, np.sort(x))
    print(f"radix sort of {chosen.size} numbers of {chosen.bits} bits at {chosen.place.name}: equal to NumPy")


if __name__ == "__main__":
    sys.exit(main())
