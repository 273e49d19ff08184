//! The results of a kernel in memory, and which of them a device and a problem get.

use super::device::DeviceKey;
use super::error::StoreError;
use super::explanation::{Closeness, Explanation, Found};
use super::file;
use super::kernel_key::KernelKey;
use super::problem::Problem;
use super::record::{Record, deserialised, pairs_to_json, read_pairs, serialised};
use crate::configurations::Config;
use crate::outcome::{FailureKind, Outcome};
use serde_json::{Value as Json, json};
use std::cmp::Ordering;
use std::collections::{BTreeMap, HashSet};
use std::path::Path;

/// All results of a kernel.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Records {
    /// The results: those of read-only folders first, and older ones of a file first.
    pub records: Vec<Record>,
    /// Failures whose records were dropped.
    pub failures: Vec<FailureCounts>,
    /// Lines and files that could not be read, and why; only the first hundred.
    pub damaged: Vec<String>,
}

/// The performance to expect from stored results: the score of the result to use, and that of the default there.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Promise {
    /// How close device and problem are.
    pub closeness: Closeness,
    /// The score of the result to use.
    pub score: f64,
    /// The best score of the default configuration there, if it was measured.
    pub default_score: Option<f64>,
}

impl Promise {
    /// The score to expect here, given the default's score: for the same device and problem the stored score, otherwise
    /// what the stored speedup over the default gives.
    pub fn score_here(&self, default_here: Option<f64>) -> Option<f64> {
        if self.closeness == Closeness::Exact {
            return Some(self.score);
        }
        Some(default_here? * self.score / self.default_score?)
    }
}

/// The number of failed configurations per stage, for a device and a problem.
#[derive(Debug, Clone, PartialEq)]
pub struct FailureCounts {
    /// The device.
    pub device: DeviceKey,
    /// The problem.
    pub problem: Problem,
    /// The counts per stage.
    pub counts: BTreeMap<FailureKind, u64>,
}

const MAX_DAMAGED: usize = 100;

/// What decides between results, in this order. Less is better.
struct Rank {
    closeness: Closeness,
    problem_distance: f64,
    device_distance: f64,
    is_not_chosen: bool,
    /// Of chosen ones, those of the present driver and compiler, and later ones, are better.
    is_other_toolchain: bool,
    age: u64,
    score: f64,
}

impl Rank {
    fn cmp(&self, other: &Self) -> Ordering {
        let near = self.closeness.cmp(&other.closeness).then(self.problem_distance.total_cmp(&other.problem_distance));
        let near = near.then(self.device_distance.total_cmp(&other.device_distance));
        let choice = |rank: &Self| (rank.is_not_chosen, rank.is_other_toolchain, rank.age);
        near.then(choice(self).cmp(&choice(other))).then(self.score.total_cmp(&other.score))
    }
}

impl Records {
    /// Parses the text of a kernel's file, such as one embedded in a program.
    ///
    /// # Errors
    /// When the text belongs to another kernel, or a newer version wrote it.
    pub fn from_text(text: &str, kernel: &KernelKey) -> Result<Self, StoreError> {
        file::read_lines(text.as_bytes(), Path::new("text"), kernel).map(|layer| layer.records)
    }

    /// Finds the result to use: for the closest device and problem, the one that a search chose last, or else the
    /// fastest; in a tie the first. Considers only configurations that `accept` accepts, and never those of another
    /// back end.
    pub fn look_up(&self, device: &DeviceKey, problem: &Problem, accept: &dyn Fn(&Config) -> bool) -> Option<Found> {
        let ranked = self.ranked(device, problem);
        let (rank, record) = ranked.into_iter().find(|(_, record)| accept(&record.config))?;
        Some(found(&rank, record, device))
    }

    /// Like [`Records::look_up`], but falls back to the default, and gives the reasons.
    pub fn explain(
        &self,
        device: &DeviceKey,
        problem: &Problem,
        accept: &dyn Fn(&Config) -> bool,
        default: &Config,
    ) -> Explanation {
        let ranked = self.ranked(device, problem);
        let n_refused = ranked.iter().take_while(|(_, record)| !accept(&record.config)).count();
        let found = ranked.get(n_refused).map(|(rank, record)| found(rank, record, device));
        let config = found.as_ref().map_or(default, |found| &found.config).clone();
        let n_results = self.records.iter().filter(|record| record.score().is_some()).count();
        Explanation { config, found, n_refused, n_results }
    }

