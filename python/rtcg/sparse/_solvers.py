"""The common parts of the solvers of `rtcg.sparse.linalg`: operands, options, reports, and one signature."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from typing import Any, ParamSpec

import numpy as np

from rtcg import _native
from rtcg._conversions import as_flag, as_float, as_integer, as_text, convert_arguments
from rtcg._messages import shown
from rtcg.numpy import GPUArray
from rtcg.sparse._base import issparse
from rtcg.sparse._operands import to_device
from rtcg.sparse._operators import LinearOperator, as_operand, aslinearoperator

_Parameters = ParamSpec("_Parameters")


@dataclass
class SolverReport:
    """How a solution was found; one report per column for several right-hand sides."""

    #: "converged", "maxiter", "stagnated" (rounding lets the residual become no smaller) or "breakdown".
    reason: str
    #: Iterations that changed the solution.
    iterations: int
    #: Iterations that were enqueued after the deciding one; they did nothing.
    wasted_iterations: int
    #: How often iterations began anew from a residual that was computed from the solution.
    restarts: int
    #: How often the host waited for the device in the loop.
    waits_in_loop: int
    #: How often the host waited at the end: once, and once for each restart.
    waits_at_end: int
    #: The norm of ``b - A @ x``, computed from the solution.
    residual: float
    #: The norm of the residual as the recurrence had it at the end (an estimate, where a solver has no residuals).
    recurrence_residual: float
    #: What the norm had to be less than.
    threshold: float
    #: Directions ``d`` with ``d @ A @ d < 0`` of `cg`: if there are any, `A` is not positive definite.
    negative_curvature: int
    #: How iterations reached the device: "stream", "graph", "device" or "persistent".
    mode: str
    #: Why that mode, and what others lacked.
    mode_reason: str
    #: Norms of residuals by the recurrence, from the one at the beginning on; those of the first 2**20 iterations. With
    #: `refine`, norms in double precision, one for each pass.
    history: np.ndarray | None

    def __repr__(self) -> str:
        values = ((field.name, getattr(self, field.name)) for field in fields(self))
        shown_values = (
            f"{name}={value!r}" if name != "history" or value is None else f"history=<{len(value)} norms>"
            for name, value in values
        )
        return f"{type(self).__name__}({', '.join(shown_values)})"


def _floating(*dtypes: Any) -> np.dtype[Any]:
    kind = np.result_type(*dtypes)
    return np.dtype({"f": np.float32, "F": np.complex64, "D": np.complex128}.get(kind.char, np.float64))


def _right_sides(name: str, v: Any, n: int, dtype: np.dtype[Any], shape: tuple[int, ...], columns: int) -> GPUArray:
    """A vector of `n` elements on the device, or `columns` of them, or an error with SciPy's message."""
    v = v if isinstance(v, GPUArray) else np.asarray(v)
    if v.shape not in ([(n, columns)] if columns else [(n,), (n, 1)]):
        raise ValueError(f"shapes of A {shape} and {name} {v.shape} are incompatible")
    return to_device(v, dtype) if columns else to_device(v, dtype).ravel()


def _native_operator(A: Any) -> Any:
    if issparse(A):
        return A._native_matrix() if A.format == "dia" else A.tocsr()._native
    native = getattr(A, "_native_handle", None)
    return (A.matvec, A.shape) if native is None else native


def _native_adjoint(A: Any) -> Any:
    if issparse(A):
        return A.transpose().conj().tocsr()._native
    if (native := getattr(A, "_native_adjoint", None)) is not None:
        return native()
    return (A.rmatvec, A.shape[::-1]) if A._has_adjoint() else None


def _native_preconditioner(M: Any, A: Any, dtype: np.dtype[Any], needs_adjoint: bool) -> tuple[Any, Any]:
    """The native operator of a preconditioner, and its adjoint."""
    if M is None:
        return None, None
    M = M if issparse(M) else aslinearoperator(M)
    if M.shape != A.shape:
        raise ValueError("matrix and preconditioner have different shapes")
    if issparse(M) and M.format == "dia" and list(M._host_offsets) == [0]:
        return to_device(M.diagonal(), dtype), None
    return _native_operator(M), _native_adjoint(M) if needs_adjoint else None


