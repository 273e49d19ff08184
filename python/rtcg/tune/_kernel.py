"""Tuned kernels: source with parameters, launched with the best known configuration."""

from __future__ import annotations

import contextlib
import difflib
import functools
import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rtcg import _native
from rtcg._conversions import as_flag, as_float, as_mapping, as_sequence, as_text, converts
from rtcg._messages import shown
from rtcg.template import Source
from rtcg.tune._call_arguments import (
    check_free_memory,
    contents_of,
    identity_of,
    on_host,
    plain_argument,
    scalar_values,
)
from rtcg.tune._checker import CandidateChecker, CheckedLaunch, require_small, with_checks
from rtcg.tune._geometry import evaluated, expressions_of, macros_of
from rtcg.tune._images import image_of
from rtcg.tune._kernel_target import KernelTarget
from rtcg.tune._roofline import least_time
from rtcg.tune._run import StoredProblem, as_work, refuse_cold_energy, run_search
from rtcg.tune._runner import Candidate, KernelRunner
from rtcg.tune._space import Space
from rtcg.tune._store import Store, as_store, store as default_store
from rtcg.tune._trees import is_tree, tree_parameters
from rtcg.tune._worker import WorkerRunner

if TYPE_CHECKING:
    from pathlib import Path

    from rtcg._native import TuningKernelKey
    from rtcg.driver import Function, Stream
    from rtcg.tune._report import Report
    from rtcg.tune._run import _Objective, _Observer

#: The budget of searches that a call begins by itself, inside :func:`auto`.
_auto_options: list[dict[str, Any]] = []


@contextlib.contextmanager
def auto(**options: Any) -> Iterator[None]:
    """Make tuned kernels search, inside this context, when they are called for a problem without a result of its own.

    Parameters
    ----------
    **options
        Those of :meth:`Kernel.tune`, such as ``budget="5 s"``.
    """
    _auto_options.append(options)
    try:
        yield
    finally:
        _auto_options.pop()


