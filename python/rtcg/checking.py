"""Checked execution on the virtual GPU: memory errors, uninitialised reads, races, leaks.

Nothing here concerns a real GPU. `docs/checking.md` documents what is found and what it costs.
"""

from rtcg import _native

__all__ = ["clear", "enable", "findings", "set_schedule"]


def enable(checks="all"):
    """Choose the checks of this process, as the environment variable ``RTCG_CHECK`` does.

    Parameters
    ----------
    checks : str
        A list such as ``"memory,init"``: ``memory``, ``init``, ``race``, ``sync``, ``leak``,
        ``fatal`` (every finding ends its launch), or ``all``; ``"1"`` is all but ``leak``.

    Raises
    ------
    RuntimeError
        If a context exists already.
    """
    _native.enable_checks(checks)


def findings():
    """What checked execution has found so far: a list of dictionaries, one for each place in the program.

    Does not wait: what kernels that still run find is in it after a synchronisation. Empty where no device checks.
    """
    return _native.list_check_findings()


def clear():
    """Forget what was found so far; returns None. Later findings in the same places are reported again."""
    _native.clear_check_findings()


def set_schedule(order):
    """Set the order in which threads of the launches that follow run.

    Parameters
    ----------
    order : str
        ``"normal"``, ``"deterministic"`` or ``"chaos:SEED"``, as in ``RTCG_SCHEDULE``.
    """
    _native.set_thread_schedule(order)
