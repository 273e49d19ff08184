//! Checked mode: finds and reports errors of kernels that do not fault.
//!
//! Establishes: [`enabled_checks`] never changes once device memory exists, because the state of every
//! byte must be tracked from its allocation on. Findings are stored once per place in the program
//! (and module), printed when the launch ends, and can be read with [`findings`].

mod findings;
pub(crate) mod race;
pub mod shadow;

pub(crate) use findings::record_fault_finding;
pub use findings::{Finding, FindingKind, RaceAccess, clear_findings, findings};
pub use findings::{print_new_findings, record_finding, record_pending_export};

use std::fmt;
use std::sync::OnceLock;

/// The kinds of checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct CheckSet {
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

impl CheckSet {
    /// No check at all.
    pub const NO_CHECKS: CheckSet =
        CheckSet { memory: false, init: false, race: false, sync: false, leak: false, fatal: false };
    /// All checks; findings other than memory errors do not end a launch.
    pub const ALL_CHECKS: CheckSet =
        CheckSet { memory: true, init: true, race: true, sync: true, leak: true, fatal: false };

    /// All that is wrong with kernels, whatever becomes of the objects of the host.
    pub const KERNEL_CHECKS: CheckSet = CheckSet { leak: false, ..CheckSet::ALL_CHECKS };

    /// Reads a list such as `memory,init`; `1` stands for [`CheckSet::KERNEL_CHECKS`], `all` for all checks,
    /// `none` and `0` for none; `fatal` makes every finding end its launch, and `nccl` is no check of kernels. `None`
    /// when a word is unknown.
    pub fn parse(list: &str) -> Option<CheckSet> {
        let mut checks = CheckSet::NO_CHECKS;
        for word in list.split(',').map(str::trim).filter(|w| !w.is_empty()) {
            match word {
                "memory" => checks.memory = true,
                "init" => checks.init = true,
                "race" => checks.race = true,
                "sync" => checks.sync = true,
                "leak" => checks.leak = true,
                "fatal" => checks.fatal = true,
                "all" => checks = CheckSet { fatal: checks.fatal, ..CheckSet::ALL_CHECKS },
                "1" => checks = CheckSet { fatal: checks.fatal, leak: checks.leak, ..CheckSet::KERNEL_CHECKS },
                "none" | "0" => checks = CheckSet::NO_CHECKS,
                // Of calls of a GPU's NCCL, by the driver's safe objects; that of virtual devices is always checked.
                "nccl" => {}
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

impl fmt::Display for CheckSet {
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

/// It is too late for [`configure_checks`]: device memory exists whose state was not tracked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConfiguredTooLate;

impl fmt::Display for ConfiguredTooLate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("checks must be chosen before the first context of the virtual GPU")
    }
}

impl std::error::Error for ConfiguredTooLate {}

static ENABLED_CHECKS: OnceLock<CheckSet> = OnceLock::new();

/// Chooses the checks of this process, instead of the environment variable `RTCG_CHECK`.
///
/// # Errors
/// Device memory exists already, with other checks.
pub fn configure_checks(checks: CheckSet) -> Result<(), ConfiguredTooLate> {
    if *ENABLED_CHECKS.get_or_init(|| checks) == checks { Ok(()) } else { Err(ConfiguredTooLate) }
}

/// The checks of this process. From the first call on they are fixed.
pub fn enabled_checks() -> CheckSet {
    // The driver's initialisation has reported a text that cannot be read.
    *ENABLED_CHECKS.get_or_init(|| checks_from_environment().ok().flatten().unwrap_or(CheckSet::NO_CHECKS))
}

/// The checks that were asked for so far, by [`configure_checks`] or the environment. Unlike [`enabled_checks`] it does
/// not fix them.
pub fn requested_checks() -> CheckSet {
    let from_environment = || checks_from_environment().ok().flatten();
    ENABLED_CHECKS.get().copied().or_else(from_environment).unwrap_or(CheckSet::NO_CHECKS)
}

/// The checks that the environment variable `RTCG_CHECK` asks for; an error if it cannot be read.
pub fn checks_from_environment() -> Result<Option<CheckSet>, String> {
    let expected = "1, all, none, or a list of memory, init, race, sync, leak, fatal, nccl";
    rtcg_vgpu_abi::env::read_setting("RTCG_CHECK", expected, CheckSet::parse)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn check_lists_are_parsed_and_printed() {
        let some = CheckSet::parse("memory, init").unwrap();
        assert!(some.memory && some.init && !some.race && !some.fatal);
        assert_eq!(some.to_string(), "memory,init");
        assert_eq!(CheckSet::parse("all"), Some(CheckSet::ALL_CHECKS));
        assert_eq!(CheckSet::parse("1").unwrap().to_string(), "memory,init,race,sync");
        assert_eq!(CheckSet::parse("1,leak"), Some(CheckSet::ALL_CHECKS));
        assert_eq!(CheckSet::parse("0"), Some(CheckSet::NO_CHECKS));
        assert_eq!(CheckSet::parse(""), Some(CheckSet::NO_CHECKS));
        assert_eq!(CheckSet::parse("memory,speed"), None);
        assert_eq!(CheckSet::NO_CHECKS.to_string(), "none");
    }
}
