"""`Library` and `Kernel`: code that is loaded without a context and serves all of them."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import rtcg.driver as cuda
from pycuda import compiler

pytestmark = pytest.mark.usefixtures("context")

SOURCE = """
__device__ int counter = 5;
__managed__ float factor = 2;
extern __shared__ int dynamic[];
__global__ void count(int *a, int step) { counter += step; *a = counter; }
__global__ void scale(float *a, char c, double d) { a[threadIdx.x] *= factor; }
__global__ void shares(int *a, int n) { dynamic[n - 1] = n; *a = dynamic[n - 1]; }
"""


@pytest.fixture(scope="module")
def image(context):
    return compiler.compile(SOURCE)


@pytest.fixture
def library(image):
    with cuda.library_from_buffer(image) as library:
        yield library


def counted(function, step):
    a = np.zeros(1, np.int32)
    function(cuda.Out(a), np.int32(step), block=(1, 1, 1))
    return int(a[0])


@pytest.fixture
def other_context():
    context = cuda.Device(0).make_context()
    yield context
    context.pop()
    context.close()


def test_each_context_has_variables_of_its_own(library):
    kernel = library.get_kernel("count")
    assert counted(kernel.get_function(), 1) == 6
    assert counted(library.get_function("count"), 2) == 8
    here = library.get_global("counter")
    other = cuda.Device(0).make_context()
    try:
        assert counted(kernel.get_function(), 10) == 15
        there = library.get_global("counter")
        assert there[0] != here[0] and there[1] == here[1] == 4
        assert library.get_module().get_global("counter") == there
    finally:
        other.pop()
        other.close()
    assert counted(kernel.get_function(), 0) == 8
    assert library.get_global("counter") == here


def test_no_context_is_needed(image, no_default_context):
    """Loading, looking up and attributes are the driver's business; only what runs needs a context."""

    def look_up():
        device = cuda.Device(0)
        with cuda.library_from_buffer(image, device=device) as library:
            assert sorted(kernel.name for kernel in library.get_kernels()) == ["count", "scale", "shares"]
            kernel = library.get_kernel("scale")
            assert kernel.get_attribute(cuda.function_attribute.MAX_THREADS_PER_BLOCK, device) >= 64
            kernel.set_cache_config(cuda.func_cache.PREFER_L1, device)
            with pytest.raises(cuda.LogicError, match="context"):
                kernel.get_function()
            with pytest.raises(cuda.LogicError, match="context"):
                library.get_global("counter")

    # In this thread another library may have a context that is current.
    with ThreadPoolExecutor(1) as pool:
        pool.submit(look_up).result()


def test_parameters(library):
    assert library.get_kernel("scale").parameters == [(0, 8), (8, 1), (16, 8)]


def test_attributes_hold_in_all_contexts(library, other_context):
    attribute = cuda.function_attribute.MAX_DYNAMIC_SHARED_SIZE_BYTES
    kernel, n_bytes = library.get_kernel("shares"), 60_000
    early = kernel.get_function()
    kernel.set_attribute(attribute, n_bytes)
    assert kernel.get_attribute(attribute) == n_bytes
    assert early.get_attribute(attribute) == n_bytes
    late = cuda.Device(0).make_context()
    try:
        function = kernel.get_function()
        assert function.get_attribute(attribute) == n_bytes
        a = np.zeros(1, np.int32)
        function(cuda.Out(a), np.int32(n_bytes // 4), block=(1, 1, 1), shared=n_bytes)
        assert a[0] == n_bytes // 4
    finally:
        late.pop()
        late.close()
    for bad in (-1, 1 << 30):
        with pytest.raises(cuda.Error):
            kernel.set_attribute(attribute, bad)
    with pytest.raises(cuda.Error):
        kernel.set_attribute(cuda.function_attribute.NUM_REGS, 10)


def test_managed_variables(library):
    address, size = library.get_managed("factor")
    assert size == 4 and address
    a = np.arange(4, dtype=np.float32)
    library.get_function("scale")(cuda.InOut(a), np.int8(0), np.float64(0), block=(4, 1, 1))
    assert a.tolist() == [0, 2, 4, 6]
    with pytest.raises(cuda.LogicError, match="'counter'"):
        library.get_managed("counter")


def test_what_is_not_there_is_named(library, on_virtual_device):
    with pytest.raises(cuda.LogicError, match="cuLibraryGetKernel failed.*'absent'.*the library has .*scale"):
        library.get_kernel("absent")
    with pytest.raises(cuda.LogicError, match="cuLibraryGetGlobal failed.*'absent'"):
        library.get_global("absent")
    with pytest.raises(cuda.LogicError, match="cuLibraryGetUnifiedFunction failed.*'scale'"):
        library.get_unified_function("scale")


def test_images_that_are_none(tmp_path, image, on_virtual_device):
    said = []
    # NVIDIA's driver may look at an image when something of it is needed first.
    with pytest.raises(cuda.Error, match="cuLibrary.* failed"):
        nonsense = b".version 8.0\nnonsense"
        cuda.library_from_buffer(nonsense, message_handler=lambda *words: said.append(words)).get_module()
    assert not (on_virtual_device and said[0][0])
    with pytest.raises(cuda.RuntimeError, match="absent.ptx"):
        cuda.library_from_file(tmp_path / "absent.ptx")
    (tmp_path / "present.ptx").write_bytes(image)
    with cuda.library_from_file(tmp_path / "present.ptx") as library:
        assert counted(library.get_function("count"), 1) == 6


def test_closed_libraries_are_refused(image):
    library = cuda.library_from_buffer(image, options=[(cuda.jit_option.MAX_REGISTERS, 64)])
    kernel, module = library.get_kernel("count"), library.get_module()
    function = kernel.get_function()
    assert counted(function, 1) == 6
    # The module of a library is the library's: closing it unloads nothing.
    module.close()
    assert counted(function, 1) == 7
    library.close()
    library.close()
    assert library.is_closed
    for use in (
        lambda: counted(function, 1),
        lambda: kernel.get_function(),
        lambda: library.get_module(),
        lambda: library.get_global("counter"),
        lambda: library.get_kernels(),
        lambda: kernel.parameters,
        lambda: kernel.get_attribute(cuda.function_attribute.NUM_REGS),
    ):
        with pytest.raises(cuda.LogicError, match="closed"):
            use()


def test_what_came_from_a_library_keeps_it(image):
    function = cuda.library_from_buffer(image).get_kernel("count").get_function()
    assert counted(function, 1) == 6
    kernel = cuda.library_from_buffer(image).get_kernel("count")
    assert kernel.library.get_kernel("count").handle == kernel.handle
    assert "count" in repr(kernel)
    assert counted(kernel.get_function(), 1) == 6


def test_devices_of_one_driver_share_a_library(image):
    if cuda.Device.count() < 2:
        pytest.skip("needs a second device")
    library = cuda.library_from_buffer(image)
    context = cuda.Device(1).make_context()
    try:
        assert counted(library.get_function("count"), 3) == 8
    finally:
        context.pop()
        context.close()
