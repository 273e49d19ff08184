//! The accumulator of a reduction thread, as source text: its type `A`, its initial value, how two are combined, and
//! what is stored.

use super::{ReduceSpec, ReductionOp};
use crate::array::c_types::storage_type;
use rtcg_hal::{DType, DTypeKind};

impl ReduceSpec {
    /// Size of a partial result in bytes.
    pub fn partial_result_bytes(&self) -> usize {
        let value = match self.compute {
            DType::F16 | DType::BF16 => 4,
            other => other.itemsize(),
        };
        match self.reduction {
            ReductionOp::ArgMinimum | ReductionOp::ArgMaximum => value.next_multiple_of(8) + 8,
            ReductionOp::SumSquaredDeviations => self.deviation_fields().len() * value,
            _ => value,
        }
    }

    /// What is accumulated, where it starts, how two are combined, and what is stored.
    pub(super) fn accumulator_source(&self) -> String {
        let neutral = identity_value(self.reduction, self.compute);
        if self.reduction.is_arg_reduction() {
            return self.arg_accumulator(&neutral);
        }
        let combined = combining_expression(self.reduction, self.compute);
        let mapped = match self.reduction {
            ReductionOp::Any | ReductionOp::All | ReductionOp::CountNonzero => "T(rt_true(rt_load(x)))",
            ReductionOp::Dot if self.compute == DType::Bool => "rt_cast<T>(rt_load(x)) && rt_cast<T>(rt_load(y))",
            ReductionOp::Dot => "rt_cast<T>(rt_load(x)) * rt_cast<T>(rt_load(y))",
            _ => "rt_cast<T>(rt_load(x))",
        };
        if self.reduction == ReductionOp::SumSquaredDeviations {
            return self.deviation_accumulator();
        }
        let y = self.y.map(|y| format!(", {} y", storage_type(y))).unwrap_or_default();
        format!(
            "typedef T A;\n\
             __device__ __forceinline__ A start() {{ return {neutral}; }}\n\
             __device__ __forceinline__ A combine(A a, A b) {{ return A({combined}); }}\n\
             __device__ __forceinline__ A map(unsigned long long, {x} x{y}) {{ return A({mapped}); }}\n\
             __device__ __forceinline__ {out} finish(A a, unsigned long long) {{ return rt_cast<{out}>(a); }}\n",
            x = storage_type(self.x),
            out = storage_type(self.out)
        )
    }

    /// The first of the extreme elements; the first NaN before all others.
    fn arg_accumulator(&self, neutral: &str) -> String {
        let complex = self.compute.is_complex();
        let less = if complex { "rt_less(a, b)" } else { "a < b" };
        let is_nan = if complex { "rt_isnan(a)" } else { "a != a" };
        let better = match self.reduction {
            ReductionOp::ArgMinimum => "beats(a.value, b.value)",
            _ => "beats(b.value, a.value)",
        };
        let better_back = match self.reduction {
            ReductionOp::ArgMinimum => "beats(b.value, a.value)",
            _ => "beats(a.value, b.value)",
        };
        format!(
            "struct A {{ T value; long long at; }};\n\
             __device__ __forceinline__ bool is_nan(T a) {{ return {is_nan}; }}\n\
             __device__ __forceinline__ bool beats(T a, T b) {{ return {less}; }}\n\
             __device__ __forceinline__ A start() {{ return A{{{neutral}, -1}}; }}\n\
             __device__ __forceinline__ A combine(A a, A b) {{\n\
             \x20 if (a.at < 0) return b;\n  if (b.at < 0) return a;\n\
             \x20 const bool first = a.at < b.at;\n\
             \x20 if (is_nan(a.value) || is_nan(b.value)) return is_nan(a.value) && (!is_nan(b.value) || first) ? a : b;\n\
             \x20 return {better} ? a : {better_back} ? b : first ? a : b;\n}}\n\
             __device__ __forceinline__ A map(unsigned long long at, {x} x) {{ return A{{rt_cast<T>(rt_load(x)), (long long)at}}; }}\n\
             __device__ __forceinline__ {out} finish(A a, unsigned long long) {{ return ({out})a.at; }}\n",
            x = storage_type(self.x),
            out = storage_type(self.out)
        )
    }

    /// Whether rounding makes the result depend on the order of additions.
    pub fn is_rounded_sum(&self) -> bool {
        matches!(self.reduction, ReductionOp::Sum | ReductionOp::Dot | ReductionOp::SumSquaredDeviations)
            && matches!(self.compute.kind(), DTypeKind::Float | DTypeKind::Complex)
    }

