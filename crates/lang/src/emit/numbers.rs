//! Numbers, types and operations as C.

use crate::ir::Number;
use rtcg_codegen::array::{Op, scalar_function, scalar_type};
use rtcg_codegen::c_declarations::{CType, CTypeForm};
use rtcg_hal::{DType, DTypeKind};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// The C type of a number.
pub(crate) fn c_name(dtype: DType) -> String {
    scalar_type(dtype).into_owned()
}

/// The type of a parameter.
pub(crate) fn c_type(dtype: DType) -> CType {
    let mut found = CType::from(dtype);
    if matches!(dtype, DType::F16 | DType::BF16) {
        found.name = c_name(dtype);
        found.form = CTypeForm::Registered(u32::MAX - 1);
    }
    found
}

/// A number as C.
pub(crate) fn literal(number: Number, dtype: DType) -> String {
    match number {
        Number::Bool(value) => value.to_string(),
        Number::Int(value) if dtype == DType::I64 && value == i128::from(i64::MIN) => {
            "(-9223372036854775807LL - 1)".into()
        }
        Number::Int(value) if dtype == DType::U64 => format!("{value}ULL"),
        Number::Int(value) if dtype == DType::I64 => format!("{value}LL"),
        Number::Int(value) if dtype == DType::I32 && value > i128::from(i32::MIN) => value.to_string(),
        Number::Int(value) if dtype.is_integral() => format!("({})({value}LL)", c_name(dtype)),
        Number::Int(value) => literal(Number::Float(value as f64), dtype),
        Number::Float(value) => match dtype {
            DType::F32 => float(value, true),
            DType::F64 => float(value, false),
            DType::C64 | DType::C128 => literal(Number::Complex(value, 0.0), dtype),
            dtype => format!("rt_cast<{}>({})", c_name(dtype), float(value, false)),
        },
        Number::Complex(re, im) => {
            let is_single = dtype == DType::C64;
            format!("{}({}, {})", c_name(dtype), float(re, is_single), float(im, is_single))
        }
    }
}

fn float(value: f64, is_single: bool) -> String {
    if value.is_nan() {
        return if is_single { "__int_as_float(0x7fc00000)" } else { "__longlong_as_double(0x7ff8000000000000LL)" }
            .into();
    }
    if value.is_infinite() {
        let sign = if value < 0.0 { "-" } else { "" };
        let text = if is_single { "__int_as_float(0x7f800000)" } else { "__longlong_as_double(0x7ff0000000000000LL)" };
        return format!("({sign}{text})");
    }
    let text = if is_single { format!("{:e}f", value as f32) } else { format!("{value:e}") };
    if value.is_sign_negative() { format!("({text})") } else { text }
}

/// The device functions of operations, each once.
#[derive(Debug, Default)]
pub(crate) struct Functions {
    names: BTreeMap<String, String>,
    pub(crate) text: String,
    /// Whether expressions divide int64.
    pub(crate) divides: bool,
    /// Whether each operation has to give the bits that it gives in a kernel of its own, whatever surrounds it.
    pub(crate) keeps_apart: bool,
    /// Whether products may be contracted with sums.
    contracts: bool,
    n_hidden: usize,
}

impl Functions {
    pub(super) fn new(contracts: bool) -> Self {
        Self { contracts, ..Self::default() }
    }

    /// An operation of operands that are C expressions.
    pub(crate) fn expression(&mut self, op: Op, compute: DType, out: DType, operands: &[(String, DType)]) -> String {
        if !self.keeps_apart || op.has_explicit_rounding(compute) {
            return self.inline_expression(op, compute, out, operands);
        }
        let operands: Vec<_> = operands.iter().map(|(text, dtype)| (self.hidden(text), *dtype)).collect();
        let value = self.inline_expression(op, compute, out, &operands);
        self.hidden(&value)
    }

    /// An expression, of whose value a compiler knows nothing.
    pub(super) fn hidden(&mut self, value: &str) -> String {
        self.n_hidden += 1;
        format!("rt_opaque({value}, zeros.at[{}])", self.n_hidden % ZERO_COUNT)
    }

    /// An operation that a compiler may compute together with its surroundings.
    fn inline_expression(&mut self, op: Op, compute: DType, out: DType, operands: &[(String, DType)]) -> String {
        if self.contracts && op == Op::Multiply && matches!(compute, DType::F32 | DType::F64) {
            let is_plain = |(_, dtype): &(String, DType)| *dtype == compute;
            if operands.iter().all(is_plain) {
                return format!("{} * {}", operands[0].0, operands[1].0);
            }
        }
        if let Some(plain) = plain_expression(op, compute, out, operands) {
            self.divides |= plain.starts_with("rtcg_div") || plain.starts_with("rtcg_mod");
            return plain;
        }
        let dtypes: Vec<DType> = operands.iter().map(|(_, dtype)| *dtype).collect();
        let mut key = format!("{}_{}", op.name(), compute.name());
        if dtypes.iter().any(|dtype| *dtype != compute) {
            dtypes.iter().for_each(|dtype| {
                let _ = write!(key, "_{}", dtype.name());
            });
        }
        let key = key.replace(' ', "_");
        if !self.names.contains_key(&key) {
            let name = format!("rtcg_{key}");
            self.text.push_str(&scalar_function(&name, op, compute, out, &dtypes));
            self.names.insert(key.clone(), name);
        }
        let arguments: Vec<&str> = operands.iter().map(|(text, _)| text.as_str()).collect();
        format!("{}(0, {})", self.names[&key], arguments.join(", "))
    }
}

