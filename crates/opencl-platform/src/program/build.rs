//! Building: source to LLVM's text, that and the library of builtins to PTX, the pass, and modules on devices.

use super::binary::{decode, encode};
use super::options::{BuildOptions, LINE_TABLES, parse_options};
use super::pass::{Entry, transform};
use super::{ProgramBody, ProgramState};
use crate::context::{ContextBody, UserData};
use crate::error::{ClError, Result, code_of, object_of, refuse};
use crate::object::{Ref, resolve};
use crate::platform::device::{DeviceBody, devices_of_list};
use rtcg_compile::clang::{
    AddressSpace, BuiltinLibrary, Clang, KernelMetadata, LibraryPart, MATHEMATICS_DOUBLE, MATHEMATICS_FLOAT,
    OpenClBuild, OpenClDependencies, OpenClObject, OpenClRequest, cached_opencl_build, find_clang,
    functions_that_can_tell_groups,
};
use rtcg_compile::{CompileError, ErrorKind};
use rtcg_disk_cache::TemporaryFolder;
use rtcg_driver::{Module, lock_ignoring_poison};
use rtcg_opencl_sys::*;
use std::ffi::CStr;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock, Mutex, OnceLock};

/// How far a program has come.
pub(crate) enum Stage {
    None,
    Object(Arc<OpenClObject>),
    Library(Arc<OpenClObject>),
    Executable(Arc<Built>),
}

/// An executable program.
pub(crate) struct Built {
    pub(crate) ptx: String,
    pub(crate) kernels: Vec<BuiltKernel>,
    /// One per device, loaded when a kernel is first launched there.
    modules: Mutex<Vec<(cl_device_id, Module)>>,
}

/// A kernel of an executable.
#[derive(Clone, Debug)]
pub(crate) struct BuiltKernel {
    pub(crate) entry: Entry,
    pub(crate) metadata: KernelMetadata,
    /// Whether its items can tell what sizes groups have. Where they cannot, groups may have any.
    pub(crate) can_tell_groups: bool,
}

impl Built {
    pub(crate) fn new(ptx: String, kernels: Vec<BuiltKernel>) -> Arc<Self> {
        Arc::new(Self { ptx, kernels, modules: Mutex::new(Vec::new()) })
    }

    /// The module on a device.
    pub(crate) fn module(&self, device: &Ref<DeviceBody>) -> Result<Module> {
        let mut modules = lock_ignoring_poison(&self.modules);
        if let Some((_, module)) = modules.iter().find(|(known, _)| *known == device.handle()) {
            return Ok(module.clone());
        }
        let module = device.cuda_context()?.with_current(|| Module::from_image(self.ptx.as_bytes()));
        let module = module.map_err(|error| ClError::new(CL_OUT_OF_RESOURCES, error.to_string()))?;
        modules.push((device.handle(), module.clone()));
        Ok(module)
    }
}

/// The header before every program.
const BASE_HEADER: &str = include_str!("../builtins/base.h");

/// What all parts of the library of builtins begin with.
const MACROS: &str = include_str!("../builtins/macros.cl");

/// The functions that both precisions have, by the mathematics of CUDA C++.
const MATHEMATICS: &str = include_str!("../builtins/math.clcpp");

/// The part of one precision, from the text of CUDA C++; `forms` are the arguments that name the type.
fn mathematics(cuda: &str, forms: &str) -> String {
    // In OpenCL `long long` has 128 bits.
    let cuda = cuda.replace("long long", "long");
    format!("{MACROS}{MATHEMATICS}namespace rtcg {{\n{cuda}\n}}\nMATHEMATICS({forms})\n")
}

/// The parts of the library of builtins, each before those that it needs.
static BUILTINS: LazyLock<Vec<LibraryPart<'static>>> = LazyLock::new(|| {
    macro_rules! part {
        ($name:literal) => {
            ($name, [MACROS, include_str!(concat!("../builtins/", $name, ".cl"))].concat())
        };
    }
    let single = mathematics(MATHEMATICS_FLOAT, "float, f, 16777216, 0x1.45f306p-2f, 0x1.b9391p-27f");
    let double = mathematics(MATHEMATICS_DOUBLE, "double, , 2147483647, 0x1.45f306dc9c883p-2, -0x1.6b01ec5417056p-56");
    vec![
        part!("groups"),
        part!("images"),
        part!("atomics"),
        part!("memory"),
        part!("common"),
        part!("relaxed"),
        part!("native"),
        part!("math_forms"),
        ("math_float.clcpp", single),
        ("math_double.clcpp", double),
        part!("exact_math"),
        part!("relational"),
        part!("convert"),
        part!("integer"),
        part!("work_items"),
    ]
});

