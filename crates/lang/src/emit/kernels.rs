//! Kernels of statements.

use super::numbers::{c_name, c_type, literal};
use super::writer::{Writer, Written};
use super::{Emitted, Facts, Kernel, OrderedReduction};
use crate::ir::{Atom, Axis, Block, Direction, Exp, Lambda, Number, Program, Stmt, Var};
use crate::problem::{Code, Problem};
use crate::simplify::{collect_bound, has_loop};
use rtcg_codegen::array::Op;
use rtcg_codegen::c_declarations::{Argument, CType, CTypeForm};
use rtcg_codegen::pointwise::ElementwiseSnippet;
use rtcg_codegen::reduction::ReductionSnippet;
use rtcg_codegen::scan::ScanSnippet;
use rtcg_hal::DType;
use std::collections::HashSet;
use std::fmt::Write;

pub(crate) const VALUE: &str = "rtcg_parts";
/// The values of an ordered reduction in memory.
const STORED: &str = "rtcg_stored";
/// What is stored of a scan, where it is not its values.
const FINISHED: &str = "rtcg_results";

/// The kernel of a statement.
///
/// # Errors
/// When it cannot be one.
pub fn emit(program: &Program, stmt: &Stmt, facts: &dyn Facts) -> Result<Emitted, Box<Problem>> {
    let writer = Writer::new(program, facts);
    let dtypes: Vec<DType> = stmt.outs.iter().map(|out| program.var_type(*out).dtype).collect();
    match &stmt.exp {
        Exp::Gen { space, body } => elementwise(writer, space, body, &dtypes),
        Exp::Reduce { space, body, op, init, commutative } if space.len() == 1 => {
            let neutral = neutral_of(op, &dtypes, init);
            let begins_anyhow = init.is_empty() || begins_neutral(op, &dtypes, init);
            let first = if begins_anyhow { None } else { Some(init.as_slice()) };
            let elements = Elements { space: space[0], body, op, first, finish: None, scatters: false };
            match (commutative, neutral) {
                (true, Some(neutral)) => elements.reduction(writer, &neutral, &dtypes),
                _ => elements.ordered_reduction(writer, &dtypes),
            }
        }
        Exp::Reduce { space, body, op, init, .. } => row_reduction(writer, space, body, op, init, &stmt.outs),
        Exp::Scan { space, body, op, prefix, direction, finish, targets } if space.len() == 1 => {
            let (first, finish) = (prefix.as_deref(), finish.as_ref());
            let scatters = !targets.is_empty();
            let elements = Elements { space: space[0], body, op, first, finish, scatters };
            elements.scan(writer, *direction, &dtypes)
        }
        Exp::Scan { space, body, op, prefix: None, direction, finish: None, .. } => {
            row_scan(writer, space, body, op, *direction, &stmt.outs)
        }
        Exp::Filter { space, body } => filter(writer, space[0], body, &dtypes),
        Exp::Rows { space, offsets, body } => rows(writer, space[0], *offsets, body, &dtypes),
        Exp::Scatter { space, body, .. } => scatter(writer, &space[0], body, &dtypes),
        _ => Err(Box::new(Problem::new(Code::Nested, stmt.span, "this cannot be a kernel yet"))),
    }
}

fn output_name(at: usize) -> String {
    format!("o{at}")
}

/// Stores the results of an element.
fn store_at(writer: &Writer<'_>, text: &mut String, index: &str, values: &[String]) {
    for (at, value) in values.iter().enumerate() {
        writer.line(text, &format!("{}[{index}] = {value};", output_name(at)));
    }
}

fn outputs(dtypes: &[DType]) -> Vec<Argument> {
    dtypes.iter().enumerate().map(|(at, dtype)| Argument::vector_arg(c_type(*dtype), &output_name(at))).collect()
}

fn elementwise<'a>(mut writer: Writer<'a>, space: &[Axis], body: &'a Block, dtypes: &[DType]) -> Written<Emitted> {
    writer.set_flat(space);
    let mut indices = String::new();
    writer.declare_indices(&mut indices, space);
    let mut text = String::new();
    let values = writer.block(&mut text, body)?;
    // Where the index is not used, elements may be processed several at a time.
    if space.iter().any(|axis| writer.is_mentioned(axis.index, &text, &values)) {
        text.insert_str(0, &indices);
    }
    store_at(&writer, &mut text, "i", &values);
    Ok(finish_elementwise(writer, text, outputs(dtypes), Kernel::Elementwise))
}

fn finish_elementwise(
    writer: Writer<'_>,
    operation: String,
    mut arguments: Vec<Argument>,
    kind: impl FnOnce(ElementwiseSnippet) -> Kernel,
) -> Emitted {
    arguments.extend(writer.arguments());
    let snippet = ElementwiseSnippet {
        name: "rtcg_map".into(),
        arguments,
        operation,
        preamble: writer.preamble(),
        ..ElementwiseSnippet::default()
    };
    Emitted { kernel: kind(snippet), inputs: writer.inputs, fields: (Vec::new(), 0) }
}

/// The fields of the structure of values, and its type.
fn layout(dtypes: &[DType]) -> (Vec<(DType, usize)>, CType) {
    if let [dtype] = dtypes {
        return (vec![(*dtype, 0)], c_type(*dtype));
    }
    let (mut offset, mut align) = (0_usize, 1_usize);
    let mut fields = Vec::with_capacity(dtypes.len());
    for dtype in dtypes {
        let own = c_type(*dtype).align;
        offset = offset.next_multiple_of(own);
        fields.push((*dtype, offset));
        offset += dtype.itemsize();
        align = align.max(own);
    }
    let itemsize = offset.next_multiple_of(align);
    (fields, CType { name: VALUE.into(), form: CTypeForm::Registered(u32::MAX - 2), itemsize, align })
}