def count(name: str, value: Any, default: int) -> int:
    """A number of at least 1."""
    return as_integer(name, default if value is None else value, 1)


def _of_single_precision(A: Any, M: Any, dtype: np.dtype[Any]) -> tuple[Any, Any]:
    """The matrix and the preconditioner in single precision."""
    single = np.dtype(np.complex64 if dtype.kind == "c" else np.float32)
    if dtype.itemsize == single.itemsize:
        raise TypeError(f"refine: b and A promote to {dtype}; expected float64 or complex128")

    def convert(operand: Any) -> Any:
        if issparse(operand):
            return operand.astype(single)
        if getattr(operand, "_native_handle", None) is None:
            return operand
        # Native operators take vectors of their own dtype alone.
        return LinearOperator(operand.shape, lambda x: operand.matvec(x.astype(dtype)), dtype=dtype)

    return _native_operator(convert(A)), _native_preconditioner(convert(M), A, single, False)[0]


def _power_beyond_single(A: Any) -> int:
    """The power of two of the elements of `A` if single precision cannot represent them, else 0; waits."""
    most = float(abs(A.data).max().get()) if issparse(A) and A.nnz else 1.0
    power = int(np.clip(np.frexp(most)[1], -1000, 1000))
    return power if np.isfinite(most) and most > 0 and abs(power) > 30 else 0


def _refined_in_units(
    power: int, method: str, A: Any, b: Any, x0: Any, M: Any, M2: Any, needs_adjoint: bool, options: dict[str, Any],
    numbers: dict[str, Any],
) -> tuple[GPUArray, list[dict[str, Any]]]:  # fmt: skip
    """Like `run` with `refine`, for a matrix scaled by a power of two, with the solution scaled back."""
    unit = float(np.ldexp(1.0, -power))
    M = None if M is None else (M if issparse(M) else aslinearoperator(M)) * (1 / unit)
    x0 = None if x0 is None else to_device(x0) * (1 / unit)
    numbers = numbers | {name: numbers[name] * unit for name in ("shift",) if name in numbers}
    x, found = run(method, A * unit, b, x0, M, M2, needs_adjoint, options, refine=True, **numbers)
    return x * unit, found


def run(
    method: str, A: Any, b: Any, x0: Any, M: Any, M2: Any, needs_adjoint: bool, options: dict[str, Any], *,
    refine: bool = False, takes_columns: bool = False, **numbers: Any,
) -> tuple[GPUArray, list[dict[str, Any]]]:  # fmt: skip
    """Check the operands and solve a system: returns the solution and a report for each right-hand side."""
    A = A if issparse(A) else aslinearoperator(A)
    rows, columns = A.shape
    if rows != columns and method not in ("lsqr", "lsmr"):
        raise ValueError(f"expected square matrix, but got shape={A.shape}")
    b = b if isinstance(b, GPUArray) else np.asarray(b)
    dtype = _floating(A.dtype, b.dtype)
    if refine and (power := _power_beyond_single(A)):
        return _refined_in_units(power, method, A, b, x0, M, M2, needs_adjoint, options, numbers)
    n_columns = b.shape[1] if takes_columns and b.ndim == 2 and b.shape[1] > 1 else 0
    if refine and n_columns:
        raise ValueError(f"b has shape {b.shape}; refine takes one right-hand side")
    b = _right_sides("b", b, rows, dtype, A.shape, n_columns)
    x0 = None if x0 is None else _right_sides("x0", x0, columns, dtype, A.shape, n_columns)
    return _native.sparse_solve(
        method,
        (_native_operator(A), _native_adjoint(A) if needs_adjoint else None),
        b,
        x0,
        _native_preconditioner(M, A, dtype, needs_adjoint),
        _native_preconditioner(M2, A, dtype, needs_adjoint),
        numbers={name: float(value) for name, value in numbers.items()},
        single=_of_single_precision(A, M, dtype) if refine else None,
        **options,
    )


