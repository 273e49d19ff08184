//! From request to artifact: cache, choice of the compiler, headers and compilation.

use crate::arch::Arch;
use crate::attempts::{Improvement, Program, wrap_extern_c};
use crate::backend::{Backend, CompilerChoice, loaded_library_path};
use crate::cache::{CompileCache, CompileDependencies, ManifestEntry};
use crate::error::{CompileError, ErrorKind};
use crate::hash::{CacheKey, KeyHasher};
use crate::host_code::is_cpp_library_header;
use crate::implicit_includes::ImplicitChoices;
use crate::in_flight::InFlight;
use crate::includes::{self, FileDependency, FileStamp, SearchPath};
use crate::options::{self, TranslatedOptions};
use crate::request::{Artifact, BinaryKind, CompileRequest};
use crate::{clang, header_shims, implicit_includes, layout_attributes, lto, nvcc, nvrtc, prebuilt};
use rtcg_cuda_sys::{NvJitLinkTable, NvrtcTable, quoted_source, trace, wheel_suffix_for_cuda_version};
use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// Compiles requests. It has no state; the cache and the loaded NVRTC belong to the process.
#[derive(Clone, Copy, Debug, Default)]
pub struct Compiler;

/// The compiler in use.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CompilerInfo {
    /// `NVRTC 13.0`, or what `nvcc --version` prints.
    pub version: String,
    /// The path of its file.
    pub path: PathBuf,
}

/// Environment variables that decide which compiler or which headers are found.
const COMPILER_ENVIRONMENT: &[&str] = &[
    "RTCG_COMPILER",
    "RTCG_CLANG",
    "RTCG_NVRTC",
    "CUDA_HOME",
    "CUDA_PATH",
    "CUDA_ROOT",
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
    "PYTHONUSERBASE",
    "HOME",
];
/// Those that nvcc and the host compiler behind it read in addition.
const NVCC_ENVIRONMENT: &[&str] =
    &["PATH", "NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS", "NVCC_CCBIN", "CPATH", "CPLUS_INCLUDE_PATH", "C_INCLUDE_PATH"];

const LINE_INFO_OPTION: &str = "--generate-line-info";

/// Prints a line.
type LinePrinter = Box<dyn Fn(&str) + Send + Sync>;

static LINE_PRINTER: OnceLock<LinePrinter> = OnceLock::new();

/// Sets the function that prints where the files of a compilation were kept. Only the first call counts; without one
/// the line goes to standard output.
pub fn set_line_printer(print: impl Fn(&str) + Send + Sync + 'static) {
    let _ = LINE_PRINTER.set(Box::new(print));
}

fn print_kept_dir(dir: &Path) {
    let line = format!("*** compiler output in {}", dir.display());
    match LINE_PRINTER.get() {
        Some(print) => print(&line),
        None => println!("{line}"),
    }
}

/// A request with its options understood.
struct CompilePlan<'a> {
    request: &'a CompileRequest,
    options: TranslatedOptions,
    arch: Option<Arch>,
    include_dirs: Vec<PathBuf>,
    /// nvcc by name, when NVRTC is not to be used.
    nvcc: Option<String>,
}

impl Compiler {
    /// Compiles a request, or finds the cached result of an equal one.
    ///
    /// Blocks for the time of the compilation. May be called from several threads at once; equal requests that the
    /// cache can hold are compiled once, by the first thread, and by each thread itself if that fails.
    pub fn compile(&self, request: &CompileRequest) -> Result<Artifact, CompileError> {
        let begun = trace::is_tracing().then(trace::clock_ns);
        let result = self.find_or_compile(request).map_err(|mut error| {
            request.parts.iter().for_each(|(name, text)| error.add_excerpt(name, text));
            error
        });
        if let Some(begun) = begun {
            let how = match &result {
                Ok(artifact) if artifact.from_cache => "from the cache: ",
                Ok(_) => "compile ",
                Err(_) => "refuse ",
            };
            let name = if request.name.is_empty() { "kernel.cu" } else { &request.name };
            trace::emit_span("compiler", &format!("{how}{name}"), begun);
        }
        result
    }

