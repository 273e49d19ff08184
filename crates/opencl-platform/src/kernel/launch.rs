//! Launches: global and local sizes of OpenCL as grids and blocks of CUDA.
//!
//! In kernels of OpenCL C 1.x, and with `-cl-uniform-work-group-size`, all groups have one size: other sizes are refused,
//! and where the program leaves the choice one is chosen that divides the range. Where no item can tell, the groups at the
//! end may be smaller all the same, and groups of less than a warp become larger ones.
//!
//! A range is one launch where its size is a multiple of the group's and a grid can have that many groups. Smaller groups
//! at the end of a dimension are launches of their own, so that in all of them each item takes part in barriers and in
//! functions of groups; so are the parts of a range that is too large for a grid.

use crate::command::queue::{QueueBody, Wanted};
use crate::command::work::{Command, Work};
use crate::completion::in_flight::RetainedObjects;
use crate::error::{ClError, Result, are_kernels_checked, code_of, refuse};
use crate::kernel::{KernelBody, KernelState, LaunchUses};
use crate::object::{Ref, resolve};
use crate::platform::device::{DeviceBody, SUBGROUP_SIZE};
use rtcg_driver::Stream;
use rtcg_opencl_sys::*;
use rtcg_ptx::opencl_launch::word;
use std::sync::{Arc, MutexGuard};

/// Items of a command.
struct Range {
    dimensions: usize,
    offset: [usize; 3],
    global: [usize; 3],
    local: [usize; 3],
}

/// Groups of one size along one dimension.
#[derive(Clone, Copy)]
struct Groups {
    first: usize,
    count: u32,
    extent: u32,
}

/// Groups of a grid in each dimension: CUDA's limits.
const MAX_GROUPS: [usize; 3] = [i32::MAX as usize, 65_535, 65_535];

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
        if (0..3).any(|axis| offset[axis].checked_add(global[axis]).is_none()) {
            let why = format!("global_work_offset: {offset:?} with sizes {global:?} is beyond size_t");
            return refuse(CL_INVALID_GLOBAL_OFFSET, why);
        }
        let required = kernel.kernel().metadata.required_size.map(|size| size.map(|extent| extent as usize));
        let (is_null, uniform) = (local.is_null(), kernel.kernel().metadata.uniform_groups);
        let local = match (is_null, required) {
            (true, Some(required)) => required,
            (true, None) => chosen_local_size(global, device, uniform && kernel.kernel().can_tell_groups),
            (false, _) => read(local, 1),
        };
        let is_chosen = is_null && required.is_none();
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
        if uniform && !is_chosen && (0..3).any(|axis| !global[axis].is_multiple_of(local[axis])) {
            let why = format!(
                "local_work_size: {local:?} does not divide global_work_size, {global:?}: build the program with \
                 -cl-std=CL2.0 or newer and without -cl-uniform-work-group-size for smaller groups at the end"
            );
            return refuse(CL_INVALID_WORK_GROUP_SIZE, why);
        }
        let is_small = local.iter().product::<usize>() < SUBGROUP_SIZE;
        let local = if is_small && required.is_none() && !kernel.kernel().can_tell_groups && !are_kernels_checked() {
            chosen_local_size(global, device, false)
        } else {
            local
        };
        if (0..3).any(|axis| global[axis].div_ceil(local[axis]) > u32::MAX as usize) {
            let why = format!("global_work_size: {global:?} in groups of {local:?}, expected less than 2^32 groups");
            return refuse(CL_INVALID_GLOBAL_WORK_SIZE, why);
        }
        Ok(Self { dimensions, offset, global, local })
    }

    /// The groups along a dimension, in the parts that grids can have: less than 2^32 items each.
    fn along(&self, axis: usize) -> impl Iterator<Item = Groups> + Clone {
        let local = self.local[axis];
        let (full, rest) = (self.global[axis] / local, self.global[axis] % local);
        let most = MAX_GROUPS[axis].min(u32::MAX as usize / local);
        let part = move |first: usize| Groups { first, count: (full - first).min(most) as u32, extent: local as u32 };
        let last = (rest > 0).then_some(Groups { first: full, count: 1, extent: rest as u32 });
        (0..full).step_by(most).map(part).chain(last)
    }

    /// The launches: none where the range is empty.
    fn parts(&self) -> impl Iterator<Item = [Groups; 3]> {
        let (x, y) = (self.along(0), self.along(1));
        let planes = self.along(2).flat_map(move |z| y.clone().map(move |y| (y, z)));
        planes.flat_map(move |(y, z)| x.clone().map(move |x| [x, y, z]))
    }

    /// The commonest case: all groups have one size, and a grid can have that many.
    fn single_part(&self) -> Option<[Groups; 3]> {
        let mut part = [Groups { first: 0, count: 0, extent: 0 }; 3];
        for axis in 0..3 {
            let (global, local) = (self.global[axis], self.local[axis]);
            let count = global / local;
            if count == 0 || count * local != global || count > MAX_GROUPS[axis] || global > u32::MAX as usize {
                return None;
            }
            part[axis] = Groups { first: 0, count: count as u32, extent: local as u32 };
        }
        Some(part)
    }

    /// Writes the launch record.
    fn write_record(&self, record: &mut [u8], part: &[Groups; 3]) {
        let mut words = [0u32; word::END];
        for (axis, groups) in part.iter().enumerate() {
            let first_item = self.offset[axis] + groups.first * self.local[axis];
            let longs =
                [(word::FIRST_ITEM, first_item), (word::OFFSET, self.offset[axis]), (word::SIZE, self.global[axis])];
            for (word, value) in longs {
                words[word + 2 * axis] = value as u32;
                words[word + 2 * axis + 1] = (value as u64 >> 32) as u32;
            }
            words[word::FIRST_GROUP + axis] = groups.first as u32;
            words[word::GROUPS + axis] = self.global[axis].div_ceil(self.local[axis]) as u32;
            words[word::FULL_GROUP + axis] = self.local[axis] as u32;
        }
        words[word::DIMENSIONS] = self.dimensions as u32;
        for (bytes, word) in record.as_chunks_mut::<4>().0.iter_mut().zip(words) {
            *bytes = word.to_le_bytes();
        }
    }
}

