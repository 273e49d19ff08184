//! The approximate instructions: what they approximate and how far off they may be.
//!
//! The bounds are those of the PTX ISA's descriptions of the instructions. Where it gives none
//! (`.ftz.f64`, the upper words of doubles) the bound is one unit in the last place kept.

/// How far a result may be from the value.
#[derive(Debug, Clone, Copy)]
pub enum ErrorBound {
    Absolute(f64),
    Relative(f64),
    /// Units in the last place of the result's format.
    Units(f64),
}

/// A number format: bits of the exponent and of the fraction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FloatFormat {
    exponent: u32,
    fraction: u32,
}

const F16: FloatFormat = FloatFormat { exponent: 5, fraction: 10 };
const BF16: FloatFormat = FloatFormat { exponent: 8, fraction: 7 };
const F32: FloatFormat = FloatFormat { exponent: 8, fraction: 23 };
const F64: FloatFormat = FloatFormat { exponent: 11, fraction: 52 };

impl FloatFormat {
    /// The value of a number of this format.
    pub fn decode_bits(self, bits: u64) -> f64 {
        let sign = if bits >> (self.exponent + self.fraction) & 1 != 0 { -1.0 } else { 1.0 };
        let (special, bias) = ((1u64 << self.exponent) - 1, (1i32 << (self.exponent - 1)) - 1);
        let (field, fraction) = (bits >> self.fraction & special, bits & ((1 << self.fraction) - 1));
        if self == F64 {
            return f64::from_bits(bits);
        }
        let unit = (fraction as f64) / (1u64 << self.fraction) as f64;
        sign * match field {
            f if f == special && fraction == 0 => f64::INFINITY,
            f if f == special => f64::NAN,
            0 => unit * 2f64.powi(1 - bias),
            f => (1.0 + unit) * 2f64.powi(f as i32 - bias),
        }
    }

    /// The unit in the last place of numbers as large as `x`.
    pub fn ulp(self, x: f64) -> f64 {
        let lowest = 2 - (1i32 << (self.exponent - 1));
        let exponent = if x == 0.0 { lowest } else { (x.abs().log2().floor() as i32).max(lowest) };
        2f64.powi(exponent - self.fraction as i32)
    }

    fn smallest_normal(self) -> f64 {
        2f64.powi(2 - (1i32 << (self.exponent - 1)))
    }

    fn largest_finite(self) -> f64 {
        (2.0 - 2f64.powi(-(self.fraction as i32))) * 2f64.powi((1i32 << (self.exponent - 1)) - 1)
    }
}

/// An approximate instruction.
pub struct ApproxInstruction {
    pub name: String,
    pub format: FloatFormat,
    /// Two numbers in a register of 32 bits.
    pub pair: bool,
    ftz: bool,
    upper_word: bool,
    function: String,
}

impl ApproxInstruction {
    /// From the text of a form.
    pub fn from_instruction_text(text: &str) -> ApproxInstruction {
        let name = text.split(' ').next().unwrap().to_string();
        let parts: Vec<&str> = name.split('.').collect();
        let (format, pair) = match *parts.last().unwrap() {
            "f16" => (F16, false),
            "f16x2" => (F16, true),
            "bf16" => (BF16, false),
            "bf16x2" => (BF16, true),
            "f32" => (F32, false),
            _ => (F64, false),
        };
        let ftz = parts.contains(&"ftz");
        let function = if parts[0] == "div" { format!("div.{}", parts[1]) } else { parts[0].to_string() };
        ApproxInstruction { format, pair, ftz, upper_word: ftz && format == F64, function, name }
    }

    /// The operand as the instruction sees it.
    fn operand_value(&self, bits: u64) -> f64 {
        let bits = if self.upper_word { bits & !0xffff_ffff } else { bits };
        let x = self.format.decode_bits(bits);
        if self.ftz && self.format != F16 && x.abs() < self.format.smallest_normal() { 0.0f64.copysign(x) } else { x }
    }

    fn exact_value(&self, x: f64, y: f64) -> f64 {
        match self.function.as_str() {
            "sin" => x.sin(),
            "cos" => x.cos(),
            "lg2" if x == 0.0 => f64::NEG_INFINITY,
            "lg2" => x.log2(),
            "ex2" => x.exp2(),
            "tanh" => x.tanh(),
            "rcp" => 1.0 / x,
            "sqrt" => x.sqrt(),
            "rsqrt" => 1.0 / x.sqrt(),
            _ => x / y,
        }
    }

