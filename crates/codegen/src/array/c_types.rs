//! How generated kernels store elements and compute with them, and the helper code that each kernel needs.

use rtcg_hal::{DType, DTypeKind};
use std::borrow::Cow;

const CORE_SOURCE: &str = include_str!("core.cuh");
const HALF_SOURCE: &str = include_str!("half.cuh");
const COMPLEX_SOURCE: &str = include_str!("complex.cuh");
const MATH_SOURCE: &str = include_str!("math.cuh");

/// The C type of an element in memory.
pub(super) fn storage_type(dtype: DType) -> Cow<'static, str> {
    match dtype {
        DType::F16 => "rt_half".into(),
        DType::BF16 => "rt_bfloat".into(),
        DType::Void(nbytes) => format!("rt_record<{nbytes}>").into(),
        other => other.c_type().into(),
    }
}

/// The C type that elements are computed in: float for the 16-bit ones.
pub(super) fn compute_type(dtype: DType) -> Cow<'static, str> {
    match dtype {
        DType::F16 | DType::BF16 => "float".into(),
        other => storage_type(other),
    }
}

/// The helpers that a kernel over these dtypes includes, with or without those of `math.cuh`.
pub(super) fn helper_preamble(dtypes: impl Iterator<Item = DType> + Clone, math: bool) -> String {
    let complex = dtypes.clone().any(|dtype| dtype.kind() == DTypeKind::Complex);
    let half = dtypes.clone().any(|dtype| matches!(dtype, DType::F16 | DType::BF16));
    let mut text = String::new();
    if complex {
        text.push_str("#include <pycuda-complex.hpp>\n");
    }
    let parts = [(true, CORE_SOURCE), (half, HALF_SOURCE), (math, MATH_SOURCE), (complex, COMPLEX_SOURCE)];
    parts.iter().filter(|part| part.0).for_each(|part| text.push_str(part.1));
    text
}
