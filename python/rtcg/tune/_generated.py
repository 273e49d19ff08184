"""Tuning of generated kernels and plain functions, in which only the launch is free."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rtcg import _native
from rtcg._messages import shown
from rtcg.tune._callables import tune_callable
from rtcg.tune._run import StoredProblem, refuse_cold_energy
from rtcg.tune._space import Space
from rtcg.tune._store import store as default_store

if TYPE_CHECKING:
    from rtcg.driver import Function
    from rtcg.tune._checker import CandidateChecker, CheckedLaunch
    from rtcg.tune._report import Report

_BLOCKS = [256, 32, 64, 128, 512, 1024]


def tune(target: Any, *args: Any, **options: Any) -> Report:
    """Search for the fastest way to run a kernel, or anything that can be called.

    Parameters
    ----------
    target : ElementwiseKernel, ReductionKernel, Function, Kernel or callable
        A generated kernel then uses the result for arrays of about this size, in this process and in later ones. For a
        plain function of a module, block and grid are tuned. A callable needs ``space=``.
    *args
        The arguments of a call. Arrays that a kernel writes are restored.
    size : int or tuple of int
        For a plain function: the number of threads of the problem along each dimension.
    budget : str or float
        ``"10 s"``, ``"50 evaluations"``; 10 seconds by default.
    check, check_candidates, check_arguments, timeout
        For a plain function and a `Kernel`, as for :meth:`Kernel.tune`: candidates are also launched in checked mode.
        The grid of a plain function remains that of `size`.
    **options
        ``strategy``, ``seed``, ``verify``, ``rtol``, ``atol``, ``progress``, ``observers``, ``cold``, ``objective``,
        ``maximize``, ``bytes``, ``flops``: as for :meth:`Kernel.tune`.

    Returns
    -------
    Report
        For a plain function, ``report.launch`` has the keywords ``block`` and ``grid``.

    Examples
    --------
    >>> import numpy as np
    >>> import rtcg.autoinit, rtcg.numpy as xp
    >>> from rtcg import tune
    >>> from rtcg.elementwise import ElementwiseKernel
    >>> axpy = ElementwiseKernel("float a, const float *x, float *y", "y[i] += a * x[i]")
    >>> x, y = xp.ones(1000, np.float32), xp.zeros(1000, np.float32)
    >>> report = tune.tune(axpy, np.float32(2), x, y, budget="3 evaluations")
    >>> report.best is not None
    True
    """
    from rtcg import driver
    from rtcg.elementwise import ElementwiseKernel
    from rtcg.reduction import ReductionKernel
    from rtcg.tune._kernel import Kernel

    options.setdefault("budget", "10 s")
    if isinstance(target, Kernel):
        return target.tune(*args, **options)
    if isinstance(target, (ElementwiseKernel, ReductionKernel)) and "check" in options:
        raise TypeError(f"check is {shown(options['check'])}; a {type(target).__name__} "
                        "is not checked, a Kernel or a plain function is")  # fmt: skip
    if isinstance(target, ElementwiseKernel):
        return _tune_generated(target, _ELEMENTWISE_SPACE, args, options)
    if isinstance(target, ReductionKernel):
        return _tune_generated(target, _REDUCTION_SPACE, args, options)
    if isinstance(target, driver.Function):
        return _tune_function(target, args, **options)
    if callable(target):
        if "space" not in options:
            raise TypeError("tune() of a callable needs space=")
        return tune_callable(lambda **config: target(*args, **config), **options)
    raise TypeError(f"target is of type {type(target).__name__}; expected a kernel or a callable")


# The first values are what the generators take by themselves; "auto" leaves a choice to their rule. The native module
# reads stored results by these names.
_ELEMENTWISE_SPACE = Space(block=_BLOCKS, waves=[1024, 1, 2, 4, 16], packed=["auto", True, False], items=["auto"])
_REDUCTION_SPACE = Space(block=_BLOCKS, waves=[1, 2, 4], packed=["auto", True, False], items=[4, 1, 2, 8, 16, 32])


def _arrays(args: tuple[Any, ...]) -> list[tuple[int, Any]]:
    return [(place, argument) for place, argument in enumerate(args) if hasattr(argument, "gpudata")]


def stored_launches(kernel: Any, n_elements: int) -> StoredProblem:
    """The store of a generated kernel's results: by its source, and its number of elements as a power of two."""
    source = kernel.get_source()
    space = _ELEMENTWISE_SPACE if hasattr(kernel, "arguments") else _REDUCTION_SPACE
    key = _native.TuningKernelKey(kernel.name, source, [], list(space.names))
    problem = {"log2_n": int(n_elements).bit_length()}
    return StoredProblem(default_store(), key, problem)


def _tune_generated(kernel: Any, space: Space, args: tuple[Any, ...], options: dict[str, Any]) -> Report:
    arrays = _arrays(args)
    if not arrays:
        raise ValueError("the call has no array, whose size the result would be for")
    n_elements = max(array.size for _, array in arrays)
    initial = {place: array.copy() for place, array in arrays}

    def choose(config: dict[str, Any]) -> None:
        kernel._set_launch_choice(n_elements, **{name: value for name, value in config.items() if value != "auto"})

    def run(**config: Any) -> Any:
        choose(config)
        return kernel(*args)

    def restored(**config: Any) -> list[Any]:
        for place, array in initial.items():
            args[place].set(array)
        result = run(**config)
        return [result] if result is not None else [args[place] for place, _ in arrays]

    stored = stored_launches(kernel, n_elements)
    options.setdefault("incumbents", stored.incumbents(space))
    target = _GeneratedTarget(run, restored, space.default, options)
    from rtcg.tune._run import run_search

    try:
        report = run_search(target, space, threads=1, default=space.default, stored=stored, **options)
        # What is best for something else than time is for the user to choose.
        fastest = report.best if report.is_time else (stored.look_up(space) or [None])[0]
        choose(fastest or {})
    finally:
        for place, array in initial.items():
            args[place].set(array)
    return report


