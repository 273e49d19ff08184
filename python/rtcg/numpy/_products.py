"""Products, and functions of adjacent elements: convolutions, differences, interpolation; part of `rtcg.numpy`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rtcg import numpy as _xp
from rtcg._docstrings import wrap_paragraphs
from rtcg._messages import shown

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Protocol

    from rtcg.numpy import GPUArray

    class _Cumulative(Protocol):
        def __call__(
            self, x: Any, /, *, axis: Any = None, dtype: Any = None, out: Any = None, include_initial: Any = False
        ) -> GPUArray: ...


__all__ = [
    "convolve", "correlate", "cross", "cumulative_prod", "cumulative_sum", "diff",
    "gradient", "interp", "kron", "matvec", "polyval", "trapezoid", "unwrap", "vander", "vecmat",
]  # fmt: skip


def kron(a: Any, b: Any) -> GPUArray:
    """The Kronecker product: blocks of `b`, each multiplied by an element of `a`; does not wait.

    Operands are array-like; the one with fewer axes gets axes of length 1 in front. Returns a new array of the common
    dtype, whose lengths are the products of theirs.
    """
    a, b = _xp._to_device(a), _xp._to_device(b)
    ndim = int(np.maximum(a.ndim, b.ndim))
    rows, columns = ((1,) * (ndim - x.ndim) + x.shape for x in (a, b))
    left = a.reshape(*(n for length in rows for n in (length, 1)))
    right = b.reshape(*(n for length in columns for n in (1, length)))
    return (left * right).reshape(*(m * n for m, n in zip(rows, columns, strict=True)))


def cross(a: Any, b: Any, axisa: Any = -1, axisb: Any = -1, axisc: Any = -1, axis: Any = None) -> GPUArray:
    """The cross products of vectors along an axis of `a` and `b`: a new array; does not wait.

    Operands are array-like; `axisa` and `axisb` are the axes of the vectors, `axisc` that of the result, and `axis`
    sets all three. Other axes are broadcast. Vectors have 2 or 3 elements, else raises `ValueError`. For two vectors of
    2 elements only the third component is returned, without the axis. The dtype is the common one.
    """
    if axis is not None:
        axisa = axisb = axisc = axis
    a, b = _xp._to_device(a), _xp._to_device(b)
    if a.ndim < 1 or b.ndim < 1:
        raise ValueError("At least one array has zero dimension")
    a, b = _xp.moveaxis(a, axisa, -1), _xp.moveaxis(b, axisb, -1)
    if a.shape[-1] not in (2, 3) or b.shape[-1] not in (2, 3):
        raise ValueError("Both input arrays must be (arrays of) 3-dimensional vectors, but they are "
                         f"{a.shape[-1]} and {b.shape[-1]} dimensional instead.")  # fmt: skip
    x, y = ([v[..., k] if k < v.shape[-1] else None for k in range(3)] for v in (a, b))

    def minor(j: int, k: int) -> Any:
        terms = [p * q if p is not None and q is not None else None for p, q in ((x[j], y[k]), (x[k], y[j]))]
        if terms[0] is None or terms[1] is None:
            return terms[0] if terms[1] is None else -terms[1]
        return terms[0] - terms[1]

    if x[2] is None and y[2] is None:
        return minor(0, 1)
    return _xp.moveaxis(_xp.stack([minor(1, 2), minor(2, 0), minor(0, 1)], -1), -1, axisc)


def matvec(x1: Any, x2: Any, /, out: Any = None) -> GPUArray:
    """Products of matrices with vectors: ``(..., m, n)`` and ``(..., n)`` to ``(..., m)``; does not wait.

    Operands are array-like; leading axes are broadcast. Returns `out` or a new array of the common dtype. Raises
    `ValueError` if shapes do not fit. Uses `matmul`.
    """
    return _xp._copy_to_out(out, _xp.matmul(_xp._to_device(x1), _xp._to_device(x2)[..., None])[..., 0])


def vecmat(x1: Any, x2: Any, /, out: Any = None) -> GPUArray:
    """Products of conjugated vectors with matrices: ``(..., n)`` and ``(..., n, m)`` to ``(..., m)``; does not wait.

    Operands are array-like; leading axes are broadcast. Returns `out` or a new array of the common dtype. Raises
    `ValueError` if shapes do not fit. Uses `matmul`.
    """
    return _xp._copy_to_out(out, _xp.matmul(_xp._to_device(x1).conj()[..., None, :], _xp._to_device(x2))[..., 0, :])


# -- adjacent elements ---------------------------------------------------------------------------------


def _sliding_windows(a: GPUArray, length: int) -> GPUArray:
    """All windows of `length` adjacent elements, as rows that share memory."""
    count = a.size - length + 1
    return _xp.GPUArray((count, length), a.dtype, base=a, gpudata=a, strides=a.strides * 2)


def _sliding_product(a: GPUArray, v: GPUArray, mode: str) -> GPUArray:
    """Sums of products of `v` with each window of `a`, which is at least as long."""
    n = v.size
    ahead, behind = {"valid": (0, 0), "same": (n // 2, n - n // 2 - 1), "full": (n - 1, n - 1)}[mode]
    dtype = np.result_type(a.dtype, v.dtype)
    wide = _xp.zeros(a.size + ahead + behind, dtype)
    wide[ahead : ahead + a.size] = a
    return _sliding_windows(wide, n) @ v.astype(dtype)


def _check_convolution_operands(a: Any, v: Any, mode: str, name: str) -> tuple[GPUArray, GPUArray]:
    a, v = _xp.atleast_1d(_xp._to_device(a)), _xp.atleast_1d(_xp._to_device(v))
    for which, x in (("a", a), ("v", v)):
        if x.ndim != 1:
            raise ValueError(f"{name}: {which} has {x.ndim} axes, expected one")
        if x.size == 0:
            raise ValueError(f"{which} cannot be empty")
    if mode not in ("full", "same", "valid"):
        raise ValueError(f"{name}: mode is {shown(mode)}; expected 'full', 'same' or 'valid'")
    return a, v


def convolve(a: Any, v: Any, mode: Any = "full") -> GPUArray:
    """The convolution of two arrays with one axis: sums of products of `a` with `v` reversed; does not wait.

    Operands are array-like with at least one element, else raises `ValueError`. `mode` is "full" (``n + m - 1``
    elements), "same" (as many as the longer operand has) or "valid" (only where they overlap completely). Returns a new
    array of the common dtype. Computed as a matrix product over overlapping windows, ``n * m`` multiplications;
    `rtcg.fft` is faster if both are long.
    """
    a, v = _check_convolution_operands(a, v, mode, "convolve")
    if v.size > a.size:
        a, v = v, a
    return _sliding_product(a, v[::-1], mode)


def correlate(a: Any, v: Any, mode: Any = "valid") -> GPUArray:
    """The cross-correlation of two arrays with one axis: sums of products of `a` with conjugated `v`; does not wait.

    Operands, `mode` (here "valid" by default), dtype, errors and algorithm are those of `convolve`.
    """
    a, v = _check_convolution_operands(a, v, mode, "correlate")
    v = v.conj()
    return _sliding_product(a, v, mode) if a.size >= v.size else _sliding_product(v, a, mode)[::-1]


def _boundary_values(values: Any, a: GPUArray, axis: int) -> GPUArray | None:
    """The values to put before or after `a` along an axis; a scalar becomes one row."""
    if values is None:
        return None
    values = _xp.asarray(values)
    if values.ndim:
        return values
    shape = list(a.shape)
    shape[axis] = 1
    return _xp.broadcast_to(values, tuple(shape))


def diff(a: Any, n: Any = 1, axis: Any = -1, prepend: Any = None, append: Any = None) -> GPUArray:
    """Differences of adjacent elements along `axis`, taken `n` times; does not wait.

    `a` is array-like with at least one axis. `prepend` and `append` are numbers or arrays that are first joined to it
    on both sides. The result is a new array, shorter by `n` along the axis and of the same dtype (`a` itself for `n`
    0); for bools it says where they differ. Raises `ValueError` for a negative `n` or no axis.
    """
    if n < 0:
        raise ValueError(f"order must be non-negative but got {shown(n)}")
    a = _xp._to_device(a)
    if n == 0:
        return a
    if a.ndim == 0:
        raise ValueError("diff requires input that is at least one dimensional")
    if prepend is not None or append is not None:
        parts = [_boundary_values(prepend, a, axis), a, _boundary_values(append, a, axis)]
        a = _xp.concatenate([part for part in parts if part is not None], axis)
    for _ in range(n):
        moved = _xp.moveaxis(a, axis, -1)
        a = _xp.moveaxis(
            moved[..., 1:] != moved[..., :-1] if a.dtype == bool else moved[..., 1:] - moved[..., :-1], -1, axis
        )
    return a


def _index_along_axis(ndim: int, axis: int, part: Any) -> tuple[Any, ...]:
    return (slice(None),) * axis + (part,) + (slice(None),) * (ndim - axis - 1)


def _gradient_spacings(f: GPUArray, varargs: Sequence[Any], axes: Sequence[int]) -> list[Any]:
    """For each axis, the spacing of adjacent elements or their coordinates."""
    if not varargs:
        return [1.0] * len(axes)
    if len(varargs) == 1 and np.ndim(varargs[0]) == 0:
        return list(varargs) * len(axes)
    if len(varargs) != len(axes):
        raise TypeError("invalid number of arguments")
    result = []
    for axis, given in zip(axes, varargs, strict=True):
        if np.ndim(given) == 0:
            result.append(given)
            continue
        given = _xp._to_device(given)
        if given.ndim != 1:
            raise ValueError("distances must be either scalars or 1d")
        if given.size != f.shape[axis]:
            raise ValueError("when 1d, distances must match the length of the corresponding dimension")
        result.append(_xp.diff(given.astype(np.float64) if given.dtype.kind in "iu" else given))
    return result


def _gradient_along(f: GPUArray, axis: int, h: Any, edge_order: int) -> GPUArray:
    n, ndim = f.shape[axis], f.ndim

    def slice_along_axis(low: int | None, high: int | None) -> GPUArray:
        return f[_index_along_axis(ndim, axis, slice(low, high))]

    result = _xp.empty(f.shape, f.dtype)

    def assign_along_axis(low: int | None, high: int | None, value: GPUArray) -> None:
        result[_index_along_axis(ndim, axis, slice(low, high))] = value

    if isinstance(h, _xp.GPUArray):
        h = h.reshape(*(-1 if k == axis else 1 for k in range(ndim)))
        before, after = (h[_index_along_axis(ndim, axis, part)] for part in (slice(None, -1), slice(1, None)))
        left, right = -after / (before * (before + after)), before / (after * (before + after))
        assign_along_axis(
            1,
            -1,
            left * slice_along_axis(None, -2)
            + (after - before) / (before * after) * slice_along_axis(1, -1)
            + right * slice_along_axis(2, None),
        )
        ends = h[_index_along_axis(ndim, axis, slice(0, 1))], h[_index_along_axis(ndim, axis, slice(-1, None))]
        seconds = h[_index_along_axis(ndim, axis, slice(1, 2))], h[_index_along_axis(ndim, axis, slice(-2, -1))]
    else:
        assign_along_axis(1, -1, (slice_along_axis(2, None) - slice_along_axis(None, -2)) / (2.0 * h))
        ends = seconds = h, h
    if edge_order == 1:
        assign_along_axis(0, 1, (slice_along_axis(1, 2) - slice_along_axis(0, 1)) / ends[0])
        assign_along_axis(-1, None, (slice_along_axis(-1, None) - slice_along_axis(n - 2, n - 1)) / ends[1])
        return result
    (first, last), (second, before_last) = ends, seconds
    a, b = -(2 * first + second) / (first * (first + second)), (first + second) / (first * second)
    assign_along_axis(
        0,
        1,
        a * slice_along_axis(0, 1)
        + b * slice_along_axis(1, 2)
        - first / (second * (first + second)) * slice_along_axis(2, 3),
    )
    a, b = before_last, last
    c, d = b / (a * (a + b)), -(b + a) / (a * b)
    assign_along_axis(
        -1,
        None,
        c * slice_along_axis(n - 3, n - 2)
        + d * slice_along_axis(n - 2, n - 1)
        + (2 * b + a) / (b * (a + b)) * slice_along_axis(-1, None),
    )
    return result


def gradient(f: Any, *varargs: Any, axis: Any = None, edge_order: Any = 1) -> Any:
    """Derivatives along axes by second-order central differences, and first- or second-order ones at the ends.

    `f` is array-like; integers become float64. `*varargs` are the spacings of elements (1 by default): one number, or
    for each axis a number or an array of coordinates. `axis` is None (all), an int or a tuple of int. Returns one array
    with the shape of `f`, or a tuple with one per axis. `edge_order` 1 or 2 is the order at the ends. Raises
    `ValueError` for arrays that are too short, and `TypeError` for any other number of spacings. Does not wait.
    """
    f = _xp._to_device(f)
    single = isinstance(axis, (int, np.integer))
    axes = [k % f.ndim for k in (range(f.ndim) if axis is None else (axis,) if single else axis)]
    if edge_order > 2:
        raise ValueError("'edge_order' greater than 2 not supported")
    if any(f.shape[k] < edge_order + 1 for k in axes):
        raise ValueError("Shape of array too small to calculate a numerical gradient, at least (edge_order + 1) "
                         "elements are required.")  # fmt: skip
    f = f if f.dtype.kind in "fcV" else f.astype(np.float64)
    result = [
        _gradient_along(f, k, h, edge_order) for k, h in zip(axes, _gradient_spacings(f, varargs, axes), strict=True)
    ]
    return result[0] if len(result) == 1 else tuple(result)


def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: Any = -1) -> GPUArray:
    """The integral of `y` along `axis` by the trapezoidal rule: a new array without the axis; does not wait.

    `y` is array-like. `x` has the coordinates, with one axis or the shape of `y`; without it `dx` is the spacing of
    elements. The dtype is that of NumPy's result. Raises `ValueError` if shapes do not fit.
    """
    y = _xp._to_device(y)
    if x is None:
        step = dx
    else:
        x = _xp._to_device(x)
        step = _xp.diff(x, axis=axis if x.ndim > 1 else -1)
        if x.ndim == 1:
            step = step.reshape(*(-1 if k == axis % y.ndim else 1 for k in range(y.ndim)))
    axis %= y.ndim
    right, left = (y[_index_along_axis(y.ndim, axis, part)] for part in (slice(1, None), slice(None, -1)))
    return (step * (right + left) / 2.0).sum(axis)


def unwrap(p: Any, discont: Any = None, axis: Any = -1, *, period: Any = 2 * np.pi) -> GPUArray:
    """A copy of `p` in which jumps between adjacent elements of more than half a `period` are removed; does not wait.

    `p` is array-like. Along `axis`, multiples of `period` are added to the elements after a jump of at least `discont`
    (half a period by default). The result has the shape of `p`; integers stay integers if the period is an integer.
    Uses differences and cumulative sums.
    """
    p = _xp._to_device(p)
    axis %= p.ndim
    step = _xp.diff(p, axis=axis)
    discont = period / 2 if discont is None else discont
    # An integer period adapts to integers of any width.
    dtype = np.result_type(step.dtype, period)
    if dtype.kind in "iu":
        high, rest = divmod(period, 2)
        on_edge = rest == 0
    else:
        high, on_edge = period / 2, True
    moved = _xp.remainder(step + high, period) - high
    if on_edge:
        moved = _xp.where((moved == -high) & (step > 0), dtype.type(high), moved)
    correction = _xp.where(_xp.absolute(step) < discont, dtype.type(0), moved - step)
    result = p.astype(dtype)
    result[_index_along_axis(p.ndim, axis, slice(1, None))] += _xp.cumsum(correction, axis)
    return result


def interp(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None) -> GPUArray:
    """Piecewise linear interpolation at `x` between the points (`xp`, `fp`); does not wait.

    All are array-like; `xp`, in ascending order, and `fp` have one axis and the same length, else raises `ValueError`.
    Outside the points the result is `left` and `right`, by default the first and the last element of `fp`. With
    `period` the points are periodic and may be in any order. Returns a new array with the shape of `x`, float64 or
    complex128. Uses binary searches in `xp`, whose order is not checked.
    """
    x, xp, fp = (_xp._to_device(a) for a in (x, xp, fp))
    if xp.ndim != 1 or fp.ndim != 1:
        raise ValueError("Data points must be 1-D sequences")
    if xp.size != fp.size:
        raise ValueError("fp and xp are not of the same length.")
    if xp.size == 0:
        raise ValueError("array of sample points is empty")
    for name, a in (("x", x), ("xp", xp)):
        if a.dtype.kind == "c":
            raise TypeError(f"interp: {name} has dtype {a.dtype}; expected real numbers")
    x, xp = x.astype(np.float64), xp.astype(np.float64)
    fp = fp.astype(np.complex128 if fp.dtype.kind == "c" else np.float64)
    if period is not None:
        if period == 0:
            raise ValueError("period must be a non-zero value")
        period, left, right = abs(period), None, None
        x, xp = x % period, xp % period
        order = _xp.argsort(xp)
        xp, fp = xp[order], fp[order]
        xp = _xp.concatenate([xp[-1:] - period, xp, xp[:1] + period])
        fp = _xp.concatenate([fp[-1:], fp, fp[:1]])
    low = fp[0] if left is None else fp.dtype.type(left)
    high = fp[-1] if right is None else fp.dtype.type(right)
    if xp.size == 1:
        result = _xp.broadcast_to(fp[0], x.shape)
    else:
        place = _xp.clip(_xp.searchsorted(xp, x, side="right") - 1, 0, xp.size - 2)
        x0, x1, y0, y1 = xp[place], xp[place + 1], fp[place], fp[place + 1]
        slope = (y1 - y0) / (x1 - x0)
        result = slope * (x - x0) + y0
        from_right = slope * (x - x1) + y1
        result = _xp.where(_xp.isnan(result), from_right, result)
        result = _xp.where(_xp.isnan(result) & (y0 == y1), y0, result)
        result = _xp.where(x == x0, y0, _xp.where(x == xp[-1], fp[-1], result))
    result = _xp.where(x > xp[-1], high, _xp.where(x < xp[0], low, result))
    return _xp.where(_xp.isnan(x), fp.dtype.type(np.nan), result)


def _make_cumulative(name: str, what: str, start: int) -> _Cumulative:
    def cumulative_function(
        x: Any, /, *, axis: Any = None, dtype: Any = None, out: Any = None, include_initial: Any = False
    ) -> GPUArray:
        x = _xp.atleast_1d(_xp._to_device(x))
        if axis is None:
            if x.ndim > 1:
                raise ValueError(
                    f"For arrays which have more than one dimension ``axis`` argument is required, got {x.ndim}"
                )
            axis = 0
        result = getattr(_xp, name)(x, axis, dtype)
        if include_initial:
            shape = list(result.shape)
            shape[axis] = 1
            result = _xp.concatenate([_xp.full(tuple(shape), start, result.dtype), result], axis)
        return _xp._copy_to_out(out, result)

    cumulative_function.__name__ = cumulative_function.__qualname__ = {
        "cumsum": "cumulative_sum",
        "cumprod": "cumulative_prod",
    }[name]
    cumulative_function.__doc__ = wrap_paragraphs(f"""
