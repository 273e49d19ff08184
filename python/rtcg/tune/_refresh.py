"""Results from elsewhere, measured here: ten evaluations instead of a search."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rtcg._messages import shown

if TYPE_CHECKING:
    from rtcg.tune._kernel import Kernel
    from rtcg.tune._report import Report


def refresh(
    kernel: Kernel, *args: Any, at_least: float = 0.9, budget: str | float | None = "30 s", **options: Any
) -> Report:
    """Measure the ten best known configurations for these arguments here; search only if they fall short.

    The configurations are those of the nearest device and problem in the store. Each is verified, timed and stored. The
    store predicts a time: for this device and problem the stored one; for others that of the default configuration
    here, divided by the stored speedup over the default there. A search follows if the best of the ten takes longer
    than the predicted time divided by `at_least`, or if there is no prediction, because nothing is stored, the default
    was not measured there, or it fails here.

    Parameters
    ----------
    kernel : Kernel
    *args
        As for a call.
    at_least : float
        The fraction of the predicted speed that must be reached, above 0 and up to 1.
    budget : str or float
        The budget of the search, if there is one.
    **options
        As for :meth:`Kernel.tune`, and values of the problem.

    Returns
    -------
    Report
        The report of the search if there was one, otherwise of the ten. ``report.promised`` is the predicted time in
        seconds or None, and ``report.searched`` says whether a search followed.

    Raises
    ------
    TypeError, ValueError
        As for :meth:`Kernel.tune`, or if `at_least` is not such a number.
    """
    from rtcg.tune._kernel import Kernel

    if not isinstance(kernel, Kernel):
        raise TypeError(f"kernel is of type {type(kernel).__name__}; expected rtcg.tune.Kernel")
    if isinstance(at_least, bool) or not isinstance(at_least, (int, float)) or not 0 < at_least <= 1:
        raise ValueError(f"at_least is {shown(at_least)}; expected a number above 0, up to 1")
    objective = options.get("objective", "time")
    if objective not in ("time", "bandwidth", "flops"):
        raise ValueError(
            f"objective is {shown(objective)}; refresh compares times, expected 'time', 'bandwidth' or 'flops'"
        )
    promise = kernel._stored_of_call(args, options).promise(kernel.space, kernel.default)
    report: Any = None
    promised = None
    if promise is not None:
        report = kernel.tune(*args, **(options | {"budget": None, "strategy": _NothingMore()}))
        default = report.default_trial
        promised = promise.score_here(None if default is None else default["score"])
    searched = report is None or report.stopped_by != "interrupted" and not _keeps(report, promised, at_least)
    if searched:
        report = kernel.tune(*args, budget=budget, **options)
    report.promised, report.searched = promised, searched
    return report


def _keeps(report: Report, promised: float | None, at_least: float) -> bool:
    """Whether the best reaches that fraction of the predicted speed."""
    return promised is not None and report.best_score is not None and report.best_score <= promised / at_least


class _NothingMore:
    """A strategy that tries nothing beyond the default and the incumbents."""

    def ask(self, count: int, configurations: Any, tried: Any, pending: Any) -> list[Any]:
        return []
