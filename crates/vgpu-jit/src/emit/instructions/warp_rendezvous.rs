//! Warp operations in masked code: PTX has a lane wait until all members of its mask execute the operation with the
//! same qualifiers and the same mask, at whatever place of the program.
//!
//! A warp operation is the first statement of its block, so the registers that it reads are in the frame. If all members
//! are at the block, compiled code executes the operation at once. Else the lanes are parked with the number of a
//! [`WarpOpSite`], which says where operands and results are. The functions here execute the operation when the last
//! member has been parked, or when no lane can run any more, with those that came. The lanes then go on behind the
//! operation: their bits in the frame ([`frame_header::WARP_OPS_DONE_OFFSET`]) say so, and the block takes the results
//! from the frame.
#![allow(unsafe_code, reason = "reads and writes the frame of the code that calls it")]

use super::warp_ops::shfl_source;
use crate::JitError;
use crate::emit::code::host_state::KernelHostState;
use crate::emit::function::emitter::{FunctionEmitter, RegisterStorage, trusted_mem_flags};
use crate::emit::function::out_of_line::SlowPathRequest;
use crate::emit::function::register_values::{CHUNKS_PER_WARP, LaneParts};
use crate::emit::function::slow_paths::{FrameHeader, MatchReduxArgs, match_or_redux, redux_code};
use crate::emit::function::slow_paths::{MATCH_ALL, MATCH_ANY};
use crate::simt::body::Stmt;
use crate::simt::function_plan::{frame_header, special_pcs};
use cranelift_codegen::ir::{self, InstBuilder, types};
use rtcg_ptx::ast::*;
use rtcg_vgpu_abi::instrument::WARP_SYNC;
use rtcg_vgpu_abi::model::lanes::SHUFFLE_FROM_EXITED_LANE;
use rtcg_vgpu_abi::{WARP_LANES, WarpCtx};
use std::mem::offset_of;

/// An operand of each lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LaneOperand {
    /// The same bits in all lanes.
    Constant(u64),
    /// In a slot of the frame, with so many bytes per lane.
    Slot(i32, u32),
}

/// A warp operation of the code. Operations with the same code may be executed together.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WarpOpSite {
    pub(crate) code: u32,
    /// The counter of lanes at its block.
    pub(crate) pc: u32,
    pub(crate) members: LaneOperand,
    /// The value or predicate, and the second and third operand of a shuffle.
    pub(crate) operands: [LaneOperand; 3],
    /// The predicate is negated.
    pub(crate) negated: bool,
    /// Where the result and the predicate go.
    pub(crate) results: [Option<LaneOperand>; 2],
}

const VOTES: [VoteMode; 4] = [VoteMode::All, VoteMode::Any, VoteMode::Uni, VoteMode::Ballot];
const SHUFFLES: [ShflMode; 4] = [ShflMode::Up, ShflMode::Down, ShflMode::Bfly, ShflMode::Idx];

const SYNC_CODE: u32 = 0;
const ELECT_CODE: u32 = 1;
/// The position in [`VOTES`] is added.
const VOTE_CODE: u32 = 4;
/// The position in [`SHUFFLES`] is added.
const SHUFFLE_CODE: u32 = 8;
/// The code of [`match_or_redux`] is added, that of a match after a bit for its type.
const MATCH_REDUX_CODE: u32 = 1 << 16;
const WIDE_MATCH: u32 = 1 << 12;
/// What all lanes of a warp execute at one place: operations elsewhere are others.
const MATRIX_CODE: u32 = u32::MAX;

fn warp_op_code(inst: &Inst) -> u32 {
    let position = |at: Option<usize>| at.unwrap_or_default() as u32;
    match inst {
        Inst::BarWarpSync { .. } => SYNC_CODE,
        Inst::Elect { .. } => ELECT_CODE,
        Inst::Vote { mode, .. } => VOTE_CODE + position(VOTES.iter().position(|m| m == mode)),
        Inst::Shfl { mode, .. } => SHUFFLE_CODE + position(SHUFFLES.iter().position(|m| m == mode)),
        Inst::Match { all, ty, .. } => {
            let code = if *all { MATCH_ALL } else { MATCH_ANY };
            MATCH_REDUX_CODE + code + if ty.bits() == 64 { WIDE_MATCH } else { 0 }
        }
        Inst::Redux { op, ty, abs, mods, .. } => MATCH_REDUX_CODE + redux_code(*op, *ty, *abs, mods.nan),
        _ => MATRIX_CODE,
    }
}

