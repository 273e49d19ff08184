//! Copies that a program starts and waits for later. They are done at once, byte by byte, as if by the
//! thread itself; a program that does not wait for them has no defined result anywhere else.

use super::{Block, Thread};
use rtcg_ptx::ast::*;

impl Thread<'_> {
    /// `cp.async`: the first `kept` of `size` bytes, zeros for the rest.
    pub(super) fn copy(
        &mut self,
        block: &mut Block<'_>,
        dst: &Addr,
        src: &Addr,
        size: u32,
        kept: u128,
    ) -> Result<(), String> {
        let (to, from) = (self.locate(block, Space::Shared, dst)?, self.locate(block, Space::Global, src)?);
        for i in 0..u64::from(size) {
            let byte = if u128::from(i) < kept { self.access(block, from + i, 1, false, None)? } else { 0 };
            self.access(block, to + i, 1, false, Some(byte))?;
        }
        Ok(())
    }

    /// `cp.async.bulk` and `cp.reduce.async.bulk`.
    pub(super) fn bulk_copy(&mut self, block: &mut Block<'_>, inst: &Inst) -> Result<(), String> {
        let Inst::BulkCopy { to, from, dst, src, size, barrier, reduce } = inst else { return Ok(()) };
        let size = self.get(block, size, 32)? as u64;
        let (to, from) = (self.locate(block, *to, dst)?, self.locate(block, *from, src)?);
        if [to, from, size].iter().any(|n| n % 16 != 0) {
            return Err(format!("a bulk copy of {size} bytes from {from:#x} to {to:#x} is not aligned"));
        }
        // A combination is an atomic of each element; a copy goes by bytes.
        let n = reduce.map_or(1, |(_, ty)| u64::from(ty.bytes()));
        for at in (0..size).step_by(n as usize) {
            let new = self.access(block, from + at, n as usize, false, None)?;
            let combined = match reduce {
                None => new,
                Some((op, ty)) => {
                    let old = self.access(block, to + at, n as usize, true, None)?;
                    crate::warp::combine(*op, *ty, false, old, new, 0)?
                }
            };
            self.access(block, to + at, n as usize, reduce.is_some(), Some(combined))?;
        }
        let Some(barrier) = barrier else { return Ok(()) };
        let object = self.locate(block, Space::Shared, barrier)?;
        block.signal(object, MbarrierOp::CompleteTx, Some(size.into())).map(|_| ())
    }
}
