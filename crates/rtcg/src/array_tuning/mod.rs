//! The decisions that arrays' kernels leave open, as something that is tuned: spaces to search, and stored results that
//! decide in place of the rules.
//!
//! A program needs none of this to profit: a context's arrays ask [`StoredChoices`] whenever a call is planned, which
//! reads the results that are shipped and those of the user's folder. To tune what a call decides, record the decisions
//! it meets ([`record_decisions`]), search [`decision_space`] of each with the call under [`with_forced_choice`], and
//! keep the results by [`decision_key`] and [`decision_problem`].

use rtcg_codegen::tuning::Decision;

/// Every decision that kernels of arrays and of sparse matrices leave open.
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
