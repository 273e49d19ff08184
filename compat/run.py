"""Runs programs that know only NVIDIA's driver on rtcg's ``libcuda.so.1`` and prints a table.

``python compat/run.py [--all] [--sources FOLDER] [SUITE ...]``, by the interpreter that has ``requirements.txt``
installed; ``make compat`` does both. Packages of ``clients.py`` run their own tests, by an interpreter of their own
(``requirements-clients.txt``); those on PyCUDA run them with ours. Results go to ``dist/compat/results.json``. A
failure that ``known_failures.json`` does not list makes the exit status 1, and so does a test that it lists and that
passes (unless its reason begins with "may").
"""

import argparse
import collections
import fnmatch
import importlib.metadata
import importlib.util
import io
import json
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tarfile
import time
import xml.etree.ElementTree

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
sys.path.insert(0, str(ROOT))
from compat.clients import CLIENTS, test_files  # noqa: E402
from tools.upstream_programs import fetch_sdist  # noqa: E402

LIBRARY = ROOT / "dist" / "libcuda"
NCCL_LIBRARY = ROOT / "dist" / "libnccl"
WORK = ROOT / "dist" / "compat"
#: The interpreter that has the packages of `clients.py`.
CLIENTS_PYTHON = WORK / "clients" / "bin" / "python"

# What is run without --all: each in seconds, all kinds of features. The whole takes about an hour.
NUMBA_MODULES = """
cudadrv.test_context_stack cudadrv.test_cuda_array_slicing cudadrv.test_cuda_devicerecord
cudadrv.test_cuda_driver cudadrv.test_cuda_memory cudadrv.test_cuda_ndarray
cudadrv.test_deallocations cudadrv.test_emm_plugins cudadrv.test_events cudadrv.test_host_alloc
cudadrv.test_init cudadrv.test_linker cudadrv.test_managed_alloc cudadrv.test_module_callbacks
cudadrv.test_pinned cudadrv.test_profiler cudadrv.test_select_device cudadrv.test_streams
cudapy.test_array_args cudapy.test_blackscholes cudapy.test_complex_kernel cudapy.test_constmem
cudapy.test_cooperative_groups cudapy.test_device_func cudapy.test_dispatcher cudapy.test_errors
cudapy.test_exception cudapy.test_forall cudapy.test_gufunc cudapy.test_intrinsics cudapy.test_ipc
cudapy.test_laplace cudapy.test_localmem cudapy.test_mandel cudapy.test_matmul
cudapy.test_montecarlo cudapy.test_multigpu cudapy.test_multithreads cudapy.test_print
cudapy.test_random cudapy.test_recursion cudapy.test_reduction cudapy.test_sm cudapy.test_sync
cudapy.test_transpose cudapy.test_userexc cudapy.test_vectorize cudapy.test_warp_ops
doc_examples.test_cg doc_examples.test_ffi doc_examples.test_matmul doc_examples.test_montecarlo
doc_examples.test_random doc_examples.test_reduction doc_examples.test_sessionize
doc_examples.test_ufunc doc_examples.test_vecadd nrt.test_nrt
""".split()

#: Tests of pytest are shared by two processes. One that a test ends, or that a test holds for two minutes, is replaced;
#: the test has failed, and the rest runs.
SHARED = [
    "-n",
    "2",
    "--dist",
    "worksteal",
    "--max-worker-restart",
    "50",
    "--timeout",
    "120",
    "--timeout-method",
    "thread",
]
#: What else the clients' tests are run with: the plugins named here, of all that clients have brought.
SAMPLED = ["-p", "xdist", "-p", "timeout", "-p", "asyncio", "-p", "sample_plugin"]
SAMPLED += ["-o", "asyncio_default_fixture_loop_scope=function"]

SASMODELS = (
    "sphere core_shell_sphere vesicle lamellar ellipsoid hardsphere squarewell gauss_lorentz_gel cylinder".split()
)

#: Where NVIDIA's examples of nccl4py are, which no package of an index has.
NCCL_CHECKOUT = "NVIDIA/nccl v2.30.7-1"

CUDARC_FEATURES = ["--no-default-features", "--features", "std,driver,nvrtc,dynamic-loading,cuda-13000,f16"]


