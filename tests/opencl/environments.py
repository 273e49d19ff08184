"""What the judges of the OpenCL platform share: virtual environments, sources of packages, platforms, outcomes.

Everything that is fetched or built goes to ``dist/opencl-judges``. Nothing of it is a part of this project.
"""

import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
import time
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
    """How a test ended: ``passed``, ``failed`` or ``skipped``; why; CPU seconds."""

    outcome: str
    reason: str = ""
    seconds: float = 0.0


class Run(NamedTuple):
    """What a run of pytest has shown."""

    #: By ``file::test``.
    outcomes: dict
    #: How many tests it was to run, and how many there are.
    total: int
    of: int
    wall_s: float
    said: str

    def cpu_s(self):
        """CPU seconds of its tests together."""
        return sum(got.seconds for got in self.outcomes.values())


def run_pytest(python, arguments, folder, env, name, limit_s, every=1, goes_on=False, test_cpu_s=600):
    """Runs pytest in `folder`, with its outcomes in ``dist/opencl-judges/reports/NAME.jsonl``.

    A test that ends the process, or takes more than `test_cpu_s` seconds of the processors, has failed; the next ones
    run in a new process. `every` = n runs about one of n tests, always the same ones (``outcomes_plugin.py``). After
    `limit_s` seconds the run is stopped: tests that have no outcome then are not in the result. With `goes_on` it goes
    on where the last run of this name was stopped.
    """
    file = WORK / "reports" / f"{name}.jsonl"
    file.parent.mkdir(parents=True, exist_ok=True)
    if not goes_on:
        file.unlink(missing_ok=True)
    elif file.exists():
        # The test that was running when it was stopped runs again.
        lines = [line for line in map(json.loads, file.read_text().splitlines()) if "outcome" in line]
        file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    # Else pytest would take the settings of this project, in whose folder the tests are.
    (WORK / "pytest.ini").write_text("[pytest]\n")
    plugins = os.pathsep.join(filter(None, [str(HERE), env.get("PYTHONPATH")]))
    settings = {"OUTCOMES": file, "EVERY": every, "TEST_CPU_S": test_cpu_s}
    env = env | {"PYTHONPATH": plugins} | {f"RTCG_JUDGE_{name}": str(value) for name, value in settings.items()}
    command = [str(python), "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "outcomes_plugin", *arguments]
    begun, log_path = time.monotonic(), file.with_suffix(".log")
    with open(log_path, "w") as log:
        while True:
            process = subprocess.Popen(command, cwd=folder, env=env, stdout=log, stderr=log)
            is_stopped = not wait_with_progress(process, begun + limit_s, name, file)
            unfinished = read_outcomes(file)[1]
            if is_stopped or unfinished is None:
                break
            reason = f"ended the process with {process.returncode}"
            with file.open("a") as lines:
                lines.write(json.dumps({"test": unfinished, "outcome": "failed", "reason": reason}) + "\n")
    outcomes, _, (total, of) = read_outcomes(file)
    return Run(outcomes, total, of, time.monotonic() - begun, log_path.read_text(errors="replace")[-4000:])


def wait_with_progress(process, until, name, file):
    """Waits for a run of tests and prints a line a minute; kills it at the time `until`, and returns False then."""
    while (left := until - time.monotonic()) > 0:
        try:
            process.wait(min(left, 60))
            return True
        except subprocess.TimeoutExpired:
            outcomes, running, (total, _) = read_outcomes(file)
            print(f"  {name}: {len(outcomes)} of {total}, now {running}", flush=True)
    process.kill()
    process.wait()
    return False


def read_outcomes(file):
    """Outcomes by test, the test that has begun and not ended, ``(tests to run, tests there are)``."""
    outcomes, running, total = {}, None, (0, 0)
    for line in map(json.loads, file.read_text().splitlines() if file.exists() else []):
        if "total" in line:
            total = line["total"], line["of"]
        elif "outcome" in line:
            outcomes[line["test"]] = Outcome(line["outcome"], line["reason"], line.get("cpu_s", 0.0))
            running = None
        else:
            running = line["test"]
    return outcomes, running, total
