//! The native module `rtcg._native`: the Python edge of the core.
//!
//! Every function extracts its arguments, releases the interpreter where the driver can wait,
//! calls one function of the core and wraps the result. Nothing is decided here.

// PyO3's generated code is safe; `unsafe` stands where addresses cross between NumPy and the
// driver, both of which know them as plain numbers.
#![allow(unsafe_code)]
#![allow(missing_docs)]

use pyo3::prelude::*;

mod blocking;
mod checking;
mod compiler;
mod ctypes;
mod curandom;
mod driver;
mod elementwise;
mod elementwise_cached_call;
mod enums;
mod errors;
mod fuse;
mod gpuarray;
mod host_buffer;
mod info;
mod integer;
mod interrupt;
mod linalg;
mod pointer;
mod reduction;
mod tools;
mod tracing;

#[pymodule]
fn _native(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add("__version__", env!("CARGO_PKG_VERSION"))?;
    errors::register(m)?;
    interrupt::register(m)?;
    blocking::register();
    checking::register(m)?;
    enums::register(m)?;
    compiler::register(m)?;
    driver::register(m)?;
    gpuarray::register(m)?;
    ctypes::register(m)?;
    elementwise::register(m)?;
    fuse::register(m)?;
    linalg::register(m)?;
    reduction::register(m)?;
    curandom::register(m)?;
    info::register(m)?;
    tools::register(m)?;
    tracing::register(m)?;
    Ok(())
}
