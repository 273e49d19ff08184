//! What may be chosen about the launch of a generated kernel, and what was chosen for which numbers of elements.
//!
//! The rules of the generators are the defaults. A tuner sets choices, per context and number of elements; a launch
//! takes the choice whose number of elements is nearest. Without any choice a launch pays one load for this.

use crate::context::Context;
use crate::error::Result;
use crate::generators::error::GeneratorError;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{PoisonError, RwLock};

/// What is chosen about a launch; what is `None` follows the generator's rule.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct LaunchChoice {
    /// Threads of a block: a multiple of 32, at most 1024.
    pub block: Option<u32>,
    /// The grid is at most so many times the blocks that the device holds at once; more work is done by striding.
    pub waves: Option<u32>,
    /// Whether accesses are wide, where alignment allows it.
    pub packed: Option<bool>,
    /// Packs of elements that a thread of a reduction folds, where there are enough.
    pub items: Option<u32>,
}

impl LaunchChoice {
    fn check(&self) -> Result<()> {
        let refuse = |name: &str, value: u32, expected: &str| {
            Err(GeneratorError::value_error(format!("{name} is {value}; expected {expected}")))
        };
        match *self {
            Self { block: Some(block), .. } if block == 0 || block > 1024 || block % 32 != 0 => {
                refuse("block", block, "a multiple of 32 from 32 to 1024")
            }
            Self { waves: Some(0), .. } => refuse("waves", 0, "1 or more"),
            Self { items: Some(items), .. } if items == 0 || items > 1 << 16 => refuse("items", items, "1 to 65536"),
            _ => Ok(()),
        }
    }
}

/// One choice, for a context and a number of elements.
#[derive(Debug)]
struct ChosenLaunch {
    ctx: Context,
    n_elements: usize,
    choice: LaunchChoice,
}

/// The choices of one kernel.
#[derive(Debug, Default)]
pub(crate) struct LaunchChoices {
    has_any: AtomicBool,
    chosen: RwLock<Vec<ChosenLaunch>>,
}

impl LaunchChoices {
    /// The choice for the nearest number of elements (by ratio), or the default.
    pub(crate) fn nearest_choice(&self, ctx: &Context, n_elements: usize) -> LaunchChoice {
        if !self.has_any.load(Ordering::Acquire) {
            return LaunchChoice::default();
        }
        let log = |n: usize| (n.max(1) as f64).log2();
        let distance = |chosen: &&ChosenLaunch| (log(chosen.n_elements) - log(n_elements)).abs();
        let chosen = self.chosen.read().unwrap_or_else(PoisonError::into_inner);
        let here = chosen.iter().filter(|chosen| chosen.ctx == *ctx);
        here.min_by(|a, b| distance(a).total_cmp(&distance(b))).map_or_else(LaunchChoice::default, |found| found.choice)
    }

    /// Sets the choice for a number of elements; the default choice removes it.
    pub(crate) fn set_choice(&self, ctx: &Context, n_elements: usize, choice: LaunchChoice) -> Result<()> {
        choice.check()?;
        let mut chosen = self.chosen.write().unwrap_or_else(PoisonError::into_inner);
        chosen.retain(|old| old.ctx.driver_context().is_alive() && !(old.ctx == *ctx && old.n_elements == n_elements));
        if choice != LaunchChoice::default() {
            chosen.push(ChosenLaunch { ctx: ctx.clone(), n_elements, choice });
        }
        self.has_any.store(!chosen.is_empty(), Ordering::Release);
        Ok(())
    }
}
