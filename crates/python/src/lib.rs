//! The native module `pycuda._rtcg`: extract arguments, release the interpreter, call one core
//! function, wrap the result. The only crate that knows PyO3.
//!
//! One file (or folder) per Python module; each has a function `register` that adds its names.
#![allow(unsafe_code)]

mod compiler;
mod errors;

use pyo3::prelude::*;

/// `pycuda._rtcg`
#[pymodule]
fn _rtcg(m: &Bound<'_, PyModule>) -> PyResult<()> {
    errors::register(m)?;
    compiler::register(m)?;
    Ok(())
}
