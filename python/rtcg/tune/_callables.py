"""Tuning of any callable: functions that enqueue work, and functions that measure themselves."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from rtcg import _native
from rtcg._conversions import as_callable, as_flag, as_float, converts
from rtcg._messages import shown
from rtcg.tune._run import refuse_cold_energy, run_search
from rtcg.tune._runner import CandidateError, compare_results, tolerances
from rtcg.tune._space import as_space

if TYPE_CHECKING:
    from rtcg.tune._report import Report
    from rtcg.tune._space import Space

#: Calls that a graph has at most: it keeps the memory of what they return.
_MAX_CAPTURED = 32


@converts(space=as_space, measure=as_callable)
def search(space: Space, measure: Callable[..., float], **options: Any) -> Report:
    """Search a space with a function that does the measurements.

    Parameters
    ----------
    space : Space
    measure : callable
        ``measure(**config)`` returns a score; lower is better. An exception counts as a failed trial, and the search
        goes on.
    **options
        ``budget``, ``strategy``, ``seed``, ``default``, ``incumbents``, ``observers``, ``progress``; ``maximize=True``
        if higher is better.

    Returns
    -------
    Report

    Examples
    --------
    >>> from rtcg import tune
    >>> space = tune.Space(x=range(-20, 21), y=range(10))
    >>> tune.search(space, lambda x, y: (x - 3) ** 2 + y, budget="410 evaluations").best
    {'x': 3, 'y': 0}
    """
    options.setdefault("objective", "score")
    return run_search(_ScoreTarget(measure), space, is_noisy=False, finalists=0, threads=1, **options)


@converts(function=as_callable, space=as_space, rtol=as_float, atol=as_float, cold=as_flag)
def tune_callable(
    function: Callable[..., Any],
    space: Space,
    *,
    verify: Any = None,
    rtol: float | None = None,
    atol: float | None = None,
    cold: bool = False,
    **options: Any,
) -> Report:
    """Search for the configuration for which ``function(**config)`` takes the least time on the device.

    Parameters
    ----------
    function : callable
        Enqueues work in the current context: several kernels, array expressions. Its result is compared with `verify`.
    space : Space
    verify : callable, array or sequence of arrays, optional
        The expected result, or a function without arguments that returns it; by default the result of the default
        configuration. If `function` returns None, nothing is compared.
    cold : bool
        Whether each timed call starts with cold caches, as for :meth:`Kernel.tune`.
    **options
        As for :func:`search`, and ``objective``, ``maximize``, ``bytes`` and ``flops`` (numbers) as for
        :meth:`Kernel.tune`.

    Returns
    -------
    Report
    """
    options.setdefault("default", space.default)
    refuse_cold_energy(cold, options.get("objective"))
    target = CallableTarget(function, verify, rtol, atol, options["default"], cold)
    return run_search(target, space, threads=1, **options)


class _ScoreTarget:
    def __init__(self, measure: Callable[..., float]) -> None:
        self._measure = measure
        self._config: dict[str, Any] = {}

    def compile(self, config: dict[str, Any]) -> None:
        return None

    def load(self, config: dict[str, Any], compiled: Any) -> None:
        self._config = config

    def verify(self) -> None:
        pass

    def time(self, launches: int) -> float:
        score = float(self._measure(**self._config))
        if not np.isfinite(score):
            raise CandidateError("runtime", f"the score is {score}; expected a finite number")
        return score


class CallableTarget:
    """A function that enqueues work, timed by events."""

    def __init__(
        self,
        function: Callable[..., Any],
        verify: Any,
        rtol: float | None,
        atol: float | None,
        default: dict[str, Any] | None,
        cold: bool = False,
    ) -> None:
        self._function, self._tolerance = function, (rtol, atol)
        self._config: dict[str, Any] = {}
        self._timer = _native.LaunchTimer(cold, _MAX_CAPTURED)
        if verify is None:
            self._expected = _results(function(**(default or {})))
            return
        self._expected = as_expected(verify)
        if default is None:
            return
        try:
            results = _results(function(**default)) if self._expected else []
        except Exception:
            # That the default fails is found out by the search, which goes on.
            return
        require_alike(self._expected, results)

    def compile(self, config: dict[str, Any]) -> None:
        return None

    def load(self, config: dict[str, Any], compiled: Any) -> None:
        self._config = config
        self._timer.start_candidate(repr(config))

    def verify(self) -> None:
        results = _results(self._call(1))
        if len(results) != len(self._expected):
            raise CandidateError("correctness", f"{len(results)} results; expected {len(self._expected)}")
        for place, (result, expected) in enumerate(zip(results, self._expected, strict=False)):
            if not _is_surely_close(result, expected, *self._tolerance):
                compare_results(f"result {place}", _on_host(result), _on_host(expected), *self._tolerance)

    def _call(self, launches: int) -> Any:
        """Call the function `n` times; returns the last result."""
        for _ in range(launches - 1):
            self._function(**self._config)
        return self._function(**self._config)

    def time(self, launches: int) -> float:
        return self._timer.time(launches, self._call)

    def window_kind(self) -> str:
        """How the windows of the current configuration are timed."""
        return self._timer.window


def as_expected(verify: Any) -> list[Any]:
    """The arrays that `verify` is or returns; raises TypeError if they have no numbers."""
    expected = _results(verify() if callable(verify) else verify)
    for place, array in enumerate(expected):
        if (array if hasattr(array, "dtype") else np.asarray(array)).dtype.kind in "OSU":
            raise TypeError(f"verify gives {shown(array)} for result {place}; expected an array of numbers")
    return expected


def require_alike(expected: list[Any], results: list[Any]) -> None:
    """Raise ValueError if the reference and the results differ in the number of arrays or in shapes."""
    if len(expected) != len(results):
        raise ValueError(f"verify gives {len(expected)} results; expected {len(results)}")
    for place, (array, result) in enumerate(zip(expected, results, strict=True)):
        if np.shape(array) != np.shape(result):
            raise ValueError(f"verify gives shape {np.shape(array)} for result {place}; expected {np.shape(result)}")


def _results(results: Any) -> list[Any]:
    """The result of a function as a list, which is empty for None."""
    if results is None:
        return []
    return list(results) if isinstance(results, (tuple, list)) else [results]


def _on_host(result: Any) -> np.ndarray[Any, Any]:
    return np.asarray(result.get() if hasattr(result, "get") else result)


def _is_surely_close(result: Any, expected: Any, rtol: float | None, atol: float | None) -> bool:
    """Whether two device arrays agree, compared on the device so that large arrays are not copied."""
    import rtcg.numpy as xp

    is_comparable = all(hasattr(array, "gpudata") and array.size > 1 << 16 for array in (result, expected))
    if not is_comparable or (result.shape, result.dtype) != (expected.shape, expected.dtype):
        return False
    if result.dtype.kind not in "fc":
        return bool(xp.all(result == expected))
    rtol, atol = tolerances(result.dtype, rtol, atol)
    # A NaN is close to nothing.
    return bool(xp.all(abs(result - expected) <= atol + rtol * abs(expected)))
