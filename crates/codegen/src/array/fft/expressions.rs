//! Expressions of CUDA C that a transform applies to elements as it reads and writes them.

use super::super::EpilogueOperand;
use super::super::c_types::{compute_type, helper_preamble};
use super::{FftPassSpec, FftResult, FftSource};
use rtcg_hal::{DType, KernelSpec};
use std::borrow::Cow;
use std::fmt::Write;
use std::sync::Arc;

/// Reserved names, which operands must not have.
pub const FFT_EXPRESSION_NAMES: [&str; 3] = ["x", "i", "row"];

/// Expressions, described by everything that determines their source.
///
/// They may use the element `x`, its index `i` along the axis, the number `row` of its transform, and the operands by
/// name, indexed flat: `window[i]`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct FftExpressions {
    /// Of an element that is read.
    pub load: Option<String>,
    /// Of an element that is written.
    pub store: Option<String>,
    /// The operands of both.
    pub operands: Vec<EpilogueOperand>,
}

/// A pass that applies expressions. Their operands are its last parameter.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct FusedFftPass {
    /// The pass.
    pub pass: FftPassSpec,
    /// What it applies: of a transform in several passes, the first one applies `load` and the last one `store`.
    pub expressions: Arc<FftExpressions>,
    /// Whether it applies `load`.
    pub loads: bool,
    /// Whether it applies `store`.
    pub stores: bool,
}

impl FusedFftPass {
    fn load(&self) -> Option<&str> {
        self.expressions.load.as_deref().filter(|_| self.loads)
    }

    fn store(&self) -> Option<&str> {
        self.expressions.store.as_deref().filter(|_| self.stores)
    }

    /// `rt_user`, the operands with the expressions as methods.
    fn definitions(&self) -> String {
        let pass = &self.pass;
        let operands = &self.expressions.operands;
        let dtypes: Vec<DType> = [pass.dtype].into_iter().chain(operands.iter().map(|operand| operand.dtype)).collect();
        let mut text = helper_preamble(dtypes.iter().copied(), false);
        text.push_str(EpilogueOperand::TEMPLATE);
        text.push_str("struct rt_user {\n");
        operands.iter().for_each(|operand| text.push_str(&operand.member()));
        if operands.is_empty() {
            text.push_str("  long long rt_none;\n");
        }
        let complex = compute_type(pass.dtype).into_owned();
        let real = compute_type(pass.dtype.real_part()).into_owned();
        let of_source = if pass.load.source == FftSource::Real { &real } else { &complex };
        let of_result = if pass.store.result == FftResult::Real { &real } else { &complex };
        // What is read may become complex; what is written keeps its dtype.
        let methods = [("load", self.load(), of_source, &complex), ("store", self.store(), of_result, of_result)];
        for (name, expression, from, to) in methods {
            let Some(expression) = expression else { continue };
            let _ = writeln!(
                text,
                "  __device__ __forceinline__ {to} rt_{name}({from} x, long long i, long long row) const\n  {{"
            );
            operands.iter().for_each(|operand| text.push_str(&operand.local()));
            let _ = writeln!(text, "    return rt_cast<{to}>(\n#line 1 \"{name}\"\n{expression}\n    );\n  }}");
        }
        text.push_str("};\n");
        // The kernel has complex numbers as pairs.
        let is_real = pass.load.source == FftSource::Real;
        let element = if is_real { "z.x".to_owned() } else { format!("{complex}(z.x, z.y)") };
        let value = "const auto rt_value = user.rt_load(x, i, row); z.x = rt_value.real(); z.y = rt_value.imag();";
        if self.load().is_some() {
            let _ = writeln!(
                text,
                "template <class Z> __device__ __forceinline__ Z rt_apply_load(Z z, long long i, long long row, const rt_user &user)\n\
                 {{ const {of_source} x = {element}; {value} return z; }}"
            );
        }
        if self.store().is_some() {
            let body = match pass.store.result {
                FftResult::Real => "z.x = user.rt_store(z.x, i, row);".to_owned(),
                _ => format!(
                    "const auto rt_value = user.rt_store({complex}(z.x, z.y), i, row); z.x = rt_value.real(); z.y = rt_value.imag();"
                ),
            };
            let _ = writeln!(
                text,
                "template <class Z> __device__ __forceinline__ Z rt_apply_store(Z z, long long i, long long row, const rt_user &user)\n\
                 {{ {body} return z; }}"
            );
        }
        text
    }
}

impl KernelSpec for FusedFftPass {
    fn kernel_name(&self) -> Cow<'static, str> {
        self.pass.kernel_name()
    }

    fn source(&self) -> String {
        let mut text = self.definitions();
        text.push_str("#define USER_PARAMETER , const rt_user user\n#define USER_ARGUMENT , user\n");
        let apply = |applies: bool, call: &str| if applies { call.to_owned() } else { String::new() };
        text + &self.pass.source_with(
            &apply(self.load().is_some(), "z = rt_apply_load(z, INDEX, row, user);"),
            &apply(self.store().is_some(), "  z = rt_apply_store(z, at, row, user);\n"),
        )
    }
}
