"""Matrices in the packeted format."""

from typing import Any

class PacketedSpMV:
    """A square matrix whose rows are permuted so that most elements lie in diagonal blocks, the packets.

    The part of the vector that a packet needs lies in shared memory (Bell and Garland 2008). What lies in no packet is
    a `CoordinateSpMV`.

    Parameters
    ----------
    mat : array of `scipy.sparse` or `rtcg.sparse`
    is_symmetric : bool
        Whether the places of elements are those of the transpose; if not, its places count as neighbours too.
    dtype : data-type
        float32, float64, complex64 or complex128: that of elements and vectors.

    Attributes
    ----------
    shape, dtype, rows_per_packet, threads_per_packet, block_count, index_dtype, packed_index_dtype
    packet_base_rows, new2old_fetch_indices, old2new_fetch_indices : GPUArray of `index_dtype`
        Where packets begin; the row of the matrix at each place of packet order; the place of each row.
    remaining_coo_gpu : CoordinateSpMV
        The elements in no packet, in packet order.

    Making one partitions on the host, in time proportional to the number of elements, and waits.
    """
    def __init__(self, mat: Any, is_symmetric: Any, dtype: Any) -> None: ...
    def permute(self, x: Any) -> Any:
        """A vector in packet order, from one in the order of the matrix; does not wait."""
    def unpermute(self, x: Any) -> Any:
        """A vector in the order of the matrix, from one in packet order; does not wait."""
    def __call__(self, x: Any, y: Any = None) -> Any:
        """`y` with the product of the matrix and `x` added to it; a new vector without `y`. Both in packet order."""
