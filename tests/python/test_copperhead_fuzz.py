"""Random programs of data-parallel Python: a device computes what the interpreter does, or refuses the program.

`copperhead_programs.py` makes them. ``python -m tests.python.test_copperhead_fuzz FIRST LAST`` runs a range of seeds
and prints what differs.
"""

import re
import sys
import warnings

import copperhead_programs
import numpy as np
import pytest

from rtcg.copperhead import UntranslatableError, places, ragged, to_numpy
from tests.python.depth import at_depth

SEEDS = range(at_depth(24, 1_500))
#: Elements of a sequence of one constant, read beyond its end in a kernel: no value needs the index.
UNCHECKED = (210, 331)
MAX_SIZE = 64

#: Python raises these where a device computes with what wraps, or has infinities.
ARITHMETIC = (OverflowError, ZeroDivisionError)


def outcome(program, args, place):
    """The result, or the error."""
    try:
        return to_numpy(program(*args, target_place=place))
    except Exception as error:
        return error


def parts_of(value):
    """The arrays that a result is made of."""
    if isinstance(value, tuple):
        return [part for item in value for part in parts_of(item)]
    return [np.asarray(value.values), value.offsets] if isinstance(value, ragged) else [np.asarray(value)]


def is_equal(found, expected, is_exact, is_typed):
    if found.shape != expected.shape or (is_typed and found.dtype != expected.dtype):
        return False
    if is_exact or expected.dtype.kind not in "fc":
        return (
            np.array_equal(found, expected, equal_nan=True)
            if expected.dtype.kind in "fc"
            else (found == expected).all()
        )
    real = expected.real.dtype
    rtol = {2: 2e-2, 4: 1e-3}.get(min(real.itemsize, found.real.dtype.itemsize), 1e-8)
    wide = expected.astype(np.complex128)
    scale = np.abs(wide[np.isfinite(wide)]).max(initial=1)
    return np.allclose(found.astype(np.complex128), wide, rtol=rtol, atol=rtol * scale, equal_nan=True)


def difference(program):
    """In which way a device and the interpreter differ; None if they do not."""
    function = program.function()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = outcome(function, program.args, places.here)
        found = outcome(function, program.args, places.gpu0)
    if isinstance(found, UntranslatableError):
        # A wrong program may be refused for any of the things that are wrong in it.
        may_be = program.is_wrong or "kernels cannot compute yet" in str(found) or "lengths that differ" in str(found)
        return None if may_be else f"refused: {found}"
    if isinstance(found, TypeError) and isinstance(expected, OverflowError) and "out of bounds" in str(found):
        return None
    if isinstance(found, TypeError) and "boolean" in str(found):
        return None  # Of truth values there are no differences and no negatives, which an empty sequence does not show.
    if isinstance(found, Exception):
        # Types are checked in all of the program, lengths in all branches, and indices at the next fetch.
        allowed = (TypeError, ValueError) if program.is_wrong else ()
        if isinstance(expected, IndexError) and isinstance(found, ValueError):
            return None
        is_same = type(found) is type(expected) or isinstance(found, allowed)
        return None if is_same else f"{expected!r} in the interpreter, {found!r} at the device"
    if isinstance(expected, Exception):
        return None if isinstance(expected, ARITHMETIC) else f"{expected!r} in the interpreter, {found!r} at the device"
    parts = list(zip(parts_of(found), parts_of(expected), strict=True))
    # Nobody knows the type of an element of an empty comprehension in the interpreter.
    is_typed = all(part.size for _, part in parts) and all(np.size(arg) for arg in program.args)
    is_typed = is_typed and not re.search(r" if [^\]]*\]|filter", program.text)
    for place, (one, other) in enumerate(parts):
        if not is_equal(one, other, program.is_exact, is_typed):
            return f"part {place} is {one!r} at the device, {other!r} in the interpreter"
    return None


@pytest.mark.parametrize("seed", SEEDS)
def test_a_random_program(seed):
    program = copperhead_programs.Program(seed, MAX_SIZE)
    found = difference(program)
    if seed in UNCHECKED:
        assert found.startswith("IndexError")
    else:
        assert found is None, f"{found}\n{program.text}{program.args}"


def test_programs_are_of_all_kinds():
    programs = [copperhead_programs.Program(seed) for seed in range(300)]
    text = "".join(program.text for program in programs)
    words = ["scan(", "reduce(", "map(", "gather(", "permute(", "shift(", "sort(", "filter(", " if ", "def g", "where("]
    for word in words:
        assert text.count(word) > 30, word
    assert 10 < sum(program.is_wrong for program in programs) < 100
    assert 30 < sum(program.is_exact for program in programs)
    assert {arg.dtype.name for program in programs for arg in program.args if isinstance(arg, np.ndarray)} >= {
        *copperhead_programs.DTYPES,
        *copperhead_programs.COMPLEX,
    }


def main(first, last):
    n_different = 0
    for seed in range(first, last):
        program = copperhead_programs.Program(seed, MAX_SIZE)
        found = difference(program)
        if found is not None:
            n_different += 1
            args = [f"{arg.dtype}{arg.shape}" if isinstance(arg, np.ndarray) else repr(arg) for arg in program.args]
            print(f"-- {seed}: {found}\n{program.text}{', '.join(args)}", flush=True)
    print(f"{n_different} of {last - first} differ")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