Cumulative {what} along `axis`, by `{name}`; does not wait.

`x` is array-like; `axis` may be omitted only for arrays with one axis, else raises ValueError. With `include_initial`
the result is one longer and begins with {start}. The result, `out` or a new array, has the dtype of `{name}`.
""")
    return cumulative_function


cumulative_sum, cumulative_prod = _make_cumulative("cumsum", "sums", 0), _make_cumulative("cumprod", "products", 1)


def polyval(p: Any, x: Any) -> GPUArray:
    """The values at `x` of the polynomial with coefficients `p`, highest power first: a new array; does not wait.

    Both are array-like, `p` with one axis. The result has the shape of `x` and the common dtype. Uses Horner's rule,
    with one kernel for each coefficient. Unlike in NumPy, `p` cannot be a `poly1d`.
    """
    p, x = _xp._to_device(p), _xp._to_device(x)
    result = _xp.zeros(x.shape, x.dtype)
    for k in range(p.size):
        result = result * x + p[k]
    return result


def vander(x: Any, N: Any = None, increasing: Any = False) -> GPUArray:  # noqa: N803
    """The powers of the elements of `x` as rows, a matrix of ``x.size`` by `N` (square by default); does not wait.

    `x` is array-like with one axis, else raises `ValueError`. Powers decrease from left to right, or increase if
    `increasing` is true. Returns a new array of the common dtype of `x` and int64. Uses cumulative products.
    """
    x = _xp._to_device(x)
    if x.ndim != 1:
        raise ValueError("x must be a one-dimensional array or sequence.")
    count = x.size if N is None else N
    dtype = np.result_type(x.dtype, np.int_)
    result = _xp.empty((x.size, count), dtype)
    powers = result if increasing else result[:, ::-1]
    powers[:, :1] = 1
    if count > 1:
        powers[:, 1:] = _xp.cumprod(_xp.broadcast_to(x.astype(dtype)[:, None], (x.size, count - 1)), 1)
    return result
