//! The decisions that kernels leave open ([`rtcg_hal::tuning`]), searched and stored as problems of this crate: the
//! spaces of their configurations, and stored and shipped results that override the rules.

mod conversion;
mod shipped;
mod stored;

pub use conversion::{config_from_values, decision_key, decision_problem, decision_space, values_of_config};
pub use shipped::{Shipped, shipped_names, shipped_records};
pub use stored::{StoredChoices, shipped_incumbents};
