"""What upstream keeps in its native module."""

from collections.abc import Sequence

from pycuda._enums import *  # noqa: F403
from pycuda._rtcg import *  # noqa: F403
from pycuda._rtcg import Error

class CompileError(Error):
    msg: str
    command_line: Sequence[str]
    stdout: str | None
    stderr: str | None
    def __init__(
        self, msg: str, command_line: Sequence[str], stdout: str | None = None, stderr: str | None = None
    ) -> None: ...
