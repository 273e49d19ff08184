/* A driver in the place of NVIDIA's with one device that does nothing, so that tests can see which calls reach
   a driver and how, and what is said where one is broken. It knows of no host and no memory: launches, copies
   and waits return at once. The environment says what it lacks:
   STUB_DEVICES  the number of devices (1)
   STUB_INIT     what cuInit returns (0)
   STUB_VERSION  the CUDA version (13000)
   STUB_MEMORY   the bytes of the device (1 GiB)
   STUB_FAULT    what every call returns that comes after a launch (0) */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int R;
#define EXPORT __attribute__((visibility("default")))

static long setting(const char *name, long otherwise) {
    const char *value = getenv(name);
    return value && *value ? strtol(value, NULL, 10) : otherwise;
}

static void *current;
static size_t used;
static int launched;
static long code = -1;
EXPORT void stub_fail(int with) { code = with; }
static R fault(void) {
    if (code < 0) code = setting("STUB_FAULT", 0);
    return launched ? (R)code : 0;
}

/* How launches and records of events came: with the interpreter held, and without. */
EXPORT int stub_launches_holding, stub_launches_released;
static int (*holds)(void);
EXPORT void stub_watch(void *holds_interpreter) { holds = (int (*)(void))holds_interpreter; }

EXPORT R cuInit(unsigned flags) { return (R)setting("STUB_INIT", 0); }
EXPORT R cuDriverGetVersion(int *version) { *version = (int)setting("STUB_VERSION", 13000); return 0; }
EXPORT R cuDeviceGetCount(int *count) { *count = (int)setting("STUB_DEVICES", 1); return 0; }
EXPORT R cuDeviceGet(int *device, int ordinal) { *device = ordinal; return 0; }
EXPORT R cuDeviceGetName(char *name, int size, int device) { snprintf(name, (size_t)size, "Stub"); return 0; }
EXPORT R cuDeviceGetAttribute(int *value, int attribute, int device) {
    *value = attribute == 75 ? 9 : attribute == 76 ? 0 : 1024; /* compute capability 9.0 */
    return 0;
}
EXPORT R cuDeviceTotalMem_v2(size_t *bytes, int device) { *bytes = (size_t)setting("STUB_MEMORY", 1L << 30); return 0; }

EXPORT R cuCtxCreate_v2(void **ctx, unsigned flags, int device) { *ctx = current = malloc(1); return 0; }
EXPORT R cuCtxDestroy_v2(void *ctx) { free(ctx); current = NULL; return 0; }
EXPORT R cuCtxSetCurrent(void *ctx) { current = ctx; return 0; }
EXPORT R cuCtxGetCurrent(void **ctx) { *ctx = current; return 0; }
EXPORT R cuCtxGetDevice(int *device) { *device = 0; return 0; }
EXPORT R cuCtxPushCurrent_v2(void *ctx) { current = ctx; return 0; }
EXPORT R cuCtxPopCurrent_v2(void **ctx) { *ctx = current; current = NULL; return 0; }
EXPORT R cuCtxSynchronize(void) { return fault(); }

EXPORT R cuModuleLoadDataEx(void **module, const void *image, unsigned n, int *keys, void **values) {
    *module = malloc(1);
    return 0;
}
EXPORT R cuModuleUnload(void *module) { free(module); return 0; }
EXPORT R cuModuleGetFunction(void **function, void *module, const char *name) {
    *function = module;
    return strcmp(name, "missing") == 0 ? 500 : 0;
}
/* Every kernel takes two pointers and an int, unless nothing is said about that. */
static int knows_parameters = 1;
EXPORT void stub_forget_parameters(void) { knows_parameters = 0; }
EXPORT R cuFuncGetParamInfo(void *function, size_t index, size_t *offset, size_t *size) {
    if (!knows_parameters) return 801;
    if (index > 2) return 1;
    *offset = 8 * index;
    *size = index == 2 ? 4 : 8;
    return 0;
}
EXPORT R cuFuncGetAttribute(int *value, int attribute, void *function) { *value = 1024; return 0; }
EXPORT R cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, void *function, int threads, size_t shared) {
    *blocks = 4;
    return 0;
}
static void wait_for_host_function(void);
EXPORT R cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                        unsigned shared, void *stream, void **params, void **extra) {
    if (fault()) return fault();
    launched = 1;
    if (holds) ++*(holds() ? &stub_launches_holding : &stub_launches_released);
    wait_for_host_function();
    return 0;
}

