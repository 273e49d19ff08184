"""Declarators: types, variables, functions, structures."""

from __future__ import annotations

import struct
import warnings
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from rtcg._messages import shown
from rtcg._native import cgen_ctype as dtype_to_ctype, cgen_struct_layout
from rtcg.cgen._base import Declarator, Generable, _Node

if TYPE_CHECKING:
    import builtins

    from numpy.typing import DTypeLike

_POINTER_BYTES = struct.calcsize("P")


class POD(Declarator):
    """A variable of a NumPy type."""

    _kind = "pod"
    mapper_method = "map_pod"

    def __init__(self, dtype: DTypeLike, name: str) -> None:
        self.dtype: np.dtype[Any] = np.dtype(dtype)
        self.name = name

    def struct_maker_code(self, data: str) -> str:
        return data

    def struct_format(self) -> str:
        return str(self.dtype.char)

    def alignment_requirement(self) -> int:
        return self.dtype.alignment

    def default_value(self) -> Any:
        return 0


class Value(Declarator):
    """A variable of a type given by its name."""

    _kind = "value"
    mapper_method = "map_value"

    def __init__(self, typename: str, name: str) -> None:
        self.typename = typename
        self.name = name

    def struct_maker_code(self, data: str) -> str:
        raise RuntimeError(f"'{self.name}' has the named type '{self.typename}', whose layout is not known")

    def struct_format(self) -> str:
        raise RuntimeError(f"'{self.name}' has the named type '{self.typename}', whose layout is not known")

    def default_value(self) -> Any:
        return 0


class NestedDeclarator(Declarator):
    """A declarator around another one."""

    _kind = "nested"

    def __init__(self, subdecl: _Node) -> None:
        self.subdecl = subdecl

    @property
    def name(self) -> str:
        """The declared name."""
        return str(self.subdecl.name)

    def struct_format(self) -> str:
        return self.subdecl.struct_format()

    def alignment_requirement(self) -> int:
        return self.subdecl.alignment_requirement()

    def struct_maker_code(self, data: str) -> str:
        return self.subdecl.struct_maker_code(data)

    def default_value(self) -> Any:
        return self.subdecl.default_value()


class DeclSpecifier(NestedDeclarator):
    """A specifier before the type."""

    _kind = "specifier"

    def __init__(self, subdecl: _Node, spec: str, sep: str = " ") -> None:
        super().__init__(subdecl)
        self.spec = spec
        self.sep = sep


class NamespaceQualifier(DeclSpecifier):
    """A declaration whose type is in a namespace."""

    mapper_method = "map_namespace_qualifier"

    def __init__(self, namespace: str, subdecl: _Node) -> None:
        super().__init__(subdecl, namespace, "::")

    @property
    def namespace(self) -> str:
        """The name of the namespace."""
        return self.spec


class Typedef(DeclSpecifier):
    """A typedef: the declared name becomes the name of a type."""

    mapper_method = "map_typedef"

    def __init__(self, subdecl: _Node) -> None:
        super().__init__(subdecl, "typedef")


class Static(DeclSpecifier):
    """A declaration with ``static``."""

    mapper_method = "map_static"

    def __init__(self, subdecl: _Node) -> None:
        super().__init__(subdecl, "static")


class Extern(DeclSpecifier):
    """A declaration with ``extern`` and a language."""

    mapper_method = "map_extern"

    def __init__(self, language: str, subdecl: _Node) -> None:
        super().__init__(subdecl, f'extern "{language}"')
        self.language = language


class Const(NestedDeclarator):
    """A declaration with ``const``."""

    _kind = "const"
    mapper_method = "map_const"


class Volatile(NestedDeclarator):
    """A declaration with ``volatile``."""

    _kind = "volatile"
    mapper_method = "map_volatile"


class TemplateSpecializer(NestedDeclarator):
    """Template arguments after the type."""

    _kind = "template_specializer"
    mapper_method = "map_template_specializer"

    def __init__(self, specializer: object, subdecl: _Node) -> None:
        super().__init__(subdecl)
        self.specializer = specializer


class MaybeUnused(NestedDeclarator):
    """A declaration that may remain unused without a compiler warning."""

    _kind = "maybe_unused"
    mapper_method = "map_maybe_unused"


class AlignedAttribute(NestedDeclarator):
    """An alignment in bytes of a type, a variable or a member."""

    _kind = "aligned"
    mapper_method = "map_aligned"

    def __init__(self, align_bytes: int, subdecl: _Node) -> None:
        super().__init__(subdecl)
        self.align_bytes = align_bytes

    def alignment_requirement(self) -> int:
        return max(self.align_bytes, self.subdecl.alignment_requirement())


