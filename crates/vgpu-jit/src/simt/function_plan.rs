//! What is decided about a function before code is emitted: blocks, classes, the layout of its
//! frame, of its local memory and of the records that calls pass their arguments in.

use super::body::{FunctionBody, Terminator, stmt_defs, stmt_uses};
use super::control_flow::{self, BitSet};
use super::lane_classes::LaneClasses;
use crate::{Instrumentation, JitError, LaunchVariant};
use rtcg_ptx::ast::*;
use rtcg_vgpu_abi::WARP_LANES;
use std::collections::{HashMap, HashSet};

/// Fixed fields at the start of a function's frame; lane arrays are of `u32`.
pub(crate) mod frame_header {
    /// Program counter of each lane.
    pub(crate) const PC_OFFSET: i32 = 0;
    /// Execution mask of the running block, 0 or all ones per lane.
    pub(crate) const MASK_OFFSET: i32 = 128;
    /// Barrier number of each lane that is parked at one.
    pub(crate) const BAR_ID_OFFSET: i32 = 256;
    pub(crate) const BAR_COUNT_OFFSET: i32 = 384;
    pub(crate) const BAR_KIND_OFFSET: i32 = 512;
    /// In a parked lane's kind: all threads of the warp must execute this barrier together (`.aligned`).
    pub(crate) const BAR_KIND_ALIGNED: u32 = 1 << 8;
    /// Predicate of `bar.red`, 0 or all ones.
    pub(crate) const BAR_PRED_OFFSET: i32 = 640;
    pub(crate) const BAR_RESULT_OFFSET: i32 = 768;
    /// Non-zero when a warp operation must go on with the lanes that came.
    pub(crate) const FORCE_WARP_OP_OFFSET: i32 = 896;
    /// Back edges of spinning loops taken in masked code.
    pub(crate) const SPIN_COUNT_OFFSET: i32 = 900;
    /// First byte of the warp's local memory in this activation.
    pub(crate) const LOCAL_BASE_OFFSET: i32 = 904;
    /// The frame of the caller whose other lanes may be parked at a barrier.
    pub(crate) const CALLER_FRAME_OFFSET: i32 = 912;
    /// Bits of lanes for which the warp operation at the beginning of their block has been executed.
    pub(crate) const WARP_OPS_DONE_OFFSET: i32 = 920;
    /// Where accesses of inactive lanes go; long enough for the elements of a vector in a record.
    pub(crate) const INACTIVE_ACCESS_OFFSET: i32 = 1024;
    /// Lanes that may run, 0 or all ones each; used when lanes are scheduled at random.
    pub(crate) const ALLOWED_LANES_OFFSET: i32 = 1024 + 1088;
    /// The site of the warp operation that a lane is parked at; with checks of barriers, that of its barrier.
    pub(crate) const WARP_OP_SITE_OFFSET: i32 = 1024 + 1088 + 128;
    pub(crate) const FRAME_HEADER_BYTES: u32 = 1024 + 1088 + 2 * 128;
}

/// Program counters that are no block number.
pub(crate) mod special_pcs {
    /// Before a call that waits for the whole block: added to its block's number, so that lanes
    /// that can do something else go first.
    pub(crate) const BEFORE_BARRIER_CALL: i64 = 0x0800_0000;
    /// Parked at a warp operation: added to its block's number.
    pub(crate) const PARKED_AT_WARP_OP: i64 = 0x1000_0000;
    /// Parked at a barrier: added to the number of the block after it.
    pub(crate) const PARKED_AT_BARRIER: i64 = 0x4000_0000;
    /// Left the function.
    pub(crate) const PC_DONE: i64 = 0x7fff_ffff;
}

/// Bytes that a frame may have; far below what its offsets, of 32 bits, can tell.
const MAX_FRAME_BYTES: u32 = 1 << 28;

