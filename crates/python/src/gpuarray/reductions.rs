//! Reductions: methods, and the one function that the module's reductions call.

use super::operands::{parse_optional_dtype, parse_scalar, require_array};
use super::transfer::run_in_stream;
use super::views::parse_axes;
use super::{PyGpuArray, to_py_result};
use crate::driver::stream::PyStream;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyBool;
use rtcg::array::{GpuArray, ReduceOptions, ReductionOp, Statistic};

enum ReductionKind {
    Reduction(ReductionOp),
    Statistic(Statistic),
    /// The widest distance of two elements.
    Range,
}

fn reduction_kind_by_name(name: &str) -> PyResult<ReductionKind> {
    Ok(ReductionKind::Reduction(match name {
        "sum" => ReductionOp::Sum,
        "prod" => ReductionOp::Product,
        "min" => ReductionOp::Minimum,
        "max" => ReductionOp::Maximum,
        "any" => ReductionOp::Any,
        "all" => ReductionOp::All,
        "argmin" => ReductionOp::ArgMinimum,
        "argmax" => ReductionOp::ArgMaximum,
        "count_nonzero" => ReductionOp::CountNonzero,
        "mean" => return Ok(ReductionKind::Statistic(Statistic::Mean)),
        "var" => return Ok(ReductionKind::Statistic(Statistic::Variance)),
        "std" => return Ok(ReductionKind::Statistic(Statistic::StandardDeviation)),
        "ptp" => return Ok(ReductionKind::Range),
        other => return Err(PyTypeError::new_err(format!("'{other}' is no reduction"))),
    }))
}

fn compute_reduction(
    array: &GpuArray,
    what: &ReductionKind,
    ddof: f64,
    options: ReduceOptions<'_>,
) -> rtcg::array::Result<GpuArray> {
    match what {
        ReductionKind::Reduction(reduction) => array.reduce(*reduction, options),
        ReductionKind::Statistic(statistic) => array.reduce_statistic(*statistic, ddof, options),
        ReductionKind::Range => {
            let high = array.reduce(ReductionOp::Maximum, options)?;
            let low = array.reduce(ReductionOp::Minimum, ReduceOptions { out: None, ..options })?;
            rtcg::array::binary_with_power_shortcuts(
                array.context(),
                rtcg::array::Op::Subtract,
                (&high).into(),
                (&low).into(),
                options.out,
            )
        }
    }
}

/// `name` (as NumPy calls the method) of `a` over `axis`.
#[pyfunction]
#[pyo3(signature = (a, name, axis = None, dtype = None, out = None, keepdims = false, initial = None, r#where = None, ddof = 0.0, stream = None, allocator = None))]
#[allow(clippy::too_many_arguments, reason = "NumPy's keywords")]
pub(super) fn reduce_array<'py>(
    a: &Bound<'py, PyGpuArray>,
    name: &str,
    axis: Option<&Bound<'py, PyAny>>,
    dtype: Option<&Bound<'py, PyAny>>,
    out: Option<&Bound<'py, PyGpuArray>>,
    keepdims: bool,
    initial: Option<&Bound<'py, PyAny>>,
    r#where: Option<&Bound<'py, PyAny>>,
    ddof: f64,
    stream: Option<&Bound<'py, PyStream>>,
    allocator: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = a.py();
    let array = &a.get().current_state().array;
    let (what, axes, dtype) = (reduction_kind_by_name(name)?, parse_axes(axis)?, parse_optional_dtype(py, dtype)?);
    let counts_all =
        |mask: &Bound<'py, PyAny>| mask.is_none() || mask.cast::<PyBool>().is_ok_and(|mask| mask.is_true());
    let mask = match r#where.filter(|mask| !counts_all(mask)) {
        Some(mask) => Some(require_array(array.context(), mask)?),
        None => None,
    };
    let initial = match initial.filter(|initial| !initial.is_none()) {
        Some(value) => parse_scalar(value)?,
        None => None,
    };
    let target = out.map(|out| out.get().current_state());
    let out_array = target.as_deref().map(|target| &target.array);
    let options =
        ReduceOptions { axes: axes.as_deref(), keepdims, dtype, out: out_array, mask: mask.as_ref(), initial };
    let given = allocator.filter(|allocator| !allocator.is_none()).map(|allocator| allocator.clone().unbind());
    let own = a.get().current_state();
    let source = given.as_ref().or(own.allocator.as_ref());
    let compute = || PyGpuArray::with_optional_allocator(py, source, || compute_reduction(array, &what, ddof, options));
    let result = run_in_stream(stream, || to_py_result(py, compute()))?;
    match out {
        Some(out) => Ok(out.clone().into_any()),
        None => PyGpuArray::new_like(a, result),
    }
}

