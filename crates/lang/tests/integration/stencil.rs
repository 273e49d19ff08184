//! Stencils: how they are found in programs, and the kernels that are generated for them.

use rtcg_hal::tuning::Tunable;
use rtcg_hal::{DType, DeviceInfo, ExecutionModel, KernelSpec};
use rtcg_lang::arguments::ArgType;
use rtcg_lang::elaborate::elaborate_stencil;
use rtcg_lang::ir::{Number, Program};
use rtcg_lang::problem::Problems;
use rtcg_lang::span::{File, Files, Span};
use rtcg_lang::specialize::{
    Boundary, Halo, Mismatch, StencilChoice, StencilLaunch, StencilModel, find_stencils, match_stencil, number_of,
};
use rtcg_lang::surface::{BinaryOperator, Expr, ExprKind, Function, Generator, Outside, Pattern, Source, Stmt};
use rtcg_lang::text::parse_program;
use std::sync::Arc;

fn program(text: &str) -> Program {
    let program = parse_program(text).unwrap();
    rtcg_lang::check::check(&program).unwrap();
    program
}

/// What the last statement of a program is.
fn model(text: &str) -> Result<StencilModel, Mismatch> {
    let program = program(text);
    match_stencil(&program, program.body.stmts.last().unwrap())
}

fn of_body(body: &str) -> Result<StencilModel, Mismatch> {
    model(&format!(
        "(program ((u [[float32]]) (v [[float32]]) (a float32) (k int64))
           (let (n int64) (length u 0))
           (let (m int64) (length u 1))
           (let (w [[float32]]) (gen ((i n) (j m)) {body}))
           (results w))"
    ))
}

#[test]
fn offsets_and_radii_are_those_of_the_reads() {
    let found = of_body(
        "(let (i1 int64) (add int64 2 i)) (let (i2 int64) (subtract int64 i1 3)) (let (j1 int64) (add int64 j -4))
         (let (x float32) (read checked u i1 j)) (let (y float32) (read checked u i2 j1))
         (let (z float32) (read v i j)) (let (b float32) (multiply float32 a z)) (let (c float32) (add float32 x y))
         (let (d float32) (add float32 b c)) (results d)",
    )
    .unwrap();
    assert_eq!(found.n_axes, 2);
    assert_eq!(found.radius, [(1, 2), (4, 0)]);
    assert_eq!(found.fields[0].offsets, [vec![-1, -4], vec![2, 0]]);
    assert_eq!(found.fields[1].offsets, [vec![0, 0]]);
    assert_eq!(found.scalars.len(), 2);
    assert_eq!(found.outputs, [DType::F32]);
    assert!(!found.wraps_below);
    // Index arithmetic that only reads need is gone.
    assert_eq!(found.body.stmts.len(), 6);
}

#[test]
fn indices_that_count_from_the_end_are_followed() {
    let found = model(
        "(program ((u [float64]))
           (let (n int64) (length u 0))
           (let (w [float64]) (gen ((i n))
             (let (p int64) (subtract int64 i 1))
             (let (q int64) (add int64 p n))
             (let (is bool) (less int64 p 0))
             (let (r int64) (where int64 is q p))
             (let (x float64) (read checked u r))
             (results x)))
           (results w))",
    )
    .unwrap();
    assert_eq!(found.radius, [(1, 0)]);
    assert!(found.wraps_below);
}

#[test]
fn scalars_computed_before_belong_to_the_element() {
    let found = model(
        "(program ((u [float32]) (a float32))
           (let (n int64) (length u 0))
           (let (b float32) (multiply float32 a a))
           (let (w [float32]) (gen ((i n))
             (let (j int64) (add int64 i 1))
             (let (x float32) (read checked u j))
             (let (y float32) (multiply float32 x b))
             (results y)))
           (results w))",
    )
    .unwrap();
    assert_eq!(found.scalars.len(), 1);
    assert_eq!(found.body.stmts.len(), 3);
}

#[test]
fn what_is_no_stencil_has_a_reason() {
    let reason = |body: &str| of_body(body).unwrap_err().reason;
    let own = "an element of a float32 array is read at an index that is not the element's own plus a constant";
    assert_eq!(reason("(let (p int64) (add int64 i k)) (let (x float32) (read checked u p j)) (results x)"), own);
    assert_eq!(reason("(let (p int64) (multiply int64 i 2)) (let (x float32) (read checked u p j)) (results x)"), own);
    assert_eq!(
        reason("(let (x float32) (read checked u j i)) (results x)"),
        "the axes of an array are read in another order than those of the map"
    );
    assert_eq!(reason("(results a)"), "it reads no array");
    assert_eq!(
        reason(
            "(let (x float32) (reduce ((t 3)) (body (let (y float32) (read checked u i t)) (results y))
               (op ((p float32) (q float32)) (let (s float32) (add float32 p q)) (results s)) (init 0.0:float32)))
             (results x)"
        ),
        "an element is computed by an operation over a sequence"
    );
    let sum = model(
        "(program ((u [float32])) (let (n int64) (length u 0))
           (let (x float32) (reduce ((t n)) (body (let (y float32) (read u t)) (results y))
             (op ((p float32) (q float32)) (let (s float32) (add float32 p q)) (results s)) (init 0.0:float32)))
           (results x))",
    );
    assert_eq!(sum.unwrap_err().reason, "it is no map over indices");
}

