//! Elementwise operations: for each its NumPy name, the dtypes it accepts, its result type, and its C expression.
//!
//! An expression sees its operands as `x y z w`, converted to the computation type `T`, whose real part is `R`. The
//! helpers it may call are in `math.cuh` and `complex.cuh`.

use rtcg_hal::{ArrayError, DType, DTypeKind, OperandType, WeakScalar, promote_operands};
use std::fmt;

/// What an operation computes in and gives, from the common type of its operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DTypeRule {
    /// Computed in the common type, which is also the result.
    Same,
    /// A truth value, computed in the common type.
    Truth,
    /// Integers become the float that holds them.
    Float,
    /// Integers become float64.
    Divide,
    /// As `Float`, with a truth value as the result.
    FloatTruth,
    /// As `Same`, but complex numbers give their real type.
    Real,
    /// As `Float`, but complex numbers give their real type.
    FloatReal,
    /// float64 or complex128.
    Double,
    /// uint8.
    Count,
}

/// How an expression reads one of its operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OperandRole {
    /// Converted to the computation type.
    Compute,
    /// As a truth value, without taking part in promotion.
    Truth,
    /// In its own type, without taking part in promotion.
    NoCast,
}

struct OpTableRow {
    op: Op,
    name: &'static str,
    arity: usize,
    rule: DTypeRule,
    /// Expressions for bool, integers, floats and complex; empty where the operation is refused.
    /// `>` for bool: computed in int8.
    expressions: [&'static str; 4],
}

macro_rules! define_operations {
    ($($op:ident $name:literal $arity:literal $rule:ident [$b:literal, $i:literal, $f:literal, $c:literal];)*) => {
        /// An elementwise operation, under NumPy's name.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub enum Op { $(#[doc = concat!("`", $name, "`")] $op),* }

        const OP_TABLE: &[OpTableRow] = &[$(
            OpTableRow { op: Op::$op, name: $name, arity: $arity, rule: DTypeRule::$rule, expressions: [$b, $i, $f, $c] }
        ),*];
    };
}

define_operations! {
    Add "add" 2 Same ["x || y", "x + y", "x + y", "x + y"];
    Subtract "subtract" 2 Same ["", "x - y", "x - y", "x - y"];
    Multiply "multiply" 2 Same ["x && y", "x * y", "x * y", "rt_multiply(x, y)"];
    TrueDivide "divide" 2 Divide ["", "", "x / y", "x / y"];
    FloorDivide "floor_divide" 2 Same [">", "rt_floordiv<T>(x, y)", "rt_floordiv<T>(x, y)", ""];
    Remainder "remainder" 2 Same [">", "rt_remainder<T>(x, y)", "rt_remainder<T>(x, y)", ""];
    Fmod "fmod" 2 Same [">", "rt_fmod<T>(x, y)", "fmod(x, y)", ""];
    Power "power" 2 Same [">", "rt_power<T>(x, y)", "pow(x, y)", "pycuda::pow(x, y)"];
    FloatPower "float_power" 2 Double ["", "", "pow(x, y)", "pycuda::pow(x, y)"];
    BitAnd "bitwise_and" 2 Same ["x && y", "x & y", "", ""];
    BitOr "bitwise_or" 2 Same ["x || y", "x | y", "", ""];
    BitXor "bitwise_xor" 2 Same ["x != y", "x ^ y", "", ""];
    LeftShift "left_shift" 2 Same [">", "rt_shl<T>(x, y)", "", ""];
    RightShift "right_shift" 2 Same [">", "rt_shr<T>(x, y)", "", ""];
    Equal "equal" 2 Truth ["x == y", "x == y", "x == y", "x == y"];
    NotEqual "not_equal" 2 Truth ["x != y", "x != y", "x != y", "x != y"];
    Less "less" 2 Truth ["x < y", "x < y", "x < y", "rt_less(x, y)"];
    LessEqual "less_equal" 2 Truth ["x <= y", "x <= y", "x <= y", "rt_less_equal(x, y)"];
    Greater "greater" 2 Truth ["x > y", "x > y", "x > y", "rt_less(y, x)"];
    GreaterEqual "greater_equal" 2 Truth ["x >= y", "x >= y", "x >= y", "rt_less_equal(y, x)"];
    LogicalAnd "logical_and" 2 Truth ["x && y", "x && y", "x && y", "rt_true(x) && rt_true(y)"];
    LogicalOr "logical_or" 2 Truth ["x || y", "x || y", "x || y", "rt_true(x) || rt_true(y)"];
    LogicalXor "logical_xor" 2 Truth ["x != y", "!x != !y", "!x != !y", "rt_true(x) != rt_true(y)"];
    LogicalNot "logical_not" 1 Truth ["!x", "!x", "!x", "!rt_true(x)"];
    Maximum "maximum" 2 Same ["x || y", "rt_max<T>(x, y)", "rt_max<T>(x, y)", "rt_max(x, y)"];
    Minimum "minimum" 2 Same ["x && y", "rt_min<T>(x, y)", "rt_min<T>(x, y)", "rt_min(x, y)"];
    Fmax "fmax" 2 Same ["x || y", "rt_max<T>(x, y)", "rt_fmax<T>(x, y)", "rt_fmax(x, y)"];
    Fmin "fmin" 2 Same ["x && y", "rt_min<T>(x, y)", "rt_fmin<T>(x, y)", "rt_fmin(x, y)"];
    Arctan2 "arctan2" 2 Float ["", "", "atan2(x, y)", ""];
    Hypot "hypot" 2 Float ["", "", "hypot(x, y)", ""];
    Copysign "copysign" 2 Float ["", "", "copysign(x, y)", ""];
    Nextafter "nextafter" 2 Float ["", "", "nextafter(x, y)", ""];
    Logaddexp "logaddexp" 2 Float ["", "", "rt_logaddexp<T>(x, y)", ""];
    Logaddexp2 "logaddexp2" 2 Float ["", "", "rt_logaddexp2<T>(x, y)", ""];
    Heaviside "heaviside" 2 Float ["", "", "rt_heaviside<T>(x, y)", ""];
    Gcd "gcd" 2 Same ["", "rt_gcd<T>(x, y)", "", ""];
    Lcm "lcm" 2 Same ["", "rt_lcm<T>(x, y)", "", ""];
    Ldexp "ldexp" 2 Float ["", "", "rt_ldexp<T>(x, (long long)y)", ""];
    Positive "positive" 1 Same ["", "x", "x", "x"];
    Negative "negative" 1 Same ["", "-x", "-x", "-x"];
    Invert "invert" 1 Same ["!x", "~x", "", ""];
    Absolute "absolute" 1 Real ["x", "rt_abs<T>(x)", "fabs(x)", "pycuda::abs(x)"];
    Fabs "fabs" 1 Float ["", "", "fabs(x)", ""];
    Sign "sign" 1 Same ["", "rt_sign<T>(x)", "rt_sign<T>(x)", "rt_sign(x)"];
    Sqrt "sqrt" 1 Float ["", "", "sqrt(x)", "pycuda::sqrt(x)"];
    Square "square" 1 Same [">", "x * x", "x * x", "rt_multiply(x, x)"];
    Reciprocal "reciprocal" 1 Same [">", "rt_reciprocal<T>(x)", "R(1) / x", "rt_reciprocal(x)"];
    Cbrt "cbrt" 1 Float ["", "", "cbrt(x)", ""];
    Exp "exp" 1 Float ["", "", "exp(x)", "pycuda::exp(x)"];
    Exp2 "exp2" 1 Float ["", "", "exp2(x)", "pycuda::exp(x * R(0.693147180559945309417))"];
    Expm1 "expm1" 1 Float ["", "", "expm1(x)", "rt_expm1(x)"];
    Log "log" 1 Float ["", "", "log(x)", "pycuda::log(x)"];
    Log2 "log2" 1 Float ["", "", "log2(x)", "pycuda::log(x) * R(1.44269504088896340736)"];
    Log10 "log10" 1 Float ["", "", "log10(x)", "pycuda::log10(x)"];
    Log1p "log1p" 1 Float ["", "", "log1p(x)", "rt_log1p(x)"];
    Sin "sin" 1 Float ["", "", "sin(x)", "pycuda::sin(x)"];
    Cos "cos" 1 Float ["", "", "cos(x)", "pycuda::cos(x)"];
    Tan "tan" 1 Float ["", "", "tan(x)", "pycuda::tan(x)"];
    Arcsin "arcsin" 1 Float ["", "", "asin(x)", "pycuda::asin(x)"];
    Arccos "arccos" 1 Float ["", "", "acos(x)", "pycuda::acos(x)"];
    Arctan "arctan" 1 Float ["", "", "atan(x)", "pycuda::atan(x)"];
    Sinh "sinh" 1 Float ["", "", "sinh(x)", "pycuda::sinh(x)"];
    Cosh "cosh" 1 Float ["", "", "cosh(x)", "pycuda::cosh(x)"];
    Tanh "tanh" 1 Float ["", "", "tanh(x)", "pycuda::tanh(x)"];
    Arcsinh "arcsinh" 1 Float ["", "", "asinh(x)", "pycuda::asinh(x)"];
    Arccosh "arccosh" 1 Float ["", "", "acosh(x)", "pycuda::acosh(x)"];
    Arctanh "arctanh" 1 Float ["", "", "atanh(x)", "pycuda::atanh(x)"];
    Floor "floor" 1 Same ["x", "x", "floor(x)", ""];
    Ceil "ceil" 1 Same ["x", "x", "ceil(x)", ""];
    Trunc "trunc" 1 Same ["x", "x", "trunc(x)", ""];
    Rint "rint" 1 Float ["", "", "rint(x)", "T(rint(x.real()), rint(x.imag()))"];
    Deg2rad "deg2rad" 1 Float ["", "", "x * R(0.0174532925199432957692)", ""];
    Rad2deg "rad2deg" 1 Float ["", "", "x * R(57.2957795130823208768)", ""];
    Isnan "isnan" 1 Truth ["false", "false", "x != x", "rt_isnan(x)"];
    Isinf "isinf" 1 Truth ["false", "false", "isinf(x)", "isinf(x.real()) || isinf(x.imag())"];
    Isfinite "isfinite" 1 Truth ["true", "true", "isfinite(x)", "isfinite(x.real()) && isfinite(x.imag())"];
    Signbit "signbit" 1 FloatTruth ["", "", "signbit(x)", ""];
    Conjugate "conjugate" 1 Same [">", "x", "x", "pycuda::conj(x)"];
    Angle "angle" 1 FloatReal ["", "", "x != x ? x : signbit(x) ? R(3.14159265358979323846) : R(0)", "pycuda::arg(x)"];
    Real "real" 1 Real ["x", "x", "x", "x.real()"];
    Imag "imag" 1 Real ["false", "T(0)", "R(0)", "x.imag()"];
    BitCount "bitwise_count" 1 Count [">", "rt_bit_count<T>(x)", "", ""];
    Copy "copy" 1 Same ["x", "x", "x", "x"];
    Index "arange" 2 Same ["", "x + T(i) * y", "x + rt_product(T(i), y)", "T(x.real() + rt_product(R(i), y.real()), x.imag() + rt_product(R(i), y.imag()))"];
    Clip "clip" 3 Same ["", "rt_min<T>(rt_max<T>(x, y), z)", "rt_min<T>(rt_max<T>(x, y), z)", "rt_min(rt_max(x, y), z)"];
    Where "where" 3 Same ["x ? y : z", "x ? y : z", "x ? y : z", "x ? y : z"];
    IfPositive "if_positive" 3 Same ["x > 0 ? y : z", "x > 0 ? y : z", "x > 0 ? y : z", "x > 0 ? y : z"];
    Axpby "axpby" 4 Same ["x && y || z && w", "x * y + z * w", "rt_axpby(x, y, z, w)", "x * y + z * w"];
    SquaredDeviation "deviation" 2 Real ["", "", "(x - y) * (x - y)", "pycuda::norm(x - y)"];
}

/// Dtypes that an operation does not support.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OpTypeError {
    /// The operation does not support the operands' common type.
    Operands(Op, DType),
    /// The result cannot have the requested dtype.
    Result(Op, DType),
    /// Converting an operand to the requested dtype would lose its kind.
    Cast {
        /// The operation.
        op: Op,
        /// Which operand.
        index: usize,
        /// Its dtype.
        from: DType,
        /// The dtype that was asked for.
        to: DType,
    },
}