fn clang() -> std::result::Result<&'static Clang, CompileError> {
    static FOUND: OnceLock<std::result::Result<Clang, CompileError>> = OnceLock::new();
    FOUND.get_or_init(find_clang).as_ref().map_err(Clone::clone)
}

/// The folder of libraries of builtins: in the cache, without one in a folder of this process, which stays.
fn library_folder() -> std::result::Result<PathBuf, CompileError> {
    if let Some(cache) = rtcg_compile::cache_directory() {
        return Ok(cache.join("opencl"));
    }
    let folder = TemporaryFolder::new("rtcg-opencl").map(TemporaryFolder::keep);
    folder.map_err(|error| broken(&format!("{}: {error}", std::env::temp_dir().display())))
}

/// The library of builtins as bitcode, made once and kept in the cache folder.
fn builtins(clang: &Clang) -> std::result::Result<&'static BuiltinLibrary, CompileError> {
    static MADE: OnceLock<std::result::Result<BuiltinLibrary, CompileError>> = OnceLock::new();
    let made = MADE.get_or_init(|| {
        let path =
            library_folder()?.join(format!("builtins-{:016x}", fnv([clang.version_identity().as_str()]) ^ *LIBRARY));
        BuiltinLibrary::open(&path).map_or_else(|| clang.compile_library(&BUILTINS, BASE_HEADER, &path), Ok)
    });
    made.as_ref().map_err(Clone::clone)
}

/// All of this library that goes into a program.
static LIBRARY: LazyLock<u64> = LazyLock::new(|| {
    let passes = concat!(include_str!("pass.rs"), include_str!("launch_words.rs"));
    library_identity(&BUILTINS, [BASE_HEADER, passes, include_str!("binary.rs")])
});

fn library_identity(parts: &[LibraryPart<'_>], others: [&str; 3]) -> u64 {
    fnv(parts.iter().flat_map(|(name, source)| [*name, source.as_str()]).chain(others))
}

/// A number for a name of a file.
fn fnv<'a>(texts: impl IntoIterator<Item = &'a str>) -> u64 {
    let bytes = texts.into_iter().flat_map(|text| text.bytes().chain([0]));
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}

type Compiled<T> = std::result::Result<T, CompileError>;

/// A step, or its result in the cache: the program and the compiler's log. `fields` are all that decides about the
/// result beside the compiler, this library, and headers in files.
fn cached_step(
    step: &str,
    fields: &[&[u8]],
    make: impl FnOnce() -> Compiled<(Stage, String, OpenClDependencies)>,
) -> Compiled<(Stage, String)> {
    let library = LIBRARY.to_le_bytes();
    let fields: Vec<&[u8]> = [step.as_bytes(), &library].into_iter().chain(fields.iter().copied()).collect();
    let found = cached_opencl_build(&fields, || {
        let (stage, log, dependencies) = make()?;
        Ok((OpenClBuild { bytes: encode(&stage).into(), log }, dependencies))
    })?;
    let stage = decode(&found.bytes).ok_or_else(|| broken("the program in the cache is damaged"))?;
    Ok((stage, found.log))
}

/// Compiles source with headers in memory to an object.
fn compile(source: &str, options: &BuildOptions, headers: &[(String, String)]) -> Compiled<(Stage, String)> {
    let words = options.for_clang.join("\0");
    let texts = headers.iter().flat_map(|(name, text)| [name.as_bytes(), text.as_bytes()]);
    let fields: Vec<&[u8]> = [source.as_bytes(), words.as_bytes()].into_iter().chain(texts).collect();
    cached_step("compile", &fields, || {
        let (object, dependencies) = compiled(source, options, headers)?;
        let log = object.log.clone();
        Ok((Stage::Object(Arc::new(object)), log, dependencies))
    })
}

