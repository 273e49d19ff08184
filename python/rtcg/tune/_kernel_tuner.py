"""Kernel Tuner's function ``tune_kernel``, with its arguments and results, implemented by searches of this package."""

from __future__ import annotations

import inspect
import json
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rtcg import _native
from rtcg._messages import shown
from rtcg.tune._callables import search
from rtcg.tune._kernel import Kernel
from rtcg.tune._run import run_search
from rtcg.tune._runner import CandidateError
from rtcg.tune._space import STRATEGIES, Space

if TYPE_CHECKING:
    from rtcg.tune._report import Report
    from rtcg.tune._worker import WorkerRunner

#: Kernel Tuner's strategies by the nearest of ours.
_STRATEGY_NAMES = {
    None: "exhaustive", "brute_force": "exhaustive", "random_sample": "random", "genetic_algorithm": "genetic",
    "simulated_annealing": "annealing", "dual_annealing": "annealing", "mls": "local", "greedy_mls": "local",
    "ordered_greedy_mls": "local", "greedy_ils": "local", "basinhopping": "local", "minimize": "local",
    "diff_evo": "genetic", "pso": "genetic", "firefly_algorithm": "genetic", "hybrid_vndx": "genetic",
    "adaptive_tabu_greywolf": "genetic", "bayes_opt": "auto", "skopt": "auto", "pyatf_strategies": "auto",
}  # fmt: skip
#: Kernel Tuner's objectives by whether more is better.
_OBJECTIVES = {
    "time": False, "energy": False, "fitness": True, "cost": False, "loss": False, "GFLOP/s": True, "TFLOP/s": True,
    "GB/s": True, "TB/s": True, "GFLOPS/W": True, "TFLOPS/W": True, "GFLOP/J": True, "TFLOP/J": True,
}  # fmt: skip
_FAILURE_NAMES = {"compile": "CompilationFailedConfig", "constraints": "InvalidConfig"}


