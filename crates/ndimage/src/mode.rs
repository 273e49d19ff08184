//! The treatment of image borders, under the names of `scipy.ndimage`.

use rtcg_hal::{ArrayError, Result};
use std::str::FromStr;

/// What filters see beyond a border.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Mode {
    /// The image reflected about the edge of its last pixel: `d c b a | a b c d | d c b a`.
    #[default]
    Reflect,
    /// The last pixel: `a a a a | a b c d | d d d d`.
    Nearest,
    /// The image reflected about the centre of its last pixel: `d c b | a b c d | c b a`.
    Mirror,
    /// A constant value.
    Constant,
    /// The image repeated: `a b c d | a b c d | a b c d`.
    Wrap,
}

impl Mode {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Reflect => "reflect",
            Self::Nearest => "nearest",
            Self::Mirror => "mirror",
            Self::Constant => "constant",
            Self::Wrap => "wrap",
        }
    }
}

impl FromStr for Mode {
    type Err = ArrayError;

    fn from_str(name: &str) -> Result<Self> {
        Ok(match name {
            "reflect" | "grid-mirror" => Self::Reflect,
            "nearest" => Self::Nearest,
            "mirror" => Self::Mirror,
            "constant" | "grid-constant" => Self::Constant,
            "wrap" | "grid-wrap" => Self::Wrap,
            _ => {
                return Err(ArrayError::value_error(format!(
                    "mode is '{name}'; expected 'reflect' ('grid-mirror'), 'nearest', 'mirror', 'constant' \
                     ('grid-constant') or 'wrap' ('grid-wrap')"
                )));
            }
        })
    }
}
