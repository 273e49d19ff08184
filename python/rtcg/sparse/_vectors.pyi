"""Sparse arrays of one axis: `coo_array` and `csr_array` of shape ``(n,)``, each a view of an array of one row.

The array of one row does the work; what it gives back loses its first axis.
"""

from typing import Any

CLASSES: Any

def one_axis(wide: Any) -> Any:
    """An array with one row as one with one axis; shares memory."""
