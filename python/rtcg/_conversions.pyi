import inspect
from collections.abc import Callable, Mapping, MutableMapping
from typing import Any, TypeVar

import numpy as np

from rtcg._messages import shown as shown

_Function = TypeVar("_Function", bound=Callable[..., Any])

def as_integer(name: str, value: Any, least: int | None = None, expected: str | None = None) -> int:
    """`value` as an int of at least `least` that fits 64 bits."""

def as_float(name: str, value: Any, expected: str = "a number") -> float:
    """`value` as a float; texts are no numbers."""

def as_flag(name: str, value: Any) -> bool:
    """`value` as a bool: True or False of Python or NumPy, or 1 or 0."""

def as_text(name: str, value: Any, expected: str = "a str") -> str:
    """`value`, which must be a str."""

def as_dtype(name: str, value: Any) -> np.dtype[Any] | None:
    """The NumPy dtype that `value` names; None stays None."""

def as_list(name: str, value: Any, convert: Callable[..., Any], expected: str, may_be_empty: bool = False) -> list[Any]:
    """One value, or a sequence of them, as a list of what `convert`, a function of this module, makes of each."""

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
    """A generator of random numbers: `value`, or one of that seed."""

def convert_arguments(
    converters: Mapping[str, Callable[[str, Any], Any]],
    parameters: Mapping[str, inspect.Parameter],
    values: MutableMapping[str, Any],
) -> None:
    """Passes values by the names of parameters through their functions of this module; a default stays as it is."""

def converts(**converters: Callable[[str, Any], Any]) -> Callable[[_Function], _Function]:
    """Makes a function convert its arguments first; names that are no parameters of it are passed over."""
