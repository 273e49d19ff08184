//! Matrix products by the 32 lanes of a warp, and the exchange of rows and columns.
//!
//! Each element of a fragment is looked up where the PTX ISA draws it; the fragments of `wmma`, which
//! it leaves open, are those of `mma` with 16 rows (8 if the matrix has no more), one after the other, and those of
//! m8n32k16 hold the transposed matrices of m32n8k16.
//! Whole numbers, bits and doubles are exact. How other floats are summed CUDA does not define; here it
//! is the model of `docs/matrix-products.md`, over exact numbers: products are cut towards zero at the
//! 25th place below the largest exponent and added, 16 at a time (8 of `.tf32`, 4 in `wmma`). Sums are in single
//! precision, but those of halves to halves. Only `mma.m8n8k4` of halves is a chain of instructions in single precision.

mod sparse;

use crate::convert::{from_fp8, scalar_cvt};
use crate::exact_rounding::{
    self, BF16, DecodedFloat, ExactMagnitude, F16, F32, F64, FloatFormat, RoundingMode, TF32, decode_float,
};
use crate::float::{ArithOp, default_nan, execute_arithmetic, propagated_nan};
use crate::int::{clamp_to_type, interpret_bits, truncate_bits};
use rtcg_ptx::ast::*;

/// The registers of a fragment: `of[lane][register]`.
pub(crate) type FragmentRegisters = Vec<Vec<u128>>;

/// Places below the largest exponent that a term keeps.
const TENSOR_CORE_FRACTION_BITS: i64 = 25;
/// Smaller exponents count as this one.
const TENSOR_CORE_MIN_EXPONENT: i64 = -126;

fn is_signed(ty: MatrixType) -> bool {
    matches!(ty, MatrixType::S8 | MatrixType::S4 | MatrixType::S32)
}

/// Which fragment of which product.
#[derive(Clone, Copy)]
pub(crate) struct FragmentMatrix {
    pub(crate) role: MatrixRole,
    pub(crate) shape: MatrixShape,
    pub(crate) ty: MatrixType,
}

impl FragmentMatrix {
    fn new_for_role(form: &MatrixProduct, role: MatrixRole) -> FragmentMatrix {
        FragmentMatrix { role, shape: form.shape, ty: form.element_type(role) }
    }

    /// Rows and columns.
    pub(crate) fn matrix_extent(self) -> (u32, u32) {
        let MatrixShape { m, n, k } = self.shape;
        match self.role {
            MatrixRole::A => (m, k),
            MatrixRole::B => (k, n),
            MatrixRole::C | MatrixRole::D => (m, n),
        }
    }

    /// Registers of a lane that hold the matrix once.
    pub(crate) fn registers_per_lane(self) -> usize {
        let (rows, cols) = self.matrix_extent();
        (rows * cols * self.ty.bits() / (32 * self.ty.register_bits())) as usize
    }

    /// Where row and column of a matrix are: lane, register, and number in the register.
    pub(crate) fn element_position(self, row: u32, col: u32) -> (usize, usize, u32) {
        let MatrixShape { m, n, k } = self.shape;
        if (m, n) == (8, 32) {
            let role = match self.role {
                MatrixRole::A => MatrixRole::B,
                MatrixRole::B => MatrixRole::A,
                role => role,
            };
            let shape = MatrixShape { m: n, n: m, k };
            return FragmentMatrix { role, shape, ty: self.ty }.element_position(col, row);
        }
        let per = self.ty.register_bits() / self.ty.bits();
        // Rows of `a` and columns of `b` belong to groups of four lanes, along which `k` runs.
        let (line, k, halves) = match self.role {
            MatrixRole::A => (row, col, (self.shape.m / 8).min(2)),
            MatrixRole::B => (col, row, 1),
            MatrixRole::C | MatrixRole::D => return self.accumulator_position(row, col, per),
        };
        let chunks = self.shape.k / (4 * per);
        let (tile, half) = (line / (8 * halves), line / 8 % halves);
        let (chunk, within) = (k / (4 * per), k % (4 * per));
        let register = (tile * chunks + chunk) * halves + half;
        ((line % 8 * 4 + within / per) as usize, register as usize, within % per)
    }

    fn accumulator_position(self, row: u32, col: u32, per: u32) -> (usize, usize, u32) {
        let halves = (self.shape.m / 8).min(2);
        let (tile, half) = (row / (8 * halves), row / 8 % halves);
        let pair = (tile * (self.shape.n / 8) + col / 8) * halves + half;
        let lane = (row % 8 * 4 + col % 8 / 2) as usize;
        if per == 2 { (lane, pair as usize, col % 2) } else { (lane, (pair * 2 + col % 2) as usize, 0) }
    }

