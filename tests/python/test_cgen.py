"""Syntax trees against the package cgen: the same tree built of both prints the same text."""

import importlib
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
for name in ("cuda", "mapper", "opencl"):
    importlib.import_module(f"cgen.{name}")

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


def names_in(node):
    if isinstance(node, Tree):
        yield node[0]
    if isinstance(node, (list, tuple)):
        for item in node:
            yield from names_in(item)


def test_the_corpus_is_large_and_holds_every_node():
    seen, texts = set(), set()

    @settings(max_examples=2000, derandomize=True, deadline=None, database=None)
    @given(trees)
    def draw(node):
        seen.update(names_in(node))
        texts.add(str(same(node)[0]))

    draw()
    assert len(texts) >= 300
    classes = {name for module in (cgen, cgen.cuda, cgen.opencl) for name, c in vars(module).items() if is_node(c)}
    abstract = {"Generable", "Declarator", "NestedDeclarator", "DeclSpecifier", "Loop", "_CLWorkGroupSizeDeclarator"}
    # Compared below: their arguments do not stand in any order, and classes are derived from `Enum`.
    assert classes - abstract - seen == {"GenerableStruct", "Enum"}


def is_node(value):
    # A generic alias such as list[str] passes for a class in Python 3.10.
    return isinstance(value, type) and not hasattr(value, "__origin__") and issubclass(value, cgen.Generable)


def test_all_names_of_cgen_are_there():
    for ours, theirs in [(rtcg.cgen, cgen), (rtcg.cgen.cuda, cgen.cuda), (rtcg.cgen.opencl, cgen.opencl)]:
        public = {n for n, v in vars(theirs).items() if getattr(v, "__module__", "") == theirs.__name__}
        missing = {n for n in public if n[0] != "_" and not hasattr(ours, n)}
        assert missing <= {"is_long_64_bit"}


@settings(max_examples=200, derandomize=True, deadline=None)
@given(
    st.lists(members_of_structs, min_size=1, max_size=5),
    st.sampled_from([None, 8, 16, 64]),
    st.sampled_from([None, [2], [2, 3]]),
)
def test_structures_with_a_layout(members, align, prime):
    def renamed(node, name):
        if node[0] == "POD":
            return tree("POD", node[1], name)
        return Tree(renamed(item, name) if isinstance(item, Tree) else item for item in node)

    fields = [renamed(member, f"m{i}") for i, member in enumerate(members)]
    ours = OURS.GenerableStruct("S", build(fields, OURS), "s", align, prime)
    theirs = THEIRS.GenerableStruct("S", build(fields, THEIRS), "s", align, prime)
    assert str(ours) == str(theirs)
    assert (ours.format, ours.bytes, len(ours)) == (theirs.format, theirs.bytes, len(theirs))
    aligned = np.dtype([(n, ours.dtype[n]) for n in ours.dtype.names], align=True)
    assert [ours.dtype.fields[n][1] for n in ours.dtype.names] == [aligned.fields[n][1] for n in aligned.names]
    assert align or prime or ours.dtype.itemsize == aligned.itemsize


def test_values_of_structures():
    def make(package):
        fields = [package.POD("i4", "n"), package.Pointer(package.POD("f4", "p")), package.POD("f8", "x")]
        return package.GenerableStruct("S", [*fields, package.ArrayOf(package.POD("i2", "a"), 3)])

    ours, theirs = make(OURS), make(THEIRS)
    # cgen itself cannot pack pointers; without them the bytes are the same.
    record = np.frombuffer(ours.make(n=3, p=0x1234, x=0.5, a=[1, 2, 3]), ours.dtype)[0]
    assert (record["n"], record["p"], record["x"], list(record["a"])) == (3, 0x1234, 0.5, [1, 2, 3])
    assert ours.format == theirs.format
    with pytest.raises(TypeError, match="lacks the members p, a"):
        ours.make(n=3, x=1)
    with pytest.raises(TypeError, match="no member 'y'"):
        ours.make_with_defaults(y=1)
    flat = [[package.POD("i1", "c"), package.POD("f8", "x")] for package in (OURS, THEIRS)]
    ours, theirs = OURS.GenerableStruct("S", flat[0]), THEIRS.GenerableStruct("S", flat[1])
    assert ours.make(c=1, x=2.5) == theirs.make(c=1, x=2.5)
    assert ours.make_with_defaults(x=2.5) == theirs.make_with_defaults(x=2.5)


