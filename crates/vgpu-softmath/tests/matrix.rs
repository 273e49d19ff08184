//! Facts about tensor cores that a real device was asked for.

use rtcg_ptx::ast::{MatrixLayout, MatrixProduct, MatrixRole, MatrixShape, MatrixType, MmaCombineOp, Rounding};
use rtcg_vgpu_softmath::matrix::load_store::MatrixInMemory;
use rtcg_vgpu_softmath::matrix::{MmaRegisters, matrix_product, matrix_product_reference};

const PLANE: usize = 32;

fn tf32_product(wmma: bool, shape: MatrixShape) -> MatrixProduct {
    MatrixProduct {
        wmma,
        shape,
        a_layout: MatrixLayout::Row,
        b_layout: MatrixLayout::Col,
        a: MatrixType::TF32,
        b: MatrixType::TF32,
        c: MatrixType::F32,
        d: MatrixType::F32,
        op: MmaCombineOp::Multiply,
        satfinite: false,
        rnd: Rounding::Rn,
        sparse: None,
    }
}

/// The first element of `2^24 * 1 + 1 * 1 - 2^24 * 1`, with the last product at `k = 4`.
fn cancelled_sum(form: &MatrixProduct, quickly: bool) -> f32 {
    let (mut a, b, c) = (vec![0; 4 * PLANE], vec![1.0_f32.to_bits(); 4 * PLANE], vec![0; 8 * PLANE]);
    // Lanes 0 and 1 have `k` 0 and 1 of the first row, lane 0 has `k = 4` two planes on.
    (a[0], a[1], a[2 * PLANE]) = (2.0_f32.powi(24).to_bits(), 1.0_f32.to_bits(), (-2.0_f32.powi(24)).to_bits());
    let mut d = vec![0; 8 * PLANE];
    let planes = &mut MmaRegisters { a: &a, b: &b, c: &c, metadata: &[], d: &mut d };
    if quickly {
        matrix_product(form, planes)
    } else {
        matrix_product_reference(form, planes)
    }
    f32::from_bits(d[0])
}

/// `mma` adds eight products of `.tf32` exactly; `wmma` rounds after four.
#[test]
fn wmma_of_tf32_has_two_steps() {
    for quickly in [false, true] {
        assert_eq!(cancelled_sum(&tf32_product(false, MatrixShape { m: 16, n: 8, k: 8 }), quickly), 1.0);
        assert_eq!(cancelled_sum(&tf32_product(true, MatrixShape { m: 16, n: 16, k: 8 }), quickly), 0.0);
    }
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
