"""Packets in PyCUDA's data structure, for other kernels that read it."""

from typing import Any

def build_pkt_data_structure(
    spmv: Any,
    packet_nr_to_dofs: Any,
    max_thread_costs: Any,
    old2new_fetch_indices: Any,
    csr_mat: Any,
    thread_count: Any,
    thread_assignments: Any,
    local_row_costs: Any,
) -> Any:
    """Give `spmv` the arrays of its packets: `thread_starts`, `thread_ends`, `index_array`, `data_array`.

    Thread ``t`` of a packet has the elements of its rows (``thread_assignments``) from ``thread_starts[t]`` to
    ``thread_ends[t]``, every `threads_per_packet`-th one. An index has the row in its upper and the column in its lower
    16 bits, relative to the first one of the packet in packet order. `local_row_costs` are the numbers of elements of
    each row that are in its packet.
    """
