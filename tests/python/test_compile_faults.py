"""What goes wrong around the compiler, and what the user then sees."""

import os
import random
import secrets
import signal
import subprocess
import sys
import time

import pytest

import pycuda.driver as cuda
from rtcg import _native, compiler

pytestmark = pytest.mark.usefixtures("context")

TWICE = "__global__ void twice(float *a) { a[threadIdx.x] *= 2; }"

# Compiles, runs, and prints what came of it.
PROGRAM = f"""
import sys, warnings
import numpy as np
import pycuda.autoinit
import pycuda.driver as cuda
from pycuda.compiler import SourceModule
warnings.simplefilter("always")
out = np.array([1, 2], np.float32)
SourceModule({TWICE!r}, cache_dir=sys.argv[1]).get_function("twice")(cuda.InOut(out), block=(2, 1, 1))
print(out.tolist())
"""


def run(code, *args, env=None, before=None):
    """The outcome of a program in a process of its own."""
    command = [sys.executable, "-c", code, *map(str, args)]
    environment = {**os.environ, "PYTHONWARNINGS": "always", **(env or {})}
    environment.pop("PYCUDA_DISABLE_CACHE", None)
    return subprocess.run(
        command, capture_output=True, text=True, env=environment, preexec_fn=before, timeout=120, check=False
    )


def works(result):
    assert result.returncode == 0 and "[2.0, 4.0]" in result.stdout, result.stderr
    return result


def entries(path):
    return sorted(path.rglob("*.entry"))


def test_no_compiler(tmp_path):
    missing = tmp_path / "libnvrtc.so"
    result = run(PROGRAM, tmp_path, env={"RTCG_NVRTC": str(missing)})
    assert result.returncode != 0
    last = result.stderr.strip().splitlines()
    assert any("CompileError: could not load NVRTC" in line for line in last), result.stderr
    assert str(missing) in result.stderr and "pip install nvidia-cuda-nvrtc" in result.stderr


@pytest.fixture
def nvrtc(tmp_path_factory):
    """A link to NVRTC, to be removed; what it opens itself stays beside it."""
    _, path = _native.compiler_info("nvcc")
    folder = tmp_path_factory.mktemp("nvrtc")
    for file in path.parent.glob("libnvrtc*"):
        (folder / file.name).symlink_to(file)
    return folder / path.name


def test_no_compiler_is_needed_for_what_is_cached(tmp_path, nvrtc):
    works(run(PROGRAM, tmp_path, env={"RTCG_NVRTC": str(nvrtc)}))
    nvrtc.unlink()
    works(run(PROGRAM, tmp_path, env={"RTCG_NVRTC": str(nvrtc)}))
    other = run(PROGRAM.replace("*= 2", "*= 1 + 1"), tmp_path, env={"RTCG_NVRTC": str(nvrtc)})
    assert "CompileError: could not load NVRTC" in other.stderr


def test_killed_while_compiling(tmp_path):
    """Whatever a killed process leaves behind, the next one compiles and runs right."""
    loop = """
import sys
from pycuda.compiler import compile
for i in range(10000):
    compile(f"__global__ void k{i % 40}(float *a) {{ a[0] = {i}; }}", cache_dir=sys.argv[1], target="ptx")
    print(i, flush=True)
"""
    for seed in range(4):
        child = subprocess.Popen([sys.executable, "-c", loop, tmp_path], stdout=subprocess.PIPE, text=True)
        for _ in range(3 + 2 * seed):
            child.stdout.readline()
        time.sleep(random.Random(seed).random() * 0.05)
        child.send_signal(signal.SIGKILL)
        child.wait()
        child.stdout.close()
    assert entries(tmp_path)
    for i in range(12):
        source = f"__global__ void k{i % 40}(float *a) {{ a[0] = {i}; }}"
        cached = compiler.compile(source, cache_dir=tmp_path, target="ptx")
        assert cached == compiler.compile(source, cache_dir=False, target="ptx")
    works(run(PROGRAM, tmp_path))


def test_full_disk(tmp_path):
    """Files cannot grow: nothing is cached, the user is told once, and the program runs."""

    def limit():
        import resource

        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (64, 64))

    result = works(
        run(PROGRAM + "\nSourceModule('__global__ void f() {}', cache_dir=sys.argv[1])\n", tmp_path, before=limit)
    )
    assert not entries(tmp_path)
    told = [line for line in result.stderr.splitlines() if "cache" in line.lower()]
    assert len(told) == 1 and str(tmp_path) in told[0] and "File too large" in told[0], result.stderr
    # Nothing half-written is in the way afterwards.
    works(run(PROGRAM, tmp_path))
    assert entries(tmp_path)


