"""Graphs as sparse arrays under the names of `scipy.sparse.csgraph`: each stored element is an edge from its row to its
column, including explicit zeros. In dense arrays, finite elements other than 0 are edges.

Results are `GPUArray`s of int32. Weak components and Laplacians are computed on the device. Breadth-first searches,
orders and strong components visit node after node and run on the host: index arrays are copied there, elements are not.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rtcg import _native, numpy as _xp
from rtcg._conversions import as_dtype, as_flag, as_integer, as_text, converts
from rtcg._messages import shown
from rtcg.numpy import GPUArray
from rtcg.sparse._base import issparse
from rtcg.sparse._compressed import csr_array
from rtcg.sparse._coo import coo_array
from rtcg.sparse._operands import as_matrix


def _graph(csgraph: Any) -> csr_array:
    """A graph in compressed sparse rows."""
    if not issparse(csgraph) and not hasattr(csgraph, "tocsr"):
        csgraph = csgraph if isinstance(csgraph, GPUArray) else np.asarray(csgraph)
        if csgraph.dtype.kind in "fc":
            module = _xp if isinstance(csgraph, GPUArray) else np
            csgraph = module.where(module.isfinite(csgraph), csgraph, csgraph.dtype.type(0))
    rows = csgraph.tocsr() if issparse(csgraph) else csr_array(csgraph)
    if rows.ndim != 2 or rows.shape[0] != rows.shape[1]:
        raise ValueError("graph should be a square array")
    return rows


def _host_structure(rows: csr_array) -> tuple[np.ndarray[Any, Any], ...]:
    """`indices` and `indptr` on the host as int64; waits."""
    return tuple(part.get().astype(np.int64) for part in (rows.indices, rows.indptr))


@converts(csgraph=as_matrix, directed=as_flag, connection=as_text, return_labels=as_flag)
def connected_components(
    csgraph: Any, directed: Any = True, connection: Any = "weak", return_labels: Any = True
) -> Any:
    """The connected components of a graph; see `scipy.sparse.csgraph.connected_components`. Waits for their number.

    Parameters
    ----------
    csgraph : sparse or dense array of shape (n, n)
    directed : bool
        Whether edges are directed; otherwise components are weak ones.
    connection : "weak" or "strong"
        Whether nodes of a component are connected by edges in any direction, or can reach each other along edges.
    return_labels : bool

    Returns
    -------
    n_components : int
    labels : GPUArray of int32
        The component of each node, if requested. Weak components are numbered by their first nodes. A strong component
        has a smaller number than those that lead to it.

    Raises
    ------
    ValueError
        If the graph is not square, or `connection` has another value.

    Notes
    -----
    Weak components are found on the device (Jaiganesh and Burtscher 2018), strong ones on the host (Tarjan 1972).
    """
    if str(connection).lower() not in ("weak", "strong"):
        raise ValueError("connection must be 'weak' or 'strong'")
    rows = _graph(csgraph)
    if directed and str(connection).lower() == "strong":
        count, labels = _native.sparse_strong_components(_host_structure(rows))
        return (count, _xp.to_gpu(labels)) if return_labels else count
    if not rows.shape[0]:
        return (0, _xp.empty(0, np.int32)) if return_labels else 0
    roots = _native.sparse_component_roots(rows._native)
    is_root = roots == _xp.arange(rows.shape[0], dtype=np.int32)
    numbers = _xp.cumsum(is_root.astype(np.int32))
    count = int(numbers[-1].get())
    return (count, (numbers[roots] - 1).astype(np.int32)) if return_labels else count


@converts(csgraph=as_matrix, i_start=as_integer, directed=as_flag, return_predecessors=as_flag)
def breadth_first_order(csgraph: Any, i_start: Any, directed: Any = True, return_predecessors: Any = True) -> Any:
    """The nodes in breadth-first order; see `scipy.sparse.csgraph.breadth_first_order`. On the host.

    Parameters
    ----------
    csgraph : sparse or dense array of shape (n, n)
    i_start : int
        The first node.
    directed : bool
        Whether edges are directed.
    return_predecessors : bool

    Returns
    -------
    node_array : GPUArray of int32
        The nodes that are reached, with neighbours in the order in which they are stored.
    predecessors : GPUArray of int32
        The predecessor of each node, if requested; -9999 for the first node and for nodes that are not reached.

    Raises
    ------
    ValueError
        If the graph is not square, or there is no such node.
    """
    rows = _graph(csgraph)
    if not 0 <= i_start < rows.shape[0]:
        raise ValueError(f"i_start is {i_start}; expected a node from 0 to {rows.shape[0] - 1}")
    back = None if directed else _host_structure(rows.T.tocsr())
    order, predecessors = _native.sparse_breadth_first_order(_host_structure(rows), back, int(i_start))
    return (_xp.to_gpu(order), _xp.to_gpu(predecessors)) if return_predecessors else _xp.to_gpu(order)


@converts(graph=as_matrix, symmetric_mode=as_flag)
def reverse_cuthill_mckee(graph: Any, symmetric_mode: Any = False) -> Any:
    """An order of rows and columns with small bandwidth (Cuthill and McKee 1969, George 1971). On the host.

    See `scipy.sparse.csgraph.reverse_cuthill_mckee`. Breadth-first searches start from a node of lowest degree in each
    component and visit neighbours by degree; the order of equal degrees may differ from SciPy's.

    Parameters
    ----------
    graph : sparse array of shape (n, n)
    symmetric_mode : bool
        Whether the structure is known to be symmetric; otherwise that of ``graph + graph.T`` is used.

    Returns
    -------
    perm : GPUArray of int32

    Raises
    ------
    TypeError
        If the graph is not sparse.
    ValueError
        If the graph is not square.
    """
    if not issparse(graph):
        raise TypeError("Input graph must be sparse")
    rows = _graph(graph)
    if not symmetric_mode:
        ones = rows._with_data(_xp.ones(rows.nnz, np.int32))
        rows = (ones + ones.T).tocsr()
    return _xp.to_gpu(_native.sparse_reverse_cuthill_mckee(_host_structure(rows)))


def _signed(graph: csr_array) -> type[np.int64]:
    """The dtype of differences of unsigned weights."""
    if graph.dtype == np.uint64 and graph.nnz and int(graph.max().get()) > np.iinfo(np.int64).max:
        raise ValueError(f"csgraph has weights above {np.iinfo(np.int64).max}; expected what int64 can hold")
    return np.int64


def _holds(dtype: np.dtype[Any], numbers: GPUArray) -> bool:
    """Whether a dtype of signed integers can represent integers; waits unless it is int64."""
    if dtype.itemsize == 8 or not numbers.size:
        return True
    limits = np.iinfo(dtype)
    return limits.min <= int(numbers.min().get()) and int(numbers.max().get()) <= limits.max


@converts(
    csgraph=as_matrix,
    normed=as_flag,
    return_diag=as_flag,
    use_out_degree=as_flag,
    copy=as_flag,
    form=as_text,
    symmetrized=as_flag,
    dtype=as_dtype,
)
def laplacian(
    csgraph: Any, normed: Any = False, return_diag: Any = False, use_out_degree: Any = False, *, copy: Any = True,
    form: Any = "array", dtype: Any = None, symmetrized: Any = False,
) -> Any:  # fmt: skip
    """The Laplacian of a graph, degrees minus weights; see `scipy.sparse.csgraph.laplacian`. Waits.

    Parameters
    ----------
    csgraph : sparse or dense array of shape (n, n)
    normed : bool
        Whether to divide rows and columns by the square roots of degrees.
    return_diag : bool
    use_out_degree : bool
        Whether degrees are sums of rows; otherwise sums of columns.
    copy : bool
        Ignored: the graph is never modified.
    form : "array", "function" or "lo"
        An array, a function of vectors, or a `LinearOperator`.
    dtype : data-type, optional
        That of the graph unless given; int64 for unsigned or bool weights, and if degrees or sums of weights need it.
    symmetrized : bool
        Whether edges count in both directions.

    Returns
    -------
    lap : coo_array, a GPUArray of a dense graph, a function or a `LinearOperator`
    diag : GPUArray
        The degrees, or their square roots if `normed`; if requested.

    Raises
    ------
    ValueError
        If the graph is not square, or `form` has another value.
    """
    if form not in ("array", "function", "lo"):
        raise ValueError(f"Invalid form: {shown(form)}")
    is_sparse = issparse(csgraph) or hasattr(csgraph, "tocsr")
    graph: Any = csgraph if is_sparse or isinstance(csgraph, GPUArray) else np.asarray(csgraph)
    if len(graph.shape) != 2 or graph.shape[0] != graph.shape[1]:
        raise ValueError("csgraph must be a square matrix or array")
    graph = graph if issparse(graph) else csr_array(graph)
    if dtype is None and graph.dtype.kind in "bu" and not normed:
        graph = graph.astype(_signed(graph))
    narrow = None
    if dtype is not None:
        graph = graph.astype(dtype)
    elif graph.dtype.kind == "i" and not normed:
        # Sums of weights are those of int64; what they are narrowed to is decided once they are known.
        narrow, graph = graph.dtype, graph.astype(np.int64, copy=False)
    elif normed and graph.dtype.kind in "iub":
        graph = graph.astype(np.float64)
    if symmetrized:
        graph = graph + graph.T.conj()
    coo = graph.tocoo()._canonical("csr")
    degrees = graph.sum(axis=1 if use_out_degree else 0) - coo.diagonal()
    apart = coo._kept(coo.row != coo.col)
    data = -apart.data
    found_dtype = narrow if narrow and _holds(narrow, degrees) and _holds(narrow, data) else graph.dtype
    degrees = degrees.astype(found_dtype)
    if normed:
        is_alone = degrees == 0
        degrees = _xp.where(is_alone, degrees.dtype.type(1), _xp.sqrt(degrees))
        data = data / (degrees[apart.row] * degrees[apart.col])
        on_diagonal = 1 - is_alone.astype(degrees.dtype)
    else:
        on_diagonal = degrees
    places = _xp.arange(graph.shape[0], dtype=apart.row.dtype)
    parts = [
        _xp.concatenate(pair)
        for pair in (
            (data.astype(found_dtype), on_diagonal.astype(found_dtype)), (apart.row, places), (apart.col, places)
        )
    ]  # fmt: skip
    found: Any = coo_array._of(graph.shape, *parts)
    if form != "array":
        from rtcg.sparse.linalg import LinearOperator

        rows = found.tocsr()
        function = lambda x: rows @ x  # noqa: E731
        found = function if form == "function" else LinearOperator(graph.shape, matvec=function, dtype=found_dtype)
    elif not is_sparse:
        found = found.toarray()
    return (found, degrees) if return_diag else found
