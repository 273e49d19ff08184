//! The rows of `a` of `mma.sp`: half of their elements are stored, and metadata says which.

use super::{FragmentMatrix, FragmentRegisters};
use rtcg_ptx::ast::*;

/// The fragment of the whole `a`, with zeros for what is not stored.
pub(super) fn expand_sparse(
    form: &MatrixProduct,
    sparse: Sparsity,
    a: &FragmentRegisters,
    metadata: &[u128],
) -> Result<FragmentRegisters, String> {
    let half = MatrixShape { k: form.shape.k / 2, ..form.shape };
    let stored = FragmentMatrix { role: MatrixRole::A, shape: half, ty: form.a };
    let whole = FragmentMatrix { shape: form.shape, ..stored };
    let mut out = vec![vec![0; whole.registers_per_lane()]; 32];
    // Elements of which half are stored, and how many go together.
    let (chunk, together) = match form.a {
        MatrixType::TF32 => (2, 1),
        MatrixType::S4 | MatrixType::U4 => (8, 2),
        _ => (4, 1),
    };
    for (row, at) in (0..form.shape.m).flat_map(|row| (0..form.shape.k / chunk).map(move |at| (row, at))) {
        let bits = metadata_nibble(form, sparse, metadata, row, at);
        for (i, place) in nonzero_positions(form.a, bits)?.into_iter().enumerate() {
            for j in 0..together {
                let from = at * chunk / 2 + i as u32 * together + j;
                let (lane, register, n) = whole.element_position(row, at * chunk + place * together + j);
                out[lane][register] |= stored.element_bits(a, row, from) << (n * form.a.bits());
            }
        }
    }
    Ok(out)
}

/// The fragment of the whole `a`, with ones where elements are stored and zeros elsewhere.
pub(super) fn stored_elements(
    form: &MatrixProduct,
    sparse: Sparsity,
    metadata: &[u128],
) -> Result<FragmentRegisters, String> {
    let ones = vec![vec![u32::MAX.into(); form.registers_per_lane(MatrixRole::A)]; 32];
    expand_sparse(form, sparse, &ones, metadata)
}

/// Where the stored elements (or pairs) of a chunk belong.
fn nonzero_positions(ty: MatrixType, bits: u32) -> Result<Vec<u32>, String> {
    match (ty, bits) {
        (MatrixType::TF32, 0b0100) => Ok(vec![0]),
        (MatrixType::TF32, 0b1110) => Ok(vec![1]),
        (MatrixType::TF32, _) => Err(format!("{bits:#06b} is no metadata of .tf32")),
        _ if bits & 3 < bits >> 2 => Ok(vec![bits & 3, bits >> 2]),
        _ => Err(format!("the indices of metadata {bits:#06b} do not ascend")),
    }
}

/// The four bits for a chunk of a row. Of each four lanes, which hold rows `g` and `g + 8`, the selector
/// names the one or two that have the metadata, where not all four are needed.
fn metadata_nibble(form: &MatrixProduct, sparse: Sparsity, metadata: &[u128], row: u32, at: u32) -> u32 {
    let selector = u32::from(sparse.selector);
    // 16 bits for each of the two rows of a lane, or 32 bits for one.
    let (lane, shift) = if form.a.bits() >= 16 {
        let lanes = form.shape.k * form.a.bits() / 256;
        (selector * lanes + at / 4, row / 8 * 16 + at % 4 * 4)
    } else {
        (selector * 2 + at / 8 * 2 + row / 8, at % 8 * 4)
    };
    (metadata[(row % 8 * 4 + lane) as usize] >> shift & 15) as u32
}
