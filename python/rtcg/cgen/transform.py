"""Transformations of kernels that return trees.

Where a number is asked for, the name of a tunable parameter may stand, or a pair of a name and its values. The tree
then holds the name, which the program defines when it is compiled (``options=["-DTILE=8"]``), and the result's
`parameters` has the names with the values to try, ready for a search space. :func:`parameters` collects those of a
whole tree.
"""

from rtcg._messages import shown
from rtcg._native import cgen_double_buffer, cgen_split, cgen_stage, cgen_unroll, cgen_vectorise
from rtcg.cgen._statements import Collection

__all__ = ["Transformed", "double_buffer", "parameters", "split", "stage", "unroll", "vectorise"]


class Transformed(Collection):
    """The statements that a transformation made; part of a tree like any other node.

    Attributes
    ----------
    parameters : dict of str to list of int
        Tunable parameters that the statements hold, with the values to try.
    value : Expr or None
        What the rest of the program reads: the tile in shared memory, or the array of loaded values.
    """

    mapper_method = "map_transformed"

    def __init__(self, contents, parameters=None, value=None):
        super().__init__(contents)
        self.parameters = dict(parameters or {})
        self.value = value


def parameters(tree):
    """The tunable parameters of all transformations in a tree, for ``rtcg.tune.Space(parameters(tree))``.

    Parameters
    ----------
    tree : Generable
        Any node, such as a `Module` or `FunctionBody`.

    Returns
    -------
    dict of str to list of int
        Names in the order of the tree, with the values to try; of a name that comes twice those that both have.

    Raises
    ------
    ValueError
        When two transformations name one parameter and share none of its values.
    """
    found = {}
    for node in _walk(tree, set()):
        for name, values in node.parameters.items():
            shared = [value for value in found.get(name, values) if value in values]
            if not shared:
                raise ValueError(
                    f"parameter {shown(name)} has the values {found[name]} and {values}, with none in common"
                )
            found[name] = shared
    return found


def _walk(node, seen):
    """The transformed parts of a tree: of nodes all attributes that are nodes, or lists and tuples of them."""
    if isinstance(node, (list, tuple)):
        for part in node:
            yield from _walk(part, seen)
    elif hasattr(node, "generate") and id(node) not in seen:
        seen.add(id(node))
        if isinstance(node, Transformed):
            yield node
        yield from _walk(list(getattr(node, "__dict__", {}).values()), seen)


def _transformed(made):
    node, parameters, value = made
    return Transformed(node.contents if type(node) is Collection else [node], parameters, value)


def split(loop, n, remainder="guard", unroll=False):
    """The loop in parts of `n` values: a loop over parts around a loop over the values of one.

    Parameters
    ----------
    loop : For
        Counts upwards: ``int i = first``; ``i < end`` or ``i <= end``; ``++i`` or ``i += step``. Its body must neither
        change the variable nor hold ``break``; ``end + n * step`` must fit into the variable's type.
    n : int or str or (str, list of int)
        Values of a part.
    remainder : {"guard", "slab", None}
        What becomes of values that fill no whole part: every value is compared with the end; or whole parts go without
        comparison and a loop behind them does the rest; or there are none, as the caller knows.
    unroll : bool
        Whether the inner loop is unrolled.

    Raises
    ------
    ValueError
        The loop is of another form, or `n` is not positive.
    """
    return _transformed(cgen_split(loop, n, remainder, unroll))


def unroll(loop, n=None):
    """A copy of the loop, a `For`, unrolled `n` times, or wholly without `n`."""
    return _transformed(cgen_unroll(loop, n))


def stage(array, tile, origin, pitch=None, bounds=None, pad=1, name=None):
    """A tile of an array in shared memory, copied by all threads of the block.

    The result declares the tile, copies it and waits at a barrier, which all threads must reach. Its `value` is the
    tile, to be read as ``tile[row, column]`` or ``tile[column]``. Before the tile is staged again, the program needs a
    barrier of its own.

    Parameters
    ----------
    array : Var
        Points to elements of its dtype.
    tile : sequence of int, str or (str, list of int)
        Sizes of the tile in elements: columns, or rows and columns.
    origin : sequence of Expr, int or str
        Where the tile starts in the array, by row and column.
    pitch : Expr, int or str, optional
        Elements from one row of the array to the next; needed for two sizes.
    bounds : sequence of Expr, int or str, optional
        Sizes of the array; what lies before its start or beyond them is zero in the tile. Without them the tile lies
        inside.
    pad : int or str or (str, list of int)
        Elements added to every row of the tile, so that the elements of a column lie in different banks.
    name : str, optional
        The name of the tile, by default the array's with ``_tile``. Two tiles in one scope need two names.
    """
    return _transformed(cgen_stage(array, tile, origin, pitch, bounds, pad, name))


def vectorise(load, width, name=None):
    """`width` values from an element ``array[index]`` on, in one access.

    The result's `value` is an array of the values. The address must be a multiple of the bytes loaded.

    Parameters
    ----------
    load : Expr
        An element of a `Var` whose dtype has vectors in CUDA: integers, float32, float64.
    width : {1, 2, 4} or str or (str, list of int)
        Values loaded; at most 16 bytes.
    name : str, optional
        The name of the array of values, by default that of the loaded array with ``_loaded``.
    """
    return _transformed(cgen_vectorise(load, width, name))


def double_buffer(loop, dtype, size, load, use, buffers=2):
    """The loop over tiles, which loads the next tile while the present one is used.

    Parameters
    ----------
    loop : For
        Counts upwards as in `split`; its body is replaced. All threads of the block run it.
    dtype : dtype-like
        Type of the elements.
    size : int, str or Expr
        Elements of a buffer in shared memory; known when the program is compiled.
    load, use : callable
        ``load(i, buffer)`` and ``use(i, buffer)`` get the loop's value and a buffer as `Expr`, and return nodes that
        copy a tile and work on it. Neither needs a barrier for the buffers.
    buffers : {1, 2} or str or (str, list of int)
        With one buffer the next tile is loaded after the present one was used.
    """
    return _transformed(cgen_double_buffer(loop, dtype, size, buffers, load, use))
