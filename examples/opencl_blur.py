"""An OpenCL program on rtcg's devices, with the original PyOpenCL: an image is blurred through a sampler.

Nothing here knows of rtcg. Run it where the platform is found (docs/opencl.md)::

    pip install pyopencl ziglang && make opencl
    OCL_ICD_VENDORS=$PWD/dist/opencl/ python examples/opencl_blur.py
"""

import sys

import numpy as np

try:
    import pyopencl as cl
except ImportError:
    print("PyOpenCL is not installed: pip install pyopencl")
    sys.exit()

SOURCE = """
constant sampler_t nearest = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;
constant float weights[5] = {1, 4, 6, 4, 1};

kernel void blur(read_only image2d_t from, write_only image2d_t to)
{
    int2 at = (int2)(get_global_id(0), get_global_id(1));
    float sum = 0;
    for (int y = 0; y < 5; y++)
        for (int x = 0; x < 5; x++)
            sum += weights[x] * weights[y] * read_imagef(from, nearest, at + (int2)(x - 2, y - 2)).x;
    write_imagef(to, at, (float4)(sum / 256, 0, 0, 1));
}
"""


def on_the_host(picture):
    """The same with NumPy."""
    weights = np.array([1, 4, 6, 4, 1]) / 16
    padded = np.pad(picture.astype(np.float64), 2, mode="edge")
    rows = sum(w * padded[:, i : i + picture.shape[1]] for i, w in enumerate(weights))
    return sum(w * rows[i : i + picture.shape[0]] for i, w in enumerate(weights))


def main():
    context = cl.create_some_context(interactive=False)
    queue = cl.CommandQueue(context)
    y, x = np.mgrid[:120, :200]
    picture = ((x // 20 + y // 20) % 2).astype(np.float32)
    image_format = cl.ImageFormat(cl.channel_order.R, cl.channel_type.FLOAT)
    flags, shape = cl.mem_flags, picture.shape[::-1]
    source = cl.create_image(context, flags.READ_ONLY | flags.COPY_HOST_PTR, image_format, hostbuf=picture, shape=shape)
    result = cl.create_image(context, flags.WRITE_ONLY, image_format, shape=shape)
    cl.Program(context, SOURCE).build().blur(queue, shape, None, source, result)
    blurred = np.empty_like(picture)
    cl.enqueue_copy(queue, blurred, result, origin=(0, 0), region=shape)
    error = np.abs(blurred - on_the_host(picture)).max()
    verdict = "equal to NumPy" if error < 1e-6 else "WRONG"
    print(
        f"{context.devices[0].name}: {shape[0]} x {shape[1]} pixels blurred, {verdict} (largest difference {error:.1e})"
    )
    return verdict == "WRONG"


if __name__ == "__main__":
    sys.exit(main())