@pytest.mark.usefixtures("context")
def test_the_compiler_lays_structures_out_alike():
    from rtcg import driver as cuda
    from rtcg.compiler import SourceModule

    c = rtcg.cgen
    inner_fields = [c.POD("i1", "tag"), c.POD("f8", "x"), c.POD("i2", "last")]
    inner = c.GenerableStruct("Inner", inner_fields)
    member = c.GenerableStruct("Inner2", inner_fields, "inner")
    outer = c.GenerableStruct(
        "Outer",
        [
            c.POD("u1", "first"),
            member,
            c.POD("c16", "z"),
            c.Pointer(c.POD("f4", "p")),
            c.ArrayOf(c.POD("u2", "a"), 5),
            c.AlignedAttribute(32, c.POD("f4", "wide")),
            c.POD("b1", "flag"),
        ],
        aligned_prime_to=[2],
    )
    count = len(outer.fields) + len(inner.fields) + 2
    i = iter(range(count))
    lines = [c.Assign(f"out[{next(i)}]", f"offsetof(Outer, {f.name})") for f in outer.fields]
    lines += [c.Assign(f"out[{next(i)}]", f"offsetof(Inner, {f.name})") for f in inner.fields]
    lines += [c.Assign(f"out[{next(i)}]", f"sizeof({name})") for name in ("Outer", "Inner")]
    declaration = c.FunctionDeclaration(c.Value("void", "offsets"), [c.Pointer(c.POD("u4", "out"))])
    module = c.Module(
        [
            c.Include("cuda/std/complex"),
            c.Define("offsetof(type, member)", "(unsigned)(size_t)&((type *)0)->member"),
            c.Statement("namespace std { using cuda::std::complex; }"),
            inner,
            outer,
            c.FunctionBody(c.cuda.CudaGlobal(declaration), c.Block(lines)),
        ]
    )
    out = np.zeros(count, np.uint32)
    SourceModule(module, no_extern_c=True).get_function("_Z7offsetsPj")(cuda.Out(out), grid=(1, 1), block=(1, 1, 1))
    expected = [s.dtype.fields[n][1] for s in (outer, inner) for n in s.dtype.names]
    assert list(out) == [*expected, outer.bytes, inner.bytes]


def test_enumerations(monkeypatch):
    tools = types.ModuleType("pyopencl.tools")
    tools.dtype_to_ctype = cgen.dtype_to_ctype
    monkeypatch.setitem(sys.modules, "pyopencl", types.ModuleType("pyopencl"))
    monkeypatch.setitem(sys.modules, "pyopencl.tools", tools)

    def make(package):
        class Flags(package.Enum):
            c_name = "flags_t"
            dtype = np.dtype(np.uint32)
            c_value_prefix = "FLAG_"
            READ = 1
            WRITE = 2

        return Flags

    ours, theirs = make(OURS), make(THEIRS)
    assert list(ours.generate()) == list(theirs.generate())
    assert str(OURS.Module([ours(), ours])) == str(THEIRS.Module([theirs(), theirs()]))
    assert ours.get_c_defines() == theirs.get_c_defines()
    assert ours.get_c_typedef() == theirs.get_c_typedef()
    assert ours.stringify_value(3) == "READ|WRITE" == theirs.stringify_value(3)


def test_types_without_a_name():
    for dtype in (None, "U4", ">i4", "V8", "f2"):
        with pytest.raises(ValueError, match="dtype"):
            cgen.dtype_to_ctype(dtype)
        with pytest.raises(ValueError, match="dtype"):
            rtcg.cgen.dtype_to_ctype(dtype)
    with pytest.raises(ValueError, match="complex64"):
        rtcg.cgen.opencl.dtype_to_cltype("c8")


