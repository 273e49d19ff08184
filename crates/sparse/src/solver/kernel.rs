//! The source of a fused kernel.
//!
//! Every block first adds up the partial sums of the blocks of earlier kernels, all in the same order, so there are no
//! atomics, and every run gives the same bits. All sums of a kernel are added up together, and loads that do not depend
//! on them come first, because waiting for dependent work dominates the time of a short kernel. Thread 0 of block 0
//! writes scalars. A kernel reads the state that the previous one has written, and writes its own, so that no block
//! reads what another block of the same kernel writes.

use super::expression::Expr;
use super::fusion::{BodyStep, FusedKernel, Names, ScalarStep};
use crate::kernels::elements::{block_sum, conversion, division, element_functions, sum_dtype};
use crate::kernels::{STOP_FLAG, THREADS};
use rtcg_codegen::dialect::CUDA_PRELUDE;
use rtcg_hal::{ArrayError, DType, KernelSpec, Result};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::sync::Arc;

/// How names of vectors end that are diagonals of preconditioners.
pub(crate) const DIAGONAL_SUFFIX: &str = "diagonal";

/// What an expression is: a double, a scalar of the kind of sums, an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Kind {
    Real,
    Scalar,
    Vector,
}

/// A kernel that was printed.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct SolverKernelSpec {
    pub(crate) source: Arc<str>,
}

impl KernelSpec for SolverKernelSpec {
    fn kernel_name(&self) -> Cow<'static, str> {
        "solver_step".into()
    }

    fn source(&self) -> String {
        self.source.to_string()
    }
}

/// A kernel's parameters behind the state before, the state after, and the length: vectors, sums that it reads (each
/// with the number of its parts), sums that it makes, numbers, and at last the history with its capacity.
#[derive(Debug, Clone, Default)]
pub(crate) struct Parameters {
    pub(crate) vectors: Vec<String>,
    pub(crate) sums_in: Vec<usize>,
    pub(crate) sums_out: Vec<usize>,
    pub(crate) numbers: Vec<String>,
    pub(crate) records: bool,
}

impl Parameters {
    pub(crate) fn from_kernel(kernel: &FusedKernel, names: &Names) -> Self {
        let mut used = Vec::new();
        let mut found = Self::default();
        for step in &kernel.scalars {
            match step {
                ScalarStep::Set { value, .. } => value.names(&mut used),
                ScalarStep::Record { .. } => found.records = true,
            }
        }
        for step in &kernel.body {
            match step {
                BodyStep::Assign { target, value, .. } => {
                    used.push(target.clone());
                    value.names(&mut used);
                }
                BodyStep::Dot { sum, left, right } => {
                    found.sums_out.push(*sum);
                    left.names(&mut used);
                    right.names(&mut used);
                }
                BodyStep::Norm2 { sum, value } => {
                    found.sums_out.push(*sum);
                    value.names(&mut used);
                }
            }
        }
        let used: BTreeSet<String> = used.into_iter().collect();
        found.vectors = used.iter().filter(|name| names.vectors.contains_key(*name)).cloned().collect();
        found.numbers = used.iter().filter(|name| names.parameters.contains(name)).cloned().collect();
        found.sums_in = used.iter().filter_map(|name| name.strip_prefix("sum_")?.parse().ok()).collect();
        found
    }
}

/// Where each scalar stands in the state, and the length of it.
pub(crate) fn state_layout(names: &Names) -> (BTreeMap<String, usize>, usize) {
    let mut places = BTreeMap::new();
    let mut end = 0;
    for (name, kind) in &names.scalars {
        places.insert(name.clone(), end);
        end += if *kind == Kind::Scalar { 2 } else { 1 };
    }
    (places, end)
}

