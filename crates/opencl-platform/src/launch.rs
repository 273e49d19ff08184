//! Launches: global and local sizes of OpenCL as grids and blocks of CUDA.

use crate::command::queue::{Command, QueueBody, Wanted, Work};
use crate::error::{ClError, Result, code_of, refuse};
use crate::in_flight::Kept;
use crate::kernel::{KernelBody, KernelState, LaunchUses};
use crate::object::{Ref, resolve};
use crate::platform::device::DeviceBody;
use crate::program::pass::word;
use rtcg_driver::Stream;
use rtcg_opencl_sys::*;
use std::sync::{Arc, MutexGuard};

/// Items of a launch.
struct Range {
    dimensions: usize,
    offset: [usize; 3],
    global: [usize; 3],
    local: [u32; 3],
    groups: [u32; 3],
}

/// Groups of a launch in its second and its third dimension: CUDA's limit.
const MAX_GROUPS_ACROSS: u32 = 65_535;

/// Items of a group where the program leaves the choice.
const CHOSEN_GROUP: usize = 256;

impl Range {
    /// # Safety
    /// The lists are null or have `dimensions` numbers.
    unsafe fn new(
        kernel: &Ref<KernelBody>,
        device: &DeviceBody,
        dimensions: cl_uint,
        offset: *const usize,
        global: *const usize,
        local: *const usize,
    ) -> Result<Self> {
        let dimensions = dimensions as usize;
        if !(1..=3).contains(&dimensions) {
            return refuse(CL_INVALID_WORK_DIMENSION, format!("work_dim: {dimensions}, expected 1, 2 or 3"));
        }
        let read = |list: *const usize, other: usize| {
            let mut found = [other; 3];
            if !list.is_null() {
                // SAFETY: the caller's promise.
                found[..dimensions].copy_from_slice(unsafe { std::slice::from_raw_parts(list, dimensions) });
            }
            found
        };
        // Without sizes there are no items, as with a size of 0.
        let (offset, global) = (read(offset, 0), if global.is_null() { [0; 3] } else { read(global, 1) });
        for axis in 0..3 {
            if offset[axis].checked_add(global[axis]).is_none() {
                let why = format!("global_work_offset: {offset:?} with sizes {global:?} is beyond size_t");
                return refuse(CL_INVALID_GLOBAL_OFFSET, why);
            }
            if offset[axis].saturating_add(global[axis]) > u32::MAX as usize {
                let why =
                    format!("global_work_size: {global:?} from {offset:?} is more than 2^32 items in a dimension");
                return refuse(CL_INVALID_GLOBAL_WORK_SIZE, why);
            }
        }
        let required = kernel.kernel().metadata.required_size.map(|size| size.map(|extent| extent as usize));
        let local = match (local.is_null(), required) {
            (true, Some(required)) => required,
            (true, None) => chosen_local_size(global, device),
            (false, _) => read(local, 1),
        };
        if let Some(required) = required.filter(|required| *required != local) {
            let why = format!("local_work_size: {local:?}, the kernel requires {required:?}");
            return refuse(CL_INVALID_WORK_GROUP_SIZE, why);
        }
        let limits = &device.limits;
        for axis in 0..3 {
            if local[axis] == 0 {
                return refuse(CL_INVALID_WORK_GROUP_SIZE, format!("local_work_size: {local:?} has a 0"));
            }
            if local[axis] > limits.item_sizes[axis] {
                let why = format!("local_work_size: {local:?}, the device has {:?} at most", limits.item_sizes);
                return refuse(CL_INVALID_WORK_ITEM_SIZE, why);
            }
        }
        if local.iter().product::<usize>() > limits.group_size {
            let why = format!("local_work_size: {local:?}, a group has {} items at most", limits.group_size);
            return refuse(CL_INVALID_WORK_GROUP_SIZE, why);
        }
        let groups = [0, 1, 2].map(|axis| global[axis].div_ceil(local[axis]) as u32);
        if groups[1].max(groups[2]) > MAX_GROUPS_ACROSS {
            let why = format!(
                "global_work_size: {global:?} in groups of {local:?}; beyond the first dimension there are \
                 {MAX_GROUPS_ACROSS} groups at most"
            );
            return refuse(CL_INVALID_GLOBAL_WORK_SIZE, why);
        }
        Ok(Self { dimensions, offset, global, local: local.map(|extent| extent as u32), groups })
    }

    fn is_empty(&self) -> bool {
        self.global.contains(&0)
    }

    /// Writes the launch record.
    fn write_record(&self, record: &mut [u8]) {
        let mut put = |index: usize, value: usize| {
            record[4 * index..4 * index + 4].copy_from_slice(&(value as u32).to_le_bytes());
        };
        for axis in 0..3 {
            put(word::OFFSET + axis, self.offset[axis]);
            put(word::SIZE + axis, self.global[axis]);
        }
        put(word::DIMENSIONS, self.dimensions);
        let is_uneven = (0..3).any(|axis| !self.global[axis].is_multiple_of(self.local[axis] as usize));
        put(word::IS_UNEVEN, usize::from(is_uneven));
    }
}

