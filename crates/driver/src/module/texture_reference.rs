//! Texture and surface references. Compilers since CUDA 12 cannot make modules that contain them; the driver still
//! supports modules that older compilers made.
//!
//! For newer compilers `rtcg-compile` declares `texture<...>` and `surface<...>` as structures around an object's
//! handle. A reference to a variable of such a type creates a new object whenever a setting changes, and writes its
//! handle to the variable.

use crate::context::Context;
use crate::context::loaded_drivers;
use crate::error::{Error, Result};
use crate::memory::{Array, memcpy_htod};
use crate::module::Function;
use crate::module::Module;
use crate::texture_object::{SurfaceObject, TextureObject, TextureResource};
use rtcg_cuda_sys::*;
use rtcg_hal::lock_ignoring_poison;
use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

/// `CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT` of every device so far.
const TEXTURE_ALIGNMENT: u64 = 512;

/// What keeps a reference's handle valid.
enum HandleOwner {
    Module(Module),
    Created(Context),
}

impl HandleOwner {
    fn context(&self) -> &Context {
        match self {
            HandleOwner::Module(module) => module.context(),
            HandleOwner::Created(ctx) => ctx,
        }
    }
}

enum TextureBacking {
    /// A reference of the driver.
    Driver(CUtexref),
    /// A variable of the module that holds an object's handle.
    Variable { place: CUdeviceptr, settings: Arc<Mutex<TextureSettings>> },
}

/// What is bound to the variables of a module, by their addresses: as with the driver's
/// references, it stays bound when the reference has been dropped.
#[derive(Default)]
pub(crate) struct ModuleTextureReferences {
    textures: Mutex<HashMap<CUdeviceptr, Arc<Mutex<TextureSettings>>>>,
    surfaces: Mutex<HashMap<CUdeviceptr, BoundSurfaceSlot>>,
}

/// What is bound to a surface reference.
type BoundSurfaceSlot = Arc<Mutex<Option<BoundSurface>>>;

struct TextureReferenceInner {
    owner: HandleOwner,
    backing: TextureBacking,
    /// The array that is bound to a reference of the driver, kept alive.
    array: Mutex<Option<Array>>,
}

/// What the driver would keep for a reference.
pub(crate) struct TextureSettings {
    resource: Option<TextureResource>,
    texture: CUDA_TEXTURE_DESC,
    format: CUarray_format,
    channels: i32,
    object: Option<TextureObject>,
}

impl TextureSettings {
    fn new() -> Self {
        let texture = CUDA_TEXTURE_DESC {
            addressMode: [CU_TR_ADDRESS_MODE_CLAMP; 3],
            maxMipmapLevelClamp: f32::MAX,
            ..CUDA_TEXTURE_DESC::default()
        };
        Self { resource: None, texture, format: CU_AD_FORMAT_FLOAT, channels: 1, object: None }
    }

    /// Makes an object of the settings, if something is bound, and writes its handle to `place`.
    fn recreate_texture_object(&mut self, place: CUdeviceptr) -> Result<()> {
        let (own_format, own_channels) = (self.format, self.channels);
        if let Some(TextureResource::Linear { format, channels, .. }) = &mut self.resource {
            (*format, *channels) = (own_format, own_channels.unsigned_abs());
        }
        let Some(resource) = self.resource.clone() else { return Ok(()) };
        // SAFETY: whoever bound linear memory promised that it is valid as long as it is bound.
        let object = unsafe { TextureObject::new(resource, &self.texture) }?;
        write_handle_to_variable(place, object.handle())?;
        self.object = Some(object);
        Ok(())
    }
}

/// Puts a handle into a variable, when no kernel can still be using the old one.
fn write_handle_to_variable(place: CUdeviceptr, handle: u64) -> Result<()> {
    Context::synchronize()?;
    // SAFETY: the variable has eight bytes, and its module is alive.
    unsafe { memcpy_htod(place, &handle.to_le_bytes()) }
}

