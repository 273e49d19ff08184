//! Devices and their properties.

use super::{Context, loaded_drivers};
use crate::error::{Error, Result};
use crate::flags::ContextFlags;
use rtcg_cuda_sys::{
    CUdevice, CUdevice_P2PAttribute, CUdevice_attribute, CUresult, CUuuid, DriverKind, DriverTable, c_char,
};
use std::ffi::{CStr, CString};

/// A device, real or virtual. It is a plain value; equal values denote the same device.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Device {
    table: &'static DriverTable,
    handle: CUdevice,
    ordinal: u32,
}

impl std::hash::Hash for Device {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.ordinal.hash(state);
    }
}

impl Device {
    pub(crate) fn from_parts(table: &'static DriverTable, handle: CUdevice, ordinal: u32) -> Self {
        Self { table, handle, ordinal }
    }

    /// The device that a table's handle stands for.
    pub(crate) fn from_handle(table: &'static DriverTable, handle: CUdevice) -> Result<Self> {
        let devices = &loaded_drivers::initialized_drivers("cuCtxGetDevice")?.devices;
        let found = devices.iter().find(|d| d.table == table && d.handle == handle).copied();
        found.ok_or_else(|| {
            let detail = "the device is not in this process's device list";
            Error::new("cuCtxGetDevice", CUresult::CUDA_ERROR_INVALID_DEVICE, detail)
        })
    }

    /// The device that `CUDA_DEVICE` or the file `~/.cuda_device` names, else the first.
    pub(crate) fn from_env_or_first() -> Result<Self> {
        let in_home = |home| std::fs::read_to_string(std::path::Path::new(&home).join(".cuda_device")).ok();
        let wanted = std::env::var("CUDA_DEVICE").ok().or_else(|| std::env::var_os("HOME").and_then(in_home));
        let Some(wanted) = wanted else { return Self::new(0) };
        let ordinal = wanted.trim().parse().map_err(|_| {
            let detail = format!("CUDA_DEVICE or ~/.cuda_device is {wanted:?}; expected the number of a device");
            Error::new("cuDeviceGet", CUresult::CUDA_ERROR_INVALID_DEVICE, detail)
        })?;
        Self::new(ordinal)
    }

    /// Returns the number of devices: real ones first, then virtual ones. Initialises the drivers.
    ///
    /// ```
    /// use rtcg_driver::Device;
    ///
    /// # fn main() -> rtcg_driver::Result<()> {
    /// for device in Device::all()? {
    ///     println!("{}: {}", device.ordinal(), device.name()?);
    /// }
    /// assert!(Device::new(Device::count()?).is_err());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When there is no device at all.
    pub fn count() -> Result<usize> {
        loaded_drivers::init(0)?;
        Ok(loaded_drivers::initialized_drivers("cuDeviceGetCount")?.devices.len())
    }

    /// Lists all devices, in the order of [`Device::count`].
    ///
    /// # Errors
    /// When there is no device at all.
    pub fn all() -> Result<Vec<Self>> {
        loaded_drivers::init(0)?;
        Ok(loaded_drivers::initialized_drivers("cuDeviceGetCount")?.devices.clone())
    }

    /// Returns the device with this ordinal. Initialises the drivers.
    ///
    /// # Errors
    /// When there is no device with this ordinal.
    pub fn new(ordinal: usize) -> Result<Self> {
        loaded_drivers::init(0)?;
        let devices = &loaded_drivers::initialized_drivers("cuDeviceGet")?.devices;
        devices.get(ordinal).copied().ok_or_else(|| {
            let detail = match devices.len() {
                1 => "there is one device, number 0".to_owned(),
                count => format!("there are {count} devices, counted from 0"),
            };
            Error::new("cuDeviceGet", CUresult::CUDA_ERROR_INVALID_DEVICE, detail)
        })
    }

