"""A kernel with its arguments, as a search uses it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rtcg.tune._kernel import Kernel
    from rtcg.tune._runner import Candidate, KernelRunner
    from rtcg.tune._worker import WorkerRunner


class KernelTarget:
    """The target of a search: compiles on the search's threads; loads, verifies and times through a runner."""

    def __init__(self, kernel: Kernel, runner: KernelRunner | WorkerRunner, values: dict[str, Any]) -> None:
        from rtcg.driver import Context

        self._kernel, self._runner, self._values = kernel, runner, values
        self._context: Any = Context.get_current()

    def compile(self, config: dict[str, Any]) -> Candidate:
        from rtcg.driver import Context

        # The device that the source is compiled for is the one of the thread's current context.
        self._context.push()
        try:
            return self._kernel.candidate(config, self._values)
        finally:
            Context.pop()

    def load(self, config: dict[str, Any], candidate: Candidate) -> Any:
        return self._runner.load(candidate)

    def verify(self) -> None:
        self._runner.verify()

    def time(self, launches: int) -> Any:
        return self._runner.time(launches)

    def repeat(self, launches: int) -> Any:
        return self._runner.repeat(launches)

    def window_kind(self) -> Any:
        return self._runner.window_kind()
