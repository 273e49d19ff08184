"""Asks a driver the cases, each in a process of its own."""

from __future__ import annotations

import os
import select
import signal
import tempfile
import time
import warnings

from .cases import WITHOUT_CONTEXT
from .library import Driver
from .objects import Objects

LIMIT_S = 60


def answer(driver: Driver, case: str) -> str:
    """What the last step of a case gives, in this process."""
    objects = Objects(driver)
    steps = case.split("; ")
    state = steps.pop(0) if steps[0] in ("no cuInit", "no context") else ""
    if state != "no cuInit":
        driver.cuInit(0)
    if not state and not WITHOUT_CONTEXT.match(case):
        objects["ctx"]
    if state == "no context":
        # The objects are made with a context that is then taken away.
        objects["ctx"]
        for name in compile(steps[-1], case, "eval").co_names:
            objects[name]
        driver.cuCtxSetCurrent(None)
    value = None
    for step in steps:
        value = eval(step, {"__builtins__": {}}, objects)
    return getattr(value, "name", None) or str(value)


def _child(driver: Driver, case: str, place: int) -> None:
    try:
        text = answer(driver, case)
    except Exception as error:
        text = f"not asked: {type(error).__name__}: {error}"
    os.write(place, text.encode())
    # Not the driver's own end: a case may have left it with handles that are gone.
    os.kill(os.getpid(), signal.SIGKILL)


def _start(driver: Driver, case: str, folder: str) -> tuple[int, int]:
    reader, writer = os.pipe()
    with warnings.catch_warnings():
        # Threads of other libraries hold nothing that the child needs.
        warnings.simplefilter("ignore", DeprecationWarning)
        pid = os.fork()
    if pid == 0:
        os.close(reader)
        # Cases name files, and some write them.
        os.mkdir(f"{folder}/{os.getpid()}")
        os.chdir(f"{folder}/{os.getpid()}")
        quiet = os.open(os.devnull, os.O_WRONLY)
        os.dup2(quiet, 2)
        _child(driver, case, writer)
    os.close(writer)
    return pid, reader


def _finish(pid: int, reader: int) -> str:
    text = os.read(reader, 4096).decode()
    os.close(reader)
    _, status = os.waitpid(pid, 0)
    return text or f"crash: {signal.Signals(os.WTERMSIG(status)).name}"


def answers(driver: Driver, cases: list[str], n_processes: int, end: float = float("inf")) -> dict[str, str]:
    """The answer to each case that is asked before `end`: a result code, a value, or how the process ended."""
    with tempfile.TemporaryDirectory() as folder:
        return _answers(driver, cases, n_processes, end, folder)


def _answers(driver: Driver, cases: list[str], n_processes: int, end: float, folder: str) -> dict[str, str]:
    found, running, waiting = {}, {}, list(reversed(cases))
    while waiting or running:
        if time.monotonic() > end:
            waiting.clear()
        while waiting and len(running) < n_processes:
            case = waiting.pop()
            pid, reader = _start(driver, case, folder)
            running[reader] = (case, pid, time.monotonic() + LIMIT_S)
        ready, _, _ = select.select(list(running), [], [], 1.0)
        for reader in ready:
            case, pid, _ = running.pop(reader)
            found[case] = _finish(pid, reader)
        for reader in [r for r, (_, _, deadline) in running.items() if deadline < time.monotonic()]:
            case, pid, _ = running.pop(reader)
            os.kill(pid, signal.SIGKILL)
            _finish(pid, reader)
            found[case] = f"no answer in {LIMIT_S} s"
    return {case: found[case] for case in cases if case in found}
