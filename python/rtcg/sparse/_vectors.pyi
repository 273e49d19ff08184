"""Sparse arrays with one axis: `coo_array` and `csr_array` of shape ``(n,)``, each a view of an array with one row.

The array with one row does the work; its results lose their first axis.
"""

from typing import Any

CLASSES: Any

def one_axis(wide: Any) -> Any:
    """An array with one row as one with one axis; shares memory."""
