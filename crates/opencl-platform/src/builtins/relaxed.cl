/* Functions of single precision for programs that are built with -cl-fast-relaxed-math or
   -cl-unsafe-math-optimizations: they are linked in place of the precise ones of the same names. Errors are those that
   the specification allows there (7.4, "unsafe math"). */

UNARY(exp2, float, float, __nvvm_ex2_approx_f(a))
UNARY(exp, float, float, __nvvm_ex2_approx_f(a * 1.44269504f))
UNARY(exp10, float, float, __nvvm_ex2_approx_f(a * 3.32192809f))
UNARY(log2, float, float, __nvvm_lg2_approx_f(a))
UNARY(log, float, float, __nvvm_lg2_approx_f(a) * 0.693147181f)
UNARY(log10, float, float, __nvvm_lg2_approx_f(a) * 0.301029996f)
UNARY(sin, float, float, __nvvm_sin_approx_f(a))
UNARY(cos, float, float, __nvvm_cos_approx_f(a))
UNARY(tan, float, float, __nvvm_div_approx_f(__nvvm_sin_approx_f(a), __nvvm_cos_approx_f(a)))
UNARY(sqrt, float, float, __nvvm_sqrt_approx_f(a))
UNARY(rsqrt, float, float, __nvvm_rsqrt_approx_f(a))
BINARY(powr, float, float, float, __nvvm_ex2_approx_f(b * __nvvm_lg2_approx_f(a)))
BUILTIN float sincos(float a, float *c) { *c = __nvvm_cos_approx_f(a); return __nvvm_sin_approx_f(a); }
OUT(sincos, float, float)
