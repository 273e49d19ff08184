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
pub(crate) const CHUNKS: usize = crate::abi::WARP_LANES / CHUNK_LANES;

/// Whether an operation is emitted once for a value all lanes share, or for the lanes of a chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// One value for the whole warp.
    Scalar,
    /// Eight lanes.
    Chunk,
}

/// The width class of a register.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Width {
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

impl Width {
    /// The class of a register or operand of type `ty`.
    pub fn of(ty: ast::Type) -> Width {
        match ty.bits() {
            1 => Width::Pred,
            8 | 16 => Width::W16,
            32 => Width::W32,
            64 => Width::W64,
            _ => Width::W128,
        }
    }
    /// Number of parts in `shape`.
    pub fn n_parts(self, shape: Shape) -> usize {
        match (self, shape) {
            (Width::W128, Shape::Scalar) => 2,
            (_, Shape::Scalar) => 1,
            (Width::Pred | Width::W16 | Width::W32, Shape::Chunk) => 2,
            (Width::W64, Shape::Chunk) => 4,
            (Width::W128, Shape::Chunk) => 8,
        }
    }
    /// Bytes a lane takes in a frame slot (predicates are kept as 32-bit masks).
    pub fn lane_bytes(self) -> u32 {
        match self {
            Width::Pred | Width::W16 | Width::W32 => 4,
            Width::W64 => 8,
            Width::W128 => 16,
        }
    }
}
