from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from rtcg.numpy import GPUArray

@dataclass
class SolverReport:
    """How a solution was found; one report per column for several right-hand sides."""

    reason: str
    iterations: int
    wasted_iterations: int
    restarts: int
    waits_in_loop: int
    waits_at_end: int
    residual: float
    recurrence_residual: float
    threshold: float
    negative_curvature: int
    mode: str
    mode_reason: str
    history: np.ndarray | None

def count(name: str, value: Any, default: int) -> int:
    """A number of at least 1."""

def run(
    method: str,
    A: Any,
    b: Any,
    x0: Any,
    M: Any,
    M2: Any,
    needs_adjoint: bool,
    options: dict[str, Any],
    *,
    refine: bool = False,
    takes_columns: bool = False,
    **numbers: Any,
) -> tuple[GPUArray, list[dict[str, Any]]]:
    """Check the operands and solve a system: returns the solution and a report for each right-hand side."""

def check_options(
    rtol: Any, atol: Any, maxiter: Any, check_every: Any, mode: Any, history: Any, callback: Any
) -> dict[str, Any]:
    """Checked options of `_native.sparse_solve`."""

def solve(
    A: Any,
    b: Any,
    x0: Any = None,
    *,
    rtol: Any = 1e-5,
    atol: Any = 0.0,
    maxiter: Any = None,
    M: Any = None,
    callback: Any = None,
    check_every: Any = None,
    mode: Any = "auto",
    return_report: Any = False,
    **chosen: Any,
) -> tuple[Any, ...]:
    """Solve a square system and return SciPy's results: `x`, `info`, and the report if requested.

    `chosen` has the settings of one solver: `method`, `M2`, `needs_adjoint`, `default` (of `maxiter`) or
    `default_factor` (of rows) and `most`, `counts_cycles`, `takes_columns`, `refine`, `settings` (further options),
    `numbers` of its program, and `errors`, the messages for codes of breakdowns.
    """

def square_solver(
    *, without: tuple[str, ...] = (), takes_columns: bool = False, **always: Any
) -> Callable[[Callable[..., Any]], Callable[..., tuple[Any, ...]]]:
    """Make a public solver from a function of the solver's own parameters, which returns the settings of `solve`.

    The solver has the parameters of `solve`, except those in `without`, and the function's own; its docstring describes
    all of them.
    """
