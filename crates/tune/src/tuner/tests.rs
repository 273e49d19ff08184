use super::*;
use crate::trial::Resources;
use crate::{Random, Space, strategies};
use std::sync::atomic::{AtomicUsize, Ordering};

/// A device whose times are computed; some configurations fail in one way or another.
struct Simulated {
    random: Random,
    current: i64,
    cold: bool,
    compiled: Arc<AtomicUsize>,
    /// Candidates that the last check refuses, and those that were checked.
    refused: Vec<i64>,
    checked: Vec<i64>,
}

fn simulated() -> Simulated {
    Simulated {
        random: Random::new(3),
        current: 0,
        cold: true,
        compiled: Arc::default(),
        refused: Vec::new(),
        checked: Vec::new(),
    }
}

fn x_of(config: &Config) -> i64 {
    config.get("x").and_then(|x| x.as_f64()).unwrap() as i64
}

impl Target for Simulated {
    type Compiled = i64;

    fn compiler(&self) -> Compiler<i64> {
        let count = Arc::clone(&self.compiled);
        Arc::new(move |config| {
            count.fetch_add(1, Ordering::Relaxed);
            match x_of(config) {
                7 => Err(Failure::new(FailureKind::Compile, "error: expected a ';'")),
                x => Ok(x),
            }
        })
    }

    fn load(&mut self, _config: &Config, compiled: &i64) -> Result<Resources, Failure> {
        (self.current, self.cold) = (*compiled, true);
        let occupancy = if *compiled == 9 { 0.1 } else { 0.8 };
        Ok(Resources { registers: Some(100 - *compiled as u32), occupancy: Some(occupancy), ..Resources::default() })
    }

    fn verify(&mut self) -> Result<(), Failure> {
        match self.current {
            1 => Err(Failure::new(FailureKind::Correctness, "3 of 10 elements are wrong")),
            2 => Err(Failure::new(FailureKind::Runtime, "illegal address")),
            3 => Err(Failure::new(FailureKind::Timeout, "not done after 1 s")),
            _ => Ok(()),
        }
    }

    fn check(&mut self, config: &Config) -> Result<(), Failure> {
        let x = x_of(config);
        self.checked.push(x);
        if self.refused.contains(&x) {
            return Err(Failure::new(FailureKind::Correctness, "a race"));
        }
        Ok(())
    }

    fn time(&mut self, _launches: u32) -> Result<f64, Failure> {
        let cold = if std::mem::take(&mut self.cold) { 50.0 } else { 1.0 };
        // The planted failures would be the fastest; 20 and 21 are equally fast, 21 needs fewer registers.
        let seconds = match self.current {
            0..=9 => 1e-6,
            20 | 21 => 1e-4,
            x => 1e-4 + 1e-5 * (x - 20).abs() as f64,
        };
        Ok(seconds * cold * (1.0 + 0.002 * self.random.unit()))
    }
}

fn space() -> Arc<Configurations> {
    let values = [1, 2, 3, 7].into_iter().chain(10..40);
    Arc::new(Space::new().parameter("x", values).unwrap().enumerate().unwrap())
}

fn run(options: &TunerOptions, default: u32) -> Report {
    let strategy = strategies::by_name("random", 4).unwrap();
    tune(&mut simulated(), &space(), strategy, Some(default), &[], options, &mut |_| ControlFlow::Continue(()))
}

#[test]
fn failures_are_named_and_never_chosen() {
    let report = run(&TunerOptions::default(), 30);
    assert_eq!(report.stopped_by, StopReason::Exhausted);
    assert_eq!(report.trials.len(), 34);
    let failed: Vec<_> = report.failures().into_iter().collect();
    let (compile, runtime) = (FailureKind::Compile, FailureKind::Runtime);
    assert_eq!(failed, [(compile, 1), (runtime, 1), (FailureKind::Timeout, 1), (FailureKind::Correctness, 1)]);
    assert_eq!(report.best_trial().unwrap().config.to_string(), "x=21", "ties go to fewer registers");
    let speedup = report.speedup.unwrap();
    assert!((speedup.value - 2.6).abs() < 0.02 && speedup.low > 2.5, "{speedup:?}");
    let text = report.to_string();
    assert!(text.contains("1 failed (compile), such as: error: expected a ';'"), "{text}");
    assert!(text.contains("times as fast as the default"), "{text}");
    assert_eq!(report.best_so_far().last().map(|step| (step.2 * 1e5).round()), Some(10.0));
}

