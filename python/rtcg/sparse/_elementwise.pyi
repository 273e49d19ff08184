"""Comparisons, maxima and minima of sparse arrays, element by element and over axes."""

from typing import Any

def compare(a: Any, other: Any, op: Any) -> Any:
    """`op(a, other)` as a sparse array of bool; a `GPUArray` for a dense operand. Waits for the number of elements."""

def extreme_of_two(a: Any, other: Any, is_largest: Any) -> Any:
    """The larger (smaller) of each pair of elements; waits for their number."""

def extreme(a: Any, axis: Any, is_largest: Any, ignores_nan: Any = False) -> Any:
    """The largest (smallest) element of all, or of each column (``axis=0``) or row, as a `coo_array`; waits."""

def arg_extreme(a: Any, axis: Any, is_largest: Any) -> Any:
    """The index of the first largest (smallest) element; an int for all elements. Waits."""