def tune_kernel(
    kernel_name: str, kernel_source: str | Path | Callable[[dict[str, Any]], object], problem_size: Any,
    arguments: Sequence[Any], tune_params: dict[str, Sequence[Any]], grid_div_x: Any = None, grid_div_y: Any = None,
    grid_div_z: Any = None, restrictions: Any = None, answer: Sequence[Any] | None = None, atol: float = 1e-6,
    verify: Callable[[Any, Any, float], object] | None = None, verbose: bool = False, lang: str | None = None,
    device: int = 0, compiler_options: Sequence[str] | None = None, iterations: int = 7,
    block_size_names: Sequence[str] | None = None, quiet: bool = False, strategy: str | None = None,
    strategy_options: dict[str, Any] | None = None, cache: str | Path | None = None,
    metrics: dict[str, Any] | None = None, simulation_mode: bool = False,
    observers: Sequence[Callable[[dict[str, Any], dict[str, Any]], dict[str, Any] | None]] | None = None,
    objective: str = "time", objective_higher_is_better: bool | None = None, cmem_args: dict[str, Any] | None = None,
) -> tuple[list[dict[str, Any]], dict[str, Any]]:  # fmt: skip
    """Tune a kernel with Kernel Tuner's arguments; return its ``(results, env)``.

    Parameters
    ----------
    kernel_name : str
    kernel_source : str, path or callable
        Source, the path of a file with it, or a function of a configuration that returns it. Parameters are macros.
    problem_size : int, str, callable or tuple of these
        The size from which the grid is computed. An expression may name parameters.
    arguments : list
        NumPy arrays and scalars, in the kernel's order.
    tune_params : dict
        The values of each parameter.
    grid_div_x, grid_div_y, grid_div_z : list of str, optional
        Expressions whose product divides the problem size; by default the size of the block.
    restrictions : list, optional
        Conditions that configurations must fulfil: expressions; functions of named parameters (``lambda bx, by: ...``)
        or of a configuration; objects of the package python-constraint; pairs of one of these and the names of
        parameters.
    answer : list, optional
        The expected contents of each argument; None for arguments that are not compared.
    atol : float
        Absolute tolerance of the comparison.
    verify : callable, optional
        ``verify(answer, result, atol)`` replaces the default comparison.
    strategy : str, optional
        A strategy of this package, or one of Kernel Tuner's, which is replaced by the most similar one; all
        configurations by default. Or an object with ``ask()``.
    strategy_options : dict, optional
        ``max_fevals``, ``time_limit`` (seconds) and ``seed``.
    cache : path, optional
        A cache file: its configurations are not measured again, and the results are written to it.
    metrics : dict, optional
        Expressions or functions of a result, by name.
    simulation_mode : bool
        Take all measurements from the cache file.
    observers : list of callable, optional
        ``observer(config, trial)`` returns a dictionary with additional columns.
    objective : str
        The quantity by which results are ordered: ``"time"``, a metric, or a column of an observer. For the names that
        Kernel Tuner knows (``"GFLOP/s"``) the direction is known; others need `objective_higher_is_better`.
    iterations : int
        The number of measured windows per configuration.
    cmem_args : dict, optional
        NumPy arrays that fill ``__constant__`` variables, by name.
    lang, device, verbose, quiet
        CUDA on the device of the current context; `quiet` hides the progress line.

    Returns
    -------
    results : list of dict
        A dictionary for each configuration: parameters, ``time`` and ``times`` in milliseconds, metrics. The ``time``
        of a failure is the name of the failure.
    env : dict
        ``device_name`` and versions.

    Raises
    ------
    ValueError
        If `lang` is not CUDA, a strategy or an objective is unknown, the cache file is invalid, or an argument is
        wrong.
    """
    higher_is_better = _direction(objective, objective_higher_is_better, metrics, observers)
    if lang not in (None, "CUDA", "Cupy", "cupy", "NVCUDA"):
        raise ValueError(f"lang is {shown(lang)}; expected 'CUDA'")
    space = Space(**tune_params)
    space = space.require(*(_restriction(each, space.names) for each in _as_list(restrictions)))
    known = _read_cache(cache, space)
    options = dict(strategy_options or {})
    limits = [f"{options['max_fevals']} evaluations"] if "max_fevals" in options else []
    limits += [f"{options['time_limit']} s"] if "time_limit" in options else []
    shared = {
        "budget": ", ".join(limits) or None, "strategy": _strategy(strategy), "seed": options.get("seed", 0),
        "progress": False if quiet else None, "observers": observers or (),
    }  # fmt: skip
    if simulation_mode:
        if cache is None:
            raise ValueError("simulation_mode needs cache=, the file that the measurements are taken from")
        report = search(space, lambda **config: _recorded(known, config), objective="time", **shared)
        device_name = "simulation"
    else:
        from rtcg.driver import Context

        kernel = _make_kernel(kernel_name, kernel_source, space, problem_size, compiler_options, block_size_names,
                              (grid_div_x, grid_div_y, grid_div_z), cmem_args)  # fmt: skip
        report = _tune(kernel, arguments, answer, atol, verify, known, iterations, shared)
        device_name = Context.get_device().name()
    results = [_result(trial, metrics or {}) for trial in report.trials]
    if objective != "time":
        _check_measured(results, objective)
        results.sort(key=lambda result: _order(result, objective, higher_is_better))
    if cache is not None and not simulation_mode:
        _write_cache(cache, device_name, kernel_name, problem_size, tune_params, report, known)
    return results, {"device_name": device_name, "rtcg_version": _native.__version__}


def _strategy(strategy: Any) -> Any:
    if hasattr(strategy, "ask") or strategy in STRATEGIES:
        return strategy
    if strategy not in _STRATEGY_NAMES:
        known = ", ".join(sorted({*STRATEGIES, *filter(None, _STRATEGY_NAMES)}))
        raise ValueError(f"strategy is {shown(strategy)}; expected one of {known}, or an object with ask()")
    return _STRATEGY_NAMES[strategy]