    fn find_or_compile(&self, request: &CompileRequest) -> Result<Artifact, CompileError> {
        let plan = CompilePlan::new(request)?;
        let key = plan.cache_key();
        let cache = CompileCache::open_cache(&request.cache);
        let usable_cache = cache.as_ref().filter(|_| !plan.keeps_intermediate_files());
        let look_up = || usable_cache?.find_artifact(&key, &|stored| plan.is_same_compiler(stored));
        let mut cached = look_up();
        let mut _in_flight = None;
        if cached.is_none() && usable_cache.is_some() {
            // Another thread may have compiled it meanwhile.
            _in_flight = InFlight::begin_or_wait(&key);
            cached = look_up();
        }
        let is_key_needed = cache.is_some() && (cached.is_none() || prebuilt::is_recording());
        let prebuilt_key = if is_key_needed { plan.prebuilt_key() } else { None };
        let found = cached.or_else(|| prebuilt::find_program(prebuilt_key.as_ref()?));
        let artifact = match (found, &plan.nvcc) {
            (Some(artifact), _) => artifact,
            (None, Some(name)) => plan.compile_with_nvcc(name, &key, cache.as_ref())?,
            (None, None) => plan.compile_with(&Backend::choose()?, &key, cache.as_ref())?,
        };
        if let Some(key) = prebuilt_key {
            prebuilt::record_program(&key, &artifact);
        }
        Ok(artifact)
    }

    /// The compiler that a request with this `nvcc` would use.
    pub fn compiler_info(&self, nvcc_name: Option<&str>) -> Result<CompilerInfo, CompileError> {
        if let Some(name) = explicit_nvcc(nvcc_name) {
            let path = nvcc::find_nvcc(name)?;
            return Ok(CompilerInfo { version: nvcc::nvcc_version(&path)?, path });
        }
        let backend = Backend::choose()?;
        Ok(CompilerInfo { version: backend.version_text(), path: backend.file() })
    }
}

/// `nvcc` alone is the default of upstream's functions and names nothing.
fn explicit_nvcc(name: Option<&str>) -> Option<&str> {
    name.filter(|n| !n.is_empty() && *n != "nvcc")
}

/// The text that the compiler sees: what nvcc would have declared implicitly, then the source, inside `extern "C"`
/// unless `no_extern_c`, with the user's line numbers.
pub fn wrap_source(source: &str, name: &str, no_extern_c: bool) -> String {
    let (around, mut choices) = Default::default();
    let implicit = implicit_includes::implicit_prelude(&[source], around, &mut choices);
    wrap_extern_c(source, name, no_extern_c, &(implicit.text + header_shims::texture_reference_declarations(&[source])))
}

impl<'a> CompilePlan<'a> {
    fn new(request: &'a CompileRequest) -> Result<Self, CompileError> {
        let mut options = options::translate_options(&request.options, request.target.kind)?;
        let has_option = match CompilerChoice::of_environment()? {
            CompilerChoice::Clang => |_: &str| false,
            CompilerChoice::Auto | CompilerChoice::Nvrtc => nvrtc::has_option,
        };
        options.ask_for_unknown(has_option);
        let arch = options.choose_arch(request.target)?;
        let nvcc = match (explicit_nvcc(request.nvcc.as_deref()), &options.nvcc_only, request.target.kind) {
            (Some(name), _, _) => Some(name.to_owned()),
            (None, Some(option), _) => Some(require_nvcc_for(&format!("option {option}"))?),
            (None, None, BinaryKind::Fatbin) => Some(require_nvcc_for("target fatbin")?),
            _ => None,
        };
        if nvcc.is_some() && !request.name_expressions.is_empty() {
            let message = "name expressions need NVRTC, but nvcc is to be used";
            return Err(CompileError::new(ErrorKind::Unsupported, message));
        }
        let asks_lto = options.lto.clone().or((request.target.kind == BinaryKind::LtoIr).then(|| "-dlto".to_owned()));
        if let (Some(option), Some(_)) = (asks_lto, &nvcc) {
            let message = format!(
                "option {option}: link-time optimisation is done by NVRTC and nvJitLink, but nvcc is to be used"
            );
            return Err(CompileError::bad_option(message));
        }
        let here = std::env::current_dir().unwrap_or_default();
        let include_dirs = request.include_dirs.iter().chain(&options.include_dirs).map(|d| here.join(d)).collect();
        Ok(Self { request, options, arch, include_dirs, nvcc })
    }

