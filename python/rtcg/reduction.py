"""Reductions of arrays by a C expression, to one value or along axes, in one launch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

import numpy as np

from rtcg import _native
from rtcg._arguments import VectorArg, c_literal, parse_arguments
from rtcg._pickling import PickledByArguments, remembers_arguments
from rtcg._typed_kernels import TypedReductionKernel, are_typed
from rtcg.elementwise import kernel_repr, show_parameters

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rtcg._arguments import Argument

__all__ = ["ReductionKernel", "TypedReductionKernel"]


class ReductionKernel(PickledByArguments, _native.ReductionKernel):
    """A reduction of `map_expr` over all elements by `reduce_expr`.

    With declarations of inputs and of an output, as in CuPy, calls may determine the types; the parameters are those of
    :class:`rtcg.reduction.TypedReductionKernel`::

        ReductionKernel("T x", "T y", "x * x", "a + b", "y = sqrt(a)", "0", "norm")

    Parameters
    ----------
    dtype_out : dtype
        Dtype of the result and of all intermediate values; structures need a name (`rtcg.tools.get_or_register_dtype`)
        and their C definition in `preamble`. Use a structure to compute several values at once.
    neutral : str or number
        The neutral element, a C expression.
    reduce_expr : str
        Combines ``a`` and ``b``. It must be associative and commutative: the order is not defined.
    map_expr : str, optional
        The value of element ``i``; by default that of the first array.
    arguments : str or sequence, optional
        C declarations or `VectorArg` and `ScalarArg`; by default an array ``in`` of `dtype_out`.
    name, keep, options, preamble
        As for :class:`rtcg.elementwise.ElementwiseKernel`.
    allocator : callable, optional
        Allocates results unless the call names another allocator.

    Notes
    -----
    A call, ``kernel(*args, stream=None, out=None, allocator=None, kernel_wrapper=None, axis=None, keepdims=False)``,
    enqueues one kernel and returns the result, a 0-d array on the device (or `out`). With `axis`, one number or
    several, only these axes are reduced, and ``i`` counts the elements in C order. Arrays that `map_expr` uses only as
    ``x[i]`` are broadcast and may have any strides. Without elements the result is `neutral`.

    `out` must have one element, with any number of axes, or with `axis` the shape of the result, else raises
    ValueError. Arrays are checked as in `ElementwiseKernel`.
    """

    def __new__(cls, *args: Any, **keywords: Any) -> Any:
        if cls is ReductionKernel and are_typed(args, keywords):
            return TypedReductionKernel(*args, **keywords)
        return super().__new__(cls, *args, **keywords)

    @overload
    def __init__(
        self,
        dtype_out: Any,
        neutral: Any,
        reduce_expr: str,
        map_expr: str | None = None,
        arguments: str | Sequence[Argument | str] | None = None,
        name: str = "reduce_kernel",
        keep: bool = False,
        options: Sequence[str] | None = None,
        preamble: str = "",
        allocator: Callable[[int], Any] | None = None,
    ) -> None: ...

    @overload
    def __init__(
        self,
        in_params: str,
        out_params: str,
        map_expr: str,
        reduce_expr: str,
        post_map_expr: str,
        identity: str | complex,
        name: str = "reduce_kernel",
        reduce_type: Any = None,
        reduce_dims: bool = True,
        preamble: str = "",
        options: Sequence[str] = (),
    ) -> None: ...

    @remembers_arguments  # type: ignore[misc]  # `__new__` makes the second form another class
    def __init__(
        self,
        dtype_out: Any,
        neutral: Any,
        reduce_expr: str,
        map_expr: str | None = None,
        arguments: str | Sequence[Argument | str] | None = None,
        name: str = "reduce_kernel",
        keep: bool = False,
        options: Sequence[str] | None = None,
        preamble: str = "",
        allocator: Callable[[int], Any] | None = None,
    ) -> None:
        dtype_out = np.dtype(dtype_out)
        declared = [VectorArg(dtype_out, "in", const=True)] if arguments is None else parse_arguments(arguments)
        if map_expr is None:
            vectors = [argument.name for argument in declared if argument.is_vector]
            map_expr = f"{'in' if 'in' in vectors else vectors[0]}[i]" if vectors else "0"
        neutral = c_literal(neutral, dtype_out)
        super().__init__(dtype_out, neutral, reduce_expr, map_expr, declared, name, keep, options, preamble, allocator)
        self.arguments: tuple[Argument, ...] = tuple(declared)
        self._snippet = f"{reduce_expr} of {map_expr}"

    def __repr__(self) -> str:
        return kernel_repr(self, self._snippet)


show_parameters(ReductionKernel)


def _call_with_wrapper(
    kernel: Callable[..., Any],
    kernel_wrapper: Callable[..., Any],
    args: Sequence[Any],
    stream: Any,
    keywords: dict[str, Any],
) -> Any:
    """A call through `kernel_wrapper`, which receives the function that enqueues the kernel: ``f(grid, block, stream,
    *args)``.
    """
    result = []

    def enqueue(grid: Any, block: Any, stream: Any, *args: Any) -> None:
        result.append(kernel(*args, stream=stream, **keywords))

    kernel_wrapper(enqueue)(None, None, stream, *args)
    return result[0]
