//! The elementwise generator: one C statement over index `i` becomes a kernel over `n` elements.

use rtcg_hal::{DType, DTypeKind};
use std::fmt::Write;

/// A parameter of a generated kernel.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct KernelParam {
    /// C identifier.
    pub name: String,
    /// Element type.
    pub dtype: DType,
    /// Whether it is a pointer to `n` elements rather than one value.
    pub is_vector: bool,
    /// Whether the kernel only reads through the pointer.
    pub is_const: bool,
}

impl KernelParam {
    /// `const T *name`
    pub fn input_array(dtype: DType, name: &str) -> KernelParam {
        KernelParam { name: name.into(), dtype, is_vector: true, is_const: true }
    }

    /// `T *name`
    pub fn output_array(dtype: DType, name: &str) -> KernelParam {
        KernelParam { name: name.into(), dtype, is_vector: true, is_const: false }
    }

    /// `T name`
    pub fn scalar_value(dtype: DType, name: &str) -> KernelParam {
        KernelParam { name: name.into(), dtype, is_vector: false, is_const: false }
    }

    fn declarator(&self) -> String {
        let constness = if self.is_const { "const " } else { "" };
        let pointer = if self.is_vector { "*" } else { "" };
        format!("{constness}{} {pointer}{}", self.dtype.c_type(), self.name)
    }
}

/// An elementwise kernel: `operation` is executed for every `i` in `0..n`.
///
/// The kernel's parameters are `params` in order, then `size_t n`. Any one-dimensional grid covers all elements
/// (grid-stride loop).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ElementwiseKernelSpec {
    /// Kernel name, a C identifier.
    pub name: String,
    /// Parameters before `n`.
    pub params: Vec<KernelParam>,
    /// A C statement using `i` and the parameters.
    pub operation: String,
    /// Source placed before the kernel.
    pub preamble: String,
}

impl ElementwiseKernelSpec {
    /// The kernel as CUDA C++ source.
    pub fn source(&self) -> String {
        let mut out = String::new();
        for include in self.required_includes() {
            let _ = writeln!(out, "#include <{include}>");
        }
        let params: Vec<String> = self.params.iter().map(KernelParam::declarator).collect();
        let _ = write!(
            out,
            "{preamble}\n\
             extern \"C\" __global__ void {name}({params}, size_t n)\n\
             {{\n\
             \x20 const size_t total_threads = (size_t)gridDim.x * blockDim.x;\n\
             \x20 for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += total_threads)\n\
             \x20 {{\n\
             \x20   {operation};\n\
             \x20 }}\n\
             }}\n",
            preamble = self.preamble,
            name = self.name,
            params = params.join(", "),
            operation = self.operation,
        );
        out
    }

    fn required_includes(&self) -> Vec<&'static str> {
        let mut includes = Vec::new();
        if self.params.iter().any(|p| p.dtype.kind() == DTypeKind::Complex) {
            includes.push("pycuda-complex.hpp");
        }
        if self.params.iter().any(|p| p.dtype == DType::F16) {
            includes.push("cuda_fp16.h");
        }
        includes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn source_declares_parameters_and_loop() {
        let kernel = ElementwiseKernelSpec {
            name: "axpb".into(),
            params: vec![
                KernelParam::output_array(DType::F32, "z"),
                KernelParam::input_array(DType::C64, "x"),
                KernelParam::scalar_value(DType::I64, "b"),
            ],
            operation: "z[i] = x[i].real() + b".into(),
            preamble: String::new(),
        };
        let source = kernel.source();
        assert!(source.starts_with("#include <pycuda-complex.hpp>\n"), "{source}");
        assert!(
            source.contains("void axpb(float *z, const pycuda::complex<float> *x, long long b, size_t n)"),
            "{source}"
        );
        assert!(source.contains("z[i] = x[i].real() + b;"), "{source}");
    }
}
