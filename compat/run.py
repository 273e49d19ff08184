"""Runs programs that know only NVIDIA's driver on rtcg's ``libcuda.so.1`` and prints a table.

``python compat/run.py [--all] [SUITE ...]``, by the interpreter that has ``requirements.txt``
installed; ``make compat`` does both. Results go to ``dist/compat/results.json``. A failure that
``known_failures.json`` does not list makes the exit status 1, and so does a test that it lists and
that passes (unless its reason begins with "may").
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
import shutil
import subprocess
import sys
import tarfile
import time
import xml.etree.ElementTree

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
sys.path.insert(0, str(ROOT))
from tools.upstream_programs import fetch_sdist  # noqa: E402

LIBRARY = ROOT / "dist" / "libcuda"
WORK = ROOT / "dist" / "compat"

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


def run_programs(results, suite, pattern):
    """Our own programs for a package."""
    for program in sorted((HERE / "programs").glob(pattern)):
        run_program(results, suite, program.stem, [sys.executable, str(program)], environment(), 300)


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


def stumpy_tests():
    """The folder of the tests in stumpy's source distribution, of the version that is installed."""
    version = importlib.metadata.version("stumpy")
    folder = WORK / f"stumpy-{version}"
    if not folder.exists():
        with tarfile.open(fileobj=io.BytesIO(fetch_sdist("stumpy", version))) as archive:
            archive.extractall(WORK, filter="data")
    # Its package stays out of the way of the installed one.
    shutil.rmtree(folder / "stumpy", ignore_errors=True)
    return folder / "tests"


def run_stumpy(results, everything):
    """stumpy's own tests of kernels written with numba, on two devices: a process for each file."""
    tests = stumpy_tests()
    files = sorted(tests.glob("test_gpu_*.py"))
    if not files:
        results.add("stumpy", "all", "failed", f"{tests} has no test_gpu_*.py")
    for file in files:
        report = WORK / f"stumpy-{file.stem}.xml"
        report.unlink(missing_ok=True)
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={report}", str(file)]
        env = environment(RTCG_VIRTUAL_DEVICES="2")
        try:
            ran = subprocess.run(command, env=env, cwd=tests.parent, timeout=600, capture_output=True, text=True)
            said = ran.stdout.strip()[-400:]
        except subprocess.TimeoutExpired:
            said = "no end after 600 s"
        add_junit_report(results, "stumpy", file.stem, report, said)


def add_junit_report(results, suite, file, report, said):
    """The outcomes of pytest's report; a failure of the file where there are none."""
    cases = list(xml.etree.ElementTree.parse(report).iter("testcase")) if report.exists() else []
    if not cases:
        results.add(suite, file, "failed", said)
    for case in cases:
        wrong = next((child for child in case if child.tag in ("failure", "error", "skipped")), None)
        outcome = {None: "passed", "skipped": "skipped"}.get(wrong if wrong is None else wrong.tag, "failed")
        reason = "" if wrong is None else (wrong.get("message") or "")[:400]
        results.add(suite, f"{file}.{case.get('name')}", outcome, reason, float(case.get("time", 0)))


SUITES = {
    "ctypes": run_ctypes,
    "cuda-bindings": run_bindings,
    "cuda-core": run_core,
    "cudarc": run_cudarc,
    "numba-cuda": run_numba,
    "stumpy": run_stumpy,
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
    parser.add_argument("suites", nargs="*", choices=[[], *SUITES])
    arguments = parser.parse_args()
    if not (LIBRARY / "libcuda.so.1").exists():
        sys.exit("dist/libcuda/libcuda.so.1 is missing: run `make libcuda`")
    WORK.mkdir(parents=True, exist_ok=True)
    results = Results()
    for suite in arguments.suites or SUITES:
        print(suite, flush=True)
        SUITES[suite](results, arguments.all)
    (WORK / "results.json").write_text(json.dumps(results.tests, indent=1))
    known = json.loads((HERE / "known_failures.json").read_text())
    sys.exit(judge(results, known))


if __name__ == "__main__":
    main()
