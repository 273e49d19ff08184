"""Products of two sparse arrays, dense products at the positions of a sparse array, and functions of two of them."""

from typing import Any

def multiply_sparse(a: Any, b: Any) -> Any:
    """`a @ b` for two arrays in compressed sparse rows with sorted columns.

    Counts and then fills the rows, with hash tables in shared memory (Nagasaka, Nukada and Matsuoka 2017). Results are
    bitwise reproducible. Waits for the numbers of products and of elements.
    """

def combine(a: Any, b: Any, op: Any) -> Any:
    """An element-wise function of two arrays of one shape, without zeros: "add", "subtract", "multiply", "maximum",
    "minimum", "ne", "lt" or "gt". The result is in compressed sparse rows, or columns if `a` is; waits for the number
    of elements.
    """

def sampled_matmul(A: Any, X: Any, Y: Any) -> Any:
    """``A.multiply(X @ Y)``, computed only at stored positions of `A` (SDDMM); does not wait.

    Parameters
    ----------
    A : sparse array of shape (m, n)
        Duplicates are kept.
    X, Y : GPUArray or array-like of shapes (m, k) and (k, n)

    Returns
    -------
    csr_array
        Has the positions of `A` and the dtype that all three promote to. Sums are bitwise reproducible.

    Raises
    ------
    ValueError
        If shapes do not fit.
    TypeError
        If `A` is not sparse.
    """

def sampled_addmm(input: Any, mat1: Any, mat2: Any, *, beta: Any = 1.0, alpha: Any = 1.0) -> Any:
    """``alpha * (mat1 @ mat2) + beta * input`` at the stored positions of `input`, as `torch.sparse.sampled_addmm`.

    Does not wait.

    Parameters
    ----------
    input : sparse array of shape (m, n)
        Only its positions are read if `beta` is 0.
    mat1, mat2 : GPUArray or array-like of shapes (m, k) and (k, n)
    beta, alpha : number

    Returns
    -------
    csr_array
        Has the positions of `input` and the dtype that all three promote to.

    Raises
    ------
    ValueError
        If shapes do not fit, or a complex number scales real elements.
    TypeError
        If `input` is not sparse, or `beta` or `alpha` is not a number.
    """
