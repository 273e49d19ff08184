//! Addresses and their checks: where an access of one chunk of lanes goes, and the proof that it
//! stays inside the device window and is aligned.
//!
//! Establishes: no access is made natively before `(address ^ base) & mask` is known to be zero,
//! where the mask holds the bits above the window and those below the alignment; the exceptions
//! are addresses the compiler made itself. Otherwise an out-of-line call decides.

use crate::emit::code::relocations::{self, RelocTarget};
use crate::emit::function::emitter::{FunctionEmitter, trusted_mem_flags};
use crate::emit::function::out_of_line::{AddressCheck, LaneAddresses, SlowPathRequest};
use crate::emit::function::register_values::{CHUNK_LANES, LaneParts, RegWidth};
use crate::emit::ops;
use crate::simt::function_plan::frame_header;
use crate::simt::lane_classes::LaneClass;
use crate::{JitError, simt::symbol_layout::SharedVar};
use cranelift_codegen::ir::{InstBuilder, Value, condcodes::IntCC, types};
use rtcg_ptx::ast::*;
use rtcg_vgpu_abi::WarpCtx;
use smallvec::SmallVec;
use std::mem::offset_of;

/// More shared memory than a block can have: the bytes behind the name of dynamic shared memory that it may have.
const MAX_BLOCK_SHARED_BYTES: u64 = 1 << 20;

/// A scalar address: lane `i` accesses `base + offset + i * stride`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ScalarAddress {
    pub(crate) base: Value,
    pub(crate) offset: i32,
    pub(crate) stride: i64,
    /// The address is good in every lane, active or not.
    pub(crate) safe: bool,
    /// The check has been made for all lanes.
    pub(crate) checked: bool,
}

/// Where the lanes of a chunk access memory.
#[derive(Debug, Clone)]
pub(crate) enum LaneLocation {
    Strided(ScalarAddress),
    /// One absolute address per lane, as 4 x `I64X2`.
    PerLane(LaneParts),
}

/// What is accessed: `count` elements of `ty`.
#[derive(Debug, Clone)]
pub(crate) struct MemAccess<'x> {
    pub(crate) space: Space,
    pub(crate) ty: Type,
    pub(crate) addr: &'x Addr,
    /// Offset of each element from the address.
    pub(crate) elements: SmallVec<[i32; 4]>,
}

impl<'x> MemAccess<'x> {
    /// The access of a load or store of `count` elements.
    pub(crate) fn new(space: Space, ty: Type, addr: &'x Addr, count: usize) -> MemAccess<'x> {
        let bytes = ty.bytes() as i32;
        let elements = (0..count as i32).map(|e| e * bytes).collect();
        MemAccess { space, ty, addr, elements }
    }
    /// Whether lanes touch one range without gaps, of elements that have a vector form.
    pub(crate) fn is_contiguous(&self, p: &ScalarAddress) -> bool {
        let bytes = i64::from(self.ty.bytes());
        self.elements.len() == 1 && p.stride == bytes && bytes <= 8
    }
    /// Bytes one lane accesses.
    pub(crate) fn bytes_per_lane(&self) -> u32 {
        self.ty.bytes() * self.elements.len() as u32
    }
}

impl<'a> FunctionEmitter<'a, '_> {
    /// The value of a symbol's address plus `off`, as `mov` gives it: an offset for shared
    /// variables, else absolute; lane 0's for `.local` variables.
    pub(crate) fn symbol_address_value(&mut self, s: Symbol, off: i64, w: RegWidth) -> LaneParts {
        let v = match s {
            Symbol::Global(g) => {
                if self.env.module.vars[g.index()].space == Space::Shared {
                    let fixed = i64::from(self.shared_var_offset(SharedVar::Module(g.0)));
                    self.iconst64(fixed.wrapping_add(off))
                } else {
                    let at = relocations::target_address(&mut self.b, RelocTarget::ModuleVariable(g.0));
                    self.add_offset(at, off)
                }
            }
            Symbol::Local(v) => match self.plan.f.vars[v.index()].space {
                Space::Shared => {
                    let fixed = i64::from(self.shared_var_offset(SharedVar::Function(self.plan.id, v.0)));
                    self.iconst64(fixed.wrapping_add(off))
                }
                _ => {
                    let at = i64::from(self.plan.local_offsets.get(&v.0).copied().unwrap_or(0)).wrapping_add(off);
                    let base = self.b.ins().load(
                        types::I64,
                        trusted_mem_flags(),
                        self.abi.frame,
                        frame_header::LOCAL_BASE_OFFSET,
                    );
                    self.add_offset(base, at)
                }
            },
            Symbol::Func(f) => self.iconst64(crate::function_token(f) as i64),
            Symbol::Param(p) | Symbol::Return(p) => {
                let at = self.plan.f.params.get(p as usize).map_or(0, |p| i64::from(p.offset)).wrapping_add(off);
                let base = self.load_ctx_field(types::I64, offset_of!(WarpCtx, params));
                self.add_offset(base, at)
            }
        };
        ops::narrow_source(
            &mut self.op_ctx(),
            crate::emit::function::register_values::EmitShape::Scalar,
            &[v],
            RegWidth::W64,
            w,
        )
    }