    /// The configurations to try first: the `count` best for the closest device and problem, without repetitions.
    pub fn incumbents(
        &self,
        device: &DeviceKey,
        problem: &Problem,
        count: usize,
        accept: &dyn Fn(&Config) -> bool,
    ) -> Vec<Config> {
        let mut configs: Vec<Config> = Vec::new();
        let mut nearest: Option<&Record> = None;
        for (_, record) in self.ranked(device, problem) {
            let is_near = nearest.is_none_or(|first| is_same_group(first, record));
            if configs.len() == count || !is_near {
                break;
            }
            if !configs.contains(&record.config) && accept(&record.config) {
                configs.push(record.config.clone());
                nearest = nearest.or(Some(record));
            }
        }
        configs
    }

    /// The performance to expect from the results for the closest device and problem, if there are any. `default` is
    /// the configuration to which their speedup refers.
    pub fn promise(
        &self,
        device: &DeviceKey,
        problem: &Problem,
        accept: &dyn Fn(&Config) -> bool,
        default: &Config,
    ) -> Option<Promise> {
        let ranked = self.ranked(device, problem);
        let (rank, best) = ranked.iter().find(|(_, record)| accept(&record.config))?;
        let of_default = ranked.iter().filter(|(_, record)| is_same_group(best, record) && record.config == *default);
        let default_score = of_default.map(|(rank, _)| rank.score).min_by(f64::total_cmp);
        Some(Promise { closeness: rank.closeness, score: rank.score, default_score })
    }

    /// All results that mean anything for a device and a problem, the best choice first.
    fn ranked(&self, device: &DeviceKey, problem: &Problem) -> Vec<(Rank, &Record)> {
        let rank = |record| Some((rank(record, device, problem)?, record));
        let refuted = self.refuted();
        let mut ranked: Vec<_> =
            self.records.iter().filter(|record| !is_refuted(record, &refuted)).filter_map(rank).collect();
        ranked.sort_by(|(a, _), (b, _)| a.cmp(b));
        ranked
    }

    /// Failures of configurations that had a score before: a later check found them to be wrong.
    fn refuted(&self) -> Vec<&Record> {
        let is_wrong = |record: &&Record| matches!(&record.outcome, Outcome::Failed(failure) if failure.kind == FailureKind::Correctness);
        self.records.iter().filter(is_wrong).collect()
    }

    /// The union of both, without repetitions; those of `self` come first.
    pub fn union(&self, other: &Self) -> Self {
        let mut union = Self { damaged: self.damaged.clone(), ..Self::default() };
        other.damaged.iter().for_each(|damage| union.add_damage(damage.clone()));
        let mut known = HashSet::new();
        let records = self.records.iter().chain(&other.records);
        union.records = records.filter(|record| known.insert(record.to_json().to_string())).cloned().collect();
        for counts in self.failures.iter().chain(&other.failures) {
            if !union.failures.contains(counts) {
                union.failures.push(counts.clone());
            }
        }
        union
    }

    /// Of each device and problem: what was chosen last, and the `keep` best configurations; of failures their numbers.
    pub(super) fn best_of_each(&self, keep: usize) -> Self {
        let mut best = Self::default();
        let mut failures = self.failures.clone();
        let refuted = self.refuted();
        for mut group in self.groups() {
            count_failures(&group, &mut failures);
            group.retain(|record| !is_refuted(record, &refuted));
            let score = |record: &Record| record.score().unwrap_or(f64::INFINITY);
            group.retain(|record| record.score().is_some());
            group.sort_by(|a, b| score(a).total_cmp(&score(b)));
            // Of those that were chosen in the same second, the fastest.
            let chosen = group.iter().filter(|record| record.is_chosen).rev().max_by_key(|record| record.timestamp);
            let chosen = chosen.copied();
            group.retain(|record| chosen.is_none_or(|chosen| !std::ptr::eq(chosen, *record)));
            let mut kept: Vec<&Record> = Vec::new();
            for record in group {
                let mut known = chosen.into_iter().chain(kept.iter().copied());
                if kept.len() < keep && !known.any(|known| known.config == record.config) {
                    kept.push(record);
                }
            }
            best.records.extend(chosen.into_iter().chain(kept).cloned());
        }
        for counts in failures {
            let is_same = |known: &&mut FailureCounts| known.device == counts.device && known.problem == counts.problem;
            match best.failures.iter_mut().find(is_same) {
                Some(known) => counts.counts.iter().for_each(|(kind, count)| add_count(known, *kind, *count)),
                None => best.failures.push(counts),
            }
        }
        best
    }

