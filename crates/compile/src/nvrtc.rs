//! Running NVRTC: the only file of this crate that calls into a C library.
//!
//! A program object lives inside [`NvrtcProgram`], which destroys it; strings passed in are kept alive
//! by the caller of each function below for the length of the call, which is all NVRTC needs.
#![allow(unsafe_code, reason = "calls a C library")]

use crate::arch::Arch;
use crate::error::{CompileError, ErrorKind};
use crate::exit_handler;
use crate::request::BinaryKind;
use crate::signals::{self, NoResult};
use rtcg_cuda_sys::{NvrtcTable, nvrtcProgram, nvrtcResult};
use std::collections::HashMap;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, Once, PoisonError};

/// NVRTC looks for quoted headers in the directory of the program's name, which would be the
/// current directory. The source is no file, so its name gets a directory that does not exist.
/// (`--no-source-include` is of no use: it also forbids headers to include others of their directory.)
const NONEXISTENT_DIR: &str = "/rtcg-no-directory/";

/// One run of NVRTC.
#[derive(Clone)]
pub(crate) struct NvrtcJob {
    pub(crate) source: String,
    pub(crate) name: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) options: Vec<String>,
    pub(crate) name_expressions: Vec<String>,
    pub(crate) kind: BinaryKind,
}

/// What a run gave.
pub(crate) struct NvrtcOutput {
    pub(crate) bytes: Vec<u8>,
    pub(crate) log: String,
    pub(crate) lowered_names: Vec<(String, String)>,
}

/// Why a run failed, with NVRTC's log.
pub(crate) struct NvrtcFailure {
    pub(crate) kind: ErrorKind,
    pub(crate) message: String,
    pub(crate) log: String,
}

struct NvrtcProgram {
    nvrtc: &'static NvrtcTable,
    handle: nvrtcProgram,
}

impl Drop for NvrtcProgram {
    fn drop(&mut self) {
        // SAFETY: the handle came from nvrtcCreateProgram and is destroyed once, here.
        let _ = unsafe { self.nvrtc.nvrtcDestroyProgram(&raw mut self.handle) };
    }
}

/// NVRTC, or the error that says how to get it.
pub(crate) fn load_nvrtc() -> Result<&'static NvrtcTable, CompileError> {
    NvrtcTable::load().map_err(|e| CompileError::new(ErrorKind::CompilerMissing, e.to_string()))
}

/// `NVRTC 13.0`.
pub(crate) fn nvrtc_version_text(nvrtc: &NvrtcTable) -> String {
    match nvrtc.version() {
        Some((major, minor)) => format!("NVRTC {major}.{minor}"),
        None => "NVRTC of unknown version".to_owned(),
    }
}

/// The architecture and form that this NVRTC can give for what is wanted. A device newer than the
/// compiler gets PTX for the newest architecture that the compiler knows.
pub(crate) fn supported_arch_and_kind(
    nvrtc: &NvrtcTable,
    arch: Arch,
    kind: BinaryKind,
) -> Result<(Arch, BinaryKind), CompileError> {
    let known = nvrtc.supported_archs();
    let (Some(&oldest), Some(&newest)) = (known.iter().min(), known.iter().max()) else {
        return Ok((arch, kind));
    };
    if known.contains(&arch.number) {
        return Ok((arch, kind));
    }
    if arch.number < oldest {
        let message = format!(
            "{} compiles for sm_{oldest} and newer, not for {}; an older compiler does (pip install nvidia-cuda-nvrtc-cu12)",
            nvrtc_version_text(nvrtc),
            arch.real_name()
        );
        return Err(CompileError::new(ErrorKind::Unsupported, message));
    }
    let below = known.iter().copied().filter(|&n| n <= arch.number).max().unwrap_or(newest);
    let kind = if kind == BinaryKind::LtoIr { kind } else { BinaryKind::Ptx };
    Ok((Arch { number: below, suffix: None }, kind))
}

/// Where a driver is installed, NVRTC keeps a cache of its own, whose key lacks options: NVRTC 13.0
/// answers `--ftz=true` or `--use_fast_math` with the code it made without them, and the other way
/// round. So it must never be used.
const NO_CACHE_OPTION: &str = "--no-cache";

/// Marks PTX if `options` (NVRTC's) ask for products and sums that are not fused.
pub(crate) fn mark_fma_contraction_off(ptx: &mut Vec<u8>, options: &[String]) {
    if options.iter().any(|option| option == "--fmad=false") {
        ptx.extend_from_slice(format!("\n{}\n", rtcg_cuda_sys::nvrtc::FMAD_DISABLED_COMMENT).as_bytes());
    }
}

