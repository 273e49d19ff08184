//! Products by integers: what kernels make of factors and of residues, whose products are computed here, as the virtual
//! GPU has no tensor cores for bytes from shared memory.

use crate::fake_device::LARGE_GPU;
use crate::simt_kernels::{array_bytes, context_of_fake_gpu, integer_array};
use rtcg::array::{ArrayContext, DType, GpuArray, MatmulOptions, Order, Precision};
use rtcg_codegen::array::{
    EMULATION_SCALE_VECTORS, EMULATION_VECTOR_BYTES, EmulationJoin, EmulationSplit, emulation_moduli,
    emulation_norm_limit, emulation_planes, emulation_split_threads,
};
use rtcg_hal::LaunchArgs;
use std::sync::Arc;

const ROWS: usize = 5;
const COLUMNS: usize = 70;
const TERMS: usize = 37;

/// Memory with these bytes.
fn memory(ctx: &Arc<ArrayContext>, bytes: &[u8]) -> GpuArray {
    let array = GpuArray::empty(ctx, &[bytes.len()], DType::U8, Order::C).unwrap();
    array.write(bytes, Order::C).unwrap();
    array
}

fn push_numbers(args: &mut LaunchArgs, numbers: &[usize]) {
    numbers.iter().for_each(|&n| args.push_u64(n as u64));
}

/// What is known of each vector, and the planes, of `count` vectors of `TERMS` numbers that lie one after the other, or
/// side by side.
fn divide(ctx: &Arc<ArrayContext>, dtype: DType, factor: &[u8], count: usize, is_second: bool) -> [GpuArray; 2] {
    let (item, is_k_contiguous) = (dtype.itemsize(), !is_second);
    let steps = if is_second { [item, count * item] } else { [TERMS * item, item] };
    let (lines, pitch) = (if is_second { count.next_multiple_of(64) } else { count }, TERMS.next_multiple_of(16));
    let vectors = memory(ctx, &vec![0; count * EMULATION_VECTOR_BYTES]);
    let planes = memory(ctx, &vec![0x55; (emulation_planes(dtype) + 1) * lines * pitch]);
    let factor = memory(ctx, factor);
    let addresses = [&planes, &vectors, &factor].map(GpuArray::first_element_address);
    let scale = EmulationSplit { dtype, divides: false, is_k_contiguous, is_second };
    let mut args = LaunchArgs::new();
    addresses[1..].iter().for_each(|&address| args.push_address(address, 0));
    push_numbers(&mut args, &[count, TERMS, steps[0], steps[1]]);
    args.push(&emulation_norm_limit(dtype, TERMS).to_ne_bytes(), 8);
    ctx.launch(&scale, count.div_ceil(EMULATION_SCALE_VECTORS) as u32, 256, &args).unwrap();
    let mut args = LaunchArgs::new();
    addresses.iter().for_each(|&address| args.push_address(address, 0));
    push_numbers(&mut args, &[count, TERMS, steps[0], steps[1], lines * pitch, pitch]);
    let threads = emulation_split_threads(dtype);
    let grid = [TERMS.div_ceil(threads as usize / 4) as u32, count.div_ceil(64) as u32, 1];
    ctx.launch_grid(&EmulationSplit { divides: true, ..scale }, grid, [threads, 1, 1], 0, &args).unwrap();
    [vectors, planes]
}

/// The product of real or complex numbers, as pairs.
fn emulate(ctx: &Arc<ArrayContext>, dtype: DType, a: &[f64], b: &[f64]) -> Vec<f64> {
    let parts = if dtype.is_complex() { 2 } else { 1 };
    let is_single = dtype.real_part() == DType::F32;
    let bytes = |numbers: &[f64]| -> Vec<u8> {
        let each = |x: &f64| if is_single { (*x as f32).to_ne_bytes().to_vec() } else { x.to_ne_bytes().to_vec() };
        numbers.iter().flat_map(each).collect()
    };
    let [of_rows, first] = divide(ctx, dtype, &bytes(a), ROWS, false);
    let [of_columns, second] = divide(ctx, dtype, &bytes(b), COLUMNS, true);
    let (first, second) = (array_bytes(&first), array_bytes(&second));
    let (pitch, lines) = (TERMS.next_multiple_of(16), COLUMNS.next_multiple_of(64));
    let mut residues = vec![0u8; emulation_planes(dtype) * ROWS * lines];
    for plane in 0..emulation_planes(dtype) {
        for i in 0..ROWS {
            for j in 0..lines {
                let place = j / 64 * 64 + j / 2 % 8 * 8 + j / 16 % 4 * 2 + j % 2;
                let row = &first[(plane * ROWS + i) * pitch..][..TERMS];
                let column = &second[(plane * lines + place) * pitch..][..TERMS];
                let sum: u32 = row.iter().zip(column).map(|(&x, &y)| u32::from(x) * u32::from(y)).sum();
                residues[(plane * ROWS + i) * lines + j] = (sum % emulation_moduli(dtype)[plane / parts]) as u8;
            }
        }
    }
    let (out, residues) = (memory(ctx, &vec![0; ROWS * COLUMNS * dtype.itemsize()]), memory(ctx, &residues));
    let mut args = LaunchArgs::new();
    [&out, &residues, &of_rows, &of_columns].iter().for_each(|x| args.push_address(x.first_element_address(), 0));
    push_numbers(&mut args, &[ROWS, COLUMNS, lines]);
    ctx.launch(&EmulationJoin(dtype), 4, 256, &args).unwrap();
    let bytes = array_bytes(&out);
    if is_single {
        bytes.chunks_exact(4).map(|x| f32::from_ne_bytes(x.try_into().unwrap()).into()).collect()
    } else {
        bytes.chunks_exact(8).map(|x| f64::from_ne_bytes(x.try_into().unwrap())).collect()
    }
}

