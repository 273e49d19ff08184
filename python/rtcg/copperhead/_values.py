"""Values of programs at `places.here`: arguments as lists of NumPy scalars, and lists as results.

A sequence is a list. Its elements are NumPy scalars, whose dtype decides what an operation does; tuples; or sequences.
Numbers of Python are *weak*: they take the dtype of what they meet, as literals do in NumPy's promotion of scalars. A
list without elements has no dtype, so `Sequence` can keep how an element would be made, which is asked only when the
dtype of an empty result is needed.
"""

from __future__ import annotations

import itertools
import operator
from array import array as PythonArray
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from rtcg._messages import shown
from rtcg.copperhead._ragged import is_device_array, on_host, ragged

#: Numbers of Python, weakest first.
WEAK_TYPES = (bool, int, float, complex)


class UnknownElementError(Exception):
    """Nothing is known about the elements of an empty sequence."""


class Sequence(list[Any]):
    """A list that, while it is empty, knows how to make a value of the type that its elements would have."""

    __slots__ = ("_make_sample",)

    def __init__(self, items: Any, make_sample: Callable[[], Any] | None = None) -> None:
        super().__init__(items)
        self._make_sample = None if self else make_sample
        if self and isinstance(self[0], list):
            self.__class__ = Rows  # type: ignore[assignment]


class Rows(Sequence):
    """A sequence of sequences, in which ``A[i, j]`` is ``A[i][j]``."""

    __slots__ = ()

    def __getitem__(self, index: Any) -> Any:
        if type(index) is not tuple:
            return super().__getitem__(index)
        value: Any = self
        for part in index:
            value = value[part]
        return value


def sample_of(sequence: Any) -> Any:
    """An element of a sequence, or a value of the type that one would have."""
    if len(sequence):
        return sequence[0]
    make = getattr(sequence, "_make_sample", None)
    if make is None:
        raise UnknownElementError
    try:
        return make()
    except Exception:  # A function need not be defined for the sample.
        raise UnknownElementError from None


def is_sequence(value: Any) -> bool:
    """Whether a value is a sequence of a program, rather than a number or a tuple."""
    return isinstance(value, (list, ragged, range)) or (isinstance(value, np.ndarray) and value.ndim > 0)


def as_sequence(who: str, value: Any) -> list[Any]:
    """`value` as a list: a list, tuple, array, ragged sequence or iterator. `who` wants it, for the error.

    The elements of a comprehension get one type, as those of what the prelude returns have.
    """
    if isinstance(value, Sequence):
        return value
    if isinstance(value, list):
        return with_common_type(value)
    if isinstance(value, (tuple, Iterator)):
        return with_common_type(list(value))
    if isinstance(value, (np.ndarray, range, ragged)) or is_device_array(value):
        if isinstance(value, np.ma.MaskedArray):
            raise TypeError(f"{who}: a masked array is no sequence, its mask would be lost; write `x.filled(value)`")
        value = from_argument(who, value)
        if isinstance(value, list):
            return value
    raise TypeError(f"{who}: {shown(value)} is not a sequence")


def common_type(types: set[type]) -> Any:
    """The type of numbers that have these types together: NumPy's scalar type, or Python's if all are weak."""
    strong = [np.dtype(kind) for kind in types if issubclass(kind, np.generic)]
    weak = [kind for kind in WEAK_TYPES if kind in types]
    if len(strong) + len(weak) != len(types):
        other = next(kind for kind in types if not issubclass(kind, np.generic) and kind not in WEAK_TYPES)
        if len(types) == 1:
            raise TypeError(f"elements are of type {other.__name__}; expected numbers, sequences or tuples")
        raise TypeError(f"elements are of the types {other.__name__} and {next(iter(types - {other})).__name__}")
    return np.result_type(*strong, *(kind(1) for kind in weak)).type if strong else weak[-1]


def with_common_type(items: list[Any]) -> list[Any]:
    """The items, of which numbers, or the numbers at one place of tuples, have one type."""
    types = set(map(type, items))
    if types == {tuple} and len(set(map(len, items))) == 1:
        columns = [with_common_type(list(column)) for column in zip(*items, strict=True)]
        return list(zip(*columns, strict=True)) if columns else items
    if len(types) < 2 or not all(issubclass(kind, np.generic) or kind in WEAK_TYPES for kind in types):
        return items
    kind = common_type(types)
    return [item if type(item) is kind else kind(item) for item in items]


def adapted(value: Any, sample: Any) -> Any:
    """A weak number, or those in a tuple, in the type that it has together with a sample of what it joins."""
    if isinstance(value, tuple) and isinstance(sample, tuple) and len(value) == len(sample):
        return tuple(map(adapted, value, sample))
    if type(value) in WEAK_TYPES and isinstance(sample, (np.generic, *WEAK_TYPES)):
        return common_type({type(value), type(sample)})(value)
    return value


