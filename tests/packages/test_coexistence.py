"""Beside upstream's PyCUDA, in its place for packages that require it, and after older versions of ours."""

import os

import pytest

from tests.packages.made_wheels import older, upstreams, write_wheel

KERNEL = """
import numpy as np
import rtcg.autoinit
from rtcg import numpy as rnp
from rtcg.elementwise import ElementwiseKernel

a = rnp.to_gpu(np.arange(4, dtype=np.float32))
ElementwiseKernel("float *a", "a[i] = 2 * a[i] + 1")(a)
print(a.get().tolist())
"""


def test_without_a_compiler_the_error_names_the_command_that_helps(installation):
    installation.install("rtcg-gpu")
    result = installation.run(KERNEL, check=False)
    assert result.returncode == 1 and "pip install nvidia-cuda-nvrtc" in result.stderr, result.stderr
    assert "No module named 'pycuda'" in installation.run("import pycuda", check=False).stderr
    installation.install("rtcg-gpu[cuda13]")
    assert installation.run(KERNEL).stdout == "[1.0, 3.0, 5.0, 7.0]\n"


def test_upstreams_package_stays_and_wins(installation, tmp_path, first_program):
    installation.pip("install", "--no-index", upstreams(tmp_path, installation.python))
    before = {
        path: (installation.folder / path).read_bytes() for path in installation.files() if "pycuda" in path.parts
    }
    installation.install("rtcg-pycuda[cuda13]")
    which = "import pycuda, pycuda.driver, pycuda._driver as d; print(pycuda.VERSION_TEXT, hasattr(d, 'LogicError'))"
    assert installation.run(which).stdout == "upstream False\n"
    program = tmp_path / "program.py"
    program.write_text(f"{first_program}\n{which}\n")
    assert installation.python_module("rtcg", "--as", "pycuda", program).stdout == "2026.1 True\n"
    refused = installation.python_module("rtcg", "provide", "pycuda", check=False)
    assert refused.returncode == 1 and "the distribution pycuda 2025.1 is installed in" in refused.stderr
    installation.pip("uninstall", "--yes", "rtcg-pycuda", "rtcg-gpu")
    after = {path: (installation.folder / path).read_bytes() for path in before}
    assert after == before and installation.run(which).stdout == "upstream False\n"


def test_packages_that_require_pycuda_install_and_run(installation, tmp_path, first_program):
    installation.install("rtcg-pycuda[cuda13]")
    program = f"def main():\n    {first_program.replace(chr(10), chr(10) + '    ')}\n    print('done')\n"
    package = write_wheel(tmp_path, "needs-pycuda", "1.0", {"needs_pycuda.py": program}, "pycuda>=2022")
    assert installation.install(package, check=False).returncode != 0
    before = installation.files()
    for _ in range(2):
        said = installation.python_module("rtcg", "provide", "pycuda").stdout
        assert "pip knows pycuda as installed now" in said
    installation.install(package)
    assert installation.run("import needs_pycuda; needs_pycuda.main()").stdout == "done\n"
    installation.pip("check")
    version = "from importlib.metadata import version; print(version('pycuda'))"
    assert installation.run(version).stdout == "2026.1+rtcg\n"
    installation.pip("uninstall", "--yes", "pycuda", "needs-pycuda")
    left = {path for path in installation.files() - before if path.suffix != ".pyc"}
    assert not left


def test_provide_needs_the_package_that_it_speaks_of(installation):
    installation.install("rtcg-gpu")
    result = installation.python_module("rtcg", "provide", "pycuda", check=False)
    assert result.returncode == 1 and "`pip install --find-links FOLDER rtcg-pycuda`" in result.stderr


def test_an_upgrade_leaves_nothing_of_the_older_version(installation, wheels, tmp_path, first_program):
    for name, wheel in wheels.items():
        older(wheel, tmp_path, "0.0.1", {f"rtcg/gone_{name.partition('-')[2]}.py": ""})
    installation.pip(
        "install", "--no-index", f"--find-links={tmp_path}", f"--find-links={os.environ['RTCG_WHEELHOUSE']}",
        "rtcg-pycuda==0.0.1",
    )  # fmt: skip
    before = {path.name for path in installation.files()}
    assert {"gone_gpu.py", "gone_pycuda.py"} <= before
    installation.install("--upgrade", "rtcg-pycuda[cuda13]")
    assert not {path.name for path in installation.files()} & {"gone_gpu.py", "gone_pycuda.py"}
    installation.run(first_program)
    installation.pip("check")


@pytest.mark.skipif("RTCG_PACKAGES_INDEX" not in os.environ, reason="downloads some 200 MB from the package index")
@pytest.mark.parametrize("extra", ["cuda12", "cuda13"])
def test_the_compiler_comes_from_the_index(installation, extra, first_program):
    installation.pip("install", f"--find-links={os.environ['RTCG_PACKAGES']}", f"rtcg-gpu[{extra}]", "rtcg-pycuda")
    installation.run(first_program)
    installation.run(KERNEL)
    installation.pip("check")
