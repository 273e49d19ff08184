"""scikit-cuda's small functions: initialisation, filled arrays, indexing, broadcasting, statistics, sizes of grids.

They are computed by `rtcg.numpy`, take arrays of any layout, and do not wait. Results follow NumPy; of integers, the
quotient is an integer, rounded towards zero as in C.
"""

from __future__ import annotations

import atexit
import functools
import math
import operator
from typing import TYPE_CHECKING, Any

import numpy as np

import rtcg.driver as drv
from rtcg import _native, numpy as xp
from rtcg._conversions import as_integer
from rtcg._messages import shown
from rtcg.numpy import GPUArray, _run_in_stream

from . import cublas

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import ParamSpec, TypeVar

    from rtcg.driver import Context, Device, Stream

    _P = ParamSpec("_P")
    _T = TypeVar("_T")

__all__ = [
    "add",
    "add_matvec",
    "argmax",
    "argmin",
    "binaryop_2d",
    "binaryop_matvec",
    "cumsum",
    "diff",
    "div_matvec",
    "divide",
    "done_context",
    "get_by_index",
    "get_compute_capability",
    "get_current_device",
    "get_dev_attrs",
    "iceil",
    "inf",
    "init",
    "init_context",
    "init_device",
    "iscomplextype",
    "isdoubletype",
    "max",
    "maxabs",
    "mean",
    "min",
    "mult_matvec",
    "multiply",
    "num_nbytes",
    "num_types",
    "ones",
    "ones_like",
    "select_block_grid_sizes",
    "set_by_index",
    "set_realloc",
    "shutdown",
    "std",
    "subtract",
    "sum",
    "var",
    "zeros",
    "zeros_like",
]

_has_cula = _has_cusolver = _has_magma = False

#: Set by `init`, as programs know them: a handle of `skcuda.cublas`, and the allocator of results.
_global_cublas_handle: Any = None
_global_cusolver_handle: Any = None
_global_cublas_allocator: Any = None

#: List of the numerical types of NumPy, and the bytes of an element of each.
num_types = [np.dtype(code).type for code in np.typecodes["AllInteger"] + np.typecodes["AllFloat"]]
num_nbytes = {np.dtype(kind): np.dtype(kind).itemsize for kind in num_types}

_pops: list[tuple[Context, Callable[[], None]]] = []


def _require_array(name: str, array: Any) -> GPUArray:
    if not isinstance(array, GPUArray):
        raise TypeError(f"{name} is {shown(array)}; expected a GPUArray")
    return array


def _allocator(allocator: Any) -> Any:
    """The allocator for arrays; `mem_alloc`, which is upstream's default, stands for that of arrays."""
    return None if allocator is drv.mem_alloc else allocator


def _allocates(function: Callable[_P, _T]) -> Callable[_P, _T]:
    """The function, with results in memory of the allocator that `init` was given."""

    @functools.wraps(function)
    def call(*args: _P.args, **kwargs: _P.kwargs) -> _T:
        allocator = _allocator(_global_cublas_allocator)
        if allocator is None:
            return function(*args, **kwargs)
        result: _T = _native.call_with_allocator(allocator, lambda: function(*args, **kwargs))
        return result

    return call


# -- devices and contexts


def isdoubletype(x: Any) -> bool:
    """Whether `x` is float64 or complex128."""
    return bool(x in (np.float64, np.complex128))


def iscomplextype(x: Any) -> bool:
    """Whether `x` is complex64 or complex128."""
    return bool(x in (np.complex64, np.complex128))


def init_device(n: int = 0) -> Device:
    """Device number `n`."""
    drv.init()
    return drv.Device(n)


def init_context(dev: Device) -> Context:
    """A new context on `dev`, which is current now and is popped at exit."""
    context = dev.make_context()
    pop = lambda: context.pop()  # noqa: E731
    _pops.append((context, pop))
    atexit.register(pop)
    return context


def done_context(ctx: Context) -> None:
    """Detach from a context of `init_context`, which is not popped at exit then."""
    for entry in [entry for entry in _pops if entry[0] is ctx]:
        atexit.unregister(entry[1])
        _pops.remove(entry)
    ctx.detach()


