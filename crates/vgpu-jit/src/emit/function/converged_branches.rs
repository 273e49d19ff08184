//! The ends of blocks of converged code: jumps, and branches after which the lanes go on in masked code when
//! they disagree.

use super::emitter::{FunctionEmitter, trusted_mem_flags};
use super::out_of_line::PcUpdate;
use super::register_values::{CHUNKS_PER_WARP, LaneParts, RegWidth};
use crate::JitError;
use crate::emit::code::relocations::{self, runtime_call_target};
use crate::emit::ops;
use crate::simt::body::Terminator;
use crate::simt::function_plan::{FunctionPlan, frame_header};
use crate::simt::lane_classes::LaneClass;
use cranelift_codegen::ir::{self, InstBuilder, Value, condcodes::IntCC, types};
use rtcg_ptx::ast::*;
use rtcg_vgpu_abi::WarpCtx;
use std::mem::offset_of;

impl FunctionEmitter<'_, '_> {
    /// The block to jump to for an edge; back edges poll first.
    fn block_for_edge(&mut self, from: usize, to: usize) -> ir::Block {
        if !FunctionPlan::is_back_edge(from, to) {
            return self.blocks.by_ptx_block[to];
        }
        let edge = self.b.create_block();
        self.blocks.pending_edges.push((edge, from, to));
        edge
    }

    pub(crate) fn emit_back_edge_blocks(&mut self) {
        for (edge, from, to) in std::mem::take(&mut self.blocks.pending_edges) {
            self.b.switch_to_block(edge);
            self.emit_cancellation_poll(self.plan.spins.contains(&(from, to)));
            self.b.ins().jump(self.blocks.by_ptx_block[to], &[]);
        }
    }

    /// Leaves if the launch is cancelled; lets others run in a loop that waits.
    pub(crate) fn emit_cancellation_poll(&mut self, spins: bool) {
        let flag = self.load_ctx_field(types::I64, offset_of!(WarpCtx, cancel));
        let stop = self.b.ins().load(types::I32, trusted_mem_flags(), flag, 0);
        self.emit_in_cold_block(stop, |g| {
            let f = runtime_call_target!(cancelled);
            relocations::call_target(&mut g.b, f, &[g.abi.ctx], None);
        });
        if spins {
            let f = runtime_call_target!(yield_now);
            relocations::call_target(&mut self.b, f, &[self.abi.ctx], None);
        }
    }

    pub(crate) fn emit_converged_terminator(&mut self, block: usize, done: ir::Block) -> Result<(), JitError> {
        let plan = self.plan;
        match &plan.body.blocks[block].term {
            Terminator::Jump(to) => {
                if plan.body.blocks[block].stmts.last().is_some_and(|s| self.call_may_exit(&s.inst)) {
                    self.enter_masked_code_if_lanes_exited(*to);
                }
                let to = self.block_for_edge(block, *to);
                self.b.ins().jump(to, &[]);
            }
            Terminator::Return => {
                self.b.ins().jump(done, &[]);
            }
            Terminator::Exit => {
                let all = self.iconst32(-1);
                self.b.ins().store(trusted_mem_flags(), all, self.abi.ctx, offset_of!(WarpCtx, exited) as i32);
                self.b.ins().jump(done, &[]);
            }
            Terminator::Unreachable => {
                self.b.ins().trap(ir::TrapCode::unwrap_user(1));
            }
            Terminator::Branch { guard, taken, fall } => self.emit_converged_branch(block, *guard, *taken, *fall)?,
            Terminator::UniformAny { guard, taken, fall } => {
                let (t, f) = (self.block_for_edge(block, *taken), self.block_for_edge(block, *fall));
                let masks = self.guard_lane_masks(*guard);
                let any = self.fold_values(&masks, |g, a, b| g.b.ins().bor(a, b));
                let any = self.b.ins().vany_true(any);
                self.b.ins().brif(any, t, &[], f, &[]);
            }
            Terminator::PredicatedSplit { guard, all, some, none } => {
                self.emit_predicated_split(block, *guard, [*all, *some, *none])?
            }
            Terminator::Table { index, targets } => self.emit_converged_jump_table(block, *index, targets),
        }
        Ok(())
    }

