"""Checked mode and schedules of the virtual GPU, from Python."""

import json
import re

import pytest

from tests.python.depth import some
from tests.python.subprocesses import has_real_device, run_python

pytestmark = pytest.mark.skipif(has_real_device(), reason="a real device has no checked mode")


def test_findings_name_source_and_allocation():
    result = run_python(
        """
        from rtcg import checking
        checking.enable("memory,init,leak")
        import pycuda.autoinit, rtcg.driver as cuda
        from pycuda.compiler import SourceModule
        f = SourceModule(
            "__global__ void k(int *out, int *in) {\\n  out[threadIdx.x] = in[threadIdx.x];\\n}",
            options=["-lineinfo"],
        ).get_function("k")
        out, unset, small = cuda.mem_alloc(128), cuda.mem_alloc(128), cuda.to_device(bytes(124))
        f(out, unset, block=(32, 1, 1))
        cuda.Context.synchronize()
        (first,) = checking.findings()
        assert first["kind"] == "uninitialised" and first["count"] == 32, first
        assert first["source"][1] == 2 and first["thread"] == (0, 0, 0), first
        try:
            f(out, small, block=(32, 1, 1))
            cuda.Context.synchronize()
        except cuda.Error:
            second = checking.findings()[1]
            assert second["kind"] == "out-of-bounds" and second["thread"] == (31, 0, 0), second
            assert "right past the end of a 124-byte allocation" in second["allocation"], second
            print("found")
        try:
            checking.enable("all")
        except RuntimeError:
            print("too late")
        """,
        check=False,
    )
    assert result.stdout.split("\n")[:2] == ["found", "too late"], result.stdout + result.stderr
    assert "rtcg check: kernel" in result.stderr


