//! Operations on two matrices: products, with all that cancels, and elementwise functions.

use crate::contexts::context;
use crate::host_arrays::{Random, message};
use crate::host_matrices::{
    Rows, dense, devices, download, edges, from_rows, numbers, product, random, transpose, upload, upload_as,
};
use rtcg_hal::DType;
use rtcg_sparse::gallery::{self, HostCsr};
use rtcg_sparse::{Csr, ElementOp};

/// Checks that a matrix is canonical, without zeros, and has these elements in C order.
fn assert_is(found: &Csr, wanted: &[f64], what: &str) {
    assert!(found.has_sorted_indices(true).unwrap(), "{what}: columns ascend strictly");
    let host = download(found);
    assert!(host.data.iter().all(|&value| value != 0.0), "{what}: zeros are dropped");
    assert!(dense(&host) == wanted, "{what}");
    assert_eq!(found.nnz(), wanted.iter().filter(|&&value| value != 0.0).count(), "{what}");
}

/// The product of matrices by their definition, in C order.
fn dense_product(a: &HostCsr, b: &HostCsr) -> Vec<f64> {
    product(a, &dense(b), b.shape[1])
}

fn check_product(name: &str, a: &HostCsr, b: &HostCsr) {
    let wanted = dense_product(a, b);
    for ctx in devices() {
        let [left, right] = [a, b].map(|host| upload(&ctx, host));
        for has_thread_rows in [false, true] {
            let made = left.multiply_sparse_by(&right, has_thread_rows).unwrap();
            assert_eq!(made.shape(), [a.shape[0], b.shape[1]]);
            assert_is(&made, &wanted, name);
        }
    }
}

#[test]
fn products_of_matrices_at_the_edges_are_exact() {
    for (name, host) in edges() {
        // The square of a long column with its row is a matrix of many elements.
        if host.shape[0] * host.shape[0] < 1_000_000 {
            check_product(name, &host, &transpose(&host));
        }
    }
    let skewed = (0..400).map(|i| if i == 150 { (0..400).map(|j| (j, 1.0)).collect() } else { vec![(1, 2.0)] });
    let skewed = from_rows([400, 400], skewed.collect());
    check_product("one long row of many", &skewed, &skewed);
    let nothing = from_rows([3, 0], vec![vec![]; 3]);
    check_product("an inner length of 0", &nothing, &from_rows([0, 4], vec![]));
}

#[test]
fn products_of_random_matrices_are_exact() {
    let mut sizes = Random(1);
    for seed in 0..15 {
        let [m, k, n] = [0; 3].map(|_| 1 + sizes.below(120));
        let rows = if seed % 3 == 0 { Rows::Unordered } else { Rows::Canonical };
        let a = random([m, k], 1 + sizes.below(30), rows, 2 * seed);
        let b = random([k, n], 1 + sizes.below(30), rows, 2 * seed + 1);
        check_product(&format!("{m} x {k} x {n}, seed {seed}"), &a, &b);
    }
}

#[test]
fn rows_of_every_size_have_a_kernel() {
    // Rows of 0 to 6000 elements in the product: tables of all sizes, and bitmaps.
    let lengths = [0, 1, 2, 31, 32, 33, 100, 255, 256, 257, 511, 513, 1000, 1025, 2049, 4000, 4097, 6000];
    let left = lengths.iter().map(|&length| (0..length).map(|j| (j, 1.0 + (j % 3) as f64)).collect()).collect();
    let right = (0..6000).map(|i| vec![(i * 7 % 6000, 1.0), (i * 11 % 6000, -2.0)]).collect();
    check_product("rows of all sizes", &from_rows([lengths.len(), 6000], left), &from_rows([6000, 6000], right));
}

#[test]
fn everything_may_cancel() {
    // Rows of pairs that are each other's negatives: (A | -A) (B over B) is 0.
    let (a, b) = (random([80, 50], 20, Rows::Canonical, 4), random([50, 70], 20, Rows::Canonical, 5));
    let both = (0..80).map(|i| {
        let row: Vec<_> = crate::host_matrices::row(&a, i).collect();
        row.iter().copied().chain(row.iter().map(|&(j, value)| (j + 50, -value))).collect()
    });
    let both = from_rows([80, 100], both.collect());
    let twice = (0..100).map(|i| crate::host_matrices::row(&b, i % 50).collect());
    let twice = from_rows([100, 70], twice.collect());
    check_product("all of it cancels", &both, &twice);
    // All but one element.
    let mut almost = both.clone();
    let place = almost
        .indices
        .iter()
        .position(|&j| j as usize >= 50 && twice.indptr[j as usize] < twice.indptr[j as usize + 1]);
    almost.data[place.expect("an element of a row that is not empty")] += 1.0;
    check_product("almost all of it cancels", &almost, &twice);
}

