//! Kernels of conjugate gradients beside the product: each of them begins with adding up what the blocks of the one
//! before have left, in every block and in one order, so that there are no atomics and results are always the same bits.
//!
//! The state is an array of doubles. Its first half is written by `cg_begin` and `cg_direction` and read by the other
//! kernels, its second half is written by `cg_update` and read by `cg_direction`, always by thread 0 of block 0: no
//! kernel reads what another block of it writes.

use super::THREADS;
use super::dialect::CUDA_PRELUDE;
use super::elements::{block_sum, conversion, element_functions, sum_dtype};
use rtcg_codegen::{DType, KernelSpec};
use std::borrow::Cow;
use std::fmt::Write;

/// Doubles of the state.
pub(crate) const STATE_LEN: usize = 16;
/// Where `r . z` is, a complex number.
const DELTA: usize = 0;
/// Whether, and why, iterations have stopped: [`Stop`].
pub(crate) const STOP_FLAG: usize = 2;
/// How many iterations were made.
pub(crate) const ITERATIONS: usize = 3;
/// The squared norm of the residual, as the recurrence has it.
pub(crate) const RESIDUAL2: usize = 4;
/// The squared norm of the residual computed from the solution, last.
pub(crate) const TRUE_RESIDUAL2: usize = 5;
/// The norm that residuals have to be less than.
pub(crate) const THRESHOLD: usize = 6;
/// The squared norm of the right side.
pub(crate) const RHS2: usize = 7;
/// `r . z` of the iteration before, a complex number, and the flag as the update has seen it.
const OLD_DELTA: usize = 8;
const OLD_STOP: usize = 10;
/// How many directions `d` had `d . A d < 0`.
pub(crate) const NEGATIVE_CURVATURE: usize = 11;

/// Why iterations have stopped, as it stands in the state.
pub(crate) const STOP_CONVERGED: f64 = 1.0;
/// `d . A d` or the residual is not finite, or `d . A d` is 0.
pub(crate) const STOP_BREAKDOWN: f64 = 2.0;
/// As many iterations as there may be.
pub(crate) const STOP_LIMIT: f64 = 3.0;

/// How a residual becomes the next direction's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum PreconditionerKind {
    /// `z = r`.
    Identity,
    /// `z = m * r`, element by element.
    Diagonal,
    /// Somebody else computes `z`.
    External,
}

/// Which kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum CgStep {
    /// `partials = conj(a) . b`; parameters `partials, a, b, n, state`.
    Dot,
    /// `r = b - q` and parts of `r . z`, `r . r` and `b . b`; parameters `r, b, q, m, partials, n`.
    Residual,
    /// The state of a beginning, and `d = z`; parameters `d, r, m, z, partials, count, n, state, rtol, atol, limit, history`.
    Begin,
    /// `x += alpha d`, `r -= alpha q`; parameters `x, r, d, q, m, products, count, partials, n, state`.
    Update,
    /// `d = z + beta d`; parameters `d, r, m, z, partials, count, n, state, limit, history`.
    Direction,
}

/// A kernel, as everything that decides its source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct CgSpec {
    /// The dtype of vectors.
    pub(crate) vector: DType,
    pub(crate) preconditioner: PreconditionerKind,
    pub(crate) step: CgStep,
}