/// Set once an NVRTC has refused [`NO_CACHE_OPTION`]; those have no such cache.
static HAS_NO_CACHE_OPTION: AtomicBool = AtomicBool::new(true);

/// Compiles, in a thread of its own; an interrupt ends the wait for it.
pub(crate) fn compile_program(nvrtc: &'static NvrtcTable, job: &NvrtcJob) -> Result<NvrtcOutput, NvrtcFailure> {
    prepare_process(nvrtc);
    let job = job.clone();
    let no_result = |kind, message| Err(NvrtcFailure { kind, message, log: String::new() });
    match signals::run_in_compiler_thread(move |is_abandoned| compile_in_this_thread(nvrtc, &job, is_abandoned)) {
        Ok(result) => result,
        Err(NoResult::Interrupted) => no_result(ErrorKind::Interrupted, "the compilation was interrupted".to_owned()),
        Err(NoResult::Broken(message)) => no_result(ErrorKind::Io, message),
    }
}

/// The last version that sets handlers of signals in the first compilation of a process.
const LAST_WITH_HANDLERS: (u32, u32) = (13, 0);

/// Has the first compilation of the process, where that changes handlers of signals.
fn prepare_process(nvrtc: &'static NvrtcTable) {
    static PREPARED: Once = Once::new();
    PREPARED.call_once(|| {
        if nvrtc.version().is_none_or(|version| version <= LAST_WITH_HANDLERS) {
            signals::keep_signal_handlers(move || {
                run_front_end(nvrtc, &[]);
            });
        }
    });
}

/// What NVRTC says of these options: it refuses the text, which is none, unless it refuses an option before.
fn run_front_end(nvrtc: &'static NvrtcTable, options: &[String]) -> Option<ErrorKind> {
    let job = NvrtcJob {
        source: "#error".to_owned(),
        name: "options.cu".to_owned(),
        headers: Vec::new(),
        options: options.to_vec(),
        name_expressions: Vec::new(),
        kind: BinaryKind::Ptx,
    };
    compile_in_this_thread(nvrtc, &job, &AtomicBool::new(false)).err().map(|failure| failure.kind)
}

/// Whether NVRTC has an option; each is asked for once.
pub(crate) fn has_option(option: &str) -> bool {
    static ANSWERS: Mutex<Option<HashMap<String, bool>>> = Mutex::new(None);
    let Ok(nvrtc) = NvrtcTable::load() else { return false };
    prepare_process(nvrtc);
    let mut answers = ANSWERS.lock().unwrap_or_else(PoisonError::into_inner);
    let answers = answers.get_or_insert_with(HashMap::new);
    let ask = || run_front_end(nvrtc, &[option.to_owned()]) == Some(ErrorKind::Source);
    *answers.entry(option.to_owned()).or_insert_with(ask)
}

fn compile_in_this_thread(
    nvrtc: &'static NvrtcTable,
    job: &NvrtcJob,
    is_abandoned: &AtomicBool,
) -> Result<NvrtcOutput, NvrtcFailure> {
    if !HAS_NO_CACHE_OPTION.load(Ordering::Relaxed) {
        return run_nvrtc_with_options(nvrtc, job, &job.options, is_abandoned);
    }
    let options: Vec<String> = job.options.iter().cloned().chain([NO_CACHE_OPTION.to_owned()]).collect();
    let result = run_nvrtc_with_options(nvrtc, job, &options, is_abandoned);
    match result {
        Err(failure) if failure.kind == ErrorKind::Option && failure.log.contains("no-cache") => {
            HAS_NO_CACHE_OPTION.store(false, Ordering::Relaxed);
            run_nvrtc_with_options(nvrtc, job, &job.options, is_abandoned)
        }
        result => result,
    }
}

/// NVRTC asks this while it compiles, since version 12.8.
unsafe extern "C" fn is_to_be_cancelled(is_abandoned: *mut c_void, _unused: *mut c_void) -> c_int {
    // SAFETY: the flag that `run_nvrtc_with_options` gave, which lives as long as its program.
    let is_abandoned = unsafe { &*is_abandoned.cast::<AtomicBool>() }.load(Ordering::Relaxed);
    c_int::from(is_abandoned || exit_handler::is_exiting())
}

