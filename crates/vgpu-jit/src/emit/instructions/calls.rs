//! Calls: device functions, through pointers, and the functions the runtime provides.
//!
//! Arguments and results lie in records: for every 8 bytes of the parameter 32 values of 8 bytes,
//! one per lane. A function gets the lanes it is called for as a mask; all of them come back
//! together, or have exited.

use crate::JitError;
use crate::emit::code::relocations::{self, RelocTarget, runtime_call_target};
use crate::emit::function::emitter::{FunctionEmitter, trusted_mem_flags};
use crate::emit::function::out_of_line::{LANE_BITS_INDEX, PcUpdate};
use crate::emit::function::register_values::{CHUNKS_PER_WARP, EmitShape, LaneParts, RegWidth};
use crate::emit::ops;
use crate::simt::body::Stmt;
use crate::simt::function_plan::{frame_header, param_record_bytes, special_pcs};
use cranelift_codegen::ir::{self, InstBuilder, Value, condcodes::IntCC, types};
use rtcg_ptx::ast::*;
use rtcg_vgpu_abi::runtime::AssertArgs;
use rtcg_vgpu_abi::{TrapKind, WarpCtx};
use std::mem::offset_of;

/// Functions that are not defined in PTX but that the runtime provides.
const RUNTIME_FUNCTIONS: [&str; 5] = ["vprintf", "malloc", "free", "__assertfail", "cudaGraphSetConditional"];

