//! Atomics of one thread: of a number, and of several numbers side by side.

use super::{SHARED_WINDOW, SimBlock, SimThread, WINDOW_BYTES};
use crate::exact_rounding::F64;
use crate::interpreter::warp::apply_atomic_op;
use rtcg_ptx::ast::*;

impl SimThread<'_> {
    pub(super) fn execute_atomic(&mut self, block: &mut SimBlock<'_>, inst: &Inst) -> Result<(), String> {
        let Inst::Atom { space, op, ty, dst, addr, b, c, .. } = inst else { return Ok(()) };
        let b = self.read_operand(block, b, ty.bits())?;
        let c = c.as_ref().map_or(Ok(0), |c| self.read_operand(block, c, ty.bits()))?;
        let (n, address) = (ty.bytes() as usize, self.generic_address(block, *space, addr)?);
        let old = self.access_memory(block, address, n, true, None)?;
        // Sums in global memory flush subnormal numbers of single precision, in shared ones not.
        let flush = address.wrapping_sub(SHARED_WINDOW) >= WINDOW_BYTES;
        if *op == AtomOp::Add && *ty == Type::F64 && [old, b].iter().any(|&x| F64.is_nan(x as u64)) {
            block.grid.unspecified.set(true);
        }
        let new = apply_atomic_op(*op, *ty, flush, old, b, c)?;
        self.access_memory(block, address, n, true, Some(new))?;
        dst.map_or(Ok(()), |dst| self.write_register(dst, old))
    }

    pub(super) fn execute_vector_atomic(&mut self, block: &mut SimBlock<'_>, inst: &Inst) -> Result<(), String> {
        let Inst::AtomVector { space, op, ty, dsts, addr, srcs, .. } = inst else { return Ok(()) };
        let (n, address) = (ty.bytes() as usize, self.generic_address(block, *space, addr)?);
        if address % (n * srcs.len()) as u64 != 0 {
            return Err(format!("an atomic of {} elements at {address:#x} is not aligned", srcs.len()));
        }
        // A source may be a destination too.
        let values: Result<Vec<u128>, String> = srcs.iter().map(|s| self.read_operand(block, s, ty.bits())).collect();
        for (i, b) in values?.into_iter().enumerate() {
            let at = address + (i * n) as u64;
            let old = self.access_memory(block, at, n, true, None)?;
            let new = apply_atomic_op(*op, *ty, true, old, b, 0)?;
            self.access_memory(block, at, n, true, Some(new))?;
            let dst = dsts.as_ref().and_then(|list| list[i]);
            dst.map_or(Ok(()), |dst| self.write_register(dst, old))?;
        }
        Ok(())
    }
}
