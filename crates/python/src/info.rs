//! What `python -m pycuda` prints.

use pyo3::prelude::*;
use rtcg::info::{Details, report as text_of};

/// The report of `rtcg-info`.
#[pyfunction]
#[pyo3(signature = (*, attributes=false, functions=false))]
fn report(py: Python<'_>, attributes: bool, functions: bool) -> String {
    py.detach(|| text_of(Details { attributes, functions }))
}

pub(crate) fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(report, m)?)
}
