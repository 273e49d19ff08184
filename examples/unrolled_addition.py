"""One unrolled addition, generated in two ways: by a template and as a syntax tree.

Both take the dtype, the threads of a block and the elements of each thread, and make the same program.
"""

import sys

import numpy as np

import pycuda.autoinit
import pycuda.gpuarray as gpuarray
from pycuda.compiler import SourceModule
from rtcg import cgen, template
from rtcg.cgen.cuda import CudaGlobal

TEMPLATE = """
__global__ void add({{ dtype|ctype }} *z, const {{ dtype|ctype }} *x, const {{ dtype|ctype }} *y)
{
    int i = threadIdx.x + {{ n_threads * n_items }} * blockIdx.x;
{% for k in range(n_items) %}
    z[i + {{ k * n_threads }}] = x[i + {{ k * n_threads }}] + y[i + {{ k * n_threads }}];
{% endfor %}
}
"""


def from_template(dtype, n_threads, n_items):
    return template.render(TEMPLATE, dtype=dtype, n_threads=n_threads, n_items=n_items)


def from_tree(dtype, n_threads, n_items):
    arguments = [cgen.Pointer(cgen.POD(dtype, "z"))]
    arguments += [cgen.Pointer(cgen.Const(cgen.POD(dtype, name))) for name in "xy"]
    steps = [k * n_threads for k in range(n_items)]
    body = [cgen.Initializer(cgen.POD(np.int32, "i"), f"threadIdx.x + {n_threads * n_items} * blockIdx.x")]
    body += [cgen.Assign(f"z[i + {step}]", f"x[i + {step}] + y[i + {step}]") for step in steps]
    declaration = CudaGlobal(cgen.FunctionDeclaration(cgen.Value("void", "add"), arguments))
    return cgen.Module([cgen.FunctionBody(declaration, cgen.Block(body))])


def main():
    print(f"device: {pycuda.autoinit.device.name()}")
    rng = np.random.default_rng(0)
    failed = False
    for dtype, n_threads, n_items in [(np.float32, 256, 16), (np.float64, 128, 4), (np.int32, 64, 1)]:
        n = 8 * n_threads * n_items
        x, y = rng.integers(-1000, 1000, (2, n)).astype(dtype)
        for generate in (from_template, from_tree):
            source = generate(dtype, n_threads, n_items)
            z = gpuarray.zeros(n, dtype)
            add = SourceModule(source).get_function("add")
            add(z, gpuarray.to_gpu(x), gpuarray.to_gpu(y), block=(n_threads, 1, 1), grid=(8, 1))
            # As many additions as items: the loop is unrolled in the source.
            right = np.array_equal(z.get(), x + y) and str(source).count("] + y[") == n_items
            failed |= not right
            print(f"{generate.__name__:>13}, {np.dtype(dtype)}, {n_items} items: {'right' if right else 'WRONG'}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
