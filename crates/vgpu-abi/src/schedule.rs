//! In which order threads run: as it suits the machine, always the same, or at random.
//!
//! Establishes: with [`Schedule::Deterministic`] and [`Schedule::Chaos`] one thread runs the blocks
//! of a launch, and one operation of all streams runs at a time: with the first, it ends before the call
//! that submits it returns; with the second, the seed chooses among those that may run. A program that
//! does not depend on time does the same in every run (with the same seed).

use crate::IgnorePoison;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{OnceLock, RwLock};

/// An order of execution.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Schedule {
    /// All cores, whatever is fastest.
    #[default]
    Normal,
    /// One core, blocks and warps in ascending order.
    Deterministic,
    /// One core; streams, blocks, warps and lanes are scheduled at random, also between memory accesses.
    Chaos(u64),
}

impl Schedule {
    /// Reads `normal`, `deterministic`, `chaos` (seed 0) or `chaos:SEED`.
    pub fn parse(text: &str) -> Option<Schedule> {
        match text.split_once(':') {
            None if text == "normal" => Some(Schedule::Normal),
            None if text == "deterministic" => Some(Schedule::Deterministic),
            None if text == "chaos" => Some(Schedule::Chaos(0)),
            Some(("chaos", seed)) => seed.trim().parse().ok().map(Schedule::Chaos),
            _ => None,
        }
    }

    /// Whether the order is the same in every run.
    pub fn is_reproducible(self) -> bool {
        self != Schedule::Normal
    }
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Schedule::Normal => f.write_str("normal"),
            Schedule::Deterministic => f.write_str("deterministic"),
            Schedule::Chaos(seed) => write!(f, "chaos:{seed}"),
        }
    }
}

/// The schedule, and how many launches there were under it.
static CURRENT_SCHEDULE: RwLock<Option<Schedule>> = RwLock::new(None);
static N_LAUNCHES: AtomicU64 = AtomicU64::new(0);
/// Whether `CURRENT_SCHEDULE` is the normal one; every launch asks, and need not take the lock then.
static IS_NORMAL_SCHEDULE: AtomicBool = AtomicBool::new(false);

/// Runs what streams hold back under the present schedule.
static FINISH_OPERATIONS: OnceLock<fn()> = OnceLock::new();

/// Sets who runs what streams hold back, which lie in a module above this one.
pub fn set_operation_finisher(finish: fn()) {
    let _ = FINISH_OPERATIONS.set(finish);
}

/// Sets the schedule of the launches that follow, instead of the environment variable
/// `RTCG_SCHEDULE`. With the same seed the random order starts again.
pub fn set_schedule(schedule: Schedule) {
    if let Some(finish) = FINISH_OPERATIONS.get() {
        finish();
    }
    let mut current = CURRENT_SCHEDULE.write().ignore_poison();
    *current = Some(schedule);
    IS_NORMAL_SCHEDULE.store(schedule == Schedule::Normal, Ordering::Release);
    N_LAUNCHES.store(0, Ordering::Relaxed);
    N_RANDOM_CHOICES.store(0, Ordering::Relaxed);
}

/// How many times [`random_choice`] was asked.
static N_RANDOM_CHOICES: AtomicU64 = AtomicU64::new(0);

/// A number below `n`: the next random choice among operations of streams.
pub fn random_choice(n: usize) -> usize {
    let Schedule::Chaos(seed) = current_schedule() else { return 0 };
    let count = N_RANDOM_CHOICES.fetch_add(1, Ordering::Relaxed);
    (splitmix_finalizer(splitmix_finalizer(seed).rotate_left(32) ^ splitmix_finalizer(count)) % n.max(1) as u64)
        as usize
}

/// The schedule that the environment variable `RTCG_SCHEDULE` asks for; an error if it cannot be read.
pub fn schedule_from_environment() -> Result<Option<Schedule>, String> {
    crate::env::read_setting("RTCG_SCHEDULE", "normal, deterministic or chaos:SEED", Schedule::parse)
}

/// The schedule of launches.
pub fn current_schedule() -> Schedule {
    if IS_NORMAL_SCHEDULE.load(Ordering::Acquire) {
        return Schedule::Normal;
    }
    if let Some(s) = *CURRENT_SCHEDULE.read().ignore_poison() {
        return s;
    }
    // The driver's initialisation has reported a text that cannot be read.
    let from_environment = schedule_from_environment().ok().flatten().unwrap_or_default();
    let mut current = CURRENT_SCHEDULE.write().ignore_poison();
    let schedule = *current.get_or_insert(from_environment);
    IS_NORMAL_SCHEDULE.store(schedule == Schedule::Normal, Ordering::Release);
    schedule
}

/// The seed of the next launch's random choices; `None` when there are none.
pub fn next_launch_seed() -> Option<u64> {
    let Schedule::Chaos(seed) = current_schedule() else { return None };
    let n = N_LAUNCHES.fetch_add(1, Ordering::Relaxed);
    Some(splitmix_finalizer(seed ^ splitmix_finalizer(n)))
}

/// Bijective scrambling of a word (the finaliser of SplitMix64, Steele et al. 2014).
pub fn splitmix_finalizer(x: u64) -> u64 {
    let x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// Number `n` below `total` in a random order: a Feistel network over the next power of four,
/// repeated until the result is below `total`.
pub fn permuted_index(n: u64, total: u64, seed: u64) -> u64 {
    let half = (64 - (total - 1).leading_zeros()).div_ceil(2).max(1);
    let low = (1_u64 << half) - 1;
    let mut x = n;
    loop {
        let (mut a, mut b) = (x >> half, x & low);
        for round in 0..4 {
            (a, b) = (b, a ^ (splitmix_finalizer(b ^ seed.rotate_left(16 * round)) & low));
        }
        x = a << half | b;
        if x < total {
            return x;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schedules_are_parsed_and_printed() {
        for s in [Schedule::Normal, Schedule::Deterministic, Schedule::Chaos(17)] {
            assert_eq!(Schedule::parse(&s.to_string()), Some(s));
        }
        assert_eq!(Schedule::parse("chaos"), Some(Schedule::Chaos(0)));
        assert_eq!(Schedule::parse("chaos:x"), None);
    }

    #[test]
    fn permuted_index_is_a_permutation() {
        for total in [1_u64, 2, 3, 7, 64, 1000] {
            let mut seen: Vec<u64> = (0..total).map(|n| permuted_index(n, total, 5)).collect();
            seen.sort_unstable();
            assert_eq!(seen, (0..total).collect::<Vec<_>>());
        }
        assert_ne!(permuted_index(0, 1000, 1), permuted_index(0, 1000, 2));
    }
}
