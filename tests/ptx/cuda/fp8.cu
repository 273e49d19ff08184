#include <cuda_fp8.h>
#include <cuda_fp16.h>
#include <cuda_bf16.h>
extern "C" __global__ void from(const float4 *f, __nv_fp8x4_e4m3 *a, __nv_fp8x4_e5m2 *b, __nv_fp8x2_e4m3 *c, __nv_fp8_e5m2 *d, const double *e) {
    int i = threadIdx.x;
    a[i] = __nv_fp8x4_e4m3(f[i]); b[i] = __nv_fp8x4_e5m2(f[i]);
    c[i] = __nv_fp8x2_e4m3(make_float2(f[i].x, f[i].w)); d[i] = __nv_fp8_e5m2(e[i]);
}
extern "C" __global__ void to(float4 *f, const __nv_fp8x4_e4m3 *a, const __nv_fp8x4_e5m2 *b, const __nv_fp8x2_e4m3 *c, const __nv_fp8_e5m2 *d, float *g) {
    int i = threadIdx.x;
    float4 x = (float4)a[i], y = (float4)b[i]; float2 z = (float2)c[i];
    f[i] = make_float4(x.x + y.x, x.y * y.y, x.z - y.z, x.w + z.x * z.y); g[i] = (float)d[i];
}
extern "C" __global__ void halves(__half2 *h, __nv_bfloat162 *b, __nv_fp8x2_storage_t *s, __nv_fp8_storage_t *t) {
    int i = threadIdx.x;
    s[4 * i] = __nv_cvt_halfraw2_to_fp8x2(h[i], __NV_SATFINITE, __NV_E4M3); s[4 * i + 1] = __nv_cvt_halfraw2_to_fp8x2(h[i], __NV_NOSAT, __NV_E5M2);
    s[4 * i + 2] = __nv_cvt_bfloat16raw2_to_fp8x2(b[i], __NV_SATFINITE, __NV_E4M3); t[i] = __nv_cvt_double_to_fp8(1.5 * i, __NV_SATFINITE, __NV_E5M2);
    h[i] = __nv_cvt_fp8x2_to_halfraw2(s[4 * i + 3], __NV_E4M3); h[i + 32] = __half2(__nv_cvt_fp8x2_to_halfraw2(s[4 * i + 2], __NV_E5M2));
}
