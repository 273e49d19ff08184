"""Module values that another module re-exports, and that programs can assign in either."""

import sys


def share_module_values(name, source, *values):
    """Let the module `name` re-export `values` of the module `source`; assignments there set them in `source`."""

    def forwarding_property(value):
        return property(lambda module: getattr(source, value), lambda module, new: setattr(source, value, new))

    properties = {value: forwarding_property(value) for value in values}
    sys.modules[name].__class__ = type("ModuleWithSharedValues", (type(sys),), properties)
