"""Transpose matrices by reading them through a texture, as programs did before caches were large.

A texture's cache is made for neighbours in two dimensions, so the kernel may read down the columns
and write along the rows. The texture is bound in the three ways there are: a reference over an
array, a reference over linear memory, and a texture object.
"""

import sys

import numpy as np

import rtcg.autoinit
import rtcg.driver as cuda
from rtcg.compiler import SourceModule

BLOCK = 16

SOURCE = """
texture<float, 2> matrix;
texture<float, 1> elements;

__global__ void from_array(float *out, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < height && y < width)
        out[y * height + x] = tex2D(matrix, y, x);
}

__global__ void from_memory(float *out, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < height && y < width)
        out[y * height + x] = tex1Dfetch(elements, x * width + y);
}

__global__ void from_object(float *out, int width, int height, cudaTextureObject_t object)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < height && y < width)
        out[y * height + x] = tex2D<float>(object, y, x);
}
"""


def launch(function, a, *extra, texrefs=()):
    """Runs a kernel over the transposed of `a`; returns it and the time in milliseconds."""
    height, width = a.shape
    out = np.empty((width, height), np.float32)
    out_gpu = cuda.mem_alloc(out.nbytes)
    grid = (-(-height // BLOCK), -(-width // BLOCK))
    seconds = function(
        out_gpu, np.int32(width), np.int32(height), *extra,
        block=(BLOCK, BLOCK, 1), grid=grid, texrefs=list(texrefs), time_kernel=True,
    )  # fmt: skip
    cuda.memcpy_dtoh(out, out_gpu)
    return out, seconds * 1e3


def transpositions(module, a):
    """The transposed matrix and the time, by each way to bind."""
    matrix = module.get_texref("matrix")
    cuda.matrix_to_texref(a, matrix, order="C")
    yield "array", *launch(module.get_function("from_array"), a, texrefs=[matrix])

    elements = module.get_texref("elements")
    memory = cuda.to_device(a)
    elements.set_address(memory, a.nbytes)
    elements.set_format(cuda.array_format.FLOAT, 1)
    yield "memory", *launch(module.get_function("from_memory"), a, texrefs=[elements])

    texture = cuda.texture_object(cuda.matrix_to_array(a, "C"))
    yield "object", *launch(module.get_function("from_object"), a, texture)


def main():
    print(f"device: {rtcg.autoinit.device.name()}")
    module = SourceModule(SOURCE)
    wrong = 0
    for shape in [(16, 16), (70, 100), (512, 256)]:
        a = np.random.default_rng(shape[0]).random(shape, dtype=np.float32)
        for name, got, milliseconds in transpositions(module, a):
            right = np.array_equal(got, a.T)
            wrong += not right
            print(f"{shape[0]:>5}x{shape[1]:<5}{name:>8}{milliseconds:10.3f} ms{'' if right else '  WRONG'}")
    print("WRONG" if wrong else "all transpositions are equal to NumPy's")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
