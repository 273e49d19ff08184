//! What `rtcg.compiler` needs from the core.

use crate::driver::launch::function::KernelObject;
use crate::driver::module::PyModuleHandle;
use crate::driver::texture::{PySurfaceReference, PyTextureReference};
use crate::errors::{LogicError, OrRaise, compile_error, driver_error};
use pyo3::exceptions::{PyAssertionError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use rtcg::CppNames;
use rtcg::compile::{BinaryKind, CachePolicy, CompileRequest, Compiler, Target};
use rtcg::driver::Context;
use std::path::PathBuf;

/// The target for the calling thread's current context: a device that loads machine code gets what was requested,
/// another gets PTX. Without a context the compiler decides.
pub(crate) fn current_device_target(kind: BinaryKind) -> PyResult<Target> {
    let Some(ctx) = Context::current() else { return Ok(Target::new(kind, None)) };
    let native = rtcg::device_compile_target(&ctx.device()).or_raise()?;
    let is_binary = kind != BinaryKind::LtoIr;
    let kind = if native.kind == BinaryKind::Ptx && is_binary { BinaryKind::Ptx } else { kind };
    Ok(Target { kind, ..native })
}

fn binary_kind(name: &str) -> PyResult<BinaryKind> {
    match name {
        "cubin" => Ok(BinaryKind::Cubin),
        "ptx" => Ok(BinaryKind::Ptx),
        "fatbin" => Ok(BinaryKind::Fatbin),
        "ltoir" => Ok(BinaryKind::LtoIr),
        _ => Err(PyAssertionError::new_err(format!("target {name:?} is none of 'cubin', 'ptx', 'fatbin', 'ltoir'"))),
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

/// What Python passes to compile something.
#[derive(FromPyObject)]
struct CompileOptions<'py>(
    String,
    String,
    Vec<String>,
    bool,
    bool,
    Option<String>,
    Option<String>,
    Option<Bound<'py, PyAny>>,
    Vec<PathBuf>,
    String,
);

impl CompileOptions<'_> {
    fn compile_request(self) -> PyResult<CompileRequest> {
        let CompileOptions(source, nvcc, options, keep, no_extern_c, arch, code, cache_dir, include_dirs, target) =
            self;
        let mut request = CompileRequest::new(source, current_device_target(binary_kind(&target)?)?);
        request.options = options;
        request.options.extend(arch.map(|a| format!("-arch={a}")));
        request.options.extend(code.map(|c| format!("-code={c}")));
        request.include_dirs = include_dirs;
        request.no_extern_c = no_extern_c;
        request.keep = keep;
        request.cache = cache_policy(cache_dir.as_ref())?;
        request.nvcc = Some(nvcc);
        Ok(request)
    }
}

/// A program to compile, and the C++ names in it.
#[pyclass(name = "Program", module = "rtcg._native", frozen)]
struct PyProgram(CppNames);

fn get_or_raise<T>(py: Python<'_>, result: rtcg::Result<T>) -> PyResult<T> {
    result.map_err(|error| match error {
        rtcg::Error::Driver(error) => driver_error(error),
        rtcg::Error::Compile(error) => compile_error(py, *error),
        other => LogicError::new_err(other.to_string()),
    })
}

#[pymethods]
impl PyProgram {
    #[new]
    #[pyo3(signature = (request, name_expressions = Vec::new(), parts = Vec::new()))]
    fn new(request: CompileOptions<'_>, name_expressions: Vec<String>, parts: Vec<(String, String)>) -> PyResult<Self> {
        let mut request = request.compile_request()?;
        request.name_expressions = name_expressions;
        request.parts = parts;
        Ok(Self(CppNames::new(request)))
    }

    /// Compile; returns `(binary, log, from_cache)`.
    fn compile<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyBytes>, String, bool)> {
        let artifact = py.detach(|| self.0.compile_program()).map_err(|e| compile_error(py, e))?;
        Ok((PyBytes::new(py, &artifact.bytes), artifact.log, artifact.from_cache))
    }

    /// Record the source that a loaded module was compiled from, so that arguments of its kernels are checked by
    /// type.
    fn register_source(&self, module: &PyModuleHandle) {
        rtcg::attach_module_source(&module.0, self.0.compile_request());
    }

    fn get_function(&self, py: Python<'_>, module: &PyModuleHandle, name: &str) -> PyResult<KernelObject> {
        get_or_raise(py, py.detach(|| self.0.function(&module.0, name))).map(KernelObject)
    }

    fn get_global(&self, py: Python<'_>, module: &PyModuleHandle, name: &str) -> PyResult<(u64, usize)> {
        get_or_raise(py, py.detach(|| self.0.global_variable(&module.0, name)))
    }

    fn get_texref(&self, py: Python<'_>, module: &PyModuleHandle, name: &str) -> PyResult<PyTextureReference> {
        get_or_raise(py, py.detach(|| self.0.texref(&module.0, name))).map(PyTextureReference::from)
    }

    fn get_surfref(&self, py: Python<'_>, module: &PyModuleHandle, name: &str) -> PyResult<PySurfaceReference> {
        get_or_raise(py, py.detach(|| self.0.surfref(&module.0, name))).map(PySurfaceReference::from)
    }
}

