//! `rtcg.tune`: what tuning needs from the core.

mod array_decisions;
mod kernel_tuner;
mod measuring;
mod peer;
mod space;
mod store;
mod tuned_call;
mod tuner;
mod values;

use pyo3::prelude::*;

pub(crate) fn add_to_module(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<space::PyExpression>()?;
    m.add_class::<space::PySpace>()?;
    m.add_class::<space::PyTable>()?;
    m.add_class::<space::PySearch>()?;
    m.add_class::<array_decisions::PyArrayDecision>()?;
    m.add_class::<measuring::PyObjective>()?;
    m.add_class::<measuring::PyLaunchTimer>()?;
    m.add_class::<store::PyKernelKey>()?;
    m.add_class::<store::PyDeviceKey>()?;
    m.add_class::<store::PyStore>()?;
    m.add_class::<store::PyRecorder>()?;
    m.add_class::<store::PyRecords>()?;
    m.add_class::<store::PyPromise>()?;
    m.add_function(wrap_pyfunction!(kernel_tuner::read_kernel_tuner_cache, m)?)?;
    m.add_function(wrap_pyfunction!(kernel_tuner::write_kernel_tuner_cache, m)?)?;
    m.add_function(wrap_pyfunction!(measuring::pareto_front, m)?)?;
    m.add_function(wrap_pyfunction!(peer::exit_with_peer, m)?)?;
    m.add_function(wrap_pyfunction!(measuring::read_sensor, m)?)?;
    m.add_function(wrap_pyfunction!(store::default_results_folder, m)?)?;
    m.add_function(wrap_pyfunction!(array_decisions::record_array_decisions, m)?)?;
    m.add_function(wrap_pyfunction!(array_decisions::follow_stored_choices, m)?)?;
    m.add_function(wrap_pyfunction!(array_decisions::array_decisions, m)?)?;
    m.add_function(wrap_pyfunction!(space::parse_budget, m)?)?;
    m.add_function(wrap_pyfunction!(tuner::run_tuner, m)?)?;
    m.add_function(wrap_pyfunction!(tuner::kernel_parameters, m)?)?;
    m.add("OBJECTIVE_NAME", rtcg::tune::OBJECTIVE_NAME)?;
    m.add("TunedCall", tuned_call::tuned_call_class(m.py())?)
}
