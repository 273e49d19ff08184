//! Between planes and matrices in rows: one word per element, its bits zero-extended.

use super::layout::Fragment;
use super::{MmaRegisters, WARP_REGISTER_WORDS};
use rtcg_ptx::ast::{MatrixProduct, MatrixRole, MatrixShape, MatrixType, Sparsity};

/// The rows of `a`, of `k` elements each.
#[inline(always)]
pub(super) fn unpack_rows_of_a(planes: &[u32], f: Fragment, k: usize, out: &mut [u32]) {
    let (per, halves) = (f.elements_per_register(), f.n_row_groups());
    let units = f.shape.k as usize / (4 * per);
    for (r, plane) in planes.chunks_exact(WARP_REGISTER_WORDS).take(f.registers_per_lane()).enumerate() {
        let (tile, unit, half) = (r / halves / units, r / halves % units, r % halves);
        for (g, words) in plane.chunks_exact(4).enumerate() {
            let row = (tile * halves + half) * 8 + g;
            unpack_elements(f.ty.bits(), words, &mut out[row * k + unit * 4 * per..][..4 * per]);
        }
    }
}

/// The elements of words.
#[inline(always)]
fn unpack_elements(bits: u32, words: &[u32], out: &mut [u32]) {
    match bits {
        32 => out.copy_from_slice(words),
        16 => unpack_elements_per_word::<2>(words, out),
        8 => unpack_elements_per_word::<4>(words, out),
        _ => unpack_elements_per_word::<8>(words, out),
    }
}

#[inline(always)]
fn unpack_elements_per_word<const PER: usize>(words: &[u32], out: &mut [u32]) {
    let bits = 32 / PER as u32;
    for (&word, out) in words.iter().zip(out.chunks_exact_mut(PER)) {
        for (i, o) in out.iter_mut().enumerate() {
            *o = word >> (i as u32 * bits) & ((1 << bits) - 1);
        }
    }
}

/// The rows of `b`, of `n` elements each.
#[inline(always)]
pub(super) fn unpack_rows_of_b(planes: &[u32], f: Fragment, n: usize, out: &mut [u32]) {
    match f.ty.bits() {
        32 => unpack_columns_of_b::<1>(planes, f, n, out),
        16 => unpack_columns_of_b::<2>(planes, f, n, out),
        8 => unpack_columns_of_b::<4>(planes, f, n, out),
        _ => unpack_columns_of_b::<8>(planes, f, n, out),
    }
}

#[inline(always)]
fn unpack_columns_of_b<const PER: usize>(planes: &[u32], f: Fragment, n: usize, out: &mut [u32]) {
    let (bits, units) = (32 / PER as u32, f.shape.k as usize / (4 * PER));
    let mask = u32::MAX >> (32 - bits);
    for (r, plane) in planes.chunks_exact(WARP_REGISTER_WORDS).take(f.registers_per_lane()).enumerate() {
        let (block, unit) = (r / units, r % units);
        for t in 0..4 {
            for i in 0..PER {
                let k = (unit * 4 + t) * PER + i;
                let row = &mut out[k * n + block * 8..][..8];
                for (g, o) in row.iter_mut().enumerate() {
                    *o = plane[g * 4 + t] >> (i as u32 * bits) & mask;
                }
            }
        }
    }
}

/// The rows of a sum.
#[inline(always)]
pub(super) fn unpack_accumulator(planes: &[u32], f: Fragment, out: &mut [u32]) {
    let ((rows, n), halves) = (f.matrix_extent(), f.n_row_groups());
    let two = f.elements_per_register() == 2;
    for unit in 0..rows * n / 64 {
        let (first, plane) = accumulator_tile_offsets(unit, halves, n, planes.len() / (rows * n / 64));
        for g in 0..8 {
            let row = &mut out[first + g * n..][..8];
            for (t, pair) in row.chunks_exact_mut(2).enumerate() {
                let word = planes[plane + g * 4 + t];
                if two {
                    (pair[0], pair[1]) = (word & 0xffff, word >> 16);
                } else {
                    (pair[0], pair[1]) = (word, planes[plane + WARP_REGISTER_WORDS + g * 4 + t]);
                }
            }
        }
    }
}

