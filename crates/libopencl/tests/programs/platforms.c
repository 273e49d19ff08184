/* All platforms by name, and how many devices each has or the code it returns. */
#include "common.h"

int main(void) {
    cl_platform_id found[8];
    cl_uint count;
    CHECK(clGetPlatformIDs(8, found, &count));
    for (cl_uint i = 0; i < count; i++) {
        char name[64];
        cl_uint devices = 0;
        CHECK(clGetPlatformInfo(found[i], CL_PLATFORM_NAME, sizeof name, name, NULL));
        cl_int code = clGetDeviceIDs(found[i], CL_DEVICE_TYPE_ALL, 0, NULL, &devices);
        cl_context_properties properties[] = {CL_CONTEXT_PLATFORM, (cl_context_properties)found[i], 0};
        cl_int made;
        cl_context context = clCreateContextFromType(properties, CL_DEVICE_TYPE_ALL, NULL, NULL, &made);
        printf("%s: code %d, %s; context: code %d\n", name, code, devices ? "devices" : "none", made);
        if (context) CHECK(clReleaseContext(context));
    }
    void *known = clGetExtensionFunctionAddress("clGetPlatformIDs");
    printf("functions: %s\n", known == (void *)clGetPlatformIDs && clGetExtensionFunctionAddress("clNo") == NULL ? "known" : "wrong");
    return 0;
}
