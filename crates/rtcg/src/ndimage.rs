//! Image filters, filter banks and related functions; images are arrays whose dtype is known at run time.
//!
//! ```
//! use rtcg::ndimage::{FilterOptions, Mode, Pool, correlate, filter_bank, pool};
//! use rtcg::prelude::*;
//!
//! # fn main() -> rtcg::Result<()> {
//! let arrays = ArrayFactory::new(&Context::new()?)?;
//! // An image of 3 x 4 pixels, and a filter of 2 x 2 that adds them.
//! let image = arrays.from_slice(&[1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0])?;
//! let ones = arrays.from_slice(&[1.0f32; 4])?;
//! let nearest = FilterOptions { modes: &[Mode::Nearest], ..FilterOptions::default() };
//! let sums = correlate(image.reshape(&[3, 4])?.as_dyn(), ones.reshape(&[2, 2])?.as_dyn(), &nearest)?;
//! assert_eq!(arrays.typed_from_dyn::<f32>(sums)?.to_vec()?[..4], [4.0, 6.0, 10.0, 14.0]);
//! // One channel, one filter, and what is done with each sum.
//! let (x, w) = (image.reshape(&[3, 4, 1])?, ones.reshape(&[1, 2, 2, 1])?);
//! let layer = filter_bank(x.as_dyn(), w.as_dyn(), Some("clip(acc, 0, 30)"), None)?;
//! let largest = pool(&layer, [2, 2], [1, 1], Pool::Max)?;
//! assert_eq!(arrays.typed_from_dyn::<f32>(largest)?.to_vec()?, [30.0, 30.0]);
//! # Ok(())
//! # }
//! ```

pub use rtcg_ndimage::{
    FilterOptions, LocalNorm, Mode, Pool, convolve, convolve1d, correlate, correlate1d, filter_bank, gaussian_filter,
    local_norm, pool, uniform_filter,
};
