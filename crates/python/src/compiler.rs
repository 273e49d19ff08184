//! What `pycuda.compiler` needs from the core.

use crate::errors::{OrRaise, compile_error};
use pyo3::exceptions::{PyAssertionError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use rtcg::compile::{BinaryKind, CachePolicy, CompileRequest, Compiler, Target};
use rtcg::driver::Context;
use std::path::PathBuf;

/// The target for the calling thread's current context: a device that loads machine code gets what was asked for,
/// another gets PTX. Without a context the compiler decides.
pub(crate) fn target_here(kind: BinaryKind) -> PyResult<Target> {
    let Some(ctx) = Context::current() else { return Ok(Target { kind, arch: None }) };
    let native = rtcg::target_of(&ctx.device()).or_raise()?;
    let kind = if native.kind == BinaryKind::Ptx { BinaryKind::Ptx } else { kind };
    Ok(Target { kind, arch: native.arch })
}

fn binary_kind(name: &str) -> PyResult<BinaryKind> {
    match name {
        "cubin" => Ok(BinaryKind::Cubin),
        "ptx" => Ok(BinaryKind::Ptx),
        "fatbin" => Ok(BinaryKind::Fatbin),
        _ => Err(PyAssertionError::new_err(format!("target {name:?} is none of 'cubin', 'ptx', 'fatbin'"))),
    }
}

/// `None`: the default; `False`: no cache; a path: that directory.
fn cache_policy(cache_dir: Option<&Bound<'_, PyAny>>) -> PyResult<CachePolicy> {
    let Some(value) = cache_dir else { return Ok(CachePolicy::Default) };
    if let Ok(flag) = value.extract::<bool>() {
        return Ok(if flag { CachePolicy::Default } else { CachePolicy::Off });
    }
    let path: PathBuf = value.extract().map_err(|_| PyTypeError::new_err("cache_dir must be a path, None or False"))?;
    Ok(CachePolicy::Dir(path))
}

/// Compiles; returns `(binary, log, from_cache)`.
#[pyfunction]
#[pyo3(signature = (source, nvcc, options, keep, no_extern_c, arch, code, cache_dir, include_dirs, target))]
#[allow(clippy::too_many_arguments)]
fn compile<'py>(
    py: Python<'py>,
    source: String,
    nvcc: String,
    options: Vec<String>,
    keep: bool,
    no_extern_c: bool,
    arch: Option<&str>,
    code: Option<&str>,
    cache_dir: Option<&Bound<'py, PyAny>>,
    include_dirs: Vec<PathBuf>,
    target: &str,
) -> PyResult<(Bound<'py, PyBytes>, String, bool)> {
    let mut request = CompileRequest::new(source, target_here(binary_kind(target)?)?);
    request.options = options;
    request.options.extend(arch.map(|a| format!("-arch={a}")));
    request.options.extend(code.map(|c| format!("-code={c}")));
    request.include_dirs = include_dirs;
    request.no_extern_c = no_extern_c;
    request.keep = keep;
    request.cache = cache_policy(cache_dir)?;
    request.nvcc = Some(nvcc);
    let result = py.detach(|| Compiler.compile(&request));
    let artifact = result.map_err(|e| compile_error(py, e))?;
    Ok((PyBytes::new(py, &artifact.bytes), artifact.log, artifact.from_cache))
}

/// The compiler that `nvcc` stands for: `(version text, path)`.
#[pyfunction]
fn compiler_info(py: Python<'_>, nvcc: &str) -> PyResult<(String, PathBuf)> {
    let info = py.detach(|| Compiler.info(Some(nvcc))).map_err(|e| compile_error(py, e))?;
    Ok((info.version, info.path))
}

/// The flags of `PYCUDA_DEFAULT_NVCC_FLAGS`.
#[pyfunction]
fn default_nvcc_flags() -> Vec<String> {
    rtcg::compile::default_options()
}

/// Tells the search for NVRTC and headers where this interpreter's packages are.
fn add_search_roots(py: Python<'_>) -> PyResult<()> {
    let sys = py.import("sys")?;
    let prefix: PathBuf = sys.getattr("prefix")?.extract()?;
    let path: Vec<PathBuf> = sys.getattr("path")?.extract().unwrap_or_default();
    let is_site = |dir: &PathBuf| dir.ends_with("site-packages") || dir.ends_with("dist-packages");
    for root in std::iter::once(prefix).chain(path.into_iter().filter(is_site)) {
        rtcg::driver::sys::add_search_root(root);
    }
    Ok(())
}

pub(crate) fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    add_search_roots(m.py())?;
    m.add_function(wrap_pyfunction!(compile, m)?)?;
    m.add_function(wrap_pyfunction!(compiler_info, m)?)?;
    m.add_function(wrap_pyfunction!(default_nvcc_flags, m)?)
}
