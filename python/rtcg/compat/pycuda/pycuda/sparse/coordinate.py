"""Matrices of triples."""

import numpy as np

from pycuda import gpuarray
from rtcg.sparse import coo_array


class CoordinateSpMV:
    """The product of a matrix and vectors, which is added to what is there.

    Parameters
    ----------
    mat : array of `scipy.sparse`, or anything that `rtcg.sparse.coo_array` takes
    dtype : data-type
        The dtype of elements and vectors.

    Triples are brought into the order of rows when the matrix is made, which waits; products do not wait, and do not
    depend on scheduling.
    """

    def __init__(self, mat, dtype):
        self.dtype = np.dtype(dtype)
        self._csr = coo_array(mat).astype(self.dtype).tocsr()
        self.shape = self._csr.shape

    def __call__(self, x, y=None):
        """`y` with the product of the matrix and `x` added to it; a new vector without `y`."""
        if y is None:
            y = gpuarray.zeros(self.shape[0], dtype=self.dtype, allocator=x.allocator)
        return self._csr._matvec(x, y, accumulate=True)
