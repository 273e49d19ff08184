"""Statements, preprocessor lines, comments and blocks."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence

from rtcg._messages import shown
from rtcg._native import cgen_literal_lines
from rtcg.cgen._base import Generable, _Node
from rtcg.cgen._declarators import Const


def _require_node(name: str, value: object) -> None:
    if not hasattr(value, "generate") and type(value).__name__ not in ("Expr", "Var"):
        raise TypeError(f"{name} is {shown(value)}, expected a node; Line and Statement make nodes of text")


def _reject_list(name: str, value: object) -> None:
    """Raise TypeError for a list, whose `repr` would be printed into the source."""
    if isinstance(value, (list, tuple)):
        raise TypeError(f"{name} is a {type(value).__name__}, expected a node; Block([...]) makes one node of several")


class If(Generable):
    """``if (condition) then_ else else_``."""

    _kind = "if"
    mapper_method = "map_if"

    def __init__(self, condition: _Node, then_: _Node, else_: _Node | None = None) -> None:
        _require_node("then_", then_)
        if else_ is not None:
            _require_node("else_", else_)
        self.condition = condition
        self.then_ = then_
        self.else_ = else_


class Loop(Generable):
    """A body between the lines `intro_line` and `outro_line`, which subclasses define."""

    _kind = "loop"

    def __init__(self, body: _Node) -> None:
        _reject_list("body", body)
        self.body = body

    def intro_line(self) -> str | None:
        """The line before the body."""
        raise NotImplementedError(f"{type(self).__name__} has no intro_line")

    def outro_line(self) -> str | None:
        """The line after the body, or None."""
        return None


class CustomLoop(Loop):
    """A loop with given first and last lines."""

    mapper_method = "map_custom_loop"

    def __init__(self, intro_line: str | None, body: _Node, outro_line: str | None = None) -> None:
        super().__init__(body)
        self.intro_line_ = intro_line
        self.outro_line_ = outro_line

    def intro_line(self) -> str | None:
        return self.intro_line_

    def outro_line(self) -> str | None:
        return self.outro_line_


class While(Loop):
    """``while (condition) body``."""

    mapper_method = "map_while"

    def __init__(self, condition: _Node, body: _Node) -> None:
        super().__init__(body)
        self.condition = condition

    def intro_line(self) -> str | None:
        return f"while ({self.condition})"


class For(Loop):
    """``for (start; condition; update) body``."""

    mapper_method = "map_for"

    def __init__(self, start: _Node, condition: _Node, update: _Node, body: _Node) -> None:
        super().__init__(body)
        self.start = start
        self.condition = condition
        self.update = update

    def intro_line(self) -> str | None:
        return f"for ({self.start}; {self.condition}; {self.update})"


class DoWhile(Loop):
    """``do body while (condition);``."""

    mapper_method = "map_do_while"

    def __init__(self, condition: _Node, body: _Node) -> None:
        super().__init__(body)
        self.condition = condition

    def intro_line(self) -> str | None:
        return "do"

    def outro_line(self) -> str | None:
        return f"while ({self.condition});"


def make_multiple_ifs(conditions_and_blocks: Iterable[tuple[_Node, _Node]], base: _Node | None = None) -> _Node | None:
    """A new chain of ``else if``. `base` is the last ``else``; ``"last"`` uses the block of the last pair."""
    pairs = list(conditions_and_blocks)
    if isinstance(base, str):
        if base != "last":
            raise ValueError(f"base is {shown(base)}, expected a node, None or 'last'")
        if not pairs:
            raise ValueError("base is 'last' and there are no conditions")
        base = pairs.pop()[1]
    for condition, block in reversed(pairs):
        base = If(Line(condition) if isinstance(condition, str) else condition, block, base)
    return base


class Define(Generable):
    """``#define symbol value``."""

    _kind = "define"
    mapper_method = "map_define"

    def __init__(self, symbol: str, value: _Node) -> None:
        self.symbol = symbol
        self.value = value


class Include(Generable):
    """``#include`` of a system header or of a file."""

    _kind = "include"
    mapper_method = "map_include"

    def __init__(self, filename: str, system: bool = True) -> None:
        self.filename = filename
        self.system = system


class Pragma(Generable):
    """``#pragma``."""

    _kind = "pragma"
    mapper_method = "map_pragma"

    def __init__(self, value: _Node) -> None:
        self.value = value


class Statement(Generable):
    """A statement, given as text without the semicolon."""

    _kind = "statement"
    mapper_method = "map_statement"

    def __init__(self, text: str) -> None:
        self.text = text


class ExpressionStatement(Generable):
    """An expression as a statement."""

    _kind = "expression_statement"
    mapper_method = "map_expression_statement"

    def __init__(self, expr: _Node) -> None:
        self.expr = expr


class Assign(Generable):
    """The statement ``lvalue = rvalue;``."""

    _kind = "assign"
    mapper_method = "map_assignment"

    def __init__(self, lvalue: _Node, rvalue: _Node) -> None:
        self.lvalue = lvalue
        self.rvalue = rvalue


class Line(Generable):
    """A line of text, unchanged."""

    _kind = "line"
    mapper_method = "map_line"

    def __init__(self, text: str = "") -> None:
        self.text = text


class Comment(Generable):
    """A comment ``/* ... */``."""

    _kind = "comment"
    mapper_method = "map_comment"

    def __init__(self, text: str, skip_space: bool = False) -> None:
        self.text = text
        self.fmt_str = "/*{comment}*/" if skip_space else "/* {comment} */"

    def _comment(self) -> str:
        return self.fmt_str.format(comment=self.text)


