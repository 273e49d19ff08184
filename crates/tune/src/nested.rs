//! Nested targets: an outer choice, such as a memory layout, whose parts are tuned separately, and a joint score.
//!
//! The idea is from Klöckner et al., "PyCUDA and PyOpenCL: A scripting-based approach to GPU run-time code generation",
//! section 6.1, where an outer loop over memory layouts surrounds separately tuned operators.

use crate::budget::Budget;
use crate::configurations::Config;
use crate::outcome::{Failure, FailureKind};
use crate::report::{Report, StopReason};
use crate::target::{Compiler, Target};
use crate::trial::Resources;
use rustc_hash::FxHashMap;
use std::rc::Rc;
use std::sync::Arc;

/// A part of an outer configuration.
pub struct Part<'p> {
    /// Its name.
    pub name: String,
    /// What its result depends on: parts with equal names and keys are tuned once.
    pub key: String,
    /// Searches for its best configuration, for instance by [`crate::tune`].
    pub search: Box<dyn FnOnce(&Budget) -> Report + 'p>,
}

/// The reports of an outer configuration's parts, by name.
pub type PartReports = Vec<(String, Rc<Report>)>;

/// The parts of an outer configuration.
type MakeParts<'p> = Box<dyn FnMut(&Config) -> Result<Vec<Part<'p>>, Failure> + 'p>;
/// The joint score of the parts' best scores.
type Combine<'p> = Box<dyn Fn(&[(String, f64)]) -> f64 + 'p>;

/// A target whose score combines the best scores of its parts.
///
/// By default the score is the sum, and an outer configuration is abandoned as soon as the parts tuned so far take
/// longer than all parts of the best one.
pub struct NestedTarget<'p> {
    parts: MakeParts<'p>,
    combine: Option<Combine<'p>>,
    part_budget: Budget,
    known: FxHashMap<(String, String), Rc<Report>>,
    tuned: Vec<(Config, PartReports)>,
    current: PartReports,
    best: f64,
}

impl<'p> NestedTarget<'p> {
    /// Makes a target from the parts of each outer configuration; every part gets the budget `part_budget`.
    pub fn new(part_budget: Budget, parts: impl FnMut(&Config) -> Result<Vec<Part<'p>>, Failure> + 'p) -> Self {
        Self {
            parts: Box::new(parts),
            combine: None,
            part_budget,
            known: FxHashMap::default(),
            tuned: Vec::new(),
            current: Vec::new(),
            best: f64::INFINITY,
        }
    }

    /// Sets another joint score than the sum: a function of the parts' names and best scores; lower is better.
    #[must_use]
    pub fn combine(mut self, combine: impl Fn(&[(String, f64)]) -> f64 + 'p) -> Self {
        self.combine = Some(Box::new(combine));
        self
    }

    /// The reports of the parts of an outer configuration that was tried.
    pub fn reports(&self, config: &Config) -> Option<&PartReports> {
        self.tuned.iter().find(|tuned| tuned.0 == *config).map(|tuned| &tuned.1)
    }

    /// The number of searches for parts so far.
    pub fn part_search_count(&self) -> usize {
        self.known.len()
    }

    fn tune_parts(&mut self, config: &Config) -> Result<PartReports, Failure> {
        let mut reports: PartReports = Vec::new();
        for part in (self.parts)(config)? {
            let search = part.search;
            let report =
                self.known.entry((part.name.clone(), part.key)).or_insert_with(|| search(&self.part_budget).into());
            reports.push((part.name, Rc::clone(report)));
            let total: f64 = scores_of(&reports)?.iter().map(|score| score.1).sum();
            if self.combine.is_none() && total > self.best {
                let message = format!("some parts take {total:.3e}; all parts of the best take {:.3e}", self.best);
                return Err(Failure::new(FailureKind::Skipped, message));
            }
        }
        Ok(reports)
    }
}

/// The best scores of parts.
///
/// # Errors
/// When no configuration of a part works, or its search was interrupted.
fn scores_of(reports: &PartReports) -> Result<Vec<(String, f64)>, Failure> {
    let score = |(name, report): &(String, Rc<Report>)| {
        if report.stopped_by == StopReason::Interrupted {
            return Err(Failure::new(FailureKind::Skipped, format!("the search for part {name} was interrupted")));
        }
        let score = report.best_trial().and_then(|trial| trial.outcome.score());
        let missing = || Failure::new(FailureKind::Runtime, format!("no configuration of part {name} works"));
        score.map(|score| (name.clone(), score)).ok_or_else(missing)
    };
    reports.iter().map(score).collect()
}

