//! Matrix instructions: the registers of all lanes go to the stack as planes (see
//! [`rtcg_vgpu_softmath::matrix`]), a Rust function does the work for the whole warp, and its planes
//! come back as registers.
//!
//! All 32 lanes have to be there. In masked code that is checked; a warp that is not whole faults.

use super::addresses::MemAccess;
use super::matrix_encoding;
use crate::JitError;
use crate::emit::code::relocations::{self, RelocTarget, runtime_call_target};
use crate::emit::function::emitter::FunctionEmitter;
use crate::emit::function::register_values::{CHUNKS_PER_WARP, EmitShape, LaneParts, RegWidth};
use crate::simt::body::Stmt;
use cranelift_codegen::ir::{self, InstBuilder, StackSlot, condcodes::IntCC, types};
use rtcg_ptx::ast::*;
use rtcg_vgpu_abi::runtime::{MatrixTransfer, TRANSFER_HEADER_BYTES};
use rtcg_vgpu_softmath::matrix;

/// Words of the largest frame: `mma.m16n8k16` of doubles.
const MATRIX_FRAME_WORDS: usize = 20 * 64;

impl FunctionEmitter<'_, '_> {
    /// Emits a matrix instruction.
    pub(crate) fn emit_matrix_inst(&mut self, st: &Stmt<'_>, inst: &MatrixInst) -> Result<(), JitError> {
        self.require_full_warp(st);
        match inst {
            MatrixInst::Product { form, d, a, b, c, metadata } => {
                self.emit_matrix_product(form, d, [a, b, c], metadata.as_ref())?;
            }
            MatrixInst::WmmaLoad { role, layout, shape, ty, space, dsts, addr, stride } => {
                let form = MatrixTransfer::Wmma { role: *role, layout: *layout, shape: *shape, ty: *ty, store: false };
                self.emit_matrix_transfer(form, *space, addr, stride.as_ref(), dsts, &[])?;
            }
            MatrixInst::WmmaStore { layout, shape, ty, space, addr, srcs, stride } => {
                let role = MatrixRole::D;
                let form = MatrixTransfer::Wmma { role, layout: *layout, shape: *shape, ty: *ty, store: true };
                self.emit_matrix_transfer(form, *space, addr, stride.as_ref(), &[], srcs)?;
            }
            MatrixInst::LdMatrix { trans, space, dsts, addr } => {
                let form = MatrixTransfer::Tiles { count: dsts.len(), trans: *trans, store: false };
                self.emit_matrix_transfer(form, *space, addr, None, dsts, &[])?;
            }
            MatrixInst::StMatrix { trans, space, addr, srcs } => {
                let form = MatrixTransfer::Tiles { count: srcs.len(), trans: *trans, store: true };
                self.emit_matrix_transfer(form, *space, addr, None, &[], srcs)?;
            }
            MatrixInst::MovMatrix { dst, src } => {
                let slot = self.matrix_slot();
                self.store_plane(slot, 0, *src, RegWidth::W32);
                let at = self.b.ins().stack_addr(types::I64, slot, 0);
                let f =
                    RelocTarget::rust_function_target(matrix::load_store::transpose_8x8_in_frame as *const () as usize);
                relocations::call_target(&mut self.b, f, &[at], None);
                self.load_plane(slot, 0, *dst, RegWidth::W32);
            }
        }
        Ok(())
    }

    /// Masked code faults unless all lanes run.
    fn require_full_warp(&mut self, st: &Stmt<'_>) {
        if self.is_masked() {
            let active = self.active_lane_bits(st);
            let missing = self.b.ins().icmp_imm_s(IntCC::NotEqual, active, -1);
            self.emit_in_cold_block(missing, |g| g.emit_trap(rtcg_vgpu_abi::TrapKind::PartialWarp));
        }
    }

    /// The stack slot for planes; its contents live for one statement.
    fn matrix_slot(&mut self) -> StackSlot {
        if let Some(s) = self.slots.matrix {
            return s;
        }
        let bytes = (TRANSFER_HEADER_BYTES + MATRIX_FRAME_WORDS * 4) as u32;
        let s = self.b.create_sized_stack_slot(ir::StackSlotData::new(ir::StackSlotKind::ExplicitSlot, bytes, 4));
        self.slots.matrix = Some(s);
        s
    }