/// Groups of a few warps; in more dimensions wide in the first. Of those that are nearly as large one that divides the
/// size is taken; with `divides` only sizes that do are.
fn chosen_local_size(global: [usize; 3], device: &DeviceBody, divides: bool) -> [usize; 3] {
    let mut left = CHOSEN_GROUP.min(device.limits.group_size);
    let wanted = if global[1] > 1 { [32, left, left] } else { [left, 1, left] };
    let mut local = [1; 3];
    for axis in 0..3 {
        let most = wanted[axis].min(left).min(device.limits.item_sizes[axis]).min(global[axis]).max(1);
        local[axis] = if divides {
            let largest =
                device.limits.group_size.min(device.limits.item_sizes[axis]) / local[..axis].iter().product::<usize>();
            dividing_extent(global[axis], most, largest)
        } else {
            let divides = |extent: &usize| global[axis].is_multiple_of(*extent);
            let nearly = (most / 2 + 1..=most).rev().filter(|extent| axis > 0 || extent % 32 == 0);
            nearly.clone().find(divides).unwrap_or(most)
        };
        left = (left / local[axis]).max(1);
    }
    local
}

/// The number of items of a group along a dimension that divides a size: whole warps where there are some, else the
/// largest one up to `most`. A size without a divisor of half a warp may have larger ones.
fn dividing_extent(size: usize, most: usize, largest: usize) -> usize {
    let divides = |extent: &usize| size.is_multiple_of(*extent);
    let warps = (1..=most / 32).rev().map(|warps| 32 * warps).find(divides);
    let up_to = |most: usize| (1..=most).rev().find(divides).unwrap_or(1);
    let found = warps.unwrap_or_else(|| up_to(most));
    if found >= most.min(16) { found } else { found.max((most..=largest).find(divides).unwrap_or(1)) }
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
        launch(&self.uses, &self.range, self.local_bytes, &mut self.state.bytes, record_offset, stream)
    }

    fn into_kept(self) -> Option<RetainedObjects> {
        Some(RetainedObjects::Shared(self.uses))
    }

    fn into_pending(self) -> Work {
        let record_offset = self.kernel.kernel().entry.record_offset;
        let (mut bytes, uses, local_bytes, range) = (self.state.bytes.clone(), self.uses, self.local_bytes, self.range);
        Work::Device(Box::new(move |stream| launch(&uses, &range, local_bytes, &mut bytes, record_offset, stream)))
    }
}

/// Launches the parts of a range, each with its launch record among the arguments.
fn launch(
    uses: &LaunchUses,
    range: &Range,
    local_bytes: u32,
    bytes: &mut [u8],
    record_offset: usize,
    stream: &Stream,
) -> Result<()> {
    let mut launch_part = |part: [Groups; 3]| {
        range.write_record(&mut bytes[record_offset..], &part);
        let (groups, local) = (part.map(|along| along.count), part.map(|along| along.extent));
        // SAFETY: the bytes are laid out as the pass over PTX has laid out the kernel's parameters. Memory that they name
        // is kept with the command, or is shared memory, which the program keeps.
        Ok(unsafe { uses.function.launch(groups, local, local_bytes, Some(stream), bytes) }?)
    };
    match range.single_part() {
        Some(part) => launch_part(part),
        None => range.parts().try_for_each(launch_part),
    }
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
