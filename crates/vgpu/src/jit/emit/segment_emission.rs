//! The emission of a segment: a run of statements without an ordering point inside.
//!
//! It is emitted for lanes 0-7, then 8-15 and so on. In converged code its scalar statements come
//! first; what the statements of the lanes read of scalar registers is recorded then, for the
//! registers may change later on.

use super::emitter::{CommonSubexpressions, FunctionEmitter, ScalarResults};
use super::ops;
use super::values::{CHUNKS, Parts, Shape, Width};
use crate::jit::JitError;
use crate::jit::simt::body::{Stmt, stmt_uses};
use crate::jit::simt::classes::{Class, Exec};
use rtcg_ptx::ast::*;
use smallvec::{SmallVec, smallvec};
use std::ops::Range;

impl<'a, 'f> FunctionEmitter<'a, 'f> {
    /// Emits a segment of converged code in pieces that end before the statements `ends`.
    pub(crate) fn segment(&mut self, stmts: &[Stmt<'a>], ends: &[usize]) -> Result<(), JitError> {
        self.begin_segment(stmts);
        if self.emit_scalars(stmts)? {
            let mut from = 0;
            for &to in ends {
                for chunk in 0..CHUNKS {
                    if ends.len() == 1 {
                        self.chunk_values.clear();
                    }
                    self.emit_chunk(stmts, from..to, chunk)?;
                }
                from = to;
            }
        }
        self.end_segment();
        Ok(())
    }

    /// Emits a segment of masked code; the last one of a block writes registers back to the frame.
    pub(crate) fn masked_segment(&mut self, stmts: &[Stmt<'a>], last: bool) -> Result<(), JitError> {
        self.begin_segment(stmts);
        for chunk in 0..CHUNKS {
            self.chunk_values.clear();
            self.emit_chunk(stmts, 0..stmts.len(), chunk)?;
            if last {
                self.write_back(chunk);
            }
        }
        self.end_segment();
        Ok(())
    }

    fn begin_segment(&mut self, stmts: &[Stmt<'a>]) {
        self.splats.clear();
        self.cse = CommonSubexpressions::default();
        self.chunk_values.clear();
        self.scalar_results = stmts.iter().map(|_| ScalarResults::default()).collect();
    }

    fn end_segment(&mut self) {
        self.scalar_results.clear();
        self.sunk_uniforms.clear();
        self.chunk_values.clear();
        self.current = 0;
        self.splats.clear();
    }

    /// Emits statements of a segment for one chunk. A uniform load that an earlier chunk has made
    /// is not made again.
    fn emit_chunk(&mut self, stmts: &[Stmt<'a>], range: Range<usize>, chunk: usize) -> Result<(), JitError> {
        for k in range {
            let st = &stmts[k];
            self.current = k;
            let mut known = false;
            if let (Inst::Ld { dsts, .. }, false) = (&*st.inst, self.sunk_uniforms.is_empty())
                && let [Some(r)] = dsts[..]
            {
                known = self.sunk_uniforms.contains(&r) && self.chunk_values.iter().any(|(x, _)| *x == r);
            }
            if !known {
                self.lanes_of(st, chunk)?;
            }
        }
        Ok(())
    }

    /// Whether a uniform load is better made chunk by chunk: when only statements of the lanes in
    /// this segment read it, loading it again costs less than keeping it in a register.
    fn should_sink(&self, stmts: &[Stmt<'_>], k: usize) -> bool {
        let Inst::Ld { dsts, space, .. } = &*stmts[k].inst else { return false };
        let [Some(r)] = dsts[..] else { return false };
        let plan = self.plan;
        if stmts[k].guard.is_some() || *space == Space::Param || matches!(self.width(r), Width::W128 | Width::Pred) {
            return false;
        }
        let block = &plan.body.blocks[self.block];
        let in_term = match &block.term {
            crate::jit::simt::body::Term::Branch { guard, .. }
            | crate::jit::simt::body::Term::UniformAny { guard, .. }
            | crate::jit::simt::body::Term::PredicatedSplit { guard, .. } => guard.reg == r,
            crate::jit::simt::body::Term::Table { index, .. } => *index == r,
            _ => false,
        };
        // A branch that its first and last lane decide compares with a scalar.
        let in_ends = self.branch_endpoints.is_some_and(|e| [e.affine, e.bound].contains(&Operand::Reg(r)));
        if in_term || in_ends || self.class(r) != Class::Uniform || plan.live_out(self.block).contains(r.index()) {
            return false;
        }
        let carry = plan.body.carry();
        let (mut inside, mut total, mut defs, mut good) = (0, 0, 0, true);
        for st in &block.stmts {
            stmt_uses(st, carry, &mut |x| total += usize::from(x == r));
            crate::jit::simt::body::stmt_defs(st, carry, &mut |x| defs += usize::from(x == r));
        }
        for st in &stmts[k + 1..] {
            let mut uses = 0;
            stmt_uses(st, carry, &mut |x| uses += usize::from(x == r));
            inside += uses;
            let is_address =
                matches!(&*st.inst, Inst::Ld { addr, .. } | Inst::St { addr, .. } if addr.base == AddrBase::Reg(r));
            good &= uses == 0 || (plan.classes.exec(st) == Exec::Lanes && !is_address);
        }
        good && defs == 1 && inside == total
    }

    /// Emits the scalar statements of a segment; says whether anything is left for the lanes.
    fn emit_scalars(&mut self, stmts: &[Stmt<'a>]) -> Result<bool, JitError> {
        let mut lanes = false;
        let carry = self.plan.body.carry();
        let mut pending = vec![];
        for (k, st) in stmts.iter().enumerate() {
            self.current = k;
            self.statement = st.index;
            self.set_site(crate::jit::simt::sites::WARP);
            let exec = self.plan.classes.exec(st);
            if exec == Exec::Lanes || self.should_sink(stmts, k) {
                lanes = true;
                let mut regs: SmallVec<[Reg; 4]> = smallvec![];
                stmt_uses(st, carry, &mut |r| regs.push(r));
                for r in regs {
                    if self.class(r).is_scalar() && !self.sunk_uniforms.contains(&r) {
                        let p = self.scalar_now(r);
                        self.scalar_results[k].scalars.push((r, p));
                    }
                }
                if exec != Exec::Lanes {
                    crate::jit::simt::operands::for_each_def(&st.inst, &mut |r| self.sunk_uniforms.push(r));
                }
                continue;
            }
            if let Some(check) = crate::jit::simt::stride_checks::check(&self.plan.classes, st) {
                pending.push(self.failed_check(check));
            }
            if !ops::is_pure(&st.inst) {
                self.flush_checks(&mut pending);
            }
            self.scalar_results[k].done = true;
            let class = exec.class();
            for (r, parts) in self.chunked_statement(st, exec)? {
                if self.class(r).is_scalar() {
                    self.write_scalar(r, &parts, class);
                } else {
                    lanes = true;
                    self.scalar_results[k].results.push((r, parts, class));
                }
            }
        }
        self.flush_checks(&mut pending);
        self.prepare_addresses(stmts)?;
        Ok(lanes)
    }

    /// A statement computed once, or once per chunk.
    fn chunked_statement(&mut self, st: &Stmt<'_>, exec: Exec) -> Result<Vec<(Reg, Parts)>, JitError> {
        if !matches!(exec, Exec::Chunked(_)) {
            return self.scalar_statement(st);
        }
        let mut all: Vec<(Reg, Parts)> = vec![];
        for chunk in 0..CHUNKS {
            self.current_chunk = Some(chunk);
            let results = self.scalar_statement(st);
            self.current_chunk = None;
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
    fn scalar_statement(&mut self, st: &Stmt<'_>) -> Result<Vec<(Reg, Parts)>, JitError> {
        if ops::is_pure(&st.inst) {
            let mut srcs = vec![];
            for (o, w) in ops::sources(&st.inst) {
                srcs.push(self.scalar_operand(o, w));
            }
            let carry = self.plan.body.carry();
            if ops::reads_carry(&st.inst) {
                srcs.push(self.scalar_now(carry));
            }
            let results = self.lower(Shape::Scalar, &st.inst, &srcs)?;
            self.note_address_base(st, &results);
            return Ok(results);
        }
        self.scalar_misc(st)
    }

    /// Remembers of a sum just computed which pointer it is near.
    fn note_address_base(&mut self, st: &Stmt<'_>, results: &[(Reg, Parts)]) {
        let stmts = &self.plan.body.blocks[self.block].stmts;
        let distance = (std::ptr::from_ref(st) as usize).wrapping_sub(stmts.as_ptr() as usize);
        let at = distance / size_of::<Stmt<'_>>();
        if !stmts.get(at).is_some_and(|x| std::ptr::eq(x, st)) {
            return;
        }
        let (Some((pointer, bound)), [(_, sum)]) = (self.bounds.root((self.block, at)), results) else { return };
        let near = self.scalar_operand(pointer, Width::W64)[0];
        let (root, bound) = self.address_bases.get(&near).map_or((near, bound), |(root, b)| (*root, b.plus(bound)));
        self.address_bases.insert(sum[0], (root, bound));
    }

    /// Lowers a pure instruction and fits its results to the registers.
    pub(crate) fn lower(&mut self, shape: Shape, inst: &Inst, srcs: &[Parts]) -> Result<Vec<(Reg, Parts)>, JitError> {
        let mut out = match ops::lower(&mut self.cx(), shape, inst, srcs) {
            Ok(o) => o,
            Err(e) => return Err(self.error(e.to_string())),
        };
        let mut results = vec![];
        if ops::writes_carry(inst)
            && let Some(cc) = out.pop()
        {
            results.push((self.plan.body.carry(), cc));
        }
        for ((r, w), parts) in ops::dests(inst).into_iter().zip(out) {
            let to = self.width(r);
            let parts = ops::fit_result(&mut self.cx(), shape, inst, &parts, w, to);
            results.push((r, parts));
        }
        Ok(results)
    }

    /// A statement for the lanes of one chunk.
    fn lanes_of(&mut self, st: &Stmt<'a>, chunk: usize) -> Result<(), JitError> {
        if self.is_deferred(st) {
            return Ok(());
        }
        self.statement = st.index;
        self.set_site(crate::jit::simt::sites::chunk(chunk));
        if self.scalar_results[self.current].done {
            let results = self.scalar_results[self.current].results.clone();
            for (r, parts, class) in results {
                let w = self.width(r);
                let lanes = self.expand(&parts, w, class, chunk);
                self.write(r, chunk, lanes, None);
            }
            return Ok(());
        }
        if !ops::is_pure(&st.inst) {
            return self.lanes_misc(st, chunk);
        }
        let mut srcs = vec![];
        for (o, w) in ops::sources(&st.inst) {
            srcs.push(self.operand(o, w, chunk));
        }
        if ops::reads_carry(&st.inst) {
            let carry = self.plan.body.carry();
            srcs.push(self.read(carry, chunk));
        }
        let results = self.lower(Shape::Chunk, &st.inst, &srcs)?;
        let guard = self.blend_mask(st, chunk);
        for (r, parts) in results {
            self.write(r, chunk, parts, guard.as_ref());
        }
        Ok(())
    }

    /// Whether the predicate that `st` makes is made at the end of the block, when lanes disagree.
    fn is_deferred(&self, st: &Stmt<'_>) -> bool {
        let deferred = self.branch_endpoints.filter(|e| e.deferred);
        deferred.is_some_and(|e| std::ptr::eq(st, &raw const self.plan.body.blocks[self.block].stmts[e.at]))
    }

    /// Splits the statements of a block into segments; `true` marks an ordering point.
    pub(crate) fn segments(&self, stmts: &[Stmt<'a>]) -> Vec<(usize, usize, bool)> {
        crate::jit::simt::segments::split(&self.plan.classes, self.plan.body.carry(), stmts, self.is_masked())
    }
}
