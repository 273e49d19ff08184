//! Choices for the launch of a generated kernel, by the number of elements.
//!
//! The rules of the generators are the defaults. A tuner sets choices per context and number of elements; a launch
//! takes the choice for the nearest number of elements. Choices that an earlier process stored are read at a kernel's
//! first launch in a context; after that, and without any choice, this costs a launch two loads.

use crate::context::Context;
use crate::tune::store::KernelKey;
use crate::tune::{Config, Outcome, Value, device_key, results_store};
use rtcg_cuda::{Error, Result};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{PoisonError, RwLock};

/// Choices for a launch; a field that is `None` follows the generator's rule.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct LaunchChoice {
    /// Threads per block: a multiple of 32, at most 1024.
    pub block: Option<u32>,
    /// Limits the grid to this multiple of the blocks that the device holds at once; a grid-stride loop does the rest.
    pub waves: Option<u32>,
    /// Whether to use vectorised accesses where alignment allows it.
    pub packed: Option<bool>,
    /// Number of vectors that each thread of a reduction folds, if there are enough.
    pub items: Option<u32>,
}

/// The words for the parts of a choice in results, and for what follows the rule.
const PARAMETERS: [&str; 4] = ["block", "items", "packed", "waves"];
const BY_RULE: &str = "auto";

impl LaunchChoice {
    /// The choice of a stored configuration; `None` where a value is none that a launch takes.
    fn from_config(config: &Config) -> Option<Self> {
        let number = |name: &str| match config.get(name) {
            None => Some(None),
            Some(Value::Str(text)) if text == BY_RULE => Some(None),
            Some(Value::Int(number)) => Some(Some(u32::try_from(*number).ok()?)),
            Some(_) => None,
        };
        let packed = match config.get("packed") {
            Some(Value::Bool(flag)) => Some(*flag),
            Some(Value::Str(text)) if text == BY_RULE => None,
            None => None,
            Some(_) => return None,
        };
        let is_known = config.iter().all(|(name, _)| PARAMETERS.contains(&name));
        let choice = Self { block: number("block")?, waves: number("waves")?, packed, items: number("items")? };
        (is_known && choice.check().is_ok()).then_some(choice)
    }

    fn check(&self) -> Result<()> {
        let refuse = |name: &str, value: u32, expected: &str| {
            Err(Error::value_error(format!("{name} is {value}; expected {expected}")))
        };
        match *self {
            Self { block: Some(block), .. } if block == 0 || block > 1024 || block % 32 != 0 => {
                refuse("block", block, "a multiple of 32 from 32 to 1024")
            }
            Self { waves: Some(0), .. } => refuse("waves", 0, "1 or more"),
            Self { items: Some(items), .. } if items == 0 || items > 1 << 16 => refuse("items", items, "1 to 65536"),
            _ => Ok(()),
        }
    }
}

/// What results of generated kernels are about: the bits of the number of elements.
const PROBLEM: &str = "log2_n";

/// The identity of a generated kernel among results: its source for contiguous arrays.
pub(crate) fn launch_key(name: &str, source: &str) -> KernelKey {
    KernelKey::new(name, source, &[], &PARAMETERS.map(str::to_owned))
}

/// One choice, for a context and a number of elements.
#[derive(Debug)]
struct ChosenLaunch {
    ctx: Context,
    n_elements: usize,
    choice: LaunchChoice,
}

/// The choices of one kernel.
#[derive(Debug, Default)]
pub(crate) struct LaunchChoices {
    has_any: AtomicBool,
    /// The context whose stored choices were read last.
    read_for: AtomicU64,
    chosen: RwLock<Vec<ChosenLaunch>>,
}

impl LaunchChoices {
    /// The choice for the nearest number of elements (by ratio), or the default.
    pub(crate) fn nearest_choice(&self, ctx: &Context, n_elements: usize) -> LaunchChoice {
        if !self.has_any.load(Ordering::Acquire) {
            return LaunchChoice::default();
        }
        let log = |n: usize| (n.max(1) as f64).log2();
        let distance = |chosen: &&ChosenLaunch| (log(chosen.n_elements) - log(n_elements)).abs();
        let chosen = self.chosen.read().unwrap_or_else(PoisonError::into_inner);
        let here = chosen.iter().filter(|chosen| chosen.ctx == *ctx);
        here.min_by(|a, b| distance(a).total_cmp(&distance(b))).map_or_else(LaunchChoice::default, |found| found.choice)
    }

    /// Reads what was stored for the device of a context, once. `key` identifies the kernel.
    #[inline]
    pub(crate) fn read_stored(&self, ctx: &Context, key: impl FnOnce() -> KernelKey) {
        if self.read_for.load(Ordering::Acquire) != ctx.id() {
            self.read_results(ctx, &key());
        }
    }

    /// A result that cannot be read or used changes nothing: the rule stays.
    #[cold]
    fn read_results(&self, ctx: &Context, key: &KernelKey) {
        self.read_for.store(ctx.id(), Ordering::Release);
        let Some(store) = results_store().filter(|store| store.folder().is_dir()) else { return };
        let (Ok(records), Ok(device)) = (store.read(key), device_key(&ctx.device())) else { return };
        let mut best: BTreeMap<i64, (bool, u64, f64, LaunchChoice)> = BTreeMap::new();
        for record in records.records.iter().filter(|record| record.device.is_same_device(&device)) {
            let [(name, Value::Int(log2))] = &record.problem.0[..] else { continue };
            let (Outcome::Score(score), Some(choice)) = (&record.outcome, LaunchChoice::from_config(&record.config))
            else {
                continue;
            };
            let found = (record.is_chosen, if record.is_chosen { record.timestamp } else { 0 }, -score, choice);
            let is_better = |known: &(bool, u64, f64, LaunchChoice)| {
                (found.0, found.1).cmp(&(known.0, known.1)).then(found.2.total_cmp(&known.2)).is_gt()
            };
            if name == PROBLEM && best.get(log2).is_none_or(is_better) {
                best.insert(*log2, found);
            }
        }
        for (log2, (.., choice)) in best {
            // Choices of this process are newer.
            let n_elements = 1usize << (log2.clamp(1, 62) - 1);
            let has_own = || {
                self.chosen
                    .read()
                    .unwrap_or_else(PoisonError::into_inner)
                    .iter()
                    .any(|chosen| chosen.ctx == *ctx && chosen.n_elements.ilog2() + 1 == log2 as u32)
            };
            if !has_own() {
                let _ = self.set_choice(ctx, n_elements, choice);
            }
        }
    }

    /// Sets the choice for a number of elements; the default choice removes it.
    pub(crate) fn set_choice(&self, ctx: &Context, n_elements: usize, choice: LaunchChoice) -> Result<()> {
        choice.check()?;
        let mut chosen = self.chosen.write().unwrap_or_else(PoisonError::into_inner);
        chosen.retain(|old| old.ctx.driver_context().is_alive() && !(old.ctx == *ctx && old.n_elements == n_elements));
        if choice != LaunchChoice::default() {
            chosen.push(ChosenLaunch { ctx: ctx.clone(), n_elements, choice });
        }
        self.has_any.store(!chosen.is_empty(), Ordering::Release);
        Ok(())
    }
}
