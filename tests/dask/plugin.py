"""A plugin of pytest for Dask's tests of CuPy: the stand-in's backend, and the tests that are known to fail.

``known_failures.json`` has their names, as patterns, and why: those that must fail, and those that may. No others may.
"""

import fnmatch
import itertools
import json
import zlib
from pathlib import Path

import pytest

KNOWN = json.loads((Path(__file__).parent / "known_failures.json").read_text())


def pytest_addoption(parser):
    parser.addoption("--one-in", type=int, default=1, help="run about one of so many tests, the same ones each time")


def pytest_configure(config):
    config.addinivalue_line("markers", "gpu: all of Dask's tests of CuPy")
    config.addinivalue_line("markers", "flaky(reruns): tests whose outcome is undefined")
    from dask.array.backends import array_creation_dispatch

    from rtcg import dask

    class Backend(dask.Backend):
        """rtcg's, with the stand-in's generators, which have all distributions."""

        RandomState = property(lambda self: __import__("cupy").random.RandomState)
        default_bit_generator = property(lambda self: __import__("cupy").random.BitGenerator)

    array_creation_dispatch.register_backend("cupy", Backend())


def name_of(item):
    """``file::test[parameters]``."""
    return f"{Path(item.path).stem}::{item.name}"


def pytest_collection_modifyitems(config, items):
    for how, reasons in KNOWN.items():
        for pattern, reason in reasons.items():
            # Names have brackets, which are no sets of characters here.
            found = [item for item in items if fnmatch.fnmatchcase(name_of(item), pattern.replace("[", "[[]"))]
            if not found:
                raise pytest.UsageError(f"known_failures.json has {pattern!r}, but no test has that name")
            for item in found:
                item.add_marker(pytest.mark.xfail(reason=reason, strict=how == "always"))
    every = config.getoption("--one-in")
    is_left_out = lambda item: zlib.crc32(name_of(item).encode()) % every > 0  # noqa: E731
    config.hook.pytest_deselected(items=list(filter(is_left_out, items)))
    items[:] = itertools.filterfalse(is_left_out, items)
