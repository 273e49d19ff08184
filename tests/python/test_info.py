"""`python -m rtcg.info`: what the report says, and that it never fails."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import pycuda.driver as cuda
import rtcg
from rtcg import info
from tests.python.subprocesses import has_real_device, run_python

pytestmark = pytest.mark.usefixtures("context")


def test_the_report():
    text = info.report()
    device = cuda.Device(0)
    for expected in ("rtcg 0.", "Python 3.", "numpy ", device.name(), "NVRTC", "cache", "settings are not set"):
        assert expected in text
    for section in ("Drivers", "Devices", "Compiler", "Libraries", "Environment"):
        assert f"\n{section}\n" in text
    assert "programs, " in text and "MiB" in text


def test_more_on_request():
    short, long = info.report(), info.report(attributes=True, functions=True)
    assert "MULTIPROCESSOR_COUNT" in long and "MULTIPROCESSOR_COUNT" not in short
    assert "cuLaunchKernel" in long and "cuLaunchKernel" not in short


def test_settings_that_are_not_set_are_listed_on_request(monkeypatch):
    monkeypatch.setenv("RTCG_SCHEDULE", "")
    monkeypatch.setenv("RTCG_TRACE", "chosen")
    short, long = info.report(), info.report(unset_settings=True)
    assert re.search("RTCG_TRACE +chosen", short) and "RTCG_SCHEDULE" not in short
    assert re.search("RTCG_SCHEDULE +not set: threads", long) and "settings are not set" not in long


def test_settings_that_do_not_exist_are_said_to_be_unknown(monkeypatch):
    monkeypatch.setenv("RTCG_BOGUS", "1")
    assert re.search(r"RTCG_BOGUS +1 \(unknown", info.report())


@pytest.mark.parametrize("module", ["rtcg.info", "rtcg"])
def test_as_a_program(module):
    env = {**os.environ, "RTCG_VIRTUAL_DEVICES": "0" if has_real_device() else "1"}
    command, folder = [sys.executable, "-m", module, "--attributes"], Path(rtcg.__file__).parents[1]
    result = subprocess.run(command, capture_output=True, text=True, timeout=60, cwd=folder, env=env)
    assert result.returncode == 0 and "WARP_SIZE" in result.stdout and result.stderr == ""


def test_where_things_are_missing(tmp_path):
    code = "from rtcg import info; print(info.report())"
    cache = tmp_path / "cache"
    cache.write_text("a file in the place of the folder")
    result = run_python(
        code, RTCG_LIBCUDA="none", RTCG_NVRTC="none", RTCG_VIRTUAL_DEVICES=1, PYCUDA_CACHE_DIR=cache, RTCG_CHECK=""
    )
    assert "RTCG_LIBCUDA=none" in result.stdout and "RTCG_NVRTC=none" in result.stdout
    assert str(cache) in result.stdout
    result = run_python(code, RTCG_LIBCUDA="none", RTCG_VIRTUAL_DEVICES=0, PYCUDA_DISABLE_CACHE=1)
    assert "nothing is kept on disk" in result.stdout and "none" in result.stdout