#[test]
fn stencils_of_radius_0_are_not_sought() {
    let text = |index: &str| {
        format!(
            "(program ((u [float32])) (let (n int64) (length u 0))
               (let (w [float32]) (gen ((i n)) (let (j int64) (add int64 i {index}))
                 (let (x float32) (read checked u j)) (results x)))
               (results w))"
        )
    };
    assert_eq!(find_stencils(&program(&text("0"))).len(), 0);
    assert_eq!(find_stencils(&program(&text("5")))[0].radius, [(0, 5)]);
}

fn laplacian() -> StencilModel {
    let reads: String =
        [("i", "j", "x"), ("up", "j", "y"), ("down", "j", "z"), ("i", "left", "s"), ("i", "right", "t")]
            .map(|(row, column, name)| format!("(let ({name} float32) (read checked u {row} {column}))"))
            .concat();
    of_body(&format!(
        "(let (up int64) (add int64 i -1)) (let (down int64) (add int64 i 1)) (let (left int64) (add int64 j -1))
         (let (right int64) (add int64 j 1)) {reads} (let (p float32) (add float32 y z))
         (let (q float32) (add float32 s t)) (let (r float32) (add float32 p q)) (let (o float32) (subtract float32 r x))
         (results o)"
    ))
    .unwrap()
}

const GPU: DeviceInfo = DeviceInfo {
    multiprocessors: 132,
    max_blocks: 4224,
    execution: ExecutionModel::Simt,
    vector_bytes: 16,
    bulk_copy_smem_bytes: 0,
    shared_bytes: 232_448,
    compute_capability: 90,
};

fn source(model: &StencilModel, boundary: Boundary, choice: StencilChoice) -> String {
    let launch = StencilLaunch { boundary, halo: Halo::Copy, constant: Number::Float(1.5), choice, is_small: true };
    model.kernel(&launch).unwrap().source()
}

#[test]
fn each_step_of_a_tile_ends_with_a_barrier() {
    let model = laplacian();
    for (steps, barriers) in [(1, 2), (2, 3), (4, 5)] {
        let choice = StencilChoice { kernel: "tile", columns: 32, rows: 8, items: 2, adjacent: 1, steps };
        let text = source(&model, Boundary::Wrap, choice);
        // Boxes that touch no border have steps of their own, if there are several; a last barrier ends both.
        let forms = if steps > 1 { 2 } else { 1 };
        assert_eq!(text.matches("__syncthreads();").count(), forms * (barriers - 1) + 1, "{steps} steps");
        // The body is there once, however many steps call it.
        assert_eq!(text.matches(" = rtcg_point(").count(), forms * steps as usize);
        assert_eq!(text.matches("rtcg_parts rtcg_point(").count(), 1);
    }
    let choice = StencilChoice { kernel: "direct", columns: 32, rows: 8, items: 2, adjacent: 1, steps: 1 };
    let text = source(&model, Boundary::Constant, choice);
    assert!(!text.contains("__shared__") && text.contains("return 1.5e0f;"), "{text}");
}

#[test]
fn choices_are_made_to_fit() {
    let model = laplacian();
    let wish = |steps, items| StencilChoice { kernel: "tile", columns: 256, rows: 4, items, adjacent: 1, steps };
    // Two copies of two fields of (32 + 16) x (256 + 16) float32 are more than 48 KiB.
    let found = model.possible(wish(8, 8), Boundary::Clamp);
    assert_eq!(found.kernel, "tile");
    let source = source(&model, Boundary::Clamp, found);
    let bytes: usize = source.split("rtcg_tiles[").nth(1).unwrap().split(']').next().unwrap().parse().unwrap();
    assert!(bytes <= 48 << 10 && bytes > 16 << 10, "{bytes}");
    // Without a neighbour, tiles are of no use.
    let own = of_body("(let (x float32) (read u i j)) (let (y float32) (add float32 x a)) (results y)").unwrap();
    assert_eq!(own.possible(wish(1, 1), Boundary::Clamp).kernel, "direct");
    assert_eq!(own.possible(StencilChoice { kernel: "direct", ..wish(1, 1) }, Boundary::Clamp).steps, 1);
}

