//! The outer function: frame, local memory, the choice between converged and masked code, and the
//! converged code itself.
//!
//! Establishes for every block of it: all 32 lanes exist and stand here; scalar registers hold
//! what their class says.

use super::compile::EmitEnv;
use super::emitter::{FunctionEmitter, RegisterStorage, RegisterVariables, trusted_mem_flags};
use super::host_state::{KernelHostState, MaskedVersionSlot};
use super::ops;
use super::out_of_line::{LANE_BITS_INDEX, PcUpdate, SlowPathRequest};
use super::register_values::{CHUNK_LANES, CHUNKS_PER_WARP, EmitShape, LaneParts, RegWidth};
use super::relocations::{self, runtime_call_target};
use crate::JitError;
use crate::simt::body::Terminator;
use crate::simt::function_plan::{FunctionPlan, LOCAL_ALIGN, frame_header, special_pcs};
use crate::simt::lane_classes::LaneClass;
use crate::simt::stride_checks::StrideCheck;
use cranelift_codegen::ir::{self, InstBuilder, Value, condcodes::IntCC, types};
use cranelift_frontend::{FunctionBuilder, Variable};
use rtcg_ptx::ast::*;
use rtcg_vgpu_abi::{TrapKind, WARP_LANES, WarpCtx};
use smallvec::SmallVec;
use std::mem::offset_of;

/// Emits the outer function of `plan`.
pub(crate) fn emit_outer_function(
    mut b: FunctionBuilder<'_>,
    env: &EmitEnv<'_>,
    plan: &FunctionPlan<'_>,
) -> Result<(), JitError> {
    let entry = b.create_block();
    b.append_block_params_for_function_params(entry);
    b.switch_to_block(entry);
    b.seal_block(entry);
    let slot = b.create_sized_stack_slot(ir::StackSlotData::new(ir::StackSlotKind::ExplicitSlot, plan.frame_size, 4));
    let frame = b.ins().stack_addr(types::I64, slot, 0);
    let params = b.block_params(entry).to_vec();
    let zero = b.ins().iconst(types::I64, 0);
    let (args, rets) = if plan.f.entry { (zero, zero) } else { (params[2], params[3]) };
    let vars = declare_variables(&mut b, plan);
    let mut g = FunctionEmitter::new(b, env, plan, [params[0], frame, args, rets], RegisterStorage::Converged(vars));
    let lanes = if plan.f.entry { g.load_ctx_field(types::I32, offset_of!(WarpCtx, live)) } else { params[1] };
    g.allocate_local_memory();
    let done = g.b.create_block();
    g.masked_entry = Some(g.b.create_block());
    g.blocks = plan.body.blocks.iter().map(|_| g.b.create_block()).collect();
    g.branch_to_converged_code(lanes);
    g.call_masked_and_resume(done)?;
    if !env.variant.is_masked_only() {
        let reached = plan.blocks_reached_converged();
        for block in (0..plan.body.blocks.len()).filter(|&b| reached[b]) {
            g.emit_converged_block(block, done)?;
        }
    }
    g.b.switch_to_block(done);
    g.free_local_memory();
    g.b.ins().return_(&[]);
    g.b.seal_all_blocks();
    g.b.finalize(env.frontend);
    Ok(())
}

fn declare_variables(b: &mut FunctionBuilder<'_>, plan: &FunctionPlan<'_>) -> Vec<RegisterVariables> {
    let mut written = vec![false; plan.body.widths.len()];
    for st in plan.body.blocks.iter().flat_map(|x| &x.stmts) {
        crate::simt::body::stmt_defs(st, plan.body.carry_flag(), &mut |r| written[r.index()] = true);
    }
    (0..plan.body.widths.len())
        .map(|r| {
            if !written[r] {
                return RegisterVariables::None;
            }
            let w = plan.body.widths[r];
            let class = plan.classes.lane_class_of(Reg(r as u32));
            let shape = if class.is_scalar() { EmitShape::Scalar } else { EmitShape::Chunk };
            let (ty, n) = (w.part_type(shape), w.part_count(shape));
            if let LaneClass::Chunked(_) = class {
                return RegisterVariables::PerChunk(std::array::from_fn(|_| {
                    (0..n).map(|_| b.declare_var(ty)).collect()
                }));
            }
            if shape == EmitShape::Scalar {
                return RegisterVariables::Scalar((0..n).map(|_| b.declare_var(ty)).collect());
            }
            RegisterVariables::Chunks(std::array::from_fn(|_| (0..n).map(|_| b.declare_var(ty)).collect()))
        })
        .collect()
}

