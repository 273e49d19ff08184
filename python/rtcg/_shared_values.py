"""Module values that another module re-exports, and that programs can assign in either."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType


def share_module_values(name: str, source: ModuleType, *values: str) -> None:
    """Let the module `name` re-export `values` of the module `source`; assignments there set them in `source`."""

    def forwarding_property(value: str) -> property:
        return property(lambda module: getattr(source, value), lambda module, new: setattr(source, value, new))

    properties = {value: forwarding_property(value) for value in values}
    sys.modules[name].__class__ = type("ModuleWithSharedValues", (type(sys),), properties)
