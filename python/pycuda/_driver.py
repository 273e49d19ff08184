"""What upstream keeps in its native module: exception classes, enumerations, driver objects."""

from pycuda._enums import *  # noqa: F403
from pycuda._rtcg import *  # noqa: F403
from pycuda._rtcg import Error


class CompileError(Error):
    """The compiler refused a source.

    Attributes
    ----------
    msg : str
        What went wrong, followed by the numbered source lines that the compiler speaks of.
    command_line : sequence of str
        The compiler's command line, or its name followed by the options it was given.
    stdout, stderr : str or None
        The compiler's output. A run-time compiler's log is in ``stderr``.
    """

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
            text += f"\n[stderr:\n{self.stderr}]"
        return text


CompileError.__module__ = "pycuda._driver"
