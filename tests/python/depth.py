"""How deep tests go: `make test` runs variants that cover each kind once, `make test-all` (``RTCG_TEST_ALL=1``) all.

``each_kind`` and ``in_turns`` thin a product of names and dtypes, ``pairs`` a product of more axes, ``some`` a list.
What they leave out is deterministic, so that a test's name says which variant it is in either depth.
"""

import itertools
import os

import numpy as np

ALL = "RTCG_TEST_ALL" in os.environ


def at_depth(usual, deep):
    """`deep` where all variants run, else `usual`."""
    return deep if ALL else usual


def some(values, usual):
    """All values, or those that `usual` names: a step, or the values themselves."""
    values = list(values)
    if ALL:
        return values
    if isinstance(usual, int):
        return values[::usual]
    assert all(value in values for value in usual), usual
    return [value for value in values if value in usual]


def _kind(dtype):
    """What kernels differ by: bool, integers with and without a sign, short floats, floats, complex numbers."""
    dtype = np.dtype(dtype)
    return "short float" if dtype.itemsize == 2 and dtype.kind not in "iub" else dtype.kind


def each_kind(cases, dtype_of=lambda case: case[-1], key_of=lambda case: case[0]):
    """Of cases with a dtype each, those with one dtype of each kind for each key; the keys take turns with the dtypes.

    So every key meets every kind that it had, and every dtype occurs with several keys.
    """
    cases = list(cases)
    if ALL:
        return cases
    groups = {}
    for case in cases:
        groups.setdefault(key_of(case), {}).setdefault(_kind(dtype_of(case)), []).append(case)
    chosen = [
        group[(i + j) % len(group)] for i, kinds in enumerate(groups.values()) for j, group in enumerate(kinds.values())
    ]
    kept = {id(case) for case in chosen}
    return [case for case in cases if id(case) in kept]


def in_turns(names, groups):
    """Names with values: each with all values of all groups, or with those of one; the groups take turns."""
    names, groups = list(names), list(groups)
    if ALL:
        return [(name, value) for name in names for group in groups for value in group]
    return [(name, value) for i, name in enumerate(names) for value in groups[i % len(groups)]]


def pairs(*axes):
    """Combinations of one value of each axis: all, or so many that each pair of values of two axes occurs.

    A greedy covering array: each next combination is the one of the product with the most pairs not met yet.
    """
    axes = [list(axis) for axis in axes]
    product = list(itertools.product(*(range(len(axis)) for axis in axes)))
    if ALL or len(axes) < 3:
        return [tuple(axis[i] for axis, i in zip(axes, case, strict=True)) for case in product]

    met = {case: set(itertools.combinations(enumerate(case), 2)) for case in product}
    left = set().union(*met.values())
    chosen = []
    while left:
        best = max(product, key=lambda case: len(met[case] & left))
        chosen.append(best)
        left -= met[best]
    return [tuple(axis[i] for axis, i in zip(axes, case, strict=True)) for case in sorted(chosen)]
