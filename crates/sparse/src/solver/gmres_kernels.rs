//! Kernels of GMRES besides the fused ones: products with a basis, rotations, and the small triangular system.

use super::kernel::prelude;
use rtcg_hal::{DType, KernelSpec};
use std::borrow::Cow;
use std::fmt::Write;

/// Which kernel. Each begins with the state that it reads, and does nothing once iterations have stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum GmresStep {
    /// `w -= V h`, and parts of `V^H w` and of the norm of `w`; parameters `in, w, v, h, parts, norms, n, columns`, of
    /// which `h`, `parts` and `norms` may be null.
    Project,
    /// Parts of `V^H w` added up, a block for each column; parameters `in, sums, parts, count`.
    Sum,
    /// The next vector of the basis, the column of the triangle and its rotation; parameters `in, out, w, next, first,
    /// second, before, after, triangle, rotations, right, coupling, count, n, k, restart, kept, eps, maxinner, history,
    /// capacity`.
    Rotate,
    /// Coefficients of the solution by one thread; parameters `in, triangle, right, coupling, y, restart, kept`.
    Solve,
    /// `dx = V y + U y`, `x += dx`; parameters `in, x, v, y, u, dx, restart, kept, n`, of which `u` and `dx` may be null.
    Combine,
    /// `dx` and its image, scaled, in the place of the oldest of them; parameters `in, u, c, dx, image, kept, n`.
    Keep,
}

/// Where scalars stand in the state.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub(crate) struct StatePlaces {
    pub(crate) len: usize,
    pub(crate) iterations: usize,
    pub(crate) residual: usize,
    pub(crate) beta: usize,
    pub(crate) presid: usize,
    pub(crate) ptol: usize,
    pub(crate) column: usize,
    pub(crate) inner: usize,
    pub(crate) outer: usize,
    pub(crate) length: usize,
}

/// A kernel, as everything that decides its source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct GmresSpec {
    pub(crate) vector: DType,
    pub(crate) step: GmresStep,
    pub(crate) places: StatePlaces,
}

impl KernelSpec for GmresSpec {
    fn kernel_name(&self) -> Cow<'static, str> {
        match self.step {
            GmresStep::Project => "gmres_project",
            GmresStep::Sum => "gmres_sum",
            GmresStep::Rotate => "gmres_rotate",
            GmresStep::Solve => "gmres_solve",
            GmresStep::Combine => "gmres_combine",
            GmresStep::Keep => "gmres_keep",
        }
        .into()
    }

    fn source(&self) -> String {
        let mut text = prelude(self.vector);
        let p = &self.places;
        for (name, place) in [
            ("LEN", p.len),
            ("ITERATIONS", p.iterations),
            ("RESIDUAL", p.residual),
            ("BETA", p.beta),
            ("PRESID", p.presid),
            ("PTOL", p.ptol),
            ("COLUMN", p.column),
            ("INNER", p.inner),
            ("OUTER", p.outer),
            ("LENGTH", p.length),
        ] {
            let _ = writeln!(text, "#define {name} {place}");
        }
        text.push_str(match self.step {
            GmresStep::Project => PROJECT,
            GmresStep::Sum => SUM,
            GmresStep::Rotate => ROTATE,
            GmresStep::Solve => SOLVE,
            GmresStep::Combine => COMBINE,
            GmresStep::Keep => KEEP,
        });
        text
    }
}

