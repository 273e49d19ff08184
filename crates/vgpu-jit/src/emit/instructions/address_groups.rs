//! Accesses of a segment that share a register: their addresses are prepared and checked together.
//!
//! Establishes what `memory` requires of each of them, with one branch for all: if a pointer lies in the device
//! window, every address near enough to it lies in the window or its guard regions.

use super::addresses::{MemAccess, ScalarAddress};
use crate::JitError;
use crate::emit::function::emitter::FunctionEmitter;
use crate::emit::function::out_of_line::{AddressCheck, LaneAddresses, MAX_STUB_VALUES, SlowPathRequest};
use crate::emit::function::register_values::{CHUNK_LANES, CHUNKS_PER_WARP, RegWidth};
use crate::simt::body::Stmt;
use crate::simt::lane_classes::LaneClass;
use cranelift_codegen::ir::{InstBuilder, Value};
use rtcg_ptx::ast::*;
use rtcg_vgpu_abi::GUARD_BYTES;
use smallvec::SmallVec;

/// Accesses whose addresses are one register plus constants.
struct AccessGroup {
    /// The register's value.
    key: Value,
    space: Space,
    base: Value,
    stride: i64,
    /// The base is that of this chunk's first lane, rather than lane 0's.
    chunk: Option<usize>,
    members: Vec<GroupMember>,
}

#[derive(Clone, Copy)]
struct GroupMember {
    bytes: u32,
    offset: i32,
    site: u32,
}

impl AccessGroup {
    /// The check of one member by itself; the base is stored as value number `value`.
    fn address_check_of_member(&self, m: &GroupMember, value: usize) -> AddressCheck {
        let before = self.stride.wrapping_mul((self.chunk.unwrap_or(0) * CHUNK_LANES) as i64);
        let offset = i64::from(m.offset).wrapping_sub(before);
        AddressCheck {
            site: m.site,
            info: m.bytes,
            states: false,
            lanes: self.chunk.map_or(u32::MAX, |c| 0xff << (c * CHUNK_LANES)),
            mask: None,
            addresses: LaneAddresses::Strided { value, offset, stride: self.stride },
        }
    }
}

/// Space, type, address and element count of a load or store.
fn memory_access_of_inst(inst: &Inst) -> Option<(Space, Type, &Addr, usize)> {
    match inst {
        Inst::Ld { space, ty, addr, dsts, .. } => Some((*space, *ty, addr, dsts.len())),
        Inst::St { space, ty, addr, srcs, .. } => Some((*space, *ty, addr, srcs.len())),
        _ => None,
    }
}

