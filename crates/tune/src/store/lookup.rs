//! Which stored result a device and a problem get.

use super::keys::{DeviceKey, Problem};
use super::record::Record;
use crate::configurations::Config;
use crate::outcome::Outcome;
use std::fmt;

/// All results of a kernel.
#[derive(Debug, Clone, Default)]
pub struct Records {
    /// The results, older ones of a file first.
    pub records: Vec<Record>,
    /// Lines that could not be read, and why.
    pub damaged: Vec<String>,
}

/// How near the device and problem of a result are to those asked for; nearer ones are less.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Closeness {
    /// This device, this problem.
    Exact,
    /// This device, the nearest problem.
    SameDevice,
    /// Another device of this compute capability.
    SameComputeCapability,
    /// Another device of this generation (the major number of the compute capability).
    SameGeneration,
}

/// A result that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// Its configuration.
    pub config: Config,
    /// How near it is.
    pub closeness: Closeness,
    /// The device that it was measured on.
    pub device: DeviceKey,
    /// The problem that it was measured for.
    pub problem: Problem,
    /// Its score in seconds.
    pub score: f64,
}

impl Records {
    /// The result to use: of the nearest device and problem, the one that a search chose last, or the fastest. Only
    /// configurations that `accept` takes, and never one of another back end.
    pub fn look_up(&self, device: &DeviceKey, problem: &Problem, accept: &dyn Fn(&Config) -> bool) -> Option<Found> {
        self.ranked(device, problem, accept).into_iter().next()
    }

    /// The configurations to try first: the `count` fastest of the nearest device and problem.
    pub fn incumbents(
        &self,
        device: &DeviceKey,
        problem: &Problem,
        count: usize,
        accept: &dyn Fn(&Config) -> bool,
    ) -> Vec<Config> {
        let ranked = self.ranked(device, problem, accept);
        let Some(first) = ranked.first() else { return Vec::new() };
        let (device, problem) = (first.device.clone(), first.problem.clone());
        let near = ranked.into_iter().filter(|found| found.device == device && found.problem == problem);
        let mut configs: Vec<Config> = Vec::new();
        for found in near {
            if !configs.contains(&found.config) && configs.len() < count {
                configs.push(found.config);
            }
        }
        configs
    }

    /// All results that could be used, the best choice first.
    fn ranked(&self, device: &DeviceKey, problem: &Problem, accept: &dyn Fn(&Config) -> bool) -> Vec<Found> {
        struct Ranked {
            found: Found,
            distance: f64,
            chosen_at: u64,
        }
        let rank = |record: &Record| {
            let Outcome::Score(score) = record.outcome else { return None };
            let distance = record.problem.distance(problem)?;
            let closeness = closeness(&record.device, device, distance)?;
            let found = Found {
                config: record.config.clone(),
                closeness,
                device: record.device.clone(),
                problem: record.problem.clone(),
                score,
            };
            let chosen_at = if record.is_chosen { record.timestamp.max(1) } else { 0 };
            accept(&record.config).then_some(Ranked { found, distance, chosen_at })
        };
        let mut ranked: Vec<Ranked> = self.records.iter().filter_map(rank).collect();
        ranked.sort_by(|a, b| {
            let near = a.found.closeness.cmp(&b.found.closeness).then(a.distance.total_cmp(&b.distance));
            near.then(b.chosen_at.cmp(&a.chosen_at)).then(a.found.score.total_cmp(&b.found.score))
        });
        ranked.into_iter().map(|ranked| ranked.found).collect()
    }

    /// Of each device and problem: what was chosen last, and the `keep` best.
    pub(super) fn best_of_each(&self, keep: usize) -> Vec<Record> {
        let mut kept = Vec::new();
        let mut groups: Vec<Vec<&Record>> = Vec::new();
        for record in &self.records {
            let same =
                |group: &&mut Vec<&Record>| group[0].device == record.device && group[0].problem == record.problem;
            match groups.iter_mut().find(same) {
                Some(group) => group.push(record),
                None => groups.push(vec![record]),
            }
        }
        for mut group in groups {
            let score =
                |record: &Record| if let Outcome::Score(score) = record.outcome { score } else { f64::INFINITY };
            let chosen = group.iter().rfind(|record| record.is_chosen).copied();
            group.retain(|record| matches!(record.outcome, Outcome::Score(_)) && !record.is_chosen);
            group.sort_by(|a, b| score(a).total_cmp(&score(b)));
            kept.extend(chosen.into_iter().chain(group.into_iter().take(keep)).cloned());
        }
        kept
    }
}

fn closeness(measured: &DeviceKey, asked: &DeviceKey, distance: f64) -> Option<Closeness> {
    if measured.backend != asked.backend {
        return None;
    }
    if measured == asked {
        return Some(if distance == 0.0 { Closeness::Exact } else { Closeness::SameDevice });
    }
    match (measured.compute_capability, asked.compute_capability) {
        (a, b) if a == b => Some(Closeness::SameComputeCapability),
        (a, b) if a / 10 == b / 10 => Some(Closeness::SameGeneration),
        _ => None,
    }
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let why = match self.closeness {
            Closeness::Exact => "measured on this device for this problem",
            Closeness::SameDevice => "measured on this device, for the nearest problem",
            Closeness::SameComputeCapability => "measured on another device of this compute capability",
            Closeness::SameGeneration => "measured on another device of this generation",
        };
        let (config, device, problem) = (&self.config, &self.device, &self.problem);
        write!(f, "{config}: {why} ({device}; {problem}; {})", crate::report::format_seconds(self.score))
    }
}