class Kernel(_native.TunedCall):
    """A kernel with tunable parameters in its source; a call launches the best known configuration.

    Parameters
    ----------
    source : str, syntax tree or callable
        CUDA source or a tree (``rtcg.cgen``) in which the parameters are macros (a tuple is ``name_0``, ``name_1``,
        ...), or a function that takes a configuration as keywords and returns source: text, or anything with ``str()``,
        such as a template or a tree. Parameters named by transformations of a tree
        (:func:`rtcg.cgen.transform.parameters`) are added to the space, unless it has them.
    name : str
        The name of the kernel in the source.
    space : Space
    block, grid : tuple of int or str
        Expressions of parameters of the space, scalar arguments and values of the problem.
    shared : int or str
        Bytes of dynamic shared memory.
    problem : sequence of str, or dict
        The problem, which determines the applicable result: names of the kernel's parameters (a scalar counts by its
        value, an array by its dtype and shape, a texture or surface by those of its texels), or of other values that
        calls pass as keywords. A dictionary has values that are literals of the source, such as ``{"width": 2048}``:
        with `identity`, a result for one of them is also found for others.
    bucket : dict, optional
        A function for each value of the problem, so that similar ones share a result: ``{"n": tune.log2}``.
    default : dict, optional
        The configuration to use without any result; by default the first value of each parameter.
    mutates : sequence of str, optional
        The arrays that the kernel writes; by default those whose pointers are not const.
    options, include_dirs, no_extern_c
        As for :func:`rtcg.compiler.compile`.
    constants : dict, optional
        NumPy arrays that fill ``__constant__`` (or ``__device__``) variables, by name.
    wisdom : path or sequence of path, optional
        Folders with results, searched before the user's own.
    store : Store, optional
        The store of the results; by default :func:`rtcg.tune.store`.
    identity : str, optional
        The text that identifies the source in the store; by default the source of the default configuration. Sources
        that differ only in literals, such as sizes, share results if they give the same text: that of their template.

    Notes
    -----
    Arguments may be textures of arrays (:func:`rtcg.driver.texture_object`) and surfaces. Searches copy them like
    arrays; surfaces count as written, and functions for `verify` receive their texels.

    ``kernel(*args, **values)`` takes the kernel's arguments, by position or by name, and values of the problem. It does
    not wait. It uses the stored result for this device and problem, else the nearest one, else the default; it never
    searches unless it is called inside :func:`auto`. No file is read after the first call for a problem.
    """

    @converts(
        name=as_text, bucket=as_mapping, default=as_mapping, mutates=as_sequence, options=as_sequence,
        include_dirs=as_sequence, no_extern_c=as_flag, constants=as_mapping, store=as_store,
    )  # fmt: skip
    def __init__(
        self, source: Any, name: str, space: Space, *, block: int | str | Sequence[int | str],
        grid: int | str | Sequence[int | str], shared: int | str = 0, problem: Sequence[str] | dict[str, Any] = (),
        bucket: dict[str, Callable[[Any], Any]] | None = None, default: dict[str, Any] | None = None,
        mutates: Sequence[str] | None = None, options: Sequence[str] | None = None,
        include_dirs: Sequence[str | Path] = (), no_extern_c: bool = False,
        constants: dict[str, np.ndarray[Any, Any]] | None = None, wisdom: str | Path | Sequence[str | Path] = (),
        store: Store | None = None, identity: str | None = None,
    ) -> None:  # fmt: skip
        super().__init__()
        if not (isinstance(source, str) or callable(source) or is_tree(source)):
            raise TypeError(
                f"source is {shown(source)}; expected str, a syntax tree, or a function that returns source"
            )
        if not isinstance(space, Space):
            raise TypeError(f"space is {shown(space)}; expected rtcg.tune.Space")
        if isinstance(problem, str):
            raise TypeError(f"problem is {shown(problem)}; expected a sequence of names, such as ({shown(problem)},)")
        if not isinstance(problem, dict):
            as_sequence("problem", problem)
        #: The parameters that a function as source is called with: those of its own trees are macros.
        self._source_names = space.names
        space = space + tree_parameters(source, space.default | dict(default or {}), space.names)
        self.name, self.space = name, space
        #: Values of the problem that are literals of the source.
        self._literals = dict(problem) if isinstance(problem, dict) else {}
        self.problem_names = tuple(name for name in problem if name not in self._literals)
        if identity is not None and not isinstance(identity, str):
            raise TypeError(f"identity is {shown(identity)}; expected str, such as the text of the source's template")
        self._identity_text = identity
        self._source = source
        self._geometry = {
            "block": expressions_of("block", block), "grid": expressions_of("grid", grid),
            "shared": expressions_of("shared", (shared,)),
        }  # fmt: skip
        self._bucket = dict(bucket or {})
        self._mutates = None if mutates is None else tuple(mutates)
        self._compile_settings = (options, include_dirs, no_extern_c)
        self._constants = tuple((name, np.ascontiguousarray(array)) for name, array in (constants or {}).items())
        self.default = space.default | dict(default or {})
        space.check(self.default)
        folders: Any = (
            [wisdom]
            if isinstance(wisdom, (str, bytes)) or hasattr(wisdom, "__fspath__")
            else list(as_sequence("wisdom", wisdom))
        )
        self._store = store
        self._wisdom = folders
        self._wisdom_store: Store | None = None
        self._variants: dict[Any, Function] = {}
        self._plans: dict[Any, tuple[Any, ...]] = {}
        self._keys: TuningKernelKey | None = None

    # What a configuration is.

    def source(self, config: dict[str, Any] | None = None) -> tuple[object, Sequence[str] | None]:
        """The ``(source, options)`` that a configuration is compiled from; by default the default configuration."""
        config = self.default if config is None else config
        options = self._compile_settings[0]
        text, defined = self._source, config
        if callable(text):
            text = text(**{name: config[name] for name in self._source_names})
            defined = {name: value for name, value in config.items() if name not in self._source_names}
            if not defined:
                return text, options
        # Not as options of the compiler, whose own headers would see them too.
        macros = "".join(f"#define {macro}\n" for name, value in defined.items() for macro in macros_of(name, value))
        text = str(text)
        return Source(text, f'{macros}#line 1 "{self.name}"\n{text}', self.name, text), options

    def compile(self, config: dict[str, Any]) -> tuple[bytes, str, tuple[str, ...]]:
        """Compile a configuration for the current device; returns the binary with its source and options."""
        source, options = self.source(config)
        _, include_dirs, no_extern_c = self._compile_settings
        settings = _native.CompileSettings(options=options, no_extern_c=no_extern_c, include_dirs=include_dirs)
        binary = settings.compile(source, warns=False)
        return binary, getattr(source, "_compiled_text", None) or str(source), tuple(options or ())

    def candidate(self, config: dict[str, Any], values: dict[str, Any]) -> Candidate:
        """Compile a configuration; returns it with its launch geometry for these values."""
        binary, source, options = self.compile(config)
        block, grid, shared = self.geometry(config, values)
        return Candidate(binary, self.name, source, options, block, grid, shared, self._constants)

    def _checked_launch(self, config: dict[str, Any], values: dict[str, Any]) -> CheckedLaunch:
        """The launch that the checking process compiles and runs."""
        options, include_dirs, no_extern_c = self._compile_settings
        source, _ = self.source(config)
        text = getattr(source, "_compiled_text", None) or str(source)
        options = None if options is None else tuple(map(str, options))
        geometry = self.geometry(config, values)
        return CheckedLaunch(
            self.name, text, options, tuple(include_dirs or ()), no_extern_c, *geometry, self._constants
        )

    def geometry(self, config: dict[str, Any], values: dict[str, Any]) -> tuple[tuple[int, ...], tuple[int, ...], int]:
        """The ``(block, grid, shared)`` of a configuration for these values of names."""
        known = self._literals | values | config
        block, grid, shared = (evaluated(part, self._geometry[part], known) for part in ("block", "grid", "shared"))
        return block + (1,) * (3 - len(block)), grid, shared[0]

    # Calls.

    def _launch(self, args: tuple[Any, ...], values: dict[str, Any]) -> tuple[Any, ...] | None:
        """Launch; returns the data with which the native class can repeat the launch."""
        from rtcg.driver import Context

        stream = {"stream": values.pop("stream")} if "stream" in values else {}
        names = self._parameter_names
        bound, order = self._bind(names, args, values)
        deciding = [name for name in dict.fromkeys((*self.problem_names, *self._geometry_names)) if name in bound]
        actual = tuple(identity_of(bound[name]) for name in deciding)
        key = (Context.get_current(), actual)
        plan = self._plans.get(key)
        if plan is None:
            plan = self._plans[key] = self._find_plan(args, values, bound)
        function, block, grid, shared = plan
        arguments = [bound[name] for name in names]
        function(*arguments, block=block, grid=grid, shared=shared, **stream)
        if stream:  # the next call may name another
            return None
        places = dict(zip(names, order, strict=False)) | {name: name for name in values}
        return function, block, grid, shared, order, [places[name] for name in deciding]

    def _bind(
        self, names: Sequence[str], args: Sequence[Any], values: dict[str, Any]
    ) -> tuple[dict[str, Any], list[int | str]]:
        """``({name: value}, [place, ...])`` of a call, where places are positions or keywords."""
        if len(args) > len(names):
            raise TypeError(
                f"kernel {shown(self.name)} takes {len(names)} arguments ({', '.join(names)}); {len(args)} given"
            )
        bound = dict(zip(names, args, strict=False))
        for name, value in values.items():
            if name in bound:
                raise TypeError(f"kernel {shown(self.name)} got two values of {shown(name)}")
            if name not in names and name not in self.problem_names and name not in self._geometry_names:
                raise TypeError(
                    f"kernel {shown(self.name)} has no parameter {shown(name)}; expected {', '.join(names)}"
                )
            bound[name] = value
        missing = [name for name in names if name not in bound]
        if missing:
            noun, verb = ("argument", "is") if len(missing) == 1 else ("arguments", "are")
            raise TypeError(f"kernel {shown(self.name)}: {noun} {', '.join(map(shown, missing))} {verb} missing")
        return bound, [*range(len(args)), *names[len(args) :]]

    @functools.cached_property
    def _geometry_names(self) -> tuple[str, ...]:
        known = {*self.space.names, *self._literals}
        expressions = [
            part for parts in self._geometry.values() for part in parts if isinstance(part, _native.Expression)
        ]
        return tuple(dict.fromkeys(name for part in expressions for name in part.names if name not in known))

    @functools.cached_property
    def _parameter_names(self) -> list[str]:
        return [name or f"argument {place}" for place, (_, name) in enumerate(self._signature())]

    def _signature(self) -> list[tuple[str, str | None]]:
        if not hasattr(self, "_known_signature"):
            # From the text alone, so that a default that does not compile is no obstacle.
            source, options = self.source()
            text = getattr(source, "_compiled_text", None) or str(source)
            signature = _native.kernel_parameters(text, [str(option) for option in options or ()], self.name)
            signature = signature or self._variant(self.default).signature
            if signature is None:
                raise ValueError("the source does not declare the parameters of kernel "
                                 f"{shown(self.name)} in a form that "
                                 "can be read")  # fmt: skip
            self._known_signature = signature
        return self._known_signature

    def _variant(self, config: dict[str, Any]) -> Function:
        """The loaded kernel of a configuration in the current context."""
        from rtcg import driver
        from rtcg.tune._runner import _declare_source, set_constants

        key = (driver.Context.get_current(), tuple(config[name] for name in self.space.names))
        function = self._variants.get(key)
        if function is None:
            binary, source, options = self.compile(config)
            module = driver.module_from_buffer(binary)
            _declare_source(module, Candidate(binary, self.name, source, options, (1,), (1,)))
            set_constants(module, self._constants)
            function = self._variants[key] = module.get_function(self.name)
        return function

    def _find_plan(
        self, args: tuple[Any, ...], values: dict[str, Any], bound: dict[str, Any]
    ) -> tuple[Function, tuple[int, ...], tuple[int, ...], int]:
        scalars = scalar_values(bound)
        stored = self._stored(bound)
        found = stored.look_up(self.space)
        if _auto_options and self.space.names and (found is None or found[3] != "Exact"):
            self.tune(*args, **values, **_auto_options[-1])
            found = stored.look_up(self.space)
        config = self.default if found is None else found[0]
        return (self._variant(config), *self.geometry(config, scalars))

    def explain(self, *args: Any, **values: Any) -> str:
        """The configuration that a call with these arguments uses, and the reason."""
        bound, _ = self._bind(self._parameter_names, args, values)
        found = self._stored(bound).look_up(self.space)
        if found is None:
            return f"{_shown(self.default)}: the default, since nothing is stored for a device or problem like this"
        return found[2]

    def variant(self, **config: Any) -> Callable[..., None]:
        """A function that launches one configuration, whatever is stored; it takes the arguments of a call.

        Parameters
        ----------
        **config
            Values of parameters; others have their defaults. Values outside the space are allowed, so that one can try
            a variant that no search should choose.

        Raises
        ------
        ValueError
            For a name that is not a parameter.

        Notes
        -----
        The kernel is compiled when the function is first called. Launches do not wait.
        """
        unknown = [name for name in config if name not in self.space.names]
        if unknown:
            expected = ", ".join(self.space.names)
            raise ValueError(
                f"{shown(unknown[0])} is no parameter of kernel {shown(self.name)}; expected some of {expected}"
            )
        config = self.default | config
        names = self._parameter_names

        def launch(*args: Any, stream: Stream | None = None, **values: Any) -> None:
            bound, _ = self._bind(names, args, values)
            block, grid, shared = self.geometry(config, scalar_values(bound))
            options: dict[str, Any] = {} if stream is None else {"stream": stream}
            arguments = [bound[name] for name in names]
            self._variant(config)(*arguments, block=block, grid=grid, shared=shared, **options)

        return launch

    # The store.

    def _problem(self, bound: dict[str, Any]) -> dict[str, Any]:
        problem = {name: self._bucket[name](value) if name in self._bucket else value
                   for name, value in self._literals.items()}  # fmt: skip
        for name in self.problem_names:
            if name not in bound:
                raise TypeError(f"kernel {shown(self.name)} misses {shown(name)}, which its problem is about")
            value = image_of(name, bound[name])
            if hasattr(value, "shape") and hasattr(value, "dtype") and getattr(value, "ndim", 0) > 0:
                problem[f"{name}.dtype"] = str(value.dtype)
                problem |= {f"{name}.{axis}": int(length) for axis, length in enumerate(value.shape)}
            else:
                value = value.item() if isinstance(value, np.generic) else value
                problem[name] = self._bucket[name](value) if name in self._bucket else value
        return problem

    def _stored(self, bound: dict[str, Any]) -> StoredProblem:
        store = self._store or default_store()
        if self._wisdom:
            if self._wisdom_store is None or self._wisdom_store.folder != store.folder:
                self._wisdom_store = Store(store.folder, self._wisdom)
            store = self._wisdom_store
        if self._keys is None:
            source = self.source()[0] if self._identity_text is None else self._identity_text
            options = [str(option) for option in self._compile_settings[0] or ()]
            self._keys = _native.TuningKernelKey(self.name, str(source), options, list(self.space.names))
        return StoredProblem(store, self._keys, self._problem(bound))

    def _stored_of_call(self, args: tuple[Any, ...], options: dict[str, Any]) -> StoredProblem:
        """The store entry for the problem of a call; `options` may include those of a search."""
        values = {name: value for name, value in options.items() if name not in _TUNING_OPTIONS}
        bound, _ = self._bind(self._parameter_names, args, values)
        return self._stored(bound)

    # Searching.

    @converts(rtol=as_float, atol=as_float)
    def tune(
        self, *args: Any, budget: str | float | None = "30 s", verify: Any = None, rtol: float | None = None,
        atol: float | None = None, strategy: Any = "auto", seed: int = 0, bytes: int | str | None = None,
        flops: int | str | None = None, until: str | float | None = None, isolate: bool | None = None,
        timeout: float = 10.0, observers: Sequence[_Observer] = (), progress: bool | None = None,
        occupancy_slack: float | None = None, threads: int | None = None, check: str | None = None,
        check_candidates: str = "all", check_arguments: Sequence[Any] | dict[str, Any] | None = None,
        cold: bool = False, objective: _Objective = "time", maximize: bool = False, **values: Any,
    ) -> Report:  # fmt: skip
        """Search for the best configuration for these arguments on the current device, and keep all results.

        Parameters
        ----------
        *args, **values
            As for a call. The arrays are not changed: the kernel works on copies.
        budget : str or float
            ``"20 s"``, ``"2 min"``, ``"200 evaluations"``, or seconds.
        verify : callable, array or sequence of arrays, optional
            The expected contents of the written arrays, or a function of the arguments as NumPy arrays that returns
            them (several as a tuple) or changes them in place. By default the result of the default configuration. A
            configuration with another result is never chosen.
        rtol, atol : float, optional
            Tolerances; by default 1e-2 and 1e-2 for half precision, 1e-4 and 1e-5 for single, 1e-9 and 1e-12 for
            double.
        strategy, seed
            As for :class:`Search`.
        bytes, flops : int or str, optional
            The work of a launch, or an expression for it: bytes that must cross the memory bus, and floating-point
            operations. With the measured limits of the device they give the shortest possible time.
        until : str or float, optional
            Stop when the best is within this fraction of the limit: ``"95 % of roofline"``.
        isolate : bool, optional
            Run candidates in another process, so that one that faults or hangs does not affect this process. By default
            wherever possible (not on Windows).
        timeout : float
            Seconds after which a candidate in another process is stopped.
        observers : sequence
            Sensors of :mod:`rtcg.tune.observers` or their names, and functions: ``observer(config, trial)`` returns a
            dictionary with additional columns.
        progress : bool, optional
            Show a progress line; by default on terminals and in notebooks.
        occupancy_slack : float, optional
            Do not time configurations whose occupancy is below this fraction of the best so far.
        threads : int, optional
            The number of threads that compile; by default one per processor.
        check : str, optional
            ``"memory,race"``, or others of ``memory``, ``init``, ``race``, ``sync``, or ``"all"`` of them: candidates
            are launched once more in checked mode, on a virtual GPU in a separate process, even if the search runs on
            another GPU. A candidate with a finding is invalid (``"correctness"``) and never chosen.
        check_candidates : {"all", "finalists"}
            Which candidates are checked: all, before they are timed, or only those that may be chosen, at the end.
        check_arguments : sequence or dict, optional
            The kernel's arguments for a small problem, on which checks run: by position, or by name together with
            values of the problem. By default those of the call, if their arrays have at most 1 MiB.
        cold : bool
            Start each timed launch with cold caches: before it, outside the timed interval, twice the size of the L2
            cache is written. A window has at most 50 launches, each between its own events.
        objective : str or callable
            ``"time"``; ``"bandwidth"`` or ``"flops"``, which order like time and are shown as rates of `bytes` or
            `flops`; ``"energy"``, the joules of a launch, measured by :data:`rtcg.tune.observers.energy`; a column that
            an observer fills; or ``objective(config, trial)``, which returns a number. Results for objectives other
            than time are kept separately, and calls do not use them; results of a function are not kept.
        maximize : bool
            Whether higher values of a column or of a function are better.

        Returns
        -------
        Report

        Raises
        ------
        ValueError
            If nothing is tunable, the space has no valid configuration, an option is wrong, or a result of `verify` has
            a shape other than that of its array.
        CompileError
            If the default configuration does not compile and, without `verify`, is the reference.
        CandidateError
            If `check` has a finding in a default configuration that is the reference.
        RuntimeError
            If the objective is energy and the device has no sensor for it.

        Notes
        -----
        Ctrl-C stops the search and keeps the best result so far. Waits for the device.
        """
        if not self.space.names:
            raise ValueError(
                f"the space of kernel {shown(self.name)} is empty; expected at least one parameter to tune"
            )
        names = self._parameter_names
        self._refuse_misspelled_options(values, names)
        bound, _ = self._bind(names, args, values)
        arguments = [plain_argument(name, bound[name]) for name in names]
        written = self._written(names, [bound[name] for name in names])
        stored = self._stored(bound)
        scalars = self._literals | scalar_values(bound)
        moved, computed = _amount("bytes", bytes, scalars), _amount("flops", flops, scalars)
        refuse_cold_energy(cold, objective)
        check_free_memory(self.name, arguments, written)
        if isolate is None:
            import os

            isolate = os.name == "posix"
        if isolate:
            sent = [on_host(name, argument) for name, argument in zip(names, arguments, strict=True)]
            runner: WorkerRunner | KernelRunner = WorkerRunner(sent, written, timeout, cold)
        else:
            runner = KernelRunner(arguments, written, cold)
        checker = None if check is None else self._checker(check, check_candidates, check_arguments, bound, timeout)
        try:
            if checker is not None and verify is None:
                checker.require_clean(self.default)
            expected = self._expected(verify, arguments, written, runner, scalars)
            runner.expect(expected, rtol, atol)
            target = with_checks(KernelTarget(self, runner, scalars), checker)
            return run_search(
                target, self.space, budget=budget, strategy=strategy, seed=seed,
                default=self.default, incumbents=stored.incumbents(self.space), observers=observers, progress=progress,
                occupancy_slack=occupancy_slack, threads=threads, stored=stored, until=until,
                limit=least_time(moved, computed), objective=objective, maximize=maximize, bytes=moved, flops=computed,
            )  # fmt: skip
        finally:
            if isinstance(runner, WorkerRunner):
                runner.close()
            if checker is not None:
                checker.close()
            self._plans.clear()
            self._forget_call()

    def refresh(self, *args: Any, at_least: float = 0.9, budget: str | float | None = "30 s", **options: Any) -> Report:
        """Measure the ten best known configurations for these arguments here; search only if they fall short.

        Same as :func:`rtcg.tune.refresh` with this kernel as its first argument.
        """
        from rtcg.tune._refresh import refresh

        return refresh(self, *args, at_least=at_least, budget=budget, **options)

    def _refuse_misspelled_options(self, values: dict[str, Any], names: Iterable[str]) -> None:
        known = {*names, *self.problem_names, *self._geometry_names}
        options = list(inspect.signature(Kernel.tune).parameters)[2:-1]
        for name in values:
            near = difflib.get_close_matches(name, options, 1)
            if name not in known and near:
                raise TypeError(
                    f"tune() has no option {shown(name)}, nor kernel {shown(self.name)} "
                    f"a parameter; is it {shown(near[0])}?"
                )

    def _checker(
        self,
        checks: str,
        candidates: str,
        small: Sequence[Any] | dict[str, Any] | None,
        bound: dict[str, Any],
        timeout: float,
    ) -> CandidateChecker:
        """The checker that launches candidates in checked mode, on the arguments of a small problem."""
        names = self._parameter_names
        if small is not None:
            bound, _ = self._bind(names, (), small) if isinstance(small, dict) else self._bind(names, tuple(small), {})
        arguments = [on_host(name, plain_argument(name, bound[name])) for name in names]
        if small is None:
            require_small(arguments, names)
        written, scalars = self._written(names, [bound[name] for name in names]), scalar_values(bound)
        return CandidateChecker(
            checks, arguments, written, lambda config: self._checked_launch(config, scalars), timeout, candidates
        )

    def _written(self, names: Sequence[str], arguments: Sequence[Any]) -> set[int]:
        """The positions of the arguments that the kernel writes."""
        from rtcg import driver

        if self._mutates is not None:
            unknown = [name for name in self._mutates if name not in names]
            if unknown:
                raise ValueError(f"mutates has {shown(unknown[0])}; expected names of {', '.join(names)}")
            return {names.index(name) for name in self._mutates}
        written = set()
        for place, ((kind, _), argument) in enumerate(zip(self._signature(), arguments, strict=False)):
            is_input = type(argument) is driver.In
            is_const = "const" in kind.partition("*")[0].split()
            if "*" in kind and not is_const and not is_input and not np.isscalar(argument):
                written.add(place)
            elif isinstance(argument, driver.SurfaceObject):
                written.add(place)
        return written

    def _expected(
        self,
        verify: Any,
        arguments: Sequence[Any],
        written: set[int],
        runner: KernelRunner | WorkerRunner,
        scalars: dict[str, Any],
    ) -> list[Any]:
        if verify is None:
            candidate = self.candidate(self.default, scalars)
            runner.load(candidate)
            return runner.run()
        if not callable(verify):
            expected = list(verify) if isinstance(verify, (tuple, list)) else [verify]
        else:
            host = [contents_of(argument) for argument in arguments]
            expected = verify(*host)
            expected = [host[place] for place in sorted(written)] if expected is None else expected
            if isinstance(expected, dict):
                names = [self._parameter_names[place] for place in sorted(written)]
                raise TypeError(
                    f"verify returned {shown(expected)}; expected the array for {shown(names[0])}"
                    if len(names) == 1
                    else f"verify returned {shown(expected)}; expected a tuple of arrays for {', '.join(names)}"
                )
            expected = list(expected) if isinstance(expected, (tuple, list)) else [expected]
        if len(expected) != len(written):
            raise ValueError(f"verify gives {len(expected)} arrays; the kernel writes {len(written)}")
        expected = [None if array is None else np.asarray(array) for array in expected]
        for place, array in zip(sorted(written), expected, strict=True):
            if array is not None and array.shape != arguments[place].shape:
                raise ValueError(f"verify gives shape {array.shape} for argument "
                                 f"{shown(self._parameter_names[place])}; "
                                 f"expected {arguments[place].shape}")  # fmt: skip
        return expected

    def __repr__(self) -> str:
        return f"<tuned kernel {self.name!r} of {', '.join(self.space.names)}>"


#: The keywords of `Kernel.tune` that are no values of a call.
_TUNING_OPTIONS = frozenset(inspect.signature(Kernel.tune).parameters) - {"self", "args", "values"}


def _shown(config: dict[str, Any]) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in config.items())


def _amount(name: str, stated: int | float | str | None, values: dict[str, Any]) -> float | None:
    """A positive number, or the value of an expression; None remains None."""
    try:
        return as_work(name, _native.Expression(stated)(values) if isinstance(stated, str) else stated)
    except (TypeError, ValueError) as error:
        if isinstance(stated, str):
            raise type(error)(f"{name} is {shown(stated)}; expected a positive number, or an expression of scalar "
                              f"arguments that is one: {error}") from None  # fmt: skip
        raise
