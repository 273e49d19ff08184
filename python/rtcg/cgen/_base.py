"""The base classes of all nodes."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeAlias

from rtcg._native import cgen_declarator, cgen_lines, cgen_text

if TYPE_CHECKING:
    from typing_extensions import Self

# Any object is a node: by `generate`, or by its text.
_Node: TypeAlias = Any

_recording = False


@contextmanager
def line_numbers() -> Iterator[None]:
    """A context manager that records, for every node built inside it, the file and line that built it.

    Items of a `Block` or `Module` are then printed after a ``#line``, so that compiler messages name the line of the
    Python program. The text then differs from cgen's.
    """
    global _recording
    before, _recording = _recording, True
    try:
        yield
    finally:
        _recording = before


def _caller() -> tuple[str, int]:
    frame = sys._getframe(2)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("rtcg.cgen"):
        frame = frame.f_back
    return frame.f_code.co_filename, frame.f_lineno


class Generable:
    """A construct of C. Subclasses define `generate`; those of this package name in ``_kind`` the native node that
    prints them.
    """

    _kind: str | None = None
    _position: tuple[str, int] | None = None

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        node = super().__new__(cls)
        if _recording:
            node._position = _caller()
        return node

    def __str__(self) -> str:
        return cgen_text(self)

    def generate(self, with_semicolon: bool | None = None) -> Iterator[str]:
        """The lines of the construct; `with_semicolon` None is the default of the construct."""
        yield from cgen_lines(self, with_semicolon)


class Declarator(Generable):
    """A construct that declares something. Subclasses define `get_decl_pair`."""

    def get_decl_pair(self) -> tuple[list[str], str | None]:
        """A list of one or more lines of the type, and the text after them or None."""
        return cgen_declarator(self)

    def inline(self, with_semicolon: bool = False) -> str:
        """The declarator on one line."""
        lines, declarator = self.get_decl_pair()
        text = " ".join(lines) if declarator is None else f"{' '.join(lines)} {declarator}"
        return text + ";" if with_semicolon else text

    def struct_format(self) -> str:
        """The format in the module `struct` for a member of a structure."""
        raise NotImplementedError(f"{type(self).__name__} has no format")

    def alignment_requirement(self) -> int:
        """The alignment in bytes as a member of a structure."""
        raise NotImplementedError(f"{type(self).__name__} has no alignment")

    def struct_maker_code(self, data: str) -> str:
        """The argument of `struct.pack` for this member, as Python text, where `data` is the text of its value."""
        raise NotImplementedError(f"{type(self).__name__} cannot be a member")

    def default_value(self) -> Any:
        """The value of a member that is not given."""
        raise NotImplementedError(f"{type(self).__name__} has no default value")
