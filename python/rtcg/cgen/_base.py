"""What all nodes share."""

import sys
from contextlib import contextmanager

from rtcg._native import cgen_declarator, cgen_lines, cgen_text

_recording = False


@contextmanager
def line_numbers():
    """A context manager that records for every node built inside which line of which file built it.

    Printed as items of a `Block` or `Module`, such nodes follow a ``#line``, so that messages of the compiler name
    the line of the Python program. Text is not cgen's any more.
    """
    global _recording
    before, _recording = _recording, True
    try:
        yield
    finally:
        _recording = before


def _caller():
    frame = sys._getframe(2)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("rtcg.cgen"):
        frame = frame.f_back
    return frame.f_code.co_filename, frame.f_lineno


class Generable:
    """A construct of C. Subclasses define `generate`; ours say by ``_kind`` which native node prints them."""

    _kind = None
    _position = None

    def __new__(cls, *args, **kwargs):
        node = super().__new__(cls)
        if _recording:
            node._position = _caller()
        return node

    def __str__(self):
        return cgen_text(self)

    def generate(self, with_semicolon=None):
        """The lines of the construct; `with_semicolon` None is the construct's own way."""
        yield from cgen_lines(self, with_semicolon)


class Declarator(Generable):
    """A construct that declares something. Subclasses define `get_decl_pair`."""

    def get_decl_pair(self):
        """A list of one or more lines of the type, and the text behind them or None."""
        return cgen_declarator(self)

    def inline(self, with_semicolon=False):
        """The declarator in one line."""
        lines, declarator = self.get_decl_pair()
        text = " ".join(lines) if declarator is None else f"{' '.join(lines)} {declarator}"
        return text + ";" if with_semicolon else text

    def struct_format(self):
        """The format of the module `struct` for a member of a structure."""
        raise NotImplementedError(f"{type(self).__name__} has no format")

    def alignment_requirement(self):
        """Alignment in bytes as a member of a structure."""
        raise NotImplementedError(f"{type(self).__name__} has no alignment")

    def struct_maker_code(self, data):
        """What `struct.pack` takes for this member, as Python's text, where `data` is the text of its value."""
        raise NotImplementedError(f"{type(self).__name__} cannot be a member")

    def default_value(self):
        """The value of a member that none was given for."""
        raise NotImplementedError(f"{type(self).__name__} has no default value")
