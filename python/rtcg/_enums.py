"""The driver's enumerations: integers that know their names.

The values come from the native module, which takes them from CUDA's declarations.
"""

from rtcg import _native


def _make_enum_class(name, members):
    """An int subclass with one instance per member, and `names` / `values` to look them up."""

    class Enum(int):
        names = {}
        values = {}

        @property
        def name(self):
            """The member's name, or the number as text if it has none."""
            # A number that two names share goes by the first, unless it was asked for by the other.
            known = self if "_name" in self.__dict__ else self.values.get(int(self))
            return str(int(self)) if known is None else known._name

        def __str__(self):
            return self.name

        def __repr__(self):
            return f"rtcg.driver.{name}.{self.name}"

    Enum.__name__ = Enum.__qualname__ = name
    Enum.__module__ = "rtcg.driver"
    Enum.__doc__ = f"Integers of the driver that know their `name`: {', '.join(members)}."
    for member, value in members.items():
        instance = Enum(value)
        instance._name = member
        Enum.names[member] = instance
        Enum.values.setdefault(value, instance)
        setattr(Enum, member, instance)
    return Enum


def _make_constants_class(name, members, doc):
    """A class with plain int attributes."""
    return type(name, (), {**members, "__doc__": doc, "__module__": "rtcg.driver"})


_ENUM_VALUES = _native.enum_values()

# Names of PyCUDA that CUDA spells otherwise, or that came and went with CUDA versions.
_ALIASES = {
    "device_attribute": {
        "SHARED_MEMORY_PER_BLOCK": "MAX_SHARED_MEMORY_PER_BLOCK",
        "REGISTERS_PER_BLOCK": "MAX_REGISTERS_PER_BLOCK",
        "MAXIMUM_TEXTURE2D_ARRAY_WIDTH": "MAXIMUM_TEXTURE2D_LAYERED_WIDTH",
        "MAXIMUM_TEXTURE2D_ARRAY_HEIGHT": "MAXIMUM_TEXTURE2D_LAYERED_HEIGHT",
        "MAXIMUM_TEXTURE2D_ARRAY_NUMSLICES": "MAXIMUM_TEXTURE2D_LAYERED_LAYERS",
    },
}

# Enumerations whose C names do not share a prefix, or that C has as plain flags.
_FLAG_ENUMS = {
    "ctx_flags": {
        "SCHED_AUTO": 0, "SCHED_SPIN": 1, "SCHED_YIELD": 2, "SCHED_BLOCKING_SYNC": 4, "BLOCKING_SYNC": 4,
        "SCHED_MASK": 7, "MAP_HOST": 8, "LMEM_RESIZE_TO_MAX": 16, "FLAGS_MASK": 0xFF,
    },
    "event_flags": {"DEFAULT": 0, "BLOCKING_SYNC": 1, "DISABLE_TIMING": 2, "INTERPROCESS": 4},
    "stream_flags": {"DEFAULT": 0, "NON_BLOCKING": 1},
    "ipc_mem_flags": {"LAZY_ENABLE_PEER_ACCESS": 1},
    "mem_attach_flags": {"GLOBAL": 1, "HOST": 2, "SINGLE": 4},
    "profiler_output_mode": {"KEY_VALUE_PAIR": 0, "CSV": 1},
    "direction_vector_set": {
        "VECTOR_32": 101, "SCRAMBLED_VECTOR_32": 102, "VECTOR_64": 103, "SCRAMBLED_VECTOR_64": 104,
    },
    "graphics_map_flags": {"NONE": 0, "READ_ONLY": 1, "WRITE_DISCARD": 2},
    "graphics_register_flags": {
        "NONE": 0, "READ_ONLY": 1, "WRITE_DISCARD": 2, "SURFACE_LDST": 4, "TEXTURE_GATHER": 8,
    },
    "array_cubemap_face": {
        "POSITIVE_X": 0, "NEGATIVE_X": 1, "POSITIVE_Y": 2, "NEGATIVE_Y": 3, "POSITIVE_Z": 4, "NEGATIVE_Z": 5,
    },
}  # fmt: skip


def _make_enum_classes():
    classes = {}
    for name, members in {**_ENUM_VALUES, **_FLAG_ENUMS}.items():
        members = dict(members)
        for alias, target in _ALIASES.get(name, {}).items():
            members.setdefault(alias, members[target])
        members = {member: value for member, value in members.items() if member.isidentifier()}
        if name == "jit_target":
            members = {member: value for member, value in members.items() if member.startswith("COMPUTE_")}
        classes[name] = _make_enum_class(name, members)
    return classes


globals().update(_make_enum_classes())

host_alloc_flags = _make_constants_class(
    "host_alloc_flags", {"PORTABLE": 1, "DEVICEMAP": 2, "WRITECOMBINED": 4}, "Flags of page-locked memory."
)
mem_host_register_flags = _make_constants_class(
    "mem_host_register_flags",
    {"PORTABLE": 1, "DEVICEMAP": 2, "IOMEMORY": 4, "READ_ONLY": 8},
    "Flags of `register_host_memory`.",
)
array3d_flags = _make_constants_class(
    "array3d_flags",
    {
        "2DARRAY": 1, "ARRAY3D_2DARRAY": 1, "ARRAY3D_LAYERED": 1, "LAYERED": 1, "SURFACE_LDST": 2, "CUBEMAP": 4,
        "TEXTURE_GATHER": 8,
    },
    "Flags of three-dimensional arrays.",
)  # fmt: skip

__all__ = [*_ENUM_VALUES, *_FLAG_ENUMS, "host_alloc_flags", "mem_host_register_flags", "array3d_flags"]