def test_subclasses_override_what_they_like():
    def classes(package):
        class Twice(package.Generable):
            def generate(self, with_semicolon=True):
                yield "once;"
                yield "twice;"

        class Far(package.Pointer):
            def get_decl_pair(self):
                lines, declarator = super().get_decl_pair()
                return lines, f"far {declarator}"

        class Tagged(package.Block):
            def generate(self, with_semicolon=True):
                yield "/* tag */"
                yield from super().generate()

        class Forever(package.Loop):
            def intro_line(self):
                return "for (;;)"

        class Packed(package.Struct):
            def struct_attributes(self):
                return "__attribute__ ((packed))"

        class Quiet(package.Value):
            def inline(self, with_semicolon=False):
                return "..."

        far = Far(package.Value("int", "p"))
        tagged = Tagged([Twice(), package.Const(far)])
        function = package.FunctionDeclaration(package.Value("void", "f"), [far, Quiet("int", "q")])
        return package.Module(
            [
                package.If("c", tagged, package.If("d", Twice(), tagged)),
                Forever(package.Block([far, Forever(Twice())])),
                Packed("S", [far, package.Static(far)], "s"),
                package.FunctionBody(function, tagged),
            ]
        )

    assert str(classes(OURS)) == str(classes(THEIRS))


def test_our_nodes_within_cgens():
    cgen.Generable.register(rtcg.cgen.Generable)
    inner = rtcg.cgen.Block([rtcg.cgen.Statement("f()"), rtcg.cgen.Const(rtcg.cgen.Pointer(rtcg.cgen.POD("f4", "x")))])
    outer = cgen.Block([inner, cgen.FunctionDeclaration(cgen.Value("int", "f"), [rtcg.cgen.POD("i4", "n")])])
    assert str(outer) == "{\n  {\n    f();\n    float const *x;\n  }\n  int f(int n);\n}"


@pytest.mark.usefixtures("context")
@pytest.mark.parametrize("package", [OURS, THEIRS], ids=["rtcg.cgen", "cgen"])
def test_unrolled_kernels_of_both_packages_run(package):
    """The program of figure 5b of the paper on run-time code generation: an addition unrolled by its tree."""
    from rtcg import driver
    from rtcg.compiler import SourceModule

    per_thread, threads = 4, 32
    pointers = [package.Pointer(package.POD(np.float32, name)) for name in ("tgt", "op1", "op2")]
    add = package.FunctionBody(
        package.CudaGlobal(package.FunctionDeclaration(package.Value("void", "add"), pointers)),
        package.Block(
            [package.Initializer(package.POD(np.int32, "idx"), f"threadIdx.x + {threads * per_thread}*blockIdx.x")]
            + [
                package.Assign(f"tgt[idx+{o * threads}]", f"op1[idx+{o * threads}] + op2[idx+{o * threads}]")
                for o in range(per_thread)
            ]
        ),
    )
    a, b = np.random.default_rng(3).random((2, 512), np.float32)
    out = np.empty_like(a)
    function = SourceModule(package.Module([add])).get_function("add")
    function(driver.Out(out), driver.In(a), driver.In(b), block=(threads, 1, 1), grid=(4, 1))
    assert (out == a + b).all()


def test_any_object_is_a_node():
    class Text:
        def __str__(self):
            return "a();\nb();"

    block = rtcg.cgen.Block(["x = 1;", Text(), rtcg.cgen.Var("y").assign(2)])
    assert str(block) == "{\n  x = 1;\n  a();\n  b();\n  y = 2;\n}"
    assert str(rtcg.cgen.FunctionDeclaration("void f", ["int x", Text])).startswith("void f")


def test_attributes_are_read_and_altered():
    module = rtcg.cgen.Module([rtcg.cgen.Line("a")])
    module.contents.append(rtcg.cgen.Line("b"))
    module.contents[0].text = "c"
    assert str(module) == "c\nb"
    struct = rtcg.cgen.Struct("S", [rtcg.cgen.POD("f4", "x")])
    struct.fields += (rtcg.cgen.POD("i4", "n"),)
    assert str(struct) == "struct S\n{\n  float x;\n  int n;\n} ;"


