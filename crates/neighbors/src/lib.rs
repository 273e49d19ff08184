//! Brute-force nearest neighbours, and k-means, on device arrays.
//!
//! Results are exact: points are ranked by distances in float64, whose terms are added in the order of dimensions, and
//! equal distances by index. For float16 and float32 points, candidates are found in float32 or by tensor cores; if
//! rounding could hide a nearer point, the query is searched again in float64. The full distance matrix is never
//! stored, and results do not depend on scheduling.
//!
//! The crate needs no driver: vectors are [`rtcg_array::GpuArray`]s, kernels are [`rtcg_hal::KernelSpec`]s.
//!
//! | folder, file | contents |
//! |---|---|
//! | `search.rs` | exact nearest neighbours by brute force |
//! | `filter.rs`, `fp16_prefilter.rs` | filtering of many points on tensor cores, float32 ones rounded to float16 |
//! | `index.rs`, `query_batching.rs` | an index for repeated searches, and batches of the queries of several threads |
//! | `topk.rs` | the largest elements of rows |
//! | `kmeans.rs`, `kmeans/` | clusters of rows |
//! | `kernels/` | kernels, generated for the metric, the dimensions and the list lengths |
#![forbid(unsafe_code)]

mod filter;
mod fp16_prefilter;
mod index;
mod kernels;
mod kmeans;
mod metric;
mod query_batching;
mod search;
mod topk;
mod vectors;

pub use index::{Candidates, Index, knn, radius_count};
pub use kmeans::{KMeans, KMeansInit, KMeansOptions, kmeans};
pub use metric::Metric;
pub use query_batching::{Answer, BatchingIndex, Ticket};
pub use search::{HostNeighbors, MAX_NEIGHBORS, Neighbors};
pub use topk::topk;

/// Lists the decisions that the kernels of this crate leave open.
pub fn decisions() -> Vec<&'static rtcg_hal::tuning::Decision> {
    vec![<kmeans::AssignChoice as rtcg_hal::tuning::Tunable>::decision()]
}