    /// Whether line information is added for reports, where nobody asked for it.
    fn adds_line_info(&self) -> bool {
        self.request.target.line_info && self.nvcc.is_none() && !self.has_debug_information()
    }

    fn has_debug_information(&self) -> bool {
        self.options.nvrtc.iter().any(|option| option == "--device-debug" || option == LINE_INFO_OPTION)
    }

    fn keeps_intermediate_files(&self) -> bool {
        self.request.keep || self.options.keep
    }

    /// The name of the source in messages, without a directory: it is no file.
    fn source_name(&self) -> &str {
        if self.request.name.is_empty() { "kernel.cu" } else { &self.request.name }
    }

    /// What debug information calls the source: with kept files the path of one with the source as it
    /// was given; otherwise a name that nobody takes for a file, where NVRTC would put the directory that
    /// the program happens to run in before it. `None` without debug information.
    fn debug_source_name(&self, dir: Option<&Path>) -> Option<String> {
        if !self.has_debug_information() && !self.adds_line_info() {
            return None;
        }
        dir.and_then(|dir| self.write_source_file(dir)).or_else(|| {
            let is_absolute = Path::new(self.source_name()).is_absolute();
            (!is_absolute).then(|| [quoted_source::IN_MEMORY_PREFIX, self.source_name()].concat())
        })
    }

    /// Writes the source as it was given into `dir`.
    fn write_source_file(&self, dir: &Path) -> Option<String> {
        let file = dir.join("source").join(Path::new(self.source_name()).file_name()?);
        std::fs::create_dir(dir.join("source")).ok()?;
        std::fs::write(&file, &self.request.source).ok()?;
        file.into_os_string().into_string().ok()
    }

    /// Everything known before compiling that can change the result.
    fn cache_key(&self) -> CacheKey {
        let mut hasher = self.request_hasher();
        hasher.hash_list(self.include_dirs.iter().map(|d| d.as_os_str().as_encoded_bytes()));
        hasher.hash_field(self.nvcc.as_deref().unwrap_or_default().as_bytes());
        hasher.hash_field(&clang::additions_key());
        hasher.hash_list(self.options.forced_includes.iter());
        hasher.hash_field(&[u8::from(self.adds_line_info()), u8::from(self.request.target.line_info)]);
        let more = if self.nvcc.is_some() { NVCC_ENVIRONMENT } else { &[] };
        for variable in COMPILER_ENVIRONMENT.iter().chain(more) {
            hasher.hash_field(std::env::var_os(variable).unwrap_or_default().as_encoded_bytes());
        }
        hasher.finish_key()
    }

    /// What a prebuilt program is found by; `None` if it depends on more than the request, or is more than PTX.
    fn prebuilt_key(&self) -> Option<CacheKey> {
        let includes_nothing = self.include_dirs.is_empty()
            && self.options.forced_includes.is_empty()
            && !self.request.source.contains("#include");
        let is_plain = self.request.target.kind == BinaryKind::Ptx
            && self.request.name_expressions.is_empty()
            && self.nvcc.is_none()
            && self.options.lto.is_none()
            && !self.keeps_intermediate_files();
        (includes_nothing && is_plain).then(|| {
            let mut hasher = self.request_hasher();
            // Where clang was asked for, what another compiler made is not taken.
            if CompilerChoice::of_environment() == Ok(CompilerChoice::Clang) {
                hasher.hash_field(b"clang");
            }
            hasher.finish_key()
        })
    }

