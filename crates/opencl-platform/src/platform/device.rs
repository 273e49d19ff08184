//! Devices: their limits, and the CUDA context that all objects on a device share.

use super::managed::ManagedUse;
use super::mark::MarkPool;
use crate::clock::{DeviceClock, TimeBase, nanoseconds};
use crate::error::{ClError, Result, code_of, refuse};
use crate::object::{Ref, body, resolve};
use rtcg_driver::memory::memcpy_htod_in_stream;
use rtcg_driver::sys::*;
use rtcg_driver::{CUdeviceptr, Context, Device, Stream, StreamFlags, lock_ignoring_poison};
use rtcg_opencl_sys::*;
use std::sync::{Arc, Mutex, OnceLock};

pub(crate) struct DeviceBody {
    pub(crate) device: Device,
    /// What launches look at.
    pub(crate) limits: Limits,
    context: OnceLock<Context>,
    /// For profiling, made by the first command that is measured.
    clock: Mutex<Option<DeviceClock>>,
    /// Managed memory that is counted here.
    pub(crate) managed: ManagedUse,
    /// Marks of commands.
    pub(crate) marks: MarkPool,
    /// For uploads that are waited for.
    upload_stream: OnceLock<Stream>,
}

body!(DeviceBody: cl_device_id, b"devi", CL_INVALID_DEVICE, "device");

/// Limits of a launch and of memory.
pub(crate) struct Limits {
    pub(crate) group_size: usize,
    pub(crate) item_sizes: [usize; 3],
    pub(crate) local_bytes: usize,
    pub(crate) global_bytes: usize,
}

/// Bits that sub-buffers must be aligned to.
pub(crate) const BASE_ALIGNMENT_BITS: cl_uint = 1024;
/// Bytes of the arguments of a kernel: what CUDA allows, with room for the launch record.
pub(crate) const MAX_PARAMETER_BYTES: usize = 4096 - MAX_RECORD_BYTES as usize;
/// Bytes that the launch record may have.
pub(crate) const MAX_RECORD_BYTES: u32 = 128;
/// Extents of images.
pub(crate) const MAX_IMAGE_2D: usize = 16384;
/// As above, in three dimensions.
pub(crate) const MAX_IMAGE_3D: usize = 2048;
/// Layers of an array of images.
pub(crate) const MAX_IMAGE_LAYERS: usize = 2048;
/// Pixels of an image that is made of a buffer.
pub(crate) const MAX_IMAGE_BUFFER: usize = 1 << 27;
/// Items of a subgroup: a warp.
pub(crate) const SUBGROUP_SIZE: usize = 32;