impl fmt::Display for OpTypeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            OpTypeError::Operands(Op::Subtract, DType::Bool) => f.write_str(
                "boolean subtract, the `-` operator, is not supported; use the bitwise_xor, the `^` operator, or the \
                 logical_xor function instead",
            ),
            OpTypeError::Operands(Op::Negative, DType::Bool) => f.write_str(
                "the boolean negative, the `-` operator, is not supported; use the `~` operator or the logical_not \
                 function instead",
            ),
            OpTypeError::Operands(op, dtype) => {
                write!(f, "'{}' is not supported for operands of type {dtype}", op.name())
            }
            OpTypeError::Result(op, dtype) => write!(f, "'{}' has no results of dtype {dtype}", op.name()),
            OpTypeError::Cast { op, index, from, to } => write!(
                f,
                "Cannot cast ufunc '{}' input {index} from {from} to {to} with casting rule 'same_kind'",
                op.name()
            ),
        }
    }
}

impl std::error::Error for OpTypeError {}

impl From<OpTypeError> for ArrayError {
    fn from(refused: OpTypeError) -> Self {
        ArrayError::type_error(refused.to_string())
    }
}

/// The dtypes of one use of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpTypes {
    /// The dtype of the computation.
    pub compute: DType,
    /// The dtype of the result.
    pub out: DType,
}

