"""The search loop with its options, progress display and store."""

from __future__ import annotations

import json
import math
import numbers
import os
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from rtcg import _native
from rtcg._conversions import as_flag, as_float, as_integer, as_mapping, as_sequence, converts
from rtcg._messages import shown
from rtcg.tune._report import Report
from rtcg.tune._store import tool_versions

if TYPE_CHECKING:
    from rtcg._native import TuningKernelKey, TuningObjective, TuningPromise, TuningRecorder
    from rtcg.tune._space import Space
    from rtcg.tune._store import Store
    from rtcg.tune.observers import Sensor

    _Observer: TypeAlias = Sensor | str | Callable[[dict[str, Any], dict[str, Any]], dict[str, Any] | None]
    _Objective: TypeAlias = str | Callable[[dict[str, Any], dict[str, Any]], float]

#: Configurations of the nearest stored device and problem that a search tries first.
_INCUMBENTS = 10


class Budget(NamedTuple):
    """Limits of a search, which ends when the first one is reached; None means no limit. See :func:`parse_budget`.

    Attributes
    ----------
    seconds : float or None
        Limit of wall time in seconds.
    evaluations : int or None
        Limit of the number of configurations tried, including failures.
    """

    seconds: float | None = None
    evaluations: int | None = None


def parse_budget(budget: str | float | Budget | None) -> Budget:
    """Parse the limits of a search, as every ``budget=`` of this module does.

    Parameters
    ----------
    budget : str, float, Budget or None
        A text such as ``"20 s"``, ``"500 ms"``, ``"2 min"``, ``"1 h"``, ``"200 evaluations"``, or several with commas;
        a positive number of seconds; None for no limit.

    Returns
    -------
    Budget

    Raises
    ------
    ValueError
        If a text has another form, or a number is not positive.
    TypeError
        If `budget` is neither text nor number.

    Examples
    --------
    >>> from rtcg import tune
    >>> tune.parse_budget("1.5 min, 200 evaluations")
    Budget(seconds=90.0, evaluations=200)
    """
    if budget is None or isinstance(budget, Budget):
        return budget or Budget()
    if isinstance(budget, str):
        return Budget(*_native.parse_budget(budget))
    expected = "such as '20 s', '200 evaluations', or a positive number of seconds"
    return Budget(seconds=_as_positive("budget", budget, expected))


def _as_positive(name: str, value: object, expected: str) -> float:
    number = as_float(name, value, expected)
    if not number > 0:
        raise ValueError(f"{name} is {shown(value)}; expected {expected}")
    return number


def as_work(name: str, value: float | str | None) -> float | None:
    """`value`, bytes or operations, as a positive and finite float; None remains None."""
    number = None if value is None else _as_positive(name, value, "a positive number")
    if number == math.inf:
        raise ValueError(f"{name} is {value}; expected a finite number")
    return number


@converts(
    seed=as_integer,
    default=as_mapping,
    maximize=as_flag,
    progress=as_flag,
    observers=as_sequence,
    bytes=as_work,
    flops=as_work,
)
def run_search(
    target: Any, space: Space, *, budget: str | float | None = "30 s", strategy: Any = "auto", seed: int = 0,
    threads: int | None = None, finalists: int = 5, windows: int = 7, occupancy_slack: float | None = None,
    limit: tuple[float, str] | None = None, until: str | float | None = None,
    lower_bound: Callable[[dict[str, Any]], float] | None = None, default: dict[str, Any] | None = None,
    incumbents: Iterable[dict[str, Any]] = (), observers: Sequence[_Observer] = (), progress: bool | None = None,
    stored: StoredProblem | None = None, tick_seconds: float = 1e-6, is_noisy: bool = True,
    objective: _Objective = "time", maximize: bool = False, bytes: float | None = None, flops: float | None = None,
) -> Report:  # fmt: skip
    """Search with a target's ``compile``, ``load``, ``verify`` and ``time``; returns the :class:`Report`.

    `stored`, if given, is a :class:`StoredProblem` and receives every trial immediately.
    """
    measured, functions, sensors = _measured(objective, maximize, bytes, flops, observers)
    if parse_fraction(until) is not None and not measured.is_time:
        raise ValueError(f"until is {shown(until)}, a share of the least time; the objective is {shown(measured.name)}")
    if stored is not None and not measured.is_time:
        # Nothing tells two versions of a function apart.
        stored = stored.for_objective(measured) if measured.name not in functions else None
        incumbents = [*(stored.incumbents(space) if stored else ()), *incumbents]
    if until is not None and limit is None:
        raise ValueError(f"until is {shown(until)}, a share of the device's limit; it needs bytes= or flops=")
    table = space.configurations()
    seconds, evaluations = parse_budget(budget)
    options = {
        "strategy": strategy, "seed": seed, "seconds": seconds, "evaluations": evaluations,
        "threads": threads or os.cpu_count() or 1, "finalists": finalists, "windows": windows,
        "occupancy_slack": occupancy_slack, "limit": limit, "until_fraction": parse_fraction(until),
        "lower_bound": lower_bound, "tick_seconds": tick_seconds, "is_noisy": is_noisy,
        "objective": measured, "sensors": sensors,
    }  # fmt: skip
    first = [row for row in (table.find(config) for config in incumbents) if row is not None]
    default_row = None if default is None else table.find(default)
    progress_bar = _make_progress(progress, seconds, evaluations, len(table), measured)
    observed: dict[int, dict[str, Any]] = {}

    def observe(trial: dict[str, Any]) -> dict[str, Any]:
        columns = observed.setdefault(trial["row"], {})
        for name, function in functions.items():
            found = function(trial["config"], trial)
            columns.update({name: found} if name == measured.name else found or {})
        return {name: value for name, value in columns.items() if isinstance(value, numbers.Real)}

    def on_event(trial: dict[str, Any] | None, best: float | None) -> None:
        if trial is None:
            return
        if trial["failure"] is not None and trial["row"] not in observed:
            for name, function in functions.items():
                if name != measured.name:
                    observed.setdefault(trial["row"], {}).update(function(trial["config"], trial) or {})
        if stored is not None:
            stored.append(trial, False)
        progress_bar.tell(trial, best)

    found = _native.run_tuner(target, table, default_row, first, options | {"observe": observe}, on_event)
    progress_bar.close()
    for trial in found["trials"]:
        trial["observed"] = dict.fromkeys(sensors) | trial["observed"] | observed.get(trial["row"], {})
    report = Report(found, measured)
    interrupt = found["interrupt"]
    if interrupt is not None and not isinstance(interrupt, KeyboardInterrupt):
        raise interrupt
    if interrupt is not None and report.best is None:
        # Where the search was interrupted is of no interest.
        raise interrupt.with_traceback(None) from None
    # Without a choice, calls would use the fastest trial, which was not confirmed; the best is then the default.
    if stored is not None and report.best_trial is not None and interrupt is None:
        if report.unconfirmed is None or not stored.has_choice(space):
            stored.append(report.best_trial, True)
    if stored is not None:
        stored.close()
    return report