#[test]
fn the_default_wins_where_nothing_is_surely_better() {
    let report = run(&TunerOptions::default(), 14);
    assert_eq!(report.best_trial().unwrap().config.to_string(), "x=20");
    let text = report.to_string();
    assert!(text.starts_with("best of 34 configurations tried, of 34: x=20\n"), "{text}");
    assert!(text.lines().nth(1).unwrap().ends_with(", the default"), "{text}");
    assert!(!text.contains("times as fast as the default"), "{text}");
}

#[test]
fn budgets_and_interrupts_end_a_search_with_what_is_known() {
    let options = TunerOptions { budget: Budget::of_evaluations(9), ..TunerOptions::default() };
    let report = run(&options, 5);
    assert_eq!((report.trials.len(), report.stopped_by), (9, StopReason::Budget));
    let mut seen = 0;
    let strategy = strategies::by_name("random", 4).unwrap();
    let mut interrupt = |event: Event<'_>| {
        seen += usize::from(matches!(event, Event::Tried(..)));
        if seen == 12 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let report = tune(&mut simulated(), &space(), strategy, None, &[], &TunerOptions::default(), &mut interrupt);
    assert_eq!((report.trials.len(), report.stopped_by), (12, StopReason::Interrupted));
    assert!(report.best_trial().is_some());
    let options = TunerOptions {
        limit: Some(Limit { seconds: 0.99e-4, binds: "memory".into() }),
        until_fraction: Some(0.95),
        ..TunerOptions::default()
    };
    let report = run(&options, 30);
    assert_eq!(report.stopped_by, StopReason::Limit);
    assert!(report.trials.len() < 34 && report.fraction_of_limit().unwrap() > 0.95);
}

#[test]
fn candidates_that_cannot_win_are_skipped() {
    let bound: LowerBound = Arc::new(|config| if x_of(config) > 30 { 1e-3 } else { 0.0 });
    let options = TunerOptions { lower_bound: Some(bound), finalists: 0, ..TunerOptions::default() };
    let report = run(&options, 14);
    assert_eq!(report.failures()[&FailureKind::Skipped], 9);
}

#[test]
fn a_seed_decides_the_order_whatever_compiling_takes() {
    let order = |threads| {
        let options = TunerOptions { threads, finalists: 0, ..TunerOptions::default() };
        run(&options, 5).trials.iter().map(|trial| trial.row).collect::<Vec<_>>()
    };
    assert_eq!(order(3), order(3));
}

#[test]
fn finalists_that_fail_their_check_are_failures_and_the_next_best_take_their_places() {
    let mut target = Simulated { refused: vec![20, 21, 22], ..simulated() };
    let mut told = Vec::new();
    let mut on_event = |event: Event<'_>| {
        if let Event::Tried(trial, _) = event {
            told.push((x_of(&trial.config), trial.outcome.score().is_some()));
        }
        ControlFlow::Continue(())
    };
    let options = TunerOptions { finalists: 3, ..TunerOptions::default() };
    let strategy = strategies::by_name("random", 4).unwrap();
    let report = tune(&mut target, &space(), strategy, Some(14), &[], &options, &mut on_event);
    let best = x_of(&report.best_trial().unwrap().config);
    assert_eq!((best - 20).abs(), 1, "19 is the best that is left: {best}");
    assert_eq!(report.failures()[&FailureKind::Correctness], 1 + 3);
    assert!(report.speedup.is_none(), "the default is among them");
    target.checked.sort_unstable();
    assert_eq!(target.checked.len(), 3 + 3, "three refused, three passed: {:?}", target.checked);
    let again: Vec<_> = told[34..].iter().map(|told| told.0).collect();
    assert!(again.iter().all(|x| target.refused.contains(x)) && again.len() == 3, "{again:?}");
}

#[test]
fn an_interrupted_search_checks_what_it_returns() {
    let mut target = Simulated { refused: vec![20, 21], ..simulated() };
    let mut seen = 0;
    let mut interrupt = |event: Event<'_>| {
        seen += usize::from(matches!(event, Event::Tried(..)));
        if seen >= 34 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let strategy = strategies::by_name("random", 4).unwrap();
    let options = TunerOptions::default();
    let report = tune(&mut target, &space(), strategy, None, &[], &options, &mut interrupt);
    assert_eq!(report.stopped_by, StopReason::Interrupted);
    assert!([19, 22].contains(&x_of(&report.best_trial().unwrap().config)));
    assert_eq!(target.checked.len(), 3);
}

