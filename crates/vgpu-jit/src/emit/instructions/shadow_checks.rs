//! Checks of accesses against the states of the bytes they touch (`vgpu-exec/src/check/shadow.rs`).
//!
//! Establishes: when the states of all active lanes are good, an access costs a few loads of
//! states, one per lane or two for eight lanes side by side, and no call; stores mark what they
//! write. Otherwise an out-of-line call decides lane by lane.

use super::addresses::{LaneLocation, MemAccess, ScalarAddress};
use crate::emit::code::relocations::{self, RelocTarget};
use crate::emit::function::emitter::{FunctionEmitter, trusted_mem_flags};
use crate::emit::function::out_of_line::{AddressCheck, LaneAddresses, SlowPathRequest};
use crate::emit::function::register_values::{CHUNK_LANES, LaneParts, RegWidth};
use crate::emit::ops;
use crate::simt::body::{BlockBoundaryKind, block_boundary_kind};
use cranelift_codegen::ir::{self, InstBuilder, MemFlagsData, Value, condcodes::IntCC, types};
use rtcg_ptx::ast::*;
use rtcg_vgpu_abi::instrument::{
    ATOMIC_BIT, HAS_VALUES_BIT, SYNC_ACQUIRE, SYNC_FENCE, SYNC_RELEASE, ShadowStates, VOLATILE_BIT, WARP_SYNC,
    WRITE_BIT,
};

/// What an access does to memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AccessMode {
    Load,
    Store,
    Atomic,
}

const ONE_IN_EACH_BYTE: u64 = 0x0101_0101_0101_0101;
const WRITABLE_STATES: u64 = ONE_IN_EACH_BYTE;
const READABLE_STATES: u64 = 2 * ONE_IN_EACH_BYTE;

impl AccessMode {
    fn access_info_bits(self) -> u32 {
        match self {
            AccessMode::Load => 0,
            AccessMode::Store => WRITE_BIT,
            AccessMode::Atomic => ATOMIC_BIT,
        }
    }
}

