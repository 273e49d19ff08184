//! Texture and surface objects of random programs, made through the driver API.

use rtcg_cuda_sys::*;
use rtcg_oracle::texture::{AddressMode, ChannelFormat, TexelStorage, TextureObject};
use rtcg_ptx::ast::TextureGeometry;
use std::ptr::null;

fn check_result(what: &str, code: CUresult) -> Result<(), String> {
    if code == CUresult::CUDA_SUCCESS { Ok(()) } else { Err(format!("{what}: {code:?}")) }
}

/// What holds the texels of an object.
enum TexelMemory {
    Array(CUarray),
    Levels(CUmipmappedArray, Vec<CUarray>),
    Memory(CUdeviceptr),
}

struct CreatedObject {
    object: TextureObject,
    texels: TexelMemory,
    handle: u64,
}

/// The objects of a program; they go when this is dropped.
pub struct CreatedObjects {
    table: &'static DriverTable,
    made: Vec<CreatedObject>,
}

fn array_format(channel: ChannelFormat) -> CUarray_format {
    match channel {
        ChannelFormat::U8 => CUarray_format::CU_AD_FORMAT_UNSIGNED_INT8,
        ChannelFormat::S8 => CUarray_format::CU_AD_FORMAT_SIGNED_INT8,
        ChannelFormat::U16 => CUarray_format::CU_AD_FORMAT_UNSIGNED_INT16,
        ChannelFormat::S16 => CUarray_format::CU_AD_FORMAT_SIGNED_INT16,
        ChannelFormat::U32 => CUarray_format::CU_AD_FORMAT_UNSIGNED_INT32,
        ChannelFormat::S32 => CUarray_format::CU_AD_FORMAT_SIGNED_INT32,
        ChannelFormat::F16 => CUarray_format::CU_AD_FORMAT_HALF,
        ChannelFormat::F32 => CUarray_format::CU_AD_FORMAT_FLOAT,
    }
}

fn array_descriptor(o: &TextureObject) -> CUDA_ARRAY3D_DESCRIPTOR {
    let [width, height, depth] = o.extents.map(|n| n as usize);
    let layers = o.layers as usize;
    let (height, depth, mut flags) = match o.geometry {
        TextureGeometry::D1 => (0, 0, 0),
        TextureGeometry::D2 => (height, 0, CUDA_ARRAY3D_TEXTURE_GATHER),
        TextureGeometry::D3 => (height, depth, 0),
        TextureGeometry::A1 => (0, layers, CUDA_ARRAY3D_LAYERED),
        TextureGeometry::A2 => (height, layers, CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_TEXTURE_GATHER),
        TextureGeometry::Cube => (height, layers, CUDA_ARRAY3D_CUBEMAP),
        TextureGeometry::ACube => (height, layers, CUDA_ARRAY3D_CUBEMAP | CUDA_ARRAY3D_LAYERED),
    };
    if o.sampler.is_none() {
        flags = flags & !CUDA_ARRAY3D_TEXTURE_GATHER | CUDA_ARRAY3D_SURFACE_LDST;
    }
    CUDA_ARRAY3D_DESCRIPTOR {
        Width: width,
        Height: height,
        Depth: depth,
        Format: array_format(o.channel),
        NumChannels: o.channels as u32,
        Flags: flags,
    }
}

fn texture_descriptor(o: &TextureObject) -> CUDA_TEXTURE_DESC {
    let mut d = CUDA_TEXTURE_DESC { maxMipmapLevelClamp: 100.0, ..Default::default() };
    let Some(s) = o.sampler else { return d };
    d.addressMode = s.address.map(|a| match a {
        AddressMode::Wrap => CUaddress_mode::CU_TR_ADDRESS_MODE_WRAP,
        AddressMode::Clamp => CUaddress_mode::CU_TR_ADDRESS_MODE_CLAMP,
        AddressMode::Mirror => CUaddress_mode::CU_TR_ADDRESS_MODE_MIRROR,
        AddressMode::Border => CUaddress_mode::CU_TR_ADDRESS_MODE_BORDER,
    });
    let filter = |linear| match linear {
        true => CUfilter_mode::CU_TR_FILTER_MODE_LINEAR,
        false => CUfilter_mode::CU_TR_FILTER_MODE_POINT,
    };
    (d.filterMode, d.mipmapFilterMode) = (filter(s.linear), filter(s.mip_linear));
    d.flags = if s.normalized { CU_TRSF_NORMALIZED_COORDINATES } else { 0 };
    d.flags |= if s.as_integers { CU_TRSF_READ_AS_INTEGER } else { 0 };
    d.borderColor = s.border.map(f32::from_bits);
    d
}