def nvrtc_folder():
    """The folder of the NVRTC wheel beside this interpreter."""
    spec = importlib.util.find_spec("nvidia")
    folders = [pathlib.Path(p) / "cu13" / "lib" for p in spec.submodule_search_locations] if spec else []
    return next((str(f) for f in folders if f.is_dir()), "")


def environment(**more):
    """What the programs see: our libcuda, and settings of their own only."""
    env = {k: v for k, v in os.environ.items() if not k.startswith(("RTCG_", "NUMBA_", "CUDA_"))}
    env["LD_LIBRARY_PATH"] = str(LIBRARY)
    return env | more


class Results:
    """Outcomes by suite and test."""

    def __init__(self):
        self.tests = collections.defaultdict(dict)

    def add(self, suite, test, outcome, reason="", seconds=0.0):
        self.tests[suite][test] = {"outcome": outcome, "reason": reason, "seconds": round(seconds, 2)}


def run_program(results, suite, name, command, env, seconds, cwd=None):
    """A program that succeeds or fails as a whole."""
    begun = time.monotonic()
    try:
        ran = subprocess.run(
            command, env=env, cwd=cwd, timeout=seconds, capture_output=True, text=True, errors="replace"
        )
        lines = (ran.stdout + ran.stderr).strip().splitlines()
        outcome = "passed" if ran.returncode == 0 else "failed"
        reason = "" if outcome == "passed" else f"status {ran.returncode}: {lines[-1] if lines else ''}"[:400]
    except subprocess.TimeoutExpired:
        outcome, reason = "failed", f"no end after {seconds} s"
    results.add(suite, name, outcome, reason, time.monotonic() - begun)


def run_programs(results, suite, pattern, env=None):
    """Our own programs for a package."""
    for program in sorted((HERE / "programs").glob(pattern)):
        run_program(results, suite, program.stem, [sys.executable, str(program)], env or environment(), 300)


def numba_modules(everything):
    if not everything:
        return NUMBA_MODULES
    spec = importlib.util.find_spec("numba_cuda")
    tests = pathlib.Path(spec.submodule_search_locations[0]) / "numba" / "cuda" / "tests"
    folders = ["cudadrv", "cudapy", "doc_examples", "nrt", "core", "nocuda"]
    return [f"{folder}.{file.stem}" for folder in folders for file in sorted((tests / folder).glob("test_*.py"))]


def run_numba(results, everything):
    """numba-cuda's own tests, a process for each module, continued after a crash."""
    folder = WORK / "numba"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for module in numba_modules(everything):
        file = folder / f"{module}.json"
        command = [sys.executable, str(HERE / "unittest_worker.py"), f"numba.cuda.tests.{module}", str(file), "240"]
        begun = time.monotonic()
        with open(folder / f"{module}.log", "w") as log:
            for _attempt in range(20):
                ran = subprocess.run(command, env=environment(), cwd=folder, stdout=log, stderr=log)
                if ran.returncode == 0:
                    break
        outcomes = read_outcomes(file)
        for test, (outcome, reason, seconds) in outcomes.items():
            results.add("numba-cuda", test.removeprefix("numba.cuda.tests."), outcome, reason, seconds)
        counts = collections.Counter(outcome for outcome, _, _ in outcomes.values())
        print(f"  {module}: {dict(counts)}, {time.monotonic() - begun:.0f} s", flush=True)


def read_outcomes(file):
    outcomes = {}
    if file.exists():
        for line in file.read_text().splitlines():
            entry = json.loads(line)
            if entry["outcome"] == "begun":
                outcomes.setdefault(entry["test"], ("failed", "the process ended in it, or it took over 240 s", 0.0))
            else:
                outcomes[entry["test"]] = (entry["outcome"], entry["reason"], entry.get("seconds", 0.0))
    return outcomes


def cudarc_source():
    """A copy of the cudarc that cargo fetched for our program."""
    manifest = str(HERE / "cudarc" / "Cargo.toml")
    told = subprocess.run(
        ["cargo", "metadata", "--format-version", "1", "--manifest-path", manifest],
        capture_output=True,
        text=True,
        check=True,
    )
    package = next(p for p in json.loads(told.stdout)["packages"] if p["name"] == "cudarc")
    source = pathlib.Path(package["manifest_path"]).parent
    copy = WORK / f"cudarc-{package['version']}"
    if not copy.exists():
        shutil.copytree(source, copy)
        with open(copy / "Cargo.toml", "a") as file:
            file.write("\n[workspace]\n")
    return copy