#[test]
fn the_rule_keeps_its_own_constraints() {
    for iterated in [false, true] {
        let problem = laplacian().problem(&[4096, 4096], iterated);
        let choice = StencilChoice::from_rule(&problem, &GPU);
        choice.check_constraints(&problem, &GPU).unwrap();
        assert_eq!(choice.steps > 1, iterated);
        let cpu = DeviceInfo { execution: ExecutionModel::SimdCpu, ..GPU };
        StencilChoice::from_rule(&problem, &cpu).check_constraints(&problem, &cpu).unwrap();
    }
}

#[test]
fn constants_are_those_of_the_dtype() {
    assert_eq!(number_of(Number::Int(3), DType::U8), Some(Number::Int(3)));
    assert_eq!(number_of(Number::Int(-1), DType::U8), None);
    assert_eq!(number_of(Number::Float(2.0), DType::I32), Some(Number::Int(2)));
    assert_eq!(number_of(Number::Float(2.5), DType::I32), None);
    assert_eq!(number_of(Number::Complex(1.0, 2.0), DType::F32), None);
    assert_eq!(number_of(Number::Bool(true), DType::F64), Some(Number::Float(1.0)));
}

// -- from syntax trees ----------------------------------------------------------------------------

fn at(line: u32, column: u32, end_column: u32) -> Span {
    Span { file: 0, line, column, end_line: line, end_column }
}

fn expr(kind: ExprKind) -> Expr {
    Expr { kind, span: at(2, 11, 18) }
}

fn name(text: &str) -> Expr {
    expr(ExprKind::Name(text.into()))
}

fn int(value: i128) -> Expr {
    expr(ExprKind::Number(Number::Int(value)))
}

fn read(index: Expr) -> Expr {
    expr(ExprKind::Subscript(Box::new(name("u")), Box::new(index)))
}

/// The program of `def f(u, k): return VALUE`.
fn elaborated(value: Expr) -> Result<Program, Problems> {
    let pattern = |text: &str| Pattern::Name(text.into(), at(1, 6, 7));
    let outside: Vec<(Arc<str>, Outside)> =
        ["range", "sum"].iter().map(|known| ((*known).into(), Outside::Prelude((*known).into()))).collect();
    let function = Function {
        name: "f".into(),
        params: vec![pattern("u"), pattern("k")],
        body: vec![Stmt::Return(Some(value), at(2, 4, 18))],
        span: at(1, 0, 10),
        outside: outside.into(),
    };
    let files = Files(vec![File {
        name: "f.py".into(),
        first_line: 1,
        lines: vec!["def f(u, k):".to_owned(), "    return u[.....]".to_owned()].into(),
    }]);
    let source = Source { functions: vec![Arc::new(function)], files, arguments: Vec::new() };
    let arguments =
        [ArgType::Array { dtype: DType::F64, ndim: 1, weak: false }, ArgType::Scalar { dtype: DType::I64, weak: true }];
    elaborate_stencil(&source, &arguments).map(|found| found.program).inspect(|program| {
        rtcg_lang::check::check(program).unwrap();
    })
}

#[test]
fn loops_over_offsets_are_unrolled() {
    let call = |function: &str, arguments: Vec<Expr>| expr(ExprKind::Call(Box::new(name(function)), arguments));
    let comprehension = expr(ExprKind::Comprehension {
        element: Box::new(read(name("i"))),
        generators: vec![Generator {
            pattern: Pattern::Name("i".into(), at(2, 0, 1)),
            sequence: call("range", vec![int(-3), int(2)]),
            conditions: vec![],
        }],
    });
    let program = elaborated(call("sum", vec![comprehension])).unwrap();
    let found = find_stencils(&program);
    assert_eq!(found[0].fields[0].offsets, [[-3], [-2], [-1], [0], [1]].map(Vec::from));
}

#[test]
fn offsets_that_depend_on_arguments_are_refused_at_their_place() {
    let sum = expr(ExprKind::Binary(BinaryOperator::Add, Box::new(name("k")), Box::new(int(1))));
    let problems = elaborated(read(sum)).unwrap_err();
    let report = problems.report(&Files::default());
    assert!(report.starts_with(
        "the offset along axis 0 is computed from fields or arguments; expected an integer that is known before the \
         call [static]\n  ?:2:12"
    ), "{report}");
    let two = elaborated(read(expr(ExprKind::Tuple(vec![int(0), int(1)])))).unwrap_err();
    assert_eq!(two.all()[0].message, "a field of 1 axes is indexed with 2 offset(s); expected 1");
    assert_eq!(two.all()[0].advice, "The element itself is u[0].");
}
