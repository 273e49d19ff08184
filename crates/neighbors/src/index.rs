//! Indexes of points that are searched repeatedly, and searches of two arrays.

use crate::Metric;
use crate::search::{MAX_NEIGHBORS, Neighbors, Search};
use crate::vectors::{Fp16Points, Vectors, stored_dtype};
use rtcg_array::{GpuArray, PythonTuple};
use rtcg_hal::{ArrayError, DType, Result};
use std::sync::{Arc, OnceLock};

/// Dimensions from which on tensor cores are chosen; estimated from counts of instructions, not measured.
const MIN_TENSOR_DIMENSIONS: usize = 32;
/// Queries from which on points of float32 are rounded to float16 for them; estimated, too.
const MIN_ROUNDING_QUERIES: usize = 256;

/// How candidates are found among points of float16 and float32. The results are the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Candidates {
    /// By tensor cores from 32 dimensions on, if the device has them and the metric is based on products.
    #[default]
    Auto,
    /// In float32.
    Float32,
    /// By tensor cores, with products of float16 and sums of float32. Each float32 is split into two float16, or, if
    /// there are many points, rounded to one.
    TensorCores,
}

/// Points on the device, ready to be searched.
#[derive(Debug, Clone)]
pub struct Index {
    points: Vectors,
    metric: Metric,
    is_tensor: bool,
    /// Points as a filter multiplies them, once a search has needed them.
    fp16_points: Arc<OnceLock<Fp16Points>>,
    /// Queries from which on a search rounds points of float32.
    min_rounding_queries: usize,
}

impl Index {
    /// Makes an index of vectors, one per row. float16, float32 and float64 keep their type; integers of 8 and 16 bits
    /// are converted to float32, and others to float64, which must represent them exactly. Waits.
    ///
    /// # Errors
    /// When there are no vectors, or some numbers are not finite.
    pub fn new(vectors: &GpuArray, metric: Metric) -> Result<Self> {
        Self::named("vectors", vectors, stored_dtype("vectors", vectors)?, metric)
    }

    fn named(name: &str, vectors: &GpuArray, dtype: DType, metric: Metric) -> Result<Self> {
        if vectors.shape().first() == Some(&0) {
            let shape = PythonTuple(vectors.shape());
            return Err(ArrayError::value_error(format!("{name} has shape {shape}; expected at least one vector")));
        }
        let points = Vectors::new(name, vectors, dtype)?;
        points.check_finite(name)?;
        let (fp16_points, min_rounding_queries) = (Arc::default(), MIN_ROUNDING_QUERIES);
        Self { points, metric, is_tensor: false, fp16_points, min_rounding_queries }.with_candidates(Candidates::Auto)
    }

    /// Returns this index with another way to find candidates.
    ///
    /// # Errors
    /// When tensor cores are requested but the device has none for float16, points are float64, or the metric is not
    /// based on products.
    pub fn with_candidates(mut self, candidates: Candidates) -> Result<Self> {
        self.is_tensor = match candidates {
            Candidates::Auto => self.prefers_tensor_cores(),
            Candidates::Float32 => false,
            Candidates::TensorCores => match self.obstacle_to_tensor_cores() {
                None => true,
                Some(obstacle) => {
                    let message = format!("candidates is 'tensor', but {obstacle}");
                    return Err(ArrayError::value_error(message));
                }
            },
        };
        self.min_rounding_queries = if candidates == Candidates::TensorCores { 1 } else { MIN_ROUNDING_QUERIES };
        Ok(self)
    }

    /// Why tensor cores cannot find candidates.
    fn obstacle_to_tensor_cores(&self) -> Option<String> {
        let (capability, metric) = (self.points.array.context().device_info().compute_capability, self.metric);
        if capability < 80 {
            let (major, minor) = (capability / 10, capability % 10);
            Some(format!("the device has compute capability {major}.{minor}; expected at least 8.0"))
        } else if self.points.array.dtype() == DType::F64 {
            Some("points are of float64; expected float16 or float32".into())
        } else if matches!(metric, Metric::L1 | Metric::Chebyshev) {
            Some("the metric has no products; expected 'l2', 'sqeuclidean' or 'cosine'".into())
        } else {
            None
        }
    }

    fn prefers_tensor_cores(&self) -> bool {
        let is_simd_cpu = self.points.array.context().device_info().is_simd_cpu();
        self.dimensions() >= MIN_TENSOR_DIMENSIONS && !is_simd_cpu && self.obstacle_to_tensor_cores().is_none()
    }

    /// Number of points.
    pub fn len(&self) -> usize {
        self.points.count()
    }

