import inspect
from collections.abc import Callable, Mapping, MutableMapping
from typing import Any, TypeVar

import numpy as np

from rtcg._messages import shown as shown

_Function = TypeVar("_Function", bound=Callable[..., Any])

def as_integer(name: str, value: Any, least: int | None = None, expected: str | None = None) -> int:
    """`value` as an int of at least `least` that fits 64 bits."""

def as_float(name: str, value: Any, expected: str = "a number") -> float:
    """`value` as a float; text is not a number."""

def as_flag(name: str, value: Any) -> bool:
    """`value` as a bool: True or False of Python or NumPy, 1 or 0."""

def as_text(name: str, value: Any, expected: str = "a str") -> str:
    """`value`, which must be a str."""

def as_dtype(name: str, value: Any) -> np.dtype[Any] | None:
    """The NumPy dtype that `value` names; None remains None."""

def as_list(name: str, value: Any, convert: Callable[..., Any], expected: str, may_be_empty: bool = False) -> list[Any]:
    """One value or a sequence as a list, with `convert`, a function of this module, applied to each element."""

def as_number(name: str, value: Any) -> Any:
    """`value`, which must be a number of Python or NumPy, or an array without axes."""

def as_sequence(name: str, value: Any) -> Any:
    """`value`, which must be an array with axes, a list or the like."""

def as_mapping(name: str, value: Any) -> Any:
    """`value`, which must be a dict or the like."""

def as_callable(name: str, value: Any) -> Any:
    """`value`, which must be a function or the like."""

def as_path(name: str, value: Any) -> Any:
    """`value`, which must be the path of a file or folder."""

def as_rng(name: str, value: Any) -> np.random.Generator:
    """A random number generator: `value` itself, or one with that seed."""

def convert_arguments(
    converters: Mapping[str, Callable[[str, Any], Any]],
    parameters: Mapping[str, inspect.Parameter],
    values: MutableMapping[str, Any],
) -> None:
    """Convert values with the functions that are given for their parameters; defaults are unchanged."""

def converts(**converters: Callable[[str, Any], Any]) -> Callable[[_Function], _Function]:
    """Make a function convert its arguments first; names that are not among its parameters are ignored."""