/// A texture reference, of a module or free-standing. Cloning gives another reference to the same one.
#[derive(Clone)]
pub struct TextureReference(Arc<TextureReferenceInner>);

impl std::fmt::Debug for TextureReference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.0.backing {
            TextureBacking::Driver(handle) => write!(f, "TextureReference({handle:?})"),
            TextureBacking::Variable { place, .. } => write!(f, "TextureReference(variable at {place:#x})"),
        }
    }
}

/// Calls a function on a driver's texture reference, or changes the settings of a variable.
macro_rules! set_on_texture_reference {
    ($self:ident, |$handle:ident| $name:ident($($arg:expr),*), |$settings:ident| $change:expr) => {
        match &$self.0.backing {
            // SAFETY: the reference is alive; arguments are plain values, living handles, or
            // pointers to locals that the call writes.
            &TextureBacking::Driver($handle) => unsafe { call_if_alive!($self.0.owner.context(), $name($($arg),*)) },
            TextureBacking::Variable { place, settings } => {
                let mut guard = lock_ignoring_poison(settings);
                let $settings = &mut *guard;
                $change;
                guard.recreate_texture_object(*place)
            }
        }
    };
}

/// Asks the driver, or reads the settings of a variable.
macro_rules! get_from_texture_reference {
    ($self:ident, $out:ident = $start:expr, |$handle:ident| $name:ident($($arg:expr),*), |$settings:ident| $value:expr) => {
        match &$self.0.backing {
            &TextureBacking::Driver($handle) => {
                let mut $out = $start;
                // SAFETY: as for setting.
                unsafe { call_if_alive!($self.0.owner.context(), $name($($arg),*)) }?;
                Ok($out)
            }
            TextureBacking::Variable { settings, .. } => {
                let $settings = lock_ignoring_poison(settings);
                Ok($value)
            }
        }
    };
}

/// The axis of an address mode.
fn address_mode_axis(dim: i32) -> Result<usize> {
    usize::try_from(dim).ok().filter(|&d| d < 3).ok_or_else(|| {
        let detail = format!("dim is {dim}; expected 0, 1 or 2");
        Error::new("cuTexRefSetAddressMode", CUresult::CUDA_ERROR_INVALID_VALUE, detail)
    })
}

impl TextureReference {
    /// Creates a texture reference that belongs to no module.
    pub fn new() -> Result<Self> {
        let ctx = Context::current_or_error()?;
        let mut handle = CUtexref::null();
        // SAFETY: writes one handle.
        unsafe { call_if_alive!(ctx, cuTexRefCreate(&raw mut handle)) }?;
        Ok(Self::from_parts(HandleOwner::Created(ctx), TextureBacking::Driver(handle)))
    }

    fn from_parts(owner: HandleOwner, backing: TextureBacking) -> Self {
        Self(Arc::new(TextureReferenceInner { owner, backing, array: Mutex::new(None) }))
    }

    /// The driver's handle; `None` for a variable.
    pub fn handle(&self) -> Option<CUtexref> {
        match self.0.backing {
            TextureBacking::Driver(handle) => Some(handle),
            TextureBacking::Variable { .. } => None,
        }
    }

    /// Binds an array and keeps it alive while it is bound.
    pub fn set_array(&self, array: &Array) -> Result<()> {
        let live = array.handle_if_alive("cuTexRefSetArray")?;
        let told = array.descriptor()?;
        set_on_texture_reference!(
            self,
            |handle| cuTexRefSetArray(handle, live, CU_TRSA_OVERRIDE_FORMAT),
            |settings| {
                (settings.format, settings.channels) = (told.Format, told.NumChannels as i32);
                settings.resource = Some(TextureResource::Array(array.clone()));
            }
        )?;
        *lock_ignoring_poison(&self.0.array) =
            matches!(self.0.backing, TextureBacking::Driver(_)).then(|| array.clone());
        Ok(())
    }

