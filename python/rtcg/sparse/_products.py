"""Products of two sparse arrays."""

import numpy as np

from rtcg import numpy as _xp


def multiply_sparse(a, b):
    """`a @ b` for two arrays in compressed sparse rows: all products of elements, sorted, and added up.

    Expansion, sorting and compression as of Bell, Dalton and Olson (2012): memory for every product. Waits for the
    numbers of products and of results.
    """
    from rtcg.sparse._coo import coo_array

    dtype = np.result_type(a.dtype, b.dtype)
    # Element k of `a`, in column j, meets all elements of row j of `b`.
    lengths = (b.indptr[1:] - b.indptr[:-1])[a.indices].astype(np.int64)
    coo = a._container("coo") if a._is_matrix else coo_array
    ends = _xp.cumsum(lengths) if a.nnz else lengths
    total = int(ends[-1].get()) if a.nnz else 0
    index = a.indices.dtype if total <= np.iinfo(np.int32).max else np.dtype(np.int64)
    shape = a.shape[0], b.shape[1]
    if not total:
        empty = _xp.empty(0, index)
        return coo._of(shape, _xp.empty(0, dtype), empty, empty).tocsr()
    products = _xp.arange(total, dtype=np.int64)
    left = _xp.searchsorted(ends, products, side="right")
    right = b.indptr[a.indices[left]].astype(np.int64) + products - (ends - lengths)[left]
    data = a.data[left].astype(dtype) * b.data[right].astype(dtype)
    row, col = a._expanded_major()[left].astype(index), b.indices[right].astype(index)
    return coo._of(shape, data, row, col).tocsr()
