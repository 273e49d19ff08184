"""`pycuda.tools`: memoisation by context, C names of dtypes."""

import numpy as np
import pytest

import pycuda.driver as cuda
import pycuda.tools as tools
from rtcg import _native

pytestmark = pytest.mark.usefixtures("context")


def test_bitlog2():
    assert [tools.bitlog2(n) for n in (1, 2, 3, 4, 1023, 1024, 1 << 40)] == [0, 1, 1, 2, 9, 10, 40]


def test_memoised_by_context():
    calls = []

    @tools.context_dependent_memoize
    def function(a, *, b=0):
        """What it does."""
        calls.append((a, b))
        return object()

    first = function(1, b=2)
    assert function(1, b=2) is first and len(calls) == 1
    assert function(2, b=2) is not first and len(calls) == 2
    assert function.__doc__ == "What it does."
    assert function in tools.context_dependent_memoized_functions
    context = cuda.Context.get_device().make_context()
    try:
        assert function(1, b=2) is not first
    finally:
        context.pop()
    assert function(1, b=2) is first
    tools.clear_context_caches()
    assert function(1, b=2) is not first


def test_memoised_failures_are_tried_again():
    attempts = []

    @tools.context_dependent_memoize
    def function():
        attempts.append(1)
        if len(attempts) == 1:
            raise ValueError("once")
        return 7

    with pytest.raises(ValueError):
        function()
    assert function() == 7


@pytest.mark.parametrize(
    "dtype, name",
    [
        (np.float32, "float"),
        ("f8", "double"),
        (np.complex64, "pycuda::complex<float>"),
        (np.complex128, "pycuda::complex<double>"),
        (np.int8, "signed char"),
        (np.uint64, "unsigned long"),
        (np.bool_, "bool"),
    ],
)
def test_c_names(dtype, name):
    assert tools.dtype_to_ctype(dtype) == name


def test_c_names_for_textures():
    assert tools.dtype_to_ctype(np.float64, with_fp_tex_hack=True) == "fp_tex_double"
    assert tools.dtype_to_ctype(np.int32, with_fp_tex_hack=True) == "int"


@pytest.mark.parametrize("dtype", [None, "U5", object, "M8[s]"])
def test_no_c_name(dtype):
    with pytest.raises(ValueError):
        tools.dtype_to_ctype(dtype)


def test_c_names_have_the_right_size():
    from pycuda.compiler import SourceModule

    dtypes = [d for d in map(np.dtype, "?bBhHiIlLfdFD")]
    body = "".join(f"out[{i}] = sizeof({tools.dtype_to_ctype(d)});" for i, d in enumerate(dtypes))
    source = '#include <pycuda-complex.hpp>\nextern "C" __global__ void sizes(int *out) {' + body + "}"
    out = np.zeros(len(dtypes), np.int32)
    SourceModule(source, no_extern_c=True).get_function("sizes")(cuda.Out(out), block=(1, 1, 1))
    assert out.tolist() == [d.itemsize for d in dtypes]


@pytest.mark.parametrize("n", [0, -1])
def test_no_bitlog2(n):
    with pytest.raises(ValueError):
        tools.bitlog2(n)
    with pytest.raises(TypeError):
        tools.bitlog2(1.5)


# -- figures of devices


def test_device_data_of_this_device():
    device = cuda.Context.get_device()
    data = tools.DeviceData()
    assert data.max_threads == device.max_threads_per_block and data.warp_size == device.warp_size
    assert data.warps_per_mp == device.max_threads_per_multiprocessor // device.warp_size
    assert data.thread_blocks_per_mp == device.max_blocks_per_multiprocessor
    assert data.registers == device.max_registers_per_multiprocessor
    assert data.shared_memory == device.max_shared_memory_per_multiprocessor
    assert tools.DeviceData(device).limits == data.limits


def test_device_data_by_capability_is_that_of_the_device():
    device = cuda.Context.get_device()
    by_table = tools.DeviceData(device.compute_capability()).limits
    assert tools.DeviceData(device).limits == by_table


@pytest.mark.parametrize(
    "capability, warps, blocks, kib", [((5, 2), 64, 32, 96), ((7, 5), 32, 16, 64), ((8, 9), 48, 24, 100),
                                       ((9, 0), 64, 32, 228), ((10, 3), 64, 32, 228), ((12, 0), 48, 24, 100)]
)  # fmt: skip
def test_device_data_of_other_devices(capability, warps, blocks, kib):
    data = tools.DeviceData(capability)
    assert (data.warps_per_mp, data.thread_blocks_per_mp, data.shared_memory) == (warps, blocks, kib * 1024)
    assert data.registers == 65536 and data.register_allocation_unit == "warp"


