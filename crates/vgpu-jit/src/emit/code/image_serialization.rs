//! Parts of kernels as bytes, to be cached and loaded by other processes.

use super::image::{CodeImage, Relocation};
use super::relocations::RelocTarget;
use super::serialization::{Serialize, read_bytes, serialize_fields, write_bytes};
use crate::emit::function::compile::{CompiledCodeImage, KernelImage};
use crate::emit::function::out_of_line::{ActiveLaneCopy, AddressCheck, LaneAddresses, PcUpdate, SlowPathRequest};
use crate::emit::function::scalar_spill::StridedLanes;
use crate::emit::instructions::warp_rendezvous::{LaneOperand, WarpOpSite};
use crate::simt::kernel_usage::{KernelUsage, SiteTable};
use crate::{SharedLayout, SharedVar};
use rtcg_ptx::ast::FuncId;

/// A part of a kernel that can be kept.
pub(crate) trait CacheableCode: Serialize {
    /// Its machine code.
    fn code_image(&self) -> &CodeImage;
}

impl CacheableCode for CompiledCodeImage {
    fn code_image(&self) -> &CodeImage {
        &self.image
    }
}

impl CacheableCode for KernelImage {
    fn code_image(&self) -> &CodeImage {
        &self.part.image
    }
}

serialize_fields!(Relocation { at, link, addend });
serialize_fields!(CompiledCodeImage { image, ids, ranges, requests });
serialize_fields!(KernelImage { part, usage, suspends, shared, sites });
serialize_fields!(KernelUsage { local_bytes, stack_bytes, recursive });
serialize_fields!(SiteTable { functions, rows });
serialize_fields!(AddressCheck { site, info, states, lanes, mask, addresses });
serialize_fields!(ActiveLaneCopy { site, bytes, chunk, offset, store, checked });
serialize_fields!(StridedLanes { slot, lanes, stride, is_64_bit });
serialize_fields!(WarpOpSite { code, pc, members, operands, negated, results });

impl Serialize for LaneOperand {
    fn serialize(&self, out: &mut Vec<u8>) {
        match *self {
            LaneOperand::Constant(bits) => (0_u8, bits).serialize(out),
            LaneOperand::Slot(slot, bytes) => {
                (1_u8, slot).serialize(out);
                bytes.serialize(out);
            }
        }
    }
    fn deserialize(input: &mut &[u8]) -> Option<Self> {
        match u8::deserialize(input)? {
            0 => Some(LaneOperand::Constant(Serialize::deserialize(input)?)),
            1 => Some(LaneOperand::Slot(Serialize::deserialize(input)?, Serialize::deserialize(input)?)),
            _ => None,
        }
    }
}

impl Serialize for RelocTarget {
    fn serialize(&self, out: &mut Vec<u8>) {
        self.encode_target().serialize(out);
    }
    fn deserialize(input: &mut &[u8]) -> Option<Self> {
        RelocTarget::decode_target(u64::deserialize(input)?)
            .filter(|link| !matches!(link, RelocTarget::UnlistedHostFunction(_)))
    }
}

impl Serialize for FuncId {
    fn serialize(&self, out: &mut Vec<u8>) {
        self.0.serialize(out);
    }
    fn deserialize(input: &mut &[u8]) -> Option<Self> {
        Some(FuncId(u32::deserialize(input)?))
    }
}

impl Serialize for CodeImage {
    fn serialize(&self, out: &mut Vec<u8>) {
        write_bytes(&self.bytes, out);
        self.references.serialize(out);
        self.functions.serialize(out);
    }
    fn deserialize(input: &mut &[u8]) -> Option<Self> {
        let bytes = read_bytes(input)?.to_vec();
        Some(CodeImage { bytes, references: Serialize::deserialize(input)?, functions: Serialize::deserialize(input)? })
    }
}

impl Serialize for SharedVar {
    fn serialize(&self, out: &mut Vec<u8>) {
        match self {
            SharedVar::Module(n) => (None::<FuncId>, *n).serialize(out),
            SharedVar::Function(f, n) => (Some(*f), *n).serialize(out),
        }
    }
    fn deserialize(input: &mut &[u8]) -> Option<Self> {
        let (function, n) = <(Option<FuncId>, u32)>::deserialize(input)?;
        Some(function.map_or(SharedVar::Module(n), |f| SharedVar::Function(f, n)))
    }
}