impl Op {
    fn op_table_row(self) -> &'static OpTableRow {
        let row = &OP_TABLE[self as usize];
        debug_assert_eq!(row.op, self);
        row
    }

    /// NumPy's name.
    pub fn name(self) -> &'static str {
        self.op_table_row().name
    }

    /// Looks up the operation of this name.
    pub fn from_name(name: &str) -> Option<Op> {
        OP_TABLE.iter().find(|row| row.name == name).map(|row| row.op)
    }

    /// Every operation.
    pub fn all_ops() -> impl Iterator<Item = Op> {
        OP_TABLE.iter().map(|row| row.op)
    }

    /// The number of operands.
    pub fn arity(self) -> usize {
        self.op_table_row().arity
    }

    /// Whether the result is a truth value.
    pub fn is_comparison(self) -> bool {
        matches!(self, Op::Equal | Op::NotEqual | Op::Less | Op::LessEqual | Op::Greater | Op::GreaterEqual)
    }

    /// How operand `index` is read.
    pub fn operand_role(self, index: usize) -> OperandRole {
        match (self, index) {
            (Op::Where, 0) => OperandRole::Truth,
            (Op::IfPositive, 0) | (Op::Ldexp, 1) => OperandRole::NoCast,
            _ => OperandRole::Compute,
        }
    }

    /// Determines the common, computation and result types for `operands`; the result has dtype `result` if one is
    /// requested.
    ///
    /// # Errors
    /// When NumPy has no such operation for these operands or this result, or an operand cannot be converted by the
    /// casting rule `same_kind`.
    pub fn resolve_operand_types(
        self,
        operands: &[OperandType],
        result: Option<DType>,
    ) -> Result<(DType, OpTypes), OpTypeError> {
        if self == Op::Ldexp {
            check_ldexp_exponent(operands)?;
        }
        let common = self.common_dtype(operands);
        let asked = match (result, self.op_table_row().rule) {
            (None, _) => return Ok((common, self.resolve_types(common)?)),
            (Some(_), DTypeRule::Truth | DTypeRule::FloatTruth | DTypeRule::Count) => common,
            (Some(dtype), DTypeRule::Real | DTypeRule::FloatReal) if common.is_complex() => {
                common.promote(dtype.complex_of_parts().unwrap_or(common))
            }
            // Exponents keep NumPy from rounding the first operand of `ldexp` for a result.
            (Some(dtype), _) if self == Op::Ldexp && common.promote(dtype) != dtype => {
                return Err(OpTypeError::Result(self, dtype));
            }
            (Some(dtype), _) => dtype,
        };
        for (index, operand) in self.computed_operands(operands) {
            if operand.kind() > asked.kind() {
                return Err(OpTypeError::Cast { op: self, index, from: operand.dtype(), to: asked });
            }
        }
        let types = self.resolve_types(asked)?;
        match result {
            Some(dtype) if types.out != dtype => Err(OpTypeError::Result(self, dtype)),
            _ => Ok((asked, types)),
        }
    }

    /// The operands that are converted to the computation type.
    fn computed_operands(self, operands: &[OperandType]) -> impl Iterator<Item = (usize, OperandType)> + Clone {
        operands.iter().copied().enumerate().filter(move |(at, _)| self.operand_role(*at) == OperandRole::Compute)
    }

    /// The common type of the operands. Functions that are computed in floats first take each array's own float, so
    /// that int8 and uint8 meet in float16 rather than in int16.
    fn common_dtype(self, operands: &[OperandType]) -> DType {
        let computed = self.computed_operands(operands).map(|(_, operand)| operand);
        let each_is_strong = computed.clone().all(|operand| matches!(operand, OperandType::Strong(_)));
        match self.op_table_row().rule {
            DTypeRule::Float if each_is_strong => {
                promote_operands(computed.map(|operand| OperandType::Strong(operand.dtype().float_dtype_for_unary())))
            }
            _ => promote_operands(computed),
        }
    }

    /// Determines the computation and result types from the operands' common type.
    ///
    /// # Errors
    /// When the operation does not support it.
    pub fn resolve_types(self, common: DType) -> Result<OpTypes, OpTypeError> {
        let row = self.op_table_row();
        if common.kind() == DTypeKind::Record {
            let same = OpTypes { compute: common, out: common };
            return if matches!(self, Op::Copy | Op::Where) {
                Ok(same)
            } else {
                Err(OpTypeError::Operands(self, common))
            };
        }
        let mut compute = match row.rule {
            // NumPy's arctan2 of the Python integer 0.
            DTypeRule::FloatReal if common == DType::Bool => DType::F64,
            DTypeRule::Float | DTypeRule::FloatTruth | DTypeRule::FloatReal => common.float_dtype_for_unary(),
            DTypeRule::Divide => common.true_divide_dtype(),
            DTypeRule::Double if common.is_complex() => DType::C128,
            DTypeRule::Double => DType::F64,
            _ => common,
        };
        if compute == DType::Bool && row.expressions[0] == ">" {
            compute = DType::I8;
        }
        if self.expression(compute).is_empty() {
            return Err(OpTypeError::Operands(self, common));
        }
        let out = match row.rule {
            DTypeRule::Truth | DTypeRule::FloatTruth => DType::Bool,
            DTypeRule::Real | DTypeRule::FloatReal => compute.real_part(),
            DTypeRule::Count => DType::U8,
            _ => compute,
        };
        Ok(OpTypes { compute, out })
    }

    /// Whether each rounding of the operation is spelled out, so that what a kernel computes besides cannot change it.
    /// Others are sums of products, which a compiler contracts depending on their surroundings.
    pub fn has_explicit_rounding(self, compute: DType) -> bool {
        let is_real = compute.kind() == DTypeKind::Float;
        match self {
            _ if !is_real && !compute.is_complex() => true,
            Op::Add | Op::Subtract | Op::Multiply | Op::Square | Op::Positive | Op::Negative | Op::Copy => true,
            Op::Maximum | Op::Minimum | Op::Fmax | Op::Fmin | Op::Clip | Op::Where | Op::IfPositive => true,
            Op::LogicalAnd | Op::LogicalOr | Op::LogicalXor | Op::LogicalNot => true,
            Op::Conjugate | Op::Real | Op::Imag | Op::Isnan | Op::Isinf | Op::Isfinite => true,
            Op::TrueDivide | Op::Reciprocal | Op::Sqrt | Op::Deg2rad | Op::Rad2deg | Op::Heaviside => is_real,
            Op::Copysign | Op::Absolute | Op::Fabs | Op::Sign | Op::Signbit | Op::Angle => is_real,
            Op::Floor | Op::Ceil | Op::Trunc | Op::Rint => is_real,
            _ => self.is_comparison(),
        }
    }

    /// The C expression for operands converted to `compute`.
    pub(super) fn expression(self, compute: DType) -> &'static str {
        match (self, compute) {
            (Op::Nextafter, DType::F16) => return "rt_nextafter<rt_half>(x, y)",
            (Op::Nextafter, DType::BF16) => return "rt_nextafter<rt_bfloat>(x, y)",
            _ => {}
        }
        let column = match compute.kind() {
            DTypeKind::Bool => 0,
            DTypeKind::Unsigned | DTypeKind::Signed => 1,
            DTypeKind::Float => 2,
            DTypeKind::Complex => 3,
            DTypeKind::Record => 0,
        };
        self.op_table_row().expressions[column]
    }

    /// The type of the expression itself, before it is converted to that of the output.
    pub(super) fn expression_dtype(self, compute: DType) -> DType {
        match self.op_table_row().rule {
            DTypeRule::Truth | DTypeRule::FloatTruth => DType::Bool,
            DTypeRule::Real | DTypeRule::FloatReal => compute.real_part(),
            DTypeRule::Count => DType::U8,
            _ => compute,
        }
    }
}