    /// A hasher of the request alone.
    fn request_hasher(&self) -> KeyHasher {
        let request = self.request;
        let mut hasher = KeyHasher::default();
        hasher.hash_field(&header_shims::SHIMS_HASH.to_le_bytes());
        hasher.hash_field(&layout_attributes::SOURCE_HASH.to_le_bytes());
        hasher.hash_field(env!("CARGO_PKG_VERSION").as_bytes());
        hasher.hash_field(header_shims::remove_static_from_references(&request.source).as_bytes());
        hasher.hash_field(self.source_name().as_bytes());
        let lto = self.options.lto.is_some();
        let flags = [request.no_extern_c, self.nvcc.is_some(), lto, self.options.warnings_are_errors];
        hasher.hash_field(&[request.target.kind as u8]);
        hasher.hash_field(&flags.map(u8::from));
        hasher.hash_field(self.arch.map(|a| a.to_string()).unwrap_or_default().as_bytes());
        hasher.hash_list(request.name_expressions.iter());
        let options = if self.nvcc.is_some() { &request.options } else { &self.options.nvrtc };
        hasher.hash_list(options.iter());
        hasher
    }

    /// Whether a stored result comes from the compiler that would run now. Where none is
    /// installed, every result is welcome.
    fn is_same_compiler(&self, stored: &ManifestEntry) -> bool {
        if let Some(file) = &stored.compiler_file
            && let Ok(metadata) = std::fs::metadata(&file.path)
        {
            return FileStamp::from_metadata(&metadata) == file.stamp;
        }
        match &self.nvcc {
            Some(name) => nvcc::find_nvcc(name).is_err(),
            None => match Backend::choose() {
                Ok(backend) => stored.compiler_file.is_none() && backend.identity() == stored.compiler,
                Err(_) => true,
            },
        }
    }

