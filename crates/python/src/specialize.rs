//! Native parts of `rtcg.specialize` that work on whole arrays. They run with the interpreter released.

use crate::array_calls::{ArrayArg, BoundAny, compute_array, compute_detached, core_array};
use crate::gpuarray::{PyGpuArray, parse_optional_dtype};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rtcg::array::ScanOp;
use rtcg::specialize::{CategoryOp, CategoryOptions, KMeansInit, KMeansOptions, category_reduce, histogram, kmeans};

fn category_op(name: &str, neutral: Option<String>) -> PyResult<CategoryOp> {
    Ok(match (name, neutral) {
        (expression, Some(neutral)) => CategoryOp::Custom { expression: expression.into(), neutral },
        ("count", _) => CategoryOp::Count,
        ("sum", _) => CategoryOp::Reduce(ScanOp::Sum),
        ("prod", _) => CategoryOp::Reduce(ScanOp::Product),
        ("max", _) => CategoryOp::Reduce(ScanOp::Maximum),
        ("min", _) => CategoryOp::Reduce(ScanOp::Minimum),
        ("mean", _) => CategoryOp::Mean,
        (other, _) => {
            let message = format!(
                "op is '{other}'; expected 'sum', 'prod', 'min', 'max', 'mean', 'count', or an expression of CUDA C \
                 together with neutral"
            );
            return Err(PyValueError::new_err(message));
        }
    })
}

/// The reduction of the values of each label; with a neutral element, `op` is an expression.
#[pyfunction]
#[pyo3(signature = (values, labels, n_labels, op, neutral, dtype, weights, is_ordered, has_known_labels=false))]
#[expect(clippy::too_many_arguments, reason = "a Python function's")]
fn specialize_category_reduce<'py>(
    values: ArrayArg<'_, 'py>,
    labels: ArrayArg<'_, 'py>,
    n_labels: usize,
    op: &str,
    neutral: Option<String>,
    dtype: Option<&BoundAny<'py>>,
    weights: Option<ArrayArg<'_, 'py>>,
    is_ordered: bool,
    has_known_labels: bool,
) -> PyResult<BoundAny<'py>> {
    let op = category_op(op, neutral)?;
    let dtype = parse_optional_dtype(values.py(), dtype)?;
    let (labels, weights) = (core_array(labels), weights.map(core_array));
    compute_array(values, |values| {
        let options = CategoryOptions { dtype, weights: weights.as_ref(), is_ordered, has_known_labels };
        category_reduce(values, &labels, n_labels, &op, options)
    })
}

/// Elements between edges, or sums of their weights.
#[pyfunction]
fn specialize_histogram<'py>(
    x: ArrayArg<'_, 'py>,
    edges: ArrayArg<'_, 'py>,
    bins_per_unit: f64,
    weights: Option<ArrayArg<'_, 'py>>,
) -> PyResult<BoundAny<'py>> {
    let (edges, weights) = (core_array(edges), weights.map(core_array));
    compute_array(x, |x| histogram(x, &edges, bins_per_unit, weights.as_ref()))
}

/// Centres, labels, inertia and iterations of k-means; without `centers`, `init` says how they are chosen.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "a Python function's")]
fn specialize_kmeans<'py>(
    x: ArrayArg<'_, 'py>,
    k: usize,
    init: &str,
    centers: Option<ArrayArg<'_, 'py>>,
    n_init: usize,
    max_iter: usize,
    tol: f64,
    dtype: Option<&BoundAny<'py>>,
    weights: Option<ArrayArg<'_, 'py>>,
    seed: u64,
) -> PyResult<(BoundAny<'py>, BoundAny<'py>, f64, usize)> {
    let dtype = parse_optional_dtype(x.py(), dtype)?;
    let (centers, weights) = (centers.map(core_array), weights.map(core_array));
    let init = match (&centers, init) {
        (Some(centers), _) => KMeansInit::Centers(centers),
        (None, "random") => KMeansInit::Random,
        (None, _) => KMeansInit::PlusPlus,
    };
    let options = KMeansOptions { init, n_init, max_iter, tol, dtype, weights: weights.as_ref(), seed };
    let found = compute_detached(x, |x| kmeans(x, k, &options))?;
    let [centers, labels] = [found.centers, found.labels].map(|array| PyGpuArray::new_like(x, array));
    Ok((centers?, labels?, found.inertia, found.n_iter))
}

pub(crate) fn add_to_module(m: &Bound<'_, PyModule>) -> PyResult<()> {
    add_contents! { m, functions specialize_category_reduce, specialize_histogram, specialize_kmeans; }
}
