//! CUDA arrays: memory in the layout that textures and surfaces read, and copies to and from it.

use crate::context::Context;
use crate::error::{Error, Result};
use crate::memory::reclaim::allocate_with_reclaim;
use crate::stream::closed_error;
use rtcg_cuda_sys::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

struct ArrayInner {
    ctx: Context,
    handle: CUarray,
    owned: bool,
    freed: AtomicBool,
    /// What a level is a level of.
    parent: Option<MipmappedArray>,
}

/// An array. Cloning gives another reference to the same array.
#[derive(Clone)]
pub struct Array(Arc<ArrayInner>);

impl std::fmt::Debug for Array {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Array({:?})", self.0.handle)
    }
}

impl Array {
    fn from_parts(ctx: Context, handle: CUarray, owned: bool) -> Self {
        Self(Arc::new(ArrayInner { ctx, handle, owned, freed: AtomicBool::new(false), parent: None }))
    }

    fn create_with_retry(create: impl Fn(&DriverTable, *mut CUarray) -> Result<()>) -> Result<Self> {
        let ctx = Context::current_or_error()?;
        let table = ctx.driver_table_if_alive("cuArrayCreate")?;
        let handle = allocate_with_reclaim(ctx.device(), || {
            let mut handle = CUarray::null();
            create(table, &raw mut handle)?;
            Ok(handle)
        })?;
        Ok(Self::from_parts(ctx, handle, true))
    }

    /// Creates a 1-D (height 0) or 2-D array in the current context.
    pub fn new_2d(descriptor: &CUDA_ARRAY_DESCRIPTOR) -> Result<Self> {
        // SAFETY: one handle is written, one structure read.
        Self::create_with_retry(|table, handle| unsafe { call_driver!(table, cuArrayCreate(handle, descriptor)) })
    }

    /// Creates an array of up to three dimensions, a layered array or a cube map, in the current context.
    pub fn new_3d(descriptor: &CUDA_ARRAY3D_DESCRIPTOR) -> Result<Self> {
        // SAFETY: one handle is written, one structure read.
        Self::create_with_retry(|table, handle| unsafe { call_driver!(table, cuArray3DCreate(handle, descriptor)) })
    }

    /// Wraps an array of another owner, in the current context.
    ///
    /// # Safety
    /// `handle` must be an array of the current context's driver and outlive all uses.
    pub unsafe fn from_external(handle: CUarray) -> Result<Self> {
        Ok(Self::from_parts(Context::current_or_error()?, handle, false))
    }

    /// The driver's handle.
    pub fn handle(&self) -> CUarray {
        self.0.handle
    }

    /// The handle, if the array still exists in a context of the current driver.
    pub(crate) fn handle_if_alive(&self, call: &'static str) -> Result<CUarray> {
        self.0.ctx.check_same_driver_as_current(call)?;
        self.0.ctx.driver_table_if_alive(call)?;
        self.check_not_freed(call)?;
        Ok(self.0.handle)
    }

    /// An error once it, or the mipmapped array that it is a level of, was freed.
    fn check_not_freed(&self, call: &'static str) -> Result<()> {
        if self.is_freed() {
            return Err(Error::new(call, CUresult::CUDA_ERROR_INVALID_HANDLE, "the array was freed"));
        }
        self.0.parent.as_ref().map_or(Ok(()), |parent| parent.check_not_freed(call))
    }

    /// Whether [`Array::free`] was called.
    pub fn is_freed(&self) -> bool {
        self.0.freed.load(Ordering::Acquire)
    }

    /// The context to which it belongs.
    pub fn context(&self) -> &Context {
        &self.0.ctx
    }

    /// Width, height, format and channels.
    pub fn descriptor(&self) -> Result<CUDA_ARRAY_DESCRIPTOR> {
        self.check_not_freed("cuArrayGetDescriptor")?;
        let mut descriptor = CUDA_ARRAY_DESCRIPTOR::default();
        // SAFETY: the array is alive, one structure is written.
        unsafe { call_if_alive!(self.0.ctx, cuArrayGetDescriptor(&raw mut descriptor, self.0.handle)) }?;
        Ok(descriptor)
    }

    /// Like [`Array::descriptor`], with depth and flags.
    pub fn descriptor_3d(&self) -> Result<CUDA_ARRAY3D_DESCRIPTOR> {
        self.check_not_freed("cuArray3DGetDescriptor")?;
        let mut descriptor = CUDA_ARRAY3D_DESCRIPTOR::default();
        // SAFETY: the array is alive, one structure is written.
        unsafe { call_if_alive!(self.0.ctx, cuArray3DGetDescriptor(&raw mut descriptor, self.0.handle)) }?;
        Ok(descriptor)
    }

    /// Frees the array now. A second call is an error.
    pub fn free(&self) -> Result<()> {
        if self.0.freed.swap(true, Ordering::AcqRel) {
            let code = CUresult::CUDA_ERROR_INVALID_HANDLE;
            return Err(Error::new("array::free", code, "it was freed before"));
        }
        self.0.ctx.free_in_context(|table| self.0.destroy_array(table))
    }
}

impl ArrayInner {
    fn destroy_array(&self, table: &DriverTable) -> Result<()> {
        if !self.owned {
            return Ok(());
        }
        // SAFETY: the array is this object's, and `freed` lets only one call come here.
        unsafe { call_driver!(table, cuArrayDestroy(self.handle)) }
    }
}

impl Drop for ArrayInner {
    fn drop(&mut self) {
        if !*self.freed.get_mut() {
            self.ctx.free_on_drop(|table| self.destroy_array(table));
        }
    }
}