fn compiled(
    source: &str,
    options: &BuildOptions,
    headers: &[(String, String)],
) -> Compiled<(OpenClObject, OpenClDependencies)> {
    let options_for_clang = &options.for_clang;
    let request =
        OpenClRequest { source, name: "program.cl", options: options_for_clang, headers, base_header: BASE_HEADER };
    let clang = clang()?;
    let object = clang.compile_opencl(&request)?;
    let dependencies = OpenClDependencies {
        compiler: clang.program.clone(),
        headers: object.included.clone(),
        include_folders: options.include_folders.clone(),
    };
    Ok((object, dependencies))
}

/// Links objects with each other and, unless a library is made, with the builtins.
fn link(objects: &[Arc<OpenClObject>], makes_library: bool) -> Compiled<Stage> {
    let fields: Vec<&[u8]> = objects.iter().map(|object| object.ir.as_bytes()).collect();
    let step = if makes_library { "create library" } else { "link" };
    let (stage, _) = cached_step(step, &fields, || {
        let object = match objects {
            [one] => one.clone(),
            several => Arc::new(clang()?.merge_opencl(several)?),
        };
        let stage = if makes_library { Stage::Library(object) } else { Stage::Executable(linked(&object)?) };
        let dependencies = OpenClDependencies { compiler: clang()?.program.clone(), ..Default::default() };
        Ok((stage, String::new(), dependencies))
    })?;
    Ok(stage)
}

/// Links an object with the builtins.
fn linked(object: &OpenClObject) -> Compiled<Arc<Built>> {
    let clang = clang()?;
    let ptx = clang.link_opencl(&object.ir, builtins(clang)?)?;
    let kernel = |name: &str| object.kernels.iter().find(|kernel| kernel.name == name);
    let is_local = |name: &str, argument: usize| {
        kernel(name).and_then(|kernel| kernel.arguments.get(argument)).is_some_and(|a| a.space == AddressSpace::Local)
    };
    let failed = |why: String| broken(&format!("{why}\n{}", clang.failed_in("reading the PTX")));
    let transformed = transform(&ptx, is_local).map_err(failed)?;
    let telling = functions_that_can_tell_groups(&object.ir);
    let kernels = transformed.entries.into_iter().filter_map(|entry| {
        let metadata = kernel(&entry.name)?.clone();
        let can_tell_groups = telling.contains(entry.name.as_str());
        Some(BuiltKernel { entry, metadata, can_tell_groups })
    });
    Ok(Built::new(transformed.ptx, kernels.collect()))
}

/// Compiles and links source.
fn build(source: &str, options: &BuildOptions) -> Compiled<(Stage, String)> {
    let words = options.for_clang.join("\0");
    cached_step("build", &[source.as_bytes(), words.as_bytes()], || {
        let (object, dependencies) = compiled(source, options, &[])?;
        let built = linked(&object).map_err(|error| with_places(error, source, options))?;
        Ok((Stage::Executable(built), object.log, dependencies))
    })
}

/// The error of linking, with the lines of calls: a program that is refused is compiled once more for them.
fn with_places(error: CompileError, source: &str, options: &BuildOptions) -> CompileError {
    if error.kind != ErrorKind::Source {
        return error;
    }
    let mut options = options.clone();
    options.for_clang.push(LINE_TABLES.to_owned());
    let again = compiled(source, &options, &[]).and_then(|(object, _)| linked(&object));
    again.err().unwrap_or(error)
}

/// How many functions a program declares, and those that the library lacks.
#[cfg(test)]
pub(crate) fn missing_builtins(source: &str, options: &BuildOptions) -> Compiled<(usize, Vec<String>)> {
    let (object, _) = compiled(source, options, &[])?;
    let (count, missing) = builtins(clang()?)?.undefined(&object.ir);
    Ok((count, missing.into_iter().map(str::to_owned).collect()))
}

fn broken(why: &str) -> CompileError {
    CompileError {
        kind: ErrorKind::Unsupported,
        message: why.to_owned(),
        command_line: Vec::new(),
        log: why.to_owned(),
        excerpt: String::new(),
        source: "".into(),
    }
}

/// What is written into the build log.
fn log_of(error: &CompileError) -> String {
    if error.log.is_empty() { error.message.clone() } else { error.log.clone() }
}

