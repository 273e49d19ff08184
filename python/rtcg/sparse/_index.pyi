"""Reading and writing parts of sparse arrays by index, with SciPy's semantics."""

from typing import Any

def getitem(a: Any, key: Any) -> Any:
    """`a[key]`: an element as a `GPUArray`, or a sparse array in the format of `a`; rows and columns are `coo_array`s.

    Access to elements does not wait; other results wait for their number of elements if they need it.
    """

def setitem(a: Any, key: Any, values: Any) -> Any:
    """`a[key] = values`, in place: rebuilds the array, with a warning if it gets more elements; waits."""
