"""The programs of `examples/`: each compares its results and says so by its exit status.

Those of the gallery are run by `test_docs.py`.
"""

import json
import os
import subprocess
import sys

import pytest

from rtcg import driver
from tests.mpi import launch
from tests.python.depth import at_depth
from tests.python.subprocesses import ROOT, has_real_device

EXAMPLES = ROOT / "examples"
#: What needs more than an interpreter; `gl_picture.py` is run by `test_gl.py`.
WITH_TEST_OF_ITS_OWN = {"devices_mpi", "gl_picture", "processes_joblib", "actors_ray"}
#: By default the program tunes for 5 s for each of its shapes.
ARGUMENTS = {"tune_matmul": ["5 evaluations"]}
NEEDS = {"dask_sum": "dask"}
PROGRAMS = sorted(path for path in EXAMPLES.glob("*.py") if path.stem not in WITH_TEST_OF_ITS_OWN)


def environment(n_devices):
    """The device of these tests, and `n_devices` virtual ones where there is no real one."""
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    # Open MPI refuses to run as root, which containers often do, unless told twice.
    env |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    return env | {"RTCG_VIRTUAL_DEVICES": "0" if has_real_device() else str(n_devices)}


def run(command, n_devices, **options):
    done = subprocess.run(
        command, env=environment(n_devices), timeout=300, capture_output=True, text=True, check=False, **options
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_programs_find_their_results_right(program, tmp_path):
    if program.stem in NEEDS:
        pytest.importorskip(NEEDS[program.stem], reason=f"needs {NEEDS[program.stem]} (requirements-dev.txt)")
    printed = run([sys.executable, str(program), *ARGUMENTS.get(program.stem, [])], 3, cwd=tmp_path)
    assert printed.strip() and "WRONG" not in printed


def run_in_ranks(program, *arguments):
    """What a program prints in two ranks of MPI."""
    pytest.importorskip("mpi4py", reason="mpi4py is not installed (requirements-dev.txt)")
    mpi = launch.mpich()
    if mpi is None:
        pytest.skip("there is no mpiexec: pip install mpich")
    command = [sys.executable, "-m", "mpi4py", str(EXAMPLES / program), *arguments]
    return run([str(mpi.launcher), "-n", "2", *command], 2)


def test_ranks_of_nccl():
    if has_real_device() and driver.Device.count() < 2:
        pytest.skip("NCCL needs a device for each rank")
    assert "2 ranks: largest eigenvalue" in (printed := run_in_ranks("nccl_devices.py")) and "equal to NumPy" in printed


@pytest.mark.parametrize("staged", [False, True])
def test_ranks_have_a_device_each(staged):
    printed = run_in_ranks("devices_mpi.py", *["--staged"] * staged)
    assert "2 ranks on" in printed and "equal to NumPy" in printed
    assert not staged or "through page-locked memory" in printed
    if not has_real_device():
        assert "2 ranks on 2 devices" in printed and staged == ("from device memory" not in printed)


def test_workers_of_joblib(tmp_path):
    pytest.importorskip("joblib", reason="joblib is not installed (requirements-dev.txt)")
    printed = run([sys.executable, str(EXAMPLES / "processes_joblib.py")], 1, cwd=tmp_path)
    assert printed.count("equal to NumPy") == 2


@pytest.mark.skipif(not at_depth(False, True), reason="test_ray.py has a Ray running; a second one costs seconds")
def test_actors_of_ray(tmp_path, monkeypatch):
    pytest.importorskip("ray", reason="ray is not installed (requirements-dev.txt)")
    # No token in the home folder, and no reports.
    for name, value in {"RAY_AUTH_MODE": "disabled", "RAY_USAGE_STATS_ENABLED": "0"}.items():
        monkeypatch.setenv(name, value)
    assert "equal to NumPy" in run([sys.executable, str(EXAMPLES / "actors_ray.py")], 1, cwd=tmp_path)


def test_the_notebook(tmp_path, monkeypatch):
    """Its cells assert what they say; a cell that fails fails the test."""
    nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed (requirements-dev.txt)")
    nbformat = pytest.importorskip("nbformat")
    pytest.importorskip("ipykernel")
    for name, value in environment(1).items():
        monkeypatch.setenv(name, value)
    notebook = nbformat.read(EXAMPLES / "notebook.ipynb", as_version=4)
    client = nbclient.NotebookClient(
        notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": tmp_path}}
    )
    # The interpreter of these tests, whichever kernels the user has registered.
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path))
    kernel = tmp_path / "kernels" / "python3"
    kernel.mkdir(parents=True)
    command = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    (kernel / "kernel.json").write_text(json.dumps({"argv": command, "display_name": "tests", "language": "python"}))
    client.execute()
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    printed = "".join(output.get("text", "") for output in outputs)
    assert "1024" in printed and "33" in printed


def test_the_notebook_is_kept_without_outputs():
    notebook = json.loads((EXAMPLES / "notebook.ipynb").read_text())
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert len(code) > 5 and not any(cell["outputs"] or cell["execution_count"] for cell in code)
