//! Sums of products over named axes: every kernel against loops on the host, with all kinds of choices.

use crate::fake_device::LARGE_GPU;
use crate::simt_kernels::{context_of_fake_gpu, context_recording_sources, i64_values, integer_array};
use crate::test_depth::at_depth;
use rtcg::array::tuning::ParameterValue;
use rtcg::array::{ArrayContext, DType, DeviceInfo, EinsumOptions, EinsumPath, GpuArray, Op, Order, einsum};
use rtcg::array_tuning::{config_from_values, decision_space, record_decisions, with_forced_config};
use std::collections::HashMap;
use std::sync::Arc;

/// The sum of products by loops over all axes, modulo 2^64. No axis is broadcast, and there is no `...`.
fn host_einsum(subscripts: &str, operands: &[&GpuArray]) -> Vec<i64> {
    let (left, output) = subscripts.split_once("->").unwrap();
    let words: Vec<&str> = left.split(',').collect();
    let mut lengths: HashMap<char, usize> = HashMap::new();
    for (word, operand) in words.iter().zip(operands) {
        lengths.extend(word.chars().zip(operand.shape().iter().copied()));
    }
    let mut axes: Vec<char> = output.chars().collect();
    axes.extend(lengths.keys().filter(|axis| !output.contains(**axis)));
    let values: Vec<Vec<i64>> = operands.iter().map(|operand| i64_values(operand)).collect();
    let place = |word: &str, index: &[usize]| {
        let at = |axis: char| index[axes.iter().position(|known| *known == axis).unwrap()];
        word.chars().fold(0, |place, axis| place * lengths[&axis] + at(axis))
    };
    let size = output.chars().map(|axis| lengths[&axis]).product();
    let total: usize = axes.iter().map(|axis| lengths[axis]).product();
    let mut result = vec![0i64; size];
    for flat in 0..total {
        let mut rest = flat;
        let index: Vec<usize> = axes
            .iter()
            .map(|axis| {
                let at = rest % lengths[axis];
                rest /= lengths[axis];
                at
            })
            .collect();
        let product = words
            .iter()
            .zip(&values)
            .fold(1i64, |product, (word, values)| product.wrapping_mul(values[place(word, &index)]));
        let sum = &mut result[place(output, &index)];
        *sum = sum.wrapping_add(product);
    }
    result
}

fn operands(ctx: &Arc<ArrayContext>, shapes: &[&[usize]], dtype: DType) -> Vec<GpuArray> {
    shapes.iter().map(|shape| integer_array(ctx, shape, dtype)).collect()
}

/// Sums of products for many elements, of which blocks bring some to shared memory.
const BLOCK_CASES: &[(&str, &[&[usize]])] = &[
    ("ij,ejf->eif", &[&[10, 10], &[600, 10, 6]]),
    ("ij,fej->fei", &[&[20, 20], &[3, 300, 20]]),
    ("bij,bjk->bik", &[&[700, 5, 7], &[700, 7, 11]]),
    ("bij,bj->bi", &[&[2100, 11, 13], &[2100, 13]]),
    ("erx,rij,ejf->exif", &[&[300, 3, 3], &[3, 10, 10], &[300, 10, 3]]),
    ("xre,rij,xej->ei", &[&[3, 3, 901], &[3, 10, 10], &[3, 901, 10]]),
];

#[test]
fn blocks_compute_what_loops_do_with_every_kind_of_choice() {
    let ctx = context_of_fake_gpu(LARGE_GPU);
    for (case, (subscripts, shapes)) in BLOCK_CASES.iter().enumerate() {
        let dtype = [DType::I32, DType::F64, DType::F32][case % 3];
        let arrays = operands(&ctx, shapes, dtype);
        let arrays: Vec<&GpuArray> = arrays.iter().collect();
        let run = || einsum(subscripts, &arrays, EinsumOptions::default()).unwrap();
        let (result, met) = record_decisions(&ctx, run);
        let wanted = host_einsum(subscripts, &arrays);
        assert_eq!(i64_values(&result), wanted, "{subscripts}");
        let call = met.iter().find(|call| call.problem.decision.name == "einsum.block").expect(subscripts);
        let space = decision_space(&call.problem, ctx.device_info()).unwrap();
        let count = at_depth(2, 200);
        for k in 0..count {
            let row = (space.len() * k + 7 * case) / count % space.len();
            let config = config_from_values(call.problem.decision, &space.config(row as u32)).unwrap();
            let (result, taken) = with_forced_config(&ctx, &call.problem, &config, run);
            assert_eq!((i64_values(&result) == wanted, taken), (true, Ok(())), "{subscripts}, {config}");
        }
    }
}

/// Integers from -1 to 2, of which 16-bit floats have all sums here.
fn tiny_operands(ctx: &Arc<ArrayContext>, shapes: &[&[usize]], dtype: DType) -> Vec<GpuArray> {
    let tiny = |array: GpuArray| array.binary(Op::Remainder, 4i64).unwrap().binary(Op::Subtract, 1i64).unwrap();
    operands(ctx, shapes, DType::I64).into_iter().map(|array| tiny(array).astype(dtype).unwrap()).collect()
}

