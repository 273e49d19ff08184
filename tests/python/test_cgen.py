"""Syntax trees against the package cgen: the same tree built of both prints the same text."""

import sys
import types

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import rtcg.cgen
import rtcg.cgen.cuda
import rtcg.cgen.mapper
import rtcg.cgen.opencl

cgen = pytest.importorskip("cgen")
import cgen.cuda  # noqa: E402
import cgen.mapper  # noqa: E402
import cgen.opencl  # noqa: E402

OURS = types.SimpleNamespace(**{**vars(rtcg.cgen), **vars(rtcg.cgen.cuda), **vars(rtcg.cgen.opencl)})
THEIRS = types.SimpleNamespace(**{**vars(cgen), **vars(cgen.cuda), **vars(cgen.opencl)})

# A tree is a list: the name of a class, and arguments, of which tuples that start with a class's name are trees.


class Tree(tuple):
    """A class's name and its arguments."""


def tree(name, *arguments):
    return Tree((name, *arguments))


def build(node, package):
    if isinstance(node, Tree):
        name, *arguments = node
        return getattr(package, name)(*(build(argument, package) for argument in arguments))
    if isinstance(node, list):
        return [build(item, package) for item in node]
    return node


def same(node):
    ours, theirs = build(node, OURS), build(node, THEIRS)
    assert str(ours) == str(theirs), node
    assert list(ours.generate()) == list(theirs.generate()), node
    return ours, theirs


words = st.sampled_from(["a", "b", "x_1", "threadIdx.x", "blockDim.x * 4", "", "f(x, y)", "s[i] ", "\tz  ", "q\nr"])
names = st.sampled_from(["a", "i", "value", "ns::name"])
counts = st.sampled_from([1, 3, 128, "N", "BLOCK + 1"])
dtypes = st.sampled_from(["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8", "c8", "c16", np.float32, np.void])
vectors = st.sampled_from(["i1", "u1", "i4", "u4", "i8", "u8", "i2", "u2", "f4", "f8"])

leaves = st.one_of(
    st.builds(tree, st.just("POD"), dtypes, names),
    st.builds(tree, st.just("Value"), st.sampled_from(["int", "float4", "T"]), names),
    st.builds(tree, st.just("CLVectorPOD"), vectors, st.sampled_from([2, 4, 16]), names),
    st.builds(tree, st.just("CLImage"), st.integers(1, 3), st.sampled_from("rw"), names),
)


def nested(inner):
    def one(*names_of_classes):
        return st.builds(tree, st.sampled_from(names_of_classes), inner)

    members = st.lists(inner, max_size=3)
    return st.one_of(
        one("Pointer", "RestrictPointer", "Reference", "Const", "Volatile", "Static", "Typedef", "MaybeUnused"),
        one("CudaGlobal", "CudaDevice", "CudaShared", "CudaConstant", "CudaRestrictPointer"),
        one("CLKernel", "CLConstant", "CLLocal", "CLGlobal"),
        st.builds(tree, st.just("Extern"), st.sampled_from(["C", "C++"]), inner),
        st.builds(tree, st.just("NamespaceQualifier"), names, inner),
        st.builds(tree, st.just("TemplateSpecializer"), words, inner),
        st.builds(tree, st.sampled_from(["AlignedAttribute", "AlignValueAttribute"]), counts, inner),
        st.builds(tree, st.just("ArrayOf"), inner, st.one_of(st.none(), counts)),
        st.builds(tree, st.just("FunctionDeclaration"), inner, members),
        st.builds(tree, st.just("CudaLaunchBounds"), counts, inner, st.one_of(st.none(), counts)),
        st.builds(tree, st.just("CLVecTypeHint"), inner, vectors, st.just(4)),
        st.builds(tree, st.just("CLVecTypeHint"), inner, st.none(), st.none(), words),
        st.builds(
            tree,
            st.sampled_from(["CLWorkGroupSizeHint", "CLRequiredWorkGroupSize"]),
            st.sampled_from([(1,), (8, 8), (2, 3, 4)]),
            inner,
        ),
        st.builds(tree, st.just("Template"), st.sampled_from(["typename T", "int N, class U"]), inner),
        st.builds(
            tree,
            st.just("Struct"),
            st.one_of(st.none(), names),
            members,
            st.one_of(st.none(), names),
            st.integers(0, 9),
        ),
    )


declarators = st.recursive(leaves, nested, max_leaves=6)