/// The structure of values, if there are several.
pub(crate) fn value_struct(dtypes: &[DType]) -> String {
    if let [dtype] = dtypes {
        return format!("typedef {} {VALUE};\n", c_name(*dtype));
    }
    let mut text = format!("struct {VALUE} {{ ");
    for (at, dtype) in dtypes.iter().enumerate() {
        let _ = write!(text, "{} f{at}; ", c_name(*dtype));
    }
    text.push_str("};\n");
    text
}

/// `rtcg_stored`, values as they are stored, with `rtcg_widened` and `rtcg_narrowed` from and to those that are combined.
fn conversions(stored: &[DType], items: &[DType]) -> String {
    let converted = |to: &[DType], name: &str| {
        let fields = fields_of("x", to.len()).into_iter().zip(to);
        let fields: Vec<String> = fields.map(|(field, dtype)| format!("({})({field})", c_name(*dtype))).collect();
        value_of(&fields).replace(VALUE, name)
    };
    let same = ["x".to_owned(), "x".to_owned()];
    let is_same = stored == items;
    let [wide, narrow] = if is_same { same } else { [converted(stored, STORED), converted(items, VALUE)] };
    let declared =
        if is_same { format!("typedef {VALUE} {STORED};\n") } else { value_struct(stored).replace(VALUE, STORED) };
    format!(
        "{declared}__device__ __forceinline__ {STORED} rtcg_widened(const {VALUE} x) {{ return {wide}; }}\n\
         __device__ __forceinline__ {VALUE} rtcg_narrowed(const {STORED} x) {{ return {narrow}; }}\n"
    )
}

pub(crate) fn value_of(parts: &[String]) -> String {
    match parts {
        [one] => one.clone(),
        parts => format!("{VALUE}{{{}}}", parts.join(", ")),
    }
}

pub(crate) fn fields_of(value: &str, n: usize) -> Vec<String> {
    if n == 1 { vec![value.to_owned()] } else { (0..n).map(|at| format!("{value}.f{at}")).collect() }
}

/// A map whose reductions are each shared by some lanes of a warp: the kernel has as many indices for each of the map's.
/// Elements with a reduction of more than `longest` values are left to [`emit_long`]: behind its outputs, the kernel gets
/// an array for their indices and one for their number.
///
/// `None` if one of them does not begin with a neutral element of a commutative operation.
///
/// # Errors
/// When the statement cannot be a kernel.
pub fn emit_shared(
    program: &Program,
    stmt: &Stmt,
    facts: &dyn Facts,
    (lanes, longest): (usize, Option<usize>),
) -> Result<Option<Emitted>, Box<Problem>> {
    let Exp::Gen { space, body } = &stmt.exp else { return Ok(None) };
    if space.len() != 1 || !can_share(program, body) {
        return Ok(None);
    }
    let mut writer = Writer::new(program, facts);
    (writer.lanes, writer.longest) = (lanes, longest);
    let dtypes: Vec<DType> = stmt.outs.iter().map(|out| program.var_type(*out).dtype).collect();
    let (index, ctype) = (writer.declare(space[0].index), writer.type_of(space[0].index));
    let mut text = String::new();
    writer.line(&mut text, &format!("const {ctype} {index} = (long long)i / {lanes};"));
    writer.line(&mut text, &format!("const int rtcg_lane = (int)((long long)i % {lanes});"));
    if longest.is_some() {
        writer.line(&mut text, "bool rtcg_is_long = false;");
    }
    let values = writer.block(&mut text, body)?;
    let mut arguments = outputs(&dtypes);
    if longest.is_some() {
        arguments.extend(long_rows());
        writer.line(
            &mut text,
            &format!("if (rtcg_lane == 0 && rtcg_is_long) {LONG}[atomicAdd({N_LONG}, 1u)] = {index};"),
        );
        writer.line(&mut text, "else");
    }
    store_once(&writer, &mut text, &index, &values);
    Ok(Some(finish_elementwise(writer, text, arguments, Kernel::Ranged)))
}

/// The numbers that may be the width of rows in a map along one axis: by which its index is divided, then those that are
/// added to it.
pub fn row_widths(program: &Program, stmt: &Stmt) -> Vec<Var> {
    fn collect(program: &Program, own: Var, outside: &dyn Fn(Var) -> bool, block: &Block, found: &mut [Vec<Var>; 2]) {
        for stmt in &block.stmts {
            let (kind, width) = match &stmt.exp {
                Exp::Prim { op: Op::Remainder | Op::FloorDivide, args, .. } if args[0] == own.into() => (0, args[1]),
                Exp::Prim { op: Op::Add | Op::Subtract, args, .. } if args[0] == own.into() => (1, args[1]),
                Exp::Prim { op: Op::Add, args, .. } if args[1] == own.into() => (1, args[0]),
                exp => {
                    exp.blocks().into_iter().for_each(|inner| collect(program, own, outside, inner, found));
                    continue;
                }
            };
            if let Some(var) = width.as_var()
                && outside(var)
                && program.var_type(var).dtype == DType::I64
                && !found[kind].contains(&var)
            {
                found[kind].push(var);
            }
        }
    }
    let Exp::Gen { space, body } = &stmt.exp else { return Vec::new() };
    let [axis] = space.as_slice() else { return Vec::new() };
    let mut own = HashSet::new();
    collect_bound(&stmt.exp, &mut own);
    let mut found = [Vec::new(), Vec::new()];
    collect(program, axis.index, &|var| !own.contains(&var), body, &mut found);
    found.concat()
}

/// Threads of a block of [`emit_rows`].
pub const ROW_THREADS: u32 = 256;

