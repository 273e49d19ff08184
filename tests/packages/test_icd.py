"""`rtcg-icd` beside upstream's PyOpenCL: installed in either order, alone, and removed."""

import platform

import pytest

pytestmark = pytest.mark.skipif(platform.system() != "Linux", reason="the wheel is for Linux")

SAXPY = """
import numpy as np
import pyopencl as cl

context = cl.create_some_context(interactive=False)
queue = cl.CommandQueue(context)
program = cl.Program(context, '''
    kernel void saxpy(float a, global const float *x, global float *y) {
        y[get_global_id(0)] += a * x[get_global_id(0)];
    }
''').build()
x = np.arange(1000, dtype=np.float32)
y = np.ones_like(x)
flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
buffers = [cl.Buffer(context, flags, hostbuf=array) for array in (x, y)]
program.saxpy(queue, x.shape, None, np.float32(2), *buffers)
cl.enqueue_copy(queue, y, buffers[1])
print([platform.name for platform in cl.get_platforms()], (y == 2 * x + 1).all())
"""
RIGHT = "['rtcg'] True\n"
MISSING = "ModuleNotFoundError: PyOpenCL is not installed: rtcg-icd is an OpenCL platform for it"


def of_pyopencl(installation):
    """The contents of all of upstream's files, by their paths."""
    paths = [path for path in installation.files() if "pyopencl" in path.parts and path.suffix != ".pyc"]
    return {path: (installation.folder / path).read_bytes() for path in paths}


def test_after_pyopencl(installation):
    installation.install("pyopencl", "--no-compile")
    before = of_pyopencl(installation)
    installation.install("rtcg-icd", "--no-compile")
    assert installation.run(SAXPY).stdout == RIGHT
    installation.pip("check")
    installation.pip("uninstall", "--yes", "rtcg-icd")
    assert of_pyopencl(installation) == before
    assert not [path for path in installation.files() if "rtcg" in path.name]
    refused = installation.run("import pyopencl; pyopencl.get_platforms()", check=False)
    assert "PLATFORM_NOT_FOUND_KHR" in refused.stderr, refused.stderr


def test_before_pyopencl_and_without_it(installation):
    installation.install("rtcg-icd")
    for program in ("import pyopencl", "import pyopencl.array"):
        refused = installation.run(program, check=False)
        assert refused.returncode == 1 and MISSING in refused.stderr, refused.stderr
    installation.install("pyopencl")
    assert installation.run(SAXPY).stdout == RIGHT
    installation.pip("uninstall", "--yes", "pyopencl")
    assert MISSING in installation.run("import pyopencl", check=False).stderr
    installation.pip("uninstall", "--yes", "rtcg-icd")
    assert not [path for path in installation.files() if "pyopencl" in path.parts or path.stem == "pyopencl"]
    assert "No module named 'pyopencl'" in installation.run("import pyopencl", check=False).stderr
