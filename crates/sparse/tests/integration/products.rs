//! Products with vectors: every format and kernel, every dtype, accumulation, views, and what does not fit.

use crate::contexts::context;
use crate::host_arrays::{Random, array, assert_close, elements, message, vector};
use crate::host_matrices::{Rows, devices, edges, numbers, product, random, transpose, upload, upload_as};
use rtcg_array::{GpuArray, Index, Order};
use rtcg_hal::{ArrayContext, ArrayErrorKind, DType};
use rtcg_sparse::gallery::HostCsr;
use rtcg_sparse::{Bsr, Csr, Dia, HotColumns, ProductFormat, Sell, SpmvPlan, compile_plan_kernels, transposed};
use std::sync::Arc;

/// All plans that a matrix can have, with their names.
fn plans(a: &Csr) -> Vec<(String, SpmvPlan)> {
    let [rows, columns] = a.shape();
    let mut plans: Vec<(String, SpmvPlan)> =
        (0..6).map(|k| (format!("{} lanes", 1 << k), SpmvPlan::Rows { lanes: 1 << k })).collect();
    plans.push(("merge path".into(), SpmvPlan::MergePath));
    for sigma in [1, 7, 1_000_000] {
        let sell = Sell::from_csr(a, sigma, f64::INFINITY).unwrap().expect("any fill is allowed");
        assert_eq!((sell.nnz(), sell.sigma(), sell.shape()), (a.nnz(), sigma, a.shape()));
        assert!(sell.stored() >= a.nnz());
        plans.push((format!("slices, sorted within {sigma}"), sell.into()));
    }
    plans.extend(Dia::from_csr(a, 1000).unwrap().map(|dia| ("diagonals".into(), dia.into())));
    for size in 1..=6 {
        if a.nnz() > 0 && rows.is_multiple_of(size) && columns.is_multiple_of(size) {
            let bsr = Bsr::from_csr(a, size, f64::INFINITY).unwrap().expect("any fill is allowed");
            plans.push((format!("blocks of {size}"), bsr.into()));
        }
    }
    if a.nnz() > 0 {
        plans.push(("hot columns".into(), HotColumns::from_csr(a).unwrap().into()));
    }
    plans
}

fn check_plans(ctx: &Arc<ArrayContext>, name: &str, host: &HostCsr) {
    let (a, mut random) = (upload(ctx, host), Random(7));
    let x = random.whole_numbers(host.shape[1], -9, 9);
    let before = random.whole_numbers(host.shape[0], -9, 9);
    let wanted = product(host, &x, 1);
    let sums: Vec<f64> = wanted.iter().zip(&before).map(|(y, b)| y + b).collect();
    for (plan_name, plan) in plans(&a) {
        let planned = a.clone().with_plan(plan).unwrap();
        let y = planned.multiply(&vector(ctx, &x)).unwrap();
        assert!(elements::<f64>(&y) == wanted, "{name}: {plan_name}");
        let y = vector(ctx, &before);
        planned.multiply_into(&vector(ctx, &x), &y, true).unwrap();
        assert!(elements::<f64>(&y) == sums, "{name}: {plan_name}, accumulated");
    }
}

#[test]
fn every_plan_multiplies_as_the_host_does() {
    for ctx in devices() {
        for (name, host) in edges() {
            check_plans(&ctx, name, &host);
        }
    }
}

#[test]
fn columns_are_stored_in_16_bits_only_where_their_distances_fit() {
    let ctx = context();
    // Distances within a slice of 65534 and of one more.
    for (last, is_short) in [(65_534, true), (65_535, false)] {
        let host = crate::host_matrices::from_rows([1, 70_000], vec![vec![(0, 2.0), (last, 3.0)]]);
        let sell = Sell::from_csr(&upload(&ctx, &host), 1, f64::INFINITY).unwrap().unwrap();
        assert_eq!(sell.has_short_columns(), is_short, "{last}");
        let x: Vec<f64> = (0..70_000).map(f64::from).collect();
        assert_eq!(elements::<f64>(&sell.multiply(&vector(&ctx, &x)).unwrap()), [3.0 * last as f64]);
    }
    let long = crate::host_matrices::from_rows([2, 40], vec![(0..40).map(|j| (j, 1.0)).collect(), vec![]]);
    assert!(Sell::from_csr(&upload(&ctx, &long), 1, 31.0).unwrap().is_none(), "32 times as many are stored");
    assert!(Sell::from_csr(&upload(&ctx, &long), 1, 32.0).unwrap().is_some());
}

