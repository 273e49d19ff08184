"""Transformations of kernels that return trees."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import ClassVar, Literal, TypeAlias

from numpy.typing import DTypeLike

from rtcg.cgen import Expr, For
from rtcg.cgen._base import _Node
from rtcg.cgen._statements import Collection

__all__ = ["Transformed", "double_buffer", "parameters", "split", "stage", "unroll", "vectorise"]

# A number, the name of a tunable parameter, or its name and values.
_Amount: TypeAlias = int | str | tuple[str, Sequence[int]]
_Operand: TypeAlias = Expr | int | str

class Transformed(Collection):
    """The statements that a transformation created; part of a tree like any other node.

    Attributes
    ----------
    parameters : dict of str to list of int
        Tunable parameters that the statements hold, with the values to try.
    value : Expr or None
        The value for the rest of the program: the tile in shared memory, or the array of loaded values.
    """

    mapper_method: ClassVar[str]
    parameters: dict[str, list[int]]
    value: Expr | None
    def __init__(
        self, contents: Iterable[_Node], parameters: Mapping[str, list[int]] | None = None, value: Expr | None = None
    ) -> None: ...

def parameters(tree: object) -> dict[str, list[int]]: ...
def split(
    loop: For, n: _Amount, remainder: Literal["guard", "slab"] | None = "guard", unroll: bool = False
) -> Transformed: ...
def unroll(loop: For, n: _Amount | None = None) -> Transformed: ...
def stage(
    array: Expr,
    tile: Iterable[_Amount],
    origin: Iterable[_Operand],
    pitch: _Operand | None = None,
    bounds: Iterable[_Operand] | None = None,
    pad: _Amount = 1,
    name: str | None = None,
) -> Transformed: ...
def vectorise(load: Expr, width: _Amount, name: str | None = None) -> Transformed: ...
def double_buffer(
    loop: For,
    dtype: DTypeLike,
    size: _Operand,
    load: Callable[[Expr, Expr], _Node],
    use: Callable[[Expr, Expr], _Node],
    buffers: _Amount = 2,
) -> Transformed: ...