class AlignValueAttribute(NestedDeclarator):
    """An alignment guarantee for the value of a pointer, for clang and icc."""

    _kind = "align_value"
    mapper_method = "map_align_value"

    def __init__(self, align_bytes: int, subdecl: _Node) -> None:
        super().__init__(subdecl)
        self.align_bytes = align_bytes


class Pointer(NestedDeclarator):
    """A pointer to the declaration `subdecl`."""

    _kind = "pointer"
    mapper_method = "map_pointer"

    def struct_maker_code(self, data: str) -> str:
        return data

    def struct_format(self) -> str:
        return "P"

    def alignment_requirement(self) -> int:
        return _POINTER_BYTES

    def default_value(self) -> Any:
        return 0


class RestrictPointer(Pointer):
    """A pointer without aliases (``__restrict__``)."""

    _kind = "restrict_pointer"
    mapper_method = "map_restrict_pointer"


class Reference(Pointer):
    """A C++ reference to the declaration `subdecl`."""

    _kind = "reference"
    mapper_method = "map_reference"


class ArrayOf(NestedDeclarator):
    """An array of `count` elements, or as many as its initialiser has."""

    _kind = "array"
    mapper_method = "map_array_of"

    def __init__(self, subdecl: _Node, count: _Node | None = None) -> None:
        super().__init__(subdecl)
        self.count = count

    def struct_maker_code(self, data: str) -> str:
        return data if self.count is None else ", ".join(f"{data}[{i}]" for i in range(self.count))

    def struct_format(self) -> str:
        return "P" if self.count is None else f"{self.count}{self.subdecl.struct_format()}"

    def alignment_requirement(self) -> int:
        return self.subdecl.alignment_requirement()

    def default_value(self) -> Any:
        return [] if self.count is None else self.count * [self.subdecl.default_value()]


class FunctionDeclaration(NestedDeclarator):
    """A function with the parameters `arg_decls`."""

    _kind = "function"
    mapper_method = "map_function_declaration"

    def __init__(self, subdecl: _Node, arg_decls: Iterable[_Node]) -> None:
        super().__init__(subdecl)
        self.arg_decls = tuple(arg_decls)

    def struct_maker_code(self, data: str) -> str:
        raise RuntimeError(f"the function '{data}' cannot be a member")

    def struct_format(self) -> str:
        raise RuntimeError("a function cannot be a member")


class Struct(Declarator):
    """A structure type `tpname` with these members, and `pad_bytes` bytes of padding at its end."""

    _kind = "struct"
    mapper_method = "map_struct"

    def __init__(
        self, tpname: str | None, fields: Iterable[_Node], declname: str | None = None, pad_bytes: int = 0
    ) -> None:
        self.tpname = tpname
        self.fields = tuple(fields)
        self.declname = declname
        self.pad_bytes = pad_bytes

    @property
    def name(self) -> str:
        """The declared name; raises `AttributeError` if there is none."""
        if self.declname is None:
            raise AttributeError("name")
        return self.declname

    def alignment_requirement(self) -> int:
        return max((field.alignment_requirement() for field in self.fields), default=0)

    def struct_attributes(self) -> str:
        """Text after the closing brace, for subclasses."""
        return ""


def _member_dtype(field: _Node) -> np.dtype[Any]:
    """The NumPy dtype of a member, without its alignment."""
    if isinstance(field, GenerableStruct):
        return field.dtype
    if isinstance(field, Pointer):
        return np.dtype(np.uintp)
    if isinstance(field, ArrayOf):
        if field.count is None:
            raise ValueError(f"the member '{field.name}' is an array without a count, whose size is not known")
        return np.dtype((_member_dtype(field.subdecl), (field.count,)))
    if isinstance(field, NestedDeclarator):
        return _member_dtype(field.subdecl)
    if isinstance(field, POD):
        return field.dtype
    text = field.struct_format()
    count, char = text[:-1], text[-1]
    element = np.dtype(np.uintp if char == "P" else char)
    return np.dtype((element, (int(count),))) if count else element