/// A map along one axis over rows of a width, the kernel `rtcg_map_rows`: blocks have parts of some adjacent rows, so that
/// what elements read of the rows above and below is in their caches. Its parameters: outputs; the number of elements, the
/// width, how many columns a block has (a power of two) and how many times it goes to further rows (64 bits each); inputs.
/// Indices fit in 32 bits.
///
/// # Errors
/// When the statement cannot be a kernel.
pub fn emit_rows(
    program: &Program,
    stmt: &Stmt,
    facts: &dyn Facts,
    width: Var,
) -> Result<Option<Emitted>, Box<Problem>> {
    let Exp::Gen { space, body } = &stmt.exp else { return Ok(None) };
    let mut writer = Writer::new(program, facts);
    writer.set_flat(space);
    (writer.indent, writer.rows) = (2, Some((space[0].index, width)));
    let (index, ctype) = (writer.declare(space[0].index), writer.type_of(space[0].index));
    let mut text = String::new();
    let values = writer.block(&mut text, body)?;
    store_at(&writer, &mut text, "i", &values);
    let dtypes: Vec<DType> = stmt.outs.iter().map(|out| program.var_type(*out).dtype).collect();
    let declared = |argument: Argument| argument.declarator();
    let sizes = ["n", "rtcg_width", "rtcg_across", "rtcg_times"].map(|name| format!("const unsigned long long {name}"));
    let (outs, inputs) = (outputs(&dtypes).into_iter().map(declared), writer.arguments().into_iter().map(declared));
    let parameters: Vec<String> = outs.chain(sizes).chain(inputs).collect();
    let source = format!(
        "{}extern \"C\" __global__ void __launch_bounds__({ROW_THREADS}) rtcg_map_rows({})\n{{\n\
         \x20 const unsigned width = (unsigned)rtcg_width, across = (unsigned)rtcg_across, down = {ROW_THREADS} / across;\n\
         \x20 const unsigned blocks_across = (width + across - 1) / across, below = blockIdx.x / blocks_across;\n\
         \x20 const int rtcg_column = (blockIdx.x - below * blocks_across) * across + threadIdx.x % across;\n\
         \x20 int rtcg_row = below * (down * (unsigned)rtcg_times) + threadIdx.x / across;\n\
         \x20 if (rtcg_column >= width) return;\n\
         \x20 #pragma unroll 1\n\
         \x20 for (unsigned time = 0; time < (unsigned)rtcg_times; ++time, rtcg_row += down) {{\n\
         \x20   const size_t i = (size_t)rtcg_row * width + rtcg_column;\n\
         \x20   if (i >= n) break;\n\
         \x20   const {ctype} {index} = ({ctype})i;\n{text}  }}\n}}\n",
        writer.preamble(),
        parameters.join(", ")
    );
    let kernel = Kernel::Written { name: "rtcg_map_rows", source };
    Ok(Some(Emitted { kernel, inputs: writer.inputs, fields: (Vec::new(), 0) }))
}

/// The indices that are left to another kernel, and their number.
const LONG: &str = "rtcg_long";
const N_LONG: &str = "rtcg_n_long";

fn long_rows() -> [Argument; 2] {
    [Argument::vector_arg(c_type(DType::I64), LONG), Argument::vector_arg(c_type(DType::U32), N_LONG)]
}

/// The results of an element whose reductions several lanes have.
fn store_once(writer: &Writer<'_>, text: &mut String, index: &str, values: &[String]) {
    writer.line(text, "if (rtcg_lane == 0) {");
    store_at(writer, text, index, values);
    writer.line(text, "}");
}

/// Threads of a block of [`emit_long`].
pub const LONG_THREADS: u32 = 256;

/// The kernel `rtcg_map_long` for the elements that [`emit_shared`] leaves: a block for each. Its parameters: outputs,
/// the indices of these elements and their number, inputs.
///
/// # Errors
/// When the statement cannot be a kernel.
pub fn emit_long(program: &Program, stmt: &Stmt, facts: &dyn Facts) -> Result<Option<Emitted>, Box<Problem>> {
    let Exp::Gen { space, body } = &stmt.exp else { return Ok(None) };
    let mut writer = Writer::new(program, facts);
    (writer.lanes, writer.indent) = (LONG_THREADS as usize, 2);
    let dtypes: Vec<DType> = stmt.outs.iter().map(|out| program.var_type(*out).dtype).collect();
    let (index, ctype) = (writer.declare(space[0].index), writer.type_of(space[0].index));
    let mut text = String::new();
    let values = writer.block(&mut text, body)?;
    store_once(&writer, &mut text, &index, &values);
    let arguments = outputs(&dtypes).into_iter().chain(long_rows()).chain(writer.arguments());
    let parameters: Vec<String> = arguments.map(|argument| argument.declarator()).collect();
    let source = format!(
        "{}extern \"C\" __global__ void __launch_bounds__({LONG_THREADS}) rtcg_map_long({})\n{{\n\
         \x20 const int rtcg_lane = threadIdx.x;\n\
         \x20 for (unsigned rtcg_at = blockIdx.x; rtcg_at < {N_LONG}[0]; rtcg_at += gridDim.x) {{\n\
         \x20   const {ctype} {index} = ({ctype}){LONG}[rtcg_at];\n{text}  }}\n}}\n",
        writer.preamble(),
        parameters.join(", ")
    );
    let kernel = Kernel::Written { name: "rtcg_map_long", source };
    Ok(Some(Emitted { kernel, inputs: writer.inputs, fields: (Vec::new(), 0) }))
}

/// Whether there are reductions, and lanes can share all of them.
fn can_share(program: &Program, body: &Block) -> bool {
    fn all_fit(program: &Program, block: &Block, n: &mut usize) -> bool {
        block.stmts.iter().all(|stmt| match &stmt.exp {
            Exp::Reduce { space, op, init, body, .. } => {
                *n += 1;
                let dtypes: Vec<DType> = stmt.outs.iter().map(|out| program.var_type(*out).dtype).collect();
                space.len() == 1 && begins_neutral(op, &dtypes, init) && !has_reduction(body)
            }
            Exp::If { then, other, .. } => all_fit(program, then, n) && all_fit(program, other, n),
            exp => exp.blocks().into_iter().all(|block| !has_reduction(block)),
        })
    }
    let mut n = 0;
    all_fit(program, body, &mut n) && n > 0
}

