/* A program linked with -lcuda that knows only the driver: it declares what it calls, runs a
 * kernel from PTX in both default streams, links two texts and CUDA's device runtime for a
 * cooperative launch, and prints "all right". */
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
struct CUlinkState_st;

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
CUresult cuLaunchCooperativeKernel(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream, void **);
CUresult cuLinkCreate_v2(unsigned, int *, void **, struct CUlinkState_st **);
CUresult cuLinkAddData_v2(struct CUlinkState_st *, int, void *, size_t, const char *, unsigned, int *, void **);
CUresult cuLinkComplete(struct CUlinkState_st *, void **, size_t *);
CUresult cuLinkDestroy(struct CUlinkState_st *);
CUresult cuFuncGetAttribute(int *, int, CUfunction);
CUresult cuStreamQuery_ptsz(CUstream);
CUresult cuGetErrorName(CUresult, const char **);
CUresult cuMulticastAddDevice(unsigned long long, int);
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

/* Each block adds one, waits for all others, and then must see what all of them added. The address
 * of the local variable must be what its declaration says. */
#define HEADER ".version 7.0\n.target sm_80\n.address_size 64\n"
#define WEAK ".weak .func (.param .b32 r) one(.param .b32 x) { .reg .b32 %r; mov.u32 %r, 1; st.param.b32 [r], %r; ret; }\n"

static const char *together =
    HEADER WEAK
    ".global .align 4 .u32 own = 3;\n"
    ".extern .func (.param .b64 h) cudaCGGetIntrinsicHandle(.param .b32 scope);\n"
    ".extern .func (.param .b32 r) cudaCGSynchronize(.param .b64 h, .param .b32 flags);\n"
    ".extern .func (.param .b32 r) other();\n"
    ".visible .entry together(.param .u64 data) {\n"
    "  .local .align 256 .b8 room[8]; .local .align 4 .b8 more[4];\n"
    "  .reg .b32 %r<8>; .reg .b64 %d<8>; .reg .pred %p;\n"
    "  .param .b32 p0; .param .b64 p1; .param .b64 p2; .param .b32 p3; .param .b32 p4; .param .b32 p5; .param .b32 p6;\n"
    "  ld.param.u64 %d1, [data]; mov.u32 %r1, %tid.x; mov.u32 %r5, %ctaid.x;\n"
    "  mov.u32 %r2, 2; st.param.b32 [p0], %r2; call.uni (p1), cudaCGGetIntrinsicHandle, (p0); ld.param.b64 %d2, [p1];\n"
    "  st.param.b32 [p4], %r1; call.uni (p5), one, (p4); ld.param.b32 %r2, [p5];\n"
    "  red.global.add.u32 [%d1], %r2;\n"
    "  st.param.b64 [p2], %d2; mov.u32 %r3, 0; st.param.b32 [p4], %r3; call.uni (p3), cudaCGSynchronize, (p2, p4);\n"
    "  ld.param.b32 %r4, [p3]; ld.volatile.global.u32 %r3, [%d1]; add.u32 %r3, %r3, %r4;\n"
    "  call.uni (p6), other; ld.param.b32 %r4, [p6]; add.u32 %r3, %r3, %r4;\n"
    "  ld.global.u32 %r4, [own]; add.u32 %r3, %r3, %r4;\n"
    "  mov.u64 %d3, room; cvta.local.u64 %d3, %d3; and.b64 %d3, %d3, 255; cvt.u32.u64 %r4, %d3; add.u32 %r3, %r3, %r4;\n"
    "  mov.u32 %r4, %ntid.x; mad.lo.s32 %r5, %r5, %r4, %r1; mul.wide.u32 %d4, %r5, 4; add.u64 %d1, %d1, %d4;\n"
    "  st.global.u32 [%d1+4], %r3; ret;\n"
    "}\n";

static const char *other =
    HEADER WEAK
    ".global .align 4 .u32 own = 5;\n"
    ".visible .func (.param .b32 r) other() { .reg .b32 %r<3>; .param .b32 a; .param .b32 b;\n"
    "  mov.u32 %r1, 0; st.param.b32 [a], %r1; call.uni (b), one, (a); ld.param.b32 %r1, [b];\n"
    "  ld.global.u32 %r2, [own]; add.u32 %r1, %r1, %r2; st.param.b32 [r], %r1; ret; }\n";

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

static void run_together(void) {
    enum { BLOCKS = 20, THREADS = 64, TOTAL = BLOCKS * THREADS };
    static unsigned data[TOTAL + 1];
    struct CUlinkState_st *linker;
    int option = 0 /* CU_JIT_MAX_REGISTERS */, registers = 0, i;
    void *value = (void *)16, *image, *arguments[1];
    size_t size;
    CUdeviceptr device;
    CUmodule module;
    CUfunction kernel;
    OK(cuLinkCreate_v2(1, &option, &value, &linker));
    OK(cuLinkAddData_v2(linker, 1, (void *)together, strlen(together) + 1, "together.ptx", 0, NULL, NULL));
    OK(cuLinkAddData_v2(linker, 1, (void *)other, strlen(other) + 1, "other.ptx", 0, NULL, NULL));
    OK(cuLinkAddData_v2(linker, 4, "!<arch>", 8, "/somewhere/libcudadevrt.a", 0, NULL, NULL));
    OK(cuLinkComplete(linker, &image, &size));
    OK(cuModuleLoadData(&module, image));
    OK(cuLinkDestroy(linker));
    OK(cuModuleGetFunction(&kernel, module, "together"));
    OK(cuFuncGetAttribute(&registers, 4, kernel));
    check(registers <= 16, 1, "the number of registers");
    OK(cuMemAlloc_v2(&device, sizeof data));
    OK(cuMemcpyHtoD_v2(device, data, sizeof data));
    arguments[0] = &device;
    OK(cuLaunchCooperativeKernel(kernel, BLOCKS, 1, 1, THREADS, 1, 1, 0, NULL, arguments));
    OK(cuMemcpyDtoH_v2(data, device, sizeof data));
    OK(cuMemFree_v2(device));
    for (i = 1; i <= TOTAL; i++) check((CUresult)data[i], TOTAL + 1 + 5 + 3, "what a thread saw");
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
    run_together();
    pthread_create(&threads[0], NULL, run_in_own_stream, NULL);
    pthread_create(&threads[1], NULL, run_in_own_stream, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    check(cuMulticastAddDevice(0, 0), 801, "a function that is not implemented");
    check(cuMemAlloc(&early, 16), 801, "a function with 32-bit pointers");
    OK(cuDevicePrimaryCtxRelease_v2(device));
    puts("all right");
    return 0;
}