def run_cudarc(results, everything):
    """Our program on cudarc, cudarc's own tests and examples."""
    target = {"CARGO_TARGET_DIR": str(WORK / "target")}
    env = environment(**target, RTCG_VIRTUAL_DEVICES="2", RUST_BACKTRACE="0")
    env["LD_LIBRARY_PATH"] += f":{nvrtc_folder()}"
    ours = ["cargo", "run", "--quiet", "--release", "--manifest-path", str(HERE / "cudarc" / "Cargo.toml")]
    run_program(results, "cudarc", "our program", ours, env, 600)
    source = cudarc_source()
    tests = ["cargo", "test", "--release", *CUDARC_FEATURES, "--lib", "--", "--test-threads", "1"]
    ran = subprocess.run(tests, env=env, cwd=source, timeout=900, capture_output=True, text=True)
    # What a test (or a kernel in it) prints stands between its name and its outcome.
    pattern = r"^test (\S+)(?: - should panic)? \.\.\. (?:(?!^test ).)*?(ok|FAILED|ignored)(?:, [^\n]*)?$"
    said = dict(re.findall(pattern, ran.stdout, re.M | re.S))
    for test, outcome in said.items():
        words = {"ok": "passed", "FAILED": "failed", "ignored": "skipped"}
        panic = re.search(rf"---- {re.escape(test)} stdout ----\s+thread [^\n]*\n([^\n]*)", ran.stdout)
        results.add("cudarc: tests", test, words[outcome], panic[1][:400] if panic and outcome == "FAILED" else "")
    if not said:
        results.add("cudarc: tests", "all", "failed", ran.stderr.strip()[-400:])
    for example in sorted((source / "examples").glob("*.rs")):
        if example.stem in ("08-cupti", "cufile-copy"):
            results.add("cudarc: examples", example.stem, "skipped", "needs another library of NVIDIA's")
            continue
        command = ["cargo", "run", "--quiet", "--release", *CUDARC_FEATURES, "--example", example.stem]
        run_program(results, "cudarc: examples", example.stem, command, env, 300, cwd=source)


def run_ctypes(results, everything):
    run_programs(results, "ctypes", "ctypes_*.py")


def run_bindings(results, everything):
    run_programs(results, "cuda-bindings", "bindings_*.py")


def run_core(results, everything):
    run_programs(results, "cuda-core", "core_*.py")


def nccl_environment(n_devices=4):
    """Devices of our libcuda, our libnccl over them, rtcg, and a `cupy` over its arrays."""
    env = environment(RTCG_VIRTUAL_DEVICES=str(n_devices), RTCG_WORKERS="1")
    env["LD_LIBRARY_PATH"] += f":{NCCL_LIBRARY}"
    return env | {"PYTHONPATH": os.pathsep.join([str(ROOT / "python"), str(HERE / "cupy_stand_in")])}


def run_nccl(results, everything, sources=None):
    """Our programs on nccl4py, and NVIDIA's examples of it, of which those for MPI have a process for each device."""
    run_programs(results, "nccl", "nccl_*.py", nccl_environment())
    source, suite = pathlib.Path(sources or "") / "nccl" / "docs" / "examples", "nccl: examples"
    if not sources or not source.is_dir():
        results.add(suite, "all", "skipped", f"needs a checkout of {NCCL_CHECKOUT} as nccl in --sources")
        return
    for example in sorted(source.glob("**/python/*.py")):
        command = [sys.executable, str(HERE / "programs" / "example_of_nccl4py.py"), str(example)]
        # One process has four gigabytes of arrays with two devices.
        n_devices = 2
        if "mpirun" in example.read_text():
            n_devices = 4
            command = [str(pathlib.Path(sys.executable).with_name("mpiexec")), "-n", str(n_devices), *command]
        run_program(results, suite, example.stem, command, nccl_environment(n_devices), 300, cwd=WORK)


def sdist_folder(package, version, removed):
    """A source distribution, unpacked, without those parts for which the installed package stands."""
    folder = WORK / f"{package}-{version}"
    if not folder.exists():
        with tarfile.open(fileobj=io.BytesIO(fetch_sdist(package, version))) as archive:
            archive.extractall(WORK, filter="data")
    for part in removed:
        shutil.rmtree(folder / part, ignore_errors=True)
    return folder


