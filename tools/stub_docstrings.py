"""Writes docstrings into the stubs, where editors find them.

Doc comments of `crates/python` and docstrings of Python are the source. A docstring in a stub is that of the module,
and every public member of a class of `_native.pyi` has one if it has one in the binary. Slots (``__call__`` and the
like) have no text of their own in a binary; those in the stub stay as they are. With ``--check`` nothing is written,
and differences are an error.
"""

import ast
import importlib
import inspect
import sys
import textwrap
import types
from pathlib import Path

PYTHON = Path(__file__).parents[1] / "python"
NATIVE = "rtcg._native"


def stubs():
    """``(module's name, path)`` of the stubs of `rtcg`; those of `pycuda` have no docstrings.

    Most modules have no stub: their types are in the source, which is where their docstrings are.
    """
    for path in sorted((PYTHON / "rtcg").rglob("*.pyi")):
        parts = path.relative_to(PYTHON).with_suffix("").parts
        if "compat" not in parts and parts[-1] not in ("ipython", "autoinit"):
            yield ".".join(parts).removesuffix(".__init__"), path


def documented_nodes(body, owner):
    """``(node, text)``: each class and function of a stub, with the docstring that the binary has for it or None."""
    seen = set()
    for node in body:
        if not isinstance(node, ast.ClassDef | ast.FunctionDef):
            continue
        found = inspect.getattr_static(owner, node.name, None)
        found = found.__func__ if isinstance(found, staticmethod | classmethod) else found
        if found is not None and not isinstance(found, types.WrapperDescriptorType):
            text = found.__doc__
            # Overloads and setters: the first has the docstring.
            yield node, None if node.name in seen or text is None else inspect.cleandoc(text)
        seen.add(node.name)
        if isinstance(node, ast.ClassDef) and isinstance(found, type):
            yield from documented_nodes(node.body, found)


def is_wanted(module, node, text):
    """Whether the docstring of the stub is to be written."""
    present = ast.get_docstring(node)
    if present is not None:
        return present != text
    is_public_member = node.col_offset > 0 and not node.name.startswith("_")
    return module == NATIVE and text is not None and is_public_member


def literal(text, indent):
    quoted = text.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    closing = f'\n{indent}"""' if "\n" in text else '"""'
    return textwrap.indent(f'"""{quoted}', indent, lambda line: line.strip()) + closing


def with_docstring(lines, node, text):
    """Replace, insert or remove the docstring of a node in the lines of the stub."""
    first = node.body[0]
    indent = " " * (node.col_offset + 4)
    new = [] if text is None else literal(text, indent).split("\n")
    if ast.get_docstring(node) is not None:
        rest = [] if new or len(node.body) > 1 else [f"{indent}..."]
        lines[first.lineno - 1 : first.end_lineno] = new + rest
    elif isinstance(first, ast.Expr):
        head = lines[first.lineno - 1][: first.col_offset].rstrip()
        lines[first.lineno - 1 : first.end_lineno] = [*([head] if head else []), *new]
    else:
        # A class without a docstring: before its first member.
        at = min(first.lineno, *(d.lineno for d in getattr(first, "decorator_list", [])), first.lineno) - 1
        lines[at:at] = [*new, ""]


def updated_stub(module, source):
    """A stub's text with the docstrings of the module, and the names whose docstring changed."""
    lines = source.splitlines()
    nodes = documented_nodes(ast.parse(source).body, importlib.import_module(module))
    wanted = [(node, text) for node, text in nodes if is_wanted(module, node, text)]
    # From the end, so that line numbers stay those of the source.
    for node, text in sorted(wanted, key=lambda item: (item[0].body[0].lineno, item[0].body[0].col_offset))[::-1]:
        with_docstring(lines, node, text)
    return "\n".join(lines) + "\n", [f"{module}.{node.name}" for node, _ in wanted]


def main():
    """The command line."""
    changed = []
    for module, path in stubs():
        source = path.read_text(encoding="utf-8")
        text, names = updated_stub(module, source)
        changed += names
        if names and "--check" not in sys.argv:
            path.write_text(text, encoding="utf-8")
    if changed and "--check" in sys.argv:
        sys.exit(f"stubs have other docstrings than their modules: {', '.join(changed)}; run {sys.argv[0]}")
    print(f"{len(changed)} docstrings written")


if __name__ == "__main__":
    main()
