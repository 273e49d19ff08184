"""Project Euler's problem 14: the start below n with the longest Collatz sequence; divergent recursion and `argmax`."""

import sys

import numpy as np
from harness import check, options

from rtcg.copperhead import argmax, bounded_range, cu, map


@cu
def successor(x):
    if x % 2 == 0:
        return x // 2
    else:
        return 3 * x + 1


@cu
def length(x, n):
    if x == 1:
        return n
    else:
        return length(successor(x), n + 1)


@cu
def longest(n):
    lengths = map(lambda x: length(x, 1), bounded_range(1, n))
    index, value = argmax(lengths)
    return index + 1, value


def by_numpy(n):
    x, lengths = np.arange(1, n), np.ones(n - 1, np.int64)
    while (x > 1).any():
        lengths += x > 1
        x = np.where(x == 1, 1, np.where(x % 2 == 0, x // 2, 3 * x + 1))
    return lengths.argmax() + 1, lengths.max()


def main(arguments=None):
    chosen = options(__doc__, arguments, size=100_000, size_here=1_000)
    with chosen.place:
        start, steps = longest(chosen.size)
    expected_start, expected_steps = by_numpy(chosen.size)
    check(start, np.int64(expected_start))
    check(steps, np.int64(expected_steps))
    print(f"Collatz sequences below {chosen.size} at {chosen.place.name}: {start} takes {steps} numbers")


if __name__ == "__main__":
    sys.exit(main())
