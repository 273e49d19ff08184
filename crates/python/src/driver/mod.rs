//! `pycuda.driver`.

use pyo3::prelude::*;

mod arguments;
pub(crate) mod context;
mod copy;
pub(crate) mod device;
mod event;
pub(crate) mod function;
mod graph;
mod host;
mod keep_alive;
pub(crate) mod memory;
pub(crate) mod module;
mod prepared;
pub(crate) mod stream;
mod structured;
pub(crate) mod texture;

pub(crate) fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    device::register(m)?;
    context::register(m)?;
    stream::register(m)?;
    event::register(m)?;
    memory::register(m)?;
    host::register(m)?;
    copy::register(m)?;
    module::register(m)?;
    function::register(m)?;
    structured::register(m)?;
    texture::register(m)?;
    graph::register(m)
}