/// A device whose clock falls with every reading, and whose power is 100 W.
struct Throttling(Mutex<f64>);

impl Sensors for Throttling {
    fn read(&self, sensor: Sensor) -> Option<f64> {
        match sensor {
            Sensor::Clock => {
                let mut clock = self.0.lock().unwrap();
                *clock -= 1.0;
                Some(*clock)
            }
            Sensor::Power => Some(100.0),
            _ => None,
        }
    }
}

#[test]
fn finalists_are_marked_where_the_clock_changes() {
    let report_at = |clock| {
        let sensors: Arc<dyn Sensors> = Arc::new(Throttling(Mutex::new(clock)));
        run(&TunerOptions { sensors: Some(sensors), ..TunerOptions::default() }, 30)
    };
    let report = report_at(1000.0);
    assert_eq!(report.finalists[0].clocks_mhz.len(), FINAL_ROUNDS);
    assert!(report.finalists[0].temperatures_celsius.is_empty());
    assert!(report.clock_change().unwrap() > 0.02);
    assert!(report.to_string().contains("the clock changed by"), "{report}");
    let steady = report_at(100_000.0);
    assert!(steady.clock_change().unwrap() < 0.02 && !steady.to_string().contains("the clock changed"));
    assert_eq!(run(&TunerOptions::default(), 30).clock_change(), None);
}

#[test]
fn the_objective_decides_what_is_best() {
    struct Observed(Simulated);
    impl Target for Observed {
        type Compiled = i64;
        fn compiler(&self) -> Compiler<i64> {
            self.0.compiler()
        }
        fn load(&mut self, config: &Config, compiled: &i64) -> Result<Resources, Failure> {
            self.0.load(config, compiled)
        }
        fn verify(&mut self) -> Result<(), Failure> {
            self.0.verify()
        }
        fn time(&mut self, launches: u32) -> Result<f64, Failure> {
            self.0.time(launches)
        }
        fn observe(&mut self, trial: &TrialReport) -> Result<Vec<(String, f64)>, Failure> {
            let x = x_of(&trial.config);
            Ok(if x == 39 { Vec::new() } else { vec![("quality".to_owned(), -((x - 33) * (x - 33)) as f64)] })
        }
    }
    let objective = Objective::by_name("quality", true, None, None).unwrap();
    let options = TunerOptions { objective, ..TunerOptions::default() };
    let strategy = strategies::by_name("random", 4).unwrap();
    let mut target = Observed(simulated());
    let report = tune(&mut target, &space(), strategy, Some(5), &[], &options, &mut |_| ControlFlow::Continue(()));
    let best = report.best_trial().unwrap();
    assert_eq!((x_of(&best.config), best.outcome.clone()), (33, Outcome::Score(0.0)));
    assert!(best.observation("time").unwrap() > 2e-4, "the time is a column then");
    assert!(report.finalists.is_empty());
    let lacking = report.trials.iter().find(|trial| x_of(&trial.config) == 39).unwrap();
    assert!(matches!(&lacking.outcome, Outcome::Failed(failure) if failure.message.contains("\"quality\"")));
    // From the fastest (x = 20) to the best (x = 33), one is better and the other faster.
    let front = report.pareto(&[("time", false), ("quality", true)]);
    let xs: Vec<i64> = front.iter().map(|&place| x_of(&report.trials[place].config)).collect();
    assert!(xs.contains(&33) && xs.contains(&30) && xs.iter().all(|x| (20..=33).contains(x)), "{xs:?}");
}

#[test]
fn energy_is_an_objective_where_there_is_a_sensor() {
    let options = TunerOptions {
        sensors: Some(Arc::new(Throttling(Mutex::new(1e3)))),
        objective: Objective::Energy,
        observers: vec![Sensor::Clock],
        budget: Budget::of_evaluations(2),
        ..TunerOptions::default()
    };
    let report = run(&options, 20);
    let best = report.best_trial().unwrap();
    assert_eq!(Some(best.number("score").unwrap()), best.observation("energy"));
    assert!(best.observation("clock").is_some() && best.observation("temperature").is_none());
    let without = run(&TunerOptions { sensors: None, ..options }, 20);
    assert!(without.best.is_none() && without.to_string().contains("no observer gave a number"), "{without}");
}

