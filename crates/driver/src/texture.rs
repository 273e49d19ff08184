//! Texture and surface references. Compilers since CUDA 12 cannot make modules that contain
//! them; the driver still serves modules that older compilers made.

use crate::context::Context;
use crate::error::{Error, Result};
use crate::function::Function;
use crate::memory::Array;
use crate::module::Module;
use rtcg_cuda_sys::*;
use std::sync::{Arc, Mutex};

/// What keeps a reference's handle valid.
enum Owner {
    Module(Module),
    Created(Context),
}

impl Owner {
    fn context(&self) -> &Context {
        match self {
            Owner::Module(module) => module.context(),
            Owner::Created(ctx) => ctx,
        }
    }
}

struct Inner {
    owner: Owner,
    handle: CUtexref,
    /// The array that is bound, kept alive.
    array: Mutex<Option<Array>>,
}

/// A texture reference, of a module or free-standing. Cloning gives another reference to it.
#[derive(Clone)]
pub struct TextureReference(Arc<Inner>);

impl std::fmt::Debug for TextureReference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "TextureReference({:?})", self.0.handle)
    }
}

/// Calls a function on a texture reference through its table.
macro_rules! on_texref {
    ($self:ident, $name:ident($($arg:expr),*)) => {
        // SAFETY: the reference is alive; arguments are plain values, living handles, or
        // pointers to locals that the call writes.
        unsafe { call_in!($self.0.owner.context(), $name($($arg),*)) }
    };
}

impl TextureReference {
    /// Creates one that belongs to no module.
    pub fn new() -> Result<Self> {
        let ctx = Context::require()?;
        let mut handle = CUtexref::null();
        // SAFETY: writes one handle.
        unsafe { call_in!(ctx, cuTexRefCreate(&raw mut handle)) }?;
        Ok(Self::from_parts(Owner::Created(ctx), handle))
    }

    fn from_parts(owner: Owner, handle: CUtexref) -> Self {
        Self(Arc::new(Inner { owner, handle, array: Mutex::new(None) }))
    }

    /// The driver's handle.
    pub fn handle(&self) -> CUtexref {
        self.0.handle
    }

    /// Binds an array, which stays alive as long as it is bound.
    pub fn set_array(&self, array: &Array) -> Result<()> {
        on_texref!(
            self,
            cuTexRefSetArray(self.0.handle, array.live_handle("cuTexRefSetArray")?, CU_TRSA_OVERRIDE_FORMAT)
        )?;
        *self.0.array.lock().unwrap_or_else(|e| e.into_inner()) = Some(array.clone());
        Ok(())
    }

    /// The array that was bound by [`TextureReference::set_array`].
    pub fn array(&self) -> Option<Array> {
        self.0.array.lock().unwrap_or_else(|e| e.into_inner()).clone()
    }

    /// Binds linear memory; returns the offset in bytes that fetches must add. Without
    /// `allow_offset` any offset but 0 is an error.
    ///
    /// # Safety
    /// The memory must be valid for `nbytes` as long as it is bound.
    pub unsafe fn set_address(&self, ptr: CUdeviceptr, nbytes: usize, allow_offset: bool) -> Result<usize> {
        let mut offset = 0;
        on_texref!(self, cuTexRefSetAddress(&raw mut offset, self.0.handle, ptr, nbytes))?;
        if offset != 0 && !allow_offset {
            let detail = "texture binding resulted in an offset, but allow_offset was false";
            return Err(Error::new("cuTexRefSetAddress", CUresult::CUDA_ERROR_INVALID_VALUE, detail));
        }
        *self.0.array.lock().unwrap_or_else(|e| e.into_inner()) = None;
        Ok(offset)
    }

    /// Binds pitched memory.
    ///
    /// # Safety
    /// The memory must be valid for what descriptor and pitch describe, as long as it is bound.
    pub unsafe fn set_address_2d(
        &self,
        ptr: CUdeviceptr,
        descriptor: &CUDA_ARRAY_DESCRIPTOR,
        pitch: usize,
    ) -> Result<()> {
        on_texref!(self, cuTexRefSetAddress2D(self.0.handle, descriptor, ptr, pitch))
    }

    /// The address of bound memory.
    pub fn address(&self) -> Result<CUdeviceptr> {
        let mut ptr = 0;
        on_texref!(self, cuTexRefGetAddress(&raw mut ptr, self.0.handle))?;
        Ok(ptr)
    }

