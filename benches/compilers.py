"""NVRTC beside clang: how long they compile, in one run, each in turn.

``python benches/compilers.py [--rounds N]`` compiles a kernel of one line, one with ``sinf``, and the kernels of the
corpus (`tests/kernels/corpus`) for the virtual GPU, without the cache. The time is that of a call of
`rtcg.compiler.compile`, the best of the rounds. A kernel that one of them does not compile is counted and left out.
"""

import argparse
import itertools
import os
import statistics
import sys
import time
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
os.environ.setdefault("RTCG_VIRTUAL_DEVICES", "1")

from rtcg import driver  # noqa: E402
from rtcg.compiler import compile  # noqa: E402
from tests.kernels.catalogue import all_cases  # noqa: E402

COMPILERS = ("nvrtc", "clang")
LINES = {
    "one line": "__global__ void k(float *a) { a[threadIdx.x] = 2 * a[threadIdx.x] + 1; }",
    "one line with sinf": "__global__ void k(float *a) { a[threadIdx.x] = sinf(a[threadIdx.x]); }",
}


SERIAL = itertools.count()


def compile_ms(compiler, source, options=(), no_extern_c=False):
    """The time of one compilation of a text that was not compiled before, or None."""
    os.environ["RTCG_COMPILER"] = compiler
    begun = time.perf_counter()
    try:
        text = f"{source}\n// {next(SERIAL)}\n"
        compile(text, options=list(options), no_extern_c=no_extern_c, arch="sm_80", target="ptx", cache_dir=False)
    except driver.CompileError:
        return None
    return 1e3 * (time.perf_counter() - begun)


def best_of(rounds, *arguments):
    """The best time of each compiler; the first round warms up."""
    times = {compiler: [] for compiler in COMPILERS}
    for _ in range(rounds):
        for compiler in COMPILERS:
            times[compiler].append(compile_ms(compiler, *arguments))
    return {compiler: None if None in found else min(found) for compiler, found in times.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    rounds = parser.parse_args().rounds
    warnings.simplefilter("ignore")
    for name, source in LINES.items():
        times = best_of(10 * rounds, source)
        print(f"{name:24} " + "  ".join(f"{compiler} {times[compiler]:7.1f} ms" for compiler in COMPILERS), flush=True)
    programs = [case for case in all_cases() if case.feature.startswith("corpus.")]
    rows = {case.name: best_of(rounds, case.source, case.options, case.no_extern_c) for case in programs}
    both = {name: times for name, times in rows.items() if None not in times.values()}
    for compiler in COMPILERS:
        found = sorted(times[compiler] for times in both.values())
        median, late = statistics.median(found), found[int(0.9 * len(found))]
        refused = sum(times[compiler] is None for times in rows.values())
        print(f"corpus, {compiler:16} median {median:.0f} ms, 90 % below {late:.0f} ms; {refused} refused")
    ratios = sorted((times["clang"] / times["nvrtc"], name) for name, times in both.items())
    print("clang's time over NVRTC's: least " + ", ".join(f"{name} {ratio:.2f}" for ratio, name in ratios[:3]))
    print("  most " + ", ".join(f"{name} {ratio:.2f}" for ratio, name in ratios[-5:]))


if __name__ == "__main__":
    main()
