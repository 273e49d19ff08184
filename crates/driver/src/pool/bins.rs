//! Sizes of blocks: which sizes share a bin, and how large a block of a bin is.
//!
//! A bin is named by the position of a size's highest bit and the four bits below it, so a block is
//! at most 1/16 larger than what was requested.

use crate::error::{Error, Result};
use rtcg_cuda_sys::CUresult;

/// Bits of a size that count, below the highest one.
const MANTISSA_BITS: u32 = 4;
const MANTISSA_LEADING_BIT: usize = 1 << MANTISSA_BITS;

/// The number of bins.
pub(super) const N_BINS: usize = (usize::BITS as usize) << MANTISSA_BITS;

/// The position of the highest set bit, counted from 0; 0 for 0.
pub fn bitlog2(n: usize) -> u32 {
    n.checked_ilog2().unwrap_or(0)
}

/// The bin of a size in bytes.
pub(super) fn bin_number(nbytes: usize) -> usize {
    let exponent = bitlog2(nbytes);
    let scaled = match exponent.checked_sub(MANTISSA_BITS) {
        Some(excess) => nbytes >> excess,
        None => nbytes << (MANTISSA_BITS - exponent),
    };
    ((exponent as usize) << MANTISSA_BITS) | (scaled & (MANTISSA_LEADING_BIT - 1))
}

/// The size in bytes of the blocks of a bin: the largest size that belongs to it. `None` where there
/// is no such bin.
pub(super) fn alloc_size(bin: usize) -> Option<usize> {
    if bin >= N_BINS {
        return None;
    }
    let exponent = (bin >> MANTISSA_BITS) as u32;
    let leading = MANTISSA_LEADING_BIT | (bin & (MANTISSA_LEADING_BIT - 1));
    Some(match exponent.checked_sub(MANTISSA_BITS) {
        Some(excess) => (leading << excess) | ((1 << excess) - 1),
        None => leading >> (MANTISSA_BITS - exponent),
    })
}

/// The size of a bin's blocks, as an error of `alloc_size` where there is no such bin.
pub(super) fn checked_alloc_size(bin: usize) -> Result<usize> {
    alloc_size(bin).ok_or_else(|| {
        let detail = format!("there is no bin {bin}; expected less than {}", N_BINS);
        Error::new("memory_pool::alloc_size", CUresult::CUDA_ERROR_INVALID_VALUE, detail)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_size_fits_its_bin_closely() {
        let near_powers = (0..63).flat_map(|e| [(1usize << e) - 1, 1 << e, (1 << e) + 1]);
        for nbytes in (0..100_000).chain(near_powers).chain([usize::MAX - 1, usize::MAX]) {
            let bin = bin_number(nbytes);
            let size = alloc_size(bin).unwrap();
            assert!(bin < N_BINS && size >= nbytes, "{nbytes}: {size}");
            assert!(size - nbytes <= (nbytes / 16).max(1), "{nbytes}: {size}");
            assert_eq!(bin_number(size), bin, "{nbytes}");
        }
        assert_eq!((bin_number(1000), alloc_size(159)), (159, Some(1023)));
        assert_eq!(alloc_size(N_BINS), None);
    }

    #[test]
    fn larger_sizes_have_no_smaller_bins() {
        let bins: Vec<_> = (1..70_000).map(bin_number).collect();
        assert!(bins.is_sorted());
        assert_eq!((bitlog2(0), bitlog2(1), bitlog2(1023), bitlog2(1024)), (0, 0, 9, 10));
    }
}
