//! `mma.m8n8k4` of halves: four products, each by eight lanes.
//!
//! Tensor cores since compute capability 8.0 have no such instruction, so the device's compiler makes it of single
//! precision instructions, each rounded to the nearest: with a result of `.f32` a chain from +0 to which `c` is added
//! last, with one of `.f16` two pairs that are added to `c` one after the other.

use super::halves::{f16_to_f32, f32_to_f16};
use super::{MmaRegisters, WARP_REGISTER_WORDS, layout};
use rtcg_ptx::ast::{MatrixLayout, MatrixProduct, MatrixType};

/// What single precision instructions give instead of every NaN.
const NAN_F32: u32 = 0x7fff_ffff;

/// The four products of a warp.
pub(super) fn multiply_by_quad_pairs(form: &MatrixProduct, planes: &mut MmaRegisters<'_>) {
    for quad in 0..4 {
        let a = lines_of_quad_pair(planes.a, form.a_layout, quad);
        // `b` is held like the transposed `a`.
        let b = lines_of_quad_pair(planes.b, layout::transposed_layout(form.b_layout), quad);
        for (i, j) in (0..8).flat_map(|i| (0..8).map(move |j| (i, j))) {
            let at = layout::quad_pair_accumulator_position(form.c, quad, i, j);
            let c = match form.c {
                MatrixType::F16 => half_at(planes.c, at),
                _ => f32::from_bits(planes.c[at.register * WARP_REGISTER_WORDS + at.lane]),
            };
            let d = if form.d == MatrixType::F16 { sum_to_f16(a[i], b[j], c) } else { sum_to_f32(a[i], b[j], c) };
            let at = layout::quad_pair_accumulator_position(form.d, quad, i, j);
            let word = &mut planes.d[at.register * WARP_REGISTER_WORDS + at.lane];
            *word = if at.bit == 0 { d } else { *word & 0xffff | d << 16 };
        }
    }
}

/// The eight lines, of four elements each, of an operand.
fn lines_of_quad_pair(planes: &[u32], layout: MatrixLayout, quad: usize) -> [[f32; 4]; 8] {
    let element = |line, k| half_at(planes, layout::quad_pair_operand_position(layout, quad, line, k));
    std::array::from_fn(|line| std::array::from_fn(|k| element(line, k)))
}

/// The half at a position.
fn half_at(planes: &[u32], at: layout::FragmentPosition) -> f32 {
    f16_to_f32(planes[at.register * WARP_REGISTER_WORDS + at.lane] >> at.bit & 0xffff)
}

/// `fma(x, y, z)` of halves `x` and `y`, whose product is exact in single precision.
fn multiply_add(x: f32, y: f32, z: f32) -> f32 {
    x * y + z
}

/// The bits of `c + fma(a3, b3, fma(a2, b2, fma(a1, b1, fma(a0, b0, +0))))`.
fn sum_to_f32(a: [f32; 4], b: [f32; 4], c: f32) -> u32 {
    let sum = c + a.into_iter().zip(b).fold(0.0, |sum, (x, y)| multiply_add(x, y, sum));
    if sum.is_nan() { NAN_F32 } else { sum.to_bits() }
}

/// The bits of `(c + fma(a1, b1, a0 * b0)) + fma(a3, b3, a2 * b2)`, rounded to half precision.
fn sum_to_f16(a: [f32; 4], b: [f32; 4], c: f32) -> u32 {
    let sum = c + multiply_add(a[1], b[1], a[0] * b[0]) + multiply_add(a[3], b[3], a[2] * b[2]);
    f32_to_f16(sum.to_bits())
}

#[cfg(test)]
mod tests {
    use super::super::halves::NAN_F16;
    use super::*;

    const P24: f32 = 16_777_216.0;

    /// Each of these tells the order of the chain, or its rounding, from another one.
    #[test]
    fn sums_to_f32_are_a_chain_that_ends_with_c() {
        let sum = |a: [f32; 4], b: [f32; 4], c: f32| f32::from_bits(sum_to_f32(a, b, c));
        let ones = [1.0; 4];
        assert_eq!(sum([4096.0, 1.0, -4096.0, 0.0], [4096.0, 1.0, 4096.0, 0.0], 0.0), 0.0);
        assert_eq!(sum([1.0, -4096.0, 0.0, 0.0], [1.0, 4096.0, 0.0, 0.0], P24), 1.0);
        assert_eq!(sum([1.0, 1.0, 0.0, 0.0], ones, P24), P24 + 2.0);
        assert_eq!(sum([1.5, 0.0, 0.0, 0.0], ones, P24), P24 + 2.0);
        assert_eq!(sum([3.0, 0.0, 0.0, 0.0], ones, P24), P24 + 4.0);
        assert_eq!(sum_to_f32([-0.0; 4], ones, -0.0), 0);
        assert_eq!(sum_to_f32([f32::INFINITY, 0.0, 0.0, 0.0], [0.0; 4], 0.0), NAN_F32);
    }

    #[test]
    fn sums_to_f16_are_pairs_that_begin_with_c() {
        let sum = |a: [f32; 4], b: [f32; 4], c: f32| f16_to_f32(sum_to_f16(a, b, c));
        let ones = [1.0; 4];
        let half_ulp = 2.0_f32.powi(-11);
        assert_eq!(sum_to_f16([-0.0; 4], ones, -0.0), 0x8000);
        assert_eq!(sum_to_f16([-0.0; 4], ones, 0.0), 0);
        assert_eq!(sum([65504.0, 65504.0, 0.0, 0.0], ones, -65504.0), 65504.0);
        assert_eq!(sum([half_ulp, half_ulp / 2.0, 0.0, 0.0], ones, 1.0), 1.0 + 2.0 * half_ulp);
        assert_eq!(sum_to_f16([16.0, 0.0, 0.0, 0.0], ones, 65504.0), 0x7c00);
        assert_eq!(sum_to_f16([f32::NAN, 0.0, 0.0, 0.0], ones, 0.0), NAN_F16);
    }
}
