"""Launches of our OpenCL kernels that were recorded on PoCL, on the OpenCL platform (`tests/opencl`)."""

import importlib.util
import os
import subprocess
import sys

import pytest

from tests.opencl import replay
from tests.python.subprocesses import ROOT

RECORDED = ROOT / "tests/opencl/recorded.xz"
LIBRARY = ROOT / "target/release/librtcg_libopencl.so"


def run_replay(*arguments):
    if not LIBRARY.exists():
        pytest.skip("cargo build --release -p rtcg-libopencl makes the library")
    command = [sys.executable, "-m", "tests.opencl.replay", "--library", str(LIBRARY), *map(str, arguments)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, env=dict(os.environ))


def test_recorded_launches_give_the_same_results():
    done = run_replay(RECORDED)
    assert done.returncode == 0, done.stdout + done.stderr
    counts = dict(reversed(part.split(" ", 1)) for part in done.stdout.strip().split(", "))
    assert set(counts) == {"equal", "within"} and sum(map(int, counts.values())) == len(replay.load(RECORDED))


def test_another_result_is_noticed(tmp_path):
    """A launch whose recorded bytes are changed."""
    launch = next(launch for launch in replay.load(RECORDED) if launch.kernel == b"transpose")
    changed = launch.after[1][:3] + bytes([launch.after[1][3] ^ 0x40]) + launch.after[1][4:]
    file = tmp_path / "changed.launch"
    fields = [("source", launch.source), ("options", b""), ("kernel", launch.kernel)]
    fields += [(name, b"".join(size.to_bytes(8, "little") for size in sizes)) for name, sizes in
               (("offset", launch.offset), ("global", launch.global_), ("local", launch.local))]  # fmt: skip
    for kind, value in launch.arguments:
        fields.append((kind, value.to_bytes(8, "little") if isinstance(value, int) else value))
    fields += [("before", data) for data in launch.before] + [("after", launch.after[0]), ("after", changed)]
    fields.append(("code", bytes(4)))
    file.write_bytes(b"".join(f"{name} {len(value)}\n".encode() + value for name, value in fields))
    done = run_replay(file)
    assert done.returncode == 1 and "transpose: differs: buffer 1 (float*)" in done.stdout, done.stdout + done.stderr


def test_differences_are_those_of_the_kinds_of_numbers():
    import numpy as np

    a = np.array([1, np.nan, -8], "f4")
    b = a + np.array([0, 0, 4e-6], "f4")
    assert replay.difference(a.tobytes(), a.tobytes(), "int*") == 0
    assert 0 < replay.difference(b.tobytes(), a.tobytes(), "float*") < 1e-6
    assert replay.difference(b.tobytes(), a.tobytes(), "uint*") == float("inf")
    assert replay.difference(np.float32([1, 2, 3]).tobytes(), a.tobytes(), "float4*") == float("inf")


def test_the_example_finds_its_result_right(tmp_path):
    """With the original PyOpenCL, of this interpreter or of `make opencl-suite`, and without it."""
    without = subprocess.run(
        [sys.executable, "-c", "import sys, runpy; sys.modules['pyopencl'] = None; runpy.run_path(sys.argv[1])",
         str(ROOT / "examples/opencl_blur.py")], capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip
    assert "pip install pyopencl" in without.stdout
    suite = ROOT / "dist/opencl-judges/suite/bin/python"
    python = sys.executable if importlib.util.find_spec("pyopencl") else suite
    if not LIBRARY.exists() or not os.path.exists(python):
        pytest.skip("PyOpenCL is not installed, or the library is not built (make opencl-suite does both)")
    (tmp_path / "rtcg.icd").write_text(f"{LIBRARY}\n")
    env = {**os.environ, "OCL_ICD_VENDORS": f"{tmp_path}/"}
    command = [str(python), str(ROOT / "examples/opencl_blur.py")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=env)
    assert done.returncode == 0 and "equal to NumPy" in done.stdout, done.stdout + done.stderr


def test_a_kernel_that_magnifies_rounding_may_differ_by_its_noise():
    import numpy as np

    class Device:
        """Gives 1.0002, and without contraction 1."""

        def launch(self, launch):
            number = 1 if launch.source.startswith(replay.UNCONTRACTED) else 1.0002
            return [np.float32([number]).tobytes()], ["number_t*"]

    def outcome(expected):
        after = [np.float32([expected]).tobytes()]
        return replay.replay(
            Device(), replay.Launch(b"typedef float number_t;", b"", b"k", [], [1], [1], [], [], after)
        )

    assert outcome(1.0002)[0] == "equal"
    assert outcome(1.0005) == ("within its noise", "float*: 0.0003")
    assert outcome(1.01)[0] == outcome(np.inf)[0] == "differs"
