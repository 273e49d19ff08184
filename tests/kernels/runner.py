"""Run a case on a backend and list what is wrong with the outcome."""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from tests.kernels.case import KernelCase, Launch, Ptr, RawPtr, Texture

ROOT = Path(__file__).resolve().parents[2]

#: The backends by name: modules with a function `connect() -> Backend`.
BACKENDS = {"pycuda": "tests.kernels.backend_pycuda", "raw": "tests.kernels.backend_raw"}


class BackendError(Exception):
    """A failed call: `code` is the CUresult's name if known, `kind` the exception's class."""

    def __init__(self, phase: str, kind: str, message: str, code: str | None = None) -> None:
        super().__init__(f"{phase}: {kind}: {message}")
        self.phase, self.kind, self.message, self.code = phase, kind, message, code


class Loaded(Protocol):
    """A compiled and loaded module."""

    def launch(self, launch: Launch, args: Sequence[Any]) -> None: ...
    def get_global(self, name: str) -> tuple[int, int]: ...


class Backend(Protocol):
    """What a case needs of a CUDA stack; failures are `BackendError`."""

    name: str

    def device_name(self) -> str: ...
    def is_virtual(self) -> bool: ...
    def compile(self, case: KernelCase) -> Loaded: ...
    def alloc(self, nbytes: int) -> Any: ...
    def address(self, allocation: Any) -> int: ...
    def free(self, allocation: Any) -> None: ...
    def write(self, address: int, data: np.ndarray) -> None: ...
    def read(self, address: int, into: np.ndarray) -> None: ...
    def texture(self, texture: Texture) -> AbstractContextManager[Any]: ...
    def synchronize(self) -> None: ...


def connect(name: str) -> Backend:
    """The backend called `name`, with a context on device 0."""
    return import_module(BACKENDS[name]).connect()


@dataclass
class Outcome:
    """What a run left behind."""

    buffers: dict[str, np.ndarray] = field(default_factory=dict)
    globals: dict[str, np.ndarray] = field(default_factory=dict)
    stdout: str = ""


@contextmanager
def captured_stdout() -> Iterator[list[str]]:
    """Collect what is written to file descriptor 1, by any library."""
    libc = ctypes.CDLL(None)
    sys.stdout.flush()
    libc.fflush(None)
    saved, text = os.dup(1), []
    with tempfile.TemporaryFile() as sink:
        os.dup2(sink.fileno(), 1)
        try:
            yield text
        finally:
            sys.stdout.flush()
            libc.fflush(None)
            os.dup2(saved, 1)
            os.close(saved)
            sink.seek(0)
            text.append(sink.read().decode(errors="replace"))


def _argument(arg: Any, addresses: Mapping[str, int], backend: Backend, textures: ExitStack) -> Any:
    if isinstance(arg, Texture):
        return textures.enter_context(backend.texture(arg))
    if isinstance(arg, str):
        return np.uintp(addresses[arg])
    if isinstance(arg, Ptr):
        return np.uintp(addresses[arg.name] + arg.offset)
    if isinstance(arg, RawPtr):
        return np.uintp(arg.address)
    return arg


def wanted(case: KernelCase) -> tuple[Mapping[str, np.ndarray], Mapping[str, np.ndarray]]:
    """What the oracle expects of buffers and of globals."""
    return case.expect(case.buffers), case.globals_out(case.buffers)


def execute(backend: Backend, case: KernelCase, buffers: Iterable[str], globals_out: Mapping[str, np.ndarray]) -> Outcome:
    """Compile, launch, and read these buffers and globals back."""
    module = backend.compile(case)
    owned = {name: backend.alloc(max(a.nbytes, 1)) for name, a in case.buffers.items()}
    try:
        addresses = {name: backend.address(a) for name, a in owned.items()}
        for name, array in case.buffers.items():
            backend.write(addresses[name], array)
        for name, array in case.globals_in.items():
            backend.write(module.get_global(name)[0], array)
        outcome = Outcome()
        with ExitStack() as textures, captured_stdout() as text:
            for launch in case.launches:
                module.launch(launch, [_argument(a, addresses, backend, textures) for a in launch.args])
            backend.synchronize()
        outcome.stdout = text[0]
        for name in buffers:
            outcome.buffers[name] = np.empty_like(case.buffers[name])
            backend.read(addresses[name], outcome.buffers[name])
        for name, want in globals_out.items():
            outcome.globals[name] = np.empty_like(want)
            backend.read(module.get_global(name)[0], outcome.globals[name])
        return outcome
    finally:
        for allocation in owned.values():
            try:
                backend.free(allocation)
            except BackendError:
                pass  # After a sticky error every call fails; the error itself is on its way.


def verdict(case: KernelCase, outcome: Outcome, expected: Mapping[str, np.ndarray]) -> list[str]:
    """Compare an outcome with what the oracle expects; an empty list is a pass."""
    complaints = []
    got = {**outcome.buffers, **outcome.globals}
    for name, want in expected.items():
        complaints += [f"{name}: {c}" for c in case.comparison(name)(got[name], want)]
    if case.stdout is not None and sorted(outcome.stdout.splitlines()) != sorted(case.stdout):
        complaints.append(f"printed {outcome.stdout.splitlines()!r}, expected {list(case.stdout)!r}")
    return complaints


def judge_error(case: KernelCase, error: BackendError | None) -> list[str]:
    """Compare the failure of a case with the one that CUDA defines."""
    want = case.error
    assert want is not None
    if error is None:
        return [f"ran without the expected error {'/'.join(want.codes)}"]
    complaints = []
    if error.code is not None and error.code not in want.codes:
        complaints.append(f"error code {error.code}, expected {'/'.join(want.codes)}")
    if error.code is None and error.kind not in want.classes:
        complaints.append(f"raised {error.kind}, expected {'/'.join(want.classes)}")
    if not any(t in error.message for t in want.text):
        complaints.append(f"message {error.message!r} has none of {want.text}")
    if error.phase not in want.phase:
        complaints.append(f"failed in {error.phase}, expected {'/'.join(want.phase)}")
    return complaints


def context_is_dead(backend: Backend) -> bool:
    """Whether an earlier, unexpected fault has made the context unusable."""
    try:
        backend.synchronize()
    except BackendError:
        return True
    return False


def run_here(backend: Backend, case: KernelCase) -> list[str]:
    """Run a case in this process."""
    # Once: an oracle that rounds rational numbers takes longer than the kernel.
    buffers, globals_out = wanted(case)
    try:
        outcome = execute(backend, case, buffers, globals_out)
    except BackendError as error:
        return judge_error(case, error) if case.error else [str(error)]
    return judge_error(case, None) if case.error else verdict(case, outcome, {**buffers, **globals_out})


def run_apart(backend: str, case: KernelCase, timeout_s: float = 120) -> list[str]:
    """Run a case in a process of its own, which may die or hang."""
    command = [sys.executable, "-m", "tests.kernels.validate", "--backend", backend, "--json", case.name]
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=timeout_s, check=False)
    except subprocess.TimeoutExpired:
        return [f"did not end within {timeout_s} s"]
    for line in done.stdout.splitlines():
        if line.startswith("{"):
            return json.loads(line)[case.name]
    return [f"the process died with status {done.returncode}: {done.stderr[-600:]}"]


def run_case(backend: Backend, case: KernelCase) -> list[str]:
    """Run a case and list the complaints."""
    apart = case.faulting or case.spins or context_is_dead(backend)
    return run_apart(backend.name, case) if apart else run_here(backend, case)