impl Target for NestedTarget<'_> {
    type Compiled = ();

    fn compiler(&self) -> Compiler<()> {
        Arc::new(|_| Ok(()))
    }

    fn load(&mut self, config: &Config, _compiled: &()) -> Result<Resources, Failure> {
        self.current = self.tune_parts(config)?;
        self.tuned.push((config.clone(), self.current.clone()));
        Ok(Resources::default())
    }

    fn verify(&mut self) -> Result<(), Failure> {
        // Each part was verified by its own search.
        Ok(())
    }

    fn time(&mut self, _launches: u32) -> Result<f64, Failure> {
        let scores = scores_of(&self.current)?;
        let joint = match &self.combine {
            Some(combine) => combine(&scores),
            None => scores.iter().map(|score| score.1).sum(),
        };
        self.best = self.best.min(joint);
        Ok(joint)
    }

    fn is_noisy(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Space, TunerOptions, strategies, tune};
    use std::cell::RefCell;
    use std::ops::ControlFlow;

    /// A part whose score is computed; a negative one is a failure.
    struct Computed<F> {
        score: F,
        x: f64,
    }

    impl<F: Fn(f64) -> f64> Target for Computed<F> {
        type Compiled = ();

        fn compiler(&self) -> Compiler<()> {
            Arc::new(|_| Ok(()))
        }

        fn load(&mut self, config: &Config, _compiled: &()) -> Result<Resources, Failure> {
            self.x = config.get("x").and_then(|x| x.as_f64()).unwrap();
            Ok(Resources::default())
        }

        fn verify(&mut self) -> Result<(), Failure> {
            Ok(())
        }

        fn time(&mut self, _launches: u32) -> Result<f64, Failure> {
            let score = (self.score)(self.x);
            if score < 0.0 { Err(Failure::new(FailureKind::Runtime, "negative")) } else { Ok(score) }
        }

        fn is_noisy(&self) -> bool {
            false
        }
    }

    fn run<T: Target>(target: &mut T, name: &str, count: i64, budget: &Budget) -> Report {
        let space = Arc::new(Space::new().parameter(name, 0..count).unwrap().enumerate().unwrap());
        let options = TunerOptions { budget: *budget, threads: 1, finalists: 0, ..TunerOptions::default() };
        let strategy = strategies::by_name("exhaustive", 0).unwrap();
        tune(target, &space, strategy, None, &[], &options, &mut |_| ControlFlow::Continue(()))
    }

    fn part<'p>(name: &str, key: i64, score: impl Fn(f64) -> f64 + 'p) -> Part<'p> {
        let search = move |budget: &Budget| run(&mut Computed { score, x: 0.0 }, "x", 10, budget);
        Part { name: name.into(), key: key.to_string(), search: Box::new(search) }
    }

    fn layout_of(config: &Config) -> i64 {
        config.get("layout").and_then(|layout| layout.as_f64()).unwrap() as i64
    }

    #[test]
    fn parts_are_tuned_once_for_what_they_depend_on() {
        let searched = RefCell::new(Vec::new());
        let mut target = NestedTarget::new(Budget::of_evaluations(10), |config| {
            let layout = layout_of(config);
            let own = part("volume", layout, move |x| (x - layout as f64).abs() + 2.0 + (layout - 1).abs() as f64);
            let searched = &searched;
            let shared = part("flux", 0, move |x| {
                searched.borrow_mut().push(x);
                (x - 7.0).abs() + 1.0
            });
            Ok(vec![shared, own])
        });
        let report = run(&mut target, "layout", 3, &Budget::of_evaluations(10));
        let best = report.best_trial().unwrap();
        assert_eq!((best.config.to_string().as_str(), best.outcome.score()), ("layout=1", Some(3.0)));
        assert_eq!(target.part_search_count(), 4);
        assert_eq!(searched.borrow().len(), 10, "flux was searched once");
        let parts = target.reports(&best.config).unwrap();
        let shown: Vec<String> =
            parts.iter().map(|(name, report)| format!("{name}: {}", report.best_trial().unwrap().config)).collect();
        assert_eq!(shown, ["flux: x=7", "volume: x=1"]);
        assert_eq!(report.failures()[&FailureKind::Skipped], 1, "the third cannot win");
    }

    #[test]
    fn scores_are_combined_and_failures_named() {
        let parts = |config: &Config| {
            let layout = layout_of(config);
            let failing = move |x: f64| if layout == 2 { -1.0 } else { x + 1.0 };
            Ok(vec![part("a", layout, failing), part("b", layout, move |x| x + layout as f64)])
        };
        let mut target =
            NestedTarget::new(Budget::of_evaluations(5), parts).combine(|scores| scores[0].1 - 5.0 * scores[1].1);
        let report = run(&mut target, "layout", 3, &Budget::of_evaluations(10));
        assert_eq!(report.best_trial().unwrap().outcome.score(), Some(1.0 - 5.0));
        let failed = report.trials.iter().find(|trial| trial.outcome.score().is_none()).unwrap();
        assert!(format!("{:?}", failed.outcome).contains("no configuration of part a works"), "{failed:?}");
    }
}