    fn element_bits(self, f: &FragmentRegisters, row: u32, col: u32) -> u128 {
        let (lane, register, i) = self.element_position(row, col);
        truncate_bits(self.ty.bits(), f[lane][register] >> (i * self.ty.bits()))
    }

    fn element_integer(self, f: &FragmentRegisters, row: u32, col: u32) -> i128 {
        interpret_bits(self.ty.bits(), is_signed(self.ty), self.element_bits(f, row, col))
    }

    fn element_term(self, f: &FragmentRegisters, row: u32, col: u32) -> ExactTerm {
        ExactTerm::term_from_bits(self.ty, self.element_bits(f, row, col) as u64)
    }
}

/// The registers of `d`; with sparsity each lane has a word of metadata.
pub(crate) fn mma_product(
    form: &MatrixProduct,
    a: &FragmentRegisters,
    b: &FragmentRegisters,
    c: &FragmentRegisters,
    metadata: &[u128],
) -> Result<FragmentRegisters, String> {
    use MatrixType::*;
    if form.is_quad_pair_mma() {
        return Ok(m8n8k4_mma(form, [a, b, c]));
    }
    let (whole_rows, stored);
    let (a, stored) = match form.sparse {
        Some(sparse) => {
            whole_rows = sparse::expand_sparse(form, sparse, a, metadata)?;
            stored = sparse::stored_elements(form, sparse, metadata)?;
            (&whole_rows, Some(&stored))
        }
        None => (a, None),
    };
    let to = FragmentMatrix::new_for_role(form, MatrixRole::D);
    let mut d = vec![vec![0; to.registers_per_lane()]; 32];
    for (row, col) in (0..form.shape.m).flat_map(|row| (0..form.shape.n).map(move |col| (row, col))) {
        let bits = match form.a {
            S8 | U8 | S4 | U4 | B1 => integer_mma_element(form, [a, b, c], row, col),
            F64 => f64_mma_element(form, [a, b, c], row, col),
            _ => u128::from(float_mma_element(form, [a, b, c], stored, row, col)),
        };
        let (lane, register, i) = to.element_position(row, col);
        d[lane][register] |= bits << (i * to.ty.bits());
    }
    Ok(d)
}

fn operand_matrices(form: &MatrixProduct) -> [FragmentMatrix; 3] {
    [MatrixRole::A, MatrixRole::B, MatrixRole::C].map(|role| FragmentMatrix::new_for_role(form, role))
}

fn integer_mma_element(form: &MatrixProduct, [a, b, c]: [&FragmentRegisters; 3], row: u32, col: u32) -> u128 {
    let [ma, mb, mc] = operand_matrices(form);
    let term = |k: u32| {
        let (x, y) = (ma.element_integer(a, row, k), mb.element_integer(b, k, col));
        match form.op {
            MmaCombineOp::Multiply => x * y,
            MmaCombineOp::XorPopc => x ^ y,
            MmaCombineOp::AndPopc => x & y,
        }
    };
    let sum = mc.element_integer(c, row, col) + (0..form.shape.k).map(term).sum::<i128>();
    if form.satfinite { clamp_to_type(32, true, sum) } else { truncate_bits(32, sum as u128) }
}

/// A chain of fused multiply-adds with `k` ascending. A NaN of `b` is kept before one of the sum, and that before one of
/// `a`.
fn f64_mma_element(form: &MatrixProduct, [a, b, c]: [&FragmentRegisters; 3], row: u32, col: u32) -> u128 {
    let [ma, mb, mc] = operand_matrices(form);
    let mods = FpMods { rnd: form.rnd, ..FpMods::default() };
    let sum = (0..form.shape.k).fold(mc.element_bits(c, row, col) as u64, |sum, k| {
        let (x, y) = (ma.element_bits(a, row, k) as u64, mb.element_bits(b, k, col) as u64);
        match [y, sum, x].into_iter().find(|&operand| F64.is_nan(operand)) {
            Some(nan) => propagated_nan(F64, nan),
            None => execute_arithmetic(ArithOp::Fma, F64, &mods, [x, y, sum]),
        }
    });
    sum.into()
}

