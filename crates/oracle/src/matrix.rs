//! Products of whole numbers and bits by the 32 lanes of a warp, and the exchange of rows and columns.
//!
//! Each element of a fragment is looked up where the PTX ISA draws it. The floating-point products have
//! no result that CUDA defines to the bit; they are refused.

use crate::int::{clamp, cut, read};
use rtcg_ptx::ast::*;

/// The registers of a fragment: `of[lane][register]`.
pub(crate) type Fragment = Vec<Vec<u128>>;

fn bits_of(ty: MatrixType) -> u32 {
    ty.bits()
}

fn is_signed(ty: MatrixType) -> bool {
    matches!(ty, MatrixType::S8 | MatrixType::S4 | MatrixType::S32)
}

/// Where row and column of a matrix are: lane, register, and number in the register.
fn place(role: MatrixRole, shape: MatrixShape, ty: MatrixType, row: u32, col: u32) -> (usize, usize, u32) {
    let per = (32 / bits_of(ty)).max(1);
    let (lane, register, element) = match role {
        // Rows of `a` and columns of `b` belong to groups of four lanes, along which `k` runs.
        MatrixRole::A => {
            let halves = shape.m / 8;
            let (chunk, within) = (col / (4 * per), col % (4 * per));
            (row % 8 * 4 + within / per, row / 8 + chunk * halves, within % per)
        }
        MatrixRole::B => {
            let (chunk, within) = (row / (4 * per), row % (4 * per));
            (col * 4 + within / per, chunk, within % per)
        }
        MatrixRole::C | MatrixRole::D => (row % 8 * 4 + col / 2, row / 8 * 2 + col % 2, 0),
    };
    (lane as usize, register as usize, element)
}

fn element(f: &Fragment, role: MatrixRole, shape: MatrixShape, ty: MatrixType, row: u32, col: u32) -> i128 {
    let (lane, register, i) = place(role, shape, ty, row, col);
    read(bits_of(ty), is_signed(ty), f[lane][register] >> (i * bits_of(ty)))
}

/// The registers of `d`.
pub(crate) fn product(form: &MatrixProduct, a: &Fragment, b: &Fragment, c: &Fragment) -> Result<Fragment, String> {
    use MatrixType::*;
    let whole = matches!((form.a, form.b), (S8 | U8, S8 | U8) | (S4 | U4, S4 | U4) | (B1, B1));
    if !whole || form.wmma || form.sparse.is_some() {
        return Err(format!("the oracle does not know the product {form:?}"));
    }
    let shape = form.shape;
    let mut d = vec![vec![0; form.registers(MatrixRole::D)]; 32];
    for row in 0..shape.m {
        for col in 0..shape.n {
            let term = |k: u32| {
                let x = element(a, MatrixRole::A, shape, form.a, row, k);
                let y = element(b, MatrixRole::B, shape, form.b, k, col);
                match form.op {
                    MatrixOp::Multiply => x * y,
                    MatrixOp::XorPopc => x ^ y,
                    MatrixOp::AndPopc => x & y,
                }
            };
            let sum = element(c, MatrixRole::C, shape, S32, row, col) + (0..shape.k).map(term).sum::<i128>();
            let (lane, register, _) = place(MatrixRole::D, shape, S32, row, col);
            d[lane][register] = if form.satfinite { clamp(32, true, sum) } else { cut(32, sum as u128) };
        }
    }
    Ok(d)
}

/// `movmatrix.trans`: lane `i` holds two elements of row `i / 4`.
pub(crate) fn transpose(words: &[u128]) -> Vec<u128> {
    let at = |row: usize, col: usize| cut(16, words[row * 4 + col / 2] >> (col % 2 * 16));
    (0..32).map(|lane| at(lane % 4 * 2, lane / 4) | at(lane % 4 * 2 + 1, lane / 4) << 16).collect()
}