/// What an expression is, by what its names are.
pub(crate) fn kind_of(expr: &Expr, names: &Names) -> Result<Kind> {
    let of_name = |name: &str| {
        if names.vectors.contains_key(name) {
            return Ok(Kind::Vector);
        }
        if names.parameters.iter().any(|known| known == name) {
            return Ok(Kind::Real);
        }
        if let Some(sum) = name.strip_prefix("sum_").and_then(|number| number.parse::<usize>().ok()) {
            return Ok(names.sums[sum]);
        }
        let base = name.split('_').next().unwrap_or(name);
        let scalar = names.scalars.iter().find(|(known, _)| known == base);
        scalar.map(|(_, kind)| *kind).ok_or_else(|| unknown(name))
    };
    Ok(match expr {
        Expr::Number(_) | Expr::Unary("!", _) => Kind::Real,
        Expr::Name(name) => of_name(name)?,
        Expr::Unary(_, a) => kind_of(a, names)?,
        Expr::Binary("+" | "-" | "*" | "/", a, b) => kind_of(a, names)?.max(kind_of(b, names)?),
        Expr::Binary(..) => Kind::Real,
        Expr::Call(name, args) => match (name.as_str(), args.as_slice()) {
            ("select", [_, a, b]) | ("quot", [a, b]) => kind_of(a, names)?.max(kind_of(b, names)?),
            ("conj", [a]) => kind_of(a, names)?,
            ("scalar", _) if names.is_complex => Kind::Scalar,
            _ => Kind::Real,
        },
    })
}

fn unknown(name: &str) -> ArrayError {
    ArrayError::value_error(format!("a solver's program has the unknown name '{name}'"))
}

/// The source of a kernel for vectors of a dtype. A kernel that is `gated` does nothing once iterations have stopped. With
/// several right sides, rows of blocks have one each: a state, vectors, parts of sums and a history of their own.
pub(crate) fn print(
    kernel: &FusedKernel,
    names: &Names,
    vector: DType,
    gated: bool,
    has_rows: bool,
) -> Result<SolverKernelSpec> {
    let (places, len) = state_layout(names);
    let printer = Printer { names, places, len, is_complex: vector.is_complex(), has_rows };
    let mut text = prelude(vector);
    printer.kernel(kernel, gated, &mut text)?;
    Ok(SolverKernelSpec { source: text.into() })
}

/// Functions of elements (`T`), of sums (`D`) and of doubles (`R`), and sums over blocks.
pub(crate) fn prelude(vector: DType) -> String {
    let sum = sum_dtype(vector);
    let mut text = CUDA_PRELUDE.to_owned();
    let _ = writeln!(text, "#define THREADS {THREADS}\n#define STOP {STOP_FLAG}");
    for (name, dtype) in [("T", vector), ("D", sum), ("R", DType::F64)] {
        text.push_str(&element_functions(name, dtype));
        text.push_str(&division(name, dtype));
    }
    let types = [("T", vector), ("D", sum), ("R", DType::F64)];
    for (to, from) in [(1, 0), (0, 1), (0, 2), (1, 2)] {
        text.push_str(&conversion(types[to], types[from]));
    }
    text.push_str(&block_sum("D", THREADS));
    text.push_str(&block_sum("R", THREADS));
    text.push_str(if vector.is_complex() { COMPLEX_SCALARS } else { REAL_SCALARS });
    for name in ["D", "R"] {
        text.push_str(&SUM_OF_PARTS.replace('@', name));
    }
    text.push_str(COMMON);
    text
}

struct Printer<'a> {
    names: &'a Names,
    places: BTreeMap<String, usize>,
    len: usize,
    is_complex: bool,
    has_rows: bool,
}

