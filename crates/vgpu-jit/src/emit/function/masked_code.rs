//! Masked code: every lane has its own program counter; a dispatcher runs the lowest block that
//! lanes stand at, under their mask.
//!
//! Assumes that the frame holds every live register of every lane, and that the counters are set.
//! Returns the number of a resumable block when all 32 lanes stand there, else -1 when all lanes
//! have left the function.

use super::compile::EmitEnv;
use super::emitter::{FunctionAbi, FunctionEmitter, RegisterStorage, trusted_mem_flags};
use super::register_values::{CHUNKS_PER_WARP, LaneParts, RegWidth};
use crate::JitError;
use crate::emit::code::relocations::{self, RelocTarget};
use crate::emit::ops;
use crate::simt::body::Terminator;
use crate::simt::function_plan::{FunctionPlan, frame_header, special_pcs};
use cranelift_codegen::ir::{self, InstBuilder, Value, condcodes::IntCC, types};
use cranelift_frontend::FunctionBuilder;
use rtcg_ptx::ast::*;
use rtcg_vgpu_abi::WarpCtx;
use std::mem::offset_of;

/// Emits the masked function of `plan`.
pub(crate) fn emit_masked_function(
    mut b: FunctionBuilder<'_>,
    env: &EmitEnv<'_>,
    plan: &FunctionPlan<'_>,
) -> Result<(), JitError> {
    let entry = b.create_block();
    b.append_block_params_for_function_params(entry);
    b.switch_to_block(entry);
    let p = b.block_params(entry).to_vec();
    let abi = FunctionAbi { ctx: p[0], frame: p[1], args: p[2], rets: p[3] };
    let mut g = FunctionEmitter::new(b, env, plan, abi, RegisterStorage::Masked(Box::default()));
    let dispatch = g.b.create_block();
    g.b.append_block_param(dispatch, types::I32);
    g.blocks.dispatch = Some(dispatch);
    g.blocks.by_ptx_block = plan.body.blocks.iter().map(|_| g.b.create_block()).collect();
    let first = g.iconst32(1);
    g.b.ins().jump(dispatch, &[first.into()]);
    g.emit_dispatcher(dispatch);
    for block in 0..plan.body.blocks.len() {
        if plan.in_masked.contains(block) {
            g.emit_masked_block(block)?;
        }
    }
    g.b.seal_all_blocks();
    g.b.finalize(env.frontend);
    Ok(())
}

