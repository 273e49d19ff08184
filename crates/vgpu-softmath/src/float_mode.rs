//! Modifiers of an instruction, packed into one word so that compiled code can pass them.

use rtcg_ptx::ast::{FpMods, Rounding};

use super::RoundMode;

/// The modifiers of a floating-point instruction and one number of its own (a table, a mode).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FloatMode {
    /// Rounding; to nearest even when nothing is written.
    pub rnd: RoundMode,
    /// Subnormal single-precision inputs and results become zero.
    pub ftz: bool,
    /// Clamp to [0, 1] (finite range for the 8-bit formats).
    pub sat: bool,
    /// Negative results become zero.
    pub relu: bool,
    /// NaN in, NaN out (min, max).
    pub nan: bool,
    /// `.xorsign.abs`
    pub xorsign: bool,
    /// The instruction's own number.
    pub extra: u32,
}

impl Default for FloatMode {
    fn default() -> Self {
        FloatMode { rnd: RoundMode::Nearest, ftz: false, sat: false, relu: false, nan: false, xorsign: false, extra: 0 }
    }
}

impl From<&FpMods> for FloatMode {
    fn from(m: &FpMods) -> FloatMode {
        let rnd = match m.rnd {
            Rounding::Default | Rounding::Rn | Rounding::Rni => RoundMode::Nearest,
            Rounding::Rz | Rounding::Rzi => RoundMode::Zero,
            Rounding::Rm | Rounding::Rmi => RoundMode::Down,
            Rounding::Rp | Rounding::Rpi => RoundMode::Up,
            Rounding::Rna => RoundMode::Away,
        };
        FloatMode { rnd, ftz: m.ftz, sat: m.sat, relu: m.relu, nan: m.nan, xorsign: m.xorsign_abs, extra: 0 }
    }
}

const ROUND_MODES: [RoundMode; 5] =
    [RoundMode::Nearest, RoundMode::Zero, RoundMode::Down, RoundMode::Up, RoundMode::Away];

impl FloatMode {
    /// This mode with the instruction's own number set.
    #[inline]
    pub fn with_instruction_bits(self, extra: u32) -> FloatMode {
        FloatMode { extra, ..self }
    }

    /// One word that [`FloatMode::from_word`] reads back.
    #[inline]
    pub fn to_word(self) -> u64 {
        let flags = [self.ftz, self.sat, self.relu, self.nan, self.xorsign];
        let bits = flags.iter().enumerate().fold(0, |w, (i, &f)| w | u64::from(f) << (8 + i));
        bits | self.rnd as u64 | u64::from(self.extra) << 32
    }

    /// The inverse of [`FloatMode::to_word`].
    #[inline]
    pub fn from_word(word: u64) -> FloatMode {
        let flag = |i: u32| word >> (8 + i) & 1 != 0;
        FloatMode {
            rnd: ROUND_MODES[(word & 7).min(4) as usize],
            ftz: flag(0),
            sat: flag(1),
            relu: flag(2),
            nan: flag(3),
            xorsign: flag(4),
            extra: (word >> 32) as u32,
        }
    }
}
