//! Search strategies. Each proposes rows that are neither tried nor pending, until none are left.

mod annealing;
mod auto;
mod genetic;
mod local;
mod moves;
mod plain;

use crate::strategy::Strategy;

/// The names of the strategies; `"auto"` is the default.
pub const NAMES: &[&str] = &["auto", "exhaustive", "random", "local", "genetic", "annealing"];

/// Makes the strategy with this name.
pub fn by_name(name: &str, seed: u64) -> Option<Box<dyn Strategy>> {
    match name {
        "auto" => Some(Box::new(auto::Auto::new(seed))),
        "exhaustive" => Some(Box::new(plain::Exhaustive::default())),
        "random" => Some(Box::new(plain::RandomOrder::new(seed))),
        "local" => Some(Box::new(local::LocalSearch::new(seed))),
        "genetic" => Some(Box::new(genetic::Genetic::new(seed))),
        "annealing" => Some(Box::new(annealing::Annealing::new(seed))),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
