"""Questions about arrays and small functions of their elements; part of `rtcg.numpy`.

Questions about dtypes and shapes are NumPy's own functions, asked with the dtypes of the arrays.
"""

import numpy as np

from rtcg import numpy as _xp

__all__ = [
    "array2string", "array_equiv", "array_repr", "array_str", "can_cast", "common_type", "degrees", "fix", "geomspace",
    "iscomplex", "iscomplexobj", "isneginf", "isposinf", "isreal", "isrealobj", "ix_", "logspace", "may_share_memory",
    "min_scalar_type", "modf", "radians", "real_if_close", "result_type", "save", "savetxt", "savez",
    "savez_compressed", "shares_memory", "sinc", "spacing",
]  # fmt: skip


def _replace_arrays_by_dtypes(args):
    return [arg.dtype if isinstance(arg, _xp.GPUArray) else arg for arg in args]


def result_type(*arrays_and_dtypes):
    """The dtype of what arrays, dtypes and numbers are combined to; see `numpy.result_type`."""
    return np.result_type(*_replace_arrays_by_dtypes(arrays_and_dtypes))


def can_cast(from_, to, casting="safe"):
    """Whether a dtype, or that of an array, can become another one; see `numpy.can_cast`."""
    return np.can_cast(*_replace_arrays_by_dtypes([from_]), to, casting)


def common_type(*arrays):
    """The inexact scalar type that holds the elements of all arrays; see `numpy.common_type`."""
    return np.common_type(
        *(np.empty(0, dtype) if isinstance(dtype, np.dtype) else dtype for dtype in _replace_arrays_by_dtypes(arrays))
    )


def min_scalar_type(a):
    """The dtype of an array; of a number the smallest that holds it."""
    if isinstance(a, _xp.GPUArray) and a.ndim == 0:
        return np.min_scalar_type(a.get())
    return a.dtype if isinstance(a, _xp.GPUArray) else np.min_scalar_type(a)


def iscomplexobj(x):
    """Whether the dtype is complex."""
    return np.dtype(getattr(x, "dtype", type(x))).kind == "c"


def isrealobj(x):
    """Whether the dtype is not complex."""
    return not iscomplexobj(x)


def iscomplex(x):
    """Where the imaginary part is not 0."""
    x = _xp._to_device(x)
    return x.imag != 0 if x.dtype.kind == "c" else _xp.zeros(x.shape, bool)


def isreal(x):
    """Where the imaginary part is 0."""
    x = _xp._to_device(x)
    return x.imag == 0 if x.dtype.kind == "c" else _xp.ones(x.shape, bool)


def real_if_close(a, tol=100):
    """The real parts if all imaginary ones are within `tol` epsilons of 0; waits. See `numpy.real_if_close`."""
    a = _xp._to_device(a)
    if a.dtype.kind != "c":
        return a
    tol = np.finfo(a.dtype).eps * tol if tol > 1 else tol
    return a.real if bool((_xp.absolute(a.imag) < tol).all()) else a


def _make_infinity_test(name, is_negative):
    def numpy_function(x, out=None):
        x = _xp._to_device(x)
        if x.dtype.kind == "c":
            raise TypeError(f"This operation is not supported for {x.dtype} values because it would be ambiguous.")
        return _xp.logical_and(_xp.isinf(x), _xp.signbit(x) == is_negative, out)

    numpy_function.__name__ = numpy_function.__qualname__ = name
    numpy_function.__doc__ = f"Where elements are {'negative' if is_negative else 'positive'} infinity."
    return numpy_function


isneginf, isposinf = _make_infinity_test("isneginf", True), _make_infinity_test("isposinf", False)


def fix(x, out=None):
    """Rounded towards 0."""
    return _xp.trunc(_xp._to_device(x), out=out)


def modf(x):
    """The fractional parts, and the whole ones."""
    x = _xp._to_device(x)
    x = x if x.dtype.kind in "fV" else x.astype(np.float64)
    whole = _xp.trunc(x)
    rest = _xp.where(_xp.isinf(x), x.dtype.type(0), x - whole)
    return _xp.copysign(rest, x), whole


def spacing(x):
    """The distance to the next number away from 0."""
    x = _xp._to_device(x)
    x = x if x.dtype.kind == "f" else x.astype(np.float64)
    return _xp.where(_xp.isinf(x), x.dtype.type(np.nan), _xp.nextafter(x, _xp.copysign(x.dtype.type(np.inf), x)) - x)


def degrees(x, out=None):
    """Radians as degrees."""
    return _xp.rad2deg(x, out=out)


def radians(x, out=None):
    """Degrees as radians."""
    return _xp.deg2rad(x, out=out)


