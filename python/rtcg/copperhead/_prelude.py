"""The prelude: the functions that programs are made of, as plain Python functions.

They define what a program means: at `places.here` Python runs them as they are. Sequences are lists (arrays, ragged
sequences and iterators are taken too) and results are new lists; nothing is changed in place. All of them run at once
and on the host; of their arguments they wait only for arrays on the device.

Edges follow the original Copperhead's definitions in Python: a shift by more than the length has as many elements as it
shifts by, an exclusive scan of nothing has one element, and `sort` with ``<=`` reverses equal elements.
"""

from __future__ import annotations

import builtins as _py
import functools as _functools
import operator as _operator
from collections.abc import Callable as _Callable
from typing import Any as _Any

import numpy as _np

from rtcg._messages import shown as _shown
from rtcg.copperhead._values import (
    WEAK_TYPES as _WEAK_TYPES,
    Sequence as _Sequence,
    UnknownElementError as _UnknownElementError,
    adapted as _adapted,
    as_sequence as _as_sequence,
    index_of as _index_of,
    is_sequence as _is_sequence,
    sample_of as _sample_of,
    with_common_type as _with_common_type,
)


def _n(items: _Any) -> int:
    return _py.len(items)


# -- element by element -----------------------------------------------------------------------


def map(f: _Callable[..., _Any], *sequences: _Any) -> _Any:
    """The sequence of ``f(x[i], y[i], ...)`` for sequences x, y, ... of one length.

    Raises `ValueError` if the lengths differ (`zip` takes the shortest) and `TypeError` for what is no sequence.

    >>> map(lambda x, y: 2 * x + y, [1, 2], [10, 20])
    [12, 24]
    """
    if not callable(f):
        raise TypeError(f"map: f is {_shown(f)}; expected a function")
    if not sequences:
        raise TypeError("map: expected a function and at least one sequence")
    columns = [_as_sequence("map", sequence) for sequence in sequences]
    lengths = [_n(column) for column in columns]
    if _n(set(lengths)) > 1:
        raise ValueError(f"map: the sequences have the lengths {', '.join(_py.map(str, lengths))}; expected one length")
    # Calls with their arguments in a row nest without the stack of C, which recursion could exhaust.
    match columns:
        case [x]:
            items = [f(xi) for xi in x]
        case [x, y]:
            items = [f(xi, yi) for xi, yi in _py.zip(x, y, strict=True)]
        case [x, y, z]:
            items = [f(xi, yi, zi) for xi, yi, zi in _py.zip(x, y, z, strict=True)]
        case _:
            items = [f(*values) for values in _py.zip(*columns, strict=True)]
    return _Sequence(_with_common_type(items), lambda: f(*_py.map(_sample_of, columns)))


def zip(*sequences: _Any) -> _Any:
    """The sequence of tuples ``(x[i], y[i], ...)``; its length is that of the shortest sequence.

    >>> zip([1, 2, 3], [4, 5])
    [(1, 4), (2, 5)]
    """
    columns = [_as_sequence("zip", sequence) for sequence in sequences]
    return _Sequence(_py.zip(*columns, strict=False), lambda: tuple(_py.map(_sample_of, columns)))


def unzip(x: _Any) -> _Any:
    """The inverse of `zip`: a tuple of sequences from a sequence of tuples; of an empty one without a type, ``()``.

    >>> unzip([(1, 2), (3, 4), (5, 6)])
    ([1, 3, 5], [2, 4, 6])
    """
    items = _as_sequence("unzip", x)
    try:
        sample = _sample_of(items)
    except _UnknownElementError:
        return ()
    if not isinstance(sample, tuple):
        raise TypeError(f"unzip: an element is {_shown(sample)}; expected tuples")
    return tuple(
        _Sequence([item[place] for item in items], _functools.partial(_field_of_sample, items, place))
        for place in _py.range(_n(sample))
    )


def _field_of_sample(items: _Any, place: int) -> _Any:
    return _sample_of(items)[place]


def enumerate(x: _Any) -> _Any:
    """The sequence of pairs ``(i, x[i])``; the indices are int64.

    >>> map(lambda pair: (int(pair[0]), pair[1]), enumerate([5, 7]))
    [(0, 5), (1, 7)]
    """
    return zip(indices(x), x)


