// Host time of enqueueing on an OpenCL platform, beside cuLaunchKernel of a CUDA driver.
//
//   usage: cc -O2 -o opencl_enqueue benches/opencl_enqueue.c -ldl
//          ./opencl_enqueue dist/opencl/libOpenCL.so.1 [libcuda.so.1]
//
// The first argument is any libOpenCL (with a loader, OCL_ICD_VENDORS says which platform); the second is the driver,
// left out where there is none: target/release/liblibcuda.so (`make libcuda`) is that of the virtual GPU.
// Each time is the least of several rounds, in nanoseconds for each call. A round enqueues 100 launches of a kernel of one
// group; the queue is empty when it begins. The last line of the output is JSON.
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { CALLS = 100, ROUNDS = 300 };

static void *library;
static void fail(const char *what, long code) {
    fprintf(stderr, "opencl_enqueue: %s: %ld\n", what, code);
    exit(1);
}
static void *address(const char *name) {
    void *found = dlsym(library, name);
    if (!found) fail(name, -1);
    return found;
}
static double now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

// The kernel of both: one addition, so that the time is that of launching.
static const char *opencl_source =
    "__kernel void add(__global int *x, __global const int *y, int n) {\n"
    "    int i = get_global_id(0);\n"
    "    if (i < n) x[i] += y[i];\n"
    "}\n";
static const char *ptx =
    ".version 7.0\n.target sm_52\n.address_size 64\n"
    ".visible .entry add(.param .u64 x, .param .u64 y, .param .u32 n) {\n"
    ".reg .pred %p<2>; .reg .b32 %r<8>; .reg .b64 %rd<8>;\n"
    "ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y]; ld.param.u32 %r1, [n];\n"
    "mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;\n"
    "mad.lo.s32 %r5, %r2, %r3, %r4;\n"
    "setp.ge.s32 %p1, %r5, %r1; @%p1 ret;\n"
    "mul.wide.s32 %rd3, %r5, 4; add.s64 %rd1, %rd1, %rd3; add.s64 %rd2, %rd2, %rd3;\n"
    "ld.global.u32 %r6, [%rd1]; ld.global.u32 %r7, [%rd2]; add.s32 %r6, %r6, %r7;\n"
    "st.global.u32 [%rd1], %r6; ret;\n}\n";

// What to measure; `finish` waits for all of it.
typedef struct {
    const char *name;
    void (*call)(void);
    void (*finish)(void);
    double ns;
} Measure;

static void measure(Measure *m) {
    m->ns = 1e30;
    for (int round = 0; round < ROUNDS; round++) {
        double begin = now_ns();
        for (int i = 0; i < CALLS; i++) m->call();
        double took = (now_ns() - begin) / CALLS;
        m->finish();
        if (took < m->ns) m->ns = took;
    }
}

// CUDA
static int (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **);
static int (*stream_synchronize)(void *);
static void *function, *stream;
static uint64_t device_x, device_y;
static int n_elements = 32;

static void cuda_launch(void) {
    void *args[] = {&device_x, &device_y, &n_elements};
    int code = launch(function, 1, 1, 1, 32, 1, 1, 0, stream, args, NULL);
    if (code) fail("cuLaunchKernel", code);
}
static void cuda_finish(void) {
    int code = stream_synchronize(stream);
    if (code) fail("cuStreamSynchronize", code);
}
static void cuda_launch_and_finish(void) {
    cuda_launch();
    cuda_finish();
}
static void nothing(void) {}

static void check_cuda(const char *what, int code) {
    if (code) fail(what, code);
}
static void set_up_cuda(const char *path) {
    library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) fail(dlerror(), 0);
    int (*init)(unsigned) = address("cuInit");
    int (*get_device)(int *, int) = address("cuDeviceGet");
    int (*retain)(void **, int) = address("cuDevicePrimaryCtxRetain");
    int (*set_current)(void *) = address("cuCtxSetCurrent");
    int (*load)(void **, const void *) = address("cuModuleLoadData");
    int (*get_function)(void **, void *, const char *) = address("cuModuleGetFunction");
    int (*create_stream)(void **, unsigned) = address("cuStreamCreate");
    int (*allocate)(uint64_t *, size_t) = address("cuMemAlloc_v2");
    launch = address("cuLaunchKernel");
    stream_synchronize = address("cuStreamSynchronize");
    int device;
    void *context, *module;
    check_cuda("cuInit", init(0));
    check_cuda("cuDeviceGet", get_device(&device, 0));
    check_cuda("cuDevicePrimaryCtxRetain", retain(&context, device));
    check_cuda("cuCtxSetCurrent", set_current(context));
    check_cuda("cuModuleLoadData", load(&module, ptx));
    check_cuda("cuModuleGetFunction", get_function(&function, module, "add"));
    check_cuda("cuStreamCreate", create_stream(&stream, 1));
    check_cuda("cuMemAlloc", allocate(&device_x, 4096));
    check_cuda("cuMemAlloc", allocate(&device_y, 4096));
}

// OpenCL
static int (*enqueue)(void *, void *, unsigned, const size_t *, const size_t *, const size_t *, unsigned, void *const *, void **);
static int (*set_argument)(void *, unsigned, size_t, const void *);
static int (*finish_queue)(void *);
static int (*release_event)(void *);
static void *queue, *kernel, *x, *y;
static const size_t items = 32;