    /// Sets format and number of channels.
    pub fn set_format(&self, format: CUarray_format, channels: i32) -> Result<()> {
        on_texref!(self, cuTexRefSetFormat(self.0.handle, format, channels))
    }

    /// Format and number of channels.
    pub fn format(&self) -> Result<(CUarray_format, i32)> {
        let (mut format, mut channels) = (CUarray_format::default(), 0);
        on_texref!(self, cuTexRefGetFormat(&raw mut format, &raw mut channels, self.0.handle))?;
        Ok((format, channels))
    }

    /// Sets what happens outside the range of a dimension.
    pub fn set_address_mode(&self, dim: i32, mode: CUaddress_mode) -> Result<()> {
        on_texref!(self, cuTexRefSetAddressMode(self.0.handle, dim, mode))
    }

    /// What happens outside the range of a dimension.
    pub fn address_mode(&self, dim: i32) -> Result<CUaddress_mode> {
        let mut mode = CUaddress_mode::default();
        on_texref!(self, cuTexRefGetAddressMode(&raw mut mode, self.0.handle, dim))?;
        Ok(mode)
    }

    /// Sets the filter.
    pub fn set_filter_mode(&self, mode: CUfilter_mode) -> Result<()> {
        on_texref!(self, cuTexRefSetFilterMode(self.0.handle, mode))
    }

    /// The filter.
    pub fn filter_mode(&self) -> Result<CUfilter_mode> {
        let mut mode = CUfilter_mode::default();
        on_texref!(self, cuTexRefGetFilterMode(&raw mut mode, self.0.handle))?;
        Ok(mode)
    }

    /// Sets the `CU_TRSF_*` flags.
    pub fn set_flags(&self, flags: u32) -> Result<()> {
        on_texref!(self, cuTexRefSetFlags(self.0.handle, flags))
    }

    /// The `CU_TRSF_*` flags.
    pub fn flags(&self) -> Result<u32> {
        let mut flags = 0;
        on_texref!(self, cuTexRefGetFlags(&raw mut flags, self.0.handle))?;
        Ok(flags)
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        if let Owner::Created(ctx) = &self.owner {
            // SAFETY: created here, and this is the last use.
            ctx.drop_resource(|table| unsafe { call!(table, cuTexRefDestroy(self.handle)) });
        }
    }
}

/// A surface reference of a module.
#[derive(Clone, Debug)]
pub struct SurfaceReference {
    module: Module,
    handle: CUsurfref,
    array: Arc<Mutex<Option<Array>>>,
}

impl SurfaceReference {
    /// Binds an array, which stays alive as long as it is bound.
    pub fn set_array(&self, array: &Array, flags: u32) -> Result<()> {
        let ctx = self.module.context();
        // SAFETY: both handles are alive.
        unsafe { call_in!(ctx, cuSurfRefSetArray(self.handle, array.live_handle("cuSurfRefSetArray")?, flags)) }?;
        *self.array.lock().unwrap_or_else(|e| e.into_inner()) = Some(array.clone());
        Ok(())
    }

    /// The array that is bound.
    pub fn array(&self) -> Option<Array> {
        self.array.lock().unwrap_or_else(|e| e.into_inner()).clone()
    }
}

impl Module {
    /// The texture reference with this name.
    pub fn texref(&self, name: &str) -> Result<TextureReference> {
        let mut handle = CUtexref::null();
        // SAFETY: the module is alive, the name NUL-terminated, one handle is written.
        self.look_up("cuModuleGetTexRef", name, |table, name| unsafe {
            call!(table, cuModuleGetTexRef(&raw mut handle, self.handle(), name))
        })?;
        Ok(TextureReference::from_parts(Owner::Module(self.clone()), handle))
    }

    /// The surface reference with this name.
    pub fn surfref(&self, name: &str) -> Result<SurfaceReference> {
        let mut handle = CUsurfref::null();
        // SAFETY: the module is alive, the name NUL-terminated, one handle is written.
        self.look_up("cuModuleGetSurfRef", name, |table, name| unsafe {
            call!(table, cuModuleGetSurfRef(&raw mut handle, self.handle(), name))
        })?;
        Ok(SurfaceReference { module: self.clone(), handle, array: Arc::default() })
    }
}

impl Function {
    /// Makes a texture reference available to the kernel.
    pub fn param_set_texref(&self, texref: &TextureReference) -> Result<()> {
        let ctx = self.module().context();
        // SAFETY: both handles are alive.
        unsafe { call_in!(ctx, cuParamSetTexRef(self.handle(), CU_PARAM_TR_DEFAULT, texref.handle())) }
    }
}
