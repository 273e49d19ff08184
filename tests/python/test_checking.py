"""Checked mode and schedules of the virtual GPU, from Python."""

import pytest

from tests.python.subprocesses import has_real_device, run_python

pytestmark = pytest.mark.skipif(has_real_device(), reason="a real device has no checked mode")


def test_findings_name_source_and_allocation():
    result = run_python(
        """
        from pycuda import checking
        checking.enable("memory,init,leak")
        import pycuda.autoinit, pycuda.driver as cuda
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


def test_unknown_words_are_refused():
    run_python(
        """
        from pycuda import checking
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
        from pycuda import checking
        import pycuda.autoinit, pycuda.driver as cuda
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