    /// The array bound by [`TextureReference::set_array`].
    pub fn array(&self) -> Option<Array> {
        match &self.0.backing {
            TextureBacking::Driver(_) => lock_ignoring_poison(&self.0.array).clone(),
            TextureBacking::Variable { settings, .. } => match &lock_ignoring_poison(settings).resource {
                Some(TextureResource::Array(array)) => Some(array.clone()),
                _ => None,
            },
        }
    }

    /// Binds linear memory and returns the offset in bytes that fetches must add. Unless `allow_offset` is set, a
    /// nonzero offset is an error.
    ///
    /// # Safety
    /// The memory must be valid for `nbytes` as long as it is bound.
    pub unsafe fn set_address(&self, ptr: CUdeviceptr, nbytes: usize, allow_offset: bool) -> Result<usize> {
        let mut offset = (ptr % TEXTURE_ALIGNMENT) as usize;
        let refused = || {
            let detail = "texture binding resulted in an offset, but allow_offset was false";
            Error::new("cuTexRefSetAddress", CUresult::CUDA_ERROR_INVALID_VALUE, detail)
        };
        if matches!(self.0.backing, TextureBacking::Variable { .. }) && offset != 0 && !allow_offset {
            return Err(refused());
        }
        set_on_texture_reference!(
            self,
            |handle| cuTexRefSetAddress(&raw mut offset, handle, ptr, nbytes),
            |settings| {
                let (format, channels) = (settings.format, settings.channels.unsigned_abs());
                let (ptr, nbytes) = (ptr - offset as u64, nbytes + offset);
                settings.resource = Some(TextureResource::Linear { ptr, format, channels, nbytes });
            }
        )?;
        if offset != 0 && !allow_offset {
            return Err(refused());
        }
        *lock_ignoring_poison(&self.0.array) = None;
        Ok(offset)
    }

    /// Binds pitched memory.
    ///
    /// # Safety
    /// The memory must be valid for the extent of descriptor and pitch as long as it is bound.
    pub unsafe fn set_address_2d(
        &self,
        ptr: CUdeviceptr,
        descriptor: &CUDA_ARRAY_DESCRIPTOR,
        pitch: usize,
    ) -> Result<()> {
        let d = *descriptor;
        set_on_texture_reference!(self, |handle| cuTexRefSetAddress2D(handle, descriptor, ptr, pitch), |settings| {
            (settings.format, settings.channels) = (d.Format, d.NumChannels as i32);
            settings.resource = Some(TextureResource::Pitch2D {
                ptr,
                format: d.Format,
                channels: d.NumChannels,
                width: d.Width,
                height: d.Height,
                pitch,
            });
        })?;
        *lock_ignoring_poison(&self.0.array) = None;
        Ok(())
    }

    /// Whether anything is bound; that a reference of the driver is cannot be asked, and taken for granted.
    fn is_bound(&self) -> bool {
        match &self.0.backing {
            TextureBacking::Driver(_) => true,
            TextureBacking::Variable { settings, .. } => lock_ignoring_poison(settings).resource.is_some(),
        }
    }

    /// The address of bound memory.
    pub fn address(&self) -> Result<CUdeviceptr> {
        get_from_texture_reference!(self, ptr = 0, |handle| cuTexRefGetAddress(&raw mut ptr, handle), |settings| {
            match &settings.resource {
                Some(TextureResource::Linear { ptr, .. } | TextureResource::Pitch2D { ptr, .. }) => *ptr,
                _ => {
                    let code = CUresult::CUDA_ERROR_INVALID_VALUE;
                    return Err(Error::new("cuTexRefGetAddress", code, "no linear memory is bound"));
                }
            }
        })
    }

    /// Sets format and number of channels.
    pub fn set_format(&self, format: CUarray_format, channels: i32) -> Result<()> {
        set_on_texture_reference!(self, |handle| cuTexRefSetFormat(handle, format, channels), |settings| {
            (settings.format, settings.channels) = (format, channels);
        })
    }

