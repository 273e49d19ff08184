//! The values of operands and of the masks a statement is executed under.

use super::emitter::{FunctionEmitter, RegisterStorage};
use super::register_values::{CHUNK_LANES, CHUNKS_PER_WARP, EmitShape, LaneParts, RegWidth};
use crate::emit::ops;
use crate::simt::body::Stmt;
use crate::simt::function_plan::frame_header;
use crate::simt::lane_classes::LaneClass;
use cranelift_codegen::ir::{InstBuilder, Value};
use rtcg_ptx::ast::*;
use smallvec::smallvec;

impl FunctionEmitter<'_, '_> {
    /// An operand for the lanes of `chunk`.
    pub(crate) fn operand_lanes(&mut self, o: Operand, w: RegWidth, chunk: usize) -> LaneParts {
        if let Operand::Reg(r) = o {
            let from = self.width_of_register(r);
            if let Some(bits) = self.known_float_constant(r).filter(|_| from == w) {
                return ops::splat_constant(&mut self.op_ctx(), EmitShape::Chunk, w, bits);
            }
            let parts = self.read_lanes(r, chunk);
            return ops::narrow_source(&mut self.op_ctx(), EmitShape::Chunk, &parts, from, w);
        }
        if let Some(p) = ops::immediate_parts(&mut self.op_ctx(), EmitShape::Chunk, &o, w) {
            return p;
        }
        match o {
            Operand::Special(s) => self.special_register_lanes(s, w, chunk),
            _ => self.symbol_address_lanes(o, w, chunk),
        }
    }

    /// The bits of a register of a float that is always the same: loading a constant vector costs
    /// less than copying a scalar to all lanes and keeping the copy.
    fn known_float_constant(&self, r: Reg) -> Option<u64> {
        let declared = self.plan.f.regs.get(r.index())?;
        self.ops.constant_of_register(r).filter(|_| matches!(declared.ty, Type::F32 | Type::F64))
    }

    /// A uniform operand, or lane 0's value of an affine one.
    pub(crate) fn scalar_operand(&mut self, o: Operand, w: RegWidth) -> LaneParts {
        if let Operand::Reg(r) = o {
            let from = self.width_of_register(r);
            let mut parts = self.read_scalar(r);
            if let Some(chunk) = self.segment.current_chunk {
                let class = self.plan.classes.lane_class_of(r);
                parts = self.first_lane_of_chunk(&parts, class, chunk);
            }
            return ops::narrow_source(&mut self.op_ctx(), EmitShape::Scalar, &parts, from, w);
        }
        if let Some(p) = ops::immediate_parts(&mut self.op_ctx(), EmitShape::Scalar, &o, w) {
            return p;
        }
        let v = match o {
            Operand::Special(s) => self.special_register_scalar(s, w),
            Operand::Address(s, off) => self.symbol_address_value(s, off, w),
            _ => smallvec![],
        };
        match (self.segment.current_chunk, self.plan.classes.operand_class(o)) {
            (Some(chunk), class @ LaneClass::Affine(_)) => self.first_lane_of_chunk(&v, class, chunk),
            _ => v,
        }
    }

    /// The lanes that take part in a statement: the execution mask and a varying guard;
    /// `None` when all do.
    pub(crate) fn active_mask(&mut self, st: &Stmt<'_>, chunk: usize) -> Option<LaneParts> {
        let exec = self.exec_mask(chunk);
        let guard = self.guard_mask(st, chunk);
        match (exec, guard) {
            (Some(e), Some(g)) => Some(e.iter().zip(&g).map(|(&a, &b)| self.b.ins().band(a, b)).collect()),
            (e, g) => e.or(g),
        }
    }

    /// The varying guard of a statement whose destinations keep their old values outside of it.
    pub(crate) fn blend_mask(&mut self, st: &Stmt<'_>, chunk: usize) -> Option<LaneParts> {
        if st.merges_old_values { self.guard_mask(st, chunk) } else { None }
    }

    /// The varying guard of a statement.
    pub(crate) fn guard_mask(&mut self, st: &Stmt<'_>, chunk: usize) -> Option<LaneParts> {
        let g = st.guard?;
        if self.class_of_register(g.reg).is_scalar() {
            return None; // The segment stands in a branch.
        }
        let p = self.read_lanes(g.reg, chunk);
        Some(if g.negated { p.iter().map(|&v| self.negated_mask(v)).collect() } else { p })
    }

    /// The negation of a mask, made once in a segment.
    fn negated_mask(&mut self, mask: Value) -> Value {
        let in_segment = !self.segment.scalar_results.is_empty();
        match self.segment.cse.negated.get(&mask) {
            Some(&known) if in_segment => known,
            _ => {
                let new = self.b.ins().bnot(mask);
                if in_segment {
                    self.segment.cse.negated.insert(mask, new);
                }
                new
            }
        }
    }

    /// The execution mask of masked code.
    pub(crate) fn exec_mask(&mut self, chunk: usize) -> Option<LaneParts> {
        let RegisterStorage::Masked(m) = &self.store else { return None };
        if let Some(p) = &m.mask[chunk] {
            return Some(p.clone());
        }
        let parts = self.load_lane_array(frame_header::MASK_OFFSET, chunk);
        if let RegisterStorage::Masked(m) = &mut self.store {
            m.mask[chunk] = Some(parts.clone());
        }
        Some(parts)
    }

    /// Active lanes of the whole warp as bits.
    pub(crate) fn active_lane_bits(&mut self, st: &Stmt<'_>) -> Value {
        let masks: Vec<Option<LaneParts>> = (0..CHUNKS_PER_WARP).map(|c| self.active_mask(st, c)).collect();
        self.mask_to_lane_bits(&masks)
    }

    /// Masks of all chunks as bits of an `I32`; `None` stands for all lanes.
    pub(crate) fn mask_to_lane_bits(&mut self, masks: &[Option<LaneParts>]) -> Value {
        let mut bits = self.iconst32(0);
        for (c, m) in masks.iter().enumerate() {
            let part = match m {
                Some(p) => ops::mask_to_bits(&mut self.op_ctx(), p),
                None => self.iconst32(0xff),
            };
            let part = if c == 0 { part } else { self.b.ins().ishl_imm_u(part, (c * CHUNK_LANES) as i64) };
            bits = self.b.ins().bor(bits, part);
        }
        bits
    }
}