static void opencl_enqueue(void) {
    int code = enqueue(queue, kernel, 1, NULL, &items, &items, 0, NULL, NULL);
    if (code) fail("clEnqueueNDRangeKernel", code);
}
static void opencl_finish(void) {
    int code = finish_queue(queue);
    if (code) fail("clFinish", code);
}
static void set_arguments(void) {
    int code = set_argument(kernel, 0, sizeof x, &x);
    if (!code) code = set_argument(kernel, 1, sizeof y, &y);
    if (!code) code = set_argument(kernel, 2, sizeof n_elements, &n_elements);
    if (code) fail("clSetKernelArg", code);
}
static void opencl_set_and_enqueue(void) {
    set_arguments();
    opencl_enqueue();
}
static void opencl_enqueue_with_event(void) {
    void *event;
    int code = enqueue(queue, kernel, 1, NULL, &items, &items, 0, NULL, &event);
    if (!code) code = release_event(event);
    if (code) fail("clEnqueueNDRangeKernel with an event", code);
}
static void opencl_enqueue_and_finish(void) {
    opencl_enqueue();
    opencl_finish();
}
static void opencl_set_enqueue_and_finish(void) {
    set_arguments();
    opencl_enqueue_and_finish();
}

static char device_name[256];

static void set_up_opencl(const char *path) {
    library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) fail(dlerror(), 0);
    int (*get_platforms)(unsigned, void **, unsigned *) = address("clGetPlatformIDs");
    int (*get_devices)(void *, uint64_t, unsigned, void **, unsigned *) = address("clGetDeviceIDs");
    int (*device_info)(void *, unsigned, size_t, void *, size_t *) = address("clGetDeviceInfo");
    void *(*create_context)(void *, unsigned, void **, void *, void *, int *) = address("clCreateContext");
    void *(*create_queue)(void *, void *, uint64_t, int *) = address("clCreateCommandQueue");
    void *(*create_buffer)(void *, uint64_t, size_t, void *, int *) = address("clCreateBuffer");
    void *(*create_program)(void *, unsigned, const char **, const size_t *, int *) = address("clCreateProgramWithSource");
    int (*build)(void *, unsigned, void **, const char *, void *, void *) = address("clBuildProgram");
    void *(*create_kernel)(void *, const char *, int *) = address("clCreateKernel");
    enqueue = address("clEnqueueNDRangeKernel");
    set_argument = address("clSetKernelArg");
    finish_queue = address("clFinish");
    release_event = address("clReleaseEvent");
    void *platform, *device;
    int code = get_platforms(1, &platform, NULL);
    if (code) fail("clGetPlatformIDs", code);
    code = get_devices(platform, 0xFFFFFFFF, 1, &device, NULL);
    if (code) fail("clGetDeviceIDs", code);
    device_info(device, 0x102B, sizeof device_name, device_name, NULL);
    void *context = create_context(NULL, 1, &device, NULL, NULL, &code);
    if (code) fail("clCreateContext", code);
    queue = create_queue(context, device, 0, &code);
    if (code) fail("clCreateCommandQueue", code);
    x = create_buffer(context, 1, 4096, NULL, &code);
    y = create_buffer(context, 1, 4096, NULL, &code);
    if (code) fail("clCreateBuffer", code);
    void *program = create_program(context, 1, &opencl_source, NULL, &code);
    code = build(program, 0, NULL, NULL, NULL, NULL);
    if (code) fail("clBuildProgram", code);
    kernel = create_kernel(program, "add", &code);
    if (code) fail("clCreateKernel", code);
    set_arguments();
}

int main(int argc, char **argv) {
    if (argc < 2 || argc > 3) {
        fprintf(stderr, "usage: %s LIBOPENCL [LIBCUDA]\n", argv[0]);
        return 2;
    }
    Measure list[] = {
        {"cuLaunchKernel", cuda_launch, cuda_finish, 0},
        {"cuLaunchKernel_and_synchronize", cuda_launch_and_finish, nothing, 0},
        {"clEnqueueNDRangeKernel", opencl_enqueue, opencl_finish, 0},
        {"clSetKernelArg_3_and_enqueue", opencl_set_and_enqueue, opencl_finish, 0},
        {"enqueue_with_event", opencl_enqueue_with_event, opencl_finish, 0},
        {"enqueue_and_clFinish", opencl_enqueue_and_finish, nothing, 0},
        {"set_enqueue_and_clFinish", opencl_set_enqueue_and_finish, nothing, 0},
    };
    int first = argc == 3 ? 0 : 2, count = sizeof list / sizeof *list;
    if (argc == 3) set_up_cuda(argv[2]);
    set_up_opencl(argv[1]);
    // Twice: what compiles and grows in the first pass is no part of the second.
    for (int pass = 0; pass < 2; pass++)
        for (int i = first; i < count; i++) measure(&list[i]);
    printf("%s\n", device_name);
    for (int i = first; i < count; i++) printf("%-32s %8.0f ns\n", list[i].name, list[i].ns);
    printf("{\"device\": \"%s\"", device_name);
    for (int i = first; i < count; i++) printf(", \"%s_ns\": %.0f", list[i].name, list[i].ns);
    printf("}\n");
    return 0;
}