def transpose(rows: _Any) -> _Any:
    """The columns of rows of one length, as a sequence of sequences; of no rows, as many as a row would have elements.

    Raises `ValueError` if the rows differ in length.

    >>> transpose([[1, 2, 3], [4, 5, 6]])
    [[1, 4], [2, 5], [3, 6]]
    """
    sequence = _as_sequence("transpose", rows)
    if not sequence:
        return _columns_of_no_rows(sequence)
    lists = [_as_sequence("transpose", row) for row in sequence]
    lengths = {_n(row) for row in lists}
    if _n(lengths) > 1:
        raise ValueError(f"transpose: rows have lengths from {_py.min(lengths)} to {_py.max(lengths)}; expected one")
    return _Sequence(
        (_Sequence(column) for column in _py.zip(*lists, strict=True)),
        lambda: _Sequence([_sample_of(lists[0])] * _n(lists)),
    )


def _columns_of_no_rows(rows: _Any) -> _Any:
    try:
        row = _as_sequence("transpose", _sample_of(rows))
    except _UnknownElementError:
        return _Sequence([])
    columns = [_Sequence([], _functools.partial(_Sequence.__getitem__, row, k)) for k in _py.range(_n(row))]
    return _Sequence(columns, lambda: _Sequence([], lambda: _sample_of(row)))


# -- sequences of indices, and copies of a value ------------------------------------------------


def _as_count(who: str, value: _Any) -> int:
    try:
        return _operator.index(value)
    except TypeError:
        raise TypeError(f"{who} is {_shown(value)}; expected an integer") from None


def len(x: _Any) -> _Any:
    """The length of a sequence, an int64; raises `TypeError` for a number or a tuple.

    >>> int(len([1, 2, 3]))
    3
    """
    if isinstance(x, tuple):
        raise TypeError(f"len: {_shown(x)} is a tuple; expected a sequence")
    return _np.int64(_n(_as_sequence("len", x)))


def range(n: _Any, end: _Any = None) -> _Any:
    """The sequence of the int64 from 0 to ``n - 1``; empty unless n is positive. With `end`, ``bounded_range(n, end)``.

    >>> map(int, range(3))
    [0, 1, 2]
    """
    first, end = (0, _as_count("range: n", n)) if end is None else (n, end)
    return bounded_range(first, end)


def bounded_range(a: _Any, b: _Any) -> _Any:
    """The sequence of the int64 from a to ``b - 1``; empty unless b is greater than a.

    >>> map(int, bounded_range(2, 5))
    [2, 3, 4]
    """
    first, end = _as_count("bounded_range: a", a), _as_count("bounded_range: b", b)
    return _Sequence(_np.arange(first, end, dtype=_np.int64), lambda: _np.int64(0))


def indices(x: _Any) -> _Any:
    """The sequence of the indices of x, int64 from 0 to ``len(x) - 1``.

    >>> map(int, indices([8, 8]))
    [0, 1]
    """
    return range(_n(_as_sequence("indices", x)))


def replicate(value: _Any, n: _Any) -> _Any:
    """A sequence of n copies of a value; empty unless n is positive.

    >>> replicate(True, 3)
    [True, True, True]
    """
    return _Sequence([value] * _as_count("replicate: n", n), lambda: value)


# -- reductions -------------------------------------------------------------------------------


def reduce(f: _Callable[[_Any, _Any], _Any], x: _Any, init: _Any) -> _Any:
    """``f(...f(f(init, x[0]), x[1])..., x[n-1])`` for an associative function f; `init` for an empty sequence.

    Elements may be tuples. At other places elements are combined in another order, but side by side.

    >>> reduce(op_add, [1, 2, 3], 10)
    16
    """
    items = _as_sequence("reduce", x)
    total = init
    for item in items:
        total = f(total, item)
    if not items:
        try:
            return _adapted(init, f(init, _sample_of(items)))
        except Exception:  # There is no type to adapt to, or `f` is not defined for the sample.
            return init
    return total


def sum(x: _Any) -> _Any:
    """The sum of a sequence: 0 if it is empty; an int64 for bools. Integers keep their dtype, and wrap.

    >>> sum([1, 2, 3])
    6
    """
    return reduce(_operator.add, x, 0)


def any(x: _Any) -> _Any:
    """Whether an element is true: a bool of NumPy, false for an empty sequence."""
    return _np.bool_(_py.any(_as_sequence("any", x)))


def all(x: _Any) -> _Any:
    """Whether all elements are true: a bool of NumPy, true for an empty sequence."""
    return _np.bool_(_py.all(_as_sequence("all", x)))


def count(x: _Any) -> _Any:
    """The number of true elements, an int64.

    >>> int(count([True, False, True]))
    2
    """
    return _np.int64(_py.sum(1 for item in _as_sequence("count", x) if item))


