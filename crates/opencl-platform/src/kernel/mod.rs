//! Kernels and their arguments; launches ([`launch`]) and what can be asked ([`queries`]).

pub(crate) mod launch;
pub(crate) mod queries;

use crate::context::ContextBody;
use crate::error::{ClError, Result, code_of, object_of, refuse};
use crate::memory::svm::is_pointer;
use crate::memory::{MemBody, check_context};
use crate::object::{Ref, WeakRef, body, release, resolve, retain};
use crate::platform::device::DeviceBody;
use crate::program::ProgramBody;
use crate::program::build::{Built, BuiltKernel};
use crate::sampler::SamplerBody;
use rtcg_compile::clang::{AddressSpace, KernelArgument};
use rtcg_driver::{CUdeviceptr, Function, lock_ignoring_poison};
use rtcg_opencl_sys::*;
use rtcg_ptx::opencl_launch::RECORD_BYTES;
use std::ffi::CStr;
use std::sync::{Arc, Mutex, MutexGuard, Weak};

pub(crate) struct KernelBody {
    pub(crate) program: Ref<ProgramBody>,
    pub(crate) built: Arc<Built>,
    index: usize,
    state: Mutex<KernelState>,
}

body!(KernelBody: cl_kernel, b"kern", CL_INVALID_KERNEL, "kernel",
    on_last_release = give_program_free, survives_release = is_returned_by_queries);

/// Arguments as they were last set, and functions on devices.
#[derive(Clone)]
pub(crate) struct KernelState {
    /// The packed arguments, with room for the launch record.
    pub(crate) bytes: Vec<u8>,
    arguments: Vec<Argument>,
    n_unset: usize,
    /// Bytes of all `__local` arguments.
    pub(crate) local_bytes: usize,
    functions: Vec<(cl_device_id, Function)>,
    /// What the last launch uses, as long as the device does: kernels do not keep their arguments.
    uses: Weak<LaunchUses>,
}

/// What an argument was set to.
#[derive(Clone)]
enum Argument {
    Unset,
    /// Its bytes are among the packed ones.
    Value,
    Memory(WeakRef<MemBody>),
    /// Bytes of local memory.
    Local(usize),
}

/// What a launch uses until it is done.
pub(crate) struct LaunchUses {
    device: cl_device_id,
    pub(crate) function: Function,
    _memory: Vec<Ref<MemBody>>,
}

/// Bytes that begin a `__local` argument: those of the largest type.
pub(crate) const LOCAL_ALIGNMENT: usize = 128;

/// No object is asked for a kernel.
fn is_returned_by_queries(_: &KernelBody) -> bool {
    false
}

fn give_program_free(kernel: &Ref<KernelBody>) {
    kernel.program.lock().kernels -= 1;
}

impl KernelBody {
    fn create(program: &Ref<ProgramBody>, built: Arc<Built>, index: usize) -> cl_kernel {
        let kernel = &built.kernels[index];
        let state = KernelState {
            bytes: vec![0; kernel.entry.record_offset + RECORD_BYTES as usize],
            arguments: vec![Argument::Unset; kernel.entry.slots.len()],
            n_unset: kernel.entry.slots.len(),
            local_bytes: 0,
            functions: Vec::new(),
            uses: Weak::new(),
        };
        Self::with_state(program, built, index, state)
    }

