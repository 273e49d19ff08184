//! What kernels leave open: decisions with candidates, a rule that decides where nobody else does, and [`Choices`],
//! by which somebody else may.
//!
//! A decision is declared with [`tunable!`](crate::tunable): the names and candidate values of its parameters, what
//! describes a problem, and constraints. From one text come the check that a kernel can run with a choice and the
//! constraints in Python's syntax, so that these cannot disagree. Whatever a [`Choices`] answers is checked against the
//! declaration before it reaches a kernel: the rule stands in for what is refused.

mod decision;
mod tunable;
mod value;

pub use decision::{Bucket, Config, Decision, Parameter, Problem, ProblemField, Refusal};
pub use tunable::Tunable;
#[doc(hidden)]
pub use tunable::python_expression;
pub use value::{TunableField, TunableValue};

use crate::DeviceInfo;

/// Decides what kernels leave open, in place of the rules.
pub trait Choices: Send + Sync {
    /// The choice for a problem on a device; `None` for `default`, which the rule chose. Called whenever a call is
    /// planned, so that it should take less than a microsecond.
    fn choose(&self, problem: &Problem, default: &Config, device: &DeviceInfo) -> Option<Config>;

    /// Told of a choice that no kernel can run with, in place of which the default is taken.
    fn refused(&self, _problem: &Problem, _refusal: &Refusal) {}
}
