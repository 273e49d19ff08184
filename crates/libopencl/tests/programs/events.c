/* A queue out of order: a diamond of kernels that only events order, behind a user event; profiling; a callback. */
#include "common.h"

static volatile int callbacks;

static void completed(cl_event event, cl_int status, void *data) {
    (void)event;
    if (status == CL_COMPLETE && data == &callbacks) __atomic_add_fetch(&callbacks, 1, __ATOMIC_SEQ_CST);
}

static cl_event launch(cl_command_queue queue, cl_kernel kernel, cl_mem from, cl_mem to, int factor, cl_uint count,
                       const cl_event *wait) {
    size_t size = 10000;
    cl_event event;
    CHECK(clSetKernelArg(kernel, 0, sizeof from, &from));
    CHECK(clSetKernelArg(kernel, 1, sizeof to, &to));
    CHECK(clSetKernelArg(kernel, 2, sizeof factor, &factor));
    CHECK(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &size, NULL, count, wait, &event));
    return event;
}

int main(void) {
    enum { COUNT = 10000 };
    static int values[COUNT];
    cl_int code;
    open_device();
    cl_command_queue queue = queue_with(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE);
    cl_program program = build("kernel void add(global const int *from, global int *to, int factor) {\n"
                               "    to[get_global_id(0)] += factor * from[get_global_id(0)];\n"
                               "}\n", NULL);
    if (program == NULL) return 1;
    cl_kernel kernel = kernel_of(program, "add");
    cl_mem memory[4];
    cl_event filled[4], start = clCreateUserEvent(context, &code);
    CHECK(code);
    for (int i = 0; i < 4; i++) {
        memory[i] = clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof values, NULL, &code);
        CHECK(code);
        int pattern = i == 0;
        CHECK(clEnqueueFillBuffer(queue, memory[i], &pattern, sizeof pattern, 0, sizeof values, 1, &start, &filled[i]));
    }
    /* 1 -> 10 and 100 -> 1110, and twice that behind it. */
    cl_event middle[2], last, read;
    middle[0] = launch(queue, kernel, memory[0], memory[1], 10, 4, filled);
    middle[1] = launch(queue, kernel, memory[0], memory[2], 100, 4, filled);
    cl_event sums[2];
    sums[0] = launch(queue, kernel, memory[1], memory[3], 1, 2, middle);
    sums[1] = launch(queue, kernel, memory[2], memory[3], 11, 1, &sums[0]);
    last = launch(queue, kernel, memory[0], memory[3], 5, 1, &sums[1]);
    CHECK(clSetEventCallback(last, CL_COMPLETE, completed, (void *)&callbacks));
    CHECK(clEnqueueReadBuffer(queue, memory[3], CL_FALSE, 0, sizeof values, values, 1, &last, &read));
    CHECK(clFlush(queue));

    cl_int status;
    CHECK(clGetEventInfo(last, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL));
    printf("before: status %d\n", status == CL_COMPLETE ? -1 : 1);
    CHECK(clSetUserEventStatus(start, CL_COMPLETE));
    CHECK(clWaitForEvents(1, &read));
    int right = 0;
    for (int i = 0; i < COUNT; i++) right += values[i] == 10 + 1100 + 5;
    printf("values: %d of %d\n", right, COUNT);
    cl_ulong times[4];
    cl_profiling_info names[] = {CL_PROFILING_COMMAND_QUEUED, CL_PROFILING_COMMAND_SUBMIT, CL_PROFILING_COMMAND_START,
                                 CL_PROFILING_COMMAND_END};
    for (int i = 0; i < 4; i++) CHECK(clGetEventProfilingInfo(last, names[i], sizeof times[i], &times[i], NULL));
    printf("times: %s\n", times[0] <= times[1] && times[1] <= times[2] && times[2] < times[3] ? "in order" : "mixed up");
    CHECK(clFinish(queue));
    for (int i = 0; i < 1000000 && callbacks == 0; i++) CHECK(clFlush(queue));
    printf("callbacks: %d\n", callbacks);
    code = clGetEventInfo((cl_event)(void *)queue, CL_EVENT_COMMAND_TYPE, sizeof status, &status, NULL);
    printf("a queue is no event: code %d\n", code);
    return 0;
}
