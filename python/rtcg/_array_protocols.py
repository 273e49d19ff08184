"""NumPy's protocols for device arrays: dispatch of its functions, and printing."""

from __future__ import annotations

import functools
import importlib
from typing import TYPE_CHECKING, Any

import numpy as np

from rtcg import devices, driver
from rtcg._native import GPUArray, array_cumulative, context_after_pending_work, empty_in_order_of, ufunc as _ufunc

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

_UFUNC_ALIASES = {
    "true_divide": "divide", "abs": "absolute", "conj": "conjugate", "bitwise_not": "invert", "degrees": "rad2deg",
    "radians": "deg2rad",
}  # fmt: skip
# Ufuncs that are functions of `rtcg.numpy` rather than operations element by element.
_FUNCTION_UFUNCS = {"matmul", "matvec", "modf", "spacing", "vecdot", "vecmat"}
_REDUCTIONS = {
    "add": "sum",
    "multiply": "prod",
    "maximum": "max",
    "minimum": "min",
    "logical_and": "all",
    "logical_or": "any",
}
_ACCUMULATIONS = {"add": "sum", "multiply": "prod", "maximum": "max", "minimum": "min"}


def _has_foreign_operand(values: Iterable[Any], protocol: str) -> bool:
    """Whether an operand of another class may know how to compute the result."""
    others = [type(value) for value in values if not isinstance(value, (GPUArray, np.ndarray, np.generic))]
    return any(hasattr(kind, protocol) for kind in others)


def _not_implemented_error(name: str, args: str = "") -> TypeError:
    return TypeError(f"rtcg.numpy has no implementation of {name}{args}; to compute it on the host pass a.get()")


def array_ufunc(ufunc: Any, method: str, inputs: Sequence[Any], *, out: Any = None, **kwargs: Any) -> Any:
    """NumPy's `__array_ufunc__`: computes ufuncs on the device."""
    outs = out if isinstance(out, tuple) else (out,)
    if any(isinstance(each, np.ndarray) for each in outs):
        raise TypeError(f"out of numpy.{ufunc.__name__} is of type ndarray; expected a GPUArray, as the operands are")
    result = _compute_ufunc_method(ufunc, method, inputs, out, dict(kwargs))
    if result is NotImplemented and not _has_foreign_operand((*inputs, *outs), "__array_ufunc__"):
        name = f"numpy.{ufunc.__name__}" + ("" if method == "__call__" else f".{method}")
        raise _not_implemented_error(name, f" with {', '.join(kwargs)}" if kwargs else "")
    return result


def _compute_ufunc_method(ufunc: np.ufunc, method: str, inputs: Sequence[Any], out: Any, kwargs: dict[str, Any]) -> Any:
    """The result of a ufunc's method, or `NotImplemented` if there is no such function here."""
    out = out[0] if isinstance(out, tuple) and len(out) == 1 else out
    if out is not None and not isinstance(out, GPUArray):
        return NotImplemented
    name = _UFUNC_ALIASES.get(ufunc.__name__, ufunc.__name__)
    if method == "__call__":
        return _call_ufunc(name, inputs, out, **kwargs)
    from rtcg import numpy as gpuarray

    if method == "outer":
        first, second = (gpuarray._to_device(x) for x in inputs)
        return _call_ufunc(name, (first.reshape(first.shape + (1,) * second.ndim), second), out, **kwargs)
    kwargs.setdefault("axis", 0)
    if method == "accumulate" and name in _ACCUMULATIONS:
        total = array_cumulative(inputs[0], _ACCUMULATIONS[name], kwargs.pop("axis"), kwargs.pop("dtype", None))
        return NotImplemented if kwargs else gpuarray._copy_to_out(out, total)
    if method == "reduce" and name in _REDUCTIONS:
        return getattr(gpuarray, _REDUCTIONS[name])(inputs[0], out=out, **kwargs)
    if method in ("reduce", "accumulate") and ufunc.nin == 2 and ufunc.signature is None:
        return _fold(ufunc, method == "accumulate", inputs[0], out, **kwargs)
    return NotImplemented


#: Whose reductions may combine elements in any order.
_ASSOCIATIVE = {"bitwise_and", "bitwise_or", "bitwise_xor", "fmax", "fmin", "gcd", "hypot", "lcm", "logaddexp",
                "logaddexp2", "logical_xor"}  # fmt: skip