fn has_reduction(block: &Block) -> bool {
    block
        .stmts
        .iter()
        .any(|stmt| matches!(stmt.exp, Exp::Reduce { .. }) || stmt.exp.blocks().into_iter().any(has_reduction))
}

/// A reduction of rows as one over an axis of arrays of any strides; `None` if its elements are not combined from a
/// neutral element on.
///
/// # Errors
/// When the statement cannot be a kernel.
pub fn emit_row_reduction(program: &Program, stmt: &Stmt, facts: &dyn Facts) -> Result<Option<Emitted>, Box<Problem>> {
    let Exp::Reduce { space, body, op, init, commutative: true } = &stmt.exp else { return Ok(None) };
    let dtypes: Vec<DType> = stmt.outs.iter().map(|out| program.var_type(*out).dtype).collect();
    let Some(neutral) = neutral_of(op, &dtypes, init).filter(|_| begins_neutral(op, &dtypes, init)) else {
        return Ok(None);
    };
    let mut writer = Writer::new(program, facts);
    writer.is_function = true;
    writer.walked = Some(space.iter().map(|axis| axis.index).collect());
    let n = dtypes.len();
    let mut combine = String::new();
    let combined = writer.combine(&mut combine, op, &fields_of("a", n), &fields_of("b", n))?;
    let mut indices = String::new();
    writer.declare_indices(&mut indices, space);
    let mut element = String::new();
    let values = writer.block(&mut element, body)?;
    let uses_index = space.iter().any(|axis| writer.is_mentioned(axis.index, &element, &values));
    if uses_index {
        element.insert_str(0, &indices);
    }
    let (outer, inner) = (writer.parameters(true), writer.parameters(false));
    let mut functions = value_struct(&dtypes);
    let _ = write!(
        functions,
        "__device__ __forceinline__ {VALUE} rtcg_combined(const {VALUE} a, const {VALUE} b{})\n{{\n{combine}  return {};\n}}\n\
         __device__ __forceinline__ {VALUE} rtcg_element(unsigned long long i{})\n{{\n{element}  return {};\n}}\n",
        inner.declared,
        value_of(&combined),
        outer.declared,
        value_of(&values)
    );
    let (fields, out) = layout(&dtypes);
    let itemsize = out.itemsize;
    let index = if uses_index { "i" } else { "0" };
    let snippet = ReductionSnippet {
        name: "rtcg_reduce_rows".into(),
        arguments: writer.arguments(),
        out,
        neutral,
        reduce_expr: format!("rtcg_combined(a, b{})", inner.passed),
        map_expr: format!("rtcg_element({index}{})", outer.passed),
        preamble: writer.preamble() + &functions,
    };
    Ok(Some(Emitted { kernel: Kernel::RowReduction(snippet), inputs: writer.inputs, fields: (fields, itemsize) }))
}

/// Functions of more text are repeated for fewer elements of a lane.
const LONG_FUNCTIONS: usize = 4000;

/// Whether a reduction begins with the neutral element of its operation.
fn begins_neutral(op: &Lambda, dtypes: &[DType], init: &[Atom]) -> bool {
    let is_first = |(number, first): (&Number, &Atom)| matches!(first, Atom::Const(first, _) if first == number);
    !init.is_empty() && neutral_numbers(op, dtypes, init).is_some_and(|parts| parts.iter().zip(init).all(is_first))
}

/// The neutral element of a function, as C.
fn neutral_of(op: &Lambda, dtypes: &[DType], init: &[Atom]) -> Option<String> {
    let parts = neutral_numbers(op, dtypes, init)?;
    let parts = parts.iter().zip(dtypes).map(|(number, dtype)| literal(*number, *dtype));
    Some(value_of(&parts.collect::<Vec<_>>()))
}

/// The neutral elements of a function that combines each part by a commutative operation that has one.
pub(crate) fn neutral_numbers(op: &Lambda, dtypes: &[DType], init: &[Atom]) -> Option<Vec<Number>> {
    if !crate::simplify::is_commutative(op) {
        return None;
    }
    let part = |(at, (result, dtype)): (usize, (&Atom, &DType))| {
        let stmt = op.body.stmts.iter().find(|stmt| Some(stmt.outs[0]) == result.as_var())?;
        let Exp::Prim { op, .. } = &stmt.exp else { return None };
        neutral_number(*op, *dtype, init.get(at))
    };
    op.body.results.iter().zip(dtypes).enumerate().map(part).collect()
}

fn neutral_number(op: Op, dtype: DType, first: Option<&Atom>) -> Option<Number> {
    let number = |value: i128| match dtype {
        DType::Bool => Number::Bool(value != 0),
        dtype if dtype.is_integral() => Number::Int(value),
        dtype if dtype.is_complex() => Number::Complex(value as f64, 0.0),
        _ => Number::Float(value as f64),
    };
    let bits = (8 * dtype.itemsize() as u32).min(64);
    let is_unsigned = matches!(dtype, DType::U8 | DType::U16 | DType::U32 | DType::U64);
    let (low, high) =
        if is_unsigned { (0, (1_i128 << bits) - 1) } else { (-(1_i128 << (bits - 1)), (1 << (bits - 1)) - 1) };
    Some(match op {
        // -0.0 changes no number, and 0.0 no sum that begins with 0.0.
        Op::Add if !dtype.is_integral() => match first {
            Some(Atom::Const(first @ Number::Float(0.0), _)) => *first,
            Some(Atom::Const(first @ Number::Complex(0.0, 0.0), _)) => *first,
            _ if dtype.is_complex() => Number::Complex(-0.0, -0.0),
            _ => Number::Float(-0.0),
        },
        Op::Add | Op::BitOr | Op::BitXor | Op::LogicalOr | Op::LogicalXor => number(0),
        Op::Multiply | Op::LogicalAnd => number(1),
        Op::BitAnd if dtype == DType::Bool => Number::Bool(true),
        Op::BitAnd => Number::Int(if is_unsigned { high } else { -1 }),
        Op::Maximum | Op::Fmax if dtype.is_integer() => Number::Int(low),
        Op::Minimum | Op::Fmin if dtype.is_integer() => Number::Int(high),
        Op::Maximum if dtype == DType::Bool => Number::Bool(false),
        Op::Minimum if dtype == DType::Bool => Number::Bool(true),
        Op::Maximum if !dtype.is_complex() => Number::Float(f64::NEG_INFINITY),
        Op::Minimum if !dtype.is_complex() => Number::Float(f64::INFINITY),
        _ => return None,
    })
}

