"""Products of two sparse arrays, of dense ones at the places of a sparse one, and functions of two sparse arrays."""

from typing import Any

def multiply_sparse(a: Any, b: Any) -> Any:
    """`a @ b` for two arrays in compressed sparse rows, with columns in ascending order.

    Rows are counted and filled, with hash tables in shared memory (Nagasaka, Nukada and Matsuoka 2017). The same bits
    at every run. Waits for the numbers of products and of elements.
    """

def combine(a: Any, b: Any, op: Any) -> Any:
    """A function of two arrays of one shape, element by element, without zeros: "add", "subtract", "multiply",
    "maximum", "minimum", "ne", "lt" or "gt". In compressed sparse rows, or columns if `a` is; waits for the number of
    elements.
    """

def sampled_matmul(A: Any, X: Any, Y: Any) -> Any:
    """``A.multiply(X @ Y)``, of which only elements at stored places of `A` are computed (SDDMM); does not wait.

    Parameters
    ----------
    A : sparse array of shape (m, n)
        Elements of one place stay apart.
    X, Y : GPUArray or array-like of shapes (m, k) and (k, n)

    Returns
    -------
    csr_array
        Of the places of `A`, in the dtype that all three promote to. Sums are the same bits at every run.

    Raises
    ------
    ValueError
        If shapes do not fit.
    TypeError
        If `A` is not sparse.
    """

def sampled_addmm(input: Any, mat1: Any, mat2: Any, *, beta: Any = 1.0, alpha: Any = 1.0) -> Any:
    """``alpha * (mat1 @ mat2) + beta * input`` at the stored places of `input`, as `torch.sparse.sampled_addmm`.

    Does not wait.

    Parameters
    ----------
    input : sparse array of shape (m, n)
        Not read but for its places if `beta` is 0.
    mat1, mat2 : GPUArray or array-like of shapes (m, k) and (k, n)
    beta, alpha : number

    Returns
    -------
    csr_array
        Of the places of `input`, in the dtype that all three promote to.

    Raises
    ------
    ValueError
        If shapes do not fit, or a complex number scales real elements.
    TypeError
        If `input` is not sparse, or `beta` or `alpha` is no number.
    """
