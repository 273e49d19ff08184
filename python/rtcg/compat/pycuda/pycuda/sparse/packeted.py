"""Matrices in the packeted format."""

import numpy as np

from pycuda import gpuarray
from pycuda.sparse.coordinate import CoordinateSpMV
from pycuda.tools import DeviceData
from rtcg import _native
from rtcg.sparse import coo_array, csr_array


def _host_csr(mat):
    """Elements, columns and row pointers of a matrix on the host."""
    if not hasattr(mat, "tocsr"):
        mat = csr_array(mat)
    csr = mat.tocsr()
    parts = csr.data, csr.indices, csr.indptr
    return [part.get() if isinstance(part, gpuarray.GPUArray) else np.asarray(part) for part in parts]


class PacketedSpMV:
    """A square matrix with rows permuted so that most elements are in diagonal blocks, the packets.

    The part of the vector that a packet needs is in shared memory (Bell and Garland 2008). Elements outside all packets
    form a `CoordinateSpMV`.

    Parameters
    ----------
    mat : array of `scipy.sparse` or `rtcg.sparse`
    is_symmetric : bool
        Whether the sparsity pattern is symmetric; if not, the pattern of the transpose also counts for neighbours.
    dtype : data-type
        float32, float64, complex64 or complex128: the dtype of elements and vectors.

    Attributes
    ----------
    shape, dtype, rows_per_packet, threads_per_packet, block_count, index_dtype, packed_index_dtype
    packet_base_rows, new2old_fetch_indices, old2new_fetch_indices : GPUArray of `index_dtype`
        The start of each packet; the row of the matrix at each position in packet order; the position of each row.
    remaining_coo_gpu : CoordinateSpMV
        The elements outside all packets, in packet order.

    The constructor partitions on the host, in time proportional to the number of elements, and waits.
    """

    def __init__(self, mat, is_symmetric, dtype):
        rows, columns = self.shape = tuple(mat.shape)
        if rows != columns:
            raise ValueError(f"only square matrices are supported; the shape is {self.shape}")
        self.dtype = np.dtype(dtype)
        self.index_dtype = np.int32
        self.packed_index_dtype = np.uint32
        device = DeviceData()
        self.threads_per_packet = device.max_threads
        # Half of the shared memory, as upstream, and no more than a kernel gets without asking for it.
        smem_bytes = min((device.shared_memory - 100) // 2, 48 << 10)
        self.rows_per_packet = smem_bytes // self.dtype.itemsize
        data, indices, indptr = _host_csr(mat)
        data = np.ascontiguousarray(data, self.dtype)
        self._packets = _native.PacketedMatrix(
            data, indices.astype(np.int64), indptr.astype(np.int64), self.rows_per_packet, bool(is_symmetric)
        )
        new2old, old2new, base_rows = self._packets.partition()
        self.block_count = len(base_rows) - 1
        self.packet_base_rows = gpuarray.to_gpu(base_rows)
        self.new2old_fetch_indices = gpuarray.to_gpu(new2old)
        self.old2new_fetch_indices = gpuarray.to_gpu(old2new)
        row, col, which = self._packets.remainder()
        self.remaining_coo_gpu = CoordinateSpMV(coo_array((data[which], (row, col)), shape=self.shape), self.dtype)

    def _checked(self, x):
        if x.shape != (self.shape[0],):
            raise ValueError(f"x has shape {x.shape}; expected {(self.shape[0],)}")
        return x

    def permute(self, x):
        """Convert a vector from the order of the matrix to packet order; does not wait."""
        return gpuarray.take(self._checked(x), self.new2old_fetch_indices)

    def unpermute(self, x):
        """Convert a vector from packet order to the order of the matrix; does not wait."""
        return gpuarray.take(self._checked(x), self.old2new_fetch_indices)

    def __call__(self, x, y=None):
        """Add the product of the matrix and `x` to `y`, or to a new vector of zeros; returns it. Both are in packet
        order.
        """
        if y is None:
            y = gpuarray.zeros(self.shape[0], dtype=self.dtype, allocator=x.allocator)
        self._packets.multiply_add(x, y)
        return self.remaining_coo_gpu(x, y)
