/* An image is filled, sampled at half its size, and copied back; a checkerboard of bytes becomes grey. */
#include "common.h"

int main(void) {
    enum { WIDTH = 64, HEIGHT = 32 };
    static unsigned char pixels[HEIGHT][WIDTH][4], half[HEIGHT / 2][WIDTH / 2][4];
    cl_int code;
    open_device();
    cl_command_queue queue = queue_with(0);
    cl_program program = build("kernel void shrink(read_only image2d_t from, sampler_t sampler, write_only image2d_t to) {\n"
                               "    int2 at = (int2)(get_global_id(0), get_global_id(1));\n"
                               "    float2 where = (convert_float2(at) + 0.5f) / convert_float2(get_image_dim(to));\n"
                               "    write_imagef(to, at, read_imagef(from, sampler, where));\n"
                               "}\n", NULL);
    if (program == NULL) return 1;
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++) {
            unsigned char grey = (x + y) % 2 ? 200 : 100;
            memcpy(pixels[y][x], (unsigned char[]){grey, (unsigned char)x, (unsigned char)y, 255}, 4);
        }
    cl_image_format format = {CL_RGBA, CL_UNORM_INT8};
    cl_image_desc shape = {.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = WIDTH, .image_height = HEIGHT};
    cl_mem whole = clCreateImage(context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, &format, &shape, pixels, &code);
    CHECK(code);
    shape.image_width /= 2;
    shape.image_height /= 2;
    cl_mem small = clCreateImage(context, CL_MEM_READ_WRITE, &format, &shape, NULL, &code);
    CHECK(code);
    cl_sampler_properties properties[] = {CL_SAMPLER_NORMALIZED_COORDS, CL_TRUE, CL_SAMPLER_ADDRESSING_MODE,
                                          CL_ADDRESS_CLAMP_TO_EDGE, CL_SAMPLER_FILTER_MODE, CL_FILTER_LINEAR, 0};
    cl_sampler sampler = clCreateSamplerWithProperties(context, properties, &code);
    CHECK(code);
    cl_kernel kernel = kernel_of(program, "shrink");
    CHECK(clSetKernelArg(kernel, 0, sizeof whole, &whole));
    CHECK(clSetKernelArg(kernel, 1, sizeof sampler, &sampler));
    CHECK(clSetKernelArg(kernel, 2, sizeof small, &small));
    size_t size[] = {WIDTH / 2, HEIGHT / 2};
    CHECK(clEnqueueNDRangeKernel(queue, kernel, 2, NULL, size, NULL, 0, NULL, NULL));
    /* The left upper pixel becomes red, after what the kernel wrote. */
    float red[] = {1, 0, 0, 1};
    size_t origin[] = {0, 0, 0}, one[] = {1, 1, 1}, all[] = {WIDTH / 2, HEIGHT / 2, 1};
    CHECK(clEnqueueFillImage(queue, small, red, origin, one, 0, NULL, NULL));
    CHECK(clEnqueueReadImage(queue, small, CL_TRUE, origin, all, 0, 0, half, 0, NULL, NULL));
    int right = 0;
    for (int y = 0; y < HEIGHT / 2; y++)
        for (int x = 0; x < WIDTH / 2; x++) {
            unsigned char *is = half[y][x];
            /* Halves between two bytes round either way. */
            right += is[0] == 150 && (is[1] - 2 * x) / 2 == 0 && (is[2] - 2 * y) / 2 == 0 && is[3] == 255;
        }
    printf("grey: %d of %d\n", right, WIDTH * HEIGHT / 4);
    printf("first: %d %d %d %d\n", half[0][0][0], half[0][0][1], half[0][0][2], half[0][0][3]);
    return 0;
}