    /// Always false: an index has at least one point.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of dimensions.
    pub fn dimensions(&self) -> usize {
        self.points.dimensions()
    }

    /// The points as stored.
    pub fn vectors(&self) -> &GpuArray {
        &self.points.array
    }

    /// The metric.
    pub fn metric(&self) -> Metric {
        self.metric
    }

    /// Finds the `k` points nearest to each query. Queries are converted to float64 if points are float64, otherwise to
    /// float32. Waits to check that queries are finite, and for the search if tensor cores filter points. On tensor
    /// cores, the first search of many queries among float32 points makes a float16 copy of these, which the index
    /// keeps.
    ///
    /// # Errors
    /// When queries have other dimensions or numbers that are not finite, or there are fewer than `k` points.
    pub fn search(&self, queries: &GpuArray, k: usize) -> Result<Neighbors> {
        self.check_k(k)?;
        self.search_stored(&self.stored_queries(queries)?, k)
    }

    pub(crate) fn check_k(&self, k: usize) -> Result<()> {
        if k == 0 || k > self.len().min(MAX_NEIGHBORS) {
            let most = match self.len() {
                n if n <= MAX_NEIGHBORS => format!("{n}, the number of points"),
                _ => MAX_NEIGHBORS.to_string(),
            };
            return Err(ArrayError::value_error(format!("k is {k}; expected 1 to {most}")));
        }
        Ok(())
    }

    pub(crate) fn search_stored(&self, queries: &Vectors, k: usize) -> Result<Neighbors> {
        let ctx = self.points.array.context();
        let found = Neighbors::empty(ctx, [queries.count(), k], self.query_dtype())?;
        let search = self.search_of(queries);
        if let Some(filter) = search.filter(k)? {
            search.nearest_by_filter(&found, k, filter)?;
        } else {
            queries.check_finite("queries")?;
            search.nearest(&found, k)?;
        }
        Ok(found)
    }

    /// Counts the points at most `radius` from each query, as int64. Waits like [`Index::search`].
    ///
    /// # Errors
    /// As [`Index::search`], and when `radius` is negative or NaN.
    pub fn radius_count(&self, queries: &GpuArray, radius: f64) -> Result<GpuArray> {
        if radius.is_nan() || radius < 0.0 {
            return Err(ArrayError::value_error(format!("radius is {radius}; expected a number of at least 0")));
        }
        let queries = self.stored_queries(queries)?;
        queries.check_finite("queries")?;
        self.search_of(&queries).count_within(radius)?.astype(DType::I64)
    }

    fn search_of<'a>(&'a self, queries: &'a Vectors) -> Search<'a> {
        Search {
            points: &self.points,
            queries,
            metric: self.metric,
            is_tensor: self.is_tensor,
            fp16_points: &self.fp16_points,
            min_rounding_queries: self.min_rounding_queries,
        }
    }

    /// The dtype of stored queries and of distances.
    pub(crate) fn query_dtype(&self) -> DType {
        if self.points.array.dtype() == DType::F64 { DType::F64 } else { DType::F32 }
    }

    /// Queries, not yet checked to be finite.
    pub(crate) fn stored_queries(&self, queries: &GpuArray) -> Result<Vectors> {
        stored_dtype("queries", queries)?;
        self.points.array.check_context(queries)?;
        if queries.shape()[1] != self.dimensions() {
            return Err(ArrayError::value_error(format!(
                "queries has shape {}; expected {} dimensions, as points have",
                PythonTuple(queries.shape()),
                self.dimensions()
            )));
        }
        Vectors::new("queries", queries, self.query_dtype())
    }
}

/// [`Index::search`] for points that are searched only once; points and queries are promoted to their common dtype.
///
/// # Errors
/// As [`Index::new`] and [`Index::search`].
pub fn knn(queries: &GpuArray, points: &GpuArray, k: usize, metric: Metric) -> Result<Neighbors> {
    points_for(queries, points, metric)?.search(queries, k)
}

/// [`Index::radius_count`] for points that are searched only once; points and queries are promoted to their common
/// dtype.
///
/// # Errors
/// As [`Index::new`] and [`Index::radius_count`].
pub fn radius_count(queries: &GpuArray, points: &GpuArray, radius: f64, metric: Metric) -> Result<GpuArray> {
    points_for(queries, points, metric)?.radius_count(queries, radius)
}

fn points_for(queries: &GpuArray, points: &GpuArray, metric: Metric) -> Result<Index> {
    let (of_queries, of_points) = (stored_dtype("queries", queries)?, stored_dtype("points", points)?);
    let dtype = if of_queries == DType::F64 { DType::F64 } else { of_points };
    Index::named("points", points, dtype, metric)
}