    fn emit_matrix_product(
        &mut self,
        form: &MatrixProduct,
        d: &[Reg],
        sources: [&[Operand]; 3],
        metadata: Option<&Operand>,
    ) -> Result<(), JitError> {
        let slot = self.matrix_slot();
        let mut at = 0;
        for (role, list) in [MatrixRole::A, MatrixRole::B, MatrixRole::C].into_iter().zip(sources) {
            let w = element_width(form.element_type(role));
            let plane = plane_bytes(w);
            let end = at + matrix::fragment_register_words(form, role) as i32 * 4;
            for &o in list.iter().take(((end - at) / plane) as usize) {
                self.store_plane(slot, at, o, w);
                at += plane;
            }
        }
        if let Some(&o) = metadata {
            self.store_plane(slot, at, o, RegWidth::W32);
            at += plane_bytes(RegWidth::W32);
        }
        let Some(link) = matrix_encoding::encode_product(form) else {
            return Err(self.unsupported_error("a product of this shape"));
        };
        let form_at = relocations::target_address(&mut self.b, link);
        let frame = self.b.ins().stack_addr(types::I64, slot, 0);
        relocations::call_target(
            &mut self.b,
            RelocTarget::rust_function_target(matrix::matrix_product_in_frame as *const () as usize),
            &[form_at, frame],
            None,
        );
        let w = element_width(form.d);
        for &r in d {
            self.load_plane(slot, at, r, w);
            at += plane_bytes(w);
        }
        Ok(())
    }

    /// Between memory and registers.
    fn emit_matrix_transfer(
        &mut self,
        form: MatrixTransfer,
        space: Space,
        addr: &Addr,
        stride: Option<&Operand>,
        dsts: &[Reg],
        srcs: &[Operand],
    ) -> Result<(), JitError> {
        let slot = self.matrix_slot();
        let access = MemAccess::new(space, Type::B8, addr, 1);
        for c in 0..CHUNKS_PER_WARP {
            let lanes = self.absolute_lane_addresses(&access, c);
            self.store_lane_parts(slot, c as i32 * 64, &lanes);
        }
        let (w, repeat) = match form {
            MatrixTransfer::Wmma { role, shape, ty, .. } => {
                (element_width(ty), matrix::layout::Fragment { role, shape, ty }.registers_per_lane())
            }
            MatrixTransfer::Tiles { count, .. } => (RegWidth::W32, count),
        };
        let first = TRANSFER_HEADER_BYTES as i32;
        for (i, &o) in srcs.iter().enumerate() {
            self.store_plane(slot, first + i as i32 * plane_bytes(w), o, w);
        }
        // The default stride is that of a matrix without gaps; the transfer knows it.
        let stride = match stride {
            Some(&o) => {
                let lanes = self.operand_lanes(o, RegWidth::W32, 0);
                let v = self.b.ins().extractlane(lanes[0], 0);
                self.b.ins().uextend(types::I64, v)
            }
            None => self.iconst64(-1),
        };
        let site = self.site_for_lanes(crate::simt::instruction_sites::WHOLE_WARP_LANE_CODE);
        let site = self.iconst32(i64::from(site));
        let Some(link) = matrix_encoding::encode_transfer(&form) else {
            return Err(self.unsupported_error("a matrix of this shape"));
        };
        let form = relocations::target_address(&mut self.b, link);
        let frame = self.b.ins().stack_addr(types::I64, slot, 0);
        let f = runtime_call_target!(matrix);
        relocations::call_target(&mut self.b, f, &[self.abi.ctx, form, site, stride, frame], None);
        for (i, &r) in dsts.iter().enumerate() {
            self.load_plane(slot, first + (i % repeat) as i32 * plane_bytes(w), r, w);
        }
        Ok(())
    }

    fn store_plane(&mut self, slot: StackSlot, at: i32, o: Operand, w: RegWidth) {
        for c in 0..CHUNKS_PER_WARP {
            let parts = self.operand_lanes(o, w, c);
            self.store_lane_parts(slot, at + c as i32 * plane_bytes(w) / CHUNKS_PER_WARP as i32, &parts);
        }
    }

    fn store_lane_parts(&mut self, slot: StackSlot, at: i32, parts: &LaneParts) {
        for (i, &p) in parts.iter().enumerate() {
            self.b.ins().stack_store(types::I64, p, slot, at + i as i32 * 16);
        }
    }

    fn load_plane(&mut self, slot: StackSlot, at: i32, r: Reg, w: RegWidth) {
        let (ty, parts) = (w.part_type(EmitShape::Chunk), plane_bytes(w) / 16 / CHUNKS_PER_WARP as i32);
        for c in 0..CHUNKS_PER_WARP {
            let first = at + c as i32 * parts * 16;
            let v = (0..parts).map(|i| self.b.ins().stack_load(types::I64, ty, slot, first + i * 16)).collect();
            self.write_lanes(r, c, v, None);
        }
    }
}

/// The width of registers that hold elements of a type.
fn element_width(ty: MatrixType) -> RegWidth {
    if ty.register_bits() == 64 { RegWidth::W64 } else { RegWidth::W32 }
}

fn plane_bytes(w: RegWidth) -> i32 {
    if w == RegWidth::W64 { 256 } else { 128 }
}
