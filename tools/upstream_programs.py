"""Upstream's example programs, which are not part of this project, run unchanged on the virtual GPU.

``tools/upstream_programs.py [--run [NAME ...]] [--table]``: fetches the source distribution of ``pycuda`` from pip's
package index, checked by its SHA-256, into ``dist/upstream/pycuda``. ``--run`` runs all its programs, or some, each
with a time limit, and notes the outcomes beside them; ``--table`` writes what is noted to
``docs/upstream-programs.md``. The exit status is 1 if a program that should run does not, or if one that should not
does, or fails with another error than the one that stands here.
"""

import argparse
import hashlib
import io
import json
import os
import subprocess
import sys
import tarfile
import urllib.parse
import urllib.request
from pathlib import Path
from typing import NamedTuple

VERSION = "2025.1.2"
ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "dist" / "upstream" / "pycuda"
OUTCOMES = ROOT / "dist" / "upstream" / "outcomes.json"
PAGE = ROOT / "docs" / "upstream-programs.md"
LIBCUDA = ROOT / "dist" / "libcuda"
#: The interpreter that has numba-cuda (`make compat`).
COMPAT_PYTHON = ROOT / "dist" / "compat" / "venv" / "bin" / "python"
LIMIT_S = 120


class Program(NamedTuple):
    """How a program is run, and what is expected where it is not that it runs."""

    arguments: tuple = ()
    stdin: str = ""
    limit_s: float = LIMIT_S
    #: It goes on until it is stopped: at the limit it has run without an error.
    is_endless: bool = False
    #: Its last words where it fails: a part of what it prints.
    error: str = ""
    #: Why it fails, or on which condition it runs; a line of the page.
    note: str = ""


NEEDS_DISPLAY = "opens an OpenGL window (PyOpenGL, GLUT); `examples/gl_picture.py` draws without a window"
NEEDS_OLD_PIL = "imports `Image`, a module name of PIL before Pillow"

PROGRAMS = {
    "2d_fft.py": Program(
        error="has no attribute 'imsave'",
        note="calls `scipy.misc.imsave`, which SciPy 1.2 removed, and is for Python 2",
    ),
    "arithmetic_example.py": Program(
        error="grid is (", note="divides integers as in Python 2, so the grid contains a float"
    ),
    "cai_cupy_arrays.py": Program(
        error="No module named 'cupy'", note="needs CuPy, whose CUDA runtime needs NVIDIA's driver"
    ),
    "cai_numba.py": Program(
        note="with numba-cuda, on [`libcuda.so.1`](libcuda.md); needs the packages that `make compat` installs"
    ),
    "convolution.py": Program(stdin="\n", note="waits for Enter at the end"),
    "demo_cdpSimplePrint.py": Program(
        error="dynamic parallelism", note="launches kernels from a kernel, which the virtual GPU does not support"
    ),
    "demo_meta_matrixmul_cheetah.py": Program(
        error="No module named 'Cheetah'",
        note="needs Cheetah and a template that is not in the distribution; rtcg's tests run it with a Jinja template",
    ),
    "fill_gpu_with_nans.py": Program(note="with `RTCG_VIRTUAL_MEMORY=1G`, because it fills the device's memory"),
    "game_of_life.py": Program(
        ("64", "3"),
        limit_s=30,
        is_endless=True,
        note="with the arguments `64 3`; runs until it is stopped; stopped here after 30 s",
    ),
    "gl_interop.py": Program(error="No module named 'OpenGL'", note=NEEDS_DISPLAY),
    "light_field_3d_viewer.py": Program(
        error="No module named 'Image'", note=f"{NEEDS_OLD_PIL}, and Enthought's GUI packages"
    ),
    "mandelbrot.py": Program(error="Image", note=f"{NEEDS_OLD_PIL}, and opens a Tk window"),
    "mandelbrot_interactive.py": Program(
        error="drawtype",
        note="calls Matplotlib's `RectangleSelector` with an argument that newer versions do not accept",
    ),
    "matrix_transpose.py": Program(limit_s=900, note="a benchmark of 190 sizes, which takes minutes"),
    "measure_gpuarray_speed_random.py": Program(limit_s=300, note="a benchmark"),
    "rotate.py": Program(error="No module named 'Image'", note=NEEDS_OLD_PIL),
    "simple_rgb2gray.py": Program(
        error="imread", note="calls `scipy.misc.imread`, which newer versions of SciPy do not have"
    ),
    "sobel_filter.py": Program(error="No module named 'Image'", note=f"{NEEDS_OLD_PIL}, and {NEEDS_DISPLAY}"),
    "sparse_solve.py": Program(
        ("heat.mtx",),
        note="with a matrix file written by `rtcg.sparse.mmwrite`: one step of the heat equation on 64 x 64 points",
    ),
    "thrust_interop.py": Program(
        error="No module named 'codepy'", note="needs codepy, nvcc, Boost.Python and a C++ compiler"
    ),
}


def index_url():
    """The package index that pip uses."""
    command = [sys.executable, "-m", "pip", "config", "get", "global.index-url"]
    found = subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
    return found or "https://pypi.org/simple"