def _direction(objective: str, higher_is_better: bool | None, metrics: dict[str, Any] | None, observers: Any) -> bool:
    """Whether higher values of the objective are better."""
    known = ["time", *(metrics or {})]
    if objective not in known and not observers:
        raise ValueError(f"objective is {shown(objective)}; expected one of {', '.join(map(repr, known))}")
    if higher_is_better is None and objective not in _OBJECTIVES:
        raise ValueError(
            f"objective is {shown(objective)}; say with objective_higher_is_better= whether more is better"
        )
    return _OBJECTIVES[objective] if higher_is_better is None else bool(higher_is_better)


def _check_measured(results: list[dict[str, Any]], objective: str) -> None:
    """Raise ValueError if configurations were measured but none has the objective."""
    measured = [result for result in results if "error" not in result]
    if measured and not any(objective in result for result in measured):
        raise ValueError(f"objective is {shown(objective)}; expected one of {', '.join(map(repr, measured[0]))}")


def _restriction(restriction: Any, names: Sequence[str]) -> Any:
    """A restriction as text or as a function of a configuration."""
    if isinstance(restriction, str):
        return restriction
    chosen = None
    if isinstance(restriction, (tuple, list)) and len(restriction) >= 2 and not isinstance(restriction[1], str):
        restriction, chosen = restriction[0], list(restriction[1])
        unknown = [name for name in chosen if name not in names]
        if unknown:
            raise ValueError(f"a restriction names {shown(unknown[0])}; expected parameters among {list(names)}")
    if _is_constraint_object(restriction):
        return _as_function(restriction, lambda config: _holds(restriction, {n: config[n] for n in chosen or names}))
    if not callable(restriction):
        expected = "text, a function, a constraint, or a pair of one of these and names"
        raise ValueError(f"a restriction is {shown(restriction)}; expected {expected}")
    if isinstance(chosen, list):
        return _as_function(restriction, lambda config: restriction(*(config[name] for name in chosen)))
    by_name, by_place = _parameters(restriction, names)
    if by_name is not None:
        return _as_function(restriction, lambda config: restriction(**{name: config[name] for name in by_name}))
    if by_place:
        return _as_function(restriction, lambda config: restriction(*(config[name] for name in names)))
    return restriction


def _as_function(restriction: Any, function: Callable[[dict[str, Any]], object]) -> Callable[[dict[str, Any]], object]:
    function.__name__ = getattr(restriction, "__name__", type(restriction).__name__)
    return function


