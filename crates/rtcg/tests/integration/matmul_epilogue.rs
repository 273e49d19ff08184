//! Products whose sums pass through an expression, by the kernels of GPUs and of CPUs, against products and loops.

use crate::fake_device::LARGE_GPU;
use crate::simt_kernels::{array_bytes, context_of_fake_gpu, i64_values, integer_array};
use crate::test_depth::at_depth;
use rtcg::array::{ArrayContext, DType, DeviceInfo, Epilogue, ExecutionModel, GpuArray, Op, Order};
use std::sync::Arc;

const CPU: DeviceInfo = DeviceInfo { execution: ExecutionModel::SimdCpu, vector_bytes: 1, ..LARGE_GPU };
const EXPRESSION: &str = "acc + bias[j] + (float)(3 * i) + other[(batch * m + i) * n + j] + s";

/// Operands so small that float16 has all sums exactly.
fn small(ctx: &Arc<ArrayContext>, shape: &[usize], dtype: DType) -> GpuArray {
    integer_array(ctx, shape, DType::I64).binary(Op::Remainder, 3i64).unwrap().astype(dtype).unwrap()
}

/// What [`EXPRESSION`] makes of the product that has its own tests.
fn expected(a: &GpuArray, b: &GpuArray, [bias, other, s]: [&GpuArray; 3]) -> Vec<i64> {
    // Sums of 16-bit floats are not rounded before the expression.
    let is_half = |x: &GpuArray| matches!(x.dtype(), DType::F16 | DType::BF16);
    let unrounded = |x: &GpuArray| if is_half(x) { x.astype(DType::F32).unwrap() } else { x.clone() };
    let product = unrounded(a).matmul(&unrounded(b)).unwrap();
    let [.., m, n] = *product.shape() else { unreachable!("two axes") };
    let (sums, bias, other, s) = (i64_values(&product), i64_values(bias), i64_values(other), i64_values(s)[0]);
    (0..sums.len()).map(|at| sums[at] + bias[at % n] + 3 * (at / n % m) as i64 + other[at] + s).collect()
}

fn assert_fused(ctx: &Arc<ArrayContext>, dtype: DType, batch: &[usize], [m, n, k]: [usize; 3], is_transposed: bool) {
    let shape = |last: [usize; 2]| [batch, &last].concat();
    let (a, mut b) = (small(ctx, &shape([m, k]), dtype), small(ctx, &shape([k, n]), dtype));
    if is_transposed {
        b = small(ctx, &shape([n, k]), dtype).swapaxes(-1, -2).unwrap();
    }
    let operands = [(vec![n], DType::F32), (shape([m, n]), dtype), (vec![], DType::I32)];
    let [bias, other, s] = operands.map(|(shape, dtype)| small(ctx, &shape, dtype));
    let named = [("bias", &bias), ("other", &other), ("s", &s)];
    let real = if dtype.is_complex() {
        EXPRESSION.replace("acc", "acc.real()").replace("[(batch * m + i) * n + j]", "[(batch * m + i) * n + j].real()")
    } else {
        EXPRESSION.to_owned()
    };
    let epilogue = Epilogue { expression: &real, operands: &named, dtype: Some(DType::F64) };
    let found = a.matmul_epilogue(&b, &epilogue).unwrap();
    assert_eq!(found.dtype(), DType::F64);
    assert_eq!(i64_values(&found), expected(&a, &b, [&bias, &other, &s]), "{dtype} {batch:?} {m} {n} {k}");
}

/// Products by tiles, by few rows or columns, of many terms, of none.
const LENGTHS: [[usize; 3]; 6] = [[70, 81, 35], [129, 66, 3], [2, 90, 200], [95, 3, 150], [33, 40, 1100], [5, 7, 0]];