def test_directory_that_cannot_be_written():
    result = works(run(PROGRAM, "/proc/no-such-directory"))
    told = [line for line in result.stderr.splitlines() if "cache" in line.lower()]
    assert len(told) == 1 and "/proc/no-such-directory" in told[0], result.stderr


def obey_modes():
    """From the next program on, root too may write only where the modes of files say so."""
    import ctypes

    bounding_set_drop, override, owner = 24, 1, 3
    for capability in (override, owner):
        ctypes.CDLL(None).prctl(bounding_set_drop, capability, 0, 0, 0)


@pytest.mark.skipif(sys.platform != "linux", reason="the modes of files are obeyed by Linux")
def test_read_only_cache(tmp_path, nvrtc):
    """What is there is used; what is not is compiled, and the user told once that it is not kept."""
    works(run(PROGRAM, tmp_path, env={"RTCG_NVRTC": str(nvrtc)}))
    nvrtc.unlink()
    found = entries(tmp_path)
    for path in [tmp_path, *tmp_path.rglob("*")]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    try:
        result = works(run(PROGRAM, tmp_path, env={"RTCG_NVRTC": str(nvrtc)}, before=obey_modes))
        assert "cache" not in result.stderr
        more = "\nfor i in range(2): SourceModule(f'__global__ void f{i}() {{}}', cache_dir=sys.argv[1])\n"
        result = works(run(PROGRAM + more, tmp_path, before=obey_modes))
        told = [line for line in result.stderr.splitlines() if "cache" in line.lower()]
        assert len(told) == 1 and str(tmp_path) in told[0] and "Permission denied" in told[0], result.stderr
        assert entries(tmp_path) == found
    finally:
        for path in [tmp_path, *tmp_path.rglob("*")]:
            path.chmod(0o755)


@pytest.mark.parametrize("damage", ["cut", "flipped", "empty", "noise"])
def test_corrupt_cache(tmp_path, damage):
    right = compiler.compile(TWICE, cache_dir=tmp_path, target="ptx")
    rng = random.Random(damage)
    for path in [path for path in tmp_path.rglob("*") if path.is_file()]:
        data = bytearray(path.read_bytes())
        if damage == "cut":
            data = data[: len(data) // 2]
        elif damage == "flipped" and data:
            data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        elif damage != "flipped":
            data = bytearray() if damage == "empty" else bytearray(rng.randbytes(len(data)))
        path.write_bytes(data)
    code = """
import sys
from pycuda.compiler import compile
sys.stdout.buffer.write(compile(sys.argv[2], cache_dir=sys.argv[1], target="ptx", arch=sys.argv[3]))
"""
    major, minor = cuda.Context.get_device().compute_capability()
    again = run(code, tmp_path, TWICE, f"compute_{major}{minor}")
    assert again.returncode == 0, again.stderr
    assert b".entry twice(" in again.stdout.encode() and b".entry twice(" in right
    works(run(PROGRAM, tmp_path))


def test_ptx_that_is_newer_than_the_driver():
    ptx = b".version 99.0\n.target sm_80\n.address_size 64\n.visible .entry f() { ret; }\n"
    with pytest.raises(cuda.Error, match=r"99\.0|unsupported toolchain|PTX") as info:
        cuda.module_from_buffer(ptx)
    assert "cuModuleLoadDataEx failed" in str(info.value)


def test_ptx_for_a_newer_device_and_no_code_at_all():
    with pytest.raises(cuda.Error, match="cuModuleLoadDataEx failed"):
        cuda.module_from_buffer(b"this is no program")
    with pytest.raises(cuda.Error, match="cuModuleLoadDataEx failed"):
        cuda.module_from_buffer(b"")
    with pytest.raises(cuda.Error, match="no-such-file"):
        cuda.module_from_file("/no-such-file.cubin")


def test_the_line_of_the_user():
    source = "// one\n// two\n__global__ void f(float *a)\n{\n    a[0] = undeclared;\n}\n"
    with pytest.raises(cuda.CompileError) as info:
        compiler.SourceModule(source, options=["-DX=1"])
    error = info.value
    assert "a[0] = undeclared;" in str(error) and "kernel.cu(5)" in error.stderr
    assert error.stdout == "" and any("X=1" in option for option in error.command_line)
    with pytest.raises(cuda.CompileError, match="kernel.cu"):
        compiler.compile_plain(source, [], False, "nvcc", None)


def test_warnings_are_told_in_the_name_of_the_caller():
    source = f"__global__ void f{secrets.token_hex(8)}() {{ int unused_variable; }}"
    with pytest.warns(UserWarning, match="unused_variable") as caught:
        compiler.compile(source, cache_dir=False)
    assert caught[0].filename == __file__
