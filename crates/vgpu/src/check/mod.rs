//! Checked mode: finds and reports errors of kernels that do not fault.
//!
//! Establishes: [`enabled_checks`] never changes once device memory exists, because the state of every
//! byte must be tracked from its allocation on. Findings are stored once per place in the program,
//! printed when the launch ends, and can be read with [`findings`].

pub(crate) mod allocation;
mod findings;
pub(crate) mod leaks;
pub(crate) mod peers;
pub(crate) mod race;
pub(crate) mod shadow;

pub use findings::{Finding, FindingKind, RaceAccess, clear_findings, findings};
pub(crate) use findings::{print_new_findings, record_fault_finding, record_finding};

use std::fmt;
use std::sync::OnceLock;

/// The kinds of checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Checks {
    /// Accesses outside allocations, after a free, or misaligned.
    pub memory: bool,
    /// Reads of uninitialised memory.
    pub init: bool,
    /// Accesses of different threads to the same memory without an order between them.
    pub race: bool,
    /// Barriers and warp operations that not all threads reach.
    pub sync: bool,
    /// What a context still owns when it is destroyed.
    pub leak: bool,
    /// Findings other than memory errors end the launch as well.
    pub fatal: bool,
}

impl Checks {
    /// No check at all.
    pub const NO_CHECKS: Checks =
        Checks { memory: false, init: false, race: false, sync: false, leak: false, fatal: false };
    /// All checks; findings other than memory errors do not end a launch.
    pub const ALL: Checks = Checks { memory: true, init: true, race: true, sync: true, leak: true, fatal: false };

    /// All that is wrong with kernels, whatever becomes of the objects of the host.
    pub const KERNELS: Checks = Checks { leak: false, ..Checks::ALL };

    /// Reads a list such as `memory,init`; `1` stands for [`Checks::KERNELS`], `all` for all checks,
    /// `none` and `0` for none; `fatal` makes every finding end its launch. `None` when a word is
    /// unknown.
    pub fn parse(list: &str) -> Option<Checks> {
        let mut checks = Checks::NO_CHECKS;
        for word in list.split(',').map(str::trim).filter(|w| !w.is_empty()) {
            match word {
                "memory" => checks.memory = true,
                "init" => checks.init = true,
                "race" => checks.race = true,
                "sync" => checks.sync = true,
                "leak" => checks.leak = true,
                "fatal" => checks.fatal = true,
                "all" => checks = Checks { fatal: checks.fatal, ..Checks::ALL },
                "1" => checks = Checks { fatal: checks.fatal, leak: checks.leak, ..Checks::KERNELS },
                "none" | "0" => checks = Checks::NO_CHECKS,
                _ => return None,
            }
        }
        Some(checks)
    }

    /// Whether any check needs to be notified of accesses.
    pub(crate) fn instruments_accesses(self) -> bool {
        self.uses_shadow_memory() || self.race
    }

    /// Whether compiled code looks at the state of the memory it accesses.
    pub(crate) fn uses_shadow_memory(self) -> bool {
        self.memory || self.init
    }
}

impl fmt::Display for Checks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = [
            ("memory", self.memory),
            ("init", self.init),
            ("race", self.race),
            ("sync", self.sync),
            ("leak", self.leak),
            ("fatal", self.fatal),
        ];
        let on: Vec<&str> = words.iter().filter(|w| w.1).map(|w| w.0).collect();
        f.write_str(if on.is_empty() { "none" } else { "" })?;
        f.write_str(&on.join(","))
    }
}

/// It is too late for [`configure`]: device memory exists whose state was not tracked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConfiguredTooLate;

impl fmt::Display for ConfiguredTooLate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("checks must be chosen before the first context of the virtual GPU")
    }
}

impl std::error::Error for ConfiguredTooLate {}

static CHECKS: OnceLock<Checks> = OnceLock::new();

/// Chooses the checks of this process, instead of the environment variable `RTCG_CHECK`.
///
/// # Errors
/// Device memory exists already, with other checks.
pub fn configure(checks: Checks) -> Result<(), ConfiguredTooLate> {
    if *CHECKS.get_or_init(|| checks) == checks { Ok(()) } else { Err(ConfiguredTooLate) }
}

/// The checks of this process. From the first call on they are fixed.
pub fn enabled_checks() -> Checks {
    *CHECKS.get_or_init(|| {
        let expected = "1, all, or a list of memory, init, race, sync, leak, fatal";
        crate::env::env_setting("RTCG_CHECK", expected, Checks::parse).unwrap_or(Checks::NO_CHECKS)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_read_and_written() {
        let some = Checks::parse("memory, init").unwrap();
        assert!(some.memory && some.init && !some.race && !some.fatal);
        assert_eq!(some.to_string(), "memory,init");
        assert_eq!(Checks::parse("all"), Some(Checks::ALL));
        assert_eq!(Checks::parse("1").unwrap().to_string(), "memory,init,race,sync");
        assert_eq!(Checks::parse("1,leak"), Some(Checks::ALL));
        assert_eq!(Checks::parse("0"), Some(Checks::NO_CHECKS));
        assert_eq!(Checks::parse(""), Some(Checks::NO_CHECKS));
        assert_eq!(Checks::parse("memory,speed"), None);
        assert_eq!(Checks::NO_CHECKS.to_string(), "none");
    }
}
