"""Objects in separate processes, so that a candidate that hangs or faults ends its own process only.

The parent sends method calls, and the worker answers with results or errors. Arrays are sent as NumPy arrays. A worker
that died or exceeded its time limit is replaced, with the same arguments, before the next candidate.
"""

from __future__ import annotations

import multiprocessing
import multiprocessing.connection
import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rtcg import _native
from rtcg.tune._runner import CandidateError, KernelRunner

if TYPE_CHECKING:
    import numpy as np

    from rtcg.tune._runner import Candidate

#: Seconds that a worker has for its start and for taking its arguments.
_START_SECONDS = 60.0


class Worker:
    """An object in another process, whose methods are called from this one.

    Parameters
    ----------
    make : callable
        A module-level function that creates the object in the other process.
    arguments : sequence
        The arguments of `make`.
    timeout : float
        Seconds after which a call is abandoned and the worker stopped.
    environment : dict, optional
        Additional environment variables of the process.
    is_quiet : bool
        Whether to discard the standard error of the process.
    """

    def __init__(
        self,
        make: Callable[..., Any],
        arguments: Iterable[Any],
        timeout: float,
        environment: dict[str, str] | None = None,
        is_quiet: bool = False,
    ) -> None:
        self._make, self._arguments = make, tuple(arguments)
        self._timeout = timeout
        self._environment = dict(environment or {})
        self._stderr = subprocess.DEVNULL if is_quiet else None
        self._calls_after_start: dict[str, tuple[Any, ...]] = {}
        self._process: Any = None
        self._connection: Any = None

    def close(self) -> None:
        """Stop the worker."""
        if self._connection is not None:
            self._connection.close()
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        self._process = self._connection = None

    def _call(self, method: str, *arguments: Any) -> Any:
        try:
            if self._connection is None:
                self._start()
            return self._ask(method, arguments, self._timeout)
        except BaseException as error:
            # What the context is worth after that is unknown, and an answer that comes late is none to the next call.
            if not isinstance(error, CandidateError) or error.kind in ("runtime", "timeout"):
                self.close()
            raise

    def _ask(self, method: str, arguments: tuple[Any, ...], seconds: float) -> Any:
        try:
            self._connection.send((method, arguments))
            if not self._connection.poll(seconds):
                raise CandidateError("timeout", f"{method} was not done after {seconds:g} s")
            answer, value = self._connection.recv()
        except (EOFError, OSError) as error:
            raise CandidateError("runtime", f"the process that ran it ended: {self._exit_status()}") from error
        if answer == "error":
            raise value
        return value

    def _exit_status(self) -> str:
        try:
            status = self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            return "no answer"
        return f"signal {-status}" if status < 0 else f"exit status {status}"

    def _start(self) -> None:
        self._connection, theirs = multiprocessing.Pipe()
        with theirs:
            command = [sys.executable, "-c", "from rtcg.tune import _worker; _worker.main()", str(theirs.fileno())]
            environment = _environment() | self._environment
            # In a session of its own, which Ctrl-C does not reach: the parent decides what becomes of its worker.
            self._process = subprocess.Popen(
                command, env=environment, pass_fds=[theirs.fileno()], stderr=self._stderr, start_new_session=True
            )
        self._ask("start", (self._make, self._arguments), _START_SECONDS)
        for method, arguments in self._calls_after_start.items():
            self._ask(method, arguments, self._timeout)


class WorkerRunner(Worker):
    """A :class:`~rtcg.tune._runner.KernelRunner` in another process, with the same methods.

    Parameters
    ----------
    arguments : sequence
        NumPy arrays, which the worker copies to its device, and scalars.
    written : set of int
        The arguments that the kernel writes.
    timeout : float
        Seconds after which a call is abandoned and the worker stopped.
    cold : bool
        Whether each timed launch starts with cold caches.
    """

    def __init__(self, arguments: Sequence[Any], written: Iterable[int], timeout: float, cold: bool = False) -> None:
        from rtcg import driver

        bus_id = driver.Context.get_device().pci_bus_id()
        super().__init__(_make_runner, (bus_id, list(arguments), set(written), cold), timeout)

    def expect(
        self, expected: Sequence[np.ndarray[Any, Any] | None], rtol: float | None = None, atol: float | None = None
    ) -> None:
        self._call("expect", expected, rtol, atol)
        self._calls_after_start["expect"] = (expected, rtol, atol)

    def load(self, candidate: Candidate) -> dict[str, Any]:
        return self._call("load", candidate)

    def run(self) -> list[np.ndarray[Any, Any]]:
        return self._call("run")

    def verify(self) -> None:
        return self._call("verify")

    def time(self, launches: int) -> float:
        return self._call("time", launches)

    def repeat(self, launches: int) -> float:
        return self._call("repeat", launches)

    def window_kind(self) -> str:
        return self._call("window_kind")


def _environment() -> dict[str, str]:
    """The environment of a worker, in which it finds the modules of this process."""
    package = str(Path(__file__).resolve().parents[2])
    inherited = os.environ.get("PYTHONPATH")
    return os.environ | {"PYTHONPATH": f"{package}{os.pathsep}{inherited}" if inherited else package}


def main() -> None:
    """Serve one parent until it closes the connection or ends."""
    # While a call runs nobody reads the connection: a thread that needs no interpreter looks after it.
    _native.exit_with_peer(int(sys.argv[1]))
    with multiprocessing.connection.Connection(int(sys.argv[1])) as connection:
        runner = None
        while True:
            try:
                method, arguments = connection.recv()
            except EOFError:
                return
            try:
                if method == "start":
                    make, settings = arguments
                    runner, value = make(*settings), None
                else:
                    value = getattr(runner, method)(*arguments)
                answer = ("value", value)
            except Exception as error:
                answer = (
                    "error",
                    error if isinstance(error, CandidateError) else CandidateError("runtime", repr(error)),
                )
            connection.send(answer)


def _make_runner(pci_bus_id: str, arguments: list[Any], written: set[int], cold: bool) -> KernelRunner:
    from rtcg import driver

    driver.init()
    devices = [driver.Device(ordinal) for ordinal in range(driver.Device.count())]
    device = next(device for device in devices if device.pci_bus_id() == pci_bus_id)
    context = device.make_context()
    runner = KernelRunner(arguments, written, cold)
    runner.context = context  # type: ignore[attr-defined]  # kept alive as long as the runner
    return runner
