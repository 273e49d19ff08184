//! The text of every typed node, and the errors of malformed trees.

use rtcg_cgen::dtype::Dtype::{Complex64, Float32, Int32, Uint32};
use rtcg_cgen::tree::*;

fn x() -> Declarator {
    Declarator::pod(Float32, "x")
}

fn call() -> Node {
    Node::Statement("f()".to_owned())
}

fn text(node: impl Into<Node>) -> String {
    node.into().source().expect("well formed")
}

#[test]
fn declarators() {
    let f = || Declarator::value("void", "f").function([x().pointer(), Declarator::pod(Int32, "n").constant()]);
    let cases = [
        (x(), "float x;"),
        (x().restrict_pointer().constant(), "float const *__restrict__ x;"),
        (x().reference().volatile(), "float volatile &x;"),
        (x().array("4").static_().maybe_unused(), "static float x[4] __attribute__ ((unused));"),
        (x().wrapped(Wrapper::Array(None)).cuda_shared(), "__shared__ float x[];"),
        (x().cuda_constant(), "__constant__ float x;"),
        (x().typedef(), "typedef float x;"),
        (x().wrapped(Wrapper::Aligned("16".into())), "float x __attribute__ ((aligned (16)));"),
        (x().wrapped(Wrapper::AlignValue("16".into())), "float x __attribute__ ((align_value (16)));"),
        (Declarator::value("T", "x").wrapped(Wrapper::TemplateArguments("int".into())), "T<int> x;"),
        (Declarator::value("T", "x").wrapped(Wrapper::Namespace("std".into())), "std::T x;"),
        (Declarator::pod(Complex64, "z"), "std::complex<float> z;"),
        (f(), "void f(float *x, int const n);"),
        (f().cuda_device().extern_("C"), "extern \"C\" __device__ void f(float *x, int const n);"),
        (f().template("typename T"), "template <typename T>\nvoid f(float *x, int const n)"),
        (
            f().cuda_launch_bounds("128", Some("2".into())).cuda_global(),
            "__global__ void __launch_bounds__(128, 2) f(float *x, int const n);",
        ),
        (
            f().cl_required_work_group_size(&[8, 8]).cl_kernel(),
            "__kernel void __attribute__ ((reqd_work_group_size(8, 8, 1))) f(float *x, int const n);",
        ),
        (
            f().cl_work_group_size_hint(&[8]),
            "void __attribute__ ((work_group_size_hint(8, 1, 1))) f(float *x, int const n);",
        ),
        (
            f().wrapped(Wrapper::ClVecTypeHint("float4".into())),
            "void __attribute__ ((vec_type_hint(float4))) f(float *x, int const n);",
        ),
        (x().pointer().cl_global(), "__global float *x;"),
        (x().cl_local(), "__local float x;"),
        (x().cl_constant(), "__constant float x;"),
        (Declarator::cl_vector(Uint32, 4, "v").unwrap(), "uint4 v;"),
        (Declarator::cl_image(2, true, "im"), "__write_only image2d_t im;"),
    ];
    for (declarator, expected) in cases {
        assert_eq!(text(declarator), expected);
    }
    assert!(Declarator::cl_vector(Complex64, 2, "v").is_err());
}

#[test]
fn structures_and_enumerations() {
    let inner = Struct { declarator: Some("s".into()), pad_bytes: 4, ..Struct::new("S", [x()]) };
    assert_eq!(text(inner), "struct S\n{\n  float x;\n  unsigned char _cgen_pad[4];\n}  s;");
    let padded = Struct::new("S", [x(), Declarator::pod(Int32, "n").array("2")]).padded(Some(16), &[]).unwrap();
    assert_eq!(padded.pad_bytes, 4);
    let values = vec![("A".to_owned(), 1), ("B".to_owned(), 2)];
    let node = Enum { name: "e".into(), dtype: Uint32, prefix: "E_".into(), values };
    assert_eq!(text(node), "typedef unsigned int e;\n#define E_A 1\n#define E_B 2");
}