def test_errors_of_nodes():
    with pytest.raises(TypeError, match="then_ is 'text'"):
        rtcg.cgen.If("c", "text")
    with pytest.raises(TypeError, match="contents is 'text'"):
        rtcg.cgen.Block("text")
    with pytest.raises(ValueError, match="one line"):
        rtcg.cgen.LineComment("a\nb")
    with pytest.raises(ValueError, match="mode is 'x'"):
        rtcg.cgen.opencl.CLImage(2, "x", "im")
    with pytest.raises(ValueError, match="newline"):
        rtcg.cgen.LiteralLines("a")
    with pytest.raises(ValueError, match="unable to map dtype"):
        str(rtcg.cgen.POD("f2", "h"))
    with pytest.raises(RecursionError, match="1000"):
        str(rtcg.cgen.make_multiple_ifs([(f"c{i}", rtcg.cgen.Block()) for i in range(2000)]))
    block = rtcg.cgen.Block()
    block.append(block)
    with pytest.raises(RecursionError):
        str(block)
    with pytest.raises(ValueError, match="'a' is an array without a count"):
        rtcg.cgen.GenerableStruct("S", [rtcg.cgen.ArrayOf(rtcg.cgen.POD("i4", "a"))])
    with pytest.raises(ValueError, match="align_bytes=0"), pytest.warns(UserWarning, match="align_bytes=0"):
        rtcg.cgen.GenerableStruct("S", [rtcg.cgen.POD("i4", "x")], align_bytes=0)


@settings(max_examples=200, derandomize=True, deadline=None)
@given(trees)
def test_the_identity_mapper_copies(node):
    class Copy(rtcg.cgen.mapper.IdentityMapper):
        def map_expression(self, node):
            return node

        def map_initializer(self, node):
            return super().map_initializer(node)

    ours = build(node, OURS)
    assert str(Copy()(ours)) == str(ours)


def test_mappers_rename():
    class Rename(rtcg.cgen.mapper.IdentityMapper):
        def map_expression(self, node, old, new):
            return node.substitute(old, new) if isinstance(node, rtcg.cgen.Expr) else node

        def map_pod(self, node, old, new):
            return type(node)(node.dtype, new if node.name == old else node.name)

    c, x = rtcg.cgen, rtcg.cgen.Var("x", "f4")
    loop = c.For("", x < 3, x.increment(), c.Block([c.POD("f4", "x"), c.Assign(x, x * 2 + 1), c.Statement("x")]))
    text = str(Rename()(loop, "x", "y"))
    assert text == "for (; y < 3.0f; ++y)\n{\n  float y;\n  y = y * 2.0f + 1.0f;\n  x;\n}"
    with pytest.raises(rtcg.cgen.mapper.UnsupportedNodeError, match="no method"):
        Rename()(object(), "x", "y")
    with pytest.raises(NotImplementedError, match="map_expression"):
        rtcg.cgen.mapper.IdentityMapper()(c.Assign("a", "b"))


def test_methods_of_mappers_are_those_of_cgen():
    def methods(mapper):
        return {name for name in dir(mapper) if name.startswith("map_") and "ispc" not in name}

    assert methods(cgen.mapper.IdentityMapper) <= methods(rtcg.cgen.mapper.IdentityMapper)


