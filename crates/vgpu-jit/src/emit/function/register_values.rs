//! How PTX registers look as Cranelift values. Shared by control flow, memory and arithmetic.
//!
//! A warp's 32 lanes are handled in chunks of [`CHUNK_LANES`]. Inside a chunk a value is a few
//! 128-bit vectors:
//!
//! | register type | scalar form | chunk form (8 lanes) |
//! |---|---|---|
//! | `.pred` | `I8`, 0 or 1 | 2 x `I32X4`, each lane 0 or all ones |
//! | 8 and 16 bits | `I32`, zero-extended | 2 x `I32X4`, zero-extended |
//! | 32 bits | `I32` | 2 x `I32X4` |
//! | 64 bits | `I64` | 4 x `I64X2` |
//! | 128 bits | `I64` low, `I64` high | 4 x `I64X2` low, then 4 x `I64X2` high |
//!
//! Floats are carried as the integer of the same width and bit-cast where arithmetic needs them:
//! PTX registers are untyped bits, and a bit-cast of a vector costs nothing.

pub(crate) use crate::simt::register_width::{CHUNK_LANES, CHUNKS_PER_WARP, EmitShape, RegWidth};
use cranelift_codegen::ir::{Type, Value, types};
use smallvec::SmallVec;

/// The values of one operand: one (two for 128 bits) when scalar, else those of a chunk.
pub type LaneParts = SmallVec<[Value; 4]>;

impl RegWidth {
    /// Cranelift type of one part in `shape`.
    pub fn part_type(self, shape: EmitShape) -> Type {
        match (self, shape) {
            (RegWidth::Pred, EmitShape::Scalar) => types::I8,
            (RegWidth::W16 | RegWidth::W32, EmitShape::Scalar) => types::I32,
            (RegWidth::W64 | RegWidth::W128, EmitShape::Scalar) => types::I64,
            (RegWidth::Pred | RegWidth::W16 | RegWidth::W32, EmitShape::Chunk) => types::I32X4,
            (RegWidth::W64 | RegWidth::W128, EmitShape::Chunk) => types::I64X2,
        }
    }
}
