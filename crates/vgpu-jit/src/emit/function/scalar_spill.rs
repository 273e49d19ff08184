//! Spilling of scalar registers to the frame and reloading them, where converged code passes control to
//! masked code: a call broadcasts one scalar to 32 lanes, or checks whether 32 lanes still equal one scalar.
//!
//! These places rarely run, so all registers of a place share one call ([`super::out_of_line`]).
#![allow(unsafe_code, reason = "reads and writes the frame of the code that calls it")]

use super::emitter::{FunctionEmitter, trusted_mem_flags};
use super::out_of_line::{MAX_STUB_VALUES, PcUpdate, SlowPathRequest};
use super::register_values::{CHUNK_LANES, CHUNKS_PER_WARP, LaneParts, RegWidth};
use crate::simt::function_plan::frame_header;
use crate::simt::lane_classes::LaneClass;
use cranelift_codegen::ir::{InstBuilder, Value, condcodes::IntCC, types};
use rtcg_ptx::ast::Reg;
use rtcg_vgpu_abi::WARP_LANES;

/// Lanes in the frame that hold a scalar, each a stride more than the one before.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub(crate) struct StridedLanes {
    pub(crate) slot: i32,
    pub(crate) lanes: u32,
    pub(crate) stride: i64,
    /// 64 bits a lane rather than 32.
    pub(crate) is_64_bit: bool,
}

/// Stores each scalar of the dummy area to its lanes.
///
/// # Safety
/// Compiled code passes its frame and pieces of it.
pub(crate) unsafe fn store_scalars_to_lanes(frame: *mut u8, pieces: &[StridedLanes]) {
    // SAFETY: by contract; the slots of registers are aligned.
    unsafe {
        let values = frame.add(frame_header::INACTIVE_ACCESS_OFFSET as usize).cast::<u64>();
        for (i, p) in pieces.iter().enumerate() {
            let (first, to) = (values.add(i).read(), frame.offset(p.slot as isize));
            if p.is_64_bit {
                for lane in 0..u64::from(p.lanes) {
                    to.cast::<u64>().add(lane as usize).write(first.wrapping_add(lane.wrapping_mul(p.stride as u64)));
                }
            } else {
                for lane in 0..p.lanes {
                    let step = lane.wrapping_mul(p.stride as u32);
                    to.cast::<u32>().add(lane as usize).write((first as u32).wrapping_add(step));
                }
            }
        }
    }
}

/// Whether the lanes of every piece follow its stride.
///
/// # Safety
/// As [`store_scalars_to_lanes`].
pub(crate) unsafe fn lanes_follow_strides(frame: *mut u8, pieces: &[StridedLanes]) -> bool {
    pieces.iter().all(|p| {
        // SAFETY: by contract.
        unsafe {
            let from = frame.offset(p.slot as isize);
            if p.is_64_bit {
                let lanes = std::slice::from_raw_parts(from.cast::<u64>(), p.lanes as usize);
                (lanes.windows(2)).all(|w| w[1].wrapping_sub(w[0]) == p.stride as u64)
            } else {
                let lanes = std::slice::from_raw_parts(from.cast::<u32>(), p.lanes as usize);
                (lanes.windows(2)).all(|w| w[1].wrapping_sub(w[0]) == p.stride as u32)
            }
        }
    })
}

impl FunctionEmitter<'_, '_> {
    /// The pieces of a register that is not varying, one for each part of its scalar.
    fn strided_lanes(&self, r: Reg) -> Vec<StridedLanes> {
        let (w, class) = (self.width_of_register(r), self.plan.classes.lane_class_of(r));
        let Some(slot) = self.plan.slots[r.index()] else { return vec![] };
        let wide = matches!(w, RegWidth::W64 | RegWidth::W128);
        let stride = class.lane_stride().unwrap_or(0);
        let bytes = if wide { 8 } else { 4 };
        match (class, w) {
            (LaneClass::Chunked(_), _) => (0..CHUNKS_PER_WARP)
                .map(|c| StridedLanes {
                    slot: slot + (c * CHUNK_LANES) as i32 * bytes,
                    lanes: CHUNK_LANES as u32,
                    stride,
                    is_64_bit: wide,
                })
                .collect(),
            (_, RegWidth::W128) => [slot, slot + 8 * WARP_LANES as i32]
                .map(|slot| StridedLanes { slot, lanes: WARP_LANES as u32, stride, is_64_bit: wide })
                .to_vec(),
            _ => vec![StridedLanes { slot, lanes: WARP_LANES as u32, stride, is_64_bit: wide }],
        }
    }

    /// Writes scalars to their lanes in the frame, and sets the lanes' program counters.
    pub(crate) fn spill_scalars(&mut self, values: &[(Reg, LaneParts)], counters: PcUpdate) {
        let all: Vec<(StridedLanes, Value)> =
            values.iter().flat_map(|(r, parts)| self.strided_lanes(*r).into_iter().zip(parts.clone())).collect();
        if all.is_empty() && counters == PcUpdate::Unchanged {
            return;
        }
        let groups: Vec<&[(StridedLanes, Value)]> =
            if all.is_empty() { vec![&[]] } else { all.chunks(MAX_STUB_VALUES).collect() };
        for (number, group) in groups.iter().enumerate() {
            for (i, &(_, v)) in group.iter().enumerate() {
                let v = if self.b.func.dfg.value_type(v) == types::I8 {
                    let word = self.b.ins().uextend(types::I32, v);
                    self.b.ins().ineg(word)
                } else {
                    v
                };
                self.store_stub_value(v, i);
            }
            let pieces = group.iter().map(|g| g.0).collect();
            let last = number + 1 == groups.len();
            self.emit_slow_path_call(SlowPathRequest::SpillScalars(
                pieces,
                if last { counters } else { PcUpdate::Unchanged },
            ));
        }
    }

    /// Reads the scalars of registers from the frame; the condition says whether all lanes fit them.
    pub(crate) fn reload_scalars(&mut self, registers: &[Reg]) -> (Vec<LaneParts>, Option<Value>) {
        let pieces: Vec<Vec<StridedLanes>> = registers.iter().map(|&r| self.strided_lanes(r)).collect();
        let values = registers.iter().zip(&pieces).map(|(&r, list)| self.first_lane_values(r, list)).collect();
        let flat: Vec<StridedLanes> = pieces.into_iter().flatten().collect();
        let mut good: Option<Value> = None;
        for group in flat.chunks(MAX_STUB_VALUES) {
            self.emit_slow_path_call(SlowPathRequest::CheckStrides(group.to_vec()));
            let here = self.b.ins().load(
                types::I32,
                trusted_mem_flags(),
                self.abi.frame,
                frame_header::INACTIVE_ACCESS_OFFSET,
            );
            good = Some(good.map_or(here, |g| self.b.ins().band(g, here)));
        }
        (values, good)
    }

    fn first_lane_values(&mut self, r: Reg, pieces: &[StridedLanes]) -> LaneParts {
        let is_predicate = self.width_of_register(r) == RegWidth::Pred;
        (pieces.iter())
            .map(|p| {
                let ty = if p.is_64_bit { types::I64 } else { types::I32 };
                let v = self.b.ins().load(ty, trusted_mem_flags(), self.abi.frame, p.slot);
                if is_predicate { self.b.ins().icmp_imm_s(IntCC::NotEqual, v, 0) } else { v }
            })
            .collect()
    }
}
