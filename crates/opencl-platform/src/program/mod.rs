//! Programs: source that is built for devices, binaries of ours, and what can be asked about them.

pub(crate) mod binary;
pub(crate) mod build;
mod launch_words;
pub(crate) mod options;
pub(crate) mod pass;

use crate::context::ContextBody;
use crate::error::{ClError, Result, code_of, object_of, refuse};
use crate::info::{Answer, info_function};
use crate::object::{Ref, body, release, resolve, retain};
use crate::platform::device::{DeviceBody, devices_of_list};
use build::{Built, Stage};
use rtcg_driver::lock_ignoring_poison;
use rtcg_opencl_sys::*;
use std::ffi::CStr;
use std::sync::{Arc, Mutex, MutexGuard};

pub(crate) struct ProgramBody {
    pub(crate) context: Ref<ContextBody>,
    pub(crate) devices: Vec<Ref<DeviceBody>>,
    /// None where the program was made of binaries or linked.
    pub(crate) source: Option<String>,
    state: Mutex<ProgramState>,
}

body!(ProgramBody: cl_program, b"prog", CL_INVALID_PROGRAM, "program");

/// What building made. All devices get the same.
pub(crate) struct ProgramState {
    pub(crate) status: cl_build_status,
    pub(crate) options: String,
    pub(crate) log: String,
    pub(crate) stage: Stage,
    /// Kernel objects that stand in the way of building again.
    pub(crate) kernels: usize,
}

