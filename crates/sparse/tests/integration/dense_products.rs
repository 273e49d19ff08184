//! Products with dense matrices, and products of dense matrices at the places of a sparse one.

use crate::contexts::context;
use crate::host_arrays::{Random, array, elements, message};
use crate::host_matrices::{Rows, devices, edges, numbers, product, random, row, upload, upload_as};
use rtcg_array::{GpuArray, Index};
use rtcg_hal::DType;
use rtcg_sparse::{Bsr, LinearOperator, SddmmScale, SpmvPlan};

#[test]
fn dense_matrices_of_any_width_are_multiplied() {
    for ctx in devices() {
        for (name, host) in edges() {
            let (a, [rows, inner]) = (upload(&ctx, &host), host.shape);
            // The longest row decides whether work is divided along the merge path.
            let longest = (0..rows).map(|i| row(&host, i).count()).max().unwrap_or(0);
            for a in [a.clone(), a.with_longest_row(longest)] {
                for columns in [0, 1, 2, 5, 16, 17, 40] {
                    let x = Random(columns as u64).whole_numbers(inner * columns, -3, 3);
                    let y = a.multiply_dense(&array(&ctx, &[inner, columns], &x)).unwrap();
                    assert_eq!(y.shape(), [rows, columns]);
                    assert!(elements::<f64>(&y) == product(&host, &x, columns), "{name}, {columns} columns");
                }
            }
        }
    }
}

#[test]
fn dense_operands_may_be_views_of_other_dtypes() {
    for ctx in devices() {
        let host = random([150, 60], 20, Rows::Unordered, 1);
        let a = upload(&ctx, &host);
        let x = Random(2).whole_numbers(60 * 24, -3, 3);
        let turned: Vec<f64> = (0..60 * 24).map(|k| x[k % 24 * 60 + k / 24]).collect();
        let view = array(&ctx, &[24, 60], &x).transpose(None).unwrap();
        assert_eq!(elements::<f64>(&a.multiply_dense(&view).unwrap()), product(&host, &turned, 24));
        let items = [Index::Slice(None, None, Some(-1)), Index::Slice(Some(1), None, Some(2))];
        let picked: Vec<f64> = (0..60 * 12).map(|k| turned[(59 - k / 12) * 24 + 1 + k % 12 * 2]).collect();
        let y = a.multiply_dense(&view.index(&items).unwrap()).unwrap();
        assert_eq!(elements::<f64>(&y), product(&host, &picked, 12));
        for dtype in [DType::F32, DType::C64, DType::I32] {
            let y = upload_as(&ctx, &host, dtype, DType::I64).multiply_dense(&view.astype(dtype).unwrap()).unwrap();
            assert_eq!((y.dtype(), numbers(&y)), (dtype, product(&host, &turned, 24)));
        }
        // Solvers take vectors by rows, and operators column by column.
        let rows = array(&ctx, &[3, 60], &x[..180]);
        let y = GpuArray::zeros(&ctx, &[3, 150], DType::F64, rtcg_array::Order::C).unwrap();
        let wanted: Vec<f64> = x[..180].chunks(60).flat_map(|x| product(&host, x, 1)).collect();
        for plan in [SpmvPlan::Rows { lanes: 2 }, SpmvPlan::MergePath] {
            y.memset_zero().unwrap();
            a.clone().with_plan(plan).unwrap().apply_rows(&rows, &y).unwrap();
            assert_eq!(elements::<f64>(&y), wanted);
        }
        assert_eq!(elements::<f64>(&a.apply_block(&view).unwrap()), product(&host, &turned, 24));
    }
}

#[test]
fn blocks_multiply_dense_matrices() {
    for ctx in devices() {
        let host = random([60, 120], 14, Rows::Unordered, 3);
        for size in [1, 2, 3, 5, 6] {
            let blocks = Bsr::from_csr(&upload(&ctx, &host), size, 1e9).unwrap().unwrap();
            assert_eq!(blocks.block(), [size; 2]);
            for columns in [1, 3, 33] {
                let x = Random(4).whole_numbers(120 * columns, -3, 3);
                let y = blocks.multiply_dense(&array(&ctx, &[120, columns], &x)).unwrap();
                assert!(elements::<f64>(&y) == product(&host, &x, columns), "blocks of {size}, {columns} columns");
            }
        }
    }
}

