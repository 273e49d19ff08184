//! Atomics. Worth machine code of their own ([`can_emit_inline`]) are those of 32- and 64-bit integers (`inc` and `dec` in
//! shared memory only), sums of floats in shared memory, and exchanges of floats; the others go through the runtime.
//!
//! Shared memory belongs to one block and a block to one worker, so atomics there are plain
//! loads and stores, lane after lane. Elsewhere each is an atomic instruction of the processor.

use super::addresses::{LaneLocation, MemAccess, ScalarAddress};
use super::shadow_checks::AccessMode;
use crate::JitError;
use crate::emit::code::relocations::{self, runtime_call_target};
use crate::emit::function::emitter::{FunctionEmitter, trusted_mem_flags};
use crate::emit::function::register_values::{CHUNKS_PER_WARP, EmitShape, LaneParts, RegWidth};
use crate::emit::ops;
use crate::isa::F64_NAN_FROM_FIRST_OPERAND;
use crate::simt::body::Stmt;
use crate::simt::lane_classes::LaneClass;
use cranelift_codegen::ir::{
    AtomicRmwOp, InstBuilder, MemFlagsData, Type as IrType, Value, condcodes::FloatCC, condcodes::IntCC, types,
};
use rtcg_ptx::ast::*;
use rtcg_vgpu_abi::runtime::AtomicCode;
use smallvec::smallvec;

/// Lanes in an iteration of [`FunctionEmitter::emit_atomic_lane_loop`].
const UPDATES_PER_ITERATION: i32 = 2;

/// Where [`FunctionEmitter::emit_atomic_lane_loop`] finds an operand.
#[derive(Clone, Copy)]
enum LaneLoopOperand {
    Uniform(Value),
    /// This array of the scratch slot.
    ScratchArray(i32),
}

/// Whether [`FunctionEmitter::emit_inline_atomic`] can emit it.
fn can_emit_inline(op: AtomOp, ty: Type, shared: bool, returns: bool) -> bool {
    let integer = matches!(ty, Type::B32 | Type::U32 | Type::S32 | Type::B64 | Type::U64 | Type::S64);
    let float = matches!(ty, Type::F32 | Type::F64);
    match op {
        // The lanes get their old values in another order than one after the other.
        AtomOp::Min | AtomOp::Max => integer && !(shared && returns && ty.bits() == 64),
        AtomOp::Inc | AtomOp::Dec => integer && shared,
        // Where the processor's NaNs are not a GPU's, the runtime chooses them.
        AtomOp::Add => integer || (float && shared && (ty == Type::F32 || F64_NAN_FROM_FIRST_OPERAND)),
        AtomOp::Exch => integer || float,
        _ => integer,
    }
}

fn rmw_op(op: AtomOp, signed: bool) -> Option<AtomicRmwOp> {
    Some(match op {
        AtomOp::Add => AtomicRmwOp::Add,
        AtomOp::And => AtomicRmwOp::And,
        AtomOp::Or => AtomicRmwOp::Or,
        AtomOp::Xor => AtomicRmwOp::Xor,
        AtomOp::Exch => AtomicRmwOp::Xchg,
        AtomOp::Min if signed => AtomicRmwOp::Smin,
        AtomOp::Min => AtomicRmwOp::Umin,
        AtomOp::Max if signed => AtomicRmwOp::Smax,
        AtomOp::Max => AtomicRmwOp::Umax,
        _ => return None,
    })
}

