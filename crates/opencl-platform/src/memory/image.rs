//! Images: pixels in linear memory, and for kernels a descriptor that says where and how.

use super::buffer::{check_host_pointer, checked_flags, inherited_flags, new_storage};
use super::format::{PixelLayout, format_of, formats};
use super::rectangle::{Layout, Region};
use super::{MemBody, Storage, check_context};
use crate::context::{ContextBody, Destructors, UserData, property_list};
use crate::error::{ClError, Result, code_of, object_of, refuse};
use crate::info::{Answer, info_function, list_handles};
use crate::object::{Ref, resolve, resolve_optional};
use crate::platform::device::{MAX_IMAGE_2D, MAX_IMAGE_3D, MAX_IMAGE_BUFFER, MAX_IMAGE_LAYERS};
use rtcg_driver::CUdeviceptr;
use rtcg_opencl_sys::*;
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex};

/// What an image has beyond its bytes.
pub(crate) struct ImageBody {
    pub(crate) format: cl_image_format,
    pub(crate) pixels: PixelLayout,
    kind: cl_mem_object_type,
    /// Pixels in each direction, and layers; 1 where the kind has none.
    width: usize,
    height: usize,
    depth: usize,
    layers: usize,
    row_pitch: usize,
    /// Bytes from slice to slice, or from layer to layer.
    slice_pitch: usize,
    descriptor: Storage,
}

const KINDS: [cl_mem_object_type; 6] = [
    CL_MEM_OBJECT_IMAGE1D,
    CL_MEM_OBJECT_IMAGE1D_ARRAY,
    CL_MEM_OBJECT_IMAGE1D_BUFFER,
    CL_MEM_OBJECT_IMAGE2D,
    CL_MEM_OBJECT_IMAGE2D_ARRAY,
    CL_MEM_OBJECT_IMAGE3D,
];

/// The type of a kernel's argument for each of [`KINDS`].
const TYPE_NAMES: [&str; 6] =
    ["image1d_t", "image1d_array_t", "image1d_buffer_t", "image2d_t", "image2d_array_t", "image3d_t"];

fn has_rows(kind: cl_mem_object_type) -> bool {
    matches!(kind, CL_MEM_OBJECT_IMAGE2D | CL_MEM_OBJECT_IMAGE2D_ARRAY | CL_MEM_OBJECT_IMAGE3D)
}

fn has_layers(kind: cl_mem_object_type) -> bool {
    matches!(kind, CL_MEM_OBJECT_IMAGE1D_ARRAY | CL_MEM_OBJECT_IMAGE2D_ARRAY)
}

fn has_slices(kind: cl_mem_object_type) -> bool {
    has_layers(kind) || kind == CL_MEM_OBJECT_IMAGE3D
}

impl ImageBody {
    /// Extents as origins and regions count them: the layer follows the last coordinate.
    fn extents(&self) -> [usize; 3] {
        match self.kind {
            CL_MEM_OBJECT_IMAGE1D_ARRAY => [self.width, self.layers, 1],
            _ => [self.width, self.height, self.depth.max(self.layers)],
        }
    }

    /// The pitches that go with [`ImageBody::extents`], of this image or of host memory that is laid out like it.
    fn pitches(&self, row_pitch: usize, slice_pitch: usize) -> (usize, usize) {
        if self.kind == CL_MEM_OBJECT_IMAGE1D_ARRAY { (slice_pitch, slice_pitch) } else { (row_pitch, slice_pitch) }
    }

    /// Where a region lies in the image, and the region with its width in bytes.
    pub(crate) fn place(&self, origin: [usize; 3], region: [usize; 3]) -> Result<(Layout, Region)> {
        let extents = self.extents();
        for axis in 0..3 {
            let end = origin[axis].checked_add(region[axis]);
            if region[axis] == 0 || end.is_none_or(|end| end > extents[axis]) {
                return ClError::value(format!("origin, region: {region:?} at {origin:?} is not within {extents:?}"));
            }
        }
        let pixel = self.pixels.pixel_bytes as usize;
        let (row_pitch, slice_pitch) = self.pitches(self.row_pitch, self.slice_pitch);
        let offset = origin[0] * pixel + origin[1] * row_pitch + origin[2] * slice_pitch;
        Ok((Layout { offset, row_pitch, slice_pitch }, [region[0] * pixel, region[1], region[2]]))
    }