/// Number of zeros in the arguments of kernels that keep operations apart; adjacent uses take different ones.
pub const ZERO_COUNT: usize = 8;

/// `rt_opaque`: the same bits, of which a compiler knows nothing. It is given numbers of these dtypes.
pub(super) fn opaque_source(dtypes: &BTreeSet<DType>) -> String {
    let mut text = OPAQUE_SOURCE.replace("COUNT", &ZERO_COUNT.to_string());
    let halves = [DType::F16, DType::BF16];
    if halves.iter().any(|dtype| dtypes.contains(dtype)) {
        halves.iter().for_each(|dtype| text.push_str(&OPAQUE_HALF_SOURCE.replace("HALF", &c_name(*dtype))));
    }
    if dtypes.iter().any(|dtype| dtype.is_complex()) {
        text.push_str(OPAQUE_COMPLEX_SOURCE);
    }
    text
}

const OPAQUE_SOURCE: &str = "\
struct rt_zeros { unsigned long long at[COUNT]; };
template <class T> __device__ __forceinline__ T rt_opaque(T x, unsigned long long) { return x; }
__device__ __forceinline__ float rt_opaque(float x, unsigned long long zero) { return __uint_as_float(__float_as_uint(x) ^ (unsigned)zero); }
__device__ __forceinline__ double rt_opaque(double x, unsigned long long zero) { return __longlong_as_double(__double_as_longlong(x) ^ (long long)zero); }
";

const OPAQUE_HALF_SOURCE: &str = "\
__device__ __forceinline__ HALF rt_opaque(HALF x, unsigned long long zero) { x.bits ^= (unsigned short)zero; return x; }
";

const OPAQUE_COMPLEX_SOURCE: &str = "\
template <class R> __device__ __forceinline__ pycuda::complex<R> rt_opaque(pycuda::complex<R> x, unsigned long long zero)
{ return pycuda::complex<R>(rt_opaque(x.real(), zero), rt_opaque(x.imag(), zero)); }
";

/// Divisions of numbers that fit in 32 bits, as most indices do, take a fifth of the time.
pub(super) const DIVISION_SOURCE: &str = "\
__device__ __forceinline__ int rtcg_div32(int x, int y)
{
  return x >= 0 && y > 0 ? (int)((unsigned)x / (unsigned)y) : rt_floordiv<int>(x, y);
}
__device__ __forceinline__ int rtcg_mod32(int x, int y)
{
  return x >= 0 && y > 0 ? (int)((unsigned)x % (unsigned)y) : rt_remainder<int>(x, y);
}
__device__ __forceinline__ long long rtcg_div64(long long x, long long y)
{
  if (((unsigned long long)x | (unsigned long long)y) >> 32 == 0 && y != 0) return (unsigned)x / (unsigned)y;
  return rt_floordiv<long long>(x, y);
}
__device__ __forceinline__ long long rtcg_mod64(long long x, long long y)
{
  if (((unsigned long long)x | (unsigned long long)y) >> 32 == 0 && y != 0) return (unsigned)x % (unsigned)y;
  return rt_remainder<long long>(x, y);
}
";

/// The exponent of a literal that is a power of two.
fn power_of_two(literal: &str) -> Option<u32> {
    let value: u64 = literal.trim_end_matches(['L', 'U']).parse().ok()?;
    (value.is_power_of_two() && value < 1 << 31).then(|| value.trailing_zeros())
}

/// Signed integers that wrap. C leaves their overflow undefined: a compiler would take a square for not negative, and drop
/// what follows for negative numbers.
fn wrapping_expression(op: Op, compute: DType, operands: &[(String, DType)]) -> Option<String> {
    let unsigned = match compute {
        DType::I32 => "unsigned",
        DType::I64 => "unsigned long long",
        _ => return None,
    };
    if operands.iter().any(|(_, dtype)| !dtype.is_integral()) {
        return None;
    }
    let term = |at: usize| {
        let (text, dtype) = &operands[at];
        let same =
            if *dtype == compute { text.clone() } else { format!("rt_cast<{}>(rt_load({text}))", c_name(compute)) };
        format!("({unsigned})({same})")
    };
    let text = match op {
        Op::Add => format!("{} + {}", term(0), term(1)),
        Op::Subtract => format!("{} - {}", term(0), term(1)),
        Op::Multiply => format!("{} * {}", term(0), term(1)),
        Op::Square => format!("{} * {}", term(0), term(0)),
        Op::Negative => format!("0u - {}", term(0)),
        _ => return None,
    };
    Some(format!("({})({text})", c_name(compute)))
}