impl<'a> FunctionEmitter<'a, '_> {
    fn emit_dispatcher(&mut self, dispatch: ir::Block) {
        self.b.switch_to_block(dispatch);
        let first = self.b.block_params(dispatch)[0];
        let pcs: Vec<Value> =
            (0..CHUNKS_PER_WARP).flat_map(|c| self.load_lane_array(frame_header::PC_OFFSET, c)).collect();
        let min = self.min_pc(&pcs);
        let min = if self.env.instrument.random.is_some() {
            self.emit_pick_random_group(min)
        } else {
            self.emit_pick_next_group(min)
        };
        let run = self.b.create_block();
        let (which, forced) = (self.b.append_block_param(run, types::I32), self.b.append_block_param(run, types::I32));
        let parked = self.b.create_block();
        let no = self.iconst32(0);
        let is_parked = self.b.ins().icmp_imm_u(IntCC::UnsignedGreaterThanOrEqual, min, special_pcs::PARKED_AT_WARP_OP);
        self.b.ins().brif(is_parked, parked, &[], run, &[min.into(), no.into()]);
        self.b.switch_to_block(parked);
        self.resolve_parked_lanes(min, dispatch, run);
        self.b.switch_to_block(run);
        self.emit_block_dispatch(which, forced, first, &pcs);
    }

    /// The smallest of all lanes' counters.
    fn min_pc(&mut self, pcs: &[Value]) -> Value {
        let mut list = pcs.to_vec();
        while list.len() > 1 {
            list = list.chunks(2).map(|p| self.b.ins().smin(p[0], p[1])).collect();
        }
        let swapped = self.shuffle_words(list[0], list[0], [2, 3, 0, 1]);
        let two = self.b.ins().smin(list[0], swapped);
        let a = self.b.ins().extractlane(two, 0);
        let b = self.b.ins().extractlane(two, 1);
        self.b.ins().smin(a, b)
    }

    /// Every so often a group other than the first, so that a spinning group cannot starve it.
    fn emit_pick_next_group(&mut self, min: Value) -> Value {
        if self.plan.spins.is_empty() {
            return min;
        }
        let spins = self.b.ins().load(types::I32, trusted_mem_flags(), self.abi.frame, frame_header::SPIN_COUNT_OFFSET);
        let low = self.b.ins().band_imm_u(spins, 15);
        let due = self.b.ins().icmp_imm_u(IntCC::Equal, low, 15);
        let (pick, next) = (self.b.create_block(), self.b.create_block());
        let choice = self.b.append_block_param(next, types::I32);
        self.b.ins().brif(due, pick, &[], next, &[min.into()]);
        self.b.switch_to_block(pick);
        let f = RelocTarget::rust_function_target(super::slow_paths::pick_next_group as *const () as usize);
        let other = relocations::call_target(&mut self.b, f, &[self.abi.frame, min], Some(types::I32)).unwrap_or(min);
        self.b.ins().jump(next, &[other.into()]);
        self.b.switch_to_block(next);
        choice
    }

    /// A random group of lanes that can run, or part of it.
    fn emit_pick_random_group(&mut self, min: Value) -> Value {
        let table = relocations::target_address(&mut self.b, self.env.tables[&self.plan.id].calls);
        let f = RelocTarget::rust_function_target(super::slow_paths::pick_random_group as *const () as usize);
        let args = [self.abi.ctx, self.abi.frame, table, min];
        relocations::call_target(&mut self.b, f, &args, Some(types::I32)).unwrap_or(min)
    }

    /// No lane can run: all have left, or a warp operation goes on with those that came, or the
    /// warp arrives at a barrier.
    fn resolve_parked_lanes(&mut self, min: Value, dispatch: ir::Block, run: ir::Block) {
        let (left, waiting, warp, barrier) =
            (self.b.create_block(), self.b.create_block(), self.b.create_block(), self.b.create_block());
        let gone = self.b.ins().icmp_imm_u(IntCC::Equal, min, special_pcs::PC_DONE);
        self.b.ins().brif(gone, left, &[], waiting, &[]);
        self.b.switch_to_block(left);
        let none = self.iconst32(-1);
        self.b.ins().return_(&[none]);
        self.b.switch_to_block(waiting);
        let at_barrier =
            self.b.ins().icmp_imm_u(IntCC::UnsignedGreaterThanOrEqual, min, special_pcs::PARKED_AT_BARRIER);
        self.b.ins().brif(at_barrier, barrier, &[], warp, &[]);
        self.b.switch_to_block(warp);
        self.resolve_parked_warp_ops(min, dispatch, run);
        self.b.switch_to_block(barrier);
        let f = RelocTarget::rust_function_target(super::slow_paths::resolve_parked_barriers as *const () as usize);
        relocations::call_target(&mut self.b, f, &[self.abi.ctx, self.abi.frame], None);
        let no = self.iconst32(0);
        self.b.ins().jump(dispatch, &[no.into()]);
    }

    /// Warp operations go on without the lanes that did not come.
    fn resolve_parked_warp_ops(&mut self, min: Value, dispatch: ir::Block, run: ir::Block) {
        let yes = self.iconst32(1);
        if !self.plan.has_warp_ops {
            self.b.ins().jump(run, &[min.into(), yes.into()]);
            return;
        }
        let f = RelocTarget::rust_function_target(
            crate::emit::instructions::warp_rendezvous::resolve_parked_warp_ops as *const () as usize,
        );
        let args = [self.abi.ctx, self.abi.frame, min];
        let by_code = relocations::call_target(&mut self.b, f, &args, Some(types::I32)).unwrap_or(yes);
        let no = self.iconst32(0);
        self.b.ins().brif(by_code, run, &[min.into(), yes.into()], dispatch, &[no.into()]);
    }

    /// Activates the lanes at `which` and runs their block, or returns if all can go on converged.
    fn emit_block_dispatch(&mut self, which: Value, forced: Value, first: Value, pcs: &[Value]) {
        self.b.ins().store(trusted_mem_flags(), forced, self.abi.frame, frame_header::FORCE_WARP_OP_OFFSET);
        let number = !(special_pcs::PARKED_AT_WARP_OP | special_pcs::BEFORE_BARRIER_CALL);
        let block = self.b.ins().band_imm_u(which, number & 0xffff_ffff);
        let key = self.b.ins().splat(types::I32X4, block);
        let keep = self.splat_i32x4(number);
        let mut all: Option<Value> = None;
        for (i, &p) in pcs.iter().enumerate() {
            let plain = self.b.ins().band(p, keep);
            let mut here = self.b.ins().icmp(IntCC::Equal, plain, key);
            if self.env.instrument.random.is_some() {
                let may = self.b.ins().load(
                    types::I32X4,
                    trusted_mem_flags(),
                    self.abi.frame,
                    frame_header::ALLOWED_LANES_OFFSET + i as i32 * 16,
                );
                here = self.b.ins().band(here, may);
            }
            self.b.ins().store(trusted_mem_flags(), here, self.abi.frame, frame_header::MASK_OFFSET + i as i32 * 16);
            all = Some(all.map_or(here, |a| self.b.ins().band(a, here)));
        }
        if let (Some(all), true) = (all, self.plan.resumable.iter_bits().next().is_some()) {
            let all = self.b.ins().vall_true(all);
            let again = self.b.ins().icmp_imm_u(IntCC::Equal, first, 0);
            let mut may = self.b.ins().band(all, again);
            if self.plan.has_warp_ops {
                // Converged code would execute them again.
                let at = frame_header::WARP_OPS_DONE_OFFSET;
                let done = self.b.ins().load(types::I32, trusted_mem_flags(), self.abi.frame, at);
                let none = self.b.ins().icmp_imm_u(IntCC::Equal, done, 0);
                may = self.b.ins().band(may, none);
            }
            let (check, leave, stay) = (self.b.create_block(), self.b.create_block(), self.b.create_block());
            self.b.ins().brif(may, check, &[], stay, &[]);
            self.b.switch_to_block(check);
            let table = relocations::target_address(&mut self.b, self.env.tables[&self.plan.id].resume);
            let index = self.b.ins().uextend(types::I64, block);
            let at = self.b.ins().iadd(table, index);
            let resumable = self.b.ins().uload8(types::I32, trusted_mem_flags(), at, 0);
            self.b.ins().brif(resumable, leave, &[], stay, &[]);
            self.b.switch_to_block(leave);
            self.b.ins().return_(&[block]);
            self.b.switch_to_block(stay);
        }
        let never = self.b.create_block();
        let calls: Vec<ir::BlockCall> = (0..self.blocks.by_ptx_block.len())
            .map(|i| if self.plan.in_masked.contains(i) { self.blocks.by_ptx_block[i] } else { never })
            .map(|t| self.b.func.dfg.block_call(t, &[]))
            .collect();
        let default = self.b.func.dfg.block_call(never, &[]);
        let table = self.b.create_jump_table(ir::JumpTableData::new(default, &calls));
        self.b.ins().br_table(block, table);
        self.b.set_cold_block(never);
        self.b.switch_to_block(never);
        self.b.ins().trap(ir::TrapCode::unwrap_user(3));
    }

    fn emit_masked_block(&mut self, block: usize) -> Result<(), JitError> {
        self.blocks.current = block;
        self.store = RegisterStorage::Masked(Box::default());
        self.b.switch_to_block(self.blocks.by_ptx_block[block]);
        let plan = self.plan;
        let stmts = &plan.body.blocks[block].stmts;
        let segments = self.split_into_segments(stmts);
        for (i, &(from, to, point)) in segments.iter().enumerate() {
            let part = &stmts[from..to];
            let last = i + 1 == segments.len();
            if point { self.emit_ordering_point(&part[0], last)? } else { self.emit_masked_segment(part, last)? }
        }
        self.segment.statement = plan.body.blocks[block].term_index;
        self.set_instruction_site(crate::simt::instruction_sites::WHOLE_WARP_LANE_CODE);
        self.emit_masked_terminator(block)
    }

    /// Stores what the block wrote and others read to the frame, for the active lanes of a chunk.
    pub(crate) fn write_back_registers(&mut self, chunk: usize) {
        let RegisterStorage::Masked(m) = &self.store else { return };
        let out = self.plan.live_out(self.blocks.current);
        // Loops over chunks pass registers to each other in the frame.
        let is_read = |r: &Reg| self.env.variant.first_tier || out.contains(r.index());
        let dirty: Vec<Reg> = m.dirty().iter().copied().filter(is_read).collect();
        for r in dirty {
            let RegisterStorage::Masked(m) = &self.store else { return };
            let Some(new) = m.cache.get(&(r.0, chunk)).cloned() else { continue };
            let Some(mask) = self.exec_mask(chunk) else { return };
            let old = self.load_register_slot(r, chunk);
            let w = self.width_of_register(r);
            let merged =
                ops::blend_lanes(&mut self.op_ctx(), super::register_values::EmitShape::Chunk, &mask, &new, &old, w);
            self.store_register_slot(r, chunk, &merged);
        }
    }

    /// The counter of lanes that go on at block `to`.
    pub(crate) fn pc_of_block(&self, to: usize) -> i64 {
        let calls = |i: &Inst| matches!(i, Inst::Call { callee, .. } if self.callee_may_wait_at_barrier(callee));
        let late = self.plan.body.blocks[to].stmts.iter().any(|s| calls(&s.inst));
        to as i64 + if late { special_pcs::BEFORE_BARRIER_CALL } else { 0 }
    }

    /// Sets the counters of the active lanes and goes to the dispatcher.
    pub(crate) fn set_pcs_and_dispatch(&mut self, targets: impl Fn(&mut Self, usize) -> LaneParts) {
        for c in 0..CHUNKS_PER_WARP {
            let to = targets(self, c);
            let Some(mask) = self.exec_mask(c) else { return };
            let old = self.load_lane_array(frame_header::PC_OFFSET, c);
            let new: Vec<Value> = (0..2).map(|i| self.b.ins().bitselect(mask[i], to[i], old[i])).collect();
            self.store_lane_array(frame_header::PC_OFFSET, c, &new);
        }
        self.jump_to_dispatcher();
    }

    pub(crate) fn jump_to_dispatcher(&mut self) {
        let again = self.iconst32(0);
        if let Some(d) = self.blocks.dispatch {
            self.b.ins().jump(d, &[again.into()]);
        }
    }

    /// All active lanes go to the counter `to`.
    pub(crate) fn set_all_pcs_and_dispatch(&mut self, to: i64) {
        let v = self.splat_i32x4(to);
        self.set_pcs_and_dispatch(|_, _| LaneParts::from_slice(&[v, v]));
    }

    fn emit_masked_terminator(&mut self, block: usize) -> Result<(), JitError> {
        let plan = self.plan;
        let body = &plan.body.blocks[block];
        let back: Vec<usize> =
            body.term.masked_successors().into_iter().filter(|&s| FunctionPlan::is_back_edge(block, s)).collect();
        if !back.is_empty() {
            let spins = back.iter().any(|&s| plan.spins.contains(&(block, s)));
            self.emit_cancellation_poll(spins);
            if spins {
                let n =
                    self.b.ins().load(types::I32, trusted_mem_flags(), self.abi.frame, frame_header::SPIN_COUNT_OFFSET);
                let n = self.b.ins().iadd_imm_s(n, 1);
                self.b.ins().store(trusted_mem_flags(), n, self.abi.frame, frame_header::SPIN_COUNT_OFFSET);
            }
        }
        let bar = body
            .stmts
            .last()
            .filter(|s| matches!(&*s.inst, Inst::Bar { kind, .. } if !matches!(kind, BarKind::Arrive)));
        match &body.term {
            Terminator::Jump(to) if bar.is_some() => {
                self.set_all_pcs_and_dispatch(special_pcs::PARKED_AT_BARRIER + self.pc_of_block(*to));
            }
            Terminator::Jump(to) => self.emit_masked_jump(*to),
            Terminator::Return => self.set_all_pcs_and_dispatch(special_pcs::PC_DONE),
            Terminator::Exit => {
                let masks: Vec<Option<LaneParts>> = (0..CHUNKS_PER_WARP).map(|c| self.exec_mask(c)).collect();
                let bits = self.mask_to_lane_bits(&masks);
                let old = self.load_ctx_field(types::I32, offset_of!(WarpCtx, exited));
                let new = self.b.ins().bor(old, bits);
                self.b.ins().store(trusted_mem_flags(), new, self.abi.ctx, offset_of!(WarpCtx, exited) as i32);
                self.set_all_pcs_and_dispatch(special_pcs::PC_DONE);
            }
            Terminator::Unreachable => {
                self.b.ins().trap(ir::TrapCode::unwrap_user(4));
            }
            Terminator::Branch { guard, taken, fall }
            | Terminator::UniformAny { guard, taken, fall }
            | Terminator::PredicatedSplit { guard, all: taken, none: fall, .. } => {
                let (t, f) = if guard.negated { (*fall, *taken) } else { (*taken, *fall) };
                let (t, f) = (self.splat_i32x4(self.pc_of_block(t)), self.splat_i32x4(self.pc_of_block(f)));
                self.set_pcs_and_dispatch(|g, c| {
                    let p = g.read_lanes(guard.reg, c);
                    p.iter().map(|&m| g.b.ins().bitselect(m, t, f)).collect()
                });
            }
            Terminator::Table { index, targets } => self.set_pcs_and_dispatch(|g, c| {
                let i = g.read_lanes(*index, c);
                let from = g.width_of_register(*index);
                let i = ops::narrow_source(
                    &mut g.op_ctx(),
                    super::register_values::EmitShape::Chunk,
                    &i,
                    from,
                    RegWidth::W32,
                );
                g.jump_table_target_pcs(&i, targets)
            }),
        }
        Ok(())
    }

    /// After a call that may have retired lanes, those are done.
    fn emit_masked_jump(&mut self, to: usize) {
        let plan = self.plan;
        let called = plan.body.blocks[self.blocks.current].stmts.last().is_some_and(|s| self.call_may_exit(&s.inst));
        if !called {
            return self.set_all_pcs_and_dispatch(self.pc_of_block(to));
        }
        let exited = self.load_ctx_field(types::I32, offset_of!(WarpCtx, exited));
        let (go, done) = (self.splat_i32x4(self.pc_of_block(to)), self.splat_i32x4(special_pcs::PC_DONE));
        self.set_pcs_and_dispatch(|g, c| {
            let part = g.b.ins().ushr_imm_u(exited, c as i64 * 8);
            let gone = ops::bits_to_mask(&mut g.op_ctx(), part);
            gone.iter().map(|&m| g.b.ins().bitselect(m, done, go)).collect()
        });
    }
}
