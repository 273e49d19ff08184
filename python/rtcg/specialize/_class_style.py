"""Stencils as classes whose method `kernel` loops over points, as those of Sepya and stencil_code do.

The method runs once, on grids and points that record what it does. What it records becomes the text of a function of
relative indices, which is compiled as any other stencil.
"""

from __future__ import annotations

import inspect
import itertools
import linecache
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from rtcg._conversions import as_integer
from rtcg._messages import shown
from rtcg.specialize._stencil import StencilFunction, stencil

if TYPE_CHECKING:
    from collections.abc import Iterator

_number = itertools.count()


class Stencil:
    """A stencil as a class: a subclass defines ``kernel(self, in_grid, ..., out_grid)``, and an instance is called with
    the input grids.

    The method loops over ``self.interior_points(out_grid)``, and in that loop over ``self.neighbors(x, k)``. Grids are
    read at points, and grids that are written to are the results, which begin as zeros. The method cannot decide by the
    values of grids: write ``numpy.where``.

    Parameters
    ----------
    boundary, constant, halo, fallback
        As of `stencil`, with other defaults: points whose neighbours are not all inside are not computed and are 0.

    Attributes
    ----------
    neighbourhoods : dict
        Offsets by number, for ``self.neighbors(x, k)``: a subclass may set it, for example
        ``neighbourhoods = {0: [(0, 1), (0, -1)]}``. A number without an entry is a radius: all points, other than `x`,
        with a sum of distances along the axes of at most that.

    Examples
    --------
    >>> import numpy as np
    >>> import rtcg.autoinit
    >>> from rtcg.specialize import Stencil
    >>> class Sum(Stencil):
    ...     def kernel(self, in_grid, out_grid):
    ...         for x in self.interior_points(out_grid):
    ...             for y in self.neighbors(x, 1):
    ...                 out_grid[x] += in_grid[y]
    >>> Sum()(np.ones((3, 3), np.float32)).get()
    array([[0., 0., 0.],
           [0., 4., 0.],
           [0., 0., 0.]], dtype=float32)
    """

    neighbourhoods: dict[int, list[tuple[int, ...]]] = {}

    def __init__(
        self,
        boundary: str = "interior",
        constant: complex | None = None,
        halo: str | None = None,
        fallback: bool = False,
    ) -> None:
        if halo is None and boundary == "interior":
            halo = "zero"
        self._options: dict[str, Any] = {
            "boundary": boundary, "constant": constant, "halo": halo, "fallback": fallback
        }  # fmt: skip
        stencil(**self._options)  # Raises for options that do not fit.
        self._functions: dict[int, StencilFunction] = {}

    def kernel(self, *grids: Any) -> None:
        """What a subclass defines: input grids, then output grids."""
        raise NotImplementedError(f"{type(self).__name__} does not define kernel(self, in_grid, ..., out_grid)")

    def interior_points(self, grid: Any) -> Iterator[Any]:
        """The points that are computed; to be used in `kernel` only."""
        if not isinstance(grid, _Grid):
            raise TypeError(f"grid is {shown(grid)}; expected a grid of the kernel")
        yield _Point(grid.trace, (0,) * grid.trace.ndim)

    def neighbors(self, point: Any, k: int = 1) -> Iterator[Any]:
        """The points around one: those of ``neighbourhoods[k]``, or all in a distance of `k`."""
        if not isinstance(point, _Point):
            raise TypeError(f"point is {shown(point)}; expected a point of interior_points")
        offsets = self.neighbourhoods.get(k)
        if offsets is None:
            radius = as_integer("k", k, 0)
            every = itertools.product(range(-radius, radius + 1), repeat=point.trace.ndim)
            offsets = [offset for offset in every if 0 < sum(map(abs, offset)) <= radius]
        for offset in offsets:
            yield point + offset

    def distance(self, x: Any, y: Any) -> float:
        """The Euclidean distance of two points, a number that is known when the stencil is compiled."""
        return math.dist(x.offset, y.offset)

    def __call__(self, *args: Any, out: Any = None) -> Any:
        """The results for input grids, as `StencilFunction.__call__` returns them."""
        return self.function(_ndim_of(args))(*args, out=out)

    def iterate(self, *args: Any, steps: int | None = None) -> Any:
        """As `StencilFunction.iterate`."""
        return self.function(_ndim_of(args)).iterate(*args, steps=steps)

    def function(self, ndim: int) -> StencilFunction:
        """The stencil of relative indices for grids of so many axes, made once."""
        found = self._functions.get(ndim)
        if found is None:
            found = self._functions[ndim] = stencil(**self._options)(self._translate(ndim))
        return found

    def __getstate__(self) -> dict[str, Any]:
        # Functions are made again where they are needed.
        return {**vars(self), "_functions": {}}

    def _translate(self, ndim: int) -> Any:
        names = list(inspect.signature(self.kernel).parameters)
        trace = _Trace(ndim)
        grids = [_Grid(trace, name) for name in names]
        self.kernel(*grids)
        outputs = [grid for grid in grids if grid.value is not None]
        inputs = [grid.name for grid in grids if grid.value is None]
        if not outputs or not inputs:
            text = f"{type(self).__name__}.kernel reads {len(inputs)} grid(s) and writes {len(outputs)}"
            raise TypeError(f"{text}; expected at least one of each")
        results = ", ".join(str(grid.value) for grid in outputs)
        lines = [f"def {type(self).__name__}({', '.join(inputs)}):", *trace.lines, f"    return {results}"]
        file = f"<stencil {type(self).__name__} {next(_number)}>"
        text = "\n".join(lines) + "\n"
        linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
        scope: dict[str, Any] = {"numpy": np}
        exec(compile(text, file, "exec"), scope)
        return scope[type(self).__name__]


