"""Make `rtcg.numpy` usable as the namespace ``xp``: NumPy's types and constants, its modules, methods of ufuncs, and an
error message for each missing name.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

import numpy as np

from rtcg import numpy as _xp
from rtcg._native import GPUArray

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import NoReturn

#: Names that mean the same on the host and on the device: types, constants, questions about types, printing.
HOST_NAMES: frozenset[str] = frozenset({
    "False_", "ScalarType", "True_", "base_repr", "binary_repr", "bool", "bool_", "broadcast_shapes", "byte", "bytes_",
    "cdouble", "character", "complex128", "complex64", "complexfloating", "csingle", "double", "dtype", "e", "errstate",
    "euler_gamma", "finfo", "flexible", "float16", "float32", "float64", "floating", "format_float_positional",
    "format_float_scientific", "generic", "get_printoptions", "geterr", "half", "iinfo", "index_exp", "inexact", "inf",
    "int16", "int32", "int64", "int8", "int_", "intc", "integer", "intp", "isdtype", "isscalar", "issubdtype",
    "iterable", "little_endian", "long", "longlong", "mintypecode", "nan", "ndindex", "newaxis", "number", "pi",
    "printoptions", "promote_types", "s_", "sctypeDict", "set_printoptions", "seterr", "short", "signedinteger",
    "single", "typecodes", "typename", "ubyte", "uint", "uint16", "uint32", "uint64", "uint8", "uintc", "uintp",
    "ulong", "ulonglong", "unsignedinteger", "ushort", "void",
})  # fmt: skip

_MODULES = {"fft": "rtcg.fft", "linalg": "rtcg.linalg", "random": "rtcg.random"}

#: Of names that nothing more is known of.
OF_THE_HOST = "works on the host only: use numpy.{name} with a.get()"
_POLYNOMIALS = "has no counterpart here: use numpy.{name} with a.get(); `polyval`, `vander` and `linalg.lstsq` are here"
#: What to use instead of a name of NumPy's. `{name}` is the name.
INSTEAD: dict[str, str] = {
    **dict.fromkeys(
        ["poly", "poly1d", "polyadd", "polyder", "polydiv", "polyfit", "polyint", "polymul", "polynomial", "polysub",
         "roots"], _POLYNOMIALS,
    ),
    **dict.fromkeys(
        ["busday_count", "busday_offset", "busdaycalendar", "datetime64", "datetime_as_string", "datetime_data",
         "is_busday", "isnat", "timedelta64"], "has no counterpart here: arrays hold no dates",
    ),
    **dict.fromkeys(
        ["char", "rec", "recarray", "record", "str_", "strings", "object_"],
        "has no counterpart here: arrays hold numbers, bools and structures of them",
    ),
    **dict.fromkeys(
        ["clongdouble", "complex256", "float128", "longdouble"],
        "has no counterpart on devices: use float64 or complex128",
    ),
    **dict.fromkeys(
        ["broadcast", "flatiter", "ndenumerate", "nditer", "nested_iters"],
        "goes through the elements one by one, and would wait for the device at each: use numpy.{name} with a.get()",
    ),
    **dict.fromkeys(
        ["frompyfunc", "vectorize"],
        "calls Python for each element: write the function with arrays, or use rtcg.elementwise.ElementwiseKernel",
    ),
    **dict.fromkeys(["asmatrix", "bmat", "matrix"], "has no counterpart here: use arrays and the operator @"),
    "frexp": "has no counterpart here: use `log2` and `ldexp`, or numpy.frexp with a.get()",
    "ma": "has no counterpart here: use `where` and the functions that take `where=`, or those for NaN",
    "memmap": "exists on the host only: `asarray` copies a memmap, or a slice of one, to the device",
    "row_stack": "is `vstack`",
    "ufunc": "has no counterpart here: rtcg.numpy's ufuncs are plain Python functions that have the methods `reduce`, "
             "`accumulate` and `outer`",
}  # fmt: skip


def missing(name: str) -> str:
    """The message about a name that `rtcg.numpy` lacks."""
    text = INSTEAD.get(name, OF_THE_HOST if hasattr(np, name) else None)
    if text is None:
        return f"module 'rtcg.numpy' has no attribute {name!r}"
    return f"module 'rtcg.numpy' has no attribute {name!r}: it {text.format(name=name)}"


def look_up(name: str) -> Any:
    """A name of NumPy's other than a function defined here: a type, a constant or a module.

    Raises
    ------
    AttributeError
        If there is no such name; the message says what to use instead.
    """
    if name in HOST_NAMES:
        return getattr(np, name)
    if name in _MODULES:
        return importlib.import_module(_MODULES[name])
    if name == "ndarray":
        return GPUArray
    raise AttributeError(missing(name))


def names() -> set[str]:
    """The set of names that `look_up` knows."""
    return {*HOST_NAMES, *_MODULES, "ndarray"}


def add_ufunc_methods() -> None:
    """Give binary functions the attributes of NumPy's ufuncs: `reduce`, `accumulate`, `outer`, `nin`, `nout`."""
    for name in _xp.__all__:
        of_numpy, function = getattr(np, name, None), getattr(_xp, name)
        if isinstance(of_numpy, np.ufunc) and not isinstance(function, np.ufunc):
            function.nin, function.nout, function.identity = of_numpy.nin, of_numpy.nout, of_numpy.identity
            if (of_numpy.nin, of_numpy.nout, of_numpy.signature) == (2, 1, None):
                for method in ("reduce", "accumulate", "outer"):
                    setattr(function, method, _ufunc_method(name, method))
                for method in ("at", "reduceat"):
                    setattr(function, method, _missing_ufunc_method(name, method))


