"""One body, two modules: what NumPy computes and what `rtcg.numpy` computes, over drawn arrays.

`same(body, *hosts)` runs ``body(xp, *arrays)`` with NumPy's arrays and with device arrays of the same values and
layouts, and compares value, dtype and shape, or the class of the exception.
"""

import warnings

import ml_dtypes
import numpy as np
from depth import at_depth
from hypothesis import HealthCheck, settings, strategies as st

import rtcg.numpy as gpuarray

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
INTEGERS = [np.dtype(t) for t in ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8")]
FLOATS = [np.dtype(t) for t in ("f2", "f4", "f8")]
COMPLEX = [np.dtype(t) for t in ("c8", "c16")]
DTYPES = [np.dtype("?"), *INTEGERS, *FLOATS, *COMPLEX]

# Found cases are shrunk, and a failing run prints the seed that repeats it.
quickly = settings(
    max_examples=at_depth(40, 80),
    deadline=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


def values(dtype, shape, seed):
    """Numbers of a dtype that are neither too large for products nor all different."""
    rng = np.random.default_rng(seed)
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return rng.integers(0, 2, shape).astype(bool)
    if dtype.kind in "iu":
        return rng.integers(0 if dtype.kind == "u" else -9, 10, shape).astype(dtype)
    if dtype.kind == "c":
        return (rng.integers(-8, 9, shape) / 4 + 1j * rng.integers(-8, 9, shape) / 4).astype(dtype)
    return np.asarray(rng.integers(-32, 33, shape) / 8).astype(dtype)


def shapes(max_ndim=3, max_length=5, min_ndim=0):
    return st.lists(st.integers(0, max_length), min_size=min_ndim, max_size=max_ndim).map(tuple)


@st.composite
def layouts(draw, ndim):
    """How a base array is looked at: which axis order, which are turned or strided."""
    order = draw(st.permutations(range(ndim)))
    steps = draw(st.lists(st.sampled_from([1, 1, 2, -1, -2]), min_size=ndim, max_size=ndim))
    return tuple(order), tuple(steps)


def base_shape(shape, layout):
    """The shape of the array that `look` makes one of `shape` of."""
    order, steps = layout
    base = [0] * len(shape)
    for axis, source in enumerate(order):
        base[source] = shape[axis] * abs(steps[axis])
    return tuple(base)


def look(array, layout):
    """The view that `layout` says."""
    order, steps = layout
    return array.transpose(order)[(..., *(slice(None, None, step) for step in steps))]


@st.composite
def arrays(draw, dtypes=DTYPES, shape=None, max_ndim=3, min_ndim=0):
    """(base array, layout, the view) of a drawn dtype, shape and layout."""
    dtype = draw(st.sampled_from(dtypes))
    shape = draw(shapes(max_ndim, min_ndim=min_ndim)) if shape is None else shape
    layout = draw(layouts(len(shape)))
    base = values(dtype, base_shape(shape, layout), draw(st.integers(0, 2**16)))
    return Drawn(base, layout)


class Drawn:
    """A drawn array, for both modules."""

    def __init__(self, base, layout):
        self.base, self.layout = base, layout
        self.host = look(base, layout)

    def to_device(self):
        return look(gpuarray.to_gpu(self.base), self.layout)

    def __repr__(self):
        return f"Drawn({self.base!r}, {self.layout})"


def run(body, xp, args):
    """The result, or the exception, of `body`."""
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            return body(xp, *args), None
    except (TypeError, ValueError, IndexError, OverflowError, ZeroDivisionError) as error:
        return None, error


def same(body, *drawn, rtol=0.0):
    """Runs `body` with both modules and compares; drawn arrays become arrays, the rest is passed on."""
    hosts = [d.host.copy() if isinstance(d, Drawn) else d for d in drawn]
    devices = [d.to_device() if isinstance(d, Drawn) else d for d in drawn]
    expected, wanted_error = run(body, np, hosts)
    actual, error = run(body, gpuarray, devices)
    if wanted_error is not None or error is not None:
        kinds = tuple(k for k in (IndexError, OverflowError, TypeError, ValueError) if isinstance(wanted_error, k))
        assert wanted_error is not None, f"NumPy gives {expected!r}, the device raises {error!r}"
        assert error is not None, f"NumPy raises {wanted_error!r}, the device gives {actual!r}"
        assert isinstance(error, kinds), f"NumPy raises {wanted_error!r}, the device {error!r}"
        return
    compare(actual, expected, rtol)


def compare(actual, expected, rtol=0.0):
    """Equal in value, dtype and shape; within `rtol` where rounding is not defined."""
    if isinstance(expected, (tuple, list)):
        assert len(actual) == len(expected)
        for one, other in zip(actual, expected, strict=True):
            compare(one, other, rtol)
        return
    if isinstance(actual, gpuarray.GPUArray):
        actual = actual.get()
    expected = np.asarray(expected)
    actual = np.asarray(actual)
    assert actual.shape == expected.shape, f"shape {actual.shape}, expected {expected.shape}"
    assert actual.dtype == expected.dtype, f"dtype {actual.dtype}, expected {expected.dtype}"
    if rtol and expected.dtype.kind in "fcV" and expected.size:
        wide = np.complex128 if expected.dtype.kind == "c" else np.float64
        a, e = actual.astype(wide), expected.astype(wide)
        with np.errstate(all="ignore"):
            scale = np.abs(e[np.isfinite(e)]).max(initial=0)
        np.testing.assert_allclose(a, e, rtol=rtol, atol=rtol * scale)
    else:
        if expected.dtype.name == "bfloat16":  # NumPy does not take its NaNs for equal.
            actual, expected = actual.astype("f4"), expected.astype("f4")
        np.testing.assert_array_equal(actual, expected)