def _parameters(function: Callable[..., Any], names: Sequence[str]) -> tuple[list[str] | None, bool]:
    """``(names of its parameters, whether all can be passed by position)``; ``(None, False)`` for a configuration."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None, False
    kinds = [parameter.kind for parameter in parameters]
    if inspect.Parameter.VAR_KEYWORD in kinds:
        return list(names), False
    if inspect.Parameter.VAR_POSITIONAL in kinds:
        return None, True
    required = [parameter.name for parameter in parameters if parameter.default is inspect.Parameter.empty]
    if required and all(name in names for name in required):
        return [parameter.name for parameter in parameters if parameter.name in names], False
    return None, len(required) == len(names) > 1


def _is_constraint_object(value: object) -> bool:
    """Whether it is an object of python-constraint, which is not imported for this."""
    return any(c.__name__ == "Constraint" and c.__module__.split(".")[0] == "constraint" for c in type(value).__mro__)


def _holds(constraint: Any, values: dict[str, Any]) -> bool:
    """Whether a constraint of python-constraint holds for all its variables."""
    kind = type(constraint).__name__
    if kind in ("InSetConstraint", "NotInSetConstraint"):
        # The solver removes values before it asks, and never asks these.
        return all((value in constraint._set) == (kind == "InSetConstraint") for value in values.values())
    domains = {name: [value] for name, value in values.items()}
    return bool(constraint(list(values), domains, values))


def _as_list(values: Any) -> list[Any]:
    if values is None:
        return []
    is_single = isinstance(values, str) or callable(values)
    return [values] if is_single else list(values)


def _make_kernel(
    name: str,
    source: Any,
    space: Space,
    problem_size: Any,
    compiler_options: Sequence[str] | None,
    block_size_names: Sequence[str] | None,
    grid_divs: Sequence[Any],
    constants: dict[str, np.ndarray[Any, Any]] | None,
) -> _GridKernel:
    if isinstance(source, (str, Path)) and not callable(source):
        is_path = isinstance(source, Path) or ("\n" not in source and source.endswith((".cu", ".cuh", ".h")))
        text: Any = Path(source).read_text() if is_path else source
    else:
        text = lambda **config: _with_macros(source(config), config)  # noqa: E731
    names = list(block_size_names or ("block_size_x", "block_size_y", "block_size_z"))
    block = [name if name in space.names else 1 for name in names[:3]]
    sizes = problem_size if isinstance(problem_size, (tuple, list)) else (problem_size,)
    geometry = [(size, div, names[axis]) for axis, (size, div) in enumerate(zip(sizes, grid_divs, strict=False))]
    return _GridKernel(text, name, space, block, geometry, compiler_options, constants)


def _with_macros(source: object, config: dict[str, Any]) -> str:
    macros = "".join(
        f"#define {name} {int(value) if isinstance(value, bool) else value}\n" for name, value in config.items()
    )
    return macros + str(source)


class _GridKernel(Kernel):
    """A kernel whose grid is the problem size over divisors."""

    def __init__(
        self,
        source: Any,
        name: str,
        space: Space,
        block: list[int | str],
        geometry: list[tuple[Any, Any, str]],
        options: Sequence[str] | None,
        constants: dict[str, np.ndarray[Any, Any]] | None,
    ) -> None:
        from rtcg.compiler import DEFAULT_NVCC_FLAGS

        options = [*DEFAULT_NVCC_FLAGS, *_as_list(options), "-Dkernel_tuner=1"]
        super().__init__(source, name, space, block=block, grid=1, options=options, constants=constants)
        self._divisions = geometry

    def geometry(self, config: dict[str, Any], values: dict[str, Any]) -> tuple[tuple[int, ...], tuple[int, ...], int]:
        block, _, shared = super().geometry(config, values)
        grid = []
        for size, divisors, default in self._divisions:
            if callable(divisors):
                divisor = divisors(config)
            else:
                parts = ([default] if default in config else []) if divisors is None else divisors
                divisor = math.prod(int(_value(part, config)) for part in parts)
            length = size(config) if callable(size) else _value(size, config)
            grid.append(math.ceil(length / divisor))
        return block, tuple(grid), shared


def _value(part: Any, config: dict[str, Any]) -> Any:
    return _native.Expression(part)(config) if isinstance(part, str) else int(part)


def _tune(
    kernel: Kernel,
    arguments: Sequence[Any],
    answer: Sequence[Any] | None,
    atol: float,
    verify: Callable[[Any, Any, float], object] | None,
    known: dict[str, Any],
    iterations: int,
    shared: dict[str, Any],
) -> Report:
    from rtcg.tune._worker import WorkerRunner

    arguments = [np.asarray(argument) if isinstance(argument, list) else argument for argument in arguments]
    arrays = {place for place, argument in enumerate(arguments) if isinstance(argument, np.ndarray) and argument.ndim}
    compared = {place for place in arrays if answer is not None and answer[place] is not None}
    written = arrays & (kernel._written(kernel._parameter_names, arguments) | compared)
    runner = WorkerRunner(arguments, written, timeout=30.0)
    target = _AnswerTarget(kernel, runner, answer, atol, verify, sorted(written), known)
    try:
        return run_search(target, kernel.space, windows=iterations, finalists=0, **shared)
    finally:
        runner.close()


class _AnswerTarget:
    """A kernel that is compared with Kernel Tuner's `answer`; known configurations are not measured again."""

    def __init__(
        self,
        kernel: Kernel,
        runner: WorkerRunner,
        answer: Sequence[Any] | None,
        atol: float,
        verify: Callable[[Any, Any, float], object] | None,
        written: list[int],
        known: dict[str, Any],
    ) -> None:
        from rtcg.tune._kernel_target import KernelTarget

        self._inner = KernelTarget(kernel, runner, {})
        self._runner, self._answer, self._atol, self._verify = runner, answer, atol, verify
        self._written, self._known = written, known
        self._found: dict[str, Any] | None = None
        runner.expect([None if answer is None or answer[place] is None else np.asarray(answer[place])
                       for place in written], 0.0, atol)  # fmt: skip

    def compile(self, config: dict[str, Any]) -> Any:
        found = self._known.get(_key(config))
        return found if found is not None else self._inner.compile(config)

    def load(self, config: dict[str, Any], compiled: Any) -> Any:
        self._found = compiled if isinstance(compiled, dict) else None
        if self._found is None:
            return self._inner.load(config, compiled)
        if self._found["failure"]:
            raise CandidateError(*self._found["failure"])
        return None

    def verify(self) -> None:
        if self._found is not None or self._answer is None:
            return
        if self._verify is None:
            self._inner.verify()
            return
        result = list(self._answer)
        for place, array in zip(self._written, self._runner.run(), strict=True):
            result[place] = array
        if not self._verify(self._answer, result, self._atol):
            raise CandidateError("correctness", "verify() refused the result")

    def time(self, launches: int) -> Any:
        return self._found["score"] if self._found is not None else self._inner.time(launches)