/// The sum of integers times integers, in pairs for complex numbers.
fn exact(is_complex: bool, a: &[i64], b: &[i64]) -> Vec<i64> {
    let mut product = Vec::new();
    for i in 0..ROWS {
        for j in 0..COLUMNS {
            let terms = (0..TERMS).map(|k| (i * TERMS + k, k * COLUMNS + j));
            if is_complex {
                let pairs: Vec<_> = terms.map(|(x, y)| (a[2 * x], a[2 * x + 1], b[2 * y], b[2 * y + 1])).collect();
                product.push(pairs.iter().map(|(ar, ai, br, bi)| ar * br - ai * bi).sum());
                product.push(pairs.iter().map(|(ar, ai, br, bi)| ar * bi + ai * br).sum());
            } else {
                product.push(terms.map(|(x, y)| a[x] * b[y]).sum());
            }
        }
    }
    product
}

#[test]
fn products_of_integers_are_exact_at_every_scale() {
    let ctx = context_of_fake_gpu(LARGE_GPU);
    for dtype in [DType::F32, DType::F64, DType::C64, DType::C128] {
        let parts = if dtype.is_complex() { 2 } else { 1 };
        let (most, scales) =
            if dtype.real_part() == DType::F32 { (300, [0, -140, 90]) } else { (1 << 25, [0, -1060, 900]) };
        let integers = |count: usize, seed: i64| -> Vec<i64> {
            (0..(count * parts) as i64).map(|i| (i * 7919 + seed).wrapping_mul(104_729) % most).collect()
        };
        let (a, b) = (integers(ROWS * TERMS, 3), integers(TERMS * COLUMNS, 11));
        for scale in scales {
            // Rows of subnormal numbers, and of ones whose squares are too large.
            let scaled = |x: &i64| *x as f64 * 2f64.powi(scale / 2) * 2f64.powi(scale - scale / 2);
            let (first, second): (Vec<f64>, Vec<f64>) =
                (a.iter().map(scaled).collect(), b.iter().map(|x| *x as f64).collect());
            let found = emulate(&ctx, dtype, &first, &second);
            let wanted = exact(parts == 2, &a, &b);
            for (at, (found, wanted)) in found.iter().zip(&wanted).enumerate() {
                let wanted = scaled(wanted);
                let wanted = if dtype.real_part() == DType::F32 { f64::from(wanted as f32) } else { wanted };
                assert!(
                    (found - wanted).abs() <= wanted.abs() * f64::EPSILON,
                    "{dtype} {scale} {at}: {found} {wanted}"
                );
            }
        }
    }
}

#[test]
fn numbers_that_scaling_loses_count_as_rounded() {
    let ctx = context_of_fake_gpu(LARGE_GPU);
    let mut rows = vec![0.0; ROWS * TERMS];
    // The second row has a number that is 0 beside the first one; the third one has integers.
    (rows[TERMS], rows[TERMS + 1]) = (2f64.powi(600), 2f64.powi(-600));
    (rows[2 * TERMS], rows[2 * TERMS + 1]) = (3.0, -5.0);
    let bytes: Vec<u8> = rows.iter().flat_map(|x| x.to_ne_bytes()).collect();
    let [vectors, _] = divide(&ctx, DType::F64, &bytes, ROWS, false);
    let is_rounded = |vector: &[u8]| i32::from_ne_bytes(vector[20..].try_into().unwrap());
    let found: Vec<i32> = array_bytes(&vectors).chunks_exact(EMULATION_VECTOR_BYTES).map(is_rounded).collect();
    assert_eq!(found, [0, 1, 0, 0, 0]);
}

#[test]
fn devices_without_the_instructions_multiply_natively() {
    let ctx = context_of_fake_gpu(LARGE_GPU);
    let a = integer_array(&ctx, &[20, 30], DType::F64);
    let options = MatmulOptions { precision: Precision::Emulated, ..Default::default() };
    let b = a.swapaxes(0, 1).unwrap();
    assert_eq!(array_bytes(&a.matmul_with(&b, &options).unwrap()), array_bytes(&a.matmul(&b).unwrap()));
}
