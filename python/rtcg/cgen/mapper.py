"""Mappers over trees: `IdentityMapper` copies a tree, and subclasses change the nodes whose methods they override.

One table defines what the methods of `IdentityMapper` do with the parts of a node: keep them, map them as nodes, or
pass them to `map_expression`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from rtcg.cgen._base import _Node

__all__ = ["ASTMapper", "IdentityMapper", "UnsupportedNodeError"]


class UnsupportedNodeError(ValueError):
    """A mapper has no method for the type of a node."""


class ASTMapper:
    """Calls the method that a node names in ``mapper_method``, and passes on all other arguments."""

    def __call__(self, node: _Node, *args: Any, **kwargs: Any) -> Any:
        method = getattr(self, getattr(node, "mapper_method", ""), None)
        if method is None:
            return self.handle_unsupported(node, *args, **kwargs)
        return method(node, *args, **kwargs)

    def handle_unsupported(self, node: _Node, *args: Any, **kwargs: Any) -> Any:
        """Called for nodes without a method."""
        raise UnsupportedNodeError(f"{type(self).__name__} has no method for a node of {type(node)}")

    def rec(self, node: _Node, *args: Any, **kwargs: Any) -> Any:
        """Called for the parts of nodes."""
        return self(node, *args, **kwargs)


class IdentityMapper(ASTMapper):
    """Copies a tree. Expressions (conditions, values, counts) go through `map_expression`, which subclasses define."""

    def map_expression(self, node: _Node, *args: Any, **kwargs: Any) -> Any:
        """The mapped expression: `node` is the object that the tree was built with, such as text or an `Expr`."""
        raise NotImplementedError(f"{type(self).__name__} does not define map_expression")

    if TYPE_CHECKING:
        # Made from `_TABLE`.
        map_pod = map_value = map_namespace_qualifier = map_typedef = map_static = map_expression
        map_const = map_volatile = map_maybe_unused = map_pointer = map_restrict_pointer = map_expression
        map_reference = map_extern = map_template_specializer = map_aligned = map_expression
        map_align_value = map_array_of = map_function_declaration = map_struct = map_expression
        map_generable_struct = map_template = map_if = map_while = map_do_while = map_for = map_expression
        map_custom_loop = map_define = map_include = map_pragma = map_line = map_comment = map_expression
        map_multiline_comment = map_line_comment = map_literal_lines = map_literal_block = map_expression
        map_ifdef = map_ifndef = map_cl_image = map_cl_vector_pod = map_statement = map_expression
        map_expression_statement = map_assignment = map_initializer = map_array_initializer = map_expression
        map_function_body = map_transformed = map_block = map_cl_kernel = map_cl_constant = map_expression
        map_cl_global = map_cl_local = map_cl_workgroup_size_hint = map_expression
        map_cl_required_wokgroup_size = map_cuda_global = map_cuda_device = map_cuda_shared = map_expression
        map_cuda_constant = map_cuda_restrict_pointer = map_cuda_launch_bounds = map_expression
        map_cl_vec_type_hint = map_expression


def _keep(mapper: IdentityMapper, value: _Node, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return value


def _node(mapper: IdentityMapper, value: _Node, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return None if value is None else mapper.rec(value, *args, **kwargs)


def _nodes(
    mapper: IdentityMapper, values: Iterable[_Node], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Any, ...]:
    return tuple(mapper.rec(value, *args, **kwargs) for value in values)


def _expression(mapper: IdentityMapper, value: _Node, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if hasattr(value, "mapper_method"):
        return mapper.rec(value, *args, **kwargs)
    return mapper.map_expression(value, *args, **kwargs)


def _expressions(
    mapper: IdentityMapper, values: Iterable[_Node], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Any, ...]:
    return tuple(mapper.map_expression(value, *args, **kwargs) for value in values)


# Methods, and the parts that the constructor takes: `.name` is kept, `name` a node, `name*` nodes, `(name)` an
# expression, `(name)*` expressions. No parts: the node itself is returned.
_TABLE = """
map_pod .dtype .name
map_value .typename .name
map_namespace_qualifier .namespace subdecl
map_typedef map_static map_const map_volatile map_maybe_unused map_pointer map_restrict_pointer map_reference subdecl
map_extern .language subdecl
map_template_specializer .specializer subdecl
map_aligned map_align_value .align_bytes subdecl
map_array_of subdecl (count)
map_function_declaration subdecl arg_decls*
map_struct .tpname fields* .declname .pad_bytes
map_generable_struct .tpname fields* .declname .align_bytes .aligned_prime_to
map_template .template_spec subdecl
map_if (condition) then_ else_
map_while map_do_while (condition) body
map_for (start) (condition) (update) body
map_custom_loop .intro_line_ body .outro_line_
map_define map_include map_pragma map_line map_comment map_multiline_comment map_line_comment
map_literal_lines map_literal_block map_ifdef map_ifndef map_cl_image map_cl_vector_pod
map_statement .text
map_expression_statement (expr)
map_assignment (lvalue) (rvalue)
map_initializer vdecl (data)
map_array_initializer vdecl (data)*
map_function_body fdecl body
map_block contents*
map_transformed contents* .parameters .value
map_cl_kernel map_cl_constant map_cl_global map_cl_local subdecl
map_cl_workgroup_size_hint map_cl_required_wokgroup_size .dim subdecl
map_cuda_global map_cuda_device map_cuda_shared map_cuda_constant map_cuda_restrict_pointer subdecl
map_cuda_launch_bounds .max_threads_per_block subdecl .min_blocks_per_mp
"""


def _part(text: str) -> tuple[str, Callable[..., Any]]:
    many, bare = text.endswith("*"), text.strip("*.()")
    if text.startswith("."):
        return bare, _keep
    if text.startswith("("):
        return bare, _expressions if many else _expression
    return bare, _nodes if many else _node


def _method(name: str, parts: tuple[tuple[str, Callable[..., Any]], ...]) -> Callable[..., Any]:
    def method(self: IdentityMapper, node: _Node, *args: Any, **kwargs: Any) -> Any:
        if not parts:
            return node
        return type(node)(*(convert(self, getattr(node, part), args, kwargs) for part, convert in parts))

    method.__name__ = name
    method.__qualname__ = f"IdentityMapper.{name}"
    method.__doc__ = "A copy of the node." if parts else "The node itself."
    return method


def _map_cl_vec_type_hint(self: IdentityMapper, node: _Node, *args: Any, **kwargs: Any) -> Any:
    """A copy of the node."""
    return type(node)(self.rec(node.subdecl, *args, **kwargs), type_str=node.type_str)


for _line in _TABLE.strip().splitlines():
    _words = _line.split()
    _parts = tuple(_part(word) for word in _words if not word.startswith("map_"))
    for _name in _words[: len(_words) - len(_parts)]:
        setattr(IdentityMapper, _name, _method(_name, _parts))
IdentityMapper.map_cl_vec_type_hint = _map_cl_vec_type_hint
