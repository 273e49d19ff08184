//! `rtcg.driver`: devices, contexts, streams, events, modules and textures. [`launch`] has kernels and their calls,
//! [`memory`] device and host memory with its copies, [`graph`] graphs.

use pyo3::prelude::*;

pub(crate) mod context;
pub(crate) mod device;
mod event;
pub(crate) mod fastcall;
pub(crate) mod gl;
pub(crate) mod graph;
pub(crate) mod launch;
mod library;
pub(crate) mod memory;
pub(crate) mod module;
pub(crate) mod stream;
pub(crate) mod texture;

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
    module::add_to_module(m)?;
    library::add_to_module(m)?;
    launch::function::add_to_module(m)?;
    texture::add_to_module(m)?;
    graph::add_to_module(m)
}
