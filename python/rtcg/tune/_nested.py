"""Nested tuning: an outer choice, such as a memory layout, whose parts are tuned separately, with a joint score.

Source of the idea: the outer loop over memory layouts around separately tuned operators in Klöckner et al., "PyCUDA and
PyOpenCL: A scripting-based approach to GPU run-time code generation", section 6.1.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING, Any

from rtcg._messages import shown
from rtcg.tune._callables import CallableTarget
from rtcg.tune._generated import tune
from rtcg.tune._kernel import Kernel
from rtcg.tune._report import Report
from rtcg.tune._roofline import least_time
from rtcg.tune._run import as_work, parse_budget, run_search
from rtcg.tune._runner import CandidateError

if TYPE_CHECKING:
    from rtcg.tune._space import Space

#: A search of a large outer space tries few of its configurations: each gets at least this part of what is left.
_MAX_OUTER_SHARES = 10


class Part:
    """A part of a nested target: a call of :func:`rtcg.tune.tune` that runs when its result is needed.

    Parameters
    ----------
    target, *args, **options
        As for :func:`rtcg.tune.tune`: a :class:`Kernel` with its arguments and values, or a callable with ``space=``. A
        ``budget=`` here replaces the share of the nested search.
    key : hashable, optional
        The key of the part: parts with the same name and equal keys are tuned once. By default a `Kernel` with its
        problem, as in the store; for anything else the same object with the same arguments.
    """

    def __init__(self, target: Any, *args: Any, key: Hashable = None, **options: Any) -> None:
        self.target, self.args, self.key, self.options = target, args, key, options

    def _identity(self, name: str) -> tuple[Any, ...]:
        """The key under which the part is tuned once."""
        if self.key is not None:
            return ("key", name, self.key)
        if isinstance(self.target, Kernel):
            stored = self.target._stored_of_call(self.args, self.options)
            measured = tuple(self.options.get(name) for name in ("objective", "maximize", "cold"))
            return ("kernel", stored.kernel.hash, tuple(sorted(stored.problem.items())), measured)
        # Whoever keeps an identity keeps the part too, so that no other object gets its address.
        return ("objects", id(self.target), tuple(map(id, self.args)), id(self.options.get("space")))

    def _tune(self, budget: str | float | None, seed: int) -> Report:
        options = {"budget": budget, "seed": seed, "progress": False} | self.options
        target = self.target
        is_time = options.get("objective", "time") == "time" and not options.get("cold")
        if is_time and isinstance(target, Kernel) and target._stored_of_call(self.args, options).is_known(target.space):
            return target.refresh(*self.args, **options)
        return tune(target, *self.args, **options)


class NestedReport(Report):
    """The result of a nested search: that of the outer choice, with its parts.

    Attributes
    ----------
    parts : dict
        The best configuration of each part, by its name, for the best outer configuration; empty if none works.
    part_reports : dict
        The report of each of them.
    n_part_searches : int
        The number of searches and refreshes of parts for all outer configurations.
    """

    def __init__(self, report: Report, part_reports: dict[str, Report], n_part_searches: int) -> None:
        super().__init__(report._found, report._objective)
        self.part_reports = part_reports
        self.parts: dict[str, dict[str, Any]] = {name: report.best or {} for name, report in part_reports.items()}
        self.n_part_searches = n_part_searches

    def __str__(self) -> str:
        lines = [f"  {name}: {', '.join(f'{key}={value!r}' for key, value in config.items())}"
                 for name, config in self.parts.items()]  # fmt: skip
        return "\n".join([super().__str__(), *lines])


def nested(
    space: Space, parts: Callable[..., dict[str, Part]], *, budget: str | float | None = "60 s",
    part_budget: str | float | None = None, combine: Callable[..., float] | None = None,
    run: Callable[..., Any] | None = None, verify: Any = None, rtol: float | None = None, atol: float | None = None,
    bytes: int | str | None = None, flops: int | str | None = None, until: str | float | None = None,
    default: dict[str, Any] | None = None, strategy: Any = "auto", seed: int = 0,
    observers: Sequence[Callable[[dict[str, Any], dict[str, Any]], dict[str, Any] | None]] = (),
    progress: bool | None = None,
) -> NestedReport:  # fmt: skip
    """Search for the outer configuration whose parts, each tuned separately, are fastest together.

    The parts of each outer configuration are tuned first. A part that was tuned before, for another outer
    configuration, is reused; a kernel that the store knows for this device and problem is refreshed
    (:meth:`Kernel.refresh`). Results go to the store. Without `combine` and `run`, an outer configuration is abandoned
    as soon as some of its parts take longer than all parts of the best.

    Parameters
    ----------
    space : Space
        The outer choice.
    parts : callable
        ``parts(**config)`` returns a dictionary of :class:`Part` by name.
    budget : str or float
        The total budget: seconds, or evaluations of parts. Each part gets an equal share of the remaining budget for
        the outer configurations that have not been tried, at most ten of them.
    part_budget : str or float, optional
        The budget of each part instead of its share.
    combine : callable, optional
        ``combine(**scores)`` takes the best scores of the parts (seconds) by name and returns the joint score, where
        lower is better; by default their sum.
    run : callable, optional
        ``run(tuned, **config)`` enqueues the whole work. Its time on the device is the score, instead of a combination.
        `tuned` has the best configurations of the parts by name; a `Kernel` uses its own when called.
    verify, rtol, atol
        The expected result of `run`, if it returns one, as for :func:`tune` of a callable.
    bytes, flops : int, optional
        The work of all parts together, as for :meth:`Kernel.tune`.
    until : str or float, optional
        Stop when the joint score is within this fraction of the device's limit: ``"95 % of roofline"``.
    default : dict, optional
        The first outer configuration to try; by default the first value of each parameter.
    strategy, seed, observers, progress
        As for :meth:`Kernel.tune`. The seed also applies to the parts.

    Returns
    -------
    NestedReport

    Raises
    ------
    TypeError
        If `parts` does not return a dictionary of parts for the default, or both `combine` and `run` are given.
    ValueError
        If an option is wrong.

    Notes
    -----
    Ctrl-C stops the search and keeps the best result so far. Waits for the device.

    Examples
    --------
    >>> import rtcg.autoinit, rtcg.numpy as xp
    >>> from rtcg import tune
    >>> x = xp.ones((64, 64), "float32")
    >>> def parts(order):
    ...     array = x if order == "C" else x.T
    ...     space = tune.Space(rows=[64, 32])
    ...     return {"largest": tune.Part(lambda rows: array.reshape(rows, -1).max(), space=space),
    ...             "total": tune.Part(lambda rows: array.reshape(rows, -1).sum(), space=space)}
    >>> report = tune.nested(tune.Space(order=["C", "F"]), parts, budget="8 evaluations", progress=False)
    >>> sorted(report.parts)
    ['largest', 'total']
    """
    if combine is not None and run is not None:
        raise TypeError("combine and run are both given; expected one of them")
    limit = least_time(as_work("bytes", bytes), as_work("flops", flops))
    default = space.default | dict(default or {})
    space.check(default)
    _require_parts(parts(**default))
    spending = _Spending(budget, part_budget, len(space.configurations()))
    tuned = _TunedParts(parts, spending, seed, can_give_up=combine is None and run is None)
    if run is None:
        target: _JointScore | _JointRun = _JointScore(tuned, combine)
    else:
        timed = CallableTarget(
            lambda **config: run(tuned.configurations(config), **config), verify, rtol, atol, default
        )
        target = _JointRun(tuned, timed)
    is_noisy = run is not None
    report = run_search(
        target, space, budget=spending.outer_budget, strategy=strategy, seed=seed, threads=1, default=default,
        until=until, limit=limit, observers=observers, progress=progress, is_noisy=is_noisy,
        finalists=5 if is_noisy else 0,
    )  # fmt: skip
    of_best = {} if report.best is None else tuned.reports(report.best)
    return NestedReport(report, of_best, tuned.n_searches)


def _require_parts(parts: Any) -> dict[str, Part]:
    if not isinstance(parts, dict) or not parts or not all(isinstance(part, Part) for part in parts.values()):
        raise TypeError(f"parts returned {shown(parts)}; expected a dictionary of rtcg.tune.Part by name")
    return parts


class _Spending:
    """The part of the budget that each part gets."""

    def __init__(self, budget: str | float | None, part_budget: str | float | None, n_outer: int) -> None:
        self.seconds, self.evaluations = parse_budget(budget)
        try:
            parse_budget(part_budget)
        except ValueError as error:
            raise ValueError(f"part_{error}") from None
        self._part_budget, self._n_outer = part_budget, n_outer
        self._end = None if self.seconds is None else time.monotonic() + self.seconds
        self._spent = 0
        #: Evaluations are those of parts, so that the outer search ends by itself.
        self.outer_budget = self.seconds

    def share(self, n_tried: int, n_parts: int) -> str | float | None:
        """The budget of one of `n_parts` parts after `n_tried` outer configurations."""
        n_shares = min(max(1, self._n_outer - n_tried), _MAX_OUTER_SHARES) * n_parts
        if self._end is not None:
            left = self._end - time.monotonic()
            self._require(left)
            return self._part_budget or left / n_shares
        if self.evaluations is not None:
            left = self.evaluations - self._spent
            self._require(left)
            return self._part_budget or f"{max(1, left // n_shares)} evaluations"
        return self._part_budget

    def add(self, report: Report) -> None:
        self._spent += len(report.trials)

    @staticmethod
    def _require(left: float) -> None:
        if left <= 0:
            raise CandidateError("skipped", "the budget was spent before its parts were tuned")


class _TunedParts:
    """The reports of parts, each tuned once."""

    def __init__(
        self, parts: Callable[..., dict[str, Part]], spending: _Spending, seed: int, can_give_up: bool
    ) -> None:
        self._parts, self._spending, self._seed = parts, spending, seed
        self._can_give_up = can_give_up
        self._known: dict[Hashable, tuple[Part, Report]] = {}
        self._of_config: dict[Hashable, dict[str, Report] | None] = {}
        self._best: float | None = None
        self.n_searches = 0

    def reports(self, config: dict[str, Any]) -> dict[str, Report]:
        """The report of each part of an outer configuration, by name."""
        key = tuple(config.items())
        if key not in self._of_config:
            self._of_config[key] = None
            self._of_config[key] = self._tune_all(config)
        reports = self._of_config[key]
        if reports is None:
            raise CandidateError("runtime", "its parts could not be tuned")
        return reports

    def configurations(self, config: dict[str, Any]) -> dict[str, Any]:
        """The best configuration of each part."""
        return {name: report.best for name, report in self.reports(config).items()}

    def tell_best(self, score: float) -> None:
        self._best = score if self._best is None else min(self._best, score)

    def _tune_all(self, config: dict[str, Any]) -> dict[str, Report]:
        parts = _require_parts(self._parts(**config))
        identities = {name: part._identity(name) for name, part in parts.items()}
        n_open = len({identity for identity in identities.values() if identity not in self._known})
        found = {}
        for name, part in parts.items():
            identity = identities[name]
            if identity not in self._known:
                self._known[identity] = part, self._tune_one(part, n_open)
                n_open -= 1
            found[name] = self._known[identity][1]
            self._give_up_if_slow(found)
        return found

    def _tune_one(self, part: Part, n_open: int) -> Report:
        report = part._tune(self._spending.share(len(self._of_config) - 1, n_open), self._seed)
        self.n_searches += 1
        self._spending.add(report)
        if report.stopped_by == "interrupted":
            raise KeyboardInterrupt
        return report

    def _give_up_if_slow(self, found: dict[str, Report]) -> None:
        for name, report in found.items():
            if report.best is None:
                kind, failures = next(iter(report.failures.items()), ("runtime", [(None, "nothing was tried")]))
                raise CandidateError(kind, f"no configuration of part {shown(name)} works: {failures[0][1]}")
        sum_so_far = sum(report.best_score or 0.0 for report in found.values())
        if self._can_give_up and self._best is not None and sum_so_far > self._best:
            raise CandidateError(
                "skipped", f"{', '.join(found)} take {sum_so_far:.3e} s; all parts of the best take {self._best:.3e}"
            )


class _JointScore:
    """The combined score of tuned parts."""

    def __init__(self, tuned: _TunedParts, combine: Callable[..., float] | None) -> None:
        self._tuned, self._combine = tuned, combine
        self._reports: dict[str, Report] = {}

    def compile(self, config: dict[str, Any]) -> None:
        return None

    def load(self, config: dict[str, Any], compiled: Any) -> None:
        self._reports = self._tuned.reports(config)

    def verify(self) -> None:
        pass

    def time(self, launches: int) -> float:
        scores: dict[str, Any] = {name: report.best_score for name, report in self._reports.items()}
        score = float(sum(scores.values()) if self._combine is None else self._combine(**scores))
        self._tuned.tell_best(score)
        return score


class _JointRun:
    """The time of the whole work, run with tuned parts."""

    def __init__(self, tuned: _TunedParts, timed: CallableTarget) -> None:
        self._tuned, self._timed = tuned, timed
        self.compile, self.verify, self.time = timed.compile, timed.verify, timed.time

    def load(self, config: dict[str, Any], compiled: Any) -> None:
        self._tuned.reports(config)
        self._timed.load(config, compiled)