#[test]
fn tensor_cores_compute_what_loops_do() {
    let (ctx, record) = context_recording_sources(LARGE_GPU);
    // The second step of the last one is from its result of the first.
    let of_results: (&str, &[&[usize]]) = ("eij,ejk,ekl->eil", &[&[900, 5, 7], &[900, 7, 6], &[900, 6, 9]]);
    for (case, (subscripts, shapes)) in BLOCK_CASES.iter().chain([&of_results]).enumerate() {
        for (number, dtype) in [DType::F16, DType::BF16, DType::F32, DType::F64].into_iter().enumerate() {
            let arrays = tiny_operands(&ctx, shapes, dtype);
            let arrays: Vec<&GpuArray> = arrays.iter().collect();
            let run = || i64_values(&einsum(subscripts, &arrays, EinsumOptions::default()).unwrap());
            let (result, met) = record_decisions(&ctx, run);
            let wanted = host_einsum(subscripts, &arrays);
            assert_eq!(result, wanted, "{subscripts}, {dtype}");
            let call = met.iter().find(|call| call.problem.decision.name == "einsum.block").expect(subscripts);
            let space = decision_space(&call.problem, ctx.device_info()).unwrap();
            let count = at_depth(1, 60);
            for k in 0..count {
                let row = space.len() * (4 * (case * count + k) + number) / (28 * count);
                let config = config_from_values(call.problem.decision, &space.config(row as u32)).unwrap();
                let tile = config.with("rows", ParameterValue::Int(1 << ((case + k) % 3)));
                let named = [("unit", "mma"), ("lanes", "results")];
                let config =
                    named.into_iter().fold(tile.with("columns", ParameterValue::Int(4)), |config, (name, value)| {
                        config.with(name, ParameterValue::Name(value))
                    });
                let (result, taken) = with_forced_config(&ctx, &call.problem, &config, run);
                assert_eq!((result == wanted, taken), (true, Ok(())), "{subscripts}, {dtype}, {config}");
            }
        }
    }
    // All kinds of fragments were among them, and packs of items that are read and written at once.
    let sources = record.sources.lock().unwrap().concat();
    for part in [
        "multiply_f16(sum",
        "multiply_bf16(sum",
        "multiply<true, false>",
        "multiply<false, false>",
        "rt_pack<O, 2>{",
        "rt_pack<X1, 4>",
    ] {
        assert!(sources.contains(part), "{part}");
    }
}

#[test]
fn tensor_cores_need_their_dtypes_and_compute_capability() {
    let candidates = |compute_capability, dtype| {
        let ctx = context_of_fake_gpu(DeviceInfo { compute_capability, ..LARGE_GPU });
        let arrays = operands(&ctx, &[&[10, 10], &[600, 10, 6]], dtype);
        let arrays: Vec<&GpuArray> = arrays.iter().collect();
        let (_, met) =
            record_decisions(&ctx, || einsum("ij,ejf->eif", &arrays, EinsumOptions::default()).map(drop).unwrap());
        let call = met.iter().find(|call| call.problem.decision.name == "einsum.block").unwrap();
        let space = decision_space(&call.problem, ctx.device_info()).unwrap();
        (0..space.len() as u32).any(|row| space.config(row).to_string().contains("mma"))
    };
    for (compute_capability, dtype, has_them) in [
        (80, DType::F16, true),
        (90, DType::BF16, true),
        (80, DType::F64, true),
        (75, DType::F16, false),
        (75, DType::F64, false),
        (90, DType::I32, false),
        (90, DType::C64, false),
    ] {
        assert_eq!(candidates(compute_capability, dtype), has_them, "{compute_capability}, {dtype}");
    }
}

#[test]
fn matrices_are_multiplied_as_such_when_that_is_chosen() {
    let ctx = context_of_fake_gpu(LARGE_GPU);
    for (subscripts, shapes) in
        [("ij,ejf->eif", [&[6, 5][..], &[2000, 5, 5]]), ("ji,bkj->bik", [&[40, 40], &[3, 50, 40]])]
    {
        let arrays = operands(&ctx, &shapes, DType::F64);
        let arrays: Vec<&GpuArray> = arrays.iter().collect();
        let run = || i64_values(&einsum(subscripts, &arrays, EinsumOptions::default()).unwrap());
        let (_, met) = record_decisions(&ctx, run);
        let route = met.iter().find(|call| call.problem.decision.name == "einsum.route").expect(subscripts);
        for kernel in ["blocks", "matrices"] {
            let config = route.rule.with("kernel", ParameterValue::Name(kernel));
            let (result, taken) = with_forced_config(&ctx, &route.problem, &config, run);
            assert_eq!((result == host_einsum(subscripts, &arrays), taken), (true, Ok(())), "{subscripts}, {kernel}");
        }
    }
}