def parse_fraction(until: str | float | None) -> float | None:
    """The fraction of ``"95 % of roofline"``, or the number itself."""
    if until is None:
        return None
    number, _, rest = str(until).partition("%")
    try:
        fraction = float(number) if isinstance(until, (int, float)) else float(number) / 100
    except ValueError:
        fraction = None
    if fraction is None or not 0 < fraction <= 1 or rest.strip() not in ("", "of roofline"):
        raise ValueError(f"until is {shown(until)}; expected such as '95 % of roofline' or 0.95, up to 1")
    return fraction


def refuse_cold_energy(cold: object, objective: object) -> None:
    """Raise ValueError if the energy would include that of emptying the caches."""
    if cold and objective == "energy":
        raise ValueError("objective is 'energy' and cold is true: what empties the caches takes energy too")


#: Columns that every trial may have; a function does not fill them.
_COLUMNS = {
    "score", "time", "bandwidth", "flops", "energy", "power", "clock", "temperature", "registers", "spill_bytes",
    "shared_bytes", "occupancy", "compile_seconds", "measure_seconds", "at_seconds",
}  # fmt: skip


def _measured(
    objective: _Objective, maximize: bool, bytes: float | None, flops: float | None, observers: Sequence[_Observer]
) -> tuple[TuningObjective, dict[str, Callable[..., Any]], list[str]]:
    """The objective, functions by the column or value that they fill, and the names of sensors."""
    if isinstance(observers, str):
        raise TypeError(f"observers is {shown(observers)}; expected a sequence, such as ['energy']")
    functions = {f"observer {place}": item for place, item in enumerate(observers) if callable(item)}
    sensors = [str(getattr(observer, "name", observer)) for observer in observers if not callable(observer)]
    if not callable(objective):
        if not isinstance(objective, str):
            raise TypeError(
                f"objective is {shown(objective)}; expected a name, or a function of a configuration and a trial"
            )
        return _native.TuningObjective(objective, maximize, bytes, flops), functions, sensors
    name = getattr(objective, "__name__", "")
    name = name if name.isidentifier() and name not in _COLUMNS else "objective"
    return _native.TuningObjective.column(name, maximize), functions | {name: objective}, sensors


class _Silent:
    def tell(self, trial: dict[str, Any], best: float | None) -> None:
        pass

    def close(self) -> None:
        pass


class _TerminalLine:
    """A terminal line that is overwritten repeatedly."""

    _INTERVAL = 0.1

    def __init__(self, stream: Any, goal: str, objective: TuningObjective) -> None:
        self._stream, self._goal, self._objective = stream, goal, objective
        self._start = self._written = time.monotonic()
        self._tried = self._failed = 0
        self._best: float | None = None

    def tell(self, trial: dict[str, Any], best: float | None) -> None:
        self._tried += 1
        self._failed += trial["failure"] is not None
        self._best = best
        now = time.monotonic()
        if now - self._written >= self._INTERVAL:
            self._written = now
            self._write()

    def text(self) -> str:
        best = "none yet" if self._best is None else self._objective.format(self._best)
        spent = time.monotonic() - self._start
        return f"{self._tried} tried, {self._failed} failed, best {best}, {spent:.1f} s {self._goal}"

    def _write(self) -> None:
        self._stream.write(f"\r\x1b[K{self.text()}")
        self._stream.flush()

    def close(self) -> None:
        self._stream.write("\r\x1b[K")
        self._stream.flush()


