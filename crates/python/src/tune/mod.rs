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
    add_contents! { m,
        classes space::PyExpression, space::PySpace, space::PyTable, space::PySearch, array_decisions::PyArrayDecision,
            measuring::PyObjective, measuring::PyLaunchTimer, store::PyKernelKey, store::PyDeviceKey, store::PyStore,
            store::PyRecorder, store::PyRecords, store::PyPromise;
        functions kernel_tuner::read_kernel_tuner_cache, kernel_tuner::write_kernel_tuner_cache,
            measuring::pareto_front, peer::exit_with_peer, measuring::read_sensor, store::default_results_folder,
            array_decisions::record_array_decisions, array_decisions::follow_stored_choices,
            array_decisions::array_decisions, space::parse_budget, tuner::run_tuner, tuner::kernel_parameters;
    }?;
    m.add("OBJECTIVE_NAME", rtcg::tune::OBJECTIVE_NAME)?;
    m.add("TunedCall", tuned_call::tuned_call_class(m.py())?)
}
