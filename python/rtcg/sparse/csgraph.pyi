"""Graphs as sparse arrays under the names of `scipy.sparse.csgraph`: each stored element is an edge from its row to its
column, including explicit zeros. In dense arrays, finite elements other than 0 are edges.

Results are `GPUArray`s of int32. Weak components and Laplacians are computed on the device. Breadth-first searches,
orders and strong components visit node after node and run on the host: index arrays are copied there, elements are not.
"""

from typing import Any

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

def laplacian(
    csgraph: Any,
    normed: Any = False,
    return_diag: Any = False,
    use_out_degree: Any = False,
    *,
    copy: Any = True,
    form: Any = "array",
    dtype: Any = None,
    symmetrized: Any = False,
) -> Any:
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
