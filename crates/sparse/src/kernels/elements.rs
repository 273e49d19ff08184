//! Arithmetic on elements as C functions, generated for the dtype of a kernel: without templates, and without operators
//! for complex numbers, which OpenCL C lacks too.

use rtcg_hal::{DType, DTypeKind};

/// The C type of a dtype; complex numbers are pairs of a vector type, and floating-point numbers of 16 bits, which are
/// stored and not computed with, are their bits.
pub(crate) fn c_type(dtype: DType) -> &'static str {
    match dtype {
        DType::C64 => "float2",
        DType::C128 => "double2",
        DType::F16 | DType::BF16 => "unsigned short",
        other => other.c_type(),
    }
}

/// The dtype of sums over vectors: double, whatever the elements are.
pub(crate) fn sum_dtype(vector: DType) -> DType {
    if vector.is_complex() { DType::C128 } else { DType::F64 }
}

/// Type `name` and the functions `name_zero`, `name_add`, `name_sub`, `name_mul`, `name_mul_add`, `name_conj`,
/// `name_shuffle_down` and `name_shuffle`, as NumPy computes.
pub(crate) fn element_functions(name: &str, dtype: DType) -> String {
    let body = match dtype.kind() {
        DTypeKind::Complex => COMPLEX_FUNCTIONS.replace("REAL", dtype.real_part().c_type()),
        DTypeKind::Bool => BOOL_FUNCTIONS.to_owned(),
        _ => REAL_FUNCTIONS.to_owned(),
    };
    let mut text = format!("typedef {} {name};\n", c_type(dtype));
    text.push_str(&body.replace('@', name));
    text
}

/// The function `name_load_once`, which reads an element of an array that is read from front to end.
pub(crate) fn load_once(name: &str, dtype: DType) -> String {
    // There is no such load of truth values.
    let load = if dtype.kind() == DTypeKind::Bool { "*place" } else { "RT_LOAD_ONCE(place)" };
    format!("RT_FUNCTION {name} {name}_load_once(RT_GLOBAL const {name} *place) {{ return {load}; }}\n")
}

/// The function `to_from_from`, which converts an element.
pub(crate) fn conversion(to: (&str, DType), from: (&str, DType)) -> String {
    let real = match from.1 {
        DType::F16 => "RT_HALF_TO_FLOAT(a)",
        DType::BF16 => "RT_BFLOAT_TO_FLOAT(a)",
        _ => "a",
    };
    let part = to.1.real_part().c_type();
    let value = match (to.1.is_complex(), from.1.is_complex()) {
        (true, true) => format!("RT_PAIR_{part}(({part})a.x, ({part})a.y)"),
        (true, false) => format!("RT_PAIR_{part}(({part}){real}, 0)"),
        (false, true) => format!("({})a.x", to.0),
        (false, false) => format!("({}){real}", to.0),
    };
    format!("RT_FUNCTION {to} {to}_from_{from}({from} a) {{ return {value}; }}\n", to = to.0, from = from.0)
}

/// The function `name_div`, as NumPy divides.
pub(crate) fn division(name: &str, dtype: DType) -> String {
    match dtype.is_complex() {
        true => COMPLEX_DIVISION.replace("REAL", dtype.real_part().c_type()),
        false => "RT_FUNCTION @ @_div(@ a, @ b) { return a / b; }\n".to_owned(),
    }
    .replace('@', name)
}

const REAL_FUNCTIONS: &str = "\
RT_FUNCTION @ @_zero(void) { return 0; }
RT_FUNCTION @ @_add(@ a, @ b) { return a + b; }
RT_FUNCTION @ @_sub(@ a, @ b) { return a - b; }
RT_FUNCTION @ @_mul(@ a, @ b) { return a * b; }
RT_FUNCTION @ @_mul_add(@ a, @ b, @ c) { return a * b + c; }
RT_FUNCTION @ @_conj(@ a) { return a; }
RT_FUNCTION double @_abs2(@ a) { return (double)a * (double)a; }
RT_FUNCTION @ @_shuffle_down(@ a, unsigned n) { return RT_SHUFFLE_DOWN(a, n); }
RT_FUNCTION @ @_shuffle(@ a, int lane) { return RT_SHUFFLE(a, lane); }
";

