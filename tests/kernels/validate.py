"""Run the kernels and print what fails: ``python -m tests.kernels.validate --backend raw [NAME ...]``.

``--backend raw`` goes to libcuda and NVRTC by ctypes and so checks the oracles
on a GPU without this project's code; ``cupy`` is accepted as another name of
it. ``--compile-only TARGET`` (``compute_80``, ``sm_90``) needs no device. A
name is a case or a feature.
"""

from __future__ import annotations

import argparse
import json
import sys
import time

from tests.kernels.catalogue import select
from tests.kernels.expected_failures import REAL, VIRTUAL
from tests.kernels.runner import BackendError, connect, run_case, run_here


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--backend", choices=["pycuda", "raw", "cupy"], default="pycuda")
    parser.add_argument("--compile-only", metavar="TARGET")
    parser.add_argument("--json", action="store_true", help="run in this process, print one JSON object")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("names", nargs="*")
    return parser.parse_args()


def _compile_only(target: str, names: list[str]) -> int:
    from tests.kernels.backend_raw import Nvrtc, translation_unit

    nvrtc, failures = Nvrtc(), 0
    want = "CUBIN" if target.startswith("sm_") else "PTX"
    cases = select(names)
    for case in cases:
        try:
            nvrtc.compile(translation_unit(case), [*case.options, f"--gpu-architecture={target}"], want=want)
        except BackendError as error:
            if case.error and "compile" in case.error.phase:
                continue
            failures += 1
            print(f"FAIL {case.feature}/{case.name}\n{error}")
    print(f"{len(cases) - failures} of {len(cases)} compile for {target}")
    return failures


def _run_all(backend_name: str, names: list[str], verbose: bool) -> int:
    backend = connect(backend_name)
    expected = VIRTUAL if backend.is_virtual() else REAL
    print(f"device: {backend.device_name()} (backend {backend.name})", flush=True)
    cases, bad, began = select(names), 0, time.perf_counter()
    for case in cases:
        start = time.perf_counter()
        complaints = run_case(backend, case)
        if verbose:
            print(f"{case.feature}/{case.name} {1e3 * (time.perf_counter() - start):.0f} ms", flush=True)
        if complaints and case.name in expected:
            print(f"xfail {case.feature}/{case.name}: {expected[case.name]}")
        elif complaints or case.name in expected:
            bad += 1
            for line in complaints or ["passes, but is listed in expected_failures"]:
                print(f"FAIL {case.feature}/{case.name}: {line}", flush=True)
    print(f"{len(cases) - bad} of {len(cases)} as expected in {time.perf_counter() - began:.1f} s")
    return bad


def main() -> int:
    """Run what the command line asks for."""
    options = _parse()
    backend = "raw" if options.backend == "cupy" else options.backend
    if options.list:
        for case in select(options.names):
            print(f"{case.feature}/{case.name}")
        return 0
    if options.compile_only:
        return min(_compile_only(options.compile_only, options.names), 1)
    if options.json:
        connected = connect(backend)
        print(json.dumps({c.name: run_here(connected, c) for c in select(options.names)}), flush=True)
        return 0
    return min(_run_all(backend, options.names, options.verbose), 1)


if __name__ == "__main__":
    sys.exit(main())
