"""Matrices in the packeted format."""

from typing import Any

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
    def __init__(self, mat: Any, is_symmetric: Any, dtype: Any) -> None: ...
    def permute(self, x: Any) -> Any:
        """Convert a vector from the order of the matrix to packet order; does not wait."""
    def unpermute(self, x: Any) -> Any:
        """Convert a vector from packet order to the order of the matrix; does not wait."""
    def __call__(self, x: Any, y: Any = None) -> Any:
        """Add the product of the matrix and `x` to `y`, or to a new vector of zeros; returns it. Both are in packet
        order.
        """
