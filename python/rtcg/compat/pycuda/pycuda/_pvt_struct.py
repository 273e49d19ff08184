"""Python's `struct` in native mode, with the additional letters that kernel arguments need.

Beyond ``x b B c s p h H i I l L n N q Q ? e f d P``: ``F`` and ``D`` are complex numbers of two floats
or two doubles, ``P`` takes anything with ``__index__`` (device memory), ``s`` any buffer.
"""

import re
import struct
from functools import lru_cache

error = struct.error

_FORMAT_ITEM = re.compile(r"\s*(\d*)([a-zA-Z?])")
_COMPLEX_LETTERS = {"F": "f", "D": "d"}


class Struct:
    """A layout of values in memory, as in C.

    Attributes
    ----------
    format : str
    size : int
        Size in bytes, including the padding between values.
    """

    __slots__ = ("_kinds", "_struct", "format", "size")

    def __init__(self, format):
        self.format = format.decode() if isinstance(format, bytes) else str(format)
        self._kinds, native = _parse_format(self.format)
        self._struct = struct.Struct("@" + native)
        self.size = self._struct.size

    def pack(self, *args):
        """The values as bytes."""
        return self._struct.pack(*self._flatten_complex(args))

    def pack_into(self, buffer, offset, *args):
        """Write the values into a writable buffer."""
        self._struct.pack_into(buffer, offset, *self._flatten_complex(args))

    def unpack(self, buffer):
        """The values in a buffer of exactly `size` bytes."""
        return self._rebuild_complex(self._struct.unpack(buffer))

    def unpack_from(self, buffer, offset=0):
        """The values in a buffer, starting at `offset`."""
        return self._rebuild_complex(self._struct.unpack_from(buffer, offset))

    def _flatten_complex(self, args):
        if len(args) != len(self._kinds):
            raise error(f"{self.format!r} needs {len(self._kinds)} values, {len(args)} were given")
        flat = []
        for position, (kind, value) in enumerate(zip(self._kinds, args, strict=True)):
            try:
                if kind in _COMPLEX_LETTERS:
                    flat += [float(value.real), float(value.imag)]
                elif kind == "s" and not isinstance(value, (bytes, bytearray)):
                    flat.append(memoryview(value).tobytes())
                else:
                    flat.append(value)
            except (TypeError, AttributeError, ValueError) as problem:
                raise error(f"value {position} is no {kind!r}: {problem}") from None
        return flat

    def _rebuild_complex(self, flat):
        flat = iter(flat)
        return tuple(
            complex(next(flat), next(flat)) if kind in _COMPLEX_LETTERS else next(flat) for kind in self._kinds
        )


def _parse_format(format):
    """The letter of each value, and the format as `struct` takes it."""
    text = format.strip().removeprefix("@")
    if text[:1] in ("=", "<", ">", "!"):
        raise error(f"{format!r}: only the native layout is supported")
    kinds, native, position = [], [], 0
    while text[position:].strip():
        item = _FORMAT_ITEM.match(text, position)
        if item is None:
            raise error(f"bad char in struct format {format!r}")
        count, letter = int(item[1] or 1), item[2]
        if letter in _COMPLEX_LETTERS:
            native.append(f"{2 * count}{_COMPLEX_LETTERS[letter]}")
        else:
            native.append(f"{item[1]}{letter}")
        kinds += [letter] * (letter != "x") * (1 if letter in "sp" else count)
        position = item.end()
    return kinds, "".join(native)


@lru_cache(maxsize=256)
def _cached_struct(format):
    return Struct(format)


def _clearcache():
    """Clear the cache of layouts."""
    _cached_struct.cache_clear()


def calcsize(fmt):
    """The size of a layout in bytes."""
    return _cached_struct(fmt).size


def pack(fmt, *args):
    """The values as bytes."""
    return _cached_struct(fmt).pack(*args)


def pack_into(fmt, buffer, offset, *args):
    """Write the values into a writable buffer."""
    _cached_struct(fmt).pack_into(buffer, offset, *args)


def unpack(fmt, buffer):
    """The values in a buffer of exactly ``calcsize(fmt)`` bytes."""
    return _cached_struct(fmt).unpack(buffer)


def unpack_from(fmt, buffer, offset=0):
    """The values in a buffer, starting at `offset`."""
    return _cached_struct(fmt).unpack_from(buffer, offset)