    /// Format and number of channels.
    pub fn format(&self) -> Result<(CUarray_format, i32)> {
        get_from_texture_reference!(
            self,
            told = (CUarray_format::default(), 0),
            |handle| cuTexRefGetFormat(&raw mut told.0, &raw mut told.1, handle),
            |settings| (settings.format, settings.channels)
        )
    }

    /// Sets how coordinates outside the range of a dimension are treated.
    pub fn set_address_mode(&self, dim: i32, mode: CUaddress_mode) -> Result<()> {
        let at = address_mode_axis(dim)?;
        set_on_texture_reference!(self, |handle| cuTexRefSetAddressMode(handle, dim, mode), |settings| {
            settings.texture.addressMode[at] = mode;
        })
    }

    /// How coordinates outside the range of a dimension are treated.
    pub fn address_mode(&self, dim: i32) -> Result<CUaddress_mode> {
        let at = address_mode_axis(dim)?;
        get_from_texture_reference!(
            self,
            mode = CUaddress_mode::default(),
            |handle| cuTexRefGetAddressMode(&raw mut mode, handle, dim),
            |settings| settings.texture.addressMode[at]
        )
    }

    /// Sets the filter mode.
    pub fn set_filter_mode(&self, mode: CUfilter_mode) -> Result<()> {
        set_on_texture_reference!(self, |handle| cuTexRefSetFilterMode(handle, mode), |settings| settings
            .texture
            .filterMode = mode)
    }

    /// The filter mode.
    pub fn filter_mode(&self) -> Result<CUfilter_mode> {
        get_from_texture_reference!(
            self,
            mode = CUfilter_mode::default(),
            |handle| cuTexRefGetFilterMode(&raw mut mode, handle),
            |settings| settings.texture.filterMode
        )
    }

    /// Sets the `CU_TRSF_*` flags.
    pub fn set_flags(&self, flags: u32) -> Result<()> {
        set_on_texture_reference!(self, |handle| cuTexRefSetFlags(handle, flags), |settings| settings.texture.flags =
            flags)
    }

    /// The `CU_TRSF_*` flags.
    pub fn flags(&self) -> Result<u32> {
        get_from_texture_reference!(self, flags = 0, |handle| cuTexRefGetFlags(&raw mut flags, handle), |settings| {
            settings.texture.flags
        })
    }
}

impl Drop for TextureReferenceInner {
    fn drop(&mut self) {
        if let (HandleOwner::Created(ctx), &TextureBacking::Driver(handle)) = (&self.owner, &self.backing) {
            // SAFETY: created here, and this is the last use.
            ctx.free_on_drop(|table| unsafe { call_driver!(table, cuTexRefDestroy(handle)) });
        }
    }
}

/// An array, and for a variable the object over it.
type BoundSurface = (Array, Option<SurfaceObject>);

/// A surface reference of a module.
#[derive(Clone, Debug)]
pub struct SurfaceReference {
    module: Module,
    backing: SurfaceBacking,
    bound: BoundSurfaceSlot,
}

#[derive(Clone, Copy, Debug)]
enum SurfaceBacking {
    Driver(CUsurfref),
    Variable(CUdeviceptr),
}

impl SurfaceReference {
    /// Binds an array and keeps it alive while it is bound.
    pub fn set_array(&self, array: &Array, flags: u32) -> Result<()> {
        let ctx = self.module.context();
        let live = array.handle_if_alive("cuSurfRefSetArray")?;
        let object = match self.backing {
            SurfaceBacking::Driver(handle) => {
                // SAFETY: both handles are alive.
                unsafe { call_if_alive!(ctx, cuSurfRefSetArray(handle, live, flags)) }?;
                None
            }
            SurfaceBacking::Variable(place) => {
                let object = SurfaceObject::new(array)?;
                write_handle_to_variable(place, object.handle())?;
                Some(object)
            }
        };
        *lock_ignoring_poison(&self.bound) = Some((array.clone(), object));
        Ok(())
    }

