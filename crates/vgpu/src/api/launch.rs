//! Launches.
//!
//! A small grid whose kernel cannot wait for anybody, and took little time before, runs inside the
//! launch call if its stream is idle; every other one runs behind it. What a kernel does wrong is told by the next call that
//! looks, never by the launch itself, as with a real device.

use rtcg_vgpu_abi::IgnorePoison;
use std::ffi::{c_int, c_uint, c_void};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use rtcg_cuda_sys::*;

use super::function::function_in_context;
use super::occupancy::check_cooperative_size;
use super::{Handle, driver_functions, event, unsupported_feature};
use crate::driver::stream_and_context;
use crate::graph::{KernelAction, NodeAction, capture};
use crate::module::{self, Launch};
use crate::resource::function::{DriverFunction, FUNCTIONS, error_from_fault, run_traced_kernel};
use crate::stream::attributes::{AdviceAttributes, AttributeBytes, UPDATABLE_NODE_ATTRIBUTE};
use crate::stream::context::Context;
use crate::stream::{OperationWork, Stream, StreamPoints};
use rtcg_vgpu_abi::error::{Res, ResultCode, ensure};
use rtcg_vgpu_abi::model::launch::{CARVEOUTS_OF_LAUNCHES, MEMORY_SYNC_DOMAINS, SURPLUS_ARGUMENTS_CODE};

/// Grids of at most this many threads may run inside the launch call.
const MAX_INLINE_THREADS: u64 = 8192;

/// A launch as the different calls ask for it.
struct LaunchRequest {
    function: CUfunction,
    grid: [u32; 3],
    block: [u32; 3],
    shared: u32,
    stream: CUstream,
    cooperative: bool,
    /// It may begin before the kernel before it in the stream has ended.
    programmatic: bool,
    /// Events to record, with the flags of the record.
    events: Vec<(CUevent, c_int)>,
    /// What the node of a captured launch keeps.
    attributes: AdviceAttributes,
}

impl LaunchRequest {
    /// A launch without attributes.
    fn new(function: CUfunction, [grid, block]: [[u32; 3]; 2], shared: u32, stream: CUstream) -> LaunchRequest {
        LaunchRequest {
            function,
            grid,
            block,
            shared,
            stream,
            cooperative: false,
            programmatic: false,
            events: Vec::new(),
            attributes: AdviceAttributes::default(),
        }
    }
}

/// Packs the arguments that an array of pointers names.
///
/// # Safety
/// `pointers` has one element for each parameter of the kernel, each valid for the parameter's size.
unsafe fn pack_param_pointers(function: &DriverFunction, pointers: *const *mut c_void) -> Res<Vec<u8>> {
    let mut packed = vec![0_u8; function.kernel.param_bytes()];
    for (i, param) in function.kernel.kernel_params().iter().enumerate() {
        // SAFETY: this function's contract.
        let source = unsafe { *pointers.add(i) };
        ensure(!source.is_null(), ResultCode::INVALID_VALUE)?;
        // SAFETY: not null, so it leads to the parameter's value; offsets and sizes lie within the packed buffer by construction.
        unsafe {
            std::ptr::copy_nonoverlapping(source.cast::<u8>(), packed.as_mut_ptr().add(param.offset), param.size)
        };
    }
    Ok(packed)
}

