//! Choices for the launches of one kernel, by the number of elements.
//!
//! The rules of the generators are the defaults. A tuner sets choices per context and number of elements; a launch
//! takes the choice for the nearest number of elements. Stored choices are read at a kernel's first launch in a
//! context; after that, and without any choice, this costs a launch two loads.

use rtcg_hal::tuning::LaunchChoice;
use rtcg_hal::{ArrayContext, Result};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{PoisonError, RwLock};

/// One choice, for a context and a number of elements.
#[derive(Debug)]
struct ChosenLaunch {
    context: u64,
    n_elements: usize,
    choice: LaunchChoice,
}

/// The choices of one kernel.
#[derive(Debug, Default)]
pub(super) struct LaunchChoices {
    has_any: AtomicBool,
    /// One more than the number of the context whose stored choices were read last.
    read_for: AtomicU64,
    chosen: RwLock<Vec<ChosenLaunch>>,
}

impl LaunchChoices {
    /// The choice for the nearest number of elements (by ratio), or the default.
    pub(super) fn nearest_choice(&self, ctx: &ArrayContext, n_elements: usize) -> LaunchChoice {
        if !self.has_any.load(Ordering::Acquire) {
            return LaunchChoice::default();
        }
        let log = |n: usize| (n.max(1) as f64).log2();
        let distance = |chosen: &&ChosenLaunch| (log(chosen.n_elements) - log(n_elements)).abs();
        let chosen = self.chosen.read().unwrap_or_else(PoisonError::into_inner);
        let here = chosen.iter().filter(|chosen| chosen.context == ctx.context_number());
        here.min_by(|a, b| distance(a).total_cmp(&distance(b))).map_or_else(LaunchChoice::default, |found| found.choice)
    }

    /// Reads what was stored for the device of a context, once. `identity` is the name of the kernel and its source for
    /// contiguous arrays.
    #[inline]
    pub(super) fn read_stored(&self, ctx: &ArrayContext, identity: impl FnOnce() -> (String, String)) {
        let number = ctx.context_number().wrapping_add(1);
        if self.read_for.load(Ordering::Acquire) != number {
            self.read_for.store(number, Ordering::Release);
            self.read_choices(ctx, &identity());
        }
    }

    #[cold]
    fn read_choices(&self, ctx: &ArrayContext, (name, source): &(String, String)) {
        let Some(choices) = ctx.current_choices() else { return };
        for (bits, choice) in choices.launch_choices(name, source) {
            let bits_of = |chosen: &ChosenLaunch| chosen.n_elements.checked_ilog2().map_or(0, |log| log + 1);
            let is_same = |chosen: &ChosenLaunch| chosen.context == ctx.context_number() && bits_of(chosen) == bits;
            // Choices of this process are newer.
            let is_known = self.chosen.read().unwrap_or_else(PoisonError::into_inner).iter().any(is_same);
            if !is_known {
                let _ = self.set_choice(ctx, 1 << (bits.clamp(1, 62) - 1), choice);
            }
        }
    }

    /// Sets the choice for a number of elements; the default choice removes it.
    pub(super) fn set_choice(&self, ctx: &ArrayContext, n_elements: usize, choice: LaunchChoice) -> Result<()> {
        choice.check()?;
        let context = ctx.context_number();
        let mut chosen = self.chosen.write().unwrap_or_else(PoisonError::into_inner);
        chosen.retain(|old| !(old.context == context && old.n_elements == n_elements));
        if choice != LaunchChoice::default() {
            chosen.push(ChosenLaunch { context, n_elements, choice });
        }
        self.has_any.store(!chosen.is_empty(), Ordering::Release);
        Ok(())
    }
}
