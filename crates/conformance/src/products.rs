//! Products over axes: matrix products, `einsum`, FFT, and linear algebra.

use crate::host_arrays::{Random, array, assert_close, elements};
use rtcg_array::{EinsumOptions, FftKind, GpuArray, Index, IterationLimits, Op, ReduceOptions, ReductionOp};
use rtcg_array::{Triangle, einsum};
use rtcg_hal::{ArrayContext, ArrayErrorKind, DType};
use std::f64::consts::TAU;
use std::sync::Arc;

/// A matrix of small integers in one of several layouts, and its elements in C order.
fn matrix(ctx: &Arc<ArrayContext>, [m, n]: [usize; 2], layout: usize, dtype: DType, seed: u64) -> (GpuArray, Vec<f64>) {
    let mut random = Random(seed);
    let every = |first: isize, step| Index::Slice(Some(first), None, Some(step));
    let mut made = |shape: [usize; 2]| {
        let numbers = random.whole_numbers(shape[0] * shape[1], -2, 2);
        array(ctx, &shape, &numbers).astype(dtype).unwrap()
    };
    let a = match layout {
        0 => made([m, n]),
        1 => made([n, m]).transpose(None).unwrap(),
        2 => made([2 * m, n + 3]).index(&[every(-1, -2), every(3, 1)]).unwrap(),
        _ => made([1, n]).broadcast_to(&[m, n]).unwrap(),
    };
    let numbers = elements(&a.astype(DType::F64).unwrap());
    (a, numbers)
}

/// Of vectors, skinny and square matrices, of every layout and kind of dtype.
pub fn matrix_products_are_exact(ctx: &Arc<ArrayContext>) {
    let shapes = [[1, 1, 1], [1, 300, 70], [65, 1, 33], [17, 250, 1], [64, 64, 64], [70, 45, 130], [3, 2000, 5]];
    for (k, [m, inner, n]) in shapes.into_iter().enumerate() {
        for dtype in [DType::I32, DType::F16, DType::F32, DType::F64, DType::C128] {
            let (a, x) = matrix(ctx, [m, inner], k % 4, dtype, 1);
            let (b, y) = matrix(ctx, [inner, n], (k + 1) % 3, dtype, 2);
            let product = a.matmul(&b).unwrap();
            let dot = |i: usize, j: usize| (0..inner).map(|l| x[i * inner + l] * y[l * n + j]).sum::<f64>();
            let wanted: Vec<f64> = (0..m * n).map(|k| dot(k / n, k % n)).collect();
            let found: Vec<f64> = elements(&product.astype(DType::F64).unwrap());
            assert!(product.dtype() == dtype && found == wanted, "{m} x {inner} x {n} of {dtype}");
        }
    }
    let [a, b] = [[2, 3], [2, 3]].map(|shape| matrix(ctx, shape, 0, DType::F32, 3).0);
    assert_eq!(a.matmul(&b).unwrap_err().kind(), ArrayErrorKind::Value);
    let nothing = matrix(ctx, [2, 0], 0, DType::F32, 3).0.matmul(&matrix(ctx, [0, 4], 0, DType::F32, 3).0).unwrap();
    assert_eq!(elements::<f32>(&nothing), [0.0; 8]);
}

/// Traces, transposes, batches, outer products, and three operands.
pub fn einstein_sums_are_those_of_loops(ctx: &Arc<ArrayContext>) {
    const LENGTHS: [(char, usize); 4] = [('b', 3), ('i', 17), ('j', 9), ('k', 33)];
    let length = |label: char| LENGTHS.iter().find(|entry| entry.0 == label).unwrap().1;
    for subscripts in
        ["ii->", "ij->ji", "ij,jk->ik", "bij,bjk->bki", "i,j->ij", "ij,ij->", "bi,bi->b", "ij,jk,k->i", "bij->j"]
    {
        let (inputs, output) = subscripts.split_once("->").unwrap();
        let inputs: Vec<&str> = inputs.split(',').collect();
        let mut random = Random(4);
        let mut operand = |labels: &str| {
            let shape: Vec<usize> = labels.chars().map(length).collect();
            let numbers = random.whole_numbers(shape.iter().product(), -3, 3);
            (array(ctx, &shape, &numbers), numbers)
        };
        let operands: Vec<(GpuArray, Vec<f64>)> = inputs.iter().map(|labels| operand(labels)).collect();
        let mut all: Vec<char> = output.chars().collect();
        let n_out = all.len();
        inputs.iter().flat_map(|labels| labels.chars()).for_each(|c| all.extend((!all.contains(&c)).then_some(c)));
        let count = |labels: &[char]| labels.iter().map(|&label| length(label)).product::<usize>();
        let mut wanted = vec![0.0; count(&all[..n_out])];
        for flat in 0..count(&all) {
            let mut rest = flat;
            let mut at = vec![0; all.len()];
            for (axis, &label) in all.iter().enumerate().rev() {
                (at[axis], rest) = (rest % length(label), rest / length(label));
            }
            let place = |labels: &str| {
                labels.chars().fold(0, |place, c| place * length(c) + at[all.iter().position(|&l| l == c).unwrap()])
            };
            let product: f64 =
                inputs.iter().zip(&operands).map(|(labels, (_, numbers))| numbers[place(labels)]).product();
            wanted[place(output)] += product;
        }
        let arrays: Vec<&GpuArray> = operands.iter().map(|operand| &operand.0).collect();
        let found = einsum(subscripts, &arrays, EinsumOptions::default()).unwrap();
        assert_eq!(elements::<f64>(&found), wanted, "{subscripts}");
    }
    let a = matrix(ctx, [2, 3], 0, DType::F64, 5).0;
    assert_eq!(einsum("ij,jk->ik", &[&a, &a], EinsumOptions::default()).unwrap_err().kind(), ArrayErrorKind::Value);
}

