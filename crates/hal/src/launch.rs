//! Compiled kernels, and the arguments of their launches.
//!
//! Arguments are packed while they are added, for devices that take them so. Each is also known by itself, for those
//! that set one after the other, and addresses are known to be some, so that a launch can be repeated with others.

use crate::error::Result;
use crate::tensor_map::TensorMap;
use smallvec::SmallVec;
use std::any::Any;

/// A compiled kernel, which queues of its device launch.
pub trait Kernel: Send + Sync + Any {
    /// The number of blocks of `threads` threads, with this much dynamic shared memory, that the device runs at once.
    ///
    /// # Errors
    /// When the device does not report it.
    fn resident_blocks(&self, threads: u32, shared_bytes: u32) -> Result<u32>;
}

/// An argument of a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LaunchArg<'a> {
    /// An address.
    Address {
        /// What it counts from, which lies in some memory or is null.
        base: u64,
        /// Bytes from there on.
        offset: usize,
    },
    /// A value.
    Bytes {
        /// Its bytes.
        bytes: &'a [u8],
        /// Its alignment in C.
        align: usize,
    },
}

impl LaunchArg<'_> {
    /// The address that the kernel reads, unless the argument is a value.
    pub fn address(self) -> Option<u64> {
        match self {
            Self::Address { base, offset } => Some(base.wrapping_add(offset as u64)),
            Self::Bytes { .. } => None,
        }
    }
}

/// Where an argument is. All arguments of a kernel have less than 64 KiB.
#[derive(Debug, Clone, Copy)]
struct Place {
    start: u32,
    size: u16,
    /// 0 for addresses.
    align: u16,
    /// Of an address.
    offset: usize,
}

/// The arguments of a kernel, packed by C's alignment rules.
#[derive(Debug, Default, Clone)]
pub struct LaunchArgs {
    packed: SmallVec<[u8; 256]>,
    places: SmallVec<[Place; 16]>,
}

impl LaunchArgs {
    /// No arguments.
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends `bytes` at the next multiple of `align`.
    pub fn push(&mut self, bytes: &[u8], align: usize) {
        let align = align.max(1);
        let start = self.packed.len().next_multiple_of(align);
        self.packed.resize(start, 0);
        self.packed.extend_from_slice(bytes);
        self.places.push(Place { start: start as u32, size: bytes.len() as u16, align: align as u16, offset: 0 });
    }

    /// Appends the address `offset` bytes after `base`.
    pub fn push_address(&mut self, base: u64, offset: usize) {
        self.push_u64(base.wrapping_add(offset as u64));
        if let Some(place) = self.places.last_mut() {
            (place.align, place.offset) = (0, offset);
        }
    }

    /// Appends a description of matrices, whose first word is an address. Those of a kernel come first, as they must
    /// begin at multiples of 64 bytes.
    pub fn push_tensor_map(&mut self, map: &TensorMap) {
        let bytes: SmallVec<[u8; 128]> = map.iter().flat_map(|word| word.to_ne_bytes()).collect();
        self.push(&bytes, 64);
        if let Some(place) = self.places.last_mut() {
            place.align = 0;
        }
    }

    /// Appends a 64-bit number.
    pub fn push_u64(&mut self, value: u64) {
        self.push(&value.to_ne_bytes(), 8);
    }

    /// Appends a signed 64-bit number.
    pub fn push_i64(&mut self, value: i64) {
        self.push(&value.to_ne_bytes(), 8);
    }

    /// Appends a 32-bit number.
    pub fn push_u32(&mut self, value: u32) {
        self.push(&value.to_ne_bytes(), 4);
    }

    /// The number of arguments.
    pub fn count(&self) -> usize {
        self.places.len()
    }

    /// The packed bytes.
    #[inline]
    pub fn packed_bytes(&self) -> &[u8] {
        &self.packed
    }

