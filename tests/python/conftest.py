"""Device selection and the context that the tests share.

``--device virtual`` hides every real GPU, ``--device real`` insists on one;
without it the tests run on device 0, whichever that is. ``--sample COMMIT``
runs a part of all variants (depth.py) that the commit's hash chooses.
``--few-variants`` runs some of a test that has many, always the same ones.
"""

import atexit
import collections
import gc
import hashlib
import json
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest
from older_peers import reason_to_skip

# For `tests.kernels`, in this process and in those that tests start.
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests import cpu_times  # noqa: E402


def pytest_addoption(parser):
    parser.addoption("--device", choices=["virtual", "real"], help="insist on a virtual or on a real GPU")
    parser.addoption("--sample", metavar="COMMIT", help="run a sample of all variants, chosen by this text")
    parser.addoption("--share", type=int, default=60, metavar="N", help="the sample is one test in N (default: 60)")
    parser.addoption("--few-variants", action="store_true", help="of tests with many variants run some")


#: With ``--few-variants`` a test keeps so many variants, and one in `SHARE` of the others.
KEPT, SHARE = 6, 4


def pytest_configure(config):
    # Shells let jobs in the background ignore Ctrl-C, and programs that tests start would inherit that.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    # The processes of the tests share the processors, and threads of a second pool would wait for them by spinning.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # No test reads or writes the user's results of tuning; the name goes with the run.
    if "RTCG_TUNING_DIR" not in os.environ:
        os.environ["RTCG_TUNING_DIR"] = folder = tempfile.mkdtemp(prefix="rtcg-test-results-")
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
    if config.getoption("--device") == "virtual":
        os.environ["CUDA_VISIBLE_DEVICES"] = ""
        os.environ.setdefault("RTCG_VIRTUAL_DEVICES", "1")
    if config.getoption("--sample"):
        os.environ["RTCG_TEST_ALL"] = os.environ["RTCG_TEST_SAMPLE"] = "1"


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    """A test draws the same random numbers in each run: a bound that one draw in a thousand exceeds fails none."""
    key = int.from_bytes(hashlib.sha256(item.nodeid.encode()).digest()[:4], "big")
    random.seed(key)
    np.random.seed(key)
    if "rtcg.random" in sys.modules:
        sys.modules["rtcg.random"].seed(key)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_call(item):
    """Programs that a test starts print the notice of the virtual GPU, though this process has printed its own."""
    os.environ.pop("_RTCG_NOTICE_SHOWN", None)


def pytest_collection_modifyitems(config, items):
    """Skips what cannot be compared here, and leaves the sample's items, which are the same for the same text."""
    for item in items:
        if why := reason_to_skip(item.nodeid):
            item.add_marker(pytest.mark.skip(reason=why))
    if commit := config.getoption("--sample"):
        share = config.getoption("--share")
        digest = lambda item: int.from_bytes(hashlib.sha256(f"{commit} {item.nodeid}".encode()).digest()[:8], "big")  # noqa: E731
        chosen = [item for item in items if digest(item) % share == 0]
        config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
        items[:] = chosen
    elif config.getoption("--few-variants"):
        chosen = {item.nodeid for item in few_variants(items)}
        config.hook.pytest_deselected(items=[item for item in items if item.nodeid not in chosen])
        items[:] = [item for item in items if item.nodeid in chosen]


def few_variants(items):
    """Of each test `KEPT` variants and one in `SHARE` of the others, by the hash of their names."""
    by_function = collections.defaultdict(list)
    for item in items:
        by_function[item.nodeid.partition("[")[0]].append(item)
    for variants in by_function.values():
        variants.sort(key=lambda item: hashlib.sha256(item.nodeid.encode()).digest())
        yield from variants[: KEPT + max(0, len(variants) - KEPT) // SHARE]


def pytest_collection_finish():
    """Collections of garbage pass over what is there now: tests and refused allocations ask for hundreds of them."""
    gc.collect()
    gc.freeze()


def pytest_report_collectionfinish(config, items):
    if config.getoption("--sample"):
        by_function = collections.Counter(item.nodeid.partition("[")[0] for item in items)
        return [f"sample: {name}, {count} of its variants" for name, count in by_function.items()]
    return []


_cpu_seconds = collections.Counter()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    spent = lambda: sum(map(cpu_times.cpu_seconds, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)))  # noqa: E731
    before = spent()
    result = yield
    _cpu_seconds[Path(item.path).stem] += spent() - before
    return result


def pytest_sessionfinish():
    if "RTCG_TEST_TIMES" in os.environ:
        for name, seconds in _cpu_seconds.items():
            cpu_times.add(name, seconds)


def pytest_terminal_summary(terminalreporter, config):
    if config.getoption("--sample"):
        for report in terminalreporter.stats.get("failed", []) + terminalreporter.stats.get("error", []):
            terminalreporter.write_line(f"repeat it: RTCG_TEST_ALL=1 .venv/bin/python -m pytest '{report.nodeid}'")
    if "RTCG_TEST_TIMES" in os.environ:
        cpu_times.table()


def pytest_report_header(config):
    try:
        import pycuda.driver as cuda

        cuda.init()
        device = cuda.Device(0)
        major, minor = device.compute_capability()
        return f"device: {device.name()}, compute capability {major}.{minor}"
    except Exception as error:  # The header must not hide the failure that the tests will report.
        return f"device: none ({type(error).__name__}: {error})"


@pytest.fixture(scope="session")
def context(request):
    """The context of `pycuda.autoinit`, on the device that was asked for."""
    import pycuda.autoinit

    wanted = request.config.getoption("--device")
    name = pycuda.autoinit.device.name()
    is_virtual = "virtual" in name.lower()
    if wanted and is_virtual != (wanted == "virtual"):
        pytest.exit(f"--device {wanted}, but device 0 is {name!r}", returncode=3)
    return pycuda.autoinit.context


@pytest.fixture
def no_default_context(context):
    """Threads without a context get an error, as in programs that make their contexts themselves."""
    from rtcg import devices

    default = devices.default()
    devices.set_default(None)
    yield
    devices.set_default(default)


@pytest.fixture
def clang(monkeypatch):
    """clang compiles CUDA C++."""
    monkeypatch.setenv("RTCG_COMPILER", "clang")


@pytest.fixture
def launches(tmp_path):
    """Calls a function; its result and the names of the kernels it launched."""
    from rtcg import tracing

    def count(function):
        path = tmp_path / "trace.json"
        with tracing.trace(path):
            result = function()
        with open(path, encoding="utf-8") as file:
            names = [event.get("name", "") for event in json.load(file)]
        return result, [name.split()[-1] for name in names if name.startswith("cuLaunchKernel")]

    return count


@pytest.fixture(scope="session")
def on_virtual_device(context):
    """Whether the tests run on the virtual GPU."""
    import pycuda.autoinit

    return "virtual" in pycuda.autoinit.device.name().lower()
