//! How wide registers are, and how many lanes are computed together.
//!
//! A warp's 32 lanes are handled in chunks of [`CHUNK_LANES`]. A register whose lanes share a value
//! is one scalar, any other a few 128-bit parts per chunk; a back end with wider vectors may join
//! adjacent parts.

use rtcg_ptx::ast;

/// Lanes that are computed together; code for one chunk is emitted before the next chunk's, so
/// that temporaries stay in registers.
pub(crate) const CHUNK_LANES: usize = 8;
/// Chunks in a warp.
pub(crate) const CHUNKS_PER_WARP: usize = rtcg_vgpu_abi::WARP_LANES / CHUNK_LANES;

/// Whether an operation is emitted once for a value all lanes share, or for the lanes of a chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EmitShape {
    /// One value for the whole warp.
    Scalar,
    /// Eight lanes.
    Chunk,
}

/// The width class of a register.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RegWidth {
    /// `.pred`
    Pred,
    /// 8 and 16 bits, kept zero-extended in 32.
    W16,
    /// 32 bits.
    W32,
    /// 64 bits.
    W64,
    /// 128 bits.
    W128,
}

impl RegWidth {
    /// The class of a register or operand of type `ty`.
    pub fn from_type(ty: ast::Type) -> RegWidth {
        match ty.bits() {
            1 => RegWidth::Pred,
            8 | 16 => RegWidth::W16,
            32 => RegWidth::W32,
            64 => RegWidth::W64,
            _ => RegWidth::W128,
        }
    }
    /// Number of parts in `shape`.
    pub fn part_count(self, shape: EmitShape) -> usize {
        match (self, shape) {
            (RegWidth::W128, EmitShape::Scalar) => 2,
            (_, EmitShape::Scalar) => 1,
            (RegWidth::Pred | RegWidth::W16 | RegWidth::W32, EmitShape::Chunk) => 2,
            (RegWidth::W64, EmitShape::Chunk) => 4,
            (RegWidth::W128, EmitShape::Chunk) => 8,
        }
    }
    /// Bytes a lane takes in a frame slot (predicates are kept as 32-bit masks).
    pub fn lane_bytes(self) -> u32 {
        match self {
            RegWidth::Pred | RegWidth::W16 | RegWidth::W32 => 4,
            RegWidth::W64 => 8,
            RegWidth::W128 => 16,
        }
    }
}