impl Printer<'_> {
    fn kernel(&self, kernel: &FusedKernel, gated: bool, text: &mut String) -> Result<()> {
        let parameters = Parameters::from_kernel(kernel, self.names);
        self.signature(&parameters, text);
        if self.has_rows {
            self.row_offsets(&parameters, text);
        }
        let mut written = BTreeMap::new();
        for step in &kernel.scalars {
            if let ScalarStep::Set { name, version, .. } = step {
                written.insert(name.as_str(), *version);
            }
        }
        let copy = self.copied_places(&written);
        if gated {
            text.push_str("  const double stopped = in[STOP];\n");
        }
        self.live_scalars(kernel, text)?;
        for &sum in &parameters.sums_in {
            let kind = self.letter(self.names.sums[sum]);
            let _ = writeln!(
                text,
                "  {kind} sum_{sum} = {kind}_zero();\n  for (unsigned k = RT_LOCAL_ID; k < count_{sum}; k += THREADS) \
                 sum_{sum} = {kind}_add(sum_{sum}, in_{sum}[k]);"
            );
        }
        self.block_sums("sum", &parameters.sums_in, text);
        if gated {
            let _ = write!(
                text,
                "  if (stopped != 0) {{\n    if (RT_GROUP_ID == 0 && RT_LOCAL_ID < {}) out[RT_LOCAL_ID] = in[RT_LOCAL_ID];\n    return;\n  }}\n",
                self.len
            );
        }
        let _ = writeln!(text, "  if (RT_GROUP_ID == 0 && {copy}) out[RT_LOCAL_ID] = in[RT_LOCAL_ID];");
        self.scalars(kernel, &written, text)?;
        self.body(kernel, &parameters, text)
    }

    /// Adds up `prefix_sum` of each sum over the block, as `block_sum` does: with one barrier for all of them, and arrays
    /// that nothing else uses, so that none is needed before.
    fn block_sums(&self, prefix: &str, sums: &[usize], text: &mut String) {
        if sums.is_empty() {
            return;
        }
        let each = |line: &str| {
            let of_sum = |&sum: &usize| {
                let letter = self.letter(self.names.sums[sum]).to_string();
                line.replace("NAME", &format!("{prefix}_{sum}")).replace('@', &letter)
            };
            sums.iter().map(of_sum).collect::<String>()
        };
        text.push_str(&each("  RT_SHARED @ warps_NAME[THREADS / 32];\n"));
        text.push_str(&each("  for (unsigned n = 16; n > 0; n /= 2) NAME = @_add(NAME, @_shuffle_down(NAME, n));\n"));
        text.push_str(&each("  if (RT_LOCAL_ID % 32 == 0) warps_NAME[RT_LOCAL_ID / 32] = NAME;\n"));
        text.push_str("  RT_BARRIER();\n");
        text.push_str(&each(
            "  NAME = warps_NAME[0];\n  \
             for (unsigned warp = 1; warp < THREADS / 32; warp++) NAME = @_add(NAME, warps_NAME[warp]);\n",
        ));
    }

    /// Loads scalars that the kernel takes from the state.
    fn live_scalars(&self, kernel: &FusedKernel, text: &mut String) -> Result<()> {
        for name in self.live_in(kernel) {
            let (kind, place) = (self.scalar_kind(&name)?, self.places[&name]);
            let letter = self.letter(kind);
            let _ = writeln!(text, "  const {letter} {name}_0 = {letter}_load(in + {place});");
        }
        Ok(())
    }

    fn signature(&self, parameters: &Parameters, text: &mut String) {
        text.push_str("RT_KERNEL solver_step(RT_GLOBAL const double *in, RT_GLOBAL double *out, unsigned long long n");
        for name in &parameters.vectors {
            let _ = write!(text, ", RT_GLOBAL T *{name}");
        }
        for &sum in &parameters.sums_in {
            let kind = self.letter(self.names.sums[sum]);
            let _ = write!(text, ", RT_GLOBAL const {kind} *in_{sum}, unsigned count_{sum}");
        }
        for &sum in &parameters.sums_out {
            let _ = write!(text, ", RT_GLOBAL {} *out_{sum}", self.letter(self.names.sums[sum]));
        }
        for name in &parameters.numbers {
            let _ = write!(text, ", double {name}");
        }
        if parameters.records {
            text.push_str(", RT_GLOBAL double *history, unsigned long long capacity");
        }
        text.push_str(")\n{\n");
    }

    /// Moves parameters to the right side of the block. Diagonals are those of all.
    fn row_offsets(&self, parameters: &Parameters, text: &mut String) {
        let _ = writeln!(text, "  const unsigned long long row = RT_GROUP_ROW;");
        let _ = writeln!(text, "  in += row * {0};\n  out += row * {0};", self.len);
        for name in parameters.vectors.iter().filter(|name| !name.ends_with(DIAGONAL_SUFFIX)) {
            let _ = writeln!(text, "  {name} += row * n;");
        }
        for sum in &parameters.sums_in {
            let _ = writeln!(text, "  in_{sum} += row * count_{sum};");
        }
        for sum in &parameters.sums_out {
            let _ = writeln!(text, "  out_{sum} += row * RT_GROUP_COUNT;");
        }
        if parameters.records {
            text.push_str("  history += row * capacity;\n");
        }
    }

    /// The condition that selects threads whose number of the state no other thread writes.
    fn copied_places(&self, written: &BTreeMap<&str, usize>) -> String {
        let mut masks = [0u64; 2];
        for (name, kind) in &self.names.scalars {
            if written.contains_key(name.as_str()) {
                let place = self.places[name];
                let width = if *kind == Kind::Scalar { 2 } else { 1 };
                (place..place + width).for_each(|bit| masks[bit / 64] |= 1 << (bit % 64));
            }
        }
        let [low, high] = masks;
        format!(
            "RT_LOCAL_ID < {} && !(((RT_LOCAL_ID < 64 ? {low}ull : {high}ull) >> (RT_LOCAL_ID % 64)) & 1)",
            self.len
        )
    }

    fn scalars(&self, kernel: &FusedKernel, written: &BTreeMap<&str, usize>, text: &mut String) -> Result<()> {
        let mut record = String::new();
        for step in &kernel.scalars {
            match step {
                ScalarStep::Set { name, version, value } => {
                    let kind = self.scalar_kind(name)?;
                    let value = self.converted(value, kind)?;
                    let _ = writeln!(text, "  const {} {name}_{version} = {value};", self.letter(kind));
                }
                ScalarStep::Record { iterations, residual } => {
                    let [at, value] = [self.converted(iterations, Kind::Real)?, self.converted(residual, Kind::Real)?];
                    let _ = writeln!(
                        record,
                        "    if ((unsigned long long){at} < capacity) history[(unsigned long long){at}] = {value};"
                    );
                }
            }
        }
        if written.is_empty() {
            return Ok(());
        }
        text.push_str("  if (IS_FIRST) {\n");
        for (name, version) in written {
            let letter = self.letter(self.scalar_kind(name)?);
            let _ = writeln!(text, "    {letter}_store(out + {}, {name}_{version});", self.places[*name]);
        }
        text.push_str(&record);
        text.push_str("  }\n");
        Ok(())
    }

    /// Scalars that the kernel takes from the state.
    fn live_in(&self, kernel: &FusedKernel) -> BTreeSet<String> {
        let mut used = Vec::new();
        for step in &kernel.scalars {
            match step {
                ScalarStep::Set { value, .. } => value.names(&mut used),
                ScalarStep::Record { iterations, residual } => {
                    iterations.names(&mut used);
                    residual.names(&mut used);
                }
            }
        }
        for step in &kernel.body {
            match step {
                BodyStep::Assign { value, guard, .. } => {
                    value.names(&mut used);
                    if let Some(guard) = guard {
                        guard.names(&mut used);
                    }
                }
                BodyStep::Dot { left, right, .. } => {
                    left.names(&mut used);
                    right.names(&mut used);
                }
                BodyStep::Norm2 { value, .. } => value.names(&mut used),
            }
        }
        let is_scalar = |name: &str| !name.starts_with("sum_") && !self.names.vectors.contains_key(name);
        let base = |name: &String| name.strip_suffix("_0").filter(|_| is_scalar(name)).map(str::to_owned);
        used.iter().filter_map(base).collect()
    }

    fn body(&self, kernel: &FusedKernel, parameters: &Parameters, text: &mut String) -> Result<()> {
        if kernel.body.is_empty() {
            text.push_str("}\n");
            return Ok(());
        }
        for &sum in &parameters.sums_out {
            let kind = self.letter(self.names.sums[sum]);
            let _ = writeln!(text, "  {kind} part_{sum} = {kind}_zero();");
        }
        text.push_str("  FOR_ELEMENTS(i, n) {\n");
        let (loaded, stored) = self.accesses(kernel);
        for name in &parameters.vectors {
            let value = if loaded.contains(name) { format!(" = {name}[i]") } else { String::new() };
            let _ = writeln!(text, "    T {name}_i{value};");
        }
        for step in &kernel.body {
            let line = match step {
                BodyStep::Assign { target, value, guard } => {
                    let value = self.converted(value, Kind::Vector)?;
                    match guard {
                        None => format!("{target}_i = {value};"),
                        Some(guard) => {
                            let guard = self.converted(guard, Kind::Real)?;
                            format!("if ({guard} >= 0) {target}_i = {value};")
                        }
                    }
                }
                BodyStep::Dot { sum, left, right } => {
                    let [left, right] = [self.converted(left, Kind::Vector)?, self.converted(right, Kind::Vector)?];
                    format!("part_{sum} = D_mul_add(D_conj(D_from_T({left})), D_from_T({right}), part_{sum});")
                }
                BodyStep::Norm2 { sum, value } => {
                    format!("part_{sum} += T_abs2({});", self.converted(value, Kind::Vector)?)
                }
            };
            let _ = writeln!(text, "    {line}");
        }
        for name in stored {
            let _ = writeln!(text, "    {name}[i] = {name}_i;");
        }
        text.push_str("  }\n");
        self.block_sums("part", &parameters.sums_out, text);
        for sum in &parameters.sums_out {
            let _ = writeln!(text, "  if (RT_LOCAL_ID == 0) out_{sum}[RT_GROUP_ID] = part_{sum};");
        }
        text.push_str("}\n");
        Ok(())
    }

    /// Vectors that are read before they are assigned to, and those that are assigned to.
    fn accesses(&self, kernel: &FusedKernel) -> (BTreeSet<String>, BTreeSet<String>) {
        let (mut loaded, mut stored) = (BTreeSet::new(), BTreeSet::new());
        let mut read = |value: &Expr, stored: &BTreeSet<String>| {
            let mut names = Vec::new();
            value.names(&mut names);
            let is_new = |name: &String| self.names.vectors.contains_key(name) && !stored.contains(name);
            loaded.extend(names.into_iter().filter(is_new));
        };
        for step in &kernel.body {
            match step {
                BodyStep::Assign { target, value, guard } => {
                    read(value, &stored);
                    if guard.is_some() {
                        read(&Expr::name(target.as_str()), &stored);
                    }
                    stored.insert(target.clone());
                }
                BodyStep::Dot { left, right, .. } => {
                    read(left, &stored);
                    read(right, &stored);
                }
                BodyStep::Norm2 { value, .. } => read(value, &stored),
            }
        }
        (loaded, stored)
    }

    fn scalar_kind(&self, name: &str) -> Result<Kind> {
        let found = self.names.scalars.iter().find(|(known, _)| known == name);
        found.map(|(_, kind)| *kind).ok_or_else(|| unknown(name))
    }

    fn letter(&self, kind: Kind) -> char {
        match kind {
            Kind::Real => 'R',
            Kind::Scalar => 'D',
            Kind::Vector => 'T',
        }
    }

    /// The text of an expression, brought to a kind.
    fn converted(&self, expr: &Expr, kind: Kind) -> Result<String> {
        let is = kind_of(expr, self.names)?;
        let text = self.expression(expr)?;
        match (is, kind) {
            (is, kind) if is == kind => Ok(text),
            (Kind::Scalar, Kind::Real) | (Kind::Vector, _) => {
                Err(ArrayError::value_error(format!("a solver's program has {expr:?} where a {kind:?} is expected")))
            }
            (is, kind) => Ok(format!("{}_from_{}({text})", self.letter(kind), self.letter(is))),
        }
    }

    fn expression(&self, expr: &Expr) -> Result<String> {
        Ok(match expr {
            Expr::Number(text) => format!("(double){text}"),
            Expr::Name(name) if self.names.vectors.contains_key(name) => format!("{name}_i"),
            Expr::Name(name) => name.clone(),
            Expr::Unary("!", a) => format!("(!{})", self.converted(a, Kind::Real)?),
            Expr::Unary(_, a) => {
                let kind = kind_of(a, self.names)?;
                let letter = self.letter(kind);
                match self.is_complex && kind != Kind::Real {
                    true => format!("{letter}_sub({letter}_zero(), {})", self.expression(a)?),
                    false => format!("(-{})", self.expression(a)?),
                }
            }
            Expr::Binary(op, a, b) => self.binary(op, a, b)?,
            Expr::Call(name, args) => self.call(name, args)?,
        })
    }

    fn binary(&self, op: &str, a: &Expr, b: &Expr) -> Result<String> {
        let kind = kind_of(a, self.names)?.max(kind_of(b, self.names)?);
        let [a, b] = [self.converted(a, kind)?, self.converted(b, kind)?];
        if kind == Kind::Real || !self.is_complex {
            return Ok(format!("({a} {op} {b})"));
        }
        let letter = self.letter(kind);
        Ok(match op {
            "+" => format!("{letter}_add({a}, {b})"),
            "-" => format!("{letter}_sub({a}, {b})"),
            "*" => format!("{letter}_mul({a}, {b})"),
            "/" => format!("{letter}_div({a}, {b})"),
            "==" => format!("D_is_zero(D_sub({a}, {b}))"),
            "!=" => format!("(!D_is_zero(D_sub({a}, {b})))"),
            _ => return Err(ArrayError::value_error(format!("a solver's program has '{op}' of complex numbers"))),
        })
    }

    fn call(&self, name: &str, args: &[Expr]) -> Result<String> {
        let kind = args.iter().map(|arg| kind_of(arg, self.names)).collect::<Result<Vec<_>>>()?;
        let kind = kind.iter().copied().max().unwrap_or(Kind::Real);
        let real = |arg: &Expr| self.converted(arg, Kind::Real);
        Ok(match (name, args) {
            ("select", [condition, a, b]) => {
                let kind = kind_of(a, self.names)?.max(kind_of(b, self.names)?);
                format!("({} ? {} : {})", real(condition)?, self.converted(a, kind)?, self.converted(b, kind)?)
            }
            ("quot", [a, b]) => {
                let kind = kind.max(Kind::Real);
                let letter = self.letter(kind);
                format!("{letter}_quotient({}, {})", self.converted(a, kind)?, self.converted(b, kind)?)
            }
            ("conj", [a]) => format!("{}_conj({})", self.letter(kind), self.expression(a)?),
            ("real" | "finite" | "abs", [a]) => format!("{}_{name}({})", self.letter(kind), self.expression(a)?),
            ("scalar", [a]) if self.is_complex => self.converted(a, Kind::Scalar)?,
            ("scalar", [a]) => real(a)?,
            ("sqrt", [a]) => format!("sqrt({})", real(a)?),
            ("square", [a]) => format!("R_abs2({})", real(a)?),
            ("max", [a, b]) => format!("fmax({}, {})", real(a)?, real(b)?),
            ("min", [a, b]) => format!("fmin({}, {})", real(a)?, real(b)?),
            ("hypot", [a, b]) => format!("hypot({}, {})", real(a)?, real(b)?),
            _ => return Err(unknown(name)),
        })
    }
}

