"""Checked execution on the virtual GPU: memory errors, uninitialised reads, races, leaks.

Real GPUs are not affected. `docs/checking.md` documents the findings and the cost.
"""

from __future__ import annotations

from rtcg import _native

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["clear", "enable", "findings", "set_schedule"]


def enable(checks: str = "all") -> None:
    """Select the checks of this process, like the environment variable ``RTCG_CHECK``.

    Parameters
    ----------
    checks : str
        A list such as ``"memory,init"``: ``memory``, ``init``, ``race``, ``sync``, ``leak``, ``fatal`` (every finding
        ends its launch), or ``all``; ``"1"`` means all but ``leak``.

    Raises
    ------
    RuntimeError
        If a context exists already.
    """
    _native.enable_checks(checks)


def findings() -> list[dict[str, Any]]:
    """The findings of checked execution so far: a list of dictionaries, one for each place in the program.

    Waits for the work of the current context if its device is checked (but not while a stream is captured), so that
    kernels that still run are included. Empty if no device runs checks. An error of a kernel is raised here only if
    there is no finding; otherwise the next call that waits raises it.
    """
    return _native.list_check_findings()


def clear() -> None:
    """Discard the findings so far; returns None. Later findings at the same places are reported again."""
    _native.clear_check_findings()


def set_schedule(order: str) -> None:
    """Set the order in which threads of later launches run.

    Parameters
    ----------
    order : str
        ``"normal"``, ``"deterministic"`` or ``"chaos:SEED"``, as in ``RTCG_SCHEDULE``.
    """
    _native.set_thread_schedule(order)