    /// Finds the device with this PCI bus id, in the format of [`Device::pci_bus_id`].
    pub fn from_pci_bus_id(bus_id: &str) -> Result<Self> {
        loaded_drivers::init(0)?;
        let name = CString::new(bus_id).unwrap_or_default();
        let mut last = None;
        for table in &loaded_drivers::initialized_drivers("cuDeviceGetByPCIBusId")?.tables {
            let mut handle = 0;
            // SAFETY: the name is NUL-terminated, the handle is written.
            match unsafe { call_driver!(table, cuDeviceGetByPCIBusId(&raw mut handle, name.as_ptr())) } {
                Ok(()) => return Self::from_handle(table, handle),
                Err(error) => last = last.or(Some(error)),
            }
        }
        Err(last.unwrap_or_else(|| Error::new("cuDeviceGetByPCIBusId", CUresult::CUDA_ERROR_INVALID_DEVICE, "")))
    }

    /// The ordinal of this device.
    pub fn ordinal(&self) -> usize {
        self.ordinal as usize
    }

    /// The driver's handle.
    pub fn handle(&self) -> CUdevice {
        self.handle
    }

    /// The driver table behind this device.
    pub fn driver_table(&self) -> &'static DriverTable {
        self.table
    }

    /// Whether this is a virtual GPU.
    pub fn is_virtual(&self) -> bool {
        self.table.driver_kind() == DriverKind::Virtual
    }

    /// Whether modules may contain machine code (cubins). If not, they must be PTX.
    pub fn can_load_cubins(&self) -> bool {
        !self.is_virtual()
    }

    /// Whether kernels are checked while they run (`RTCG_CHECK`); always false on a GPU.
    pub fn is_checked(&self) -> bool {
        crate::virtual_gpu::is_checked(self.driver_table())
    }

    /// Whether copies between host and device cross a bus, rather than staying within one memory.
    pub fn has_discrete_memory(&self) -> bool {
        !self.is_virtual() && self.attribute(rtcg_cuda_sys::CU_DEVICE_ATTRIBUTE_INTEGRATED).is_ok_and(|flag| flag == 0)
    }

    /// The name, for instance `NVIDIA H200`.
    pub fn name(&self) -> Result<String> {
        let mut text = [0 as c_char; 256];
        let (ptr, len) = (text.as_mut_ptr(), text.len() as i32);
        // SAFETY: the driver writes at most `len` bytes.
        unsafe { call_driver!(self.table, cuDeviceGetName(ptr, len, self.handle)) }?;
        Ok(string_from_c_chars(&text))
    }

    /// The ordinal and name for messages: `device 0 (NVIDIA H200)`.
    pub fn describe(&self) -> String {
        let name = self.name().map_or_else(|_| String::new(), |name| format!(" ({name})"));
        format!("device {}{name}", self.ordinal)
    }

    /// The PCI bus id, `domain:bus:device.function`.
    pub fn pci_bus_id(&self) -> Result<String> {
        let mut text = [0 as c_char; 64];
        let (ptr, len) = (text.as_mut_ptr(), text.len() as i32);
        // SAFETY: the driver writes at most `len` bytes.
        unsafe { call_driver!(self.table, cuDeviceGetPCIBusId(ptr, len, self.handle)) }?;
        Ok(string_from_c_chars(&text))
    }

    /// The UUID.
    pub fn uuid(&self) -> Result<[u8; 16]> {
        let mut uuid = CUuuid::default();
        // SAFETY: writes one UUID.
        unsafe { call_driver!(self.table, cuDeviceGetUuid(&raw mut uuid, self.handle)) }?;
        Ok(uuid.bytes.map(|b| b as u8))
    }

    /// The compute capability, `(major, minor)`.
    pub fn compute_capability(&self) -> Result<(u32, u32)> {
        let major = CUdevice_attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR;
        let minor = CUdevice_attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR;
        Ok((self.attribute(major)? as u32, self.attribute(minor)? as u32))
    }

    /// The total memory in bytes.
    pub fn total_memory(&self) -> Result<usize> {
        let mut nbytes = 0;
        // SAFETY: writes one size.
        unsafe { call_driver!(self.table, cuDeviceTotalMem(&raw mut nbytes, self.handle)) }?;
        Ok(nbytes)
    }

    /// The value of an attribute.
    pub fn attribute(&self, attribute: CUdevice_attribute) -> Result<i32> {
        let mut value = 0;
        // SAFETY: writes one int.
        unsafe { call_driver!(self.table, cuDeviceGetAttribute(&raw mut value, attribute, self.handle)) }?;
        Ok(value)
    }

    /// Whether kernels on this device can access memory of `peer`. Always false for devices of different drivers.
    pub fn can_access_peer(&self, peer: &Device) -> Result<bool> {
        if self.table != peer.table {
            return Ok(false);
        }
        let mut can = 0;
        let (this, peer) = (self.handle, peer.handle);
        // SAFETY: writes one int.
        unsafe { call_driver!(self.table, cuDeviceCanAccessPeer(&raw mut can, this, peer)) }?;
        Ok(can != 0)
    }

    /// Queries an attribute of a pair of devices. Passing the same device twice, or devices of different drivers, is an
    /// error.
    pub fn p2p_attribute(&self, attribute: CUdevice_P2PAttribute, peer: &Device) -> Result<i32> {
        if self.table != peer.table {
            let (one, other) = (self.ordinal, peer.ordinal);
            let detail =
                format!("devices {one} and {other} are of different drivers, so that neither reaches the other");
            return Err(Error::new("cuDeviceGetP2PAttribute", CUresult::CUDA_ERROR_INVALID_DEVICE, detail));
        }
        let mut value = 0;
        let (this, peer) = (self.handle, peer.handle);
        // SAFETY: writes one int.
        unsafe { call_driver!(self.table, cuDeviceGetP2PAttribute(&raw mut value, attribute, this, peer)) }?;
        Ok(value)
    }

    /// Creates a context and pushes it onto the calling thread's stack.
    pub fn make_context(&self, flags: impl Into<ContextFlags>) -> Result<Context> {
        let ContextFlags(flags) = flags.into();
        Context::create(*self, flags)
    }

    /// The flags of the device's primary context, as `CUctx_flags`, and whether the context is active.
    pub fn primary_context_state(&self) -> Result<(u32, bool)> {
        let (mut flags, mut is_active) = (0, 0);
        // SAFETY: writes an unsigned int and an int.
        unsafe {
            call_driver!(self.table, cuDevicePrimaryCtxGetState(self.handle, &raw mut flags, &raw mut is_active))
        }?;
        Ok((flags, is_active != 0))
    }

    /// Sets the flags of the device's primary context. Drivers may refuse this while the context is active.
    pub fn set_primary_context_flags(&self, flags: impl Into<ContextFlags>) -> Result<()> {
        let ContextFlags(flags) = flags.into();
        // SAFETY: plain values.
        unsafe { call_driver!(self.table, cuDevicePrimaryCtxSetFlags(self.handle, flags)) }
    }

    /// Retains the device's primary context, without pushing it.
    pub fn retain_primary_context(&self) -> Result<Context> {
        Context::retain_primary(*self)
    }

    /// [`Device::retain_primary_context`] for a library beside the program, after which threads take the default context
    /// as before.
    pub fn retain_primary_context_unseen(&self) -> Result<Context> {
        Context::retain_primary_handle(*self)
    }
}

fn string_from_c_chars(text: &[c_char]) -> String {
    let bytes: Vec<u8> = text.iter().map(|c| *c as u8).collect();
    match CStr::from_bytes_until_nul(&bytes) {
        Ok(text) => text.to_string_lossy().into_owned(),
        Err(_) => String::from_utf8_lossy(&bytes).into_owned(),
    }
}