impl<'a> FunctionEmitter<'a, '_> {
    /// Takes the function's local memory from the warp's.
    fn allocate_local_memory(&mut self) {
        let zero = self.iconst32(0);
        self.b.ins().store(trusted_mem_flags(), zero, self.frame, frame_header::SPIN_COUNT_OFFSET);
        if self.plan.local_pitch == 0 {
            return;
        }
        let mut sp = self.load_ctx_field(types::I64, offset_of!(WarpCtx, local_sp));
        if self.plan.local_align > LOCAL_ALIGN {
            // What is skipped here stays taken when the function returns, and is skipped only once.
            let align = i64::from(self.plan.local_align);
            sp = self.b.ins().iadd_imm_s(sp, align - 1);
            sp = self.b.ins().band_imm_s(sp, -align);
        }
        self.b.ins().store(trusted_mem_flags(), sp, self.frame, frame_header::LOCAL_BASE_OFFSET);
        let new = self.b.ins().iadd_imm_s(sp, i64::from(self.plan.local_pitch) * 32);
        let end = self.load_ctx_field(types::I64, offset_of!(WarpCtx, local_end));
        let over = self.b.ins().icmp(IntCC::UnsignedGreaterThan, new, end);
        self.emit_in_cold_block(over, |g| g.emit_trap(TrapKind::StackOverflow));
        self.b.ins().store(trusted_mem_flags(), new, self.ctx, offset_of!(WarpCtx, local_sp) as i32);
        self.mark_local_memory(sp, self.plan.local_bytes_used());
    }

    fn free_local_memory(&mut self) {
        if self.plan.local_pitch != 0 || self.uses_alloca() {
            let sp = self.b.ins().load(types::I64, trusted_mem_flags(), self.frame, frame_header::LOCAL_BASE_OFFSET);
            if self.plan.local_pitch != 0 {
                self.mark_local_memory(sp, 0);
            }
            self.b.ins().store(trusted_mem_flags(), sp, self.ctx, offset_of!(WarpCtx, local_sp) as i32);
        }
    }

    fn uses_alloca(&self) -> bool {
        self.plan.f.body.iter().any(|s| matches!(s.inst, Inst::Alloca { .. }))
    }

    /// Reports a fault of the whole warp. Execution never goes on after it.
    pub(crate) fn emit_trap(&mut self, kind: TrapKind) {
        let (kind, lane, site) = (
            self.iconst32(kind as i64),
            self.iconst32(-1),
            self.site_for_lanes(crate::simt::instruction_sites::WHOLE_WARP_LANE_CODE),
        );
        let site = self.iconst32(i64::from(site));
        let address = self.iconst64(0);
        let f = runtime_call_target!(trap);
        relocations::call_target(&mut self.b, f, &[self.ctx, kind, lane, site, address], None);
    }

    /// Enters converged code when all lanes are there, else masked code at block 0.
    fn branch_to_converged_code(&mut self, lanes: Value) {
        let masked = self.masked_entry.unwrap_or(self.blocks[0]);
        let variant = &self.env.variant;
        if self.plan.f.entry && (variant.full_warps || variant.single_thread) && !variant.is_masked_only() {
            self.b.ins().jump(self.blocks[0], &[]);
            return;
        }
        let partial = self.b.create_block();
        if self.env.variant.is_masked_only() {
            self.b.ins().jump(partial, &[]);
        } else {
            let all = self.b.ins().icmp_imm_s(IntCC::Equal, lanes, -1);
            self.b.ins().brif(all, self.blocks[0], &[], partial, &[]);
        }
        self.b.set_cold_block(partial);
        self.b.switch_to_block(partial);
        self.store_stub_value(lanes, LANE_BITS_INDEX);
        self.emit_slow_path_call(SlowPathRequest::SpillScalars(
            vec![],
            PcUpdate::ByLaneBits(0, special_pcs::PC_DONE as u32),
        ));
        self.b.ins().jump(masked, &[]);
    }

    /// All four lanes of an `I32X4` constant.
    pub(crate) fn splat_i32x4(&mut self, v: i64) -> Value {
        self.constant_vector(RegWidth::W32, &[v; 4])
    }

    /// Calls the function's masked version through its slot.
    fn call_masked_version(&mut self) -> Option<Value> {
        let super::compile::FunctionVersion::Outer = &self.env.part else { return None };
        let host = self.load_ctx_field(types::I64, offset_of!(WarpCtx, host));
        let slots = self.b.ins().load(types::I64, trusted_mem_flags(), host, offset_of!(KernelHostState, slots) as i32);
        let slot =
            self.add_offset(slots, i64::from(self.env.versions[&self.plan.id]) * size_of::<MaskedVersionSlot>() as i64);
        let code = self.b.ins().load(types::I64, trusted_mem_flags(), slot, 0);
        let args = [self.ctx, self.frame, self.args, self.rets, slot];
        relocations::call_computed_address(&mut self.b, code, &args, Some(types::I32))
    }

    /// Calls masked code and goes on where its lanes have met again.
    fn call_masked_and_resume(&mut self, done: ir::Block) -> Result<(), JitError> {
        let Some(block) = self.masked_entry else { return Ok(()) };
        self.b.switch_to_block(block);
        let at = self.call_masked_version();
        let resumable: Vec<usize> = self.plan.resumable.iter_bits().collect();
        let (Some(at), false) = (at, resumable.is_empty()) else {
            self.b.ins().jump(done, &[]);
            return Ok(());
        };
        let entries: Vec<ir::Block> = resumable.iter().map(|_| self.b.create_block()).collect();
        let mut table = vec![];
        for b in 0..self.plan.body.blocks.len() {
            let target = resumable.iter().position(|&r| r == b).map_or(done, |i| entries[i]);
            table.push(self.b.func.dfg.block_call(target, &[]));
        }
        let default = self.b.func.dfg.block_call(done, &[]);
        let table = self.b.create_jump_table(ir::JumpTableData::new(default, &table));
        self.b.ins().br_table(at, table);
        for (&r, &e) in resumable.iter().zip(&entries) {
            self.b.set_cold_block(e);
            self.b.switch_to_block(e);
            self.resume_at_block(r, block);
        }
        Ok(())
    }

    /// Reloads what is live at block `r`; goes back to masked code when a class does not hold.
    fn resume_at_block(&mut self, r: usize, masked: ir::Block) {
        let (mut scalars, mut homes): (Vec<Reg>, Vec<Vec<Variable>>) = (vec![], vec![]);
        for reg in self.plan.live[r].iter_bits().map(|i| Reg(i as u32)) {
            let RegisterStorage::Converged(vars) = &self.store else { return };
            let home: Vec<Variable> = match vars[reg.index()].clone() {
                RegisterVariables::None => continue,
                RegisterVariables::Chunks(c) => {
                    self.reload_lanes(reg, &c);
                    continue;
                }
                RegisterVariables::PerChunk(c) => c.iter().flatten().copied().collect(),
                RegisterVariables::Scalar(list) => list.to_vec(),
            };
            scalars.push(reg);
            homes.push(home);
        }
        let (values, good) = self.reload_scalars(&scalars);
        for (home, value) in homes.iter().zip(&values) {
            for (&v, &p) in home.iter().zip(value) {
                self.b.def_var(v, p);
            }
        }
        let target = self.blocks[r];
        match good {
            Some(ok) => {
                self.b.ins().brif(ok, target, &[], masked, &[]);
            }
            None => {
                self.b.ins().jump(target, &[]);
            }
        }
    }

    fn reload_lanes(&mut self, reg: Reg, chunks: &[SmallVec<[Variable; 4]>; CHUNKS_PER_WARP]) {
        for (chunk, list) in chunks.iter().enumerate() {
            let parts = self.load_register_slot(reg, chunk);
            for (&v, &p) in list.iter().zip(&parts) {
                self.b.def_var(v, p);
            }
        }
    }

    fn emit_converged_block(&mut self, block: usize, done: ir::Block) -> Result<(), JitError> {
        self.block = block;
        self.b.switch_to_block(self.blocks[block]);
        let plan = self.plan;
        let stmts = &plan.body.blocks[block].stmts;
        self.branch_endpoints =
            crate::simt::branch_endpoints::find_branch_comparison(&plan.body, &plan.classes, &plan.live, block);
        self.checkpoint.clear();
        if stmts.iter().any(|st| crate::simt::stride_checks::needs_stride_check(&plan.classes, st)) {
            for r in plan.live[block].iter_bits() {
                let value = self.snapshot_register(Reg(r as u32));
                self.checkpoint.push((Reg(r as u32), value));
            }
        }
        let segments = self.split_into_segments(stmts);
        let pieces = crate::simt::segment_fission::fission_points(
            &plan.body,
            &plan.classes,
            stmts,
            &segments,
            plan.live_out(block),
        );
        for (&(from, to, point), pieces) in segments.iter().zip(pieces) {
            let part = &stmts[from..to];
            self.emit_under_guard(part, |g| {
                if point { g.emit_ordering_point(&part[0], false) } else { g.emit_segment(part, &pieces) }
            })?;
        }
        self.statement = plan.body.blocks[block].term_index;
        self.set_instruction_site(crate::simt::instruction_sites::WHOLE_WARP_LANE_CODE);
        self.emit_converged_terminator(block, done)?;
        self.emit_back_edge_blocks();
        Ok(())
    }

    /// Emits under the uniform guard of a segment, if it has one.
    fn emit_under_guard(
        &mut self,
        stmts: &[crate::simt::body::Stmt<'a>],
        f: impl FnOnce(&mut Self) -> Result<(), JitError>,
    ) -> Result<(), JitError> {
        let Some(guard) = stmts[0].guard.filter(|g| self.class_of_register(g.reg).is_scalar()) else { return f(self) };
        let p = self.current_scalar(guard.reg)[0];
        let (then, next) = (self.b.create_block(), self.b.create_block());
        if guard.negated {
            self.b.ins().brif(p, next, &[], then, &[]);
        } else {
            self.b.ins().brif(p, then, &[], next, &[]);
        }
        self.b.seal_block(then);
        self.b.switch_to_block(then);
        f(self)?;
        self.b.ins().jump(next, &[]);
        self.b.seal_block(next);
        self.b.switch_to_block(next);
        Ok(())
    }

    /// The value of a register, for a later spill: one entry when scalar, else one per chunk.
    pub(crate) fn snapshot_register(&mut self, r: Reg) -> SmallVec<[LaneParts; 4]> {
        if self.class_of_register(r).is_scalar() {
            return SmallVec::from_iter([self.current_scalar(r)]);
        }
        (0..CHUNKS_PER_WARP).map(|c| self.read_lanes(r, c)).collect()
    }

    /// Writes registers to the frame, and sets the lanes' program counters.
    pub(crate) fn spill_registers(&mut self, values: &[(Reg, SmallVec<[LaneParts; 4]>)], counters: PcUpdate) {
        let mut scalars = vec![];
        for (r, value) in values {
            if self.plan.classes.lane_class_of(*r) == LaneClass::Varying {
                for (c, lanes) in value.iter().enumerate().take(CHUNKS_PER_WARP) {
                    self.store_register_slot(*r, c, lanes);
                }
            } else {
                scalars.push((*r, value[0].clone()));
            }
        }
        self.spill_scalars(&scalars, counters);
    }

    /// Leaves converged code for block `at`, where all lanes go on.
    pub(crate) fn switch_to_masked_code(&mut self, at: usize, values: &[(Reg, SmallVec<[LaneParts; 4]>)]) {
        let Some(masked) = self.masked_entry else { return };
        self.spill_registers(values, PcUpdate::All(at as u32));
        self.b.ins().jump(masked, &[]);
    }

    /// A flag that is not zero when a check fails, in any chunk.
    pub(crate) fn emit_stride_check(&mut self, check: StrideCheck) -> Value {
        let (StrideCheck::NoWrap { class, .. } | StrideCheck::NonNegative { class, .. }) = check;
        let LaneClass::Chunked(_) = class else { return self.emit_stride_check_over_lanes(check, WARP_LANES) };
        let flags: Vec<Value> = (0..CHUNKS_PER_WARP)
            .map(|chunk| {
                self.current_chunk = Some(chunk);
                let flag = self.emit_stride_check_over_lanes(check, CHUNK_LANES);
                self.current_chunk = None;
                flag
            })
            .collect();
        self.fold_values(&flags, |g, a, b| g.b.ins().bor(a, b))
    }

    fn emit_stride_check_over_lanes(&mut self, check: StrideCheck, lanes: usize) -> Value {
        match check {
            StrideCheck::NoWrap { operand, class, signed } => {
                // What is widened are 32 bits, also of a register that is wider.
                let stride = i64::from(class.lane_stride().unwrap_or(0) as i32);
                let reach = stride.wrapping_mul(lanes as i64 - 1);
                self.emit_wraparound_check(operand, signed, reach)
            }
            StrideCheck::NonNegative { operand, bits, .. } => {
                let width = if bits == 64 { RegWidth::W64 } else { RegWidth::W32 };
                let first = self.scalar_operand(operand, width)[0];
                self.b.ins().icmp_imm_s(IntCC::SignedLessThan, first, 0)
            }
        }
    }

    fn emit_wraparound_check(&mut self, operand: Operand, signed: bool, reach: i64) -> Value {
        let base = self.scalar_operand(operand, RegWidth::W32)[0];
        if signed {
            let wide = self.b.ins().sextend(types::I64, base);
            let last = self.b.ins().iadd_imm_s(wide, reach);
            let low = self.b.ins().ireduce(types::I32, last);
            let back = self.b.ins().sextend(types::I64, low);
            self.b.ins().icmp(IntCC::NotEqual, back, last)
        } else {
            let wide = self.b.ins().uextend(types::I64, base);
            let last = self.b.ins().iadd_imm_s(wide, reach);
            let high = self.b.ins().ushr_imm_u(last, 32);
            self.b.ins().icmp_imm_u(IntCC::NotEqual, high, 0)
        }
    }

    /// Goes back to the beginning of the block in masked code if a check failed.
    pub(crate) fn branch_if_checks_failed(&mut self, flags: &mut Vec<Value>) {
        let Some(all) = flags.drain(..).reduce(|a, b| self.b.ins().bor(a, b)) else { return };
        let (leave, next) = (self.b.create_block(), self.b.create_block());
        self.b.set_cold_block(leave);
        self.b.ins().brif(all, leave, &[], next, &[]);
        self.b.seal_block(leave);
        self.b.seal_block(next);
        self.b.switch_to_block(leave);
        let values = std::mem::take(&mut self.checkpoint);
        self.switch_to_masked_code(self.block, &values);
        self.checkpoint = values;
        self.b.switch_to_block(next);
    }

    /// The block to jump to for an edge; back edges poll first.
    fn block_for_edge(&mut self, from: usize, to: usize) -> ir::Block {
        if !FunctionPlan::is_back_edge(from, to) {
            return self.blocks[to];
        }
        let edge = self.b.create_block();
        self.pending_edges.push((edge, from, to));
        edge
    }

    fn emit_back_edge_blocks(&mut self) {
        for (edge, from, to) in std::mem::take(&mut self.pending_edges) {
            self.b.switch_to_block(edge);
            self.emit_cancellation_poll(self.plan.spins.contains(&(from, to)));
            self.b.ins().jump(self.blocks[to], &[]);
        }
    }

    /// Leaves if the launch is cancelled; lets others run in a loop that waits.
    pub(crate) fn emit_cancellation_poll(&mut self, spins: bool) {
        let flag = self.load_ctx_field(types::I64, offset_of!(WarpCtx, cancel));
        let stop = self.b.ins().load(types::I32, trusted_mem_flags(), flag, 0);
        self.emit_in_cold_block(stop, |g| {
            let f = runtime_call_target!(cancelled);
            relocations::call_target(&mut g.b, f, &[g.ctx], None);
        });
        if spins {
            let f = runtime_call_target!(yield_now);
            relocations::call_target(&mut self.b, f, &[self.ctx], None);
        }
    }

    fn emit_converged_terminator(&mut self, block: usize, done: ir::Block) -> Result<(), JitError> {
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
                self.b.ins().store(trusted_mem_flags(), all, self.ctx, offset_of!(WarpCtx, exited) as i32);
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
        let Some(ends) = self.branch_endpoints else { return Ok(None) };
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
        let values: Vec<_> = self
            .plan
            .live_out(block)
            .iter_bits()
            .map(|r| (Reg(r as u32), self.snapshot_register(Reg(r as u32))))
            .collect();
        let any = self.fold_values(&flat, |g, a, b| g.b.ins().bor(a, b));
        let any = self.b.ins().vany_true(any);
        let (some, split) = (self.b.create_block(), self.b.create_block());
        self.b.ins().brif(any, some, &[], f, &[]);
        self.b.seal_block(some);
        self.b.switch_to_block(some);
        let all = self.fold_values(&flat, |g, a, b| g.b.ins().band(a, b));
        let all = self.b.ins().vall_true(all);
        self.b.set_cold_block(split);
        self.b.ins().brif(all, t, &[], split, &[]);
        self.b.seal_block(split);
        self.b.switch_to_block(split);
        for (c, m) in masks.iter().enumerate() {
            self.store_lane_array(frame_header::PC_OFFSET, c, m);
        }
        self.spill_registers(
            &values,
            PcUpdate::ByStoredMask(self.pc_of_block(taken) as u32, self.pc_of_block(fall) as u32),
        );
        if let Some(masked) = self.masked_entry {
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
        let any = self.fold_values(&masks, |g, a, b| g.b.ins().bor(a, b));
        let any = self.b.ins().vany_true(any);
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

    fn branch_if_all_lanes(&mut self, masks: &[Value], every: ir::Block, else_to: ir::Block) {
        let all = self.fold_values(masks, |g, a, b| g.b.ins().band(a, b));
        let all = self.b.ins().vall_true(all);
        self.b.ins().brif(all, every, &[], else_to, &[]);
    }

    fn fold_values(&mut self, values: &[Value], f: impl Fn(&mut Self, Value, Value) -> Value) -> Value {
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
        let values: Vec<_> = self
            .plan
            .live_out(block)
            .iter_bits()
            .map(|r| (Reg(r as u32), self.snapshot_register(Reg(r as u32))))
            .collect();
        let lanes: Vec<LaneParts> = (0..CHUNKS_PER_WARP).map(|c| self.read_lanes(index, c)).collect();
        let first = ops::extract_lane(&mut self.op_ctx(), RegWidth::W32, &lanes[0], 0)[0];
        let all = self.b.ins().splat(types::I32X4, first);
        let flat: Vec<Value> = lanes.iter().flatten().map(|&v| self.b.ins().icmp(IntCC::Equal, v, all)).collect();
        let same = self.fold_values(&flat, |g, a, b| g.b.ins().band(a, b));
        let same = self.b.ins().vall_true(same);
        let (agree, split) = (self.b.create_block(), self.b.create_block());
        self.b.set_cold_block(split);
        self.b.ins().brif(same, agree, &[], split, &[]);
        self.b.seal_block(agree);
        self.b.seal_block(split);
        self.b.switch_to_block(split);
        self.spill_registers(&values, PcUpdate::Unchanged);
        for (c, l) in lanes.iter().enumerate() {
            let pcs = self.jump_table_target_pcs(l, targets);
            self.store_lane_array(frame_header::PC_OFFSET, c, &pcs);
        }
        if let Some(masked) = self.masked_entry {
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
