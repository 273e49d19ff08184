"""CCCL's headers (libcu++, CUB, Thrust) compiled by clang: they take it for NVRTC."""

from importlib import metadata

import numpy as np
import pytest

import pycuda.driver as drv
from pycuda.compiler import SourceModule, compile
from tests.python.depth import at_depth


def is_installed():
    return any(dist.name in ("cuda-cccl", "nvidia-cuda-cccl") for dist in metadata.distributions())


pytestmark = [
    pytest.mark.skipif(not is_installed(), reason="CCCL's headers are not installed"),
    pytest.mark.usefixtures("context", "clang"),
    pytest.mark.filterwarnings("ignore:The CUDA compiler succeeded:UserWarning"),
]

THREADS, BLOCKS = 128, 8

#: What each thread does with its value `v`: `out` begins as zeros, one number a block.
SUMS = {
    "cub-block-reduce": (
        ["cub/block/block_reduce.cuh"],
        """using Reduce = cub::BlockReduce<int, 128>;
           __shared__ typename Reduce::TempStorage place;
           const int sum = Reduce(place).Sum(v);
           if (!threadIdx.x) out[blockIdx.x] = sum;""",
    ),
    "cub-block-scan": (
        ["cub/cub.cuh"],
        """using Scan = cub::BlockScan<int, 128>;
           __shared__ typename Scan::TempStorage place;
           int until;
           Scan(place).InclusiveSum(v, until);
           if (threadIdx.x == 127) out[blockIdx.x] = until;""",
    ),
    "cub-radix-sort": (
        ["cub/cub.cuh"],
        """using Sort = cub::BlockRadixSort<int, 128, 1>;
           __shared__ typename Sort::TempStorage place;
           __shared__ int sorted[128];
           int keys[1] = {v};
           Sort(place).Sort(keys);
           sorted[threadIdx.x] = keys[0];
           __syncthreads();
           if (threadIdx.x && sorted[threadIdx.x] < sorted[threadIdx.x - 1]) out[blockIdx.x] = -1000000;
           atomicAdd(out + blockIdx.x, sorted[threadIdx.x]);""",
    ),
    "cub-warp-reduce-thrust-plus": (
        ["thrust/functional.h", "cub/warp/warp_reduce.cuh"],
        """using Reduce = cub::WarpReduce<int>;
           __shared__ typename Reduce::TempStorage places[4];
           const int sum = Reduce(places[threadIdx.x / 32]).Reduce(v, thrust::plus<int>());
           if (threadIdx.x % 32 == 0) atomicAdd(out + blockIdx.x, sum);""",
    ),
    "cuda-atomic-ref": (
        ["cuda/atomic"],
        """cuda::atomic_ref<int, cuda::thread_scope_device> sum(out[blockIdx.x]);
           sum.fetch_add(v, cuda::memory_order_relaxed);""",
    ),
    "mdspan": (
        ["cuda/std/mdspan"],
        """cuda::std::mdspan<const int, cuda::std::extents<int, 8, 128>> table(in);
           atomicAdd(out + blockIdx.x, table(blockIdx.x, threadIdx.x));""",
    ),
    "span-optional-variant-chrono": (
        ["cuda/std/span", "cuda/std/optional", "cuda/std/variant", "cuda/std/chrono"],
        """cuda::std::optional<int> one;
           one = cuda::std::span<const int>(in, 1024)[blockIdx.x * 128 + threadIdx.x];
           const cuda::std::variant<int, float> either = *one;
           atomicAdd(out + blockIdx.x, cuda::std::get<int>(either));""",
    ),
    "ptx": (
        ["cuda/ptx"],
        "atomicAdd(out + blockIdx.x, v + (int)(cuda::ptx::get_sreg_laneid() - threadIdx.x % 32));",
    ),
    # A small header of ours stands in for each of these until a program needs more.
    "headers-of-ours-do-not-suffice": (
        ["cuda/std/complex", "cuda/std/functional", "cuda/std/tuple", "cuda/std/type_traits"],
        """static_assert(cuda::std::is_bounded_array_v<int[3]>, "");
           const cuda::std::complex<float> z = cuda::std::polar(1.0f, 0.0f) * (float)v;
           atomicAdd(out + blockIdx.x, (int)cuda::std::get<0>(cuda::std::tuple_cat(
               cuda::std::make_tuple(z.real()), cuda::std::make_tuple(1))));""",
    ),
}


def includes(headers):
    return "".join(f"#include <{header}>\n" for header in headers)


@pytest.mark.parametrize(
    "name", at_depth(["cub-block-reduce", "cuda-atomic-ref", "headers-of-ours-do-not-suffice"], list(SUMS))
)
def test_sums_of_blocks(name):
    headers, body = SUMS[name]
    source = f"""{includes(headers)}
    extern "C" __global__ void sums(const int *in, int *out) {{
        const int v = in[blockIdx.x * blockDim.x + threadIdx.x];
        {body}
    }}"""
    values = np.random.default_rng(5).integers(-1000, 1000, (BLOCKS, THREADS), dtype=np.int32)
    sums = np.zeros(BLOCKS, np.int32)
    kernel = SourceModule(source, no_extern_c=True).get_function("sums")
    kernel(drv.In(values), drv.InOut(sums), block=(THREADS, 1, 1), grid=(BLOCKS, 1))
    np.testing.assert_array_equal(sums, values.sum(axis=1))


def test_headers_may_stand_in_c_linkage():
    source = """
    #include <cuda/std/mdspan>
    __global__ void last(const int *in, int *out) {
        *out = cuda::std::mdspan<const int, cuda::std::extents<int, 2, 3>>(in)(1, 2);
    }"""
    out = np.zeros(1, np.int32)
    SourceModule(source).get_function("last")(drv.In(np.arange(6, dtype=np.int32)), drv.Out(out), block=(1, 1, 1))
    assert out[0] == 5


def test_errors_beside_cccl_have_the_lines_of_the_program():
    with pytest.raises(drv.CompileError, match=r"4:6: error.*unknown_name"):
        compile(
            '#include <cuda/atomic>\n\nextern "C" __global__ void k(int *a) {\n*a = unknown_name;\n}', no_extern_c=True
        )


def test_small_headers_are_used_where_they_suffice():
    source = """
    #include <cuda/std/array>
    extern "C" __global__ void k(int *a) { *a = cuda::std::array<int, 2>{1, 2}[1]; }"""
    ptx = compile(source, no_extern_c=True, arch="sm_80", target="ptx")
    assert b".version 7.8" in bytes(ptx)
