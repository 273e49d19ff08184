//! Exact nearest neighbours by brute force; vectors are arrays whose dtype is known at run time.
//!
//! ```
//! use rtcg::neighbors::{Index, Metric, knn, topk};
//! use rtcg::prelude::*;
//!
//! # fn main() -> rtcg::Result<()> {
//! let arrays = ArrayFactory::new(&Context::new()?)?;
//! // Three points in the plane, one a row, and two queries.
//! let points = arrays.from_slice(&[0.0f32, 0.0, 3.0, 4.0, 6.0, 8.0])?.reshape(&[3, 2])?;
//! let queries = arrays.from_slice(&[0.0f32, 0.0, 6.0, 7.0])?.reshape(&[2, 2])?;
//! let found = knn(queries.as_dyn(), points.as_dyn(), 2, Metric::L2)?;
//! assert_eq!(arrays.typed_from_dyn::<i64>(found.indices)?.to_vec()?, [0, 1, 2, 1]);
//! assert_eq!(arrays.typed_from_dyn::<f32>(found.distances)?.to_vec()?[..2], [0.0, 5.0]);
//! // Points that are searched again and again.
//! let index = Index::new(points.as_dyn(), Metric::Cosine)?;
//! let counts = index.radius_count(queries.as_dyn(), 0.01)?;
//! assert_eq!(arrays.typed_from_dyn::<i64>(counts)?.to_vec()?, [0, 2]);
//! let [_, places] = topk(points.as_dyn(), 1, true)?;
//! assert_eq!(arrays.typed_from_dyn::<i64>(places)?.to_vec()?, [0, 1, 1]);
//! # Ok(())
//! # }
//! ```

pub use rtcg_neighbors::{
    Answer, BatchingIndex, Candidates, HostNeighbors, Index, MAX_NEIGHBORS, Metric, Neighbors, Ticket, knn,
    radius_count, topk,
};