const REAL_SCALARS: &str = "\
RT_FUNCTION D D_load(RT_GLOBAL const double *at) { return at[0]; }
RT_FUNCTION void D_store(RT_GLOBAL double *at, D a) { at[0] = a; }
RT_FUNCTION bool D_is_zero(D a) { return a == 0; }
RT_FUNCTION double D_real(D a) { return a; }
RT_FUNCTION double D_abs(D a) { return fabs(a); }
";

const COMPLEX_SCALARS: &str = "\
RT_FUNCTION D D_load(RT_GLOBAL const double *at) { return RT_PAIR_double(at[0], at[1]); }
RT_FUNCTION void D_store(RT_GLOBAL double *at, D a) { at[0] = a.x; at[1] = a.y; }
RT_FUNCTION bool D_is_zero(D a) { return a.x == 0 && a.y == 0; }
RT_FUNCTION double D_real(D a) { return a.x; }
RT_FUNCTION double D_abs(D a) { return hypot(a.x, a.y); }
RT_FUNCTION bool D_finite(D a) { return a.x - a.x == 0 && a.y - a.y == 0; }
// Quotients of scalars: 0 / 0 is 0, as residuals of solutions that are exact need it.
RT_FUNCTION D D_quotient(D a, D b) { return D_is_zero(a) ? D_zero() : D_div(a, b); }
";

