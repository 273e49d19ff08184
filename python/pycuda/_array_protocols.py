"""NumPy's protocols for device arrays: dispatch of its functions, printing."""

import numpy as np

from pycuda._rtcg import GPUArray, ufunc as _ufunc

_RENAMED = {"true_divide": "divide", "abs": "absolute", "conj": "conjugate", "bitwise_not": "invert"}
_REDUCTIONS = {
    "add": "sum",
    "multiply": "prod",
    "maximum": "max",
    "minimum": "min",
    "logical_and": "all",
    "logical_or": "any",
}
_ACCUMULATIONS = {"add": "cumsum", "multiply": "cumprod"}


def array_ufunc(ufunc, method, inputs, *, out=None, **kwargs):
    """NumPy's `__array_ufunc__`: ufuncs are computed on the device."""
    out = out[0] if isinstance(out, tuple) and len(out) == 1 else out
    if out is not None and not isinstance(out, GPUArray):
        return NotImplemented
    name = _RENAMED.get(ufunc.__name__, ufunc.__name__)
    if method == "__call__":
        return _call(name, inputs, out, **kwargs)
    table = {"reduce": _REDUCTIONS, "accumulate": _ACCUMULATIONS}.get(method, {})
    if name not in table:
        return NotImplemented
    import pycuda.gpuarray as gpuarray

    kwargs.setdefault("axis", 0)
    return getattr(gpuarray, table[name])(inputs[0], out=out, **kwargs)


def _call(name, inputs, out, dtype=None, where=True, casting="same_kind", order="K", subok=True):
    if casting != "same_kind" or order not in ("K", "C"):
        return NotImplemented
    if name == "divmod":
        return _ufunc("floor_divide", inputs), _ufunc("remainder", inputs)
    if where is True:
        return _ufunc(name, inputs, out, dtype)
    result = _ufunc(name, inputs, None, dtype)
    if out is None:
        return result
    out[...] = _ufunc("where", [where, result, out])
    return out


def array_function(func, args, kwargs):
    """NumPy's `__array_function__`: the function of the same name in `pycuda.gpuarray`."""
    import pycuda.gpuarray as gpuarray

    module = func.__module__ or ""
    if module == "numpy.linalg":
        return NotImplemented
    ours = getattr(gpuarray, func.__name__, None)
    if ours is None or func.__name__.startswith("_"):
        return NotImplemented
    return ours(*args, **kwargs)


def _summary(array, edge):
    """A host array that prints as the whole of `array` does when its middle is left out.

    Long axes are cut to one element more than the edges that are shown.
    """
    for axis, length in enumerate(array.shape):
        if length > 2 * edge + 1:
            ahead = (slice(None),) * axis
            head, tail = array[ahead + (slice(None, edge + 1),)], array[ahead + (slice(-edge, None),)]
            array = _joined(head, tail, axis)
    return array if isinstance(array, np.ndarray) else array.get()


def _joined(head, tail, axis):
    shape = list(head.shape)
    shape[axis] += tail.shape[axis]
    whole = GPUArray(tuple(shape), head.dtype)
    ahead = (slice(None),) * axis
    whole[ahead + (slice(None, head.shape[axis]),)] = head
    whole[ahead + (slice(head.shape[axis], None),)] = tail
    return whole


def _is_long(array, options):
    return array.size > options["threshold"] and any(length > 2 * options["edgeitems"] for length in array.shape)


def array_str(array):
    """`numpy.array_str`; of a long array only the edges are fetched."""
    options = np.get_printoptions()
    if not _is_long(array, options):
        return str(array.get())
    with np.printoptions(threshold=0):
        return str(_summary(array, options["edgeitems"]))


def array_repr(array):
    """`numpy.array_repr`; of a long array only the edges are fetched."""
    options = np.get_printoptions()
    if not _is_long(array, options):
        return repr(array.get())
    small = _summary(array, options["edgeitems"])
    with np.printoptions(threshold=0):
        return repr(small).replace(f"shape={small.shape}", f"shape={array.shape}")
