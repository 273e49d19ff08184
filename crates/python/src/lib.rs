//! The native module `rtcg._native`: the Python edge of the core.
//!
//! Every function extracts its arguments, releases the interpreter where the driver can wait,
//! calls one function of the core and wraps the result. Nothing is decided here.
//!
//! | folder, file | contents |
//! |---|---|
//! | `driver/` | `rtcg.driver`; `driver/launch/cached_call.rs` is the short path for a repeated launch |
//! | `driver/launch/call_matcher.rs` | what the short paths of all repeated launches share |
//! | `gpuarray/` | arrays (`rtcg.numpy`) |
//! | `errors.rs` | the one place that maps kinds of errors to exceptions |
//! | `resource_lifetime.rs` | closing objects, and objects whose `__init__` was not called |
//!
//! A file that serves one Python module has its name. This is the only crate that uses PyO3.

#![allow(
    unsafe_code,
    reason = "addresses cross between NumPy and the driver, both of which know them as plain numbers"
)]
#![allow(missing_docs, reason = "doc comments are what `help` shows; a test asks that what Python sees has one")]

use pyo3::prelude::*;

/// Adds classes and functions to the native module.
macro_rules! add_contents {
    ($m:ident, $(classes $($class:ty),+;)? $(functions $($function:path),+;)?) => {{
        $($($m.add_class::<$class>()?;)+)?
        $($($m.add_function(wrap_pyfunction!($function, $m)?)?;)+)?
        PyResult::Ok(())
    }};
}

mod array_calls;
mod array_interface;
mod array_object;
mod blocking;
mod cgen;
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
mod lang;
mod libraries;
mod linalg;
mod multiprocessor;
mod nccl;
mod ndimage;
mod neighbors;
mod owner;
mod reduction;
mod resource_lifetime;
mod segments;
mod sparse;
mod specialize;
mod template;
mod tracing;
mod tune;
mod uninitialised_array;

#[pymodule]
fn _native(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add("__version__", env!("CARGO_PKG_VERSION"))?;
    errors::add_to_module(m)?;
    interrupt::add_to_module(m)?;
    blocking::register_blocking_hook();
    checking::add_to_module(m)?;
    enums::add_to_module(m)?;
    compiler::add_to_module(m)?;
    driver::add_to_module(m)?;
    gpuarray::add_to_module(m)?;
    ctypes::add_to_module(m)?;
    elementwise::add_to_module(m)?;
    fuse::add_to_module(m)?;
    lang::add_to_module(m)?;
    libraries::add_to_module(m)?;
    linalg::add_to_module(m)?;
    reduction::add_to_module(m)?;
    sparse::add_to_module(m)?;
    curandom::add_to_module(m)?;
    info::add_to_module(m)?;
    multiprocessor::add_to_module(m)?;
    nccl::add_to_module(m)?;
    ndimage::add_to_module(m)?;
    neighbors::add_to_module(m)?;
    segments::add_to_module(m)?;
    specialize::add_to_module(m)?;
    tracing::add_to_module(m)?;
    template::add_to_module(m)?;
    tune::add_to_module(m)?;
    cgen::add_to_module(m)?;
    Ok(())
}