/// Copies the arguments that the program has packed itself.
///
/// # Safety
/// `extra` is a list of key and value pairs that ends with `CU_LAUNCH_PARAM_END`.
unsafe fn pack_extra_buffer(function: &DriverFunction, extra: *const *mut c_void) -> Res<Vec<u8>> {
    let (mut start, mut size, mut at) = (std::ptr::null::<u8>(), None, 0);
    loop {
        // SAFETY: the list has not ended before `at`.
        let key = unsafe { *extra.add(at) };
        if key == CU_LAUNCH_PARAM_END {
            break;
        }
        // SAFETY: a key that is not the end is followed by its value.
        let value = unsafe { *extra.add(at + 1) };
        match key {
            CU_LAUNCH_PARAM_BUFFER_POINTER => start = value.cast::<u8>(),
            CU_LAUNCH_PARAM_BUFFER_SIZE => {
                ensure(!value.is_null(), ResultCode::INVALID_VALUE)?;
                // SAFETY: the value of this key points to a size.
                size = Some(unsafe { value.cast::<usize>().read_unaligned() });
            }
            _ => return ResultCode::INVALID_VALUE.err(),
        }
        at += 2;
    }
    let needed = function.kernel.param_bytes();
    let size = size.ok_or(ResultCode::INVALID_VALUE)?;
    ensure((size == 0) == (needed == 0) && (size == 0 || !start.is_null()), ResultCode::INVALID_VALUE)?;
    ensure(size <= needed, SURPLUS_ARGUMENTS_CODE)?;
    // What the buffer lacks is zero.
    let mut packed = vec![0; needed];
    if size > 0 {
        // SAFETY: the program's buffer has `size` bytes.
        packed[..size].copy_from_slice(unsafe { std::slice::from_raw_parts(start, size) });
    }
    Ok(packed)
}

/// # Safety
/// As for [`pack_param_pointers`] and [`pack_extra_buffer`].
pub(crate) unsafe fn pack_params(
    function: &DriverFunction,
    pointers: *const *mut c_void,
    extra: *const *mut c_void,
) -> Res<Vec<u8>> {
    match (pointers.is_null(), extra.is_null()) {
        (false, false) => ResultCode::INVALID_VALUE.err(),
        // SAFETY: this function's contract.
        (false, true) => unsafe { pack_param_pointers(function, pointers) },
        // SAFETY: this function's contract.
        (true, false) => unsafe { pack_extra_buffer(function, extra) },
        (true, true) => {
            ensure(function.kernel.kernel_params().is_empty(), ResultCode::INVALID_VALUE)?;
            Ok(Vec::new())
        }
    }
}

/// Checks a launch and runs or queues it; one that is refused makes a capture of its stream invalid. `pack` makes the
/// parameters.
fn launch_kernel(request: &LaunchRequest, pack: impl FnOnce(&DriverFunction) -> Res<Vec<u8>>) -> Res {
    let (ctx, stream) = stream_and_context(request.stream.handle_number())?;
    launch_in_stream(&ctx, &stream, request, pack).inspect_err(|_| capture::invalidate_capture_of_stream(&stream))
}

fn launch_in_stream(
    ctx: &Arc<Context>,
    stream: &Arc<Stream>,
    request: &LaunchRequest,
    pack: impl FnOnce(&DriverFunction) -> Res<Vec<u8>>,
) -> Res {
    let function = function_in_context(ctx, request.function)?;
    ensure(function.ctx_id == ctx.id, ResultCode::INVALID_HANDLE)?;
    let launch = Launch {
        function: function.kernel.clone(),
        grid: request.grid,
        block: request.block,
        dynamic_shared: request.shared,
        params: pack(&function)?,
        cooperative: request.cooperative,
    };
    let generation = ctx.cancel.interrupt_generation();
    module::validate_launch(&launch)?;
    check_cooperative_size(&launch)?;
    let handle = request.function.handle_number();
    let action = || {
        let made = KernelAction::new(handle, function.clone(), launch.clone());
        let kept = KernelAction { attributes: request.attributes.clone(), ..made };
        Ok(NodeAction::Kernel(Arc::new(kept)))
    };
    if capture::capture_operation_with_edges(stream, action, request.programmatic)? {
        return Ok(());
    }
    // Only nodes can be said to be updatable, or not to be.
    ensure(!request.attributes.is_set(UPDATABLE_NODE_ATTRIBUTE), ResultCode::NOT_SUPPORTED)?;
    ctx.note_launch(&function.kernel);
    let n_threads: u64 = request.grid.iter().chain(&request.block).map(|&n| u64::from(n)).product();
    let is_short = n_threads <= MAX_INLINE_THREADS && function.short_running.load(Ordering::Relaxed);
    let may_run_here = is_short && !function.may_wait && !request.cooperative;
    if may_run_here && let Some(_turn) = stream.try_run_inline(ctx) {
        // A fault poisons the context and the next call says so; anything else is this call's error.
        return run_traced_kernel(&launch, &function, &ctx.cancel, generation, trace::current_launch_number())
            .or_else(|e| if ctx.poison(&e) { Ok(()) } else { Err(e) });
    }
    // Compiled now, so that a kernel that cannot be is this call's error and not a later one's.
    function.kernel.compiled_program(request.block).map_err(error_from_fault)?;
    let cancel = ctx.cancel.clone();
    let number = trace::current_launch_number();
    let work = move || run_traced_kernel(&launch, &function, &cancel, generation, number);
    stream.submit_operation(ctx, StreamPoints::new(), OperationWork::Device(Box::new(work)));
    Ok(())
}