/// Sums of truth values are ORs, products ANDs.
const BOOL_FUNCTIONS: &str = "\
RT_FUNCTION @ @_zero(void) { return 0; }
RT_FUNCTION @ @_add(@ a, @ b) { return a || b; }
RT_FUNCTION @ @_sub(@ a, @ b) { return a != b; }
RT_FUNCTION @ @_mul(@ a, @ b) { return a && b; }
RT_FUNCTION @ @_mul_add(@ a, @ b, @ c) { return (a && b) || c; }
RT_FUNCTION @ @_conj(@ a) { return a; }
RT_FUNCTION @ @_shuffle_down(@ a, unsigned n) { return RT_SHUFFLE_DOWN((int)a, n) != 0; }
RT_FUNCTION @ @_shuffle(@ a, int lane) { return RT_SHUFFLE((int)a, lane) != 0; }
";

const COMPLEX_FUNCTIONS: &str = "\
RT_FUNCTION @ @_zero(void) { return RT_PAIR_REAL(0, 0); }
RT_FUNCTION @ @_add(@ a, @ b) { return RT_PAIR_REAL(a.x + b.x, a.y + b.y); }
RT_FUNCTION @ @_sub(@ a, @ b) { return RT_PAIR_REAL(a.x - b.x, a.y - b.y); }
RT_FUNCTION @ @_mul(@ a, @ b) { return RT_PAIR_REAL(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }
RT_FUNCTION @ @_mul_add(@ a, @ b, @ c) { return @_add(@_mul(a, b), c); }
RT_FUNCTION @ @_conj(@ a) { return RT_PAIR_REAL(a.x, -a.y); }
RT_FUNCTION double @_abs2(@ a) { return (double)a.x * (double)a.x + (double)a.y * (double)a.y; }
RT_FUNCTION @ @_shuffle_down(@ a, unsigned n) { return RT_PAIR_REAL(RT_SHUFFLE_DOWN(a.x, n), RT_SHUFFLE_DOWN(a.y, n)); }
RT_FUNCTION @ @_shuffle(@ a, int lane) { return RT_PAIR_REAL(RT_SHUFFLE(a.x, lane), RT_SHUFFLE(a.y, lane)); }
";

/// Division by Smith's method.
const COMPLEX_DIVISION: &str = "\
RT_FUNCTION @ @_div(@ a, @ b)
{
  if (fabs(b.x) >= fabs(b.y)) {
    const REAL ratio = b.y / b.x, scale = 1 / (b.x + b.y * ratio);
    return RT_PAIR_REAL((a.x + a.y * ratio) * scale, (a.y - a.x * ratio) * scale);
  }
  const REAL ratio = b.x / b.y, scale = 1 / (b.y + b.x * ratio);
  return RT_PAIR_REAL((a.x * ratio + a.y) * scale, (a.y * ratio - a.x) * scale);
}
";

/// Sums over a block in a fixed order: `name_block_sum(value)`, which every thread gets; all threads call it. Warps add up
/// in trees, and every thread adds the sums of the warps, so that there are two barriers.
pub(crate) fn block_sum(name: &str, threads: u32) -> String {
    BLOCK_SUM.replace('@', name).replace("WARPS", &(threads / 32).to_string())
}

const BLOCK_SUM: &str = "\
RT_FUNCTION @ @_block_sum(@ value)
{
  RT_SHARED @ sums[WARPS];
  for (unsigned n = 16; n > 0; n /= 2) value = @_add(value, @_shuffle_down(value, n));
  RT_BARRIER();
  if (RT_LOCAL_ID % 32 == 0) sums[RT_LOCAL_ID / 32] = value;
  RT_BARRIER();
  value = sums[0];
  for (unsigned warp = 1; warp < WARPS; warp++) value = @_add(value, sums[warp]);
  return value;
}
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn complex_elements_are_pairs_of_their_real_type() {
        let text = element_functions("T", DType::C64);
        assert!(text.starts_with("typedef float2 T;"));
        assert!(text.contains("RT_PAIR_float(a.x + b.x, a.y + b.y)") && !text.contains('@'));
        let text = conversion(("T", DType::C128), ("V", DType::F32));
        assert_eq!(text, "RT_FUNCTION T T_from_V(V a) { return RT_PAIR_double((double)a, 0); }\n");
        let text = conversion(("T", DType::F32), ("V", DType::F16));
        assert_eq!(text, "RT_FUNCTION T T_from_V(V a) { return (T)RT_HALF_TO_FLOAT(a); }\n");
    }
}
