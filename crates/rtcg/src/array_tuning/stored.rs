//! Choices by stored results.

use super::conversion::{config_from_values, decision_key, decision_problem};
use super::decisions;
use super::shipped::{Shipped, shipped_records};
use crate::tune::store::{Closeness, DeviceKey, Records, Store};
use rtcg_hal::DeviceInfo;
use rtcg_hal::tuning::{Choices, Config, Decision, Problem, TunableValue};
use smallvec::SmallVec;
use std::collections::HashMap;
use std::sync::{OnceLock, PoisonError, RwLock};

/// A program with more problems than this at once asks the results anew.
const MAX_ANSWERS: usize = 4096;

/// The best shipped choices for the nearest device and problem, as starting points of a search.
pub fn shipped_incumbents(problem: &Problem, device: &DeviceKey, count: usize) -> Vec<Config> {
    let decision = problem.decision;
    let records = shipped_records(&decision_key(decision), &device.backend, Shipped::Best);
    let accept = |config: &crate::tune::Config| config_from_values(decision, config).is_some();
    let found = records.incumbents(device, &decision_problem(problem), count, &accept);
    found.iter().filter_map(|config| config_from_values(decision, config)).collect()
}

/// Decides by measurements on this device, or one of the same compute capability, for problems with the same key. Most
/// sizes are rounded up to a power of two in a key. The files are read once, when a decision is first needed.
pub struct StoredChoices {
    device: DeviceKey,
    store: Option<Store>,
    by_decision: Vec<DecisionResults>,
}

struct DecisionResults {
    decision: &'static Decision,
    records: OnceLock<Records>,
    answers: RwLock<HashMap<ProblemKey, Option<Config>>>,
}

/// The values of a problem's key.
type ProblemKey = SmallVec<[TunableValue; 12]>;

impl StoredChoices {
    /// The choices for a device: the shipped results and those of `store`.
    pub fn new(device: DeviceKey, store: Option<Store>) -> Self {
        let results = |decision| DecisionResults { decision, records: OnceLock::new(), answers: RwLock::default() };
        Self { device, store, by_decision: decisions().into_iter().map(results).collect() }
    }

    fn records_of(&self, decision: &Decision) -> Records {
        let key = decision_key(decision);
        let shipped = shipped_records(&key, &self.device.backend, Shipped::Chosen);
        match &self.store {
            Some(store) => shipped.union(&store.table(&key).records()),
            None => shipped,
        }
    }

    fn look_up(&self, results: &DecisionResults, problem: &Problem, device_info: &DeviceInfo) -> Option<Config> {
        let records = results.records.get_or_init(|| self.records_of(results.decision));
        let wanted = decision_problem(problem);
        let usable = |config: &crate::tune::Config| {
            let config = config_from_values(results.decision, config)?;
            results.decision.check(&config, problem, device_info).is_ok().then_some(config)
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

impl Choices for StoredChoices {
    fn choose(&self, problem: &Problem, _default: &Config, device: &DeviceInfo) -> Option<Config> {
        let results = self.by_decision.iter().find(|results| std::ptr::eq(results.decision, problem.decision))?;
        let key = problem.key();
        let answers = results.answers.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(answer) = answers.get(&key) {
            return answer.clone();
        }
        drop(answers);
        let answer = self.look_up(results, problem, device);
        let mut answers = results.answers.write().unwrap_or_else(PoisonError::into_inner);
        if answers.len() >= MAX_ANSWERS {
            answers.clear();
        }
        answers.insert(key, answer.clone());
        answer
    }
}