def _extreme(who: str, x: _Any, is_better: _Callable[[_Any, _Any], _Any]) -> tuple[int, _Any]:
    """The index and the value of the first element that no other is better than."""
    items = _as_sequence(who, x)
    if not items:
        raise ValueError(f"{who}: the sequence is empty; expected at least one element")
    place = 0
    for i in _py.range(1, _n(items)):
        if is_better(items[i], items[place]):
            place = i
    return place, items[place]


def min(*x: _Any) -> _Any:
    """The least element of a sequence, or of several numbers; raises `ValueError` if the sequence is empty.

    >>> min([3, 1, 4])
    1
    """
    return _extreme("min", x[0] if _n(x) == 1 else _with_common_type([*x]), _operator.lt)[1]


def max(*x: _Any) -> _Any:
    """The greatest element of a sequence, or of several numbers; raises `ValueError` if the sequence is empty.

    >>> max([3, 1, 4])
    4
    """
    return _extreme("max", x[0] if _n(x) == 1 else _with_common_type([*x]), _operator.gt)[1]


def argmax(x: _Any) -> _Any:
    """The tuple of the int64 index and the value of the greatest element, the first of equal ones.

    Raises `ValueError` if the sequence is empty.

    >>> index, value = argmax([3, 9, 4, 9])
    >>> int(index), value
    (1, 9)
    """
    place, value = _extreme("argmax", x, _operator.gt)
    return _np.int64(place), value


def argmin(x: _Any) -> _Any:
    """The tuple of the int64 index and the value of the least element, the first of equal ones.

    Raises `ValueError` if the sequence is empty.
    """
    place, value = _extreme("argmin", x, _operator.lt)
    return _np.int64(place), value


# -- scans ------------------------------------------------------------------------------------


def _scanned(f: _Callable[[_Any, _Any], _Any], items: list[_Any]) -> list[_Any]:
    result = items[:1]
    for item in items[1:]:
        result.append(f(result[-1], item))
    return _with_common_type(result)


def scan(f: _Callable[[_Any, _Any], _Any], x: _Any) -> _Any:
    """The inclusive scan ``x[0], f(x[0], x[1]), f(f(x[0], x[1]), x[2]), ...`` of an associative function.

    The function need not be commutative. A scan of an empty sequence is empty.

    >>> scan(op_add, [1, 2, 3])
    [1, 3, 6]
    """
    items = _as_sequence("scan", x)
    return _Sequence(_scanned(f, [*items]), lambda: _sample_of(items))


def rscan(f: _Callable[[_Any, _Any], _Any], x: _Any) -> _Any:
    """The inclusive scan from the right: that of the reversed sequence, reversed.

    >>> rscan(op_sub, [1, 2, 3, 4])
    [-2, -1, 1, 4]
    """
    items = _as_sequence("rscan", x)
    return _Sequence(_scanned(f, items[::-1])[::-1], lambda: _sample_of(items))


def _joined(value: _Any, items: list[_Any]) -> _Any:
    """A value that becomes an element beside others; weak numbers get their type."""
    try:
        return _adapted(value, _sample_of(items))
    except _UnknownElementError:
        return value


def exclusive_scan(f: _Callable[[_Any, _Any], _Any], prefix: _Any, x: _Any) -> _Any:
    """The scan ``prefix, f(prefix, x[0]), f(f(prefix, x[0]), x[1]), ...``, which leaves out the last element of x.

    It has the length of x, but one element, the prefix, for an empty sequence.

    >>> exclusive_scan(op_add, 0, [1, 2, 3])
    [0, 1, 3]
    """
    items = _as_sequence("exclusive_scan", x)
    return _Sequence(_scanned(f, [_joined(prefix, items), *items[:-1]]))


def exclusive_rscan(f: _Callable[[_Any, _Any], _Any], suffix: _Any, x: _Any) -> _Any:
    """The exclusive scan from the right: `rscan` of x without its first element and with the suffix at its end.

    It has the length of x, but one element, the suffix, for an empty sequence.

    >>> exclusive_rscan(op_sub, 10, [1, 2, 3, 4])
    [1, 3, 6, 10]
    """
    items = _as_sequence("exclusive_rscan", x)
    return _Sequence(_scanned(f, [_joined(suffix, items), *items[:0:-1]])[::-1])


# -- elements that move -------------------------------------------------------------------------


def filter(predicate: _Callable[[_Any], _Any], x: _Any) -> _Any:
    """The sequence of the elements for which a function is true, in their order.

    >>> filter(lambda x: x < 3, [3, 1, 5, 0])
    [1, 0]
    """
    items = _as_sequence("filter", x)
    return _Sequence([item for item in items if predicate(item)], lambda: _sample_of(items))


