/* y = a x + y; before that a program with a mistake, whose log is printed. */
#include "common.h"

int main(void) {
    enum { COUNT = 100000 };
    static float x[COUNT], y[COUNT];
    cl_int code;
    open_device();
    if (build("kernel void broken(global float *x) {\n    x[0] = missing;\n}\n", "") != NULL) return 1;

    cl_program program = build("kernel void saxpy(float a, global const float *x, global float *y) {\n"
                               "    size_t i = get_global_id(0);\n"
                               "    y[i] = a * x[i] + y[i];\n"
                               "}\n", "-cl-std=CL1.2");
    if (program == NULL) return 1;
    for (int i = 0; i < COUNT; i++) { x[i] = (float)i; y[i] = 1; }
    cl_command_queue queue = queue_with(0);
    cl_mem dx = clCreateBuffer(context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, sizeof x, x, &code);
    CHECK(code);
    cl_mem dy = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof y, y, &code);
    CHECK(code);
    cl_kernel kernel = kernel_of(program, "saxpy");
    float a = 2;
    CHECK(clSetKernelArg(kernel, 0, sizeof a, &a));
    CHECK(clSetKernelArg(kernel, 1, sizeof dx, &dx));
    CHECK(clSetKernelArg(kernel, 2, sizeof dy, &dy));
    size_t size = COUNT;
    CHECK(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &size, NULL, 0, NULL, NULL));
    CHECK(clEnqueueReadBuffer(queue, dy, CL_TRUE, 0, sizeof y, y, 0, NULL, NULL));
    int right = 0;
    for (int i = 0; i < COUNT; i++) right += y[i] == 2.0f * (float)i + 1;
    printf("saxpy: %d of %d\n", right, COUNT);
    CHECK(clReleaseKernel(kernel));
    CHECK(clReleaseProgram(program));
    CHECK(clReleaseMemObject(dx));
    CHECK(clReleaseMemObject(dy));
    CHECK(clReleaseCommandQueue(queue));
    CHECK(clReleaseContext(context));
    return 0;
}