impl<'a> FunctionEmitter<'a, '_> {
    /// The bits that the states of an access need.
    fn required_state_bits(&self, mode: AccessMode) -> u64 {
        let device = u64::from(self.env.instrument.device_bit) * ONE_IN_EACH_BYTE;
        device
            | match mode {
                AccessMode::Load => READABLE_STATES,
                AccessMode::Atomic if self.env.instrument.init => READABLE_STATES | WRITABLE_STATES,
                AccessMode::Store | AccessMode::Atomic => WRITABLE_STATES,
            }
    }

    /// Checks an access of the lanes of `chunk` that takes place next.
    pub(crate) fn emit_shadow_check(
        &mut self,
        access: &MemAccess<'_>,
        place: &LaneLocation,
        chunk: usize,
        mask: Option<&LaneParts>,
        mode: AccessMode,
    ) {
        let Some(states) = self.env.instrument.memory else { return };
        match place {
            LaneLocation::Strided(p) if p.stride == 0 => {
                let first = self.segment.scalar_results.get(self.segment.current).and_then(|r| r.address).map(|a| a[0]);
                let same = first.is_some_and(|f| f.base == p.base && f.offset == p.offset);
                if mask.is_some() || chunk == 0 || !same {
                    self.check_uniform_states(
                        states,
                        access,
                        p,
                        Some(chunk).filter(|_| mask.is_some() || !same),
                        mask,
                        mode,
                    );
                }
            }
            LaneLocation::Strided(p) if mode != AccessMode::Atomic && access.is_contiguous(p) => {
                self.check_contiguous_states(states, access, p, chunk, mask, mode);
            }
            _ => self.check_states_per_lane(states, access, place, chunk, mask, mode),
        }
    }

    /// Checks an access of one address for the whole warp.
    pub(crate) fn emit_uniform_shadow_check(&mut self, access: &MemAccess<'_>, base: Value, mode: AccessMode) {
        let Some(states) = self.env.instrument.memory else { return };
        let p = ScalarAddress { base, offset: 0, stride: 0, safe: false, checked: true };
        self.check_uniform_states(states, access, &p, None, None, mode);
    }

    /// Where the state of an address is.
    fn shadow_state_address(&mut self, states: ShadowStates, address: Value) -> Value {
        let low = self.b.ins().band_imm_s(address, states.mask as i64);
        let base = relocations::target_address(&mut self.b, RelocTarget::ShadowBase);
        self.b.ins().iadd(low, base)
    }

    fn check_uniform_states(
        &mut self,
        states: ShadowStates,
        access: &MemAccess<'_>,
        p: &ScalarAddress,
        chunk: Option<usize>,
        mask: Option<&LaneParts>,
        mode: AccessMode,
    ) {
        let start = self.add_offset(p.base, i64::from(p.offset));
        let at = self.shadow_state_address(states, start);
        let (bytes, needed) = (access.bytes_per_lane(), self.required_state_bits(mode));
        let mut bad: Option<Value> = None;
        for (offset, ty) in shadow_state_words(bytes) {
            let s = self.b.ins().load(ty, trusted_mem_flags(), at, offset);
            let good = self.shadow_state_constant(ty, needed);
            let missing = self.b.ins().band_not(good, s);
            let missing = if ty == types::I64 { missing } else { self.b.ins().uextend(types::I64, missing) };
            bad = Some(bad.map_or(missing, |b| self.b.ins().bor(b, missing)));
        }
        let Some(bad) = bad else { return };
        let any = mask.map(|m| {
            let both = self.b.ins().bor(m[0], m[1]);
            self.b.ins().vany_true(both)
        });
        let wrong = self.b.ins().icmp_imm_u(IntCC::NotEqual, bad, 0);
        let wrong = any.map_or(wrong, |a| self.b.ins().band(wrong, a));
        let fixed = mask.cloned();
        self.emit_in_cold_block(wrong, |g| g.check_strided_out_of_line(access, start, 0, chunk, fixed, mode));
        if mode == AccessMode::Store && self.env.instrument.init {
            // With no lane active nothing is written; then the states stay as they are.
            for (offset, ty) in shadow_state_words(bytes) {
                let new = self.shadow_state_constant(ty, READABLE_STATES);
                let old = self.b.ins().load(ty, trusted_mem_flags(), at, offset);
                let new = self.b.ins().bor(old, new);
                let new = any.map_or(new, |a| self.b.ins().select(a, new, old));
                self.b.ins().store(trusted_mem_flags(), new, at, offset);
            }
        }
    }

    fn shadow_state_constant(&mut self, ty: ir::Type, bits: u64) -> Value {
        let kept = if ty.bits() == 64 { bits } else { bits & ((1 << ty.bits()) - 1) };
        self.b.ins().iconst(ty, kept as i64)
    }

    /// Eight lanes whose bytes lie one after the other: their states are a few vectors.
    fn check_contiguous_states(
        &mut self,
        states: ShadowStates,
        access: &MemAccess<'_>,
        p: &ScalarAddress,
        chunk: usize,
        mask: Option<&LaneParts>,
        mode: AccessMode,
    ) {
        let bytes = access.ty.bytes() as usize;
        let first = (chunk * CHUNK_LANES * bytes) as i64 + i64::from(p.offset + access.elements[0]);
        let start = self.add_offset(p.base, first);
        let at = self.shadow_state_address(states, start);
        let masks = mask.map(|m| self.expand_mask_to_bytes(m, bytes));
        let (needed, marks) = (self.required_state_bits(mode), mode == AccessMode::Store && self.env.instrument.init);
        let n = (bytes * CHUNK_LANES).div_ceil(16);
        let narrow = bytes == 1;
        let ty = if narrow { types::I64 } else { types::I8X16 };
        let (mut all, mut olds): (Option<Value>, Vec<Value>) = (None, vec![]);
        for i in 0..n {
            let old = self.b.ins().load(ty, trusted_mem_flags(), at, i as i32 * 16);
            olds.push(old);
            let good = masks.as_ref().map_or(old, |m| self.b.ins().bor_not(old, m[i]));
            all = Some(all.map_or(good, |a| self.b.ins().band(a, good)));
        }
        let Some(all) = all else { return };
        let pattern = self.shadow_state_vector(narrow, needed);
        let kept = self.b.ins().band(all, pattern);
        let good = match needed.count_ones() {
            _ if narrow => self.b.ins().icmp(IntCC::Equal, kept, pattern),
            // One bit of each byte: it is there where the byte is not zero.
            8 => self.b.ins().vall_true(kept),
            _ => {
                let same = self.b.ins().icmp(IntCC::Equal, kept, pattern);
                self.b.ins().vall_true(same)
            }
        };
        let wrong = self.b.ins().bxor_imm_u(good, 1);
        let (stride, fixed) = (p.stride, mask.cloned());
        self.emit_in_cold_block(wrong, |g| {
            let back = g.add_offset(start, -(stride.wrapping_mul((chunk * CHUNK_LANES) as i64)));
            g.check_strided_out_of_line(access, back, stride, Some(chunk), fixed, mode);
        });
        if marks {
            let written = self.shadow_state_vector(narrow, READABLE_STATES);
            for (i, &old) in olds.iter().enumerate() {
                let bits = masks.as_ref().map_or(written, |m| self.b.ins().band(written, m[i]));
                let new = self.b.ins().bor(old, bits);
                self.b.ins().store(trusted_mem_flags(), new, at, i as i32 * 16);
            }
        }
    }

    fn shadow_state_vector(&mut self, narrow: bool, bits: u64) -> Value {
        if narrow {
            return self.iconst64(bits as i64);
        }
        let data: Vec<u8> = [bits.to_le_bytes(), bits.to_le_bytes()].concat();
        let data = self.b.func.dfg.constants.insert(ir::ConstantData::from(&data[..]));
        self.b.ins().vconst(types::I8X16, data)
    }

    /// A chunk's mask with `bytes` bytes per lane, as states are laid out.
    fn expand_mask_to_bytes(&mut self, mask: &LaneParts, bytes: usize) -> Vec<Value> {
        let flags = MemFlagsData::new().with_endianness(ir::Endianness::Little);
        let parts: Vec<Value> = match bytes {
            8 => self.widen_mask(mask).to_vec(),
            4 => mask.to_vec(),
            _ => vec![self.b.ins().snarrow(mask[0], mask[1])],
        };
        if bytes == 1 {
            let half = self.b.ins().snarrow(parts[0], parts[0]);
            let pair = self.b.ins().bitcast(types::I64X2, flags, half);
            return vec![self.b.ins().extractlane(pair, 0)];
        }
        parts.into_iter().map(|v| self.b.ins().bitcast(types::I8X16, flags, v)).collect()
    }

    /// Lanes anywhere: the states of each for itself. Lanes that take no part read states that are
    /// always good.
    fn check_states_per_lane(
        &mut self,
        states: ShadowStates,
        access: &MemAccess<'_>,
        place: &LaneLocation,
        chunk: usize,
        mask: Option<&LaneParts>,
        mode: AccessMode,
    ) {
        let lanes = self.lane_addresses_of_location(place, chunk);
        let masks = mask.map(|m| self.widen_mask(m));
        let low = self.constant_vector(RegWidth::W64, &[states.mask as i64; 2]);
        let base = relocations::target_address(&mut self.b, RelocTarget::ShadowBase);
        let base = self.b.ins().splat(types::I64X2, base);
        let at: Vec<Value> = (lanes.iter().enumerate())
            .map(|(i, &l)| {
                let mut offset = self.b.ins().band(l, low);
                if let Some(m) = &masks {
                    // Offset 0 is the window's first byte, whose state is always good.
                    offset = self.b.ins().band(offset, m[i]);
                }
                self.b.ins().iadd(offset, base)
            })
            .collect();
        let at: Vec<Value> = (0..CHUNK_LANES).map(|l| self.b.ins().extractlane(at[l / 2], (l % 2) as u8)).collect();
        let needed = self.required_state_bits(mode);
        let (mut bad, marks) = (None::<Value>, mode == AccessMode::Store && self.env.instrument.init);
        let pieces = shadow_state_words(access.bytes_per_lane());
        for &(offset, ty) in &pieces {
            let mut all: Option<Value> = None;
            for &a in &at {
                let s = self.b.ins().load(ty, trusted_mem_flags(), a, offset);
                all = Some(all.map_or(s, |x| self.b.ins().band(x, s)));
            }
            let Some(all) = all else { return };
            let good = self.shadow_state_constant(ty, needed);
            let missing = self.b.ins().band_not(good, all);
            let missing = if ty == types::I64 { missing } else { self.b.ins().uextend(types::I64, missing) };
            bad = Some(bad.map_or(missing, |b| self.b.ins().bor(b, missing)));
        }
        let Some(bad) = bad else { return };
        let check = AddressCheck {
            site: self.site_for_lanes(crate::simt::instruction_sites::chunk_lane_code(chunk)),
            info: access.bytes_per_lane() | mode.access_info_bits(),
            states: true,
            lanes: 0xff << (chunk * CHUNK_LANES),
            mask: mask.map(|_| 8),
            addresses: LaneAddresses::PerLane { value: 0, chunk },
        };
        self.emit_in_cold_block(bad, |g| g.check_lane_addresses_out_of_line(check, &lanes, mask));
        if marks {
            for &(offset, ty) in &pieces {
                let good = self.shadow_state_constant(ty, READABLE_STATES | WRITABLE_STATES);
                for &a in &at {
                    let old = self.b.ins().load(ty, trusted_mem_flags(), a, offset);
                    let new = self.b.ins().bor(old, good);
                    self.b.ins().store(trusted_mem_flags(), new, a, offset);
                }
            }
        }
    }

    /// The address of each lane of a chunk as vectors, of inactive lanes too.
    fn lane_addresses_of_location(&mut self, place: &LaneLocation, chunk: usize) -> LaneParts {
        match place {
            LaneLocation::PerLane(l) => l.clone(),
            LaneLocation::Strided(p) => {
                let base = self.add_offset(p.base, i64::from(p.offset));
                let all = self.b.ins().splat(types::I64X2, base);
                (0..4)
                    .map(|i| {
                        let first = (chunk * CHUNK_LANES + i * 2) as i64;
                        let steps = self.constant_vector(
                            RegWidth::W64,
                            &[first.wrapping_mul(p.stride), (first + 1).wrapping_mul(p.stride)],
                        );
                        self.b.ins().iadd(all, steps)
                    })
                    .collect()
            }
        }
    }

    /// Calls the out-of-line check for lanes at `start + lane * stride` (of a chunk, or all).
    fn check_strided_out_of_line(
        &mut self,
        access: &MemAccess<'_>,
        start: Value,
        stride: i64,
        chunk: Option<usize>,
        mask: Option<LaneParts>,
        mode: AccessMode,
    ) {
        let mask = mask.filter(|_| chunk.is_some());
        let check = AddressCheck {
            site: self.site_for_lanes(crate::simt::instruction_sites::WHOLE_WARP_LANE_CODE),
            info: access.bytes_per_lane() | mode.access_info_bits(),
            states: true,
            lanes: chunk.map_or(u32::MAX, |c| 0xff << (c * CHUNK_LANES)),
            mask: mask.as_ref().map(|_| 2),
            addresses: LaneAddresses::Strided { value: 0, offset: 0, stride },
        };
        self.store_stub_value(start, 0);
        self.store_stub_vectors(mask.as_deref().unwrap_or_default(), 2);
        self.emit_slow_path_call(SlowPathRequest::Checks(vec![check]));
    }

    /// Reports an access of the lanes of `chunk` that takes place next.
    pub(crate) fn report_access(
        &mut self,
        access: &MemAccess<'_>,
        place: &LaneLocation,
        chunk: usize,
        mask: Option<&LaneParts>,
        (mode, sem): (AccessMode, MemorySemantics),
        values: Option<&LaneParts>,
    ) {
        if self.env.instrument.race.is_none() {
            return;
        }
        // Synchronising accesses are no races; those of shared memory count as plain ones.
        if access.space != Space::Shared && sem != MemorySemantics::Weak
            || matches!(access.space, Space::Param | Space::Local | Space::Const)
        {
            return;
        }
        let lanes = self.lane_addresses_of_location(place, chunk);
        let slot = self.lane_array_slot();
        for (i, &l) in lanes.iter().enumerate() {
            self.b.ins().stack_store(types::I64, l, slot, i as i32 * 16);
        }
        let mut info = access.bytes_per_lane() | mode.access_info_bits();
        if let Some(values) = values.filter(|v| access.elements.len() == 1 && v.len() <= 4) {
            info |= HAS_VALUES_BIT;
            for (i, &v) in values.iter().enumerate() {
                self.b.ins().stack_store(types::I64, v, slot, 64 + i as i32 * 16);
            }
        }
        if sem != MemorySemantics::Weak {
            info |= VOLATILE_BIT;
        }
        let bits = match mask {
            Some(m) => ops::mask_to_bits(&mut self.op_ctx(), m),
            None => self.iconst32(0xff),
        };
        let site = self.site_for_lanes(crate::simt::instruction_sites::chunk_lane_code(chunk));
        let at = self.b.ins().stack_addr(types::I64, slot, 0);
        let chunk = self.segment.chunk_loop.map_or_else(|| self.iconst32(chunk as i64), |l| l.chunk);
        let (site, info) = (self.iconst32(i64::from(site)), self.iconst32(i64::from(info)));
        relocations::call_target(
            &mut self.b,
            RelocTarget::RaceAccess,
            &[self.abi.ctx, bits, chunk, site, info, at],
            None,
        );
    }

    /// Reports a load of one address by the whole warp: eight lanes stand for all.
    pub(crate) fn report_uniform_load(&mut self, access: &MemAccess<'_>, base: Value, sem: MemorySemantics) {
        let p = ScalarAddress { base, offset: 0, stride: 0, safe: false, checked: true };
        self.report_access(access, &LaneLocation::Strided(p), 0, None, (AccessMode::Load, sem), None);
    }

    /// Reports the synchronisation that an instruction brought.
    pub(crate) fn report_sync(&mut self, inst: &Inst) {
        if self.env.instrument.race.is_none() {
            return;
        }
        let releases = |sem: &MemorySemantics| {
            matches!(sem, MemorySemantics::Release | MemorySemantics::AcqRel | MemorySemantics::SeqCst)
        };
        let what = match inst {
            Inst::Fence(FenceKind::Memory { scope, .. }) if *scope != MemoryScope::Cta => SYNC_FENCE,
            Inst::Atom { space: Space::Shared, .. } | Inst::Ld { space: Space::Shared, .. } => return,
            Inst::Atom { sem, .. } if releases(sem) => SYNC_RELEASE,
            Inst::Atom { .. } => SYNC_ACQUIRE,
            Inst::Ld { sem, .. } if *sem != MemorySemantics::Weak => SYNC_ACQUIRE,
            Inst::St { sem, space, .. } if *space != Space::Shared && releases(sem) => SYNC_RELEASE,
            // Lanes that have met to move a matrix have not learnt of each other's other accesses.
            Inst::Matrix(matrix) if matrix.address().is_some() => return,
            inst if block_boundary_kind(inst) == BlockBoundaryKind::WarpOp => WARP_SYNC,
            _ => return,
        };
        let what = self.iconst32(i64::from(what));
        relocations::call_target(&mut self.b, RelocTarget::RaceSync, &[self.abi.ctx, what], None);
    }

    /// Local memory of the function begins or ends.
    pub(crate) fn mark_local_memory(&mut self, start: Value, used: u32) {
        if self.env.instrument.memory.is_none() {
            return;
        }
        let (pitch, used) = (self.iconst32(i64::from(self.plan.local_pitch)), self.iconst32(i64::from(used)));
        relocations::call_target(&mut self.b, RelocTarget::LocalMemory, &[start, pitch, used], None);
    }
}

/// The states of `bytes` bytes in words.
fn shadow_state_words(bytes: u32) -> Vec<(i32, ir::Type)> {
    let ty = match bytes {
        1 => types::I8,
        2 => types::I16,
        4 => types::I32,
        _ => types::I64,
    };
    (0..bytes.div_ceil(8) as i32).map(|i| (i * 8, ty)).collect()
}