members_of_structs = st.recursive(
    st.builds(tree, st.just("POD"), st.sampled_from(["i1", "i2", "i4", "i8", "u2", "f4", "f8"]), names),
    lambda inner: st.one_of(
        st.builds(tree, st.sampled_from(["Pointer", "Const"]), inner),
        st.builds(tree, st.just("ArrayOf"), st.builds(tree, st.just("POD"), st.sampled_from(["i1", "f8"]), names)),
        st.builds(tree, st.just("ArrayOf"), st.builds(tree, st.just("POD"), st.just("i2"), names), st.integers(1, 5)),
    ),
    max_leaves=3,
)

comments = st.sampled_from(["why", "two\nlines", "a\r\nb\u2028c\n", "{braces}", ""])
statements = st.one_of(
    declarators,
    st.builds(tree, st.just("Define"), names, words),
    st.builds(tree, st.just("Include"), st.just("math.h"), st.booleans()),
    st.builds(tree, st.sampled_from(["Pragma", "Statement", "ExpressionStatement", "Line"]), words),
    st.just(tree("Line")),
    st.builds(tree, st.just("Assign"), words, words),
    st.builds(tree, st.sampled_from(["Comment", "MultilineComment"]), comments, st.booleans()),
    st.builds(tree, st.just("LineComment"), st.sampled_from(["why", " spaces  "])),
    st.builds(tree, st.sampled_from(["Initializer", "InlineInitializer", "Constant"]), declarators, words),
    st.builds(tree, st.just("ArrayInitializer"), declarators, st.lists(words, max_size=3)),
    st.builds(
        tree,
        st.sampled_from(["LiteralLines", "LiteralBlock"]),
        st.sampled_from(["\n  a;\n    b;\n\n  c;\n", "//CL//\nx", "\n\n\t\ty;  \n\t\t\tz;\n  "]),
    ),
)


def composed(inner):
    contents = st.lists(inner, max_size=3)
    condition = st.one_of(words, st.builds(tree, st.just("Line"), words))
    start = st.one_of(words, st.builds(tree, st.just("InlineInitializer"), declarators, words))
    optional_line = st.one_of(st.none(), words)
    return st.one_of(
        st.builds(tree, st.sampled_from(["Block", "Collection", "Module", "PrivateNamespace"]), contents),
        st.builds(tree, st.just("If"), condition, inner, st.one_of(st.none(), inner)),
        st.builds(tree, st.sampled_from(["While", "DoWhile"]), condition, inner),
        st.builds(tree, st.just("For"), start, condition, words, inner),
        st.builds(tree, st.just("CustomLoop"), optional_line, inner, optional_line),
        st.builds(tree, st.just("FunctionBody"), declarators, st.builds(tree, st.just("Block"), contents)),
        st.builds(tree, st.sampled_from(["IfDef", "IfNDef"]), names, contents, contents),
        st.builds(tree, st.just("block_if_necessary"), st.lists(inner, min_size=1, max_size=3)),
        st.builds(tree, st.just("add_comment"), st.one_of(st.none(), comments), inner),
        st.builds(
            lambda pairs, base: tree("make_multiple_ifs", [list(pair) for pair in pairs], base),
            st.lists(st.tuples(words, inner), min_size=1, max_size=3),
            st.one_of(st.none(), inner),
        ),
    )


trees = st.recursive(statements, composed, max_leaves=10)


@settings(max_examples=400, derandomize=True, deadline=None)
@given(trees)
def test_drawn_trees_print_as_cgen_does(node):
    same(node)


@settings(max_examples=300, derandomize=True, deadline=None)
@given(declarators, st.booleans())
def test_declarators_alone(node, semicolon):
    ours, theirs = same(node)
    assert ours.inline(semicolon) == theirs.inline(semicolon)
    assert ours.get_decl_pair() == theirs.get_decl_pair()
    assert list(ours.generate(semicolon)) == list(theirs.generate(semicolon))


@settings(max_examples=200, derandomize=True, deadline=None)
@given(trees)
def test_cgens_nodes_within_ours(node):
    theirs = build(node, THEIRS)
    ours = OURS.If("c", theirs, OURS.Block([theirs, OURS.While("w", theirs)]))
    expected = THEIRS.If("c", theirs, THEIRS.Block([theirs, THEIRS.While("w", theirs)]))
    assert str(ours) == str(expected)


@settings(max_examples=100, derandomize=True, deadline=None)
@given(declarators)
def test_cgens_declarators_within_ours(node):
    theirs = build(node, THEIRS)
    for package in (expected := []), (actual := []):
        target = OURS if package is actual else THEIRS
        package += [
            target.FunctionDeclaration(target.Pointer(theirs), [theirs, target.Const(theirs)]),
            target.Struct("S", [theirs, target.Pointer(theirs)]),
            target.Initializer(theirs, "1"),
            target.FunctionBody(theirs, target.Block()),
        ]
    assert [str(node) for node in actual] == [str(node) for node in expected]
