"""What the programs share: their command line, and comparisons of results."""

import argparse

import numpy as np

from rtcg.copperhead import places, to_numpy


def place_of(name):
    """A place by its name, such as here, gpu0 or virtual0."""
    try:
        return getattr(places, name)
    except AttributeError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def options(doc, arguments, size, size_here, **steps):
    """The options of a command line: `place`, `size` and others.

    The default of the size is `size_here` in the interpreter, which is slow; each of `steps` is a pair.
    """
    defaults = {"size": (size, size_here), **steps}
    parser = argparse.ArgumentParser(description=doc)
    parser.add_argument("--place", type=place_of, default=places.gpu0, help="here, gpu0, virtual0 (default: gpu0)")
    for name, (usual, here) in defaults.items():
        parser.add_argument(f"--{name}", type=int, help=f"default: {usual}, and {here} in the interpreter")
    chosen = parser.parse_args(arguments)
    for name, (usual, here) in defaults.items():
        if getattr(chosen, name) is None:
            setattr(chosen, name, here if chosen.place is places.here else usual)
    return chosen


def check(found, expected, rtol=0.0, atol=0.0):
    """The result on the host, which has the dtype and, within tolerances, the values that are expected."""
    found, expected = to_numpy(found), np.asarray(expected)
    if found.dtype != expected.dtype:
        raise AssertionError(f"the result has dtype {found.dtype}; expected {expected.dtype}")
    np.testing.assert_allclose(found, expected, rtol=rtol, atol=atol)
    return found