#[test]
fn elements_and_vectors_may_have_any_dtypes() {
    let host = random([130, 90], 12, Rows::Unordered, 3);
    let host = HostCsr { data: host.data.iter().map(|x| x.abs()).collect(), ..host };
    let x = Random(4).whole_numbers(90, 0, 1);
    let wanted = product(&host, &x, 1);
    let of_16_bits = [DType::F16, DType::BF16];
    for ctx in devices() {
        for (value, of_x, result, index) in [
            (DType::F32, DType::F32, DType::F32, DType::I64),
            (DType::F16, DType::F16, DType::F32, DType::I32),
            (DType::BF16, DType::F32, DType::F32, DType::I32),
            (DType::I16, DType::I64, DType::I64, DType::I32),
            (DType::U8, DType::F64, DType::F64, DType::I64),
            (DType::C64, DType::F32, DType::C64, DType::I32),
            (DType::F64, DType::C128, DType::C128, DType::I32),
            (DType::I32, DType::Bool, DType::I32, DType::I32),
        ] {
            let (a, x) = (upload_as(&ctx, &host, value, index), vector(&ctx, &x).astype(of_x).unwrap());
            for plan in [SpmvPlan::Rows { lanes: 4 }, SpmvPlan::MergePath] {
                let y = a.clone().with_plan(plan).unwrap().multiply(&x).unwrap();
                assert_eq!((y.dtype(), numbers(&y)), (result, wanted.clone()), "{value} and {of_x}");
            }
            let sell = Sell::from_csr(&a, 32, f64::INFINITY).unwrap().unwrap();
            assert_eq!(numbers(&sell.multiply(&x).unwrap()), wanted, "slices of {value} and {of_x}");
            let converted = [Dia::from_csr(&a, 1000).map(drop), Bsr::from_csr(&a, 2, 1e9).map(drop)];
            for converted in converted {
                assert_eq!(converted.is_err(), of_16_bits.contains(&value), "{value}: {converted:?}");
            }
        }
        // Truth values: OR of ANDs.
        let truth = upload_as(&ctx, &host, DType::Bool, DType::I32);
        let y = truth.multiply(&vector(&ctx, &x).astype(DType::Bool).unwrap()).unwrap();
        let is_any: Vec<bool> = wanted.iter().map(|&y| y > 0.0).collect();
        assert_eq!(elements::<bool>(&y), is_any);
    }
}

#[test]
fn complex_products_are_not_conjugated() {
    for ctx in devices() {
        let data = vector(&ctx, &[[1.0, 2.0], [0.0, -1.0], [3.0, 0.0]]);
        let [indices, indptr] = [vec![0i32, 1, 1], vec![0, 2, 3]].map(|list| vector(&ctx, &list));
        let a = Csr::new([2, 2], data, indices, indptr).unwrap();
        let x = vector(&ctx, &[[1.0, 1.0], [2.0, -3.0]]);
        assert_eq!(elements::<[f64; 2]>(&a.multiply(&x).unwrap()), [[-4.0, 1.0], [6.0, -9.0]]);
        for (conjugated, wanted) in [(false, [[-1.0, 3.0], [7.0, -10.0]]), (true, [[3.0, -1.0], [5.0, -8.0]])] {
            let y = transposed(&a, conjugated).unwrap().multiply(&x).unwrap();
            assert_eq!(elements::<[f64; 2]>(&y), wanted, "conjugated: {conjugated}");
        }
    }
}