    fn shared_var_offset(&self, v: SharedVar) -> u32 {
        self.env.shared.offsets.get(&v).copied().unwrap_or(0)
    }

    /// The address of a symbol for the lanes of a chunk.
    pub(crate) fn symbol_address_lanes(&mut self, o: Operand, w: RegWidth, chunk: usize) -> LaneParts {
        let Operand::Address(s, off) = o else { return LaneParts::new() };
        let class = self.plan.classes.operand_class(o);
        let scalar = self.symbol_address_value(s, off, RegWidth::W64);
        let lanes = self.expand_scalar_to_lanes(&scalar, RegWidth::W64, class, chunk);
        ops::narrow_source(
            &mut self.op_ctx(),
            crate::emit::function::register_values::EmitShape::Chunk,
            &lanes,
            RegWidth::W64,
            w,
        )
    }

    /// Whether the address needs no check because it is made of a symbol and lies in what the symbol names. An
    /// offset that leads elsewhere may lead anywhere.
    pub(super) fn is_symbol_address(&self, access: &MemAccess<'_>) -> bool {
        let AddrBase::Symbol(s) = access.addr.base else { return false };
        let var = match s {
            Symbol::Global(g) => &self.env.module.vars[g.index()],
            Symbol::Local(v) => &self.plan.f.vars[v.index()],
            // The loader has looked at these.
            Symbol::Param(_) | Symbol::Return(_) => return true,
            Symbol::Func(_) => return false,
        };
        let size = if var.unsized_array { MAX_BLOCK_SHARED_BYTES } else { var.size };
        let bytes = i64::from(access.bytes_per_lane());
        let (first, aligned) =
            (access.addr.offset, access.addr.offset & (bytes.cast_unsigned().next_power_of_two() as i64 - 1) == 0);
        aligned && u64::try_from(first).is_ok_and(|first| first.saturating_add(bytes as u64) <= size)
    }

    /// The record of a `.param` access: argument, result, or the caller's side of either.
    pub(super) fn param_record_base(&mut self, access: &MemAccess<'_>) -> Option<(Value, i64)> {
        if access.space != Space::Param {
            return None;
        }
        let AddrBase::Symbol(s) = access.addr.base else { return None };
        match s {
            Symbol::Param(p) if !self.plan.f.entry => Some((
                self.abi.args,
                i64::from(crate::simt::function_plan::param_record_offsets(&self.plan.f.params)[p as usize]),
            )),
            Symbol::Return(p) => Some((
                self.abi.rets,
                i64::from(crate::simt::function_plan::param_record_offsets(&self.plan.f.returns)[p as usize]),
            )),
            Symbol::Local(v) => Some((self.abi.frame, i64::from(*self.plan.records.get(&v.0)?))),
            _ => None,
        }
    }

    /// Changes the elements of an access to a record to their interleaved places.
    pub(crate) fn interleave_record_access(&mut self, access: &mut MemAccess<'_>) -> Option<ScalarAddress> {
        let (base, at) = self.param_record_base(access)?;
        let place = |e: i32| {
            let o = access.addr.offset as i32 + e;
            o / 8 * 256 + o % 8
        };
        let first = place(0);
        let elements = access.elements.iter().map(|&e| place(e) - first).collect();
        access.elements = elements;
        let base = self.add_offset(base, at + i64::from(first));
        Some(ScalarAddress { base, offset: 0, stride: 8, safe: true, checked: true })
    }