/// The compiler that `nvcc` names: `(version text, path)`.
#[pyfunction]
fn compiler_info(py: Python<'_>, nvcc: &str) -> PyResult<(String, PathBuf)> {
    let info = py.detach(|| Compiler.compiler_info(Some(nvcc))).map_err(|e| compile_error(py, e))?;
    Ok((info.version, info.path))
}

/// The flags of `PYCUDA_DEFAULT_NVCC_FLAGS`.
#[pyfunction]
fn default_nvcc_flags() -> Vec<String> {
    rtcg::compile::default_options()
}

/// The options of nvJitLink for nvcc's `options`, or `None` if those do not request link-time optimisation.
#[pyfunction]
fn lto_options(py: Python<'_>, options: Vec<String>) -> PyResult<Option<Vec<String>>> {
    rtcg::compile::lto_options(&options).map_err(|e| compile_error(py, e))
}

/// Set the file of prebuilt programs of this process; only the first call has an effect.
#[pyfunction]
fn use_prebuilt_programs(path: PathBuf) {
    rtcg::compile::use_prebuilt_programs(path);
}

/// Start recording the programs that a file of prebuilt programs may hold.
#[pyfunction]
fn start_recording_programs() {
    rtcg::compile::start_recording();
}

/// `(folder, reason why it is not writable or None)` of the cache of compiled programs, or None without a cache.
#[pyfunction]
fn compiler_cache_status(py: Python<'_>) -> Option<(PathBuf, Option<String>)> {
    py.detach(rtcg::compile::cache_status).map(|status| (status.dir, status.unwritable))
}

/// Write the recorded programs to a file; returns their number.
#[pyfunction]
fn write_recorded_programs(path: PathBuf) -> PyResult<usize> {
    Ok(rtcg::compile::write_recording(&path)?)
}

/// Tells the search for NVRTC and headers where this interpreter's packages are.
fn add_nvrtc_search_roots(py: Python<'_>) -> PyResult<()> {
    let sys = py.import("sys")?;
    let prefix: PathBuf = sys.getattr("prefix")?.extract()?;
    let path: Vec<PathBuf> = sys.getattr("path")?.extract().unwrap_or_default();
    let is_site = |dir: &PathBuf| dir.ends_with("site-packages") || dir.ends_with("dist-packages");
    for root in std::iter::once(prefix).chain(path.into_iter().filter(is_site)) {
        rtcg::driver::sys::add_search_root(root);
    }
    Ok(())
}

/// Prints a line to what Python's standard output is now.
fn print_line(line: &str) {
    Python::attach(|py| {
        let print = py.import("builtins").and_then(|builtins| builtins.call_method1("print", (line,)));
        if let Err(error) = print {
            error.write_unraisable(py, None);
        }
    });
}

pub(crate) fn add_to_module(m: &Bound<'_, PyModule>) -> PyResult<()> {
    add_nvrtc_search_roots(m.py())?;
    rtcg::compile::set_line_printer(print_line);
    m.add_class::<PyProgram>()?;
    m.add_function(wrap_pyfunction!(compiler_info, m)?)?;
    m.add_function(wrap_pyfunction!(lto_options, m)?)?;
    m.add_function(wrap_pyfunction!(use_prebuilt_programs, m)?)?;
    m.add_function(wrap_pyfunction!(start_recording_programs, m)?)?;
    m.add_function(wrap_pyfunction!(write_recorded_programs, m)?)?;
    m.add_function(wrap_pyfunction!(compiler_cache_status, m)?)?;
    m.add_function(wrap_pyfunction!(default_nvcc_flags, m)?)
}