#[test]
fn views_are_read_and_written_in_place() {
    let ctx = context();
    let host = random([40, 50], 9, Rows::Canonical, 5);
    let a = upload(&ctx, &host);
    let x = Random(6).whole_numbers(150, -5, 5);
    let every_third = array(&ctx, &[50, 3], &x).index(&[Index::from(..), Index::At(1)]).unwrap();
    let picked: Vec<f64> = x.iter().skip(1).step_by(3).copied().collect();
    let wanted = product(&host, &picked, 1);
    let y = vector(&ctx, &[100.0; 80]);
    let back = Index::Slice(None, None, Some(-2));
    a.multiply_into(&every_third, &y.index(&[back]).unwrap(), true).unwrap();
    let found: Vec<f64> = elements(&y);
    for k in 0..80 {
        let sum = if k % 2 == 1 { 100.0 + wanted[39 - k / 2] } else { 100.0 };
        assert_eq!(found[k], sum, "element {k}");
    }
    // In one array, and into single precision.
    let square = random([50, 50], 9, Rows::Canonical, 8);
    let x = vector(&ctx, &picked);
    upload(&ctx, &square).multiply_into(&x, &x, false).unwrap();
    assert_eq!(elements::<f64>(&x), product(&square, &picked, 1));
    let single = GpuArray::empty(&ctx, &[40], DType::F32, Order::C).unwrap();
    a.multiply_into(&vector(&ctx, &picked), &single, false).unwrap();
    assert_eq!(numbers(&single), wanted);
}

#[test]
fn nan_and_infinity_reach_the_rows_that_have_them() {
    for ctx in devices() {
        let host = random([200, 64], 10, Rows::Canonical, 9);
        let a = upload(&ctx, &host);
        let mut x = Random(10).whole_numbers(64, 1, 5);
        (x[17], x[40]) = (f64::NAN, f64::INFINITY);
        let wanted = product(&host, &x, 1);
        for (name, plan) in plans(&a) {
            // Dense blocks and diagonals multiply what is stored between elements, too.
            if name.starts_with("blocks") && name != "blocks of 1" {
                continue;
            }
            let y = a.clone().with_plan(plan).unwrap().multiply(&vector(&ctx, &x)).unwrap();
            if name == "diagonals" {
                let found: Vec<f64> = elements(&y);
                assert!(wanted.iter().zip(&found).all(|(wanted, found)| !wanted.is_nan() || found.is_nan()));
            } else {
                assert_close(&elements(&y), &wanted, 0.0, &name);
            }
        }
    }
}

#[test]
fn transposes_of_any_matrix_ascend() {
    let mut random_numbers = Random(11);
    for ctx in devices() {
        let more = (0..12).map(|seed| {
            let shape = [random_numbers.below(150), random_numbers.below(150)];
            ("random", random(shape, 25, Rows::Unordered, 100 + seed))
        });
        for (name, host) in edges().into_iter().chain(more.collect::<Vec<_>>()) {
            let turned = transposed(&upload(&ctx, &host), false).unwrap();
            assert_eq!(turned.shape(), [host.shape[1], host.shape[0]], "{name}");
            assert!(turned.has_sorted_indices(false).unwrap(), "{name}");
            let x = random_numbers.whole_numbers(host.shape[0], -5, 5);
            let y = elements::<f64>(&turned.multiply(&vector(&ctx, &x)).unwrap());
            assert_eq!(y, product(&transpose(&host), &x, 1), "{name}");
            let again = transposed(&turned, true).unwrap();
            assert_eq!(
                crate::host_matrices::dense(&crate::host_matrices::download(&again)),
                crate::host_matrices::dense(&host),
                "{name}"
            );
        }
    }
}

