//! Warp operations: shuffles, votes, `match`, `redux`, `elect`. How lanes of masked code gather for them is in
//! [`super::warp_rendezvous`].

use crate::JitError;
use crate::emit::code::relocations::{self, RelocTarget};
use crate::emit::function::emitter::{FunctionEmitter, trusted_mem_flags};
use crate::emit::function::register_values::{CHUNKS_PER_WARP, EmitShape, LaneParts, RegWidth};
use crate::emit::ops;
use crate::simt::body::Stmt;
use crate::simt::lane_classes::LaneClass;
use cranelift_codegen::ir::{self, InstBuilder, StackSlot, Value, condcodes::IntCC, types};
use rtcg_ptx::ast::*;
use rtcg_vgpu_abi::model::lanes::SHUFFLE_FROM_EXITED_LANE;
use rtcg_vgpu_abi::runtime::Atomic128LaneOperands;

impl<'a> FunctionEmitter<'a, '_> {
    /// The member masks of all active lanes in one.
    pub(crate) fn union_of_member_masks(&mut self, mask: Operand) -> Value {
        if let Operand::Int(v) = mask {
            return self.iconst32(v);
        }
        let mut all: Option<Value> = None;
        for c in 0..CHUNKS_PER_WARP {
            let lanes = self.operand_lanes(mask, RegWidth::W32, c);
            let exec = self.exec_mask(c);
            for (i, &l) in lanes.iter().enumerate() {
                let l = exec.as_ref().map_or(l, |e| self.b.ins().band(l, e[i]));
                all = Some(all.map_or(l, |a| self.b.ins().bor(a, l)));
            }
        }
        let Some(v) = all else { return self.iconst32(0) };
        let swapped = self.shuffle_words(v, v, [2, 3, 0, 1]);
        let two = self.b.ins().bor(v, swapped);
        let a = self.b.ins().extractlane(two, 0);
        let b = self.b.ins().extractlane(two, 1);
        self.b.ins().bor(a, b)
    }

    pub(crate) fn emit_warp_op(&mut self, st: &Stmt<'_>) -> Result<(), JitError> {
        match &*st.inst {
            Inst::Shfl { mode, dst, pred, a, b, c, .. } => {
                let source = self.shfl_sources(st, *a);
                self.emit_shfl(*mode, *dst, *pred, &source, *b, *c);
            }
            Inst::Vote { mode, dst, pred, mask } => self.emit_vote(st, *mode, *dst, *pred, *mask),
            Inst::Match { all, ty, dst, pred, a, mask } => self.emit_match(st, *all, *ty, *dst, *pred, *a, *mask),
            Inst::Redux { op, ty, abs, mods, dst, a, mask } => {
                let code = crate::emit::function::slow_paths::redux_code(*op, *ty, *abs, mods.nan);
                self.emit_redux(st, code, *dst, *a, *mask);
            }
            Inst::Elect { dst, pred, mask } => self.emit_elect(st, *dst, *pred, *mask),
            Inst::Matrix(matrix) => self.emit_matrix_inst(st, matrix)?,
            _ => {}
        }
        Ok(())
    }

    // ---- shuffles ----

    /// What lanes give to a shuffle, by chunk: zero those that take no part in it, as lanes that have exited.
    fn shfl_sources(&mut self, st: &Stmt<'_>, a: Operand) -> Vec<LaneParts> {
        const { assert!(SHUFFLE_FROM_EXITED_LANE == 0) };
        (0..CHUNKS_PER_WARP)
            .map(|chunk| {
                let values = self.operand_lanes(a, RegWidth::W32, chunk);
                match self.active_mask(st, chunk) {
                    Some(active) => values.iter().zip(&active).map(|(&v, &m)| self.b.ins().band(v, m)).collect(),
                    None => values,
                }
            })
            .collect()
    }

    fn emit_shfl(&mut self, mode: ShflMode, dst: Reg, pred: Option<Reg>, source: &[LaneParts], b: Operand, c: Operand) {
        if let (Some(b), Some(c)) = (self.plan.classes.constant_value(b), self.plan.classes.constant_value(c)) {
            let moves: [(usize, bool); 32] = std::array::from_fn(|l| shfl_source(mode, l as u32, b as u32, c as u32));
            if self.emit_static_shfl(source, &moves, dst, pred) {
                return;
            }
        }
        let slot = self.lane_array_slot();
        for (k, p) in source.iter().enumerate() {
            for (i, &v) in p.iter().enumerate() {
                self.b.ins().stack_store(types::I64, v, slot, (k * 32 + i * 16) as i32);
            }
        }
        let base = self.b.ins().stack_addr(types::I64, slot, 0);
        for k in 0..CHUNKS_PER_WARP {
            let (b, c) = (self.operand_lanes(b, RegWidth::W32, k), self.operand_lanes(c, RegWidth::W32, k));
            let lanes = self.scaled_lane_ids(k, 1);
            let (mut index, mut inside) = (LaneParts::new(), LaneParts::new());
            for i in 0..2 {
                let (j, p) = self.shfl_index(mode, lanes[i], b[i], c[i]);
                index.push(j);
                inside.push(p);
            }
            let values: [LaneParts; 8] = std::array::from_fn(|l| {
                let j = self.b.ins().extractlane(index[l / 4], (l % 4) as u8);
                let j = self.b.ins().uextend(types::I64, j);
                let at = self.b.ins().ishl_imm_u(j, 2);
                let at = self.b.ins().iadd(base, at);
                LaneParts::from_slice(&[self.b.ins().load(types::I32, trusted_mem_flags(), at, 0)])
            });
            let v = ops::chunk_from_scalars(&mut self.op_ctx(), RegWidth::W32, &values);
            self.write_lanes(dst, k, v, None);
            if let Some(p) = pred {
                self.write_lanes(p, k, inside, None);
            }
        }
    }

    /// The source lane of each lane and whether it is in range, for four lanes.
    fn shfl_index(&mut self, mode: ShflMode, lane: Value, b: Value, c: Value) -> (Value, Value) {
        let five = self.splat_i32x4(31);
        let b = self.b.ins().band(b, five);
        let clamp = self.b.ins().band(c, five);
        let seg = self.b.ins().ushr_imm_u(c, 8);
        let seg = self.b.ins().band(seg, five);
        let min = self.b.ins().band(lane, seg);
        let rest = self.b.ins().band_not(clamp, seg);
        let max = self.b.ins().bor(min, rest);
        let (j, cc) = match mode {
            ShflMode::Up => (self.b.ins().isub(lane, b), IntCC::SignedGreaterThanOrEqual),
            ShflMode::Down => (self.b.ins().iadd(lane, b), IntCC::SignedLessThanOrEqual),
            ShflMode::Bfly => (self.b.ins().bxor(lane, b), IntCC::SignedLessThanOrEqual),
            ShflMode::Idx => {
                let low = self.b.ins().band_not(b, seg);
                (self.b.ins().bor(min, low), IntCC::SignedLessThanOrEqual)
            }
        };
        let p = self.b.ins().icmp(cc, j, max);
        (self.b.ins().bitselect(p, j, lane), p)
    }

    /// A shuffle whose lane moves are known: each vector comes from at most two others.
    fn emit_static_shfl(
        &mut self,
        source: &[LaneParts],
        moves: &[(usize, bool); 32],
        dst: Reg,
        pred: Option<Reg>,
    ) -> bool {
        let two = moves.chunks(4).all(|m| {
            let mut from: Vec<usize> = m.iter().map(|x| x.0 / 4).collect();
            from.sort_unstable();
            from.dedup();
            from.len() <= 2
        });
        if !two {
            return false;
        }
        for k in 0..CHUNKS_PER_WARP {
            let (mut out, mut inside) = (LaneParts::new(), LaneParts::new());
            for i in 0..2 {
                let m = &moves[k * 8 + i * 4..][..4];
                let first = m[0].0 / 4;
                let second = m.iter().map(|x| x.0 / 4).find(|&v| v != first).unwrap_or(first);
                let words: [u8; 4] = std::array::from_fn(|l| {
                    let (v, w) = (m[l].0 / 4, m[l].0 % 4);
                    if v == first { w as u8 } else { 4 + w as u8 }
                });
                out.push(self.shuffle_words(source[first / 2][first % 2], source[second / 2][second % 2], words));
                let flags: Vec<i64> = m.iter().map(|x| -i64::from(x.1)).collect();
                inside.push(self.constant_vector(RegWidth::W32, &flags));
            }
            self.write_lanes(dst, k, out, None);
            if let Some(p) = pred {
                self.write_lanes(p, k, inside, None);
            }
        }
        true
    }

    // ---- votes ----

    /// The bits of a predicate source over the active lanes.
    pub(crate) fn predicate_lane_bits(&mut self, st: &Stmt<'_>, p: PredSrc) -> Value {
        let active = self.active_lane_bits(st);
        let PredSrc::Reg { reg, negated } = p else {
            return if p == PredSrc::Const(true) { active } else { self.iconst32(0) };
        };
        let masks: Vec<Option<LaneParts>> = (0..CHUNKS_PER_WARP).map(|c| Some(self.read_lanes(reg, c))).collect();
        let bits = self.mask_to_lane_bits(&masks);
        if negated { self.b.ins().band_not(active, bits) } else { self.b.ins().band(active, bits) }
    }

    fn emit_vote(&mut self, st: &Stmt<'_>, mode: VoteMode, dst: Reg, p: PredSrc, mask: Operand) {
        let bits = self.predicate_lane_bits(st, p);
        let active = self.active_lane_bits(st);
        if self.is_uniform(mask) {
            let m = self.scalar_operand(mask, RegWidth::W32)[0];
            let set = self.b.ins().band(bits, m);
            let here = self.b.ins().band(active, m);
            let result = match mode {
                VoteMode::Ballot => set,
                VoteMode::All => self.b.ins().icmp(IntCC::Equal, set, here),
                VoteMode::Any => self.b.ins().icmp_imm_u(IntCC::NotEqual, set, 0),
                VoteMode::Uni => {
                    let all = self.b.ins().icmp(IntCC::Equal, set, here);
                    let none = self.b.ins().icmp_imm_u(IntCC::Equal, set, 0);
                    self.b.ins().bor(all, none)
                }
            };
            return self.write_uniform(dst, &LaneParts::from_slice(&[result]));
        }
        let (bits, active) = (self.b.ins().splat(types::I32X4, bits), self.b.ins().splat(types::I32X4, active));
        let zero = self.splat_i32x4(0);
        for c in 0..CHUNKS_PER_WARP {
            let m = self.operand_lanes(mask, RegWidth::W32, c);
            let out: LaneParts = m
                .iter()
                .map(|&m| {
                    let set = self.b.ins().band(bits, m);
                    let here = self.b.ins().band(active, m);
                    match mode {
                        VoteMode::Ballot => set,
                        VoteMode::All => self.b.ins().icmp(IntCC::Equal, set, here),
                        VoteMode::Any => self.b.ins().icmp(IntCC::NotEqual, set, zero),
                        VoteMode::Uni => {
                            let all = self.b.ins().icmp(IntCC::Equal, set, here);
                            let none = self.b.ins().icmp(IntCC::Equal, set, zero);
                            self.b.ins().bor(all, none)
                        }
                    }
                })
                .collect();
            self.write_lanes(dst, c, out, None);
        }
    }

    fn emit_elect(&mut self, st: &Stmt<'_>, dst: Option<Reg>, pred: Reg, mask: Operand) {
        let active = self.active_lane_bits(st);
        for c in 0..CHUNKS_PER_WARP {
            let m = self.operand_lanes(mask, RegWidth::W32, c);
            let lanes = self.scaled_lane_ids(c, 1);
            let values: [LaneParts; 8] = std::array::from_fn(|l| {
                let m = self.b.ins().extractlane(m[l / 4], (l % 4) as u8);
                let here = self.b.ins().band(m, active);
                LaneParts::from_slice(&[self.b.ins().ctz(here)])
            });
            let leader = ops::chunk_from_scalars(&mut self.op_ctx(), RegWidth::W32, &values);
            let is: LaneParts = (0..2).map(|i| self.b.ins().icmp(IntCC::Equal, lanes[i], leader[i])).collect();
            if let Some(d) = dst {
                self.write_lanes(d, c, leader, None);
            }
            self.write_lanes(pred, c, is, None);
        }
    }

    // ---- operations done by a helper ----

    /// A stack slot for lane arrays handed to the runtime; its contents live for one statement.
    pub(crate) fn lane_array_slot(&mut self) -> StackSlot {
        if let Some(s) = self.slots.lane_array {
            return s;
        }
        let bytes = size_of::<Atomic128LaneOperands>() as u32;
        let s = self.b.create_sized_stack_slot(ir::StackSlotData::new(ir::StackSlotKind::ExplicitSlot, bytes, 4));
        self.slots.lane_array = Some(s);
        s
    }

    /// Stores an operand's lanes, zero-extended to 64 bits, as one array of the scratch slot.
    pub(crate) fn store_lanes_as_u64(&mut self, parts: &LaneParts, w: RegWidth, array: i32, chunk: usize) {
        let slot = self.lane_array_slot();
        let wide = ops::narrow_source(&mut self.op_ctx(), EmitShape::Chunk, parts, w, RegWidth::W64);
        for (i, &p) in wide.iter().enumerate() {
            self.b.ins().stack_store(types::I64, p, slot, array * 256 + chunk as i32 * 64 + i as i32 * 16);
        }
    }

    pub(crate) fn load_lanes_from_u64(&mut self, array: i32, chunk: usize, w: RegWidth) -> LaneParts {
        let slot = self.lane_array_slot();
        let wide: LaneParts = (0..4)
            .map(|i| self.b.ins().stack_load(types::I64, types::I64X2, slot, array * 256 + chunk as i32 * 64 + i * 16))
            .collect();
        if w == RegWidth::Pred {
            let words = ops::narrow_source(&mut self.op_ctx(), EmitShape::Chunk, &wide, RegWidth::W64, RegWidth::W32);
            let zero = self.splat_i32x4(0);
            return words.iter().map(|&v| self.b.ins().icmp(IntCC::NotEqual, v, zero)).collect();
        }
        ops::narrow_source(&mut self.op_ctx(), EmitShape::Chunk, &wide, RegWidth::W64, w)
    }

    #[expect(clippy::too_many_arguments, reason = "the operands of the instruction")]
    fn emit_match(
        &mut self,
        st: &Stmt<'_>,
        all: bool,
        ty: Type,
        dst: Reg,
        pred: Option<Reg>,
        a: Operand,
        mask: Operand,
    ) {
        let code = if all {
            crate::emit::function::slow_paths::MATCH_ALL
        } else {
            crate::emit::function::slow_paths::MATCH_ANY
        };
        self.call_match_or_redux(st, code, RegWidth::from_type(ty), a, mask);
        for c in 0..CHUNKS_PER_WARP {
            let v = self.load_lanes_from_u64(2, c, RegWidth::W32);
            self.write_lanes(dst, c, v, None);
            if let Some(p) = pred {
                let v = self.load_lanes_from_u64(3, c, RegWidth::Pred);
                self.write_lanes(p, c, v, None);
            }
        }
    }

    fn emit_redux(&mut self, st: &Stmt<'_>, code: u32, dst: Reg, a: Operand, mask: Operand) {
        self.call_match_or_redux(st, code, RegWidth::W32, a, mask);
        if self.class_of_register(dst).is_scalar() {
            let slot = self.lane_array_slot();
            let v = self.b.ins().stack_load(types::I64, types::I32, slot, 512);
            return self.write_scalar(dst, &LaneParts::from_slice(&[v]), LaneClass::Uniform);
        }
        for c in 0..CHUNKS_PER_WARP {
            let v = self.load_lanes_from_u64(2, c, RegWidth::W32);
            self.write_lanes(dst, c, v, None);
        }
    }

    /// Hands value and member mask of every lane to [`crate::emit::function::slow_paths::match_or_redux`].
    fn call_match_or_redux(&mut self, st: &Stmt<'_>, code: u32, w: RegWidth, a: Operand, mask: Operand) {
        for c in 0..CHUNKS_PER_WARP {
            let v = self.operand_lanes(a, w, c);
            self.store_lanes_as_u64(&v, w, 0, c);
            let m = self.operand_lanes(mask, RegWidth::W32, c);
            self.store_lanes_as_u64(&m, RegWidth::W32, 1, c);
        }
        let active = self.active_lane_bits(st);
        let code = self.iconst32(i64::from(code));
        let slot = self.lane_array_slot();
        let at = self.b.ins().stack_addr(types::I64, slot, 0);
        relocations::call_target(
            &mut self.b,
            RelocTarget::rust_function_target(crate::emit::function::slow_paths::match_or_redux as *const () as usize),
            &[code, active, at],
            None,
        );
    }
}

/// The lane that `lane` reads in a shuffle and whether it is in range (PTX ISA, `shfl.sync`).
pub(crate) fn shfl_source(mode: ShflMode, lane: u32, b: u32, c: u32) -> (usize, bool) {
    let (b, clamp, seg) = (b & 31, c & 31, c >> 8 & 31);
    let min = lane & seg;
    let max = min | (clamp & !seg);
    let (j, inside) = match mode {
        ShflMode::Up => {
            let j = lane as i32 - b as i32;
            (j, j >= max as i32)
        }
        ShflMode::Down => ((lane + b) as i32, lane + b <= max),
        ShflMode::Bfly => ((lane ^ b) as i32, lane ^ b <= max),
        ShflMode::Idx => ((min | (b & !seg)) as i32, min | (b & !seg) <= max),
    };
    (if inside { j as usize } else { lane as usize }, inside)
}
