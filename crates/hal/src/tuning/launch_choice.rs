//! Choices for the launch of a user's kernel.

use crate::error::{ArrayError, Result};

/// Choices for a launch; a field that is `None` follows the generator's rule.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct LaunchChoice {
    /// Threads per block: a multiple of 32, at most 1024.
    pub block: Option<u32>,
    /// Limits the grid to this multiple of the blocks that the device holds at once; a grid-stride loop does the rest.
    pub waves: Option<u32>,
    /// Whether to use vectorised accesses where alignment allows it.
    pub packed: Option<bool>,
    /// Number of vectors that each thread of a reduction folds, if there are enough.
    pub items: Option<u32>,
}

impl LaunchChoice {
    /// Checks that kernels can be launched with it.
    ///
    /// # Errors
    /// When a value is out of range; the message names it.
    pub fn check(&self) -> Result<()> {
        let refuse = |name: &str, value: u32, expected: &str| {
            Err(ArrayError::value_error(format!("{name} is {value}; expected {expected}")))
        };
        match *self {
            Self { block: Some(block), .. } if block == 0 || block > 1024 || block % 32 != 0 => {
                refuse("block", block, "a multiple of 32 from 32 to 1024")
            }
            Self { waves: Some(0), .. } => refuse("waves", 0, "1 or more"),
            Self { items: Some(items), .. } if items == 0 || items > 1 << 16 => refuse("items", items, "1 to 65536"),
            _ => Ok(()),
        }
    }
}