def gather(x: _Any, indices: _Any) -> _Any:
    """The sequence of ``x[i]`` for the elements i of a sequence of indices.

    Negative indices count from the end. Raises `IndexError` for an index that x does not have and `TypeError` for one
    that is no integer.

    >>> gather([8, 16, 32], [2, 0, 2])
    [32, 8, 32]
    """
    items = _as_sequence("gather", x)
    places = [_index_of("gather", i, _n(items)) for i in _as_sequence("gather", indices)]
    return _Sequence([items[place] for place in places], lambda: _sample_of(items))


def scatter(src: _Any, indices: _Any, dst: _Any) -> _Any:
    """A copy of the sequence dst in which the element at ``indices[i]`` is ``src[i]``.

    Of repeated indices the last one counts here; other places take any of them. Raises `ValueError` unless src and
    indices have one length, `IndexError` for an index that dst does not have, `TypeError` for one that is no integer.

    >>> scatter([11, 12], [3, 1], [1, 2, 3, 4])
    [1, 12, 3, 11]
    """
    return _scattered("scatter", src, indices, dst)


def _scattered(who: str, src: _Any, indices: _Any, dst: _Any) -> _Any:
    values, places, old = (_as_sequence(who, x) for x in (src, indices, dst))
    if _n(values) != _n(places):
        raise ValueError(f"{who}: there are {_n(values)} values and {_n(places)} indices; expected as many")
    result = [*old]
    for value, place in _py.zip(values, places, strict=True):
        result[_index_of(who, place, _n(result))] = value
    return _Sequence(_with_common_type(result), lambda: _sample_of(old))


def permute(x: _Any, indices: _Any) -> _Any:
    """The sequence in which the element at ``indices[i]`` is ``x[i]``: ``scatter(x, indices, x)``.

    Raises what `scatter` does.

    >>> permute([1, 2, 3, 4], [3, 0, 1, 2])
    [2, 3, 4, 1]
    """
    return _scattered("permute", x, indices, x)


def update(dst: _Any, updates: _Any) -> _Any:
    """A copy of the sequence dst in which the element at i is v for each pair ``(i, v)`` of a sequence.

    Of repeated indices the last one counts here; other places take any of them. Raises what `scatter` does.

    >>> update([5, 6, 7], [(2, 0), (0, 1)])
    [1, 6, 0]
    """
    pairs = _as_sequence("update", updates)
    for pair in pairs:
        if not isinstance(pair, tuple) or _n(pair) != 2:
            raise TypeError(f"update: an update is {_shown(pair)}; expected a pair of an index and a value")
    return _scattered("update", [value for _, value in pairs], [place for place, _ in pairs], dst)


def shift(x: _Any, offset: _Any, default: _Any) -> _Any:
    """The sequence moved by `offset` towards lower indices, with `default` where nothing moves in.

    A negative offset moves it towards higher indices. The result has the length of x, or, if that is more,
    ``abs(offset)`` elements, all of them the default.

    >>> shift([1, 2, 3], 1, 0), shift([1, 2, 3], -1, 0), shift([1, 2, 3], 5, 0)
    ([2, 3, 0], [0, 1, 2], [0, 0, 0, 0, 0])
    """
    items, n = _as_sequence("shift", x), _as_count("shift: offset", offset)
    filler = [_joined(default, items)] * _py.abs(n)
    moved = items[n:] + filler if n >= 0 else filler + items[:n]
    return _Sequence(_with_common_type([*moved]), lambda: _sample_of(items))


def rotate(x: _Any, offset: _Any) -> _Any:
    """The sequence rotated by `offset` towards lower indices; a negative offset rotates towards higher ones.

    Rotations by at least the length return the sequence as it is.

    >>> rotate([1, 2, 3], 1), rotate([1, 2, 3], -1), rotate([1, 2, 3], 7)
    ([2, 3, 1], [3, 1, 2], [1, 2, 3])
    """
    items, n = _as_sequence("rotate", x), _as_count("rotate: offset", offset)
    return _Sequence([*items[n:], *items[:n]], lambda: _sample_of(items))


def split_at(x: _Any, k: _Any) -> _Any:
    """A tuple of two sequences: the first k elements, and the others; a negative k counts from the end.

    >>> split_at([0, 1, 2, 3], 1)
    ([0], [1, 2, 3])
    """
    items, n = _as_sequence("split_at", x), _as_count("split_at: k", k)
    parts = (items[:n], items[n:])
    return tuple(_Sequence(part, lambda: _sample_of(items)) for part in parts)


