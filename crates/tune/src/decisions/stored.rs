//! Configurations from stored results.

use super::conversion::{config_from_values, decision_key, decision_problem};
use super::shipped::{Shipped, shipped_records};
use crate::store::{Closeness, DeviceKey, KernelKey, Records, Store};
use crate::{Outcome, Value};
use rtcg_hal::tuning::{Choices, Config, Decision, LaunchChoice, ParameterValue, Problem};
use rtcg_hal::{DeviceInfo, lock_ignoring_poison};
use smallvec::SmallVec;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

/// A program with more problems than this at once asks the results anew.
const MAX_CACHED_PROBLEMS: usize = 4096;

/// The best shipped configurations for the nearest device and problem, as starting points of a search.
pub fn shipped_incumbents(problem: &Problem, device: &DeviceKey, count: usize) -> Vec<Config> {
    let decision = problem.decision;
    let records = shipped_records(&decision_key(decision), &device.backend, Shipped::Best);
    let accept = |config: &crate::Config| config_from_values(decision, config).is_some();
    let found = records.incumbents(device, &decision_problem(problem), count, &accept);
    found.iter().filter_map(|config| config_from_values(decision, config)).collect()
}

/// Decides by measurements on this device, or one of the same compute capability, for problems with the same key. Most
/// sizes are rounded up to a power of two in a key. The files are read once, when a decision is first needed.
pub struct StoredChoices {
    device: DeviceKey,
    store: Option<Store>,
    /// The results of each decision that was needed, by its name.
    records: Mutex<HashMap<&'static str, Arc<Records>>>,
    cache: RwLock<HashMap<(&'static str, ProblemKey), Option<Config>>>,
}

/// The values of a problem's key.
type ProblemKey = SmallVec<[ParameterValue; 12]>;

impl StoredChoices {
    /// The choices for a device: the shipped results and those of `store`.
    pub fn new(device: DeviceKey, store: Option<Store>) -> Self {
        Self { device, store, records: Mutex::default(), cache: RwLock::default() }
    }

    fn records_of(&self, decision: &Decision) -> Records {
        let key = decision_key(decision);
        let shipped = shipped_records(&key, &self.device.backend, Shipped::Chosen);
        match &self.store {
            Some(store) => shipped.union(&store.table(&key).records()),
            None => shipped,
        }
    }

    fn look_up(&self, problem: &Problem, device_info: &DeviceInfo) -> Option<Config> {
        let decision = problem.decision;
        let mut by_decision = lock_ignoring_poison(&self.records);
        let records = by_decision.entry(decision.name).or_insert_with(|| Arc::new(self.records_of(decision))).clone();
        drop(by_decision);
        let wanted = decision_problem(problem);
        let usable = |config: &crate::Config| {
            let config = config_from_values(decision, config)?;
            decision.check(&config, problem, device_info).is_ok().then_some(config)
        };
        // A result of this device for another problem must not stand before one of a sister device for this problem.
        let mut same = Records::default();
        same.records.extend(records.records.iter().filter(|record| record.problem.is_same(&wanted)).cloned());
        let found = same.look_up(&self.device, &wanted, &|config| usable(config).is_some())?;
        let is_same_kind =
            matches!(found.closeness, Closeness::Exact | Closeness::SameDevice | Closeness::SameComputeCapability);
        is_same_kind.then(|| usable(&found.config))?
    }
}

/// The words for the parts of a launch choice in results, and for what follows the rule.
const LAUNCH_PARAMETERS: [&str; 4] = ["block", "items", "packed", "waves"];
const BY_RULE: &str = "auto";
/// What results of users' kernels are about: the bits of the number of elements.
const LAUNCH_PROBLEM: &str = "log2_n";

/// The launch choice of a stored configuration; `None` where a value is none that a launch takes.
fn launch_choice(config: &crate::Config) -> Option<LaunchChoice> {
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
    let is_known = config.iter().all(|(name, _)| LAUNCH_PARAMETERS.contains(&name));
    let choice = LaunchChoice { block: number("block")?, waves: number("waves")?, packed, items: number("items")? };
    (is_known && choice.check().is_ok()).then_some(choice)
}

impl Choices for StoredChoices {
    /// A result that cannot be read or used changes nothing: the rule stays.
    fn launch_choices(&self, name: &str, source: &str) -> Vec<(u32, LaunchChoice)> {
        let Some(store) = self.store.as_ref().filter(|store| store.folder().is_dir()) else { return Vec::new() };
        let key = KernelKey::new(name, source, &[], &LAUNCH_PARAMETERS.map(str::to_owned));
        let Ok(records) = store.read(&key) else { return Vec::new() };
        let mut best: BTreeMap<i64, (bool, u64, f64, LaunchChoice)> = BTreeMap::new();
        for record in records.records.iter().filter(|record| record.device.is_same_device(&self.device)) {
            let [(name, Value::Int(bits))] = &record.problem.0[..] else { continue };
            let (Outcome::Score(score), Some(choice)) = (&record.outcome, launch_choice(&record.config)) else {
                continue;
            };
            let found = (record.is_chosen, if record.is_chosen { record.timestamp } else { 0 }, -score, choice);
            let is_better = |known: &(bool, u64, f64, LaunchChoice)| {
                (found.0, found.1).cmp(&(known.0, known.1)).then(found.2.total_cmp(&known.2)).is_gt()
            };
            if name == LAUNCH_PROBLEM && best.get(bits).is_none_or(is_better) {
                best.insert(*bits, found);
            }
        }
        best.into_iter().map(|(bits, (.., choice))| (bits.clamp(1, 62) as u32, choice)).collect()
    }

    fn choose(&self, problem: &Problem, _default: &Config, device: &DeviceInfo) -> Option<Config> {
        let key = (problem.decision.name, problem.key());
        let cache = self.cache.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(config) = cache.get(&key) {
            return config.clone();
        }
        drop(cache);
        let config = self.look_up(problem, device);
        let mut cache = self.cache.write().unwrap_or_else(PoisonError::into_inner);
        if cache.len() >= MAX_CACHED_PROBLEMS {
            cache.clear();
        }
        cache.insert(key, config.clone());
        config
    }
}