def check_options(
    rtol: Any, atol: Any, maxiter: Any, check_every: Any, mode: Any, history: Any, callback: Any
) -> dict[str, Any]:
    """Checked options of `_native.sparse_solve`."""
    if not (rtol >= 0 and atol >= 0):
        raise ValueError(f"rtol is {rtol} and atol is {atol}; expected numbers of at least 0")
    if callback is not None and not callable(callback):
        raise TypeError(f"callback is {shown(callback)}; expected a callable")
    return {
        "rtol": float(rtol),
        "atol": float(atol),
        "maxiter": maxiter,
        "check_every": 20 if check_every is None else as_integer("check_every", check_every),
        "mode": mode,
        "history": history,
        "callback": callback,
    }


def _report(found: dict[str, Any]) -> SolverReport:
    history = found["history"]
    found = {name: value for name, value in found.items() if name not in ("code", "scalars", "history")} | {
        "history": None if history is None else np.array(history),
        "negative_curvature": int(found["scalars"]["negative"]),
    }
    return SolverReport(**found)


def _info(found: dict[str, Any], limit: int | None) -> int:
    """SciPy's code for how iterations ended; `limit` is the value for too many iterations, by default their number."""
    if found["reason"] == "converged":
        return 0
    if found["reason"] == "breakdown" and (limit is None or found["code"] != -12):
        return found["code"]
    return max(1, found["iterations"]) if limit is None else limit


def solve(
    A: Any, b: Any, x0: Any = None, *, rtol: Any = 1e-5, atol: Any = 0.0, maxiter: Any = None, M: Any = None,
    callback: Any = None, check_every: Any = None, mode: Any = "auto", return_report: Any = False, **chosen: Any,
) -> tuple[Any, ...]:  # fmt: skip
    """Solve a square system and return SciPy's results: `x`, `info`, and the report if requested.

    `chosen` has the settings of one solver: `method`, `M2`, `needs_adjoint`, `default` (of `maxiter`) or
    `default_factor` (of rows) and `most`, `counts_cycles`, `takes_columns`, `refine`, `settings` (further options),
    `numbers` of its program, and `errors`, the messages for codes of breakdowns.
    """
    default = chosen.get("default") or min(chosen.get("default_factor", 10) * A.shape[0], chosen.get("most", np.inf))
    maxiter = count("maxiter", maxiter, max(1, default))
    settings = chosen.get("settings", {}) | ({} if callback is not None else {"takes_norms": False})
    history = bool(return_report) or settings.get("takes_norms", False)
    options = check_options(rtol, atol, maxiter, check_every, mode, history, callback) | settings
    numbers = dict(chosen.get("numbers", {}))
    if settings.get("takes_norms") and chosen.get("counts_iterations"):
        numbers["maxinner"] = maxiter
    x, found = run(
        chosen["method"], A, b, x0, M, chosen.get("M2"), chosen.get("needs_adjoint", False), options,
        refine=chosen.get("refine", False), takes_columns=chosen.get("takes_columns", False), **numbers,
    )  # fmt: skip
    for one in found:
        if one["code"] in chosen.get("errors", {}):
            raise ValueError(chosen["errors"][one["code"]])
    limit = maxiter if chosen.get("counts_cycles") else None
    info, reports = [_info(one, limit) for one in found], [_report(one) for one in found] if return_report else []
    if x.ndim == 2:
        return (x, np.array(info), reports) if return_report else (x, np.array(info))
    return (x, info[0], reports[0]) if return_report else (x, info[0])


#: Of parameters of solvers.
_CONVERTERS = (
    dict.fromkeys(("A", "M", "M1", "M2"), as_operand)
    | dict.fromkeys(("rtol", "atol", "shift"), as_float)
    | dict.fromkeys(("maxiter", "check_every", "restart", "m", "k"), as_integer)
    | dict.fromkeys(("flexible", "pipelined", "refine", "return_report", "discard_C"), as_flag)
    | {"mode": as_text}
)

