//! The outer function: frame, local memory, the choice between converged and masked code, and the
//! converged code itself, but for the ends of its blocks ([`super::converged_branches`]).
//!
//! Establishes for every block of it: all 32 lanes exist and stand here; scalar registers hold
//! what their class says.

use super::compile::EmitEnv;
use super::emitter::{FunctionAbi, FunctionEmitter, RegisterStorage, RegisterVariables, trusted_mem_flags};
use super::out_of_line::{LANE_BITS_INDEX, PcUpdate, SlowPathRequest};
use super::register_values::{CHUNKS_PER_WARP, EmitShape, LaneParts, RegWidth};
use crate::JitError;
use crate::emit::code::host_state::{KernelHostState, MaskedVersionSlot};
use crate::emit::code::relocations::{self, runtime_call_target};
use crate::simt::control_flow::BitSet;
use crate::simt::function_plan::{FunctionPlan, LOCAL_ALIGN, frame_header, special_pcs};
use crate::simt::lane_classes::LaneClass;
use cranelift_codegen::ir::{self, InstBuilder, Value, condcodes::IntCC, types};
use cranelift_frontend::{FunctionBuilder, Variable};
use rtcg_ptx::ast::*;
use rtcg_vgpu_abi::{TrapKind, WarpCtx};
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
    let abi = FunctionAbi { ctx: params[0], frame, args, rets };
    let vars = declare_variables(&mut b, plan);
    let mut g = FunctionEmitter::new(b, env, plan, abi, RegisterStorage::Converged(vars));
    let lanes = if plan.f.entry { g.load_ctx_field(types::I32, offset_of!(WarpCtx, live)) } else { params[1] };
    g.allocate_local_memory();
    let done = g.b.create_block();
    g.blocks.masked_entry = Some(g.b.create_block());
    g.blocks.by_ptx_block = plan.body.blocks.iter().map(|_| g.b.create_block()).collect();
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
        self.b.ins().store(trusted_mem_flags(), zero, self.abi.frame, frame_header::SPIN_COUNT_OFFSET);
        if self.plan.has_warp_ops {
            self.b.ins().store(trusted_mem_flags(), zero, self.abi.frame, frame_header::WARP_OPS_DONE_OFFSET);
        }
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
        self.b.ins().store(trusted_mem_flags(), sp, self.abi.frame, frame_header::LOCAL_BASE_OFFSET);
        let new = self.b.ins().iadd_imm_s(sp, i64::from(self.plan.local_pitch) * 32);
        let end = self.load_ctx_field(types::I64, offset_of!(WarpCtx, local_end));
        let over = self.b.ins().icmp(IntCC::UnsignedGreaterThan, new, end);
        self.emit_in_cold_block(over, |g| g.emit_trap(TrapKind::StackOverflow));
        self.b.ins().store(trusted_mem_flags(), new, self.abi.ctx, offset_of!(WarpCtx, local_sp) as i32);
        self.mark_local_memory(sp, self.plan.local_bytes_used());
    }

    fn free_local_memory(&mut self) {
        if self.plan.local_pitch != 0 || self.uses_alloca() {
            let sp =
                self.b.ins().load(types::I64, trusted_mem_flags(), self.abi.frame, frame_header::LOCAL_BASE_OFFSET);
            if self.plan.local_pitch != 0 {
                self.mark_local_memory(sp, 0);
            }
            self.b.ins().store(trusted_mem_flags(), sp, self.abi.ctx, offset_of!(WarpCtx, local_sp) as i32);
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
        relocations::call_target(&mut self.b, f, &[self.abi.ctx, kind, lane, site, address], None);
    }

    /// Enters converged code when all lanes are there, else masked code at block 0.
    fn branch_to_converged_code(&mut self, lanes: Value) {
        let masked = self.blocks.masked_entry.unwrap_or(self.blocks.by_ptx_block[0]);
        let variant = &self.env.variant;
        if self.plan.f.entry && (variant.full_warps || variant.single_thread) && !variant.is_masked_only() {
            self.b.ins().jump(self.blocks.by_ptx_block[0], &[]);
            return;
        }
        let partial = self.b.create_block();
        if self.env.variant.is_masked_only() {
            self.b.ins().jump(partial, &[]);
        } else {
            let all = self.b.ins().icmp_imm_s(IntCC::Equal, lanes, -1);
            self.b.ins().brif(all, self.blocks.by_ptx_block[0], &[], partial, &[]);
        }
        self.b.set_cold_block(partial);
        self.b.switch_to_block(partial);
        if self.plan.zeroed_bytes != 0 {
            self.emit_slow_path_call(SlowPathRequest::ZeroRegisters(self.plan.zeroed_bytes));
        }
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
        let args = [self.abi.ctx, self.abi.frame, self.abi.args, self.abi.rets, slot];
        relocations::call_computed_address(&mut self.b, code, &args, Some(types::I32))
    }

    /// Calls masked code and goes on where its lanes have met again.
    fn call_masked_and_resume(&mut self, done: ir::Block) -> Result<(), JitError> {
        let Some(block) = self.blocks.masked_entry else { return Ok(()) };
        self.b.switch_to_block(block);
        let at = self.call_masked_version();
        let resumable: Vec<usize> = self.plan.resumable.iter_bits().collect();
        let (Some(at), false) = (at, resumable.is_empty()) else {
            self.b.ins().jump(done, &[]);
            return Ok(());
        };
        let entries: Vec<ir::Block> = resumable.iter().map(|_| self.b.create_block()).collect();
        let mut targets = vec![done; self.plan.body.blocks.len()];
        resumable.iter().zip(&entries).for_each(|(&r, &entry)| targets[r] = entry);
        let table: Vec<_> = targets.iter().map(|&target| self.b.func.dfg.block_call(target, &[])).collect();
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
        let target = self.blocks.by_ptx_block[r];
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
        self.blocks.current = block;
        self.b.switch_to_block(self.blocks.by_ptx_block[block]);
        let plan = self.plan;
        let stmts = &plan.body.blocks[block].stmts;
        self.blocks.branch_endpoints =
            crate::simt::branch_endpoints::find_branch_comparison(&plan.body, &plan.classes, &plan.live, block);
        self.blocks.checkpoint.clear();
        if stmts.iter().any(|st| crate::simt::stride_checks::needs_stride_check(&plan.classes, st)) {
            self.blocks.checkpoint = self.snapshot_registers(&plan.live[block]);
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
        self.segment.statement = plan.body.blocks[block].term_index;
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

    /// The values of registers, for a later spill.
    pub(crate) fn snapshot_registers(&mut self, registers: &BitSet) -> Vec<(Reg, SmallVec<[LaneParts; 4]>)> {
        registers.iter_bits().map(|r| Reg(r as u32)).map(|reg| (reg, self.snapshot_register(reg))).collect()
    }

    /// One entry when scalar, else one per chunk.
    fn snapshot_register(&mut self, r: Reg) -> SmallVec<[LaneParts; 4]> {
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
        let Some(masked) = self.blocks.masked_entry else { return };
        self.spill_registers(values, PcUpdate::All(at as u32));
        self.b.ins().jump(masked, &[]);
    }
}
