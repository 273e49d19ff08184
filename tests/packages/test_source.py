"""The source distribution builds by itself, and refuses interpreters that it has no module for."""

import os
import subprocess
import tarfile
from pathlib import Path

import pytest

from tests.packages.installation import PACKAGES, ROOT

# Dependencies are built once for all source trees.
TARGET = str(ROOT / "target")


@pytest.fixture(scope="session")
def sdist(native):
    [path] = Path(PACKAGES).glob(f"{native.replace('-', '_')}-*.tar.gz")
    return path


def test_the_first_program_runs_from_source(installation, sdist, wheels, first_program):
    installation.install(f"{sdist}[cuda13]", wheels["rtcg-pycuda"], CARGO_TARGET_DIR=TARGET)
    installation.run(first_program)


def test_a_free_threaded_interpreter_is_refused_at_once(installation, sdist):
    pretended = "import sysconfig; sysconfig.get_config_vars()['Py_GIL_DISABLED'] = 1"
    with tarfile.open(sdist) as archive:
        archive.extractall(installation.folder, filter="data")
    tools = next(installation.folder.glob("*/tools"))
    result = installation.run(
        f"{pretended}; import sys; sys.path.append({str(tools)!r}); import build_backend", check=False
    )
    assert result.returncode == 1
    assert "rtcg has no free-threaded build: found free-threaded CPython 3." in result.stderr


def test_the_build_script_refuses_a_free_threaded_interpreter(tmp_path):
    config = tmp_path / "interpreter"
    config.write_text("implementation=CPython\nversion=3.14\nbuild_flags=Py_GIL_DISABLED\n", encoding="utf-8")
    # Its crate comes last, so everything that it needs is checked first; that is kept for the next time.
    command = ["cargo", "check", "--package", "rtcg-python", "--features", "extension-module"]
    variables = {"PYO3_CONFIG_FILE": str(config), "CARGO_TARGET_DIR": str(ROOT / "dist/release/free-threaded")}
    result = subprocess.run(command, text=True, capture_output=True, cwd=ROOT, env={**os.environ, **variables})
    assert result.returncode != 0
    assert "rtcg has no free-threaded build: found free-threaded CPython 3.14 (Py_GIL_DISABLED" in result.stderr
    assert "use the ordinary python3.14" in result.stderr