def join(sequences: _Any) -> _Any:
    """The sequences of a sequence as one, one after another.

    >>> join([[1, 2], [], [3]])
    [1, 2, 3]
    """
    rows = _as_sequence("join", sequences)
    items = [item for row in rows for item in _as_sequence("join", row)]
    return _Sequence(_with_common_type(items), lambda: _sample_of(_sample_of(rows)))


def sort(less: _Callable[[_Any, _Any], _Any], x: _Any) -> _Any:
    """The sorted sequence by a function that tells whether its first argument precedes the second.

    The function is a strict order, such as `cmp_lt` or `cmp_gt`; elements that do not precede each other keep their
    order. With an order that holds for equal elements too, such as `cmp_le`, equal elements are reversed. NaN among
    floats comes last.

    >>> sort(lambda a, b: a[0] < b[0], [(1, 0), (0, 1), (1, 2), (0, 3)])
    [(0, 1), (0, 3), (1, 0), (1, 2)]
    """
    whole = items = _as_sequence("sort", x)
    unordered: list[_Any] = []
    if items and isinstance(items[0], (float, _np.inexact)):
        # All comparisons with NaN are false, which no algorithm of sorting takes.
        unordered = [item for item in whole if item != item]
        items = [item for item in whole if item == item] if unordered else whole
    if items and less(items[0], items[0]):
        # Reversed, and sorted by the strict order beside `less`: so the algorithm of `sorted` does not matter.
        ordered = sorted(items[::-1], key=_functools.cmp_to_key(lambda a, b: 0 if less(b, a) else -1))
    else:
        ordered = sorted(items, key=_functools.cmp_to_key(lambda a, b: -1 if less(a, b) else 0))
    return _Sequence([*ordered, *unordered], lambda: _sample_of(whole))


def collect(key: _Callable[[_Any], _Any], x: _Any) -> _Any:
    """The sequence of pairs of a key and the sequence of elements that have it, by increasing keys.

    `key` computes the key of an element. Elements with one key keep their order.

    >>> collect(lambda x: x % 2, [1, 2, 3, 4, 5])
    [(0, [2, 4]), (1, [1, 3, 5])]
    """
    groups: dict[_Any, list[_Any]] = {}
    for item in _as_sequence("collect", x):
        groups.setdefault(key(item), []).append(item)
    return _Sequence((value, _Sequence(groups[value])) for value in sorted(groups))


# -- numbers ----------------------------------------------------------------------------------


def _check_numbers(who: str, values: tuple[_Any, ...]) -> None:
    for value in values:
        if isinstance(value, tuple) or _is_sequence(value):
            advice = f"; write map({who}, x) for each element of a sequence" if _is_sequence(value) else ""
            raise TypeError(f"{who}: {_shown(value)} is not a number{advice}")


def _weak(value: _Any) -> _Any:
    """A number of NumPy as Python's."""
    return tuple(_py.map(_weak, value)) if isinstance(value, tuple) else value.item()


def _elementary(name: str, text: str, ufunc: _Any) -> _Any:
    """A function of numbers that computes what a ufunc does; weak numbers have weak results."""

    def unary(x: _Any) -> _Any:
        if type(x) in _WEAK_TYPES:
            return _weak(ufunc(x))
        _check_numbers(name, (x,))
        return ufunc(x)

    def binary(x: _Any, y: _Any) -> _Any:
        _check_numbers(name, (x, y))
        result = ufunc(x, y)
        return _weak(result) if type(x) in _WEAK_TYPES and type(y) in _WEAK_TYPES else result

    function: _Any = binary if getattr(ufunc, "nin", 1) == 2 else unary
    function.__name__ = function.__qualname__ = name
    # What the compiler translates it to.
    function.ufunc = ufunc
    function.__doc__ = (
        f"{text}: the result of `numpy.{ufunc.__name__}`, with its dtype, for numbers; weak for weak numbers."
    )
    return function


