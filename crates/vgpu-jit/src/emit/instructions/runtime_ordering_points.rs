//! Ordering points that the runtime executes for all lanes at once: `mbarrier` objects, bulk copies,
//! atomics of several elements and of 128 bits.
//!
//! Operands travel in the scratch slot as arrays of 32 values of 64 bits, in the order of
//! [`rtcg_vgpu_abi::runtime::Atomic128LaneOperands`], which begins like [`AtomicLaneOperands`](rtcg_vgpu_abi::runtime::AtomicLaneOperands).

use super::addresses::{LaneLocation, MemAccess};
use super::shadow_checks::AccessMode;
use crate::JitError;
use crate::emit::code::relocations::{self, RelocTarget, runtime_call_target};
use crate::emit::function::emitter::FunctionEmitter;
use crate::emit::function::register_values::{CHUNKS_PER_WARP, EmitShape, LaneParts, RegWidth};
use crate::emit::ops;
use crate::simt::body::Stmt;
use cranelift_codegen::ir::InstBuilder;
use cranelift_codegen::ir::types;
use rtcg_ptx::ast::*;
use rtcg_vgpu_abi::runtime::{AtomicCode, BulkCopyCode, MbarrierCode};

/// The arrays of the scratch slot.
const ADDRESS_ARRAY: i32 = 0;
const OPERAND_B_ARRAY: i32 = 1;
const OPERAND_C_ARRAY: i32 = 2;
const RESULT_ARRAY: i32 = 3;