#[test]
fn stacks_of_small_matrices_are_multiplied_in_blocks() {
    let ctx = context_of_fake_gpu(LARGE_GPU);
    let arrays = operands(&ctx, &[&[2000, 5, 7], &[2000, 7, 6]], DType::F32);
    let multiply = || i64_values(&arrays[0].matmul(&arrays[1]).unwrap());
    let (result, met) = record_decisions(&ctx, multiply);
    assert!(met.iter().any(|call| call.problem.decision.name == "einsum.block"), "{met:?}");
    let operands: Vec<&GpuArray> = arrays.iter().collect();
    assert_eq!(result, host_einsum("bij,bjk->bik", &operands));
    let route = &met[0];
    let skinny = route.rule.with("kernel", ParameterValue::Name("skinny"));
    assert_eq!(with_forced_config(&ctx, &route.problem, &skinny, multiply), (result, Ok(())));
}

#[test]
fn every_dtype_is_summed_in_blocks_and_alone() {
    let ctx = context_of_fake_gpu(LARGE_GPU);
    for dtype in DType::all_dtypes().skip(1).step_by(at_depth(4, 1)) {
        for shapes in [[&[4, 3][..], &[9, 3, 5]], [&[4, 3], &[5000, 3, 5]]] {
            // Small enough that 16-bit floats are exact.
            let small = |array: GpuArray| array.binary(Op::Remainder, 4i64).unwrap().astype(dtype).unwrap();
            let arrays: Vec<GpuArray> = operands(&ctx, &shapes, DType::I64).into_iter().map(small).collect();
            let arrays: Vec<&GpuArray> = arrays.iter().collect();
            let result = einsum("ij,ejf->eif", &arrays, EinsumOptions::default()).unwrap();
            assert_eq!(result.dtype(), dtype);
            assert_eq!(i64_values(&result), host_einsum("ij,ejf->eif", &arrays), "{dtype}, {shapes:?}");
        }
    }
}

#[test]
fn every_path_has_the_same_sums() {
    let ctx = context_of_fake_gpu(LARGE_GPU);
    let arrays = operands(&ctx, &[&[4, 5], &[5, 6], &[6, 7, 4], &[7]], DType::I64);
    let arrays: Vec<&GpuArray> = arrays.iter().collect();
    let subscripts = "ij,jk,kli,l->ji";
    let wanted = host_einsum(subscripts, &arrays);
    let paths = [
        EinsumPath::Greedy,
        EinsumPath::Optimal,
        EinsumPath::Given(vec![vec![0, 1, 2, 3]]),
        EinsumPath::Given(vec![vec![3, 0], vec![0, 2], vec![0, 1]]),
        EinsumPath::Given(vec![vec![1], vec![0, 1, 2], vec![0, 1]]),
    ];
    for path in paths {
        let options = EinsumOptions { path: path.clone(), ..EinsumOptions::default() };
        assert_eq!(i64_values(&einsum(subscripts, &arrays, options).unwrap()), wanted, "{path:?}");
    }
    let options = EinsumOptions { path: EinsumPath::Given(vec![vec![0, 9]]), ..EinsumOptions::default() };
    assert!(einsum(subscripts, &arrays, options).unwrap_err().to_string().contains("step [0, 9]"));
}

#[test]
fn results_go_where_they_are_asked_to() {
    let ctx = context_of_fake_gpu(LARGE_GPU);
    let arrays = operands(&ctx, &[&[6, 6], &[3000, 6, 3]], DType::F32);
    let arrays: Vec<&GpuArray> = arrays.iter().collect();
    let wanted = host_einsum("ij,ejf->eif", &arrays);
    let out = GpuArray::zeros(&ctx, &[3000, 6, 3], DType::F64, Order::F).unwrap();
    let options = || EinsumOptions { out: Some(&out), ..EinsumOptions::default() };
    einsum("ij,ejf->eif", &arrays, options()).unwrap();
    assert_eq!(i64_values(&out), wanted);
    let in_order = EinsumOptions { order: Some(Order::F), ..EinsumOptions::default() };
    assert!(einsum("ij,ejf->eif", &arrays, in_order).unwrap().is_contiguous(Order::F));
    // An operand is overwritten only when it has been read.
    let own = EinsumOptions { out: Some(arrays[1]), ..EinsumOptions::default() };
    einsum("ij,ejf->eif", &arrays, own).unwrap();
    assert_eq!(i64_values(arrays[1]), wanted);
    let other = GpuArray::zeros(&ctx, &[3000, 6], DType::F64, Order::C).unwrap();
    let options = EinsumOptions { out: Some(&other), ..EinsumOptions::default() };
    let message = einsum("ij,ejf->eif", &arrays, options).unwrap_err().to_string();
    assert!(message.contains("out has shape (3000, 6); expected (3000, 6, 3)"), "{message}");
}