EXPORT R cuMemAlloc_v2(uint64_t *address, size_t bytes) {
    static uint64_t next = 0x700000000000;
    if (fault()) return fault();
    if (used + bytes > (size_t)setting("STUB_MEMORY", 1L << 30)) return 2;
    used += bytes;
    *address = next += 1 << 20;
    return 0;
}
EXPORT R cuMemFree_v2(uint64_t address) { return fault(); }
EXPORT R cuMemGetInfo_v2(size_t *free_bytes, size_t *total) {
    *total = (size_t)setting("STUB_MEMORY", 1L << 30);
    *free_bytes = *total - used;
    return 0;
}
EXPORT R cuMemcpyDtoH_v2(void *to, uint64_t from, size_t bytes) { memset(to, 0, bytes); return fault(); }
EXPORT R cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t bytes) { return fault(); }

EXPORT R cuMemsetD8Async(uint64_t to, unsigned char value, size_t bytes, void *stream) { return fault(); }

EXPORT char stub_profiler[256];
EXPORT R cuProfilerInitialize(const char *config, const char *output, int mode) {
    snprintf(stub_profiler, sizeof stub_profiler, "%s, %s, %d", config, output, mode);
    return 0;
}

EXPORT R cuStreamCreate(void **stream, unsigned flags) { *stream = malloc(1); return 0; }
EXPORT R cuStreamDestroy_v2(void *stream) { free(stream); return 0; }
EXPORT R cuStreamQuery(void *stream) { return fault(); }
EXPORT R cuStreamSynchronize(void *stream) { return fault(); }
EXPORT R cuStreamIsCapturing(void *stream, int *status) { *status = 0; return 0; }
/* With `stub_wait_for_host_functions` a host function runs in a thread of its own, once a launch waits for it. */
static int waits;
static void (*host_function)(void *);
static void *host_data;
EXPORT void stub_wait_for_host_functions(void) { waits = 1; }
static void *run_host_function(void *nothing) { host_function(host_data); return NULL; }
static void wait_for_host_function(void) {
    pthread_t thread;
    if (!host_function) return;
    pthread_create(&thread, NULL, run_host_function, NULL);
    pthread_join(thread, NULL);
    host_function = NULL;
}
EXPORT R cuLaunchHostFunc(void *stream, void (*function)(void *), void *data) {
    if (waits) host_function = function, host_data = data;
    else function(data);
    return 0;
}
static void (*stream_callback)(void *, R, void *);
static void *callback_data;
static void run_callback(void *nothing) { stream_callback(NULL, 0, callback_data); }
EXPORT R cuStreamAddCallback(void *stream, void (*function)(void *, R, void *), void *data, unsigned flags) {
    stream_callback = function, callback_data = data;
    return cuLaunchHostFunc(stream, run_callback, NULL);
}
EXPORT R cuStreamWaitValue32_v2(void *stream, uint64_t address, uint32_t value, unsigned flags) { return fault(); }
EXPORT R cuEventCreate(void **event, unsigned flags) { *event = malloc(1); return 0; }
EXPORT R cuEventDestroy_v2(void *event) { free(event); return 0; }
EXPORT R cuEventRecord(void *event, void *stream) {
    if (holds) ++*(holds() ? &stub_launches_holding : &stub_launches_released);
    return fault();
}
EXPORT R cuEventQuery(void *event) { return fault(); }