/// The plan of one function.
#[derive(Debug)]
pub(crate) struct FunctionPlan<'m> {
    pub(crate) id: FuncId,
    pub(crate) f: &'m Function,
    pub(crate) body: FunctionBody<'m>,
    pub(crate) live: Vec<BitSet>,
    pub(crate) classes: LaneClasses,
    /// Frame offset of each register that lives across blocks.
    pub(crate) slots: Vec<Option<i32>>,
    /// Bytes of the first slots: those of registers that may be read before they are written. They begin as 0.
    pub(crate) zeroed_bytes: u32,
    /// Frame offset of the record of each `.param` variable.
    pub(crate) records: HashMap<u32, i32>,
    /// Where argument lists are put together that do not lie as the callee expects them.
    pub(crate) argument_scratch: i32,
    /// Offset of each `.local` variable within a lane's local memory.
    pub(crate) local_offsets: HashMap<u32, u32>,
    /// Bytes of local memory per lane.
    pub(crate) local_pitch: u32,
    /// What the address of the lanes' local memory is a multiple of.
    pub(crate) local_align: u32,
    pub(crate) frame_size: u32,
    /// Blocks at which masked code may return to converged code.
    pub(crate) resumable: BitSet,
    /// Blocks that masked code can come to.
    pub(crate) in_masked: BitSet,
    /// Loop back edges (from, to) that wait for other threads.
    pub(crate) spins: Vec<(usize, usize)>,
    /// Whether lanes can be parked at warp operations.
    pub(crate) has_warp_ops: bool,
    /// Number of this function's first statement among those of all functions.
    pub(crate) first_site: u32,
}