    /// Lane 0's absolute address of an access whose address is uniform or affine.
    pub(crate) fn scalar_address(&mut self, access: &MemAccess<'_>) -> Result<Value, JitError> {
        let a = access.addr;
        let plain = match a.base {
            AddrBase::Reg(r) => {
                let v = self.scalar_operand(Operand::Reg(r), RegWidth::W64)[0];
                self.add_offset(v, a.offset)
            }
            AddrBase::Symbol(s) => self.symbol_address_value(s, a.offset, RegWidth::W64)[0],
            AddrBase::Absolute => self.iconst64(a.offset),
        };
        if access.space != Space::Shared {
            return Ok(plain);
        }
        // Lane 0 may be inactive and its offset negative, the other lanes' count from there.
        let shared = self.load_ctx_field(types::I64, offset_of!(WarpCtx, shared));
        let offset = if self.is_symbol_address(access) {
            plain
        } else {
            let low = self.b.ins().ireduce(types::I32, plain);
            self.b.ins().sextend(types::I64, low)
        };
        Ok(self.b.ins().iadd(shared, offset))
    }

    /// The bits of `address ^ window base` that must be zero.
    pub(super) fn required_zero_bits(&self, access: &MemAccess<'_>) -> u64 {
        let low = u64::from(access.bytes_per_lane().next_power_of_two() - 1);
        let high = if access.space == Space::Shared { 0 } else { !0 << self.env.window.bits };
        low | high
    }

    /// Checks lane 0's and the last lane's address; between them every address is as good.
    pub(crate) fn check_scalar_address(
        &mut self,
        access: &MemAccess<'_>,
        p: &ScalarAddress,
        lane_mask: Option<(usize, Option<&LaneParts>)>,
    ) {
        let bits = self.required_zero_bits(access);
        let first = lane_mask.map_or(0, |(c, _)| (c * CHUNK_LANES) as i64);
        let last = lane_mask.map_or(31, |(c, _)| (c * CHUNK_LANES + CHUNK_LANES - 1) as i64);
        let start = self.add_offset(p.base, i64::from(p.offset));
        let low = self.add_offset(start, first.wrapping_mul(p.stride));
        let mut bad = self.window_distance_bits(low);
        if p.stride != 0 {
            let high = self.add_offset(start, last.wrapping_mul(p.stride));
            let high = self.window_distance_bits(high);
            bad = self.b.ins().bor(bad, high);
            // An odd stride can misalign lanes between two aligned ends.
            let step = p.stride as u64 & u64::from(access.bytes_per_lane().next_power_of_two() - 1);
            if step != 0 {
                let step = self.iconst64(step as i64);
                bad = self.b.ins().bor(bad, step);
            }
        }
        let bad = self.b.ins().band_imm_s(bad, bits as i64);
        let (chunk, mask) = (lane_mask.map(|(c, _)| c), lane_mask.and_then(|(_, m)| m.cloned()));
        let check = AddressCheck {
            site: self.site_for_lanes(crate::simt::instruction_sites::WHOLE_WARP_LANE_CODE),
            info: access.bytes_per_lane(),
            states: false,
            lanes: chunk.map_or(u32::MAX, |c| 0xff << (c * CHUNK_LANES)),
            mask: mask.as_ref().map(|_| 2),
            addresses: LaneAddresses::Strided { value: 0, offset: i64::from(p.offset), stride: p.stride },
        };
        let base = p.base;
        self.emit_in_cold_block(bad, |g| {
            g.store_stub_value(base, 0);
            g.store_stub_vectors(mask.as_deref().unwrap_or_default(), 2);
            g.emit_slow_path_call(SlowPathRequest::Checks(vec![check]));
        });
    }

    pub(super) fn window_distance_bits(&mut self, address: Value) -> Value {
        let base = relocations::target_address(&mut self.b, RelocTarget::WindowBase);
        self.b.ins().bxor(address, base)
    }

    /// Emits `f` in a cold block that runs when `condition` is not zero.
    pub(crate) fn emit_in_cold_block(&mut self, condition: Value, f: impl FnOnce(&mut Self)) {
        let (cold, next) = (self.b.create_block(), self.b.create_block());
        self.b.set_cold_block(cold);
        self.b.ins().brif(condition, cold, &[], next, &[]);
        self.b.seal_block(cold);
        self.b.switch_to_block(cold);
        f(self);
        self.b.ins().jump(next, &[]);
        self.b.seal_block(next);
        self.b.switch_to_block(next);
    }

