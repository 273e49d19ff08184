//! Images on the device with a static texel type, and the texture and surface objects through which kernels read and
//! write them.
//!
//! An [`Image`] is a CUDA array: memory in the layout that texture units read. For mip levels, layers, cube maps and
//! textures of linear memory use the driver's own structures in [`rtcg_driver`].
//!
//! ```
//! use rtcg::prelude::*;
//! use rtcg::textures::{AddressMode, FilterMode};
//!
//! # fn main() -> rtcg::Result<()> {
//! let ctx = Context::new()?;
//! let module = ctx.compile(
//!     r#"__global__ void enlarge(float *out, cudaTextureObject_t image, int width)
//!        {
//!            int x = threadIdx.x, y = threadIdx.y;
//!            out[y * width + x] = tex2D<float>(image, 0.5f * x + 0.5f, 0.5f * y + 0.5f);
//!        }"#,
//! )?;
//! // Two rows of two texels; the centre of the first one is at (0.5, 0.5).
//! let image = ctx.image(&[0.0f32, 1.0, 2.0, 3.0], &[2, 2])?;
//! let texture = image.texture().filter(FilterMode::Linear).address(AddressMode::Clamp).build()?;
//! let out = ctx.zeros::<f32>(9)?;
//! // SAFETY: nine threads write the nine elements of `out`.
//! unsafe { module.function("enlarge")?.launch(Grid::new(1, (3, 3)), &[&out, &texture, &3i32])? };
//! assert_eq!(out.to_vec()?, [0.0, 0.5, 1.0, 1.0, 1.5, 2.0, 2.0, 2.5, 3.0]);
//! # Ok(())
//! # }
//! ```

#![allow(unsafe_code, reason = "copies are described by addresses of slices, and textures by addresses of arrays")]

use crate::context::Context;
use crate::launch::{KernelArgument, WriteArgumentFn};
use rtcg_cuda::Result;
use rtcg_driver::signature::GivenArgument;
use rtcg_driver::sys::*;
use rtcg_driver::{
    Array, Error, Stream, SurfaceObject, TextureObject, TextureResource, memory::memcpy_3d, retain_in_capture,
};
use rtcg_hal::DType;
use std::marker::PhantomData;
use std::sync::Arc;

mod sealed {
    pub trait Sealed {}
}

/// A type of texels: numbers of 8, 16 and 32 bits, alone or two or four of one type.
pub trait Texel: sealed::Sealed + Copy + Default + Send + Sync + 'static {
    /// The format of a channel.
    const FORMAT: CUarray_format;
    /// Channels of a texel: 1, 2 or 4.
    const CHANNELS: u32;
}

macro_rules! impl_texel {
    ($($t:ty: $format:ident;)*) => {$(
        impl_texel!(@one $t, $format, 1);
        impl_texel!(@one [$t; 2], $format, 2);
        impl_texel!(@one [$t; 4], $format, 4);
    )*};
    (@one $t:ty, $format:ident, $channels:literal) => {
        impl sealed::Sealed for $t {}
        impl Texel for $t {
            const FORMAT: CUarray_format = CUarray_format::$format;
            const CHANNELS: u32 = $channels;
        }
    };
}

impl_texel! {
    u8: CU_AD_FORMAT_UNSIGNED_INT8;
    u16: CU_AD_FORMAT_UNSIGNED_INT16;
    u32: CU_AD_FORMAT_UNSIGNED_INT32;
    i8: CU_AD_FORMAT_SIGNED_INT8;
    i16: CU_AD_FORMAT_SIGNED_INT16;
    i32: CU_AD_FORMAT_SIGNED_INT32;
    half::f16: CU_AD_FORMAT_HALF;
    f32: CU_AD_FORMAT_FLOAT;
}

/// An image of one, two or three dimensions in device memory. Cloning gives another reference to the same image.
#[derive(Clone, Debug)]
pub struct Image<T: Texel> {
    ctx: Context,
    array: Array,
    shape: Vec<usize>,
    texel: PhantomData<T>,
}

