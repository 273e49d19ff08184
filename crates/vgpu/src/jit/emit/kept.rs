//! Parts of kernels as bytes, to be kept and put into the memory of other processes.

use super::codec::{Keep, keep_fields, read_bytes, write_bytes};
use super::cold::{Addresses, Check, Counters, Move, Request};
use super::compile::{KernelImage, PartImage};
use super::image::{Image, Reference};
use super::links::Link;
use super::spread::Piece;
use crate::jit::lanes::usage::{SiteTable, Usage};
use crate::jit::{SharedLayout, SharedVar};
use rtcg_ptx::ast::FuncId;

/// A part of a kernel that can be kept.
pub(crate) trait KeptPart: Keep {
    /// Its machine code.
    fn image(&self) -> &Image;
}

impl KeptPart for PartImage {
    fn image(&self) -> &Image {
        &self.image
    }
}

impl KeptPart for KernelImage {
    fn image(&self) -> &Image {
        &self.part.image
    }
}

keep_fields!(Reference { at, link, addend });
keep_fields!(PartImage { image, ids, ranges, requests });
keep_fields!(KernelImage { part, usage, suspends, shared, sites });
keep_fields!(Usage { local_bytes, stack_bytes, recursive });
keep_fields!(SiteTable { functions, rows });
keep_fields!(Check { site, info, states, lanes, mask, addresses });
keep_fields!(Move { site, bytes, chunk, offset, store, checked });
keep_fields!(Piece { slot, lanes, stride, wide });

impl Keep for Link {
    fn write(&self, out: &mut Vec<u8>) {
        self.encode().write(out);
    }
    fn read(input: &mut &[u8]) -> Option<Self> {
        Link::decode(u64::read(input)?).filter(|link| !matches!(link, Link::Local(_)))
    }
}

impl Keep for FuncId {
    fn write(&self, out: &mut Vec<u8>) {
        self.0.write(out);
    }
    fn read(input: &mut &[u8]) -> Option<Self> {
        Some(FuncId(u32::read(input)?))
    }
}

impl Keep for Image {
    fn write(&self, out: &mut Vec<u8>) {
        write_bytes(&self.bytes, out);
        self.references.write(out);
        self.functions.write(out);
    }
    fn read(input: &mut &[u8]) -> Option<Self> {
        let bytes = read_bytes(input)?.to_vec();
        Some(Image { bytes, references: Keep::read(input)?, functions: Keep::read(input)? })
    }
}

impl Keep for SharedVar {
    fn write(&self, out: &mut Vec<u8>) {
        match self {
            SharedVar::Module(n) => (None::<FuncId>, *n).write(out),
            SharedVar::Function(f, n) => (Some(*f), *n).write(out),
        }
    }
    fn read(input: &mut &[u8]) -> Option<Self> {
        let (function, n) = <(Option<FuncId>, u32)>::read(input)?;
        Some(function.map_or(SharedVar::Module(n), |f| SharedVar::Function(f, n)))
    }
}

impl Keep for SharedLayout {
    fn write(&self, out: &mut Vec<u8>) {
        let mut offsets: Vec<(SharedVar, u32)> = self.offsets.iter().map(|(var, at)| (*var, *at)).collect();
        offsets.sort_unstable();
        offsets.write(out);
        [self.static_size, self.dynamic_offset].write(out);
        self.uses_dynamic.write(out);
    }
    fn read(input: &mut &[u8]) -> Option<Self> {
        let offsets = Vec::<(SharedVar, u32)>::read(input)?.into_iter().collect();
        let [static_size, dynamic_offset] = Keep::read(input)?;
        Some(SharedLayout { offsets, static_size, dynamic_offset, uses_dynamic: Keep::read(input)? })
    }
}

impl Keep for Addresses {
    fn write(&self, out: &mut Vec<u8>) {
        match *self {
            Addresses::Line { value, offset, stride } => {
                0_u8.write(out);
                value.write(out);
                (offset, stride).write(out);
            }
            Addresses::Each { value, chunk } => {
                1_u8.write(out);
                (value, chunk).write(out);
            }
        }
    }
    fn read(input: &mut &[u8]) -> Option<Self> {
        let (kind, value) = <(u8, usize)>::read(input)?;
        match kind {
            0 => Some(Addresses::Line { value, offset: Keep::read(input)?, stride: Keep::read(input)? }),
            1 => Some(Addresses::Each { value, chunk: Keep::read(input)? }),
            _ => None,
        }
    }
}

impl Keep for Counters {
    fn write(&self, out: &mut Vec<u8>) {
        let words = match *self {
            Counters::Kept => [0, 0, 0],
            Counters::Same(to) => [1, to, 0],
            Counters::Either(one, other) => [2, one, other],
            Counters::Bits(one, other) => [3, one, other],
        };
        words.write(out);
    }
    fn read(input: &mut &[u8]) -> Option<Self> {
        match <[u32; 3]>::read(input)? {
            [0, 0, 0] => Some(Counters::Kept),
            [1, to, 0] => Some(Counters::Same(to)),
            [2, one, other] => Some(Counters::Either(one, other)),
            [3, one, other] => Some(Counters::Bits(one, other)),
            _ => None,
        }
    }
}

impl Keep for Request {
    fn write(&self, out: &mut Vec<u8>) {
        match self {
            Request::Checks(list) => {
                0_u8.write(out);
                list.write(out);
            }
            Request::Move(m) => {
                1_u8.write(out);
                m.write(out);
            }
            Request::Spread(pieces, counters) => {
                2_u8.write(out);
                pieces.write(out);
                counters.write(out);
            }
            Request::Steady(pieces) => {
                3_u8.write(out);
                pieces.write(out);
            }
        }
    }
    fn read(input: &mut &[u8]) -> Option<Self> {
        match u8::read(input)? {
            0 => Some(Request::Checks(Keep::read(input)?)),
            1 => Some(Request::Move(Keep::read(input)?)),
            2 => Some(Request::Spread(Keep::read(input)?, Keep::read(input)?)),
            3 => Some(Request::Steady(Keep::read(input)?)),
            _ => None,
        }
    }
}
