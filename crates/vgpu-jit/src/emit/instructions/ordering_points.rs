//! Ordering points: statements that all lanes reach before any goes beyond. Warp operations,
//! atomics, fences, barriers.
//!
//! In masked code a warp operation is the first statement of its block: lanes that arrive before other members
//! of their mask are parked there.

use super::traps;
use crate::JitError;
use crate::emit::code::relocations::{self, RelocTarget, runtime_call_target};
use crate::emit::function::emitter::FunctionEmitter;
use crate::emit::function::register_values::{CHUNK_LANES, CHUNKS_PER_WARP, EmitShape, LaneParts, RegWidth};
use crate::emit::isa;
use crate::emit::ops;
use crate::simt::body::{BlockBoundaryKind, Stmt, block_boundary_kind};
use crate::simt::lane_classes::LaneClass;
use cranelift_codegen::ir::{InstBuilder, types};
use rtcg_ptx::ast::*;
use rtcg_vgpu_abi::WarpCtx;
use rtcg_vgpu_softmath::interpolator::lanes::LaneFunction;
use std::mem::offset_of;

/// Whether a load or a store has a barrier before it and behind it. The threads of a block run on one thread of the host,
/// which sees its own accesses in order. Atomic operations are barriers by themselves.
fn barriers_around(inst: &Inst, keeps_order: bool) -> (bool, bool) {
    use MemorySemantics::{AcqRel, Acquire, Release, SeqCst};
    match inst {
        Inst::St { sem: Release | AcqRel | SeqCst, .. } => (!keeps_order, false),
        Inst::Ld { sem: Acquire | AcqRel | SeqCst, .. } => (false, !keeps_order),
        _ => (false, false),
    }
}

/// Whether a fence is an instruction of the processor.
fn needs_barrier(kind: FenceKind, keeps_order: bool) -> bool {
    match kind {
        FenceKind::Memory { scope: MemoryScope::Cta, .. } => false,
        FenceKind::Memory { sem: MemorySemantics::SeqCst | MemorySemantics::AcqRel, .. } => true,
        FenceKind::Memory { .. } => !keeps_order,
        _ => false,
    }
}