abs = _elementary("abs", "The absolute value", _np.absolute)
sqrt = _elementary("sqrt", "The square root", _np.sqrt)
cbrt = _elementary("cbrt", "The cube root", _np.cbrt)
square = _elementary("square", "The square", _np.square)
reciprocal = _elementary("reciprocal", "The reciprocal", _np.reciprocal)
exp = _elementary("exp", "e to the power of x", _np.exp)
exp2 = _elementary("exp2", "2 to the power of x", _np.exp2)
expm1 = _elementary("expm1", "exp(x) - 1, accurate near 0", _np.expm1)
log = _elementary("log", "The natural logarithm", _np.log)
log2 = _elementary("log2", "The logarithm to base 2", _np.log2)
log10 = _elementary("log10", "The logarithm to base 10", _np.log10)
log1p = _elementary("log1p", "log(1 + x), accurate near 0", _np.log1p)
sin = _elementary("sin", "The sine", _np.sin)
cos = _elementary("cos", "The cosine", _np.cos)
tan = _elementary("tan", "The tangent", _np.tan)
arcsin = _elementary("arcsin", "The inverse sine", _np.arcsin)
arccos = _elementary("arccos", "The inverse cosine", _np.arccos)
arctan = _elementary("arctan", "The inverse tangent", _np.arctan)
asin = _elementary("asin", "The inverse sine", _np.arcsin)
acos = _elementary("acos", "The inverse cosine", _np.arccos)
atan = _elementary("atan", "The inverse tangent", _np.arctan)
sinh = _elementary("sinh", "The hyperbolic sine", _np.sinh)
cosh = _elementary("cosh", "The hyperbolic cosine", _np.cosh)
tanh = _elementary("tanh", "The hyperbolic tangent", _np.tanh)
arcsinh = _elementary("arcsinh", "The inverse hyperbolic sine", _np.arcsinh)
arccosh = _elementary("arccosh", "The inverse hyperbolic cosine", _np.arccosh)
arctanh = _elementary("arctanh", "The inverse hyperbolic tangent", _np.arctanh)
deg2rad = _elementary("deg2rad", "Degrees as radians", _np.deg2rad)
rad2deg = _elementary("rad2deg", "Radians as degrees", _np.rad2deg)
floor = _elementary("floor", "The greatest integer that is not greater", _np.floor)
ceil = _elementary("ceil", "The least integer that is not less", _np.ceil)
trunc = _elementary("trunc", "The integer part", _np.trunc)
rint = _elementary("rint", "The nearest integer, the even one of two", _np.rint)
fabs = _elementary("fabs", "The absolute value as a float", _np.fabs)
sign = _elementary("sign", "-1, 0 or 1 by the sign", _np.sign)
signbit = _elementary("signbit", "Whether the sign bit is set", _np.signbit)
isnan = _elementary("isnan", "Whether x is not a number", _np.isnan)
isinf = _elementary("isinf", "Whether x is infinite", _np.isinf)
isfinite = _elementary("isfinite", "Whether x is neither infinite nor NaN", _np.isfinite)
conjugate = _elementary("conjugate", "The complex conjugate", _np.conjugate)
frexp = _elementary("frexp", "The tuple of mantissa and exponent", _np.frexp)
modf = _elementary("modf", "The tuple of fractional and integer part", _np.modf)
ldexp = _elementary("ldexp", "x times 2 to the power of y", _np.ldexp)
arctan2 = _elementary("arctan2", "The angle of the point (y, x)", _np.arctan2)
atan2 = _elementary("atan2", "The angle of the point (y, x)", _np.arctan2)
hypot = _elementary("hypot", "The hypotenuse, without overflow", _np.hypot)
copysign = _elementary("copysign", "x with the sign of y", _np.copysign)
nextafter = _elementary("nextafter", "The next number after x towards y", _np.nextafter)
fmod = _elementary("fmod", "The remainder with the sign of the dividend", _np.fmod)
minimum = _elementary("minimum", "The lesser number; NaN if one is NaN", _np.minimum)
maximum = _elementary("maximum", "The greater number; NaN if one is NaN", _np.maximum)
fmin = _elementary("fmin", "The lesser number; the other if one is NaN", _np.fmin)
fmax = _elementary("fmax", "The greater number; the other if one is NaN", _np.fmax)
logaddexp = _elementary("logaddexp", "log(exp(x) + exp(y)) without overflow", _np.logaddexp)
gcd = _elementary("gcd", "The greatest common divisor", _np.gcd)
lcm = _elementary("lcm", "The least common multiple", _np.lcm)


def real(x: _Any) -> _Any:
    """The real part of a number, as a real number of its precision."""
    _check_numbers("real", (x,))
    return x.real


def imag(x: _Any) -> _Any:
    """The imaginary part of a number, as a real number of its precision; 0 for a real one."""
    _check_numbers("imag", (x,))
    return x.imag


def where(condition: _Any, x: _Any, y: _Any) -> _Any:
    """The number or tuple x if the condition is true, else y; in the dtype of both together."""
    _check_numbers("where", (condition,))
    pair = _with_common_type([x, y])
    return pair[0] if condition else pair[1]