def init(allocator: Any = drv.mem_alloc) -> None:
    """Prepare the functions of `skcuda`; needs a context.

    `allocator` provides the memory of results of `linalg` and of this module, from the first call until `shutdown`.
    """
    global _global_cublas_handle, _global_cublas_allocator
    if not callable(allocator):
        raise TypeError(f"allocator is {shown(allocator)}; expected a callable")
    if not _global_cublas_handle:
        _global_cublas_handle = cublas.cublasCreate()
    if _global_cublas_allocator is None:
        _global_cublas_allocator = allocator


def shutdown() -> None:
    """Undo `init`."""
    global _global_cublas_handle, _global_cublas_allocator
    if _global_cublas_handle:
        cublas.cublasDestroy(_global_cublas_handle)
    _global_cublas_handle = _global_cublas_allocator = None


def get_compute_capability(dev: Device) -> float:
    """The compute capability of a device as one number, such as 8.0."""
    major, minor = dev.compute_capability()
    return float(f"{major}.{minor}")


def get_current_device() -> Device:
    """The device of the current context."""
    return drv.Context.get_device()


def get_dev_attrs(dev: Device) -> list[Any]:
    """``[threads per block, (x, y, z) of the largest block, (x, y, z) of the largest grid]``."""
    return [
        dev.max_threads_per_block,
        (dev.max_block_dim_x, dev.max_block_dim_y, dev.max_block_dim_z),
        (dev.max_grid_dim_x, dev.max_grid_dim_y, dev.max_grid_dim_z),
    ]


def iceil(n: float) -> int:
    """The smallest integer that is not below `n`."""
    return math.ceil(n)


