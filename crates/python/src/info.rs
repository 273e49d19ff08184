//! What `python -m rtcg` prints, and where the driver's functions are.

use pyo3::prelude::*;
use rtcg::driver::{self, sys};
use rtcg::info::{ReportDetails, info_report as text_of};

/// The report of `rtcg-info`.
#[pyfunction]
#[pyo3(signature = (*, attributes=false, functions=false, unset_settings=false))]
fn installation_report(py: Python<'_>, attributes: bool, functions: bool, unset_settings: bool) -> String {
    py.detach(|| text_of(ReportDetails { attributes, functions, unset_settings }))
}

/// The address of a function of the real driver or of the virtual GPU, for tests that call drivers from C.
#[pyfunction]
#[pyo3(signature = (name, *, r#virtual))]
fn driver_function_address(name: &str, r#virtual: bool) -> Option<usize> {
    let table = if r#virtual { driver::virtual_table()? } else { sys::DriverTable::real_driver().ok()? };
    Some(table.function_pointer(sys::DriverFn::from_name(name)?)?.addr())
}

pub(crate) fn add_to_module(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(driver_function_address, m)?)?;
    m.add_function(wrap_pyfunction!(installation_report, m)?)
}
