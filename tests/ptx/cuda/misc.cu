#include <cuda_fp8.h>
#include <cuda_pipeline.h>
#include <cuComplex.h>
extern "C" __global__ void cpa(float*g,float*o){__shared__ alignas(16) float s[256];__pipeline_memcpy_async(s+threadIdx.x*4,g+threadIdx.x*4,16);__pipeline_commit();__pipeline_wait_prior(0);__syncthreads();o[threadIdx.x]=s[255-threadIdx.x];}
extern "C" __global__ void cplx(cuFloatComplex*a,cuDoubleComplex*b){a[0]=cuCmulf(a[1],a[2]);a[3]=cuCdivf(a[1],a[2]);b[0]=cuCdiv(b[1],b[2]);b[4].x=cuCabs(b[3]);}
extern "C" __global__ void fp8(__nv_fp8_e4m3*a,float*f,__nv_fp8x2_e5m2*c,float2*g){a[0]=__nv_fp8_e4m3(f[0]);f[1]=float(a[1]);c[0]=__nv_fp8x2_e5m2(g[0]);g[1]=float2(c[1]);}
extern "C" __global__ void simd(unsigned*o){o[0]=__vadd4(o[1],o[2])+__vsub2(o[1],o[2])+__vabsdiffu4(o[1],o[2])+__vmaxs2(o[3],o[4])+__vcmpgtu4(o[1],o[2])+__vavgu4(o[1],o[2])+__vaddss2(o[1],o[2])+__vsadu4(o[4],o[5])+__vmins4(o[1],o[2])+__viaddmax_s32(o[1],o[2],o[3])+__vimax3_s32(o[1],o[2],o[3])+__vimin_s16x2_relu(o[1],o[2]);}
extern "C" __global__ void tex(cudaTextureObject_t t,cudaSurfaceObject_t sf,float*o){o[0]=tex2D<float>(t,1.f,2.f)+tex1Dfetch<float>(t,3);float4 v=tex3D<float4>(t,1,2,3);o[1]=v.x+v.w;surf2Dwrite(v.x,sf,4,5);o[2]=surf2Dread<float>(sf,4,5);}
extern "C" __global__ void grid_const(const __grid_constant__ int4 p,int*o){o[0]=p.x+p.w;o[1]=(&p.x)[o[2]&3];}
