"""Reading and writing parts of sparse arrays by index, with SciPy's semantics.

What SciPy returns as a sparse array of one axis is a `GPUArray` here.
"""

from typing import Any

def getitem(a: Any, key: Any) -> Any:
    """`a[key]`: an element as a `GPUArray`, or a sparse array of the format of `a`; a row or a column is a `coo_array`.

    Elements do not wait; what has to know how many elements there will be waits for that number.
    """

def setitem(a: Any, key: Any, values: Any) -> Any:
    """`a[key] = values`, in place: the array is made anew, with a warning where it gets more elements; waits."""
