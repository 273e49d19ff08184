"""The original PyOpenCL on our platform, on PoCL and on Intel's, each in a process of its own, in one run.

``make opencl-bench``. A process for each platform measures one row when it is told to, and the platforms take turns,
so that a change of the machine's pace meets them alike; the figure is the best or the median of the rounds. A peer that
is missing or fails in a row is shown with its reason. ``--table`` writes the figures to ``docs/opencl.md``.
"""

import argparse
import json
import os
import platform as host
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
from tests.opencl.environments import environment, venv  # noqa: E402

PLATFORMS = ("rtcg", "pocl", "intel")
PAGE = ROOT / "docs" / "opencl.md"
ROUNDS = 7


class Row:
    """A line of the table: its title, unit, and whether less is better."""

    def __init__(self, key, title, unit, less_is_better):
        self.key, self.title, self.unit, self.less_is_better = key, title, unit, less_is_better

    def summary(self, figures):
        """The median of times of calls, the best rate."""
        return statistics.median(figures) if self.less_is_better else max(figures)


ROWS = [
    Row("enqueue", "enqueue, arguments set, host", "us", True),
    Row("typed_call", "kernel call with types, host", "us", True),
    Row("launch_and_wait", "launch and wait", "us", True),
    Row("array_sum_host", "`a + b`, 1024 float32, host", "us", True),
    Row("reduction_small", "`sum(a).get()`, 1024 float32", "us", True),
    Row("saxpy", "`ElementwiseKernel` saxpy, 16 Mi float32", "Gel/s", False),
    Row("sum", "`sum`, 16 Mi float32", "Gel/s", False),
    Row("dot", "`dot`, 16 Mi float32", "Gel/s", False),
    Row("scan", "inclusive scan, 16 Mi int32", "Gel/s", False),
    Row("uniform", "Philox uniform, 16 Mi float32", "Gnum/s", False),
    Row("normal", "Philox normal, 16 Mi float32", "Gnum/s", False),
    Row("build_fresh", "program build, fresh, new process", "ms", True),
    Row("build_cached", "program build, from the cache, new process", "ms", True),
]

#: One build in a process of its own, without PyOpenCL's cache: the platform's compiler and its own cache.
BUILD = """
import time, sys, pyopencl as cl
context = cl.create_some_context(interactive=False)
source = "kernel void saxpy(global float *z, global const float *x, float a) { int i = get_global_id(0); z[i] += a * x[i] + %s; }"
begin = time.perf_counter()
cl.Program(context, source % sys.argv[1]).build()
print((time.perf_counter() - begin) * 1e3)
"""


class Child:
    """A process that measures rows on one platform, or the reason why there is none."""

    def __init__(self, name, python, cache):
        self.name, self.python, self.cache = name, python, cache
        self.process = None
        try:
            self.env = environment(name, python, cache) | {"PYOPENCL_NO_CACHE": "1", "PYTHONWARNINGS": "ignore"}
            command = [str(python), str(Path(__file__).with_name("opencl_rows.py"))]
            self.process = subprocess.Popen(
                command, env=self.env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            )
            self.version = json.loads(self.process.stdout.readline() or '"it does not start"')
        except (OSError, ValueError) as error:
            self.version = str(error)

    def ask(self, key):
        """A figure, or the reason why there is none."""
        if key.startswith("build_"):
            return self.build(key)
        if self.process is None or self.process.poll() is not None:
            return self.version if self.process is None else "the process has ended"
        self.process.stdin.write(key + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        return json.loads(line) if line else "the process has ended"

    def build(self, key):
        """Milliseconds of a build in a new process: of a source never seen, or of that of the call before."""
        self.builds = getattr(self, "builds", 0) + (key == "build_fresh")
        number = f"{self.builds}.{os.getpid()}f"
        if key == "build_cached":
            self.run_build(number)
        return self.run_build(number)

    def run_build(self, number):
        if self.process is None:
            return self.version
        done = subprocess.run(
            [str(self.python), "-c", BUILD, number], env=self.env, capture_output=True, text=True, check=False
        )
        return float(done.stdout.split()[-1]) if done.returncode == 0 else (done.stderr.strip() or "failed")[-100:]

    def close(self):
        if self.process is not None:
            self.process.stdin.close()
            self.process.wait(timeout=60)


def cell(figure):
    """Three digits, or a dash for a reason."""
    return f"{figure:.3g}" if isinstance(figure, float) else "-"


def table(figures):
    """The table, a line for each row, and ours over the faster peer."""
    lines = ["| measure | unit | rtcg | PoCL | Intel |", "|---|---|---|---|---|"]
    for row in ROWS:
        if row.key in figures:
            cells = [cell(figures[row.key].get(name)) for name in PLATFORMS]
            lines.append(f"| {row.title} | {row.unit} | {' | '.join(cells)} |")
    return "\n".join(lines)


def machine():
    """The processor and its cores."""
    model = re.search(r"^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text(), re.M)
    return f"{model[1] if model else host.machine()}, {len(os.sched_getaffinity(0))} cores"


def measure(children, rows, rounds):
    """Figures by row and platform; the platforms take turns."""
    figures, reasons = {}, []
    for row in rows:
        # Compiles, and says what fails.
        first = {child.name: child.ask(row.key) for child in children}
        reasons += [f"{name}, {row.title}: {got}" for name, got in first.items() if not isinstance(got, float)]
        able = [child for child in children if isinstance(first[child.name], float)]
        got = {child.name: [] for child in able}
        for _ in range(rounds):
            for child in able:
                got[child.name].append(child.ask(row.key))
        figures[row.key] = {name: row.summary(numbers) for name, numbers in got.items()}
        print(
            f"{row.title:<46} {row.unit:<7}" + "".join(f"{cell(figures[row.key].get(n)):>10}" for n in PLATFORMS),
            flush=True,
        )
    return figures, reasons


def write_page(figures, versions):
    """Puts the table and the line above it in place of those that the page has."""
    text = PAGE.read_text()
    head, _, rest = text.partition("<!-- benches/opencl.py -->\n")
    tail = rest.partition("<!-- end -->")[2]
    PAGE.write_text(f"{head}<!-- benches/opencl.py -->\n{versions}\n\n{table(figures)}\n<!-- end -->{tail}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--table", action="store_true", help="write the figures to docs/opencl.md")
    parser.add_argument("rows", nargs="*", help=f"some of {' '.join(row.key for row in ROWS)}")
    arguments = parser.parse_args()
    python = venv("suite", "requirements.txt")
    with tempfile.TemporaryDirectory(prefix="rtcg-opencl-bench-") as folder:
        children = [Child(name, python, Path(folder) / name) for name in PLATFORMS]
        versions = "; ".join([machine(), *(f"{child.name}: {child.version}" for child in children)])
        print(versions)
        print(f"{'':<54}" + "".join(f"{name:>10}" for name in PLATFORMS))
        rows = [row for row in ROWS if not arguments.rows or row.key in arguments.rows]
        figures, reasons = measure(children, rows, arguments.rounds)
        for child in children:
            child.close()
    print("\n".join(reasons))
    if arguments.table:
        write_page(figures, versions)


if __name__ == "__main__":
    main()
