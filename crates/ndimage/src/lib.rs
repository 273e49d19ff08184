//! Filters of images over the arrays of a device.
//!
//! Correlation and convolution in any number of dimensions have the names and the semantics of `scipy.ndimage`. Filter
//! banks, pools and local normalisation are layers of models of vision: images are arrays of rows, columns and channels,
//! and results are computed where a window fits. What is float16 or float32 is summed in float32, all else in float64.
//!
//! The crate knows no driver: images are [`GpuArray`]s, kernels are [`rtcg_codegen::KernelSpec`]s.
#![forbid(unsafe_code)]

mod correlate;
mod kernels;
mod layers;
mod mode;

pub use correlate::{FilterOptions, convolve, convolve1d, correlate, correlate1d, gaussian_filter, uniform_filter};
pub use layers::{LocalNorm, Pool, filter_bank, local_norm, pool};
pub use mode::Mode;

pub(crate) use rtcg_array::{ArrayError, GpuArray, Result};