    /// One attempt with the headers of the compiler, for clang with CCCL's or without.
    fn attempt(
        &self,
        backend: &Backend,
        cccl: Option<&Path>,
        (name, arch, kind): (&str, Option<Arch>, BinaryKind),
    ) -> Result<Attempt, CompileError> {
        let request = self.request;
        let headers = backend.header_folders(cccl)?;
        // The folder for clang has the shims too, and its headers have C++'s linkage by themselves.
        let wrap = !request.no_extern_c && (!backend.is_clang() || cccl.is_some());
        let path = SearchPath { user: &self.include_dirs, toolkit: &headers, wrap, shims: !backend.is_clang() };
        let given = header_shims::remove_static_from_references(&request.source);
        let scan = includes::scan_includes(&given, &self.options.forced_includes, &self.options.macros, &path);
        let moved = layout_attributes::move_attributes(self.source_name(), &given, &scan.user_texts);
        let mut program = Program {
            name: name.to_owned(),
            source: moved.source.into_owned(),
            macros: &self.options.macros,
            scan,
            more_include_dirs: Vec::new(),
            no_extern_c: request.no_extern_c,
            path: &path,
            choices: ImplicitChoices::default(),
            n_attempts: 0,
            is_for_clang: backend.is_clang(),
            first_lines: cccl.map_or("", |_| clang::cuda::LINES_FOR_CCCL),
        };
        let make_job = |program: &mut Program<'_>| nvrtc::NvrtcJob {
            source: program.full_text(),
            name: name.to_owned(),
            options: self.nvrtc_options(backend, arch, kind, program, &headers),
            headers: program.scan.virtual_headers.clone(),
            name_expressions: request.name_expressions.clone(),
            kind,
        };
        let (job, result) = compile_in_attempts(backend, &mut program, make_job);
        let result = if cccl.is_some() { result.map(clang::cuda::with_version_for_cccl) } else { result };
        Ok(Attempt { job, result, scan: program.scan, warnings: moved.warnings })
    }

    fn compile_with(
        &self,
        backend: &Backend,
        key: &CacheKey,
        cache: Option<&CompileCache>,
    ) -> Result<Artifact, CompileError> {
        let request = self.request;
        let kept = self.keeps_intermediate_files().then(nvcc::working_dir).and_then(Result::ok);
        let name = self.debug_source_name(kept.as_deref()).unwrap_or_else(|| self.source_name().to_owned());
        let (arch, kind) = backend.target(self.arch, request.target.kind)?;
        let linker = self.device_linker(kind)?;
        let target = (name.as_str(), arch, if linker.is_some() { BinaryKind::LtoIr } else { kind });
        let mut attempt = self.attempt(backend, None, target)?;
        if backend.is_clang()
            && attempt.is_refused()
            && let Some(cccl) = rtcg_cuda_sys::cccl_directory().filter(|cccl| attempt.may_need(cccl))
        {
            let second = self.attempt(backend, Some(&cccl), target)?;
            if second.result.is_ok() || attempt.lacks_headers_of(&cccl) {
                attempt = second;
            }
        }
        let Attempt { job, result, scan, warnings } = attempt;
        let result = result.and_then(|output| match linker {
            Some(linker) => lto::link_ltoir(linker, output, &name, arch, kind, &self.options.nvrtc),
            None => Ok(output),
        });
        let result = result.and_then(|output| {
            self.reject_warnings_as_errors(nvrtc::NvrtcOutput { log: warnings + &output.log, ..output })
        });
        let (text, options) = (job.source, job.options);
        let log = result.as_ref().map_or_else(|f| f.log.as_str(), |o| o.log.as_str());
        let bytes = result.as_ref().map_or(&[][..], |o| &o.bytes);
        let kept = kept
            .filter(|dir| save_intermediate_files(dir, &text, self.source_name(), &options, log, bytes, kind).is_ok());
        let output = result.map_err(|failure| {
            let hints = hints_for_log(&backend.log_in_words_of_nvrtc(&failure.log), backend.is_clang());
            let message = [failure.message, hints].concat();
            let command = [vec![backend.version_text()], options].concat();
            CompileError::new(failure.kind, message).with_compiler_log(command, failure.log, &name, &request.source)
        })?;
        let artifact = self.artifact(output, kind);
        if let Some(dir) = kept {
            print_kept_dir(&dir);
        }
        if let Some(cache) = cache.filter(|_| scan.uncacheable.is_none()) {
            let file = backend.file();
            let mut files = scan.files;
            files.extend(linker.and_then(|linker| file_dependency(&loaded_library_path(linker.library_path()))));
            let found = CompileDependencies { files, missing: scan.missing };
            cache.store_artifact(key, backend.identity(), nvcc::compiler_identity(&file), found, &artifact);
        }
        Ok(artifact)
    }

    /// The output of a compiler, with the source inside where PTX has line information.
    fn artifact(&self, output: nvrtc::NvrtcOutput, kind: BinaryKind) -> Artifact {
        let (request, mut bytes) = (self.request, output.bytes);
        if request.target.line_info && kind == BinaryKind::Ptx {
            let main = (self.source_name(), request.source.as_str());
            let parts = request.parts.iter().map(|(name, text)| (name.as_str(), text.as_str()));
            parts.chain([main]).for_each(|(name, text)| quoted_source::append(&mut bytes, name, text));
        }
        let (log, lowered_names) = (output.log, output.lowered_names);
        Artifact { bytes: Arc::from(bytes), kind, log, lowered_names, from_cache: false }
    }

    /// The output, unless it has warnings and `-Werror all-warnings` was requested.
    fn reject_warnings_as_errors(&self, output: nvrtc::NvrtcOutput) -> Result<nvrtc::NvrtcOutput, nvrtc::NvrtcFailure> {
        if !self.options.warnings_are_errors || !output.log.contains("warning") {
            return Ok(output);
        }
        let message = "the compiler has warnings, and -Werror all-warnings makes errors of them".to_owned();
        Err(nvrtc::NvrtcFailure { kind: ErrorKind::Source, message, log: output.log })
    }

    /// nvJitLink, where a binary is to be made by it.
    fn device_linker(&self, kind: BinaryKind) -> Result<Option<&'static NvJitLinkTable>, CompileError> {
        if self.options.lto.is_some() && kind != BinaryKind::LtoIr { lto::load_nvjitlink().map(Some) } else { Ok(None) }
    }

    fn nvrtc_options(
        &self,
        backend: &Backend,
        arch: Option<Arch>,
        kind: BinaryKind,
        program: &Program<'_>,
        headers: &[PathBuf],
    ) -> Vec<String> {
        let mut options = Vec::new();
        if let Some(arch) = arch {
            let name = if kind == BinaryKind::Cubin { arch.real_name() } else { arch.virtual_name() };
            options.push(format!("--gpu-architecture={name}"));
        }
        options.extend((kind == BinaryKind::LtoIr).then(|| "--dlink-time-opt".to_owned()));
        options.extend(self.options.nvrtc.iter().cloned());
        options.extend(self.adds_line_info().then(|| LINE_INFO_OPTION.to_owned()));
        // Unmarked functions are host code to nvcc, which it would leave to the host compiler;
        // here they can only be meant for the device.
        let default_device = "--device-as-default-execution-space";
        if !options.iter().any(|o| o == default_device) {
            options.push(default_device.to_owned());
        }
        let version = match backend {
            Backend::Nvrtc(table) => table.version(),
            Backend::Clang(_) => None,
        };
        let uses_int128 =
            program.source.contains("int128") || program.scan.user_texts.iter().any(|t| t.1.contains("int128"));
        let int128 = "--device-int128";
        // nvcc knows the type without an option.
        if uses_int128 && version.is_some_and(|v| v >= (11, 5)) && !options.iter().any(|o| o == int128) {
            options.push(int128.to_owned());
        }
        if program.scan.uses_toolkit && version.is_some_and(|v| v >= (12, 0)) {
            // CCCL defines some macros of <limits.h> again, with the same values.
            options.push("--diag-suppress=47".to_owned());
        }
        options.extend(self.options.forced_includes.iter().map(|h| format!("--pre-include={h}")));
        let dirs = self.include_dirs.iter().chain(&program.more_include_dirs).chain(headers);
        options.extend(dirs.map(|d| format!("--include-path={}", d.display())));
        options
    }

    fn compile_with_nvcc(
        &self,
        name: &str,
        key: &CacheKey,
        cache: Option<&CompileCache>,
    ) -> Result<Artifact, CompileError> {
        let program = nvcc::find_nvcc(name)?;
        let request = self.request;
        // A header that appears in an earlier directory is found by the scan's probes.
        let path = SearchPath { user: &self.include_dirs, toolkit: &[], wrap: false, shims: false };
        let scan = includes::scan_includes(&request.source, &self.options.forced_includes, &self.options.macros, &path);
        let headers_of_user = scan.user_texts.iter().map(|(_, text)| text.as_str());
        let texts: Vec<&str> = std::iter::once(request.source.as_str()).chain(headers_of_user).collect();
        // What else NVRTC lacks nvcc declares itself.
        let references = header_shims::texture_reference_declarations(&texts);
        let source = match references {
            "" => Cow::Borrowed(request.source.as_str()),
            _ => Cow::Owned(header_shims::add_device_to_references(&header_shims::remove_static_from_references(
                &request.source,
            ))),
        };
        let text = wrap_extern_c(&source, self.source_name(), request.no_extern_c, references);
        let version = nvcc::nvcc_version(&program)?;
        let output = nvcc::run_nvcc(&program, request, &text, &self.include_dirs)?;
        if self.keeps_intermediate_files() {
            print_kept_dir(&output.dir);
        } else {
            let _ = std::fs::remove_dir_all(&output.dir);
        }
        if let Some(cache) = cache
            && let Some(files) = output.files.iter().map(|f| file_dependency(f)).collect::<Option<Vec<_>>>()
        {
            let found = CompileDependencies { files, missing: scan.missing };
            if scan.uncacheable.is_none() {
                cache.store_artifact(key, version, nvcc::compiler_identity(&program), found, &output.artifact);
            }
        }
        Ok(output.artifact)
    }
}

