//! Records which decisions a call makes, and measures the call with other configurations.

use rtcg_hal::tuning::{Choices, Config, Problem, Refusal};
use rtcg_hal::{ArrayContext, DeviceInfo, compile_ahead, lock_ignoring_poison, with_thread_choices};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

/// A decision that a call made.
#[derive(Debug, Clone, PartialEq)]
pub struct DecisionCall {
    /// What the configuration depends on.
    pub problem: Problem,
    /// The configuration the call runs with: a stored result if there is one, else the rule's.
    pub current: Config,
    /// The rule's configuration.
    pub rule: Config,
}

/// Runs a call and returns the decisions it made, in order, each problem once.
pub fn record_decisions<T>(ctx: &ArrayContext, call: impl FnOnce() -> T) -> (T, Vec<DecisionCall>) {
    let recorder = Arc::new(Recorder { below: ctx.current_choices(), met: Mutex::default() });
    let result = with_thread_choices(recorder.clone(), call);
    let met = std::mem::take(&mut *lock_ignoring_poison(&recorder.met));
    (result, met)
}

/// Runs a call with this configuration wherever a problem with the same key comes up. Other decisions, and those of
/// other threads, are made as usual. The error says why no kernel can run with it; the call then used the rule's
/// configuration.
pub fn with_forced_config<T>(
    ctx: &ArrayContext,
    problem: &Problem,
    config: &Config,
    call: impl FnOnce() -> T,
) -> (T, Result<(), Refusal>) {
    let below = ctx.current_choices();
    let forced = Arc::new(Forced::new(below, problem, config));
    let result = with_thread_choices(forced.clone(), call);
    let refusal = lock_ignoring_poison(&forced.refusal).take();
    let is_asked = forced.is_asked.load(Ordering::Relaxed);
    let unasked = || Refusal { decision: problem.decision.name, reason: "the call did not ask for this choice".into() };
    (result, refusal.or_else(|| (!is_asked).then(unasked)).map_or(Ok(()), Err))
}

/// Compiles, on this thread, the kernels that a call needs with this configuration, and launches nothing; see
/// [`rtcg_hal::compile_ahead`]. Discard what the call returns: its contents are undefined.
pub fn compile_with_config<T>(ctx: &ArrayContext, problem: &Problem, config: &Config, call: impl FnOnce() -> T) -> T {
    let below = ctx.current_choices();
    compile_ahead(Some(Arc::new(Forced::new(below, problem, config))), call)
}

type Below = Option<Arc<dyn Choices>>;

fn choose_below(below: &Below, problem: &Problem, default: &Config, device: &DeviceInfo) -> Option<Config> {
    below.as_ref()?.choose(problem, default, device)
}

struct Recorder {
    below: Below,
    met: Mutex<Vec<DecisionCall>>,
}

impl Choices for Recorder {
    fn choose(&self, problem: &Problem, default: &Config, device: &DeviceInfo) -> Option<Config> {
        let chosen = choose_below(&self.below, problem, default, device);
        let usable = chosen.filter(|config| problem.decision.check(config, problem, device).is_ok());
        let mut met = lock_ignoring_poison(&self.met);
        let is_same = |known: &DecisionCall| is_same_problem(&known.problem, problem);
        if !met.iter().any(is_same) {
            let current = usable.clone().unwrap_or_else(|| default.clone());
            met.push(DecisionCall { problem: problem.clone(), current, rule: default.clone() });
        }
        usable
    }
}

struct Forced {
    below: Below,
    problem: Problem,
    config: Config,
    is_asked: AtomicBool,
    refusal: Mutex<Option<Refusal>>,
}

impl Forced {
    fn new(below: Below, problem: &Problem, config: &Config) -> Self {
        let (problem, config) = (problem.clone(), config.clone());
        Self { below, problem, config, is_asked: AtomicBool::new(false), refusal: Mutex::default() }
    }
}

impl Choices for Forced {
    fn choose(&self, problem: &Problem, default: &Config, device: &DeviceInfo) -> Option<Config> {
        match is_same_problem(&self.problem, problem) {
            true => {
                self.is_asked.store(true, Ordering::Relaxed);
                Some(self.config.clone())
            }
            false => choose_below(&self.below, problem, default, device),
        }
    }

    fn refused(&self, problem: &Problem, refusal: &Refusal) {
        match is_same_problem(&self.problem, problem) {
            true => *lock_ignoring_poison(&self.refusal) = Some(refusal.clone()),
            false => self.below.iter().for_each(|below| below.refused(problem, refusal)),
        }
    }
}

fn is_same_problem(a: &Problem, b: &Problem) -> bool {
    a.decision == b.decision && a.key() == b.key()
}
