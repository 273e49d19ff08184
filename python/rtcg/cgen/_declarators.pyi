"""Declarators: types, variables, functions, structures."""

import builtins
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import DTypeLike

from rtcg._native import cgen_ctype
from rtcg.cgen._base import Declarator, Generable, _Node

_Count: TypeAlias = Any

dtype_to_ctype = cgen_ctype

class POD(Declarator):
    """A variable of a NumPy type."""

    mapper_method: ClassVar[str]
    dtype: np.dtype[Any]
    name: str
    def __init__(self, dtype: DTypeLike, name: str) -> None: ...
    def struct_maker_code(self, data: str) -> str: ...
    def struct_format(self) -> str: ...
    def alignment_requirement(self) -> int: ...
    def default_value(self) -> Any: ...

class Value(Declarator):
    """A variable of a type given by its name."""

    mapper_method: ClassVar[str]
    typename: str
    name: str
    def __init__(self, typename: str, name: str) -> None: ...
    def struct_maker_code(self, data: str) -> str: ...
    def struct_format(self) -> str: ...
    def default_value(self) -> Any: ...

class NestedDeclarator(Declarator):
    """A declarator around another one."""

    subdecl: _Node
    def __init__(self, subdecl: _Node) -> None: ...
    @property
    def name(self) -> str: ...
    def struct_format(self) -> str: ...
    def alignment_requirement(self) -> int: ...
    def struct_maker_code(self, data: str) -> str: ...
    def default_value(self) -> Any: ...

class DeclSpecifier(NestedDeclarator):
    """A specifier before the type."""

    spec: str
    sep: str
    def __init__(self, subdecl: _Node, spec: str, sep: str = " ") -> None: ...

class NamespaceQualifier(DeclSpecifier):
    mapper_method: ClassVar[str]
    def __init__(self, namespace: str, subdecl: _Node) -> None: ...
    @property
    def namespace(self) -> str: ...

class Typedef(DeclSpecifier):
    mapper_method: ClassVar[str]
    def __init__(self, subdecl: _Node) -> None: ...

class Static(DeclSpecifier):
    mapper_method: ClassVar[str]
    def __init__(self, subdecl: _Node) -> None: ...

class Extern(DeclSpecifier):
    mapper_method: ClassVar[str]
    language: str
    def __init__(self, language: str, subdecl: _Node) -> None: ...

class Const(NestedDeclarator):
    mapper_method: ClassVar[str]

class Volatile(NestedDeclarator):
    mapper_method: ClassVar[str]

class TemplateSpecializer(NestedDeclarator):
    """Template arguments after the type."""

    mapper_method: ClassVar[str]
    specializer: object
    def __init__(self, specializer: object, subdecl: _Node) -> None: ...

class MaybeUnused(NestedDeclarator):
    mapper_method: ClassVar[str]

class AlignedAttribute(NestedDeclarator):
    """An alignment in bytes of a type, a variable or a member."""

    mapper_method: ClassVar[str]
    align_bytes: int
    def __init__(self, align_bytes: int, subdecl: _Node) -> None: ...
    def alignment_requirement(self) -> int: ...

class AlignValueAttribute(NestedDeclarator):
    """An alignment guarantee for the value of a pointer, for clang and icc."""

    mapper_method: ClassVar[str]
    align_bytes: int
    def __init__(self, align_bytes: int, subdecl: _Node) -> None: ...

class Pointer(NestedDeclarator):
    mapper_method: ClassVar[str]
    def struct_maker_code(self, data: str) -> str: ...
    def struct_format(self) -> str: ...
    def alignment_requirement(self) -> int: ...
    def default_value(self) -> Any: ...

class RestrictPointer(Pointer):
    mapper_method: ClassVar[str]

class Reference(Pointer):
    mapper_method: ClassVar[str]

class ArrayOf(NestedDeclarator):
    """An array of `count` elements, or as many as its initialiser has."""

    mapper_method: ClassVar[str]
    count: _Count | None
    def __init__(self, subdecl: _Node, count: _Count | None = None) -> None: ...
    def struct_maker_code(self, data: str) -> str: ...
    def struct_format(self) -> str: ...
    def alignment_requirement(self) -> int: ...
    def default_value(self) -> Any: ...

class FunctionDeclaration(NestedDeclarator):
    """A function with the parameters `arg_decls`."""

    mapper_method: ClassVar[str]
    arg_decls: tuple[_Node, ...]
    def __init__(self, subdecl: _Node, arg_decls: Iterable[_Node]) -> None: ...
    def struct_maker_code(self, data: str) -> str: ...
    def struct_format(self) -> str: ...

class Struct(Declarator):
    """A structure type `tpname` with these members, and `pad_bytes` bytes of padding at its end."""

    mapper_method: ClassVar[str]
    tpname: str | None
    fields: tuple[_Node, ...]
    declname: str | None
    pad_bytes: int
    def __init__(
        self, tpname: str | None, fields: Iterable[_Node], declname: str | None = None, pad_bytes: int = 0
    ) -> None: ...
    @property
    def name(self) -> str: ...
    def alignment_requirement(self) -> int: ...
    def struct_attributes(self) -> str: ...

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

    mapper_method: ClassVar[str]
    align_bytes: int
    aligned_prime_to: tuple[int, ...]
    dtype: np.dtype[np.void]
    format: str
    bytes: int
    def __init__(
        self,
        tpname: str | None,
        fields: Iterable[_Node],
        declname: str | None = None,
        align_bytes: int | None = None,
        aligned_prime_to: Iterable[int] | None = None,
    ) -> None: ...
    def alignment_requirement(self) -> int: ...
    def struct_format(self) -> str: ...
    def default_value(self) -> Any: ...
    def make(self, **kwargs: Any) -> builtins.bytes: ...
    def make_with_defaults(self, **kwargs: Any) -> builtins.bytes: ...
    def __len__(self) -> int: ...

class Template(NestedDeclarator):
    """A template with the parameters `template_spec`."""

    mapper_method: ClassVar[str]
    template_spec: str
    def __init__(self, template_spec: str, subdecl: _Node) -> None: ...

class Enum(Generable):
    """Named integers: derive a class and define `c_name`, `dtype`, `c_value_prefix` and names in upper case."""

    c_name: ClassVar[Any]
    dtype: ClassVar[Any]
    c_value_prefix: ClassVar[str]
    @classmethod
    def get_flag_names_and_values(cls) -> list[tuple[str, Any]]: ...
    @classmethod
    def get_c_defines_lines(cls) -> list[str]: ...
    @classmethod
    def get_c_defines(cls) -> str: ...
    @classmethod
    def get_c_typedef_line(cls) -> str: ...
    @classmethod
    def get_c_typedef(cls) -> str: ...
    @classmethod
    def generate(cls, with_semicolon: bool = True) -> Iterator[str]: ...  # type: ignore[override]
    @classmethod
    def stringify_value(cls, val: int) -> str: ...