#[test]
fn products_have_the_common_dtype_and_the_wider_index() {
    let (a, b) = (random([60, 50], 9, Rows::Canonical, 6), random([50, 40], 9, Rows::Canonical, 7));
    let wanted = dense_product(&a, &b);
    for ctx in devices() {
        for (left, right, result) in [
            (DType::F32, DType::F32, DType::F32),
            (DType::I16, DType::I32, DType::I32),
            (DType::C64, DType::F64, DType::C128),
            (DType::F32, DType::F64, DType::F64),
        ] {
            let made = upload_as(&ctx, &a, left, DType::I64).multiply_sparse(&upload_as(&ctx, &b, right, DType::I32));
            let made = made.unwrap();
            assert_eq!((made.data().dtype(), made.indices().dtype()), (result, DType::I64));
            assert_eq!(dense(&download(&made)), wanted, "{left} and {right}");
        }
    }
}

#[test]
fn powers_of_a_large_matrix_are_those_of_vectors() {
    for ctx in devices() {
        let host = gallery::rmat(11, 6, 3);
        let x = Random(8).whole_numbers(host.shape[1], 0, 2);
        let wanted = product(&host, &product(&host, &x, 1), 1);
        let a = upload(&ctx, &host);
        let square = a.multiply_sparse(&a).unwrap();
        assert_eq!(numbers(&square.multiply(&crate::host_arrays::vector(&ctx, &x)).unwrap()), wanted);
        assert!(square.has_sorted_indices(true).unwrap() && square.nnz() > 10 * a.nnz());
    }
}

#[test]
fn elementwise_functions_are_those_of_dense_matrices() {
    type OnHost = fn(f64, f64) -> f64;
    let operations: [(ElementOp, OnHost); 8] = [
        (ElementOp::Add, |a, b| a + b),
        (ElementOp::Subtract, |a, b| a - b),
        (ElementOp::Multiply, |a, b| a * b),
        (ElementOp::Maximum, f64::max),
        (ElementOp::Minimum, f64::min),
        (ElementOp::NotEqual, |a, b| f64::from(a != b)),
        (ElementOp::Less, |a, b| f64::from(a < b)),
        (ElementOp::Greater, |a, b| f64::from(a > b)),
    ];
    let empty = |shape: [usize; 2]| from_rows(shape, vec![vec![]; shape[0]]);
    for ctx in devices() {
        let mut pairs: Vec<(HostCsr, HostCsr)> = (0..4)
            .map(|seed| {
                let shape = [70 + 30 * seed as usize, 50];
                (random(shape, 20, Rows::Canonical, seed), random(shape, 30, Rows::Canonical, 50 + seed))
            })
            .collect();
        pairs.push((pairs[0].0.clone(), empty(pairs[0].0.shape)));
        pairs.push((pairs[0].0.clone(), pairs[0].0.clone()));
        pairs.push((empty([0, 3]), empty([0, 3])));
        pairs.push((empty([3, 0]), empty([3, 0])));
        for (a, b) in &pairs {
            let [left, right] = [a, b].map(|host| upload(&ctx, host));
            for (op, on_host) in operations {
                let wanted: Vec<f64> = dense(a).iter().zip(dense(b)).map(|(&a, b)| on_host(a, b)).collect();
                let made = left.combine(&right, op).unwrap();
                let is_comparison = matches!(op, ElementOp::NotEqual | ElementOp::Less | ElementOp::Greater);
                assert_eq!(made.data().dtype() == DType::Bool, is_comparison);
                assert_is(&made, &wanted, &format!("{op:?} of {:?}", a.shape));
            }
        }
    }
}

#[test]
fn nan_is_kept_by_extremes() {
    for ctx in devices() {
        let a = upload(&ctx, &from_rows([1, 4], vec![vec![(0, f64::NAN), (1, -1.0), (2, 2.0)]]));
        let b = upload(&ctx, &from_rows([1, 4], vec![vec![(1, f64::NAN), (2, 5.0), (3, -4.0)]]));
        for (op, last) in [(ElementOp::Maximum, vec![5.0]), (ElementOp::Minimum, vec![2.0, -4.0])] {
            for (left, right) in [(&a, &b), (&b, &a)] {
                let found = numbers(left.combine(right, op).unwrap().data());
                assert!(found[0].is_nan() && found[1].is_nan() && found[2..] == last, "{op:?}: {found:?}");
            }
        }
    }
}

#[test]
fn shapes_that_do_not_fit_are_named() {
    let ctx = context();
    let a = upload(&ctx, &random([6, 4], 3, Rows::Canonical, 9));
    assert_eq!(message(a.multiply_sparse(&a)), "dimension mismatch: (6, 4) and (6, 4)");
    let other = upload(&ctx, &random([4, 6], 3, Rows::Canonical, 9));
    assert_eq!(message(a.combine(&other, ElementOp::Add)), "inconsistent shapes (6, 4) and (4, 6)");
    let half = upload_as(&ctx, &random([4, 6], 3, Rows::Canonical, 9), DType::BF16, DType::I32);
    // Products of bfloat16 are of float32.
    assert_eq!(other.multiply_sparse(&upload(&ctx, &random([6, 2], 3, Rows::Canonical, 9))).unwrap().shape(), [4, 2]);
    let made = half.combine(&half, ElementOp::Add).unwrap();
    assert_eq!(made.data().dtype(), DType::F32);
}