/// Products with elements of `a` that are not stored are not made. Where `c` and `d` have different types the sum is
/// one of single precision, and a half is converted from it.
fn float_mma_element(
    form: &MatrixProduct,
    [a, b, c]: [&FragmentRegisters; 3],
    stored: Option<&FragmentRegisters>,
    row: u32,
    col: u32,
) -> u64 {
    let [ma, mb, mc] = operand_matrices(form);
    let sum_type = if form.c == form.d { form.d } else { MatrixType::F32 };
    let dense = match (form.a, form.wmma) {
        (MatrixType::TF32, true) => 4,
        (MatrixType::TF32, false) => 8,
        _ => 16,
    };
    let step = if form.sparse.is_some() { 2 * dense } else { dense };
    let first = mc.element_bits(c, row, col) as u64;
    let first = if form.c == sum_type { first } else { half_to_single(first) };
    let mut sum = ExactTerm::term_from_bits(sum_type, first);
    let mut bits = 0;
    for first in (0..form.shape.k).step_by(step) {
        let mut terms = vec![sum];
        let is_stored = |k: &u32| stored.is_none_or(|stored| ma.element_bits(stored, row, *k) != 0);
        for k in (first..form.shape.k.min(first + step as u32)).filter(is_stored) {
            terms.push(ma.element_term(a, row, k).multiply_terms(mb.element_term(b, k, col)));
        }
        bits = tensor_core_sum(&terms, if sum_type == MatrixType::F16 { F16 } else { F32 });
        sum = ExactTerm::term_from_bits(sum_type, bits);
    }
    if form.d == sum_type { bits } else { single_to_half(bits) }
}

/// `mma.m8n8k4` of halves: each eight lanes, four and the four with numbers higher by 16, make a
/// product of their own.
fn m8n8k4_mma(form: &MatrixProduct, [a, b, c]: [&FragmentRegisters; 3]) -> FragmentRegisters {
    let mut d = vec![vec![0; form.registers_per_lane(MatrixRole::D)]; 32];
    let half =
        |f: &FragmentRegisters, (lane, i): (usize, usize)| truncate_bits(16, f[lane][i / 2] >> (i % 2 * 16)) as u64;
    // Lane and element of an operand whose lines (rows of `a`, columns of `b`) run along k.
    let operand = |quad: usize, along_k: bool, line: usize, k: usize| {
        let lane = quad * 4 + line / 4 * 16;
        if along_k { (lane + line % 4, k) } else { (lane + k, line % 4) }
    };
    let sum = |quad: usize, ty: MatrixType, row: usize, col: usize| {
        let lane = quad * 4 + row / 4 * 16;
        match ty {
            MatrixType::F16 => (lane + row % 4, col),
            _ => (lane + row % 2 + col / 2 % 2 * 2, col / 4 * 4 + row / 2 % 2 * 2 + col % 2),
        }
    };
    for (quad, row, col) in (0..4).flat_map(|q| (0..64).map(move |i| (q, i / 8, i % 8))) {
        let at = sum(quad, form.c, row, col);
        let first = if form.c == MatrixType::F16 { half(c, at) } else { c[at.0][at.1] as u64 };
        let factors = std::array::from_fn(|k| {
            let x = half(a, operand(quad, form.a_layout == MatrixLayout::Row, row, k));
            let y = half(b, operand(quad, form.b_layout == MatrixLayout::Col, col, k));
            [x, y].map(half_to_single)
        });
        let first = if form.c == MatrixType::F16 { half_to_single(first) } else { first };
        let bits = m8n8k4_element(form.d, factors, first);
        let (lane, i) = sum(quad, form.d, row, col);
        match form.d {
            MatrixType::F16 => d[lane][i / 2] |= u128::from(bits) << (i % 2 * 16),
            _ => d[lane][i] = bits.into(),
        }
    }
    d
}

/// A half as bits of `.f32`.
fn half_to_single(bits: u64) -> u64 {
    scalar_cvt(Type::F32, Type::F16, &FpMods::default(), bits.into()) as u64
}

/// Bits of `.f32` as the nearest half.
fn single_to_half(bits: u64) -> u64 {
    let mods = FpMods { rnd: Rounding::Rn, ..FpMods::default() };
    scalar_cvt(Type::F16, Type::F32, &mods, bits.into()) as u64
}

/// An element of `mma.m8n8k4`, which a device's compiler makes of instructions of `.f32`: with a result of `.f32` `c` is
/// added to a chain that begins with +0, with one of `.f16` two pairs are added to `c` one after the other.
fn m8n8k4_element(d: MatrixType, factors: [[u64; 2]; 4], c: u64) -> u64 {
    let run = |op: ArithOp, operands: [u64; 3]| execute_arithmetic(op, F32, &FpMods::default(), operands);
    let fma = |[x, y]: [u64; 2], z: u64| run(ArithOp::Fma, [x, y, z]);
    let add = |x: u64, y: u64| run(ArithOp::Add, [x, y, 0]);
    if d == MatrixType::F16 {
        let pair = |i: usize| fma(factors[i + 1], run(ArithOp::Mul, [factors[i][0], factors[i][1], 0]));
        return single_to_half(add(add(c, pair(0)), pair(2)));
    }
    let chain = factors.into_iter().fold(0, |sum, xy| fma(xy, sum));
    add(c, chain)
}

