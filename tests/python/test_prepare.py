"""``python -m rtcg prepare``, and the file of prebuilt programs that it can write."""

import json
import os
import subprocess
import sys

import pytest

PROGRAM = """
import numpy as np
import rtcg.autoinit
import rtcg.numpy as xp
a = np.arange(1000, dtype=np.float32)
assert np.allclose(xp.sqrt(xp.asarray(a)).get(), np.sqrt(a))
"""


def run(*arguments, tmp_path, **environment):
    # The virtual GPU, on a machine with a real one too: the programs of a file are those it runs.
    env = {**os.environ, "CUDA_VISIBLE_DEVICES": "", "RTCG_VIRTUAL_DEVICES": "1"}
    env["PYCUDA_CACHE_DIR"] = str(tmp_path / "cache")
    env = {name: value for name, value in {**env, **environment}.items() if value is not None}
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, timeout=300, env=env)


@pytest.fixture
def programs(tmp_path):
    file = tmp_path / "programs"
    command = ["-m", "rtcg", "prepare", "--programs", str(file), "functions, float32"]
    result = run(*command, tmp_path=tmp_path, RTCG_PREBUILT="")
    assert result.returncode == 0, result.stderr
    count, rest = result.stdout.split(" ", 1)
    assert int(count) >= 8 and rest == f"programs in {file}\n"
    assert "functions, float32: " in result.stderr, "progress"
    return file


def test_prebuilt_programs_need_no_compiler(programs, tmp_path):
    without = {"RTCG_NVRTC": str(tmp_path / "none"), "PYCUDA_CACHE_DIR": str(tmp_path / "empty")}
    result = run("-c", PROGRAM, tmp_path=tmp_path, RTCG_PREBUILT=str(programs), **without)
    assert result.returncode == 0, result.stderr
    refused = run("-c", PROGRAM, tmp_path=tmp_path, RTCG_PREBUILT="", **without)
    assert refused.returncode == 1 and "NVRTC" in refused.stderr
    damaged = tmp_path / "damaged"
    damaged.write_bytes(programs.read_bytes()[:1000])
    refused = run("-c", PROGRAM, tmp_path=tmp_path, RTCG_PREBUILT=str(damaged), **without)
    assert refused.returncode == 1 and "NVRTC" in refused.stderr


def test_what_is_prepared_is_not_compiled_again(programs, tmp_path):
    trace = tmp_path / "trace.json"
    result = run("-c", PROGRAM, tmp_path=tmp_path, RTCG_PREBUILT="", RTCG_TRACE=str(trace))
    assert result.returncode == 0, result.stderr
    events = json.loads(trace.read_text())
    spans = [event for event in events if event.get("cat") in ("compiler", "jit")]
    assert spans and not [span["name"] for span in spans if span["name"].startswith("compile ")]


def test_unknown_groups_are_refused(tmp_path):
    result = run("-m", "rtcg", "prepare", "nonsense", tmp_path=tmp_path)
    assert result.returncode == 2
    assert "group is 'nonsense'; expected the beginning of one of: arithmetic, float32; " in result.stderr


def test_a_cache_that_keeps_nothing_is_an_error(tmp_path):
    (tmp_path / "cache").write_text("no folder")
    result = run("-m", "rtcg", "prepare", "functions", tmp_path=tmp_path)
    assert result.returncode == 2 and "which cannot be written to: not a directory" in result.stderr, result.stderr
    result = run("-m", "rtcg", "prepare", "functions", tmp_path=tmp_path, PYCUDA_DISABLE_CACHE="1")
    assert result.returncode == 2 and "PYCUDA_DISABLE_CACHE is set" in result.stderr, result.stderr


def test_help_lists_the_groups(tmp_path):
    result = run("-m", "rtcg", "prepare", "--help", tmp_path=tmp_path)
    assert result.returncode == 0 and "GROUP is the beginning of one of: arithmetic, float32; " in result.stdout
