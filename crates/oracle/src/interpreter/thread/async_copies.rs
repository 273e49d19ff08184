//! Copies that a program starts and waits for later. They are done at once, byte by byte, as if by the
//! thread itself; a program that does not wait for them has no defined result anywhere else.

use super::{SimBlock, SimThread};
use rtcg_ptx::ast::*;

impl SimThread<'_> {
    /// `cp.async`: the first `kept` of `size` bytes, zeros for the rest.
    pub(super) fn execute_async_copy(
        &mut self,
        block: &mut SimBlock<'_>,
        dst: &Addr,
        src: &Addr,
        size: u32,
        kept: u128,
    ) -> Result<(), String> {
        let (to, from) =
            (self.generic_address(block, Space::Shared, dst)?, self.generic_address(block, Space::Global, src)?);
        for i in 0..u64::from(size) {
            let byte = if u128::from(i) < kept { self.access_memory(block, from + i, 1, false, None)? } else { 0 };
            self.access_memory(block, to + i, 1, false, Some(byte))?;
        }
        Ok(())
    }

    /// `cp.async.bulk` and `cp.reduce.async.bulk`.
    pub(super) fn execute_bulk_copy(&mut self, block: &mut SimBlock<'_>, inst: &Inst) -> Result<(), String> {
        let Inst::BulkCopy { to, from, dst, src, size, barrier, reduce } = inst else { return Ok(()) };
        let size = self.read_operand(block, size, 32)? as u64;
        let (to, from) = (self.generic_address(block, *to, dst)?, self.generic_address(block, *from, src)?);
        if [to, from, size].iter().any(|n| n % 16 != 0) {
            return Err(format!("a bulk copy of {size} bytes from {from:#x} to {to:#x} is not aligned"));
        }
        // A combination is an atomic of each element; a copy goes by bytes.
        let n = reduce.map_or(1, |(_, ty)| u64::from(ty.bytes()));
        for at in (0..size).step_by(n as usize) {
            let new = self.access_memory(block, from + at, n as usize, false, None)?;
            let combined = match reduce {
                None => new,
                Some((op, ty)) => {
                    let old = self.access_memory(block, to + at, n as usize, true, None)?;
                    crate::interpreter::warp::apply_atomic_op(*op, *ty, false, old, new, 0)?
                }
            };
            self.access_memory(block, to + at, n as usize, reduce.is_some(), Some(combined))?;
        }
        let Some(barrier) = barrier else { return Ok(()) };
        let object = self.generic_address(block, Space::Shared, barrier)?;
        block.perform_on_mbarrier(object, MbarrierOp::CompleteTx, Some(size.into())).map(|_| ())
    }
}
