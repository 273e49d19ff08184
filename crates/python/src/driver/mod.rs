//! `rtcg.driver`.

use pyo3::prelude::*;

pub(crate) mod arguments;
pub(crate) mod cached_call;
pub(crate) mod call_matcher;
pub(crate) mod context;
mod copy;
mod copy_structure;
pub(crate) mod device;
pub(crate) mod device_pointer;
mod dlpack;
mod event;
pub(crate) mod fastcall;
pub(crate) mod function;
pub(crate) mod gl;
pub(crate) mod graph;
mod graph_capture;
mod graph_exec;
mod graph_node;
mod graph_node_params;
mod host_memory;
mod in_flight_buffers;
mod launch_geometry;
mod launch_keywords;
mod library;
pub(crate) mod memory;
mod memory_pool;
pub(crate) mod module;
pub(crate) mod pool;
mod prepared_call;
pub(crate) mod stream;
mod structured_copy;
pub(crate) mod texture;
pub(crate) mod virtual_memory;

/// How notebooks show an object: what a function of `rtcg._display` makes of it.
pub(crate) fn notebook_html<'py, T>(function: &str, owner: &Bound<'py, T>) -> PyResult<Bound<'py, PyAny>> {
    owner.py().import("rtcg._display")?.getattr(function)?.call1((owner.as_any(),))
}

pub(crate) fn add_to_module(m: &Bound<'_, PyModule>) -> PyResult<()> {
    device::add_to_module(m)?;
    gl::add_to_module(m)?;
    context::add_to_module(m)?;
    stream::add_to_module(m)?;
    event::add_to_module(m)?;
    memory::add_to_module(m)?;
    host_memory::add_to_module(m)?;
    memory_pool::add_to_module(m)?;
    pool::add_to_module(m)?;
    virtual_memory::add_to_module(m)?;
    copy::add_to_module(m)?;
    module::add_to_module(m)?;
    library::add_to_module(m)?;
    function::add_to_module(m)?;
    structured_copy::add_to_module(m)?;
    texture::add_to_module(m)?;
    graph::add_to_module(m)?;
    graph_exec::add_to_module(m)?;
    graph_capture::add_to_module(m)
}
