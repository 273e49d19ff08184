//! What `CUDA_MEMCPY2D`, `CUDA_MEMCPY3D` and `CUDA_MEMCPY3D_PEER` have in common, which name their fields alike.

use rtcg::driver::sys::*;
use rtcg::driver::{Stream, memory};

/// An end of a copy.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum CopySide {
    Src,
    Dst,
}

/// What an end of a copy is.
#[derive(Clone, Copy)]
pub(crate) enum StructureEnd {
    Host(*mut u8),
    Unified(*mut u8),
    Device(u64),
    Array(CUarray),
}

/// Where the box of a copy lies in the memory of an end.
pub(crate) struct CopyRegion {
    x: usize,
    y: usize,
    z: usize,
    pitch: usize,
    /// Rows from one slice to the next.
    rows: usize,
    pub(crate) width: usize,
    pub(crate) height: usize,
    pub(crate) depth: usize,
}

impl CopyRegion {
    /// The bytes from the beginning of the memory to the end of the box; `None` where the structure
    /// says too little, which the driver will find.
    pub(crate) fn end_offset_bytes(&self) -> Option<usize> {
        if self.width == 0 || self.height == 0 || self.depth == 0 {
            return Some(0);
        }
        let (last_z, last_y) = (self.z.checked_add(self.depth - 1)?, self.y.checked_add(self.height - 1)?);
        if (last_y > 0 && self.pitch < self.width) || (last_z > 0 && self.rows == 0) {
            return None;
        }
        let row = last_z.checked_mul(self.rows)?.checked_add(last_y)?;
        row.checked_mul(self.pitch)?.checked_add(self.x)?.checked_add(self.width)
    }
}

/// A structure of CUDA that describes a copy.
pub(crate) trait CopyStructure: Copy + Default {
    fn set_endpoint_fields(&mut self, side: CopySide, place: StructureEnd);
    fn copy_region(&self, side: CopySide) -> (CUmemorytype, CopyRegion);

    /// Where an end lies that is device memory.
    fn device_address(&self, side: CopySide) -> Option<u64>;

    /// The mip level that an end names.
    fn mip_level(&self, side: CopySide) -> usize;

    /// # Safety
    /// All that the structure says must be true.
    unsafe fn run_copy(&self, stream: Option<&Stream>) -> rtcg::driver::Result<()>;
}

macro_rules! impl_copy_structure {
    ($raw:ident, $copy:path, $copy_async:path, $this:ident, src = $src:expr, dst = $dst:expr, depth = $depth:expr, lods = $lods:expr) => {
        impl CopyStructure for $raw {
            fn set_endpoint_fields(&mut self, side: CopySide, place: StructureEnd) {
                let (kind, address) = match place {
                    StructureEnd::Host(_) => (CU_MEMORYTYPE_HOST, 0),
                    StructureEnd::Unified(host) => (CU_MEMORYTYPE_UNIFIED, host.expose_provenance() as u64),
                    StructureEnd::Device(address) => (CU_MEMORYTYPE_DEVICE, address),
                    StructureEnd::Array(_) => (CU_MEMORYTYPE_ARRAY, 0),
                };
                match (side, place) {
                    (CopySide::Src, StructureEnd::Host(host)) => self.srcHost = host.cast(),
                    (CopySide::Dst, StructureEnd::Host(host)) => self.dstHost = host.cast(),
                    (CopySide::Src, StructureEnd::Array(array)) => self.srcArray = array,
                    (CopySide::Dst, StructureEnd::Array(array)) => self.dstArray = array,
                    (CopySide::Src, _) => self.srcDevice = address,
                    (CopySide::Dst, _) => self.dstDevice = address,
                }
                match side {
                    CopySide::Src => self.srcMemoryType = kind,
                    CopySide::Dst => self.dstMemoryType = kind,
                }
            }

            fn copy_region(&self, side: CopySide) -> (CUmemorytype, CopyRegion) {
                let $this = self;
                let (kind, [x, y, z, pitch, rows]) = match side {
                    CopySide::Src => (self.srcMemoryType, $src),
                    CopySide::Dst => (self.dstMemoryType, $dst),
                };
                let (width, height, depth) = (self.WidthInBytes, self.Height, $depth);
                (kind, CopyRegion { x, y, z, pitch, rows, width, height, depth })
            }

            fn device_address(&self, side: CopySide) -> Option<u64> {
                let (kind, address) = match side {
                    CopySide::Src => (self.srcMemoryType, self.srcDevice),
                    CopySide::Dst => (self.dstMemoryType, self.dstDevice),
                };
                matches!(kind, CU_MEMORYTYPE_DEVICE | CU_MEMORYTYPE_UNIFIED).then_some(address)
            }

            fn mip_level(&self, side: CopySide) -> usize {
                let lods: fn(&Self) -> [usize; 2] = $lods;
                lods(self)[side as usize]
            }

            unsafe fn run_copy(&self, stream: Option<&Stream>) -> rtcg::driver::Result<()> {
                // SAFETY: the caller's promise.
                unsafe { if stream.is_some() { $copy_async(self, stream) } else { $copy(self) } }
            }
        }
    };
}

/// The copy of a rectangle whose pitches may be any.
///
/// # Safety
/// As [`memory::memcpy_2d`].
unsafe fn memcpy_2d_unaligned(copy: &CUDA_MEMCPY2D) -> rtcg::driver::Result<()> {
    // SAFETY: the caller's promise.
    unsafe { memory::memcpy_2d(copy, false) }
}

impl_copy_structure!(
    CUDA_MEMCPY2D,
    memcpy_2d_unaligned,
    memory::memcpy_2d_async,
    copy,
    src = [copy.srcXInBytes, copy.srcY, 0, copy.srcPitch, 0],
    dst = [copy.dstXInBytes, copy.dstY, 0, copy.dstPitch, 0],
    depth = 1,
    lods = |_| [0, 0]
);

macro_rules! impl_copy_structure_3d {
    ($raw:ident, $copy:path, $copy_async:path) => {
        impl_copy_structure!(
            $raw,
            $copy,
            $copy_async,
            copy,
            src = [copy.srcXInBytes, copy.srcY, copy.srcZ, copy.srcPitch, copy.srcHeight],
            dst = [copy.dstXInBytes, copy.dstY, copy.dstZ, copy.dstPitch, copy.dstHeight],
            depth = copy.Depth,
            lods = |copy| [copy.srcLOD, copy.dstLOD]
        );
    };
}

impl_copy_structure_3d!(CUDA_MEMCPY3D, memory::memcpy_3d, memory::memcpy_3d_async);
impl_copy_structure_3d!(CUDA_MEMCPY3D_PEER, memory::memcpy_3d_peer, memory::memcpy_3d_peer_async);