_PARAMETERS = {
    "A": """sparse array, dense array, `LinearOperator`, or a callable with `shape` and `dtype`
    Functions are called with a `GPUArray` and should not wait.""",
    "b": """array of shape (n,) or (n, 1){columns}
    The dtype of the solution is float32, float64, complex64 or complex128, as `A` and `b` promote to.""",
    "x0": """array, optional
    The initial guess, which is not modified. Zeros unless given.""",
    "rtol": """float
    The norm of the residual has to be less than ``max(rtol * norm(b), atol)``.""",
    "atol": """float
    See `rtol`.""",
    "maxiter": """int, optional
    The maximum number of iterations, ten times n unless given.""",
    "M": """as `A`, optional
    A preconditioner: an approximation of the inverse of `A`. A `dia_array` with only the main diagonal is fused
    into the kernels of an iteration.""",
    "callback": """callable, optional
    Called after each iteration with the solution so far, as a `GPUArray` that later iterations overwrite.""",
    "check_every": """int, optional
    Iterations between two checks of the residual: 20 by default, and always 1 with a callback.""",
    "mode": """{"auto", "stream", "graph", "device", "persistent"}
    How iterations reach the device: kernel by kernel, as graphs of `check_every` iterations, as one graph with a
    loop, or as one kernel. All but "stream" require a sparse `A`, a sparse `M` or none, and no callback; "device"
    and "persistent" also require one right-hand side. "auto" chooses the mode that is expected to be fastest; the
    report says which and why. All modes give bitwise equal results.""",
    "return_report": """bool
    Whether to return a `SolverReport` too.""",
}

_RETURNS = """
Returns
-------
x : GPUArray of shape (n,){columns}
info : int{integers}
    0 if the residual, recomputed from `x`, is small enough; else the number of iterations, or a negative number
    after a breakdown: a divisor that is 0 or not finite.
report : SolverReport{reports}
    With `return_report`.

The host does not wait in the loop. It waits once at the end, for the residual computed from `x`."""

_COLUMNS = {
    "columns": ", or (n, k)",
    "integers": ", or an array of k integers",
    "reports": ", or a list of k reports",
}


def _described(names: Iterable[str], text: str, takes_columns: bool) -> str:
    """The docstring of a solver: its summary, all parameters including its own, results, and errors."""
    words = _COLUMNS if takes_columns else dict.fromkeys(_COLUMNS, "")
    text, raises, errors = inspect.cleandoc(text).partition("\nRaises\n------\n")
    summary, _, section = text.partition("\nParameters\n----------\n")
    documented = {}
    for line in section.rstrip().splitlines():
        if not line.startswith(" ") and " : " in line:
            name = line.partition(" : ")[0]
            documented[name] = line.partition(" : ")[2]
        else:
            documented[name] += "\n" + line
    texts = (f"{name} : {(documented.get(name) or _PARAMETERS[name]).rstrip()}" for name in names)
    parts = [summary.rstrip(), "\nParameters\n----------", *texts, _RETURNS]
    for name, word in words.items():
        parts = [part.replace(f"{{{name}}}", word) for part in parts]
    return "\n".join(parts + ([raises.rstrip(), errors] if raises else [])) + "\n"


def square_solver(
    *, takes_columns: bool = False, **always: Any
) -> Callable[[Callable[_Parameters, dict[str, Any]]], Callable[_Parameters, tuple[Any, ...]]]:
    """Make a public solver from a function with its parameters, which returns the settings of `solve`.

    The docstring of the function describes its own parameters, that of the solver also those of `solve`.
    """
    common = inspect.signature(solve).parameters

    def decorate(choose: Callable[_Parameters, dict[str, Any]]) -> Callable[_Parameters, tuple[Any, ...]]:
        signature = inspect.signature(choose).replace(return_annotation="tuple[Any, ...]")

        @functools.wraps(choose)
        def solver(*args: Any, **keywords: Any) -> tuple[Any, ...]:
            try:
                bound = signature.bind(*args, **keywords)
            except TypeError as error:
                raise TypeError(f"{choose.__name__}() {error}") from None
            convert_arguments(_CONVERTERS, signature.parameters, bound.arguments)
            bound.apply_defaults()
            chosen = choose(*bound.args, **bound.kwargs)
            values = {name: value for name, value in bound.arguments.items() if name in common}
            return solve(**values, **{**always, "takes_columns": takes_columns, "method": choose.__name__, **chosen})

        described: Any = solver
        del described.__wrapped__
        described.__signature__ = signature
        described.__doc__ = _described(signature.parameters, choose.__doc__ or "", takes_columns)
        return solver

    return decorate
