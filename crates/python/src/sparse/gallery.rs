//! The matrices of `rtcg.sparse.gallery`.

use numpy::PyArray1;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rtcg::sparse::gallery;

/// A matrix of `rtcg.sparse.gallery` by name: shape, data, indices, indptr.
#[pyfunction]
#[allow(clippy::type_complexity, reason = "three arrays")]
fn sparse_gallery<'py>(
    py: Python<'py>,
    name: &str,
    lengths: Vec<usize>,
    number: f64,
    seed: u64,
) -> PyResult<([usize; 2], Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<i64>>)> {
    let made = py.detach(|| {
        Some(match (name, lengths.as_slice()) {
            ("poisson", lengths) => gallery::poisson(lengths),
            ("poisson_box", lengths) => gallery::poisson_box(lengths),
            ("anisotropic", &[rows, columns]) => gallery::anisotropic([rows, columns], number),
            ("convection_diffusion", &[rows, columns]) => gallery::convection_diffusion([rows, columns], number),
            ("rmat", &[scale, edge_factor]) if scale < 32 => gallery::rmat(scale as u32, edge_factor, seed),
            ("power_law", &[n, links]) => gallery::power_law(n, links, seed),
            ("banded", &[n, bandwidth, row_length]) => gallery::banded(n, bandwidth, row_length, seed),
            ("circuit", &[n, dense]) => gallery::circuit(n, dense, seed),
            ("linear_program", &[rows, columns, length]) => gallery::linear_program([rows, columns], length, seed),
            ("block_diagonal", &[n, block]) => gallery::block_diagonal(n, block, seed),
            ("arrow", &[n]) => gallery::arrow(n),
            ("elasticity", lengths @ ([_, _] | [_, _, _])) => gallery::elasticity(lengths, 1.0, number),
            ("delaunay", &[side, is_permuted]) => gallery::delaunay(side, is_permuted > 0, seed),
            ("quadratic_tetrahedra", &[x, y, z]) => gallery::quadratic_tetrahedra([x, y, z]),
            ("discontinuous", &[rows, columns, block]) => gallery::discontinuous([rows, columns], block, seed),
            ("road_network", &[side]) => gallery::road_network(side, seed),
            _ => return None,
        })
    });
    let Some(matrix) = made else {
        return Err(PyValueError::new_err(format!("'{name}' of {lengths:?} is no matrix of the gallery")));
    };
    let [indices, indptr] = [matrix.indices, matrix.indptr].map(|list| PyArray1::from_vec(py, list));
    Ok((matrix.shape, PyArray1::from_vec(py, matrix.data), indices, indptr))
}

pub(crate) fn add_to_module(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(sparse_gallery, m)?)
}
