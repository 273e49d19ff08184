//! Loads and stores of one chunk of lanes, once [`super::addresses`] has found out where they go.
//!
//! Contiguous lanes are accessed as vectors, others one by one; inactive lanes access a dummy.

use super::addresses::{LaneLocation, MemAccess, ScalarAddress};
use super::shadow_checks::AccessMode;
use crate::JitError;
use crate::emit::function::emitter::FunctionEmitter;
use crate::emit::function::out_of_line::{ActiveLaneCopy, SlowPathRequest};
use crate::emit::function::register_values::{CHUNK_LANES, EmitShape, LaneParts, RegWidth};
use crate::emit::ops;
use crate::simt::body::Stmt;
use crate::simt::function_plan::frame_header;
use cranelift_codegen::ir::{self, InstBuilder, MemFlagsData, Value, condcodes::IntCC, types};
use rtcg_ptx::ast::*;
use smallvec::smallvec;

/// Device memory: an access may fault.
fn device_mem_flags() -> MemFlagsData {
    MemFlagsData::new()
}

impl<'a> FunctionEmitter<'a, '_> {
    /// A load with a uniform address: one access for all lanes.
    pub(crate) fn load_uniform(&mut self, st: &Stmt<'_>) -> Result<Vec<(Reg, LaneParts)>, JitError> {
        let Inst::Ld { space, ty, dsts, addr, sem, .. } = &*st.inst else { return Ok(vec![]) };
        let mut access = MemAccess::new(*space, *ty, addr, dsts.len());
        let base = match addr.base {
            AddrBase::Symbol(Symbol::Param(p)) => {
                let at = self.plan.f.params.get(p as usize).map_or(0, |p| p.offset) as i32 + addr.offset as i32;
                access.elements.iter_mut().for_each(|e| *e += at);
                self.load_ctx_field(types::I64, std::mem::offset_of!(rtcg_vgpu_abi::WarpCtx, params))
            }
            _ => self.scalar_address(&access)?,
        };
        let is_symbol_address = self.is_symbol_address(&access);
        if !is_symbol_address {
            let p = ScalarAddress { base, offset: 0, stride: 0, safe: false, checked: false };
            self.check_scalar_address(&access, &p, None);
        }
        if !(is_symbol_address && *space == Space::Param) {
            self.emit_uniform_shadow_check(&access, base, AccessMode::Load);
            self.report_uniform_load(&access, base, *sem);
        }
        let mut out = vec![];
        for (e, d) in dsts.iter().enumerate() {
            if let Some(r) = d {
                let w = self.width_of_register(*r);
                let v = self.load_element(*ty, w, base, access.elements[e]);
                out.push((*r, v));
            }
        }
        Ok(out)
    }

    /// A load for the lanes of one chunk.
    pub(crate) fn load_lanes(&mut self, st: &Stmt<'_>, chunk: usize) -> Result<(), JitError> {
        let Inst::Ld { space, ty, dsts, addr, sem, .. } = &*st.inst else { return Ok(()) };
        let mask = self.active_mask(st, chunk);
        let mut access = MemAccess::new(*space, *ty, addr, dsts.len());
        let place = self.checked_location(&mut access, chunk, mask.as_ref())?;
        self.emit_shadow_check(&access, &place, chunk, mask.as_ref(), AccessMode::Load);
        self.report_access(&access, &place, chunk, mask.as_ref(), (AccessMode::Load, *sem), None);
        let widths: Vec<Option<RegWidth>> = dsts.iter().map(|d| d.map(|r| self.width_of_register(r))).collect();
        let values = self.load_from_location(&access, &place, chunk, mask.as_ref(), &widths);
        let guard = self.blend_mask(st, chunk);
        for (d, v) in dsts.iter().zip(values) {
            if let (Some(r), Some(v)) = (d, v) {
                self.write_lanes(*r, chunk, v, guard.as_ref());
            }
        }
        Ok(())
    }

    fn load_from_location(
        &mut self,
        access: &MemAccess<'_>,
        place: &LaneLocation,
        chunk: usize,
        mask: Option<&LaneParts>,
        widths: &[Option<RegWidth>],
    ) -> Vec<Option<LaneParts>> {
        if let LaneLocation::Strided(p) = place {
            let mask = mask.filter(|_| !p.safe);
            if p.stride == 0 && mask.is_none() {
                return self.load_and_splat(access, p, widths);
            }
            if let Some(off) = self.contiguous_offset(access, p, chunk) {
                return match mask {
                    None => self.load_contiguous(access, p.base, off, widths),
                    Some(m) => self.load_if_all_active(access, (p, off), chunk, m, widths),
                };
            }
            return self.load_each_lane(access, place, chunk, mask, widths);
        }
        self.load_each_lane(access, place, chunk, mask, widths)
    }

    /// Loads `words` 32-bit words per lane from global memory.
    pub(crate) fn async_copy_load(
        &mut self,
        src: &Addr,
        words: usize,
        chunk: usize,
        mask: Option<&LaneParts>,
    ) -> Result<Vec<LaneParts>, JitError> {
        let mut access = MemAccess::new(Space::Global, Type::B32, src, words);
        let place = self.checked_location(&mut access, chunk, mask)?;
        self.emit_shadow_check(&access, &place, chunk, mask, AccessMode::Load);
        self.report_access(&access, &place, chunk, mask, (AccessMode::Load, MemorySemantics::Weak), None);
        let values = self.load_from_location(&access, &place, chunk, mask, &vec![Some(RegWidth::W32); words]);
        Ok(values.into_iter().flatten().collect())
    }

    /// Stores them to shared memory.
    pub(crate) fn async_copy_store(
        &mut self,
        dst: &Addr,
        values: &[LaneParts],
        chunk: usize,
        mask: Option<&LaneParts>,
    ) -> Result<(), JitError> {
        let mut access = MemAccess::new(Space::Shared, Type::B32, dst, values.len());
        let place = self.checked_location(&mut access, chunk, mask)?;
        self.emit_shadow_check(&access, &place, chunk, mask, AccessMode::Store);
        self.report_access(&access, &place, chunk, mask, (AccessMode::Store, MemorySemantics::Weak), None);
        self.store_each_lane(&access, &place, chunk, mask, values);
        Ok(())
    }

    fn load_and_splat(
        &mut self,
        access: &MemAccess<'_>,
        p: &ScalarAddress,
        widths: &[Option<RegWidth>],
    ) -> Vec<Option<LaneParts>> {
        (0..widths.len())
            .map(|e| {
                let w = widths[e]?;
                let at = p.offset + access.elements[e];
                if access.ty == Type::F32 && w == RegWidth::W32 {
                    // A float is copied to all lanes without a detour through the other registers.
                    let v = self.b.ins().load(types::F32, device_mem_flags(), p.base, at);
                    let v = self.b.ins().splat(types::F32X4, v);
                    return Some(smallvec![ops::float_bits(&mut self.op_ctx(), v); 2]);
                }
                let v = self.load_element(access.ty, w, p.base, at);
                Some(ops::splat_scalar(&mut self.op_ctx(), w, &v))
            })
            .collect()
    }

    /// The offset from the base of a chunk's first lane, when its lanes lie side by side and a
    /// vector access exists.
    fn contiguous_offset(&self, access: &MemAccess<'_>, p: &ScalarAddress, chunk: usize) -> Option<i32> {
        let bytes = i64::from(access.ty.bytes());
        access.is_contiguous(p).then_some(p.offset + access.elements[0] + (chunk * CHUNK_LANES) as i32 * bytes as i32)
    }

    /// Loads as a vector when all lanes of the chunk are active and in the window. Else an out-of-line call
    /// copies what the active lanes read to where the vector is loaded from instead.
    fn load_if_all_active(
        &mut self,
        access: &MemAccess<'_>,
        (p, off): (&ScalarAddress, i32),
        chunk: usize,
        mask: &LaneParts,
        widths: &[Option<RegWidth>],
    ) -> Vec<Option<LaneParts>> {
        let whole = self.emit_all_active_and_in_window(access, p, mask);
        let (part, next) = (self.b.create_block(), self.b.create_block());
        let from = self.b.append_block_param(next, types::I64);
        self.b.ins().brif(whole, next, &[p.base.into()], part, &[]);
        self.switch_to_cold_block(part);
        let copy = self.add_offset(self.abi.frame, i64::from(frame_header::INACTIVE_ACCESS_OFFSET) - i64::from(off));
        self.branch_if_any_active(mask, (next, &[copy.into()]));
        self.copy_active_lanes(access, p, chunk, mask, false);
        self.b.ins().jump(next, &[copy.into()]);
        self.b.seal_block(next);
        self.b.switch_to_block(next);
        self.load_contiguous(access, from, off, widths)
    }

    fn switch_to_cold_block(&mut self, block: ir::Block) {
        self.b.set_cold_block(block);
        self.b.seal_block(block);
        self.b.switch_to_block(block);
    }

    /// Goes on in a cold block if any lane of `mask` is active, else elsewhere.
    fn branch_if_any_active(&mut self, mask: &LaneParts, (elsewhere, args): (ir::Block, &[ir::BlockArg])) {
        let either = self.b.ins().bor(mask[0], mask[1]);
        let any = self.b.ins().vany_true(either);
        let some = self.b.create_block();
        self.b.ins().brif(any, some, &[], elsewhere, args);
        self.switch_to_cold_block(some);
    }

    /// Whether all lanes of `mask` are active and none is outside of the window or misaligned.
    fn emit_all_active_and_in_window(&mut self, access: &MemAccess<'_>, p: &ScalarAddress, mask: &LaneParts) -> Value {
        let key = (mask[0], mask[1]);
        let all = match self.segment.cse.all_active.get(&key) {
            Some(&all) if !self.segment.scalar_results.is_empty() => all,
            _ => self.all_lanes_active(mask),
        };
        self.segment.cse.all_active.insert(key, all);
        if p.checked {
            return all;
        }
        // Lane 0 decides: the others are near enough to hit the window's guards at worst.
        let key = (p.base, p.offset, self.required_zero_bits(access));
        let inside = match self.segment.cse.window_hits.get(&key) {
            Some(&inside) => inside,
            None => {
                let start = self.add_offset(p.base, i64::from(p.offset));
                let distance = self.window_distance_bits(start);
                let bad = self.b.ins().band_imm_s(distance, key.2 as i64);
                self.b.ins().icmp_imm_u(IntCC::Equal, bad, 0)
            }
        };
        self.segment.cse.window_hits.insert(key, inside);
        self.b.ins().band(all, inside)
    }

    /// Has the active lanes of a chunk copied between memory and the beginning of the dummy area.
    fn copy_active_lanes(
        &mut self,
        access: &MemAccess<'_>,
        p: &ScalarAddress,
        chunk: usize,
        mask: &LaneParts,
        store: bool,
    ) {
        self.store_stub_value(p.base, ActiveLaneCopy::POINTER_INDEX);
        self.store_stub_vectors(mask, ActiveLaneCopy::MASK_INDEX);
        self.emit_slow_path_call(SlowPathRequest::ActiveLaneCopy(ActiveLaneCopy {
            site: self.site_for_lanes(crate::simt::instruction_sites::WHOLE_WARP_LANE_CODE),
            bytes: access.ty.bytes(),
            chunk,
            offset: i64::from(p.offset) + i64::from(access.elements[0]),
            store,
            checked: p.checked,
        }));
    }

    fn all_lanes_active(&mut self, mask: &LaneParts) -> Value {
        let both = self.b.ins().band(mask[0], mask[1]);
        self.b.ins().vall_true(both)
    }

    /// The lanes of a chunk from consecutive memory.
    fn load_contiguous(
        &mut self,
        access: &MemAccess<'_>,
        base: Value,
        off: i32,
        widths: &[Option<RegWidth>],
    ) -> Vec<Option<LaneParts>> {
        let Some(w) = widths[0] else { return vec![None] };
        let ty = access.ty;
        let signed = ty.is_signed();
        let words: LaneParts = match ty.bytes() {
            1 => {
                let v = if signed {
                    self.b.ins().sload8x8(device_mem_flags(), base, off)
                } else {
                    self.b.ins().uload8x8(device_mem_flags(), base, off)
                };
                if signed {
                    smallvec![self.b.ins().swiden_low(v), self.b.ins().swiden_high(v)]
                } else {
                    smallvec![self.b.ins().uwiden_low(v), self.b.ins().uwiden_high(v)]
                }
            }
            2 => (0..2)
                .map(|i| {
                    let o = off + i * 8;
                    if signed {
                        self.b.ins().sload16x4(device_mem_flags(), base, o)
                    } else {
                        self.b.ins().uload16x4(device_mem_flags(), base, o)
                    }
                })
                .collect(),
            4 => (0..2).map(|i| self.b.ins().load(types::I32X4, device_mem_flags(), base, off + i * 16)).collect(),
            _ => {
                return vec![Some(
                    (0..4).map(|i| self.b.ins().load(types::I64X2, device_mem_flags(), base, off + i * 16)).collect(),
                )];
            }
        };
        vec![Some(self.extend_loaded_words(&words, ty, w))]
    }

    /// Loaded 32-bit words (already extended by the sign of `ty`) as a register of width `w`.
    fn extend_loaded_words(&mut self, words: &LaneParts, ty: Type, w: RegWidth) -> LaneParts {
        match w {
            RegWidth::W16 if ty.is_signed() => {
                let low = ops::splat_constant(&mut self.op_ctx(), EmitShape::Chunk, RegWidth::W32, 0xffff);
                words.iter().map(|&v| self.b.ins().band(v, low[0])).collect()
            }
            RegWidth::W64 if ty.is_signed() => {
                words.iter().flat_map(|&v| [self.b.ins().swiden_low(v), self.b.ins().swiden_high(v)]).collect()
            }
            RegWidth::W64 => {
                words.iter().flat_map(|&v| [self.b.ins().uwiden_low(v), self.b.ins().uwiden_high(v)]).collect()
            }
            _ => words.clone(),
        }
    }

    fn load_each_lane(
        &mut self,
        access: &MemAccess<'_>,
        place: &LaneLocation,
        chunk: usize,
        mask: Option<&LaneParts>,
        widths: &[Option<RegWidth>],
    ) -> Vec<Option<LaneParts>> {
        let addresses = self.lane_addresses(place, chunk, mask);
        if let Some(v) = self.load_transposed(access, &addresses, widths, mask.is_some()) {
            return v;
        }
        let mut out = vec![];
        for (e, w) in widths.iter().enumerate() {
            let Some(w) = w else {
                out.push(None);
                continue;
            };
            let lanes: [LaneParts; CHUNK_LANES] = std::array::from_fn(|l| {
                self.set_instruction_site((chunk * CHUNK_LANES + l) as u32);
                let (base, off) = addresses[l];
                // The dummy is small, so inactive lanes access its first element again and again.
                self.load_element(access.ty, *w, base, off + access.elements[e])
            });
            self.set_instruction_site(crate::simt::instruction_sites::chunk_lane_code(chunk));
            out.push(Some(ops::chunk_from_scalars(&mut self.op_ctx(), *w, &lanes)));
        }
        out
    }

    /// Four 32-bit elements per lane: a vector per lane, then transposed.
    fn load_transposed(
        &mut self,
        access: &MemAccess<'_>,
        addresses: &[(Value, i32); CHUNK_LANES],
        widths: &[Option<RegWidth>],
        _masked: bool,
    ) -> Option<Vec<Option<LaneParts>>> {
        let quad = access.elements[..] == [0, 4, 8, 12] && access.ty.bytes() == 4;
        if !quad || widths.iter().any(|w| w.is_some_and(|w| w != RegWidth::W32)) {
            return None;
        }
        let mut columns: [LaneParts; 4] = Default::default();
        for half in 0..2 {
            let rows: [Value; 4] = std::array::from_fn(|l| {
                let (base, off) = addresses[half * 4 + l];
                self.b.ins().load(types::I32X4, device_mem_flags(), base, off)
            });
            for (c, v) in columns.iter_mut().zip(self.transpose_4x4(rows)) {
                c.push(v);
            }
        }
        Some(columns.into_iter().zip(widths).map(|(c, w)| w.map(|_| c)).collect())
    }

    /// The transpose of a 4 x 4 matrix of 32-bit words.
    fn transpose_4x4(&mut self, r: [Value; 4]) -> [Value; 4] {
        let low01 = self.shuffle_words(r[0], r[1], [0, 4, 1, 5]);
        let high01 = self.shuffle_words(r[0], r[1], [2, 6, 3, 7]);
        let low23 = self.shuffle_words(r[2], r[3], [0, 4, 1, 5]);
        let high23 = self.shuffle_words(r[2], r[3], [2, 6, 3, 7]);
        [
            self.shuffle_words(low01, low23, [0, 1, 4, 5]),
            self.shuffle_words(low01, low23, [2, 3, 6, 7]),
            self.shuffle_words(high01, high23, [0, 1, 4, 5]),
            self.shuffle_words(high01, high23, [2, 3, 6, 7]),
        ]
    }

    /// A shuffle of the eight words of two `I32X4`.
    pub(crate) fn shuffle_words(&mut self, a: Value, b: Value, words: [u8; 4]) -> Value {
        match words {
            [0, 1, 2, 3] => return a,
            [4, 5, 6, 7] => return b,
            _ => {}
        }
        let flags = MemFlagsData::new().with_endianness(ir::Endianness::Little);
        let a = self.b.ins().bitcast(types::I8X16, flags, a);
        let b = self.b.ins().bitcast(types::I8X16, flags, b);
        let bytes: Vec<u8> = words.iter().flat_map(|w| (0..4).map(move |i| w * 4 + i)).collect();
        let mask = self.b.func.dfg.immediates.push(ir::ConstantData::from(&bytes[..]));
        let v = self.b.ins().shuffle(a, b, mask);
        self.b.ins().bitcast(types::I32X4, flags, v)
    }

    /// One element as a scalar of a register of width `w`.
    pub(crate) fn load_element(&mut self, ty: Type, w: RegWidth, base: Value, off: i32) -> LaneParts {
        let (bytes, signed) = (ty.bytes(), ty.is_signed());
        let word = match bytes {
            1 if signed => self.b.ins().sload8(types::I32, device_mem_flags(), base, off),
            1 => self.b.ins().uload8(types::I32, device_mem_flags(), base, off),
            2 if signed => self.b.ins().sload16(types::I32, device_mem_flags(), base, off),
            2 => self.b.ins().uload16(types::I32, device_mem_flags(), base, off),
            4 => self.b.ins().load(types::I32, device_mem_flags(), base, off),
            _ => self.b.ins().load(types::I64, device_mem_flags(), base, off),
        };
        match w {
            RegWidth::W128 if bytes == 16 => {
                let high = self.b.ins().load(types::I64, device_mem_flags(), base, off + 8);
                smallvec![word, high]
            }
            RegWidth::W16 if signed => smallvec![self.b.ins().band_imm_u(word, 0xffff)],
            RegWidth::W64 if bytes < 8 && signed => smallvec![self.b.ins().sextend(types::I64, word)],
            RegWidth::W64 if bytes < 8 => smallvec![self.b.ins().uextend(types::I64, word)],
            RegWidth::W32 | RegWidth::W16 if bytes == 8 => smallvec![self.b.ins().ireduce(types::I32, word)],
            _ => smallvec![word],
        }
    }

    /// A store for the lanes of one chunk.
    pub(crate) fn store_lanes(&mut self, st: &Stmt<'_>, chunk: usize) -> Result<(), JitError> {
        let Inst::St { space, ty, srcs, addr, sem, .. } = &*st.inst else { return Ok(()) };
        let mask = self.active_mask(st, chunk);
        let mut access = MemAccess::new(*space, *ty, addr, srcs.len());
        let w = RegWidth::from_type(*ty);
        let mut values = vec![];
        for s in srcs {
            let value = self.operand_lanes(*s, w, chunk);
            values.push(if w == RegWidth::W32 {
                ops::canonicalize_nan_for_store(&mut self.op_ctx(), s, value)
            } else {
                value
            });
        }
        let place = self.checked_location(&mut access, chunk, mask.as_ref())?;
        self.emit_shadow_check(&access, &place, chunk, mask.as_ref(), AccessMode::Store);
        self.report_access(&access, &place, chunk, mask.as_ref(), (AccessMode::Store, *sem), values.first());
        if let (LaneLocation::Strided(p), None) = (&place, &mask) {
            if p.stride == 0 {
                // The lanes of the chunk write one place: the first one's value stays. Every chunk stores, for
                // its place may be another, and its lanes may read it before the next chunk comes.
                self.store_lane(&access, &values, 0, (p.base, p.offset));
                return Ok(());
            }
            if let Some(off) = self.contiguous_offset(&access, p, chunk) {
                self.store_contiguous(&access, p.base, off, &values[0]);
                return Ok(());
            }
        }
        match (&place, &mask) {
            (LaneLocation::Strided(p), Some(m)) if self.contiguous_offset(&access, p, chunk).is_some() => {
                let off = self.contiguous_offset(&access, p, chunk).unwrap_or(0);
                self.store_if_all_active(&access, (p, off), chunk, m, &values[0]);
            }
            _ => self.store_each_lane(&access, &place, chunk, mask.as_ref(), &values),
        }
        Ok(())
    }

    /// As [`Self::load_if_all_active`].
    fn store_if_all_active(
        &mut self,
        access: &MemAccess<'_>,
        (p, off): (&ScalarAddress, i32),
        chunk: usize,
        mask: &LaneParts,
        values: &LaneParts,
    ) {
        let whole = self.emit_all_active_and_in_window(access, p, mask);
        let (fast, part, next) = (self.b.create_block(), self.b.create_block(), self.b.create_block());
        self.b.ins().brif(whole, fast, &[], part, &[]);
        self.b.seal_block(fast);
        self.switch_to_cold_block(part);
        self.branch_if_any_active(mask, (next, &[]));
        self.store_contiguous(access, self.abi.frame, frame_header::INACTIVE_ACCESS_OFFSET, values);
        self.copy_active_lanes(access, p, chunk, mask, true);
        self.b.ins().jump(next, &[]);
        self.b.switch_to_block(fast);
        self.store_contiguous(access, p.base, off, values);
        self.b.ins().jump(next, &[]);
        self.b.seal_block(next);
        self.b.switch_to_block(next);
    }

    fn store_contiguous(&mut self, access: &MemAccess<'_>, base: Value, off: i32, value: &LaneParts) {
        match access.ty.bytes() {
            1 => {
                let half = self.narrow_to_16_bit(value, 0xff);
                let bytes = self.b.ins().unarrow(half, half);
                let flags = MemFlagsData::new().with_endianness(ir::Endianness::Little);
                let pair = self.b.ins().bitcast(types::I64X2, flags, bytes);
                let low = self.b.ins().extractlane(pair, 0);
                self.b.ins().store(device_mem_flags(), low, base, off);
            }
            2 => {
                let half = self.narrow_to_16_bit(value, 0xffff);
                self.b.ins().store(device_mem_flags(), half, base, off);
            }
            _ => {
                for (i, &p) in value.iter().enumerate() {
                    self.b.ins().store(device_mem_flags(), p, base, off + i as i32 * 16);
                }
            }
        }
    }

    /// Eight 32-bit lanes, cut to `mask`, as eight 16-bit lanes.
    fn narrow_to_16_bit(&mut self, value: &LaneParts, mask: u64) -> Value {
        let m = ops::splat_constant(&mut self.op_ctx(), EmitShape::Chunk, RegWidth::W32, mask);
        let a = self.b.ins().band(value[0], m[0]);
        let b = self.b.ins().band(value[1], m[0]);
        self.b.ins().unarrow(a, b)
    }

    /// Stores lane by lane from the last to the first, whose value stays where several store to one place.
    fn store_each_lane(
        &mut self,
        access: &MemAccess<'_>,
        place: &LaneLocation,
        chunk: usize,
        mask: Option<&LaneParts>,
        values: &[LaneParts],
    ) {
        let addresses = self.lane_addresses(place, chunk, mask);
        let quad = access.elements[..] == [0, 4, 8, 12] && access.ty.bytes() == 4;
        if quad {
            for half in [1, 0] {
                let rows = self.transpose_4x4([values[0][half], values[1][half], values[2][half], values[3][half]]);
                for (l, row) in rows.into_iter().enumerate().rev() {
                    self.set_instruction_site((chunk * CHUNK_LANES + half * 4 + l) as u32);
                    let (base, off) = addresses[half * 4 + l];
                    self.b.ins().store(device_mem_flags(), row, base, off);
                }
            }
            return;
        }
        for (l, &at) in addresses.iter().enumerate().rev() {
            self.set_instruction_site((chunk * CHUNK_LANES + l) as u32);
            self.store_lane(access, values, l, at);
        }
        self.set_instruction_site(crate::simt::instruction_sites::chunk_lane_code(chunk));
    }

    fn store_lane(&mut self, access: &MemAccess<'_>, values: &[LaneParts], lane: usize, (base, off): (Value, i32)) {
        let w = RegWidth::from_type(access.ty);
        for (value, e) in values.iter().zip(&access.elements) {
            let v = ops::extract_lane(&mut self.op_ctx(), w, value, lane);
            self.store_element(access.ty, &v, base, off + e);
        }
    }

    /// Stores a scalar.
    pub(crate) fn store_element(&mut self, ty: Type, v: &LaneParts, base: Value, off: i32) {
        match ty.bytes() {
            1 => {
                self.b.ins().istore8(device_mem_flags(), v[0], base, off);
            }
            2 => {
                self.b.ins().istore16(device_mem_flags(), v[0], base, off);
            }
            16 => {
                self.b.ins().store(device_mem_flags(), v[0], base, off);
                self.b.ins().store(device_mem_flags(), v[1], base, off + 8);
            }
            _ => {
                self.b.ins().store(device_mem_flags(), v[0], base, off);
            }
        }
    }
}