    /// Where the lanes of `chunk` go; checked for the lanes of `mask`.
    pub(crate) fn checked_location(
        &mut self,
        access: &mut MemAccess<'_>,
        chunk: usize,
        mask: Option<&LaneParts>,
    ) -> Result<LaneLocation, JitError> {
        if let Some(p) = self.interleave_record_access(access) {
            return Ok(LaneLocation::Strided(self.move_to_chunk_of_loop(p)));
        }
        if let Some(p) = self.segment.scalar_results.get(self.segment.current).and_then(|r| r.address).map(|a| a[chunk])
        {
            // Lanes side by side are checked where they are accessed, unless their states are looked at.
            let later = access.is_contiguous(&p) && self.env.instrument.memory.is_none();
            if let (false, false, Some(m)) = (p.checked, later, mask) {
                self.check_scalar_address(access, &p, Some((chunk, Some(m))));
            }
            return Ok(LaneLocation::Strided(p));
        }
        if self.is_symbol_address(access) && self.is_masked() {
            return self.symbol_location(access);
        }
        let lanes = self.absolute_lane_addresses(access, chunk);
        if !self.is_symbol_address(access) {
            self.emit_lane_address_check(access, &lanes, chunk, mask);
        }
        Ok(LaneLocation::PerLane(lanes))
    }

    /// An address that masked code knows to be uniform or affine because it is a symbol's.
    fn symbol_location(&mut self, access: &MemAccess<'_>) -> Result<LaneLocation, JitError> {
        let AddrBase::Symbol(s) = access.addr.base else {
            return Err(self.statement_error("address without a symbol"));
        };
        let stride = match self.plan.classes.operand_class(Operand::Address(s, 0)) {
            LaneClass::Affine(s) => s,
            _ => 0,
        };
        let base = self.scalar_address(access)?;
        let address = ScalarAddress { base, offset: 0, stride, safe: true, checked: true };
        Ok(LaneLocation::Strided(self.move_to_chunk_of_loop(address)))
    }

    /// In a loop over chunks the address of the chunk's first lane instead of lane 0's.
    fn move_to_chunk_of_loop(&mut self, p: ScalarAddress) -> ScalarAddress {
        match self.chunk_loop_distance(p.stride, types::I64).filter(|_| p.stride != 0) {
            Some(distance) => ScalarAddress { base: self.b.ins().iadd(p.base, distance), ..p },
            None => p,
        }
    }

    /// Absolute addresses of the lanes of a chunk.
    pub(crate) fn absolute_lane_addresses(&mut self, access: &MemAccess<'_>, chunk: usize) -> LaneParts {
        let a = access.addr;
        let lanes = match a.base {
            AddrBase::Reg(r) => self.operand_lanes(Operand::Reg(r), RegWidth::W64, chunk),
            AddrBase::Symbol(s) => self.symbol_address_lanes(Operand::Address(s, 0), RegWidth::W64, chunk),
            AddrBase::Absolute => ops::splat_constant(
                &mut self.op_ctx(),
                crate::emit::function::register_values::EmitShape::Chunk,
                RegWidth::W64,
                0,
            ),
        };
        let lanes = self.add_to_all_lanes(&lanes, a.offset);
        if access.space != Space::Shared {
            return lanes;
        }
        let low = self.constant_vector(RegWidth::W64, &[0xffff_ffff; 2]);
        let shared = self.load_ctx_field(types::I64, offset_of!(WarpCtx, shared));
        let shared = self.b.ins().splat(types::I64X2, shared);
        lanes
            .iter()
            .map(|&l| {
                let offset = self.b.ins().band(l, low);
                self.b.ins().iadd(offset, shared)
            })
            .collect()
    }

    pub(crate) fn add_to_all_lanes(&mut self, lanes: &LaneParts, offset: i64) -> LaneParts {
        if offset == 0 {
            return lanes.clone();
        }
        let off = self.constant_vector(RegWidth::W64, &[offset; 2]);
        lanes.iter().map(|&l| self.b.ins().iadd(l, off)).collect()
    }

