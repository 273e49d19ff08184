//! Auto-tuning without a device: search spaces with constraints, strategies, statistics, and a store of results.
//!
//! A [`Space`] has named parameters and constraints; enumerating it gives [`Configurations`], a table of the valid
//! configurations. A [`Strategy`] proposes rows and is told their [`Outcome`]s. A target, which the user provides,
//! measures a row, so that everything here can be tested without a GPU.
//!
//! | folder, file | contents |
//! |---|---|
//! | `space.rs`, `enumerate/`, `expression/` | search spaces, their enumeration, and constraint expressions |
//! | `strategies/` | search strategies |
//! | `tuner/`, `target.rs`, `nested.rs` | the search loop over a target, and nested targets |
//! | `statistics.rs` | statistics of samples |
//! | `store/`, `formats/` | the store of results, and file formats of other tuners |
//! | `decisions/` | the decisions of `rtcg-hal` as problems; stored and shipped results that override the rules |
#![forbid(unsafe_code)]

mod budget;
mod configurations;
pub mod decisions;
mod enumerate;
mod expression;
pub mod formats;
mod nested;
mod objective;
mod outcome;
mod pareto;
mod random;
mod replay;
mod report;
mod search;
mod sensors;
mod space;
pub mod statistics;
pub mod store;
pub mod strategies;
mod strategy;
mod strict_json;
mod surrogate;
mod target;
mod trial;
mod tuner;
mod value;

pub use budget::{Budget, BudgetError};
pub use configurations::{Config, Configurations};
pub use expression::{Expression, ExpressionError};
pub use nested::{NestedTarget, Part, PartReports};
pub use objective::{OBJECTIVE_NAME, Objective, format_seconds};
pub use outcome::{Failure, FailureKind, Outcome};
pub use pareto::pareto_front;
pub use random::Random;
pub use replay::Replay;
pub use report::{Finalist, Limit, Report, StopReason, ValueEffect};
pub use search::Search;
pub use sensors::{EnergyOfLaunch, Sensor, Sensors, measure_energy};
pub use space::{ConfigPredicate, Space, SpaceError};
pub use strategy::{History, Strategy, Trial};
pub use target::{Compiler, Target};
pub use trial::{Resources, TrialReport, WindowKind};
pub use tuner::{Event, LowerBound, TunerOptions, tune};
pub use value::Value;