    /// The layout of a region in host memory; pitches of 0 are those of a dense one.
    pub(crate) fn host_layout(&self, region: Region, row_pitch: usize, slice_pitch: usize) -> Result<Layout> {
        let rows = if self.kind == CL_MEM_OBJECT_IMAGE1D_ARRAY { 1 } else { region[1] };
        let row = if row_pitch == 0 { region[0] } else { row_pitch };
        // Beyond size_t nothing is held.
        let plane = row.checked_mul(rows);
        let slice = if slice_pitch == 0 { plane.unwrap_or(0) } else { slice_pitch };
        let is_held = row >= region[0] && plane.is_some_and(|plane| slice >= plane);
        let is_addressed = region[2].max(region[1]).checked_mul(slice).is_some();
        if !is_held || !is_addressed || (slice_pitch != 0 && !has_slices(self.kind)) {
            let why = format!("row_pitch, slice_pitch: {row_pitch}, {slice_pitch} do not hold a region of {region:?}");
            return ClError::value(why);
        }
        let (row_pitch, slice_pitch) = self.pitches(row, slice);
        Ok(Layout { offset: 0, row_pitch, slice_pitch })
    }

    /// Whether an argument of this type takes the image.
    pub(crate) fn goes_with(&self, type_name: &str) -> bool {
        let own = KINDS.iter().position(|kind| *kind == self.kind).map(|index| TYPE_NAMES[index]);
        match self.format.image_channel_order {
            CL_DEPTH => own.is_some_and(|own| type_name.replace("depth_t", "t") == own && type_name.contains("depth")),
            _ => own == Some(type_name),
        }
    }

    /// The address of the descriptor, which a kernel is given.
    pub(crate) fn descriptor_address(&self) -> CUdeviceptr {
        self.descriptor.address
    }

    /// Whether slices have pitches that a caller is told.
    pub(crate) fn has_slices(&self) -> bool {
        has_slices(self.kind)
    }
}

/// The descriptor as `builtins/images.cl` declares it.
#[repr(C)]
struct Descriptor {
    address: u64,
    row_pitch: u64,
    slice_pitch: u64,
    extents: [u32; 4],
    order: u32,
    data_type: u32,
    channels: u32,
    pixel_bytes: u32,
    read_swizzle: u32,
    write_swizzle: u32,
    flags: u32,
    unused: u32,
}

/// The image behind a handle; buffers are refused.
///
/// # Safety
/// As for [`resolve`].
pub(crate) unsafe fn resolve_image(handle: cl_mem, context: &Ref<ContextBody>) -> Result<Ref<MemBody>> {
    // SAFETY: the caller's promise.
    let memory = unsafe { resolve::<MemBody>(handle) }?;
    if memory.image.is_none() {
        return refuse(CL_INVALID_MEM_OBJECT, "image: the object is a buffer");
    }
    check_context(&memory, context)?;
    Ok(memory)
}

