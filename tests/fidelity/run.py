"""Asks a device all questions: `python run.py OUTPUT [q05 ...]`, from the project's root.

Takes `libcuda.so.1` of the machine, else the virtual GPU's (`make libcuda`), or the library in `GPUEXAM_LIBCUDA`. Each
question is a process of its own. A line of OUTPUT is `question|key|value`. `python run.py --pack [ARCHIVE]` puts PTX
that was compiled for new questions into `ptx.zip` (or `ptx_*.zip`), so that both devices are given the same text.
"""

from __future__ import annotations

import glob
import os
import signal
import subprocess
import sys
import time
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))

#: A process that keeps a context, so that the driver stays initialised between the others.
KEEPER = """
from common import *
init()
name, version = ctypes.create_string_buffer(100), c_int()
lib.cuDeviceGetName(name, 100, 0)
lib.cuDriverGetVersion(byref(version))
capability = f"{attribute(75)}.{attribute(76)}"
print(f"q00|device|{name.value.decode()} cc {capability} driver {version.value} virtual {VIRTUAL}", flush=True)
sys.stdin.read()
"""


def ask(path: str, timeout_s: float) -> tuple[str, str | None]:
    """What a question prints, and what went wrong."""
    process = subprocess.Popen(
        [sys.executable, path],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=HERE,
        start_new_session=True,
    )
    try:
        output, errors = process.communicate(timeout=timeout_s)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        return process.communicate()[0].decode(errors="replace"), "timeout"
    failed = f"exit {process.returncode}: " + " ".join(errors.decode(errors="replace").split())[-300:]
    return output.decode(errors="replace"), failed if process.returncode else None


def pack(name: str) -> None:
    """Moves the files of the folder `ptx` into an archive of this folder."""
    with zipfile.ZipFile(os.path.join(HERE, name), "a", zipfile.ZIP_LZMA) as archive:
        for path in sorted(glob.glob(os.path.join(HERE, "ptx", "*.ptx"))):
            if os.path.basename(path) not in archive.namelist():
                archive.write(path, os.path.basename(path))
            os.unlink(path)


def main() -> None:
    """Asks the questions that are named, or all."""
    output_path, names = sys.argv[1], sys.argv[2:]
    os.environ.setdefault("GPUEXAM_ROOT", os.getcwd())
    paths = sorted(glob.glob(os.path.join(HERE, "q[0-9][0-9]*.py")))
    keeper = subprocess.Popen([sys.executable, "-c", KEEPER], cwd=HERE, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert keeper.stdin is not None and keeper.stdout is not None
    with open(output_path, "w") as output:
        output.write(keeper.stdout.readline().decode())
        for path in paths:
            question = os.path.basename(path).removesuffix(".py")
            if names and question not in names:
                continue
            start = time.monotonic()
            text, failure = ask(path, float(os.environ.get("GPUEXAM_TIMEOUT", "40")))
            for line in text.splitlines():
                output.write(line + "\n" if line.startswith(question + "|") else f"{question}|note|{line}\n")
            if failure:
                output.write(f"{question}|error|{failure}\n")
            output.flush()
            took = f"{time.monotonic() - start:.1f} s {failure or ''}"
            print(f"{question}: {len(text.splitlines())} lines, {took}", file=sys.stderr, flush=True)
    keeper.stdin.close()
    keeper.wait(20)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--pack"]:
        pack(*(sys.argv[2:] or ["ptx.zip"]))
    else:
        main()