/// An element or a product of two.
#[derive(Debug, Clone, Copy, PartialEq)]
enum ExactTerm {
    Nan,
    /// True is negative.
    Infinity(bool),
    /// `n * 2^lowest`, aligned by `exponent`.
    Finite {
        n: i128,
        lowest: i64,
        exponent: i64,
    },
}

impl ExactTerm {
    fn term_from_bits(ty: MatrixType, bits: u64) -> ExactTerm {
        let (f, bits): (FloatFormat, u64) = match ty {
            MatrixType::F16 => (F16, bits),
            MatrixType::BF16 => (BF16, bits),
            MatrixType::TF32 => (TF32, bits >> 13),
            MatrixType::E4M3 => (F16, from_fp8(exact_rounding::E4M3, bits)),
            MatrixType::E5M2 => (F16, from_fp8(exact_rounding::E5M2, bits)),
            _ => (F32, bits),
        };
        match decode_float(f, bits) {
            DecodedFloat::Nan => ExactTerm::Nan,
            DecodedFloat::Infinity(negative) => ExactTerm::Infinity(negative),
            DecodedFloat::Finite { negative, n, exp } => ExactTerm::Finite {
                n: if negative { -i128::from(n) } else { n.into() },
                lowest: exp,
                exponent: exp + i64::from(f.frac_bits),
            },
        }
    }

    fn multiply_terms(self, other: ExactTerm) -> ExactTerm {
        use ExactTerm::*;
        match (self, other) {
            (Nan, _) | (_, Nan) => Nan,
            (Infinity(s), Infinity(t)) => Infinity(s != t),
            (Infinity(_), Finite { n: 0, .. }) | (Finite { n: 0, .. }, Infinity(_)) => Nan,
            (Infinity(s), Finite { n, .. }) | (Finite { n, .. }, Infinity(s)) => Infinity(s != (n < 0)),
            (Finite { n, lowest, exponent }, Finite { n: m, lowest: l, exponent: e }) => {
                Finite { n: n * m, lowest: lowest + l, exponent: exponent + e }
            }
        }
    }

    /// In units of `2^unit`, cut towards zero.
    fn truncate_to_unit(self, unit: i64) -> i128 {
        let ExactTerm::Finite { n, lowest, .. } = self else { return 0 };
        match lowest - unit {
            // A zero has no exponent that the unit could follow.
            _ if n == 0 => 0,
            up @ 0.. => n << up,
            down if down < -100 => 0,
            down => n / (1 << -down),
        }
    }
}

/// The sum of terms as the tensor cores make it, in a format.
fn tensor_core_sum(terms: &[ExactTerm], f: FloatFormat) -> u64 {
    let (plus, minus) = (terms.contains(&ExactTerm::Infinity(false)), terms.contains(&ExactTerm::Infinity(true)));
    if terms.contains(&ExactTerm::Nan) || plus && minus {
        return default_nan(f);
    }
    if plus || minus {
        return f.infinity() | if minus { f.sign_bit() } else { 0 };
    }
    let exponents = terms.iter().filter_map(|t| match t {
        ExactTerm::Finite { n, exponent, .. } if *n != 0 => Some(*exponent),
        _ => None,
    });
    let unit =
        exponents.max().unwrap_or(TENSOR_CORE_MIN_EXPONENT).max(TENSOR_CORE_MIN_EXPONENT) - TENSOR_CORE_FRACTION_BITS;
    let sum: i128 = terms.iter().map(|t| t.truncate_to_unit(unit)).sum();
    let x = ExactMagnitude::from_dyadic(sum.unsigned_abs(), unit);
    if f == F16 {
        // A result of zero is +0, also when it is a smaller sum rounded.
        let half = exact_rounding::round_to_format(f, RoundingMode::Nearest, sum < 0, &x);
        return if half == f.sign_bit() { 0 } else { half };
    }
    let sign = if sum < 0 { f.sign_bit() } else { 0 };
    // Single precision is cut, but what is too large becomes infinite.
    let top = 127 - sum.unsigned_abs().leading_zeros() as i64 + unit;
    if sum != 0 && top > 127 {
        sign | f.infinity()
    } else {
        exact_rounding::round_to_format(f, RoundingMode::Zero, sum < 0, &x)
    }
}

/// `movmatrix.trans`: lane `i` holds two elements of row `i / 4`.
pub(crate) fn movmatrix_transpose(words: &[u128]) -> Vec<u128> {
    let at = |row: usize, col: usize| truncate_bits(16, words[row * 4 + col / 2] >> (col % 2 * 16));
    (0..32).map(|lane| at(lane % 4 * 2, lane / 4) | at(lane % 4 * 2 + 1, lane / 4) << 16).collect()
}
