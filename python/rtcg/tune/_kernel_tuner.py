"""Kernel Tuner's function ``tune_kernel``, with its arguments and results, implemented by searches of this package."""

import inspect
import json
import math
from pathlib import Path

import numpy as np

from rtcg import _native
from rtcg._messages import shown
from rtcg.tune._callables import search
from rtcg.tune._kernel import Kernel
from rtcg.tune._run import run_search
from rtcg.tune._runner import CandidateError
from rtcg.tune._space import STRATEGIES, Space

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
    kernel_name, kernel_source, problem_size, arguments, tune_params, grid_div_x=None, grid_div_y=None,
    grid_div_z=None, restrictions=None, answer=None, atol=1e-6, verify=None, verbose=False, lang=None, device=0,
    compiler_options=None, iterations=7, block_size_names=None, quiet=False, strategy=None, strategy_options=None,
    cache=None, metrics=None, simulation_mode=False, observers=None, objective="time",
    objective_higher_is_better=None, cmem_args=None,
):  # fmt: skip
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


def _strategy(strategy):
    if hasattr(strategy, "ask") or strategy in STRATEGIES:
        return strategy
    if strategy not in _STRATEGY_NAMES:
        known = ", ".join(sorted({*STRATEGIES, *filter(None, _STRATEGY_NAMES)}))
        raise ValueError(f"strategy is {shown(strategy)}; expected one of {known}, or an object with ask()")
    return _STRATEGY_NAMES[strategy]


def _direction(objective, higher_is_better, metrics, observers):
    """Whether higher values of the objective are better."""
    known = ["time", *(metrics or {})]
    if objective not in known and not observers:
        raise ValueError(f"objective is {shown(objective)}; expected one of {', '.join(map(repr, known))}")
    if higher_is_better is None and objective not in _OBJECTIVES:
        raise ValueError(
            f"objective is {shown(objective)}; say with objective_higher_is_better= whether more is better"
        )
    return _OBJECTIVES[objective] if higher_is_better is None else bool(higher_is_better)


def _check_measured(results, objective):
    """Raise ValueError if configurations were measured but none has the objective."""
    measured = [result for result in results if "error" not in result]
    if measured and not any(objective in result for result in measured):
        raise ValueError(f"objective is {shown(objective)}; expected one of {', '.join(map(repr, measured[0]))}")


def _restriction(restriction, names):
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


def _as_function(restriction, function):
    function.__name__ = getattr(restriction, "__name__", type(restriction).__name__)
    return function


def _parameters(function, names):
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


def _is_constraint_object(value):
    """Whether it is an object of python-constraint, which is not imported for this."""
    return any(c.__name__ == "Constraint" and c.__module__.split(".")[0] == "constraint" for c in type(value).__mro__)


def _holds(constraint, values):
    """Whether a constraint of python-constraint holds for all its variables."""
    kind = type(constraint).__name__
    if kind in ("InSetConstraint", "NotInSetConstraint"):
        # The solver removes values before it asks, and never asks these.
        return all((value in constraint._set) == (kind == "InSetConstraint") for value in values.values())
    domains = {name: [value] for name, value in values.items()}
    return bool(constraint(list(values), domains, values))


def _as_list(values):
    if values is None:
        return []
    is_single = isinstance(values, str) or callable(values)
    return [values] if is_single else list(values)


def _make_kernel(name, source, space, problem_size, compiler_options, block_size_names, grid_divs, constants):
    if isinstance(source, (str, Path)) and not callable(source):
        is_path = isinstance(source, Path) or ("\n" not in source and source.endswith((".cu", ".cuh", ".h")))
        text = Path(source).read_text() if is_path else source
    else:
        text = lambda **config: _with_macros(source(config), config)  # noqa: E731
    names = list(block_size_names or ("block_size_x", "block_size_y", "block_size_z"))
    block = [name if name in space.names else 1 for name in names[:3]]
    sizes = problem_size if isinstance(problem_size, (tuple, list)) else (problem_size,)
    geometry = [(size, div, names[axis]) for axis, (size, div) in enumerate(zip(sizes, grid_divs, strict=False))]
    return _GridKernel(text, name, space, block, geometry, compiler_options, constants)


def _with_macros(source, config):
    macros = "".join(
        f"#define {name} {int(value) if isinstance(value, bool) else value}\n" for name, value in config.items()
    )
    return macros + str(source)


class _GridKernel(Kernel):
    """A kernel whose grid is the problem size over divisors."""

    def __init__(self, source, name, space, block, geometry, options, constants):
        from rtcg.compiler import DEFAULT_NVCC_FLAGS

        options = [*DEFAULT_NVCC_FLAGS, *_as_list(options), "-Dkernel_tuner=1"]
        super().__init__(source, name, space, block=block, grid=1, options=options, constants=constants)
        self._divisions = geometry

    def geometry(self, config, values):
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


def _value(part, config):
    return _native.Expression(part)(config) if isinstance(part, str) else int(part)


def _tune(kernel, arguments, answer, atol, verify, known, iterations, shared):
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

    def __init__(self, kernel, runner, answer, atol, verify, written, known):
        from rtcg.tune._kernel_target import KernelTarget

        self._inner = KernelTarget(kernel, runner, {})
        self._runner, self._answer, self._atol, self._verify = runner, answer, atol, verify
        self._written, self._known = written, known
        self._found = None
        runner.expect([None if answer is None or answer[place] is None else np.asarray(answer[place])
                       for place in written], 0.0, atol)  # fmt: skip

    def compile(self, config):
        found = self._known.get(_key(config))
        return found if found is not None else self._inner.compile(config)

    def load(self, config, compiled):
        self._found = compiled if isinstance(compiled, dict) else None
        if self._found is None:
            return self._inner.load(config, compiled)
        if self._found["failure"]:
            raise CandidateError(*self._found["failure"])
        return None

    def verify(self):
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

    def time(self, launches):
        return self._found["score"] if self._found is not None else self._inner.time(launches)


def _key(config):
    return json.dumps(config, sort_keys=True, default=str)


def _read_cache(cache, space):
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


def _recorded(known, config):
    entry = known.get(_key(config))
    if entry is None:
        raise CandidateError("constraints", "the cache file does not have this configuration")
    if entry["failure"]:
        raise CandidateError(*entry["failure"])
    return entry["score"]


def _result(trial, metrics):
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


def _order(result, objective, higher_is_better):
    value = result.get(objective)
    if not isinstance(value, (int, float)):
        return math.inf
    return -value if higher_is_better else value


def _write_cache(cache, device_name, kernel_name, problem_size, tune_params, report, known):
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