impl<'a> FunctionEmitter<'a, '_> {
    /// An ordering point of this file.
    pub(crate) fn emit_runtime_ordering_point(&mut self, st: &Stmt<'a>) -> Result<(), JitError> {
        match &*st.inst {
            Inst::Mbarrier { .. } => self.emit_mbarrier(st),
            Inst::BulkCopy { .. } => self.emit_bulk_copy(st),
            Inst::AtomVector { .. } => self.emit_atomic_vector(st),
            _ => self.emit_atomic_128(st),
        }
    }

    /// Stores the lanes' addresses; `check` is how each accesses a `ty` there.
    fn store_lane_addresses(
        &mut self,
        st: &Stmt<'_>,
        space: Space,
        ty: Type,
        addr: &Addr,
        array: i32,
        check: Option<AccessMode>,
    ) {
        let access = MemAccess::new(space, ty, addr, 1);
        for k in 0..CHUNKS_PER_WARP {
            let at = self.absolute_lane_addresses(&access, k);
            if let Some(mode) = check {
                let active = self.active_mask(st, k);
                self.emit_shadow_check(&access, &LaneLocation::PerLane(at.clone()), k, active.as_ref(), mode);
            }
            self.store_lanes_as_u64(&at, RegWidth::W64, array, k);
        }
    }

    fn store_operand(&mut self, o: Operand, w: RegWidth, array: i32) {
        for k in 0..CHUNKS_PER_WARP {
            let v = self.operand_lanes(o, w, k);
            self.store_lanes_as_u64(&v, w, array, k);
        }
    }

    /// Calls a function of the runtime with context, code, active lanes, site and the arrays.
    fn call_runtime_with_lanes(&mut self, st: &Stmt<'_>, f: RelocTarget, code: u32) {
        let active = self.active_lane_bits(st);
        let site = self.site_for_lanes(crate::simt::instruction_sites::WHOLE_WARP_LANE_CODE);
        let (code, site) = (self.iconst32(i64::from(code)), self.iconst32(i64::from(site)));
        let slot = self.lane_array_slot();
        let at = self.b.ins().stack_addr(types::I64, slot, 0);
        relocations::call_target(&mut self.b, f, &[self.abi.ctx, code, active, site, at], None);
    }

    /// Writes an array to a register.
    fn load_result_array(&mut self, st: &Stmt<'_>, dst: Reg, array: i32, w: RegWidth) {
        for k in 0..CHUNKS_PER_WARP {
            let v = self.load_lanes_from_u64(array, k, w);
            let dw = self.width_of_register(dst);
            let v = if w == RegWidth::Pred {
                v
            } else {
                ops::narrow_source(&mut self.op_ctx(), EmitShape::Chunk, &v, w, dw)
            };
            let guard = self.blend_mask(st, k);
            self.write_lanes(dst, k, v, guard.as_ref());
        }
    }

    fn emit_mbarrier(&mut self, st: &Stmt<'a>) -> Result<(), JitError> {
        let Inst::Mbarrier { op, space, dst, addr, a, b } = &*st.inst else { return Ok(()) };
        let mode = if *op == MbarrierOp::Init { AccessMode::Store } else { AccessMode::Atomic };
        self.store_lane_addresses(st, *space, Type::B64, addr, ADDRESS_ARRAY, Some(mode));
        let of_state = matches!(op, MbarrierOp::Wait { parity: false, .. });
        let a = a.unwrap_or(Operand::Int(1));
        self.store_operand(a, if of_state { RegWidth::W64 } else { RegWidth::W32 }, OPERAND_B_ARRAY);
        if let Some(limit) = b {
            self.store_operand(*limit, RegWidth::W32, OPERAND_C_ARRAY);
        }
        self.call_runtime_with_lanes(
            st,
            runtime_call_target!(mbarrier),
            MbarrierCode { op: *op, limited: b.is_some() }.encode_mbarrier_code(),
        );
        if let Some(d) = dst {
            let w = if matches!(op, MbarrierOp::Wait { .. }) { RegWidth::Pred } else { RegWidth::W64 };
            self.load_result_array(st, *d, RESULT_ARRAY, w);
        }
        Ok(())
    }

    fn emit_bulk_copy(&mut self, st: &Stmt<'a>) -> Result<(), JitError> {
        let Inst::BulkCopy { to, from, dst, src, size, barrier, reduce } = &*st.inst else { return Ok(()) };
        // The runtime checks ranges whose length it knows.
        self.store_lane_addresses(st, *to, Type::B8, dst, ADDRESS_ARRAY, None);
        self.store_lane_addresses(st, *from, Type::B8, src, OPERAND_B_ARRAY, None);
        self.store_operand(*size, RegWidth::W32, OPERAND_C_ARRAY);
        if let Some(barrier) = barrier {
            self.store_lane_addresses(st, Space::Shared, Type::B64, barrier, RESULT_ARRAY, Some(AccessMode::Atomic));
        }
        let code = BulkCopyCode { to_shared: *to == Space::Shared, signals: barrier.is_some(), reduce: *reduce };
        let Some(code) = code.encode_bulk_copy_code() else {
            return Err(self.unsupported_error("this `cp.reduce.async.bulk`"));
        };
        self.call_runtime_with_lanes(st, runtime_call_target!(bulk_copy), code);
        Ok(())
    }

    fn emit_atomic_vector(&mut self, st: &Stmt<'a>) -> Result<(), JitError> {
        let Inst::AtomVector { space, op, ty, dsts, addr, srcs, .. } = &*st.inst else { return Ok(()) };
        let w = RegWidth::from_type(*ty);
        let mut results = vec![];
        for (e, src) in srcs.iter().enumerate() {
            let at = Addr { base: addr.base, offset: addr.offset + (e as i64) * i64::from(ty.bytes()) };
            self.store_lane_addresses(st, *space, *ty, &at, ADDRESS_ARRAY, Some(AccessMode::Atomic));
            self.store_operand(*src, w, OPERAND_B_ARRAY);
            let elements = if e == 0 { srcs.len() as u32 } else { 1 };
            let code = AtomicCode { op: *op, ty: *ty, shared: false, returns: dsts.is_some(), elements };
            let Some(code) = code.encode_atomic_code() else {
                return Err(self.unsupported_error(&format!("an atomic on {ty:?}")));
            };
            self.call_runtime_with_lanes(st, runtime_call_target!(atomic), code);
            if let Some(d) = dsts.as_ref().and_then(|d| d[e]) {
                results.push((d, self.load_result_lanes(RESULT_ARRAY, w)));
            }
        }
        // The destinations are written last, for they may be operands of later elements.
        for (d, chunks) in results {
            for (k, v) in chunks.into_iter().enumerate() {
                let dw = self.width_of_register(d);
                let v = ops::narrow_source(&mut self.op_ctx(), EmitShape::Chunk, &v, w, dw);
                let guard = self.blend_mask(st, k);
                self.write_lanes(d, k, v, guard.as_ref());
            }
        }
        Ok(())
    }

    fn load_result_lanes(&mut self, array: i32, w: RegWidth) -> Vec<LaneParts> {
        (0..CHUNKS_PER_WARP).map(|k| self.load_lanes_from_u64(array, k, w)).collect()
    }

    /// `atom.{cas,exch}.b128`; low and high halves are arrays of their own.
    fn emit_atomic_128(&mut self, st: &Stmt<'a>) -> Result<(), JitError> {
        let Inst::Atom { space, op, dst, addr, b, c, .. } = &*st.inst else { return Ok(()) };
        self.store_lane_addresses(st, *space, Type::B128, addr, ADDRESS_ARRAY, Some(AccessMode::Atomic));
        for (o, array) in [(Some(*b), 1), (*c, 3)] {
            let Some(o) = o else { continue };
            for k in 0..CHUNKS_PER_WARP {
                let v = self.operand_lanes(o, RegWidth::W128, k);
                let (low, high) = (LaneParts::from_slice(&v[..4]), LaneParts::from_slice(&v[4..]));
                self.store_lanes_as_u64(&low, RegWidth::W64, array, k);
                self.store_lanes_as_u64(&high, RegWidth::W64, array + 1, k);
            }
        }
        let exchanges = *op == AtomOp::Exch;
        self.call_runtime_with_lanes(st, runtime_call_target!(atomic_128), u32::from(exchanges));
        if let Some(d) = dst {
            for k in 0..CHUNKS_PER_WARP {
                let mut v = self.load_lanes_from_u64(5, k, RegWidth::W64);
                v.extend(self.load_lanes_from_u64(6, k, RegWidth::W64));
                let guard = self.blend_mask(st, k);
                self.write_lanes(*d, k, v, guard.as_ref());
            }
        }
        Ok(())
    }
}
