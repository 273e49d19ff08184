"""What the judges of the OpenCL platform share: virtual environments, sources of packages, platforms, outcomes.

Everything that is fetched or built goes to ``dist/opencl-judges``. Nothing of it is a part of this project.
"""

import io
import os
import resource
import shutil
import signal
import subprocess
import sys
import tarfile
import time
import xml.etree.ElementTree
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT))
from tools.upstream_programs import fetch_sdist  # noqa: E402

WORK = ROOT / "dist" / "opencl-judges"
PLATFORM = ROOT / "dist" / "opencl"
#: The version of PyOpenCL that runs, and whose tests and examples do.
PYOPENCL = "2026.1.4"


def venv(name, *requirements):
    """The interpreter of a virtual environment with what the files `requirements` list, made anew when these change."""
    folder = WORK / name
    python, done = folder / "bin" / "python", folder / ".requirements"
    text = "".join((HERE / file).read_text() for file in requirements)
    if not done.exists() or done.read_text() != text:
        shutil.rmtree(folder, ignore_errors=True)
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, *(word for file in requirements for word in ("-r", str(HERE / file)))], check=True)
        done.write_text(text)
    return python


def source(name, version):
    """The folder of a package's source distribution, fetched once."""
    folder = WORK / "sources" / f"{name}-{version}"
    if not folder.exists():
        with tarfile.open(fileobj=io.BytesIO(fetch_sdist(name, version))) as archive:
            archive.extractall(folder.parent, filter="data")
    return folder


def peer_library(platform):
    """The library of the platform ``pocl`` or ``intel``; the message of the error says what is missing."""
    if platform == "pocl":
        named = [os.environ.get("POCL_LIBRARY"), *Path("/usr/lib").glob("*/libpocl.so.2")]
        library = next((Path(path) for path in named if path), None)
        library = library or next(peers_folder().glob("lib/python*/site-packages/pyopencl/.libs/libpocl-*.so"), None)
    else:
        library = next(peers_folder().glob("lib/libintelocl.so"), None)
    if library is None or not library.exists():
        raise FileNotFoundError(f"no library of {platform} ({library})")
    return library


def peers_folder():
    """The virtual environment of the peers, made when it is first asked for."""
    return venv("peers", "requirements-peers.txt").parents[1]


def environment(platform, python, cache):
    """The variables with which a program of the interpreter `python` sees one OpenCL platform and its own caches only.

    `platform` is ``rtcg``, ``pocl`` or ``intel``; all caches are in the folder `cache`.
    """
    foreign = ("RTCG_", "PYOPENCL_", "PYCUDA_", "OCL_ICD", "VIRTUAL_ENV", "PYTHONPATH")
    env = {k: v for k, v in os.environ.items() if not k.startswith(foreign)}
    env |= {"XDG_CACHE_HOME": str(cache), "POCL_CACHE_DIR": str(Path(cache) / "pocl"), "MPLBACKEND": "Agg"}
    env["PATH"] = f"{Path(python).parent}{os.pathsep}{env.get('PATH', '')}"
    (Path(cache) / "pocl").mkdir(parents=True, exist_ok=True)
    if platform == "rtcg":
        if not (PLATFORM / "rtcg.icd").exists():
            sys.exit("dist/opencl is missing: run `make opencl`")
        env["OCL_ICD_VENDORS"] = f"{PLATFORM}/"
        return env | {"RTCG_VIRTUAL_DEVICES": "1", "PYCUDA_CACHE_DIR": str(Path(cache) / "rtcg")}
    library = peer_library(platform)
    vendors = WORK / "vendors" / platform
    vendors.mkdir(parents=True, exist_ok=True)
    (vendors / f"{platform}.icd").write_text(f"{library}\n")
    env["OCL_ICD_VENDORS"] = f"{vendors}/"
    # The parts of Intel's compiler, and of a PoCL that is unpacked and not installed.
    folders = [library.parent, library.parent.parent / "llvm-15" / "lib"]
    env["LD_LIBRARY_PATH"] = os.pathsep.join([*map(str, folders), *filter(None, [env.get("LD_LIBRARY_PATH")])])
    return env


class Outcome(NamedTuple):
    """How a test ended: ``passed``, ``failed`` or ``skipped``."""

    outcome: str
    reason: str = ""
    seconds: float = 0.0


class Run(NamedTuple):
    """What a run of pytest has shown."""

    outcomes: dict
    wall_s: float
    cpu_s: float
    said: str


def run_pytest(python, arguments, folder, env, name, limit_s):
    """Runs pytest in `folder`, with its report in ``dist/opencl-judges/reports/NAME.xml``.

    After `limit_s` seconds it is interrupted. Tests that have no outcome then are not in the result.
    """
    report = WORK / "reports" / f"{name}.xml"
    report.parent.mkdir(parents=True, exist_ok=True)
    report.unlink(missing_ok=True)
    # Else pytest would take the settings of this project, in whose folder the tests are.
    (WORK / "pytest.ini").write_text("[pytest]\n")
    command = [str(python), "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={report}", *arguments]
    begun, cpu = time.monotonic(), child_cpu_s()
    with open(report.with_suffix(".log"), "w") as log:
        process = subprocess.Popen(command, cwd=folder, env=env, stdout=log, stderr=log)
        try:
            process.wait(limit_s)
        except subprocess.TimeoutExpired:
            # It writes its report.
            process.send_signal(signal.SIGINT)
            try:
                process.wait(60)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
    said = report.with_suffix(".log").read_text(errors="replace")[-4000:]
    return Run(read_report(report), time.monotonic() - begun, child_cpu_s() - cpu, said)


def child_cpu_s():
    """CPU seconds of all processes that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def read_report(report):
    """The outcomes in a report of pytest's, by ``file::test``."""
    outcomes = {}
    cases = xml.etree.ElementTree.parse(report).iter("testcase") if Path(report).exists() else []
    # An interrupted test has no name.
    for case in filter(lambda case: case.get("name"), cases):
        wrong = next((child for child in case if child.tag in ("failure", "error", "skipped")), None)
        outcome = "passed" if wrong is None else "skipped" if wrong.tag == "skipped" else "failed"
        reason = "" if wrong is None else (wrong.get("message") or "").strip()
        test = f"{(case.get('classname') or '').replace('.', '/')}::{case.get('name')}"
        outcomes[test] = Outcome(outcome, " ".join(reason.split())[:400], float(case.get("time", 0)))
    return outcomes