fn run_nvrtc_with_options(
    nvrtc: &'static NvrtcTable,
    job: &NvrtcJob,
    options: &[String],
    is_abandoned: &AtomicBool,
) -> Result<NvrtcOutput, NvrtcFailure> {
    let program = create_program(nvrtc, job)?;
    let payload = ptr::from_ref(is_abandoned).cast_mut().cast();
    // SAFETY: a valid program; function and flag outlive it. An older NVRTC does not have the function, and goes on.
    let _ = unsafe { nvrtc.nvrtcSetFlowCallback(program.handle, Some(is_to_be_cancelled), payload) };
    for expression in &job.name_expressions {
        let text = c_string(expression)?;
        // SAFETY: a valid program and a NUL-terminated string.
        let code = unsafe { nvrtc.nvrtcAddNameExpression(program.handle, text.as_ptr()) };
        check_result(nvrtc, code, "nvrtcAddNameExpression", &program)?;
    }
    let options = options.iter().map(|o| c_string(o)).collect::<Result<Vec<_>, _>>()?;
    let pointers: Vec<*const c_char> = options.iter().map(|o| o.as_ptr()).collect();
    // SAFETY: a valid program and as many NUL-terminated strings as stated.
    let code = unsafe { nvrtc.nvrtcCompileProgram(program.handle, pointers.len() as c_int, pointers.as_ptr()) };
    let log = program_log(&program);
    if !code.is_success() {
        return Err(nvrtc_failure(nvrtc, code, log));
    }
    let bytes = match job.kind {
        BinaryKind::LtoIr => {
            // SAFETY: the two calls write a size, and that many bytes.
            fetch_bytes(
                |n| unsafe { nvrtc.nvrtcGetLTOIRSize(program.handle, n) },
                |p| unsafe {
                    // SAFETY: the buffer has the size that NVRTC gave.
                    nvrtc.nvrtcGetLTOIR(program.handle, p)
                },
            )
        }
        BinaryKind::Cubin => {
            // SAFETY: the two calls write a size, and that many bytes.
            fetch_bytes(
                |n| unsafe { nvrtc.nvrtcGetCUBINSize(program.handle, n) },
                |p| unsafe {
                    // SAFETY: the buffer has the size that NVRTC gave.
                    nvrtc.nvrtcGetCUBIN(program.handle, p)
                },
            )
        }
        _ => {
            // SAFETY: the two calls write a size, and that many bytes.
            fetch_bytes(
                |n| unsafe { nvrtc.nvrtcGetPTXSize(program.handle, n) },
                |p| unsafe {
                    // SAFETY: the buffer has the size that NVRTC gave.
                    nvrtc.nvrtcGetPTX(program.handle, p)
                },
            )
        }
    };
    let mut bytes = bytes.map_err(|code| nvrtc_failure(nvrtc, code, log.clone()))?;
    if job.kind == BinaryKind::Ptx && bytes.last() == Some(&0) {
        bytes.pop();
    }
    if bytes.is_empty() {
        let message =
            format!("NVRTC gave no {}; it holds no code for the architecture asked for", job.kind.extension());
        return Err(NvrtcFailure { kind: ErrorKind::Unsupported, message, log });
    }
    if job.kind == BinaryKind::Ptx {
        mark_fma_contraction_off(&mut bytes, &job.options);
    }
    let lowered_names = lowered_names(&program, &job.name_expressions)?;
    Ok(NvrtcOutput { bytes, log, lowered_names })
}

fn create_program(nvrtc: &'static NvrtcTable, job: &NvrtcJob) -> Result<NvrtcProgram, NvrtcFailure> {
    let source = c_string(&job.source)?;
    let name = c_string(&format!("{NONEXISTENT_DIR}{}", job.name))?;
    let names = job.headers.iter().map(|h| c_string(&h.0)).collect::<Result<Vec<_>, _>>()?;
    let texts = job.headers.iter().map(|h| c_string(&h.1)).collect::<Result<Vec<_>, _>>()?;
    let name_pointers: Vec<*const c_char> = names.iter().map(|n| n.as_ptr()).collect();
    let text_pointers: Vec<*const c_char> = texts.iter().map(|t| t.as_ptr()).collect();
    let mut program = NvrtcProgram { nvrtc, handle: nvrtcProgram(ptr::null_mut()) };
    // SAFETY: all strings are NUL-terminated, both lists have the stated length, and NVRTC copies
    // what it keeps.
    let code = unsafe {
        nvrtc.nvrtcCreateProgram(
            &raw mut program.handle,
            source.as_ptr(),
            name.as_ptr(),
            names.len() as c_int,
            text_pointers.as_ptr(),
            name_pointers.as_ptr(),
        )
    };
    if code.is_success() {
        return Ok(program);
    }
    // There is nothing to destroy.
    std::mem::forget(program);
    Err(nvrtc_failure(nvrtc, code, String::new()))
}

