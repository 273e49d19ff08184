"""`rtcg.tracing`, `rtcg.nvtx`, `RTCG_TRACE`: what a trace holds, and that it is valid."""

import json
import shutil
import subprocess
import threading
import uuid

import numpy as np
import pytest

import pycuda.driver as cuda
from pycuda.compiler import SourceModule
from rtcg import nvtx, tracing
from tests.python.subprocesses import run_python

pytestmark = pytest.mark.usefixtures("context")

SOURCE = "__global__ void twice(int *a) { a[blockIdx.x * blockDim.x + threadIdx.x] *= 2; }"


def events_of(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def named(events, name):
    return [event for event in events if event.get("name") == name]


def contexts(events):
    # There are several forms of the call.
    return sum(event["name"].startswith("cuCtxCreate") for event in events if event["ph"] == "X")


@pytest.fixture
def traced(tmp_path):
    """Calls a function while a trace is made and returns the events."""

    def run(function):
        path = tmp_path / "trace.json"
        with tracing.trace(path):
            assert tracing.is_on()
            function()
        assert not tracing.is_on()
        return events_of(path)

    return run


def test_calls(traced):
    def work():
        memory = cuda.mem_alloc(1000)
        with pytest.raises(cuda.LogicError):
            cuda.mem_alloc(0)
        cuda.memcpy_htod(memory, np.zeros(250, np.float32))
        memory.free()

    events = traced(work)
    good, bad = named(events, "cuMemAlloc")
    assert good["args"]["bytesize"] == "1000" and good["args"]["result"] == "CUDA_SUCCESS"
    address = int(good["args"]["dptr"], 16)
    assert bad["args"]["result"] == "CUDA_ERROR_INVALID_VALUE"
    (copy,) = named(events, "cuMemcpyHtoD")
    assert int(copy["args"]["dstDevice"], 16) == address and copy["args"]["ByteCount"] == "1000"
    (free,) = named(events, "cuMemFree")
    assert int(free["args"]["dptr"], 16) == address
    times = [(event["ts"], event["ts"] + event["dur"]) for event in (good, bad, copy, free)]
    assert all(end <= begin for (_, end), (begin, _) in zip(times, times[1:], strict=False))


def test_kernels_lie_on_their_stream(traced):
    function = SourceModule(SOURCE).get_function("twice")

    def work():
        a = cuda.to_device(np.ones(256, np.int32))
        for _ in range(2):
            stream = cuda.Stream()
            function(a, block=(64, 1, 1), grid=(4, 1), stream=stream)
            stream.synchronize()
        function(a, block=(64, 1, 1), grid=(4, 1))
        cuda.Context.synchronize()

    events = traced(work)
    spans = [event for event in named(events, "twice") if event["cat"] == "kernel"]
    assert len(spans) == 3 and len({(span["pid"], span["tid"]) for span in spans}) == 3
    assert spans[0]["args"] == {"grid": "[4, 1, 1]", "block": "[64, 1, 1]"}
    processes = {event["pid"]: event["args"]["name"] for event in named(events, "process_name")}
    assert {processes[span["pid"]].partition(",")[0].removeprefix("virtual ") for span in spans} == {"GPU"}
    launches = [event for event in events if "kernel" in event.get("args", ())]
    assert len(launches) == 3 and all(event["args"]["kernel"] == "twice" for event in launches)
    for launch, span in zip(launches, spans, strict=True):
        assert span["ts"] >= launch["ts"] - 5
    arrows = {phase: [e["id"] for e in events if e["ph"] == phase] for phase in "sf"}
    assert arrows["s"] == arrows["f"] and len(set(arrows["s"])) == 3


def test_graphs_show_their_kernels(traced):
    if not hasattr(cuda.Stream, "begin_capture"):
        pytest.skip("no graphs")
    function = SourceModule(SOURCE).get_function("twice")
    a = cuda.to_device(np.ones(64, np.int32))
    stream = cuda.Stream()
    stream.begin_capture()
    function(a, block=(64, 1, 1), stream=stream)
    graph = stream.end_capture().instantiate()

    def work():
        graph.launch(stream)
        stream.synchronize()

    events = traced(work)
    kernels = [event for event in events if event.get("cat") == "kernel"]
    # A real GPU reports the graph as a whole.
    assert [event["name"] for event in kernels] in (["twice"], ["graph"])


def test_compilations_and_cached_programs(traced):
    source = f"{SOURCE}  // {uuid.uuid4()}"
    events = traced(lambda: [SourceModule(source) for _ in range(2)])
    assert [event["name"].partition(" kernel.cu")[0] for event in events if event.get("cat") == "compiler"] == [
        "compile",
        "from the cache:",
    ]


def test_threads_and_ranges(traced):
    @nvtx.range("inside")
    def function():
        nvtx.mark("moment")
        return 7

    def work():
        with nvtx.range('the "outer" one'):
            assert function() == 7
        nvtx.range_push("a")
        nvtx.range_pop()
        thread = threading.Thread(target=lambda: nvtx.mark("elsewhere"))
        thread.start()
        thread.join()

    events = traced(work)
    shape = [(event["ph"], event.get("name")) for event in events if event["ph"] in "BEi"]
    assert shape == [
        ("B", 'the "outer" one'), ("B", "inside"), ("i", "moment"), ("E", None), ("E", None), ("B", "a"), ("E", None),
        ("i", "elsewhere"),
    ]  # fmt: skip
    here, there = named(events, "moment")[0], named(events, "elsewhere")[0]
    assert here["tid"] != there["tid"] and here["pid"] == there["pid"]
    assert {event["tid"] for event in named(events, "thread_name")} >= {here["tid"], there["tid"]}


def test_a_trace_of_nothing(tmp_path):
    assert tracing.stop() is None
    tracing.start(tmp_path / "empty-%p.json")
    path, n_events = tracing.stop()
    assert len(events_of(path)) == n_events and "%" not in path.name and path.name != "empty-.json"
    with pytest.raises(OSError):
        tracing.start(tmp_path / "no such folder" / "trace.json")
    assert not tracing.is_on()


PROGRAM = """
import os, sys
import numpy as np
import pycuda.autoinit
import pycuda.driver as cuda
from pycuda.compiler import SourceModule
function = SourceModule({source!r}).get_function("twice")
a = np.ones(32, np.int32)
function(cuda.InOut(a), block=(32, 1, 1))
assert (a == 2).all()
{more}
"""


def test_a_whole_program(tmp_path):
    path = tmp_path / "whole.json"
    run_python(PROGRAM.format(source=SOURCE, more=""), RTCG_TRACE=path)
    events = events_of(path)
    assert [e for e in named(events, "twice") if e["cat"] == "kernel"]
    assert named(events, "cuInit") and contexts(events) == 1


def test_a_forked_child_leaves_the_file_alone(tmp_path):
    path = tmp_path / "forked.json"
    quiet = (
        "\nimport warnings\nwarnings.filterwarnings('ignore', 'This process .* is multi-threaded', DeprecationWarning)"
    )
    more = quiet + "\nchild = os.fork()\nif child == 0:\n    os._exit(3)\nassert os.waitpid(child, 0)[1] == 3 << 8\n"
    run_python(PROGRAM.format(source=SOURCE, more=more), RTCG_TRACE=path)
    events = events_of(path)
    assert contexts(events) == 1
    # A child that ends as Python programs do finishes no trace either.
    more = "\nchild = os.fork()\nif child == 0:\n    sys.exit(0)\nos.waitpid(child, 0)\n"
    run_python(PROGRAM.format(source=SOURCE, more=more), RTCG_TRACE=path, check=False)
    assert contexts(events_of(path)) == 1


def test_a_place_that_cannot_be_written(tmp_path):
    result = run_python("import pycuda.autoinit; print('on')", RTCG_TRACE=tmp_path / "no" / "t.json", check=False)
    assert result.returncode == 0 and result.stdout == "on\n"
    assert "RTCG_TRACE=" in result.stderr and "No such file" in result.stderr


LISTENER = r"""
#include <stddef.h>
#include <stdio.h>
typedef const void *(*GetExportTable)(unsigned int);
typedef struct { size_t size; int (*get)(int, void ****, unsigned int *); } Callbacks;
static int push(const char *name) { printf("push %s\n", name); fflush(stdout); return 0; }
static int pop(void) { printf("pop\n"); fflush(stdout); return 0; }
static void mark(const char *name) { printf("mark %s\n", name); fflush(stdout); }
int InitializeInjectionNvtx2(GetExportTable get_export_table)
{
    const Callbacks *callbacks = get_export_table(1);
    void ***table;
    unsigned int size;
    if (!callbacks || !callbacks->get(1, &table, &size) || size < 12 || callbacks->get(2, &table, &size)) return 0;
    callbacks->get(1, &table, &size);
    *table[2] = (void *)mark;
    *table[9] = (void *)push;
    *table[11] = (void *)pop;
    return 1;
}
"""


def test_a_profiler_listens(tmp_path):
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("no C compiler")
    (tmp_path / "listener.c").write_text(LISTENER)
    library = tmp_path / "liblistener.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, tmp_path / "listener.c"], check=True)
    code = """
    from rtcg import nvtx
    with nvtx.range("kernel time"):
        nvtx.mark("here")
    assert nvtx.listener()
    """
    result = run_python(code, NVTX_INJECTION64_PATH=library)
    assert result.stdout.split("\n") == ["push kernel time", "mark here", "pop", ""]
    assert nvtx.listener() is None