# -- arguments --------------------------------------------------------------------------------


def _has_device_type(dtype: np.dtype[Any]) -> bool:
    if dtype.names is not None:
        return all(_has_device_type(dtype[name].base) for name in dtype.names)
    if dtype.kind in "biufc":
        return dtype.char not in "gG"
    return dtype.name == "bfloat16"


def check_dtype(name: str, dtype: np.dtype[Any]) -> None:
    """Raise `TypeError` unless programs have elements of this dtype."""
    if not _has_device_type(dtype):
        raise TypeError(f"{name} has dtype {dtype}; expected bool, integers, floats, complex numbers or structures")


def check_array(name: str, value: Any) -> None:
    """Raise `TypeError` unless programs have the elements of an array, or the scalar, of NumPy."""
    if isinstance(value, np.ma.MaskedArray):
        raise TypeError(f"{name} is a masked array, whose mask would be lost; write `{name}.filled(value)`")
    check_dtype(name, value.dtype)


def unexpected(name: str, value: Any) -> TypeError:
    """The error about an argument that programs do not take, with what to write instead where that is known."""
    if hasattr(value, "tocsr"):
        kind = f"a sparse matrix in the format {shown(getattr(value, 'format', None))}"
        return TypeError(f"{name} is {kind}; expected 'csr': write `{name}.tocsr()`")
    what = f"{name} is {shown(value)}, of type {type(value).__name__}"
    if name in ("self", "cls"):
        return TypeError(
            f"{what}; a program takes no instances and classes: write `@staticmethod` above the decorator, or pass the "
            "arrays as arguments of their own"
        )
    if isinstance(value, (bytes, bytearray, memoryview)):
        return TypeError(f"{what}; write `np.frombuffer({name}, dtype)`")
    if isinstance(value, PythonArray):
        return TypeError(f"{what}; write `np.frombuffer({name}, {value.typecode!r})` or `list({name})`")
    if isinstance(value, Iterable) and not isinstance(value, (str, Mapping)):
        return TypeError(f"{what}; write `list({name})`")
    return TypeError(f"{name} is {shown(value)}; expected a number, an array, a list, a tuple or a function")


def from_argument(name: str, value: Any) -> Any:
    """What a program at `places.here` gets for an argument; `name` is for the error. Waits for arrays on the device."""
    if type(value) in WEAK_TYPES:
        return value
    if isinstance(value, (np.ndarray, np.generic)):
        check_array(name, value)
        return _from_array(np.asarray(value))
    if isinstance(value, tuple):
        return tuple(from_argument(f"{name}[{index}]", item) for index, item in enumerate(value))
    if isinstance(value, list):
        return _from_list(name, value)
    if isinstance(value, range):
        return _from_array(np.array(value, np.int64))
    if isinstance(value, ragged):
        check_dtype(name, value.dtype)
        return _from_ragged(on_host(value.values), value)
    if all(hasattr(value, attribute) for attribute in ("indptr", "indices", "data")):
        return _from_compressed_rows(name, value)
    if is_device_array(value):
        return from_argument(name, on_host(value))
    if hasattr(value, "__dlpack__"):
        return from_argument(name, _from_dlpack(value))
    if is_function(name, value):
        return value
    raise unexpected(name, value)


def is_function(name: str, value: Any) -> bool:
    """Whether an argument may be a function of a program; what a method is bound to is none."""
    return callable(value) and name not in ("self", "cls")


def _from_dlpack(value: Any) -> Any:
    kind, _ = value.__dlpack_device__()
    if kind == 1:
        return np.from_dlpack(value)
    from rtcg import numpy as device_arrays

    return device_arrays.from_dlpack(value)


def _from_array(array: np.ndarray[Any, Any]) -> Any:
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    if array.ndim == 0:
        return _from_scalar(array[()])
    names = array.dtype.names
    if array.ndim == 1 and names is None:
        return Sequence(array, lambda: np.ones((), array.dtype)[()])
    if array.ndim == 1 and names:
        records = zip(*(_from_array(array[name]) for name in names), strict=True)
        return Sequence(records, lambda: _from_scalar(np.ones((), array.dtype)[()]))
    if array.ndim == 2 and names is None and array.size:
        items, length = list(array.reshape(-1)), array.shape[1]
        return Rows(Sequence(items[begin : begin + length]) for begin in range(0, len(items), length))
    made = map(_from_array, array)
    kind = Rows if array.ndim > 1 else Sequence
    return kind(made, lambda: _from_array(np.ones(array.shape[1:], array.dtype)))


