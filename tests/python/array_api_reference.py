"""The Array API standard as `array_api_strict` has it, beside `rtcg.array_api`.

`agree(body, *hosts)` runs ``body(xp, *arrays)`` with both and compares value, dtype and shape. Which dtypes a function
takes is asked of the reference (`allowed`), so that the tests follow the standard and not our own opinion.
"""

import warnings

import array_api_strict as strict
import numpy as np
from depth import at_depth
from hypothesis import HealthCheck, settings, strategies as st

import rtcg.array_api as ours

VERSION = "2024.12"
strict.set_array_api_strict_flags(api_version=VERSION)

# What the reference has of later versions, or of its own.
LATER = {"isin", "broadcast_shapes"}
OWN = {"ArrayAPIStrictFlags", "Device", "__version__"} | {
    f"{verb}_array_api_strict_flags" for verb in ("get", "set", "reset")
}

BOOL = ["bool"]
INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
FLOATS = ["float32", "float64"]
COMPLEX = ["complex64", "complex128"]
REAL = INTEGERS + FLOATS
NUMERIC = REAL + COMPLEX
ALL = BOOL + NUMERIC

few = settings(
    max_examples=at_depth(8, 16),
    deadline=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
)


def allowed(call, dtypes=ALL):
    """The dtypes of which the reference takes arrays: ``call(xp, make)`` with ``make()`` an array of ones."""
    taken = []
    for dtype in dtypes:
        try:
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                call(strict, lambda dtype=dtype: strict.ones((2,), dtype=getattr(strict, dtype)))
        except TypeError:
            continue
        taken.append(dtype)
    return taken


def numbers(dtype, shape, seed):
    """Values that sums and products of a few stay exact with."""
    rng = np.random.default_rng(seed)
    kind = np.dtype(dtype).kind
    if kind == "b":
        return rng.integers(0, 2, shape).astype(bool)
    if kind in "iu":
        return np.asarray(rng.integers(0 if kind == "u" else -5, 6, shape)).astype(dtype)
    if kind == "c":
        return np.asarray(rng.integers(-8, 9, shape) / 4 + 1j * rng.integers(-8, 9, shape) / 4).astype(dtype)
    return np.asarray(rng.integers(-32, 33, shape) / 8).astype(dtype)


@st.composite
def arrays(draw, dtype, min_ndim=0, max_ndim=3, min_length=0, max_length=4, shape=None):
    """A host array of a dtype and a drawn shape."""
    if shape is None:
        lengths = st.lists(st.integers(min_length, max_length), min_size=min_ndim, max_size=max_ndim)
        shape = tuple(draw(lengths))
    return numbers(dtype, shape, draw(st.integers(0, 2**16)))


def specials(dtype):
    """The values that the standard's special cases speak of, and some plain ones."""
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return np.array([False, True])
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        plain = [0, 1, 2, 3, 7, info.max - 1, info.max]
        return np.array(plain if dtype.kind == "u" else [info.min, info.min + 1, -7, -2, -1, *plain], dtype)
    if dtype.kind == "c":
        parts = np.array([0.0, -0.0, 1.0, -2.5, np.inf, -np.inf, np.nan])
        re, im = np.meshgrid(parts, parts)
        values = np.empty(re.size, dtype)
        values.real, values.imag = re.ravel(), im.ravel()
        return values
    info = np.finfo(dtype)
    plain = [0.0, 0.25, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 10.0, 88.0, info.tiny, info.smallest_subnormal, info.max, np.inf]
    return np.array([*plain, *(-x for x in plain), np.nan], dtype)


def outcome(body, xp, args):
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return body(xp, *args)


def agree(body, *hosts, ulps=0, finish=lambda result: result):
    """Both modules give the same; `hosts` are NumPy arrays, of which both get one."""
    expected = outcome(body, strict, [strict.asarray(host.copy()) for host in hosts])
    actual = outcome(body, ours, [ours.asarray(host.copy()) for host in hosts])
    same_value(finish(actual), finish(expected), ulps)


def host_of(value):
    """A NumPy array or scalar of what a module gave."""
    if isinstance(value, strict._array_object.Array):
        return value._array
    return value.get() if hasattr(value, "get") else value


def same_value(actual, expected, ulps=0):
    if isinstance(expected, (tuple, list)):
        assert len(actual) == len(expected), f"{len(actual)} results, expected {len(expected)}"
        for one, other in zip(actual, expected, strict=True):
            same_value(one, other, ulps)
        return
    if not isinstance(expected, strict._array_object.Array):
        same_scalar(actual, expected)
        return
    same_array(np.asarray(host_of(actual)), np.asarray(host_of(expected)), ulps)


def same_scalar(actual, expected):
    if hasattr(expected, "_np_dtype"):
        assert actual == expected._np_dtype, f"{actual}, expected {expected}"
        return
    assert type(actual) is type(expected), f"{type(actual)}, expected {type(expected)}"
    assert actual == expected or (actual != actual and expected != expected), f"{actual}, expected {expected}"


def same_array(actual, expected, ulps):
    """Equal elements, also in the sign of zeros; finite ones within `ulps` units in the last place.

    The parts of complex numbers that were computed in another order, of which `ulps` tells, may differ in the sign of
    zeros: each is a sum of products.
    """
    assert actual.shape == expected.shape, f"shape {actual.shape}, expected {expected.shape}"
    assert actual.dtype == expected.dtype, f"dtype {actual.dtype}, expected {expected.dtype}"
    if expected.dtype.kind == "c":
        scale = np.maximum(np.abs(expected.real), np.abs(expected.imag))
        if ulps:
            actual, expected = actual + 0.0, expected + 0.0
        same_floats(actual.real, expected.real, scale, ulps, actual, expected)
        same_floats(actual.imag, expected.imag, scale, ulps, actual, expected)
    elif expected.dtype.kind == "f":
        same_floats(actual, expected, np.abs(expected), ulps, actual, expected)
    else:
        np.testing.assert_array_equal(actual, expected)


def same_floats(actual, expected, scale, ulps, whole, wanted):
    info = np.finfo(expected.dtype)
    with np.errstate(all="ignore"):
        exact = (actual == expected) & (np.signbit(actual) == np.signbit(expected))
        # What rounds up from next to the largest number overflows.
        finite = np.clip(actual, info.min, info.max) if ulps else actual
        within = np.abs(finite - expected) <= ulps * np.maximum(info.eps * scale, info.smallest_subnormal)
    # A zero that was expected must have its sign, or be missed by a little.
    near = within & np.isfinite(expected) & ((actual != 0) | (expected != 0))
    wrong = np.atleast_1d(~(exact | near | (np.isnan(actual) & np.isnan(expected))))
    if wrong.any():
        at = np.nonzero(wrong)
        places = np.argwhere(wrong)[:8].tolist()
        given = f"{np.atleast_1d(whole)[at][:8]}, expected {np.atleast_1d(wanted)[at][:8]}"
        raise AssertionError(f"at {places}: {given}")