impl ProgramBody {
    pub(crate) fn new(
        context: Ref<ContextBody>,
        devices: Vec<Ref<DeviceBody>>,
        source: Option<String>,
        stage: Stage,
    ) -> Self {
        let status = if matches!(stage, Stage::None) { CL_BUILD_NONE } else { CL_BUILD_SUCCESS };
        let state = ProgramState { status, options: String::new(), log: String::new(), stage, kernels: 0 };
        Self { context, devices, source, state: Mutex::new(state) }
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, ProgramState> {
        lock_ignoring_poison(&self.state)
    }

    /// The executable, for making kernels of.
    pub(crate) fn executable(&self) -> Result<Arc<Built>> {
        match &self.lock().stage {
            Stage::Executable(built) => Ok(built.clone()),
            _ => refuse(CL_INVALID_PROGRAM_EXECUTABLE, "program: it was not built"),
        }
    }

    /// The devices of a list, or all where there is none; each must be the program's.
    ///
    /// # Safety
    /// `list` is null or has `count` handles.
    pub(crate) unsafe fn check_devices(&self, count: cl_uint, list: *const cl_device_id) -> Result<()> {
        if list.is_null() != (count == 0) {
            return ClError::value(format!("num_devices: {count}, and device_list says another"));
        }
        if list.is_null() {
            return Ok(());
        }
        // SAFETY: the caller's promise.
        for device in unsafe { devices_of_list(count, list) }? {
            if !self.devices.iter().any(|own| own.is(&device)) {
                return refuse(CL_INVALID_DEVICE, "device_list: a device is not the program's");
            }
        }
        Ok(())
    }
}

/// # Safety
/// As the specification of OpenCL says.
pub(crate) unsafe extern "C" fn clCreateProgramWithSource(
    context: cl_context,
    count: cl_uint,
    strings: *mut *const c_char,
    lengths: *const usize,
    errcode_ret: *mut cl_int,
) -> cl_program {
    // SAFETY: the caller's promise.
    unsafe {
        object_of(errcode_ret, cl_program::NULL, || {
            let context = resolve::<ContextBody>(context)?;
            if count == 0 || strings.is_null() {
                return ClError::value("count: there is no text");
            }
            let mut source = String::new();
            for index in 0..count as usize {
                let text = *strings.add(index);
                if text.is_null() {
                    return ClError::value(format!("strings: number {index} is null"));
                }
                let length = if lengths.is_null() { 0 } else { *lengths.add(index) };
                let bytes = match length {
                    0 => CStr::from_ptr(text).to_bytes(),
                    length => std::slice::from_raw_parts(text.cast(), length),
                };
                source += &String::from_utf8_lossy(bytes);
            }
            let devices = context.devices.clone();
            Ok(Ref::new_for_user(ProgramBody::new(context, devices, Some(source), Stage::None)))
        })
    }
}

/// # Safety
/// As the specification of OpenCL says.
pub(crate) unsafe extern "C" fn clCreateProgramWithBuiltInKernels(
    context: cl_context,
    _num_devices: cl_uint,
    _device_list: *const cl_device_id,
    _kernel_names: *const c_char,
    errcode_ret: *mut cl_int,
) -> cl_program {
    // SAFETY: the caller's promise.
    unsafe {
        object_of(errcode_ret, cl_program::NULL, || {
            resolve::<ContextBody>(context)?;
            ClError::value("kernel_names: the devices have no built-in kernels")
        })
    }
}

/// # Safety
/// As the specification of OpenCL says.
pub(crate) unsafe extern "C" fn clCreateProgramWithIL(
    context: cl_context,
    _il: *const c_void,
    _length: usize,
    errcode_ret: *mut cl_int,
) -> cl_program {
    // SAFETY: the caller's promise.
    unsafe {
        object_of(errcode_ret, cl_program::NULL, || {
            resolve::<ContextBody>(context)?;
            refuse(CL_INVALID_OPERATION, "il: programs in SPIR-V are not offered; give OpenCL C")
        })
    }
}

/// # Safety
/// As the specification of OpenCL says.
pub(crate) unsafe extern "C" fn clRetainProgram(program: cl_program) -> cl_int {
    // SAFETY: the caller's promise.
    code_of(|| unsafe { retain::<ProgramBody>(program) })
}

/// # Safety
/// As the specification of OpenCL says.
pub(crate) unsafe extern "C" fn clReleaseProgram(program: cl_program) -> cl_int {
    // SAFETY: the caller's promise.
    code_of(|| unsafe { release::<ProgramBody>(program) })
}

info_function!(clGetProgramInfo(cl_program, cl_program_info) of ProgramBody = program_info);

fn program_info(program: &Ref<ProgramBody>, param_name: cl_program_info, answer: Answer) -> Result<()> {
    match param_name {
        CL_PROGRAM_REFERENCE_COUNT => answer.plain(program.user_count()),
        CL_PROGRAM_CONTEXT => answer.plain(program.context.handle()),
        CL_PROGRAM_NUM_DEVICES => answer.plain(program.devices.len() as cl_uint),
        CL_PROGRAM_DEVICES => answer.slice(&program.devices.iter().map(Ref::handle).collect::<Vec<_>>()),
        CL_PROGRAM_SOURCE => answer.text(program.source.as_deref().unwrap_or("")),
        CL_PROGRAM_IL => answer.bytes(&[]),
        CL_PROGRAM_BINARY_SIZES => {
            let size = binary::encode(&program.lock().stage).len();
            answer.slice(&vec![size; program.devices.len()])
        }
        CL_PROGRAM_BINARIES => {
            answer.announce_size(size_of::<*mut u8>() * program.devices.len())?;
            let bytes = binary::encode(&program.lock().stage);
            if answer.wants_value() {
                // SAFETY: the size was compared; each pointer has room for its binary: the caller's promise.
                unsafe {
                    let list = std::slice::from_raw_parts(answer.memory().cast::<*mut u8>(), program.devices.len());
                    for target in list.iter().filter(|target| !target.is_null()) {
                        std::ptr::copy_nonoverlapping(bytes.as_ptr(), *target, bytes.len());
                    }
                }
            }
            Ok(())
        }
        CL_PROGRAM_NUM_KERNELS => answer.plain(program.executable()?.kernels.len()),
        CL_PROGRAM_KERNEL_NAMES => {
            let built = program.executable()?;
            answer.text(&built.kernels.iter().map(|kernel| kernel.entry.name.as_str()).collect::<Vec<_>>().join(";"))
        }
        CL_PROGRAM_SCOPE_GLOBAL_CTORS_PRESENT | CL_PROGRAM_SCOPE_GLOBAL_DTORS_PRESENT => answer.boolean(false),
        _ => answer.unknown("program", param_name),
    }
}

/// # Safety
/// As the specification of OpenCL says.
pub(crate) unsafe extern "C" fn clGetProgramBuildInfo(
    program: cl_program,
    device: cl_device_id,
    param_name: cl_program_build_info,
    param_value_size: usize,
    param_value: *mut c_void,
    param_value_size_ret: *mut usize,
) -> cl_int {
    code_of(|| {
        // SAFETY: the caller's promise.
        let (program, answer) = unsafe {
            let program = resolve::<ProgramBody>(program)?;
            program.check_devices(1, &device)?;
            (program, Answer::new(param_value_size, param_value, param_value_size_ret))
        };
        let state = program.lock();
        match param_name {
            CL_PROGRAM_BUILD_STATUS => answer.plain(state.status),
            CL_PROGRAM_BUILD_OPTIONS => answer.text(&state.options),
            CL_PROGRAM_BUILD_LOG => answer.text(&state.log),
            CL_PROGRAM_BINARY_TYPE => answer.plain(match &state.stage {
                Stage::None => CL_PROGRAM_BINARY_TYPE_NONE,
                Stage::Object(_) => CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT,
                Stage::Library(_) => CL_PROGRAM_BINARY_TYPE_LIBRARY,
                Stage::Executable(_) => CL_PROGRAM_BINARY_TYPE_EXECUTABLE,
            }),
            CL_PROGRAM_BUILD_GLOBAL_VARIABLE_TOTAL_SIZE => answer.plain::<usize>(0),
            _ => answer.unknown("program build", param_name),
        }
    })
}

/// # Safety
/// As the specification of OpenCL says.
pub(crate) unsafe extern "C" fn clSetProgramReleaseCallback(
    program: cl_program,
    _pfn_notify: Option<unsafe extern "C" fn(cl_program, *mut c_void)>,
    _user_data: *mut c_void,
) -> cl_int {
    code_of(|| {
        // SAFETY: the caller's promise.
        unsafe { resolve::<ProgramBody>(program) }?;
        refuse(CL_INVALID_OPERATION, "programs have no destructors: OpenCL C++ is not offered")
    })
}

/// # Safety
/// As the specification of OpenCL says.
pub(crate) unsafe extern "C" fn clSetProgramSpecializationConstant(
    program: cl_program,
    _spec_id: cl_uint,
    _spec_size: usize,
    _spec_value: *const c_void,
) -> cl_int {
    code_of(|| {
        // SAFETY: the caller's promise.
        unsafe { resolve::<ProgramBody>(program) }?;
        refuse(CL_INVALID_OPERATION, "spec_id: only programs in SPIR-V have specialisation constants")
    })
}