def sinc(x):
    """``sin(pi x) / (pi x)``, and 1 at 0."""
    x = _xp._to_device(x)
    x = x if x.dtype.kind in "fcV" else x.astype(np.float64)
    y = _xp.where(x == 0, x.dtype.type(1.0e-20 if x.dtype.itemsize > 2 else 1e-7), x) * np.pi
    return _xp.where(x == 0, x.dtype.type(1), _xp.sin(y) / y)


def array_equiv(a1, a2):
    """Whether arrays have the same elements after broadcasting; waits."""
    a1, a2 = _xp._to_device(a1), _xp._to_device(a2)
    try:
        np.broadcast_shapes(a1.shape, a2.shape)
    except ValueError:
        return False
    return bool((a1 == a2).all())


def ix_(*args):
    """Index arrays that choose rows and columns; truth values wait for their number. See `numpy.ix_`."""
    results = []
    for k, a in enumerate(_xp._to_device(arg) for arg in args):
        if a.ndim != 1:
            raise ValueError("Cross index must be 1 dimensional")
        a = _xp.flatnonzero(a) if a.dtype == bool else a.astype(np.int64) if a.size == 0 else a
        results.append(a.reshape(tuple(-1 if j == k else 1 for j in range(len(args))) if a.size else
                                 tuple(0 if j == k else 1 for j in range(len(args)))))  # fmt: skip
    return tuple(results)


def logspace(start, stop, num=50, endpoint=True, base=10.0, dtype=None, axis=0):
    """Numbers evenly spaced on a logarithmic scale; see `numpy.logspace`."""
    result = _xp.power(base, _xp.linspace(start, stop, num, endpoint=endpoint, axis=axis))
    return result if dtype is None else result.astype(dtype)


def geomspace(start, stop, num=50, endpoint=True, dtype=None, axis=0):
    """Numbers in a geometric sequence, of starts and ends on the host; see `numpy.geomspace`."""
    start, stop = (a.get() if isinstance(a, _xp.GPUArray) else a for a in (start, stop))
    return _xp.to_gpu(np.geomspace(start, stop, num, endpoint, dtype, axis))


def may_share_memory(a, b, max_work=None):
    """Whether the memory that two arrays span overlaps."""

    def address_range(x):
        ends = [(n - 1) * stride for n, stride in zip(x.shape, x.strides, strict=True)]
        low = x.ptr + sum(end for end in ends if end < 0)
        return low, x.ptr + sum(end for end in ends if end > 0) + x.itemsize

    if not (isinstance(a, _xp.GPUArray) and isinstance(b, _xp.GPUArray)) or 0 in (a.size, b.size):
        return False
    (low, high), (other_low, other_high) = address_range(a), address_range(b)
    return low < other_high and other_low < high


def shares_memory(a, b, max_work=None):
    """Whether two arrays have an element in common."""
    if not may_share_memory(a, b):
        return False

    # Arrays of the same shape without memory stand at the same places.
    def numpy_view_of_addresses(x):
        layout = {"shape": x.shape, "typestr": x.dtype.str, "data": (x.ptr, True), "strides": x.strides, "version": 3}
        return np.asarray(type("Standing", (), {"__array_interface__": layout})())

    return np.shares_memory(numpy_view_of_addresses(a), numpy_view_of_addresses(b), max_work)


# -- what needs the elements on the host --------------------------------------------------------------


def _make_host_function(name):
    def numpy_function(*args, **kwargs):
        fetch = [arg.get() if isinstance(arg, _xp.GPUArray) else arg for arg in args]
        kwargs = {key: value.get() if isinstance(value, _xp.GPUArray) else value for key, value in kwargs.items()}
        return getattr(np, name)(*fetch, **kwargs)

    numpy_function.__name__ = numpy_function.__qualname__ = name
    numpy_function.__doc__ = f"`numpy.{name}` of host copies; waits."
    # For `inspect.signature`.
    numpy_function.__wrapped__ = getattr(np, name)
    return numpy_function


array2string, save, savetxt = (
    _make_host_function("array2string"),
    _make_host_function("save"),
    _make_host_function("savetxt"),
)
savez, savez_compressed = _make_host_function("savez"), _make_host_function("savez_compressed")


def array_str(a, max_line_width=None, precision=None, suppress_small=None):
    """`str` of an array, of which only the edges are fetched if it is long."""
    if max_line_width is precision is suppress_small is None:
        return str(a)
    return np.array_str(a.get(), max_line_width, precision, suppress_small)


def array_repr(arr, max_line_width=None, precision=None, suppress_small=None):
    """`repr` of an array, of which only the edges are fetched if it is long."""
    if max_line_width is precision is suppress_small is None:
        return repr(arr)
    return np.array_repr(arr.get(), max_line_width, precision, suppress_small)