class _GeneratedTarget:
    """A target that verifies with restored arrays, and times without restoring them."""

    def __init__(
        self, run: Callable[..., Any], restored: Callable[..., Any], default: dict[str, Any], options: dict[str, Any]
    ) -> None:
        from rtcg.tune._callables import CallableTarget

        refuse_cold_energy(options.get("cold"), options.get("objective"))
        verify, rtol, atol = (options.pop(name, None) for name in ("verify", "rtol", "atol"))
        self._verified = CallableTarget(restored, verify, rtol, atol, default)
        self._timed = CallableTarget(run, [], None, None, default, options.pop("cold", False))

    def compile(self, config: dict[str, Any]) -> None:
        return None

    def load(self, config: dict[str, Any], compiled: Any) -> None:
        self._verified.load(config, compiled)
        self._timed.load(config, compiled)

    def verify(self) -> None:
        self._verified.verify()

    def time(self, launches: int) -> float:
        return self._timed.time(launches)

    def window_kind(self) -> str:
        return self._timed.window_kind()


def _tune_function(
    function: Function, args: tuple[Any, ...], size: int | Sequence[int] | None = None, *, check: str | None = None,
    check_candidates: str = "all", check_arguments: Sequence[Any] | None = None, timeout: float = 10.0, **options: Any,
) -> Report:  # fmt: skip
    if size is None:
        raise TypeError("tune() of a plain function needs size=: how many threads the problem has")
    sizes: Any = size
    sizes = (size,) if np.isscalar(size) else tuple(sizes)
    if not 1 <= len(sizes) <= 3 or any(int(length) < 1 for length in sizes):
        raise ValueError(f"size is {shown(sizes)}; expected one to three positive integers")
    space = _block_space(len(sizes), function.max_threads_per_block)
    launch = _launches(sizes)
    arrays = _arrays(args)
    initial = {place: array.copy() for place, array in arrays}

    def run(**config: Any) -> None:
        block, grid = launch(config).values()
        function(*args, block=block, grid=grid)

    def restored(**config: Any) -> list[Any]:
        for place, array in initial.items():
            args[place].set(array)
        run(**config)
        return [args[place] for place, _ in arrays]

    verify = options.get("verify")
    options.setdefault("default", space.default)
    checker = None
    if check is not None:
        checker = _function_checker(function, args, launch, check, check_candidates, check_arguments, timeout)
    from rtcg.tune._checker import with_checks
    from rtcg.tune._run import run_search

    try:
        if checker is not None and verify is None:
            checker.require_clean(options["default"])
        target = with_checks(_GeneratedTarget(run, restored, options["default"], options), checker)
        report = run_search(target, space, threads=1, **options)
    finally:
        if checker is not None:
            checker.close()
        for place, array in initial.items():
            args[place].set(array)
    report.launch = None if report.best is None else launch(report.best)
    return report


def _function_checker(
    function: Function,
    args: tuple[Any, ...],
    launch: Callable[[dict[str, Any]], dict[str, tuple[int, ...]]],
    checks: str,
    candidates: str,
    small: Sequence[Any] | None,
    timeout: float,
) -> CandidateChecker:
    """The checker that launches a plain function in checked mode, on the arguments of a small problem."""
    from rtcg.tune._call_arguments import on_host, plain_argument
    from rtcg.tune._checker import CandidateChecker, CheckedLaunch, require_small

    if function._source is None:
        raise ValueError(f"the source of function {shown(function.name)} is not known; check= needs a function of a "
                         "SourceModule")  # fmt: skip
    source, options, include_dirs, no_extern_c = function._source
    names = [f"argument {place}" for place in range(len(args))]
    if small is not None and len(small) != len(args):
        raise ValueError(f"check_arguments has {len(small)} arguments; expected {len(args)}")
    arguments = [on_host(name, plain_argument(name, argument))
                 for name, argument in zip(names, args if small is None else small, strict=True)]  # fmt: skip
    if small is None:
        require_small(arguments, names)
    written = {place for place, argument in enumerate(arguments) if isinstance(argument, np.ndarray)}

    def make_launch(config: dict[str, Any]) -> CheckedLaunch:
        block, grid = launch(config).values()
        return CheckedLaunch(function.name, source, tuple(options), tuple(include_dirs), no_extern_c, block, grid)

    return CandidateChecker(checks, arguments, written, make_launch, timeout, candidates)


def _block_space(dimensions: int, most: int) -> Space:
    names = ("bx", "by", "bz")[:dimensions]
    sizes = {1: [[256, 32, 64, 96, 128, 192, 384, 512, 768, 1024]], 2: [[32, 8, 16, 64, 128], [8, 1, 2, 4, 16, 32]],
             3: [[32, 8, 16, 64], [4, 1, 2, 8], [2, 1, 4]]}[dimensions]  # fmt: skip
    space = Space(**dict(zip(names, sizes, strict=False)))
    product = " * ".join(names)
    return space.require(f"{product} <= {most}", f"{product} >= 32")


def _launches(size: Sequence[int]) -> Callable[[dict[str, Any]], dict[str, tuple[int, ...]]]:
    def launch(config: dict[str, Any]) -> dict[str, tuple[int, ...]]:
        block = tuple(config.values()) + (1,) * (3 - len(config))
        grid = tuple(-(-int(length) // threads) for length, threads in zip(size, block, strict=False))
        return {"block": block, "grid": grid}

    return launch


__all__ = ["tune"]
