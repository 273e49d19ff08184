"""Statements, preprocessor lines, comments and blocks."""

from collections.abc import Iterable, Sequence
from typing import ClassVar

from rtcg.cgen._base import Generable, _Node

class If(Generable):
    mapper_method: ClassVar[str]
    condition: _Node
    then_: _Node
    else_: _Node | None
    def __init__(self, condition: _Node, then_: _Node, else_: _Node | None = None) -> None: ...

class Loop(Generable):
    """A body between the lines `intro_line` and `outro_line`, which subclasses define."""

    body: _Node
    def __init__(self, body: _Node) -> None: ...
    def intro_line(self) -> str | None: ...
    def outro_line(self) -> str | None: ...

class CustomLoop(Loop):
    mapper_method: ClassVar[str]
    intro_line_: str | None
    outro_line_: str | None
    def __init__(self, intro_line: str | None, body: _Node, outro_line: str | None = None) -> None: ...
    def intro_line(self) -> str | None: ...
    def outro_line(self) -> str | None: ...

class While(Loop):
    mapper_method: ClassVar[str]
    condition: _Node
    def __init__(self, condition: _Node, body: _Node) -> None: ...
    def intro_line(self) -> str | None: ...

class For(Loop):
    mapper_method: ClassVar[str]
    start: _Node
    condition: _Node
    update: _Node
    def __init__(self, start: _Node, condition: _Node, update: _Node, body: _Node) -> None: ...
    def intro_line(self) -> str | None: ...

class DoWhile(Loop):
    mapper_method: ClassVar[str]
    condition: _Node
    def __init__(self, condition: _Node, body: _Node) -> None: ...
    def intro_line(self) -> str | None: ...
    def outro_line(self) -> str | None: ...

def make_multiple_ifs(
    conditions_and_blocks: Iterable[tuple[_Node, _Node]], base: _Node | None = None
) -> _Node | None: ...

class Define(Generable):
    mapper_method: ClassVar[str]
    symbol: str
    value: _Node
    def __init__(self, symbol: str, value: _Node) -> None: ...

class Include(Generable):
    mapper_method: ClassVar[str]
    filename: str
    system: bool
    def __init__(self, filename: str, system: bool = True) -> None: ...

class Pragma(Generable):
    mapper_method: ClassVar[str]
    value: _Node
    def __init__(self, value: _Node) -> None: ...

class Statement(Generable):
    mapper_method: ClassVar[str]
    text: str
    def __init__(self, text: str) -> None: ...

class ExpressionStatement(Generable):
    mapper_method: ClassVar[str]
    expr: _Node
    def __init__(self, expr: _Node) -> None: ...

class Assign(Generable):
    mapper_method: ClassVar[str]
    lvalue: _Node
    rvalue: _Node
    def __init__(self, lvalue: _Node, rvalue: _Node) -> None: ...

class Line(Generable):
    mapper_method: ClassVar[str]
    text: str
    def __init__(self, text: str = "") -> None: ...

class Comment(Generable):
    mapper_method: ClassVar[str]
    text: str
    fmt_str: str
    def __init__(self, text: str, skip_space: bool = False) -> None: ...

class MultilineComment(Generable):
    mapper_method: ClassVar[str]
    text: str
    skip_space: bool
    def __init__(self, text: str, skip_space: bool = False) -> None: ...

class LineComment(Generable):
    mapper_method: ClassVar[str]
    text: str
    def __init__(self, text: str) -> None: ...

def add_comment(comment: str | None, stmt: _Node) -> _Node: ...

class Initializer(Generable):
    """A declaration with a value."""

    mapper_method: ClassVar[str]
    vdecl: _Node
    data: _Node
    def __init__(self, vdecl: _Node, data: _Node) -> None: ...

class InlineInitializer(Initializer):
    """A declaration with a value, as at the start of a ``for``: without a semicolon."""

def Constant(vdecl: _Node, data: _Node) -> Initializer: ...

class ArrayInitializer(Generable):
    """A declaration of an array with its values."""

    mapper_method: ClassVar[str]
    vdecl: _Node
    data: tuple[_Node, ...]
    def __init__(self, vdecl: _Node, data: Iterable[_Node]) -> None: ...

class FunctionBody(Generable):
    """A function with its body."""

    mapper_method: ClassVar[str]
    fdecl: _Node
    body: _Node
    def __init__(self, fdecl: _Node, body: _Node) -> None: ...

class Block(Generable):
    """Nodes in braces; items may be any objects with ``generate`` or ``str``."""

    mapper_method: ClassVar[str]
    contents: list[_Node]
    def __init__(self, contents: Iterable[_Node] | Block | None = None) -> None: ...
    def append(self, data: _Node) -> None: ...
    def extend(self, data: Iterable[_Node]) -> None: ...
    def insert(self, i: int, data: _Node) -> None: ...
    def extend_log_block(self, descr: str, data: Iterable[_Node]) -> None: ...

def block_if_necessary(contents: Sequence[_Node]) -> _Node: ...

class LiteralLines(Generable):
    """Text of several lines that starts with a newline, without the indentation of its first line."""

    mapper_method: ClassVar[str]
    lines: list[str]
    def __init__(self, text: str) -> None: ...

class LiteralBlock(LiteralLines):
    """Like `LiteralLines`, in braces."""

    mapper_method: ClassVar[str]

class Collection(Block):
    """Nodes one after another."""

Module = Collection

class IfDef(Collection):
    """Nodes for a macro that is defined, and others for one that is not."""

    mapper_method: ClassVar[str]
    def __init__(self, condition: _Node, iflines: Iterable[_Node], elselines: Iterable[_Node]) -> None: ...

class IfNDef(Collection):
    """Nodes for a macro that is not defined, and others for one that is."""

    mapper_method: ClassVar[str]
    def __init__(self, condition: _Node, ifndeflines: Iterable[_Node], elselines: Iterable[_Node]) -> None: ...

class PrivateNamespace(Block):
    """Nodes in a namespace named after their text, with a ``using`` directive for it."""

    def get_namespace_name(self) -> str: ...
