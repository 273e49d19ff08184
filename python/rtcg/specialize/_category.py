"""Reductions by label."""

from __future__ import annotations

import ast
import dataclasses
import functools
import inspect
import textwrap
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from rtcg import _native, numpy as _xp
from rtcg._conversions import as_dtype, as_flag, as_integer, shown
from rtcg.driver import CompileError
from rtcg.numpy import bincount, histogram

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import SupportsIndex, TypeAlias

    from numpy.typing import ArrayLike, DTypeLike

    from rtcg.numpy import GPUArray

    _Array: TypeAlias = GPUArray | ArrayLike
    _Number: TypeAlias = complex | str

__all__ = ["bincount", "category_reduce", "histogram"]

_NAMES = ("sum", "prod", "min", "max", "mean", "count")


@overload
def category_reduce(
    values: _Array,
    labels: _Array,
    n_labels: SupportsIndex,
    op: str | Callable[[Any, Any], Any] = "sum",
    out: GPUArray | None = None,
    *,
    neutral: _Number | None = None,
    dtype: DTypeLike | None = None,
    weights: _Array | None = None,
    ordered: bool = False,
) -> GPUArray: ...


@overload
def category_reduce(
    values: Callable[[Any, Any], Any] | None = None, /, *, neutral: _Number | None = None
) -> Callable[..., Any]: ...


def category_reduce(
    values: Any = None,
    labels: Any = None,
    n_labels: SupportsIndex | None = None,
    op: str | Callable[[Any, Any], Any] = "sum",
    out: GPUArray | None = None,
    *,
    neutral: _Number | None = None,
    dtype: DTypeLike | None = None,
    weights: Any = None,
    ordered: bool = False,
) -> Any:
    """Combine the values that have the same label. Does not wait.

    ``out[label]`` is what `op` makes of all ``values[i]`` with ``labels[i] == label``. As a decorator
    (``@category_reduce(neutral=1)``) of a function of two numbers, it makes the function that is called with the other
    arguments. The bits of the result are the same in every run on a device.

    Parameters
    ----------
    values : GPUArray or array-like of shape (n,) or (n, d)
        Numbers of any dtype; vectors, one a row, are combined element by element.
    labels : GPUArray or array-like of shape (n,)
        Integers from 0 to ``n_labels - 1``. Others, negative ones too, are an error, which the next operation that
        copies something to the host raises as `IndexError`; their values are left out.
    n_labels : int
        Up to 2**31 - 1.
    op : {"sum", "prod", "min", "max", "mean", "count"}, str or function
        Labels without values have 0, 1, the highest or lowest number of the dtype (infinity for floats), NaN, or 0.
        ``"count"`` counts labels. Another str is an expression of CUDA C of two values `a` and `b`, such as
        ``"a * b"``; a function is a Python function of two numbers that returns one expression of arithmetic,
        comparisons, ``x if c else y``, `min`, `max` and `abs`. It must be associative, and commutative unless
        `ordered`. Values are combined in the dtype of the result, float16 and bfloat16 in float32.
    out : GPUArray, optional
        Receives the result; has its shape and a dtype to which NumPy's rule "same_kind" allows a cast.
    neutral : number or str, optional
        With an expression or a function, the neutral element, which labels without values have: a number that the
        dtype of the result holds, or a str, an expression of CUDA C.
    dtype : dtype, optional
        Dtype of the result and of the computation. By default that of `values`; 64 bits for sums and products of
        integers; float64 for means of integers; int64 for counts.
    weights : GPUArray or array-like of shape (n,), optional
        Real factors of values, only for ``"sum"`` and ``"mean"``: the result is ``sum(w * x)``, or
        ``sum(w * x) / sum(w)``.
    ordered : bool
        Whether values are combined in their order, which needs a sort by label.

    Returns
    -------
    GPUArray of shape (n_labels,) or (n_labels, d)

    Raises
    ------
    ValueError
        If shapes do not fit, `op` is unknown, or `neutral` is missing, not needed or does not compile.
    TypeError
        If `labels` are not integers, `values` not numbers, the dtype of the result cannot hold `neutral` or a number of
        `op`, or the result may not be cast to the dtype of `out`.
    pycuda.driver.CompileError
        If `op` does not compile.

    Notes
    -----
    If all results fit into shared memory several times, blocks combine rows in copies of them; integers are added
    atomically; else rows are sorted by label, or by its high digits, and combined in order. The decision
    ``category.route`` of `rtcg.tune` selects among these.

    Examples
    --------
    >>> from rtcg.specialize import category_reduce
    >>> category_reduce([1.0, 2.0, 4.0, 8.0], [1, 0, 1, 2], 4).get().tolist()
    [2.0, 5.0, 8.0, 0.0]
    >>> @category_reduce(neutral=1)
    ... def product(a, b):
    ...     return a * b
    >>> product([2, 3, 5], [0, 0, 1], 2).get().tolist()
    [6, 5]
    """
    if labels is None and n_labels is None and (values is None or callable(values)):

        def decorate(function: Callable[[Any, Any], Any]) -> Callable[..., Any]:
            return _decorated(function, neutral)

        return decorate if values is None else decorate(values)
    for name, value in (("labels", labels), ("n_labels", n_labels)):
        if value is None:
            raise TypeError(f"category_reduce() is missing the argument {name}")
    operation = op if isinstance(op, _Operation) else _operation(op, neutral)
    x = _xp._unmasked_to_device("values", values)
    count = as_integer("n_labels", n_labels)
    if not 0 <= count < 2**31:
        raise ValueError(f"n_labels is {count}; expected 0 to {2**31 - 1}")
    of_result = as_dtype("dtype", dtype)
    neutral_text = None
    if neutral is not None:
        computed = x.dtype if of_result is None else of_result
        neutral_text = _neutral_text(neutral, computed)
        operation.check_numbers(computed)
    labels = _xp._unmasked_to_device("labels", labels)
    factors = None if weights is None else _xp._unmasked_to_device("weights", weights)

    def reduced(neutral_text: str | None) -> GPUArray:
        return _native.specialize_category_reduce(
            x, labels, count, operation.expression, neutral_text, of_result, factors, as_flag("ordered", ordered)
        )

    try:
        found = reduced(neutral_text)
    except CompileError as error:
        if not isinstance(neutral, str) or not _compiles(lambda: reduced("T(0)")):
            raise
        problem = next((line for line in str(error).splitlines() if "error" in line), str(error)).strip()
        raise ValueError(
            f"neutral is {shown(neutral)}, which does not compile ({problem}); expected a number, or an expression of "
            "CUDA C"
        ) from None
    if out is None:
        return found
    _xp._require_array("out", out)
    if out.shape != found.shape:
        raise ValueError(f"out has shape {out.shape}; expected {found.shape}")
    if not np.can_cast(found.dtype, out.dtype, "same_kind"):
        raise TypeError(f"out is of dtype {out.dtype}; expected one to which {found.dtype} may be cast")
    out[...] = found
    return out


