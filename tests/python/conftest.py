"""Device selection and the context that the tests share.

``--device virtual`` hides every real GPU, ``--device real`` insists on one;
without it the tests run on device 0, whichever that is.
"""

import os
import sys
from pathlib import Path

import pytest

# For `tests.kernels`, in this process and in those that tests start.
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))


def pytest_addoption(parser):
    parser.addoption("--device", choices=["virtual", "real"], help="insist on a virtual or on a real GPU")


def pytest_configure(config):
    if config.getoption("--device") == "virtual":
        os.environ["CUDA_VISIBLE_DEVICES"] = ""
        os.environ.setdefault("RTCG_VIRTUAL_DEVICES", "1")


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


@pytest.fixture(scope="session")
def on_virtual_device(context):
    """Whether the tests run on the virtual GPU."""
    import pycuda.autoinit

    return "virtual" in pycuda.autoinit.device.name().lower()
