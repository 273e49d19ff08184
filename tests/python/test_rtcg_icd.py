"""The module of `rtcg-icd` that counts where PyOpenCL is not installed (tests/packages has the wheel itself)."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

MODULE = Path(__file__).parents[2] / "distributions/rtcg-icd/pyopencl.py"
WHICH = "import pyopencl; import pyopencl.array; print(pyopencl.WHICH, pyopencl.array.__name__, pyopencl.__file__)"


@pytest.fixture
def site(tmp_path):
    """A folder of packages, as it is after `pip install rtcg-icd`."""
    (tmp_path / "site/pyopencl/.libs").mkdir(parents=True)
    shutil.copy(MODULE, tmp_path / "site")
    return tmp_path / "site"


def put_pyopencl(folder, which):
    """A package in the place of upstream's."""
    (folder / "pyopencl").mkdir(parents=True, exist_ok=True)
    (folder / "pyopencl/__init__.py").write_text(f"WHICH = {which!r}\n")
    (folder / "pyopencl/array.py").write_text("")


def run(program, *folders):
    # In isolated mode, so that nothing else is on the path.
    path = f"import sys; sys.path[:0] = {[os.fspath(folder) for folder in folders]!r}\n"
    command = [sys.executable, "-I", "-S", "-W", "error", "-c", path + program]
    return subprocess.run(command, text=True, capture_output=True)


@pytest.mark.parametrize("program", ["import pyopencl", "import pyopencl.array", "from pyopencl import array"])
def test_without_pyopencl_the_import_says_so(site, program):
    result = run(program, site)
    assert result.returncode == 1
    assert "ModuleNotFoundError: PyOpenCL is not installed: rtcg-icd is" in result.stderr
    assert run(f"try:\n  {program}\nexcept ImportError as e:\n  print(e.name)", site).stdout == "pyopencl\n"


def test_folders_of_libraries_elsewhere_are_no_pyopencl(site, tmp_path):
    (tmp_path / "other/pyopencl/.libs").mkdir(parents=True)
    assert "PyOpenCL is not installed" in run("import pyopencl", site, tmp_path / "other").stderr


def test_pyopencl_in_the_same_folder_is_imported(site):
    put_pyopencl(site, "beside")
    assert run(WHICH, site).stdout == f"beside pyopencl.array {site / 'pyopencl/__init__.py'}\n"


@pytest.mark.parametrize("is_first", [False, True])
def test_pyopencl_in_another_folder_is_imported(site, tmp_path, is_first):
    put_pyopencl(tmp_path / "other", "elsewhere")
    folders = [tmp_path / "other", site] if is_first else [site, tmp_path / "other"]
    result = run(WHICH, *folders)
    assert result.stdout == f"elsewhere pyopencl.array {tmp_path / 'other/pyopencl/__init__.py'}\n", result.stderr


def test_an_editable_pyopencl_is_imported(site, tmp_path):
    put_pyopencl(tmp_path / "sources", "editable")
    finder = f"""
from importlib.util import spec_from_file_location
class Finder:
    @staticmethod
    def find_spec(name, path=None, target=None):
        folder = {os.fspath(tmp_path / "sources/pyopencl")!r}
        if name == "pyopencl":
            return spec_from_file_location(name, folder + "/__init__.py", submodule_search_locations=[folder])
sys.meta_path.append(Finder)
"""
    result = run(f"{finder}\n{WHICH}", site)
    assert result.stdout.startswith("editable pyopencl.array "), result.stderr