def _compiles(call: Callable[[], Any]) -> bool:
    try:
        call()
    except CompileError:
        return False
    return True


def _decorated(function: Callable[[Any, Any], Any], neutral: Any) -> Callable[..., Any]:
    operation = _operation(function, neutral)
    _neutral_text(neutral, None)

    @functools.wraps(function)
    def reduce_by_label(values: Any, labels: Any, n_labels: SupportsIndex, out: Any = None, **options: Any) -> Any:
        reduce: Callable[..., Any] = category_reduce
        return reduce(values, labels, n_labels, operation, out, neutral=neutral, **options)

    return reduce_by_label


@dataclasses.dataclass(frozen=True)
class _Operation:
    """The name or the expression that native code takes, and the numbers that a Python function has in it."""

    expression: str
    name: str = ""
    numbers: tuple[Any, ...] = ()

    def check_numbers(self, dtype: np.dtype[Any]) -> None:
        for number in self.numbers:
            if not _holds(dtype, np.asarray(number)):
                expected = f"one that {dtype} can hold, the dtype of the result"
                raise TypeError(f"op {self.name} has the number {number}; expected {expected}")


def _operation(op: Any, neutral: Any) -> _Operation:
    if not isinstance(op, str) and not callable(op):
        raise TypeError(f"op is {shown(op)}; expected a name, an expression of CUDA C or a function of two numbers")
    if isinstance(op, str) and op in _NAMES:
        if neutral is not None:
            raise ValueError(f"neutral is {shown(neutral)}; expected none for op '{op}'")
        return _Operation(op)
    if neutral is None:
        what = f"'{op}'" if isinstance(op, str) else getattr(op, "__name__", "a function")
        raise ValueError(
            f"op is {what} without neutral; expected one of {', '.join(map(repr, _NAMES))}, or an expression or "
            "function together with neutral, what labels without values have"
        )
    return _Operation(op) if isinstance(op, str) else _translate(op)