fn create_texels(t: &DriverTable, o: &TextureObject) -> Result<TexelMemory, String> {
    let d = array_descriptor(o);
    // SAFETY: all pointers lead to places of the right type.
    unsafe {
        match o.storage {
            TexelStorage::Array if o.levels == 1 => {
                let mut array = CUarray::null();
                check_result("cuArray3DCreate", t.cuArray3DCreate(&raw mut array, &raw const d))?;
                Ok(TexelMemory::Array(array))
            }
            TexelStorage::Array => {
                let mut whole = CUmipmappedArray::null();
                let code = t.cuMipmappedArrayCreate(&raw mut whole, &raw const d, o.levels);
                check_result("cuMipmappedArrayCreate", code)?;
                let mut levels = vec![];
                for level in 0..o.levels {
                    let mut array = CUarray::null();
                    let code = t.cuMipmappedArrayGetLevel(&raw mut array, whole, level);
                    check_result("cuMipmappedArrayGetLevel", code)?;
                    levels.push(array);
                }
                Ok(TexelMemory::Levels(whole, levels))
            }
            TexelStorage::Linear | TexelStorage::Pitched => {
                let mut memory = 0;
                check_result("cuMemAlloc", t.cuMemAlloc(&raw mut memory, o.total_bytes()))?;
                Ok(TexelMemory::Memory(memory))
            }
        }
    }
}

fn resource_descriptor(o: &TextureObject, texels: &TexelMemory) -> CUDA_RESOURCE_DESC {
    let mut d = CUDA_RESOURCE_DESC::default();
    let (format, channels) = (array_format(o.channel), o.channels as u32);
    match *texels {
        TexelMemory::Array(array) => {
            d.resType = CUresourcetype::CU_RESOURCE_TYPE_ARRAY;
            d.res.array = CUDA_RESOURCE_DESC_res_array { hArray: array };
        }
        TexelMemory::Levels(whole, _) => {
            d.resType = CUresourcetype::CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
            d.res.mipmap = CUDA_RESOURCE_DESC_res_mipmap { hMipmappedArray: whole };
        }
        TexelMemory::Memory(memory) if o.storage == TexelStorage::Linear => {
            d.resType = CUresourcetype::CU_RESOURCE_TYPE_LINEAR;
            d.res.linear = CUDA_RESOURCE_DESC_res_linear {
                devPtr: memory,
                format,
                numChannels: channels,
                sizeInBytes: o.total_bytes(),
            };
        }
        TexelMemory::Memory(memory) => {
            d.resType = CUresourcetype::CU_RESOURCE_TYPE_PITCH2D;
            d.res.pitch2D = CUDA_RESOURCE_DESC_res_pitch2D {
                devPtr: memory,
                format,
                numChannels: channels,
                width: o.extents[0] as usize,
                height: o.extents[1] as usize,
                pitchInBytes: o.row_bytes(0),
            };
        }
    }
    d
}

impl CreatedObjects {
    /// Makes objects in the current context.
    pub fn create_objects(table: &'static DriverTable, objects: &[TextureObject]) -> Result<CreatedObjects, String> {
        let mut all = CreatedObjects { table, made: vec![] };
        for &object in objects {
            let texels = create_texels(table, &object)?;
            let described = resource_descriptor(&object, &texels);
            all.made.push(CreatedObject { object, texels, handle: 0 });
            let mut handle = 0;
            let d = texture_descriptor(&object);
            // SAFETY: all pointers lead to places of the right type.
            unsafe {
                match object.sampler {
                    Some(_) => {
                        let code = table.cuTexObjectCreate(&raw mut handle, &raw const described, &raw const d, null());
                        check_result("cuTexObjectCreate", code)?;
                    }
                    None => {
                        let code = table.cuSurfObjectCreate(&raw mut handle, &raw const described);
                        check_result("cuSurfObjectCreate", code)?;
                    }
                }
            }
            if let Some(last) = all.made.last_mut() {
                last.handle = handle;
            }
        }
        Ok(all)
    }