/// # Safety
/// `config` is null or valid, and so are the attributes it names.
unsafe fn request_from_launch_config(config: *const CUlaunchConfig, function: CUfunction) -> Res<LaunchRequest> {
    // SAFETY: this function's contract.
    let c = unsafe { config.as_ref() }.ok_or(ResultCode::INVALID_VALUE)?;
    let mut request = LaunchRequest::new(
        function,
        [[c.gridDimX, c.gridDimY, c.gridDimZ], [c.blockDimX, c.blockDimY, c.blockDimZ]],
        c.sharedMemBytes,
        c.hStream,
    );
    ensure(c.numAttrs == 0 || !c.attrs.is_null(), ResultCode::INVALID_VALUE)?;
    for i in 0..c.numAttrs as usize {
        // SAFETY: `i < numAttrs`.
        apply_launch_attribute(&mut request, unsafe { &*c.attrs.add(i) })?;
    }
    Ok(request)
}

fn apply_launch_attribute(request: &mut LaunchRequest, attribute: &CUlaunchAttribute) -> Res {
    use CUlaunchAttributeID as Id;
    match attribute.id {
        // SAFETY: the identifier says which member of the union is set; all are plain numbers.
        Id::CU_LAUNCH_ATTRIBUTE_COOPERATIVE => request.cooperative = unsafe { attribute.value.cooperative } != 0,
        Id::CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION => {
            // SAFETY: the identifier says that this member is set, a plain number.
            request.programmatic = unsafe { attribute.value.programmaticStreamSerializationAllowed } != 0;
        }
        Id::CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION => {
            // SAFETY: the identifier says that this member is set.
            let cluster = unsafe { attribute.value.clusterDim };
            // Zeros stand for no clusters.
            let is_single = matches!([cluster.x, cluster.y, cluster.z], [0, 0, 0] | [1, 1, 1]);
            ensure(is_single, ResultCode::INVALID_CLUSTER_SIZE)?;
        }
        Id::CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT => {
            // SAFETY: the identifier says that this member is set.
            let wish = unsafe { attribute.value.programmaticEvent };
            request.events.push((wish.event, wish.flags));
        }
        Id::CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT => {
            // SAFETY: the identifier says that this member is set.
            let wish = unsafe { attribute.value.launchCompletionEvent };
            request.events.push((wish.event, wish.flags));
        }
        Id::CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE => {
            // SAFETY: the identifier says that this member is set; it is plain numbers.
            let wish = unsafe { attribute.value.deviceUpdatableKernelNode };
            if wish.deviceUpdatable != 0 {
                return Err(unsupported_feature("device-updatable graph nodes"));
            }
        }
        Id::CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW => {
            // SAFETY: the identifier says that this member is set.
            let window = unsafe { attribute.value.accessPolicyWindow };
            // What is outside of the window cannot persist.
            let may_persist = window.missProp == CUaccessProperty::CU_ACCESS_PROPERTY_PERSISTING;
            ensure((0.0..=1.0).contains(&window.hitRatio) && !may_persist, ResultCode::INVALID_VALUE)?;
        }
        Id::CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN => {
            // SAFETY: the identifier says that this member is set.
            let domain = unsafe { attribute.value.memSyncDomain }.0;
            ensure(domain < MEMORY_SYNC_DOMAINS, ResultCode::INVALID_VALUE)?;
        }
        Id::CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT => {
            // SAFETY: the identifier says that this member is set; it is a plain number.
            let percent = unsafe { attribute.value.sharedMemCarveout };
            ensure(CARVEOUTS_OF_LAUNCHES.contains(&percent), ResultCode::INVALID_VALUE)?;
        }
        Id::CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY => return ResultCode::INVALID_VALUE.err(),
        // Advice about speed; 15 is none, and neither is what comes behind the last.
        _ => ensure(attribute.id.0 <= 16 && attribute.id.0 != 15, ResultCode::INVALID_VALUE)?,
    }
    // SAFETY: a value has so many bytes, whichever member is set; all are plain numbers.
    let bytes = unsafe { (&raw const attribute.value).cast::<AttributeBytes>().read_unaligned() };
    request.attributes.keep_of_launch(attribute.id.0, bytes);
    Ok(())
}