#[test]
fn what_does_not_fit_is_named() {
    let ctx = context();
    let host = random([6, 4], 3, Rows::Canonical, 12);
    let a = upload(&ctx, &host);
    let x = |n: usize| vector(&ctx, &vec![1.0; n]);
    assert_eq!(message(a.multiply(&x(6))), "dimension mismatch: x has shape (6,); expected (4,)");
    assert_eq!(
        message(a.multiply(&array(&ctx, &[4, 1], &[1.0; 4]))),
        "dimension mismatch: x has shape (4, 1); expected (4,)"
    );
    assert_eq!(message(a.multiply_into(&x(4), &x(5), false)), "dimension mismatch: y has shape (5,); expected (6,)");
    let complex = vector(&ctx, &[[1.0, 0.0]; 4]);
    let refused = a.multiply_into(&complex, &x(6), false).unwrap_err();
    assert!(refused.kind() == ArrayErrorKind::Type && refused.to_string().contains("expected complex64 or complex128"));
    assert_eq!(
        message(a.clone().with_plan(SpmvPlan::Rows { lanes: 3 })),
        "lanes is 3; expected a power of two up to 32"
    );
    let sell = Sell::from_csr(&upload(&ctx, &transpose(&host)), 1, f64::INFINITY).unwrap().unwrap();
    assert_eq!(message(a.clone().with_plan(sell.clone())), "the plan has shape (4, 6); expected (6, 4)");
    let shared = x(10);
    let part = |first: isize, last: isize| shared.index(&[Index::from(first..last)]).unwrap();
    assert_eq!(
        message(ProductFormat::multiply_into(&sell, &part(0, 6), &part(5, 9), false)),
        "y is not contiguous, or shares memory with x"
    );
    assert_eq!(message(Sell::from_csr(&a, 0, 9.0)), "sigma is 0; expected at least 1 row");
    assert_eq!(message(Bsr::from_csr(&a, 4, 9.0)), "no blocks of size 4 divide 6 rows, 4 columns");
    assert_eq!(message(Bsr::from_csr(&a, 7, 9.0)), "no blocks of size 7 divide 6 rows, 4 columns");
    let [data, indices, indptr] = [a.data(), a.indices(), a.indptr()].map(GpuArray::clone);
    let short = indices.index(&[Index::from(1..)]).unwrap();
    assert_eq!(
        message(Csr::new([6, 4], data.clone(), short, indptr.clone())),
        format!("indices and data should have the same size: {} and {}", host.data.len() - 1, host.data.len())
    );
    assert_eq!(
        message(Csr::new([5, 4], data.clone(), indices.clone(), indptr.clone())),
        "index pointer size 7 should be 6"
    );
    let wide = indptr.astype(DType::I64).unwrap();
    assert!(Csr::new([6, 4], data.clone(), indices.clone(), wide).is_err(), "one dtype of indices");
    let floats = [&indices, &indptr].map(|list| list.astype(DType::F32).unwrap());
    let [float_indices, float_indptr] = floats;
    assert!(Csr::new([6, 4], data, float_indices, float_indptr).is_err(), "indices are integers");
    let cube = array(&ctx, &[2, 2, 1], &[1.0; 4]);
    let one = |n: i32| vector(&ctx, &[n]);
    assert_eq!(
        message(Bsr::new([5, 4], cube.clone(), one(0), one(0))),
        "blocks of (2, 1) do not divide the shape (5, 4)"
    );
    assert!(message(Bsr::new([2, 2], x(4), one(0), one(0))).contains("data has shape (4,); expected three axes"));
    let offsets = vector(&ctx, &[0i64, 1]);
    assert!(message(Dia::new([4, 4], x(4), offsets)).contains("expected contiguous arrays, and an int64 offset"));
}

#[test]
fn kernels_of_plans_are_compiled_ahead() {
    let ctx = crate::contexts::context_claiming(crate::fake_device::LARGE_GPU);
    let a = upload(&ctx, &random([64, 64], 5, Rows::Canonical, 13));
    compile_plan_kernels(&a).unwrap();
    let compiled = ctx.kernel_cache_usage().inserted;
    for plan in [SpmvPlan::Rows { lanes: 8 }, SpmvPlan::MergePath] {
        a.clone().with_plan(plan).unwrap().multiply(&vector(&ctx, &[1.0; 64])).unwrap();
    }
    assert_eq!(ctx.kernel_cache_usage().inserted, compiled);
}