    /// What is allowed at this operand; `None` where nothing is promised.
    fn error_bound(&self, x: f64, y: f64) -> Option<ErrorBound> {
        use ErrorBound::{Absolute, Relative, Units};
        let p = |n: f64| 2f64.powf(n);
        Some(match (self.function.as_str(), self.format) {
            ("ex2", F16) => Relative(p(-9.9)),
            ("ex2", BF16) => Relative(p(-7.0)),
            ("tanh", F16) => Absolute(p(-10.987)),
            ("tanh", BF16) => Absolute(p(-8.0)),
            ("tanh", _) => Relative(p(-11.0)),
            ("ex2", _) => Units(2.0),
            ("lg2", _) if x > 0.5 && x < 2.0 => Absolute(p(-22.0)),
            ("lg2", _) => Relative(p(-22.0)),
            ("sin" | "cos", _) if x.abs() <= 2.0 * std::f64::consts::PI => Absolute(p(-20.5)),
            ("sin" | "cos", _) if x.abs() <= 100.0 * std::f64::consts::PI => Absolute(p(-14.7)),
            ("sin" | "cos", _) => return None,
            ("rcp" | "rsqrt", F64) if self.upper_word => Relative(p(-20.0)),
            ("rsqrt", F64) => Units(2.0),
            ("rcp" | "sqrt", _) => Units(1.0),
            ("rsqrt", _) => Relative(p(-22.9)),
            ("div.approx", _) if y.abs() > p(126.0) => return None,
            _ => Units(2.0),
        })
    }
}

/// The judgement of one result.
pub enum Verdict {
    /// The error as a share of what is allowed.
    Within {
        share: f64,
    },
    /// The result is a zero, an infinity or a NaN, and the same as the GPU's.
    Same,
    Wrong,
}

impl ApproxInstruction {
    /// Checks a number by the operands and the GPU's number.
    pub fn judge_result(&self, operands: [u64; 2], ours: u64, gpu: u64) -> Verdict {
        if ours == gpu {
            return Verdict::Same;
        }
        let (x, y) = (self.operand_value(operands[0]), self.operand_value(operands[1]));
        let want = self.exact_value(x, y);
        let (got, theirs) = (self.format.decode_bits(ours), self.format.decode_bits(gpu));
        let allowed = match self.error_bound(x, y) {
            Some(ErrorBound::Absolute(e)) => e,
            Some(ErrorBound::Relative(e)) => e * want.abs(),
            Some(ErrorBound::Units(n)) => n * self.format.ulp(want),
            // A sine of a large angle is anything in its range.
            None if self.function != "div.approx" => 2.0,
            None => return Verdict::Wrong,
        };
        // Where a result is no finite number the GPU shows what is right, but for what overflows by the
        // rounding allowed.
        if !theirs.is_finite() || !got.is_finite() {
            let near_overflow = want.is_finite() && want.abs() + allowed >= self.format.largest_finite();
            let fine = near_overflow && !got.is_nan() && !theirs.is_nan() && got.signum() == theirs.signum();
            return if fine { Verdict::Same } else { Verdict::Wrong };
        }
        if want.is_nan() || got == 0.0 && theirs == 0.0 {
            return Verdict::Wrong;
        }
        let tiny = want.abs() <= 1.001 * self.format.smallest_normal();
        if self.ftz && tiny && (got == 0.0 || theirs == 0.0) {
            let fine = got.abs().max(theirs.abs()) <= 2.0 * self.format.smallest_normal();
            return if fine { Verdict::Same } else { Verdict::Wrong };
        }
        // A result has few bits where it is subnormal or its format small: rounding counts as well.
        let unit = self.format.ulp(want);
        let few_bits = tiny || matches!(self.format, F16 | BF16);
        let allowed = if few_bits { allowed.max(unit) } else { allowed };
        let error = (got - want).abs();
        if error > allowed { Verdict::Wrong } else { Verdict::Within { share: error / allowed } }
    }

    /// How far a number is from the value, and that in units in the last place; `None` where nothing
    /// is promised and outside of the format's normal numbers.
    pub fn result_error(&self, operands: [u64; 2], number: u64) -> Option<(f64, f64)> {
        let (x, y) = (self.operand_value(operands[0]), self.operand_value(operands[1]));
        self.error_bound(x, y)?;
        let (want, got) = (self.exact_value(x, y), self.format.decode_bits(number));
        let range = self.format.smallest_normal()..=self.format.largest_finite();
        let error = (got - want).abs();
        (range.contains(&want.abs()) && range.contains(&got.abs())).then(|| (error, error / self.format.ulp(want)))
    }
}
