"""Python programs in processes of their own: for what spoils a context, or happens at exit."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

from tests.python.depth import at_depth

ROOT = Path(__file__).resolve().parents[2]
#: For programs with many kernels that run for moments: of what they would optimise nearly all is thrown away.
#: Both tiers give the same bits, and `make test-all` optimises.
QUICK = at_depth({"RTCG_JIT_TIER": "first"}, {})
#: Programs that run more variants at depth have more time for them.
LIMIT_S = at_depth(120, 600)


def run_python(code, *args, check=True, timeout_s=LIMIT_S, folder=ROOT, **environment):
    """Run `code`, a text or the path of a file, in `folder` with the device of these tests; the finished process.

    With `check`, the program must exit with 0 and write nothing to standard error.
    """
    env = {**os.environ, "PYTHONWARNINGS": "default", "PYTHONFAULTHANDLER": "1"}
    env.pop("RTCG_TEST_TIMES", None)  # A run of pytest in `code` leaves the table of times to the one that waits.
    env.setdefault("RTCG_VIRTUAL_DEVICES", "0" if has_real_device() else "1")
    env.update({name: str(value) for name, value in environment.items()})
    program = [code] if isinstance(code, Path) else ["-c", textwrap.dedent(code)]
    command = [sys.executable, *map(str, (*program, *args))]
    result = subprocess.run(command, capture_output=True, text=True, env=env, timeout=timeout_s, cwd=folder)
    if check:
        assert result.returncode == 0, f"exit code {result.returncode}\n{result.stdout}{result.stderr}"
        assert result.stderr == "", result.stderr
    return result


def has_real_device():
    import pycuda.driver as cuda

    cuda.init()
    return not cuda.Device(0).is_virtual
