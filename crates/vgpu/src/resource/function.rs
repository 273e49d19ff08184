//! Functions of modules: attributes, and running them.

use crate::device::COMPUTE_CAPABILITY;
use crate::module::Kernel;
use crate::module::{self, Launch};
use crate::stream::running_operation;
use rtcg_cuda_sys::*;
use rtcg_vgpu_abi::error::{Error, Res, ResultCode, ensure};
use rtcg_vgpu_abi::handle_table::HandleTable;
use rtcg_vgpu_exec::CancelFlag;
use std::ffi::{CString, c_int};
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Functions of modules.
pub(crate) static FUNCTIONS: HandleTable<DriverFunction> = HandleTable::new(0x15);

/// A kernel whose last launch took longer than this runs behind the launch call: the program may
/// have better things to do meanwhile, and waking a thread costs little beside it.
const MAX_INLINE_DURATION: Duration = Duration::from_micros(200);

/// `CUfunction`
#[derive(Debug)]
pub(crate) struct DriverFunction {
    /// Identifier of its context.
    pub(crate) ctx_id: u64,
    /// Handle of its module.
    pub(crate) module: u64,
    /// What to run.
    pub(crate) kernel: Arc<Kernel>,
    /// Its name, for C.
    pub(crate) name: CString,
    /// Whether the kernel may wait for something that only the launching thread can bring.
    pub(crate) may_wait: bool,
    /// Whether its last launch took so little time that the next one may as well run inside the
    /// launch call. Before the first launch: whether it has no loops.
    pub(crate) short_running: AtomicBool,
    /// `CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT`, reported back.
    pub(crate) carveout: AtomicI32,
    /// What `cuParamSet*` and `cuFuncSetBlockShape` prepare for `cuLaunch`.
    pub(crate) prepared: Mutex<LegacyLaunchState>,
}

/// A launch that is being put together by the calls of the oldest launch interface.
#[derive(Debug, Default, Clone)]
pub(crate) struct LegacyLaunchState {
    /// Packed parameters.
    pub(crate) params: Vec<u8>,
    /// Threads of a block.
    pub(crate) block: [u32; 3],
    /// Bytes of dynamic shared memory.
    pub(crate) shared: u32,
}

/// The attribute of a kernel for which nothing was set.
pub(crate) fn kernel_attribute(kernel: &Kernel, attribute: CUfunction_attribute) -> Res<c_int> {
    use CUfunction_attribute as A;
    Ok(match attribute {
        A::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK => kernel.max_threads_per_block() as c_int,
        A::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES => kernel.static_shared() as c_int,
        A::CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES => kernel.const_bytes() as c_int,
        A::CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES => kernel.local_bytes() as c_int,
        A::CU_FUNC_ATTRIBUTE_NUM_REGS => kernel.n_regs() as c_int,
        A::CU_FUNC_ATTRIBUTE_PTX_VERSION => kernel.module().ptx_target() as c_int,
        A::CU_FUNC_ATTRIBUTE_BINARY_VERSION => COMPUTE_CAPABILITY.0 * 10 + COMPUTE_CAPABILITY.1,
        A::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES => kernel.max_dynamic_shared() as c_int,
        A::CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT => -1,
        _ if attribute.0 < A::CU_FUNC_ATTRIBUTE_MAX.0 => 0,
        _ => return ResultCode::INVALID_VALUE.err(),
    })
}

/// `cuFuncSetAttribute`
pub(crate) fn set_attribute(function: &DriverFunction, attribute: CUfunction_attribute, value: c_int) -> Res {
    match attribute {
        CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES => {
            let bytes = u32::try_from(value).map_err(|_| ResultCode::INVALID_VALUE)?;
            ensure(function.kernel.set_max_dynamic_shared(bytes), ResultCode::INVALID_VALUE)
        }
        CUfunction_attribute::CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT => {
            ensure((-1..=100).contains(&value), ResultCode::INVALID_VALUE)?;
            function.carveout.store(value, Ordering::Relaxed);
            Ok(())
        }
        _ => ResultCode::INVALID_VALUE.err(),
    }
}

/// Runs a launch and remembers whether it was brief.
pub(crate) fn run_kernel(launch: &Launch, function: &DriverFunction, cancel: &CancelFlag, generation: u64) -> Res {
    run_traced_kernel(launch, function, cancel, generation, 0)
}

/// The same for a launch with a number in a trace, 0 for none.
pub(crate) fn run_traced_kernel(
    launch: &Launch,
    function: &DriverFunction,
    cancel: &CancelFlag,
    generation: u64,
    number: u64,
) -> Res {
    let traced_from = trace::is_tracing().then(trace::clock_ns);
    let start = Instant::now();
    let outcome = module::run_launch_in_generation(launch, cancel, generation).map_err(error_from_fault);
    function.short_running.store(start.elapsed() < MAX_INLINE_DURATION, Ordering::Relaxed);
    if let Some(begun) = traced_from {
        trace_kernel_span(launch, function, begun, number);
    }
    outcome
}

#[cold]
fn trace_kernel_span(launch: &Launch, function: &DriverFunction, begun_ns: u64, number: u64) {
    if !trace::virtual_gpu_reports_kernel_times() {
        return;
    }
    let (ctx, stream) = running_operation();
    let device = format!("virtual GPU, context {ctx}");
    let track = trace::DeviceTrack { device: &device, device_number: ctx, stream };
    let name = function.kernel.name();
    trace::emit_device_span(track, name, begun_ns, trace::clock_ns(), launch.grid, launch.block, number);
}

/// A fault of a kernel as the error of a call.
pub(crate) fn error_from_fault(fault: rtcg_vgpu_exec::Fault) -> Error {
    let transient = !fault.kind.is_sticky();
    Error { transient, ..fault.code.with_detail(fault.report) }
}