impl KernelSpec for CgSpec {
    fn kernel_name(&self) -> Cow<'static, str> {
        match self.step {
            CgStep::Dot => "cg_dot",
            CgStep::Residual => "cg_residual",
            CgStep::Begin => "cg_begin",
            CgStep::Update => "cg_update",
            CgStep::Direction => "cg_direction",
        }
        .into()
    }

    fn source(&self) -> String {
        let sum = sum_dtype(self.vector);
        let mut text = CUDA_PRELUDE.to_owned();
        text.push_str(&element_functions("T", self.vector));
        text.push_str(&element_functions("D", sum));
        text.push_str(&element_functions("R", DType::F64));
        text.push_str(&conversion(("D", sum), ("T", self.vector)));
        text.push_str(&conversion(("T", self.vector), ("D", sum)));
        text.push_str(&block_sum("D", THREADS));
        text.push_str(&block_sum("R", THREADS));
        text.push_str(if self.vector.is_complex() { COMPLEX_SCALARS } else { REAL_SCALARS });
        for (name, value) in STATE_NAMES {
            let _ = writeln!(text, "#define {name} {value}");
        }
        let _ = writeln!(text, "#define THREADS {THREADS}");
        let z = match self.preconditioner {
            PreconditionerKind::Identity => "r[i]",
            PreconditionerKind::Diagonal => "T_mul(m[i], r[i])",
            PreconditionerKind::External => "z[i]",
        };
        // Where somebody else computes `z`, the kernel `cg_dot` computes its product with `r` afterwards.
        let zr = match self.preconditioner {
            PreconditionerKind::Identity => "ri",
            PreconditionerKind::Diagonal => "T_mul(m[i], ri)",
            PreconditionerKind::External => "T_zero()",
        };
        let _ = writeln!(text, "#define Z(i) {z}\n#define Z_OF(ri, i) {zr}");
        text.push_str(COMMON);
        text.push_str(match self.step {
            CgStep::Dot => DOT,
            CgStep::Residual => RESIDUAL,
            CgStep::Begin => BEGIN,
            CgStep::Update => UPDATE,
            CgStep::Direction => DIRECTION,
        });
        text
    }
}

const STATE_NAMES: [(&str, usize); 13] = [
    ("DELTA", DELTA),
    ("STOP", STOP_FLAG),
    ("ITERATIONS", ITERATIONS),
    ("RESIDUAL2", RESIDUAL2),
    ("TRUE_RESIDUAL2", TRUE_RESIDUAL2),
    ("THRESHOLD", THRESHOLD),
    ("RHS2", RHS2),
    ("OLD_DELTA", OLD_DELTA),
    ("OLD_STOP", OLD_STOP),
    ("NEGATIVE_CURVATURE", NEGATIVE_CURVATURE),
    ("CONVERGED", STOP_CONVERGED as usize),
    ("BREAKDOWN", STOP_BREAKDOWN as usize),
    ("LIMIT", STOP_LIMIT as usize),
];

const REAL_SCALARS: &str = "\
RT_FUNCTION D D_load(RT_GLOBAL const double *at) { return at[0]; }
RT_FUNCTION void D_store(RT_GLOBAL double *at, D a) { at[0] = a; }
RT_FUNCTION double D_real(D a) { return a; }
RT_FUNCTION bool D_is_zero(D a) { return a == 0; }
RT_FUNCTION bool D_is_finite(D a) { return a - a == 0; }
RT_FUNCTION D D_div(D a, D b) { return a / b; }
";

/// Division by Smith's method, as NumPy divides.
const COMPLEX_SCALARS: &str = "\
RT_FUNCTION D D_load(RT_GLOBAL const double *at) { return RT_PAIR_double(at[0], at[1]); }
RT_FUNCTION void D_store(RT_GLOBAL double *at, D a) { at[0] = a.x; at[1] = a.y; }
RT_FUNCTION double D_real(D a) { return a.x; }
RT_FUNCTION bool D_is_zero(D a) { return a.x == 0 && a.y == 0; }
RT_FUNCTION bool D_is_finite(D a) { return a.x - a.x == 0 && a.y - a.y == 0; }
RT_FUNCTION D D_div(D a, D b)
{
  if (fabs(b.x) >= fabs(b.y)) {
    const double ratio = b.y / b.x, scale = 1 / (b.x + b.y * ratio);
    return RT_PAIR_double((a.x + a.y * ratio) * scale, (a.y - a.x * ratio) * scale);
  }
  const double ratio = b.x / b.y, scale = 1 / (b.y + b.x * ratio);
  return RT_PAIR_double((a.x * ratio + a.y) * scale, (a.y * ratio - a.x) * scale);
}
";