struct MipmappedArrayInner {
    ctx: Context,
    handle: CUmipmappedArray,
    freed: AtomicBool,
}

/// An array with mip levels. Cloning gives another reference to the same array.
#[derive(Clone)]
pub struct MipmappedArray(Arc<MipmappedArrayInner>);

impl std::fmt::Debug for MipmappedArray {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "MipmappedArray({:?})", self.0.handle)
    }
}

impl MipmappedArray {
    /// Creates an array with at most `n_levels` mip levels in the current context.
    pub fn new(descriptor: &CUDA_ARRAY3D_DESCRIPTOR, n_levels: u32) -> Result<Self> {
        let ctx = Context::current_or_error()?;
        let handle = allocate_with_reclaim(ctx.device(), || {
            let mut handle = CUmipmappedArray::null();
            // SAFETY: one handle is written, one structure read.
            unsafe { call_if_alive!(ctx, cuMipmappedArrayCreate(&raw mut handle, descriptor, n_levels)) }?;
            Ok(handle)
        })?;
        Ok(Self(Arc::new(MipmappedArrayInner { ctx, handle, freed: AtomicBool::new(false) })))
    }

    /// Frees all levels; remaining references become unusable. Further calls do nothing.
    pub fn close(&self) -> Result<()> {
        if self.0.freed.swap(true, Ordering::AcqRel) {
            return Ok(());
        }
        // SAFETY: this is the last use of the handle; every other call looks at `freed`.
        self.0.ctx.free_in_context(|table| unsafe { call_driver!(table, cuMipmappedArrayDestroy(self.0.handle)) })
    }

    /// An error once it was closed.
    fn check_not_freed(&self, call: &'static str) -> Result<()> {
        if self.0.freed.load(Ordering::Acquire) { Err(closed_error(call, "mipmapped array")) } else { Ok(()) }
    }

    /// The array of a mip level; level 0 is the largest.
    pub fn mipmap_level(&self, level: u32) -> Result<Array> {
        self.check_not_freed("cuMipmappedArrayGetLevel")?;
        let mut handle = CUarray::null();
        // SAFETY: this array is alive, one handle is written.
        unsafe { call_if_alive!(self.0.ctx, cuMipmappedArrayGetLevel(&raw mut handle, self.0.handle, level)) }?;
        let ctx = self.0.ctx.clone();
        let parent = Some(self.clone());
        let inner = ArrayInner { ctx, handle, owned: false, freed: AtomicBool::new(false), parent };
        Ok(Array(Arc::new(inner)))
    }

    /// The handle, if its context still exists with the current driver.
    pub(crate) fn handle_if_alive(&self, call: &'static str) -> Result<CUmipmappedArray> {
        self.0.ctx.check_same_driver_as_current(call)?;
        self.0.ctx.driver_table_if_alive(call)?;
        self.check_not_freed(call)?;
        Ok(self.0.handle)
    }
}

impl Drop for MipmappedArrayInner {
    fn drop(&mut self) {
        if *self.freed.get_mut() {
            return;
        }
        // SAFETY: created by this object, and this is the last use.
        self.ctx.free_on_drop(|table| unsafe { call_driver!(table, cuMipmappedArrayDestroy(self.handle)) });
    }
}

/// Copies device bytes into a 1-D array, starting at byte `index`.
///
/// # Safety
/// `src` must be valid for `nbytes`.
pub unsafe fn memcpy_dtoa(dst: &Array, index: usize, src: CUdeviceptr, nbytes: usize) -> Result<()> {
    // SAFETY: the array is alive, the driver checks its range; `src` is the caller's promise.
    unsafe { call_in_current_context!(cuMemcpyDtoA(dst.handle_if_alive("cuMemcpyDtoA")?, index, src, nbytes)) }
}

/// Copies bytes of a 1-D array, starting at byte `index`, to the device.
///
/// # Safety
/// `dst` must be valid for `nbytes`.
pub unsafe fn memcpy_atod(dst: CUdeviceptr, src: &Array, index: usize, nbytes: usize) -> Result<()> {
    // SAFETY: the array is alive; the caller's promise for `dst`.
    unsafe { call_in_current_context!(cuMemcpyAtoD(dst, src.handle_if_alive("cuMemcpyAtoD")?, index, nbytes)) }
}

/// Copies bytes between 1-D arrays.
pub fn memcpy_atoa(dst: &Array, dst_index: usize, src: &Array, src_index: usize, nbytes: usize) -> Result<()> {
    let (to, from) = (dst.handle_if_alive("cuMemcpyAtoA")?, src.handle_if_alive("cuMemcpyAtoA")?);
    // SAFETY: both arrays are alive, the driver checks the ranges.
    unsafe { call_in_current_context!(cuMemcpyAtoA(to, dst_index, from, src_index, nbytes)) }
}

/// Copies host bytes into a 1-D array, starting at byte `index`.
pub fn memcpy_htoa(dst: &Array, index: usize, src: &[u8]) -> Result<()> {
    // SAFETY: the array is alive, the driver checks its range.
    unsafe {
        call_in_current_context!(cuMemcpyHtoA(
            dst.handle_if_alive("cuMemcpyHtoA")?,
            index,
            src.as_ptr().cast(),
            src.len()
        ))
    }
}

/// Copies bytes of a 1-D array, starting at byte `index`, to the host.
pub fn memcpy_atoh(dst: &mut [u8], src: &Array, index: usize) -> Result<()> {
    // SAFETY: the array is alive, the driver checks its range.
    unsafe {
        call_in_current_context!(cuMemcpyAtoH(
            dst.as_mut_ptr().cast(),
            src.handle_if_alive("cuMemcpyAtoH")?,
            index,
            dst.len()
        ))
    }
}
