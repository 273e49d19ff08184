"""Errors of programs, and the frames that their tracebacks show."""

from __future__ import annotations

import os
import pathlib
import types

_PACKAGE = f"{pathlib.Path(__file__).parent.parent}{os.sep}"


class UntranslatableError(TypeError):
    """A function that cannot be made a program: its source is not known, or it has what programs do not have."""


def hide_frames(error: BaseException) -> None:
    """Leave out the frames of rtcg from the traceback of an error that is raised again by a bare ``raise``.

    The frames of programs stay, those around the call come as ever. ``RTCG_TRACEBACK=full`` keeps all.
    """
    if os.environ.get("RTCG_TRACEBACK") == "full":
        return
    frames = []
    step = error.__traceback__
    while step is not None:
        if not step.tb_frame.f_code.co_filename.startswith(_PACKAGE):
            frames.append(step)
        step = step.tb_next
    shown: types.TracebackType | None = None
    for frame in reversed(frames):
        shown = types.TracebackType(shown, frame.tb_frame, frame.tb_lasti, frame.tb_lineno)
    error.__traceback__ = shown