impl<'a> FunctionEmitter<'a, '_> {
    /// An atomic: in machine code where that is worth it, else by the runtime.
    pub(crate) fn emit_atomic(&mut self, st: &Stmt<'a>) -> Result<(), JitError> {
        let Inst::Atom { space, op, ty, dst, addr, b, c, .. } = &*st.inst else { return Ok(()) };
        let w = RegWidth::from_type(*ty);
        let shared = *space == Space::Shared;
        let code = AtomicCode { op: *op, ty: *ty, shared, returns: dst.is_some(), elements: 1 };
        let Some(code) = code.encode_atomic_code() else {
            return Err(self.unsupported_error(&format!("an atomic on {ty:?}")));
        };
        let access = MemAccess::new(*space, *ty, addr, 1);
        if can_emit_inline(*op, *ty, access.space == Space::Shared, dst.is_some()) {
            return self.emit_inline_atomic(st);
        }
        let mut masks = vec![];
        for k in 0..CHUNKS_PER_WARP {
            let at = self.absolute_lane_addresses(&access, k);
            let active = self.active_mask(st, k);
            self.emit_shadow_check(&access, &LaneLocation::PerLane(at.clone()), k, active.as_ref(), AccessMode::Atomic);
            self.store_lanes_as_u64(&at, RegWidth::W64, 0, k);
            let v = self.operand_lanes(*b, w, k);
            self.store_lanes_as_u64(&v, w, 1, k);
            if let Some(c) = c {
                let v = self.operand_lanes(*c, w, k);
                self.store_lanes_as_u64(&v, w, 2, k);
            }
            masks.push(active);
        }
        let bits = self.mask_to_lane_bits(&masks);
        let site = self.site_for_lanes(crate::simt::instruction_sites::WHOLE_WARP_LANE_CODE);
        let (code, site) = (self.iconst32(i64::from(code)), self.iconst32(i64::from(site)));
        let slot = self.lane_array_slot();
        let at = self.b.ins().stack_addr(types::I64, slot, 0);
        let f = runtime_call_target!(atomic);
        relocations::call_target(&mut self.b, f, &[self.abi.ctx, code, bits, site, at], None);
        if let Some(d) = dst {
            for k in 0..CHUNKS_PER_WARP {
                let dw = self.width_of_register(*d);
                let v = self.load_lanes_from_u64(3, k, w);
                let v = ops::narrow_source(&mut self.op_ctx(), EmitShape::Chunk, &v, w, dw);
                let guard = self.blend_mask(st, k);
                self.write_lanes(*d, k, v, guard.as_ref());
            }
        }
        Ok(())
    }

    /// An atomic of the lanes one after the other, in machine code.
    fn emit_inline_atomic(&mut self, st: &Stmt<'a>) -> Result<(), JitError> {
        let Inst::Atom { space, op, ty, dst, addr, b, c, .. } = &*st.inst else { return Ok(()) };
        if self.emit_warp_aggregated_add(st)? {
            return Ok(());
        }
        let w = RegWidth::from_type(*ty);
        for k in 0..CHUNKS_PER_WARP {
            let mask = self.active_mask(st, k);
            let first = self.operand_lanes(*b, w, k);
            let second = c.map(|c| self.operand_lanes(c, w, k));
            let mut access = MemAccess::new(*space, *ty, addr, 1);
            let place = self.checked_location(&mut access, k, mask.as_ref())?;
            self.emit_shadow_check(&access, &place, k, mask.as_ref(), AccessMode::Atomic);
            if *space == Space::Shared && dst.is_none() && matches!(place, LaneLocation::PerLane(_)) {
                self.emit_atomic_lane_loop(st, k, &place, mask.as_ref());
                continue;
            }
            let addresses = self.lane_addresses(&place, k, mask.as_ref());
            let old: [LaneParts; 8] = std::array::from_fn(|l| {
                self.set_instruction_site((k * 8 + l) as u32);
                let x = ops::extract_lane(&mut self.op_ctx(), w, &first, l)[0];
                let y = second.as_ref().map(|s| ops::extract_lane(&mut self.op_ctx(), w, s, l)[0]);
                let (base, off) = addresses[l];
                let at = self.add_offset(base, i64::from(off));
                smallvec![self.emit_scalar_atomic(*space == Space::Shared, *op, *ty, at, x, y)]
            });
            self.set_instruction_site(crate::simt::instruction_sites::chunk_lane_code(k));
            if let Some(d) = dst {
                let v = ops::chunk_from_scalars(&mut self.op_ctx(), w, &old);
                let dw = self.width_of_register(*d);
                let v = ops::narrow_source(&mut self.op_ctx(), EmitShape::Chunk, &v, w, dw);
                let guard = self.blend_mask(st, k);
                self.write_lanes(*d, k, v, guard.as_ref());
            }
        }
        Ok(())
    }

    /// Updates of shared memory by a chunk's lanes whose old values are not used, as a loop.
    ///
    /// One after the other in straight code, those of a warp are 32 instructions that read and write memory; where
    /// addresses depend on data, Zen 4 predicts so many wrongly and starts again after most (0.29 instead of 2.1
    /// updates a nanosecond; 16 it predicts well).
    fn emit_atomic_lane_loop(&mut self, st: &Stmt<'a>, chunk: usize, place: &LaneLocation, mask: Option<&LaneParts>) {
        let Inst::Atom { op, ty, b, c, .. } = &*st.inst else { return };
        let w = RegWidth::from_type(*ty);
        let addresses = self.lane_address_vectors(place, chunk, mask);
        self.store_lanes_as_u64(&addresses, RegWidth::W64, 0, chunk);
        let first = self.lane_loop_operand(*b, w, 1, chunk);
        let second = c.map(|c| self.lane_loop_operand(c, w, 2, chunk));
        self.set_instruction_site(crate::simt::instruction_sites::chunk_lane_code(chunk));
        let slot = self.lane_array_slot();
        let begin = self.b.ins().stack_addr(types::I64, slot, chunk as i32 * 64);
        let end = self.b.ins().iadd_imm_s(begin, 64);
        let (turn, done) = (self.b.create_block(), self.b.create_block());
        let at = self.b.append_block_param(turn, types::I64);
        self.b.ins().jump(turn, &[begin.into()]);
        self.b.switch_to_block(turn);
        for lane in 0..UPDATES_PER_ITERATION {
            let address = self.b.ins().load(types::I64, trusted_mem_flags(), at, 8 * lane);
            let mut value = |operand: LaneLoopOperand| match operand {
                LaneLoopOperand::Uniform(v) => v,
                LaneLoopOperand::ScratchArray(array) => {
                    self.b.ins().load(w.part_type(EmitShape::Scalar), trusted_mem_flags(), at, 256 * array + 8 * lane)
                }
            };
            let (x, y) = (value(first), second.map(&mut value));
            self.emit_scalar_atomic(true, *op, *ty, address, x, y);
        }
        let next = self.b.ins().iadd_imm_s(at, i64::from(8 * UPDATES_PER_ITERATION));
        let more = self.b.ins().icmp(IntCC::NotEqual, next, end);
        self.b.ins().brif(more, turn, &[next.into()], done, &[]);
        self.b.seal_block(turn);
        self.b.seal_block(done);
        self.b.switch_to_block(done);
    }

    /// An operand for [`FunctionEmitter::emit_atomic_lane_loop`]: stored to an array of the scratch slot unless all lanes have the same
    /// and it is at hand as a scalar, which in masked code immediates alone are.
    fn lane_loop_operand(&mut self, o: Operand, w: RegWidth, array: i32, chunk: usize) -> LaneLoopOperand {
        if self.is_uniform(o) {
            return LaneLoopOperand::Uniform(self.scalar_operand(o, w)[0]);
        }
        let lanes = self.operand_lanes(o, w, chunk);
        self.store_lanes_as_u64(&lanes, w, array, chunk);
        LaneLoopOperand::ScratchArray(array)
    }

    fn emit_scalar_atomic(
        &mut self,
        shared: bool,
        op: AtomOp,
        ty: Type,
        at: Value,
        x: Value,
        y: Option<Value>,
    ) -> Value {
        let word = if ty.bits() == 64 { types::I64 } else { types::I32 };
        let flags = MemFlagsData::new();
        if shared {
            let old = self.b.ins().load(word, flags, at, 0);
            let new = self.apply_atomic_op(op, ty, word, old, x, y);
            self.b.ins().store(flags, new, at, 0);
            return old;
        }
        match (rmw_op(op, ty.is_signed()), y) {
            (Some(op), _) => self.b.ins().atomic_rmw(word, flags, op, at, x),
            (None, Some(y)) => self.b.ins().atomic_cas(flags, at, x, y),
            _ => x,
        }
    }

    fn apply_atomic_op(&mut self, op: AtomOp, ty: Type, word: IrType, old: Value, x: Value, y: Option<Value>) -> Value {
        let signed = ty.is_signed();
        match op {
            AtomOp::Add if ty.is_float() => {
                let f = if word == types::I64 { types::F64 } else { types::F32 };
                let plain = MemFlagsData::new();
                let (a, b) = (self.b.ins().bitcast(f, plain, old), self.b.ins().bitcast(f, plain, x));
                // Of two double-precision NaNs the processor keeps the first, and so does a GPU here;
                // single precision has one NaN.
                let sum = self.b.ins().fadd(a, b);
                let bits = self.b.ins().bitcast(word, plain, sum);
                if word == types::I64 {
                    return bits;
                }
                let nan = self.b.ins().fcmp(FloatCC::Unordered, sum, sum);
                let one = self.b.ins().iconst(word, 0x7fff_ffff);
                self.b.ins().select(nan, one, bits)
            }
            AtomOp::Add => self.b.ins().iadd(old, x),
            AtomOp::And => self.b.ins().band(old, x),
            AtomOp::Or => self.b.ins().bor(old, x),
            AtomOp::Xor => self.b.ins().bxor(old, x),
            AtomOp::Min if signed => self.b.ins().smin(old, x),
            AtomOp::Min => self.b.ins().umin(old, x),
            AtomOp::Max if signed => self.b.ins().smax(old, x),
            AtomOp::Max => self.b.ins().umax(old, x),
            AtomOp::Exch => x,
            AtomOp::Cas => {
                let same = self.b.ins().icmp(IntCC::Equal, old, x);
                self.b.ins().select(same, y.unwrap_or(x), old)
            }
            AtomOp::Inc => {
                let more = self.b.ins().iadd_imm_s(old, 1);
                let zero = self.b.ins().iconst(word, 0);
                let wraps = self.b.ins().icmp(IntCC::UnsignedGreaterThanOrEqual, old, x);
                self.b.ins().select(wraps, zero, more)
            }
            AtomOp::Dec => {
                let less = self.b.ins().iadd_imm_s(old, -1);
                let over = self.b.ins().icmp(IntCC::UnsignedGreaterThan, old, x);
                let none = self.b.ins().icmp_imm_u(IntCC::Equal, old, 0);
                let wraps = self.b.ins().bor(over, none);
                self.b.ins().select(wraps, x, less)
            }
        }
    }

    /// An integer sum of all lanes at one address whose old value is not used: one addition.
    fn emit_warp_aggregated_add(&mut self, st: &Stmt<'a>) -> Result<bool, JitError> {
        let Inst::Atom { space, op: AtomOp::Add, ty, dst: None, addr, b, .. } = &*st.inst else { return Ok(false) };
        if self.is_masked()
            || ty.is_float()
            || ty.bits() != 32
            || self.plan.classes.address_class(addr) != LaneClass::Uniform
        {
            return Ok(false);
        }
        let (mut sum, mut any): (Option<Value>, Option<Value>) = (None, None);
        for k in 0..CHUNKS_PER_WARP {
            let mask = self.active_mask(st, k);
            let v = self.operand_lanes(*b, RegWidth::W32, k);
            for (i, &p) in v.iter().enumerate() {
                let p = mask.as_ref().map_or(p, |m| self.b.ins().band(p, m[i]));
                sum = Some(sum.map_or(p, |s| self.b.ins().iadd(s, p)));
                if let Some(m) = &mask {
                    any = Some(any.map_or(m[i], |a| self.b.ins().bor(a, m[i])));
                }
            }
        }
        let Some(v) = sum else { return Ok(false) };
        let lanes: Vec<Value> = (0..4).map(|l| self.b.ins().extractlane(v, l)).collect();
        let (a, c) = (self.b.ins().iadd(lanes[0], lanes[1]), self.b.ins().iadd(lanes[2], lanes[3]));
        let total = self.b.ins().iadd(a, c);
        let access = MemAccess::new(*space, *ty, addr, 1);
        let next = any.map(|m| {
            let some = self.b.ins().vany_true(m);
            let (go, next) = (self.b.create_block(), self.b.create_block());
            self.b.ins().brif(some, go, &[], next, &[]);
            self.b.seal_block(go);
            self.b.switch_to_block(go);
            next
        });
        let base = self.scalar_address(&access)?;
        if !self.is_symbol_address(&access) {
            self.check_scalar_address(
                &access,
                &ScalarAddress { base, offset: 0, stride: 0, safe: false, checked: false },
                None,
            );
        }
        self.emit_uniform_shadow_check(&access, base, AccessMode::Atomic);
        self.emit_scalar_atomic(*space == Space::Shared, AtomOp::Add, *ty, base, total, None);
        if let Some(next) = next {
            self.b.ins().jump(next, &[]);
            self.b.seal_block(next);
            self.b.switch_to_block(next);
        }
        self.clear_splat_cache();
        Ok(true)
    }
}
