//! Texture and surface instructions: one call of the runtime for all lanes.

use crate::JitError;
use crate::emit::code::relocations::{self, runtime_call_target};
use crate::emit::function::emitter::FunctionEmitter;
use crate::emit::function::register_values::{CHUNKS_PER_WARP, EmitShape, LaneParts, RegWidth};
use crate::emit::ops;
use crate::simt::body::Stmt;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, StackSlot, StackSlotData, StackSlotKind, types};
use rtcg_ptx::ast::*;
use rtcg_vgpu_abi::texture_request::{LevelKind, TextureLanes, TextureOp, TextureRequest};
use std::mem::offset_of;

/// Bytes of one array of 32-bit words in [`TextureLanes`].
const LANE_ARRAY_BYTES: usize = 128;

impl<'a> FunctionEmitter<'a, '_> {
    pub(crate) fn emit_texture(&mut self, st: &Stmt<'a>, inst: &TexInst) -> Result<(), JitError> {
        let slot = self.texture_slot();
        let (mut request, handle) = self.texture_operands(slot, inst);
        request.uniform = self.store_handle(slot, handle);
        let Some(word) = request.encode_request() else {
            return Err(self.unsupported_error("this texture instruction"));
        };
        let mask = self.active_lane_bits(st);
        let (word, site) =
            (self.iconst64(word as i64), self.site_for_lanes(crate::simt::instruction_sites::WHOLE_WARP_LANE_CODE));
        let site = self.iconst32(i64::from(site));
        let at = self.b.ins().stack_addr(types::I64, slot, 0);
        let f = runtime_call_target!(texture);
        relocations::call_target(&mut self.b, f, &[self.abi.ctx, word, mask, site, at], None);
        for chunk in 0..CHUNKS_PER_WARP {
            self.texture_results(st, slot, inst, chunk);
        }
        Ok(())
    }

    /// The slot for the operands; it is too large to share with [`FunctionEmitter::lane_array_slot`].
    fn texture_slot(&mut self) -> StackSlot {
        if let Some(slot) = self.slots.texture {
            return slot;
        }
        let bytes = size_of::<TextureLanes>() as u32;
        let slot = self.b.create_sized_stack_slot(StackSlotData::new(StackSlotKind::ExplicitSlot, bytes, 4));
        self.slots.texture = Some(slot);
        slot
    }

    /// Stores everything but the handle.
    fn texture_operands(&mut self, slot: StackSlot, inst: &TexInst) -> (TextureRequest, TextureHandle) {
        match inst {
            TexInst::Sample(t) => (self.sample_operands(slot, t), t.texture),
            TexInst::Query { query, handle, level, .. } => {
                self.store_operand_words(slot, &[level.unwrap_or(Operand::Int(0))]);
                (TextureRequest { op: TextureOp::Query(*query), ..TextureRequest::default() }, *handle)
            }
            TexInst::IsType { ty, handle, .. } => {
                (TextureRequest { op: TextureOp::IsType(*ty), ..TextureRequest::default() }, *handle)
            }
            TexInst::Load { place, ty, dsts } => {
                self.store_operand_words(slot, &place.coords);
                (surface_request(TextureOp::Load, place, *ty, dsts.len()), place.surface)
            }
            TexInst::Store { place, ty, srcs } => {
                self.store_operand_words(slot, &place.coords);
                self.store_values(slot, srcs, *ty);
                (surface_request(TextureOp::Store, place, *ty, srcs.len()), place.surface)
            }
            TexInst::Reduce { place, op, ty, src } => {
                self.store_operand_words(slot, &place.coords);
                self.store_values(slot, std::slice::from_ref(src), *ty);
                (surface_request(TextureOp::Reduce(*op), place, *ty, 1), place.surface)
            }
        }
    }

    fn sample_operands(&mut self, slot: StackSlot, t: &TextureFetch) -> TextureRequest {
        let mut words = t.coords.clone();
        let (op, level) = match &t.level {
            TexLevel::Base => (TextureOp::Sample, LevelKind::Base),
            TexLevel::Gather(component) => (TextureOp::Gather(*component), LevelKind::Base),
            TexLevel::Level(o) => {
                words.push(*o);
                (TextureOp::Sample, LevelKind::Explicit)
            }
            TexLevel::Grad(x, y) => {
                words.extend(x.iter().chain(y));
                (TextureOp::Sample, LevelKind::Gradient)
            }
        };
        words.extend(&t.offsets);
        self.store_operand_words(slot, &words);
        TextureRequest {
            op,
            geometry: t.geometry,
            level,
            whole: t.cty == Type::S32,
            offsets: !t.offsets.is_empty(),
            ty: t.dty,
            ..TextureRequest::default()
        }
    }

    fn store_operand_words(&mut self, slot: StackSlot, words: &[Operand]) {
        for (i, &o) in words.iter().enumerate() {
            let array = offset_of!(TextureLanes, words) + i * LANE_ARRAY_BYTES;
            for chunk in 0..CHUNKS_PER_WARP {
                let parts = self.operand_lanes(o, RegWidth::W32, chunk);
                self.store_array(slot, array + chunk * 32, &parts);
            }
        }
    }

    /// Values as 64 bits per lane.
    fn store_values(&mut self, slot: StackSlot, values: &[Operand], ty: Type) {
        let w = RegWidth::from_type(ty);
        for (i, &o) in values.iter().enumerate() {
            let array = offset_of!(TextureLanes, wide) + i * 2 * LANE_ARRAY_BYTES;
            for chunk in 0..CHUNKS_PER_WARP {
                let parts = self.operand_lanes(o, w, chunk);
                let parts = ops::narrow_source(&mut self.op_ctx(), EmitShape::Chunk, &parts, w, RegWidth::W64);
                self.store_array(slot, array + chunk * 64, &parts);
            }
        }
    }

    pub(super) fn store_array(&mut self, slot: StackSlot, at: usize, parts: &LaneParts) {
        for (i, &p) in parts.iter().enumerate() {
            self.b.ins().stack_store(types::I64, p, slot, (at + i * 16) as i32);
        }
    }

    /// Stores the handles, only one when all lanes have the same.
    fn store_handle(&mut self, slot: StackSlot, handle: TextureHandle) -> bool {
        let o = match handle {
            TextureHandle::Reg(r) => Operand::Reg(r),
            TextureHandle::Symbol(s) => Operand::Address(s, 0),
        };
        let array = offset_of!(TextureLanes, handle);
        if matches!(handle, TextureHandle::Symbol(_)) || self.is_uniform(o) {
            let v = self.scalar_operand(o, RegWidth::W64)[0];
            self.b.ins().stack_store(types::I64, v, slot, array as i32);
            return true;
        }
        for chunk in 0..CHUNKS_PER_WARP {
            let parts = self.operand_lanes(o, RegWidth::W64, chunk);
            self.store_array(slot, array + chunk * 64, &parts);
        }
        false
    }

    fn texture_results(&mut self, st: &Stmt<'a>, slot: StackSlot, inst: &TexInst, chunk: usize) {
        let guard = self.blend_mask(st, chunk);
        let results = offset_of!(TextureLanes, results);
        let (dsts, wide): (&[Option<Reg>], bool) = match inst {
            TexInst::Sample(t) => (&t.dsts, false),
            TexInst::Query { dst, .. } => (&[Some(*dst)], false),
            TexInst::Load { dsts, ty, .. } => (dsts, ty.bits() == 64),
            _ => (&[], false),
        };
        for (i, d) in dsts.iter().enumerate().filter_map(|(i, d)| d.map(|d| (i, d))) {
            let (w, at) = match wide {
                true => (RegWidth::W64, offset_of!(TextureLanes, wide) + i * 2 * LANE_ARRAY_BYTES + chunk * 64),
                false => (RegWidth::W32, results + i * LANE_ARRAY_BYTES + chunk * 32),
            };
            let parts = self.load_array(slot, at, w);
            let own = self.width_of_register(d);
            let parts = ops::narrow_source(&mut self.op_ctx(), EmitShape::Chunk, &parts, w, own);
            self.write_lanes(d, chunk, parts, guard.as_ref());
        }
        let flag = match inst {
            TexInst::Sample(t) => t.pred,
            TexInst::IsType { dst, .. } => Some(*dst),
            _ => None,
        };
        if let Some(p) = flag {
            let words = self.load_array(slot, offset_of!(TextureLanes, flag) + chunk * 32, RegWidth::W32);
            let zero = self.constant_vector(RegWidth::W32, &[0; 4]);
            let parts = words.iter().map(|&v| self.b.ins().icmp(IntCC::NotEqual, v, zero)).collect();
            self.write_lanes(p, chunk, parts, guard.as_ref());
        }
    }

    pub(super) fn load_array(&mut self, slot: StackSlot, at: usize, w: RegWidth) -> LaneParts {
        let ty = w.part_type(EmitShape::Chunk);
        (0..w.part_count(EmitShape::Chunk))
            .map(|i| self.b.ins().stack_load(types::I64, ty, slot, (at + i * 16) as i32))
            .collect()
    }
}

fn surface_request(op: TextureOp, place: &SurfAddress, ty: Type, n: usize) -> TextureRequest {
    TextureRequest {
        op,
        geometry: place.geometry,
        whole: true,
        // The types of `sured` and `sust.p` that `suld` does not have say how bits are read.
        ty: if ty == Type::F32 { Type::B32 } else { ty },
        n: n as u8,
        clamp: place.clamp,
        formatted: place.formatted,
        ..TextureRequest::default()
    }
}
