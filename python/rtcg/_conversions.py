"""Conversion of arguments to Python numbers, flags, names and dtypes; errors name the argument, its value and what was
expected.
"""

from __future__ import annotations

import functools
import inspect
import numbers
import operator
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from rtcg._messages import shown as shown

if TYPE_CHECKING:
    from collections.abc import Callable, MutableMapping
    from typing import TypeVar

    _Function = TypeVar("_Function", bound=Callable[..., Any])


def as_integer(name: str, value: Any, least: int | None = None, expected: str | None = None) -> int:
    """`value` as an int of at least `least` that fits 64 bits."""
    expected = expected or ("an integer" if least is None else f"an integer of at least {least}")
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} is {shown(value)}; expected {expected}") from None
    if not (-(2**63) if least is None else least) <= number < 2**63:
        beyond = " below 2**63" if number >= 2**63 else ""
        raise ValueError(f"{name} is {number}; expected {expected}{beyond}")
    return number


def as_float(name: str, value: Any, expected: str = "a number") -> float:
    """`value` as a float; text is not a number."""
    try:
        if isinstance(value, (str, bytes)):
            raise TypeError
        return float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{name} is {shown(value)}; expected {expected}") from None
    except OverflowError:
        raise ValueError(f"{name} is {shown(value)}; expected {expected} that float64 has") from None


def as_flag(name: str, value: Any) -> bool:
    """`value` as a bool: True or False of Python or NumPy, 1 or 0."""
    if isinstance(value, (bool, np.bool_)) or (isinstance(value, (int, np.integer)) and value in (0, 1)):
        return bool(value)
    raise TypeError(f"{name} is {shown(value)}; expected True or False")


def as_text(name: str, value: Any, expected: str = "a str") -> str:
    """`value`, which must be a str."""
    if not isinstance(value, str):
        raise TypeError(f"{name} is {shown(value)}; expected {expected}")
    return value


def as_dtype(name: str, value: Any) -> np.dtype[Any] | None:
    """The NumPy dtype that `value` names; None remains None."""
    try:
        return None if value is None else np.dtype(value)
    except (TypeError, ValueError):
        raise TypeError(f"{name} is {shown(value)}; expected a dtype, such as 'float32'") from None


def as_list(name: str, value: Any, convert: Callable[..., Any], expected: str, may_be_empty: bool = False) -> list[Any]:
    """One value or a sequence as a list, with `convert`, a function of this module, applied to each element."""
    try:
        is_one = isinstance(value, (str, bytes, dict)) or np.ndim(value) == 0
        values = [value] if is_one else list(value)
    except (TypeError, ValueError):
        raise TypeError(f"{name} is {shown(value)}; expected {expected}") from None
    if not values and not may_be_empty:
        raise ValueError(f"{name} is {shown(value)}; expected {expected}")
    return [convert(name, item, expected=expected) for item in values]


def as_number(name: str, value: Any) -> Any:
    """`value`, which must be a number of Python or NumPy, or an array without axes."""
    if isinstance(value, numbers.Number) or (getattr(value, "shape", None) == () and hasattr(value, "dtype")):
        return value
    raise TypeError(f"{name} is {shown(value)}; expected a number")


def as_sequence(name: str, value: Any) -> Any:
    """`value`, which must be an array with axes, a list or the like."""
    is_iterable = hasattr(value, "__iter__") or hasattr(value, "__getitem__")
    if isinstance(value, (str, bytes, dict)) or not hasattr(value, "__len__") or not is_iterable:
        raise TypeError(f"{name} is {shown(value)}; expected a sequence")
    return value


def as_mapping(name: str, value: Any) -> Any:
    """`value`, which must be a dict or the like."""
    if not isinstance(value, Mapping):
        raise TypeError(f"{name} is {shown(value)}; expected a dict")
    return value


def as_callable(name: str, value: Any) -> Any:
    """`value`, which must be a function or the like."""
    if not callable(value):
        raise TypeError(f"{name} is {shown(value)}; expected a callable")
    return value


def as_path(name: str, value: Any) -> Any:
    """`value`, which must be the path of a file or folder."""
    if not isinstance(value, (str, os.PathLike)):
        raise TypeError(f"{name} is {shown(value)}; expected a path")
    return value


def as_rng(name: str, value: Any) -> np.random.Generator:
    """A random number generator: `value` itself, or one with that seed."""
    try:
        return np.random.default_rng(value)
    except (TypeError, ValueError):
        raise TypeError(f"{name} is {shown(value)}; expected a seed or a numpy.random.Generator") from None


def convert_arguments(
    converters: Mapping[str, Callable[[str, Any], Any]],
    parameters: Mapping[str, inspect.Parameter],
    values: MutableMapping[str, Any],
) -> None:
    """Convert values with the functions that are given for their parameters; defaults are unchanged."""
    for name, convert in converters.items():
        if name in values and values[name] is not parameters[name].default:
            values[name] = convert(name, values[name])


def converts(**converters: Callable[[str, Any], Any]) -> Callable[[_Function], _Function]:
    """Make a function convert its arguments first; names that are not among its parameters are ignored."""

    def decorate(function: Any) -> Any:
        signature = inspect.signature(function)

        @functools.wraps(function)
        def converting(*args: Any, **keywords: Any) -> Any:
            try:
                bound = signature.bind(*args, **keywords)
            except TypeError as error:
                raise TypeError(f"{function.__name__}() {error}") from None
            convert_arguments(converters, signature.parameters, bound.arguments)
            return function(*bound.args, **bound.kwargs)

        return converting

    return decorate
