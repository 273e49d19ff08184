//! What `rtcg.compiler` needs from the core.

use crate::driver::module::PyModuleHandle;
use crate::errors::{OrRaise, compile_error, shown};
use pyo3::exceptions::{PyAssertionError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyString};
use rtcg::NamedModule;
use rtcg::compile::{Artifact, BinaryKind, CachePolicy, CompileRequest, Compiler, Target};
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

/// The items of an argument, none of `None`; refuses a text in place of a sequence, which would be split into letters.
fn items<'py>(name: &str, values: Option<&Bound<'py, PyAny>>) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let Some(values) = values else { return Ok(Vec::new()) };
    if values.is_instance_of::<PyString>() || values.is_instance_of::<PyBytes>() {
        let shown = shown(values);
        return Err(PyTypeError::new_err(format!("{name} is {shown}; expected a sequence, such as [{shown}]")));
    }
    if values.is_truthy()? { values.try_iter()?.collect() } else { Ok(Vec::new()) }
}

/// Options as texts. `None` stands for `rtcg.compiler.DEFAULT_NVCC_FLAGS`, which users may replace.
fn options_or_defaults(py: Python<'_>, name: &str, options: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<String>> {
    let options = match options {
        Some(options) => options.clone(),
        None => py.import("rtcg.compiler")?.getattr("DEFAULT_NVCC_FLAGS")?,
    };
    items(name, Some(&options))?.iter().map(|option| option.str()?.extract()).collect()
}

/// The text of `source`, and the templates that parts of it come from: source of `rtcg.template` names their lines.
fn source_text(source: &Bound<'_, PyAny>) -> PyResult<(String, Vec<(String, String)>)> {
    let class = source.get_type();
    let is_binary = source.is_instance_of::<PyBytes>() || source.is_instance_of::<PyByteArray>();
    // Numbers, containers and classes have no text of their own.
    let plain = source.py().get_type::<PyAny>().getattr("__str__")?;
    if is_binary || class.getattr("__str__")?.is(&plain) {
        let given = if is_binary { format!("of type {}", class.name()?) } else { source.repr()?.to_string() };
        let expected = "expected str, or an object with str() such as a template";
        return Err(PyTypeError::new_err(format!("source is {given}; {expected}")));
    }
    let Some(text) = source.getattr_opt("_compiled_text")? else {
        return Ok((source.str()?.extract()?, Vec::new()));
    };
    Ok((text.extract()?, vec![(source.getattr("name")?.extract()?, source.getattr("template")?.extract()?)]))
}

/// Compiles with the interpreter released. The compiler's messages become a warning, once.
fn compile_detached(py: Python<'_>, request: &CompileRequest, warns: bool) -> PyResult<Artifact> {
    let artifact = py.detach(|| Compiler.compile(request)).map_err(|error| compile_error(py, error))?;
    if warns && !artifact.log.is_empty() && !artifact.from_cache {
        let text = format!("The CUDA compiler succeeded, but said the following:\n{}", artifact.log);
        py.import("rtcg.driver")?.getattr("_warn_at_user_line")?.call1((text,))?;
    }
    Ok(artifact)
}

/// The parameters that `rtcg.compiler.compile` and the classes there share.
#[pyclass(name = "CompileSettings", module = "rtcg._native", frozen)]
struct PyCompileSettings {
    /// A request without the source and the target.
    request: CompileRequest,
    /// Like nvcc's ``-arch`` and ``-code``, behind the other options.
    arch_options: Vec<String>,
    /// Whether neither default options nor those for debugging are added.
    is_plain: bool,
}

impl PyCompileSettings {
    fn compile_request(
        &self,
        source: &Bound<'_, PyAny>,
        kind: BinaryKind,
        options: Option<Vec<String>>,
    ) -> PyResult<CompileRequest> {
        let py = source.py();
        let mut request = self.request.clone();
        (request.source, request.parts) = source_text(source)?;
        request.target = current_device_target(kind)?;
        request.options = options.unwrap_or(request.options);
        if !self.is_plain && py.import("rtcg.driver")?.getattr("CUDA_DEBUGGING")?.is_truthy()? {
            request.keep = true;
            request.cache = CachePolicy::Off;
            request.options.extend(["-g".to_owned(), "-G".to_owned()]);
        }
        request.options.extend_from_slice(&self.arch_options);
        Ok(request)
    }
}

