"""``python -m rtcg.info``: a report of this installation; the first thing to run when something fails.

It lists drivers and their devices, the compiler and its cache, libraries found, and settings in force.
``--attributes``, ``--functions`` and ``--all`` (settings that are not set) print more.
"""

from __future__ import annotations

import argparse
import platform
import sys
import warnings
from importlib import metadata
from typing import TYPE_CHECKING

from rtcg import _compat, _native

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["main", "report"]

# Packages that matter to programs on GPUs.
_REPORTED_PACKAGES = ("numpy", "ipython", "mako", "cupy", "numba", "torch", "cuda-python", "moderngl", "PyOpenGL")


def _installed_packages() -> Iterator[str]:
    for name in _REPORTED_PACKAGES:
        try:
            yield f"{name} {metadata.version(name)}"
        except metadata.PackageNotFoundError:
            continue


def report(*, attributes: bool = False, functions: bool = False, unset_settings: bool = False) -> str:
    """Return the report as text.

    Parameters
    ----------
    attributes : bool
        Include every attribute of every device.
    functions : bool
        Include every function of the driver API, and the drivers that have it.
    unset_settings : bool
        Include the environment variables that are not set, and their defaults.
    """
    from rtcg import __version__

    lines = [
        f"rtcg {__version__} in {__file__.rpartition('/')[0] or '.'}",
        f"Python {platform.python_version()} in {sys.prefix}, {', '.join(_installed_packages())}",
        *(f"import {name}: {_compat.describe_import_origin(name)}" for name in _compat.package_names()),
    ]
    with warnings.catch_warnings():
        # The report itself says which devices are virtual.
        warnings.simplefilter("ignore")
        native = _native.installation_report(attributes=attributes, functions=functions, unset_settings=unset_settings)
        return "\n".join(lines) + "\n" + native


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the report; `arguments` are by default those of the process."""
    parser = argparse.ArgumentParser(prog="python -m rtcg.info", description=__doc__)
    parser.add_argument("--attributes", action="store_true", help="every attribute of every device")
    parser.add_argument("--functions", action="store_true", help="every function of the driver API")
    parser.add_argument("--all", action="store_true", dest="unset_settings", help="settings that are not set, too")
    print(report(**vars(parser.parse_args(arguments))), end="")


if __name__ == "__main__":
    main()
