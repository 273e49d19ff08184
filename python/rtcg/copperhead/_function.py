"""The decorator `cu`, and programs run by Python's interpreter."""

from __future__ import annotations

import builtins
import functools
import inspect
import math
import sys
import threading
import time
import types
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from rtcg._messages import shown
from rtcg.copperhead import _compiled, _prelude
from rtcg.copperhead._errors import hide_frames
from rtcg.copperhead._places import DevicePlace, Place, as_place, places
from rtcg.copperhead._ragged import ragged
from rtcg.copperhead._values import from_argument, to_result

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

#: Python's built-in functions, of which those in the prelude are the prelude's.
_BUILTINS = vars(builtins) | {name: getattr(_prelude, name) for name in _prelude.__all__ if hasattr(builtins, name)}

#: The module `math` in programs: its functions of numbers are the prelude's, which keep dtypes. Those that return
#: integers for floats have no counterpart.
_MATH_NAMES = {"degrees": "rad2deg", "radians": "deg2rad", "asinh": "arcsinh", "acosh": "arccosh", "atanh": "arctanh"}
_MATH = {
    function: getattr(_prelude, _MATH_NAMES.get(name, name))
    for name, function in vars(math).items()
    if _MATH_NAMES.get(name, name) in _prelude.__all__ and name not in ("ceil", "floor", "trunc")
}
_MATH_MODULE = types.SimpleNamespace(
    **{name: _MATH.get(value, value) for name, value in vars(math).items() if not name.startswith("_")}
)

#: Tail recursion of programs is deep. Before 3.11 each call of a Python function takes from the stack of C.
_RECURSION_LIMIT = 50_000 if sys.version_info >= (3, 11) else 10_000


_PLAIN = inspect.Parameter.POSITIONAL_OR_KEYWORD


class CuFunction:
    """A data-parallel program: a Python function that runs at any of `places`. `cu` makes it.

    Called with arrays, lists, numbers and tuples of these, it runs at ``target_place``, by default at
    `places.default_place`; ``verbose=True`` prints to stderr what ran where, for which types and for how long.

    Attributes
    ----------
    __wrapped__ : function
        The Python function itself.
    """

    __name__: str
    __qualname__: str
    __wrapped__: Callable[..., Any]

    def __init__(self, function: Callable[..., Any], contract: bool = False) -> None:
        functools.update_wrapper(self, function)
        self._contract = contract
        self.__signature__ = inspect.signature(function)
        kinds = {parameter.kind for parameter in self.__signature__.parameters.values()}
        #: The number of arguments that need no binding to names; -1 if parameters are not plain ones.
        self._n_parameters = len(self.__signature__.parameters) if kinds <= {_PLAIN} else -1

    @overload
    def __get__(self, instance: None, owner: type | None = None) -> CuFunction: ...

    @overload
    def __get__(self, instance: object, owner: type | None = None) -> types.MethodType: ...

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        # As functions do: what `instance` is bound to is an argument, which the call refuses by its name.
        return self if instance is None else types.MethodType(self, instance)

    def __call__(self, *args: Any, target_place: Place | None = None, verbose: bool = False, **kwargs: Any) -> Any:
        """Run the program.

        Parameters
        ----------
        *args, **kwargs : number, array, list, tuple, ragged, function
            What the function takes: numbers of Python, which take the dtype of what they meet; NumPy arrays and
            scalars, whose dtypes decide what is computed; `GPUArray` and other arrays on a device or with DLPack;
            lists, as `numpy.asarray` takes them, and lists of rows; `ragged` sequences; sparse matrices in compressed
            rows, as the tuple of the values and the columns of each row; tuples of these; other programs. An array with
            several axes is a sequence of sequences, one of a structure a sequence of tuples.
        target_place : Place, optional
            Where to run.
        verbose : bool, optional

        Returns
        -------
        scalar, array, ragged or tuple
            At `places.here`, NumPy scalars and arrays; at a device, arrays there, for which the call does not wait.
            Tuples in sequences are elements of a structure with the fields ``f0``, ``f1``, ...; rows of one length make
            an array with one more axis, others a `ragged` sequence. The dtype of an empty result is that of its
            elements if it is known, else float64.

        Raises
        ------
        TypeError
            If an argument or a result has a type that programs do not have, or the arguments do not fit the function.
        IndexError
            If an element is read or written that a sequence does not have.
        ValueError
            If the lengths of sequences differ that have to be equal, or there is no such place.
        UntranslatableError
            If the function has what programs do not have, at a device; a kind of `TypeError`. Its text has each
            problem with the place in the source. Tracebacks of all errors end with the call, or with the program's
            frames at `places.here`; ``RTCG_TRACEBACK=full`` shows the frames between them.
        """
        if _running.functions is not None:
            return _running.plain(self)(*args, **kwargs)
        try:
            place = places.default_place if target_place is None else as_place("target_place", target_place)
            if kwargs or len(args) != self._n_parameters:
                args = self._bind(args, kwargs)
            if verbose:
                return self._call_verbosely(args, place)
            return _compiled.call(self, args, place) if isinstance(place, DevicePlace) else _interpret(self, args)
        except Exception as error:
            hide_frames(error)
            raise

    def _call_verbosely(self, args: tuple[Any, ...], place: Place) -> Any:
        begun = time.perf_counter()
        result = self(*args, target_place=place)
        took_ms = (time.perf_counter() - begun) * 1e3
        types_text = f"({', '.join(map(_describe, args))}) -> {_describe(result)}"
        print(f"{self.__name__} at {place.name}: {types_text}, {took_ms:.3f} ms", file=sys.stderr)
        return result

    def _bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        """The arguments by position."""
        try:
            bound = self.__signature__.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{self.__name__}{self.__signature__}: {error}") from None
        bound.apply_defaults()
        if bound.kwargs:
            raise TypeError(f"{self.__name__}{self.__signature__}: keyword-only parameters are not supported")
        return bound.args

    def source(self, *args: Any, target_place: Place | None = None) -> str:
        """The CUDA C++ of the kernels that a call with these arguments compiles, in their plainest form.

        Raises what a call raises for arguments and programs that do not fit; `ValueError` at `places.here`, which has
        no kernels. Does not run the program.
        """
        sources: list[str] = self._compiled_for(args, target_place, "sources")
        return "\n\n".join(sources)

    def plan(self, *args: Any, target_place: Place | None = None) -> str:
        """What a call with these arguments will do, as text: each kernel with the line that it comes from.

        It says what each one reads and writes, and why anything is stored. Raises what `source` raises.
        """
        text: str = self._compiled_for(args, target_place, "plan")
        return text

    def program(self, *args: Any, target_place: Place | None = None) -> str:
        """The core program of a call with these arguments after all passes, as text. Raises what `source` raises."""
        text: str = self._compiled_for(args, target_place, "program")
        return text

    def _compiled_for(self, args: tuple[Any, ...], target_place: Place | None, what: str) -> Any:
        place = places.default_place if target_place is None else as_place("target_place", target_place)
        if not isinstance(place, DevicePlace):
            raise ValueError(
                f"target_place is {shown(place)}, where Python's interpreter runs programs; expected a device"
            )
        bound = self._bind(args, {})
        _compiled.check_arguments(self, bound)
        with place.scope():
            return getattr(_compiled.program_of(self), what)(bound)

    def get_source(self) -> str:
        """The text of the function, with its decorators; raises `TypeError` if Python does not find it."""
        try:
            return inspect.getsource(self.__wrapped__)
        except OSError:
            file = self.__wrapped__.__code__.co_filename
            raise TypeError(
                f"the source of {self.__name__} is not found in {file!r}; programs are compiled from their source: "
                "write the function into a file or a cell of a notebook"
            ) from None

    def __repr__(self) -> str:
        return f"<cu function {self.__name__}{self.__signature__}>"

    def __reduce__(self) -> str:
        # As functions are: by name.
        return self.__qualname__


