//! The look-up at launch: which configuration a kernel uses for a problem.

use super::Store;
use super::device::DeviceKey;
use super::explanation::Explanation;
use super::kernel_key::KernelKey;
use super::problem::{Bucket, Problem};
use super::table::Table;
use crate::configurations::Config;
use crate::value::Value;
use rustc_hash::{FxHashMap, FxHasher};
use std::fmt;
use std::hash::Hasher;
use std::sync::{Arc, PoisonError, RwLock};

/// Whether a configuration from a file belongs to the space.
pub type Accept = Box<dyn Fn(&Config) -> bool + Send + Sync>;

/// Looks up configurations of one kernel on one device. The first look-up of a problem ranks all results; later ones
/// cost a hash of the problem's values, until results change. A look-up never reads files.
pub struct Lookup {
    table: Arc<Table>,
    device: DeviceKey,
    problem: Vec<(String, Bucket)>,
    default: Config,
    accept: Accept,
    cache: RwLock<CachedProblems>,
}

/// A program with more problems than this at once ranks results anew.
const MAX_CACHED_PROBLEMS: usize = 4096;

#[derive(Default)]
struct CachedProblems {
    epoch: u64,
    n_problems: usize,
    by_hash: FxHashMap<u64, Vec<CachedProblem>>,
}

struct CachedProblem {
    values: Box<[Value]>,
    explanation: Arc<Explanation>,
}

impl CachedProblems {
    #[inline]
    fn get(&self, hash: u64, values: &[Value]) -> Option<&Arc<Explanation>> {
        self.by_hash.get(&hash)?.iter().find_map(|problem| (*problem.values == *values).then_some(&problem.explanation))
    }
}

impl Lookup {
    /// Reads the results of a kernel unless they were read before. `problem` has the names that determine which result
    /// applies, in the order of the values of [`Lookup::find`]. [`Table::records`] names what cannot be read; it has no
    /// other effect.
    pub fn new(
        store: &Store,
        kernel: &KernelKey,
        device: DeviceKey,
        problem: Vec<(String, Bucket)>,
        default: Config,
        accept: Accept,
    ) -> Self {
        let cache = RwLock::default();
        Self { table: store.table(kernel), device, problem, default, accept, cache }
    }

    /// The results that are searched.
    pub fn table(&self) -> &Arc<Table> {
        &self.table
    }

    /// The configuration for a problem, and the reason.
    ///
    /// # Panics
    /// When there is not exactly one value per name.
    #[inline]
    pub fn find(&self, values: &[Value]) -> Arc<Explanation> {
        let (epoch, hash) = (self.table.epoch(), hash_values(values));
        let cache = self.cache.read().unwrap_or_else(PoisonError::into_inner);
        match cache.get(hash, values) {
            Some(explanation) if cache.epoch == epoch => Arc::clone(explanation),
            _ => {
                drop(cache);
                self.resolve(epoch, hash, values)
            }
        }
    }

    /// The epoch was read before the results, so that an explanation from older results is never taken for a newer one.
    #[cold]
    fn resolve(&self, epoch: u64, hash: u64, values: &[Value]) -> Arc<Explanation> {
        let (records, problem) = (self.table.records(), self.problem(values));
        let explanation = Arc::new(records.explain(&self.device, &problem, &*self.accept, &self.default));
        let mut cache = self.cache.write().unwrap_or_else(PoisonError::into_inner);
        if cache.epoch != epoch || cache.n_problems >= MAX_CACHED_PROBLEMS {
            *cache = CachedProblems { epoch, ..CachedProblems::default() };
        }
        if cache.get(hash, values).is_none() {
            let problem = CachedProblem { values: values.into(), explanation: Arc::clone(&explanation) };
            cache.by_hash.entry(hash).or_default().push(problem);
            cache.n_problems += 1;
        }
        explanation
    }

    /// The configurations that a search for a problem should try first.
    ///
    /// # Panics
    /// As [`Lookup::find`].
    pub fn incumbents(&self, values: &[Value], count: usize) -> Vec<Config> {
        self.table.records().incumbents(&self.device, &self.problem(values), count, &*self.accept)
    }

    /// The problem with these values, in its stored form.
    ///
    /// # Panics
    /// As [`Lookup::find`].
    pub fn problem(&self, values: &[Value]) -> Problem {
        assert_eq!(values.len(), self.problem.len(), "each name of the problem has a value");
        let pairs = self.problem.iter().zip(values);
        Problem(pairs.map(|((name, bucket), value)| (name.clone(), bucket.apply(value))).collect())
    }
}

impl fmt::Debug for Lookup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lookup").field("device", &self.device).field("problem", &self.problem).finish_non_exhaustive()
    }
}

#[inline]
fn hash_values(values: &[Value]) -> u64 {
    let mut hasher = FxHasher::default();
    values.iter().for_each(|value| hash_value(value, &mut hasher));
    hasher.finish()
}

/// Equal values have equal hashes, with one exception that costs a second entry: `0.0` and `-0.0`.
#[inline]
fn hash_value(value: &Value, hasher: &mut FxHasher) {
    match value {
        Value::Bool(flag) => hasher.write_u64(u64::from(*flag)),
        Value::Int(number) => hasher.write_u64(*number as u64),
        Value::Float(number) => hasher.write_u64(number.to_bits()),
        Value::Str(text) => hasher.write(text.as_bytes()),
        Value::Tuple(items) => items.iter().for_each(|item| hash_value(item, hasher)),
    }
}