class GenerableStruct(Struct):
    """A structure with a known layout, whose padding is written out.

    Parameters
    ----------
    tpname : str or None
        Name of the type.
    fields : sequence of Declarator
        Members of NumPy types, pointers, arrays, and other structures of this class.
    declname : str, optional
        Name of the variable.
    align_bytes : int, optional
        The size is rounded up to a multiple of it; by default the largest alignment of the members.
    aligned_prime_to : sequence of int, optional
        ``size // align_bytes`` is coprime to each of these, so that elements of an array of the structure are in
        different shared-memory banks.

    Attributes
    ----------
    dtype : numpy.dtype
        The same layout in NumPy: equal to the aligned dtype of the members.
    format, bytes : str, int
        The layout for the module `struct`, and the size in bytes.
    """

    mapper_method = "map_generable_struct"

    def __init__(
        self,
        tpname: str | None,
        fields: Iterable[_Node],
        declname: str | None = None,
        align_bytes: int | None = None,
        aligned_prime_to: Iterable[int] | None = None,
    ) -> None:
        fields = tuple(fields)
        if not fields:
            raise ValueError("fields is empty; a structure with a layout has at least one member")
        dtypes = [_member_dtype(field) for field in fields]
        alignments = [field.alignment_requirement() for field in fields]
        natural = max(alignments)
        if align_bytes is None:
            align_bytes = natural
        elif align_bytes < natural:
            warnings.warn(f"align_bytes={align_bytes} is less than the members' {natural}", stacklevel=2)
        self.aligned_prime_to = tuple(aligned_prime_to or ())
        members = [(dtype.itemsize, alignment) for dtype, alignment in zip(dtypes, alignments, strict=True)]
        offsets, self.bytes, pad_bytes = cgen_struct_layout(members, align_bytes, self.aligned_prime_to)
        super().__init__(tpname, fields, declname, pad_bytes)
        self.align_bytes: int = align_bytes
        self.dtype = np.dtype(
            {"names": [f.name for f in fields], "formats": dtypes, "offsets": offsets, "itemsize": self.bytes}
        )
        self.format = self._format(members, offsets)

    def _format(self, members: list[tuple[int, int]], offsets: list[int]) -> str:
        parts, end = [], 0
        for field, (nbytes, _), offset in zip(self.fields, members, offsets, strict=True):
            # `struct` aligns members of one number by itself; it knows nothing of structures in structures.
            if offset > end and isinstance(field, GenerableStruct):
                parts.append(f"{offset - end}x")
            parts.append(field.struct_format())
            end = offset + nbytes
        return "".join(parts) + (f"{self.pad_bytes}x" if self.pad_bytes else "")

    def alignment_requirement(self) -> int:
        return self.align_bytes

    def struct_format(self) -> str:
        return self.format

    def default_value(self) -> Any:
        return tuple(field.default_value() for field in self.fields)

    def make(self, **kwargs: Any) -> builtins.bytes:
        """The `bytes` of one structure with these values of its members, all of which are required."""
        missing = [name for name in self.dtype.names or () if name not in kwargs]
        if missing:
            raise TypeError(f"make() lacks the members {', '.join(missing)}")
        return self.make_with_defaults(**kwargs)

    def make_with_defaults(self, **kwargs: Any) -> builtins.bytes:
        """The `bytes` of one structure; omitted members are zero."""
        record = np.zeros((), self.dtype)
        for name, value in kwargs.items():
            if name not in (names := self.dtype.names or ()):
                raise TypeError(f"there is no member {shown(name)}; there are {', '.join(names)}")
            record[name] = value
        return record.tobytes()

    def __len__(self) -> int:
        return self.bytes


class Template(NestedDeclarator):
    """A template with the parameters `template_spec`."""

    _kind = "template"
    mapper_method = "map_template"

    def __init__(self, template_spec: str, subdecl: _Node) -> None:
        super().__init__(subdecl)
        self.template_spec = template_spec


class Enum(Generable):
    """Named integers: derive a class and define `c_name`, `dtype`, `c_value_prefix` and names in upper case."""

    c_name: Any = None
    dtype: Any = None
    c_value_prefix = ""

    @classmethod
    def get_flag_names_and_values(cls) -> list[tuple[str, Any]]:
        """Pairs of names and values, sorted by name."""
        return [(name, getattr(cls, name)) for name in sorted(dir(cls)) if name[0].isupper()]

    @classmethod
    def get_c_defines_lines(cls) -> list[str]:
        """A ``#define`` for each name, as lines."""
        return [f"#define {cls.c_value_prefix}{name} {value}" for name, value in cls.get_flag_names_and_values()]

    @classmethod
    def get_c_defines(cls) -> str:
        """A ``#define`` for each name, as text with one per line."""
        return "\n".join(cls.get_c_defines_lines())

    @classmethod
    def get_c_typedef_line(cls) -> str:
        """The typedef of the integer type."""
        return f"typedef {dtype_to_ctype(cls.dtype)} {cls.c_name};"

    @classmethod
    def get_c_typedef(cls) -> str:
        """The typedef of the integer type, between blank lines."""
        return f"\n\n{cls.get_c_typedef_line()}\n\n"

    @classmethod
    def generate(cls, with_semicolon: bool | None = True) -> Iterator[str]:
        """The lines of the typedef and of the ``#define`` for each name."""
        yield cls.get_c_typedef_line()
        yield from cls.get_c_defines_lines()

    @classmethod
    def stringify_value(cls, val: int) -> str:
        """The names of the flags set in `val`, joined by ``|``."""
        return "|".join(name for name, value in cls.get_flag_names_and_values() if val & value)
