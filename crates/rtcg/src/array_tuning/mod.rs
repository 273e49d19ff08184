//! Tuning of the decisions that array kernels leave open: the spaces to search, and stored results that override the
//! rules.
//!
//! Programs benefit without using this module: whenever a call is planned, the context's arrays ask [`StoredChoices`],
//! which reads the shipped results and those in the user's folder. To tune the decisions of a call, record them with
//! [`record_decisions`], search each one's [`decision_space`] with the call under [`with_forced_choice`], and store the
//! results under [`decision_key`] and [`decision_problem`].

use rtcg_hal::tuning::Decision;

/// Returns every decision that kernels of arrays and of sparse matrices leave open.
pub fn decisions() -> Vec<&'static Decision> {
    let mut all = rtcg_array::decisions();
    all.extend(rtcg_sparse::decisions());
    all
}

mod conversion;
mod forced;
mod shipped;
mod stored;

pub use conversion::{
    config_from_values, decision_key, decision_problem, decision_space, find_decision, values_of_config,
};
pub use forced::{DecisionCall, compile_with_choice, record_decisions, with_forced_choice};
pub use stored::{StoredChoices, shipped_incumbents};