impl<'a> FunctionEmitter<'a, '_> {
    /// Emits a warp operation; lanes of masked code wait for the other members of their masks.
    pub(crate) fn emit_gathered_warp_op(&mut self, st: &Stmt<'a>) -> Result<(), JitError> {
        if !self.is_masked() || matches!(*st.inst, Inst::Matrix(_)) {
            if self.is_masked() {
                self.park_unless_all_came(st)?;
            }
            self.emit_warp_op(st)?;
            self.report_sync(&st.inst);
            return Ok(());
        }
        let dsts = warp_op_results(&st.inst);
        let active = self.active_lane_bits(st);
        let [take, gather, after] = std::array::from_fn(|_| self.b.create_block());
        let done =
            self.b.ins().load(types::I32, trusted_mem_flags(), self.abi.frame, frame_header::WARP_OPS_DONE_OFFSET);
        let taking = self.b.ins().band(active, done);
        self.b.ins().brif(taking, take, &[], gather, &[]);
        self.b.seal_block(take);
        self.b.seal_block(gather);
        self.b.set_cold_block(take);
        self.b.switch_to_block(gather);
        self.park_unless_all_came(st)?;
        self.emit_warp_op(st)?;
        self.report_sync(&st.inst);
        let in_loops = self.env.variant.first_tier;
        if in_loops {
            (0..CHUNKS_PER_WARP).for_each(|c| self.write_back_registers(c));
        }
        let shared: Vec<(Reg, usize)> = if in_loops {
            vec![]
        } else {
            dsts.iter().flat_map(|&r| (0..CHUNKS_PER_WARP).map(move |c| (r, c))).collect()
        };
        let made: Vec<LaneParts> = shared.iter().map(|&(r, c)| self.read_lanes(r, c)).collect();
        let arguments: Vec<ir::BlockArg> = made.iter().flatten().map(|&v| v.into()).collect();
        self.b.ins().jump(after, &arguments);
        self.b.switch_to_block(take);
        self.emit_slow_path_call(SlowPathRequest::TakeWarpOpResults);
        let taken: Vec<LaneParts> = shared.iter().map(|&(r, c)| self.load_register_slot(r, c)).collect();
        let arguments: Vec<ir::BlockArg> = taken.iter().flatten().map(|&v| v.into()).collect();
        self.b.ins().jump(after, &arguments);
        self.b.seal_block(after);
        self.b.switch_to_block(after);
        // What was loaded on one of the ways is not known here, and fewer lanes may be active.
        self.forget_masked_registers();
        let RegisterStorage::Masked(masked) = &mut self.store else { return Ok(()) };
        if in_loops {
            return Ok(());
        }
        dsts.into_iter().for_each(|r| masked.mark_dirty(r));
        for ((r, c), parts) in shared.into_iter().zip(made) {
            let of_type = |&v: &ir::Value| self.b.func.dfg.value_type(v);
            let kinds: Vec<_> = parts.iter().map(of_type).collect();
            let merged = kinds.into_iter().map(|ty| self.b.append_block_param(after, ty)).collect();
            masked.cache.insert((r.0, c), merged);
        }
        Ok(())
    }

    /// Parks the active lanes unless all members of their masks are here.
    fn park_unless_all_came(&mut self, st: &Stmt<'_>) -> Result<(), JitError> {
        let site = self.warp_op_site(&st.inst)?;
        let active = self.active_lane_bits(st);
        let members = self.union_of_member_masks(warp_op_mask(&st.inst));
        let live = self.load_ctx_field(types::I32, offset_of!(WarpCtx, live));
        let exited = self.load_ctx_field(types::I32, offset_of!(WarpCtx, exited));
        let here = self.b.ins().bor(active, exited);
        let wanted = self.b.ins().band(members, live);
        let mut missing = self.b.ins().band_not(wanted, here);
        if site.code == MATRIX_CODE {
            let forced =
                self.b.ins().load(types::I32, trusted_mem_flags(), self.abi.frame, frame_header::FORCE_WARP_OP_OFFSET);
            let none = self.iconst32(0);
            missing = self.b.ins().select(forced, none, missing);
        }
        let (wait, go) = (self.b.create_block(), self.b.create_block());
        self.b.ins().brif(missing, wait, &[], go, &[]);
        self.b.seal_block(wait);
        self.b.seal_block(go);
        self.b.set_cold_block(wait);
        self.b.switch_to_block(wait);
        self.emit_slow_path_call(SlowPathRequest::ParkAtWarpOp(site));
        self.jump_to_dispatcher();
        self.b.switch_to_block(go);
        Ok(())
    }

    fn warp_op_site(&self, inst: &Inst) -> Result<WarpOpSite, JitError> {
        let operand = |o: Operand| match o {
            Operand::Reg(r) => Ok(self.register_slot_operand(r).unwrap_or(LaneOperand::Constant(0))),
            Operand::Int(v) => Ok(LaneOperand::Constant(v as u64)),
            Operand::F32(v) => Ok(LaneOperand::Constant(v.into())),
            Operand::F64(v) => Ok(LaneOperand::Constant(v)),
            Operand::Special(_) | Operand::Address(..) => Err(self.statement_error("an operand is in no register")),
        };
        let none = LaneOperand::Constant(0);
        let (operands, negated) = match inst {
            Inst::Vote { pred: PredSrc::Reg { reg, negated }, .. } => {
                ([operand(Operand::Reg(*reg))?, none, none], *negated)
            }
            Inst::Vote { pred: PredSrc::Const(truth), .. } => {
                ([LaneOperand::Constant((*truth).into()), none, none], false)
            }
            Inst::Shfl { a, b, c, .. } => ([operand(*a)?, operand(*b)?, operand(*c)?], false),
            Inst::Match { a, .. } | Inst::Redux { a, .. } => ([operand(*a)?, none, none], false),
            _ => ([none; 3], false),
        };
        let slot = |r: Option<Reg>| r.and_then(|r| self.register_slot_operand(r));
        let results = match inst {
            Inst::Vote { dst, .. } | Inst::Redux { dst, .. } => [slot(Some(*dst)), None],
            Inst::Shfl { dst, pred, .. } | Inst::Match { dst, pred, .. } => [slot(Some(*dst)), slot(*pred)],
            Inst::Elect { dst, pred, .. } => [slot(*dst), slot(Some(*pred))],
            _ => [None; 2],
        };
        let pc = self.pc_of_block(self.blocks.current) as u32;
        let members = operand(warp_op_mask(inst))?;
        Ok(WarpOpSite { code: warp_op_code(inst), pc, members, operands, negated, results })
    }

    fn register_slot_operand(&self, r: Reg) -> Option<LaneOperand> {
        Some(LaneOperand::Slot(self.plan.slots[r.index()]?, self.width_of_register(r).lane_bytes()))
    }
}