    /// The bound array.
    pub fn array(&self) -> Option<Array> {
        lock_ignoring_poison(&self.bound).as_ref().map(|(array, _)| array.clone())
    }
}

impl Module {
    /// The variable named `name` if it can hold the handle of an object.
    fn find_handle_variable(&self, name: &str) -> Option<CUdeviceptr> {
        self.global(name).ok().filter(|&(_, nbytes)| nbytes == size_of::<u64>()).map(|(place, _)| place)
    }

    /// Finds the texture reference with this name.
    pub fn texref(&self, name: &str) -> Result<TextureReference> {
        let mut handle = CUtexref::null();
        // SAFETY: the module is alive, the name NUL-terminated, one handle is written.
        let found = self.look_up_name("cuModuleGetTexRef", name, |table, name| unsafe {
            call_driver!(table, cuModuleGetTexRef(&raw mut handle, self.handle(), name))
        });
        let backing = match (found, self.find_handle_variable(name)) {
            (Ok(()), _) => TextureBacking::Driver(handle),
            (Err(_), Some(place)) => {
                let mut known = lock_ignoring_poison(&self.texture_references().textures);
                let settings = known.entry(place).or_insert_with(|| Arc::new(Mutex::new(TextureSettings::new())));
                TextureBacking::Variable { place, settings: settings.clone() }
            }
            (Err(error), None) => return Err(error),
        };
        Ok(TextureReference::from_parts(HandleOwner::Module(self.clone()), backing))
    }

    /// Finds the surface reference with this name.
    pub fn surfref(&self, name: &str) -> Result<SurfaceReference> {
        let mut handle = CUsurfref::null();
        // SAFETY: the module is alive, the name NUL-terminated, one handle is written.
        let found = self.look_up_name("cuModuleGetSurfRef", name, |table, name| unsafe {
            call_driver!(table, cuModuleGetSurfRef(&raw mut handle, self.handle(), name))
        });
        let (backing, bound) = match (found, self.find_handle_variable(name)) {
            (Ok(()), _) => (SurfaceBacking::Driver(handle), BoundSurfaceSlot::default()),
            (Err(_), Some(place)) => {
                let bound = lock_ignoring_poison(&self.texture_references().surfaces).entry(place).or_default().clone();
                (SurfaceBacking::Variable(place), bound)
            }
            (Err(error), None) => return Err(error),
        };
        Ok(SurfaceReference { module: self.clone(), backing, bound })
    }
}

impl Function {
    /// Warns of texture references that the kernel reads though nothing is bound to them: what it reads then
    /// depends on the device. The kernel may not execute the reads, so this is no error.
    #[cold]
    #[inline(never)]
    pub(crate) fn warn_of_unbound_textures(&self) {
        self.0.has_checked_textures.store(true, Ordering::Relaxed);
        if !self.module().has_texture_references() {
            return;
        }
        for name in self.signature().iter().flat_map(|signature| &signature.textures) {
            if self.module().texref(name).is_ok_and(|texref| !texref.is_bound()) {
                loaded_drivers::show_notice(&format!(
                    "kernel '{}' is launched with nothing bound to the texture reference '{name}' that it reads; bind \
                     an array or memory to get_texref('{name}') before",
                    self.name()
                ));
            }
        }
    }

    /// Makes a texture reference available to the kernel. Variables are available without this.
    pub fn param_set_texref(&self, texref: &TextureReference) -> Result<()> {
        let Some(handle) = texref.handle() else { return Ok(()) };
        let ctx = self.module().context();
        // SAFETY: both handles are alive.
        unsafe { call_if_alive!(ctx, cuParamSetTexRef(self.handle(), CU_PARAM_TR_DEFAULT, handle)) }
    }
}
