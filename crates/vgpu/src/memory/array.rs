//! Arrays and mipmapped arrays.

use rtcg_cuda_sys::CUDA_ARRAY3D_DESCRIPTOR;
use rtcg_vgpu_abi::error::Res;
use rtcg_vgpu_abi::handle_table::HandleTable;
use std::sync::Arc;

/// Arrays.
pub(crate) static ARRAYS: HandleTable<DriverArray> = HandleTable::new(0x1a);
/// Mipmapped arrays.
pub(crate) static MIPMAPS: HandleTable<MipmappedArray> = HandleTable::new(0x31);

/// `CUarray`
#[derive(Debug)]
pub(crate) struct DriverArray {
    /// Identifier of its context.
    pub(crate) ctx_id: u64,
    /// First byte.
    pub(crate) start: u64,
    /// Bytes of a row, rows of a slice, slices: at least one of each.
    pub(crate) extents: [u64; 3],
    /// As the program described it.
    pub(crate) description: CUDA_ARRAY3D_DESCRIPTOR,
    /// It is a level of a mipmapped array, whose memory it shares.
    pub(crate) is_level: bool,
}

/// `CUmipmappedArray`
#[derive(Debug)]
pub(crate) struct MipmappedArray {
    /// Identifier of its context.
    pub(crate) ctx_id: u64,
    /// First byte.
    pub(crate) start: u64,
    /// Handles of the levels' arrays, the largest first.
    pub(crate) levels: Vec<u64>,
    /// As the program described it.
    pub(crate) description: CUDA_ARRAY3D_DESCRIPTOR,
}

impl MipmappedArray {
    /// The arrays of the levels.
    pub(crate) fn level_arrays(&self) -> Res<Vec<Arc<DriverArray>>> {
        self.levels.iter().map(|&level| ARRAYS.get_object(level)).collect()
    }
}