/// Extents of a description: width, height, depth, layers, with 1 for those that the kind has not.
fn checked_extents(desc: &cl_image_desc) -> Result<[usize; 4]> {
    let kind = desc.image_type;
    if !KINDS.contains(&kind) || desc.num_mip_levels != 0 || desc.num_samples != 0 {
        let why = format!("image_desc: kind {kind:#x}, expected one of an image, without mip levels and samples");
        return refuse(CL_INVALID_IMAGE_DESCRIPTOR, why);
    }
    let most = match kind {
        CL_MEM_OBJECT_IMAGE3D => MAX_IMAGE_3D,
        CL_MEM_OBJECT_IMAGE1D_BUFFER => MAX_IMAGE_BUFFER,
        _ => MAX_IMAGE_2D,
    };
    let depth = if kind == CL_MEM_OBJECT_IMAGE3D { desc.image_depth } else { 1 };
    let extents = [
        desc.image_width,
        if has_rows(kind) { desc.image_height } else { 1 },
        depth,
        if has_layers(kind) { desc.image_array_size } else { 1 },
    ];
    for (extent, most) in extents.into_iter().zip([most, most, most, MAX_IMAGE_LAYERS]) {
        if !(1..=most).contains(&extent) {
            let why = format!("image_desc: width, height, depth, layers {extents:?}, expected 1 to {most} in each");
            return refuse(CL_INVALID_IMAGE_SIZE, why);
        }
    }
    Ok(extents)
}

/// Where an image's pixels lie.
struct Pitches {
    row: usize,
    slice: usize,
    nbytes: usize,
}

/// The pitches of a description; those of a dense image where it has none.
fn checked_pitches(desc: &cl_image_desc, extents: [usize; 4], pixel: usize, may_have: bool) -> Result<Pitches> {
    let [width, height, depth, layers] = extents;
    let row = if desc.image_row_pitch == 0 { width * pixel } else { desc.image_row_pitch };
    let wants_slices = has_slices(desc.image_type) && desc.image_slice_pitch != 0;
    // Beyond size_t nothing is held.
    let plane = row.checked_mul(height);
    let slice = if wants_slices { desc.image_slice_pitch } else { plane.unwrap_or(0) };
    let has_some = desc.image_row_pitch != 0 || desc.image_slice_pitch != 0;
    let is_held = row >= width * pixel && row.is_multiple_of(pixel) && plane.is_some_and(|plane| slice >= plane);
    let others = slice.checked_mul(depth * layers - 1);
    let nbytes = others.zip(plane).and_then(|(others, last)| others.checked_add(last));
    let Some(nbytes) = nbytes.filter(|_| is_held && (may_have || !has_some)) else {
        let why = format!(
            "image_desc: pitches {} and {} of rows of {} bytes, expected none without a host_ptr, else multiples of a \
             pixel that hold a row and a slice",
            desc.image_row_pitch,
            desc.image_slice_pitch,
            width * pixel
        );
        return refuse(CL_INVALID_IMAGE_DESCRIPTOR, why);
    };
    Ok(Pitches { row, slice, nbytes })
}

/// The pixels of host memory without gaps.
///
/// # Safety
/// `host` has what the pitches say.
unsafe fn dense_pixels(host: *const u8, pitches: &Pitches, extents: [usize; 4], pixel: usize) -> Vec<u8> {
    let [width, height, depth, layers] = extents;
    let mut dense = Vec::with_capacity(width * pixel * height * depth * layers);
    for slice in 0..depth * layers {
        for row in 0..height {
            // SAFETY: the caller's promise.
            let bytes = unsafe {
                std::slice::from_raw_parts(host.add(slice * pitches.slice + row * pitches.row), width * pixel)
            };
            dense.extend_from_slice(bytes);
        }
    }
    dense
}

/// The memory of an image: its part of an object, and where its pixels lie in that part.
struct ImageMemory {
    storage: Arc<Storage>,
    origin: usize,
    pitches: Pitches,
    /// The memory of the program's that the image uses in place.
    used_pointer: *mut c_void,
}

impl ImageMemory {
    /// The memory of a buffer, for images of the kinds that may have one.
    fn in_buffer(parent: &Ref<MemBody>, context: &Ref<ContextBody>, pitches: Pitches) -> Result<Self> {
        if pitches.nbytes > parent.size {
            let why = format!("image_desc: {} bytes, the buffer has {}", pitches.nbytes, parent.size);
            return refuse(CL_INVALID_IMAGE_SIZE, why);
        }
        check_context(parent, context)?;
        let (storage, origin, used_pointer) = (parent.storage.clone(), parent.origin, std::ptr::null_mut());
        Ok(Self { storage, origin, pitches, used_pointer })
    }

