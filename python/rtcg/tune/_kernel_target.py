"""A kernel with its arguments, as a search uses it."""


class KernelTarget:
    """The target of a search: compiles on the search's threads; loads, verifies and times through a runner."""

    def __init__(self, kernel, runner, values):
        from rtcg.driver import Context

        self._kernel, self._runner, self._values = kernel, runner, values
        self._context = Context.get_current()

    def compile(self, config):
        from rtcg.driver import Context

        # The device that the source is compiled for is the one of the thread's current context.
        self._context.push()
        try:
            return self._kernel.candidate(config, self._values)
        finally:
            Context.pop()

    def load(self, config, candidate):
        return self._runner.load(candidate)

    def verify(self):
        self._runner.verify()

    def time(self, launches):
        return self._runner.time(launches)

    def repeat(self, launches):
        return self._runner.repeat(launches)

    def window_kind(self):
        return self._runner.window_kind()
