"""The effects of a configuration's values: macros of the source, and grid, block and shared memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rtcg import _native
from rtcg._conversions import as_sequence
from rtcg._messages import shown
from rtcg.tune._runner import CandidateError

if TYPE_CHECKING:
    from rtcg._native import Expression


def expressions_of(what: str, parts: int | str | Sequence[int | str]) -> tuple[Expression | int, ...]:
    """Grid, block or shared memory (`what`) as a tuple of integers and expressions of parameters."""
    parts = (parts,) if isinstance(parts, (int, str)) else tuple(as_sequence(what, parts))
    for part in parts:
        if not isinstance(part, (str, int, np.integer)):
            raise TypeError(f"{what} is {shown(parts)}; expected integers or expressions")
    if what != "shared" and not 1 <= len(parts) <= 3:
        raise ValueError(f"{what} is {shown(parts)}; expected one to three numbers or expressions")
    return tuple(_native.Expression(part) if isinstance(part, str) else int(part) for part in parts)


def macros_of(name: str, value: Any) -> list[str]:
    """The macro definitions for a parameter's value, one for each part of a tuple."""
    if isinstance(value, tuple):
        return [f"{name}_{place} {_literal(item)}" for place, item in enumerate(value)]
    return [f"{name} {_literal(value)}"]


def _literal(value: object) -> str:
    return str(int(value)) if isinstance(value, bool) else str(value)


def evaluated(part: str, expressions: Sequence[Expression | int], known: dict[str, Any]) -> tuple[int, ...]:
    """The numbers of `part` (block, grid or shared) for names with the values in `known`."""
    numbers = []
    for expression in expressions:
        number = expression(known) if isinstance(expression, _native.Expression) else expression
        if not float(number).is_integer() or number < (part != "shared"):
            raise CandidateError("constraints", f"{part} has {shown(number)} of {expression}; expected an integer")
        numbers.append(int(number))
    return tuple(numbers)
