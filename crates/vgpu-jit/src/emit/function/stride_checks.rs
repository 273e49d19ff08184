//! Checks of what converged code assumes of strided registers: when one fails, masked code executes the block
//! from its beginning.

use super::emitter::FunctionEmitter;
use super::register_values::{CHUNK_LANES, CHUNKS_PER_WARP, RegWidth};
use crate::simt::lane_classes::LaneClass;
use crate::simt::stride_checks::StrideCheck;
use cranelift_codegen::ir::{InstBuilder, Value, condcodes::IntCC, types};
use rtcg_ptx::ast::*;
use rtcg_vgpu_abi::WARP_LANES;

impl FunctionEmitter<'_, '_> {
    /// A flag that is not zero when a check fails, in any chunk.
    pub(crate) fn emit_stride_check(&mut self, check: StrideCheck) -> Value {
        let (StrideCheck::NoWrap { class, .. } | StrideCheck::NonNegative { class, .. }) = check;
        let LaneClass::Chunked(_) = class else { return self.emit_stride_check_over_lanes(check, WARP_LANES) };
        let flags: Vec<Value> = (0..CHUNKS_PER_WARP)
            .map(|chunk| {
                self.segment.current_chunk = Some(chunk);
                let flag = self.emit_stride_check_over_lanes(check, CHUNK_LANES);
                self.segment.current_chunk = None;
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
        let values = std::mem::take(&mut self.blocks.checkpoint);
        self.switch_to_masked_code(self.blocks.current, &values);
        self.blocks.checkpoint = values;
        self.b.switch_to_block(next);
    }
}