impl<'m> FunctionPlan<'m> {
    /// Plans `f`.
    ///
    /// With checks there is a gap between the local variables of a thread and behind the last one;
    /// when lanes are scheduled at random, blocks end before each access that others can see.
    pub(crate) fn new(
        module: &'m Module,
        id: FuncId,
        variant: LaunchVariant,
        first_site: u32,
        (instrument, watching): (&Instrumentation, &HashSet<FuncId>),
    ) -> Result<FunctionPlan<'m>, JitError> {
        let f = &module.functions[id.index()];
        if let Some(p) = super::register_params::unsupported_param(f) {
            let message = format!("the predicate {} as a parameter is not supported by the virtual GPU", p.name);
            return Err(JitError { message, function: f.name.to_string(), span: None, ptx_line: 0 });
        }
        let mut body = FunctionBody::from_function(f);
        super::dead_atomic_results::drop_dead_atomic_results(&mut body);
        super::folded_identities::fold_identities(&mut body);
        if !super::fma_contraction::is_contraction_forbidden(module) {
            super::fma_contraction::contract_fmas(&mut body);
        }
        if instrument.random.is_some() {
            split_blocks_at_accesses(&mut body);
        }
        let (local_offsets, local_pitch, local_align) = lay_out_local_memory(f, instrument.red_zone_bytes());
        let analyse = |body: &FunctionBody<'_>| {
            let ipdom = control_flow::post_dominators(body);
            let live = control_flow::live_in(body);
            let classes = LaneClasses::analyze(body, f, local_pitch, &ipdom, &live, variant);
            (ipdom, live, classes)
        };
        let (mut ipdom, mut live, mut classes) = analyse(&body);
        if !variant.no_if_conversion && super::ifconvert::if_convert(&mut body, &classes, &live) {
            (ipdom, live, classes) = analyse(&body);
        }
        if split_blocks_at_checks(&mut body, &classes) {
            (ipdom, live, classes) = analyse(&body);
        }
        let mut plan = FunctionPlan {
            id,
            f,
            live,
            slots: vec![None; body.widths.len()],
            zeroed_bytes: 0,
            records: HashMap::new(),
            argument_scratch: 0,
            local_offsets,
            local_pitch,
            local_align,
            frame_size: frame_header::FRAME_HEADER_BYTES,
            resumable: BitSet::default(),
            in_masked: blocks_in_masked_code(&body, &classes),
            spins: super::spin_loops::spin_back_edges(&body, watching),
            has_warp_ops: body.blocks.iter().any(|b| b.first_warp_op().is_some()),
            first_site,
            classes,
            body,
        };
        plan.lay_out_register_slots(variant.first_tier);
        plan.lay_out_param_records()?;
        if !variant.is_masked_only() {
            plan.find_resumable_blocks(&ipdom);
        }
        Ok(plan)
    }

    /// Bytes of a lane's local memory up to the end of its last variable.
    pub(crate) fn local_bytes_used(&self) -> u32 {
        self.local_offsets.iter().map(|(&v, &at)| at + self.f.vars[v as usize].size as u32).max().unwrap_or(0)
    }

    /// Registers that are live where some block begins get a slot, and those that one segment of masked code passes to
    /// another if they have to be in memory there. Those that are live at the very beginning come first.
    fn lay_out_register_slots(&mut self, between_segments: bool) {
        let unwritten = self.live[0].clone();
        unwritten.iter_bits().for_each(|r| self.add_register_slot(r));
        self.zeroed_bytes = self.frame_size - frame_header::FRAME_HEADER_BYTES;
        let mut all = BitSet::default();
        self.live.iter().for_each(|l| {
            all.union_with(l);
        });
        // Results that wait in the frame for parked lanes.
        for st in self.body.blocks.iter().filter_map(|b| b.first_warp_op()) {
            if matches!(*st.inst, Inst::Matrix(_)) {
                continue;
            }
            super::operands::for_each_def(&st.inst, &mut |r| _ = all.insert_bit(r.index()));
        }
        if between_segments {
            all.union_with(&self.registers_read_in_other_segments());
        }
        all.iter_bits().filter(|&r| !unwritten.contains(r)).for_each(|r| self.add_register_slot(r));
    }

    fn add_register_slot(&mut self, r: usize) {
        self.slots[r] = Some(self.frame_size as i32);
        self.frame_size += self.body.widths[r].lane_bytes() * WARP_LANES as u32;
    }

    /// Registers that some segment of masked code, or the end of its block, reads without having written them.
    fn registers_read_in_other_segments(&self) -> BitSet {
        let mut read = BitSet::default();
        let carry = self.body.carry_flag();
        for block in &self.body.blocks {
            for (from, to, _) in super::segments::split_into_segments(&self.classes, carry, &block.stmts, true) {
                let mut written = BitSet::default();
                for st in &block.stmts[from..to] {
                    stmt_uses(st, carry, &mut |r| {
                        if !written.contains(r.index()) {
                            read.insert_bit(r.index());
                        }
                    });
                    stmt_defs(st, carry, &mut |r| {
                        written.insert_bit(r.index());
                    });
                }
            }
            block.term.for_each_use(&mut |r| {
                read.insert_bit(r.index());
            });
        }
        read
    }

    /// Gives `.param` variables records such that the arguments of a call lie one after the other,
    /// as the callee expects them. Records of calls that do not overlap in the text share space.
    fn lay_out_param_records(&mut self) -> Result<(), JitError> {
        let mut spans: HashMap<u32, (usize, usize)> = HashMap::new();
        for (i, st) in self.f.body.iter().enumerate() {
            let mut touch = |v: u32| {
                let e = spans.entry(v).or_insert((i, i));
                e.1 = i;
            };
            super::operands::for_each_symbol(&st.inst, &mut |s| {
                if let Symbol::Local(v) = s {
                    touch(v.0);
                }
            });
            if let Inst::Call { rets, args, .. } = &st.inst {
                for a in rets.iter().chain(args) {
                    if let CallArg::Param(v) = a {
                        touch(v.0);
                    }
                }
            }
        }
        let mut taken: Vec<(usize, usize, u32, u32)> = vec![];
        let start = self.frame_size;
        let mut end = start;
        let mut place = |records: &mut HashMap<u32, i32>, vars: &[u32], f: &Function| {
            let sizes: Vec<u32> = vars.iter().map(|&v| param_record_bytes(f.vars[v as usize].size as u32)).collect();
            let from = vars.iter().filter_map(|v| spans.get(v)).map(|s| s.0).min().unwrap_or(0);
            let to = vars.iter().filter_map(|v| spans.get(v)).map(|s| s.1).max().unwrap_or(0);
            let mut at = taken.iter().filter(|t| t.0 <= to && from <= t.1).map(|t| t.3).max().unwrap_or(start);
            let begin = at;
            for (v, size) in vars.iter().zip(sizes) {
                records.insert(*v, at as i32);
                at = at.saturating_add(size);
            }
            taken.push((from, to, begin, at));
            end = end.max(at);
        };
        for st in &self.f.body {
            let Inst::Call { rets, args, .. } = &st.inst else { continue };
            for list in [args, rets] {
                let vars: Vec<u32> =
                    list.iter().filter_map(|a| if let CallArg::Param(v) = a { Some(v.0) } else { None }).collect();
                if vars.iter().any(|v| !self.records.contains_key(v)) {
                    place(&mut self.records, &vars, self.f);
                }
            }
        }
        let temporary: u32 = (self.f.body.iter())
            .filter_map(|st| if let Inst::Call { rets, args, .. } = &st.inst { Some([rets, args]) } else { None })
            .map(|lists| lists.iter().map(|l| l.iter().map(|a| self.argument_record_bytes(a)).sum::<u32>()).sum())
            .max()
            .unwrap_or(0);
        for (v, var) in self.f.vars.iter().enumerate() {
            if var.space == Space::Param && !self.records.contains_key(&(v as u32)) {
                place(&mut self.records, &[v as u32], self.f);
            }
        }
        self.argument_scratch = end as i32;
        self.frame_size = end.saturating_add(temporary);
        if self.frame_size > MAX_FRAME_BYTES {
            let message = format!("registers and arguments of a warp need more than {MAX_FRAME_BYTES} bytes");
            return Err(JitError { message, function: self.f.name.to_string(), span: None, ptx_line: 0 });
        }
        Ok(())
    }

    /// Bytes of the record of an argument or result.
    pub(crate) fn argument_record_bytes(&self, a: &CallArg) -> u32 {
        match a {
            CallArg::Param(v) => param_record_bytes(self.f.vars[v.index()].size as u32),
            _ => param_record_bytes(8),
        }
    }

    /// The frame offset of the record of a whole argument list, if its variables lie as the
    /// callee expects them.
    pub(crate) fn argument_record_offset(&self, list: &[CallArg]) -> Option<i32> {
        let mut first = None;
        let mut next = 0;
        for a in list {
            let CallArg::Param(v) = a else { return None };
            let at = *self.records.get(&v.0)?;
            if first.is_some() && at != next {
                return None;
            }
            first = first.or(Some(at));
            next = at + self.argument_record_bytes(a) as i32;
        }
        first.or(Some(frame_header::INACTIVE_ACCESS_OFFSET))
    }

    /// The value that the predicate of the split at the end of a block never has in all lanes.
    pub(crate) fn never_unanimous_value(&self, block: usize) -> Option<bool> {
        let Terminator::PredicatedSplit { guard, .. } = self.body.blocks[block].term else { return None };
        super::never_unanimous::never_unanimous_value(
            &self.body.blocks[block],
            &self.classes,
            self.body.carry_flag(),
            guard.reg,
        )
    }

    /// The blocks that converged code can come to.
    pub(crate) fn blocks_reached_converged(&self) -> Vec<bool> {
        let mut reached = vec![false; self.body.blocks.len()];
        let mut next: Vec<usize> = self.resumable.iter_bits().chain([0]).collect();
        while let Some(block) = next.pop() {
            if std::mem::replace(&mut reached[block], true) {
                continue;
            }
            let mut successors = self.body.blocks[block].term.successors();
            if let (Terminator::PredicatedSplit { guard, all, some, none }, Some(never)) =
                (&self.body.blocks[block].term, self.never_unanimous_value(block))
            {
                successors = vec![*some, if never != guard.negated { *none } else { *all }];
            }
            next.extend(successors);
        }
        reached
    }

    /// Lanes meet again at the post-dominators of the branches where they part.
    fn find_resumable_blocks(&mut self, ipdom: &[Option<usize>]) {
        for (b, block) in self.body.blocks.iter().enumerate() {
            if self.classes.may_diverge(&block.term)
                && let Some(p) = ipdom[b]
            {
                self.resumable.insert_bit(p);
            }
            // Masked code may also be entered where a check fails or a call has retired lanes.
            for st in &block.stmts {
                if super::stride_checks::needs_stride_check(&self.classes, st) || matches!(*st.inst, Inst::Bar { .. }) {
                    let next = block.term.successors().first().copied();
                    next.into_iter().for_each(|n| {
                        self.resumable.insert_bit(n);
                    });
                }
            }
        }
    }

    /// Successors' registers that live on after block `b`.
    pub(crate) fn live_out(&self, b: usize) -> BitSet {
        control_flow::live_out(&self.body, &self.live, b)
    }

    /// Whether the edge is a back edge in the numbering.
    pub(crate) fn is_back_edge(from: usize, to: usize) -> bool {
        to <= from
    }

    /// An error about statement `index`.
    pub(crate) fn statement_error(&self, source: &str, index: u32, message: String) -> JitError {
        let span = self.f.body.get(index as usize).map(|s| s.span);
        let ptx_line = span
            .map_or(0, |s| 1 + source.as_bytes().iter().take(s.start as usize).filter(|&&c| c == b'\n').count() as u32);
        JitError { message, function: self.f.name.to_string(), span, ptx_line }
    }
}