def fetch_sdist(name, version):
    """The bytes of a source distribution."""
    page = f"{index_url().rstrip('/')}/{name}/"
    request = urllib.request.Request(page, headers={"Accept": "application/vnd.pypi.simple.v1+json"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        files = json.load(answer)["files"]
    wanted = f"{name}-{version}.tar.gz"
    file = next((file for file in files if file["filename"] == wanted), None)
    if file is None:
        sys.exit(f"{page} has no {wanted}")
    with urllib.request.urlopen(urllib.parse.urljoin(page, file["url"]), timeout=120) as answer:
        data = answer.read()
    digest = hashlib.sha256(data).hexdigest()
    if digest != file["hashes"]["sha256"]:
        sys.exit(f"{wanted} has the SHA-256 {digest}; the index says {file['hashes']['sha256']}")
    return data


def fetch_programs(folder):
    """Writes the programs of `examples/` and `examples/from-wiki/`, whose names differ, to one folder."""
    folder.mkdir(parents=True, exist_ok=True)
    count = 0
    with tarfile.open(fileobj=io.BytesIO(fetch_sdist("pycuda", VERSION))) as archive:
        for member in archive:
            path = Path(member.name)
            if member.isfile() and "examples" in path.parts and path.suffix in (".py", ".cu"):
                (folder / path.name).write_bytes(archive.extractfile(member).read())
                count += 1
    print(f"{count} programs in {folder}")


def environment():
    """What the programs see: one virtual GPU with 1 GB, our packages, and no window of Matplotlib's."""
    paths = [ROOT / "python", ROOT / "python" / "rtcg" / "compat" / "pycuda"]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths)), "MPLBACKEND": "Agg"}
    return env | {"RTCG_VIRTUAL_DEVICES": "1", "RTCG_LIBCUDA": "none", "RTCG_VIRTUAL_MEMORY": "1G"}


def write_heat_step(path, n=64):
    """The matrix of an implicit step of the heat equation on n x n points, which single precision can solve."""
    code = f"""
import numpy as np, scipy.sparse as sp, rtcg.autoinit, rtcg.sparse
line = sp.diags_array([-np.ones({n} - 1), 2 * np.ones({n}), -np.ones({n} - 1)], offsets=[-1, 0, 1])
laplacian = sp.kron(line, sp.eye_array({n})) + sp.kron(sp.eye_array({n}), line)
matrix = (sp.eye_array({n} * {n}) + laplacian).tocsr().astype(np.float32)
rtcg.sparse.mmwrite({str(path)!r}, rtcg.sparse.csr_matrix(matrix))
"""
    subprocess.run([sys.executable, "-c", code], check=True, env=environment())


def run_program(path, folder):
    """``(outcome, reason)`` of a program: "runs", "fails as expected", "fails", "skipped"."""
    program = PROGRAMS.get(path.name, Program())
    env, python = environment(), sys.executable
    if path.name == "cai_numba.py":
        if not COMPAT_PYTHON.exists() or not LIBCUDA.exists():
            return "skipped", "numba-cuda is not installed; make compat does that"
        # Both use one driver, which is the virtual GPU's.
        python, env["LD_LIBRARY_PATH"] = str(COMPAT_PYTHON), str(LIBCUDA)
        del env["RTCG_LIBCUDA"], env["RTCG_VIRTUAL_DEVICES"]
    if path.name == "sparse_solve.py":
        write_heat_step(folder / program.arguments[0])
    command = [python, "-m", "rtcg", "--as", "pycuda", str(path.resolve()), *program.arguments]
    try:
        done = subprocess.run(
            command, input=program.stdin, capture_output=True, text=True, errors="replace",
            timeout=program.limit_s, check=False, env=env, cwd=folder,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return ("runs", "") if program.is_endless else ("fails", f"no end after {program.limit_s} s")
    last = (done.stderr.strip().splitlines() or [""])[-1]
    if done.returncode == 0:
        return ("runs", "") if not program.error else ("fails", f"it runs, but should fail: {program.error}")
    if program.error and program.error in done.stderr[-4000:]:
        return "fails as expected", last
    return "fails", last


def table(outcomes):
    """The page's table."""
    words = {"runs": "yes", "fails as expected": "no", "fails": "no", "skipped": "not tried"}
    lines = ["| program | runs | |", "|---|---|---|"]
    for name, (outcome, reason) in sorted(outcomes.items()):
        note = PROGRAMS.get(name, Program()).note if outcome in ("runs", "fails as expected") else reason
        lines.append(f"| `{name}` | {words[outcome]} | {note} |")
    return "\n".join(lines)


def write_page(outcomes):
    """Puts the table in place of the one that the page has."""
    before, _, rest = PAGE.read_text().partition("| program |")
    after = rest.partition("\n\n")[2]
    PAGE.write_text(before + table(outcomes) + "\n" + (f"\n{after}" if after else ""))


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--run", nargs="*", metavar="NAME", help="run these programs, or all")
    parser.add_argument("--table", action="store_true", help="write the page's table")
    arguments = parser.parse_args()
    fetch_programs(FOLDER)
    programs = sorted(path.name for path in FOLDER.glob("*.py"))
    outcomes = json.loads(OUTCOMES.read_text()) if OUTCOMES.exists() else {}
    chosen = programs if arguments.run == [] else arguments.run or []
    for name in chosen:
        outcomes[name] = run_program(FOLDER / name, FOLDER)
        print(f"{name}: {': '.join(filter(None, outcomes[name]))}", flush=True)
        OUTCOMES.write_text(json.dumps(outcomes, indent=1))
    if arguments.table:
        if missing := set(programs) - set(outcomes):
            sys.exit(f"not run yet: {', '.join(sorted(missing))}")
        write_page({name: outcomes[name] for name in programs})
    sys.exit(any(outcomes[name][0] == "fails" for name in chosen))


if __name__ == "__main__":
    main()