/// The member mask of a warp operation.
fn warp_op_mask(inst: &Inst) -> Operand {
    match inst {
        Inst::Shfl { mask, .. }
        | Inst::Vote { mask, .. }
        | Inst::Match { mask, .. }
        | Inst::Redux { mask, .. }
        | Inst::Elect { mask, .. }
        | Inst::BarWarpSync { mask } => *mask,
        _ => Operand::Int(-1),
    }
}

/// The registers that a warp operation writes.
fn warp_op_results(inst: &Inst) -> Vec<Reg> {
    let mut all = vec![];
    crate::simt::operands::for_each_def(inst, &mut |r| {
        if !all.contains(&r) {
            all.push(r);
        }
    });
    all
}

/// The parked lanes of a frame, and the sites that they wait at.
struct Rendezvous<'a> {
    ctx: *mut WarpCtx,
    frame: *mut FrameHeader,
    host: &'a KernelHostState,
}

impl<'a> Rendezvous<'a> {
    fn pc(&self, lane: usize) -> u32 {
        // SAFETY: the frame is that of compiled code, which is waiting for us.
        unsafe { (*self.frame).pc[lane] }
    }

    fn site_numbers(&self) -> *mut u32 {
        self.frame.cast::<u8>().wrapping_add(frame_header::WARP_OP_SITE_OFFSET as usize).cast()
    }