# -- dtypes -----------------------------------------------------------------------------------


def _cast(x: _Any, dtype: _np.dtype[_Any]) -> _Any:
    # A number of Python has no dtype that could wrap.
    if type(x) is int and dtype.kind in "iu" and not _np.iinfo(dtype).min <= x <= _np.iinfo(dtype).max:
        raise OverflowError(f"the number {x} is out of bounds for {dtype}")
    return _np.asarray(x).astype(dtype)[()]


def _caster(name: str) -> _Any:
    dtype = _np.dtype(name)

    def convert(x: _Any) -> _Any:
        _check_numbers(name, (x,))
        return _cast(x, dtype)

    cast: _Any = convert
    # What the compiler translates it to.
    cast.dtype = dtype
    cast.__name__ = cast.__qualname__ = name
    cast.__doc__ = f"The number x as {name.rstrip('_')}; integers of a dtype wrap, floats are truncated to integers."
    return cast


bool_ = _caster("bool_")
int8 = _caster("int8")
int16 = _caster("int16")
int32 = _caster("int32")
int64 = _caster("int64")
uint8 = _caster("uint8")
uint16 = _caster("uint16")
uint32 = _caster("uint32")
uint64 = _caster("uint64")
float16 = _caster("float16")
float32 = _caster("float32")
float64 = _caster("float64")
complex64 = _caster("complex64")
complex128 = _caster("complex128")


def bfloat16(x: _Any) -> _Any:
    """The number x as bfloat16, rounded to nearest; raises `ImportError` without the package `ml_dtypes`."""
    import ml_dtypes

    _check_numbers("bfloat16", (x,))
    return _cast(x, _np.dtype(ml_dtypes.bfloat16))


def _as_type_of(value: _Any, like: _Any) -> _Any:
    return type(like)(value) if type(like) in _WEAK_TYPES else _cast(value, like.dtype)


def cast_to(x: _Any, y: _Any) -> _Any:
    """The number x in the dtype of the number y."""
    _check_numbers("cast_to", (x, y))
    return _as_type_of(x, y)


def cast_to_el(x: _Any, y: _Any) -> _Any:
    """The number x in the dtype of the elements of the sequence y; x itself if y is empty and has no dtype."""
    _check_numbers("cast_to_el", (x,))
    try:
        sample = _sample_of(_as_sequence("cast_to_el", y))
    except _UnknownElementError:
        return x
    _check_numbers("cast_to_el", (sample,))
    return _as_type_of(x, sample)


def _bounds(who: str, x: _Any) -> _Any:
    _check_numbers(who, (x,))
    dtype = _np.asarray(x).dtype
    if dtype.kind in "iu":
        return _np.iinfo(dtype)
    if dtype.kind == "f":
        return _np.finfo(dtype)
    if dtype.name == "bfloat16":
        import ml_dtypes

        finfo: _Any = ml_dtypes.finfo
        return finfo(dtype)
    raise TypeError(f"{who}: {_shown(x)} has dtype {dtype}; expected an integer or a float")


def _element(who: str, x: _Any) -> _Any:
    try:
        return _sample_of(_as_sequence(who, x))
    except _UnknownElementError:
        raise ValueError(f"{who}: the sequence is empty and has no dtype") from None


def min_bound(x: _Any) -> _Any:
    """The least finite number of the dtype of the number x: an identity of `max`; raises `TypeError` for bools.

    >>> int(min_bound(int8(0)))
    -128
    """
    return _cast(_bounds("min_bound", x).min, _np.asarray(x).dtype)


def max_bound(x: _Any) -> _Any:
    """The greatest finite number of the dtype of the number x: an identity of `min`; raises `TypeError` for bools.

    >>> int(max_bound(int8(0)))
    127
    """
    return _cast(_bounds("max_bound", x).max, _np.asarray(x).dtype)


def min_bound_el(x: _Any) -> _Any:
    """`min_bound` for the elements of a sequence; raises `ValueError` if it is empty and has no dtype."""
    return min_bound(_element("min_bound_el", x))


def max_bound_el(x: _Any) -> _Any:
    """`max_bound` for the elements of a sequence; raises `ValueError` if it is empty and has no dtype."""
    return max_bound(_element("max_bound_el", x))


# -- operators --------------------------------------------------------------------------------