/// The reduction of [`storing_reductions`](crate::passes::storing_reductions): behind its own, the kernel has an output for
/// each further value. `None` if what is reduced has no neutral element.
///
/// # Errors
/// When the statement cannot be a kernel.
pub fn emit_storing(program: &Program, stmt: &Stmt, facts: &dyn Facts) -> Result<Option<Emitted>, Box<Problem>> {
    let Exp::Reduce { space, body, op, init, .. } = &stmt.exp else { return Ok(None) };
    let dtypes: Vec<DType> = op.body.results.iter().map(|result| program.dtype(*result)).collect();
    let Some(neutral) = neutral_of(op, &dtypes, init) else { return Ok(None) };
    let first = if begins_neutral(op, &dtypes, init) { None } else { Some(init.as_slice()) };
    let elements = Elements { space: space[0], body, op, first, finish: None, scatters: false };
    elements.reduction(Writer::new(program, facts), &neutral, &dtypes).map(Some)
}

/// A store that a compiler does not see as one: nothing reads what is stored, so that later elements may be read before.
const STORE_SOURCE: &str = "\
template <class T> __device__ __forceinline__ void rtcg_store(T *const to, const T value)
{
  if constexpr (sizeof(T) == 4) asm(\"st.b32 [%0], %1;\" :: \"l\"(to), \"r\"(*(const unsigned *)&value));
  else if constexpr (sizeof(T) == 8) asm(\"st.b64 [%0], %1;\" :: \"l\"(to), \"l\"(*(const unsigned long long *)&value));
  else *to = value;
}
";

/// The calls of an element's functions.
struct Calls {
    /// Element `i`.
    element: String,
    /// `a` and `b`.
    combine: String,
    /// The first value and `total`.
    begin: String,
    /// The arrays that elements are stored in.
    outs: Vec<Argument>,
}

/// Elements that are combined.
struct Elements<'e> {
    space: Axis,
    body: &'e Block,
    op: &'e Lambda,
    /// What the first element is combined with.
    first: Option<&'e [Atom]>,
    /// What is stored of a scan.
    finish: Option<&'e Lambda>,
    /// Whether it is stored at the index that `finish` gives first.
    scatters: bool,
}

impl<'e> Elements<'e> {
    /// Writes the function of an element, of whose first one, unless it `begins_at_end`, that with the first value, and that
    /// of two values; returns their calls.
    fn functions(
        &self,
        writer: &mut Writer<'e>,
        preamble: &mut String,
        dtypes: &[DType],
        (index, is_flat, begins_at_end): (&str, bool, bool),
    ) -> Written<Calls> {
        let n = dtypes.len();
        writer.is_function = true;
        // Both bodies are written before it is known what they are given.
        let mut combine = String::new();
        let combined = writer.combine(&mut combine, self.op, &fields_of("a", n), &fields_of("b", n))?;
        let firsts: Option<Vec<String>> =
            self.first.map(|first| first.iter().map(|value| writer.atom(*value)).collect());
        let mut element = String::new();
        if is_flat {
            writer.set_flat(&[self.space]);
        }
        let (name, ctype) = (writer.declare(self.space.index), writer.type_of(self.space.index));
        writer.line(&mut element, &format!("const {ctype} {name} = rtcg_index;"));
        let values = writer.block(&mut element, self.body)?;
        let mut finished = String::new();
        if self.first.is_some() {
            // Results are one place on.
            writer.flat = None;
        }
        let results = match self.finish {
            Some(finish) => writer.combine(&mut finished, finish, &fields_of("a", n), &[])?,
            None => Vec::new(),
        };
        let (outer, inner) = (writer.parameters(true), writer.parameters(false));
        let cast = |values: &[String]| {
            let part = |(value, dtype): (&String, &DType)| match dtype {
                DType::I32 => format!("(int)({value})"),
                _ => value.clone(),
            };
            value_of(&values.iter().zip(dtypes).map(part).collect::<Vec<_>>())
        };
        // What a reduction stores besides.
        let stored_dtypes: Vec<DType> = self.body.results[n..].iter().map(|at| writer.program.dtype(*at)).collect();
        let outs = outputs(&stored_dtypes);
        if !outs.is_empty() {
            preamble.push_str(STORE_SOURCE);
        }
        for ((at, value), dtype) in values[n..].iter().enumerate().zip(&stored_dtypes) {
            let ctype = c_name(*dtype);
            writer.line(&mut element, &format!("rtcg_store<{ctype}>({} + rtcg_index, {value});", output_name(at)));
        }
        writer.line(&mut combine, &format!("return {};", cast(&combined)));
        writer.line(&mut element, &format!("const {VALUE} rtcg_it = {};", cast(&values[..n])));
        // Only what is scanned needs the first value with the first element.
        let first = firsts.map(|firsts| cast(&firsts));
        let begin =
            first.as_ref().map_or("total".to_owned(), |first| format!("rtcg_combined({first}, total{})", inner.passed));
        if let Some(first) = first.filter(|_| !begins_at_end) {
            let call = format!("rtcg_combined({first}, rtcg_it{})", inner.handed_on);
            writer.line(&mut element, &format!("if (rtcg_is_first) return {call};"));
        }
        writer.line(&mut element, "return rtcg_it;");
        preamble.push_str(&value_struct(dtypes));
        let _ = write!(
            preamble,
            "__device__ __forceinline__ {VALUE} rtcg_combined(const {VALUE} a, const {VALUE} b{})\n{{\n{combine}}}\n\
             __device__ __forceinline__ {VALUE} rtcg_element(long long rtcg_index, bool rtcg_is_first{}{})\n{{\n{element}}}\n",
            inner.declared,
            outs.iter().map(|out| format!(", {}", out.declarator())).collect::<String>(),
            outer.declared
        );
        if let Some(finish) = self.finish {
            let dtypes: Vec<DType> = finish.body.results.iter().map(|atom| writer.program.dtype(*atom)).collect();
            preamble.push_str(&value_struct(&dtypes).replace(VALUE, FINISHED));
            let _ = write!(
                preamble,
                "__device__ __forceinline__ {FINISHED} rtcg_finish(const {VALUE} a, long long rtcg_index{})\n{{\n\
                 \x20 const {ctype} {name} = rtcg_index;\n{finished}  return {};\n}}\n",
                outer.declared,
                value_of(&results).replace(VALUE, FINISHED)
            );
        }
        Ok(Calls {
            element: format!(
                "rtcg_element({index}, i == 0{}{})",
                outs.iter().map(|out| format!(", {}", out.name)).collect::<String>(),
                outer.passed
            ),
            outs,
            combine: format!("rtcg_combined(a, b{})", inner.passed),
            begin,
        })
    }

    fn reduction(&self, mut writer: Writer<'e>, neutral: &str, dtypes: &[DType]) -> Written<Emitted> {
        let mut functions = String::new();
        let calls = self.functions(&mut writer, &mut functions, dtypes, ("(long long)i", true, false))?;
        let (fields, out) = layout(dtypes);
        let itemsize = out.itemsize;
        let snippet = ReductionSnippet {
            name: "rtcg_reduce".into(),
            arguments: calls.outs.into_iter().chain(writer.arguments()).collect(),
            out,
            neutral: neutral.to_owned(),
            reduce_expr: calls.combine,
            map_expr: calls.element,
            preamble: writer.preamble() + &functions,
        };
        Ok(Emitted { kernel: Kernel::Reduction(snippet), inputs: writer.inputs, fields: (fields, itemsize) })
    }

    /// The dtypes in which values are combined: integers of 64 bits that fit in 32 have them.
    fn item_dtypes(&self, writer: &Writer<'_>) -> Vec<DType> {
        let own = |param: &Var| writer.program.var_type(*param).dtype;
        let item = |param: &Var| if writer.is_narrow((*param).into()) { DType::I32 } else { own(param) };
        self.op.params[..self.op.params.len() / 2].iter().map(item).collect()
    }

    /// One that keeps the order of elements.
    fn ordered_reduction(&self, mut writer: Writer<'e>, dtypes: &[DType]) -> Written<Emitted> {
        let mut functions = String::new();
        let items = self.item_dtypes(&writer);
        let calls = self.functions(&mut writer, &mut functions, &items, ("(long long)i", true, true))?;
        functions.push_str(&conversions(dtypes, &items));
        let (fields, out) = layout(dtypes);
        let read: Vec<(String, DType)> = writer.elements().collect();
        let largest = read.iter().map(|(_, dtype)| dtype.itemsize()).max().unwrap_or(8);
        // Loops take as long as the longest of a warp's, so lanes take new elements as often as possible.
        let items = if has_loop(self.body) {
            1
        } else if functions.len() > LONG_FUNCTIONS {
            4
        } else {
            (64 / largest).clamp(4, 16) as u32
        };
        let reduction = OrderedReduction {
            arguments: writer.arguments(),
            preamble: writer.preamble() + &functions,
            element: calls.element,
            combine: calls.combine,
            begin: calls.begin,
            elements: read.into_iter().map(|(name, dtype)| (name, c_name(dtype).to_owned())).collect(),
            items,
            itemsize: out.itemsize,
        };
        let kernel = Kernel::OrderedReduction(reduction);
        Ok(Emitted { kernel, inputs: writer.inputs, fields: (fields, out.itemsize) })
    }

    fn scan(&self, mut writer: Writer<'e>, direction: Direction, dtypes: &[DType]) -> Written<Emitted> {
        let is_forward = direction == Direction::Forward;
        let mut functions = String::new();
        let index = if is_forward { "(long long)i" } else { "(long long)(N - 1 - i)" };
        let firsts: Option<Vec<String>> =
            self.first.map(|first| first.iter().map(|value| writer.atom(*value)).collect());
        let items = self.item_dtypes(&writer);
        let calls = self.functions(&mut writer, &mut functions, &items, (index, is_forward, false))?;
        let passed = writer.parameters(true).passed;
        let mut store = |value: &str, place: &str| {
            let store_at = |value: &str, place: &str| {
                let parts = fields_of(value, dtypes.len()).into_iter().enumerate();
                parts.map(|(at, field)| format!("{}[{place}] = {field}; ", output_name(at))).collect::<String>()
            };
            if self.finish.is_none() {
                return store_at(value, place);
            }
            let done = format!("const {FINISHED} rtcg_done = rtcg_finish({value}, (long long)({place}){passed});\n");
            match self.scatters {
                true => scatter_statements(&mut writer, &done, &fields_of("rtcg_done", dtypes.len() + 1)),
                false => done + &store_at("rtcg_done", place),
            }
        };
        let output = match firsts {
            None => store("item", if is_forward { "i" } else { "N - 1 - i" }),
            Some(firsts) => {
                let value = value_of(&firsts);
                // The first element has it already; results are one place on.
                let (first, next) = if is_forward { ("0", "i + 1") } else { ("N - 1", "N - 2 - i") };
                let (at_first, at_next) = (store("rtcg_first", first), store("item", next));
                format!(
                    "if (i == 0) {{ const {VALUE} rtcg_first = {value}; {at_first} }}\nif (i + 1 < N) {{ {at_next} }}"
                )
            }
        };
        let mut emitted = finish_scan(writer, dtypes, &items, functions, (calls.element, calls.combine), output, None);
        if let (true, Kernel::Scan(snippet)) = (self.scatters, &mut emitted.kernel) {
            snippet.arguments.insert(dtypes.len(), target_length());
            snippet.scatters = true;
        }
        Ok(emitted)
    }
}

/// The parameter behind the outputs of a scatter.
fn target_length() -> Argument {
    Argument::scalar_arg(c_type(DType::I64), "rtcg_target_length")
}

/// Statements that store values at an index, which comes first, if it is inside.
fn scatter_statements(writer: &mut Writer<'_>, before: &str, values: &[String]) -> String {
    writer.input(super::Input::Flag);
    let (mut text, index) = (before.to_owned(), &values[0]);
    writer.line(&mut text, &format!("if ({index} >= 0 && {index} < rtcg_target_length) {{"));
    for (at, value) in values[1..].iter().enumerate() {
        writer.line(&mut text, &format!("  {}[{index}] = {value};", output_name(at)));
    }
    writer.line(&mut text, "} else rtcg_flag[0] = 1u;");
    text
}

fn finish_scan(
    writer: Writer<'_>,
    dtypes: &[DType],
    item: &[DType],
    functions: String,
    (input_expr, scan_expr): (String, String),
    output_statement: String,
    neutral: Option<String>,
) -> Emitted {
    let mut arguments = outputs(dtypes);
    arguments.extend(writer.arguments());
    let (fields, ctype) = layout(item);
    let itemsize = ctype.itemsize;
    let snippet = ScanSnippet {
        name: "rtcg_scan".into(),
        arguments,
        item: ctype,
        neutral,
        input_expr,
        scan_expr,
        output_statement,
        scatters: false,
        segment_start: None,
        fetches: Vec::new(),
        index: "long long".into(),
        preamble: writer.preamble() + &functions,
    };
    Emitted { kernel: Kernel::Scan(snippet), inputs: writer.inputs, fields: (fields, itemsize) }
}

/// The kept elements, and behind the outputs their number.
fn filter<'a>(mut writer: Writer<'a>, space: Axis, body: &'a Block, dtypes: &[DType]) -> Written<Emitted> {
    let kept: Vec<DType> = std::iter::once(DType::Bool).chain(dtypes.iter().copied()).collect();
    let mut element = String::new();
    writer.is_function = true;
    writer.set_flat(&[space]);
    let (name, ctype) = (writer.declare(space.index), writer.type_of(space.index));
    writer.line(&mut element, &format!("const {ctype} {name} = rtcg_index;"));
    let values = writer.block(&mut element, body)?;
    writer.line(&mut element, &format!("return {};", value_of(&values)));
    let parameters = writer.parameters(true);
    let mut functions = value_struct(&kept);
    let _ = write!(
        functions,
        "__device__ __forceinline__ {VALUE} rtcg_element(long long rtcg_index{})\n{{\n{element}}}\n",
        parameters.declared
    );
    let call = format!("rtcg_element((long long)i{})", parameters.passed);
    let count = output_name(dtypes.len());
    let mut output = format!("const {VALUE} rtcg_it = {call};\nif (rtcg_it.f0) {{ ");
    for at in 0..dtypes.len() {
        let _ = write!(output, "{}[item - 1] = rtcg_it.f{}; ", output_name(at), at + 1);
    }
    let _ = write!(output, "}}\nif (i == N - 1) {count}[0] = item;");
    let outs: Vec<DType> = dtypes.iter().copied().chain([DType::I64]).collect();
    let input = format!("(long long)({call}.f0 ? 1 : 0)");
    Ok(finish_scan(writer, &outs, &[DType::I64], functions, (input, "a + b".into()), output, None))
}

