"""Transformations of kernels that return trees.

In place of a number, one may pass the name of a tunable parameter, or a pair of a name and its values. The tree then
holds the name, which the program defines at compilation (``options=["-DTILE=8"]``), and `parameters` of the result has
the names with the values to try, ready for a search space. :func:`parameters` collects those of a whole tree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, TypeAlias

from rtcg._messages import shown
from rtcg._native import cgen_double_buffer, cgen_split, cgen_stage, cgen_unroll, cgen_vectorise
from rtcg.cgen._base import _Node
from rtcg.cgen._statements import Collection

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from rtcg.cgen import Expr, For

    # A number, the name of a tunable parameter, or its name and values.
    _Amount: TypeAlias = int | str | tuple[str, Sequence[int]]
    _Operand: TypeAlias = Expr | int | str

__all__ = ["Transformed", "double_buffer", "parameters", "split", "stage", "unroll", "vectorise"]


class Transformed(Collection):
    """The statements that a transformation created; part of a tree like any other node.

    Attributes
    ----------
    parameters : dict of str to list of int
        Tunable parameters that the statements hold, with the values to try.
    value : Expr or None
        The value for the rest of the program: the tile in shared memory, or the array of loaded values.
    """

    mapper_method = "map_transformed"

    def __init__(
        self, contents: Iterable[_Node], parameters: Mapping[str, list[int]] | None = None, value: Expr | None = None
    ) -> None:
        super().__init__(contents)
        self.parameters = dict(parameters or {})
        self.value = value


def parameters(tree: object) -> dict[str, list[int]]:
    """The tunable parameters of all transformations in a tree, for ``rtcg.tune.Space(parameters(tree))``.

    Parameters
    ----------
    tree : Generable
        Any node, such as a `Module` or `FunctionBody`.

    Returns
    -------
    dict of str to list of int
        Names in the order of the tree, with the values to try; for a name that occurs twice, the values that both have.

    Raises
    ------
    ValueError
        If two transformations name the same parameter and have no value in common.
    """
    found: dict[str, list[int]] = {}
    for node in _walk(tree, set()):
        for name, values in node.parameters.items():
            shared = [value for value in found.get(name, values) if value in values]
            if not shared:
                raise ValueError(
                    f"parameter {shown(name)} has the values {found[name]} and {values}, with none in common"
                )
            found[name] = shared
    return found


def _walk(node: object, seen: set[int]) -> Iterator[Transformed]:
    """The transformed parts of a tree; follows all attributes that are nodes, or lists and tuples of nodes."""
    if isinstance(node, (list, tuple)):
        for part in node:
            yield from _walk(part, seen)
    elif hasattr(node, "generate") and id(node) not in seen:
        seen.add(id(node))
        if isinstance(node, Transformed):
            yield node
        yield from _walk(list(getattr(node, "__dict__", {}).values()), seen)


def _transformed(made: tuple[_Node, dict[str, list[int]], Expr | None]) -> Transformed:
    node, parameters, value = made
    return Transformed(node.contents if type(node) is Collection else [node], parameters, value)


def split(
    loop: For, n: _Amount, remainder: Literal["guard", "slab"] | None = "guard", unroll: bool = False
) -> Transformed:
    """Split a loop into parts of `n` values: a loop over parts around a loop over the values of one part.

    Parameters
    ----------
    loop : For
        Counts upwards: ``int i = first``; ``i < end`` or ``i <= end``; ``++i`` or ``i += step``. Its body must neither
        change the variable nor contain ``break``; ``end + n * step`` must fit into the variable's type.
    n : int or str or (str, list of int)
        The number of values of a part.
    remainder : {"guard", "slab", None}
        How to handle an incomplete last part: compare every value with the end; or run whole parts without comparison
        and the rest in a second loop; or nothing, if the caller knows that there is none.
    unroll : bool
        Whether to unroll the inner loop.

    Raises
    ------
    ValueError
        If the loop has another form, or `n` is not positive.
    """
    return _transformed(cgen_split(loop, n, remainder, unroll))


def unroll(loop: For, n: _Amount | None = None) -> Transformed:
    """A copy of the loop, a `For`, unrolled `n` times, or completely without `n`."""
    return _transformed(cgen_unroll(loop, n))


def stage(
    array: Expr,
    tile: Iterable[_Amount],
    origin: Iterable[_Operand],
    pitch: _Operand | None = None,
    bounds: Iterable[_Operand] | None = None,
    pad: _Amount = 1,
    name: str | None = None,
) -> Transformed:
    """Copy a tile of an array to shared memory, with all threads of the block.

    The result declares the tile, copies it and waits at a barrier, which all threads must reach. Its `value` is the
    tile, to read as ``tile[row, column]`` or ``tile[column]``. The program needs its own barrier before it stages the
    tile again.

    Parameters
    ----------
    array : Var
        A pointer to elements of its dtype.
    tile : sequence of int, str or (str, list of int)
        Sizes of the tile in elements: columns, or rows and columns.
    origin : sequence of Expr, int or str
        Where the tile starts in the array, by row and column.
    pitch : Expr, int or str, optional
        The distance between rows of the array in elements; required for two sizes.
    bounds : sequence of Expr, int or str, optional
        Sizes of the array; elements outside it are zero in the tile. Without bounds the tile must be inside the array.
    pad : int or str or (str, list of int)
        Elements of padding per row of the tile, so that the elements of a column are in different banks.
    name : str, optional
        The name of the tile, by default that of the array with ``_tile``. Two tiles in one scope need different names.
    """
    return _transformed(cgen_stage(array, tile, origin, pitch, bounds, pad, name))


def vectorise(load: Expr, width: _Amount, name: str | None = None) -> Transformed:
    """Load `width` values, starting at an element ``array[index]``, in one access.

    The `value` of the result is an array of the values. The address must be a multiple of the loaded bytes.

    Parameters
    ----------
    load : Expr
        An element of a `Var` whose dtype has vectors in CUDA: integers, float32, float64.
    width : {1, 2, 4} or str or (str, list of int)
        The number of values, at most 16 bytes.
    name : str, optional
        The name of the array of values, by default that of the loaded array with ``_loaded``.
    """
    return _transformed(cgen_vectorise(load, width, name))


def double_buffer(
    loop: For,
    dtype: DTypeLike,
    size: _Operand,
    load: Callable[[Expr, Expr], _Node],
    use: Callable[[Expr, Expr], _Node],
    buffers: _Amount = 2,
) -> Transformed:
    """A loop over tiles that loads the next tile while it uses the present one.

    Parameters
    ----------
    loop : For
        Counts upwards as in `split`; its body is replaced. All threads of the block must run it.
    dtype : dtype-like
        Type of the elements.
    size : int, str or Expr
        The number of elements of a buffer in shared memory, a compile-time constant.
    load, use : callable
        ``load(i, buffer)`` and ``use(i, buffer)`` take the loop's value and a buffer as `Expr`, and return nodes that
        copy a tile and use it. Neither needs a barrier for the buffers.
    buffers : {1, 2} or str or (str, list of int)
        With one buffer the next tile is loaded after the present one has been used.
    """
    return _transformed(cgen_double_buffer(loop, dtype, size, buffers, load, use))
