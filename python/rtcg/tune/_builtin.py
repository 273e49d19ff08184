"""Tuning of the kernels behind array operations: measures tiles, splits, threads and algorithms instead of rules."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from rtcg import _native
from rtcg._conversions import as_callable, as_float, as_integer, as_list, as_text, converts
from rtcg._messages import shown
from rtcg.driver import Context
from rtcg.tune._callables import CallableTarget, as_expected, require_alike
from rtcg.tune._run import StoredProblem, run_search
from rtcg.tune._store import as_store, store as default_store

if TYPE_CHECKING:
    from rtcg._native import ArrayDecision, TuningTable
    from rtcg.tune._report import Report
    from rtcg.tune._store import Store


@converts(function=as_callable, rtol=as_float, atol=as_float, store=as_store, threads=as_integer)
def builtin(
    function: Callable[[], Any], *, budget: str | float | None = "30 s", only: str | Sequence[str] | None = None,
    verify: Any = None, rtol: float | None = None, atol: float | None = None, store: Store | None = None,
    threads: int = 1, **options: Any,
) -> dict[str, Report]:  # fmt: skip
    """Tune the choices that array operations in a call leave open, and make later calls use them.

    Calls the function once to find the decisions that it encounters, such as the tile of a matrix product, and searches
    each of them with the function itself. Later calls in this process and in others use the results, for problems of
    this size (most sizes are rounded up to the next power of two) on this kind of device.

    Parameters
    ----------
    function : callable
        Takes no arguments, and returns arrays that do not depend on the choice, such as ``lambda: a @ b``.
    budget : str or float
        The budget of each decision, as for :func:`search`.
    only : str or sequence of str, optional
        Names of decisions, or prefixes of names, such as ``"matmul"``.
    verify, rtol, atol
        The expected result: arrays, or a function that returns them. By default the result before tuning. A choice with
        another result is never used.
    store : Store, optional
        The store of the results; later calls use only those of the default store.
    threads : int, optional
        Threads that compile in advance; by default each call compiles when needed. With more than one, the function is
        also called on these threads, without launches of array kernels: it must consist of array operations that change
        nothing in place, and its results are allocated on each thread.
    **options
        ``strategy``, ``seed``, ``observers``, ``progress``.

    Returns
    -------
    dict
        A :class:`Report` for each decision and problem with more than one choice, by name and problem.

    Notes
    -----
    Waits for the device.

    Examples
    --------
    >>> import rtcg.numpy as xp
    >>> from rtcg import tune
    >>> a = xp.ones((64, 500), "float32")
    >>> reports = tune.builtin(lambda: a.sum(axis=0), budget="3 evaluations", progress=False)
    >>> [(name, len(report.trials)) for name, report in reports.items()]
    [('reduce.partition(dtype=float32, axis=...)', 3)]
    """
    expected, decisions = _native.record_array_decisions(function)
    expected = list(expected) if isinstance(expected, (tuple, list)) else [] if expected is None else [expected]
    if verify is not None:
        verify = as_expected(verify)
        require_alike(verify, expected)
    verify = verify or expected
    only = None if only is None else as_list("only", only, as_text, "names of decisions", may_be_empty=True)
    reports = {}
    # What a route leads to is tuned before routes are compared.
    for decision in reversed(decisions):
        if only is not None and not decision.name.startswith(tuple(only)):
            continue
        table = decision.table()
        if len(table) < 2:
            continue
        stored = StoredProblem(store or default_store(), decision.key, decision.problem)
        space: Any = _DecisionSpace(table)
        target = _DecisionTarget(decision, function, verify, rtol, atol, threads > 1)
        incumbents = [decision.current, *stored.incumbents(space), *decision.shipped_incumbents(10)]
        reports[describe(decision)] = run_search(
            target,
            space,
            threads=threads,
            budget=budget,
            default=decision.rule,
            incumbents=incumbents,
            stored=stored,
            **options,
        )
        _native.follow_stored_choices(True)
    return reports


def describe(decision: ArrayDecision) -> str:
    """The decision and its problem, as text."""
    problem = ", ".join(f"{name}={value}" for name, value in decision.problem.items())
    return f"{decision.name}({problem})"


class _DecisionSpace:
    """The choices of a decision, in place of a declared space."""

    def __init__(self, table: TuningTable) -> None:
        self._table = table

    def configurations(self) -> TuningTable:
        return self._table

    def check(self, config: dict[str, Any]) -> None:
        if self._table.find(config) is None:
            raise ValueError(f"{config} is none of the choices")


class _DecisionTarget(CallableTarget):
    """A call with a forced choice."""

    def __init__(
        self,
        decision: ArrayDecision,
        function: Callable[..., Any],
        verify: Any,
        rtol: float | None,
        atol: float | None,
        compiles_ahead: bool,
    ) -> None:
        self._decision, self._compiles_ahead = decision, compiles_ahead
        self._context: Any = Context.get_current()
        super().__init__(function, verify, rtol, atol, None)

    def compile(self, config: dict[str, Any]) -> None:
        """Compile on the search's threads, so that the call finds its kernels. Errors appear when the call is made."""
        if not self._compiles_ahead:
            return
        self._context.push()
        try:
            self._decision.compile(config, self._function)
        except Exception:  # noqa: BLE001  # the call itself raises it again, on the thread that measures
            pass
        finally:
            Context.pop()

    def _call(self, launches: int) -> Any:
        def calls() -> Any:
            for _ in range(launches - 1):
                self._function()
            return self._function()

        return self._decision.force(self._config, calls)


