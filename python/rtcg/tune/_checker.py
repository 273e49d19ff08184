"""Check candidates on the virtual GPU: memory errors, uninitialised reads, races, divergent barriers.

The virtual device and its checks run in a separate process, whatever device the search runs on. There, every candidate
is compiled for the virtual GPU and launched once on the arrays of a small problem.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rtcg import _native
from rtcg._messages import shown
from rtcg.tune._images import HostImage
from rtcg.tune._runner import Candidate, CandidateError, KernelRunner
from rtcg.tune._worker import Worker

if TYPE_CHECKING:
    import os


#: What can be found of a kernel; docs/checking.md says what each means.
CHECKS: tuple[str, ...] = ("memory", "init", "race", "sync")

#: Which candidates are checked.
CHECKED: tuple[str, ...] = ("all", "finalists")

#: Arrays of one call up to this many bytes in all are a small problem.
SMALL_BYTES = 1 << 20

#: Checked code is slower than any other.
_SLOWDOWN = 30


@dataclasses.dataclass(frozen=True)
class CheckedLaunch:
    """The kernel and arguments that the checking process compiles and launches."""

    name: str
    source: str
    options: tuple[str, ...] | None
    include_dirs: tuple[str | os.PathLike[str], ...]
    no_extern_c: bool
    block: tuple[int, ...]
    grid: tuple[int, ...]
    shared: int = 0
    constants: tuple[tuple[str, np.ndarray[Any, Any]], ...] = ()


class CandidateChecker:
    """Launch configurations in checked mode, in a process with a virtual GPU.

    Parameters
    ----------
    checks : str
        A list such as ``"memory,race"``, of `CHECKS`.
    arguments : sequence
        NumPy arrays and scalars of a small problem, in the kernel's order.
    written : set of int
        Which arguments the kernel writes.
    make_launch : callable
        ``make_launch(config)`` is the :class:`CheckedLaunch` of a configuration.
    timeout : float
        The seconds that an unchecked candidate may take.
    candidates : {"all", "finalists"}
        Which candidates a search checks.
    """

    def __init__(
        self,
        checks: str,
        arguments: Iterable[Any],
        written: Iterable[int],
        make_launch: Callable[[dict[str, Any]], CheckedLaunch],
        timeout: float,
        candidates: str = "all",
    ) -> None:
        if candidates not in CHECKED:
            raise ValueError(
                f"check_candidates is {shown(candidates)}; expected one of {', '.join(map(repr, CHECKED))}"
            )
        environment = {"RTCG_CHECK": parse_checks(checks), "RTCG_VIRTUAL_DEVICES": "1", "CUDA_VISIBLE_DEVICES": ""}
        self.candidates, self._make_launch = candidates, make_launch
        self._worker = Worker(
            CheckingRunner, (list(arguments), set(written)), timeout * _SLOWDOWN, environment, is_quiet=True
        )

    def check(self, config: dict[str, Any]) -> None:
        """Launch a configuration once; raise CandidateError of kind ``"correctness"`` if there is a finding."""
        launch = self._make_launch(config)
        try:
            self._worker._call("check", launch)
        except CandidateError as error:
            # What was found may have ended the context.
            self._worker.close()
            if error.kind == "correctness":
                raise
            raise CandidateError(error.kind, f"cannot be checked on the virtual GPU: {error.message}") from error

    def require_clean(self, default: dict[str, Any]) -> None:
        """Raise CandidateError if the default configuration has a finding, so that it cannot be the reference."""
        try:
            self.check(default)
        except CandidateError as error:
            if error.kind == "correctness":
                message = "the default configuration has a finding, so that its result is no reference; give verify="
                raise CandidateError("correctness", f"{message}. {error.message}") from error

    def close(self) -> None:
        """End the process."""
        self._worker.close()


class CheckingRunner:
    """The other side of :class:`CandidateChecker`, in the process that has the checks."""

    def __init__(self, arguments: Sequence[Any], written: Iterable[int]) -> None:
        from rtcg import driver

        driver.init()
        self._context = driver.Device(0).make_context()
        self._runner = KernelRunner(arguments, written)

    def check(self, launch: CheckedLaunch) -> None:
        from rtcg import checking

        candidate = _compile(launch)
        checking.clear()
        fault = None
        try:
            self._runner.load(candidate)
            self._runner.run()
        except CandidateError as error:
            fault = error
        found = checking.findings()
        if found:
            raise CandidateError("correctness", describe_findings(found))
        if fault is not None:
            raise fault


def _compile(launch: CheckedLaunch) -> Candidate:
    from rtcg.compiler import DEFAULT_NVCC_FLAGS, CompileError

    options = [*(DEFAULT_NVCC_FLAGS if launch.options is None else launch.options), "-lineinfo"]
    settings = _native.CompileSettings(
        options=options, no_extern_c=launch.no_extern_c, include_dirs=launch.include_dirs
    )
    try:
        binary = settings.compile(launch.source, warns=False)
    except CompileError as error:
        raise CandidateError("compile", str(error)) from error
    return Candidate(
        binary, launch.name, launch.source, tuple(options), launch.block, launch.grid, launch.shared, launch.constants
    )


def parse_checks(checks: str) -> str:
    """The checks that a text names; ``"all"`` means all of `CHECKS`."""
    expected = f"expected 'all', or names of {', '.join(CHECKS)}, such as 'memory,race'"
    if not isinstance(checks, str):
        raise TypeError(f"check is {shown(checks)}; {expected}")
    names = CHECKS if checks == "all" else [name.strip() for name in checks.split(",")]
    unknown = [name for name in names if name not in CHECKS]
    if unknown:
        raise ValueError(f"check is {shown(checks)}; {expected}")
    return ",".join(names)


def require_small(arguments: Sequence[Any], names: Sequence[str]) -> None:
    """Raise ValueError unless the arrays of a call are small enough to be checked."""
    sizes = {name: argument.nbytes for name, argument in zip(names, arguments, strict=True)
             if isinstance(argument, (np.ndarray, HostImage))}  # fmt: skip
    if sum(sizes.values()) > SMALL_BYTES:
        largest = max(sizes, key=lambda name: sizes[name])
        raise ValueError(
            f"check= launches candidates in checked mode, which is slow: the arrays of this call have "
            f"{sum(sizes.values())} bytes ({shown(largest)} {sizes[largest]}), "
            f"expected at most {SMALL_BYTES}. Give the "
            "arguments of a small problem as check_arguments="
        )


def with_checks(target: Any, checker: CandidateChecker | None) -> Any:
    """A search target that also checks candidates; the target itself if there is no checker."""
    if checker is None:
        return target
    return (_CheckedTarget if checker.candidates == "all" else _TargetWithCheckedFinalists)(target, checker)


class _TargetWithCheckedFinalists:
    """A target whose candidates are checked before one is chosen."""

    def __init__(self, target: Any, checker: CandidateChecker) -> None:
        self._target = target
        self.check = checker.check

    def __getattr__(self, name: str) -> Any:
        return getattr(self._target, name)


class _CheckedTarget:
    """A target whose candidates are checked before they are timed."""

    def __init__(self, target: Any, checker: CandidateChecker) -> None:
        self._target, self._checker = target, checker
        self._config: dict[str, Any] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._target, name)

    def load(self, config: dict[str, Any], compiled: Any) -> Any:
        self._config = config
        return self._target.load(config, compiled)

    def verify(self) -> None:
        self._target.verify()
        self._checker.check(self._config)


def describe_findings(found: Sequence[dict[str, Any]]) -> str:
    """A description of the first finding, with its threads and source line, and the number of further ones."""
    more = f"\n{len(found) - 1} more findings" if len(found) > 1 else ""
    return f"{found[0]['kind']}: {found[0]['message'].strip()}{more}"
