"""Scans of arrays: cumulative sums and other prefix operations, in one pass over memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rtcg import _native
from rtcg._arguments import VectorArg, c_literal, parse_arguments
from rtcg._pickling import PickledByArguments, remembers_arguments

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rtcg._arguments import Argument
    from rtcg._native import GPUArray, Stream

__all__ = ["ExclusiveScanKernel", "GenericScanKernel", "InclusiveScanKernel"]


class GenericScanKernel(PickledByArguments, _native._ScanKernel):
    """A scan with inputs, segments and outputs as C snippets, as in PyOpenCL (an addition to PyCUDA).

    Parameters
    ----------
    dtype : dtype
        Dtype of the scanned items.
    arguments : str or sequence
        C declarations or `VectorArg` and `ScalarArg`.
    input_expr : str
        The item at index ``i``.
    scan_expr : str
        Combines ``a`` (the earlier) and ``b``; associative, need not commute. ``across_seg_boundary`` is true if a
        segment starts in ``b``; the result must then be ``b``.
    neutral : str or number, optional
        The neutral element, required for ``prev_item``.
    output_statement : str
        Executed for each ``i`` with ``item`` (the scan up to and including ``i``), ``prev_item`` (excluding ``i``;
        `neutral` at the start of the array and of each segment) and ``last_item`` (the last item; needs a second pass).
    is_segment_start_expr : str, optional
        Whether a segment starts at ``i``.
    input_fetch_exprs : sequence of (name, array, offset), optional
        Defines ``name`` as ``array[i + offset]`` in all snippets; zero outside the array.
    index_dtype : dtype
        Dtype of ``i`` and of ``N``, the number of items.
    name_prefix, options, preamble
        As for `ElementwiseKernel`.

    Notes
    -----
    Non-contiguous arrays are scanned in C order, through contiguous copies. In each tile of some thousand items all
    inputs are read before outputs are written, so that element ``i`` may be overwritten in place; a fetch at another
    offset must not read an array that is written.
    """

    @remembers_arguments
    def __init__(
        self,
        dtype: Any,
        arguments: str | Sequence[Argument | str],
        input_expr: str,
        scan_expr: str,
        neutral: Any = None,
        output_statement: str = "",
        is_segment_start_expr: str | None = None,
        input_fetch_exprs: Sequence[tuple[str, str, int]] = (),
        index_dtype: Any = np.int32,
        name_prefix: str = "scan",
        options: Sequence[str] | None = None,
        preamble: str = "",
        devices: Any = None,
    ) -> None:
        super().__init__(
            dtype=np.dtype(dtype),
            arguments=parse_arguments(arguments),
            input_expr=input_expr,
            scan_expr=scan_expr,
            neutral=None if neutral is None else c_literal(neutral, dtype),
            output_statement=output_statement,
            is_segment_start_expr=is_segment_start_expr,
            input_fetch_exprs=[(text, variable, offset) for text, variable, offset in input_fetch_exprs],
            index_dtype=np.dtype(index_dtype),
            name=f"{name_prefix}_kernel",
            options=options,
            preamble=preamble,
        )
        self.dtype: np.dtype[Any] = np.dtype(dtype)

    def __call__(self, *args: Any, size: int | None = None, stream: Stream | None = None) -> None:
        """Enqueue the scan of the first `size` items (by default the size of the first array); does not wait."""
        self._launch(args, size, stream)


class _ScanKernel(PickledByArguments, _native._ScanKernel):
    """A scan of one array to another."""

    _output = ""
    _needs_neutral = False

    @remembers_arguments
    def __init__(
        self,
        dtype: Any,
        scan_expr: str,
        neutral: Any = None,
        name_prefix: str = "scan",
        options: Sequence[str] | None = None,
        preamble: str = "",
        devices: Any = None,
    ) -> None:
        dtype = np.dtype(dtype)
        if self._needs_neutral and neutral is None:
            raise ValueError("neutral element is required for exclusive scan")
        super().__init__(
            dtype=dtype,
            arguments=[VectorArg(dtype, "input_ary", const=True), VectorArg(dtype, "output_ary")],
            input_expr="input_ary[i]",
            scan_expr=scan_expr,
            neutral=None if neutral is None else c_literal(neutral, dtype),
            output_statement=self._output,
            is_segment_start_expr=None,
            input_fetch_exprs=[],
            index_dtype=np.dtype(np.int64),
            name=f"{name_prefix}_scan_intervals",
            options=options,
            preamble=preamble,
        )
        self.dtype: np.dtype[Any] = dtype

    def __call__(
        self,
        input_ary: GPUArray,
        output_ary: GPUArray | str | None = None,
        allocator: Callable[[int], Any] | None = None,
        stream: Stream | None = None,
    ) -> GPUArray:
        """Enqueue the scan; does not wait.

        Parameters
        ----------
        input_ary : GPUArray
            One-dimensional, of the kernel's dtype.
        output_ary : GPUArray or "new", optional
            The array for the result, by default `input_ary`; ``"new"`` makes an array, with `allocator`.

        Returns
        -------
        GPUArray
            The array with the result.
        """
        shape = tuple(input_ary.shape)
        if len(shape) != 1:
            raise ValueError(f"input_ary has shape {shape}; expected one dimension")
        if input_ary.dtype != self.dtype:
            raise TypeError(f"input_ary has dtype {input_ary.dtype}; expected {self.dtype}")
        output: Any = input_ary if output_ary is None else output_ary
        if isinstance(output, str) and output == "new":
            output = _native.GPUArray(shape, self.dtype, allocator)
        if tuple(output.shape) != shape:
            raise ValueError(f"output_ary has shape {output.shape}; expected {shape}")
        if output.dtype != self.dtype:
            raise TypeError(f"output_ary has dtype {output.dtype}; expected {self.dtype}")
        self._launch((input_ary, output), None, stream)
        return output


class InclusiveScanKernel(_ScanKernel):
    """A scan whose results include the element at their own position.

    Parameters
    ----------
    dtype : dtype
    scan_expr : str
        Combines ``a`` (the earlier) and ``b``, such as ``"a+b"``; associative, need not commute.
    neutral : str or number, optional
    name_prefix, options, preamble
        As for `ElementwiseKernel`.
    """

    _output = "output_ary[i] = item"
    _needs_neutral = False


class ExclusiveScanKernel(_ScanKernel):
    """A scan whose results exclude the element at their own position; `neutral` is the first result.

    The parameters are those of :class:`InclusiveScanKernel`.
    """

    _output = "output_ary[i] = prev_item"
    _needs_neutral = True
