//! Matrices of the host: made at random, with all that is legal, and what their products are by definition.

use crate::contexts;
use crate::host_arrays::{Random, elements, vector};
use rtcg_array::GpuArray;
use rtcg_hal::{ArrayContext, DType};
use rtcg_sparse::Csr;
use rtcg_sparse::gallery::HostCsr;
use std::sync::Arc;

/// The device as it is, and as a large GPU: most kernels of one are not those of the other.
pub(crate) fn devices() -> [Arc<ArrayContext>; 2] {
    [contexts::context(), contexts::large_gpu()]
}

/// The matrix on a device, with indices of 32 bits.
pub(crate) fn upload(ctx: &Arc<ArrayContext>, host: &HostCsr) -> Csr {
    upload_as(ctx, host, DType::F64, DType::I32)
}

pub(crate) fn upload_as(ctx: &Arc<ArrayContext>, host: &HostCsr, value: DType, index: DType) -> Csr {
    let [indices, indptr] = [&host.indices, &host.indptr].map(|list| vector(ctx, list).astype(index).unwrap());
    Csr::new(host.shape, vector(ctx, &host.data).astype(value).unwrap(), indices, indptr).unwrap()
}

/// The matrix of the host again.
pub(crate) fn download(csr: &Csr) -> HostCsr {
    let [indices, indptr] = [csr.indices(), csr.indptr()].map(|list| elements(&list.astype(DType::I64).unwrap()));
    HostCsr { shape: csr.shape(), indptr, indices, data: numbers(csr.data()) }
}

/// Elements of any dtype, as doubles.
pub(crate) fn numbers(array: &GpuArray) -> Vec<f64> {
    elements(&array.astype(DType::F64).unwrap())
}

/// The elements of a row with their columns.
pub(crate) fn row(host: &HostCsr, i: usize) -> impl Iterator<Item = (usize, f64)> {
    (host.indptr[i] as usize..host.indptr[i + 1] as usize).map(|k| (host.indices[k] as usize, host.data[k]))
}

/// All elements in C order; those of one place are added up.
pub(crate) fn dense(host: &HostCsr) -> Vec<f64> {
    let [rows, columns] = host.shape;
    let mut all = vec![0.0; rows * columns];
    for i in 0..rows {
        row(host, i).for_each(|(j, value)| all[i * columns + j] += value);
    }
    all
}

/// The product with a matrix of so many columns, in C order.
pub(crate) fn product(host: &HostCsr, x: &[f64], columns: usize) -> Vec<f64> {
    let mut y = vec![0.0; host.shape[0] * columns];
    for i in 0..host.shape[0] {
        for (j, value) in row(host, i) {
            (0..columns).for_each(|k| y[i * columns + k] += value * x[j * columns + k]);
        }
    }
    y
}

pub(crate) fn transpose(host: &HostCsr) -> HostCsr {
    let mut rows = vec![Vec::new(); host.shape[1]];
    for i in 0..host.shape[0] {
        row(host, i).for_each(|(j, value)| rows[j].push((i, value)));
    }
    from_rows([host.shape[1], host.shape[0]], rows)
}

pub(crate) fn from_rows(shape: [usize; 2], rows: Vec<Vec<(usize, f64)>>) -> HostCsr {
    let (mut indptr, mut indices, mut data) = (vec![0], Vec::new(), Vec::new());
    for row in rows {
        indices.extend(row.iter().map(|&(column, _)| column as i64));
        data.extend(row.iter().map(|&(_, value)| value));
        indptr.push(indices.len() as i64);
    }
    HostCsr { shape, indptr, indices, data }
}

/// How rows of a random matrix look.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Rows {
    /// Columns ascend, and none is twice in a row.
    Canonical,
    /// Columns are in any order, and some are there several times.
    Unordered,
}

/// A matrix whose rows have 0 to `longest` elements: whole numbers from -4 to 4, so that sums of products are exact. A
/// quarter of the rows is empty.
pub(crate) fn random(shape: [usize; 2], longest: usize, rows: Rows, seed: u64) -> HostCsr {
    let mut random = Random(seed);
    let all = (0..shape[0]).map(|_| {
        let length = if shape[1] == 0 || random.below(4) == 0 { 0 } else { random.below(longest + 1) };
        let mut list: Vec<(usize, f64)> =
            (0..length).map(|_| (random.below(shape[1]), random.integer(-4, 4) as f64)).collect();
        if rows == Rows::Canonical {
            list.sort_by_key(|&(column, _)| column);
            list.dedup_by_key(|&mut (column, _)| column);
        }
        list
    });
    let all = all.collect();
    from_rows(shape, all)
}

/// Matrices at the edges: without rows, columns or elements, with one of each, with one long row or column, with
/// duplicates; and larger ones whose rows are alike, or not.
pub(crate) fn edges() -> Vec<(&'static str, HostCsr)> {
    let empty = |shape: [usize; 2]| from_rows(shape, vec![Vec::new(); shape[0]]);
    let mut last_row_only = vec![Vec::new(); 70];
    last_row_only[69] = vec![(3, 2.0), (69, -1.0)];
    let long: Vec<(usize, f64)> = (0..5000).map(|j| (j, (j % 7) as f64 - 3.0)).collect();
    let twice = vec![vec![(2, 1.0), (0, 3.0), (2, 2.0), (2, -3.0)], vec![], vec![(1, 4.0), (1, 4.0)], vec![(0, 1.0)]];
    let mut skewed = vec![vec![(1, 1.0)]; 3000];
    skewed[1500] = (0..3000).map(|j| (j, (j % 5) as f64 - 2.0)).collect();
    vec![
        ("nothing", empty([0, 0])),
        ("no rows", empty([0, 5])),
        ("no columns", empty([5, 0])),
        ("no elements", empty([3, 4])),
        ("one element", from_rows([1, 1], vec![vec![(0, -3.0)]])),
        ("one place", empty([1, 1])),
        ("the last row only", from_rows([70, 70], last_row_only)),
        ("one long row", from_rows([1, 5000], vec![long])),
        ("one long column", from_rows([5000, 1], (0..5000).map(|i| vec![(0, (i % 9) as f64)]).collect())),
        ("duplicates", from_rows([4, 3], twice)),
        ("one long row of many", from_rows([3000, 3000], skewed)),
        ("random rows", random([300, 420], 40, Rows::Canonical, 1)),
        ("rows in any order", random([301, 120], 30, Rows::Unordered, 2)),
    ]
}