def test_unknown_capability():
    with pytest.raises(ValueError, match="4.2"):
        tools.DeviceData((4, 2))


def test_alignment():
    data = tools.DeviceData()
    assert (data.align(1), data.align(65), data.align(100, 16)) == (64, 128, 128)
    assert data.align_words(4) == 16 and data.align_dtype(17, 4) == 32 and data.align_bytes(8) == 128
    assert (data.coalesce(1), data.coalesce(33)) == (32, 64)
    assert [data.make_valid_tex_channel_count(n) for n in (1, 2, 3, 4)] == [1, 2, 4, 4]
    with pytest.raises(ValueError):
        data.make_valid_tex_channel_count(5)
    with pytest.raises(ValueError):
        data.align_bytes(3)


def test_occupancy_record():
    data = tools.DeviceData((9, 0))
    record = tools.OccupancyRecord(data, 256, registers=64)
    assert (record.tb_per_mp, record.warps_per_mp, record.occupancy, record.limited_by) == (4, 32, 0.5, "regs")
    assert tools.OccupancyRecord(data, 32).limited_by == "device"
    assert tools.OccupancyRecord(data, 1024).limited_by == "warps"
    assert tools.OccupancyRecord(data, 128, shared_mem=100_000).limited_by == "smem"
    assert "limited_by='warps'" in repr(tools.OccupancyRecord(data, 1024))
    for wrong in ({"threads": 1025}, {"threads": 32, "shared_mem": 300_000}, {"threads": 32, "registers": 300}):
        with pytest.raises(ValueError, match="expected"):
            tools.OccupancyRecord(data, **wrong)


def test_occupancy_is_the_drivers(on_virtual_device):
    from pycuda.compiler import SourceModule

    source = """
    __global__ void light(float *a) { a[threadIdx.x] += 1; }
    __global__ void heavy(float *a)
    {
        float r[48];
        for (int i = 0; i < 48; ++i) r[i] = a[i * 64 + threadIdx.x];
        #pragma unroll
        for (int n = 0; n < 48; ++n)
            for (int i = 0; i < 48; ++i) r[i] = r[i] * r[(i + n) % 48] + a[n];
        for (int i = 0; i < 48; ++i) a[i * 64 + threadIdx.x] = r[i];
    }
    __global__ void shared(float *a)
    {
        __shared__ float tile[5000];
        tile[threadIdx.x] = a[threadIdx.x];
        __syncthreads();
        a[threadIdx.x] = tile[blockDim.x - threadIdx.x];
    }
    """
    module = SourceModule(source)
    data = tools.DeviceData()
    for name in ("light", "heavy", "shared"):
        function = module.get_function(name)
        for threads in (1, 32, 33, 128, 200, 256, 512, 777, 1024):
            for dynamic in (0, 1000, 20_000):
                shared = function.shared_size_bytes + dynamic
                try:
                    blocks = tools.OccupancyRecord(data, threads, shared, function.num_regs).tb_per_mp
                except ValueError:
                    blocks = 0
                if threads > function.max_threads_per_block:
                    continue
                asked = _native.max_active_blocks(function, threads, dynamic)
                if on_virtual_device:
                    # The virtual GPU answers what it really keeps resident, which may be less.
                    assert asked <= blocks or blocks == 0, (name, threads, dynamic)
                else:
                    assert asked == blocks, (name, threads, dynamic)


def test_a_context_for_each_test():
    before = cuda.Context.get_current()

    @tools.mark_cuda_test
    def check(a, *, b):
        """Says what it checks."""
        assert cuda.Context.get_current() not in (None, before)
        return a + b

    assert check(1, b=2) == 3 and check.__doc__ == "Says what it checks."
    assert cuda.Context.get_current() == before
    assert [mark.name for mark in check.pytestmark] == ["cuda"]


def test_the_context_goes_when_the_test_fails():
    before = cuda.Context.get_current()

    @tools.mark_cuda_test
    def fail():
        raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert cuda.Context.get_current() == before


def test_a_context_as_a_fixture():
    before = cuda.Context.get_current()
    fixture = tools.init_cuda_context_fixture()
    context = next(fixture)
    assert cuda.Context.get_current() == context != before
    assert next(fixture, "done") == "done" and cuda.Context.get_current() == before