    /// Goes to `t` or `f` if the first and the last lane decide that; goes on in a cold block, where
    /// the masks are made, if not.
    fn branch_by_endpoints(&mut self, t: ir::Block, f: ir::Block) -> Result<Option<Vec<LaneParts>>, JitError> {
        let Some(ends) = self.blocks.branch_endpoints else { return Ok(None) };
        let verdict = self.compare_endpoints(&ends);
        let parted = self.b.create_block();
        self.b.set_cold_block(parted);
        let undecided = match verdict.all {
            Some(_) => self.b.create_block(),
            None => parted,
        };
        match verdict.some {
            Some(some) => self.b.ins().brif(some, undecided, &[], f, &[]),
            None => self.b.ins().jump(undecided, &[]),
        };
        if let Some(all) = verdict.all {
            self.b.seal_block(undecided);
            self.b.switch_to_block(undecided);
            self.b.ins().brif(all, t, &[], parted, &[]);
        }
        self.b.seal_block(parted);
        self.b.switch_to_block(parted);
        self.compute_lane_predicates(&ends).map(Some)
    }

    fn emit_converged_branch(&mut self, block: usize, guard: Guard, taken: usize, fall: usize) -> Result<(), JitError> {
        let (t, f) = (self.block_for_edge(block, taken), self.block_for_edge(block, fall));
        let (t, f, taken, fall) = if guard.negated { (f, t, fall, taken) } else { (t, f, taken, fall) };
        if self.class_of_register(guard.reg).is_scalar() {
            let p = self.current_scalar(guard.reg)[0];
            self.b.ins().brif(p, t, &[], f, &[]);
            return Ok(());
        }
        let masks = match self.branch_by_endpoints(t, f)? {
            Some(masks) => masks,
            None => (0..CHUNKS_PER_WARP).map(|c| self.read_lanes(guard.reg, c)).collect(),
        };
        let flat: Vec<Value> = masks.iter().flatten().copied().collect();
        let values = self.snapshot_registers(&self.plan.live_out(block));
        let any = self.any_lane(&flat);
        let (some, split) = (self.b.create_block(), self.b.create_block());
        self.b.ins().brif(any, some, &[], f, &[]);
        self.b.seal_block(some);
        self.b.switch_to_block(some);
        self.b.set_cold_block(split);
        self.branch_if_all_lanes(&flat, t, split);
        self.b.seal_block(split);
        self.b.switch_to_block(split);
        for (c, m) in masks.iter().enumerate() {
            self.store_lane_array(frame_header::PC_OFFSET, c, m);
        }
        self.spill_registers(
            &values,
            PcUpdate::ByStoredMask(self.pc_of_block(taken) as u32, self.pc_of_block(fall) as u32),
        );
        if let Some(masked) = self.blocks.masked_entry {
            self.b.ins().jump(masked, &[]);
        }
        Ok(())
    }

    /// The lanes' masks of a guard, all chunks.
    fn guard_lane_masks(&mut self, guard: Guard) -> Vec<Value> {
        let masks: Vec<Value> = (0..CHUNKS_PER_WARP).flat_map(|c| self.read_lanes(guard.reg, c)).collect();
        if guard.negated { masks.into_iter().map(|m| self.b.ins().bnot(m)).collect() } else { masks }
    }

    fn emit_predicated_split(
        &mut self,
        block: usize,
        guard: Guard,
        [all, some, none]: [usize; 3],
    ) -> Result<(), JitError> {
        let (all, none) = if guard.negated { (none, all) } else { (all, none) };
        let never = self.plan.never_unanimous_value(block);
        let (all, some, none) =
            (self.block_for_edge(block, all), self.block_for_edge(block, some), self.block_for_edge(block, none));
        let masks = match self.branch_by_endpoints(all, none)? {
            Some(masks) => masks.into_iter().flatten().collect(),
            None => self.guard_lane_masks(Guard { reg: guard.reg, negated: false }),
        };
        if never == Some(false) {
            self.branch_if_all_lanes(&masks, all, some);
            return Ok(());
        }
        let any = self.any_lane(&masks);
        if never == Some(true) {
            self.b.ins().brif(any, some, &[], none, &[]);
            return Ok(());
        }
        let more = self.b.create_block();
        self.b.ins().brif(any, more, &[], none, &[]);
        self.b.seal_block(more);
        self.b.switch_to_block(more);
        self.branch_if_all_lanes(&masks, all, some);
        Ok(())
    }