impl Context {
    /// Copies texels to a new image; waits. `shape` is in C order, as in NumPy: `[width]`, `[height, width]` or
    /// `[depth, height, width]`.
    ///
    /// # Errors
    /// When the shape has another number of axes or of texels, has an axis of length 0, or is larger than the device
    /// allows.
    pub fn image<T: Texel>(&self, texels: &[T], shape: &[usize]) -> Result<Image<T>> {
        let image = Image::new(self, shape)?;
        image.write(texels)?;
        Ok(image)
    }

    /// Makes an image with undefined texels, for kernels to write through [`Image::surface`].
    ///
    /// # Errors
    /// As [`Context::image`].
    pub fn empty_image<T: Texel>(&self, shape: &[usize]) -> Result<Image<T>> {
        Image::new(self, shape)
    }
}

/// Which end of a copy the host's slice is.
enum CopyDirection {
    ToImage(*const std::ffi::c_void),
    ToHost(*mut std::ffi::c_void),
}

impl<T: Texel> Image<T> {
    fn new(ctx: &Context, shape: &[usize]) -> Result<Self> {
        if !(1..=3).contains(&shape.len()) || shape.contains(&0) {
            let detail = format!("an image has shape {shape:?}; expected one to three axes of at least 1");
            return Err(Error::new("cuArray3DCreate", CUresult::CUDA_ERROR_INVALID_VALUE, detail).into());
        }
        // The driver counts axes by those that are not 0.
        let axis = |from_last: usize| shape.len().checked_sub(from_last + 1).map_or(0, |at| shape[at]);
        let descriptor = CUDA_ARRAY3D_DESCRIPTOR {
            Width: axis(0),
            Height: axis(1),
            Depth: axis(2),
            Format: T::FORMAT,
            NumChannels: T::CHANNELS,
            Flags: CUDA_ARRAY3D_SURFACE_LDST,
        };
        let array = ctx.enter(|| Array::new_3d(&descriptor))?;
        Ok(Self { ctx: ctx.clone(), array, shape: shape.to_vec(), texel: PhantomData })
    }

    /// Length of each axis, the width last.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// Number of texels.
    pub fn n_texels(&self) -> usize {
        self.shape.iter().product()
    }

    /// The underlying driver array, for what is not covered here.
    pub fn driver_array(&self) -> &Array {
        &self.array
    }

    /// Overwrites all texels, in C order; waits for all earlier work of the context, which may read them.
    ///
    /// # Errors
    /// When there are more or fewer texels than the image has, or a kernel failed before.
    pub fn write(&self, texels: &[T]) -> Result<()> {
        if texels.len() != self.n_texels() {
            let detail = format!("{} texels for an image of shape {:?}", texels.len(), self.shape);
            return Err(Error::new("Image::write", CUresult::CUDA_ERROR_INVALID_VALUE, detail).into());
        }
        self.copy_all(CopyDirection::ToImage(texels.as_ptr().cast()))
    }

    /// Copies all texels to the host, in C order; waits for all earlier work of the context, which may write them.
    ///
    /// # Errors
    /// When a kernel failed before.
    pub fn to_vec(&self) -> Result<Vec<T>> {
        let mut texels = vec![T::default(); self.n_texels()];
        self.copy_all(CopyDirection::ToHost(texels.as_mut_ptr().cast()))?;
        Ok(texels)
    }

    /// Copies all texels. The slice at the other end has as many, as the callers have checked.
    fn copy_all(&self, direction: CopyDirection) -> Result<()> {
        let width = self.shape.last().copied().unwrap_or(1);
        let height = self.shape.iter().rev().nth(1).copied().unwrap_or(1);
        let row = width * size_of::<T>();
        let mut copy = CUDA_MEMCPY3D {
            WidthInBytes: row,
            Height: height,
            Depth: self.n_texels() / (width * height),
            ..CUDA_MEMCPY3D::default()
        };
        let (host, image) = (CUmemorytype::CU_MEMORYTYPE_HOST, CUmemorytype::CU_MEMORYTYPE_ARRAY);
        match direction {
            CopyDirection::ToImage(source) => {
                (copy.srcMemoryType, copy.srcHost, copy.srcPitch, copy.srcHeight) = (host, source, row, height);
                (copy.dstMemoryType, copy.dstArray) = (image, self.array.handle());
            }
            CopyDirection::ToHost(target) => {
                (copy.srcMemoryType, copy.srcArray) = (image, self.array.handle());
                (copy.dstMemoryType, copy.dstHost, copy.dstPitch, copy.dstHeight) = (host, target, row, height);
            }
        }
        self.ctx.enter(|| {
            rtcg_driver::Context::synchronize()?;
            // SAFETY: the slice and the array both have as many texels as the image, and the array is this object's.
            unsafe { memcpy_3d(&copy) }
        })
    }

