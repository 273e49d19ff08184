/* A program linked with -lcuda that knows only the driver: it declares what it calls, runs a
 * kernel from PTX in both default streams and prints "all right". */
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int CUresult;
typedef int CUdevice;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUstream_st *CUstream;
typedef unsigned long long CUdeviceptr;

CUresult cuInit(unsigned int);
CUresult cuDeviceGetCount(int *);
CUresult cuDeviceGet(CUdevice *, int);
CUresult cuDevicePrimaryCtxRetain(CUcontext *, CUdevice);
CUresult cuDevicePrimaryCtxRelease_v2(CUdevice);
CUresult cuCtxSetCurrent(CUcontext);
CUresult cuModuleLoadData(CUmodule *, const void *);
CUresult cuModuleGetFunction(CUfunction *, CUmodule, const char *);
CUresult cuMemAlloc_v2(CUdeviceptr *, size_t);
CUresult cuMemFree_v2(CUdeviceptr);
CUresult cuMemcpyHtoD_v2(CUdeviceptr, const void *, size_t);
CUresult cuMemcpyDtoH_v2(void *, CUdeviceptr, size_t);
CUresult cuMemcpyHtoD_v2_ptds(CUdeviceptr, const void *, size_t);
CUresult cuMemcpyDtoH_v2_ptds(void *, CUdeviceptr, size_t);
CUresult cuLaunchKernel(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream, void **, void **);
CUresult cuLaunchKernel_ptsz(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream, void **, void **);
CUresult cuStreamQuery_ptsz(CUstream);
CUresult cuGetErrorName(CUresult, const char **);
CUresult cuGLInit(void);
CUresult cuMemAlloc(unsigned int *, unsigned int);

#define N 1000

static const char *ptx =
    ".version 7.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry twice(.param .u64 data, .param .u32 count) {\n"
    "  .reg .pred %p; .reg .b32 %r<6>; .reg .b64 %d<4>;\n"
    "  ld.param.u64 %d1, [data]; ld.param.u32 %r1, [count];\n"
    "  mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;\n"
    "  mad.lo.s32 %r2, %r2, %r3, %r4; setp.ge.u32 %p, %r2, %r1; @%p ret;\n"
    "  mul.wide.u32 %d2, %r2, 4; add.u64 %d1, %d1, %d2;\n"
    "  ld.global.u32 %r5, [%d1]; shl.b32 %r5, %r5, 1; st.global.u32 [%d1], %r5; ret;\n"
    "}\n";

static void check(CUresult code, CUresult expected, const char *call) {
    const char *name = "?";
    if (code == expected) return;
    cuGetErrorName(code, &name);
    printf("%s: %s (%d), expected %d\n", call, name, code, expected);
    exit(1);
}
#define OK(call) check(call, 0, #call)

static CUcontext ctx;
static CUfunction twice;

static void run(int per_thread) {
    unsigned data[N], count = N, i;
    CUdeviceptr device;
    void *arguments[] = {&device, &count};
    for (i = 0; i < N; i++) data[i] = i;
    OK(cuCtxSetCurrent(ctx));
    OK(cuMemAlloc_v2(&device, sizeof data));
    if (per_thread) {
        OK(cuMemcpyHtoD_v2_ptds(device, data, sizeof data));
        OK(cuLaunchKernel_ptsz(twice, 4, 1, 1, 256, 1, 1, 0, NULL, arguments, NULL));
        memset(data, 0, sizeof data);
        OK(cuMemcpyDtoH_v2_ptds(data, device, sizeof data));
        OK(cuStreamQuery_ptsz(NULL));
    } else {
        OK(cuMemcpyHtoD_v2(device, data, sizeof data));
        OK(cuLaunchKernel(twice, 4, 1, 1, 256, 1, 1, 0, NULL, arguments, NULL));
        memset(data, 0, sizeof data);
        OK(cuMemcpyDtoH_v2(data, device, sizeof data));
    }
    OK(cuMemFree_v2(device));
    for (i = 0; i < N; i++) check((CUresult)data[i], (CUresult)(2 * i), "an element");
}

static void *run_in_own_stream(void *nothing) {
    run(1);
    return nothing;
}

int main(void) {
    int count = 0;
    unsigned early;
    CUdevice device;
    CUmodule module;
    pthread_t threads[2];
    check(cuDeviceGetCount(&count), 3, "cuDeviceGetCount before cuInit");
    OK(cuInit(0));
    OK(cuDeviceGetCount(&count));
    check(count, 1, "the number of devices");
    OK(cuDeviceGet(&device, 0));
    OK(cuDevicePrimaryCtxRetain(&ctx, device));
    OK(cuCtxSetCurrent(ctx));
    OK(cuModuleLoadData(&module, ptx));
    OK(cuModuleGetFunction(&twice, module, "twice"));
    run(0);
    pthread_create(&threads[0], NULL, run_in_own_stream, NULL);
    pthread_create(&threads[1], NULL, run_in_own_stream, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    check(cuGLInit(), 801, "a function that is not implemented");
    check(cuMemAlloc(&early, 16), 801, "a function with 32-bit pointers");
    OK(cuDevicePrimaryCtxRelease_v2(device));
    puts("all right");
    return 0;
}