class _PlainLines(_TerminalLine):
    """A line every few seconds, for files and pipes."""

    _INTERVAL = 5.0

    def _write(self) -> None:
        self._stream.write(f"{self.text()}\n")
        self._stream.flush()

    def close(self) -> None:
        self._write()


class _NotebookLine(_TerminalLine):
    """A notebook output that is replaced repeatedly."""

    _INTERVAL = 0.5

    def __init__(self, goal: str, objective: TuningObjective) -> None:
        from IPython.display import display

        super().__init__(None, goal, objective)
        self._handle = display({"text/plain": self.text()}, raw=True, display_id=True)

    def _write(self) -> None:
        self._handle.update({"text/plain": self.text()}, raw=True)

    def close(self) -> None:
        self._write()


def _make_progress(
    progress: bool | None, seconds: float | None, evaluations: int | None, count: int, objective: TuningObjective
) -> _Silent | _TerminalLine:
    goal = f"of {seconds:g} s" if seconds else f"of {min(evaluations, count)} configurations" if evaluations else ""
    if progress is False:
        return _Silent()
    kernel = sys.modules.get("IPython") and sys.modules["IPython"].get_ipython()
    if kernel is not None and type(kernel).__name__ == "ZMQInteractiveShell":
        return _NotebookLine(goal, objective)
    is_terminal = sys.stderr is not None and sys.stderr.isatty()
    if is_terminal:
        return _TerminalLine(sys.stderr, goal, objective)
    return _PlainLines(sys.stderr, goal, objective) if progress and sys.stderr is not None else _Silent()


class StoredProblem:
    """The stored trials of one kernel, device and problem: for writing and for lookup."""

    def __init__(self, store: Store, kernel: TuningKernelKey, problem: dict[str, Any]) -> None:
        self.store, self.kernel, self.problem = store, kernel, problem
        self.device = _native.TuningDevice.current()
        self._recorder: TuningRecorder | None = None
        self._is_told = False

    def for_objective(self, objective: TuningObjective) -> StoredProblem:
        """The same problem for results other than times, which are never offered as the fastest."""
        return StoredProblem(self.store, self.kernel, self.problem | {_native.OBJECTIVE_NAME: objective.stored_name})

    def append(self, trial: dict[str, Any], is_chosen: bool) -> None:
        """Write a trial. A failure is reported once; the search goes on, and the write is tried again."""
        if trial["failure"] is not None and trial["failure"][0] == "skipped":
            return
        if self._recorder is None:
            other = json.dumps(tool_versions())
            self._recorder = self.store._native.recorder(self.kernel, self.device, self.problem, other)
        try:
            self._recorder.add(trial, is_chosen)
        except OSError as error:
            self._tell(error)

    def close(self) -> None:
        """Write the trials that could not be written before."""
        recorder = self._recorder
        if recorder is None:
            return
        try:
            recorder.flush()
        except OSError as error:
            self._is_told = False
            self._tell(f"{recorder.n_unwritten} of them could not be written in the end: {error}")

    def _tell(self, reason: object) -> None:
        if not self._is_told:
            import warnings

            self._is_told = True
            warnings.warn(f"results of this search are not kept: {reason}", stacklevel=3)

    def incumbents(self, space: Space) -> list[dict[str, Any]]:
        """The configurations that a search tries first, including those that other processes have found meanwhile."""
        self.store._native.refresh(self.kernel)
        return self.store._known(self.kernel).incumbents(self.device, self.problem, _INCUMBENTS, acceptor(space))

    def promise(self, space: Space, default: dict[str, Any]) -> TuningPromise | None:
        """The prediction of the nearest results, including those that other processes have found meanwhile, or None."""
        self.store._native.refresh(self.kernel)
        return self.store._known(self.kernel).promise(self.device, self.problem, acceptor(space), default)

    def is_known(self, space: Space) -> bool:
        """Whether there is a result for exactly this device and problem."""
        found = self.look_up(space)
        return found is not None and found[3] == "Exact"

    def has_choice(self, space: Space) -> bool:
        """Whether a search has chosen a result for exactly this device and problem."""
        found = self.look_up(space)
        return found is not None and found[3] == "Exact" and found[4]

    def look_up(self, space: Space) -> tuple[dict[str, Any], float, str, str, bool] | None:
        """``(configuration, score, explanation, closeness, whether a search chose it)`` or None."""
        return self.store._known(self.kernel).look_up(self.device, self.problem, acceptor(space))


def acceptor(space: Space) -> Callable[[dict[str, Any]], bool]:
    """A function that says whether a configuration from a file belongs to the space."""

    def accept(config: dict[str, Any]) -> bool:
        try:
            space.check(config)
        except (ValueError, TypeError):
            return False
        return True

    return accept
