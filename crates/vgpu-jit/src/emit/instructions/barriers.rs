//! Barriers of the block: a call of the runtime in converged code; in masked code the lanes are parked
//! until the whole warp has come.

use crate::JitError;
use crate::emit::code::relocations::{self, runtime_call_target};
use crate::emit::function::emitter::{FunctionEmitter, trusted_mem_flags};
use crate::emit::function::register_values::{CHUNKS_PER_WARP, LaneParts, RegWidth};
use crate::isa as arch;
use crate::simt::body::Stmt;
use crate::simt::function_plan::frame_header;
use crate::simt::instruction_sites::WHOLE_WARP_LANE_CODE;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{AbiParam, InstBuilder, Signature, Value, types};
use rtcg_ptx::ast::*;
use rtcg_vgpu_abi::TrapKind;
use rtcg_vgpu_abi::WarpCtx;
use rtcg_vgpu_abi::runtime::BarrierKind;
use std::mem::offset_of;

impl FunctionEmitter<'_, '_> {
    pub(crate) fn emit_barrier(&mut self, st: &Stmt<'_>) -> Result<(), JitError> {
        let Inst::Bar { kind, id, count, aligned } = &*st.inst else { return Ok(()) };
        let code = match kind {
            BarKind::Sync => BarrierKind::Sync,
            BarKind::Arrive => BarrierKind::Arrive,
            BarKind::RedPopc { .. } => BarrierKind::RedPopc,
            BarKind::RedBool { op: BoolOp::And, .. } => BarrierKind::RedAnd,
            BarKind::RedBool { op: BoolOp::Or, .. } => BarrierKind::RedOr,
            BarKind::RedBool { .. } => return Err(self.unsupported_error("`bar.red.xor`")),
        };
        let pred = match kind {
            BarKind::RedPopc { pred, negated, .. } | BarKind::RedBool { pred, negated, .. } => {
                Some(PredSrc::Reg { reg: *pred, negated: *negated })
            }
            _ => None,
        };
        let count = count.unwrap_or(Operand::Int(0));
        if matches!(count, Operand::Reg(_)) {
            self.trap_on_partial_warps(st, count);
        }
        if self.is_masked() && code != BarrierKind::Arrive {
            self.park_at_barrier(code, *aligned, *id, count, pred);
            return Ok(());
        }
        if self.env.instrument.diverged.is_some() {
            let site = self.iconst32(self.site_for_lanes(WHOLE_WARP_LANE_CODE).into());
            self.b.ins().store(trusted_mem_flags(), site, self.abi.ctx, offset_of!(WarpCtx, barrier_site) as i32);
        }
        if code == BarrierKind::Sync && count == Operand::Int(0) && self.all_lanes_participate(st) {
            let id = self.lane_0_operand(*id);
            let mut signature = Signature::new(arch::barrier_calling_convention(self.b.func.signature.call_conv));
            signature.params = [types::I64, types::I32].map(AbiParam::new).to_vec();
            relocations::call_target_with_signature(
                &mut self.b,
                runtime_call_target!(barrier_all),
                signature,
                &[self.abi.ctx, id],
            );
            return Ok(());
        }
        let active = self.active_lane_bits(st);
        let arriving = self.b.ins().popcnt(active);
        let trues = match pred {
            Some(p) => {
                let bits = self.predicate_lane_bits(st, p);
                self.b.ins().popcnt(bits)
            }
            None => self.iconst32(0),
        };
        let (id, count) = (self.lane_0_operand(*id), self.lane_0_operand(count));
        let code = self.iconst32(code as i64);
        let f = runtime_call_target!(barrier);
        let result = relocations::call_target(
            &mut self.b,
            f,
            &[self.abi.ctx, code, id, count, arriving, trues],
            Some(types::I32),
        );
        if let Some(r) = result {
            self.b.ins().store(trusted_mem_flags(), r, self.abi.frame, frame_header::BAR_RESULT_OFFSET);
        }
        Ok(())
    }

    /// Stops the kernel where a lane names a number of threads that is no multiple of the warp size.
    fn trap_on_partial_warps(&mut self, st: &Stmt<'_>, count: Operand) {
        let (rest, zero) = (self.splat_i32x4(31), self.splat_i32x4(0));
        let masks: Vec<Option<LaneParts>> = (0..CHUNKS_PER_WARP)
            .map(|chunk| {
                let counts = self.operand_lanes(count, RegWidth::W32, chunk);
                let parts = counts.iter().map(|&n| {
                    let over = self.b.ins().band(n, rest);
                    self.b.ins().icmp(IntCC::NotEqual, over, zero)
                });
                Some(parts.collect())
            })
            .collect();
        let bits = self.mask_to_lane_bits(&masks);
        let active = self.active_lane_bits(st);
        let bad = self.b.ins().band(bits, active);
        self.emit_in_cold_block(bad, |g| g.emit_trap(TrapKind::BarrierCount));
    }

    /// Whether all lanes that have not exited take part in a statement.
    fn all_lanes_participate(&mut self, st: &Stmt<'_>) -> bool {
        !self.is_masked() && (0..CHUNKS_PER_WARP).all(|c| self.guard_mask(st, c).is_none())
    }

    /// An operand that must agree between the lanes: lane 0's value in converged code.
    fn lane_0_operand(&mut self, o: Operand) -> Value {
        if self.is_uniform(o) {
            return self.scalar_operand(o, RegWidth::W32)[0];
        }
        let lanes = self.operand_lanes(o, RegWidth::W32, 0);
        self.b.ins().extractlane(lanes[0], 0)
    }

    fn park_at_barrier(
        &mut self,
        code: BarrierKind,
        aligned: bool,
        id: Operand,
        count: Operand,
        pred: Option<PredSrc>,
    ) {
        let code = code as u32 | if aligned { frame_header::BAR_KIND_ALIGNED } else { 0 };
        for c in 0..CHUNKS_PER_WARP {
            let kind = self.splat_i32x4(code.into());
            let id = self.operand_lanes(id, RegWidth::W32, c);
            let count = self.operand_lanes(count, RegWidth::W32, c);
            let p = match pred {
                Some(PredSrc::Reg { reg, negated }) => {
                    let p = self.read_lanes(reg, c);
                    if negated { p.iter().map(|&v| self.b.ins().bnot(v)).collect() } else { p }
                }
                _ => LaneParts::from_slice(&[kind, kind]),
            };
            let mut fields = vec![
                (frame_header::BAR_KIND_OFFSET, LaneParts::from_slice(&[kind, kind])),
                (frame_header::BAR_ID_OFFSET, id),
                (frame_header::BAR_COUNT_OFFSET, count),
                (frame_header::BAR_PRED_OFFSET, p),
            ];
            if self.env.instrument.diverged.is_some() {
                let site = self.splat_i32x4(self.site_for_lanes(WHOLE_WARP_LANE_CODE).into());
                fields.push((frame_header::WARP_OP_SITE_OFFSET, LaneParts::from_slice(&[site, site])));
            }
            let Some(mask) = self.exec_mask(c) else { return };
            for (at, new) in fields {
                let old = self.load_lane_array(at, c);
                let new: Vec<Value> = (0..2).map(|i| self.b.ins().bitselect(mask[i], new[i], old[i])).collect();
                self.store_lane_array(at, c, &new);
            }
        }
    }
}