    /// Checks the addresses of the lanes of a chunk.
    fn emit_lane_address_check(
        &mut self,
        access: &MemAccess<'_>,
        lanes: &LaneParts,
        chunk: usize,
        mask: Option<&LaneParts>,
    ) {
        let bits = self.required_zero_bits(access);
        if bits == 0 {
            return;
        }
        let base = relocations::target_address(&mut self.b, RelocTarget::WindowBase);
        let base = self.b.ins().splat(types::I64X2, base);
        let masks = mask.map(|m| self.widen_mask(m));
        let mut bad: Option<Value> = None;
        for (i, &l) in lanes.iter().enumerate() {
            let x = self.b.ins().bxor(l, base);
            let x = masks.as_ref().map_or(x, |m| self.b.ins().band(x, m[i]));
            bad = Some(bad.map_or(x, |b| self.b.ins().bor(b, x)));
        }
        let Some(bad) = bad else { return };
        let must_be_zero = self.constant_vector(RegWidth::W64, &[bits as i64; 2]);
        let bad = self.b.ins().band(bad, must_be_zero);
        let bad = self.b.ins().vany_true(bad);
        let check = AddressCheck {
            site: self.site_for_lanes(crate::simt::instruction_sites::chunk_lane_code(chunk)),
            info: access.bytes_per_lane(),
            states: false,
            lanes: 0xff << (chunk * CHUNK_LANES),
            mask: mask.map(|_| 8),
            addresses: LaneAddresses::PerLane { value: 0, chunk },
        };
        self.emit_in_cold_block(bad, |g| g.check_lane_addresses_out_of_line(check, lanes, mask));
    }

    /// Asks for the check of the lanes of a chunk at `lanes`.
    pub(super) fn check_lane_addresses_out_of_line(
        &mut self,
        check: AddressCheck,
        lanes: &LaneParts,
        mask: Option<&LaneParts>,
    ) {
        self.store_stub_vectors(lanes, 0);
        self.store_stub_vectors(mask.map_or(&[][..], |m| &m[..]), 8);
        self.emit_slow_path_call(SlowPathRequest::Checks(vec![check]));
    }

    /// A chunk mask at 64 bits per lane.
    pub(crate) fn widen_mask(&mut self, mask: &LaneParts) -> LaneParts {
        mask.iter().flat_map(|&m| [self.b.ins().swiden_low(m), self.b.ins().swiden_high(m)]).collect()
    }

    /// The address of each lane of a chunk; inactive lanes get a harmless one.
    pub(crate) fn lane_addresses(
        &mut self,
        place: &LaneLocation,
        chunk: usize,
        mask: Option<&LaneParts>,
    ) -> [(Value, i32); CHUNK_LANES] {
        if let (LaneLocation::Strided(p), None) = (place, mask) {
            return self.strided_addresses(p, chunk);
        }
        let lanes = self.lane_address_vectors(place, chunk, mask);
        std::array::from_fn(|l| (self.b.ins().extractlane(lanes[l / 2], (l % 2) as u8), 0))
    }

    /// [`FunctionEmitter::lane_addresses`] as 4 x `I64X2`.
    pub(crate) fn lane_address_vectors(
        &mut self,
        place: &LaneLocation,
        chunk: usize,
        mask: Option<&LaneParts>,
    ) -> LaneParts {
        let lanes = match place {
            LaneLocation::Strided(p) => {
                let (base, stride) = (self.add_offset(p.base, i64::from(p.offset)), p.stride);
                let all = self.b.ins().splat(types::I64X2, base);
                (0..4)
                    .map(|i| {
                        let first = (chunk * CHUNK_LANES + i * 2) as i64;
                        let steps = self.constant_vector(
                            RegWidth::W64,
                            &[first.wrapping_mul(stride), (first + 1).wrapping_mul(stride)],
                        );
                        self.b.ins().iadd(all, steps)
                    })
                    .collect()
            }
            LaneLocation::PerLane(l) => l.clone(),
        };
        let Some(m) = mask else { return lanes };
        let dummy = self.add_offset(self.abi.frame, i64::from(frame_header::INACTIVE_ACCESS_OFFSET));
        let dummy = self.b.ins().splat(types::I64X2, dummy);
        let m = self.widen_mask(m);
        lanes.iter().zip(&m).map(|(&l, &m)| self.b.ins().bitselect(m, l, dummy)).collect()
    }

    fn strided_addresses(&mut self, p: &ScalarAddress, chunk: usize) -> [(Value, i32); CHUNK_LANES] {
        let far = p.stride.unsigned_abs() >= 1 << 24;
        std::array::from_fn(|l| {
            let step = p.stride.wrapping_mul((chunk * CHUNK_LANES + l) as i64);
            if far { (self.add_offset(p.base, step), p.offset) } else { (p.base, p.offset + step as i32) }
        })
    }

    /// `a == b` as a condition.
    pub(crate) fn icmp_equal(&mut self, a: Value, b: Value) -> Value {
        self.b.ins().icmp(IntCC::Equal, a, b)
    }
}
