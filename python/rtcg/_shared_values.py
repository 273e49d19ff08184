"""Values of a module that another module shows under its own name, and that programs assign to either."""

import sys


def share_module_values(name, source, *values):
    """Let the module `name` show `values` of the module `source`; assigning to them there sets them in `source`."""

    def forwarding_property(value):
        return property(lambda module: getattr(source, value), lambda module, new: setattr(source, value, new))

    properties = {value: forwarding_property(value) for value in values}
    sys.modules[name].__class__ = type("ModuleWithSharedValues", (type(sys),), properties)
