"""Sums of products over named axes: `einsum` and its paths; part of `rtcg.numpy`."""

from __future__ import annotations

import operator
import string
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from rtcg import _native, numpy as _xp
from rtcg._conversions import as_dtype, as_integer, as_list
from rtcg._messages import shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rtcg.numpy import GPUArray

__all__ = ["einsum", "einsum_path"]

_OPTIMIZE = "False, True, 'greedy', 'optimal' or a path of `einsum_path`"
_CASTINGS = ("no", "equiv", "safe", "same_kind", "unsafe")


def einsum(
    *operands: Any, out: Any = None, optimize: Any = False, dtype: Any = None, order: Any = "K", casting: Any = "safe"
) -> GPUArray:
    """Sums of products over named axes, by kernels generated for their lengths; does not wait.

    Parameters
    ----------
    *operands
        A string such as ``"ij,jk->ik"`` and the arrays, or each array followed by the list of its axes as numbers from
        0 to 51, and optionally that of the result, as in NumPy. Axes with the same name are the same axis: a diagonal
        if one operand has it twice, else a common axis. Names that the result lacks are summed over. ``...`` stands for
        further axes, which are broadcast, as are axes of length 1. Array-likes are copied to the device.
    out : GPUArray, optional
        Receives the result; has its shape, and any strides.
    optimize : {False, True, 'greedy', 'optimal'}, tuple or list
        The order in which more than two operands are contracted. Unless it is False, axes of ``...`` that the result
        lacks are summed over, as in NumPy; with False they are an error. False and True are 'greedy'. A list is a path
        as `einsum_path` returns it.
    dtype : dtype-like, optional
        Of the computation and the result; by default the common dtype of the operands.
    order : {'C', 'F', 'A', 'K'}
        The memory order of a new result. 'A' is 'F' if all operands are in Fortran order, else 'C'; 'K' is any.
    casting : {'no', 'equiv', 'safe', 'same_kind', 'unsafe'}
        Which conversions of operands to `dtype`, and of the result to that of `out`, are allowed.

    Returns
    -------
    GPUArray
        `out`, or a new array. A single operand without a sum gives a view, as in NumPy.

    Raises
    ------
    ValueError
        If subscripts, shapes, `out` or the path do not fit, with NumPy's messages.
    TypeError
        If `casting` does not allow a conversion, and for structured dtypes.

    Notes
    -----
    Integers wrap around, bools are combined by "and" and "or", and 16-bit floats are summed in 32 bits and rounded
    once. See the page "Einsum" of the documentation for how kernels are chosen and tuned.

    Examples
    --------
    >>> import numpy as np, rtcg.autoinit
    >>> from rtcg import numpy as xp
    >>> matrix, fields = xp.arange(4.0).reshape(2, 2), xp.ones((5, 2, 3))
    >>> xp.einsum("ij,ejf->eif", matrix, fields)[0].get()
    array([[1., 1., 1.],
           [5., 5., 5.]])
    """
    subscripts, arrays = _parse_operands(operands)
    if order not in ("C", "F", "A", "K"):
        raise ValueError(f"order must be one of 'C', 'F', 'A', or 'K' (got {shown(order)})")
    if casting not in _CASTINGS:
        raise ValueError(f"casting must be one of {', '.join(map(repr, _CASTINGS))} (got {shown(casting)})")
    if out is not None and not isinstance(out, _xp.GPUArray):
        raise TypeError(f"keyword parameter out must be a device array for einsum (got {type(out).__name__})")
    if dtype is not None:
        dtype = as_dtype("dtype", dtype)
        for k, a in enumerate(arrays):
            _check_cast(a.dtype, dtype, casting, f"operand {k}")
    if out is not None:
        _check_cast(np.result_type(*(a.dtype for a in arrays)) if dtype is None else dtype, out.dtype, casting, "out")
    if order == "A":
        order = "F" if all(a.flags.f_contiguous for a in arrays) else "C"
    if optimize is not None and optimize is not False:
        subscripts = _sum_unnamed_axes(subscripts, arrays)
    return _native.array_einsum(
        subscripts, arrays, out, dtype, None if order == "K" else order, _resolve_path(subscripts, arrays, optimize)
    )