/// A thread has the same elements in both loops, so that it reads what it has written itself.
const PROJECT: &str = "\
#define CHUNK 8
RT_KERNEL gmres_project(RT_GLOBAL const double *in, RT_GLOBAL T *w, RT_GLOBAL const T *v, RT_GLOBAL const D *h, RT_GLOBAL D *parts, RT_GLOBAL double *norms, unsigned long long n, unsigned columns)
{
  if (in[STOP] != 0 || in[INNER] != 0) return;
  double norm = 0;
  FOR_ELEMENTS(i, n) {
    T wi = w[i];
    if (h) {
      for (unsigned c = 0; c < columns; c++) wi = T_sub(wi, T_mul(T_from_D(h[c]), v[c * n + i]));
      w[i] = wi;
    }
    norm += T_abs2(wi);
  }
  if (norms) {
    norm = R_block_sum(norm);
    if (RT_LOCAL_ID == 0) norms[RT_GROUP_ID] = norm;
  }
  if (!parts) return;
  for (unsigned first = 0; first < columns; first += CHUNK) {
    D sums[CHUNK];
    for (unsigned k = 0; k < CHUNK; k++) sums[k] = D_zero();
    FOR_ELEMENTS(i, n) {
      const D wi = D_from_T(w[i]);
      for (unsigned k = 0; k < CHUNK; k++)
        if (first + k < columns) sums[k] = D_mul_add(D_conj(D_from_T(v[(first + k) * n + i])), wi, sums[k]);
    }
    for (unsigned k = 0; k < CHUNK; k++) {
      if (first + k >= columns) break;
      const D sum = D_block_sum(sums[k]);
      if (RT_LOCAL_ID == 0) parts[(first + k) * RT_GROUP_COUNT + RT_GROUP_ID] = sum;
    }
  }
}
";

const SUM: &str = "\
RT_KERNEL gmres_sum(RT_GLOBAL const double *in, RT_GLOBAL D *sums, RT_GLOBAL const D *parts, unsigned count)
{
  if (in[STOP] != 0 || in[INNER] != 0) return;
  const D sum = D_sum_of_parts(parts + RT_GROUP_ID * count, count);
  if (RT_LOCAL_ID == 0) sums[RT_GROUP_ID] = sum;
}
";

const ROTATE: &str = "\
RT_KERNEL gmres_rotate(RT_GLOBAL const double *in, RT_GLOBAL double *out, RT_GLOBAL const T *w, RT_GLOBAL T *next, RT_GLOBAL const D *first, RT_GLOBAL const D *second, RT_GLOBAL const double *before, RT_GLOBAL const double *after, RT_GLOBAL D *triangle, RT_GLOBAL D *rotations, RT_GLOBAL D *right, RT_GLOBAL D *coupling, unsigned count, unsigned long long n, unsigned k, unsigned restart, unsigned kept, double eps, double maxinner, RT_GLOBAL double *history, unsigned long long capacity)
{
  if (in[STOP] != 0 || in[INNER] != 0) {
    if (RT_GROUP_ID == 0 && RT_LOCAL_ID < LEN) out[RT_LOCAL_ID] = in[RT_LOCAL_ID];
    return;
  }
  const double length = sqrt(R_sum_of_parts(before, count)), rest = sqrt(R_sum_of_parts(after, count));
  const bool is_whole = rest <= eps * length;
  const T scale = T_from_R(is_whole ? 1 : 1 / rest);
  FOR_ELEMENTS(i, n) next[i] = T_mul(scale, w[i]);
  if (!IS_FIRST) return;
  for (unsigned c = 0; c < kept; c++) coupling[k * kept + c] = D_add(first[c], second[c]);
  first += kept;
  second += kept;
  D entry = D_add(first[0], second[0]);
  RT_GLOBAL D *column = triangle + (unsigned long long)k * (restart + 1);
  for (unsigned j = 0; j < k; j++) {
    const D c = rotations[2 * j], s = rotations[2 * j + 1], below = D_add(first[j + 1], second[j + 1]);
    column[j] = D_add(D_mul(c, entry), D_mul(s, below));
    entry = D_sub(D_mul(c, below), D_mul(D_conj(s), entry));
  }
  const double below = is_whole ? 0 : rest, size = D_abs(entry), length_of_both = hypot(size, below);
  const D sign = size == 0 ? D_from_R(1) : D_div(entry, D_from_R(size));
  const D c = D_from_R(below == 0 ? 1 : size / length_of_both);
  const D s = below == 0 ? D_zero() : D_mul(sign, D_from_R(below / length_of_both));
  column[k] = below == 0 ? entry : D_mul(sign, D_from_R(length_of_both));
  rotations[2 * k] = c;
  rotations[2 * k + 1] = s;
  const D value = k == 0 ? D_from_R(in[BETA]) : right[k];
  const D left_over = D_sub(D_zero(), D_mul(D_conj(s), value));
  right[k] = D_mul(c, value);
  right[k + 1] = left_over;
  const double residual = D_abs(left_over), made = in[ITERATIONS] + 1;
  for (unsigned place = 0; place < LEN; place++) out[place] = in[place];
  out[ITERATIONS] = made;
  out[RESIDUAL] = residual;
  out[PRESID] = residual;
  out[COLUMN] = k + 1;
  out[INNER] = is_whole ? 2 : residual <= in[PTOL] || made >= maxinner ? 1 : 0;
  if (residual - residual != 0) out[STOP] = -1;
  if ((unsigned long long)made < capacity) history[(unsigned long long)made] = residual;
}
";

