//! Image filters on device arrays.
//!
//! Correlation and convolution in any number of dimensions have the names and semantics of `scipy.ndimage`. Filter
//! banks, pooling and local normalisation are layers of vision models: images are arrays of rows, columns and channels,
//! and results are computed where a window fits. float16 and float32 are summed in float32, all other types in float64.
//!
//! The crate needs no driver: images are [`rtcg_array::GpuArray`]s, kernels are [`rtcg_hal::KernelSpec`]s.
//!
//! | folder, file | contents |
//! |---|---|
//! | `correlate.rs` | correlation with SciPy's borders |
//! | `layers.rs` | filter banks, pools, normalisation |
//! | `kernels/` | kernels, generated for the filter sizes |
//! | `kernels/tiled_correlation.rs` | correlation of large images from tiles in shared memory |
//! | `kernels/large_bank.rs` | a cycle model that chooses the tile for large filter banks |
#![forbid(unsafe_code)]

mod correlate;
mod kernels;
mod layers;
mod mode;

pub use correlate::{FilterOptions, convolve, convolve1d, correlate, correlate1d, gaussian_filter, uniform_filter};
pub use layers::{LocalNorm, Pool, filter_bank, local_norm, pool};
pub use mode::Mode;
