"""`rtcg.profile`: tables of where the time went, and `rtcg.benchmark`."""

import io

import numpy as np
import pytest

import rtcg
import rtcg.numpy as rnp
from rtcg import profile, tracing
from tests.python.subprocesses import has_real_device, run_python

pytestmark = pytest.mark.usefixtures("context")


def rows_of(found, group):
    return {row["name"]: row for row in found.rows if row["group"] == group}


def test_a_profile_counts_kernels_copies_and_ranges():
    x = rnp.ones(1000, np.float32)
    with profile.profile() as found:
        assert found == []
        for _ in range(3):
            with profile.region("step"):
                y = x + x
        y.get()
    (result,) = found
    kernels, ranges = rows_of(result, "kernels"), rows_of(result, "ranges")
    assert [row["calls"] for row in kernels.values()] == [3] and ranges["step"]["calls"] == 3
    (kernel,) = kernels.values()
    assert 0 < kernel["min_seconds"] <= kernel["seconds"] / 3 <= kernel["max_seconds"] <= kernel["seconds"]
    assert rows_of(result, "copies")["cuMemcpyDtoH"]["bytes"] == 4000
    assert "3 launches, busy" in str(result) and next(iter(kernels)) in str(result)
    assert not tracing.is_on()


def test_a_region_prints_its_tables_also_after_an_error():
    text = io.StringIO()
    with profile.region("addition", file=text):
        rnp.ones(10) + 1
    assert text.getvalue().startswith("addition: profile of ") and "kernels: " in text.getvalue()
    with pytest.raises(ZeroDivisionError), profile.region():
        raise ZeroDivisionError
    assert not tracing.is_on()


def test_one_trace_at_a_time(tmp_path):
    with tracing.trace(tmp_path / "trace.json"), pytest.raises(RuntimeError, match="a trace is being made already"):
        with profile.profile():
            pass


@pytest.mark.parametrize("ending", ["", "raise SystemExit(3)"])
def test_programs_are_profiled(tmp_path, ending):
    (tmp_path / "program.py").write_text(
        f"import sys, rtcg.numpy as rnp\nprint(rnp.ones(4).sum().get(), *sys.argv[1:])\n{ending}\n"
    )
    code = "import sys; from rtcg.profile import main; main(sys.argv[1:])"
    result = run_python(code, tmp_path / "program.py", "--more", check=False)
    assert (result.stdout, result.returncode) == ("4.0 --more\n", 3 if ending else 0)
    assert result.stderr.startswith("profile of ") and "array_" in result.stderr and "compilation: " in result.stderr


FAULT = """
import rtcg.autoinit
import numpy as np
from rtcg.driver import Context
from rtcg.compiler import SourceModule
SourceModule("__global__ void faults(int *a) { *a = 1; }").get_function("faults")(np.intp(64), block=(1, 1, 1))
Context.synchronize()
"""


@pytest.mark.skipif(has_real_device(), reason="the context of a real device is lost")
def test_programs_that_fail_are_profiled(tmp_path):
    (tmp_path / "program.py").write_text(FAULT)
    code = "import sys; from rtcg.profile import main; main(sys.argv[1:])"
    result = run_python(code, tmp_path / "program.py", check=False)
    assert result.returncode == 1 and result.stderr.startswith("profile of ") and "faults" in result.stderr
    assert result.stderr.count("Traceback") == 1 and "faults: illegal memory access" in result.stderr
    for arguments in (["nowhere.py"], ["-c", "pass"]):
        result = run_python(code, *arguments, check=False)
        assert result.returncode == 1 and len(result.stderr.splitlines()) == 1, result.stderr


def test_benchmark():
    x = rnp.ones(1000)
    found = rtcg.benchmark(np.add, x, x, n_repeat=5, n_warmup=1, name="sum")
    assert len(found.cpu_times) == len(found.gpu_times) == 5 and found.gpu_times.min() > 0
    assert str(found).startswith("sum: CPU: ") and "GPU: " in str(found)
    calls = []
    assert len(rtcg.benchmark(calls.append, 1, n_warmup=2, max_duration=0).cpu_times) == 1 and calls == [1] * 3
    with pytest.raises(ValueError, match="n_repeat is 0"):
        rtcg.benchmark(calls.append, 1, n_repeat=0)