type BoundAny<'py> = Bound<'py, PyAny>;
type OutArray<'a, 'py> = Option<&'a Bound<'py, PyGpuArray>>;

macro_rules! reduction_methods {
    ($($name:ident $text:literal $doc:literal;)*) => {
        #[pymethods]
        impl PyGpuArray {
            $(
                #[doc = $doc]
                #[pyo3(signature = (axis = None, dtype = None, out = None, keepdims = false, initial = None, r#where = None, stream = None))]
                #[allow(clippy::too_many_arguments, reason = "NumPy's keywords")]
                fn $name<'py>(
                    slf: &Bound<'py, Self>,
                    axis: Option<&BoundAny<'py>>,
                    dtype: Option<&BoundAny<'py>>,
                    out: OutArray<'_, 'py>,
                    keepdims: bool,
                    initial: Option<&BoundAny<'py>>,
                    r#where: Option<&BoundAny<'py>>,
                    stream: Option<&Bound<'py, PyStream>>,
                ) -> PyResult<BoundAny<'py>> {
                    reduce_array(slf, $text, axis, dtype, out, keepdims, initial, r#where, 0.0, stream, None)
                }
            )*
        }
    };
}

reduction_methods! {
    sum "sum"
"The sum of all elements, or along `axis`, as an array on the device; does not wait.

`axis` is None (all), an int or a tuple of int. The sum has `dtype`; by default, narrower integers are widened
to 64 bits as by `numpy.sum`. `initial` is added, elements where `where` is false are left out, and `keepdims`
keeps reduced axes with length 1.";
    prod "prod" "The product of all elements, or along `axis`; does not wait. Parameters are those of `sum`.";
    mean "mean"
"The mean of all elements, or along `axis`, as an array on the device; does not wait.

Integers are averaged in float64. Parameters are those of `sum`.";
}

macro_rules! allocator_reduction_methods {
    ($($name:ident $text:literal $doc:literal;)*) => {
        #[pymethods]
        impl PyGpuArray {
            $(
                #[doc = $doc]
                #[pyo3(signature = (axis = None, out = None, keepdims = false, initial = None, r#where = None, stream = None, allocator = None))]
                #[allow(clippy::too_many_arguments, reason = "NumPy's keywords")]
                fn $name<'py>(
                    slf: &Bound<'py, Self>,
                    axis: Option<&BoundAny<'py>>,
                    out: OutArray<'_, 'py>,
                    keepdims: bool,
                    initial: Option<&BoundAny<'py>>,
                    r#where: Option<&BoundAny<'py>>,
                    stream: Option<&Bound<'py, PyStream>>,
                    allocator: Option<&BoundAny<'py>>,
                ) -> PyResult<BoundAny<'py>> {
                    // Upstream's first argument of `any` and `all` is a stream.
                    if let Some(stream) = axis.and_then(|axis| axis.cast::<PyStream>().ok()) {
                        return reduce_array(slf, $text, None, None, out, keepdims, initial, r#where, 0.0, Some(stream), allocator);
                    }
                    reduce_array(slf, $text, axis, None, out, keepdims, initial, r#where, 0.0, stream, allocator)
                }
            )*
        }
    };
}

