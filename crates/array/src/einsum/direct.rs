//! Contraction steps by a kernel whose threads read the operands in place.

use super::subscripts::{Label, Labels};
use super::{Contraction, Term};
use rtcg_codegen::array::{DirectEinsum, EinsumAxis, EinsumStride, EinsumTypes};
use rtcg_hal::{BLOCK_THREADS, LaunchArgs, Result};
use smallvec::SmallVec;

/// Multiplications from which on a kernel is written for lengths and strides.
const MIN_SPECIALIZED_WORK: usize = 1 << 18;
/// Lengths and bytes up to which they are part of the source.
const MAX_LITERAL_LENGTH: usize = 256;
const MAX_LITERAL_STRIDE: usize = 1 << 16;
/// Lengths of axes whose loops are written out.
const MAX_UNROLLED: usize = 16;

/// An axis: its length, and the strides of the result and of the operands.
#[derive(Debug, Clone)]
pub(super) struct Axis {
    pub(super) length: usize,
    pub(super) strides: SmallVec<[isize; 4]>,
}

impl Contraction<'_> {
    /// The sums of products of any number of operands.
    pub(super) fn contract_directly(&self, terms: &[Term]) -> Result<Term> {
        let labels = self.kept_labels(terms);
        let result = self.result(&terms[0], &labels)?;
        let (kept, reduced) = self.merged_axes(&result, terms);
        launch_direct(self, &result, terms, &kept, &reduced)?;
        Ok(result)
    }

    /// Axes of the result and those that are summed over, each the fastest last, as few as possible.
    pub(super) fn merged_axes(&self, result: &Term, terms: &[Term]) -> (Vec<Axis>, Vec<Axis>) {
        let mut reduced = Labels::new();
        for label in terms.iter().flat_map(|term| term.labels.iter().copied()) {
            if !result.has(label) && !reduced.contains(&label) {
                reduced.push(label);
            }
        }
        let axes = |labels: &[Label]| {
            let axis = |&label: &Label| Axis {
                length: self.subscripts.length(label),
                strides: std::iter::once(result).chain(terms).map(|term| term.stride(label)).collect(),
            };
            merge_axes(labels.iter().map(axis).filter(|axis| axis.length != 1).collect())
        };
        (axes(&result.labels), axes(&reduced))
    }
}

/// Axes from the widest stride of the first array that has them to the narrowest; adjacent ones that are one in all arrays
/// are merged.
fn merge_axes(mut axes: Vec<Axis>) -> Vec<Axis> {
    axes.sort_by_key(|axis| {
        std::cmp::Reverse(axis.strides.iter().map(|stride| stride.unsigned_abs()).collect::<Vec<_>>())
    });
    let mut merged: Vec<Axis> = Vec::new();
    for axis in axes {
        let step = |stride: &isize| stride.wrapping_mul(axis.length as isize);
        match merged.last_mut() {
            Some(outer) if outer.strides.iter().zip(&axis.strides).all(|(outer, inner)| *outer == step(inner)) => {
                *outer = Axis { length: outer.length * axis.length, strides: axis.strides };
            }
            _ => merged.push(axis),
        }
    }
    merged
}

/// The axis as part of a kernel.
pub(super) fn kernel_axis(axis: &Axis, is_specialized: bool) -> EinsumAxis {
    let is_literal = is_specialized && axis.length <= MAX_LITERAL_LENGTH;
    let stride = |&stride: &isize| match stride {
        0 => EinsumStride::Zero,
        stride if is_specialized && stride.unsigned_abs() <= MAX_LITERAL_STRIDE => EinsumStride::Literal(stride as i32),
        _ => EinsumStride::Argument,
    };
    EinsumAxis { length: is_literal.then_some(axis.length as u32), strides: axis.strides.iter().map(stride).collect() }
}