class MultilineComment(Generable):
    """A comment with several lines."""

    _kind = "multiline_comment"
    mapper_method = "map_multiline_comment"

    def __init__(self, text: str, skip_space: bool = False) -> None:
        self.text = text
        self.skip_space = skip_space


class LineComment(Generable):
    """A comment ``// ...``."""

    _kind = "line_comment"
    mapper_method = "map_line_comment"

    def __init__(self, text: str) -> None:
        if "\n" in text:
            raise ValueError(f"text is {shown(text)}, expected one line; MultilineComment takes several")
        self.text = text


def add_comment(comment: str | None, stmt: _Node) -> _Node:
    """`stmt` in a new block after a comment and a blank line, or `stmt` itself if `comment` is None."""
    if comment is None:
        return stmt
    rest = stmt.contents if isinstance(stmt, Block) else [stmt]
    return Block([Comment(comment), Line(), *rest])


class Initializer(Generable):
    """A declaration with a value."""

    _kind = "initializer"
    mapper_method = "map_initializer"

    def __init__(self, vdecl: _Node, data: _Node) -> None:
        self.vdecl = vdecl
        self.data = data


class InlineInitializer(Initializer):
    """A declaration with a value, as at the start of a ``for``: without a semicolon."""

    _kind = "inline_initializer"


def Constant(vdecl: _Node, data: _Node) -> Initializer:
    """A constant with the value `data`: a new `Initializer` of `vdecl` with ``const``."""
    return Initializer(Const(vdecl), data)


class ArrayInitializer(Generable):
    """A declaration of an array with its values."""

    _kind = "array_initializer"
    mapper_method = "map_array_initializer"

    def __init__(self, vdecl: _Node, data: Iterable[_Node]) -> None:
        self.vdecl = vdecl
        self.data = tuple(data)


class FunctionBody(Generable):
    """A function with its body."""

    _kind = "function_body"
    mapper_method = "map_function_body"

    def __init__(self, fdecl: _Node, body: _Node) -> None:
        _reject_list("body", body)
        self.fdecl = fdecl
        self.body = body


class Block(Generable):
    """Nodes in braces; items may be any objects with ``generate`` or ``str``."""

    _kind = "block"
    mapper_method = "map_block"

    def __init__(self, contents: Iterable[_Node] | Block | None = None) -> None:
        if isinstance(contents, str):
            raise TypeError(f"contents is {shown(contents)}, expected a sequence of nodes")
        nodes: _Node = contents
        nodes = getattr(nodes, "contents", nodes)
        self.contents = list(nodes or ())

    def append(self, data: _Node) -> None:
        """Add a statement at the end."""
        self.contents.append(data)

    def extend(self, data: Iterable[_Node]) -> None:
        """Add statements at the end."""
        self.contents.extend(data)

    def insert(self, i: int, data: _Node) -> None:
        """Insert a statement before the one at index `i`."""
        self.contents.insert(i, data)

    def extend_log_block(self, descr: str, data: Iterable[_Node]) -> None:
        """Add nodes under a comment, and a blank line."""
        self.contents += [Comment(descr), *data, Line()]


def block_if_necessary(contents: Sequence[_Node]) -> _Node:
    """A single node unchanged, several nodes as a new `Block`."""
    return contents[0] if len(contents) == 1 else Block(contents)


class LiteralLines(Generable):
    """Text of several lines that starts with a newline, without the indentation of its first line."""

    _kind = "literal_lines"
    mapper_method = "map_literal_lines"

    def __init__(self, text: str) -> None:
        self.lines = cgen_literal_lines(text)


class LiteralBlock(LiteralLines):
    """Like `LiteralLines`, in braces."""

    _kind = "literal_block"
    mapper_method = "map_literal_block"


class Collection(Block):
    """Nodes one after another."""

    _kind = "collection"


Module = Collection


def _conditional_lines(
    directive: str, condition: str, lines: Iterable[_Node], else_lines: Iterable[_Node]
) -> list[_Node]:
    otherwise = list(else_lines)
    if otherwise:
        otherwise.insert(0, Line("#else"))
    return [Line(f"#{directive} {condition}"), *lines, *otherwise, Line("#endif")]


class IfDef(Module):
    """Nodes for a macro that is defined, and others for one that is not."""

    mapper_method = "map_ifdef"

    def __init__(self, condition: _Node, iflines: Iterable[_Node], elselines: Iterable[_Node]) -> None:
        super().__init__(_conditional_lines("ifdef", condition, iflines, elselines))


class IfNDef(Module):
    """Nodes for a macro that is not defined, and others for one that is."""

    mapper_method = "map_ifndef"

    def __init__(self, condition: _Node, ifndeflines: Iterable[_Node], elselines: Iterable[_Node]) -> None:
        super().__init__(_conditional_lines("ifndef", condition, ifndeflines, elselines))


class PrivateNamespace(Block):
    """Nodes in a namespace named after their text, with a ``using`` directive for it."""

    _kind = "private_namespace"

    def get_namespace_name(self) -> str:
        """The name of the namespace, derived from its contents."""
        lines = (line for item in self.contents for line in Collection([item]).generate())
        return f"private_namespace_{hashlib.md5(''.join(lines).encode(), usedforsecurity=False).hexdigest()}"