    /// Starts building a texture that reads this image. By default it reads the nearest texel, takes coordinates in
    /// texels, and clamps those outside of the image.
    pub fn texture(&self) -> TextureBuilder<'_, T> {
        let description = CUDA_TEXTURE_DESC {
            addressMode: [CUaddress_mode::CU_TR_ADDRESS_MODE_CLAMP; 3],
            flags: CU_TRSF_READ_AS_INTEGER,
            ..CUDA_TEXTURE_DESC::default()
        };
        TextureBuilder { image: self, description }
    }

    /// Makes a surface object, which kernels take as a `cudaSurfaceObject_t`, for `surf2Dread`, `surf2Dwrite` and the
    /// like. Their `x` is in bytes.
    ///
    /// # Errors
    /// When the driver refuses it.
    ///
    /// ```
    /// use rtcg::prelude::*;
    ///
    /// # fn main() -> rtcg::Result<()> {
    /// let ctx = Context::new()?;
    /// let module = ctx.compile(
    ///     r#"__global__ void ramp(cudaSurfaceObject_t image)
    ///        {
    ///            int x = threadIdx.x, y = threadIdx.y;
    ///            surf2Dwrite(make_uchar4(x, y, 0, 255), image, x * sizeof(uchar4), y);
    ///        }"#,
    /// )?;
    /// let image = ctx.empty_image::<[u8; 4]>(&[2, 3])?;
    /// // SAFETY: six threads write the six texels.
    /// unsafe { module.function("ramp")?.launch(Grid::new(1, (3, 2)), &[&image.surface()?])? };
    /// assert_eq!(image.to_vec()?[5], [2, 1, 0, 255]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn surface(&self) -> Result<Surface> {
        let object = self.ctx.enter(|| SurfaceObject::new(&self.array))?;
        Ok(Surface(object))
    }
}

/// What a texture read returns between the centres of texels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FilterMode {
    /// The nearest texel.
    Nearest,
    /// The surrounding texels, interpolated. Integer images need [`TextureBuilder::normalized_values`] for it.
    Linear,
}

/// What a texture read returns outside of the image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AddressMode {
    /// The nearest texel on the border.
    Clamp,
    /// The border's colour, [`TextureBuilder::border`].
    Border,
    /// The image repeated. Needs [`TextureBuilder::normalized_coordinates`].
    Wrap,
    /// The image repeated, every other time mirrored. Needs [`TextureBuilder::normalized_coordinates`].
    Mirror,
}

impl AddressMode {
    fn driver_mode(self) -> CUaddress_mode {
        match self {
            Self::Clamp => CUaddress_mode::CU_TR_ADDRESS_MODE_CLAMP,
            Self::Border => CUaddress_mode::CU_TR_ADDRESS_MODE_BORDER,
            Self::Wrap => CUaddress_mode::CU_TR_ADDRESS_MODE_WRAP,
            Self::Mirror => CUaddress_mode::CU_TR_ADDRESS_MODE_MIRROR,
        }
    }
}

/// Builds a [`Texture`]; see [`Image::texture`].
#[derive(Clone, Debug)]
#[must_use]
pub struct TextureBuilder<'a, T: Texel> {
    image: &'a Image<T>,
    description: CUDA_TEXTURE_DESC,
}