_METHOD_DOCSTRINGS = {
    "reduce": "Combine the elements along an axis, each with the result so far; does not wait.",
    "accumulate": "All intermediate results of `reduce`, an array with the shape of the operand; does not wait.",
    "outer": "Combine each element of the first operand with each of the second; does not wait.",
}


def _ufunc_method(name: str, method: str) -> Callable[..., Any]:
    compute = getattr(getattr(np, name), method)

    def of_ufunc(*operands: Any, **keywords: Any) -> Any:
        count = 2 if method == "outer" else 1
        return compute(*map(_xp.asarray, operands[:count]), *operands[count:], **keywords)

    of_ufunc.__name__, of_ufunc.__qualname__ = method, f"{name}.{method}"
    of_ufunc.__doc__ = f"{_METHOD_DOCSTRINGS[method]}\n\nParameters are those of `numpy.{name}.{method}`.\n"
    return of_ufunc


def _missing_ufunc_method(name: str, method: str) -> Callable[..., NoReturn]:
    def of_ufunc(*operands: Any, **keywords: Any) -> NoReturn:
        raise NotImplementedError(
            f"rtcg.numpy has no {name}.{method}; to compute it on the host use numpy.{name}.{method} with a.get()"
        )

    of_ufunc.__name__, of_ufunc.__qualname__ = method, f"{name}.{method}"
    of_ufunc.__doc__ = f"Raises NotImplementedError: only `numpy.{name}.{method}` has it, for arrays on the host.\n"
    return of_ufunc


class FlatView:
    """The elements of an array in C order, as `GPUArray.flat` returns them.

    Indexing and assignment take integers, slices and arrays. ``len`` is the number of elements. Iteration first
    copies all elements to the host, for which it waits.
    """

    def __init__(self, array: GPUArray) -> None:
        self.base = array

    def __len__(self) -> int:
        return self.base.size

    def __iter__(self) -> Iterator[Any]:
        return iter(self.base.get().flat)

    def __getitem__(self, key: Any) -> GPUArray:
        return self.base.ravel()[key]

    def __setitem__(self, key: Any, value: Any) -> None:
        array = self.base
        if array.flags.c_contiguous:
            array.reshape(-1)[key] = value
            return
        flat = array.ravel()
        flat[key] = value
        array[...] = flat.reshape(array.shape)

    def copy(self) -> GPUArray:
        """A new array with one axis; does not wait."""
        return self.base.ravel().copy()

    def __repr__(self) -> str:
        return f"<flat view of an array of shape {self.base.shape}>"