def _key(config: dict[str, Any]) -> str:
    return json.dumps(config, sort_keys=True, default=str)


def _read_cache(cache: str | Path | None, space: Space) -> dict[str, Any]:
    """The contents of a cache file, by configuration."""
    if cache is None or not Path(cache).exists():
        return {}
    try:
        found = _native.read_kernel_tuner_cache(Path(cache).read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"cache {str(cache)!r}: {error}") from error
    names = [name for name, _ in found["parameters"]]
    if set(names) != set(space.names):
        raise ValueError(f"cache {str(cache)!r} has the parameters {names}; expected {list(space.names)}")
    return {_key(entry["config"]): entry for entry in found["entries"]}


def _recorded(known: dict[str, Any], config: dict[str, Any]) -> Any:
    entry = known.get(_key(config))
    if entry is None:
        raise CandidateError("constraints", "the cache file does not have this configuration")
    if entry["failure"]:
        raise CandidateError(*entry["failure"])
    return entry["score"]


def _result(trial: dict[str, Any], metrics: dict[str, Any]) -> dict[str, Any]:
    result = dict(trial["config"])
    if trial["failure"] is None:
        result["time"] = trial["score"] * 1e3
        result["times"] = [sample * 1e3 for sample in trial["samples"]]
    else:
        result["time"] = _FAILURE_NAMES.get(trial["failure"][0], "RuntimeFailedConfig")
        result["error"] = trial["failure"][1]
    result["compile_time"] = trial["compile_seconds"] * 1e3
    result["benchmark_time"] = trial["measure_seconds"] * 1e3
    result |= trial.get("observed", {})
    if trial["failure"] is None:
        for name, metric in metrics.items():
            result[name] = (
                metric(result)
                if callable(metric)
                else _native.Expression(metric)(
                    {key: value for key, value in result.items() if isinstance(value, (bool, int, float, str))}
                )
            )
    return result


def _order(result: dict[str, Any], objective: str, higher_is_better: bool | None) -> float:
    value = result.get(objective)
    if not isinstance(value, (int, float)):
        return math.inf
    return -value if higher_is_better else value


def _write_cache(
    cache: str | Path,
    device_name: str,
    kernel_name: str,
    problem_size: Any,
    tune_params: dict[str, Sequence[Any]],
    report: Report,
    known: dict[str, Any],
) -> None:
    """Write known and measured results; the old file remains until the new one is complete."""
    entries = known | {_key(trial["config"]): trial for trial in report.trials}
    size = problem_size if isinstance(problem_size, (int, str)) else [
        length if isinstance(length, (int, str)) else str(length) for length in np.atleast_1d(problem_size).tolist()
    ]  # fmt: skip
    parameters = [(name, list(values)) for name, values in tune_params.items()]
    text = _native.write_kernel_tuner_cache(
        device_name, kernel_name, json.dumps(size), parameters, "time", list(entries.values())
    )
    temporary = Path(f"{cache}.tmp")
    temporary.write_text(text, encoding="utf-8")
    temporary.replace(cache)
