#include <cuda_fp16.h>
#include <cuda_bf16.h>
extern "C" __global__ void at(int*i,unsigned*u,float*f,double*d,unsigned long long*q,long long*l,unsigned short*us){__shared__ int s; __shared__ float sf; if(!threadIdx.x){s=0;sf=0;}__syncthreads();
atomicAdd(i,1);atomicSub(i,2);atomicAdd(u,1u);atomicAdd(f,1.f);atomicAdd(d,1.0);atomicAdd(q,1ull);i[1]=atomicExch(i,5);u[1]=atomicMin(u,3u);i[2]=atomicMax(i,3);atomicMin(l,3ll);atomicMax(q,4ull);atomicInc(u,7);atomicDec(u,7);i[3]=atomicCAS(i,1,2);q[1]=atomicCAS(q,1ull,2ull);atomicAnd(i,3);atomicOr(u,4u);atomicXor(q,4ull);us[0]=atomicCAS(us,1,2);
atomicAdd(&s,3);atomicAdd(&sf,2.f);f[2]=atomicExch(f+1,3.f);atomicAdd_system(i,3);atomicAdd_block(i,3);atomicCAS_system(i,3,4);__syncthreads();i[9]=s;f[9]=sf;__threadfence();__threadfence_block();__threadfence_system();}
extern "C" __global__ void ath(__half*h,__half2*h2,__nv_bfloat16*b,__nv_bfloat162*b2){atomicAdd(h,__float2half(1.f));atomicAdd(h2,__float2half2_rn(2.f));atomicAdd(b,__float2bfloat16(1.f));atomicAdd(b2,__float2bfloat162_rn(2.f));}
extern "C" __global__ void lds(const float*__restrict__ a,float*b){b[0]=__ldg(a)+__ldcg(a+1)+__ldca(a+2)+__ldcs(a+3)+__ldlu(a+4)+__ldcv(a+5);__stwb(b+1,3.f);__stcg(b+2,2.f);__stcs(b+3,1.f);__stwt(b+4,2.f);}
extern "C" __global__ void warp(int*o,float*f,double*d){int v=o[threadIdx.x];v+=__shfl_sync(~0u,v,3);v+=__shfl_up_sync(~0u,v,1);v+=__shfl_down_sync(~0u,v,1,16);v+=__shfl_xor_sync(~0u,v,1);f[0]+=__shfl_xor_sync(~0u,f[1],2);d[0]+=__shfl_down_sync(~0u,d[2],4);v+=__ballot_sync(~0u,v>3)+__any_sync(~0u,v)+__all_sync(~0u,v)+__activemask();__syncwarp();v+=__syncthreads_count(v>1);v+=__syncthreads_and(v>4)+__syncthreads_or(v);v+=__match_any_sync(~0u,v);int p;v+=__match_all_sync(~0u,v,&p);v+=p+__match_any_sync(~0u,(long long)v);
#if __CUDA_ARCH__>=800
v+=__reduce_add_sync(~0u,v)+__reduce_min_sync(~0u,(unsigned)v)+__reduce_and_sync(~0u,v)+__reduce_max_sync(~0u,v)+__reduce_xor_sync(~0u,v);
#endif
o[threadIdx.x]=v;}
extern "C" __global__ void bars(int*o){asm volatile("bar.sync 1, 64;");asm volatile("bar.arrive 2, 128;");asm volatile("barrier.sync 3;");asm volatile("barrier.sync.aligned 3, %0;"::"r"(64));asm volatile("bar.sync %0;"::"r"(o[0]));asm volatile("fence.sc.gpu;fence.acq_rel.cta;");}