def test_arrays_end_where_they_end_and_graphs_keep_theirs():
    result = run_python(
        """
        from rtcg import checking
        checking.enable("memory,init")
        import numpy as np
        import pycuda.autoinit, rtcg.driver as cuda
        from pycuda import gpuarray
        from pycuda.compiler import SourceModule
        a, stream = gpuarray.to_gpu(np.arange(1000, dtype=np.float32)), cuda.Stream()
        with stream, stream.capture() as graph:
            b = (a + 1) * 2 - a.mean()
        graph.instantiate().launch(stream)
        stream.synchronize()
        assert (b.get() == 2 * np.arange(1000) + 2 - 499.5).all() and not checking.findings()
        f = SourceModule("__global__ void k(float *a, int i) { a[i] = 1; }").get_function("k")
        try:
            f(a, 1000, block=(1, 1, 1))
            cuda.Context.synchronize()
        except cuda.Error as error:
            print(error)
        """,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    assert "right past the end of a 4000-byte allocation" in result.stdout


def test_unknown_words_are_refused():
    run_python(
        """
        from rtcg import checking
        for call, word in ((checking.enable, "speed"), (checking.set_schedule, "backwards")):
            try:
                call(word)
            except ValueError as error:
                assert word in str(error)
            else:
                raise AssertionError(word)
        """
    )


def test_chaos_exposes_a_missing_barrier():
    run_python(
        """
        import numpy as np
        from rtcg import checking
        import pycuda.autoinit, rtcg.driver as cuda
        from pycuda.compiler import SourceModule
        f = SourceModule('''__global__ void k(int *out) {
            __shared__ int s[128];
            s[127 - threadIdx.x] = threadIdx.x + 1;
            BARRIER
            out[threadIdx.x] = s[threadIdx.x];
        }'''.replace("BARRIER", "")).get_function("k")
        wanted, seeds = np.arange(128, 0, -1, dtype=np.int32), []
        for seed in range(20):
            checking.set_schedule(f"chaos:{seed}")
            out = np.zeros(128, np.int32)
            f(cuda.Out(out), block=(128, 1, 1))
            seeds.append(bool((out != wanted).any()))
        assert any(seeds), seeds
        """
    )


CHECKED = r"""
import json, sys
import numpy as np
from rtcg import checking
checking.enable(sys.argv[1])
import pycuda.autoinit, rtcg.driver as cuda
from pycuda.compiler import SourceModule
module = SourceModule(sys.argv[2], no_extern_c=True, options=["-lineinfo"])
kernel, block = module.get_function("k"), int(sys.argv[3])
out = cuda.mem_alloc(4096)
cuda.memset_d8(out, 0, 4096)
error = None
try:
    exec(sys.argv[4])
    cuda.Context.synchronize()
except cuda.Error as e:
    error = type(e).__name__
print(json.dumps([error, checking.findings()]))
"""


def check_kernel(source, checks="memory,init,sync", block=1, launch="kernel(out, block=(block, 1, 1))"):
    """The class of the error that the kernel `k` ends with, and what was found."""
    result = run_python(CHECKED, checks, source, block, launch, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    return json.loads(result.stdout.splitlines()[-1])


HEAP = """
extern "C" __global__ void k(int *out) {
    volatile char *p = (volatile char *) malloc(10);
    for (int i = 0; i < 10; i++) p[i] = i;
    BODY
}
"""
PAST, BEFORE = "past the end of 10 bytes", "before the start of 10 bytes"


@pytest.mark.parametrize(
    "body, kind, text",
    [
        ("p[10] = 1;", "out-of-bounds", f"right {PAST} from device-side malloc"),
        ("*(volatile short *) (p + 8) = 1; *(volatile short *) (p + 10) = 1;", "out-of-bounds", f"right {PAST}"),
        ("*(volatile int *) (p + 8) = 1;", "out-of-bounds", f"the last 2 bytes lie {PAST}"),
        ("out[0] = p[-1];", "out-of-bounds", f"1 byte {BEFORE}"),
        ("free((void *) p); out[0] = p[3];", "use-after-free", "3 bytes into 10 bytes"),
        ("free((void *) p); void *q = malloc(10); p[0] = 1; free(q);", "use-after-free", "which has been freed"),
        ("free((void *) p); free((void *) p);", "invalid-free", "which has been freed"),
        ("free((void *) (p + 2));", "invalid-free", "2 bytes into 10 bytes"),
        ("free(out);", "invalid-free", "0 bytes into a 4096-byte allocation"),
    ],
)
def test_memory_from_device_side_malloc_has_ends(body, kind, text):
    error, found = check_kernel(HEAP.replace("BODY", body))
    assert error is not None
    (finding,) = found
    assert finding["kind"] == kind, finding
    assert text in finding["allocation"] and finding["source"][1] == 5, finding


def test_memory_from_device_side_malloc_begins_uninitialised():
    error, found = check_kernel(
        """
extern "C" __global__ void k(int *out) {
    volatile int *p = (volatile int *) malloc(16);
    p[0] = 1;
    out[0] = p[0] + p[1];
    free((void *) p);
}
"""
    )
    assert error is None
    assert [(f["kind"], f["source"][1]) for f in found] == [("uninitialised", 5)]


SURFACE = """
extern "C" __global__ void k(int *out, cudaSurfaceObject_t surface, cudaTextureObject_t texture) {
    int t = threadIdx.x;
    BODY
}
"""
SURFACE_LAUNCH = """
descriptor = cuda.ArrayDescriptor3D()
descriptor.width, descriptor.height, descriptor.depth = 64, 4, 0
descriptor.format, descriptor.num_channels = cuda.array_format.SIGNED_INT32, 1
descriptor.flags = cuda.array3d_flags.SURFACE_LDST
array = cuda.Array(descriptor)
kernel(out, cuda.SurfaceObject(array), cuda.texture_object(array), block=(block, 1, 1))
"""
WRITE, REDUCE = (
    "surf2Dwrite(t + 1, surface, t * 4, 0);",
    'asm volatile("sured.b.2d.add.s32.trap [%0, {%1, %2}], %3;" :: "l"(surface), "r"(0), "r"(0), "r"(1));',
)
READ = "out[t] = surf2Dread<int>(surface, (t ^ 33) * 4, 0);"


@pytest.mark.parametrize(
    "body, kinds",
    [
        (f"{WRITE} {READ}", {"race"}),
        (f"{WRITE} __syncthreads(); {READ}", set()),
        (f"{READ} {WRITE}", {"race"}),
        ("surf2Dwrite(t, surface, 0, 0);", {"race"}),
        (f"{WRITE} out[t] = tex2D<int>(texture, 63 - t, 0);", {"race"}),
        (REDUCE, set()),
        (f"{REDUCE} {READ}", {"race"}),
    ],
)
def test_races_through_surfaces(body, kinds):
    error, found = check_kernel(SURFACE.replace("BODY", body), "race", 64, SURFACE_LAUNCH)
    assert error is None
    assert {f["kind"] for f in found} == kinds, found


def test_what_a_surface_holds_has_a_state():
    for body, kinds in ((READ, {"uninitialised"}), (f"{WRITE} __syncthreads(); {READ}", set())):
        error, found = check_kernel(SURFACE.replace("BODY", body), "memory,init", 64, SURFACE_LAUNCH)
        assert error is None
        assert {f["kind"] for f in found} == kinds, found
    freed = SURFACE_LAUNCH.replace(
        "kernel(out, cuda.SurfaceObject(array), cuda.texture_object(array),",
        "s, t = cuda.SurfaceObject(array), cuda.texture_object(array)\narray.free()\nkernel(out, s, t,",
    )
    error, found = check_kernel(SURFACE.replace("BODY", WRITE), "memory", 64, freed)
    assert error == "LogicError"
    assert [f["kind"] for f in found] == ["use-after-free"], found


MATRICES = """
#include <mma.h>
using namespace nvcuda;
extern "C" __global__ void k(float *out) {
    __shared__ half tile[256];
    __shared__ float sums[256];
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> b;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> c;
    for (int i = threadIdx.x; i < 256; i += 32) tile[i] = __float2half(i % 3);
    FIRST
    wmma::load_matrix_sync(a, tile, 16);
    wmma::load_matrix_sync(b, tile, 16);
    wmma::fill_fragment(c, 0.f);
    wmma::mma_sync(c, a, b, c);
    wmma::store_matrix_sync(sums, c, 16, wmma::mem_row_major);
    SECOND
    for (int i = threadIdx.x; i < 256; i += 32) out[i] = sums[i];
}
"""
TILES = """
extern "C" __global__ void k(int *out) {
    __shared__ __align__(16) int tile[32];
    tile[threadIdx.x] = threadIdx.x;
    FIRST
    int r;
    unsigned at = (unsigned) __cvta_generic_to_shared(tile + threadIdx.x % 8 * 4);
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(r) : "r"(at) : "memory");
    SECOND
    tile[31 - threadIdx.x] = r;
}
"""


@pytest.mark.parametrize("source", [MATRICES, TILES], ids=["wmma", "ldmatrix"])
def test_races_of_matrix_instructions(source):
    for first, second in ((True, True), (False, True), (True, False)):
        text = source
        for word, there in (("FIRST", first), ("SECOND", second)):
            text = text.replace(word, "__syncwarp();" if there else "")
        error, found = check_kernel(text, "race", block=32)
        assert error is None
        assert {f["kind"] for f in found} == (set() if first and second else {"race"}), (first, second, found)


TWO_BARRIERS = """
extern "C" __global__ void k(int *out) {
    if (threadIdx.x < 5) {
        __syncthreads();
        out[threadIdx.x] = 1;
    } else {
        __syncthreads();
        out[threadIdx.x] = 2;
    }
}
"""
LEFT_BEFORE = """
extern "C" __global__ void k(int *out) {
    if (threadIdx.x > 40) return;
    __syncthreads();
    out[threadIdx.x] = 2;
}
"""


def test_divergent_barriers_are_quoted_with_their_threads():
    error, (found,) = check_kernel(TWO_BARRIERS, "sync", block=32)
    assert error is None and found["kind"] == "divergence" and found["count"] == 1
    counts = sorted(map(int, re.findall(r"(\d+) (?:threads|others)", found["message"])))
    assert counts == [5, 27], found["message"]
    assert sorted([found["source"][1], found["other"]["source"][1]]) == [4, 7], found
    assert sorted([found["thread"], found["other"]["thread"]]) == [[0, 0, 0], [5, 0, 0]]
    assert found["message"].count("__syncthreads();") == found["message"].count("instruction bar") == 2
    error, (found,) = check_kernel(LEFT_BEFORE, "sync", block=96)
    assert error is None and found["source"][1] == 4 and found["thread"] == [32, 0, 0], found
    assert "a warp arrives at barrier 0 without 23 of its threads, which have ended" in found["message"]
    assert "one of the threads (32, 0, 0) to (40, 0, 0)" in found["message"]
    assert "__syncthreads();" in found["message"] and found["instruction"].startswith("bar")


def test_a_deadlock_is_quoted_with_its_barrier():
    source = """
    extern "C" __global__ void k(int *out) {
        if (threadIdx.x < 32)
            asm volatile("bar.sync 1, 64;");
        else
            asm volatile("bar.sync 2, 64;");
    }
    """
    error, found = check_kernel(source, "sync", block=64)
    assert error and found[0]["kind"] == "divergence" and "deadlock" in found[0]["message"]
    assert found[0]["source"][1] == 4 and found[0]["instruction"].startswith("bar"), found


def test_one_means_all_that_is_wrong_with_kernels():
    result = run_python(
        """
        import pycuda.autoinit, rtcg.driver as cuda
        from rtcg import checking
        from pycuda.compiler import SourceModule
        module = SourceModule('''
        __global__ void reads(int *out, int *in) { out[threadIdx.x] = in[threadIdx.x]; }
        __global__ void races(int *out) {
            __shared__ int s[64];
            s[threadIdx.x] = 1 + threadIdx.x;
            out[threadIdx.x] = s[63 - threadIdx.x];
        }
        __global__ void diverges(int *out) {
            if (threadIdx.x > 40) return;
            __syncthreads();
            out[threadIdx.x] = 1;
        }
        ''')
        out, unset = cuda.mem_alloc(256), cuda.mem_alloc(256)
        module.get_function("reads")(out, unset, block=(64, 1, 1))
        module.get_function("races")(out, block=(64, 1, 1))
        module.get_function("diverges")(out, block=(64, 1, 1))
        module.get_function("reads")(out, out, block=(65, 1, 1))
        try:
            cuda.Context.synchronize()
        except cuda.LogicError:
            print(sorted({f["kind"] for f in checking.findings()}))
        """,
        check=False,
        RTCG_CHECK="1",
    )
    assert result.stdout.strip() == "['divergence', 'out-of-bounds', 'race', 'uninitialised']", result.stderr


@pytest.mark.parametrize("part", some(range(24), 24))
def test_the_catalogue_of_kernels_has_no_findings(part):
    """Every twenty-fourth kernel; all of them at depth, in parts that end in seconds each."""
    result = run_python(
        """
        import sys, warnings
        from rtcg import checking
        checking.enable("memory,init,sync")
        import pycuda.autoinit
        from tests.kernels.backend_pycuda import connect
        from tests.kernels.catalogue import all_cases
        from tests.kernels.expected_failures import VIRTUAL
        from tests.kernels.runner import run_case
        warnings.simplefilter("ignore")
        backend = connect()
        for case in all_cases()[int(sys.argv[1]) :: 24]:
            complaints = run_case(backend, case)
            found = checking.findings()
            assert (not complaints or case.name in VIRTUAL) and not found, (case.name, complaints, found)
        print("clean")
        """,
        part,
        check=False,
    )
    assert result.stdout.strip().endswith("clean"), result.stdout + result.stderr


def test_kernels_of_our_own_have_no_findings():
    result = run_python(
        """
        from rtcg import checking
        checking.enable("memory,init,race,sync")
        import numpy as np
        import pycuda.autoinit, rtcg.driver as cuda
        import pycuda.gpuarray as gpuarray, pycuda.cumath as cumath, pycuda.curandom as curandom
        import rtcg.numpy as rnp, rtcg.random
        from pycuda.reduction import ReductionKernel
        from rtcg.scan import ExclusiveScanKernel, GenericScanKernel, InclusiveScanKernel
        for n in (1, 100, 5003):
            host = (np.arange(n, dtype=np.int32) * 7919 + 13) % 1009
            a = gpuarray.to_gpu(host)
            out = gpuarray.empty_like(a)
            ReductionKernel(np.int64, "0", "a+b", "x[i]", "int *x")(a)
            assert (InclusiveScanKernel(np.int32, "a+b")(a.copy()).get() == np.cumsum(host)).all()
            ExclusiveScanKernel(np.int32, "a+b", 0)(a.copy())
            GenericScanKernel(
                np.int32, arguments="int *a, int *out", input_expr="a[i]", neutral="0",
                scan_expr="across_seg_boundary ? b : a + b", is_segment_start_expr="i % 7 == 0",
                output_statement="out[i] = item",
            )(a, out)
            assert (np.sort(host) == rnp.sort(a).get()).all()
            rnp.argsort(a); a.cumsum(); gpuarray.sum(a); rnp.unique(a); a.std(); rnp.nonzero(a)
            x = a.astype(np.float32)
            cumath.sin(x); gpuarray.dot(x, x); x[::-1] + x; gpuarray.max(x); gpuarray.where(x > 3, x, -x)
        m = gpuarray.to_gpu(np.arange(130 * 70, dtype=np.float32).reshape(130, 70))
        m @ m.T; m.sum(axis=0); m.sum(axis=1); (m + m.copy()).T.copy(); m.cumsum(axis=0)
        curandom.rand((1000,)); rtcg.random.default_rng(7).normal(size=1000)
        cuda.Context.synchronize()
        found = checking.findings()
        assert not found, "\\n".join(str(f) for f in found)
        print("clean")
        """,
        check=False,
    )
    assert result.stdout == "clean\n", result.stdout + result.stderr


def test_a_line_of_the_source_is_one_finding():
    """A loop that the compiler unrolls is one line; both lines are quoted, and the last line has totals."""
    program = """
        import numpy as np
        import rtcg.autoinit
        import rtcg.numpy as rnp
        from rtcg.compiler import SourceModule
        total = SourceModule('''
        __global__ void total(const int *a, int *sum)
        {
            __shared__ int part[128];
            part[threadIdx.x] = a[threadIdx.x];
            if (threadIdx.x == 0) { int s = 0; for (int k = 0; k < 128; ++k) s += part[k]; *sum = s; }
        }
        ''').get_function("total")
        total(rnp.arange(128, dtype=np.int32), rnp.zeros(1, np.int32), block=(128, 1, 1))
    """
    told = run_python(program, check=False, RTCG_CHECK="race").stderr.splitlines()
    assert sum(line.startswith("rtcg check: kernel total: race") for line in told) == 1
    assert "  source kernel.cu:6  if (threadIdx.x == 0) { int s = 0; for (int k" in "\n".join(told)
    assert "  source kernel.cu:5  part[threadIdx.x] = a[threadIdx.x];" in told
    assert re.fullmatch(r"rtcg check: 1 finding in all \(race\), seen \d+ times", told[-1])


RACE = """
import numpy as np
import rtcg.autoinit
import rtcg.numpy as rnp
from rtcg import checking
from rtcg.compiler import SourceModule

def kernel(expression, turns=0):
    return SourceModule(f'''
        __global__ void f(int *out)
        {{
            __shared__ int s[64];
            float t = 0;
            for (int k = 0; k < {turns}; ++k) t += sinf(out[threadIdx.x] + k);
            s[threadIdx.x] = threadIdx.x + (t == 1e30f);
            out[threadIdx.x] = s[threadIdx.x ^ 32] {expression};
        }}
    ''').get_function("f")

a = rnp.zeros(64, np.int32)
"""


def test_findings_wait_for_running_kernels():
    """A fixture that asserts that there are none would otherwise pass a race and blame the next test."""
    program = (
        RACE
        + """
kernel("", turns=100_000)(a, block=64)
print([f["kind"] for f in checking.findings()])
"""
    )
    assert run_python(program, check=False, RTCG_CHECK="race").stdout == "['race']\n"


def test_findings_do_not_disturb_a_capture():
    program = (
        RACE
        + """
import rtcg.driver as cuda
f, stream = kernel(""), cuda.Stream()
with stream, stream.capture() as graph:
    f(a, block=64, stream=stream)
    assert checking.findings() == []
graph.instantiate().launch(stream)
print(len(checking.findings()))
"""
    )
    result = run_python(program, check=False, RTCG_CHECK="race")
    assert result.stdout == "1\n", result.stderr


def test_sources_with_equal_names_have_findings_of_their_own():
    """A program that generates code has many sources `kernel.cu` with kernels of one name."""
    program = (
        RACE
        + """
for expression in ("+ 1", "* 2", "+ 1"):
    kernel(expression)(a, block=64)
print(len(checking.findings()))
"""
    )
    result = run_python(program, check=False, RTCG_CHECK="race")
    assert result.stdout == "2\n", result.stderr
    assert "s[threadIdx.x ^ 32] + 1;" in result.stderr and "s[threadIdx.x ^ 32] * 2;" in result.stderr


@pytest.mark.parametrize(
    "name, value, expected",
    [
        ("RTCG_CHECK", "rice", "1, all, none, or a list of memory, init, race, sync, leak, fatal"),
        ("RTCG_CHECK", "memory,speed", "1, all, none, or a list of memory, init, race, sync, leak, fatal"),
        ("RTCG_SCHEDULE", "caos:1", "normal, deterministic or chaos:SEED"),
        ("RTCG_FAULTS", "often", "context or sticky"),
    ],
)
def test_a_setting_that_cannot_be_read_is_an_error(name, value, expected):
    """A program that ran on unchecked would seem to have passed the checks."""
    result = run_python("import rtcg.autoinit\nprint('goes on')", check=False, **{name: value})
    assert result.returncode == 1 and not result.stdout
    assert f'{name} is "{value}"; expected {expected}' in result.stderr.splitlines()[-1], result.stderr