/// What can be reached from the start, and from where a failed check enters.
fn blocks_in_masked_code(body: &FunctionBody<'_>, classes: &LaneClasses) -> BitSet {
    let mut set = BitSet::default();
    let checks =
        |b: &usize| body.blocks[*b].stmts.iter().any(|st| super::stride_checks::needs_stride_check(classes, st));
    let mut work: Vec<usize> = (0..body.blocks.len()).filter(checks).collect();
    work.push(0);
    while let Some(b) = work.pop() {
        if set.insert_bit(b) {
            work.extend(body.blocks[b].term.masked_successors());
        }
    }
    set
}

/// Ends blocks before each access to memory that other threads can see.
fn split_blocks_at_accesses(body: &mut FunctionBody<'_>) {
    let visible = |inst: &Inst| match inst {
        Inst::Ld { space, nc, .. } => !nc && !matches!(space, Space::Param | Space::Local | Space::Const),
        Inst::St { space, .. } => !matches!(space, Space::Param | Space::Local),
        Inst::Atom { .. }
        | Inst::AtomVector { .. }
        | Inst::Mbarrier { .. }
        | Inst::BulkCopy { .. }
        | Inst::CpAsync { .. } => true,
        _ => false,
    };
    for b in 0..body.blocks.len() {
        for at in (1..body.blocks[b].stmts.len()).rev() {
            if visible(&body.blocks[b].stmts[at].inst) {
                body.split_block(b, at);
            }
        }
    }
    body.renumber_blocks();
}

