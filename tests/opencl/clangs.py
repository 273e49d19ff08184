"""The platform's own tests with each clang that docs/opencl.md lists: ``python -m tests.opencl.clangs [VERSION ...]``.

The wheels of ziglang go to ``dist/opencl-judges``; clangs of the system (``clang-14``, ...) are taken where they are.
The exit status is 1 if a test fails with one of them.
"""

import os
import subprocess
import sys
from pathlib import Path
from shutil import which

from tests.opencl.environments import ROOT, WORK

#: LLVM's version by that of the wheel. 21 is left out: it crashes on some programs with vectors of 16-bit numbers.
WHEELS = {"0.12.1": 17, "0.13.0.post1": 18, "0.15.2": 20, "0.17.1": 22}
#: Those of the system, if they are there.
OF_THE_SYSTEM = ("clang-14", "clang-15", "clang-16", "clang-19")


def wheel(version):
    """The program of a wheel, fetched once."""
    folder = WORK / f"ziglang-{version}"
    program = folder / "ziglang" / "zig"
    if not program.exists():
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]
        subprocess.run([*pip, "--target", str(folder), f"ziglang=={version}"], check=True)
    return program


def main():
    chosen = sys.argv[1:] or [*WHEELS, *OF_THE_SYSTEM]
    failed = []
    for name in chosen:
        found = wheel(name) if name in WHEELS else which(name)
        if found is None:
            print(f"{name}: not there")
            continue
        env = {**os.environ, "RTCG_CLANG": str(Path(found)), "RTCG_VIRTUAL_DEVICES": "1"}
        for package, tests in (("rtcg-compile", ["every_clang"]), ("rtcg-opencl-platform", [])):
            call = ["cargo", "test", "--release", "--quiet", "--no-fail-fast", "-p", package, *tests]
            run = subprocess.run(call, cwd=ROOT, env=env)
            print(f"{name}: {package}: {'passes' if run.returncode == 0 else 'FAILS'}", flush=True)
            failed += [name] * (run.returncode != 0)
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