/// Launches, and records the events of the request behind the kernel: whoever waits for its blocks to begin, or for
/// what they trigger, may as well wait for its end.
fn launch_with_events(request: &LaunchRequest, pack: impl FnOnce(&DriverFunction) -> Res<Vec<u8>>) -> Res {
    let (ctx, _) = stream_and_context(request.stream.handle_number())?;
    for &(event, flags) in &request.events {
        event::check_launch_event(&ctx, event)?;
        ensure(flags & !1 == 0, ResultCode::INVALID_VALUE)?;
    }
    launch_kernel(request, pack)?;
    request.events.iter().try_for_each(|&(event, flags)| event::record_event(event, request.stream, flags == 1))
}

/// A launch that `cuParamSet*` and `cuFuncSetBlockShape` have prepared.
fn launch_legacy_grid(function: CUfunction, width: c_int, height: c_int, stream: CUstream) -> Res {
    let prepared = FUNCTIONS.get_object(function.handle_number())?.prepared.lock().ignore_poison().clone();
    let size = |n: c_int| u32::try_from(n).map_err(|_| ResultCode::INVALID_VALUE);
    let shape = [[size(width)?, size(height)?, 1], prepared.block];
    let request = LaunchRequest::new(function, shape, prepared.shared, stream);
    launch_kernel(&request, |_| Ok(prepared.params))
}

driver_functions! {
    fn cuLaunchKernel(f: CUfunction, gridDimX: c_uint, gridDimY: c_uint, gridDimZ: c_uint, blockDimX: c_uint, blockDimY: c_uint, blockDimZ: c_uint, sharedMemBytes: c_uint, hStream: CUstream, kernelParams: *mut *mut c_void, extra: *mut *mut c_void) {
        let shape = [[gridDimX, gridDimY, gridDimZ], [blockDimX, blockDimY, blockDimZ]];
        let request = LaunchRequest::new(f, shape, sharedMemBytes, hStream);
        launch_kernel(&request, |function| pack_params(function, kernelParams, extra))
    }

    fn cuLaunchKernelEx(config: *const CUlaunchConfig, f: CUfunction, kernelParams: *mut *mut c_void, extra: *mut *mut c_void) {
        let request = request_from_launch_config(config, f)?;
        launch_with_events(&request, |function| pack_params(function, kernelParams, extra))
    }

    fn cuLaunchCooperativeKernel(f: CUfunction, gridDimX: c_uint, gridDimY: c_uint, gridDimZ: c_uint, blockDimX: c_uint, blockDimY: c_uint, blockDimZ: c_uint, sharedMemBytes: c_uint, hStream: CUstream, kernelParams: *mut *mut c_void) {
        let shape = [[gridDimX, gridDimY, gridDimZ], [blockDimX, blockDimY, blockDimZ]];
        let request = LaunchRequest { cooperative: true, ..LaunchRequest::new(f, shape, sharedMemBytes, hStream) };
        launch_kernel(&request, |function| pack_params(function, kernelParams, std::ptr::null()))
    }

    fn cuLaunch(f: CUfunction) {
        launch_legacy_grid(f, 1, 1, CUstream::null())
    }

    fn cuLaunchGrid(f: CUfunction, grid_width: c_int, grid_height: c_int) {
        launch_legacy_grid(f, grid_width, grid_height, CUstream::null())
    }

    fn cuLaunchGridAsync(f: CUfunction, grid_width: c_int, grid_height: c_int, hStream: CUstream) {
        launch_legacy_grid(f, grid_width, grid_height, hStream)
    }
}