/// Whether indices or offsets need 64 bits.
pub(super) fn is_wide(axes: &[&Axis], n_arrays: usize) -> bool {
    const LIMIT: u64 = 1 << 31;
    let count = axes.iter().fold(1u64, |count, axis| count.saturating_mul(axis.length as u64));
    let reach = |k: usize| {
        let reach = |axis: &&Axis| (axis.strides[k].unsigned_abs() as u64).saturating_mul(axis.length as u64);
        axes.iter().map(reach).fold(0u64, u64::saturating_add)
    };
    count >= LIMIT || (0..n_arrays).any(|k| reach(k) >= LIMIT)
}

/// The structure of lengths and strides.
pub(super) fn push_dims(args: &mut LaunchArgs, axes: &[&Axis], n_arrays: usize, wide: bool) {
    let mut push = |number: i64| if wide { args.push_i64(number) } else { args.push_u32(number as i32 as u32) };
    let lengths = |push: &mut dyn FnMut(i64)| axes.iter().for_each(|axis| push(axis.length as i64));
    lengths(&mut push);
    if axes.is_empty() {
        push(1);
    }
    for k in 0..n_arrays {
        axes.iter().for_each(|axis| push(axis.strides[k] as i64));
        if axes.is_empty() {
            push(0);
        }
    }
}

fn launch_direct(
    contraction: &Contraction<'_>,
    result: &Term,
    terms: &[Term],
    kept: &[Axis],
    reduced: &[Axis],
) -> Result<()> {
    let ctx = result.array.context();
    let axes: Vec<&Axis> = kept.iter().chain(reduced).collect();
    let count = |axes: &[Axis]| axes.iter().fold(1usize, |count, axis| count.saturating_mul(axis.length));
    let is_specialized = count(kept).saturating_mul(count(reduced)) >= MIN_SPECIALIZED_WORK;
    let wide = is_wide(&axes, terms.len() + 1);
    let kernel_axes = |axes: &[Axis]| axes.iter().map(|axis| kernel_axis(axis, is_specialized)).collect();
    let (row_axis, rows) = choose_rows(kept, reduced).filter(|_| is_specialized).unzip();
    let unroll = reduced.last().filter(|_| is_specialized).map_or(1, |axis| axis.length.min(MAX_UNROLLED) as u8);
    let spec = DirectEinsum {
        types: EinsumTypes {
            compute: contraction.compute_dtype(),
            out: result.array.dtype(),
            operands: terms.iter().map(|term| term.array.dtype()).collect(),
        },
        kept: kernel_axes(kept),
        reduced: kernel_axes(reduced),
        row_axis: row_axis.map(|axis: usize| axis as u8),
        rows: rows.unwrap_or(1),
        unroll,
        wide,
    };
    let pieces = |(k, axis): (usize, &Axis)| {
        if row_axis == Some(k) { axis.length.div_ceil(spec.rows.into()) } else { axis.length }
    };
    let n: usize = kept.iter().enumerate().map(pieces).product();
    let mut args = LaunchArgs::new();
    let arrays: Vec<_> = std::iter::once(result).chain(terms).map(|term| &term.array).collect();
    crate::array::push_arrays(&mut args, &arrays)?;
    args.push_u64(n as u64);
    push_dims(&mut args, &axes, arrays.len(), wide);
    let blocks = ctx.device_info().grid_block_count(n);
    ctx.launch(&spec, blocks, BLOCK_THREADS, &args)
}

/// The axis of which a thread has several elements, so that what it reads of an operand that lacks this axis is used as
/// often.
fn choose_rows(kept: &[Axis], reduced: &[Axis]) -> Option<(usize, u8)> {
    if reduced.is_empty() {
        return None;
    }
    let is_shared = |axis: &Axis| axis.strides[1..].contains(&0);
    // Adjacent threads should have adjacent elements: any axis is better than the last one.
    let outer = kept.len().saturating_sub(1);
    let (axis, found) =
        kept.iter().enumerate().take(outer).rev().find(|(_, axis)| is_shared(axis) && axis.length > 1)?;
    let rows = [4, 5, 3, 2].into_iter().find(|rows| found.length.is_multiple_of(*rows)).unwrap_or(4.min(found.length));
    Some((axis, rows as u8))
}
