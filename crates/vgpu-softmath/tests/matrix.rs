//! Facts about tensor cores that a real device was asked for.

use rtcg_ptx::ast::MatrixType::{self, F16, F32, F64, TF32};
use rtcg_ptx::ast::{MatrixLayout, MatrixProduct, MatrixRole, MatrixShape, MmaCombineOp, Rounding, Sparsity};
use rtcg_vgpu_softmath::matrix::load_store::MatrixInMemory;
use rtcg_vgpu_softmath::matrix::{MmaRegisters, matrix_product, matrix_product_reference};

const PLANE: usize = 32;

/// A product, with the types of `a` and `b`, of `c`, and of `d`.
fn product(wmma: bool, [m, n, k]: [u32; 3], [ty, c, d]: [MatrixType; 3]) -> MatrixProduct {
    MatrixProduct {
        wmma,
        shape: MatrixShape { m, n, k },
        a_layout: MatrixLayout::Row,
        b_layout: MatrixLayout::Col,
        a: ty,
        b: ty,
        c,
        d,
        op: MmaCombineOp::Multiply,
        satfinite: false,
        rnd: Rounding::Rn,
        sparse: None,
    }
}

/// The planes of the result, computed quickly or as it is defined.
fn planes_of_result(form: &MatrixProduct, [a, b, c, metadata]: [&[u32]; 4], quickly: bool) -> Vec<u32> {
    let mut d = vec![0; 8 * PLANE];
    let planes = &mut MmaRegisters { a, b, c, metadata, d: &mut d };
    if quickly {
        matrix_product(form, planes)
    } else {
        matrix_product_reference(form, planes)
    }
    d
}

/// The first word of the result of `mma.m16n8k*`, if the first row of `a` and the first column of `b` begin with these
/// words of two elements or one, and `c` with another; the other elements are 0.
fn first_result(form: &MatrixProduct, a: &[u32], b: &[u32], c: u32, quickly: bool) -> u32 {
    let mut planes = [vec![0; 8 * PLANE], vec![0; 8 * PLANE], vec![0; 8 * PLANE]];
    planes[0][..a.len()].copy_from_slice(a);
    planes[1][..b.len()].copy_from_slice(b);
    planes[2][0] = c;
    planes_of_result(form, [&planes[0], &planes[1], &planes[2], &[0x4444_4444; PLANE]], quickly)[0]
}

/// The first element of `2^24 * 1 + 1 * 1 - 2^24 * 1`, with the last product at `k = 4`.
fn cancelled_sum(form: &MatrixProduct, quickly: bool) -> f32 {
    let (mut a, b, c) = (vec![0; 4 * PLANE], vec![1.0_f32.to_bits(); 4 * PLANE], vec![0; 8 * PLANE]);
    // Lanes 0 and 1 have `k` 0 and 1 of the first row, lane 0 has `k = 4` two planes on.
    (a[0], a[1], a[2 * PLANE]) = (2.0_f32.powi(24).to_bits(), 1.0_f32.to_bits(), (-2.0_f32.powi(24)).to_bits());
    f32::from_bits(planes_of_result(form, [&a, &b, &c, &[]], quickly)[0])
}

/// `mma` adds eight products of `.tf32` exactly; `wmma` rounds after four.
#[test]
fn wmma_of_tf32_has_two_steps() {
    let types = [TF32, F32, F32];
    for quickly in [false, true] {
        assert_eq!(cancelled_sum(&product(false, [16, 8, 8], types), quickly), 1.0);
        assert_eq!(cancelled_sum(&product(true, [16, 16, 8], types), quickly), 0.0);
    }
}

/// A half of the sum that is too small is +0, whatever its sign; one converted from single precision keeps it.
#[test]
fn small_sums_of_halves_are_positive_zeros() {
    let (tiny, minus_tiny) = (0x0001, 0x8001);
    for quickly in [false, true] {
        for shape in [[16, 8, 8], [16, 8, 16]] {
            let form = product(false, shape, [F16, F16, F16]);
            assert_eq!(first_result(&form, &[tiny], &[minus_tiny], 0, quickly), 0);
            assert_eq!(first_result(&form, &[tiny], &[tiny], 0x8000, quickly), 0);
        }
        let mixed = product(true, [16, 16, 16], [F16, F32, F16]);
        assert_eq!(first_result(&mixed, &[tiny], &[minus_tiny], 0, quickly), 0x8000);
    }
}

/// `wmma` with `c` and `d` of different types adds in single precision and converts.
#[test]
fn sums_of_mixed_types_are_in_single_precision() {
    let ones = [0x3c00_3c00];
    for quickly in [false, true] {
        // 1 + 2^-11 and what is cut off from single precision: the half nearest to the exact sum is the next one.
        let to_half = product(true, [16, 16, 16], [F16, F32, F16]);
        let c = 1.0_f32 + 2.0_f32.powi(-11);
        assert_eq!(first_result(&to_half, &[0x0001], &[0x0001], c.to_bits(), quickly), 0x3c00);
        // A subnormal half of `c` is aligned by its own exponent, not by the least one of halves.
        let to_single = product(true, [16, 16, 16], [F16, F16, F32]);
        let (x, y) = (half_of_power(-12) | 1, half_of_power(-13) | 1);
        let product = 2.0_f32.powi(-25) * (1.0 + 2.0_f32.powi(-9) + 2.0_f32.powi(-20));
        let expected = (2.0_f32.powi(-24) + product).to_bits();
        assert_eq!(first_result(&to_single, &[x], &[y], 0x0001, quickly), expected);
        assert_eq!(first_result(&to_half, &ones, &ones, f32::NAN.to_bits(), quickly), 0x7fff);
        assert_eq!(first_result(&to_half, &ones, &ones, 65519.0_f32.to_bits(), quickly), 0x7c00);
        assert_eq!(first_result(&to_single, &ones, &ones, 0xfc00, quickly), f32::NEG_INFINITY.to_bits());
    }
}

