//! Modifiers of an instruction, packed into one word so that compiled code can pass them.

use rtcg_ptx::ast::{FpMods, Rounding};

use super::Round;

/// The modifiers of a floating-point instruction and one number of its own (a table, a mode).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mode {
    /// Rounding; to nearest even when nothing is written.
    pub rnd: Round,
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

impl Default for Mode {
    fn default() -> Self {
        Mode { rnd: Round::Nearest, ftz: false, sat: false, relu: false, nan: false, xorsign: false, extra: 0 }
    }
}

impl From<&FpMods> for Mode {
    fn from(m: &FpMods) -> Mode {
        let rnd = match m.rnd {
            Rounding::Default | Rounding::Rn | Rounding::Rni => Round::Nearest,
            Rounding::Rz | Rounding::Rzi => Round::Zero,
            Rounding::Rm | Rounding::Rmi => Round::Down,
            Rounding::Rp | Rounding::Rpi => Round::Up,
            Rounding::Rna => Round::Away,
        };
        Mode { rnd, ftz: m.ftz, sat: m.sat, relu: m.relu, nan: m.nan, xorsign: m.xorsign_abs, extra: 0 }
    }
}

const ROUNDS: [Round; 5] = [Round::Nearest, Round::Zero, Round::Down, Round::Up, Round::Away];

impl Mode {
    /// This mode with the instruction's own number set.
    pub fn with(self, extra: u32) -> Mode {
        Mode { extra, ..self }
    }

    /// One word that [`Mode::unpack`] reads back.
    pub fn pack(self) -> u64 {
        let flags = [self.ftz, self.sat, self.relu, self.nan, self.xorsign];
        let bits = flags.iter().enumerate().fold(0, |w, (i, &f)| w | u64::from(f) << (8 + i));
        bits | self.rnd as u64 | u64::from(self.extra) << 32
    }

    /// The inverse of [`Mode::pack`].
    pub fn unpack(word: u64) -> Mode {
        let flag = |i: u32| word >> (8 + i) & 1 != 0;
        Mode {
            rnd: ROUNDS[(word & 7).min(4) as usize],
            ftz: flag(0),
            sat: flag(1),
            relu: flag(2),
            nan: flag(3),
            xorsign: flag(4),
            extra: (word >> 32) as u32,
        }
    }
}
