//! Site numbers: one 32-bit word that names a statement of the kernel (counted through all its
//! functions) and the lanes some machine code works for. Machine code carries them as source
//! locations, calls into the runtime as arguments.

/// Lane code of code that works for all lanes at once.
pub(crate) const WHOLE_WARP_LANE_CODE: u32 = 36;

/// Lane code of a chunk.
pub(crate) fn chunk_lane_code(c: usize) -> u32 {
    32 + c as u32
}

/// The site of statement number `statement`; statements beyond 2^26 share the last number.
pub(crate) fn encode_site(statement: u32, lanes: u32) -> u32 {
    statement.min((1 << 26) - 2) << 6 | lanes
}

/// The inverse of [`encode_site`].
pub(crate) fn decode_site(site: u32) -> (u32, u32) {
    (site >> 6, site & 63)
}