def _from_scalar(value: Any) -> Any:
    """A number, or the tuple of a structure's fields."""
    if value.dtype.names is None:
        return value
    return tuple(_from_array(np.asarray(value[name])) for name in value.dtype.names)


def _from_list(name: str, items: list[Any]) -> Any:
    return from_argument(name, list_to_array(name, items)) if items else Sequence(items)


def list_to_array(name: str, items: list[Any]) -> Any:
    """A list given by the user as an array or ragged sequence: its numbers have a dtype, as in `numpy.asarray`."""
    try:
        found = _plain_list_to_array(items)
    except TypeError as error:
        raise TypeError(f"{name}: {error}") from None
    if found is not None:
        return found
    plain = (*WEAK_TYPES, np.generic, list)
    items = [item if isinstance(item, plain) else _checked_item(f"{name}[{k}]", item) for k, item in enumerate(items)]
    try:
        return to_array(items)
    except (TypeError, ValueError, OverflowError) as error:
        raise type(error)(f"{name}: {error}") from None


def _checked_item(name: str, item: Any) -> Any:
    if isinstance(item, np.ndarray):
        check_array(name, item)
        return item
    if callable(item):
        raise TypeError(f"{name} is {shown(item)}; expected a number, a sequence or a tuple")
    return from_argument(name, item)


def _plain_list_to_array(items: list[Any]) -> Any:
    """The array of a list of numbers, or of lists, tuples or arrays of numbers; None for a list with anything else.

    It is what `to_array` makes of such a list, without a look at each element in Python. Numbers are all Python's or
    all of one type of NumPy; where these meet, or an integer is out of bounds, `to_array` decides.
    """
    kinds = set(map(type, items))
    if (dtype := _common_dtype(kinds)) is not None:
        try:
            return np.array(items, dtype)
        except OverflowError:
            return None
    if kinds == {list}:
        values = _plain_list_to_array(list(itertools.chain.from_iterable(items)))
        return None if values is None else _to_rows_of(values, list(map(len, items)))
    if kinds == {np.ndarray} and _are_alike(items):
        return _to_rows_of(np.concatenate(items), list(map(len, items)))
    if kinds == {tuple} and len(set(map(len, items))) == 1 and items[0]:
        columns = list(map(list, zip(*items, strict=True)))
        if all(_common_dtype(set(map(type, column))) is not None for column in columns):
            arrays = list(map(_plain_list_to_array, columns))
            return None if any(column is None for column in arrays) else _joined_columns(arrays, len(items))
    return None


def _common_dtype(kinds: set[type]) -> np.dtype[Any] | None:
    """The dtype of numbers that are all Python's, or all of one type of NumPy, on a device; None for others."""
    if kinds and kinds <= set(WEAK_TYPES):
        return np.dtype(common_type(kinds))
    if len(kinds) == 1 and issubclass(kind := next(iter(kinds)), (np.number, np.bool_)):
        dtype = np.dtype(kind)
        return dtype if _has_device_type(dtype) else None
    return None


def _are_alike(arrays: list[np.ndarray[Any, Any]]) -> bool:
    dtype = arrays[0].dtype
    return (
        set(array.ndim for array in arrays) == {1}
        and {array.dtype for array in arrays} == {dtype}
        and dtype.names is None
        and dtype.isnative
        and _has_device_type(dtype)
    )


def _from_ragged(values: np.ndarray[Any, Any], rows: ragged) -> Sequence:
    items, bounds = list(_from_array(values)), rows._bounds.tolist()

    def make() -> Any:
        return sample_of(_from_array(values[:0]))

    found = [Sequence(items[begin:end], make) for begin, end in itertools.pairwise(bounds)]
    return Rows(found, lambda: _from_array(values[:0]))


def _from_compressed_rows(name: str, matrix: Any) -> tuple[Sequence, Sequence]:
    """Of a sparse matrix in compressed rows: the values, and the columns, of each row."""
    if getattr(matrix, "format", "csr") != "csr":
        raise unexpected(name, matrix)
    values, columns = (ragged(part, matrix.indptr) for part in (matrix.data, matrix.indices))
    check_dtype(name, values.dtype)
    return _from_ragged(on_host(values.values), values), _from_ragged(on_host(columns.values), columns)


# -- results ----------------------------------------------------------------------------------