const COMMON: &str = "\
// Quotients of scalars: 0 / 0 is 0, as residuals of solutions that are exact need it.
RT_FUNCTION D quotient(D a, D b) { return D_is_zero(a) ? D_zero() : D_div(a, b); }
// What the blocks of the kernel before have left, in one order whichever block adds.
RT_FUNCTION D sum_of_parts(RT_GLOBAL const D *parts, unsigned count)
{
  D sum = D_zero();
  for (unsigned k = RT_LOCAL_ID; k < count; k += THREADS) sum = D_add(sum, parts[k]);
  return D_block_sum(sum);
}
RT_FUNCTION double sum_of_real_parts(RT_GLOBAL const double *parts, unsigned count)
{
  double sum = 0;
  for (unsigned k = RT_LOCAL_ID; k < count; k += THREADS) sum += parts[k];
  return R_block_sum(sum);
}
// Unsigned, which the virtual GPU makes vector code of.
#define FOR_ELEMENTS(i, n) \\
  for (unsigned long long i = RT_GROUP_ID * (unsigned long long)THREADS + RT_LOCAL_ID; i < n; \\
       i += RT_GROUP_COUNT * (unsigned long long)THREADS)
#define IS_FIRST (RT_GROUP_ID == 0 && RT_LOCAL_ID == 0)
";

const DOT: &str = "\
RT_KERNEL cg_dot(RT_GLOBAL D *partials, RT_GLOBAL const T *a, RT_GLOBAL const T *b, unsigned long long n, RT_GLOBAL const double *state)
{
  if (state[STOP] != 0) return;
  D dot = D_zero();
  FOR_ELEMENTS(i, n) dot = D_mul_add(D_conj(D_from_T(a[i])), D_from_T(b[i]), dot);
  dot = D_block_sum(dot);
  if (RT_LOCAL_ID == 0) partials[RT_GROUP_ID] = dot;
}
";

/// Without `q`, that is for a solution of zeros, `r = b`.
const RESIDUAL: &str = "\
RT_KERNEL cg_residual(RT_GLOBAL T *r, RT_GLOBAL const T *b, RT_GLOBAL const T *q, RT_GLOBAL const T *m, RT_GLOBAL D *deltas, RT_GLOBAL double *norms, unsigned long long n)
{
  D delta = D_zero();
  double rr = 0, bb = 0;
  FOR_ELEMENTS(i, n) {
    const T bi = b[i], ri = q ? T_sub(bi, q[i]) : bi;
    r[i] = ri;
    delta = D_mul_add(D_conj(D_from_T(ri)), D_from_T(Z_OF(ri, i)), delta);
    rr += T_abs2(ri);
    bb += T_abs2(bi);
  }
  delta = D_block_sum(delta);
  rr = R_block_sum(rr);
  bb = R_block_sum(bb);
  if (RT_LOCAL_ID == 0) {
    deltas[RT_GROUP_ID] = delta;
    norms[RT_GROUP_ID] = rr;
    norms[RT_GROUP_COUNT + RT_GROUP_ID] = bb;
  }
}
";