    /// New memory, with the pixels at `host_ptr` if the flags say so.
    ///
    /// # Safety
    /// `host_ptr` is null or has what the pitches say.
    unsafe fn new(
        context: &Ref<ContextBody>,
        flags: cl_mem_flags,
        desc: &cl_image_desc,
        extents: [usize; 4],
        pixel: usize,
        mut pitches: Pitches,
        host_ptr: *mut c_void,
    ) -> Result<Self> {
        check_host_pointer(flags, host_ptr)?;
        let uses_pointer = flags & CL_MEM_USE_HOST_PTR != 0;
        let mut dense = Vec::new();
        let mut from = host_ptr;
        if !uses_pointer {
            if flags & CL_MEM_COPY_HOST_PTR != 0 {
                // SAFETY: the caller's promise.
                dense = unsafe { dense_pixels(host_ptr.cast(), &pitches, extents, pixel) };
                from = dense.as_mut_ptr().cast();
            }
            let without = cl_image_desc { image_row_pitch: 0, image_slice_pitch: 0, ..*desc };
            pitches = checked_pitches(&without, extents, pixel, false)?;
        }
        let limit = context.devices.iter().map(|device| device.max_allocation()).max().unwrap_or(0);
        if pitches.nbytes > limit {
            return refuse(CL_INVALID_IMAGE_SIZE, format!("image_desc: {} bytes of {limit}", pitches.nbytes));
        }
        // SAFETY: the caller's promise, or the copy of the pixels.
        let storage = Arc::new(unsafe { new_storage(context, flags, pitches.nbytes, from) }?);
        drop(dense);
        let used_pointer = if uses_pointer { host_ptr } else { std::ptr::null_mut() };
        Ok(Self { storage, origin: 0, pitches, used_pointer })
    }

    /// The descriptor of these pixels, in memory of its own.
    fn new_descriptor(
        &self,
        context: &Ref<ContextBody>,
        format: cl_image_format,
        pixels: &PixelLayout,
        extents: [usize; 4],
    ) -> Result<Storage> {
        let mut descriptor = Descriptor {
            address: self.storage.address + self.origin as u64,
            row_pitch: self.pitches.row as u64,
            slice_pitch: self.pitches.slice as u64,
            extents: extents.map(|extent| extent as u32),
            order: format.image_channel_order,
            data_type: format.image_channel_data_type,
            channels: pixels.channels,
            pixel_bytes: pixels.pixel_bytes,
            read_swizzle: pixels.read_swizzle,
            write_swizzle: pixels.write_swizzle,
            flags: u32::from(pixels.is_srgb) | u32::from(pixels.border_is_opaque) << 1,
            unused: 0,
        };
        let bytes = (&raw mut descriptor).cast();
        // SAFETY: the structure has as many bytes.
        unsafe { new_storage(context, CL_MEM_COPY_HOST_PTR, size_of::<Descriptor>(), bytes) }
    }
}

