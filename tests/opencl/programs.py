"""Programs of PyOpenCL's examples, unchanged, on our platform: ``python -m tests.opencl.programs [NAME ...]``.

They come with upstream's source distribution; nothing of them is a part of this project. ``--table`` writes what is
noted to ``docs/opencl-programs.md``. The exit status is 1 if a program that should run does not, or one that should not
does, or fails with another error than the one that stands here.
"""

import argparse
import json
import subprocess
import sys
from typing import NamedTuple

from tests.opencl.environments import PYOPENCL, ROOT, WORK, environment, source, venv

OUTCOMES = WORK / "programs.json"
PAGE = ROOT / "docs" / "opencl-programs.md"


class Program(NamedTuple):
    """How a program is run, and what is expected where it is not that it runs."""

    arguments: tuple = ()
    limit_s: float = 300
    #: A part of what it prints where it fails.
    error: str = ""
    #: What it does, or why it fails: the page's line.
    note: str = ""


PROGRAMS = {
    "black-hole-accretion.py": Program(("-g", "OpenCL", "-s", "64", "-n"), note="with `-s 64 -n`: a small picture"),
    "transpose.py": Program(limit_s=1800),
    "dump-performance.py": Program(note="its figures are those of the virtual GPU"),
    "demo_meta_codepy.py": Program(note="with codepy and cgen"),
    "median-filter.py": Program(
        error="Invalid mode for data type",
        note="computes, then asks Pillow to save real numbers as RGB, which it refuses",
    ),
    "gl_interop_demo.py": Program(error="No module named 'OpenGL'", note="opens a window of OpenGL"),
    "gl_particle_animation.py": Program(error="No module named 'OpenGL'", note="opens a window of OpenGL"),
}


def run_program(path):
    """``(outcome, reason)``: "runs", "fails as expected", "fails"."""
    program = PROGRAMS.get(path.name, Program())
    python = venv("suite", "requirements.txt")
    env = environment("rtcg", python, WORK / "cache-programs")
    try:
        done = subprocess.run(
            [str(python), path.name, *program.arguments], cwd=path.parent, env=env, timeout=program.limit_s,
            stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return "fails", f"no end after {program.limit_s} s"
    last = (done.stderr.strip().splitlines() or [""])[-1]
    if done.returncode == 0:
        return ("runs", "") if not program.error else ("fails", f"it runs, but should fail: {program.error}")
    is_expected = program.error and program.error in done.stderr + done.stdout
    return "fails as expected" if is_expected else "fails", last


def table(outcomes):
    """The page's table."""
    lines = ["| program | runs | |", "|---|---|---|"]
    for name, (outcome, reason) in sorted(outcomes.items()):
        note = PROGRAMS.get(name, Program()).note or (reason if outcome == "fails" else "")
        lines.append(f"| `{name}` | {'yes' if outcome == 'runs' else 'no'} | {note} |")
    return "\n".join(lines)


def write_page(outcomes):
    """Puts the table in place of the one that the page has."""
    before, _, rest = PAGE.read_text().partition("| program |")
    after = rest.partition("\n\n")[2]
    PAGE.write_text(before + table(outcomes) + "\n" + (f"\n{after}" if after else ""))


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--table", action="store_true", help="write the page's table")
    parser.add_argument("names", nargs="*", metavar="NAME", help="some of the programs")
    arguments = parser.parse_args()
    paths = sorted((source("pyopencl", PYOPENCL) / "examples").glob("*.py"))
    outcomes = json.loads(OUTCOMES.read_text()) if OUTCOMES.exists() else {}
    chosen = [path for path in paths if not arguments.names or path.name in arguments.names]
    for path in chosen:
        outcomes[path.name] = run_program(path)
        print(f"{path.name}: {', '.join(filter(None, outcomes[path.name]))}", flush=True)
        OUTCOMES.write_text(json.dumps(outcomes, indent=1))
    if arguments.table:
        write_page(outcomes)
    sys.exit(any(outcomes[path.name][0] == "fails" for path in chosen))


if __name__ == "__main__":
    main()
