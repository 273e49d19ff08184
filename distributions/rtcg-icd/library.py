"""Puts the built library into the wheel, with the tag of the platform that it needs."""

import os
import platform
import re
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

LIBRARY = "librtcg_opencl.so"
# Where PyOpenCL's wheel has its loader, which takes a name without a folder from its own folder.
FOLDER = "pyopencl/.libs"


class LibraryHook(BuildHookInterface):
    """Adds the library and the file that names it."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called before the wheel is written."""
        root = Path(self.root)
        built = root.parents[1] / "dist" / "opencl" / LIBRARY
        library = Path(os.environ.get("RTCG_OPENCL_LIBRARY", built))
        if not library.is_file():
            raise FileNotFoundError(f"{library}: `make opencl` builds it; RTCG_OPENCL_LIBRARY names another")
        build_data["force_include"][str(library)] = f"{FOLDER}/{LIBRARY}"
        build_data["force_include"][str(root / "rtcg.icd")] = f"{FOLDER}/rtcg.icd"
        build_data["force_include"][str(root / "rtcg-icd.txt")] = "pyopencl/rtcg-icd.txt"
        build_data["force_include"][str(root / "pyopencl.py")] = "pyopencl.py"
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{platform_tag(library.read_bytes())}"


def platform_tag(library: bytes) -> str:
    """The tag of the oldest glibc that has all versions of functions that the library asks for."""
    minors = [int(minor) for minor in re.findall(rb"GLIBC_2\.(\d+)", library)]
    return f"manylinux_2_{max([17, *minors])}_{platform.machine()}"