impl Serialize for SharedLayout {
    fn serialize(&self, out: &mut Vec<u8>) {
        let mut offsets: Vec<(SharedVar, u32)> = self.offsets.iter().map(|(var, at)| (*var, *at)).collect();
        offsets.sort_unstable();
        offsets.serialize(out);
        [self.static_size, self.dynamic_offset].serialize(out);
        [self.uses_dynamic, self.uses_reserved].serialize(out);
    }
    fn deserialize(input: &mut &[u8]) -> Option<Self> {
        let offsets = Vec::<(SharedVar, u32)>::deserialize(input)?.into_iter().collect();
        let [static_size, dynamic_offset] = Serialize::deserialize(input)?;
        let [uses_dynamic, uses_reserved] = Serialize::deserialize(input)?;
        Some(SharedLayout { offsets, static_size, dynamic_offset, uses_dynamic, uses_reserved })
    }
}

impl Serialize for LaneAddresses {
    fn serialize(&self, out: &mut Vec<u8>) {
        match *self {
            LaneAddresses::Strided { value, offset, stride } => {
                0_u8.serialize(out);
                value.serialize(out);
                (offset, stride).serialize(out);
            }
            LaneAddresses::PerLane { value, chunk } => {
                1_u8.serialize(out);
                (value, chunk).serialize(out);
            }
        }
    }
    fn deserialize(input: &mut &[u8]) -> Option<Self> {
        let (kind, value) = <(u8, usize)>::deserialize(input)?;
        match kind {
            0 => Some(LaneAddresses::Strided {
                value,
                offset: Serialize::deserialize(input)?,
                stride: Serialize::deserialize(input)?,
            }),
            1 => Some(LaneAddresses::PerLane { value, chunk: Serialize::deserialize(input)? }),
            _ => None,
        }
    }
}

impl Serialize for PcUpdate {
    fn serialize(&self, out: &mut Vec<u8>) {
        let words = match *self {
            PcUpdate::Unchanged => [0, 0, 0],
            PcUpdate::All(to) => [1, to, 0],
            PcUpdate::ByStoredMask(one, other) => [2, one, other],
            PcUpdate::ByLaneBits(one, other) => [3, one, other],
        };
        words.serialize(out);
    }
    fn deserialize(input: &mut &[u8]) -> Option<Self> {
        match <[u32; 3]>::deserialize(input)? {
            [0, 0, 0] => Some(PcUpdate::Unchanged),
            [1, to, 0] => Some(PcUpdate::All(to)),
            [2, one, other] => Some(PcUpdate::ByStoredMask(one, other)),
            [3, one, other] => Some(PcUpdate::ByLaneBits(one, other)),
            _ => None,
        }
    }
}

impl Serialize for SlowPathRequest {
    fn serialize(&self, out: &mut Vec<u8>) {
        match self {
            SlowPathRequest::Checks(list) => {
                0_u8.serialize(out);
                list.serialize(out);
            }
            SlowPathRequest::ActiveLaneCopy(m) => {
                1_u8.serialize(out);
                m.serialize(out);
            }
            SlowPathRequest::SpillScalars(pieces, counters) => {
                2_u8.serialize(out);
                pieces.serialize(out);
                counters.serialize(out);
            }
            SlowPathRequest::CheckStrides(pieces) => {
                3_u8.serialize(out);
                pieces.serialize(out);
            }
            SlowPathRequest::ZeroRegisters(bytes) => {
                4_u8.serialize(out);
                bytes.serialize(out);
            }
            SlowPathRequest::ParkAtWarpOp(site) => {
                5_u8.serialize(out);
                site.serialize(out);
            }
            SlowPathRequest::TakeWarpOpResults => 6_u8.serialize(out),
        }
    }
    fn deserialize(input: &mut &[u8]) -> Option<Self> {
        match u8::deserialize(input)? {
            0 => Some(SlowPathRequest::Checks(Serialize::deserialize(input)?)),
            1 => Some(SlowPathRequest::ActiveLaneCopy(Serialize::deserialize(input)?)),
            2 => Some(SlowPathRequest::SpillScalars(Serialize::deserialize(input)?, Serialize::deserialize(input)?)),
            3 => Some(SlowPathRequest::CheckStrides(Serialize::deserialize(input)?)),
            4 => Some(SlowPathRequest::ZeroRegisters(Serialize::deserialize(input)?)),
            5 => Some(SlowPathRequest::ParkAtWarpOp(Serialize::deserialize(input)?)),
            6 => Some(SlowPathRequest::TakeWarpOpResults),
            _ => None,
        }
    }
}
