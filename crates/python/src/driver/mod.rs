//! `rtcg.driver`.

use pyo3::prelude::*;

pub(crate) mod arguments;
pub(crate) mod cached_call;
pub(crate) mod context;
mod copy;
pub(crate) mod device;
mod dlpack;
mod event;
mod fastcall;
pub(crate) mod function;
mod geometry;
pub(crate) mod gl;
pub(crate) mod graph;
mod graph_capture;
mod graph_exec;
mod host;
mod in_flight;
mod launch_keywords;
mod library;
pub(crate) mod memory;
mod memory_pool;
pub(crate) mod module;
pub(crate) mod pool;
mod prepared;
pub(crate) mod resource;
pub(crate) mod stream;
mod structured;
pub(crate) mod texture;
pub(crate) mod virtual_memory;

/// How notebooks show an object: what a function of `rtcg._display` makes of it.
pub(crate) fn html_of<'py, T>(function: &str, owner: &Bound<'py, T>) -> PyResult<Bound<'py, PyAny>> {
    owner.py().import("rtcg._display")?.getattr(function)?.call1((owner.as_any(),))
}

pub(crate) fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    device::register(m)?;
    gl::register(m)?;
    context::register(m)?;
    stream::register(m)?;
    event::register(m)?;
    memory::register(m)?;
    host::register(m)?;
    memory_pool::register(m)?;
    pool::register(m)?;
    virtual_memory::register(m)?;
    copy::register(m)?;
    module::register(m)?;
    library::register(m)?;
    function::register(m)?;
    structured::register(m)?;
    texture::register(m)?;
    graph::register(m)?;
    graph_exec::register(m)?;
    graph_capture::register(m)
}