def _operation(name: str, sign: str, function: _Callable[..., _Any], is_unary: bool = False) -> _Any:
    def unary(x: _Any) -> _Any:
        return function(x)

    def binary(x: _Any, y: _Any) -> _Any:
        return function(x, y)

    made: _Any = unary if is_unary else binary
    made.__name__ = made.__qualname__ = name
    made.__doc__ = f"The result of ``{sign}`` for numbers."
    return made


op_add = _operation("op_add", "x + y", _operator.add)
op_sub = _operation("op_sub", "x - y", _operator.sub)
op_mul = _operation("op_mul", "x * y", _operator.mul)
op_div = _operation("op_div", "x / y", _operator.truediv)
op_floordiv = _operation("op_floordiv", "x // y", _operator.floordiv)
op_mod = _operation("op_mod", "x % y", _operator.mod)
op_pow = _operation("op_pow", "x ** y", _operator.pow)
op_lshift = _operation("op_lshift", "x << y", _operator.lshift)
op_rshift = _operation("op_rshift", "x >> y", _operator.rshift)
op_and = _operation("op_and", "x & y", _operator.and_)
op_or = _operation("op_or", "x | y", _operator.or_)
op_xor = _operation("op_xor", "x ^ y", _operator.xor)
op_band = _operation("op_band", "x and y, as a bool", lambda x, y: _np.bool_(x and y))
op_bor = _operation("op_bor", "x or y, as a bool", lambda x, y: _np.bool_(x or y))
cmp_eq = _operation("cmp_eq", "x == y", _operator.eq)
cmp_ne = _operation("cmp_ne", "x != y", _operator.ne)
cmp_lt = _operation("cmp_lt", "x < y", _operator.lt)
cmp_le = _operation("cmp_le", "x <= y", _operator.le)
cmp_gt = _operation("cmp_gt", "x > y", _operator.gt)
cmp_ge = _operation("cmp_ge", "x >= y", _operator.ge)
op_pos = _operation("op_pos", "+x", _operator.pos, is_unary=True)
op_neg = _operation("op_neg", "-x", _operator.neg, is_unary=True)
op_invert = _operation("op_invert", "~x", _operator.invert, is_unary=True)
op_not = _operation("op_not", "not x", lambda x: _np.bool_(not x), is_unary=True)

#: The prelude: what above is not private.
__all__ = [
    "map",
    "zip",
    "unzip",
    "enumerate",
    "transpose",
    "len",
    "range",
    "bounded_range",
    "indices",
    "replicate",
    "reduce",
    "sum",
    "any",
    "all",
    "count",
    "min",
    "max",
    "argmax",
    "argmin",
    "scan",
    "rscan",
    "exclusive_scan",
    "exclusive_rscan",
    "filter",
    "gather",
    "scatter",
    "permute",
    "update",
    "shift",
    "rotate",
    "split_at",
    "join",
    "sort",
    "collect",
    "abs",
    "sqrt",
    "cbrt",
    "square",
    "reciprocal",
    "exp",
    "exp2",
    "expm1",
    "log",
    "log2",
    "log10",
    "log1p",
    "sin",
    "cos",
    "tan",
    "arcsin",
    "arccos",
    "arctan",
    "asin",
    "acos",
    "atan",
    "sinh",
    "cosh",
    "tanh",
    "arcsinh",
    "arccosh",
    "arctanh",
    "deg2rad",
    "rad2deg",
    "floor",
    "ceil",
    "trunc",
    "rint",
    "fabs",
    "sign",
    "signbit",
    "isnan",
    "isinf",
    "isfinite",
    "conjugate",
    "frexp",
    "modf",
    "ldexp",
    "arctan2",
    "atan2",
    "hypot",
    "copysign",
    "nextafter",
    "fmod",
    "minimum",
    "maximum",
    "fmin",
    "fmax",
    "logaddexp",
    "gcd",
    "lcm",
    "real",
    "imag",
    "where",
    "bool_",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "float16",
    "float32",
    "float64",
    "complex64",
    "complex128",
    "bfloat16",
    "cast_to",
    "cast_to_el",
    "min_bound",
    "max_bound",
    "min_bound_el",
    "max_bound_el",
    "op_add",
    "op_sub",
    "op_mul",
    "op_div",
    "op_floordiv",
    "op_mod",
    "op_pow",
    "op_lshift",
    "op_rshift",
    "op_and",
    "op_or",
    "op_xor",
    "op_band",
    "op_bor",
    "cmp_eq",
    "cmp_ne",
    "cmp_lt",
    "cmp_le",
    "cmp_gt",
    "cmp_ge",
    "op_pos",
    "op_neg",
    "op_invert",
    "op_not",
]