#[pymethods]
impl PyCompileSettings {
    #[new]
    #[pyo3(signature = (
        nvcc = "nvcc", options = None, keep = false, no_extern_c = false, arch = None, code = None, cache_dir = None,
        include_dirs = None, *, is_plain = false
    ))]
    #[allow(clippy::too_many_arguments, reason = "those of PyCUDA's functions")]
    fn new(
        py: Python<'_>,
        nvcc: &str,
        options: Option<&Bound<'_, PyAny>>,
        #[pyo3(from_py_with = PyAnyMethods::is_truthy)] keep: bool,
        #[pyo3(from_py_with = PyAnyMethods::is_truthy)] no_extern_c: bool,
        arch: Option<&str>,
        code: Option<&str>,
        cache_dir: Option<&Bound<'_, PyAny>>,
        include_dirs: Option<&Bound<'_, PyAny>>,
        is_plain: bool,
    ) -> PyResult<Self> {
        let options =
            if is_plain && options.is_none() { Vec::new() } else { options_or_defaults(py, "options", options)? };
        let arch = arch.map(|arch| format!("-arch={arch}"));
        let arch_options = arch.into_iter().chain(code.map(|code| format!("-code={code}"))).collect();
        let request = CompileRequest {
            options,
            include_dirs: items("include_dirs", include_dirs)?
                .iter()
                .map(|dir| dir.extract())
                .collect::<PyResult<_>>()?,
            no_extern_c,
            keep,
            cache: cache_policy(cache_dir)?,
            nvcc: Some(nvcc.to_owned()),
            ..CompileRequest::new("", Target::new(BinaryKind::Cubin, None))
        };
        Ok(Self { request, arch_options, is_plain })
    }

    /// Compile `source`: the binary. What the compiler says becomes a warning if `warns`.
    #[pyo3(signature = (source, target = "cubin", *, warns = true))]
    fn compile<'py>(&self, source: &Bound<'py, PyAny>, target: &str, warns: bool) -> PyResult<Bound<'py, PyBytes>> {
        let request = self.compile_request(source, binary_kind(target)?, None)?;
        Ok(PyBytes::new(source.py(), &compile_detached(source.py(), &request, warns)?.bytes))
    }

    /// Compile `source` for a linker: PTX and None, or LTO-IR and the linker's options if link-time optimisation is
    /// requested.
    fn compile_to_link<'py>(
        &self,
        source: &Bound<'py, PyAny>,
        nvcc_options: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyBytes>, Option<Vec<String>>)> {
        let py = source.py();
        let mut options = options_or_defaults(py, "nvcc_options", nvcc_options)?;
        let is_relocatable =
            |option: &String| ["-rdc", "--relocatable-device-code", "-dc"].iter().any(|flag| option.starts_with(flag));
        // What is to be linked with other programs may name their functions.
        if !options.iter().any(is_relocatable) {
            options.push("-rdc=true".to_owned());
        }
        let lto_options = rtcg::compile::lto_options(&options).map_err(|error| compile_error(py, error))?;
        let kind = if lto_options.is_some() { BinaryKind::LtoIr } else { BinaryKind::Ptx };
        let request = self.compile_request(source, kind, Some(options))?;
        Ok((PyBytes::new(py, &compile_detached(py, &request, true)?.bytes), lto_options))
    }

    /// Compile `source` for the device of the current context and load it there. The module's kernels and variables
    /// are found by their C++ names.
    fn load(&self, source: &Bound<'_, PyAny>, name_expressions: Option<&Bound<'_, PyAny>>) -> PyResult<PyModuleHandle> {
        let py = source.py();
        Context::current_device().or_raise()?;
        let mut request = self.compile_request(source, BinaryKind::Cubin, None)?;
        let names = items("name_expressions", name_expressions)?;
        request.name_expressions = names.iter().map(|name| name.extract()).collect::<PyResult<_>>()?;
        let artifact = compile_detached(py, &request, true)?;
        py.detach(|| NamedModule::load(request, &artifact)).or_raise().map(PyModuleHandle::from)
    }

    /// Record the source that a loaded module was compiled from, so that arguments of its kernels are checked by
    /// type.
    fn register_source(&self, module: &PyModuleHandle, source: &Bound<'_, PyAny>) -> PyResult<()> {
        rtcg::attach_module_source(&module.0, &self.compile_request(source, BinaryKind::Cubin, None)?);
        Ok(())
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
    m.add_class::<PyCompileSettings>()?;
    m.add_function(wrap_pyfunction!(compiler_info, m)?)?;
    m.add_function(wrap_pyfunction!(use_prebuilt_programs, m)?)?;
    m.add_function(wrap_pyfunction!(start_recording_programs, m)?)?;
    m.add_function(wrap_pyfunction!(write_recorded_programs, m)?)?;
    m.add_function(wrap_pyfunction!(compiler_cache_status, m)?)?;
    m.add_function(wrap_pyfunction!(default_nvcc_flags, m)?)
}