    /// Where the bytes of the argument at `index` begin among them.
    #[inline]
    pub fn offset_of(&self, index: usize) -> usize {
        self.places[index].start as usize
    }

    /// What a kernel is launched with.
    pub fn view(&self) -> ArgsView<'_> {
        self.view_of(&self.packed)
    }

    /// The same with other packed bytes, which are a copy that was changed.
    #[inline]
    pub fn view_of<'a>(&'a self, packed: &'a [u8]) -> ArgsView<'a> {
        ArgsView { packed, places: &self.places }
    }

    /// Says that the address at `index` is `offset` bytes after another base.
    pub fn set_base(&mut self, index: usize, base: u64) {
        let place = &mut self.places[index];
        let bytes = self.packed[place.start as usize..].first_chunk().copied().unwrap_or_default();
        (place.align, place.offset) = (0, u64::from_ne_bytes(bytes).wrapping_sub(base) as usize);
    }

    /// Lets the address at `index` count from another base, in a copy of the packed bytes.
    #[inline]
    pub fn rebase(&self, packed: &mut [u8], index: usize, base: u64) {
        self.replace_bytes(packed, index, &base.wrapping_add(self.places[index].offset as u64).to_ne_bytes());
    }

    /// Replaces the value at `index` by one of the same size, in a copy of the packed bytes.
    #[inline]
    pub fn replace_bytes(&self, packed: &mut [u8], index: usize, bytes: &[u8]) {
        let start = self.places[index].start as usize;
        packed[start..start + bytes.len()].copy_from_slice(bytes);
    }
}

/// Packed arguments of which each is known by itself.
#[derive(Debug, Clone, Copy)]
pub struct ArgsView<'a> {
    packed: &'a [u8],
    places: &'a [Place],
}

impl<'a> ArgsView<'a> {
    /// The packed bytes.
    pub fn packed_bytes(self) -> &'a [u8] {
        self.packed
    }

    /// A copy of them.
    pub fn to_args(self) -> LaunchArgs {
        LaunchArgs { packed: SmallVec::from_slice(self.packed), places: SmallVec::from_slice(self.places) }
    }

    /// Each argument.
    pub fn iter(self) -> impl Iterator<Item = LaunchArg<'a>> {
        self.places.iter().map(move |place| {
            let bytes = &self.packed[place.start as usize..][..place.size.into()];
            match bytes.first_chunk().filter(|_| place.align == 0) {
                Some(address) => {
                    let base = u64::from_ne_bytes(*address).wrapping_sub(place.offset as u64);
                    LaunchArg::Address { base, offset: place.offset }
                }
                None => LaunchArg::Bytes { bytes, align: place.align.into() },
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_counts_from_another_base_in_a_copy_of_the_arguments() {
        let mut args = LaunchArgs::new();
        args.push(&[1], 1);
        args.push_address(4096, 64);
        let mut packed = args.packed_bytes().to_vec();
        args.rebase(&mut packed, 1, 8192);
        assert_eq!(packed[8..], 8256u64.to_ne_bytes());
        let all: Vec<_> = args.view_of(&packed).iter().collect();
        let value = LaunchArg::Bytes { bytes: &[1], align: 1 };
        assert_eq!(all, [value, LaunchArg::Address { base: 8192, offset: 64 }]);
        assert_eq!(all[0].address(), None);
        assert_eq!(all[1].address(), Some(8256));
    }

    #[test]
    fn the_address_of_a_tensor_map_counts_from_another_base() {
        let mut args = LaunchArgs::new();
        args.push_u32(1);
        args.push_tensor_map(&[4096; 16]);
        args.set_base(1, 4000);
        let mut packed = args.packed_bytes().to_vec();
        args.rebase(&mut packed, 1, 8000);
        assert_eq!(packed.len(), 192);
        assert_eq!(packed[64..80], [8096u64.to_ne_bytes(), 4096u64.to_ne_bytes()].concat());
    }
}