def _ndim_of(args: tuple[Any, ...]) -> int:
    return next((np.ndim(arg) for arg in args if np.ndim(arg)), 0)


class _Trace:
    """The statements that were recorded."""

    def __init__(self, ndim: int) -> None:
        self.ndim, self.lines = ndim, list[str]()

    def assign(self, text: str) -> _Value:
        """A name for an expression, so that expressions do not grow."""
        name = f"v{len(self.lines)}"
        self.lines.append(f"    {name} = {text}")
        return _Value(self, name)


class _Point:
    """A point at a known offset from the one that is computed."""

    def __init__(self, trace: _Trace, offset: tuple[int, ...]) -> None:
        self.trace, self.offset = trace, offset

    def __add__(self, by: Any) -> _Point:
        parts = by if isinstance(by, tuple) else (by,)
        if len(parts) != len(self.offset):
            raise ValueError(f"an offset is {shown(by)}; expected {len(self.offset)} integers, one for each axis")
        moved = zip(self.offset, parts, strict=True)
        return _Point(self.trace, tuple(at + as_integer("an offset", part) for at, part in moved))


class _Grid:
    """A grid: it is read at points, or written to at the point that is computed."""

    def __init__(self, trace: _Trace, name: str) -> None:
        self.trace, self.name = trace, name
        self.value: Any = None

    def __getitem__(self, point: Any) -> Any:
        self._check(point)
        if self.value is not None:
            return self.value
        return _Element(self.trace, f"{self.name}[{', '.join(map(str, point.offset))}]", self)

    def __setitem__(self, point: Any, value: Any) -> None:
        self._check(point)
        if any(point.offset):
            raise TypeError(f"{self.name} is written to at a neighbour; expected the point of interior_points")
        if isinstance(value, _Begun) and value.grid is self and self.value is None:
            # The first `out[x] += ...`: what was read is the zero that the result begins as.
            self.trace.lines.pop()
            value = self.trace.assign(f"0 {value.step}")
        self.value = value if isinstance(value, _Value) else _Value(self.trace, _text(value))

    def _check(self, point: Any) -> None:
        if not isinstance(point, _Point):
            raise TypeError(
                f"{self.name} is indexed with {shown(point)}; expected a point of interior_points or neighbors"
            )


def _text(value: Any) -> str:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, _Value):
        return str(value)
    if isinstance(value, (bool, int, float, complex)):
        return f"({value!r})"
    raise TypeError(f"an operand is {shown(value)}; expected a number or an element of a grid")


class _Value:
    """A number that is not known yet."""

    def __init__(self, trace: _Trace, text: str) -> None:
        self.trace, self.text = trace, text

    def __str__(self) -> str:
        return self.text

    def __bool__(self) -> bool:
        raise TypeError("a kernel cannot decide by an element of a grid; write numpy.where(condition, a, b)")

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if method != "__call__" or kwargs:
            return NotImplemented
        return self.trace.assign(f"numpy.{ufunc.__name__}({', '.join(map(_text, inputs))})")

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if function is not np.where or kwargs:
            return NotImplemented
        return self.trace.assign(f"numpy.where({', '.join(map(_text, args))})")

    def __neg__(self) -> _Value:
        return self.trace.assign(f"-{self}")

    def __abs__(self) -> _Value:
        return self.trace.assign(f"abs({self})")


class _Element(_Value):
    """An element of a grid."""

    def __init__(self, trace: _Trace, text: str, grid: _Grid) -> None:
        super().__init__(trace, text)
        self.grid = grid


class _Begun(_Value):
    """An element of a grid to which something was added in place."""

    def __init__(self, value: _Value, grid: _Grid, step: str) -> None:
        super().__init__(value.trace, value.text)
        self.grid, self.step = grid, step


def _in_place(symbol: str) -> Any:
    def apply(self: _Element, other: Any) -> _Begun:
        step = f"{symbol} {_text(other)}"
        return _Begun(self.trace.assign(f"{self} {step}"), self.grid, step)

    return apply


def _operator(symbol: str, is_reversed: bool) -> Any:
    def apply(self: _Value, other: Any) -> Any:
        if not isinstance(other, (_Value, bool, int, float, complex, np.generic)):
            return NotImplemented
        left, right = (_text(other), str(self)) if is_reversed else (str(self), _text(other))
        return self.trace.assign(f"{left} {symbol} {right}")

    return apply


for _name, _symbol in {
    "add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "pow": "**",
    "and": "&", "or": "|", "xor": "^",
}.items():  # fmt: skip
    setattr(_Value, f"__{_name}__", _operator(_symbol, False))
    setattr(_Value, f"__r{_name}__", _operator(_symbol, True))
    setattr(_Element, f"__i{_name}__", _in_place(_symbol))
for _name, _symbol in {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!="}.items():
    setattr(_Value, f"__{_name}__", _operator(_symbol, False))
