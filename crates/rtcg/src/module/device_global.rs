//! Variables of a program, to read and write as slices.

#![allow(unsafe_code, reason = "reads and writes stay inside the variable, whose size the driver tells")]

use super::Module;
use crate::context::Context;
use crate::element::{Element, bytes_of, fill_bytes, zeroed_vec};
use rtcg_cuda::Result;
use rtcg_driver::sys::CUresult;
use rtcg_driver::{CUdeviceptr, Error, memory};
use std::marker::PhantomData;

/// A `__device__` or `__constant__` variable, as `len` elements of one type. It keeps its module loaded.
///
/// Reads and writes run in the order of the default stream. Any kernel of the module may use the variable, and such
/// uses are not recorded: first wait for streams that run concurrently with the default one.
#[derive(Debug, Clone)]
pub struct DeviceGlobal<T> {
    ctx: Context,
    _module: Module,
    ptr: CUdeviceptr,
    len: usize,
    element: PhantomData<T>,
}

impl<T: Element> DeviceGlobal<T> {
    pub(crate) fn new(ctx: &Context, module: &Module, name: &str, ptr: CUdeviceptr, nbytes: usize) -> Result<Self> {
        let size = size_of::<T>();
        if !nbytes.is_multiple_of(size) {
            let kind = std::any::type_name::<T>();
            let detail = format!("'{name}' has {nbytes} bytes, which is no whole number of {kind} ({size} bytes each)");
            return Err(Error::new("cuModuleGetGlobal", CUresult::CUDA_ERROR_INVALID_VALUE, detail).into());
        }
        let (ctx, _module) = (ctx.clone(), module.clone());
        Ok(Self { ctx, _module, ptr, len: nbytes / size, element: PhantomData })
    }

    /// Its address on the device.
    pub fn ptr(&self) -> CUdeviceptr {
        self.ptr
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it has no elements.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    fn checked_address(&self, call: &'static str, start: usize, len: usize) -> Result<CUdeviceptr> {
        if start.checked_add(len).is_none_or(|end| end > self.len) {
            let detail = format!("elements {start} to {} of a variable of {}", start.saturating_add(len), self.len);
            return Err(Error::new(call, CUresult::CUDA_ERROR_INVALID_VALUE, detail).into());
        }
        Ok(self.ptr + (start * size_of::<T>()) as u64)
    }

    /// Copies all elements to the host; waits.
    ///
    /// # Errors
    /// When a kernel has failed since the last synchronisation.
    pub fn to_vec(&self) -> Result<Vec<T>> {
        let mut host = zeroed_vec(self.len);
        self.read(0, &mut host)?;
        Ok(host)
    }

    /// Copies the elements from index `start` on to `host`; waits.
    ///
    /// # Errors
    /// When they extend past the end of the variable.
    pub fn read(&self, start: usize, host: &mut [T]) -> Result<()> {
        let ptr = self.checked_address("cuMemcpyDtoH", start, host.len())?;
        // SAFETY: the range lies inside the variable, whose module is held.
        self.ctx.enter(|| unsafe { fill_bytes(host, |bytes| memory::memcpy_dtoh(bytes, ptr)) })
    }

    /// Overwrites the elements from index `start` on with `host`; waits.
    ///
    /// # Errors
    /// When they extend past the end of the variable.
    pub fn write(&self, start: usize, host: &[T]) -> Result<()> {
        let ptr = self.checked_address("cuMemcpyHtoD", start, host.len())?;
        // SAFETY: the range lies inside the variable, whose module is held.
        self.ctx.enter(|| unsafe { memory::memcpy_htod(ptr, &bytes_of(host)) })
    }

    /// Copies the first element, which for a scalar is the variable itself, to the host.
    ///
    /// # Errors
    /// When the variable has no elements.
    pub fn get(&self) -> Result<T> {
        let mut host = zeroed_vec(1);
        self.read(0, &mut host)?;
        Ok(host[0])
    }

    /// Sets the first element.
    ///
    /// # Errors
    /// When the variable has no elements.
    pub fn set(&self, value: T) -> Result<()> {
        self.write(0, &[value])
    }
}