/// # Safety
/// As the specification of OpenCL says.
unsafe fn create_image(
    context: cl_context,
    properties: *const cl_mem_properties,
    flags: cl_mem_flags,
    image_format: *const cl_image_format,
    image_desc: *const cl_image_desc,
    host_ptr: *mut c_void,
) -> Result<cl_mem> {
    // SAFETY: the caller's promise.
    let (context, properties, format, desc, parent) = unsafe {
        let context = resolve::<ContextBody>(context)?;
        let properties = property_list(properties);
        if let Some(pair) = properties.chunks_exact(2).next() {
            return refuse(CL_INVALID_PROPERTY, format!("properties: {:#x} is none of an image", pair[0]));
        }
        let format = format_of(image_format)?;
        let Some(desc) = image_desc.as_ref().copied() else {
            return refuse(CL_INVALID_IMAGE_DESCRIPTOR, "image_desc is null");
        };
        (context, properties, format, desc, resolve_optional::<MemBody>(desc.mem_object)?)
    };
    let kind = desc.image_type;
    let flags = match &parent {
        Some(parent) => inherited_flags(flags, parent.flags)?,
        None => checked_flags(flags)?,
    };
    let extents = checked_extents(&desc)?;
    let pixels = PixelLayout::new(format, kind, flags)?;
    let pixel = pixels.pixel_bytes as usize;
    let pitches = checked_pitches(&desc, extents, pixel, parent.is_some() || !host_ptr.is_null())?;
    let is_of_buffer = parent.as_ref().is_some_and(|parent| parent.kind == CL_MEM_OBJECT_BUFFER);
    let may_be = matches!(kind, CL_MEM_OBJECT_IMAGE1D_BUFFER | CL_MEM_OBJECT_IMAGE2D);
    if parent.is_some() && !(is_of_buffer && may_be) || parent.is_none() && kind == CL_MEM_OBJECT_IMAGE1D_BUFFER {
        let why = format!("image_desc: mem_object, expected a buffer for images of one, not for kind {kind:#x}");
        return refuse(CL_INVALID_IMAGE_DESCRIPTOR, why);
    }
    let memory = match &parent {
        Some(parent) => ImageMemory::in_buffer(parent, &context, pitches)?,
        // SAFETY: the caller's promise.
        None => unsafe { ImageMemory::new(&context, flags, &desc, extents, pixel, pitches, host_ptr) }?,
    };
    let descriptor = memory.new_descriptor(&context, format, &pixels, extents)?;
    let ImageMemory { storage, origin, pitches, used_pointer } = memory;
    let [width, height, depth, layers] = extents;
    let (row_pitch, slice_pitch) = (pitches.row, pitches.slice);
    let image = ImageBody { format, pixels, kind, width, height, depth, layers, row_pitch, slice_pitch, descriptor };
    Ok(Ref::new_for_user(MemBody {
        context,
        kind,
        flags,
        size: pitches.nbytes,
        host_ptr: UserData(used_pointer),
        properties,
        storage,
        origin,
        parent: parent.and_then(MemBody::count_part),
        image: Some(Box::new(image)),
        maps: Mutex::new(Vec::new()),
        n_parts: AtomicUsize::new(0),
        destructors: Destructors::new(),
    }))
}

/// # Safety
/// As the specification of OpenCL says.
pub(crate) unsafe extern "C" fn clCreateImage(
    context: cl_context,
    flags: cl_mem_flags,
    image_format: *const cl_image_format,
    image_desc: *const cl_image_desc,
    host_ptr: *mut c_void,
    errcode_ret: *mut cl_int,
) -> cl_mem {
    let none = std::ptr::null();
    // SAFETY: the caller's promise.
    unsafe {
        object_of(errcode_ret, cl_mem::NULL, || create_image(context, none, flags, image_format, image_desc, host_ptr))
    }
}

/// # Safety
/// As the specification of OpenCL says.
pub(crate) unsafe extern "C" fn clCreateImageWithProperties(
    context: cl_context,
    properties: *const cl_mem_properties,
    flags: cl_mem_flags,
    image_format: *const cl_image_format,
    image_desc: *const cl_image_desc,
    host_ptr: *mut c_void,
    errcode_ret: *mut cl_int,
) -> cl_mem {
    // SAFETY: the caller's promise.
    unsafe {
        object_of(errcode_ret, cl_mem::NULL, || {
            create_image(context, properties, flags, image_format, image_desc, host_ptr)
        })
    }
}

fn description(kind: cl_mem_object_type, extents: [usize; 3], row_pitch: usize, slice_pitch: usize) -> cl_image_desc {
    cl_image_desc {
        image_type: kind,
        image_width: extents[0],
        image_height: extents[1],
        image_depth: extents[2],
        image_array_size: 0,
        image_row_pitch: row_pitch,
        image_slice_pitch: slice_pitch,
        num_mip_levels: 0,
        num_samples: 0,
        mem_object: cl_mem::NULL,
    }
}