impl<'a> FunctionEmitter<'a, '_> {
    /// Emits an ordering point.
    pub(crate) fn emit_ordering_point(&mut self, st: &Stmt<'a>, last: bool) -> Result<(), JitError> {
        if let Some(function) = ops::interpolator::warp_function(&st.inst) {
            self.emit_warp_function(st, function);
            return Ok(());
        }
        self.segment.statement = st.index;
        self.set_instruction_site(crate::simt::instruction_sites::WHOLE_WARP_LANE_CODE);
        self.clear_splat_cache();
        self.b.ins().sequence_point();
        let (releases, acquires) = barriers_around(&st.inst, isa::KEEPS_ACCESSES_IN_ORDER);
        if releases {
            self.b.ins().fence();
        }
        match &*st.inst {
            Inst::Mov { .. } if self.is_masked() => self.emit_clock_of_warp(st)?,
            Inst::Ld { .. } | Inst::St { .. } if self.is_masked() => {
                self.emit_masked_segment(std::slice::from_ref(st), last)?;
                if self.env.variant.first_tier {
                    self.share_load_of_one_address(st);
                }
            }
            Inst::Ld { .. } | Inst::St { .. } | Inst::Mov { .. } => {
                self.emit_segment(std::slice::from_ref(st), &[1])?
            }
            Inst::Mbarrier { .. }
            | Inst::BulkCopy { .. }
            | Inst::AtomVector { .. }
            | Inst::Atom { ty: Type::B128, .. } => self.emit_runtime_ordering_point(st)?,
            Inst::Atom { .. } => self.emit_atomic(st)?,
            Inst::Fence(kind) => self.emit_fence(*kind),
            Inst::Nanosleep { a } => self.emit_nanosleep(*a),
            Inst::Bar { .. } => self.emit_barrier(st)?,
            Inst::Call { .. } => self.emit_call(st)?,
            Inst::CpAsync { .. } => self.emit_cp_async(st)?,
            Inst::Texture(inst) => self.emit_texture(st, inst)?,
            Inst::Activemask { dst } => {
                let bits = self.active_lane_bits(st);
                let v = ops::splat_scalar(&mut self.op_ctx(), RegWidth::W32, &[bits]);
                for c in 0..CHUNKS_PER_WARP {
                    let guard = self.blend_mask(st, c);
                    self.write_lanes(*dst, c, v.clone(), guard.as_ref());
                }
            }
            Inst::Trap => {
                let span = self.plan.f.body[st.index as usize].span;
                self.emit_trap(traps::trap_kind_of(&self.env.module.source, span));
            }
            Inst::Brkpt => self.emit_conditional_trap(st),
            Inst::Alloca { .. } | Inst::StackSave { .. } | Inst::StackRestore { .. } => self.emit_stack_op(st)?,
            inst if block_boundary_kind(inst) == BlockBoundaryKind::WarpOp => {
                self.emit_gathered_warp_op(st)?;
            }
            other => return Err(self.unsupported_error(&super::special_registers::instruction_display_name(other))),
        }
        if acquires {
            self.b.ins().fence();
        }
        if block_boundary_kind(&st.inst) != BlockBoundaryKind::WarpOp {
            self.report_sync(&st.inst);
        }
        self.b.ins().sequence_point();
        self.clear_splat_cache();
        let in_loops = self.is_masked() && self.env.variant.first_tier;
        if last || in_loops {
            (0..CHUNKS_PER_WARP).for_each(|c| self.write_back_registers(c));
        }
        if in_loops {
            self.forget_masked_registers();
        }
        Ok(())
    }

    /// An approximate function of all lanes, which are passed and returned in memory.
    fn emit_warp_function(&mut self, st: &Stmt<'_>, function: LaneFunction) {
        let Inst::Unary { mods, dst, a, .. } = &*st.inst else { return };
        self.clear_splat_cache();
        let slot = self.lane_array_slot();
        for chunk in 0..CHUNKS_PER_WARP {
            let parts = self.operand_lanes(*a, RegWidth::W32, chunk);
            self.store_array(slot, chunk * CHUNK_LANES * size_of::<u32>(), &parts);
        }
        let frame = self.b.ins().stack_addr(types::I64, slot, 0);
        relocations::call_target(&mut self.b, RelocTarget::WarpFunction(function as u32), &[frame], None);
        for chunk in 0..CHUNKS_PER_WARP {
            let results = self.load_array(slot, chunk * CHUNK_LANES * size_of::<u32>(), RegWidth::W32);
            let results = ops::interpolator::apply_modifiers(&mut self.op_ctx(), mods, &results);
            let guard = self.blend_mask(st, chunk);
            self.write_lanes(*dst, chunk, results, guard.as_ref());
        }
        self.clear_splat_cache();
    }

    /// A clock, which a warp reads once for all its lanes.
    fn emit_clock_of_warp(&mut self, st: &Stmt<'_>) -> Result<(), JitError> {
        for (register, parts) in self.emit_scalar_statement(st)? {
            let width = self.width_of_register(register);
            let lanes = ops::splat_scalar(&mut self.op_ctx(), width, &parts);
            for c in 0..CHUNKS_PER_WARP {
                let guard = self.blend_mask(st, c);
                self.write_lanes(register, c, lanes.clone(), guard.as_ref());
            }
        }
        Ok(())
    }

    /// A warp that loads from one address, as it does when it polls, sees one value: else lanes that saw another one
    /// could wait for what will not come again. Loads with a guard are left as they are.
    fn share_load_of_one_address(&mut self, st: &Stmt<'_>) {
        let Inst::Ld { dsts, addr, .. } = &*st.inst else { return };
        let slots = &self.plan.slots;
        let (address_slot, address_bytes) = match addr.base {
            AddrBase::Reg(r) if !dsts.contains(&Some(r)) => {
                let Some(slot) = slots[r.index()] else { return };
                (slot, self.width_of_register(r).lane_bytes())
            }
            AddrBase::Symbol(s) if self.plan.classes.operand_class(Operand::Address(s, 0)) == LaneClass::Uniform => {
                (-1, 0)
            }
            AddrBase::Absolute => (-1, 0),
            _ => return,
        };
        if st.guard.is_some() {
            return;
        }
        let values = dsts.iter().flatten().filter_map(|r| Some((slots[r.index()]?, self.width_of_register(*r))));
        for (slot, w) in values.collect::<Vec<_>>() {
            let numbers =
                [i64::from(address_slot), i64::from(address_bytes), i64::from(slot), i64::from(w.lane_bytes())];
            let [address_slot, address_bytes, slot, bytes] = numbers.map(|n| self.iconst32(n));
            let f = crate::emit::function::slow_paths::share_load_of_one_address as *const () as usize;
            let args = [self.abi.frame, address_slot, address_bytes, slot, bytes];
            relocations::call_target(&mut self.b, RelocTarget::rust_function_target(f), &args, None);
        }
    }

    fn emit_fence(&mut self, kind: FenceKind) {
        if needs_barrier(kind, isa::KEEPS_ACCESSES_IN_ORDER) {
            self.b.ins().fence();
        }
    }

    fn emit_nanosleep(&mut self, a: Operand) {
        let lanes = self.operand_lanes(a, RegWidth::W32, 0);
        let ns = self.b.ins().extractlane(lanes[0], 0);
        let f = runtime_call_target!(nanosleep);
        relocations::call_target(&mut self.b, f, &[self.abi.ctx, ns], None);
    }

    fn emit_conditional_trap(&mut self, st: &Stmt<'_>) {
        let bits = self.active_lane_bits(st);
        self.emit_in_cold_block(bits, |g| g.emit_trap(rtcg_vgpu_abi::TrapKind::Breakpoint));
    }

    /// `alloca`, `stacksave`, `stackrestore`: one stack for the warp, so that addresses of lanes
    /// have the stride of the largest request.
    fn emit_stack_op(&mut self, st: &Stmt<'_>) -> Result<(), JitError> {
        match &*st.inst {
            Inst::Alloca { dst, size, align, .. } => {
                let code = self.iconst64(i64::from((*align).max(16)));
                for c in 0..CHUNKS_PER_WARP {
                    let v = self.operand_lanes(*size, RegWidth::W64, c);
                    self.store_lanes_as_u64(&v, RegWidth::W64, 0, c);
                }
                let active = self.active_lane_bits(st);
                let slot = self.lane_array_slot();
                let at = self.b.ins().stack_addr(types::I64, slot, 0);
                let over = relocations::call_target(
                    &mut self.b,
                    RelocTarget::rust_function_target(
                        crate::emit::function::slow_paths::alloca_lanes as *const () as usize,
                    ),
                    &[self.abi.ctx, active, code, at],
                    Some(types::I32),
                );
                if let Some(o) = over {
                    self.emit_in_cold_block(o, |g| g.emit_trap(rtcg_vgpu_abi::TrapKind::StackOverflow));
                }
                for c in 0..CHUNKS_PER_WARP {
                    let w = self.width_of_register(*dst);
                    let v = self.load_lanes_from_u64(3, c, w);
                    self.write_lanes(*dst, c, v, None);
                }
                Ok(())
            }
            Inst::StackSave { dst, .. } => {
                let v = self.load_ctx_field(types::I64, offset_of!(WarpCtx, local_sp));
                for c in 0..CHUNKS_PER_WARP {
                    let w = self.width_of_register(*dst);
                    let lanes =
                        self.expand_scalar_to_lanes(&LaneParts::from_slice(&[v]), RegWidth::W64, LaneClass::Uniform, c);
                    let lanes = ops::narrow_source(&mut self.op_ctx(), EmitShape::Chunk, &lanes, RegWidth::W64, w);
                    self.write_lanes(*dst, c, lanes, None);
                }
                Ok(())
            }
            // Lanes share the stack, so none may cut it while others still use it: it is cut
            // when the function returns.
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use MemorySemantics::{AcqRel, Acquire, Release, SeqCst};

    fn first(text: &str) -> Inst {
        let source = format!(
            ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p) {{\n\
             .reg .b64 %a;\n.reg .b32 %v;\n{text}\nret;\n}}"
        );
        let module = rtcg_ptx::parse(source).module;
        module.functions[0].body[0].inst.clone()
    }

    #[test]
    fn processors_that_change_the_order_have_barriers() {
        let around = |text: &str| barriers_around(&first(text), false);
        assert_eq!(around("st.release.gpu.global.b32 [%a], %v;"), (true, false));
        assert_eq!(around("ld.acquire.sys.global.b32 %v, [%a];"), (false, true));
        for text in ["st.global.b32 [%a], %v;", "st.relaxed.gpu.b32 [%a], %v;", "ld.volatile.b32 %v, [%a];"] {
            assert_eq!(around(text), (false, false), "{text}");
        }
        assert_eq!(barriers_around(&first("st.release.gpu.global.b32 [%a], %v;"), true), (false, false));

        let fence = |sem, scope| FenceKind::Memory { sem, scope };
        for (sem, on_x86) in [(SeqCst, true), (AcqRel, true), (Acquire, false), (Release, false)] {
            assert!(needs_barrier(fence(sem, MemoryScope::Gpu), false), "{sem:?}");
            assert_eq!(needs_barrier(fence(sem, MemoryScope::Sys), true), on_x86, "{sem:?}");
            assert!(!needs_barrier(fence(sem, MemoryScope::Cta), false), "{sem:?}");
        }
    }
}
