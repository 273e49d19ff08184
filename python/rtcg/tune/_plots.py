"""Plots of searches, with matplotlib."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    from rtcg.tune._report import Report


def plot_report(
    report: Report,
    path: str | Path | None = None,
    pareto: tuple[str, str] | None = None,
    maximize: str | Sequence[str] = (),
) -> Any:
    """Draw a report: best so far over time, the effect of each parameter, and all scores in their order."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError("Report.plot() draws with matplotlib: pip install matplotlib") from error
    scored = [(number, trial) for number, trial in enumerate(report.trials, 1) if trial["score"] is not None]
    if not scored:
        raise ValueError("no trial has a score: there is nothing to draw")
    effects = _parameter_values(report, scored)
    if pareto is None and any(trial["observed"].get("energy") is not None for _, trial in scored):
        pareto = ("score", "energy")
    n_panels = len(effects) + (pareto is not None)
    columns = max(2, min(4, n_panels))
    rows = 1 + -(-n_panels // columns)
    figure = Figure(figsize=(3.4 * columns, 2.9 * rows), layout="constrained")
    grid = figure.add_gridspec(rows, columns)
    _draw_progress(figure.add_subplot(grid[0, :]), report, scored)
    panels = [figure.add_subplot(grid[1 + place // columns, place % columns]) for place in range(n_panels)]
    for panel, (name, values) in zip(panels, effects, strict=False):
        _draw_effect(panel, name, values, report)
    if pareto is not None:
        _draw_front(panels[-1], report, pareto, maximize)
    if path is not None:
        figure.savefig(path, dpi=110)
    return figure


def _shown(report: Report, score: float) -> float:
    """The value of the objective that a score represents, as drawn: milliseconds instead of seconds."""
    return report._objective.value(score) * (1e3 if report.unit == "s" else 1)


def _unit(report: Report) -> str:
    return "ms" if report.unit == "s" else report.unit or report.objective


def _scale(values: Iterable[float]) -> str:
    return "log" if all(value > 0 for value in values) else "linear"


def _parameter_values(
    report: Report, scored: list[tuple[int, dict[str, Any]]]
) -> list[tuple[str, dict[Any, list[float]]]]:
    """``[(name, {value: [objective, ...]}), ...]`` of the parameters with several values."""
    effects = []
    for name in scored[0][1]["config"]:
        values: dict[Any, list[float]] = {}
        for _, trial in scored:
            values.setdefault(trial["config"][name], []).append(_shown(report, trial["score"]))
        if len(values) > 1:
            effects.append((name, values))
    return effects


def _draw_progress(axes: Any, report: Report, scored: list[tuple[int, dict[str, Any]]]) -> None:
    values = [_shown(report, trial["score"]) for _, trial in scored]
    axes.plot([number for number, _ in scored], values, ".", alpha=0.5, label="tried")
    steps = report.best_so_far()
    numbers = [step[0] for step in steps] + [len(report.trials)]
    best = [_shown(report, step[2]) for step in [*steps, steps[-1]]]
    axes.step(numbers, best, where="post", label="best so far")
    if report.default_trial is not None and report.default_trial["score"] is not None:
        axes.axhline(_shown(report, report.default_trial["score"]), linestyle="--", color="gray", label="default")
    if report.limit is not None and report.is_time:
        axes.axhline(_shown(report, report.limit[0]), linestyle=":", color="black", label=f"limit ({report.limit[1]})")
    failed = [number for number, trial in enumerate(report.trials, 1) if trial["failure"] is not None]
    if failed:
        axes.plot(failed, [axes.get_ylim()[1]] * len(failed), "x", color="tab:red", label="failed")
    axes.set(
        xlabel="configurations tried",
        ylabel=_unit(report),
        yscale=_scale(values),
        title=str(report).splitlines()[0][:110],
    )
    axes.title.set_fontsize(9)
    axes.legend(fontsize=8)


def _draw_front(axes: Any, report: Report, columns: tuple[str, str], maximize: str | Sequence[str]) -> None:
    """Plot two columns of all trials against each other, with the non-dominated ones connected."""
    front = report.pareto(*columns, maximize=maximize)
    rows = [row for row in report.rows() if row["score"] is not None and None not in map(row.get, columns)]
    chosen = [report.rows()[report.trials.index(trial)] for trial in front]
    axes.plot(*([row[column] for row in rows] for column in columns), ".", alpha=0.5)
    axes.plot(*([row[column] for row in chosen] for column in columns), "o-", markersize=4, label="not dominated")
    axes.set(xlabel=columns[0], ylabel=columns[1], title=f"{columns[1]} against {columns[0]}")
    axes.legend(fontsize=8)


def _draw_effect(axes: Any, name: str, values: dict[Any, list[float]], report: Report) -> None:
    ordered = sorted(values) if all(isinstance(value, (int, float)) for value in values) else list(values)
    best = max if report._objective.is_maximized else min
    axes.boxplot([values[value] for value in ordered], showfliers=False)
    axes.plot(range(1, len(ordered) + 1), [best(values[value]) for value in ordered], "o-", markersize=3)
    axes.set_xticks(range(1, len(ordered) + 1), [str(value) for value in ordered], fontsize=7, rotation=45)
    scale = _scale([value for several in values.values() for value in several])
    axes.set(title=name, ylabel=_unit(report), yscale=scale)
