/* Functions of single precision for programs that are built with -cl-fast-relaxed-math or
   -cl-unsafe-math-optimizations: they are linked in place of the precise ones of the same names. Errors are those that
   the specification allows there (7.4, "unsafe math"); the native functions have no larger ones. */

#define AS_NATIVE(name) UNARY(name, float, float, native_##name(a))

AS_NATIVE(exp2)
AS_NATIVE(exp)
AS_NATIVE(exp10)
AS_NATIVE(log2)
AS_NATIVE(log)
AS_NATIVE(log10)
AS_NATIVE(sin)
AS_NATIVE(cos)
AS_NATIVE(tan)
AS_NATIVE(sqrt)
AS_NATIVE(rsqrt)
BINARY(powr, float, float, float, native_powr(a, b))
BUILTIN float sincos(float a, float *c) { *c = native_cos(a); return native_sin(a); }
OUT(sincos, float, float)
