"""Run candidates of a kernel on one set of arguments: load, verify and time them.

A runner works in the process that created it; `_worker` runs one in a separate process, for candidates that may hang or
leave the context unusable.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rtcg import _native
from rtcg._messages import shown
from rtcg.tune._images import HostImage, Image

if TYPE_CHECKING:
    from rtcg.driver import Module

#: Launches that a graph has at most.
_MAX_CAPTURED = 256

#: Relative and absolute tolerance by the size of a floating-point number, where the user states none.
_TOLERANCES = {2: (1e-2, 1e-2), 4: (1e-4, 1e-5), 8: (1e-9, 1e-12)}


class CandidateError(Exception):
    """A candidate failed and has no score.

    Attributes
    ----------
    kind : str
        ``"constraints"``, ``"compile"``, ``"runtime"``, ``"timeout"`` or ``"correctness"``.
    """

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(kind, message)
        self.kind, self.message = kind, message

    def __str__(self) -> str:
        return f"{self.kind}: {self.message}"


@dataclasses.dataclass(frozen=True)
class Candidate:
    """A compiled kernel with its launch geometry; can be sent to another process."""

    binary: bytes
    name: str
    source: str
    options: tuple[str, ...]
    block: tuple[int, ...]
    grid: tuple[int, ...]
    shared: int = 0
    #: Names of variables of the module, with what they contain.
    constants: tuple[tuple[str, np.ndarray[Any, Any]], ...] = dataclasses.field(default=(), compare=False)


class KernelRunner:
    """Run candidates in the current context.

    Parameters
    ----------
    arguments : sequence
        Device arrays, NumPy arrays (copied to the device), images and scalars, in the kernel's order.
    written : set of int
        The arguments that the kernel writes. They are copied, so that the caller's are not changed, and restored before
        each verification and each timed window.
    cold : bool
        Whether each timed launch starts with cold caches.
    """

    def __init__(self, arguments: Sequence[Any], written: Iterable[int], cold: bool = False) -> None:
        import rtcg.numpy as xp

        def on_device(argument: Any) -> Any:
            if isinstance(argument, HostImage):
                return argument.on_device()
            return xp.asarray(argument) if isinstance(argument, np.ndarray) else argument

        self._arguments = [on_device(argument) for argument in arguments]
        self._initial = {}
        for index in sorted(written):
            array = self._arguments[index]
            self._initial[index] = array.get() if isinstance(array, Image) else array
            self._arguments[index] = array.copy()
        self._passed = [argument.handle if isinstance(argument, Image) else argument for argument in self._arguments]
        self._function: Any = None
        self._candidate: Any = None
        self._expected: Any = None
        self._tolerance: tuple[float | None, float | None] = (None, None)
        self._timer = _native.LaunchTimer(cold, _MAX_CAPTURED)

    def expect(
        self, expected: Sequence[np.ndarray[Any, Any] | None], rtol: float | None = None, atol: float | None = None
    ) -> None:
        """Set the expected contents of the written arrays after one launch: NumPy arrays in order, or None."""
        self._expected, self._tolerance = expected, (rtol, atol)

    def load(self, candidate: Candidate) -> dict[str, Any]:
        """Load a candidate; returns its resources: registers, spilled bytes, shared bytes, occupancy."""
        from rtcg import driver

        try:
            module = driver.module_from_buffer(candidate.binary)
            _declare_source(module, candidate)
            set_constants(module, candidate.constants)
            function = module.get_function(candidate.name)
        except driver.Error as error:
            raise CandidateError("runtime", str(error)) from error
        self._function, self._candidate = function, candidate
        self._timer.start_candidate(str(hash(candidate)))
        threads = int(np.prod(candidate.block))
        if threads > function.max_threads_per_block:
            raise CandidateError(
                "constraints", f"block {candidate.block} has {threads} threads; the kernel allows at most "
                f"{function.max_threads_per_block} with its {function.num_regs} registers",
            )  # fmt: skip
        device = driver.Context.get_device()
        resident = function.max_active_blocks_per_multiprocessor(threads, candidate.shared)
        return {
            "registers": function.num_regs,
            "spill_bytes": function.local_size_bytes,
            "shared_bytes": function.shared_size_bytes + candidate.shared,
            "occupancy": resident * threads / device.max_threads_per_multiprocessor,
        }

    def run(self) -> list[np.ndarray[Any, Any]]:
        """Launch the loaded candidate once on fresh copies; returns the written arrays as NumPy arrays."""
        self._restore()
        self._attempt(self._launch)
        return [self._attempt(self._arguments[index].get) for index in self._initial]

    def verify(self) -> None:
        """Launch the loaded candidate once and compare the written arrays with the expected ones."""
        written = self.run()
        for (index, array), expected in zip(
            zip(self._initial, written, strict=False), self._expected or written, strict=False
        ):
            if expected is not None:
                compare_results(f"argument {index}", array, np.asarray(expected), *self._tolerance)

    def time(self, launches: int) -> float:
        """The seconds per launch over `launches` launches on the device."""
        self._restore()
        return self.repeat(launches)

    def repeat(self, launches: int) -> float:
        """Like :meth:`time`, on the arrays as the last launch left them."""
        return self._attempt(lambda: self._timer.time(launches, self._launch))

    def window_kind(self) -> str:
        """How the windows of the loaded candidate are timed: ``"launches"``, ``"graph"`` or ``"cold"``."""
        return self._timer.window

    def _launch(self, count: int = 1) -> None:
        candidate = self._candidate
        for _ in range(count):
            self._function(*self._passed, block=candidate.block, grid=candidate.grid, shared=candidate.shared)

    def _attempt(self, action: Callable[[], Any]) -> Any:
        from rtcg import driver

        try:
            return action()
        except driver.Error as error:
            refused = ("invalid argument", "too many resources", "invalid resource")
            kind = "constraints" if any(word in str(error) for word in refused) else "runtime"
            raise CandidateError(kind, str(error)) from error

    def _restore(self) -> None:
        for index, initial in self._initial.items():
            self._attempt(functools.partial(self._arguments[index].set, initial))


def set_constants(module: Module, constants: Iterable[tuple[str, np.ndarray[Any, Any]]]) -> None:
    """Fill variables of a module from pairs of a name and a NumPy array."""
    from rtcg import driver

    for name, array in constants:
        address, nbytes = module.get_global(name)
        if array.nbytes > nbytes:
            raise CandidateError("constraints", f"{shown(name)} has {nbytes} bytes; its contents have {array.nbytes}")
        driver.memcpy_htod(address, array)


def tolerances(dtype: Any, rtol: float | None = None, atol: float | None = None) -> tuple[float, float]:
    """The given ``(rtol, atol)``, or the usual ones for a dtype."""
    usual = _TOLERANCES.get(np.empty(0, dtype).real.dtype.itemsize, (0, 0)) if dtype.kind in "fc" else (0, 0)
    return usual[0] if rtol is None else rtol, usual[1] if atol is None else atol


def compare_results(
    what: str,
    array: np.ndarray[Any, Any],
    expected: np.ndarray[Any, Any],
    rtol: float | None = None,
    atol: float | None = None,
) -> None:
    """Raise CandidateError unless `array` equals `expected` within the tolerances, and ValueError if shapes differ."""
    if array.shape != expected.shape:
        raise ValueError(f"the expected contents of {what} have shape {expected.shape}; it has {array.shape}")
    rtol, atol = tolerances(array.dtype, rtol, atol)
    wrong = ~np.isclose(array, expected, rtol=rtol, atol=atol, equal_nan=True)
    if wrong.any():
        place = tuple(int(part) for part in np.argwhere(wrong)[0])
        raise CandidateError(
            "correctness", f"{int(wrong.sum())} of {wrong.size} elements of {what} are wrong; the first at {place} is "
            f"{array[place]}, expected {expected[place]} (rtol {rtol}, atol {atol})",
        )  # fmt: skip


def _declare_source(module: Module, candidate: Candidate) -> None:
    """Make the kernel check and convert its arguments by the types that its source declares."""
    _native.CompileSettings(options=candidate.options).register_source(module, candidate.source)