    /// Whether a predicate is true in any lane.
    fn any_lane(&mut self, masks: &[Value]) -> Value {
        let any = self.fold_values(masks, |g, a, b| g.b.ins().bor(a, b));
        self.b.ins().vany_true(any)
    }

    fn branch_if_all_lanes(&mut self, masks: &[Value], every: ir::Block, else_to: ir::Block) {
        let all = self.fold_values(masks, |g, a, b| g.b.ins().band(a, b));
        let all = self.b.ins().vall_true(all);
        self.b.ins().brif(all, every, &[], else_to, &[]);
    }

    pub(crate) fn fold_values(&mut self, values: &[Value], f: impl Fn(&mut Self, Value, Value) -> Value) -> Value {
        let mut list = values.to_vec();
        while list.len() > 1 {
            list = list.chunks(2).map(|p| if p.len() == 2 { f(self, p[0], p[1]) } else { p[0] }).collect();
        }
        list[0]
    }

    fn emit_converged_jump_table(&mut self, block: usize, index: Reg, targets: &[usize]) {
        let edges: Vec<ir::Block> = targets.iter().map(|&t| self.block_for_edge(block, t)).collect();
        if self.class_of_register(index) == LaneClass::Uniform {
            let i = self.current_scalar(index)[0];
            self.emit_jump_table(i, &edges);
            return;
        }
        let values = self.snapshot_registers(&self.plan.live_out(block));
        let lanes: Vec<LaneParts> = (0..CHUNKS_PER_WARP).map(|c| self.read_lanes(index, c)).collect();
        let first = ops::extract_lane(&mut self.op_ctx(), RegWidth::W32, &lanes[0], 0)[0];
        let all = self.b.ins().splat(types::I32X4, first);
        let flat: Vec<Value> = lanes.iter().flatten().map(|&v| self.b.ins().icmp(IntCC::Equal, v, all)).collect();
        let (agree, split) = (self.b.create_block(), self.b.create_block());
        self.b.set_cold_block(split);
        self.branch_if_all_lanes(&flat, agree, split);
        self.b.seal_block(agree);
        self.b.seal_block(split);
        self.b.switch_to_block(split);
        self.spill_registers(&values, PcUpdate::Unchanged);
        for (c, l) in lanes.iter().enumerate() {
            let pcs = self.jump_table_target_pcs(l, targets);
            self.store_lane_array(frame_header::PC_OFFSET, c, &pcs);
        }
        if let Some(masked) = self.blocks.masked_entry {
            self.b.ins().jump(masked, &[]);
        }
        self.b.switch_to_block(agree);
        self.emit_jump_table(first, &edges);
    }

    fn emit_jump_table(&mut self, index: Value, targets: &[ir::Block]) {
        let calls: Vec<ir::BlockCall> = targets.iter().map(|&t| self.b.func.dfg.block_call(t, &[])).collect();
        let default = self.b.func.dfg.block_call(targets[targets.len() - 1], &[]);
        let table = self.b.create_jump_table(ir::JumpTableData::new(default, &calls));
        self.b.ins().br_table(index, table);
    }

    /// The block each lane goes to by its index; beyond the table the last one.
    pub(crate) fn jump_table_target_pcs(&mut self, index: &LaneParts, targets: &[usize]) -> LaneParts {
        let last = self.splat_i32x4(self.pc_of_block(targets[targets.len() - 1]));
        let mut pcs: LaneParts = index.iter().map(|_| last).collect();
        for (i, &t) in targets.iter().enumerate() {
            let (number, target) = (self.splat_i32x4(i as i64), self.splat_i32x4(self.pc_of_block(t)));
            for (p, &v) in pcs.iter_mut().zip(index) {
                let here = self.b.ins().icmp(IntCC::Equal, v, number);
                *p = self.b.ins().bitselect(here, target, *p);
            }
        }
        pcs
    }
}