/// Of the times of a device some are doubled, by whatever else it does.
struct Disturbed {
    device: Simulated,
    noise: Random,
    /// One of so many.
    one_of: u64,
}

impl Target for Disturbed {
    type Compiled = i64;

    fn compiler(&self) -> Compiler<i64> {
        self.device.compiler()
    }

    fn load(&mut self, config: &Config, compiled: &i64) -> Result<Resources, Failure> {
        self.device.load(config, compiled)
    }

    fn verify(&mut self) -> Result<(), Failure> {
        self.device.verify()
    }

    fn time(&mut self, launches: u32) -> Result<f64, Failure> {
        let factor = if (self.noise.unit() * self.one_of as f64) < 1.0 { 2.0 } else { 1.0 };
        Ok(factor * self.device.time(launches)?)
    }
}

/// With one sample in seven doubled, a default that takes 1.3 or 2.3 times as long is not kept.
#[test]
fn disturbed_rounds_do_not_keep_a_slow_default() {
    for default in [23, 33] {
        for seed in 0..40 {
            let mut target = Disturbed { device: simulated(), noise: Random::new(seed), one_of: 7 };
            let strategy = strategies::by_name("random", seed).unwrap();
            let options = TunerOptions { budget: Budget::of_evaluations(40), ..TunerOptions::default() };
            let is_default = |row: &u32| x_of(&space().config(*row)) == default;
            let row = (0..space().len() as u32).find(is_default).unwrap();
            let keep_on = &mut |_: Event<'_>| ControlFlow::Continue(());
            let report = tune(&mut target, &space(), strategy, Some(row), &[], &options, keep_on);
            let best = x_of(&report.best_trial().unwrap().config);
            assert!((19..=22).contains(&best), "seed {seed}, default {default}: {best}\n{report}");
            assert!(report.unconfirmed.is_none() && report.speedup.is_some());
        }
    }
}

/// What is faster in the median, but not in enough rounds, is not taken, and the report says so.
#[test]
fn what_is_faster_in_three_of_five_rounds_is_not_confirmed() {
    let samples = |values: [f64; 5]| values.iter().copied().cycle().take(48).collect::<Vec<_>>();
    let finalist = |row, values| Finalist { samples: samples(values), ..Finalist::new(row) };
    let finalists = [finalist(0, [1.0, 1.0, 1.1, 1.1, 1.0]), finalist(1, [1.1, 0.9, 1.2, 0.97, 0.97])];
    assert_eq!(unconfirmed_winner(&finalists, Some(0)), None, "within 5 %");
    let finalists = [finalist(0, [2.0; 5]), finalist(1, [1.5, 9.0, 1.5, 9.0, 1.5])];
    let (row, ratio) = unconfirmed_winner(&finalists, Some(0)).unwrap();
    assert!(row == 1 && ratio > 1.1, "{ratio}");
    assert_eq!(choose_winner(&finalists, Some(0), &[]), Some(0));
}

/// A target that the caller interrupts in its third measurement.
struct Interruptible(Simulated, usize);

impl Target for Interruptible {
    type Compiled = i64;

    fn compiler(&self) -> Compiler<i64> {
        self.0.compiler()
    }

    fn load(&mut self, config: &Config, compiled: &i64) -> Result<Resources, Failure> {
        self.1 += 1;
        self.0.load(config, compiled)
    }

    fn verify(&mut self) -> Result<(), Failure> {
        Ok(())
    }

    fn time(&mut self, launches: u32) -> Result<f64, Failure> {
        if self.is_interrupted() { Err(Failure::new(FailureKind::Skipped, "Ctrl-C")) } else { self.0.time(launches) }
    }

    fn is_interrupted(&self) -> bool {
        self.1 >= 3
    }
}

#[test]
fn an_interrupted_candidate_is_no_failure() {
    let strategy = strategies::by_name("exhaustive", 0).unwrap();
    let mut target = Interruptible(simulated(), 0);
    let keep_on = &mut |_: Event<'_>| ControlFlow::Continue(());
    let report = tune(&mut target, &space(), strategy, Some(30), &[], &TunerOptions::default(), keep_on);
    assert_eq!((report.trials.len(), report.failures().len()), (2, 0));
    assert_eq!(report.stopped_by, StopReason::Interrupted);
    assert!(report.best.is_some());
}