allocator_reduction_methods! {
    min "min"
"The smallest element, or those along `axis`, as an array; NaN if any element is. Does not wait.

Raises `ValueError` if there are no elements and no `initial`.";
    max "max"
"The largest element, or those along `axis`, as an array; NaN if any element is. Does not wait.

Raises `ValueError` if there are no elements and no `initial`.";
    any "any"
"Whether any element, or any along `axis`, is true: an array of bool, by default without axes.

`axis` is None, an int or a tuple of int; `keepdims` keeps reduced axes with length 1. Does not wait.";
    all "all"
"Whether all elements, or those along `axis`, are true: an array of bool, by default without axes.

`axis` is None, an int or a tuple of int; `keepdims` keeps reduced axes with length 1. Does not wait.";
    ptp "ptp" "The largest element minus the smallest, of all or along `axis`; does not wait.";
}

#[pymethods]
impl PyGpuArray {
    /// The variance of all elements, or along `axis`, with the divisor ``n - ddof``; does not wait.
    ///
    /// In one pass over the memory, by Chan's parallel update of means and squared deviations.
    #[pyo3(signature = (axis = None, dtype = None, out = None, ddof = 0.0, keepdims = false, r#where = None, correction = None))]
    #[allow(clippy::too_many_arguments, reason = "NumPy's keywords")]
    fn var<'py>(
        slf: &Bound<'py, Self>,
        axis: Option<&BoundAny<'py>>,
        dtype: Option<&BoundAny<'py>>,
        out: OutArray<'_, 'py>,
        ddof: f64,
        keepdims: bool,
        r#where: Option<&BoundAny<'py>>,
        correction: Option<f64>,
    ) -> PyResult<BoundAny<'py>> {
        reduce_array(slf, "var", axis, dtype, out, keepdims, None, r#where, correction.unwrap_or(ddof), None, None)
    }

    /// The standard deviation, the square root of `var`; does not wait.
    #[pyo3(signature = (axis = None, dtype = None, out = None, ddof = 0.0, keepdims = false, r#where = None, correction = None))]
    #[allow(clippy::too_many_arguments, reason = "NumPy's keywords")]
    fn std<'py>(
        slf: &Bound<'py, Self>,
        axis: Option<&BoundAny<'py>>,
        dtype: Option<&BoundAny<'py>>,
        out: OutArray<'_, 'py>,
        ddof: f64,
        keepdims: bool,
        r#where: Option<&BoundAny<'py>>,
        correction: Option<f64>,
    ) -> PyResult<BoundAny<'py>> {
        reduce_array(slf, "std", axis, dtype, out, keepdims, None, r#where, correction.unwrap_or(ddof), None, None)
    }

    /// The index of the (first) smallest element, along `axis` or of the flattened array; does not wait.
    #[pyo3(signature = (axis = None, out = None, keepdims = false))]
    fn argmin<'py>(
        slf: &Bound<'py, Self>,
        axis: Option<&BoundAny<'py>>,
        out: OutArray<'_, 'py>,
        keepdims: bool,
    ) -> PyResult<BoundAny<'py>> {
        reduce_array(slf, "argmin", axis, None, out, keepdims, None, None, 0.0, None, None)
    }

    /// The index of the (first) largest element, along `axis` or of the flattened array; does not wait.
    #[pyo3(signature = (axis = None, out = None, keepdims = false))]
    fn argmax<'py>(
        slf: &Bound<'py, Self>,
        axis: Option<&BoundAny<'py>>,
        out: OutArray<'_, 'py>,
        keepdims: bool,
    ) -> PyResult<BoundAny<'py>> {
        reduce_array(slf, "argmax", axis, None, out, keepdims, None, None, 0.0, None, None)
    }
}
