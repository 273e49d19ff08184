//! Tuning of the decisions that array kernels leave open: the spaces to search, and stored results that override the
//! rules.
//!
//! Programs benefit without using this module: whenever a call is planned, the context's arrays ask [`StoredChoices`],
//! which reads the shipped results and those in the user's folder. To tune the decisions of a call, record them with
//! [`record_decisions`], search each one's [`decision_space`] with the call under [`with_forced_config`], and store the
//! results under [`decision_key`] and [`decision_problem`].

use rtcg_hal::tuning::Decision;

/// Returns every decision that kernels of arrays, of sparse matrices, of k-means and of stencils leave open.
pub fn decisions() -> Vec<&'static Decision> {
    let mut all = rtcg_array::decisions();
    all.extend(rtcg_sparse::decisions());
    all.extend(rtcg_neighbors::decisions());
    all.push(<crate::lang::NestForm as rtcg_hal::tuning::Tunable>::decision());
    all.push(<crate::lang::RowsForm as rtcg_hal::tuning::Tunable>::decision());
    all.push(<crate::lang::StoringForm as rtcg_hal::tuning::Tunable>::decision());
    all.extend(rtcg_lang::specialize::decisions());
    all
}

/// Looks up a decision by name, such as `matmul.tile`.
pub fn find_decision(name: &str) -> Option<&'static Decision> {
    decisions().into_iter().find(|decision| decision.name == name)
}

mod forced;

pub use forced::{DecisionCall, compile_with_config, record_decisions, with_forced_config};
pub use rtcg_tune::decisions::{
    StoredChoices, config_from_values, decision_key, decision_problem, decision_space, shipped_incumbents,
    values_of_config,
};
