//! The watchdog: a thread that inspects running launches periodically. It stops those that take longer than
//! `RTCG_VIRTUAL_TIMEOUT` allows, and makes threads of the program that run a kernel themselves call the
//! interrupt check.
//!
//! It exists only when there is a limit or an interrupt check, and sleeps while nothing runs. It costs a
//! launch one relaxed load.

use super::interrupt;
use super::launch::CancelFlag;
use rtcg_vgpu_abi::IgnorePoison;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock, Weak};
use std::thread::Thread;
use std::time::{Duration, Instant};

/// Looks without anything running, before the thread sleeps.
const MAX_IDLE_POLLS: u32 = 50;

static CANCEL_FLAGS: Mutex<Vec<Weak<CancelFlag>>> = Mutex::new(Vec::new());
static IS_ASLEEP: AtomicBool = AtomicBool::new(false);
static WATCHDOG_THREAD: OnceLock<Thread> = OnceLock::new();

/// The longest that a launch may take; `None` for no limit.
pub(crate) fn kernel_time_limit() -> Option<Duration> {
    static TIME_LIMIT: OnceLock<Option<Duration>> = OnceLock::new();
    *TIME_LIMIT.get_or_init(|| {
        let parse = |text: &str| text.parse::<f64>().ok().filter(|s| *s > 0.0 && s.is_finite());
        rtcg_vgpu_abi::env::env_setting("RTCG_VIRTUAL_TIMEOUT", "a number of seconds", parse)
            .map(Duration::from_secs_f64)
    })
}

/// Watches launches that run with this flag from now on.
pub fn register_cancel_flag(flag: Weak<CancelFlag>) {
    let mut flags = CANCEL_FLAGS.lock().ignore_poison();
    flags.retain(|f| f.strong_count() > 0);
    flags.push(flag);
    drop(flags);
    start_watchdog_if_needed();
}

/// Starts the thread if it does not run, once there is something to watch and a reason to: a
/// program that has only loaded the library has no threads, and may fork.
pub(crate) fn start_watchdog_if_needed() {
    let watches = !CANCEL_FLAGS.lock().ignore_poison().is_empty();
    if watches && (kernel_time_limit().is_some() || interrupt::has_interrupt_check()) {
        start_watchdog_thread();
    }
}

fn start_watchdog_thread() {
    static START_ONCE: std::sync::Once = std::sync::Once::new();
    START_ONCE.call_once(|| {
        let started =
            std::thread::Builder::new().name("rtcg-monitor".into()).stack_size(256 << 10).spawn(watchdog_loop);
        match started {
            Ok(handle) => drop(WATCHDOG_THREAD.set(handle.thread().clone())),
            Err(error) => eprintln!("rtcg: no thread for time limits and Ctrl-C: {error}"),
        }
    });
}

/// A launch has begun.
#[inline]
pub(crate) fn wake_watchdog() {
    if IS_ASLEEP.load(Ordering::Relaxed) {
        IS_ASLEEP.store(false, Ordering::Relaxed);
        if let Some(thread) = WATCHDOG_THREAD.get() {
            thread.unpark();
        }
    }
}

fn watchdog_loop() {
    interrupt::mark_internal_thread();
    super::signals::block_asynchronous_signals();
    let mut begun = HashMap::new();
    let mut idle = 0;
    loop {
        idle = if check_timeouts(&mut begun) { 0 } else { idle + 1 };
        if idle < MAX_IDLE_POLLS {
            std::thread::sleep(interrupt::CHECK_INTERVAL);
        } else {
            IS_ASLEEP.store(true, Ordering::SeqCst);
            // A launch that began before it could see the flag is found by another look soon.
            std::thread::park_timeout(Duration::from_secs(2));
            IS_ASLEEP.store(false, Ordering::SeqCst);
        }
    }
}

/// Looks at every launch once; whether there was any. `begun` says when each was first seen.
fn check_timeouts(begun: &mut HashMap<u64, Instant>) -> bool {
    let flags: Vec<_> = {
        let flags = CANCEL_FLAGS.lock().ignore_poison();
        flags.iter().filter_map(Weak::upgrade).collect()
    };
    let now = Instant::now();
    let mut seen = HashMap::new();
    for flag in &flags {
        flag.check_timeouts(|grid| {
            let first = *begun.get(&grid).unwrap_or(&now);
            seen.insert(grid, first);
            let age = now - first;
            (age, kernel_time_limit().is_some_and(|limit| age >= limit))
        });
    }
    *begun = seen;
    !begun.is_empty()
}