/// What an attempt gave, and what it was given.
struct Attempt {
    job: nvrtc::NvrtcJob,
    result: Result<nvrtc::NvrtcOutput, nvrtc::NvrtcFailure>,
    scan: includes::IncludeScan,
    warnings: String,
}

impl Attempt {
    /// Whether headers were not found that this folder has.
    fn lacks_headers_of(&self, folder: &Path) -> bool {
        self.scan.missing_headers.iter().any(|name| folder.join(name).is_file())
    }

    fn is_refused(&self) -> bool {
        self.result.as_ref().is_err_and(|failure| failure.kind == ErrorKind::Source)
    }

    /// Whether the headers of this folder may be what a refused program lacks.
    fn may_need(&self, cccl: &Path) -> bool {
        self.lacks_headers_of(cccl) || self.scan.files.iter().any(|file| clang::is_in_place_of_cccl(&file.path))
    }
}

/// Compiles, and again with what the refusals of NVRTC teach; the last job, and what came of it.
fn compile_in_attempts(
    backend: &Backend,
    program: &mut Program<'_>,
    make_job: impl Fn(&mut Program<'_>) -> nvrtc::NvrtcJob,
) -> (nvrtc::NvrtcJob, Result<nvrtc::NvrtcOutput, nvrtc::NvrtcFailure>) {
    let mut first_refusal = None;
    loop {
        let job = make_job(program);
        match backend.compile(&job) {
            Err(failure) if failure.kind == ErrorKind::Source => {
                match program.improve(&failure.log, &backend.log_in_words_of_nvrtc(&failure.log)) {
                    Improvement::Declarations => {}
                    Improvement::HostCode => first_refusal = first_refusal.or(Some((job, failure))),
                    Improvement::None => {
                        let (job, failure) = first_refusal.unwrap_or((job, failure));
                        return (job, Err(failure));
                    }
                }
            }
            result => return (job, result),
        }
    }
}

/// nvcc for something that NVRTC cannot do, or the error that names it.
fn require_nvcc_for(what: &str) -> Result<String, CompileError> {
    match nvcc::find_nvcc("nvcc") {
        Ok(path) => Ok(path.display().to_string()),
        Err(error) => {
            let message =
                format!("{what} is known to neither NVRTC nor clang, and nvcc was not found: {}", error.message);
            Err(CompileError::bad_option(message))
        }
    }
}

fn file_dependency(path: &Path) -> Option<FileDependency> {
    let stamp = FileStamp::from_metadata(&std::fs::metadata(path).ok()?);
    let checksum = rtcg_disk_cache::checksum(&std::fs::read(path).ok()?);
    Some(FileDependency { path: path.to_owned(), checksum, stamp })
}

fn save_intermediate_files(
    dir: &Path,
    text: &str,
    name: &str,
    options: &[String],
    log: &str,
    bytes: &[u8],
    kind: BinaryKind,
) -> std::io::Result<()> {
    let file = Path::new(name).file_name().unwrap_or(name.as_ref());
    std::fs::write(dir.join(file), text)?;
    std::fs::write(dir.join("options"), options.join("\n"))?;
    std::fs::write(dir.join("log"), log)?;
    std::fs::write(dir.join(format!("output.{}", kind.extension())), bytes)
}

fn nvrtc_major() -> u32 {
    NvrtcTable::load().ok().and_then(NvrtcTable::version).map_or(13, |(major, _)| major)
}

/// What the user can do about the commonest refusals.
fn hints_for_log(log: &str, is_of_clang: bool) -> String {
    let mut hints = String::new();
    if let Some((_, rest)) = log.split_once(" open source file \"")
        && let Some((header, _)) = rest.split_once('"')
    {
        let wheels: &[&str] = match header {
            h if h.starts_with("curand") => &["nvidia-curand", "nvidia-cuda-cccl"],
            h if h.starts_with("cuda/") || h.starts_with("cub/") || h.starts_with("thrust/") => &["nvidia-cuda-cccl"],
            h if h.starts_with("crt/") && nvrtc_major() < 13 => &["nvidia-cuda-nvcc"],
            h if h.starts_with("crt/") => &["nvidia-cuda-crt"],
            h if h.starts_with("cu") || h.starts_with("cooperative") || h == "mma.h" => &["nvidia-cuda-runtime"],
            _ => &[],
        };
        match wheels {
            wheels if is_of_clang && wheels.contains(&"nvidia-cuda-cccl") => {
                hints.push_str(&format!("; {header} is not installed: pip install cuda-cccl"));
            }
            _ if is_of_clang => {
                hints.push_str(&format!("; {header} was not found: name its directory in include_dirs"))
            }
            [] if is_cpp_library_header(header) => hints.push_str(&format!(
                "; {header} belongs to the C++ library of the host, which NVRTC does not have: leave it out, or use \
                 <cuda/std/{header}> where there is one (nvidia-cuda-cccl)"
            )),
            [] => hints.push_str(&format!("; {header} was not found: name its directory in include_dirs")),
            wheels => {
                let suffix = wheel_suffix_for_cuda_version(nvrtc_major());
                let wheels: Vec<_> = wheels.iter().map(|wheel| format!("{wheel}{suffix}")).collect();
                hints.push_str(&format!("; {header} is not installed: pip install {}", wheels.join(" ")));
            }
        }
    }
    if log.contains("extern \"C\" linkage") || log.contains("may not have \"C\" linkage") {
        hints.push_str(
            "; templates and overloads need no_extern_c=True; kernels are then asked for by their C++ names, such as \
             name<float>",
        );
    }
    hints
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrapped_sources_keep_line_numbers() {
        let text = wrap_source("uint x;\nint y;", "k.cu", false);
        let at = text.find("#line 1 \"k.cu\"\nuint x;\nint y;\n\n}").unwrap();
        assert!(text[..at].contains("extern \"C\" {"));
        assert!(text[..at].contains("typedef unsigned int uint;"));
        assert!(!wrap_source("int y;", "k.cu", true).contains("extern"));
        assert!(wrap_source("", "a\"b\\c", true).contains(r#"#line 1 "a\"b\\c""#));
    }

    #[test]
    fn hints_say_how_to_fix_the_error() {
        assert!(
            hints_for_log("x: catastrophic error: cannot open source file \"curand_kernel.h\"", false)
                .contains("nvidia-curand")
        );
        assert!(
            hints_for_log("x: could not open source file \"curand_kernel.h\" (no directories)", false)
                .contains("nvidia-curand")
        );
        assert!(hints_for_log("x: cannot open source file \"mine.h\"", false).contains("include_dirs"));
        assert!(hints_for_log("x: cannot open source file \"vector\"", false).contains("<cuda/std/vector>"));
        assert!(
            hints_for_log("error: this declaration may not have extern \"C\" linkage", false).contains("name<float>")
        );
        assert_eq!(hints_for_log("all is well", false), "");
    }
}