/// Groups of a few warps; in more dimensions wide in the first.
fn chosen_local_size(global: [usize; 3], device: &DeviceBody) -> [usize; 3] {
    let mut left = CHOSEN_GROUP.min(device.limits.group_size);
    let mut local = [1; 3];
    let is_tall = global[1].div_ceil(8) > MAX_GROUPS_ACROSS as usize;
    let wanted = if is_tall {
        [1, 1, 1]
    } else if global[1] > 1 {
        [32, 8, 1]
    } else {
        [CHOSEN_GROUP, 1, 1]
    };
    for axis in 0..3 {
        let extent = if axis == 0 { wanted[0] } else { left };
        local[axis] = extent.min(global[axis].max(1).next_power_of_two()).min(left).min(device.limits.item_sizes[axis]);
        left /= local[axis];
    }
    local
}

/// A launch whose arguments are still the kernel's.
struct Launch<'k> {
    kernel: &'k KernelBody,
    state: MutexGuard<'k, KernelState>,
    uses: Arc<LaunchUses>,
    local_bytes: u32,
    range: Range,
}

impl Command for Launch<'_> {
    fn put(&mut self, stream: &Stream) -> Result<()> {
        let record_offset = self.kernel.kernel().entry.record_offset;
        self.range.write_record(&mut self.state.bytes[record_offset..]);
        launch(&self.uses, &self.range, self.local_bytes, &self.state.bytes, stream)
    }

    fn into_kept(self) -> Option<Kept> {
        Some(Kept::Shared(self.uses))
    }

    fn into_pending(mut self) -> Work {
        let record_offset = self.kernel.kernel().entry.record_offset;
        self.range.write_record(&mut self.state.bytes[record_offset..]);
        let (bytes, uses, local_bytes, range) = (self.state.bytes.clone(), self.uses, self.local_bytes, self.range);
        Work::Device(Box::new(move |stream| launch(&uses, &range, local_bytes, &bytes, stream)))
    }
}

fn launch(uses: &LaunchUses, range: &Range, local_bytes: u32, bytes: &[u8], stream: &Stream) -> Result<()> {
    if range.is_empty() {
        return Ok(());
    }
    // SAFETY: the bytes are laid out as the pass over PTX has laid out the kernel's parameters. Memory that they name is
    // kept with the command, or is shared memory, which the program keeps.
    Ok(unsafe { uses.function.launch(range.groups, range.local, local_bytes, Some(stream), bytes) }?)
}

/// # Safety
/// As the specification of OpenCL says.
pub(crate) unsafe extern "C" fn clEnqueueNDRangeKernel(
    command_queue: cl_command_queue,
    kernel: cl_kernel,
    work_dim: cl_uint,
    global_work_offset: *const usize,
    global_work_size: *const usize,
    local_work_size: *const usize,
    num_events_in_wait_list: cl_uint,
    event_wait_list: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    // SAFETY: the caller's promise.
    code_of(|| unsafe {
        let queue = resolve::<QueueBody>(command_queue)?;
        let kernel = resolve::<KernelBody>(kernel)?;
        if !kernel.context().is(&queue.context) {
            return refuse(CL_INVALID_CONTEXT, "kernel: it is of another context than the queue");
        }
        let device = &queue.device;
        let range = Range::new(&kernel, device, work_dim, global_work_offset, global_work_size, local_work_size)?;
        let wanted = Wanted::new(&queue, num_events_in_wait_list, event_wait_list, event)?;
        let mut state = kernel.lock();
        let (uses, local_bytes) = kernel.uses(&mut state, device)?;
        let command = Launch { kernel: &kernel, state, uses, local_bytes, range };
        QueueBody::enqueue(&queue, CL_COMMAND_NDRANGE_KERNEL, wanted, command)
    })
}

/// # Safety
/// As the specification of OpenCL says.
pub(crate) unsafe extern "C" fn clEnqueueTask(
    command_queue: cl_command_queue,
    kernel: cl_kernel,
    num_events_in_wait_list: cl_uint,
    event_wait_list: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    let one = 1usize;
    // SAFETY: the caller's promise.
    unsafe {
        let none = std::ptr::null();
        clEnqueueNDRangeKernel(
            command_queue,
            kernel,
            1,
            none,
            &raw const one,
            &raw const one,
            num_events_in_wait_list,
            event_wait_list,
            event,
        )
    }
}

/// # Safety
/// As the specification of OpenCL says.
pub(crate) unsafe extern "C" fn clEnqueueNativeKernel(
    command_queue: cl_command_queue,
    user_func: Option<unsafe extern "C" fn(*mut c_void)>,
    _args: *mut c_void,
    _cb_args: usize,
    _num_mem_objects: cl_uint,
    _mem_list: *const cl_mem,
    _args_mem_loc: *mut *const c_void,
    _num_events_in_wait_list: cl_uint,
    _event_wait_list: *const cl_event,
    _event: *mut cl_event,
) -> cl_int {
    code_of(|| {
        // SAFETY: the caller's promise.
        unsafe { resolve::<QueueBody>(command_queue) }?;
        if user_func.is_none() {
            return ClError::value("user_func is null");
        }
        refuse(CL_INVALID_OPERATION, "native kernels are not offered: CL_DEVICE_EXECUTION_CAPABILITIES says so")
    })
}