@overload
def cu(function: Callable[..., Any], *, contract: bool | None = ...) -> CuFunction: ...


@overload
def cu(function: None = None, *, contract: bool | None = ...) -> Callable[[Callable[..., Any]], CuFunction]: ...


def cu(function: Any = None, *, contract: bool | None = None) -> Any:
    """Make a Python function a data-parallel program, which runs at any of `places`.

    Parameters
    ----------
    function : function
        A function of Python, written with expressions, ``if``, nested functions, comprehensions, tail recursion and the
        functions of the prelude. ``map``, ``sum`` and the like are the prelude's in it, imported or not. It may call
        other programs. Without it, a decorator.
    contract : bool, optional
        Whether devices may round a product and the sum with it once, as compilers of C do. By default they may not:
        results have the bits of NumPy's, operation by operation. It holds for all programs that this one calls. A
        program keeps what it has.

    Returns
    -------
    CuFunction

    Raises
    ------
    TypeError
        If `function` is no function of Python.

    Examples
    --------
    >>> import numpy as np
    >>> from rtcg.copperhead import cu, places
    >>> @cu
    ... def axpy(a, x, y):
    ...     return [a * xi + yi for xi, yi in zip(x, y)]
    >>> axpy(2, np.arange(3, dtype=np.float32), np.ones(3, np.float32), target_place=places.here)
    array([1., 3., 5.], dtype=float32)
    """
    if function is None:
        return functools.partial(cu, contract=contract)
    if contract is not None and not isinstance(contract, bool):
        raise TypeError(f"contract is {shown(contract)}; expected a bool")
    if isinstance(function, CuFunction):
        is_same = contract is None or contract == function._contract
        return function if is_same else CuFunction(function.__wrapped__, bool(contract))
    if not isinstance(function, types.FunctionType):
        raise TypeError(f"cu: {shown(function)} is of type {type(function).__name__}; expected a function of Python")
    return CuFunction(function, bool(contract))


