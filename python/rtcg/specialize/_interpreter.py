"""Stencils run by Python's interpreter on NumPy arrays.

The function is called once with whole arrays where it can be: a read is then the field, moved by the offset. A function
with conditions is called for each element.
"""

from __future__ import annotations

import functools
import itertools
import math
import types
from typing import TYPE_CHECKING, Any

import numpy as np

from rtcg._messages import shown
from rtcg.copperhead._function import CuFunction

if TYPE_CHECKING:
    from collections.abc import Callable

_WEAK = (bool, int, float, complex)

#: NumPy's functions for those of `math`; others keep Python's meaning.
_MATH_NAMES = {
    "acos": "arccos", "acosh": "arccosh", "asin": "arcsin", "asinh": "arcsinh", "atan": "arctan", "atan2": "arctan2",
    "atanh": "arctanh", "degrees": "rad2deg", "pow": "float_power", "radians": "deg2rad",
}  # fmt: skip
_MATH = {
    name: getattr(np, _MATH_NAMES.get(name, name), value)
    for name, value in vars(math).items()
    if not name.startswith("_") and name not in ("ceil", "floor", "trunc", "remainder", "prod", "dist", "gcd", "lcm")
}


def _for_numbers(function: Callable[..., Any], of_python: Any) -> Callable[..., Any]:
    """NumPy's function of NumPy's numbers, and Python's of Python's, whose results adapt to what they meet."""

    def call(*args: Any) -> Any:
        is_numpy = any(isinstance(arg, (np.generic, np.ndarray)) for arg in args)
        return (function if is_numpy else of_python)(*args)

    return call


_MATH = {name: _for_numbers(value, vars(math)[name]) if callable(value) else value for name, value in _MATH.items()}
_MATH_FUNCTIONS = {vars(math)[name]: value for name, value in _MATH.items() if callable(value)}


