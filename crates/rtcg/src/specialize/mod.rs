//! Patterns of computation with kernels of their own: stencils, which are found in programs ([`stencil`]), reductions by
//! label, histograms and k-means.
//!
//! Arrays have a dtype that is known at run time. All results are the same bits in every run on a device.
//!
//! ```
//! use rtcg::prelude::*;
//! use rtcg::specialize::{CategoryOp, CategoryOptions, category_reduce};
//!
//! # fn main() -> rtcg::Result<()> {
//! let arrays = ArrayFactory::new(&Context::new()?)?;
//! let values = arrays.from_slice(&[1.0f32, 2.0, 4.0, 8.0])?;
//! let labels = arrays.from_slice(&[2i32, 0, 2, 0])?;
//! let means = category_reduce(values.as_dyn(), labels.as_dyn(), 3, &CategoryOp::Mean, CategoryOptions::default())?;
//! let means = arrays.typed_from_dyn::<f32>(means)?.to_vec()?;
//! assert_eq!((means[0], means[1].is_nan(), means[2]), (5.0, true, 2.5));
//! # Ok(())
//! # }
//! ```

pub mod stencil;

pub use rtcg_array::{CategoryOp, CategoryOptions, category_reduce, histogram};
pub use rtcg_neighbors::{KMeans, KMeansInit, KMeansOptions, kmeans};
