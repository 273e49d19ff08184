//! The kernels behind the operators, as values.
//!
//! Operands are converted to the type the operation is computed in, as NumPy's casting does.
//! float16 is computed in float and rounded once, which gives NumPy's results.

use crate::operators::BinaryOp;
use rtcg_codegen::{DType, Elementwise, Kind, Param};

/// How an operand of a binary kernel is passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OperandKind {
    Vector,
    Scalar,
}

/// `z[i] = x op y`, computed in `compute`, for operands that are vectors or scalars.
pub(crate) fn binary(
    op: BinaryOp,
    compute: DType,
    z: DType,
    (x, x_kind): (DType, OperandKind),
    (y, y_kind): (DType, OperandKind),
) -> Elementwise {
    let expression = op.expression(compute, &load("x", x, x_kind, compute), &load("y", y, y_kind, compute));
    Elementwise {
        name: op.name().into(),
        params: vec![Param::output(z, "z"), param("x", x, x_kind), param("y", y, y_kind)],
        operation: format!("z[i] = {}", store(&format!("({expression})"), compute, z)),
        preamble: String::new(),
    }
}

/// `z[i] = value`
pub(crate) fn fill(z: DType) -> Elementwise {
    Elementwise {
        name: "fill".into(),
        params: vec![Param::output(z, "z"), Param::scalar(z, "value")],
        operation: "z[i] = value".into(),
        preamble: String::new(),
    }
}

/// `z[i] = (Z) x[i]`
pub(crate) fn cast(x: DType, z: DType) -> Elementwise {
    Elementwise {
        name: "astype".into(),
        params: vec![Param::output(z, "z"), Param::input(x, "x")],
        operation: format!("z[i] = {}", store(&load("x", x, OperandKind::Vector, x), x, z)),
        preamble: String::new(),
    }
}

fn param(name: &str, dtype: DType, kind: OperandKind) -> Param {
    match kind {
        OperandKind::Vector => Param::input(dtype, name),
        OperandKind::Scalar => Param::scalar(dtype, name),
    }
}

/// The type that arithmetic on `dtype` is written in.
fn compute_type(dtype: DType) -> &'static str {
    if dtype == DType::F16 { "float" } else { dtype.c_type() }
}

fn load(name: &str, dtype: DType, kind: OperandKind, compute: DType) -> String {
    let element = match kind {
        OperandKind::Vector => format!("{name}[i]"),
        OperandKind::Scalar => name.to_string(),
    };
    let value = if dtype == DType::F16 { format!("__half2float({element})") } else { element };
    convert(&value, dtype, compute)
}

/// C conversion of a computed value of type `from` to the computation type of `to`.
fn convert(value: &str, from: DType, to: DType) -> String {
    let target = compute_type(to);
    match (from.kind() == Kind::Complex, to.kind() == Kind::Complex) {
        _ if compute_type(from) == target => value.to_string(),
        (true, true) => format!("{target}({value}.real(), {value}.imag())"),
        (true, false) => format!("({target})({value}.real())"),
        (false, true) => format!("{target}({value}, 0)"),
        (false, false) => format!("({target})({value})"),
    }
}

fn store(value: &str, compute: DType, z: DType) -> String {
    let converted = convert(value, compute, z);
    if z == DType::F16 { format!("__float2half_rn({converted})") } else { converted }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operands_are_converted_before_the_operation() {
        use OperandKind::*;
        let kernel = binary(BinaryOp::Add, DType::F64, DType::F64, (DType::I32, Vector), (DType::F32, Scalar));
        assert_eq!(kernel.operation, "z[i] = ((double)(x[i]) + (double)(y))");
        let half = binary(BinaryOp::Multiply, DType::F16, DType::F16, (DType::F16, Vector), (DType::F16, Vector));
        assert_eq!(half.operation, "z[i] = __float2half_rn((__half2float(x[i]) * __half2float(y[i])))");
        let complex = binary(BinaryOp::Subtract, DType::C128, DType::C128, (DType::F64, Vector), (DType::C64, Vector));
        assert_eq!(
            complex.operation,
            "z[i] = (pycuda::complex<double>(x[i], 0) - pycuda::complex<double>(y[i].real(), y[i].imag()))"
        );
    }
}