const SOLVE: &str = "\
RT_KERNEL gmres_solve(RT_GLOBAL const double *in, RT_GLOBAL const D *triangle, RT_GLOBAL D *right, RT_GLOBAL const D *coupling, RT_GLOBAL D *y, unsigned restart, unsigned kept)
{
  if (in[STOP] != 0 || RT_LOCAL_ID != 0) return;
  const int columns = (int)in[COLUMN];
  for (int k = columns - 1; k >= 0; k--) {
    D value = right[k];
    for (int j = k + 1; j < columns; j++)
      value = D_sub(value, D_mul(triangle[(unsigned long long)j * (restart + 1) + k], y[j]));
    const D diagonal = triangle[(unsigned long long)k * (restart + 1) + k];
    y[k] = D_is_zero(value) || D_is_zero(diagonal) ? D_zero() : D_div(value, diagonal);
  }
  for (unsigned c = 0; c < kept; c++) {
    D value = D_zero();
    for (int j = 0; j < columns; j++) value = D_sub(value, D_mul(coupling[j * kept + c], y[j]));
    y[restart + c] = value;
  }
}
";

const COMBINE: &str = "\
RT_KERNEL gmres_combine(RT_GLOBAL const double *in, RT_GLOBAL T *x, RT_GLOBAL const T *v, RT_GLOBAL const D *y, RT_GLOBAL const T *u, RT_GLOBAL T *dx, unsigned restart, unsigned kept, unsigned long long n)
{
  if (in[STOP] != 0) return;
  const unsigned columns = (unsigned)in[COLUMN];
  FOR_ELEMENTS(i, n) {
    T sum = dx ? T_zero() : x[i];
    for (unsigned c = 0; c < columns; c++) sum = T_add(sum, T_mul(T_from_D(y[c]), v[c * n + i]));
    for (unsigned c = 0; c < kept; c++) sum = T_add(sum, T_mul(T_from_D(y[restart + c]), u[c * n + i]));
    x[i] = dx ? T_add(x[i], sum) : sum;
    if (dx) dx[i] = sum;
  }
}
";

const KEEP: &str = "\
RT_KERNEL gmres_keep(RT_GLOBAL const double *in, RT_GLOBAL T *u, RT_GLOBAL T *c, RT_GLOBAL const T *dx, RT_GLOBAL const T *image, unsigned kept, unsigned long long n)
{
  if (in[STOP] != 0 || kept == 0) return;
  const unsigned long long place = (unsigned long long)in[OUTER] % kept * n;
  const T scale = T_from_R(in[LENGTH] > 0 ? 1 / in[LENGTH] : 0);
  FOR_ELEMENTS(i, n) {
    u[place + i] = T_mul(scale, dx[i]);
    c[place + i] = T_mul(scale, image[i]);
  }
}
";