#[test]
fn statements() {
    let i = Expr::var("i", Int32);
    let n = Expr::var("n", Int32);
    let cases: [(Node, &str); 16] = [
        (If::new(i.less(&n), call()).otherwise(Block::new([call()])).into(), "if (i < n)\n  f();\nelse\n{\n  f();\n}"),
        (For::range(&i, 0, &n, 1, call()).into(), "for (int i = 0; i < n; ++i)\n  f();"),
        (For::range(&i, 0, &n, 4, call()).into(), "for (int i = 0; i < n; i += 4)\n  f();"),
        (While::new(&i, Block::default()).into(), "while (i)\n{\n}"),
        (DoWhile::new(&i, call()).into(), "do\n  f();\nwhile (i);"),
        (
            CustomLoop { intro: Some("in".into()), body: Box::new(call()), outro: Some("out".into()) }.into(),
            "in\n  f();\nout",
        ),
        (Initializer::constant(x(), 1.0_f32).into(), "float const x = 1.0f;"),
        (ArrayInitializer::new(x().array("2"), ["1".into(), "2".into()]).into(), "float x[2]\n  = { 1, 2 };"),
        (Node::Define("N".into(), "3".into()), "#define N 3"),
        (Node::Include("a.h".into(), false), "#include \"a.h\""),
        (Node::Pragma("unroll".into()), "#pragma unroll"),
        (Node::MultilineComment("a\nb".into(), false), "/**\n * a\n * b\n */"),
        (Node::Comment("a".into(), true), "/*a*/"),
        (call().with_comment(Some("why")), "{\n  /* why */\n\n  f();\n}"),
        (
            Conditional { symbol: "A".into(), negated: true, then: vec![call()], otherwise: vec![call()] }.into(),
            "#ifndef A\nf();\n#else\nf();\n#endif",
        ),
        (call().at("a\"b.py", 7), "#line 7 \"a\\\"b.py\"\nf();"),
    ];
    for (node, expected) in cases {
        assert_eq!(text(node), expected);
    }
    let chain = If::chain([(i.clone(), call()), (n.clone(), call())], Some(call())).unwrap();
    assert_eq!(text(chain), "if (i)\n  f();\nelse\n  if (n)\n    f();\n  else\n    f();");
    assert_eq!(If::chain([], None), None);
}

#[test]
fn malformed_trees_are_errors_with_a_path() {
    let c = || Expr::raw("c");
    let inner_if = || If::new(c(), call());
    let comment = Node::Comment("a */ b".into(), false);
    let cases: [(Node, &str, &str); 16] = [
        (Block::new([call(), x().pointer().into(), comment]).into(), "[2]", "end of a comment"),
        (If::new(c(), inner_if()).otherwise(call()).into(), "then", "inner if"),
        (If::new(c(), While::new(c(), inner_if())).otherwise(call()).into(), "then", "inner if"),
        (If::new(c(), Node::Collection(vec![call(), call()])).into(), "then", "not one statement"),
        (While::new(c(), Node::Collection(vec![])).into(), "body", "not one statement"),
        (While::new("", call()).into(), "condition", "empty"),
        (FunctionBody::new(x(), [call()]).into(), "declaration", "declares no function"),
        (Node::from(Declarator::pod(Int32, "a b")), "the root", "'a b' is no identifier"),
        (Declarator::value("int; x", "y").into(), "the root", "no name of a type"),
        (Declarator::from(Struct::new("S", [x(), x()])).into(), "fields[1]", "two members 'x'"),
        (Declarator::from(Struct::new("S", [x()])).pointer().into(), "the root", "declares no name"),
        (Assign::new(Expr::var("1 +", None), c()).into(), "target", "'1 +' is no identifier"),
        (Node::LineComment("a\nb".into()), "the root", "end with its line"),
        (Node::Include("a>".into(), true), "the root", "no name of a file"),
        (Node::Define("N".into(), "a\nb".into()), "the root", "backslashes"),
        (
            Node::Collection(vec![
                FunctionBody::new(
                    x().function([]),
                    [
                        Node::from(If::new(c(), call())),
                        Node::from(Block::new([While::new(c(), Node::Include("s".into(), true)).into()])),
                    ],
                )
                .into(),
            ]),
            "[0].body[1][0].body",
            "not one statement",
        ),
    ];
    for (node, path, message) in cases {
        let error = node.source().expect_err(path).to_string();
        assert!(error.starts_with(path) && error.contains(message), "{error}");
    }
}
