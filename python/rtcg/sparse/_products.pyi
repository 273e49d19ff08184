"""Products of two sparse arrays."""

from typing import Any

def multiply_sparse(a: Any, b: Any) -> Any:
    """`a @ b` for two arrays in compressed sparse rows: all products of elements, sorted, and added up.

    Expansion, sorting and compression as of Bell, Dalton and Olson (2012): memory for every product. Waits for the
    numbers of products and of results.
    """