    /// The site at which a lane is parked.
    fn site(&self, lane: usize) -> Option<&'a WarpOpSite> {
        let parked = special_pcs::PARKED_AT_WARP_OP as u32..special_pcs::PARKED_AT_BARRIER as u32;
        if !parked.contains(&self.pc(lane)) {
            return None;
        }
        // SAFETY: a lane that is parked here has a number.
        match self.host.slow_path_request(unsafe { *self.site_numbers().add(lane) })? {
            SlowPathRequest::ParkAtWarpOp(site) => Some(site),
            _ => None,
        }
    }

    fn operand(&self, operand: LaneOperand, lane: usize) -> u64 {
        let (slot, bytes) = match operand {
            LaneOperand::Constant(bits) => return bits,
            LaneOperand::Slot(slot, bytes) => (slot, bytes),
        };
        let at = self.frame.cast::<u8>().wrapping_offset(slot as isize);
        // SAFETY: slots have an element for each lane; the halves of 128 bits are two arrays of 64.
        unsafe {
            if bytes == 4 { u64::from(at.cast::<u32>().add(lane).read()) } else { at.cast::<u64>().add(lane).read() }
        }
    }

    fn store_result(&self, to: Option<LaneOperand>, lane: usize, value: u32) {
        let Some(LaneOperand::Slot(slot, bytes)) = to else { return };
        let at = self.frame.cast::<u8>().wrapping_offset(slot as isize);
        // SAFETY: as above.
        unsafe {
            match bytes {
                4 => at.cast::<u32>().add(lane).write(value),
                _ => at.cast::<u64>().add(lane).write(value.into()),
            }
        }
    }

    fn members(&self, site: &WarpOpSite, lane: usize) -> u32 {
        self.operand(site.members, lane) as u32
    }

    /// The lanes that wait for the same operation with the same mask as `lane`.
    fn companions(&self, lane: usize) -> u32 {
        let Some(site) = self.site(lane).filter(|site| site.code != MATRIX_CODE) else { return 0 };
        let members = self.members(site, lane);
        let same = |l: &usize| self.site(*l).is_some_and(|s| s.code == site.code && self.members(s, *l) == members);
        (0..WARP_LANES).filter(same).fold(0, |bits, l| bits | 1 << l)
    }

    /// Executes the operations whose members have all come; says whether there was one.
    fn execute_complete(&self) -> bool {
        // SAFETY: the context is that of the code that waits for us.
        let (live, exited) = unsafe { ((*self.ctx).live, (*self.ctx).exited) };
        let mut any = false;
        for lane in 0..WARP_LANES {
            let companions = self.companions(lane);
            let Some(site) = self.site(lane).filter(|_| companions != 0) else { continue };
            if self.members(site, lane) & live & !exited & !companions == 0 {
                self.execute(companions);
                any = true;
            }
        }
        any
    }

    /// Executes an operation for `lanes`, which then go on behind it.
    fn execute(&self, lanes: u32) {
        let list: Vec<(usize, &WarpOpSite)> =
            (0..WARP_LANES).filter(|l| lanes >> l & 1 != 0).filter_map(|l| Some((l, self.site(l)?))).collect();
        let Some(&(_, first)) = list.first() else { return };
        let results = self.results(first.code, lanes, &list);
        for (&(lane, site), (value, flag)) in list.iter().zip(results) {
            self.store_result(site.results[0], lane, value);
            self.store_result(site.results[1], lane, if flag { u32::MAX } else { 0 });
            // SAFETY: as above.
            unsafe { (*self.frame).pc[lane] = site.pc };
        }
        // SAFETY: as above.
        unsafe { (*self.frame).warp_ops_done |= lanes };
        if let Some(race) = self.host.env.instrument.race {
            // SAFETY: the context is that of running code.
            unsafe { (race.sync)(self.ctx, WARP_SYNC) };
        }
    }

    /// What each lane of the list gets: a word and a truth.
    fn results(&self, code: u32, lanes: u32, list: &[(usize, &WarpOpSite)]) -> Vec<(u32, bool)> {
        let mut arguments = MatchReduxArgs::default();
        for &(lane, site) in list {
            arguments.value[lane] = self.operand(site.operands[0], lane);
            arguments.members[lane] = self.operand(site.members, lane) & 0xffff_ffff;
        }
        let truths =
            list.iter().filter(|(l, s)| (arguments.value[*l] != 0) != s.negated).fold(0, |m, (l, _)| m | 1 << l);
        let of = |&(lane, site): &(usize, &WarpOpSite)| {
            let here = arguments.members[lane] as u32 & lanes;
            let (set, elected) = (truths & here, here.trailing_zeros());
            match code {
                ELECT_CODE => (elected, lane as u32 == elected),
                VOTE_CODE..SHUFFLE_CODE => (vote_result(VOTES[(code - VOTE_CODE) as usize], set, here), false),
                _ => {
                    let [b, c] = [1, 2].map(|i| self.operand(site.operands[i], lane) as u32);
                    let mode = SHUFFLES[(code - SHUFFLE_CODE) as usize % SHUFFLES.len()];
                    let (from, inside) = shfl_source(mode, lane as u32, b, c);
                    let came = lanes >> from & 1 != 0;
                    (if came { arguments.value[from] as u32 } else { SHUFFLE_FROM_EXITED_LANE }, inside)
                }
            }
        };
        match code {
            SYNC_CODE => vec![(0, false); list.len()],
            MATCH_REDUX_CODE.. => {
                let mask = if code & WIDE_MATCH != 0 { u64::MAX } else { u64::from(u32::MAX) };
                arguments.value.iter_mut().for_each(|v| *v &= mask);
                // SAFETY: the arguments are our own.
                unsafe { match_or_redux(code & (WIDE_MATCH - 1), lanes, &raw mut arguments) };
                list.iter().map(|&(l, _)| (arguments.result[l] as u32, arguments.flag[l] != 0)).collect()
            }
            _ => list.iter().map(of).collect(),
        }
    }
}