def _fold(
    ufunc: np.ufunc,
    accumulates: bool,
    array: GPUArray,
    out: GPUArray | None,
    axis: Any = 0,
    dtype: Any = None,
    keepdims: bool = False,
    where: Any = True,
    initial: Any = None,
) -> Any:
    """A reduction or accumulation of a ufunc without its own kernels: one launch per element along the axis, or per
    halving of it if the order does not matter.
    """
    from rtcg import numpy as gpuarray

    if where is not True or initial is not None or isinstance(axis, tuple):
        return NotImplemented
    if axis is None:
        array, axis = array.ravel(), 0
        if keepdims:
            return NotImplemented
    types = ufunc.resolve_dtypes((array.dtype, array.dtype, None if dtype is None else np.dtype(dtype)), reduction=True)
    rows = gpuarray.moveaxis(gpuarray.asarray(array, dtype=types[1]), axis, 0)
    if accumulates:
        steps = gpuarray.empty(rows.shape, types[2])
        for k in range(len(rows)):
            steps[k] = ufunc(steps[k - 1], rows[k]) if k else rows[k]
        return gpuarray._copy_to_out(out, gpuarray.moveaxis(steps, 0, axis))
    if not len(rows):
        if ufunc.identity is None:
            raise ValueError(f"zero-size array to reduction operation {ufunc.__name__} which has no identity")
        total = gpuarray.full(rows.shape[1:], ufunc.identity, types[2])
    elif ufunc.__name__ in _ASSOCIATIVE:
        while len(rows) > 1:
            half = len(rows) // 2
            folded = ufunc(rows[:half], rows[half : 2 * half])
            rows = gpuarray.concatenate([folded, rows[2 * half :]]) if len(rows) % 2 else folded
        total = rows[0]
    else:
        total = rows[0].copy()
        for row in rows[1:]:
            total = ufunc(total, row)
    return gpuarray._copy_to_out(out, gpuarray.expand_dims(total, axis) if keepdims else total)


def _call_as_function(
    name: str, inputs: Sequence[Any], out: Any, dtype: Any, where: Any, kwargs: dict[str, Any]
) -> Any:
    """A ufunc that is a function of `rtcg.numpy`."""
    from rtcg import numpy as gpuarray

    if where is not True or dtype is not None or isinstance(out, tuple):
        return NotImplemented
    result = getattr(gpuarray, name)(*inputs, **kwargs)
    return result if out is None else gpuarray._copy_to_out(out, result)


def _call_ufunc(
    name: str,
    inputs: Sequence[Any],
    out: Any,
    dtype: Any = None,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    subok: bool = True,
    **kwargs: Any,
) -> Any:
    if casting != "same_kind" or order not in ("K", "C") or (kwargs and name not in _FUNCTION_UFUNCS):
        return NotImplemented
    if name == "divmod":
        return _ufunc("floor_divide", inputs), _ufunc("remainder", inputs)
    if name in _FUNCTION_UFUNCS:
        return _call_as_function(name, inputs, out, dtype, where, kwargs)
    if where is True:
        return _ufunc(name, inputs, out, dtype)
    result = _ufunc(name, inputs, None, dtype)
    if out is None:
        return result
    out[...] = _ufunc("where", [where, result, out])
    return out


@functools.cache
def _counterpart(func: Callable[..., Any]) -> Any:
    """The function with the name of a function of NumPy's in `rtcg.numpy`, `.linalg` or `.fft`; false without one."""
    module_name = {"numpy": "rtcg.numpy", "numpy.linalg": "rtcg.linalg", "numpy.fft": "rtcg.fft"}.get(func.__module__)
    if module_name is None:
        return False
    module = importlib.import_module(module_name)
    return func.__name__ in module.__all__ and getattr(module, func.__name__)