    fn with_state(program: &Ref<ProgramBody>, built: Arc<Built>, index: usize, state: KernelState) -> cl_kernel {
        program.lock().kernels += 1;
        Ref::new_for_user(Self { program: program.clone(), built, index, state: Mutex::new(state) })
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, KernelState> {
        lock_ignoring_poison(&self.state)
    }

    pub(crate) fn kernel(&self) -> &BuiltKernel {
        &self.built.kernels[self.index]
    }

    pub(crate) fn context(&self) -> &Ref<ContextBody> {
        &self.program.context
    }

    /// The function on a device, loaded at first use.
    pub(crate) fn function(&self, state: &mut KernelState, device: &Ref<DeviceBody>) -> Result<Function> {
        let handle = device.handle();
        if let Some((_, function)) = state.functions.iter().find(|(known, _)| *known == handle) {
            return Ok(function.clone());
        }
        if !self.program.devices.iter().any(|own| own.is(device)) {
            return refuse(CL_INVALID_PROGRAM_EXECUTABLE, "kernel: its program was not built for the queue's device");
        }
        let function = self.built.module(device)?.function(&self.kernel().entry.name)?;
        state.functions.push((handle, function.clone()));
        Ok(function)
    }

    /// What a launch on a device uses, and the bytes of its `__local` arguments.
    pub(crate) fn uses(&self, state: &mut KernelState, device: &Ref<DeviceBody>) -> Result<(Arc<LaunchUses>, u32)> {
        if state.n_unset != 0 {
            let index = state.arguments.iter().position(|argument| matches!(argument, Argument::Unset));
            let why = format!("kernel {}: argument {} was not set", self.kernel().entry.name, index.unwrap_or(0));
            return refuse(CL_INVALID_KERNEL_ARGS, why);
        }
        let most = device.limits.local_bytes;
        if state.local_bytes > most {
            let why = format!("__local arguments: {} bytes, the device has {most}", state.local_bytes);
            return refuse(CL_OUT_OF_RESOURCES, why);
        }
        let local_bytes = state.local_bytes as u32;
        if let Some(uses) = state.uses.upgrade().filter(|uses| uses.device == device.handle()) {
            return Ok((uses, local_bytes));
        }
        let function = self.function(state, device)?;
        let mut memory = Vec::new();
        for (index, argument) in state.arguments.iter().enumerate() {
            let Argument::Memory(object) = argument else { continue };
            let Some(object) = object.upgrade() else {
                let why =
                    format!("kernel {}: the memory object of argument {index} was released", self.kernel().entry.name);
                return refuse(CL_INVALID_KERNEL_ARGS, why);
            };
            memory.push(object);
        }
        let uses = Arc::new(LaunchUses { device: device.handle(), function, _memory: memory });
        state.uses = Arc::downgrade(&uses);
        Ok((uses, local_bytes))
    }

    /// Says what an argument is now. Its bytes are written.
    fn set(&self, state: &mut KernelState, index: usize, argument: Argument) {
        let is_same = match (&state.arguments[index], &argument) {
            (Argument::Memory(old), Argument::Memory(new)) => old.is(new),
            (Argument::Memory(_), _) | (_, Argument::Memory(_)) => false,
            _ => true,
        };
        if !is_same {
            state.uses = Weak::new();
        }
        state.n_unset -= usize::from(matches!(state.arguments[index], Argument::Unset));
        let is_local = matches!(argument, Argument::Local(_));
        state.arguments[index] = argument;
        if is_local {
            self.lay_out_local_arguments(state);
        }
    }

    /// Gives each `__local` argument that was set its own part of the memory.
    fn lay_out_local_arguments(&self, state: &mut KernelState) {
        state.local_bytes = 0;
        for (argument, slot) in state.arguments.iter().zip(&self.kernel().entry.slots) {
            let Argument::Local(nbytes) = argument else { continue };
            let offset = state.local_bytes.checked_next_multiple_of(LOCAL_ALIGNMENT).unwrap_or(usize::MAX);
            state.bytes[slot.offset..slot.offset + 8].copy_from_slice(&(offset as u64).to_le_bytes());
            state.local_bytes = offset.saturating_add(*nbytes);
        }
    }

    pub(crate) fn argument(&self, index: cl_uint) -> Result<&KernelArgument> {
        let arguments = &self.kernel().metadata.arguments;
        arguments.get(index as usize).ok_or_else(|| {
            let why = format!("arg_index: {index}, kernel {} has {}", self.kernel().entry.name, arguments.len());
            ClError::new(CL_INVALID_ARG_INDEX, why)
        })
    }

    /// # Safety
    /// `value` is null or has `size` bytes.
    unsafe fn set_argument(&self, index: cl_uint, size: usize, value: *const c_void) -> Result<()> {
        let declared = self.argument(index)?;
        let slot = self.kernel().entry.slots[index as usize];
        let mut state = self.lock();
        let set = match declared.space {
            AddressSpace::Local => local_argument(index, declared, size, value)?,
            AddressSpace::Global | AddressSpace::Constant => {
                // SAFETY: the caller's promise.
                let (address, set) = unsafe { self.memory_argument(index, declared, size, value) }?;
                state.bytes[slot.offset..slot.offset + 8].copy_from_slice(&address.to_le_bytes());
                set
            }
            AddressSpace::Private if size != slot.nbytes => return wrong_size(index, declared, size, slot.nbytes),
            AddressSpace::Private => {
                let bytes = &mut state.bytes[slot.offset..slot.offset + size];
                // SAFETY: the caller's promise.
                unsafe { write_value(index, declared, bytes, value) }?;
                Argument::Value
            }
        };
        self.set(&mut state, index as usize, set);
        Ok(())
    }

    /// A buffer or an image, and what the kernel gets for it.
    ///
    /// # Safety
    /// `value` is null or has `size` bytes.
    unsafe fn memory_argument(
        &self,
        index: cl_uint,
        declared: &KernelArgument,
        size: usize,
        value: *const c_void,
    ) -> Result<(CUdeviceptr, Argument)> {
        let is_image = declared.access != "none";
        if size != size_of::<cl_mem>() {
            return wrong_size(index, declared, size, size_of::<cl_mem>());
        }
        // SAFETY: the caller's promise.
        let handle = if value.is_null() { cl_mem::NULL } else { unsafe { *value.cast::<cl_mem>() } };
        if handle.is_null() && is_image {
            return refuse(CL_INVALID_ARG_VALUE, format!("arg_value: argument {index} is an image and is null"));
        }
        if handle.is_null() {
            return Ok((0, Argument::Value));
        }
        // SAFETY: the caller's promise.
        let memory = unsafe { resolve::<MemBody>(handle) }.map_err(|error| {
            let why = format!("arg_value: argument {index} ({}): {}", declared.type_name, error.detail);
            ClError::new(CL_INVALID_MEM_OBJECT, why)
        })?;
        check_context(&memory, self.context())?;
        let address = if is_image { image_address(&memory, declared) } else { buffer_address(&memory) };
        let address = address
            .map_err(|error| ClError::new(error.code, format!("arg_value: argument {index} is {}", error.detail)))?;
        Ok((address, Argument::Memory(WeakRef::new(&memory))))
    }
}

fn wrong_size<T>(index: cl_uint, declared: &KernelArgument, size: usize, expected: usize) -> Result<T> {
    let why = format!("arg_size: {size} bytes, argument {index} ({}) has {expected}", declared.type_name);
    refuse(CL_INVALID_ARG_SIZE, why)
}

fn local_argument(index: cl_uint, declared: &KernelArgument, size: usize, value: *const c_void) -> Result<Argument> {
    if !value.is_null() {
        return refuse(CL_INVALID_ARG_VALUE, format!("arg_value: argument {index} is __local, expected NULL"));
    }
    if size == 0 { wrong_size(index, declared, size, 1) } else { Ok(Argument::Local(size)) }
}

/// Writes a number or a structure, or the bits of a sampler.
///
/// # Safety
/// `value` is null or has as many bytes as `bytes`.
unsafe fn write_value(index: cl_uint, declared: &KernelArgument, bytes: &mut [u8], value: *const c_void) -> Result<()> {
    if value.is_null() {
        return refuse(CL_INVALID_ARG_VALUE, format!("arg_value: argument {index} is null"));
    }
    if declared.type_name == "sampler_t" {
        // SAFETY: the caller's promise.
        let found = unsafe { resolve::<SamplerBody>(*value.cast::<cl_sampler>()) }.map_err(|error| {
            ClError::new(error.code, format!("arg_value: argument {index} (sampler_t): {}", error.detail))
        })?;
        bytes.copy_from_slice(&u64::from(found.bits()).to_le_bytes());
    } else {
        // SAFETY: the caller's promise.
        bytes.copy_from_slice(unsafe { std::slice::from_raw_parts(value.cast::<u8>(), bytes.len()) });
    }
    Ok(())
}

/// The address of a buffer's bytes.
fn buffer_address(memory: &Ref<MemBody>) -> Result<CUdeviceptr> {
    if memory.image.is_some() {
        return refuse(CL_INVALID_MEM_OBJECT, "an image, expected a buffer");
    }
    Ok(memory.address())
}

/// The address of the descriptor of an image that goes with the argument.
fn image_address(memory: &Ref<MemBody>, declared: &KernelArgument) -> Result<CUdeviceptr> {
    let Some(image) = memory.image.as_ref().filter(|image| image.goes_with(&declared.type_name)) else {
        let kind = if memory.image.is_some() { "an image of another kind" } else { "a buffer" };
        let why = format!("{kind}, expected {}", declared.type_name);
        return refuse(CL_INVALID_MEM_OBJECT, why);
    };
    let excluded = match declared.access.as_str() {
        "read_only" => CL_MEM_WRITE_ONLY,
        "write_only" => CL_MEM_READ_ONLY,
        _ => CL_MEM_WRITE_ONLY | CL_MEM_READ_ONLY,
    };
    if memory.flags & excluded != 0 {
        let why = format!("an image with flags {:#x}, expected one for {}", memory.flags, declared.access);
        return refuse(CL_INVALID_ARG_VALUE, why);
    }
    Ok(image.descriptor_address())
}

/// # Safety
/// As the specification of OpenCL says.
pub(crate) unsafe extern "C" fn clCreateKernel(
    program: cl_program,
    kernel_name: *const c_char,
    errcode_ret: *mut cl_int,
) -> cl_kernel {
    // SAFETY: the caller's promise.
    unsafe {
        object_of(errcode_ret, cl_kernel::NULL, || {
            let program = resolve::<ProgramBody>(program)?;
            if kernel_name.is_null() {
                return ClError::value("kernel_name is null");
            }
            let built = program.executable()?;
            let name = CStr::from_ptr(kernel_name).to_string_lossy();
            let Some(index) = built.kernels.iter().position(|kernel| kernel.entry.name == name) else {
                return refuse(CL_INVALID_KERNEL_NAME, format!("kernel_name: the program has no kernel {name}"));
            };
            Ok(KernelBody::create(&program, built, index))
        })
    }
}

/// # Safety
/// As the specification of OpenCL says.
pub(crate) unsafe extern "C" fn clCreateKernelsInProgram(
    program: cl_program,
    num_kernels: cl_uint,
    kernels: *mut cl_kernel,
    num_kernels_ret: *mut cl_uint,
) -> cl_int {
    code_of(|| {
        // SAFETY: the caller's promise.
        let program = unsafe { resolve::<ProgramBody>(program) }?;
        let built = program.executable()?;
        if !kernels.is_null() && (num_kernels as usize) < built.kernels.len() {
            return ClError::value(format!("num_kernels: {num_kernels}, the program has {}", built.kernels.len()));
        }
        // SAFETY: the caller's promise; there is room for all.
        unsafe {
            if !kernels.is_null() {
                for index in 0..built.kernels.len() {
                    *kernels.add(index) = KernelBody::create(&program, built.clone(), index);
                }
            }
            if !num_kernels_ret.is_null() {
                *num_kernels_ret = built.kernels.len() as cl_uint;
            }
        }
        Ok(())
    })
}

/// # Safety
/// As the specification of OpenCL says.
pub(crate) unsafe extern "C" fn clCloneKernel(source_kernel: cl_kernel, errcode_ret: *mut cl_int) -> cl_kernel {
    // SAFETY: the caller's promise.
    unsafe {
        object_of(errcode_ret, cl_kernel::NULL, || {
            let kernel = resolve::<KernelBody>(source_kernel)?;
            let state = kernel.lock().clone();
            Ok(KernelBody::with_state(&kernel.program, kernel.built.clone(), kernel.index, state))
        })
    }
}

/// # Safety
/// As the specification of OpenCL says.
pub(crate) unsafe extern "C" fn clRetainKernel(kernel: cl_kernel) -> cl_int {
    // SAFETY: the caller's promise.
    code_of(|| unsafe { retain::<KernelBody>(kernel) })
}

/// # Safety
/// As the specification of OpenCL says.
pub(crate) unsafe extern "C" fn clReleaseKernel(kernel: cl_kernel) -> cl_int {
    // SAFETY: the caller's promise.
    code_of(|| unsafe { release::<KernelBody>(kernel) })
}

/// # Safety
/// As the specification of OpenCL says.
pub(crate) unsafe extern "C" fn clSetKernelArg(
    kernel: cl_kernel,
    arg_index: cl_uint,
    arg_size: usize,
    arg_value: *const c_void,
) -> cl_int {
    // SAFETY: the caller's promise.
    code_of(|| unsafe { resolve::<KernelBody>(kernel)?.set_argument(arg_index, arg_size, arg_value) })
}

/// # Safety
/// As the specification of OpenCL says.
pub(crate) unsafe extern "C" fn clSetKernelArgSVMPointer(
    kernel: cl_kernel,
    arg_index: cl_uint,
    arg_value: *const c_void,
) -> cl_int {
    code_of(|| {
        // SAFETY: the caller's promise.
        let kernel = unsafe { resolve::<KernelBody>(kernel) }?;
        let declared = kernel.argument(arg_index)?;
        if !matches!(declared.space, AddressSpace::Global | AddressSpace::Constant) {
            return refuse(CL_INVALID_ARG_VALUE, format!("arg_index: argument {arg_index} is no __global pointer"));
        }
        if !arg_value.is_null() && !is_pointer(arg_value as usize) {
            let why = format!("arg_value: {arg_value:?} for argument {arg_index} is not in memory of clSVMAlloc");
            return refuse(CL_INVALID_ARG_VALUE, why);
        }
        let at = kernel.kernel().entry.slots[arg_index as usize].offset;
        let mut state = kernel.lock();
        state.bytes[at..at + 8].copy_from_slice(&(arg_value as u64).to_le_bytes());
        kernel.set(&mut state, arg_index as usize, Argument::Value);
        Ok(())
    })
}

/// Shared memory is reached by every kernel of the context, named or not.
///
/// # Safety
/// As the specification of OpenCL says.
pub(crate) unsafe extern "C" fn clSetKernelExecInfo(
    kernel: cl_kernel,
    param_name: cl_kernel_exec_info,
    param_value_size: usize,
    param_value: *const c_void,
) -> cl_int {
    code_of(|| {
        // SAFETY: the caller's promise.
        unsafe { resolve::<KernelBody>(kernel) }?;
        if param_value.is_null() || param_value_size == 0 {
            return ClError::value("param_value: there is none");
        }
        match param_name {
            CL_KERNEL_EXEC_INFO_SVM_PTRS if param_value_size.is_multiple_of(size_of::<*const c_void>()) => Ok(()),
            CL_KERNEL_EXEC_INFO_SVM_FINE_GRAIN_SYSTEM if param_value_size != size_of::<cl_bool>() => {
                ClError::value(format!("param_value_size: {param_value_size}, expected that of a cl_bool"))
            }
            // SAFETY: the caller's promise; the size was compared.
            CL_KERNEL_EXEC_INFO_SVM_FINE_GRAIN_SYSTEM if unsafe { *param_value.cast::<cl_bool>() } == CL_FALSE => {
                Ok(())
            }
            CL_KERNEL_EXEC_INFO_SVM_FINE_GRAIN_SYSTEM => {
                refuse(CL_INVALID_OPERATION, "param_name: memory of the system is not shared")
            }
            _ => ClError::value(format!("param_name: {param_name:#x} is nothing that a kernel is told")),
        }
    })
}
