from collections.abc import Sequence

from rtcg._native import Error

class CompileError(Error):
    msg: str
    command_line: Sequence[str]
    stdout: str | None
    stderr: str | None
    source: str | None
    def __init__(
        self, msg: str, command_line: Sequence[str], stdout: str | None = None, stderr: str | None = None
    ) -> None: ...