const BEGIN: &str = "\
RT_KERNEL cg_begin(RT_GLOBAL T *d, RT_GLOBAL const T *r, RT_GLOBAL const T *m, RT_GLOBAL const T *z, RT_GLOBAL const D *deltas, RT_GLOBAL const double *norms, unsigned count, unsigned long long n, RT_GLOBAL double *state, double rtol, double atol, double limit, RT_GLOBAL double *history)
{
  const D delta = sum_of_parts(deltas, count);
  const double rr = sum_of_real_parts(norms, count), bb = sum_of_real_parts(norms + count, count);
  FOR_ELEMENTS(i, n) d[i] = Z(i);
  if (!IS_FIRST) return;
  const double relative = rtol * sqrt(bb), threshold = atol > relative ? atol : relative, made = state[ITERATIONS];
  D_store(state + DELTA, delta);
  state[RESIDUAL2] = rr;
  state[TRUE_RESIDUAL2] = rr;
  state[THRESHOLD] = threshold;
  state[RHS2] = bb;
  if (history) history[(long long)made] = sqrt(rr);
  state[STOP] = sqrt(rr) < threshold || bb == 0 || rr == 0 ? CONVERGED : rr - rr != 0 ? BREAKDOWN : made >= limit ? LIMIT : 0;
}
";

const UPDATE: &str = "\
RT_KERNEL cg_update(RT_GLOBAL T *x, RT_GLOBAL T *r, RT_GLOBAL const T *d, RT_GLOBAL const T *q, RT_GLOBAL const T *m, RT_GLOBAL const D *products, unsigned product_count, RT_GLOBAL D *deltas, RT_GLOBAL double *norms, unsigned long long n, RT_GLOBAL double *state)
{
  if (state[STOP] != 0) {
    if (IS_FIRST) state[OLD_STOP] = state[STOP];
    return;
  }
  const D product = sum_of_parts(products, product_count), rz = D_load(state + DELTA);
  const bool is_broken = !D_is_finite(product) || (D_is_zero(product) && !D_is_zero(rz));
  if (IS_FIRST) {
    D_store(state + OLD_DELTA, rz);
    state[OLD_STOP] = is_broken ? BREAKDOWN : 0;
    if (D_real(product) < 0) state[NEGATIVE_CURVATURE] += 1;
  }
  // No way out here: it would depend on what was loaded, and threads that may part are slower from there on.
  const T alpha = T_from_D(is_broken ? D_zero() : quotient(rz, product));
  D delta = D_zero();
  double rr = 0;
  FOR_ELEMENTS(i, n) {
    x[i] = T_mul_add(alpha, d[i], x[i]);
    const T ri = T_sub(r[i], T_mul(alpha, q[i]));
    r[i] = ri;
    delta = D_mul_add(D_conj(D_from_T(ri)), D_from_T(Z_OF(ri, i)), delta);
    rr += T_abs2(ri);
  }
  delta = D_block_sum(delta);
  rr = R_block_sum(rr);
  if (RT_LOCAL_ID == 0) {
    deltas[RT_GROUP_ID] = delta;
    norms[RT_GROUP_ID] = rr;
  }
}
";

const DIRECTION: &str = "\
RT_KERNEL cg_direction(RT_GLOBAL T *d, RT_GLOBAL const T *r, RT_GLOBAL const T *m, RT_GLOBAL const T *z, RT_GLOBAL const D *deltas, RT_GLOBAL const double *norms, unsigned count, unsigned long long n, RT_GLOBAL double *state, double limit, RT_GLOBAL double *history)
{
  if (state[OLD_STOP] != 0) {
    if (IS_FIRST) state[STOP] = state[OLD_STOP];
    return;
  }
  const D delta = sum_of_parts(deltas, count);
  const double rr = sum_of_real_parts(norms, count);
  const T beta = T_from_D(quotient(delta, D_load(state + OLD_DELTA)));
  FOR_ELEMENTS(i, n) d[i] = T_mul_add(beta, d[i], Z(i));
  if (!IS_FIRST) return;
  const double made = state[ITERATIONS] + 1;
  D_store(state + DELTA, delta);
  state[ITERATIONS] = made;
  state[RESIDUAL2] = rr;
  if (history) history[(long long)made] = sqrt(rr);
  state[STOP] = sqrt(rr) < state[THRESHOLD] || rr == 0 ? CONVERGED : rr - rr != 0 ? BREAKDOWN : made >= limit ? LIMIT : 0;
}
";