def to_result(value: Any) -> Any:
    """A result for the caller: a NumPy scalar, an array, a ragged sequence, or a tuple of these."""
    if isinstance(value, tuple):
        return tuple(map(to_result, value))
    if isinstance(value, (np.generic, *WEAK_TYPES)):
        return _to_scalars([value])[0]
    if isinstance(value, np.ndarray) and value.ndim == 0:
        return value[()]
    if is_sequence(value) or isinstance(value, Iterator):
        return to_array(value)
    if value is None:
        raise TypeError("the result is None; expected numbers, sequences and tuples (is a `return` missing?)")
    raise TypeError(f"the result is {shown(value)}; expected numbers, sequences and tuples")


def to_array(value: Any) -> Any:
    """A sequence as an array: of numbers; of a structure, for tuples; with more axes or ragged, for sequences."""
    if isinstance(value, (np.ndarray, ragged)):
        return value
    items = as_sequence("result", value)
    if not items:
        try:
            sample = sample_of(items)
        except UnknownElementError:
            return np.empty(0)
        array = to_array([sample])
        return ragged(array.values[:0], [0]) if isinstance(array, ragged) else array[:0]
    kinds = {_kind_of(item) for item in items}
    if len(kinds) > 1:
        raise TypeError(f"elements are {' and '.join(sorted(kinds))}; expected one of these")
    match kinds.pop():
        case "tuples":
            return _to_structures(items)
        case "sequences":
            return _to_rows(items)
        case _:
            return _to_scalars(items)


def _kind_of(item: Any) -> str:
    if isinstance(item, tuple):
        return "tuples"
    if is_sequence(item):
        return "sequences"
    if isinstance(item, (np.generic, *WEAK_TYPES)) or (isinstance(item, np.ndarray) and item.ndim == 0):
        return "numbers"
    return f"of type {type(item).__name__}"


def _to_scalars(items: list[Any]) -> np.ndarray[Any, Any]:
    items = [item[()] if isinstance(item, np.ndarray) else item for item in items]
    kind = common_type(set(map(type, items)))
    dtype = np.dtype({bool: np.bool_, int: np.int64, float: np.float64, complex: np.complex128}.get(kind, kind))
    if dtype.names is None and dtype.kind == "V" and dtype.name == "void":
        return np.array(items)
    try:
        return np.array(items, dtype)
    except OverflowError:
        beyond = next(item for item in items if type(item) is int and not _fits(item, dtype))
        raise OverflowError(f"{beyond} does not fit {dtype}") from None


def _fits(item: int, dtype: np.dtype[Any]) -> bool:
    bounds: Any = np.iinfo(dtype)
    return bool(bounds.min <= item <= bounds.max)


def _to_structures(items: list[tuple[Any, ...]]) -> np.ndarray[Any, Any]:
    """An array with a field for each place of the tuples: f0, f1 and so on."""
    lengths = set(map(len, items))
    if len(lengths) > 1:
        raise TypeError(f"elements are tuples of {' and '.join(map(str, sorted(lengths)))}; expected one length")
    return _joined_columns([to_array(list(column)) for column in zip(*items, strict=True)], len(items))


def _joined_columns(columns: list[Any], length: int) -> np.ndarray[Any, Any]:
    """An array of a structure from the arrays of its fields."""
    for place, column in enumerate(columns):
        if isinstance(column, ragged):
            raise TypeError(
                f"elements are tuples that hold sequences of different lengths at [{place}]; return those on their own "
                "(`unzip` makes a tuple of sequences)"
            )
    fields = [(f"f{place}", column.dtype, column.shape[1:]) for place, column in enumerate(columns)]
    array = np.empty(length, np.dtype(fields, align=True))
    for (field, *_), column in zip(fields, columns, strict=True):
        array[field] = column
    return array


def _to_rows(rows: list[Any]) -> Any:
    """Rows of one length as an array with one more axis, others as a ragged sequence."""
    rows = [as_sequence("result", row) for row in rows]
    lengths = list(map(len, rows))
    leaves = [item for row in rows for item in row]
    return _to_rows_of(to_array(leaves if leaves else rows[0]), lengths)


def _to_rows_of(values: Any, lengths: list[int]) -> Any:
    """The rows of these lengths of an array, or a ragged sequence, of all their elements."""
    if len(set(lengths)) == 1 and not isinstance(values, ragged):
        return values.reshape(len(lengths), lengths[0], *values.shape[1:])
    if isinstance(values, ragged) or values.ndim != 1:
        raise TypeError("sequences of different lengths are nested three deep; expected two")
    offsets = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return ragged(values, offsets)


def index_of(who: str, index: Any, length: int) -> int:
    """An index as an int from 0, counted from the end if it is negative, as Python does."""
    try:
        number = operator.index(index)
    except TypeError:
        raise TypeError(f"{who}: an index is {shown(index)}; expected an integer") from None
    if not -length <= number < length:
        raise IndexError(f"{who}: an index is {number}; expected one of a sequence of length {length}")
    return number % length