#[test]
fn sums_of_every_dtype_pass_through_the_expression_on_gpus() {
    let all: Vec<DType> = DType::all_dtypes().filter(|dtype| !matches!(dtype, DType::Void(_) | DType::Bool)).collect();
    let few = [DType::F32, DType::F16, DType::F64, DType::C64, DType::I8];
    let ctx = context_of_fake_gpu(LARGE_GPU);
    for &dtype in at_depth(&few[..], &all) {
        for lengths in at_depth(&LENGTHS[..4], &LENGTHS) {
            assert_fused(&ctx, dtype, &[], *lengths, false);
        }
    }
    // Parts of the terms in blocks of their own, and then one sum.
    assert_fused(&ctx, DType::F16, &[], [64, 64, 4200], false);
    assert_fused(&ctx, DType::F32, &[], LENGTHS[4], false);
    assert_fused(&ctx, DType::F32, &[], LENGTHS[5], false);
}

#[test]
fn stacks_and_transposed_operands() {
    for device in [LARGE_GPU, CPU] {
        let ctx = context_of_fake_gpu(device);
        let all = [[40, 50, 20], [12, 100, 64], [3, 70, 40], [70, 2, 40]];
        for (dtype, batch) in [(DType::F32, vec![3]), (DType::F64, vec![2, 2])] {
            for &lengths in at_depth(if dtype == DType::F32 { &all[2..] } else { &all[..2] }, &all) {
                assert_fused(&ctx, dtype, &batch, lengths, true);
            }
        }
    }
}

#[test]
fn cpus_have_them_too() {
    let ctx = context_of_fake_gpu(CPU);
    for &dtype in at_depth(&[DType::F32, DType::U8][..], &[DType::F32, DType::BF16, DType::U8, DType::C128]) {
        for &lengths in at_depth(&LENGTHS[2..], &LENGTHS) {
            assert_fused(&ctx, dtype, &[], lengths, false);
        }
    }
}

#[test]
fn results_have_any_dtype_and_bools_stay_bools() {
    let ctx = context_of_fake_gpu(CPU);
    let (a, b) = (small(&ctx, &[20, 30], DType::F32), small(&ctx, &[30, 25], DType::F32));
    for dtype in [DType::F16, DType::I8, DType::C64] {
        let epilogue =
            Epilogue { expression: "fminf(fmaxf(acc, -20.0f), 20.0f)", dtype: Some(dtype), ..Default::default() };
        let found = a.matmul_epilogue(&b, &epilogue).unwrap();
        let clipped: Vec<i64> =
            i64_values(&a.matmul(&b).unwrap()).iter().map(|x| x.clamp(&-20, &20)).copied().collect();
        let found = if dtype == DType::C64 { found.real() } else { found };
        assert_eq!(i64_values(&found.to_contiguous().unwrap()), clipped, "{dtype}");
    }
    let (a, b) = (small(&ctx, &[20, 30], DType::Bool), small(&ctx, &[30, 25], DType::Bool));
    let negated = a.matmul_epilogue(&b, &Epilogue { expression: "!acc", ..Default::default() }).unwrap();
    let sums = array_bytes(&a.matmul(&b).unwrap());
    assert_eq!(array_bytes(&negated), sums.iter().map(|byte| 1 - byte).collect::<Vec<_>>());
}

#[test]
fn bad_epilogues_are_named() {
    let ctx = context_of_fake_gpu(CPU);
    let a = small(&ctx, &[4, 4], DType::F32);
    let refused = |expression: &str, operands: &[(&str, &GpuArray)], expected: &str| {
        let error = a.matmul_epilogue(&a, &Epilogue { expression, operands, dtype: None }).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    };
    refused(" ", &[], "epilogue is empty; expected an expression of the sum `acc`");
    refused("acc + x", &[], "epilogue(1): error: identifier \"x\" is undefined");
    refused(
        "acc",
        &[("acc", &a)],
        "operand 'acc' has no name for a variable; expected an identifier of C other than acc, i",
    );
    refused("acc", &[("1b", &a)], "operand '1b' has no name");
    refused("acc", &[("b", &a), ("b", &a)], "operand 'b' is given twice");
    let wrong = GpuArray::empty(&ctx, &[3, 4], DType::F32, Order::C).unwrap();
    let error = a.matmul_epilogue(&wrong, &Epilogue { expression: "acc", ..Default::default() }).unwrap_err();
    assert!(error.to_string().contains("do not fit"), "{error}");
}