/// Stores values at indices of outputs that have what they had.
fn scatter<'a>(mut writer: Writer<'a>, space: &Axis, body: &'a Block, dtypes: &[DType]) -> Written<Emitted> {
    let mut text = String::new();
    writer.declare_indices(&mut text, &[*space]);
    let values = writer.block(&mut text, body)?;
    let text = scatter_statements(&mut writer, &text, &values);
    let mut arguments = outputs(dtypes);
    arguments.push(target_length());
    Ok(finish_elementwise(writer, text, arguments, Kernel::Ranged))
}

/// A reduction for each index of the axes before the last.
fn row_reduction<'a>(
    mut writer: Writer<'a>,
    space: &[Axis],
    body: &'a Block,
    op: &'a Lambda,
    init: &[Atom],
    outs: &[Var],
) -> Written<Emitted> {
    let Some((last, rows)) = space.split_last() else { return elementwise(writer, space, body, &[]) };
    let dtypes: Vec<DType> = outs.iter().map(|out| writer.program.var_type(*out).dtype).collect();
    let mut text = String::new();
    writer.declare_indices(&mut text, rows);
    writer.reduction(&mut text, outs, *last, body, op, init)?;
    for (at, out) in outs.iter().enumerate() {
        let value = writer.atom((*out).into());
        writer.line(&mut text, &format!("{}[i] = {value};", output_name(at)));
    }
    Ok(finish_elementwise(writer, text, outputs(&dtypes), Kernel::Elementwise))
}