/// Exponents of `ldexp` are integers that int64 holds.
fn check_ldexp_exponent(operands: &[OperandType]) -> Result<(), OpTypeError> {
    match operands.get(1) {
        Some(OperandType::Strong(dtype)) if !dtype.is_integral() || *dtype == DType::U64 => {
            Err(OpTypeError::Operands(Op::Ldexp, *dtype))
        }
        Some(OperandType::Weak(value @ (WeakScalar::Float(_) | WeakScalar::Complex(..)))) => {
            Err(OpTypeError::Operands(Op::Ldexp, value.dtype()))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn op_table_follows_the_enum_order() {
        for (position, row) in OP_TABLE.iter().enumerate() {
            assert_eq!(row.op as usize, position);
            assert_eq!(Op::from_name(row.name), Some(row.op));
        }
    }

    #[test]
    fn result_types_are_those_of_numpy() {
        use DType::*;
        for (op, common, out) in [
            (Op::Add, Bool, Bool),
            (Op::FloorDivide, Bool, I8),
            (Op::TrueDivide, I8, F64),
            (Op::TrueDivide, BF16, BF16),
            (Op::Sqrt, Bool, F16),
            (Op::Sin, U16, F32),
            (Op::Exp, I32, F64),
            (Op::Absolute, C64, F32),
            (Op::Less, C128, Bool),
            (Op::BitCount, I64, U8),
            (Op::Floor, I16, I16),
            (Op::Rint, I16, F32),
            (Op::Signbit, I32, Bool),
        ] {
            assert_eq!(op.resolve_types(common).map(|types| types.out), Ok(out), "{op:?} of {common}");
        }
        for (op, common) in [
            (Op::Subtract, Bool),
            (Op::Negative, Bool),
            (Op::BitAnd, F32),
            (Op::FloorDivide, C64),
            (Op::Gcd, F64),
            (Op::Add, Void(8)),
        ] {
            assert_eq!(op.resolve_types(common), Err(OpTypeError::Operands(op, common)));
        }
    }

    #[test]
    fn operands_meet_in_floats_where_functions_are_computed_in_them() {
        use DType::*;
        let common = |op: Op, x, y| {
            op.resolve_operand_types(&[OperandType::Strong(x), OperandType::Strong(y)], None).map(|types| types.0)
        };
        assert_eq!(common(Op::Arctan2, I8, U8), Ok(F16));
        assert_eq!(common(Op::Hypot, I16, U16), Ok(F32));
        assert_eq!(common(Op::Add, I8, U8), Ok(I16));
        assert_eq!(common(Op::Ldexp, F32, I64), Ok(F32));
        assert_eq!(common(Op::Ldexp, F32, U64), Err(OpTypeError::Operands(Op::Ldexp, U64)));
    }

    #[test]
    fn a_dtype_that_is_asked_for_is_that_of_the_result() {
        use DType::*;
        let asked = |op: Op, operand, result| {
            op.resolve_operand_types(&vec![operand; op.arity()], Some(result)).map(|(_, types)| types)
        };
        let strong = OperandType::Strong;
        assert_eq!(asked(Op::Add, strong(I32), F32), Ok(OpTypes { compute: F32, out: F32 }));
        assert_eq!(asked(Op::Absolute, strong(C64), F64), Ok(OpTypes { compute: C128, out: F64 }));
        assert_eq!(asked(Op::Less, strong(F32), Bool), Ok(OpTypes { compute: F32, out: Bool }));
        assert_eq!(
            asked(Op::Add, strong(F64), I32),
            Err(OpTypeError::Cast { op: Op::Add, index: 0, from: F64, to: I32 })
        );
        assert_eq!(asked(Op::Add, strong(I8), U8), Err(OpTypeError::Cast { op: Op::Add, index: 0, from: I8, to: U8 }));
        assert!(asked(Op::Add, OperandType::Weak(WeakScalar::Int(1)), U8).is_ok());
        assert_eq!(asked(Op::Sin, strong(I32), I32), Err(OpTypeError::Result(Op::Sin, I32)));
        assert_eq!(asked(Op::Less, strong(I32), I32), Err(OpTypeError::Result(Op::Less, I32)));
        assert_eq!(asked(Op::Absolute, strong(C128), F32), Err(OpTypeError::Result(Op::Absolute, F32)));
    }
}