#[test]
fn products_of_dense_matrices_are_sampled() {
    for ctx in devices() {
        for (name, host) in edges() {
            let [rows, columns] = host.shape;
            let a = upload(&ctx, &host);
            for length in [0, 1, 3, 50] {
                if length == 50 && rows > 1000 {
                    continue;
                }
                let mut random = Random(5);
                let [x, y] = [rows * length, length * columns].map(|n| random.whole_numbers(n, -2, 2));
                let (left, right) = (array(&ctx, &[rows, length], &x), array(&ctx, &[length, columns], &y));
                let dot = |i: usize, j: usize| (0..length).map(|k| x[i * length + k] * y[k * columns + j]).sum::<f64>();
                let sampled = |scale| elements::<f64>(&a.sampled_matmul(&left, &right, scale).unwrap());
                let wanted = |of: &dyn Fn(f64, f64) -> f64| {
                    let of_row = |i| row(&host, i).map(move |(j, value)| (i, j, value));
                    (0..rows).flat_map(of_row).map(|(i, j, value)| of(dot(i, j), value)).collect::<Vec<_>>()
                };
                assert!(sampled(SddmmScale::Elements) == wanted(&|dot, value| dot * value), "{name}, {length}");
                let sum = SddmmScale::Sum([[2.0, 0.0], [-3.0, 0.0]]);
                assert!(sampled(sum) == wanted(&|dot, value| 2.0 * dot - 3.0 * value), "{name}, {length}");
            }
        }
    }
}

#[test]
fn what_is_scaled_by_nothing_is_not_read() {
    for ctx in devices() {
        let host = crate::host_matrices::from_rows([1, 2], vec![vec![(0, f64::NAN), (1, 1.0)]]);
        let a = upload(&ctx, &host);
        let (x, y) = (array(&ctx, &[1, 1], &[2.0]), array(&ctx, &[1, 2], &[3.0, f64::INFINITY]));
        let sampled = |scale| elements::<f64>(&a.sampled_matmul(&x, &y, scale).unwrap());
        assert_eq!(sampled(SddmmScale::Sum([[1.0, 0.0], [0.0; 2]])), [6.0, f64::INFINITY]);
        assert_eq!(sampled(SddmmScale::Sum([[0.0; 2], [4.0, 0.0]]))[1], 4.0);
    }
}

#[test]
fn shapes_that_do_not_fit_are_named() {
    let ctx = context();
    let a = upload(&ctx, &random([6, 4], 3, Rows::Canonical, 6));
    let x = |shape: &[usize]| array(&ctx, shape, &vec![1.0; shape.iter().product()]);
    assert_eq!(message(a.multiply_dense(&x(&[4]))), "x has shape (4,); expected two axes");
    assert_eq!(message(a.multiply_dense(&x(&[5, 2]))), "dimension mismatch: x has shape (5, 2); expected 4 rows");
    let blocks = Bsr::from_csr(&a, 2, 9.0).unwrap().unwrap();
    for wrong in [&[4][..], &[5, 2], &[4, 2, 2]] {
        assert!(message(blocks.multiply_dense(&x(wrong))).contains("expected 4 rows"));
    }
    let sampled = |x: &GpuArray, y: &GpuArray| message(a.sampled_matmul(x, y, SddmmScale::Elements));
    assert_eq!(sampled(&x(&[6]), &x(&[1, 4])), "x has shape (6,) and y (1, 4); expected two axes each");
    assert_eq!(
        sampled(&x(&[6, 2]), &x(&[3, 4])),
        "dimension mismatch: x has shape (6, 2) and y (3, 4); expected (6, k) and (k, 4)"
    );
}