    /// Handles, 0 where there is no object.
    pub fn object_handles<const N: usize>(&self) -> [u64; N] {
        std::array::from_fn(|i| self.made.get(i).map_or(0, |m| m.handle))
    }

    /// Writes the texels of object `i`.
    pub fn write_texels(&self, i: usize, bytes: &[u8]) -> Result<(), String> {
        self.copy_texels(i, bytes.as_ptr().cast_mut(), true)
    }

    /// Reads the texels of object `i`.
    pub fn read_texels(&self, i: usize) -> Result<Vec<u8>, String> {
        let mut bytes = vec![0; self.made[i].object.total_bytes()];
        self.copy_texels(i, bytes.as_mut_ptr(), false)?;
        Ok(bytes)
    }

    /// Copies all texels to or from `host`, which has room for them.
    fn copy_texels(&self, i: usize, host: *mut u8, to_device: bool) -> Result<(), String> {
        let (t, CreatedObject { object, texels, .. }) = (self.table, &self.made[i]);
        let arrays = match texels {
            TexelMemory::Array(array) => std::slice::from_ref(array),
            TexelMemory::Levels(_, levels) => levels,
            // SAFETY: both ends have this size.
            TexelMemory::Memory(memory) => unsafe {
                let code = match to_device {
                    true => t.cuMemcpyHtoD(*memory, host.cast(), object.total_bytes()),
                    false => t.cuMemcpyDtoH(host.cast(), *memory, object.total_bytes()),
                };
                return check_result("a copy of texels", code);
            },
        };
        for (level, &array) in (0..).zip(arrays) {
            let host = host.wrapping_add(object.level_offset(level));
            let (row, rows) = (object.row_bytes(level), object.extents_of(level)[1] as usize);
            let mut c = CUDA_MEMCPY3D {
                WidthInBytes: row,
                Height: rows,
                Depth: object.n_slices(level) as usize,
                ..Default::default()
            };
            if to_device {
                (c.srcMemoryType, c.srcHost) = (CUmemorytype::CU_MEMORYTYPE_HOST, host.cast_const().cast());
                (c.srcPitch, c.srcHeight) = (row, rows);
                (c.dstMemoryType, c.dstArray) = (CUmemorytype::CU_MEMORYTYPE_ARRAY, array);
            } else {
                (c.dstMemoryType, c.dstHost) = (CUmemorytype::CU_MEMORYTYPE_HOST, host.cast());
                (c.dstPitch, c.dstHeight) = (row, rows);
                (c.srcMemoryType, c.srcArray) = (CUmemorytype::CU_MEMORYTYPE_ARRAY, array);
            }
            // SAFETY: the level's texels lie in the host's memory in this order.
            check_result("cuMemcpy3D", unsafe { t.cuMemcpy3D(&raw const c) })?;
        }
        Ok(())
    }
}

impl Drop for CreatedObjects {
    fn drop(&mut self) {
        let t = self.table;
        for made in &self.made {
            // SAFETY: they are this value's own, and nobody uses them any more.
            unsafe {
                match (made.handle, made.object.sampler) {
                    (0, _) => {}
                    (handle, Some(_)) => drop(t.cuTexObjectDestroy(handle)),
                    (handle, None) => drop(t.cuSurfObjectDestroy(handle)),
                }
                match &made.texels {
                    TexelMemory::Array(array) => drop(t.cuArrayDestroy(*array)),
                    TexelMemory::Levels(whole, _) => drop(t.cuMipmappedArrayDestroy(*whole)),
                    TexelMemory::Memory(memory) => drop(t.cuMemFree(*memory)),
                }
            }
        }
    }
}