def _neutral_text(neutral: Any, dtype: np.dtype[Any] | None) -> str:
    """The CUDA C of a neutral element that a dtype holds, if it is known."""
    if isinstance(neutral, str):
        return neutral
    number = np.asarray(neutral)
    if isinstance(neutral, np.ma.MaskedArray) or number.ndim or number.dtype.kind not in "biuf":
        raise TypeError(f"neutral is {shown(neutral)}; expected a real number, or an expression of CUDA C")
    if dtype is not None and not _holds(dtype, number):
        raise TypeError(
            f"neutral is {shown(neutral)}; expected a number that {dtype} can hold, the dtype of the result"
        )
    return _literal(number)


def _holds(dtype: np.dtype[Any], number: np.ndarray[Any, Any]) -> bool:
    """Whether a number is one of a dtype, up to the rounding of floats."""
    if dtype.kind not in "biu":
        with np.errstate(over="ignore"):
            return bool(np.isfinite(number.astype(dtype)) or not np.isfinite(number))
    if number.dtype.kind == "f" and not (np.isfinite(number) and number == np.floor(number)):
        return False
    least, greatest = (0, 1) if dtype.kind == "b" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    return least <= int(number) <= greatest


def _literal(value: Any) -> str:
    number = np.asarray(value)
    if number.dtype.kind != "f":
        return f"{int(number)}ull" if int(number) >= 2**63 else f"(long long){int(number)}"
    if np.isfinite(number):
        return float(number).hex()
    return (
        "__int_as_float(0x7fffffff)" if np.isnan(number) else f"{'-' if number < 0 else ''}__int_as_float(0x7f800000)"
    )


_BINARY = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^"}
_COMPARED = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}


def _translate(function: Callable[[Any, Any], Any]) -> _Operation:
    """The CUDA C of a function of two numbers that returns one expression."""
    name = getattr(function, "__name__", repr(function))
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    except (OSError, TypeError, SyntaxError) as error:
        advice = "write it alone on its lines, or as an expression of a and b"
        raise TypeError(f"the source of op {name} was not found or cannot be read; {advice}") from error
    found: list[ast.FunctionDef | ast.Lambda] = [
        node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.Lambda))
    ]
    if len(found) > 1:
        raise TypeError(
            f"op {name} stands on lines with {len(found) - 1} other function(s), and its source is not told apart from "
            "theirs; write it alone on its lines"
        )
    if not found or len(found[0].args.args) != 2:
        raise TypeError(f"op {name} is no function of two numbers; expected a `def` or `lambda` of two parameters")
    a, b = (argument.arg for argument in found[0].args.args)
    if isinstance(found[0], ast.Lambda):
        body: ast.expr = found[0].body
    else:
        statements = [s for s in found[0].body if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))]
        if len(statements) != 1 or not isinstance(statements[0], ast.Return) or statements[0].value is None:
            raise TypeError(f"op {name} has other statements than one return; expected `return` of an expression")
        body = statements[0].value
    translator = _Translator(name, {a: "a", b: "b"})
    return _Operation(translator.text(body), name, tuple(translator.numbers))


class _Translator:
    def __init__(self, function: str, names: dict[str, str]) -> None:
        self.function, self.names = function, names
        self.numbers: list[Any] = []

    def text(self, node: ast.expr) -> str:
        text = self._text(node)
        if text is None:
            raise TypeError(
                f"op {self.function}: `{ast.unparse(node)}` cannot be translated; expected + - * & | ^, comparisons, "
                "`x if c else y`, min, max, abs, its arguments and numbers, or write an expression of CUDA C"
            )
        return text

    def _text(self, node: ast.expr) -> str | None:
        match node:
            case ast.Name(id=name):
                return self.names.get(name)
            case ast.Constant(value=bool() | int() | float() as value):
                self.numbers.append(value)
                return f"T({_literal(value)})"
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
                return f"({self.text(left)} {_BINARY[type(op)]} {self.text(right)})"
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return f"(-{self.text(operand)})"
            case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in _COMPARED:
                return f"({self.text(left)} {_COMPARED[type(op)]} {self.text(right)})"
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return f"({self.text(test)} ? {self.text(body)} : {self.text(orelse)})"
            case ast.Call(func=ast.Name(id="min" | "max" as name), args=[x, y], keywords=[]):
                # Of equal numbers, and where one is NaN, Python has the first.
                sign = "<" if name == "min" else ">"
                return f"({self.text(y)} {sign} {self.text(x)} ? {self.text(y)} : {self.text(x)})"
            case ast.Call(func=ast.Name(id="abs"), args=[x], keywords=[]):
                return f"({self.text(x)} < T(0) ? -{self.text(x)} : {self.text(x)})"
        return None
