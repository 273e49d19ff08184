//! GPU architectures in the spelling of options: `sm_90a`, `compute_80`.

use std::fmt;
use std::str::FromStr;

/// A compute capability with its optional feature suffix (`a`: this architecture only, `f`: its family). The forms
/// `sm_90a`, `compute_90a`, `lto_90a` and `90a` all parse to the same value.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Arch {
    /// `10 * major + minor`.
    pub number: u32,
    /// `a` or `f`.
    pub suffix: Option<char>,
}

impl Arch {
    /// Makes the architecture of a compute capability.
    pub const fn new(major: u32, minor: u32) -> Self {
        Self { number: 10 * major + minor, suffix: None }
    }

    /// The major compute capability.
    pub const fn major(self) -> u32 {
        self.number / 10
    }

    /// The name for machine code: `sm_90a`.
    pub fn real_name(self) -> String {
        format!("sm_{self}")
    }

    /// The name for PTX: `compute_90a`.
    pub fn virtual_name(self) -> String {
        format!("compute_{self}")
    }

    /// Whether machine code for `self` runs on a device of architecture `device`.
    pub fn runs_on_device(self, device: Arch) -> bool {
        match self.suffix {
            Some('a') => self.number == device.number,
            _ => self.major() == device.major() && self.number <= device.number,
        }
    }
}

impl fmt::Display for Arch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.number)?;
        match self.suffix {
            Some(suffix) => write!(f, "{suffix}"),
            None => Ok(()),
        }
    }
}

impl FromStr for Arch {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let bare = ["sm_", "compute_", "lto_"].iter().find_map(|p| text.strip_prefix(p)).unwrap_or(text);
        let (digits, suffix) = match bare.char_indices().last() {
            Some((at, last @ ('a' | 'f'))) => (&bare[..at], Some(last)),
            _ => (bare, None),
        };
        match digits.parse::<u32>() {
            Ok(number) if (10..10_000).contains(&number) && !digits.starts_with('+') => Ok(Self { number, suffix }),
            _ => Err(format!("{text:?} is not a GPU architecture (expected a form such as sm_80 or compute_90a)")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Arch;

    #[test]
    fn parses_every_spelling() {
        for text in ["sm_90a", "compute_90a", "90a", "lto_90a"] {
            assert_eq!(text.parse(), Ok(Arch { number: 90, suffix: Some('a') }), "{text}");
        }
        assert_eq!("sm_120".parse::<Arch>().map(|a| a.real_name()), Ok("sm_120".to_owned()));
        for text in ["", "sm_", "sm_x", "native", "9", "+90", "sm_90x", "99999999999"] {
            assert!(text.parse::<Arch>().is_err(), "{text}");
        }
    }

    #[test]
    fn machine_code_runs_within_its_major_version() {
        let arch = |t: &str| t.parse::<Arch>().unwrap();
        assert!(arch("80").runs_on_device(arch("86")));
        assert!(!arch("86").runs_on_device(arch("80")));
        assert!(!arch("80").runs_on_device(arch("90")));
        assert!(arch("90a").runs_on_device(arch("90")));
        assert!(!arch("100a").runs_on_device(arch("103")));
    }
}
