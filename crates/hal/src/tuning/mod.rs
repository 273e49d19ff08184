//! Decisions that kernels leave open: candidates, a rule that is the default, and [`Choices`], which override it.
//!
//! A decision is declared with [`tunable!`](crate::tunable): the names and candidate values of its parameters, what
//! describes a problem, and constraints. The same text generates the check that a kernel can run with a configuration
//! and the constraints in Python's syntax, so these cannot disagree. Every configuration from a [`Choices`] is checked
//! against the declaration before it reaches a kernel; if it is refused, the rule decides.

mod decision;
mod launch_choice;
mod tunable;
mod value;

pub use decision::{Bucket, Config, Decision, Parameter, Problem, ProblemField, Refusal};
pub use launch_choice::LaunchChoice;
pub use tunable::Tunable;
#[doc(hidden)]
pub use tunable::python_expression;
pub use value::{ParameterType, ParameterValue};

use crate::DeviceInfo;

/// A source of configurations, instead of the rules.
pub trait Choices: Send + Sync {
    /// The configuration for a problem on a device; `None` for `default`, the rule's configuration. Called whenever a
    /// call is planned, so it should take less than a microsecond.
    fn choose(&self, problem: &Problem, default: &Config, device: &DeviceInfo) -> Option<Config>;

    /// The choices for launches of the user's kernel `name`, whose form for contiguous arrays has this source: each with
    /// the number of bits of the numbers of elements that it is for.
    fn launch_choices(&self, _name: &str, _source: &str) -> Vec<(u32, LaunchChoice)> {
        Vec::new()
    }

    /// Called with a configuration that no kernel can run with; the default is used instead.
    fn refused(&self, _problem: &Problem, _refusal: &Refusal) {}
}