def test_expressions_have_the_parentheses_that_c_needs():
    a, b, x = rtcg.cgen.Var("a", "i4"), rtcg.cgen.Var("b", "u4"), rtcg.cgen.Var("x", "f4")
    cases = {
        (a + b) * x: "(a + b) * x",
        a + b * x: "a + b * x",
        a - (b - x): "a - (b - x)",
        a - b - x: "a - b - x",
        a - -b: "a - -b",
        (-a).__neg__(): "-(-a)",
        (a & 1) == 0: "(a & 1) == 0",
        (a < b).and_((a > 0).or_(x >= 1)): "a < b && (a > 0 || x >= 1.0f)",
        2 * x + 1.5: "2.0f * x + 1.5f",
        b * 3: "b * 3u",
        a * 1.5: "a * 1.5",
        1 << a: "1 << a",
        x[a, b + 1]: "x[a][b + 1u]",
        (x + a)[0]: "(x + a)[0]",
        x(a, b)(1): "x(a, b)(1)",
        (a < b).where(x, 0): "a < b ? x : 0.0f",
        (a < b).where(1, x).member("y"): "(a < b ? 1.0f : x).y",
        x.arrow("y").cast(np.float64) / 2: "(double)x->y / 2.0",
        a.assign(b.assign(3)): "a = b = 3u",
        (x.dereference() + 1).address(): "&(*x + 1.0f)",
        rtcg.cgen.Expr("p ? q : r") + a: "(p ? q : r) + a",
        rtcg.cgen.Expr(True): "true",
        rtcg.cgen.Expr(3, "u8"): "3ull",
        x * np.float64(2): "x * 2.0",
        ~a % b: "~a % b",
        (~(a + 1)).not_(): "!~(a + 1)",
        a.post_increment() + 1: "a++ + 1",
    }
    assert {str(e): text for e, text in cases.items()} == {text: text for text in cases.values()}
    assert (a + x).dtype == np.float32
    assert rtcg.cgen.Var("q").dtype is None


def test_errors_of_expressions():
    x = rtcg.cgen.Var("x", "f4")
    with pytest.raises(TypeError, match="not known before the program runs"):
        if x == 1:
            pass
    with pytest.raises(TypeError):
        x + object()
    with pytest.raises(TypeError, match="expected an Expr"):
        x[None]
    with pytest.raises(TypeError, match="iterated"):
        list(x)
    with pytest.raises(ValueError, match="'a b'|\"a b\""):
        rtcg.cgen.Var("a b")
    with pytest.raises(ValueError, match="1.5 is no literal"):
        rtcg.cgen.Expr(1.5, "i4")
    with pytest.raises(OverflowError, match="64 bits"):
        x + 2**70
    with pytest.raises(RecursionError, match="2000"):
        sum([x] * 3000, start=x)


def test_fresh_names_differ():
    assert len({rtcg.cgen.fresh("i") for _ in range(100)}) == 100
    assert rtcg.cgen.fresh("2 x").isidentifier()
    for _ in range(2):
        names = rtcg.cgen.Names()
        assert [names.fresh("i"), names.fresh("i"), names.fresh("j")] == ["i_0", "i_1", "j_0"]


@pytest.mark.usefixtures("context")
def test_messages_name_the_line_that_built_a_node():
    from rtcg.compiler import CompileError, SourceModule

    c = rtcg.cgen
    with c.line_numbers():
        wrong = c.Statement("undeclared = 1")
        line = sys._getframe().f_lineno - 1
        body = c.Block([c.Statement("int x"), wrong])
    declaration = c.FunctionDeclaration(c.Value("void", "f"), [])
    module = c.Module([c.FunctionBody(c.cuda.CudaGlobal(declaration), body)])
    assert f'#line {line} "{__file__}"' in str(module)
    with pytest.raises(CompileError, match=rf"test_cgen\.py\({line}\)"):
        SourceModule(module)
    assert "#line" not in str(c.Block([c.Statement("int x")]))


def test_a_list_is_no_body():
    """Its `repr` would be printed into the source."""
    c = rtcg.cgen
    statements = [c.Statement("a = 1")]
    declaration = c.FunctionDeclaration(c.Value("void", "f"), [])
    for make in (
        lambda body: c.For("int i = 0", "i < n", "++i", body),
        lambda body: c.While("n", body),
        lambda body: c.DoWhile("n", body),
        lambda body: c.CustomLoop("for (;;)", body),
        lambda body: c.FunctionBody(declaration, body),
    ):
        with pytest.raises(TypeError, match=r"body is a list, expected a node; Block\(\[...\]\)"):
            make(statements)
        assert "a = 1;" in str(make(c.Block(statements)))