/// # Safety
/// As the specification of OpenCL says.
pub(crate) unsafe extern "C" fn clCreateImage2D(
    context: cl_context,
    flags: cl_mem_flags,
    image_format: *const cl_image_format,
    image_width: usize,
    image_height: usize,
    image_row_pitch: usize,
    host_ptr: *mut c_void,
    errcode_ret: *mut cl_int,
) -> cl_mem {
    let desc = description(CL_MEM_OBJECT_IMAGE2D, [image_width, image_height, 1], image_row_pitch, 0);
    // SAFETY: the caller's promise.
    unsafe { clCreateImage(context, flags, image_format, &raw const desc, host_ptr, errcode_ret) }
}

/// # Safety
/// As the specification of OpenCL says.
pub(crate) unsafe extern "C" fn clCreateImage3D(
    context: cl_context,
    flags: cl_mem_flags,
    image_format: *const cl_image_format,
    image_width: usize,
    image_height: usize,
    image_depth: usize,
    image_row_pitch: usize,
    image_slice_pitch: usize,
    host_ptr: *mut c_void,
    errcode_ret: *mut cl_int,
) -> cl_mem {
    let extents = [image_width, image_height, image_depth];
    let desc = description(CL_MEM_OBJECT_IMAGE3D, extents, image_row_pitch, image_slice_pitch);
    // SAFETY: the caller's promise.
    unsafe { clCreateImage(context, flags, image_format, &raw const desc, host_ptr, errcode_ret) }
}

/// # Safety
/// As the specification of OpenCL says.
pub(crate) unsafe extern "C" fn clGetSupportedImageFormats(
    context: cl_context,
    flags: cl_mem_flags,
    image_type: cl_mem_object_type,
    num_entries: cl_uint,
    image_formats: *mut cl_image_format,
    num_image_formats: *mut cl_uint,
) -> cl_int {
    code_of(|| {
        // SAFETY: the caller's promise.
        unsafe { resolve::<ContextBody>(context) }?;
        let flags = checked_flags(flags)?;
        if !KINDS.contains(&image_type) {
            return ClError::value(format!("image_type: {image_type:#x} is none of an image"));
        }
        if image_formats.is_null() && num_image_formats.is_null() {
            return Ok(());
        }
        let found = formats(image_type, flags);
        // SAFETY: the caller's promise.
        unsafe { list_handles(&found, num_entries, image_formats, num_image_formats, CL_INVALID_VALUE) }
    })
}

info_function!(clGetImageInfo(cl_mem, cl_image_info) of MemBody = image_info);

fn image_info(memory: &Ref<MemBody>, param_name: cl_image_info, answer: Answer) -> Result<()> {
    let Some(image) = &memory.image else {
        return refuse(CL_INVALID_MEM_OBJECT, "image: the object is a buffer");
    };
    let kind = image.kind;
    let of = |has: bool, value: usize| if has { value } else { 0 };
    match param_name {
        CL_IMAGE_FORMAT => answer.plain(image.format),
        CL_IMAGE_ELEMENT_SIZE => answer.plain(image.pixels.pixel_bytes as usize),
        CL_IMAGE_ROW_PITCH => answer.plain(image.row_pitch),
        CL_IMAGE_SLICE_PITCH => answer.plain(of(has_slices(kind), image.slice_pitch)),
        CL_IMAGE_WIDTH => answer.plain(image.width),
        CL_IMAGE_HEIGHT => answer.plain(of(has_rows(kind), image.height)),
        CL_IMAGE_DEPTH => answer.plain(of(kind == CL_MEM_OBJECT_IMAGE3D, image.depth)),
        CL_IMAGE_ARRAY_SIZE => answer.plain(of(has_layers(kind), image.layers)),
        CL_IMAGE_BUFFER => answer.plain(memory.parent.as_ref().map_or(cl_mem::NULL, |parent| parent.handle())),
        CL_IMAGE_NUM_MIP_LEVELS | CL_IMAGE_NUM_SAMPLES => answer.plain::<cl_uint>(0),
        _ => answer.unknown("image", param_name),
    }
}