impl<'a> FunctionEmitter<'a, '_> {
    /// Records the addresses of a segment's statements of the lanes that are scalar, and checks
    /// those that no lane is masked in. Accesses off one register share base and check.
    pub(crate) fn precompute_scalar_addresses(&mut self, stmts: &[Stmt<'_>]) -> Result<(), JitError> {
        let mut groups: Vec<AccessGroup> = vec![];
        for (k, st) in
            stmts.iter().enumerate().filter(|(k, _)| !self.segment.scalar_results[*k].done).collect::<Vec<_>>()
        {
            let Some((space, ty, addr, count)) = memory_access_of_inst(&st.inst) else { continue };
            self.segment.current = k;
            self.segment.statement = st.index;
            self.set_instruction_site(crate::simt::instruction_sites::WHOLE_WARP_LANE_CODE);
            let access = MemAccess::new(space, ty, addr, count);
            if self.param_record_base(&access).is_some() {
                continue;
            }
            let class = self.plan.classes.address_class(addr);
            let Some(stride) = class.lane_stride() else { continue };
            let guarded = st.guard.is_some_and(|g| !self.class_of_register(g.reg).is_scalar());
            let chunks: &[Option<usize>] =
                if let LaneClass::Chunked(_) = class { &[Some(0), Some(1), Some(2), Some(3)] } else { &[None] };
            let mut prepared: SmallVec<[ScalarAddress; CHUNKS_PER_WARP]> = SmallVec::new();
            for &chunk in chunks {
                self.segment.current_chunk = chunk;
                let p = self.precompute_scalar_address(&access, stride, guarded, &mut groups);
                self.segment.current_chunk = None;
                prepared.push(p?);
            }
            self.segment.scalar_results[k].address = Some(std::array::from_fn(|c| prepared[c % prepared.len()]));
        }
        groups.retain(|g| !g.members.is_empty());
        self.emit_group_checks(&groups);
        Ok(())
    }

    /// The address of an access for all lanes or, within [`FunctionEmitter::current_chunk`], for those of a chunk;
    /// adds it to a group that will be checked, or checks it at once.
    fn precompute_scalar_address(
        &mut self,
        access: &MemAccess<'_>,
        stride: i64,
        guarded: bool,
        groups: &mut Vec<AccessGroup>,
    ) -> Result<ScalarAddress, JitError> {
        let is_symbol_address = self.is_symbol_address(access);
        let checked = is_symbol_address || !guarded;
        // The base is that of the chunk's first lane; addresses count from lane 0.
        let before = stride.wrapping_mul((self.segment.current_chunk.unwrap_or(0) * CHUNK_LANES) as i64);
        let Some((base, offset)) = self.reusable_base_address(access, stride, groups) else {
            let base = self.scalar_address(access)?;
            let base = self.add_offset(base, before.wrapping_neg());
            let p = ScalarAddress { base, offset: 0, stride, safe: false, checked };
            if !is_symbol_address && !guarded {
                self.check_scalar_address(access, &p, self.segment.current_chunk.map(|c| (c, None)));
            }
            return Ok(p);
        };
        let AddrBase::Reg(r) = access.addr.base else { return Err(self.statement_error("an address off no register")) };
        let plain = self.scalar_operand(Operand::Reg(r), RegWidth::W64)[0];
        let member = GroupMember {
            bytes: access.bytes_per_lane(),
            offset,
            site: self.site_for_lanes(crate::simt::instruction_sites::WHOLE_WARP_LANE_CODE),
        };
        let chunk = self.segment.current_chunk;
        let at =
            groups.iter().position(|g| g.base == base && g.stride == stride && g.chunk == chunk).unwrap_or_else(|| {
                groups.push(AccessGroup { key: plain, space: access.space, base, stride, chunk, members: vec![] });
                groups.len() - 1
            });
        if !guarded {
            groups[at].members.push(member);
        }
        let (base, offset) = match i32::try_from(i64::from(offset).wrapping_sub(before)) {
            Ok(o) if o.unsigned_abs() < 1 << 28 => (base, o),
            _ => (self.add_offset(base, before.wrapping_neg()), offset),
        };
        Ok(ScalarAddress { base, offset, stride, safe: false, checked })
    }

    /// Base and offset of an access off a register, when its check can be shared: every lane's
    /// alignment follows from the base's. Reuses the base of a group with the same register value.
    fn reusable_base_address(
        &mut self,
        access: &MemAccess<'_>,
        stride: i64,
        groups: &[AccessGroup],
    ) -> Option<(Value, i32)> {
        let AddrBase::Reg(r) = access.addr.base else { return None };
        let bytes = i64::from(access.bytes_per_lane());
        let offset = i32::try_from(access.addr.offset).ok().filter(|o| o.unsigned_abs() < 1 << 24)?;
        if !bytes.cast_unsigned().is_power_of_two() || i64::from(offset) % bytes != 0 || stride % bytes != 0 {
            return None;
        }
        let plain = self.scalar_operand(Operand::Reg(r), RegWidth::W64)[0];
        let space = access.space;
        let chunk = self.segment.current_chunk;
        if let Some(g) = groups
            .iter()
            .find(|g| g.key == plain && g.chunk == chunk && (g.space == Space::Shared) == (space == Space::Shared))
        {
            return Some((g.base, offset));
        }
        let bare = Addr { base: access.addr.base, offset: 0 };
        let base = self.scalar_address(&MemAccess { addr: &bare, ..access.clone() }).ok()?;
        Some((base, offset))
    }

    /// Checks all members of all groups at once; if anything is wrong, each for itself.
    fn emit_group_checks(&mut self, groups: &[AccessGroup]) {
        // What must be zero where, by the bits that it must be zero in.
        let mut found: SmallVec<[(u64, Value); 4]> = SmallVec::new();
        let mut near: SmallVec<[(u64, Value); 8]> = SmallVec::new();
        for g in groups {
            let pointer = self.common_base_pointer(g);
            if let Some(pointer) = pointer {
                if near.contains(&pointer) {
                    continue;
                }
                near.push(pointer);
            }
            let (bits, bad) = match pointer {
                Some((bits, p)) => (bits, self.window_distance_bits(p)),
                None => self.group_violation_bits(g),
            };
            match found.iter_mut().find(|(b, _)| *b == bits) {
                Some((_, all)) => *all = self.b.ins().bor(*all, bad),
                None => found.push((bits, bad)),
            }
        }
        let parts: SmallVec<[Value; 4]> =
            found.iter().map(|&(bits, bad)| self.b.ins().band_imm_s(bad, bits as i64)).collect();
        let Some(bad) = parts.into_iter().reduce(|a, b| self.b.ins().bor(a, b)) else { return };
        self.emit_in_cold_block(bad, |s| {
            for part in groups.chunks(MAX_STUB_VALUES) {
                let mut checks = vec![];
                for (value, g) in part.iter().enumerate() {
                    s.store_stub_value(g.base, value);
                    checks.extend(g.members.iter().map(|m| g.address_check_of_member(m, value)));
                }
                s.emit_slow_path_call(SlowPathRequest::Checks(checks));
            }
        });
    }

    /// Offsets from the base, of its first and past its last byte, that a group accesses.
    fn accessed_byte_range(g: &AccessGroup) -> (i64, i64) {
        let low = g.members.iter().map(|m| i64::from(m.offset)).min().unwrap_or(0);
        let high = g.members.iter().map(|m| i64::from(m.offset) + i64::from(m.bytes)).max().unwrap_or(0);
        let reach = g.stride.wrapping_mul(if g.chunk.is_some() { CHUNK_LANES as i64 - 1 } else { 31 });
        (low.saturating_add(reach.min(0)), high.saturating_add(reach.max(0)))
    }

    /// A pointer that all accesses of a group are so near to that they hit the window or its guards
    /// if the pointer lies in the window, and the bits of its distance to the window that must be zero.
    fn common_base_pointer(&self, g: &AccessGroup) -> Option<(u64, Value)> {
        if g.space == Space::Shared {
            return None;
        }
        let largest = u64::from(g.members.iter().map(|m| m.bytes).max().unwrap_or(1));
        let (low, high) = Self::accessed_byte_range(g);
        let own = low.unsigned_abs().max(high.unsigned_abs());
        let bits = (largest - 1) | !0 << self.env.window.bits;
        match self.addresses.bases.get(&g.base) {
            Some((root, b)) if b.align >= largest && b.limit.saturating_add(own) <= GUARD_BYTES as u64 => {
                Some((bits, *root))
            }
            _ => (own <= GUARD_BYTES as u64).then_some((bits, g.base)),
        }
    }

    /// A value that is zero, in the bits that come with it, if all members of a group are good.
    fn group_violation_bits(&mut self, g: &AccessGroup) -> (u64, Value) {
        let largest = g.members.iter().map(|m| m.bytes).max().unwrap_or(1);
        let bits = u64::from(largest - 1);
        if g.space == Space::Shared {
            return (bits, g.base);
        }
        let (low, high) = Self::accessed_byte_range(g);
        // As aligned as the base should be.
        let align = -i64::from(largest);
        let (first, last) = (self.add_offset(g.base, low & align), self.add_offset(g.base, (high - 1) & align));
        let (first, last) = (self.window_distance_bits(first), self.window_distance_bits(last));
        (bits | !0 << self.env.window.bits, self.b.ins().bor(first, last))
    }
}
