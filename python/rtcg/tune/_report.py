"""The results of a search, as numbers, tables and plots."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rtcg import _native
from rtcg._messages import shown

if TYPE_CHECKING:
    from pathlib import Path

    from rtcg._native import TuningObjective


class Report:
    """The result of a search.

    Attributes
    ----------
    best : dict or None
        The best configuration, or None if none works.
    best_score : float or None
        Its score, where lower is better: seconds of a launch, if the objective is time, bandwidth or FLOP/s; the
        negated value, if something is maximised.
    best_value : float or None
        The value of the objective that the score represents, in `unit`.
    objective, unit : str
        The name of the objective and the unit of its values: ``"s"``, ``"J"``, ``"GB/s"``, ``"GFLOP/s"``, or ``""``.
    speedup : tuple of float or None
        The speedup over the default and the ends of its 95 % confidence interval, from interleaved rounds.
    unconfirmed : tuple or None
        A configuration that was faster than the default by more than 5 % in the median of the rounds, but not
        significantly, and the ratio of the medians. `best` is the default then; calls use what an earlier search
        chose, or else the default.
    trials : list of dict
        All trials, in order: ``config``, ``score`` or ``failure``, ``samples``, ``registers``, ``occupancy``, seconds
        of compiling and measuring, ``window`` (``"launches"``, ``"graph"`` or ``"cold"``: how it was timed),
        ``observed``: a dictionary of the observers' values. Finalists have ``clock`` (MHz) and ``temperature`` (degrees
        Celsius) there, if NVML is found.
    stopped_by : str
        ``"exhausted"``, ``"budget"``, ``"limit"`` or ``"interrupted"``.
    launch : dict or None
        For a plain function: the keywords ``block`` and ``grid``.
    promised, searched
        For :func:`refresh`: the time that the store predicted in seconds, or None; and whether a search followed.
    limit : tuple or None
        The shortest time in seconds that the device's limits allow, and the binding limit: ``"memory"`` or
        ``"compute"``.
    clock_change : float or None
        The largest change of the clock under one finalist between the interleaved rounds: 0.03 is 3 %. None if NVML is
        not found. The text reports changes above 2 %.
    """

    launch: dict[str, tuple[int, ...]] | None
    promised: float | None
    searched: bool

    def __init__(self, found: dict[str, Any], objective: TuningObjective) -> None:
        self._objective = objective
        self.objective, self.unit, self.is_time = objective.name, objective.unit, objective.is_time
        self.clock_change: float | None = found["clock_change"]
        self._found = found
        self.trials: list[dict[str, Any]] = found["trials"]
        self.speedup: tuple[float, float, float] | None = found["speedup"]
        self.unconfirmed: tuple[dict[str, Any], float] | None = None
        if found["unconfirmed"] is not None:
            place, ratio = found["unconfirmed"]
            self.unconfirmed = (self.trials[place]["config"], ratio)
        self.stopped_by: str = found["stopped_by"]
        self.limit: tuple[float, str] | None = found["limit"]
        self.seconds: float = found["seconds"]
        best = found["best"]
        self.best_trial: dict[str, Any] | None = None if best is None else self.trials[best]
        default = found["default"]
        self.default_trial: dict[str, Any] | None = None if default is None else self.trials[default]

    @property
    def best(self) -> dict[str, Any] | None:
        """The best configuration, a dictionary; None if every trial failed."""
        return None if self.best_trial is None else self.best_trial["config"]

    @property
    def best_score(self) -> float | None:
        """The score of the best configuration: seconds if the objective is time; None if every trial failed."""
        return None if self.best_trial is None else self.best_trial["score"]

    @property
    def best_value(self) -> float | None:
        """The objective of the best configuration, in `unit`: its score, with the original sign; None without one."""
        return None if self.best_trial is None else self._objective.value(self.best_trial["score"])

    @property
    def failures(self) -> dict[str, list[tuple[dict[str, Any], str]]]:
        """The trials that failed: ``{kind: [(configuration, message), ...]}``."""
        failures: dict[str, list[tuple[dict[str, Any], str]]] = {}
        for trial in self.trials:
            if trial["failure"] is not None:
                kind, message = trial["failure"]
                failures.setdefault(kind, []).append((trial["config"], message))
        return failures

    @property
    def fraction_of_limit(self) -> float | None:
        """The device's limit over the best time: 1 is the limit itself. None if no limit was given."""
        if self.limit is None or self.best_score is None or not self.is_time:
            return None
        return self.limit[0] / self.best_score

    def __str__(self) -> str:
        return self._found["text"]

    def __repr__(self) -> str:
        return f"<Report: {str(self).splitlines()[0]}>"

    def best_so_far(self) -> list[tuple[int, float, float]]:
        """A list of ``(trial number, seconds, score)`` of the trials that were better than all before."""
        best, steps = float("inf"), []
        for number, trial in enumerate(self.trials, 1):
            if trial["score"] is not None and trial["score"] < best:
                best = trial["score"]
                steps.append((number, trial["at_seconds"], best))
        return steps

    def rows(self) -> list[dict[str, Any]]:
        """The trials as flat dictionaries, with a column for each parameter and each measured value."""
        columns = (
            "score",
            "window",
            "registers",
            "spill_bytes",
            "shared_bytes",
            "occupancy",
            "compile_seconds",
            "at_seconds",
        )
        return [
            trial["config"]
            | {name: trial[name] for name in columns}
            | {"failure": trial["failure"][0] if trial["failure"] else None}
            | trial.get("observed", {})
            for trial in self.trials
        ]

    def pareto(self, *columns: str, maximize: str | Sequence[str] = ()) -> list[dict[str, Any]]:
        """The trials that no other trial beats in all of some columns, sorted by the first column.

        Parameters
        ----------
        *columns : str
            Two or more columns of :meth:`rows` with numbers, such as ``"score", "energy"``. Trials that failed or have
            no number there are omitted.
        maximize : str or sequence of str
            The columns in which higher is better; in the others, lower is.

        Raises
        ------
        ValueError
            If a column is unknown, or has no number in any trial.
        """
        maximized = {maximize} if isinstance(maximize, str) else set(maximize)
        if len(columns) < 2 or not maximized <= set(columns):
            raise ValueError(
                f"columns are {columns}, maximize is {sorted(maximized)}; expected two or more, and some of them"
            )
        rows = self.rows()
        for column in columns:
            if not any(_is_number(row.get(column)) for row in rows):
                known = sorted({name for row in rows for name, value in row.items() if _is_number(value)})
                raise ValueError(f"column is {shown(column)}; expected one with numbers: {', '.join(known)}")
        places = [place for place, row in enumerate(rows)
                  if row["score"] is not None and all(_is_number(row.get(column)) for column in columns)]  # fmt: skip
        signs = [-1.0 if column in maximized else 1.0 for column in columns]
        costs = [[sign * rows[place][column] for sign, column in zip(signs, columns, strict=True)] for place in places]
        return [self.trials[places[front]] for front in _native.pareto_front(costs)]

    def to_dataframe(self) -> Any:
        """The trials as a pandas DataFrame; requires pandas."""
        try:
            import pandas
        except ImportError as error:
            raise ImportError("Report.to_dataframe() makes a DataFrame of pandas: pip install pandas") from error
        return pandas.DataFrame(self.rows())

    def plot(
        self, path: str | Path | None = None, pareto: tuple[str, str] | None = None, maximize: str | Sequence[str] = ()
    ) -> Any:
        """Plot the search: best so far, effect of each parameter, all configurations. Requires matplotlib.

        Parameters
        ----------
        path : str or path, optional
            The file to save the plot to.
        pareto : pair of str, optional
            Two columns to plot against each other, with the trials of :meth:`pareto` connected. By default score and
            energy, if energy was observed.
        maximize : str or sequence of str
            As for :meth:`pareto`.

        Returns
        -------
        matplotlib.figure.Figure
        """
        from rtcg.tune._plots import plot_report

        return plot_report(self, path, pareto, maximize)

    def _repr_html_(self) -> str:
        rows = sorted((row for row in self.rows() if row["score"] is not None), key=lambda row: row["score"])[:10]
        text = f"<pre>{html.escape(str(self))}</pre>"
        if not rows:
            return text
        names = list(rows[0])
        head = "".join(f"<th>{html.escape(name)}</th>" for name in names)
        body = "".join("<tr>" + "".join(f"<td>{_cell(row.get(name))}</td>" for name in names) + "</tr>" for row in rows)
        return f"{text}<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _cell(value: object) -> str:
    if value is None:
        return ""
    return f"{value:.4g}" if isinstance(value, float) else html.escape(str(value))