def run_stumpy(results, everything):
    """stumpy's own tests of kernels written with numba, on two devices."""
    tests = sdist_folder("stumpy", importlib.metadata.version("stumpy"), ["stumpy"]) / "tests"
    files = sorted(tests.glob("test_gpu_*.py"))
    if not files:
        results.add("stumpy", "all", "failed", f"{tests} has no test_gpu_*.py")
    env = environment(RTCG_VIRTUAL_DEVICES="2")
    run_pytest(results, "stumpy", sys.executable, files, SHARED, env, tests.parent, 1200)


def run_pytest(results, suite, python, files, arguments, env, cwd, seconds):
    """Files of tests, in a process of pytest."""
    report = WORK / f"{re.sub(r'[^a-z0-9]+', '-', suite.lower())}.xml"
    report.unlink(missing_ok=True)
    options = ["-q", "-p", "no:cacheprovider", f"--junitxml={report}"]
    command = [str(python), "-m", "pytest", *options, *map(str, files), *arguments]
    with open(report.with_suffix(".log"), "w") as log:
        try:
            ran = subprocess.run(command, env=env, cwd=cwd, timeout=seconds, stdout=log, stderr=log)
            said = f"status {ran.returncode}"
        except subprocess.TimeoutExpired:
            said = f"no end after {seconds} s"
    add_junit_report(results, suite, report, said)


def toolkit_folder():
    """The wheels' NVRTC and headers as a toolkit has them, for packages that look for one by CUDA_PATH."""
    wheels = next(CLIENTS_PYTHON.parents[1].glob("lib/python*/site-packages/nvidia/cu13"))
    folder = WORK / "cuda"
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "lib64").mkdir(parents=True)
    (folder / "include").symlink_to(wheels / "include")
    for library in (wheels / "lib").iterdir():
        (folder / "lib64" / library.name).symlink_to(library)
    (folder / "lib64" / "libnvrtc.so").symlink_to("libnvrtc.so.13")
    return folder


def copy_tests(client, source, package):
    """The tests in a folder of their own, so that they import the package that is installed."""
    if client.installed:
        command = [str(CLIENTS_PYTHON), "-m", "pip", "install", "--quiet", "--no-deps", str(source)]
        subprocess.run(command, check=True)
    folder = WORK / f"{package}-tests"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(source / client.copied, folder / pathlib.Path(client.copied).name)
    return folder


def client_environment(client):
    """What a client's tests see: our libcuda, or our `pycuda` with one virtual device."""
    folders = os.pathsep.join([str(HERE), str(HERE / client.stand_ins)])
    ours = {"PYTHONPATH": folders, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    if client.uses_libcuda:
        toolkit = toolkit_folder()
        env = environment(**ours, CUDA_PATH=str(toolkit), **client.env)
        env["LD_LIBRARY_PATH"] += f":{toolkit / 'lib64'}"
        return env
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("NUMBA_", "CUDA_"))}
    return kept | {"RTCG_VIRTUAL_DEVICES": "1"} | ours | client.env


def children_cpu_seconds():
    """CPU time of all processes that have ended under this one."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def run_client(suite):
    """A function that runs the tests of a package of `clients.py`."""
    client, package = CLIENTS[suite], suite.partition(":")[0]

    def run(results, everything, sources=None):
        if client.checkout:
            source = pathlib.Path(sources or "") / package
            if not sources or not source.is_dir():
                results.add(suite, "all", "skipped", f"needs a checkout of {client.checkout} as {package} in --sources")
                return
        else:
            source = sdist_folder(package, client.version, client.removed)
        if client.copied:
            source = copy_tests(client, source, package)
        files = test_files(client, source)
        if not files:
            results.add(suite, "all", "failed", f"{source / client.tests} has none of {' '.join(client.files)}")
        begun, cpu_begun = time.monotonic(), children_cpu_seconds()
        arguments = [*SHARED, *SAMPLED, f"--one-in={client.one_in}", *client.arguments]
        run_pytest(
            results, suite, CLIENTS_PYTHON, files, arguments, client_environment(client), source / client.cwd, 900
        )
        cpu = children_cpu_seconds() - cpu_begun
        print(f"  {len(files)} files, {time.monotonic() - begun:.0f} s, {cpu:.0f} s of CPU", flush=True)

    return run


def run_sasmodels(results, everything):
    """The tests of sasmodels' models on its engine for CUDA, over our `pycuda`."""
    env = environment(RTCG_VIRTUAL_DEVICES="1")
    for model in SASMODELS:
        command = [str(CLIENTS_PYTHON), str(HERE / "programs" / "sasmodels_tests.py"), model]
        run_program(results, "sasmodels", model, command, env, 120, cwd=WORK)