/// A check that fails goes back to the beginning of its block, so nothing may have happened
/// before: blocks are cut where a segment with a check begins, and behind the result of a barrier,
/// which masked code would look for in every lane. Says whether any was.
fn split_blocks_at_checks(body: &mut FunctionBody<'_>, classes: &LaneClasses) -> bool {
    let n = body.blocks.len();
    for b in 0..n {
        let stmts = &body.blocks[b].stmts;
        let result = stmts.first().is_some_and(|st| super::barrier_results::reads_barrier_result(&st.inst));
        let starts: Vec<usize> = (super::segments::split_into_segments(classes, body.carry_flag(), stmts, false)
            .iter())
        .filter(|&&(from, to, _)| {
            stmts[from..to].iter().any(|st| super::stride_checks::needs_stride_check(classes, st))
        })
        .map(|s| s.0.max(usize::from(result)))
        .filter(|&at| at > 0)
        .collect();
        for &at in starts.iter().rev() {
            body.split_block(b, at);
        }
    }
    let cut = body.blocks.len() > n;
    if cut {
        body.renumber_blocks();
    }
    cut
}

/// Bytes of the record of a parameter of `size` bytes: units of 8 bytes, 32 lanes of each.
pub(crate) fn param_record_bytes(size: u32) -> u32 {
    size.div_ceil(8) * 8 * WARP_LANES as u32
}

/// Offsets of parameters within an argument (or result) record, as caller and callee agree.
pub(crate) fn param_record_offsets(params: &[Param]) -> Vec<u32> {
    let mut at = 0;
    params
        .iter()
        .map(|p| {
            let here = at;
            at += param_record_bytes(p.size);
            here
        })
        .collect()
}

/// What a warp's local memory is always aligned to.
pub(crate) const LOCAL_ALIGN: u32 = 16;

/// The offsets of a function's local variables, the bytes of a lane, and their alignment.
fn lay_out_local_memory(f: &Function, gap: u32) -> (HashMap<u32, u32>, u32, u32) {
    let mut at = 0u32;
    let mut offsets = HashMap::new();
    let mut align = LOCAL_ALIGN;
    for (i, v) in f.vars.iter().enumerate().filter(|(_, v)| v.space == Space::Local) {
        at = at.next_multiple_of(v.align.max(1));
        align = align.max(v.align);
        offsets.insert(i as u32, at);
        at += v.size as u32 + gap;
    }
    let mut pitch = at.next_multiple_of(align);
    // A power of two would put all lanes into the same cache sets.
    if pitch >= 256 && pitch.is_power_of_two() {
        pitch += align;
    }
    (offsets, pitch, align)
}
