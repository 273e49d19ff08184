//! `rtcg.cgen`: expressions, and the text of trees whose nodes are Python objects.

mod classes;
mod expr;
mod transform;
mod walk;

use numpy::PyArrayDescr;
use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;
use rtcg::cgen::dtype::Dtype;
use rtcg::cgen::tree::{literal_lines, struct_layout};

/// The type that NumPy makes of `dtype`.
pub(crate) fn dtype_of(dtype: &Bound<'_, PyAny>) -> PyResult<Dtype> {
    let numpy_dtype = match dtype.cast::<PyArrayDescr>() {
        Ok(numpy_dtype) => numpy_dtype.clone().into_any(),
        Err(_) => dtype.py().import("numpy")?.getattr("dtype")?.call1((dtype,))?,
    };
    let code: String = numpy_dtype.getattr(intern!(dtype.py(), "str"))?.extract()?;
    let unknown = |_| PyValueError::new_err(format!("unable to map dtype '{numpy_dtype}'"));
    Dtype::from_numpy(&code).map_err(unknown)
}

/// The name of a dtype in C, a str such as ``"unsigned char"``; raises `ValueError` for a dtype without a name.
#[pyfunction]
fn cgen_ctype(dtype: Option<Bound<'_, PyAny>>) -> PyResult<&'static str> {
    let dtype = dtype.ok_or_else(|| PyValueError::new_err("dtype may not be None"))?;
    Ok(dtype_of(&dtype)?.ctype())
}

/// The name of a dtype in OpenCL C, a str such as ``"uchar"``; raises `ValueError` for a dtype without a name.
#[pyfunction]
fn cgen_cltype(dtype: Option<Bound<'_, PyAny>>) -> PyResult<&'static str> {
    let dtype = dtype.ok_or_else(|| PyValueError::new_err("dtype may not be None"))?;
    dtype_of(&dtype)?.cltype().map_err(|error| PyValueError::new_err(error.to_string()))
}

/// The member offsets, size and trailing padding of a structure whose members have these sizes and alignments.
#[pyfunction]
fn cgen_struct_layout(
    members: Vec<(usize, usize)>,
    align_bytes: usize,
    prime_to: Vec<usize>,
) -> PyResult<(Vec<usize>, usize, usize)> {
    let layout = struct_layout(&members, Some(align_bytes), &prime_to).ok_or_else(|| {
        PyValueError::new_err(format!(
            "no size fits align_bytes={align_bytes} and aligned_prime_to={prime_to:?}; both take positive integers"
        ))
    })?;
    Ok((layout.offsets, layout.nbytes, layout.pad_bytes))
}

/// The lines of a text that starts with a newline, without their common indentation.
#[pyfunction]
fn cgen_literal_lines(text: &str) -> PyResult<Vec<String>> {
    literal_lines(text).map_err(PyValueError::new_err)
}

/// A name, a str, that is unique in this process.
#[pyfunction]
fn cgen_fresh(stem: &str) -> String {
    rtcg::cgen::names::fresh(stem)
}

/// Unique names with a counter of their own, so that the same program gets the same names whenever it is built.
#[pyclass(name = "Names", module = "rtcg.cgen")]
#[derive(Default)]
struct PyNames(rtcg::cgen::names::Names);

#[pymethods]
impl PyNames {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// The next name with this stem.
    fn fresh(&mut self, stem: &str) -> String {
        self.0.fresh(stem)
    }
}

pub(crate) fn add_to_module(m: &Bound<'_, PyModule>) -> PyResult<()> {
    add_contents! { m, classes expr::PyExpr, expr::PyVar, PyNames; }?;
    for function in [
        wrap_pyfunction!(cgen_ctype, m)?,
        wrap_pyfunction!(cgen_cltype, m)?,
        wrap_pyfunction!(cgen_struct_layout, m)?,
        wrap_pyfunction!(cgen_literal_lines, m)?,
        wrap_pyfunction!(cgen_fresh, m)?,
        wrap_pyfunction!(transform::cgen_split, m)?,
        wrap_pyfunction!(transform::cgen_unroll, m)?,
        wrap_pyfunction!(transform::cgen_stage, m)?,
        wrap_pyfunction!(transform::cgen_vectorise, m)?,
        wrap_pyfunction!(transform::cgen_double_buffer, m)?,
        wrap_pyfunction!(walk::cgen_lines, m)?,
        wrap_pyfunction!(walk::cgen_text, m)?,
        wrap_pyfunction!(walk::cgen_declarator, m)?,
    ] {
        m.add_function(function)?;
    }
    Ok(())
}