def add_junit_report(results, suite, report, said):
    """The outcomes of pytest's report; a failure of the suite where there are none."""
    cases = list(xml.etree.ElementTree.parse(report).iter("testcase")) if report.exists() else []
    if not cases:
        results.add(suite, "all", "failed", f"{said}: {report.with_suffix('.log')}")
    for case in cases:
        wrong = next((child for child in case if child.tag in ("failure", "error", "skipped")), None)
        outcome = {None: "passed", "skipped": "skipped"}.get(wrong if wrong is None else wrong.tag, "failed")
        reason = "" if wrong is None else (wrong.get("message") or "")[:400]
        name = f"{case.get('classname')}.{case.get('name')}"
        results.add(suite, name, outcome, reason, float(case.get("time", 0)))


SUITES = {
    "ctypes": run_ctypes,
    "cuda-bindings": run_bindings,
    "cuda-core": run_core,
    "nccl": run_nccl,
    "cudarc": run_cudarc,
    "numba-cuda": run_numba,
    "stumpy": run_stumpy,
    "sasmodels": run_sasmodels,
    **{suite: run_client(suite) for suite in CLIENTS},
}


def known_reason(known, suite, test):
    return next(
        (reason for pattern, reason in known.get(suite, {}).items() if fnmatch.fnmatchcase(test, pattern)), None
    )


def judge(results, known):
    """Prints the table and the failures; returns whether something was not expected."""
    unexpected = []
    reasons = collections.Counter()
    print(f"\n{'suite':<20} {'passed':>7} {'failed':>7} {'skipped':>8}   of the failed, known")
    for suite, tests in results.tests.items():
        counts = collections.Counter(t["outcome"] for t in tests.values())
        n_known = 0
        for test, told in tests.items():
            reason = known_reason(known, suite, test)
            if told["outcome"] == "failed" and reason:
                n_known += 1
                reasons[suite, reason] += 1
            elif told["outcome"] == "failed":
                unexpected.append(f"{suite}: {test}: {told['reason']}")
            elif told["outcome"] == "passed" and reason and not reason.startswith("may"):
                unexpected.append(f"{suite}: {test}: passes, but is listed as failing ({reason})")
        print(f"{suite:<20} {counts['passed']:>7} {counts['failed']:>7} {counts['skipped']:>8}   {n_known}")
    if reasons:
        print("\nknown failures")
    for (suite, reason), count in reasons.most_common():
        print(f"  {suite}: {count} x {reason}")
    if unexpected:
        print("\nnot expected")
    for line in unexpected:
        print(f"  {line}")
    return bool(unexpected)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--all", action="store_true", help="all tests of numba-cuda (about an hour)")
    parser.add_argument("--sources", help="a folder with the checkouts that clients.py names")
    parser.add_argument("suites", nargs="*", choices=[[], *SUITES])
    arguments = parser.parse_args()
    for library in (LIBRARY / "libcuda.so.1", NCCL_LIBRARY / "libnccl.so.2"):
        if not library.exists():
            sys.exit(f"{library.relative_to(ROOT)} is missing: run `make {library.parent.name}`")
    WORK.mkdir(parents=True, exist_ok=True)
    # Packages without settings of pytest would be run with ours.
    (WORK / "pytest.ini").write_text("[pytest]\n")
    results = Results()
    for suite in arguments.suites or SUITES:
        print(suite, flush=True)
        more = {"sources": arguments.sources} if suite in {*CLIENTS, "nccl"} else {}
        SUITES[suite](results, arguments.all, **more)
        (WORK / "results.json").write_text(json.dumps(results.tests, indent=1))
    known = json.loads((HERE / "known_failures.json").read_text())
    sys.exit(judge(results, known))


if __name__ == "__main__":
    main()