/// The result of a vote: the bits of a ballot, or a predicate as it is kept.
fn vote_result(mode: VoteMode, set: u32, here: u32) -> u32 {
    let truth = match mode {
        VoteMode::Ballot => return set,
        VoteMode::All => set == here,
        VoteMode::Any => set != 0,
        VoteMode::Uni => set == here || set == 0,
    };
    if truth { u32::MAX } else { 0 }
}

/// Parks the active lanes at the site with this number, and executes the operations that are complete.
///
/// # Safety
/// Compiled code passes its own context and frame.
pub(crate) unsafe fn park_at_warp_op(ctx: *mut WarpCtx, frame: *mut u8, number: u32, site: &WarpOpSite) {
    // SAFETY: by contract; the host lives as long as the code.
    let host = unsafe { KernelHostState::from_warp_ctx(ctx) };
    let waiting = Rendezvous { ctx, frame: frame.cast(), host };
    for lane in 0..WARP_LANES {
        // SAFETY: the frame has these arrays.
        unsafe {
            if (*waiting.frame).mask[lane] != 0 {
                (*waiting.frame).pc[lane] = special_pcs::PARKED_AT_WARP_OP as u32 + site.pc;
                waiting.site_numbers().add(lane).write(number);
            }
        }
    }
    waiting.execute_complete();
}

/// Makes the active lanes those for which the operation has been executed.
///
/// # Safety
/// Compiled code passes its own frame.
pub(crate) unsafe fn take_warp_op_results(frame: *mut u8) {
    // SAFETY: by contract.
    let frame = unsafe { &mut *frame.cast::<FrameHeader>() };
    for (lane, mask) in frame.mask.iter_mut().enumerate() {
        if frame.warp_ops_done >> lane & 1 == 0 {
            *mask = 0;
        } else if *mask != 0 {
            frame.warp_ops_done &= !(1 << lane);
        }
    }
}

/// No lane can run, and some are parked at warp operations, the first ones with the counter `min`. Executes what is
/// complete now that lanes have left; else the operation of the first lanes with all that came. Gives 1 if compiled
/// code must do that itself, for the lanes of the block.
///
/// # Safety
/// Compiled code passes its own context and frame.
#[inline(never)]
pub(crate) unsafe extern "C" fn resolve_parked_warp_ops(ctx: *mut WarpCtx, frame: *mut FrameHeader, min: u32) -> u32 {
    // SAFETY: by contract; the host lives as long as the code.
    let host = unsafe { KernelHostState::from_warp_ctx(ctx) };
    let waiting = Rendezvous { ctx, frame, host };
    if waiting.execute_complete() {
        return 0;
    }
    let first = (0..WARP_LANES).filter(|&l| waiting.pc(l) == min);
    let lanes = first.fold(0, |bits, l| bits | waiting.companions(l));
    waiting.execute(lanes);
    u32::from(lanes == 0)
}
