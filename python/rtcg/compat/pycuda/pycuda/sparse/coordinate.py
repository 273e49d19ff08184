"""Matrices in coordinate format."""

import numpy as np

from pycuda import gpuarray
from rtcg.sparse import coo_array


class CoordinateSpMV:
    """The product of a matrix with vectors, which is added to the output.

    Parameters
    ----------
    mat : array of `scipy.sparse`, or anything that `rtcg.sparse.coo_array` takes
    dtype : data-type
        The dtype of elements and vectors.

    The constructor sorts the elements by rows, for which it waits; products do not wait, and do not depend on
    scheduling.
    """

    def __init__(self, mat, dtype):
        self.dtype = np.dtype(dtype)
        self._csr = coo_array(mat).astype(self.dtype).tocsr()
        self.shape = self._csr.shape

    def __call__(self, x, y=None):
        """Add the product of the matrix and `x` to `y`, or to a new vector of zeros; returns it."""
        if y is None:
            y = gpuarray.zeros(self.shape[0], dtype=self.dtype, allocator=x.allocator)
        return self._csr._matvec(x, y, accumulate=True)