    /// The results of each device and problem, in their order.
    pub(super) fn groups(&self) -> Vec<Vec<&Record>> {
        let mut groups: Vec<Vec<&Record>> = Vec::new();
        for record in &self.records {
            let is_same =
                |group: &&mut Vec<&Record>| group[0].device == record.device && group[0].problem == record.problem;
            match groups.iter_mut().find(is_same) {
                Some(group) => group.push(record),
                None => groups.push(vec![record]),
            }
        }
        groups
    }

    /// Adds all that other records have.
    pub(super) fn extend(&mut self, other: Self) {
        self.records.extend(other.records);
        self.failures.extend(other.failures);
        other.damaged.into_iter().for_each(|message| self.add_damage(message));
    }

    pub(super) fn add_damage(&mut self, message: String) {
        match self.damaged.len().cmp(&MAX_DAMAGED) {
            Ordering::Less => self.damaged.push(message),
            Ordering::Equal => self.damaged.push("more than that".into()),
            Ordering::Greater => {}
        }
    }
}

impl FailureCounts {
    /// Its line in a file.
    pub(super) fn to_json(&self) -> Json {
        let problem = pairs_to_json(self.problem.0.iter().map(|(name, value)| (name.as_str(), value)));
        json!({"device": serialised(&self.device), "problem": problem, "failures": serialised(&self.counts)})
    }

    pub(super) fn read(value: Json) -> Result<Self, String> {
        let Json::Object(mut root) = value else { return Err("expected an object".into()) };
        let device: DeviceKey = deserialised(&mut root, "device")?.ok_or("no device")?;
        device.check()?;
        let problem = Problem(read_pairs(root.remove("problem"), "problem")?);
        Ok(Self { device, problem, counts: deserialised(&mut root, "failures")?.unwrap_or_default() })
    }
}

fn rank(record: &Record, device: &DeviceKey, problem: &Problem) -> Option<Rank> {
    let score = record.score()?;
    let relation = record.device.relation(device)?;
    let problem_distance = record.problem.distance(problem)?;
    let is_chosen = record.is_chosen;
    Some(Rank {
        closeness: Closeness::new(relation, record.problem.is_same(problem)),
        problem_distance,
        device_distance: record.device.size_distance(device),
        is_not_chosen: !is_chosen,
        is_other_toolchain: is_chosen && !record.device.is_same_toolchain(device),
        age: if is_chosen { u64::MAX - record.timestamp } else { 0 },
        score,
    })
}

fn found(rank: &Rank, record: &Record, device: &DeviceKey) -> Found {
    Found {
        config: record.config.clone(),
        closeness: rank.closeness,
        is_same_toolchain: record.device.is_same_toolchain(device),
        device: record.device.clone(),
        problem: record.problem.clone(),
        score: rank.score,
        is_chosen: record.is_chosen,
    }
}

/// Whether two results were measured on one device for one problem.
fn is_same_group(a: &Record, b: &Record) -> bool {
    a.device.is_same_device(&b.device) && a.problem.is_same(&b.problem)
}

/// Whether a result was found to be wrong, at the same time or later.
fn is_refuted(record: &Record, wrong: &[&Record]) -> bool {
    let is_about = |other: &&Record| {
        other.config == record.config && is_same_group(other, record) && other.timestamp >= record.timestamp
    };
    record.score().is_some() && wrong.iter().any(is_about)
}

fn count_failures(group: &[&Record], failures: &mut Vec<FailureCounts>) {
    let mut counts =
        FailureCounts { device: group[0].device.clone(), problem: group[0].problem.clone(), counts: BTreeMap::new() };
    for record in group {
        if let Outcome::Failed(failure) = &record.outcome {
            add_count(&mut counts, failure.kind, 1);
        }
    }
    if !counts.counts.is_empty() {
        failures.push(counts);
    }
}

/// Numbers from files may be any.
fn add_count(counts: &mut FailureCounts, kind: FailureKind, count: u64) {
    let sum = counts.counts.entry(kind).or_default();
    *sum = sum.saturating_add(count);
}
