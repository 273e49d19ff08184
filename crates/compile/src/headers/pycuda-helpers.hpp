// The names that survive CUDA 12, which removed texture and surface references from the language.
#ifndef RTCG_PYCUDA_HELPERS_HPP
#define RTCG_PYCUDA_HELPERS_HPP
#include <pycuda-complex.hpp>
extern "C++" {
typedef float fp_tex_float;
typedef int2 fp_tex_double;
typedef uint2 fp_tex_cfloat;
typedef int4 fp_tex_cdouble;
}
#endif
