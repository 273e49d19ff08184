"""Schur forms of general matrices: reduction to Hessenberg form and QR iterations.

What is near the diagonal is done by a block of threads for each matrix; the reflections that it used are applied to all
else by many. All matrices are stacks in C order, changed in place.
"""

from pycuda.gpuarray import GPUArray

def reduce(a: GPUArray, report: GPUArray, is_with_vectors: bool) -> tuple[GPUArray, GPUArray, GPUArray | None]:
    """Schur forms of scaled matrices in place: parts of the eigenvalues, and Schur vectors as rows (or None).

    QR iterations with Francis's double shift for real matrices, whose forms keep blocks of two rows for pairs of
    complex eigenvalues, and with Wilkinson's shift for complex ones (Golub and Van Loan, Matrix Computations, 7.5;
    Wilkinson and Reinsch, Handbook for Automatic Computation II, 1971, hqr2 and comqr). Without vectors only the
    eigenvalues are found. Reads whether iterations are left every few of them.
    """