/// A scan for each index of the axes before the last.
fn row_scan<'a>(
    mut writer: Writer<'a>,
    space: &[Axis],
    body: &'a Block,
    op: &'a Lambda,
    direction: Direction,
    outs: &[Var],
) -> Written<Emitted> {
    let Some((last, rows)) = space.split_last() else { return elementwise(writer, space, body, &[]) };
    let dtypes: Vec<DType> = outs.iter().map(|out| writer.program.var_type(*out).dtype).collect();
    let mut text = String::new();
    writer.declare_indices(&mut text, rows);
    let length = writer.atom(last.length);
    writer.running_results(&mut text, *last, body, op, direction, outs, |writer, text, index, sums| {
        for (at, sum) in sums.iter().enumerate() {
            writer.line(text, &format!("{}[(long long)i * {length} + {index}] = {sum};", output_name(at)));
        }
    })?;
    Ok(finish_elementwise(writer, text, outputs(&dtypes), Kernel::Ranged))
}

/// The elements of sequences of different lengths.
fn rows<'a>(mut writer: Writer<'a>, space: Axis, offsets: Var, body: &'a Block, dtypes: &[DType]) -> Written<Emitted> {
    let mut text = String::new();
    writer.declare_indices(&mut text, &[space]);
    writer.statements(&mut text, body)?;
    let base = writer.element(offsets, &[space.index.into()]);
    writer.line(&mut text, &format!("const long long rtcg_row_start = {base};"));
    for (at, result) in body.results.iter().enumerate() {
        if let Some(array) = result.as_var() {
            writer.store_local(&mut text, array, &output_name(at), "rtcg_row_start")?;
        }
    }
    Ok(finish_elementwise(writer, text, outputs(dtypes), Kernel::Ranged))
}