def select_block_grid_sizes(
    dev: Device, data_shape: int | Sequence[int], threads_per_block: int | None = None
) -> tuple[tuple[int, int, int], tuple[int, int, int]]:
    """The block and the grid of a launch with at least one thread per element.

    Blocks have one axis; the grid has the fewest axes that hold its blocks. Thread `i` is the one with ``i ==
    ((blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x) * blockDim.x + threadIdx.x``.

    Parameters
    ----------
    dev : Device
    data_shape : int or sequence of int
    threads_per_block : int, optional
        By default as many as a block of the device may have.

    Raises
    ------
    ValueError
        If a block would have more threads than it may, or the grid more blocks.
    """
    threads, _, (x, y, z) = get_dev_attrs(dev)
    if threads_per_block is not None:
        if not 1 <= as_integer("threads_per_block", threads_per_block) <= threads:
            raise ValueError(f"threads_per_block is {threads_per_block}; expected 1 to {threads}, which the device has")
        threads = threads_per_block
    count = math.prod(data_shape) if not isinstance(data_shape, (int, np.integer)) else int(data_shape)
    blocks = -(-int(count) // threads)
    if blocks <= x:
        return (threads, 1, 1), (blocks, 1, 1)
    if blocks <= x * y:
        return (threads, 1, 1), (x, -(-blocks // x), 1)
    if blocks <= x * y * z:
        return (threads, 1, 1), (x, y, -(-blocks // (x * y)))
    raise ValueError(f"data_shape is {shown(data_shape)}; expected at most {x * y * z * threads} elements")


# -- arrays


def zeros(shape: Any, dtype: Any, order: str = "C", allocator: Any = drv.mem_alloc) -> GPUArray:
    """A new array of zeros."""
    return xp.zeros(shape, dtype, allocator=_allocator(allocator), order=order)


def zeros_like(a: GPUArray) -> GPUArray:
    """An array of zeros with the shape, dtype and memory order of `a`."""
    return xp.zeros_like(a)


def ones(shape: Any, dtype: Any, order: str = "C", allocator: Any = drv.mem_alloc) -> GPUArray:
    """A new array of ones."""
    return xp.ones(shape, dtype, allocator=_allocator(allocator), order=order)


def ones_like(a: GPUArray) -> GPUArray:
    """An array of ones with the shape, dtype and memory order of `a`."""
    return xp.ones_like(a)


def inf(shape: Any, dtype: Any, order: str = "C", allocator: Any = drv.mem_alloc) -> GPUArray:
    """A new array of infinities, of a floating-point or complex dtype."""
    if np.dtype(dtype).kind not in "fc":
        raise TypeError(f"dtype is {np.dtype(dtype)}; expected one that has infinities")
    return xp.full(shape, np.inf, dtype, allocator=_allocator(allocator), order=order)


@_allocates
def maxabs(x_gpu: GPUArray) -> GPUArray:
    """The largest absolute value: an array without axes, of float64 for double precision and else of float32."""
    dtype = np.float64 if isdoubletype(x_gpu.dtype) else np.float32
    return xp.max(xp.abs(x_gpu), initial=0).astype(dtype, copy=False)


@_allocates
def cumsum(x_gpu: GPUArray) -> GPUArray:
    """The cumulative sums of the elements in C order, with their dtype: a new array with one axis."""
    return xp.cumsum(x_gpu, dtype=x_gpu.dtype)


@_allocates
def diff(x_gpu: GPUArray) -> GPUArray:
    """The differences of adjacent elements of a vector, as a new array."""
    if x_gpu.ndim != 1:
        raise ValueError(f"x_gpu has shape {x_gpu.shape}; expected one axis")
    return x_gpu[1:] - x_gpu[:-1]


def set_realloc(x_gpu: GPUArray, data: np.ndarray[Any, Any]) -> None:
    """Copy `data` into `x_gpu`, which takes its shape, dtype and strides, and new memory where these differ."""
    _require_array("x_gpu", x_gpu)
    if (x_gpu.shape, x_gpu.strides, x_gpu.dtype) != (data.shape, data.strides, data.dtype):
        new = xp.to_gpu(data)
        x_gpu.gpudata, x_gpu.dtype, x_gpu.shape = new.gpudata, new.dtype, new.shape
        x_gpu.strides, x_gpu.size = new.strides, new.size
    else:
        x_gpu.set(data)


def _check_index(ind: Any) -> Any:
    ind = ind if isinstance(ind, GPUArray) else np.asarray(ind)
    if ind.ndim != 1:
        raise ValueError(f"ind has shape {ind.shape}; expected one axis")
    if ind.dtype.kind not in "iu":
        raise TypeError(f"ind has dtype {ind.dtype}; expected integers")
    return ind


def _in_memory_order(name: str, array: Any) -> GPUArray:
    """All elements of a contiguous array, as a view with one axis."""
    flags = _require_array(name, array).flags
    if not (flags.c_contiguous or flags.f_contiguous):
        raise ValueError(f"{name} has shape {array.shape} and strides {array.strides}; expected a contiguous array")
    elements: GPUArray = array.ravel(order="C" if flags.c_contiguous else "F")
    return elements


@_allocates
def get_by_index(src_gpu: GPUArray, ind: Any) -> GPUArray:
    """The elements of `src_gpu`, in the order of its memory, at the indices `ind`: a new array with one axis."""
    ind = _check_index(ind)
    if not ind.size:
        return GPUArray((0,), src_gpu.dtype)
    return xp.take(_in_memory_order("src_gpu", src_gpu), ind)


def set_by_index(dest_gpu: GPUArray, ind: Any, src_gpu: GPUArray, ind_which: str = "dest") -> None:
    """Set elements, of which `ind` has the indices in memory.

    Parameters
    ----------
    dest_gpu, src_gpu : GPUArray
        Contiguous arrays of one dtype.
    ind : array-like of int
        With one axis.
    ind_which : {"dest", "src"}
        Whether ``dest[ind[i]] = src[i]`` or ``dest[i] = src[ind[i]]``.
    """
    if ind_which not in ("dest", "src"):
        raise ValueError(f"ind_which is {shown(ind_which)}; expected 'dest' or 'src'")
    ind = _check_index(ind)
    if not ind.size:
        return
    dest, src = _in_memory_order("dest_gpu", dest_gpu), _in_memory_order("src_gpu", src_gpu)
    if dest.dtype != src.dtype:
        raise TypeError(f"src_gpu has dtype {src.dtype}; expected {dest.dtype}, that of dest_gpu")
    name, other = ("src_gpu", src) if ind_which == "dest" else ("dest_gpu", dest)
    if other.size != ind.size:
        raise ValueError(f"{name} has {other.size} elements; expected {ind.size}, as many as ind")
    if ind_which == "dest":
        xp.put(dest, ind, src)
    else:
        dest[...] = xp.take(src, ind)


# -- operators


def _quotient(x: Any, y: Any) -> Any:
    """The quotient; of integers as C rounds it."""
    if x.dtype.kind in "iu" and y.dtype.kind in "iu":
        return (x - xp.fmod(x, y)) // y
    return x / y


_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": _quotient,
    "%": xp.fmod,
}


def _mismatch(x_gpu: GPUArray, a_gpu: GPUArray) -> ValueError:
    shapes = f"{x_gpu.shape} and {a_gpu.shape}"
    return ValueError(f"operands could not be broadcast together: x_gpu and a_gpu have shapes {shapes}")


def _vector_axis(x_gpu: GPUArray, a_gpu: GPUArray) -> int:
    """The axis of a matrix that a vector lies along, by NumPy's rules."""
    if a_gpu.ndim == 1 and a_gpu.shape[0] == x_gpu.shape[1]:
        return 1
    if a_gpu.ndim == 2 and a_gpu.shape == (1, x_gpu.shape[1]):
        return 1
    if a_gpu.ndim == 2 and a_gpu.shape == (x_gpu.shape[0], 1):
        return 0
    raise _mismatch(x_gpu, a_gpu)


def _check_axis(axis: Any) -> int:
    number = as_integer("axis", axis)
    if not -2 <= number <= 1:
        raise ValueError(f"axis is {axis}; expected -2 to 1")
    return number % 2


@_allocates
def binaryop_matvec(
    binary_op: str,
    x_gpu: GPUArray,
    a_gpu: GPUArray,
    axis: int | None = None,
    out: GPUArray | None = None,
    stream: Stream | None = None,
) -> GPUArray:
    """Combine each row or each column of a matrix with a vector.

    Parameters
    ----------
    binary_op : {"+", "-", "*", "/", "%"}
    x_gpu : GPUArray
        With two axes.
    a_gpu : GPUArray
        With as many elements as `x_gpu` has along `axis`.
    axis : int, optional
        1: with each row; 0: with each column. By default NumPy's rules decide.
    out : GPUArray, optional
        Receives the result; has the shape and dtype of `x_gpu`.
    stream : Stream, optional
        In which it is computed.

    Raises
    ------
    ValueError
        For shapes that do not fit, another operator or axis, or another shape or dtype of `out`.
    """
    if binary_op not in _OPERATORS:
        raise ValueError(f"binary_op is {shown(binary_op)}; expected one of {' '.join(_OPERATORS)}")
    if _require_array("x_gpu", x_gpu).ndim != 2:
        raise ValueError(f"x_gpu has shape {x_gpu.shape}; expected two axes")
    axis = _vector_axis(x_gpu, _require_array("a_gpu", a_gpu)) if axis is None else _check_axis(axis)
    if a_gpu.size != x_gpu.shape[axis]:
        raise _mismatch(x_gpu, a_gpu)
    if out is not None and (out.shape, out.dtype) != (x_gpu.shape, x_gpu.dtype):
        expected = f"expected {x_gpu.shape} and {x_gpu.dtype}"
        raise ValueError(f"out has shape {out.shape} and dtype {out.dtype}; {expected}")

    def compute() -> GPUArray:
        vector = a_gpu.reshape((1, -1) if axis == 1 else (-1, 1)).astype(x_gpu.dtype, copy=False)
        result: GPUArray = _OPERATORS[binary_op](x_gpu, vector)
        if out is None:
            return result
        out[...] = result
        return out

    return _run_in_stream(stream, compute)


@_allocates
def binaryop_2d(
    c_op: str, py_op: Callable[[Any, Any], GPUArray], commutative: bool, x_gpu: GPUArray, y_gpu: GPUArray
) -> GPUArray:
    """Apply `py_op` to numbers, vectors or matrices, one of which has the shape of the result.

    `c_op` is its text in C, and `commutative` has no meaning. Raises `ValueError` if one matrix is in C order and the
    other in Fortran order, and `TypeError` if the shapes do not fit.
    """
    x_flags, y_flags = _require_array("x_gpu", x_gpu).flags, _require_array("y_gpu", y_gpu).flags
    one_order = (x_flags.c_contiguous and y_flags.c_contiguous) or (x_flags.f_contiguous and y_flags.f_contiguous)
    if not one_order:
        raise ValueError("x_gpu and y_gpu differ in their memory order; expected both in C or both in Fortran order")
    if x_gpu.size == 1 and y_gpu.size != 1:
        x_gpu = x_gpu.reshape(())
    elif y_gpu.size == 1 and x_gpu.size != 1:
        y_gpu = y_gpu.reshape(())
    try:
        shape = np.broadcast_shapes(x_gpu.shape, y_gpu.shape)
    except ValueError:
        shape = ()
    if shape not in (x_gpu.shape, y_gpu.shape) or (len(shape) > 2 and x_gpu.shape != y_gpu.shape):
        raise TypeError(f"x_gpu and y_gpu have shapes {x_gpu.shape} and {y_gpu.shape}; expected shapes to broadcast")
    return py_op(x_gpu, y_gpu)


def add(x_gpu: GPUArray, y_gpu: GPUArray) -> GPUArray:
    """The sum of numbers, vectors or matrices, one of which has the shape of the result."""
    return binaryop_2d("+", operator.add, True, x_gpu, y_gpu)


def subtract(x_gpu: GPUArray, y_gpu: GPUArray) -> GPUArray:
    """The difference of numbers, vectors or matrices, one of which has the shape of the result."""
    return binaryop_2d("-", operator.sub, False, x_gpu, y_gpu)


def multiply(x_gpu: GPUArray, y_gpu: GPUArray) -> GPUArray:
    """The product by elements of numbers, vectors or matrices, one of which has the shape of the result."""
    return binaryop_2d("*", operator.mul, True, x_gpu, y_gpu)


def divide(x_gpu: GPUArray, y_gpu: GPUArray) -> GPUArray:
    """The quotient of numbers, vectors or matrices, one of which has the shape of the result."""
    return binaryop_2d("/", _quotient, False, x_gpu, y_gpu)


def add_matvec(
    x_gpu: GPUArray,
    a_gpu: GPUArray,
    axis: int | None = None,
    out: GPUArray | None = None,
    stream: Stream | None = None,
) -> GPUArray:
    """A matrix with a vector added to each row or column; see `binaryop_matvec`."""
    return binaryop_matvec("+", x_gpu, a_gpu, axis, out, stream)


def div_matvec(
    x_gpu: GPUArray,
    a_gpu: GPUArray,
    axis: int | None = None,
    out: GPUArray | None = None,
    stream: Stream | None = None,
) -> GPUArray:
    """A matrix with each row or column divided by a vector; see `binaryop_matvec`."""
    return binaryop_matvec("/", x_gpu, a_gpu, axis, out, stream)


def mult_matvec(
    x_gpu: GPUArray,
    a_gpu: GPUArray,
    axis: int | None = None,
    out: GPUArray | None = None,
    stream: Stream | None = None,
) -> GPUArray:
    """A matrix with each row or column multiplied by a vector; see `binaryop_matvec`."""
    return binaryop_matvec("*", x_gpu, a_gpu, axis, out, stream)


# -- statistics


def _statistics_axis(x_gpu: Any, axis: int | None) -> int | None:
    """The axis to reduce; vectors are always reduced as a whole."""
    if axis is None or _require_array("x_gpu", x_gpu).ndim <= 1:
        return None
    if x_gpu.ndim > 2:
        raise ValueError(f"x_gpu has shape {x_gpu.shape}; expected two axes at most, where axis is given")
    return _check_axis(axis)


@_allocates
def sum(  # noqa: A001
    x_gpu: GPUArray, axis: int | None = None, out: GPUArray | None = None, keepdims: bool = False
) -> GPUArray:
    """The sum of all elements, without axes, or of each column (`axis` 0) or row (1) of a matrix."""
    return xp.sum(x_gpu, axis=_statistics_axis(x_gpu, axis), out=out, keepdims=keepdims)


@_allocates
def mean(x_gpu: GPUArray, axis: int | None = None, out: GPUArray | None = None, keepdims: bool = False) -> GPUArray:
    """The mean of all elements, without axes, or of each column (`axis` 0) or row (1) of a matrix."""
    return xp.mean(x_gpu, axis=_statistics_axis(x_gpu, axis), out=out, keepdims=keepdims)


@_allocates
def var(
    x_gpu: GPUArray, ddof: int = 0, axis: int | None = None, stream: Stream | None = None, keepdims: bool = False
) -> GPUArray:
    """The variance, with the divisor ``n - ddof``, of all elements, or of each column (`axis` 0) or row (1)."""
    axis = _statistics_axis(x_gpu, axis)
    return _run_in_stream(stream, lambda: xp.var(x_gpu, axis=axis, ddof=ddof, keepdims=keepdims))


@_allocates
def std(
    x_gpu: GPUArray, ddof: int = 0, axis: int | None = None, stream: Stream | None = None, keepdims: bool = False
) -> GPUArray:
    """The standard deviation, with the divisor ``n - ddof``, of all elements, or of each column (`axis` 0) or row."""
    axis = _statistics_axis(x_gpu, axis)
    return _run_in_stream(stream, lambda: xp.std(x_gpu, axis=axis, ddof=ddof, keepdims=keepdims))


def _extremum(function: Callable[..., GPUArray], a_gpu: GPUArray, axis: int | None, keepdims: bool) -> GPUArray:
    if _require_array("a_gpu", a_gpu).dtype.kind == "c":
        raise ValueError(f"a_gpu has dtype {a_gpu.dtype}; expected real numbers, which have an order")
    axis = _statistics_axis(a_gpu, axis)
    result = function(a_gpu, axis=axis, keepdims=keepdims and axis is not None)
    return result.reshape((1,) * a_gpu.ndim) if axis is None else result


@_allocates
def max(a_gpu: GPUArray, axis: int | None = None, keepdims: bool = False) -> GPUArray:  # noqa: A001
    """The largest element of each column (`axis` 0) or row (1), or of all, with axes of length 1 as upstream."""
    return _extremum(xp.max, a_gpu, axis, keepdims)


@_allocates
def min(a_gpu: GPUArray, axis: int | None = None, keepdims: bool = False) -> GPUArray:  # noqa: A001
    """The smallest element of each column (`axis` 0) or row (1), or of all, with axes of length 1 as upstream."""
    return _extremum(xp.min, a_gpu, axis, keepdims)


def _extremum_index(function: Callable[..., GPUArray], a_gpu: GPUArray, axis: Any, keepdims: bool) -> GPUArray:
    if axis is None:
        raise NotImplementedError("axis is None; expected 0 or 1 (rtcg.numpy.argmax has indices of whole arrays)")
    return _extremum(function, a_gpu, axis, keepdims).astype(np.uint32)


@_allocates
def argmax(a_gpu: GPUArray, axis: int, keepdims: bool = False) -> GPUArray:
    """The index (uint32) of the largest element of each column (`axis` 0) or row (1)."""
    return _extremum_index(xp.argmax, a_gpu, axis, keepdims)


@_allocates
def argmin(a_gpu: GPUArray, axis: int, keepdims: bool = False) -> GPUArray:
    """The index (uint32) of the smallest element of each column (`axis` 0) or row (1)."""
    return _extremum_index(xp.argmin, a_gpu, axis, keepdims)
