"""Packets in PyCUDA's data structure, for other kernels that read it."""

import numpy as np

from pycuda import gpuarray


def _ranges(starts, lengths):
    """Consecutive numbers from each start, as many as the length says, one range after the other."""
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if len(ends) else 0
    return np.arange(total) - np.repeat(ends - lengths - starts, lengths)


def build_pkt_data_structure(
    spmv,
    packet_nr_to_dofs,
    max_thread_costs,
    old2new_fetch_indices,
    csr_mat,
    thread_count,
    thread_assignments,
    local_row_costs,
):
    """Give `spmv` the arrays of its packets: `thread_starts`, `thread_ends`, `index_array`, `data_array`.

    Thread ``t`` of a packet has the elements of its rows (``thread_assignments``) from ``thread_starts[t]`` to
    ``thread_ends[t]``, every `threads_per_packet`-th one. An index has the row in its upper and the column in its lower
    16 bits, relative to the first one of the packet in packet order. `local_row_costs` are the numbers of elements of
    each row that are in its packet.
    """
    threads = spmv.threads_per_packet
    old2new = np.asarray(old2new_fetch_indices, np.int64)
    costs = np.asarray(local_row_costs, np.int64)
    sizes = np.array([len(dofs) for dofs in packet_nr_to_dofs], np.int64)
    bases = np.cumsum(sizes) - sizes
    # Rows thread by thread, and the elements of each that lie in its packet.
    row_counts = np.array([len(rows) for rows in thread_assignments], np.int64)
    rows = np.array([row for rows in thread_assignments for row in rows], np.int64)
    row_thread = np.repeat(np.arange(thread_count), row_counts)
    indptr = np.asarray(csr_mat.indptr, np.int64)
    lengths = indptr[rows + 1] - indptr[rows]
    elements = _ranges(indptr[rows], lengths)
    row, thread = np.repeat(rows, lengths), np.repeat(row_thread, lengths)
    base, size = bases[thread // threads], sizes[thread // threads]
    column = old2new[np.asarray(csr_mat.indices)[elements]] - base
    inside = (column >= 0) & (column < size)
    if (np.bincount(row[inside], minlength=len(costs)) != costs).any():
        raise ValueError("local_row_costs are not the numbers of elements of rows in their packets")
    elements, row, thread, base, column = (a[inside] for a in (elements, row, thread, base, column))
    counts = np.bincount(thread, minlength=thread_count)
    # A packet takes as much room as its busiest thread needs of each.
    widest = counts.reshape(-1, threads).max(axis=1) if thread_count else np.zeros(0, np.int64)
    starts = np.repeat((np.cumsum(widest) - widest) * threads, threads) + np.tile(np.arange(threads), len(widest))
    places = _ranges(np.zeros(thread_count, np.int64), counts) * threads + starts[thread]
    room = int(max_thread_costs) * thread_count
    index_array = np.zeros(room, spmv.packed_index_dtype)
    data_array = np.zeros(room, spmv.dtype)
    index_array[places] = ((old2new[row] - base) << 16) + column
    data_array[places] = np.asarray(csr_mat.data)[elements]
    spmv.thread_starts = gpuarray.to_gpu(starts.astype(spmv.index_dtype))
    spmv.thread_ends = gpuarray.to_gpu((starts + counts * threads).astype(spmv.index_dtype))
    spmv.index_array = gpuarray.to_gpu(index_array)
    spmv.data_array = gpuarray.to_gpu(data_array)
