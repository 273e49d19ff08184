/* A program that knows OpenCL only: linked with the library, it multiplies a vector by FACTOR, a macro of its build, and
   prints what it found. Declarations as in CL/cl.h, which need not be installed. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef struct object *handle;

int32_t clGetPlatformIDs(uint32_t, handle *, uint32_t *);
int32_t clGetPlatformInfo(handle, uint32_t, size_t, void *, size_t *);
int32_t clGetDeviceIDs(handle, uint64_t, uint32_t, handle *, uint32_t *);
handle clCreateContext(const intptr_t *, uint32_t, const handle *, void *, void *, int32_t *);
handle clCreateCommandQueueWithProperties(handle, handle, const uint64_t *, int32_t *);
handle clCreateProgramWithSource(handle, uint32_t, const char **, const size_t *, int32_t *);
int32_t clBuildProgram(handle, uint32_t, const handle *, const char *, void *, void *);
int32_t clGetProgramBuildInfo(handle, handle, uint32_t, size_t, void *, size_t *);
handle clCreateKernel(handle, const char *, int32_t *);
handle clCreateBuffer(handle, uint64_t, size_t, void *, int32_t *);
int32_t clSetKernelArg(handle, uint32_t, size_t, const void *);
int32_t clEnqueueNDRangeKernel(handle, handle, uint32_t, const size_t *, const size_t *, const size_t *, uint32_t,
                               const handle *, handle *);
int32_t clEnqueueReadBuffer(handle, handle, uint32_t, size_t, size_t, void *, uint32_t, const handle *, handle *);
int32_t clReleaseMemObject(handle);
int32_t clReleaseContext(handle);

#define CHECK(code) \
    do { \
        int32_t code_ = (code); \
        if (code_ != 0) { printf("line %d: code %d\n", __LINE__, code_); return 1; } \
    } while (0)

int main(int argc, char **argv) {
    handle platform, device;
    char name[256];
    CHECK(clGetPlatformIDs(1, &platform, NULL));
    CHECK(clGetPlatformInfo(platform, 0x0902, sizeof name, name, NULL));
    CHECK(clGetDeviceIDs(platform, 0xffffffff, 1, &device, NULL));
    int32_t code;
    handle context = clCreateContext(NULL, 1, &device, NULL, NULL, &code);
    CHECK(code);
    handle queue = clCreateCommandQueueWithProperties(context, device, NULL, &code);
    CHECK(code);
    const char *source = "kernel void scale(global float *x) {"
                         "    x[get_global_id(0)] *= FACTOR;"
                         "    if (get_global_id(0) == 7) printf(\"%v2d %s\\n\", (int2)(1, -2), \"of a kernel\");"
                         "}";
    handle program = clCreateProgramWithSource(context, 1, &source, NULL, &code);
    CHECK(code);
    char options[256], log[4096];
    snprintf(options, sizeof options, "-DFACTOR=%s", argc > 1 ? argv[1] : "2");
    code = clBuildProgram(program, 0, NULL, options, NULL, NULL);
    if (code != 0) {
        CHECK(clGetProgramBuildInfo(program, device, 0x1183, sizeof log, log, NULL));
        printf("build: code %d\n%s\n", code, log);
        return 2;
    }
    handle kernel = clCreateKernel(program, "scale", &code);
    CHECK(code);
    float values[100];
    for (int i = 0; i < 100; i++) values[i] = (float)i;
    handle buffer = clCreateBuffer(context, 1 | 1 << 5, sizeof values, values, &code);
    CHECK(code);
    size_t size = 100;
    CHECK(clSetKernelArg(kernel, 0, sizeof buffer, &buffer));
    CHECK(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &size, NULL, 0, NULL, NULL));
    CHECK(clEnqueueReadBuffer(queue, buffer, 1, 0, sizeof values, values, 0, NULL, NULL));
    CHECK(clReleaseMemObject(buffer));
    CHECK(clReleaseContext(context));
    printf("%s: %g %g\n", name, values[1], values[99]);
    return 0;
}