def _describe(value: Any) -> str:
    """The type of an argument or a result in a few words."""
    if isinstance(value, tuple):
        return f"({', '.join(map(_describe, value))})"
    if isinstance(value, list):
        return f"list[{len(value)}]"
    if isinstance(value, ragged):
        return f"ragged {value.dtype}[{len(value)}]"
    dtype = getattr(value, "dtype", None)
    shape = getattr(value, "shape", ())
    if dtype is not None:
        return f"{dtype}[{', '.join(map(str, shape))}]" if shape else str(dtype)
    return type(value).__name__


# -- the interpreter --------------------------------------------------------------------------


class _Running(threading.local):
    """The run of a program in this thread: the functions that its programs are, or None if none runs."""

    def __init__(self) -> None:
        self.functions: dict[CuFunction, types.FunctionType] | None = None

    def plain(self, program: CuFunction) -> types.FunctionType:
        """The Python function that stands for a program during the run."""
        assert self.functions is not None
        found = self.functions.get(program)
        return self._make(program, self.functions) if found is None else found

    def _make(self, program: CuFunction, functions: dict[CuFunction, types.FunctionType]) -> types.FunctionType:
        """The function with the prelude as built-in functions, and with plain functions for other programs.

        Plain functions call each other without `CuFunction.__call__` between them, so that deep recursion takes nothing
        from the stack of C.
        """
        function: Any = program.__wrapped__
        scope: dict[str, Any] = {"__builtins__": _BUILTINS, "__name__": function.__module__}
        cells = tuple(types.CellType() for _ in function.__closure__ or ())
        made = types.FunctionType(function.__code__, scope, function.__name__, function.__defaults__, cells or None)
        made.__kwdefaults__ = function.__kwdefaults__
        functions[program] = made
        for name in _names_in(function.__code__):
            if name in function.__globals__:
                scope[name] = self.substitute(function.__globals__[name])
        for cell, old in zip(cells, function.__closure__ or (), strict=True):
            try:
                cell.cell_contents = self.substitute(old.cell_contents)
            except ValueError:  # The variable has no value yet.
                continue
        return made

    def substitute(self, value: Any) -> Any:
        """A value, or what stands for it in programs: the plain function of another one, the prelude's for `math`'s."""
        if isinstance(value, CuFunction):
            return self.plain(value)
        if isinstance(value, types.BuiltinFunctionType):
            return _MATH.get(value, value)
        return _MATH_MODULE if value is math else value


_running = _Running()


def _names_in(code: types.CodeType) -> Iterator[str]:
    """The names that code and the functions in it may look up among the globals."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _names_in(constant)


class _DeepRecursion:
    """Raises the limit of recursion while programs run in any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._n_runs = 0
        self._usual = 0

    def __enter__(self) -> None:
        with self._lock:
            if self._n_runs == 0:
                self._usual = sys.getrecursionlimit()
                sys.setrecursionlimit(max(self._usual, _RECURSION_LIMIT))
            self._n_runs += 1

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._n_runs -= 1
            if self._n_runs == 0:
                sys.setrecursionlimit(self._usual)


_deep_recursion = _DeepRecursion()


def _interpret(program: CuFunction, args: tuple[Any, ...]) -> Any:
    """Run a program as Python."""
    if np.lib.NumpyVersion(np.__version__) < "2.0.0":
        raise RuntimeError(f"places.here needs NumPy 2, where np.float32(3) + 1.0 is float32; found {np.__version__}")
    names = list(program.__signature__.parameters)
    _running.functions = {}
    try:
        with np.errstate(all="ignore"), _deep_recursion:
            values = [_running.substitute(from_argument(_name_of(names, k), arg)) for k, arg in enumerate(args)]
            result = _run(program, values)
            try:
                return to_result(result)
            except (TypeError, OverflowError) as error:
                raise type(error)(f"{program.__name__}: {error}") from None
    finally:
        _running.functions = None


def _run(program: CuFunction, values: list[Any]) -> Any:
    """The result of a program in Python; errors about the limits of this place say what they are."""
    try:
        return _running.plain(program)(*values)
    except RecursionError as error:
        error.args = (
            f"{program.__name__}: the recursion is deeper than {sys.getrecursionlimit()} calls, the limit of "
            "places.here. At a device, tail recursion is a loop without a limit: use target_place=places.gpu0, or take "
            "fewer steps here",
        )
        raise
    except TypeError as error:
        if str(error) == "list indices must be integers or slices, not tuple":
            error.args = (
                f"{program.__name__}: a list is indexed with a tuple. At places.here `B[i, j]` is for sequences of "
                "sequences that are arguments or results of the prelude's functions; write `B[i][j]` for a list that a "
                "comprehension makes",
            )
        raise


def _name_of(names: list[str], position: int) -> str:
    return names[min(position, len(names) - 1)]
