/* What the programs of these tests share: the platform's first device, and an end at the first error. */
#include "CL/cl.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(code) \
    do { \
        cl_int code_ = (code); \
        if (code_ != CL_SUCCESS) { printf("line %d: code %d\n", __LINE__, code_); exit(1); } \
    } while (0)

static cl_platform_id platform;
static cl_device_id device;
static cl_context context;

static inline void open_device(void) {
    cl_int code;
    CHECK(clGetPlatformIDs(1, &platform, NULL));
    CHECK(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL));
    context = clCreateContext(NULL, 1, &device, NULL, NULL, &code);
    CHECK(code);
}

/* A program that is built; its log where it is not. */
static inline cl_program build(const char *source, const char *options) {
    cl_int code;
    cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, &code);
    CHECK(code);
    code = clBuildProgram(program, 1, &device, options, NULL, NULL);
    if (code != CL_SUCCESS) {
        size_t size;
        CHECK(clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, 0, NULL, &size));
        char *log = malloc(size);
        CHECK(clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, size, log, NULL));
        printf("build: code %d\n%s\n", code, log);
        free(log);
        clReleaseProgram(program);
        return NULL;
    }
    return program;
}

static inline cl_kernel kernel_of(cl_program program, const char *name) {
    cl_int code;
    cl_kernel kernel = clCreateKernel(program, name, &code);
    CHECK(code);
    return kernel;
}

static inline cl_command_queue queue_with(cl_command_queue_properties flags) {
    cl_int code;
    cl_queue_properties properties[] = {CL_QUEUE_PROPERTIES, flags, 0};
    cl_command_queue queue = clCreateCommandQueueWithProperties(context, device, properties, &code);
    CHECK(code);
    return queue;
}