    /// What [`ReductionOp::SumSquaredDeviations`] adds up: squares, distances, and how many there are if a mask decides.
    fn deviation_fields(&self) -> Vec<(&'static str, &'static str)> {
        let mut fields = match self.x.is_complex() {
            true => {
                vec![("squares", "d.real() * d.real() + d.imag() * d.imag()"), ("re", "d.real()"), ("im", "d.imag()")]
            }
            false => vec![("squares", "d * d"), ("re", "d")],
        };
        fields.extend(self.masked.then_some(("count", "T(1)")));
        fields
    }

    /// The corrected two-pass algorithm (Chan, Golub and LeVeque, "Algorithms for Computing the Sample Variance",
    /// 1983): of `n` distances `d` from a number near the mean, the sum of `d^2` less the squared sum of `d` over `n`.
    fn deviation_accumulator(&self) -> String {
        let fields = self.deviation_fields();
        let each = |text: &dyn Fn(&str, &str) -> String| {
            fields.iter().map(|(name, value)| text(name, value)).collect::<Vec<_>>().join(", ")
        };
        let (squared_sum, n) = (
            if self.x.is_complex() { "a.re * a.re + a.im * a.im" } else { "a.re * a.re" },
            if self.masked { "a.count" } else { "T(n)" },
        );
        let distance = match self.x.is_complex() {
            true => "rt_load(x) - rt_load(y)",
            false => "rt_cast<T>(rt_load(x)) - rt_cast<T>(rt_load(y))",
        };
        format!(
            "struct A {{ T {names}; }};\n\
             __device__ __forceinline__ A start() {{ return A{{{zeros}}}; }}\n\
             __device__ __forceinline__ A combine(A a, A b) {{ return A{{{sums}}}; }}\n\
             __device__ __forceinline__ A map(unsigned long long, {x} x, {y} y) {{ const auto d = {distance}; return A{{{values}}}; }}\n\
             __device__ __forceinline__ {out} finish(A a, unsigned long long n) {{\n\
             \x20 const T sum = a.squares - ({squared_sum}) / {n};\n  return rt_cast<{out}>(sum < T(0) ? T(0) : sum);\n}}\n",
            names = each(&|name, _| name.into()),
            zeros = each(&|_, _| "T(0)".into()),
            sums = each(&|name, _| format!("a.{name} + b.{name}")),
            values = each(&|_, value| value.into()),
            x = storage_type(self.x),
            y = storage_type(self.y.unwrap_or(self.x)),
            out = storage_type(self.out),
        )
    }
}

/// The value that leaves every other one as it is.
pub(in crate::array) fn identity_value(reduction: ReductionOp, compute: DType) -> String {
    let integer_limits = |lowest: bool| {
        let bits = 8 * compute.itemsize();
        match (compute.kind(), lowest) {
            (DTypeKind::Bool, _) => (if lowest { "false" } else { "true" }).to_owned(),
            (DTypeKind::Unsigned, true) => "T(0)".to_owned(),
            (DTypeKind::Unsigned, false) => "T(~0ull)".to_owned(),
            (_, true) => format!("T(1ull << {})", bits - 1),
            (_, false) => format!("T((1ull << {}) - 1)", bits - 1),
        }
    };
    let limit = |lowest: bool| {
        let infinity = if lowest { "-__int_as_float(0x7f800000)" } else { "__int_as_float(0x7f800000)" };
        match compute.kind() {
            DTypeKind::Float => format!("T({infinity})"),
            DTypeKind::Complex => format!("T({infinity}, {infinity})"),
            _ => integer_limits(lowest),
        }
    };
    match reduction {
        ReductionOp::Product => "T(1)".into(),
        ReductionOp::All => "true".into(),
        ReductionOp::Minimum | ReductionOp::ArgMinimum => limit(false),
        ReductionOp::Maximum | ReductionOp::ArgMaximum => limit(true),
        _ => "T(0)".into(),
    }
}

/// How two partial results become one.
pub(in crate::array) fn combining_expression(reduction: ReductionOp, compute: DType) -> &'static str {
    match reduction {
        ReductionOp::Product if compute == DType::Bool => "a && b",
        ReductionOp::Sum if compute == DType::Bool => "a || b",
        ReductionOp::Product => "a * b",
        ReductionOp::Minimum => "rt_min(a, b)",
        ReductionOp::Maximum => "rt_max(a, b)",
        ReductionOp::Any => "a || b",
        ReductionOp::All => "a && b",
        _ => "a + b",
    }
}