/// The kernels of a step of a stable merge sort: runs of `rtcg_width` elements become runs of twice as many.
#[derive(Debug, Clone)]
pub struct MergeStep {
    /// For each element of a first run, how many of the second one come before it, behind the start of both; for others
    /// that start. The output is followed by the arrays that are compared, the width and the number of elements.
    pub ranks: Emitted,
    /// The elements at their places. Outputs are followed by the running maximum of the ranks, the arrays, the width and
    /// the number of elements. Places are a permutation whatever the ranks were, as those of NaN are.
    pub places: Emitted,
}

/// The kernels of a step.
///
/// # Errors
/// When the order cannot be computed by a kernel.
pub fn emit_merge_step(
    program: &Program,
    arrays: &[Var],
    less: &Lambda,
    facts: &dyn Facts,
) -> Result<MergeStep, Box<Problem>> {
    let mut writer = Writer::new(program, facts);
    let dtypes: Vec<DType> = arrays.iter().map(|array| program.var_type(*array).dtype).collect();
    let n = arrays.len();
    let mut order = String::new();
    let value = writer.combine(&mut order, less, &fields_of("a", n), &fields_of("b", n))?;
    let parameters = writer.parameters(false);
    let (parameters, call) = (parameters.declared, parameters.passed);
    let less = format!(
        "{}__device__ __forceinline__ bool rtcg_less(const {VALUE} a, const {VALUE} b{parameters})\n{{\n{order}  return {};\n}}\n",
        value_struct(&dtypes),
        value[0]
    );
    let load = |place: &str| value_of(&(0..n).map(|at| format!("rtcg_a{at}[{place}]")).collect::<Vec<_>>());
    let ranks = format!(
        "{RUNS}const {VALUE} own = {};\n\
         while (is_first && low < high) {{\n\
         \x20 const long long middle = low + (high - low) / 2;\n\
         \x20 const {VALUE} other = {};\n\
         \x20 if (rtcg_less(other, own{call})) low = middle + 1; else high = middle;\n\
         }}\n\
         o0[i] = is_first ? base + low - second : base;\n",
        load("i"),
        load("middle"),
    );
    let mut places = format!(
        "{RUNS}long long place = rtcg_ranks[i] - base + i;\n\
         if (!is_first) {{\n\
         \x20 // As many of the first run come before it as have no more than those before it before themselves.\n\
         \x20 low = base; high = second;\n\
         \x20 while (low < high) {{\n\
         \x20   const long long middle = low + (high - low) / 2;\n\
         \x20   if (rtcg_ranks[middle] - base <= (long long)i - second) low = middle + 1; else high = middle;\n\
         \x20 }}\n\
         \x20 place = (long long)i - second + low;\n\
         }}\n",
    );
    for at in 0..n {
        let _ = writeln!(places, "{}[place] = rtcg_a{at}[i];", output_name(at));
    }
    let vector = |dtype: DType, name: &str| Argument::const_vector_arg(c_type(dtype), name);
    let read = || dtypes.iter().enumerate().map(|(at, dtype)| vector(*dtype, &format!("rtcg_a{at}")));
    let sizes = || ["rtcg_width", "rtcg_n"].map(|name| Argument::scalar_arg(c_type(DType::I64), name));
    let kernel = |arguments: Vec<Argument>, operation: String, preamble: String, inputs| Emitted {
        kernel: Kernel::Ranged(ElementwiseSnippet {
            name: "rtcg_merge".into(),
            arguments,
            operation,
            preamble,
            ..ElementwiseSnippet::default()
        }),
        inputs,
        fields: (Vec::new(), 0),
    };
    let of_ranks = outputs(&[DType::I64]).into_iter().chain(read()).chain(sizes()).chain(writer.arguments()).collect();
    let of_places = outputs(&dtypes).into_iter().chain([vector(DType::I64, "rtcg_ranks")]).chain(read()).chain(sizes());
    let of_places = of_places.collect();
    let helpers = rtcg_codegen::array::scalar_helpers(dtypes.iter().copied());
    Ok(MergeStep {
        places: kernel(of_places, places, helpers, Vec::new()),
        ranks: kernel(of_ranks, ranks, writer.preamble() + &less, writer.inputs),
    })
}

/// Where an element's pair of runs begins, and its second run.
const RUNS: &str = "\
const long long run = (long long)i / rtcg_width, base = (run & ~1LL) * rtcg_width;
const bool is_first = (run & 1) == 0;
const long long second = base + rtcg_width < rtcg_n ? base + rtcg_width : rtcg_n;
long long low = second, high = second + rtcg_width < rtcg_n ? second + rtcg_width : rtcg_n;
";