/// The planes of a sum.
#[inline(always)]
pub(super) fn pack_accumulator(sums: &[u32], f: Fragment, planes: &mut [u32]) {
    let ((rows, n), halves) = (f.matrix_extent(), f.n_row_groups());
    let two = f.elements_per_register() == 2;
    for unit in 0..rows * n / 64 {
        let (first, plane) = accumulator_tile_offsets(unit, halves, n, planes.len() / (rows * n / 64));
        for g in 0..8 {
            let row = &sums[first + g * n..][..8];
            for (t, pair) in row.chunks_exact(2).enumerate() {
                if two {
                    planes[plane + g * 4 + t] = pair[0] | pair[1] << 16;
                } else {
                    planes[plane + g * 4 + t] = pair[0];
                    planes[plane + WARP_REGISTER_WORDS + g * 4 + t] = pair[1];
                }
            }
        }
    }
}

/// Where a unit of eight by eight sums begins: in rows of `n`, and in planes of `words` per unit.
#[inline(always)]
fn accumulator_tile_offsets(unit: usize, halves: usize, n: usize, words: usize) -> (usize, usize) {
    let (half, block) = (unit % halves, unit / halves);
    let (tile, column) = (block / (n / 8), block % (n / 8));
    (((tile * halves + half) * n + column) * 8, unit * words)
}

/// The rows of the `a` of `mma.sp`, with the zeros that are not stored: `out` is zero before.
///
/// Each four bits of metadata tell which two of four elements are there (of eight, pairs of them,
/// for 4-bit integers), or which one of two (`.tf32`).
pub(super) fn unpack_sparse_rows_of_a(
    form: &MatrixProduct,
    sparse: Sparsity,
    planes: &MmaRegisters<'_>,
    out: &mut [u32],
) {
    let k = form.shape.k as usize;
    let stored = MatrixShape { k: form.shape.k / 2, ..form.shape };
    let f = Fragment { role: MatrixRole::A, shape: stored, ty: form.a };
    let mut kept = [0; 16 * 64];
    unpack_rows_of_a(planes.a, f, k / 2, &mut kept);
    let chunk = match form.a {
        MatrixType::TF32 => 2,
        MatrixType::S4 | MatrixType::U4 => 8,
        _ => 4,
    };
    for row in 0..16 {
        for c in 0..k / chunk {
            let nibble = sparsity_metadata(form, sparse, planes.metadata, row, c);
            let from = &kept[row * k / 2 + c * chunk / 2..][..chunk / 2];
            let to = &mut out[row * k + c * chunk..][..chunk];
            for (i, &x) in from.iter().enumerate() {
                let at = match chunk {
                    2 => nibble >> 1 & 1,
                    4 => nibble >> (2 * i) & 3,
                    _ => (nibble >> (i / 2 * 2) & 3) * 2 + i % 2,
                };
                to[at] = x;
            }
        }
    }
}

/// Which elements of `a` are stored, in rows of `k` words: those of the others are zero.
pub(super) fn stored_elements_of_a(form: &MatrixProduct, sparse: Sparsity, planes: &MmaRegisters<'_>) -> [u32; 1024] {
    let (ones, mut stored) = ([u32::MAX; 4 * WARP_REGISTER_WORDS], [0; 1024]);
    let MmaRegisters { b, c, metadata, .. } = *planes;
    let full = MmaRegisters { a: &ones, b, c, metadata, d: &mut [] };
    unpack_sparse_rows_of_a(form, sparse, &full, &mut stored);
    stored
}

/// The four bits of a row that concern its chunk `c`. Words of one lane hold 16 bits of each of two
/// rows where elements have 16 bits and more, else 32 bits of one.
fn sparsity_metadata(form: &MatrixProduct, sparse: Sparsity, plane: &[u32], row: usize, c: usize) -> usize {
    let (group, upper, selector) = (row % 8 * 4, row / 8, sparse.selector as usize);
    let (lane, bit) = if form.a.bits() >= 16 {
        let double = form.shape.k as usize * form.a.bits() as usize == 512;
        (if double { selector * 2 + c / 4 } else { selector }, upper * 16 + c % 4 * 4)
    } else {
        (selector * 2 + c / 8 * 2 + upper, c % 8 * 4)
    };
    (plane[group + lane] >> bit & 15) as usize
}

/// Makes signed elements 32 bits wide.
#[inline(always)]
pub(super) fn sign_extend(ty: MatrixType, elements: &mut [u32]) {
    match ty {
        MatrixType::S8 => elements.iter_mut().for_each(|x| *x = *x as i8 as u32),
        MatrixType::S4 => elements.iter_mut().for_each(|x| *x = ((*x as i32) << 28 >> 28) as u32),
        _ => {}
    }
}
