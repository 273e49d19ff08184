"""Contexts that are made when a module is imported and released when the program ends."""

from __future__ import annotations

import atexit

from rtcg import _native, driver as drv
from rtcg.tools import clear_context_caches, make_default_context

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from rtcg._native import Context, Device


def set_import_context(namespace: dict[str, Any], ctx_maker: Callable[[Device], Context] | None = None) -> None:
    """Set ``context`` and ``device`` in the namespace of the module that is being imported.

    Parameters
    ----------
    namespace : dict
        The module's ``globals()``; its ``context`` becomes None at exit.
    ctx_maker : callable, optional
        As for `rtcg.tools.make_default_context`.
    """
    drv.init()
    context = make_default_context(ctx_maker)
    _native.set_default_context(context)
    namespace.update(context=context, device=context.get_device())
    atexit.register(_release_context, namespace)


def _release_context(namespace: dict[str, Any]) -> None:
    context = namespace["context"]
    _native.set_default_context(None)
    # The program may have popped or detached it, or pushed another one.
    if drv.Context.get_current() == context:
        context.pop()
    namespace["context"] = None
    clear_context_caches()
