"""`python -m pycuda.debug`: arguments, debug information, kept sources, no cache."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import pycuda
from tests.python.subprocesses import has_real_device

pytestmark = pytest.mark.usefixtures("context")

SCRIPT = """
import sys
import numpy as np
import pycuda.autoinit
import pycuda.driver as cuda
from pycuda.compiler import SourceModule, compile

assert cuda.CUDA_DEBUGGING
source = "__global__ void twice(int *a) { a[threadIdx.x] *= 2; }"
ptx = compile(source, target="ptx").decode()
a = np.arange(4, dtype=np.int32)
SourceModule(source).get_function("twice")(cuda.InOut(a), block=(4, 1, 1))
print(__name__, sys.argv[1:], a.tolist(), ".debug_info" in ptx or ".target" in ptx and "debug" in ptx)
print("files", *[line for line in ptx.splitlines() if line.lstrip().startswith(".file")])
if "fail" in sys.argv:
    raise KeyError("from the script")
"""


def debug(tmp_path, *args, **environment):
    script = tmp_path / "program.py"
    script.write_text(SCRIPT)
    env = {**os.environ, "TMPDIR": str(tmp_path), "PYCUDA_CACHE_DIR": str(tmp_path / "cache"), **environment}
    env.setdefault("RTCG_VIRTUAL_DEVICES", "0" if has_real_device() else "1")
    (tmp_path / "cache").mkdir(exist_ok=True)
    paths = [str(Path(pycuda.__file__).parents[1]), env.get("PYTHONPATH", "")]
    env["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
    command = [sys.executable, "-m", "pycuda.debug", *args]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=tmp_path, env=env)


def test_a_script_runs_with_its_arguments(tmp_path):
    result = debug(tmp_path, "program.py", "one", "--two")
    assert result.returncode == 0, result.stderr
    assert "__main__ ['one', '--two'] [0, 2, 4, 6] True" in result.stdout
    kept = re.findall(r"compiler output in (\S+)", result.stdout)
    assert len(kept) == 2 and all(Path(directory).is_dir() for directory in kept)
    # No compiled program; machine code may be kept.
    assert all(path.name.startswith("rtcg-code-") for path in (tmp_path / "cache").iterdir())


def test_the_debugger_finds_the_source(tmp_path):
    result = debug(tmp_path, "program.py")
    kept = re.findall(r"compiler output in (\S+)", result.stdout)
    named = re.search(r'files .*?"([^"]+\.cu)"', result.stdout)
    assert named, result.stdout
    assert named[1].startswith(kept[0]) and "twice" in Path(named[1]).read_text()


def test_a_module_runs_too(tmp_path):
    result = debug(tmp_path, "-m", "program", "x")
    assert result.returncode == 0, result.stderr
    assert "__main__ ['x'] [0, 2, 4, 6]" in result.stdout


def test_exceptions_are_the_scripts(tmp_path):
    result = debug(tmp_path, "program.py", "fail")
    assert result.returncode == 1 and "KeyError: 'from the script'" in result.stderr


def test_without_a_program(tmp_path):
    result = debug(tmp_path)
    assert result.returncode == 1 and "usage" in result.stderr and "no program" in result.stderr
    assert debug(tmp_path, "no_such_file.py").returncode == 1