def _extremum(combine: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    def of(*values: Any) -> Any:
        return functools.reduce(combine, values[0] if len(values) == 1 else values)

    return of


_BUILTINS = {**vars(__import__("builtins")), "min": _extremum(np.minimum), "max": _extremum(np.maximum)}


def plain(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function with NumPy's functions for those of `math`, and with the functions themselves for programs."""
    made: dict[int, types.FunctionType] = {}

    def substitute(value: Any) -> Any:
        if isinstance(value, CuFunction):
            return copy(value.__wrapped__)
        if value is math:
            return types.SimpleNamespace(**_MATH)
        return _MATH_FUNCTIONS.get(value, value) if isinstance(value, types.BuiltinFunctionType) else value

    def copy(function: Any) -> types.FunctionType:
        if id(function) in made:
            return made[id(function)]
        scope: dict[str, Any] = {"__builtins__": _BUILTINS, "__name__": function.__module__}
        cells = tuple(types.CellType() for _ in function.__closure__ or ())
        new = types.FunctionType(function.__code__, scope, function.__name__, function.__defaults__, cells or None)
        made[id(function)] = new
        scope.update(
            (name, substitute(value)) for name, value in function.__globals__.items() if name != "__builtins__"
        )
        for cell, old in zip(cells, function.__closure__ or (), strict=True):
            try:
                cell.cell_contents = substitute(old.cell_contents)
            except ValueError:  # The variable has no value yet.
                continue
        return new

    return copy(function)


class _Grid:
    """What fields have in common: the border, and which offsets were read."""

    def __init__(self, shape: tuple[int, ...], boundary: str, constant: Any) -> None:
        self.shape, self.boundary, self.constant = shape, boundary, constant
        self.low, self.high = [0] * len(shape), [0] * len(shape)

    def offsets(self, index: Any) -> tuple[int, ...]:
        """The offsets that a field is indexed with."""
        parts = index if isinstance(index, tuple) else (index,)
        if len(parts) != len(self.shape):
            raise TypeError(f"a field of {len(self.shape)} axes is indexed with {len(parts)} offset(s)")
        if not all(isinstance(part, (int, np.integer)) for part in parts):
            raise TypeError(f"a field is indexed with {shown(index)}; expected integers")
        found = tuple(int(part) for part in parts)
        for axis, offset in enumerate(found):
            self.low[axis], self.high[axis] = max(self.low[axis], -offset), max(self.high[axis], offset)
        return found

    def place(self, at: Any, length: int) -> Any:
        """Where indices that may be beyond a border lie."""
        if self.boundary == "wrap":
            return at % length
        if self.boundary == "reflect":
            at = at % (2 * length)
            return np.where(at < length, at, 2 * length - 1 - at)
        return np.clip(at, 0, length - 1)

    def inner(self) -> tuple[slice, ...]:
        """The elements whose reads are all inside."""
        return tuple(
            slice(low, max(low, n - high)) for n, low, high in zip(self.shape, self.low, self.high, strict=True)
        )


class _WholeField:
    """A field whose reads are arrays: all elements at an offset."""

    def __init__(self, values: np.ndarray[Any, Any], grid: _Grid) -> None:
        self.values, self.grid = values, grid

    def __getitem__(self, index: Any) -> Any:
        grid = self.grid
        places = [np.arange(n) + offset for n, offset in zip(grid.shape, grid.offsets(index), strict=True)]
        found = self.values[np.ix_(*(grid.place(at, n) for at, n in zip(places, grid.shape, strict=True)))]
        if grid.boundary == "constant":
            inside = [(at >= 0) & (at < n) for at, n in zip(places, grid.shape, strict=True)]
            found[~functools.reduce(np.logical_and, np.meshgrid(*inside, indexing="ij", sparse=True))] = grid.constant
        return found


class _FieldAt:
    """A field whose reads are numbers, next to the element at `at`."""

    def __init__(self, values: np.ndarray[Any, Any], grid: _Grid, at: list[int]) -> None:
        self.values, self.grid, self.at = values, grid, at
        self.constant = values.dtype.type(grid.constant) if grid.boundary == "constant" else None

    def __getitem__(self, index: Any) -> Any:
        grid = self.grid
        places = [at + offset for at, offset in zip(self.at, grid.offsets(index), strict=True)]
        if self.constant is not None and not all(0 <= at < n for at, n in zip(places, grid.shape, strict=True)):
            return self.constant
        return self.values[tuple(int(grid.place(at, n)) for at, n in zip(places, grid.shape, strict=True))]


def run(function: Callable[..., Any], args: tuple[Any, ...], boundary: str, halo: str, constant: Any) -> Any:
    """The results of a stencil: NumPy arrays. Arguments are arrays with axes, which are fields, and numbers."""
    fields = [arg for arg in args if isinstance(arg, np.ndarray) and arg.ndim]
    if not fields:
        raise TypeError(f"{function.__name__} is given no field; expected at least one array")
    shape = fields[0].shape
    for field in fields:
        if field.shape != shape:
            raise ValueError(f"a field has shape {field.shape}; expected {shape}, that of the first field")
    grid = _Grid(shape, boundary, constant)
    made = plain(function)
    with np.errstate(all="ignore"):
        try:
            found = made(*_wrapped(args, lambda values: _WholeField(values, grid)))
            results = _as_tuple(found)
            arrays = [np.broadcast_to(np.asarray(result), shape).copy() for result in results]
        except (TypeError, ValueError):
            found, arrays = _element_by_element(made, args, grid)
    if boundary == "interior":
        inner = grid.inner()
        arrays = [_with_halo(array, fields, at, inner, halo) for at, array in enumerate(arrays)]
    return tuple(arrays) if isinstance(found, tuple) else arrays[0]


def _wrapped(args: tuple[Any, ...], wrap: Callable[[Any], Any]) -> list[Any]:
    return [wrap(arg) if isinstance(arg, np.ndarray) and arg.ndim else arg for arg in args]


def _as_tuple(found: Any) -> tuple[Any, ...]:
    return found if isinstance(found, tuple) else (found,)


def _element_by_element(function: Callable[..., Any], args: tuple[Any, ...], grid: _Grid) -> tuple[Any, list[Any]]:
    at = [0] * len(grid.shape)
    wrapped = _wrapped(args, lambda values: _FieldAt(values, grid, at))
    rows = []
    found: Any = None
    for place in itertools.product(*map(range, grid.shape)):
        at[:] = place
        found = function(*wrapped)
        rows.append(_as_tuple(found))
    if not rows:
        return None, [np.empty(grid.shape)]
    return found, [_joined(column).reshape(grid.shape) for column in zip(*rows, strict=True)]


def _joined(values: tuple[Any, ...]) -> np.ndarray[Any, Any]:
    """Numbers as an array of the dtype that they have together, in which those of Python adapt."""
    kinds = {
        type(value)(0) if isinstance(value, _WEAK) and not isinstance(value, np.generic) else value.dtype
        for value in values
    }
    return np.array(values, np.result_type(*kinds))


def _with_halo(
    array: np.ndarray[Any, Any], fields: list[np.ndarray[Any, Any]], at: int, inner: tuple[slice, ...], halo: str
) -> np.ndarray[Any, Any]:
    source = fields[at if at < len(fields) else 0]
    is_copied = halo == "copy" and not (source.dtype.kind == "c" and array.dtype.kind != "c")
    found = source.astype(array.dtype) if is_copied else np.zeros_like(array)
    found[inner] = array[inner]
    return found
