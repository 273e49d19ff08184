"""The exception of a compiler; part of `rtcg.driver` and `rtcg.compiler`."""

from rtcg._native import Error


class CompileError(Error):
    """The compiler refused a source.

    Attributes
    ----------
    msg : str
        What went wrong, followed by the numbered source lines that the compiler speaks of first.
    command_line : sequence of str
        The compiler's command line, or its name followed by the options it was given.
    stdout, stderr : str or None
        The compiler's whole output. A run-time compiler's log is in ``stderr``. The message shows
        the beginning of a long one, and of a long line the part concerned.
    source : str or None
        The source as it was given (an addition to PyCUDA).
    """

    source = None
    _shown_log = None

    def __init__(self, msg, command_line, stdout=None, stderr=None):
        super().__init__(msg, command_line, stdout, stderr)
        self.msg = msg
        self.command_line = command_line
        self.stdout = stdout
        self.stderr = stderr

    def __str__(self):
        text = self.msg
        if self.command_line:
            text += "\n[command: {}]".format(" ".join(self.command_line))
        if self.stdout:
            text += f"\n[stdout:\n{self.stdout}]"
        if self.stderr:
            text += f"\n[stderr:\n{self._shown_log or self.stderr}]"
        return text


CompileError.__module__ = "rtcg.driver"