impl DeviceBody {
    pub(crate) fn new(device: Device) -> Result<Self> {
        let of = |attribute| device.attribute(attribute).map(|value| value as usize);
        let limits = Limits {
            group_size: of(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?,
            item_sizes: [
                of(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X)?,
                of(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y)?,
                of(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z)?,
            ],
            local_bytes: of(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK)?,
            global_bytes: device.total_memory()?,
        };
        let (context, upload_stream) = (OnceLock::new(), OnceLock::new());
        let (clock, managed, marks) = (Mutex::new(None), ManagedUse::default(), MarkPool::default());
        Ok(Self { device, limits, context, clock, managed, marks, upload_stream })
    }

    /// The context of all work on this device: the primary one, made at first use.
    pub(crate) fn cuda_context(&self) -> Result<&Context> {
        if let Some(context) = self.context.get() {
            return Ok(context);
        }
        let context = self.device.retain_primary_context()?;
        Ok(self.context.get_or_init(|| context))
    }

    /// What the times of a command that is submitted now count from. The device's context is current.
    pub(crate) fn time_base(&self) -> Result<Arc<TimeBase>> {
        let mut clock = lock_ignoring_poison(&self.clock);
        match &mut *clock {
            Some(clock) => clock.base(),
            none => none.insert(DeviceClock::new()?).base(),
        }
    }

    /// Copies bytes of the host to the device and waits until they are there, which a plain copy of pageable memory
    /// does not do for the streams of queues.
    ///
    /// # Safety
    /// `to` is memory of the device for as many bytes, which no command uses.
    pub(crate) unsafe fn upload(&self, to: CUdeviceptr, bytes: &[u8]) -> Result<()> {
        self.cuda_context()?.with_current(|| {
            let stream = match self.upload_stream.get() {
                Some(stream) => stream,
                None => {
                    let stream = Stream::new(StreamFlags::NON_BLOCKING)?;
                    self.upload_stream.get_or_init(|| stream)
                }
            };
            // SAFETY: the caller's promise.
            Ok(unsafe { memcpy_htod_in_stream(to, bytes, stream) }?)
        })
    }

    pub(super) fn attribute(&self, attribute: CUdevice_attribute) -> Result<cl_uint> {
        Ok(self.device.attribute(attribute)? as cl_uint)
    }

    /// Bytes that one allocation may have.
    pub(crate) fn max_allocation(&self) -> usize {
        self.limits.global_bytes
    }

    /// Whether the host may touch managed memory while a kernel runs.
    pub(crate) fn shares_memory_finely(&self) -> bool {
        self.attribute(CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS).is_ok_and(|has| has != 0)
    }
}

/// # Safety
/// As the specification of OpenCL says.
pub(crate) unsafe extern "C" fn clCreateSubDevices(
    in_device: cl_device_id,
    _partition_properties: *const cl_device_partition_property,
    _num_entries: cl_uint,
    _out_devices: *mut cl_device_id,
    _num_devices: *mut cl_uint,
) -> cl_int {
    code_of(|| {
        // SAFETY: the caller's promise.
        unsafe { resolve::<DeviceBody>(in_device) }?;
        refuse(CL_INVALID_VALUE, "partition_properties: devices of this platform cannot be divided")
    })
}

/// Devices are not counted: they live as long as the platform.
///
/// # Safety
/// As the specification of OpenCL says.
pub(crate) unsafe extern "C" fn clRetainDevice(device: cl_device_id) -> cl_int {
    // SAFETY: the caller's promise.
    code_of(|| unsafe { resolve::<DeviceBody>(device) }.map(drop))
}

/// # Safety
/// As the specification of OpenCL says.
pub(crate) unsafe extern "C" fn clReleaseDevice(device: cl_device_id) -> cl_int {
    // SAFETY: the caller's promise.
    unsafe { clRetainDevice(device) }
}

/// # Safety
/// As the specification of OpenCL says.
pub(crate) unsafe extern "C" fn clGetDeviceAndHostTimer(
    device: cl_device_id,
    device_timestamp: *mut cl_ulong,
    host_timestamp: *mut cl_ulong,
) -> cl_int {
    code_of(|| {
        // SAFETY: the caller's promise.
        unsafe {
            resolve::<DeviceBody>(device)?;
            if device_timestamp.is_null() || host_timestamp.is_null() {
                return ClError::value("device_timestamp or host_timestamp is null");
            }
            *host_timestamp = nanoseconds();
            *device_timestamp = *host_timestamp;
        }
        Ok(())
    })
}

/// # Safety
/// As the specification of OpenCL says.
pub(crate) unsafe extern "C" fn clGetHostTimer(device: cl_device_id, host_timestamp: *mut cl_ulong) -> cl_int {
    code_of(|| {
        // SAFETY: the caller's promise.
        unsafe {
            resolve::<DeviceBody>(device)?;
            if host_timestamp.is_null() {
                return ClError::value("host_timestamp is null");
            }
            *host_timestamp = nanoseconds();
        }
        Ok(())
    })
}

/// The devices of a list that a user gave.
///
/// # Safety
/// `list` has `count` handles, or is null.
pub(crate) unsafe fn devices_of_list(count: cl_uint, list: *const cl_device_id) -> Result<Vec<Ref<DeviceBody>>> {
    if count == 0 || list.is_null() {
        return ClError::value("num_devices: there is no device in the list");
    }
    // SAFETY: the caller's promise.
    unsafe { std::slice::from_raw_parts(list, count as usize).iter().map(|device| resolve(*device)).collect() }
}