/// What the blocks of the kernel before have left, in one order whichever block adds.
const SUM_OF_PARTS: &str = "\
RT_FUNCTION @ @_sum_of_parts(RT_GLOBAL const @ *parts, unsigned count)
{
  @ sum = @_zero();
  for (unsigned k = RT_LOCAL_ID; k < count; k += THREADS) sum = @_add(sum, parts[k]);
  return @_block_sum(sum);
}
";

/// The loop's counter is unsigned, which the virtual GPU makes vector code of.
const COMMON: &str = "\
RT_FUNCTION double R_load(RT_GLOBAL const double *at) { return at[0]; }
RT_FUNCTION void R_store(RT_GLOBAL double *at, double a) { at[0] = a; }
RT_FUNCTION double R_real(double a) { return a; }
RT_FUNCTION double R_abs(double a) { return fabs(a); }
RT_FUNCTION bool R_finite(double a) { return a - a == 0; }
RT_FUNCTION double R_quotient(double a, double b) { return a == 0 ? 0 : a / b; }
#define FOR_ELEMENTS(i, n) \\
  for (unsigned long long i = RT_GROUP_ID * (unsigned long long)THREADS + RT_LOCAL_ID; i < n; \\
       i += RT_GROUP_COUNT * (unsigned long long)THREADS)
#define IS_FIRST (RT_GROUP_ID == 0 && RT_LOCAL_ID == 0)
";
