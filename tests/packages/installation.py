"""Virtual environments into which packages are installed without an index."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = os.environ.get("RTCG_PACKAGES")
PYTHON = os.environ.get("RTCG_PACKAGES_PYTHON", sys.executable)
# Set for programs of this machine, these would lead past the environment.
MISLEADING = (
    "PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "CONDA_PREFIX", "CUDA_HOME", "CUDA_PATH", "CUDA_ROOT",
    "OCL_ICD_VENDORS", "OCL_ICD_FILENAMES", "OPENCL_VENDOR_PATH", "RTCG_CLANG",
)  # fmt: skip


class Installation:
    """A fresh virtual environment."""

    def __init__(self, folder):
        self.folder = folder
        subprocess.run([PYTHON, "-m", "venv", folder], check=True)
        self.python = next(path for path in folder.glob("*/python*") if path.stem == "python")
        self.cache = folder / "cache"
        self.base = self.files()

    def environment(self, **variables):
        kept = {name: value for name, value in os.environ.items() if name not in MISLEADING}
        folders = {"PYCUDA_CACHE_DIR": str(self.cache), "CUDA_CACHE_PATH": str(self.cache)}
        return {**kept, **folders, "RTCG_VIRTUAL_DEVICES": "1", **variables}

    def pip(self, *arguments, check=True, **variables):
        """Run pip, which sees only the packages and what they need."""
        command = [self.python, "-m", "pip", "--disable-pip-version-check", *map(str, arguments)]
        result = subprocess.run(
            command, text=True, capture_output=True, cwd=self.folder, env=self.environment(**variables)
        )
        assert not check or result.returncode == 0, result.stdout + result.stderr
        return result

    def install(self, *requirements, **variables):
        links = [f"--find-links={folder}" for folder in (PACKAGES, os.environ["RTCG_WHEELHOUSE"])]
        return self.pip("install", "--isolated", "--no-index", *links, *requirements, **variables)

    def run(self, program, *, check=True, **variables):
        """Run a program in a folder that holds nothing of this repository."""
        result = subprocess.run(
            [self.python, "-W", "error", "-c", program],
            text=True,
            capture_output=True,
            cwd=self.folder,
            env=self.environment(**variables),
        )
        assert not check or (result.returncode == 0 and not result.stderr), result.stdout + result.stderr
        return result

    def python_module(self, name, *arguments, check=True):
        """Run ``python -m name`` in a folder that holds nothing of this repository."""
        command = [self.python, "-m", name, *arguments]
        result = subprocess.run(command, text=True, capture_output=True, cwd=self.folder, env=self.environment())
        assert not check or result.returncode == 0, result.stdout + result.stderr
        return result

    def files(self):
        """All files of installed packages, and programs."""
        found = (path.relative_to(self.folder) for path in self.folder.rglob("*") if path.is_file())
        return {path for path in found if path.parts[0] != "cache"}