/// Lengths with small and large prime factors, along either axis, and back again; also of real numbers.
pub fn transforms_are_those_of_the_definition(ctx: &Arc<ArrayContext>) {
    for n in [1, 2, 12, 64, 97, 210, 1024] {
        let mut random = Random(n as u64);
        let x: Vec<[f64; 2]> = (0..2 * n).map(|_| [random.number(), random.number()]).collect();
        let coefficient = |row: usize, k: usize| {
            (0..n).fold([0.0; 2], |sum, j| {
                let ((sin, cos), [re, im]) = ((-TAU * (j * k % n) as f64 / n as f64).sin_cos(), x[row * n + j]);
                [sum[0] + re * cos - im * sin, sum[1] + re * sin + im * cos]
            })
        };
        let wanted: Vec<f64> = (0..2 * n).flat_map(|at| coefficient(at / n, at % n)).collect();
        let a = array(ctx, &[2, n], &x);
        let rows = a.fft(FftKind::Forward, 1, n, 1.0).unwrap();
        let turned = a.transpose(None).unwrap().to_contiguous().unwrap();
        let columns = turned.fft(FftKind::Forward, 0, n, 1.0).unwrap().transpose(None).unwrap();
        let parts = |array: &GpuArray| elements::<[f64; 2]>(array).concat();
        let tolerance = 1e-14 * n as f64;
        assert_close(&parts(&rows), &wanted, tolerance, &format!("rows of {n}"));
        assert_close(&parts(&columns), &wanted, tolerance, &format!("columns of {n}"));
        let back = rows.fft(FftKind::Inverse, 1, n, 1.0 / n as f64).unwrap();
        assert_close(&parts(&back), &x.concat(), tolerance, &format!("back from {n}"));
        let real = a.real();
        let half = real.fft(FftKind::RealForward, 1, n, 1.0).unwrap();
        assert_eq!(half.shape(), [2, n / 2 + 1]);
        let again = half.fft(FftKind::RealInverse, 1, n, 1.0 / n as f64).unwrap();
        assert_close(&elements(&again), &elements::<f64>(&real), tolerance, &format!("real numbers of {n}"));
    }
}

/// Solutions, factors and eigenvalues of stacks of matrices give the matrix or the right side back.
pub fn systems_are_solved_and_factored(ctx: &Arc<ArrayContext>) {
    for n in [1, 5, 40, 130] {
        let mut random = Random(n as u64);
        let a = array(ctx, &[2, n, n], &random.numbers(2 * n * n));
        let b = array(ctx, &[2, n, 3], &random.numbers(6 * n));
        let largest = |array: &GpuArray| {
            let sizes = array.unary(Op::Absolute).unwrap();
            elements::<f64>(&sizes.reduce(ReductionOp::Maximum, ReduceOptions::default()).unwrap())[0]
        };
        let assert_same = |found: &GpuArray, wanted: &GpuArray, what: &str| {
            let error = largest(&found.binary(Op::Subtract, wanted).unwrap());
            assert!(error < 1e-9 * largest(wanted).max(1.0), "{what} of {n} rows: {error}");
        };
        let dominant = a.binary(Op::Add, &identity(ctx, n, 2.0 * n as f64)).unwrap();
        assert_same(&dominant.matmul(&dominant.solve(&b).unwrap()).unwrap(), &b, "solve");
        let (q, r) = a.qr(false).unwrap();
        assert_same(&q.matmul(&r).unwrap(), &a, "qr");
        let symmetric = a.binary(Op::Add, &a.swapaxes(-1, -2).unwrap()).unwrap();
        let (values, vectors) = symmetric.eigh(Triangle::Lower, IterationLimits::default()).unwrap();
        let images = vectors.binary(Op::Multiply, &values.expand_dims(&[1]).unwrap()).unwrap();
        assert_same(&symmetric.matmul(&vectors).unwrap(), &images, "eigh");
        let positive = a.matmul(&a.swapaxes(-1, -2).unwrap()).unwrap();
        let positive = positive.binary(Op::Add, &identity(ctx, n, 1.0)).unwrap();
        let factor = positive.cholesky(Triangle::Lower).unwrap();
        assert_same(&factor.matmul(&factor.swapaxes(-1, -2).unwrap()).unwrap(), &positive, "cholesky");
        assert!(positive.binary(Op::Multiply, -1.0).unwrap().cholesky(Triangle::Lower).is_err());
    }
}

/// A multiple of the identity.
fn identity(ctx: &Arc<ArrayContext>, n: usize, value: f64) -> GpuArray {
    let numbers: Vec<f64> = (0..n * n).map(|k| if k % (n + 1) == 0 { value } else { 0.0 }).collect();
    array(ctx, &[n, n], &numbers)
}