/// The code of a failed step; `failure` where the source or the options were refused.
fn code_of_failure(error: &CompileError, failure: cl_int) -> cl_int {
    match error.kind {
        ErrorKind::CompilerMissing => CL_COMPILER_NOT_AVAILABLE,
        ErrorKind::Option if failure == CL_COMPILE_PROGRAM_FAILURE => CL_INVALID_COMPILER_OPTIONS,
        ErrorKind::Option => CL_INVALID_BUILD_OPTIONS,
        _ => failure,
    }
}

/// Options that are none. The log says which; what was built before stays.
fn refused_options(program: &ProgramBody, code: cl_int, why: &str) -> ClError {
    program.lock().log = format!("error: {why}\n");
    ClError::new(code, why)
}

/// Writes the outcome of a step into the program.
fn finish(state: &mut ProgramState, log: String, outcome: std::result::Result<Stage, (cl_int, String)>) -> Result<()> {
    match outcome {
        Ok(stage) => {
            state.stage = stage;
            state.status = CL_BUILD_SUCCESS;
            state.log = log;
            Ok(())
        }
        Err((code, why)) => {
            state.status = CL_BUILD_ERROR;
            state.log = why.clone();
            refuse(code, why)
        }
    }
}

/// A function of the user's that is told the end of a build.
#[derive(Clone, Copy)]
struct Notify(Option<unsafe extern "C" fn(cl_program, *mut c_void)>, UserData);

impl Notify {
    fn call(self, program: cl_program) {
        if let Some(function) = self.0 {
            // SAFETY: the promise of the caller that gave it.
            unsafe { function(program, self.1.0) };
        }
    }
}

/// # Safety
/// `options` is null or a text of C.
unsafe fn options_text(options: *const c_char) -> String {
    // SAFETY: the caller's promise.
    if options.is_null() { String::new() } else { unsafe { CStr::from_ptr(options) }.to_string_lossy().into_owned() }
}

/// # Safety
/// As the specification of OpenCL says.
pub(crate) unsafe extern "C" fn clBuildProgram(
    program: cl_program,
    num_devices: cl_uint,
    device_list: *const cl_device_id,
    options: *const c_char,
    pfn_notify: Option<unsafe extern "C" fn(cl_program, *mut c_void)>,
    user_data: *mut c_void,
) -> cl_int {
    code_of(|| {
        // SAFETY: the caller's promise.
        let (body, text) = unsafe {
            let body = resolve::<ProgramBody>(program)?;
            body.check_devices(num_devices, device_list)?;
            (body, options_text(options))
        };
        let parsed = parse_options(&text).map_err(|why| refused_options(&body, CL_INVALID_BUILD_OPTIONS, &why))?;
        let mut state = body.lock();
        if state.kernels > 0 {
            return refuse(CL_INVALID_OPERATION, "program: there are kernels of it");
        }
        state.options = text;
        let outcome = match (&body.source, &state.stage) {
            (Some(source), _) => {
                let built = build(source, &parsed);
                let failed = |error: CompileError| (code_of_failure(&error, CL_BUILD_PROGRAM_FAILURE), log_of(&error));
                built.map(|(stage, log)| (stage, parsed.notes.clone() + &log)).map_err(failed)
            }
            (None, Stage::Executable(built)) => Ok((Stage::Executable(built.clone()), String::new())),
            (None, Stage::Object(object)) => link(std::slice::from_ref(object), false)
                .map(|stage| (stage, String::new()))
                .map_err(|error| (code_of_failure(&error, CL_BUILD_PROGRAM_FAILURE), log_of(&error))),
            _ => Err((CL_INVALID_OPERATION, "program: it has neither source nor a binary that can be built".into())),
        };
        let (log, outcome) = match outcome {
            Ok((stage, log)) => (log, Ok(stage)),
            Err(why) => (String::new(), Err(why)),
        };
        let result = finish(&mut state, log, outcome);
        drop(state);
        Notify(pfn_notify, UserData(user_data)).call(program);
        result
    })
}

