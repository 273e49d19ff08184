//! `rtcg.tune`: what tuning needs from the core.

mod tuned_call;

use pyo3::prelude::*;

pub(crate) fn add_to_module(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add("TunedCall", tuned_call::tuned_call_class(m.py())?)
}