/// Operations that C has, for operands of the type that is computed in.
fn plain_expression(op: Op, compute: DType, out: DType, operands: &[(String, DType)]) -> Option<String> {
    if let Some(wrapped) = wrapping_expression(op, compute, operands) {
        return Some(wrapped);
    }
    if operands.iter().any(|(_, dtype)| *dtype != compute) && op != Op::Where {
        return None;
    }
    let is_plain = matches!(compute, DType::I32 | DType::I64 | DType::U32 | DType::U64 | DType::F32 | DType::F64);
    let infix = |symbol: &str| Some(format!("{} {symbol} {}", operands[0].0, operands[1].0));
    match op {
        Op::Where if operands[0].1 == DType::Bool && operands[1..].iter().all(|(_, dtype)| *dtype == out) => {
            Some(format!("{} ? {} : {}", operands[0].0, operands[1].0, operands[2].0))
        }
        Op::LogicalAnd if compute == DType::Bool => infix("&&"),
        Op::LogicalOr if compute == DType::Bool => infix("||"),
        Op::LogicalNot if compute == DType::Bool => Some(format!("!{}", operands[0].0)),
        _ if !is_plain => None,
        Op::Add => infix("+"),
        Op::Subtract => infix("-"),
        Op::Multiply if compute.kind() == DTypeKind::Float => {
            let function = if compute == DType::F32 { "__fmul_rn" } else { "__dmul_rn" };
            Some(format!("{function}({}, {})", operands[0].0, operands[1].0))
        }
        Op::Multiply => infix("*"),
        Op::TrueDivide if compute.kind() == DTypeKind::Float => infix("/"),
        Op::Negative if compute.kind() == DTypeKind::Float => Some(format!("-{}", operands[0].0)),
        Op::Equal => infix("=="),
        Op::NotEqual => infix("!="),
        Op::Less => infix("<"),
        Op::LessEqual => infix("<="),
        Op::Greater => infix(">"),
        Op::GreaterEqual => infix(">="),
        Op::FloorDivide | Op::Remainder if compute.is_integer() && power_of_two(&operands[1].0).is_some() => {
            let shift = power_of_two(&operands[1].0)?;
            // Of negative numbers, too: shifts round down, and the remainder is that of two's complement.
            Some(match op {
                Op::FloorDivide => format!("{} >> {shift}", operands[0].0),
                _ => format!("{} & {}", operands[0].0, (1_u64 << shift) - 1),
            })
        }
        Op::FloorDivide if compute == DType::I64 => Some(format!("rtcg_div64({}, {})", operands[0].0, operands[1].0)),
        Op::Remainder if compute == DType::I64 => Some(format!("rtcg_mod64({}, {})", operands[0].0, operands[1].0)),
        Op::FloorDivide if compute == DType::I32 => Some(format!("rtcg_div32({}, {})", operands[0].0, operands[1].0)),
        Op::Remainder if compute == DType::I32 => Some(format!("rtcg_mod32({}, {})", operands[0].0, operands[1].0)),
        Op::BitAnd => infix("&"),
        Op::BitOr => infix("|"),
        Op::BitXor => infix("^"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_their_values() {
        assert_eq!(literal(Number::Float(0.1), DType::F64), "1e-1");
        assert_eq!(literal(Number::Float(-0.0), DType::F32), "(-0e0f)");
        assert_eq!(literal(Number::Int(-5), DType::I8), "(signed char)(-5LL)");
        assert_eq!(literal(Number::Int(i64::MIN.into()), DType::I64), "(-9223372036854775807LL - 1)");
        assert_eq!(literal(Number::Float(f64::NEG_INFINITY), DType::F32), "(-__int_as_float(0x7f800000))");
    }

    #[test]
    fn signed_integers_wrap() {
        let mut functions = Functions::default();
        let operands = [("x".to_owned(), DType::I64), ("y".to_owned(), DType::I64)];
        let product = functions.expression(Op::Multiply, DType::I64, DType::I64, &operands);
        assert_eq!(product, "(long long)((unsigned long long)(x) * (unsigned long long)(y))");
        let narrow = [("x".to_owned(), DType::I16), ("y".to_owned(), DType::I32)];
        let sum = functions.expression(Op::Add, DType::I32, DType::I32, &narrow);
        assert_eq!(sum, "(int)((unsigned)(rt_cast<int>(rt_load(x))) + (unsigned)(y))");
    }
}