/// # Safety
/// As the specification of OpenCL says.
pub(crate) unsafe extern "C" fn clCompileProgram(
    program: cl_program,
    num_devices: cl_uint,
    device_list: *const cl_device_id,
    options: *const c_char,
    num_input_headers: cl_uint,
    input_headers: *const cl_program,
    header_include_names: *mut *const c_char,
    pfn_notify: Option<unsafe extern "C" fn(cl_program, *mut c_void)>,
    user_data: *mut c_void,
) -> cl_int {
    code_of(|| {
        // SAFETY: the caller's promise.
        let (body, text, headers) = unsafe {
            let body = resolve::<ProgramBody>(program)?;
            body.check_devices(num_devices, device_list)?;
            let mut headers = Vec::new();
            for index in 0..num_input_headers as usize {
                if input_headers.is_null() || header_include_names.is_null() {
                    return ClError::value("num_input_headers: a list is null");
                }
                let header = resolve::<ProgramBody>(*input_headers.add(index))?;
                let name = CStr::from_ptr(*header_include_names.add(index)).to_string_lossy().into_owned();
                let Some(source) = header.source.clone() else {
                    return refuse(CL_INVALID_OPERATION, format!("input_headers: {name} has no source"));
                };
                headers.push((name, source));
            }
            (body, options_text(options), headers)
        };
        let parsed = parse_options(&text).map_err(|why| refused_options(&body, CL_INVALID_COMPILER_OPTIONS, &why))?;
        let Some(source) = &body.source else { return refuse(CL_INVALID_OPERATION, "program: it has no source") };
        let mut state = body.lock();
        if state.kernels > 0 {
            return refuse(CL_INVALID_OPERATION, "program: there are kernels of it");
        }
        state.options = text;
        let (log, outcome) = match compile(source, &parsed, &headers) {
            Ok((stage, log)) => (parsed.notes.clone() + &log, Ok(stage)),
            Err(error) => (String::new(), Err((code_of_failure(&error, CL_COMPILE_PROGRAM_FAILURE), log_of(&error)))),
        };
        let result = finish(&mut state, log, outcome);
        drop(state);
        Notify(pfn_notify, UserData(user_data)).call(program);
        result
    })
}

/// # Safety
/// As the specification of OpenCL says.
pub(crate) unsafe extern "C" fn clLinkProgram(
    context: cl_context,
    num_devices: cl_uint,
    device_list: *const cl_device_id,
    options: *const c_char,
    num_input_programs: cl_uint,
    input_programs: *const cl_program,
    pfn_notify: Option<unsafe extern "C" fn(cl_program, *mut c_void)>,
    user_data: *mut c_void,
    errcode_ret: *mut cl_int,
) -> cl_program {
    // SAFETY: the caller's promise.
    unsafe {
        object_of(errcode_ret, cl_program::NULL, || {
            let context = resolve::<ContextBody>(context)?;
            let devices = match num_devices {
                0 => context.devices.clone(),
                count => devices_of_list(count, device_list)?,
            };
            for device in &devices {
                context.check_device(device)?;
            }
            if num_input_programs == 0 || input_programs.is_null() {
                return ClError::value("num_input_programs: there is no program");
            }
            let text = options_text(options);
            parse_options(&text).map_err(|why| ClError::new(CL_INVALID_LINKER_OPTIONS, why))?;
            let mut objects = Vec::new();
            for handle in std::slice::from_raw_parts(input_programs, num_input_programs as usize) {
                let program = resolve::<ProgramBody>(*handle)?;
                match &program.lock().stage {
                    Stage::Object(object) | Stage::Library(object) => objects.push(object.clone()),
                    _ => return refuse(CL_INVALID_OPERATION, "input_programs: one is neither compiled nor a library"),
                }
            }
            let makes_library = text.split_whitespace().any(|word| word == "-create-library");
            let linked = link(&objects, makes_library)
                .map_err(|error| ClError::new(code_of_failure(&error, CL_LINK_PROGRAM_FAILURE), log_of(&error)))?;
            let body = ProgramBody::new(context, devices, None, linked);
            body.lock().options = text;
            let handle = Ref::new_for_user(body);
            Notify(pfn_notify, UserData(user_data)).call(handle);
            Ok(handle)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_part_of_the_library_is_in_its_identity() {
        let own = library_identity(&BUILTINS, ["", "", ""]);
        for index in 0..3 {
            let mut others = ["", "", ""];
            others[index] = " ";
            assert_ne!(library_identity(&BUILTINS, others), own);
        }
        for index in 0..BUILTINS.len() {
            let mut parts = BUILTINS.to_vec();
            parts[index].1 += " ";
            assert_ne!(library_identity(&parts, ["", "", ""]), own, "{}", BUILTINS[index].0);
        }
    }
}