def tune_families(
    families: Sequence[str],
    budget: str | float,
    only: Sequence[str] | None = None,
    matching: str | None = None,
    store: Store | None = None,
) -> None:
    """Tune the usual calls of these families, and print for each decision the choice and its ratio to the rule."""
    import rtcg.autoinit  # noqa: F401
    from rtcg import driver
    from rtcg.tune._builtin_workloads import workloads

    threads = min(os.cpu_count() or 1, 8)
    n_tuned = 0
    is_virtual = driver.Context.get_device().is_virtual
    for family in families:
        for name, function, options in workloads(family, is_virtual):
            if matching is not None and matching not in name:
                continue
            print(name, flush=True)
            for text, report in builtin(
                function, budget=budget, only=only, store=store, threads=threads, **options
            ).items():
                n_tuned += 1
                tried, failed = len(report.trials), len(report.failures)
                failures = f", {failed} failed" if failed else ""
                best = ", ".join(f"{key}={value}" for key, value in (report.best or {}).items())
                speedup = f"{report.speedup[0]:.3f} times the rule" if report.speedup else "not compared"
                print(f"  {text}: {speedup} with {best}; {tried} tried{failures}", flush=True)
    if not n_tuned:
        raise ValueError(
            f"matching is {shown(matching)}, only is {shown(only)}: no call of "
            f"{', '.join(families)} meets such a decision; "
            "--list prints all decisions"
        )


def list_decisions(families: Sequence[str], only: Sequence[str] | None = None) -> None:
    """Print each decision of these families, its parameters and their candidates."""
    for name, doc, parameters, _ in _native.array_decisions():
        if not name.startswith(tuple(families)) or (only is not None and not name.startswith(tuple(only))):
            continue
        print(f"{name}: {' '.join(doc.split())}")
        for parameter, meaning, values in parameters:
            print(f"  {parameter} = {', '.join(values)}: {meaning}")


def publish(store: Store, folder: Any, version: int, keep: int = 10) -> int:
    """Write the results of decisions to files named after them: the chosen one and the best for each problem."""
    import tempfile
    from pathlib import Path

    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    n_files = 0
    with tempfile.TemporaryDirectory() as scratch:
        store._native.publish(scratch, version, keep)
        for name, _, _, digest in _native.array_decisions():
            path = Path(scratch) / f"{name.replace('.', '_')}-{digest}.jsonl"
            if path.exists():
                (folder / f"{name}.jsonl").write_bytes(path.read_bytes())
                n_files += 1
    return n_files