impl<T: Texel> TextureBuilder<'_, T> {
    /// Sets what is read between the centres of texels.
    pub fn filter(mut self, mode: FilterMode) -> Self {
        self.description.filterMode = match mode {
            FilterMode::Nearest => CUfilter_mode::CU_TR_FILTER_MODE_POINT,
            FilterMode::Linear => CUfilter_mode::CU_TR_FILTER_MODE_LINEAR,
        };
        self
    }

    /// Sets what is read outside of the image, along all axes.
    pub fn address(mut self, mode: AddressMode) -> Self {
        self.description.addressMode = [mode.driver_mode(); 3];
        self
    }

    /// Sets the colour of [`AddressMode::Border`]; all zeros by default.
    pub fn border(mut self, colour: [f32; 4]) -> Self {
        self.description.borderColor = colour;
        self
    }

    /// Makes coordinates go from 0 to 1 along each axis, instead of counting texels.
    pub fn normalized_coordinates(mut self) -> Self {
        self.description.flags |= CU_TRSF_NORMALIZED_COORDINATES;
        self
    }

    /// Makes integers of 8 and 16 bits read as `float`, from 0 to 1 (unsigned) or from -1 to 1 (signed).
    pub fn normalized_values(mut self) -> Self {
        self.description.flags &= !CU_TRSF_READ_AS_INTEGER;
        self
    }

    /// Builds the texture.
    ///
    /// # Errors
    /// When settings exclude each other; the message says which.
    pub fn build(self) -> Result<Texture> {
        self.check_settings()?;
        let (image, description) = (self.image, &self.description);
        let resource = TextureResource::Array(image.array.clone());
        // SAFETY: the object keeps the array; no linear memory is described.
        let object = image.ctx.enter(|| unsafe { TextureObject::new(resource, description) })?;
        Ok(Texture(object))
    }

    /// Refuses what the driver takes and does not do.
    fn check_settings(&self) -> Result<()> {
        let has = |flag| self.description.flags & flag != 0;
        let is_float = [CUarray_format::CU_AD_FORMAT_FLOAT, CUarray_format::CU_AD_FORMAT_HALF].contains(&T::FORMAT);
        let repeats = [CUaddress_mode::CU_TR_ADDRESS_MODE_WRAP, CUaddress_mode::CU_TR_ADDRESS_MODE_MIRROR];
        let is_linear = self.description.filterMode == CUfilter_mode::CU_TR_FILTER_MODE_LINEAR;
        let detail = if repeats.contains(&self.description.addressMode[0]) && !has(CU_TRSF_NORMALIZED_COORDINATES) {
            "AddressMode::Wrap and Mirror need normalized_coordinates()"
        } else if is_linear && !is_float && has(CU_TRSF_READ_AS_INTEGER) {
            "FilterMode::Linear of integers needs normalized_values()"
        } else if !is_float && !has(CU_TRSF_READ_AS_INTEGER) && size_of::<T>() / T::CHANNELS as usize == 4 {
            "normalized_values() needs integers of 8 or 16 bits"
        } else {
            return Ok(());
        };
        Err(Error::new("cuTexObjectCreate", CUresult::CUDA_ERROR_INVALID_VALUE, detail).into())
    }
}

/// A texture object, which kernels take as a `cudaTextureObject_t`. It keeps its image alive; cloning gives another
/// reference.
#[derive(Clone, Debug)]
pub struct Texture(TextureObject);

/// A surface object, which kernels take as a `cudaSurfaceObject_t`. It keeps its image alive; cloning gives another
/// reference.
#[derive(Clone, Debug)]
pub struct Surface(SurfaceObject);

impl Texture {
    /// The underlying driver object.
    pub fn driver_object(&self) -> &TextureObject {
        &self.0
    }
}

impl Surface {
    /// The underlying driver object.
    pub fn driver_object(&self) -> &SurfaceObject {
        &self.0
    }
}

macro_rules! impl_kernel_argument {
    ($($object:ident),*) => {$(
        impl KernelArgument for $object {
            fn pack_argument(&self, put: &mut WriteArgumentFn<'_>) -> rtcg_driver::Result<()> {
                let handle = GivenArgument::Value(DType::U64);
                put(&self.0.handle().to_ne_bytes(), 8, handle)
            }

            fn used_in(&self, stream: Option<&Stream>) {
                retain_in_capture(stream, || Arc::new(self.0.clone()));
            }
        }
    )*};
}

impl_kernel_argument!(Texture, Surface);