fn c_string(text: &str) -> Result<CString, NvrtcFailure> {
    CString::new(text).map_err(|_| NvrtcFailure {
        kind: ErrorKind::Source,
        message: "the source, an option or a name contains a NUL character".to_owned(),
        log: String::new(),
    })
}

fn fetch_bytes(
    size: impl FnOnce(*mut usize) -> nvrtcResult,
    get: impl FnOnce(*mut c_char) -> nvrtcResult,
) -> Result<Vec<u8>, nvrtcResult> {
    let mut count = 0;
    let code = size(&raw mut count);
    if !code.is_success() {
        return Err(code);
    }
    let mut bytes = vec![0u8; count];
    let code = if count == 0 { code } else { get(bytes.as_mut_ptr().cast()) };
    if code.is_success() { Ok(bytes) } else { Err(code) }
}

fn program_log(program: &NvrtcProgram) -> String {
    // SAFETY: the two calls write a size, and that many bytes.
    let bytes = fetch_bytes(
        |n| unsafe { program.nvrtc.nvrtcGetProgramLogSize(program.handle, n) },
        |p| unsafe {
            // SAFETY: the buffer has the size that NVRTC gave.
            program.nvrtc.nvrtcGetProgramLog(program.handle, p)
        },
    );
    let bytes = bytes.unwrap_or_default();
    let text = bytes.split(|&b| b == 0).next().unwrap_or_default();
    String::from_utf8_lossy(text).replace(NONEXISTENT_DIR, "")
}

fn lowered_names(program: &NvrtcProgram, expressions: &[String]) -> Result<Vec<(String, String)>, NvrtcFailure> {
    let mut names = Vec::with_capacity(expressions.len());
    for expression in expressions {
        let text = c_string(expression)?;
        let mut name: *const c_char = ptr::null();
        // SAFETY: a valid program, a NUL-terminated string, room for one pointer.
        let code = unsafe { program.nvrtc.nvrtcGetLoweredName(program.handle, text.as_ptr(), &raw mut name) };
        check_result(program.nvrtc, code, &format!("the name expression {expression:?}"), program)?;
        // SAFETY: on success a NUL-terminated string that lives as long as the program.
        let name = unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned();
        names.push((expression.clone(), name));
    }
    Ok(names)
}

fn check_result(nvrtc: &NvrtcTable, code: nvrtcResult, what: &str, program: &NvrtcProgram) -> Result<(), NvrtcFailure> {
    if code.is_success() {
        return Ok(());
    }
    let mut failure = nvrtc_failure(nvrtc, code, program_log(program));
    failure.message = format!("{what}: {}", failure.message);
    Err(failure)
}

fn nvrtc_failure(nvrtc: &NvrtcTable, code: nvrtcResult, log: String) -> NvrtcFailure {
    let kind = match code {
        nvrtcResult::NVRTC_ERROR_INVALID_OPTION => ErrorKind::Option,
        nvrtcResult::NVRTC_ERROR_COMPILATION
        | nvrtcResult::NVRTC_ERROR_INVALID_INPUT
        | nvrtcResult::NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID => ErrorKind::Source,
        nvrtcResult::RTCG_NVRTC_FUNCTION_MISSING => ErrorKind::Unsupported,
        _ => ErrorKind::Io,
    };
    let text = nvrtc.error_string(code);
    let message = match code {
        nvrtcResult::NVRTC_ERROR_COMPILATION => format!("{} refused the source", nvrtc_version_text(nvrtc)),
        nvrtcResult::NVRTC_ERROR_INVALID_OPTION => match log.trim().lines().next() {
            Some(line) => format!("{}: {}", nvrtc_version_text(nvrtc), line.trim_start_matches("nvrtc: error: ")),
            None => format!("{} refused an option", nvrtc_version_text(nvrtc)),
        },
        _ => format!("{} failed: {text}", nvrtc_version_text(nvrtc)),
    };
    NvrtcFailure { kind, message, log }
}