def array_function(func: Callable[..., Any], types: Sequence[type], args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """NumPy's `__array_function__`: calls the function with the same name in `rtcg.numpy`, `.linalg` or `.fft`."""
    if ours := _counterpart(func):
        return ours(*args, **kwargs)
    if all(issubclass(kind, (GPUArray, np.ndarray)) for kind in types):
        raise _not_implemented_error(f"{func.__module__}.{func.__name__}")
    return NotImplemented


def to_device(array: GPUArray, device: Any) -> Any:
    """`GPUArray.to_device`: the array itself, a copy on another device, or a NumPy array."""
    if isinstance(device, str) and device == "cpu":
        return array.get()
    device = devices.as_device("device", device, "'cpu'")
    if device == array.device:
        return array
    if not array.flags.forc:
        from rtcg.numpy import ascontiguousarray

        with devices.current_on(array.device):
            array = ascontiguousarray(array)
    source = context_after_pending_work(array)
    with devices.current_on(device):
        order = "C" if array.flags.c_contiguous else "F"
        copy = GPUArray(array.shape, array.dtype, order=order)
        if array.nbytes:
            driver.memcpy_peer(copy.ptr, array.ptr, array.nbytes, None, source)
        return copy


def _summarized_host_copy(array: Any, edge: int) -> np.ndarray[Any, Any]:
    """A host array that prints like all of `array` when the middle is abbreviated.

    Long axes are cut to one element more than the printed edges.
    """
    for axis, length in enumerate(array.shape):
        if length > 2 * edge + 1:
            ahead = (slice(None),) * axis
            head, tail = array[ahead + (slice(None, edge + 1),)], array[ahead + (slice(-edge, None),)]
            array = _concatenate_pair(head, tail, axis)
    return array if isinstance(array, np.ndarray) else array.get()


def _concatenate_pair(head: GPUArray, tail: GPUArray, axis: int) -> GPUArray:
    shape = list(head.shape)
    shape[axis] += tail.shape[axis]
    whole = empty_in_order_of(head, None, "C", tuple(shape))
    ahead = (slice(None),) * axis
    whole[ahead + (slice(None, head.shape[axis]),)] = head
    whole[ahead + (slice(head.shape[axis], None),)] = tail
    return whole


def _needs_summary(array: GPUArray, options: Any) -> bool:
    return array.size > options["threshold"] and any(length > 2 * options["edgeitems"] for length in array.shape)


def array_str(array: GPUArray) -> str:
    """`numpy.array_str`; only the edges of a long array are copied."""
    options = np.get_printoptions()
    if not _needs_summary(array, options):
        return str(array.get())
    with np.printoptions(threshold=0):
        return str(_summarized_host_copy(array, options["edgeitems"]))


def array_repr(array: GPUArray) -> str:
    """`numpy.array_repr`; only the edges of a long array are copied."""
    options = np.get_printoptions()
    if not _needs_summary(array, options):
        return repr(array.get())
    small = _summarized_host_copy(array, options["edgeitems"])
    with np.printoptions(threshold=0):
        return repr(small).replace(f"shape={small.shape}", f"shape={array.shape}")


_hash_kernels: list[Any] = []
_HASH_PREAMBLE = """
__device__ unsigned long long rtcg_word(unsigned x, unsigned long long place, unsigned long long key)
{
  unsigned long long z = (x ^ key) + 0x9e3779b97f4a7c15ull * (place + 1);
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ z >> 27) * 0x94d049bb133111ebull;
  return z ^ z >> 31;
}
"""


def dask_token(a: GPUArray) -> tuple[Any, ...]:
    """``__dask_tokenize__`` of an array: its shape, its dtype, and 128 bits of a hash of its elements in C order.

    The hash adds up the words of the elements, each mixed with its place by the finaliser of SplitMix64 (Steele, Lea
    and Flood, 2014), under two keys. It is the same on every device, and not meant to resist an adversary. Waits.
    """
    from rtcg import numpy as gpuarray
    from rtcg.reduction import ReductionKernel

    if not _hash_kernels:
        for key in ("0x243f6a8885a308d3ull", "0x13198a2e03707344ull"):
            _hash_kernels.append(
                ReductionKernel(
                    np.uint64, "0", "a + b", f"rtcg_word(x[i], i, {key})", "const unsigned *x", "array_hash",
                    preamble=_HASH_PREAMBLE,
                )
            )  # fmt: skip
    with devices.current_on(a.device):
        flat = gpuarray.ascontiguousarray(a).reshape(-1)
        words = flat.view(np.uint8) if flat.size else gpuarray.empty(0, np.uint8)
        tail = words[len(words) // 4 * 4 :].get().tobytes()
        words = words[: len(words) // 4 * 4].view(np.uint32)
        hashes = [int(kernel(words).get()) if len(words) else 0 for kernel in _hash_kernels]
    return "rtcg.numpy.GPUArray", a.shape, a.dtype.str if a.dtype.fields is None else a.dtype.descr, hashes, tail