/// The half `2^exponent`.
fn half_of_power(exponent: i32) -> u32 {
    ((exponent + 15) as u32) << 10
}

/// An infinity of `b` that meets no stored element of `a` does not matter; a stored zero does.
#[test]
fn elements_that_are_not_stored_are_not_multiplied() {
    // The metadata says that the first two of each four elements are stored.
    let sparse = |types| MatrixProduct {
        sparse: Some(Sparsity { ordered: false, selector: 0 }),
        ..product(false, [16, 8, 16], types)
    };
    for quickly in [false, true] {
        for types in [[F16, F32, F32], [F16, F16, F16]] {
            let (form, one, infinity) = (sparse(types), 0x3c00, 0x7c00);
            let (one_of_d, nan) = if types[2] == F16 { (0x3c00, 0x7fff) } else { (0x3f80_0000, 0x7fff_ffff) };
            assert_eq!(first_result(&form, &[one], &[one, infinity | infinity << 16], 0, quickly), one_of_d);
            assert_eq!(first_result(&form, &[one], &[one | infinity << 16, 0], 0, quickly), nan);
        }
    }
}

/// In double precision a NaN of `b` is kept before that of the sum so far, and that before one of `a`.
#[test]
fn nans_of_doubles_keep_a_payload() {
    let form = product(false, [8, 8, 4], [F64, F64, F64]);
    let nan = |payload: u64| 0x7ff0_0000_0000_0000 | payload;
    let quiet = |payload: u64| 0x7ff8_0000_0000_0000 | payload;
    let word = |v: &[(usize, u64)]| {
        let mut plane = vec![0; 4 * PLANE];
        v.iter().for_each(|&(lane, x)| (plane[2 * lane], plane[2 * lane + 1]) = (x as u32, (x >> 32) as u32));
        plane
    };
    let first = |a: &[(usize, u64)], b: &[(usize, u64)], c: u64| {
        let d = planes_of_result(&form, [&word(a), &word(b), &word(&[(0, c)]), &[]], true);
        u64::from(d[0]) | u64::from(d[1]) << 32
    };
    assert_eq!(first(&[(1, nan(5))], &[], 0), quiet(5));
    assert_eq!(first(&[(1, nan(5)), (2, nan(6))], &[], 0), quiet(5));
    assert_eq!(first(&[(0, nan(5))], &[], nan(7)), quiet(7));
    assert_eq!(first(&[(3, nan(5))], &[(0, nan(8))], nan(7)), quiet(8));
    assert_eq!(first(&[], &[(0, nan(8)), (2, nan(9))], nan(7)), quiet(9));
    let infinity = f64::INFINITY.to_bits();
    assert_eq!(first(&[(1, infinity)], &[], 0), 0xfff8_0000_0000_0000);
}

/// The elements of a matrix that a lane holds, in order.
fn elements_of_lane(role: MatrixRole, ty: MatrixType, layout: MatrixLayout, lane: usize) -> Vec<(u32, u32)> {
    let shape = MatrixShape { m: 8, n: 32, k: 16 };
    let memory = MatrixInMemory::new(role, shape, ty, layout, None);
    let (rows, cols) = if role == MatrixRole::B { (16, 32) } else { (8, 32) };
    let number = |row: u32, col: u32| row * cols + col;
    let mut bytes = vec![];
    let (lines, length) = if layout == MatrixLayout::Row { (rows, cols) } else { (cols, rows) };
    for (line, i) in (0..lines).flat_map(|line| (0..length).map(move |i| (line, i))) {
        let n = if layout == MatrixLayout::Row { number(line, i) } else { number(i, line) };
        bytes.extend(&n.to_le_bytes()[..ty.bits() as usize / 8]);
    }
    let mut planes = vec![0; memory.fragment.registers_per_lane() * PLANE];
    // SAFETY: the matrix lies in `bytes` without gaps.
    #[allow(unsafe_code, reason = "matrices are read from memory")]
    unsafe {
        memory.load_fragment(bytes.as_ptr(), &mut planes);
    }
    let words = planes.chunks(PLANE).map(|plane| plane[lane]);
    let values = words.flat_map(|w| if ty.bits() == 16 { vec![w & 0xffff, w >> 16] } else { vec![w] });
    values.map(|v| (v / cols, v % cols)).collect()
}

#[test]
fn fragments_of_8_rows_and_32_columns_are_transposed() {
    let first = |lane: usize, row: u32, col: u32| {
        for layout in [MatrixLayout::Row, MatrixLayout::Col] {
            let order = [(0, 0), (1, 0), (0, 8), (1, 8), (8, 0), (9, 0), (8, 8), (9, 8), (0, 16), (1, 16), (0, 24)];
            let expected: Vec<_> = order.into_iter().map(|(r, c)| (row + r, col + c)).collect();
            assert_eq!(elements_of_lane(MatrixRole::B, MatrixType::F16, layout, lane)[..11], expected);
            // Lanes of a sum hold columns, too: two rows, then the column eight on.
            let order = [(0, 0), (1, 0), (0, 8), (1, 8), (0, 16), (1, 16), (0, 24), (1, 24)];
            let expected: Vec<_> = order.into_iter().map(|(r, c)| (row + r, col + c)).collect();
            assert_eq!(elements_of_lane(MatrixRole::C, MatrixType::F32, layout, lane), expected);
        }
    };
    first(0, 0, 0);
    first(1, 2, 0);
    first(4, 0, 1);
    first(31, 6, 7);
}