def einsum_path(*operands: Any, optimize: Any = "greedy", einsum_call: Any = False) -> Any:
    """The best order in which `einsum` can contract operands: NumPy's list of pairs and its description, a tuple.

    It depends on shapes alone: the call computes nothing and does not wait. Parameters, result and errors are those of
    `numpy.einsum_path`.
    """
    subscripts, arrays = _parse_operands(operands)
    _check_optimize(optimize)
    shapes = [np.broadcast_to(np.zeros((), a.dtype), a.shape) for a in arrays]
    return np.einsum_path(subscripts, *shapes, optimize=optimize)


def _parse_operands(operands: Sequence[Any]) -> tuple[str, list[GPUArray]]:
    """The subscripts and operands of a call in either notation."""
    if not operands:
        raise ValueError(
            "must specify the einstein sum subscripts string and at least one operand, or at least one operand and its "
            "corresponding subscripts list"
        )
    if isinstance(operands[0], str):
        return operands[0], [_xp._named_to_device(f"operand {k}", a) for k, a in enumerate(operands[1:])]
    pairs = len(operands) // 2 * 2
    if not pairs:
        raise TypeError(f"subscripts is {shown(operands[0])}; expected a str, or operands each with a list of its axes")
    arrays = [_xp._named_to_device(f"operand {k}", a) for k, a in enumerate(operands[:pairs:2])]
    text = ",".join(_subscript_letters(f"operand {k}", labels) for k, labels in enumerate(operands[1:pairs:2]))
    return text if len(operands) % 2 == 0 else f"{text}->{_subscript_letters('the result', operands[-1])}", arrays


def _subscript_letters(owner: str, labels: Any) -> str:
    if isinstance(labels, (bytes, dict)) or not isinstance(labels, Iterable):
        raise TypeError(f"the subscripts list of {owner} is {shown(labels)}; expected a list of integers and ...")
    letters = []
    for label in labels:
        if label is Ellipsis:
            letters.append("...")
            continue
        try:
            number = operator.index(label)
        except TypeError:
            raise TypeError(f"each subscript must be either an integer or an ellipsis (got {shown(label)})") from None
        if not 0 <= number < 52:
            raise ValueError(f"subscript is not within the valid range [0, 52): {number}")
        letters.append((string.ascii_uppercase + string.ascii_lowercase)[number])
    return "".join(letters)


def _sum_unnamed_axes(subscripts: str, arrays: Sequence[GPUArray]) -> str:
    """Replace ``...`` by letters if the result lacks it: as in NumPy with `optimize`, these axes are summed."""
    inputs, arrow, result = subscripts.partition("->")
    terms = inputs.split(",")
    if not arrow or "..." in result or "..." not in inputs or len(terms) != len(arrays):
        return subscripts
    counts = [a.ndim - len(term.replace("...", "").replace(" ", "")) for term, a in zip(terms, arrays, strict=True)]
    free = [letter for letter in string.ascii_letters if letter not in subscripts]
    unnamed = "".join(free[: max(counts)])
    if min(counts) < 0 or len(unnamed) < max(counts):
        return subscripts
    named = [term.replace("...", unnamed[len(unnamed) - n :]) for term, n in zip(terms, counts, strict=True)]
    return f"{','.join(named)}->{result}"


def _check_cast(given: Any, wanted: Any, casting: Any, what: str) -> None:
    if given != wanted and not np.can_cast(given, wanted, casting):
        raise TypeError(
            f"einsum: {what} could not be cast from {shown(given)} to {shown(wanted)} "
            f"according to the rule {shown(casting)}"
        )


def _check_optimize(optimize: Any) -> None:
    """Refuse values that name no order of contraction."""
    if optimize is None or isinstance(optimize, (bool, np.bool_)):
        return
    name = optimize[0] if isinstance(optimize, (list, tuple)) and optimize else optimize
    if not isinstance(name, str) or (isinstance(optimize, str) and name == "einsum_path"):
        raise TypeError(f"optimize is {shown(optimize)}; expected {_OPTIMIZE}")
    if name not in ("greedy", "optimal", "einsum_path"):
        raise ValueError(f"optimize is {shown(optimize)}; expected {_OPTIMIZE}")


def _resolve_path(subscripts: str, arrays: Sequence[GPUArray], optimize: Any) -> str | list[list[int]]:
    """The path that a name stands for, or the given steps."""
    _check_optimize(optimize)
    if optimize is None or isinstance(optimize, (bool, np.bool_)):
        return "greedy"
    if isinstance(optimize, str):
        return optimize
    if optimize[0] == "einsum_path":
        return [as_list("a step of optimize", step, as_integer, "a tuple of operands") for step in optimize[1:]]
    return [list(step) for step in einsum_path(subscripts, *arrays, optimize=optimize)[0][1:]]