impl<'a> FunctionEmitter<'a, '_> {
    /// Emits a call.
    pub(crate) fn emit_call(&mut self, st: &Stmt<'_>) -> Result<(), JitError> {
        let Inst::Call { callee, rets, args, .. } = &*st.inst else { return Ok(()) };
        let active = self.active_lane_bits(st);
        match callee {
            Callee::Direct(f) => {
                let target = &self.env.module.functions[f.index()];
                if !target.defined {
                    return self.call_runtime_function(&target.name, active, args, rets);
                }
                let (a, r) = self.pass_arguments(args, rets);
                self.call_outer_version(*f, &[self.abi.ctx, active, a, r]);
            }
            Callee::Indirect { target, candidates, .. } => {
                let (a, r) = self.pass_arguments(args, rets);
                self.emit_indirect_call(*target, candidates, (args, rets), active, a, r)?;
            }
        }
        self.load_call_results(args, rets);
        Ok(())
    }

    /// Calls the outer version of a device function.
    fn call_outer_version(&mut self, f: FuncId, args: &[Value]) {
        // A barrier in there counts the lanes of this frame that are parked at it.
        let linked = self.is_masked() && self.callee_may_wait_at_barrier(&Callee::Direct(f));
        let place = offset_of!(WarpCtx, outer_frames) as i32;
        if linked {
            let outer = self.load_ctx_field(types::I64, place as usize);
            self.b.ins().store(trusted_mem_flags(), outer, self.abi.frame, frame_header::CALLER_FRAME_OFFSET);
            self.b.ins().store(trusted_mem_flags(), self.abi.frame, self.abi.ctx, place);
        }
        self.call_outer_version_without_exit_check(f, args);
        if linked {
            let outer =
                self.b.ins().load(types::I64, trusted_mem_flags(), self.abi.frame, frame_header::CALLER_FRAME_OFFSET);
            self.b.ins().store(trusted_mem_flags(), outer, self.abi.ctx, place);
        }
    }

    /// Whether a callee may wait at a barrier of the block.
    pub(crate) fn callee_may_wait_at_barrier(&self, callee: &Callee) -> bool {
        match callee {
            Callee::Direct(f) => self.env.may_wait_at_barrier.get(f).copied().unwrap_or(false),
            Callee::Indirect { .. } => {
                self.env.may_wait_at_barrier.iter().any(|(f, waits)| *waits && *f != self.plan.id)
            }
        }
    }

    fn call_outer_version_without_exit_check(&mut self, f: FuncId, args: &[Value]) {
        match &self.env.part {
            crate::emit::function::compile::FunctionVersion::Outer => {
                relocations::call_target(&mut self.b, RelocTarget::ImageFunction(self.env.versions[&f]), args, None);
            }
            crate::emit::function::compile::FunctionVersion::Masked => {
                relocations::call_target(&mut self.b, RelocTarget::OuterFunction(f.0), args, None);
            }
        }
    }

    /// Whether the call `inst` (or another instruction) may retire lanes.
    pub(crate) fn call_may_exit(&self, inst: &Inst) -> bool {
        match inst {
            Inst::Call { callee: Callee::Direct(f), .. } => self.env.may_exit.get(f).copied().unwrap_or(false),
            Inst::Call { .. } => self.env.may_exit.values().any(|&b| b),
            _ => false,
        }
    }

    /// After such a call in converged code: continues in masked code if lanes have exited.
    pub(crate) fn enter_masked_code_if_lanes_exited(&mut self, to: usize) {
        let exited = self.load_ctx_field(types::I32, offset_of!(WarpCtx, exited));
        let (leave, stay) = (self.b.create_block(), self.b.create_block());
        self.b.set_cold_block(leave);
        let values = self.snapshot_registers(&self.plan.live[to]);
        self.b.ins().brif(exited, leave, &[], stay, &[]);
        self.b.seal_block(leave);
        self.b.seal_block(stay);
        self.b.switch_to_block(leave);
        self.store_stub_value(exited, LANE_BITS_INDEX);
        self.spill_registers(&values, PcUpdate::ByLaneBits(special_pcs::PC_DONE as u32, to as u32));
        if let Some(m) = self.blocks.masked_entry {
            self.b.ins().jump(m, &[]);
        }
        self.b.switch_to_block(stay);
    }

    fn frame_address(&mut self, offset: i32) -> Value {
        self.b.ins().iadd_imm_s(self.abi.frame, i64::from(offset))
    }

    /// Pointers to the records of arguments and results, put together first where needed.
    fn pass_arguments(&mut self, args: &[CallArg], rets: &[CallArg]) -> (Value, Value) {
        let mut at = self.plan.argument_scratch;
        let a = match self.plan.argument_record_offset(args) {
            Some(o) => self.frame_address(o),
            None => {
                let begin = at;
                for arg in args {
                    at += self.store_argument(arg, at) as i32;
                }
                self.frame_address(begin)
            }
        };
        let r = self.plan.argument_record_offset(rets).unwrap_or(at);
        (a, self.frame_address(r))
    }

    fn store_argument(&mut self, arg: &CallArg, at: i32) -> u32 {
        let (operand, w) = match arg {
            CallArg::Param(v) => {
                let bytes = param_record_bytes(self.plan.f.vars[v.index()].size as u32);
                let from = self.plan.records[&v.0];
                for o in (0..bytes as i32).step_by(16) {
                    let v = self.b.ins().load(types::I64X2, trusted_mem_flags(), self.abi.frame, from + o);
                    self.b.ins().store(trusted_mem_flags(), v, self.abi.frame, at + o);
                }
                return bytes;
            }
            CallArg::Reg(r) => (Operand::Reg(*r), self.width_of_register(*r)),
            CallArg::Imm(o) => (*o, RegWidth::W64),
        };
        for c in 0..CHUNKS_PER_WARP {
            let v = self.operand_lanes(operand, w, c);
            let wide = ops::narrow_source(&mut self.op_ctx(), EmitShape::Chunk, &v, w, RegWidth::W64);
            for (i, &p) in wide.iter().enumerate() {
                self.b.ins().store(trusted_mem_flags(), p, self.abi.frame, at + c as i32 * 64 + i as i32 * 16);
            }
        }
        param_record_bytes(8)
    }

    /// Distributes results that the callee left in the temporary record.
    fn load_call_results(&mut self, args: &[CallArg], rets: &[CallArg]) {
        if self.plan.argument_record_offset(rets).is_some() {
            return;
        }
        let mut at = self.plan.argument_scratch;
        if self.plan.argument_record_offset(args).is_none() {
            at += args.iter().map(|a| self.plan.argument_record_bytes(a) as i32).sum::<i32>();
        }
        for r in rets {
            let bytes = self.plan.argument_record_bytes(r) as i32;
            for unit in 0..bytes / 256 {
                for c in 0..CHUNKS_PER_WARP {
                    let from = at + unit * 256 + c as i32 * 64;
                    let v: LaneParts = (0..4)
                        .map(|i| self.b.ins().load(types::I64X2, trusted_mem_flags(), self.abi.frame, from + i * 16))
                        .collect();
                    match r {
                        CallArg::Reg(reg) => {
                            let w = self.width_of_register(*reg);
                            let v = ops::narrow_source(&mut self.op_ctx(), EmitShape::Chunk, &v, RegWidth::W64, w);
                            self.write_lanes(*reg, c, v, None);
                        }
                        CallArg::Param(var) => {
                            self.store_param_record_unit(self.plan.records[&var.0] + unit * 256, c, &v)
                        }
                        CallArg::Imm(_) => {}
                    }
                }
            }
            at += bytes;
        }
    }

    /// Stores a chunk of one unit of a record for the active lanes.
    fn store_param_record_unit(&mut self, at: i32, chunk: usize, v: &LaneParts) {
        let mask = self.exec_mask(chunk).map(|m| self.widen_mask(&m));
        for (i, &p) in v.iter().enumerate() {
            let o = at + chunk as i32 * 64 + i as i32 * 16;
            let p = match &mask {
                Some(m) => {
                    let old = self.b.ins().load(types::I64X2, trusted_mem_flags(), self.abi.frame, o);
                    self.b.ins().bitselect(m[i], p, old)
                }
                None => p,
            };
            self.b.ins().store(trusted_mem_flags(), p, self.abi.frame, o);
        }
    }

    /// Calls each distinct target once, for the lanes that have it.
    fn emit_indirect_call(
        &mut self,
        target: Reg,
        candidates: &[FuncId],
        (args, rets): (&[CallArg], &[CallArg]),
        active: Value,
        a: Value,
        r: Value,
    ) -> Result<(), JitError> {
        let tokens: Vec<LaneParts> =
            (0..CHUNKS_PER_WARP).map(|c| self.operand_lanes(Operand::Reg(target), RegWidth::W64, c)).collect();
        let slot = self.lane_array_slot();
        for (i, &p) in tokens.iter().flatten().enumerate() {
            self.b.ins().stack_store(types::I64, p, slot, i as i32 * 16);
        }
        let (head, next, done) = (self.b.create_block(), self.b.create_block(), self.b.create_block());
        let rest = self.b.append_block_param(head, types::I32);
        self.b.ins().jump(head, &[active.into()]);
        self.b.switch_to_block(head);
        let lane = self.b.ins().ctz(rest);
        let lane64 = self.b.ins().uextend(types::I64, lane);
        let base = self.b.ins().stack_addr(types::I64, slot, 0);
        let at = self.b.ins().ishl_imm_u(lane64, 3);
        let at = self.b.ins().iadd(base, at);
        let token = self.b.ins().load(types::I64, trusted_mem_flags(), at, 0);
        let same = self.lane_bits_with_target(&tokens, token);
        let group = self.b.ins().band(same, rest);
        for f in self.indirect_targets(candidates, args, rets) {
            let (hit, miss) = (self.b.create_block(), self.b.create_block());
            let known = self.iconst64(crate::function_token(f) as i64);
            let is = self.icmp_equal(token, known);
            self.b.ins().brif(is, hit, &[], miss, &[]);
            self.b.seal_block(hit);
            self.b.seal_block(miss);
            self.b.switch_to_block(hit);
            self.call_outer_version(f, &[self.abi.ctx, group, a, r]);
            self.b.ins().jump(next, &[]);
            self.b.switch_to_block(miss);
        }
        let (kind, site) = (
            self.iconst32(TrapKind::InvalidPc as i64),
            self.site_for_lanes(crate::simt::instruction_sites::WHOLE_WARP_LANE_CODE),
        );
        let site = self.iconst32(i64::from(site));
        let f = runtime_call_target!(trap);
        relocations::call_target(&mut self.b, f, &[self.abi.ctx, kind, lane, site, token], None);
        self.b.ins().trap(ir::TrapCode::unwrap_user(5));
        self.b.seal_block(next);
        self.b.switch_to_block(next);
        let left = self.b.ins().band_not(rest, group);
        self.b.ins().brif(left, head, &[left.into()], done, &[]);
        self.b.seal_block(head);
        self.b.seal_block(done);
        self.b.switch_to_block(done);
        Ok(())
    }

    /// Bits of the lanes whose 64-bit value is `token`.
    fn lane_bits_with_target(&mut self, tokens: &[LaneParts], token: Value) -> Value {
        let wanted = self.b.ins().splat(types::I64X2, token);
        let masks: Vec<Option<LaneParts>> = tokens
            .iter()
            .map(|t| {
                let eq: LaneParts = t.iter().map(|&v| self.b.ins().icmp(IntCC::Equal, v, wanted)).collect();
                Some((0..2).map(|i| self.shuffle_words(eq[2 * i], eq[2 * i + 1], [0, 2, 4, 6])).collect())
            })
            .collect();
        self.mask_to_lane_bits(&masks)
    }

    /// Functions an indirect call can reach: those with records of the same sizes.
    fn indirect_targets(&self, candidates: &[FuncId], args: &[CallArg], rets: &[CallArg]) -> Vec<FuncId> {
        let bytes = |l: &[CallArg]| l.iter().map(|a| self.plan.argument_record_bytes(a)).collect::<Vec<_>>();
        let params = |l: &[Param]| l.iter().map(|p| param_record_bytes(p.size)).collect::<Vec<_>>();
        let (a, r) = (bytes(args), bytes(rets));
        let mut list: Vec<FuncId> = (self.env.versions.keys().copied())
            .filter(|f| {
                let g = &self.env.module.functions[f.index()];
                let listed = candidates.is_empty() || candidates.contains(f);
                listed && !g.entry && params(&g.params) == a && params(&g.returns) == r
            })
            .collect();
        list.sort_unstable();
        list
    }

    /// `vprintf`, `malloc`, `free`, `__assertfail`, `cudaGraphSetConditional`.
    fn call_runtime_function(
        &mut self,
        name: &str,
        active: Value,
        args: &[CallArg],
        rets: &[CallArg],
    ) -> Result<(), JitError> {
        let expected = match name {
            // Its result may be left out, as that of every function whose caller does not read it.
            "vprintf" => (2, 0),
            "malloc" => (1, 1),
            "free" => (1, 0),
            "__assertfail" => (5, 0),
            "cudaGraphSetConditional" => (2, 0),
            _ => {
                let known = RUNTIME_FUNCTIONS.join(", ");
                return Err(self.statement_error(format!(
                    "`{name}` is declared but not defined in this module (the virtual GPU provides {known})"
                )));
            }
        };
        if args.len() != expected.0 || rets.len() < expected.1 {
            let (args, rets) = (args.len(), rets.len());
            let message = format!(
                "`{name}` is called with {args} arguments and {rets} results; it has {} and at least {}",
                expected.0, expected.1
            );
            return Err(self.statement_error(message));
        }
        let (a, r) = self.pass_arguments(args, rets);
        let site = self.site_for_lanes(crate::simt::instruction_sites::WHOLE_WARP_LANE_CODE);
        let site = self.iconst32(i64::from(site));
        let (ctx, second) = (self.abi.ctx, i64::from(param_record_bytes(8)));
        match name {
            "vprintf" => {
                let f = runtime_call_target!(vprintf);
                let list = self.b.ins().iadd_imm_s(a, second);
                relocations::call_target(&mut self.b, f, &[ctx, active, site, a, list, r], None);
            }
            "malloc" => {
                let f = runtime_call_target!(malloc);
                relocations::call_target(&mut self.b, f, &[ctx, active, site, a, r], None);
            }
            "free" => {
                let f = runtime_call_target!(free);
                relocations::call_target(&mut self.b, f, &[ctx, active, site, a], None);
            }
            "cudaGraphSetConditional" => {
                let f = runtime_call_target!(set_conditional);
                let values = self.b.ins().iadd_imm_s(a, second);
                relocations::call_target(&mut self.b, f, &[ctx, active, site, a, values], None);
            }
            _ => self.emit_assertfail(active, a, site),
        }
        self.load_call_results(args, rets);
        Ok(())
    }

    /// Reports the failed assertions of the active lanes.
    fn emit_assertfail(&mut self, active: Value, args: Value, site: Value) {
        let slot = self.lane_array_slot();
        let unit = i64::from(param_record_bytes(8));
        for (i, field) in [
            (0, offset_of!(AssertArgs, messages)),
            (1, offset_of!(AssertArgs, files)),
            (2, offset_of!(AssertArgs, lines)),
            (3, offset_of!(AssertArgs, functions)),
        ] {
            let lanes = self.b.ins().iadd_imm_s(args, i * unit);
            self.b.ins().stack_store(types::I64, lanes, slot, field as i32);
        }
        self.b.ins().stack_store(types::I64, active, slot, offset_of!(AssertArgs, mask) as i32);
        let p = self.b.ins().stack_addr(types::I64, slot, 0);
        let f = runtime_call_target!(assertfail);
        relocations::call_target(&mut self.b, f, &[self.abi.ctx, site, p], None);
    }
}
