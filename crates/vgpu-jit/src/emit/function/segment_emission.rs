//! The emission of a segment: a run of statements without an ordering point inside.
//!
//! It is emitted for lanes 0-7, then 8-15 and so on. In converged code its scalar statements come
//! first; what the statements of the lanes read of scalar registers is recorded then, for the
//! registers may change later on.

use super::emitter::{ChunkLoop, CommonSubexpressions, FunctionEmitter, ScalarResults, trusted_mem_flags};
use super::register_values::{CHUNKS_PER_WARP, EmitShape, LaneParts, RegWidth};
use crate::JitError;
use crate::emit::ops;
use crate::simt::body::{Stmt, stmt_uses};
use crate::simt::lane_accesses::{ChunkOrder, chunk_order};
use crate::simt::lane_classes::{ExecMode, LaneClass};
use cranelift_codegen::ir::{InstBuilder, condcodes::IntCC, types};
use rtcg_ptx::ast::*;
use rtcg_vgpu_abi::WarpCtx;
use smallvec::{SmallVec, smallvec};
use std::mem::offset_of;
use std::ops::Range;

impl<'a, 'f> FunctionEmitter<'a, 'f> {
    /// Emits a segment of converged code in pieces that end before the statements `ends`.
    pub(crate) fn emit_segment(&mut self, stmts: &[Stmt<'a>], ends: &[usize]) -> Result<(), JitError> {
        self.begin_segment(stmts);
        if self.emit_scalar_statements(stmts)? {
            let mut from = 0;
            // What is left for the lanes of a block of one thread are stores, which one chunk makes.
            let (chunks, order) = if self.env.variant.single_thread {
                (1, ChunkOrder::ASCENDING)
            } else {
                (CHUNKS_PER_WARP, chunk_order(&self.plan.classes, stmts))
            };
            for &to in ends {
                for chunk in (0..chunks).map(|number| order.chunk(number)) {
                    if ends.len() == 1 {
                        self.segment.chunk_values.clear();
                    }
                    self.emit_chunk_statements(stmts, from..to, chunk)?;
                }
                from = to;
            }
        }
        self.end_segment();
        Ok(())
    }

    /// Emits a segment of masked code; the last one of a block writes registers back to the frame.
    pub(crate) fn emit_masked_segment(&mut self, stmts: &[Stmt<'a>], last: bool) -> Result<(), JitError> {
        if self.env.variant.first_tier {
            return self.emit_chunk_loop(stmts);
        }
        self.begin_segment(stmts);
        let order = chunk_order(&self.plan.classes, stmts);
        for chunk in (0..CHUNKS_PER_WARP).map(|number| order.chunk(number)) {
            self.segment.chunk_values.clear();
            self.emit_chunk_statements(stmts, 0..stmts.len(), chunk)?;
            if last {
                self.write_back_registers(chunk);
            }
        }
        self.end_segment();
        Ok(())
    }

    /// Emits a segment of masked code once, in a loop over the chunks that have active lanes: a quarter of the code.
    /// Registers are in the frame before and after it.
    fn emit_chunk_loop(&mut self, stmts: &[Stmt<'a>]) -> Result<(), JitError> {
        self.begin_segment(stmts);
        self.forget_masked_registers();
        let [header, run, latch, done] = std::array::from_fn(|_| self.b.create_block());
        self.b.append_block_param(header, types::I64);
        let zero = self.iconst64(0);
        self.b.ins().jump(header, &[zero.into()]);
        let order = chunk_order(&self.plan.classes, stmts);
        let ChunkLoop { chunk, .. } = self.begin_chunk_loop(header, order);
        let active = self.exec_mask(0).unwrap_or_default();
        let either = self.b.ins().bor(active[0], active[1]);
        let any = self.b.ins().vany_true(either);
        self.b.ins().brif(any, run, &[], latch, &[]);
        self.b.seal_block(run);
        self.b.switch_to_block(run);
        self.b.ins().store(trusted_mem_flags(), chunk, self.abi.ctx, offset_of!(WarpCtx, chunk) as i32);
        self.emit_chunk_statements(stmts, 0..stmts.len(), 0)?;
        self.write_back_registers(0);
        self.b.ins().jump(latch, &[]);
        self.b.seal_block(latch);
        self.b.switch_to_block(latch);
        let counter = self.b.block_params(header)[0];
        let next = self.b.ins().iadd_imm_s(counter, 32);
        let more = self.b.ins().icmp_imm_u(IntCC::UnsignedLessThan, next, 32 * CHUNKS_PER_WARP as i64);
        self.b.ins().brif(more, header, &[next.into()], done, &[]);
        self.b.seal_block(header);
        self.b.seal_block(done);
        self.b.switch_to_block(done);
        self.segment.chunk_loop = None;
        let zero = self.iconst32(0);
        self.b.ins().store(trusted_mem_flags(), zero, self.abi.ctx, offset_of!(WarpCtx, chunk) as i32);
        self.forget_masked_registers();
        self.end_segment();
        Ok(())
    }

    fn begin_segment(&mut self, stmts: &[Stmt<'a>]) {
        self.segment.splats.clear();
        self.segment.cse = CommonSubexpressions::default();
        self.segment.chunk_values.clear();
        self.segment.scalar_results = stmts.iter().map(|_| ScalarResults::default()).collect();
    }

    fn end_segment(&mut self) {
        self.segment.scalar_results.clear();
        self.segment.sunk_uniforms.clear();
        self.segment.chunk_values.clear();
        self.segment.current = 0;
        self.segment.splats.clear();
    }

    /// Emits statements of a segment for one chunk. A uniform load that an earlier chunk has made
    /// is not made again.
    fn emit_chunk_statements(&mut self, stmts: &[Stmt<'a>], range: Range<usize>, chunk: usize) -> Result<(), JitError> {
        for k in range {
            let st = &stmts[k];
            self.segment.current = k;
            let mut known = false;
            if let (Inst::Ld { dsts, .. }, false) = (&*st.inst, self.segment.sunk_uniforms.is_empty())
                && let [Some(r)] = dsts[..]
            {
                known =
                    self.segment.sunk_uniforms.contains(&r) && self.segment.chunk_values.iter().any(|(x, _)| *x == r);
            }
            if !known {
                self.emit_lane_statement(st, chunk)?;
            }
        }
        Ok(())
    }

    /// Whether a uniform load is better made chunk by chunk: when only statements of the lanes in
    /// this segment read it, loading it again costs less than keeping it in a register.
    fn should_rematerialize_load(&self, stmts: &[Stmt<'_>], k: usize) -> bool {
        let Inst::Ld { dsts, space, .. } = &*stmts[k].inst else { return false };
        let [Some(r)] = dsts[..] else { return false };
        let plan = self.plan;
        if stmts[k].guard.is_some()
            || *space == Space::Param
            || matches!(self.width_of_register(r), RegWidth::W128 | RegWidth::Pred)
        {
            return false;
        }
        let block = &plan.body.blocks[self.blocks.current];
        let in_term = match &block.term {
            crate::simt::body::Terminator::Branch { guard, .. }
            | crate::simt::body::Terminator::UniformAny { guard, .. }
            | crate::simt::body::Terminator::PredicatedSplit { guard, .. } => guard.reg == r,
            crate::simt::body::Terminator::Table { index, .. } => *index == r,
            _ => false,
        };
        // A branch that its first and last lane decide compares with a scalar.
        let in_ends = self.blocks.branch_endpoints.is_some_and(|e| [e.affine, e.bound].contains(&Operand::Reg(r)));
        if in_term
            || in_ends
            || self.class_of_register(r) != LaneClass::Uniform
            || plan.live_out(self.blocks.current).contains(r.index())
        {
            return false;
        }
        let carry = plan.body.carry_flag();
        let (mut inside, mut total, mut defs, mut good) = (0, 0, 0, true);
        for st in &block.stmts {
            stmt_uses(st, carry, &mut |x| total += usize::from(x == r));
            crate::simt::body::stmt_defs(st, carry, &mut |x| defs += usize::from(x == r));
        }
        for st in &stmts[k + 1..] {
            let mut uses = 0;
            stmt_uses(st, carry, &mut |x| uses += usize::from(x == r));
            inside += uses;
            let is_address =
                matches!(&*st.inst, Inst::Ld { addr, .. } | Inst::St { addr, .. } if addr.base == AddrBase::Reg(r));
            good &= uses == 0 || (plan.classes.exec_mode(st) == ExecMode::Lanes && !is_address);
        }
        good && defs == 1 && inside == total
    }

    /// Emits the scalar statements of a segment; says whether anything is left for the lanes.
    fn emit_scalar_statements(&mut self, stmts: &[Stmt<'a>]) -> Result<bool, JitError> {
        let mut lanes = false;
        let carry = self.plan.body.carry_flag();
        let mut pending = vec![];
        for (k, st) in stmts.iter().enumerate() {
            self.segment.current = k;
            self.segment.statement = st.index;
            self.set_instruction_site(crate::simt::instruction_sites::WHOLE_WARP_LANE_CODE);
            let exec = self.plan.classes.exec_mode(st);
            if exec == ExecMode::Lanes || self.should_rematerialize_load(stmts, k) {
                lanes = true;
                let mut regs: SmallVec<[Reg; 4]> = smallvec![];
                stmt_uses(st, carry, &mut |r| regs.push(r));
                for r in regs {
                    if self.class_of_register(r).is_scalar() && !self.segment.sunk_uniforms.contains(&r) {
                        let p = self.current_scalar(r);
                        self.segment.scalar_results[k].scalars.push((r, p));
                    }
                }
                if exec != ExecMode::Lanes {
                    crate::simt::operands::for_each_def(&st.inst, &mut |r| self.segment.sunk_uniforms.push(r));
                }
                continue;
            }
            if let Some(check) = crate::simt::stride_checks::stride_check(&self.plan.classes, st) {
                pending.push(self.emit_stride_check(check));
            }
            if !ops::is_pure(&st.inst) {
                self.branch_if_checks_failed(&mut pending);
            }
            self.segment.scalar_results[k].done = true;
            let class = exec.result_lane_class();
            for (r, parts) in self.emit_chunked_statement(st, exec)? {
                if self.class_of_register(r).is_scalar() {
                    self.write_scalar(r, &parts, class);
                } else {
                    lanes = true;
                    self.segment.scalar_results[k].results.push((r, parts, class));
                }
            }
        }
        self.branch_if_checks_failed(&mut pending);
        self.precompute_scalar_addresses(stmts)?;
        Ok(lanes)
    }

    /// A statement computed once, or once per chunk.
    fn emit_chunked_statement(&mut self, st: &Stmt<'_>, exec: ExecMode) -> Result<Vec<(Reg, LaneParts)>, JitError> {
        if !matches!(exec, ExecMode::Chunked(_)) {
            return self.emit_scalar_statement(st);
        }
        let mut all: Vec<(Reg, LaneParts)> = vec![];
        for chunk in 0..CHUNKS_PER_WARP {
            self.segment.current_chunk = Some(chunk);
            let results = self.emit_scalar_statement(st);
            self.segment.current_chunk = None;
            for (i, (r, parts)) in results?.into_iter().enumerate() {
                if chunk == 0 {
                    all.push((r, parts));
                } else {
                    all[i].1.extend(parts);
                }
            }
        }
        Ok(all)
    }

    /// A statement computed once; gives the values of its destinations in their own widths.
    pub(crate) fn emit_scalar_statement(&mut self, st: &Stmt<'_>) -> Result<Vec<(Reg, LaneParts)>, JitError> {
        if ops::is_pure(&st.inst) {
            let mut srcs = vec![];
            for (o, w) in ops::source_operands(&st.inst) {
                srcs.push(self.scalar_operand(o, w));
            }
            let carry = self.plan.body.carry_flag();
            if ops::reads_carry(&st.inst) {
                srcs.push(self.current_scalar(carry));
            }
            let results = self.lower_pure_inst(EmitShape::Scalar, &st.inst, &srcs)?;
            self.record_address_base(st, &results);
            return Ok(results);
        }
        self.emit_uniform_non_arithmetic(st)
    }

    /// Remembers of a sum just computed which pointer it is near.
    fn record_address_base(&mut self, st: &Stmt<'_>, results: &[(Reg, LaneParts)]) {
        let stmts = &self.plan.body.blocks[self.blocks.current].stmts;
        let distance = (std::ptr::from_ref(st) as usize).wrapping_sub(stmts.as_ptr() as usize);
        let at = distance / size_of::<Stmt<'_>>();
        if !stmts.get(at).is_some_and(|x| std::ptr::eq(x, st)) {
            return;
        }
        let (Some((pointer, bound)), [(_, sum)]) =
            (self.addresses.bounds.unbounded_addend((self.blocks.current, at)), results)
        else {
            return;
        };
        let near = self.scalar_operand(pointer, RegWidth::W64)[0];
        let (root, bound) =
            self.addresses.bases.get(&near).map_or((near, bound), |(root, b)| (*root, b.add_bound(bound)));
        self.addresses.bases.insert(sum[0], (root, bound));
    }

    /// Lowers a pure instruction and fits its results to the registers.
    pub(crate) fn lower_pure_inst(
        &mut self,
        shape: EmitShape,
        inst: &Inst,
        srcs: &[LaneParts],
    ) -> Result<Vec<(Reg, LaneParts)>, JitError> {
        let mut out = match ops::lower_inst(&mut self.op_ctx(), shape, inst, srcs) {
            Ok(o) => o,
            Err(e) => return Err(self.statement_error(e.to_string())),
        };
        let mut results = vec![];
        if ops::writes_carry(inst)
            && let Some(cc) = out.pop()
        {
            results.push((self.plan.body.carry_flag(), cc));
        }
        for ((r, w), parts) in ops::dest_registers(inst).into_iter().zip(out) {
            let to = self.width_of_register(r);
            let parts = ops::extend_result(&mut self.op_ctx(), shape, inst, &parts, w, to);
            results.push((r, parts));
        }
        Ok(results)
    }

    /// A statement for the lanes of one chunk.
    fn emit_lane_statement(&mut self, st: &Stmt<'a>, chunk: usize) -> Result<(), JitError> {
        if self.is_deferred_predicate(st) {
            return Ok(());
        }
        self.segment.statement = st.index;
        self.set_instruction_site(crate::simt::instruction_sites::chunk_lane_code(chunk));
        if self.segment.scalar_results[self.segment.current].done {
            let results = self.segment.scalar_results[self.segment.current].results.clone();
            for (r, parts, class) in results {
                let w = self.width_of_register(r);
                let lanes = self.expand_scalar_to_lanes(&parts, w, class, chunk);
                self.write_lanes(r, chunk, lanes, None);
            }
            return Ok(());
        }
        if !ops::is_pure(&st.inst) {
            return self.emit_varying_non_arithmetic(st, chunk);
        }
        let mut srcs = vec![];
        for (o, w) in ops::source_operands(&st.inst) {
            srcs.push(self.operand_lanes(o, w, chunk));
        }
        if ops::reads_carry(&st.inst) {
            let carry = self.plan.body.carry_flag();
            srcs.push(self.read_lanes(carry, chunk));
        }
        let results = self.lower_pure_inst(EmitShape::Chunk, &st.inst, &srcs)?;
        let guard = self.blend_mask(st, chunk);
        for (r, parts) in results {
            self.write_lanes(r, chunk, parts, guard.as_ref());
        }
        Ok(())
    }

    /// Whether the predicate that `st` makes is made at the end of the block, when lanes disagree.
    fn is_deferred_predicate(&self, st: &Stmt<'_>) -> bool {
        let deferred = self.blocks.branch_endpoints.filter(|e| e.deferred);
        deferred.is_some_and(|e| std::ptr::eq(st, &raw const self.plan.body.blocks[self.blocks.current].stmts[e.at]))
    }

    /// Splits the statements of a block into segments; `true` marks an ordering point.
    pub(crate) fn split_into_segments(&self, stmts: &[Stmt<'a>]) -> Vec<(usize, usize, bool)> {
        crate::simt::segments::split_into_segments(
            &self.plan.classes,
            self.plan.body.carry_flag(),
            stmts,
            self.is_masked(),
        )
    }
}
