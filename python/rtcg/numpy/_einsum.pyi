"""Sums of products over named axes: `einsum` and its paths; part of `rtcg.numpy`."""

from typing import Any

from rtcg.numpy import GPUArray

__all__ = ["einsum", "einsum_path"]

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

def einsum_path(*operands: Any, optimize: Any = "greedy", einsum_call: Any = False) -> Any:
    """The best order in which `einsum` can contract operands: NumPy's list of pairs and its description, a tuple.

    It depends on shapes alone: the call computes nothing and does not wait. Parameters, result and errors are those of
    `numpy.einsum_path`.
    """
