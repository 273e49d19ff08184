"""Tests of built packages, each in a virtual environment of its own, without an index.

`tools/release.py` runs them. By hand: RTCG_PACKAGES is the folder with the wheels and source distributions,
RTCG_WHEELHOUSE one with what they need, and RTCG_PACKAGES_PYTHON the interpreter (default: the running one).
"""

from pathlib import Path

import pytest

from tests.packages.installation import PACKAGES, ROOT, Installation

# There is nothing to test before packages are built.
collect_ignore = [] if PACKAGES else ["test_coexistence.py", "test_icd.py", "test_install.py", "test_source.py"]


@pytest.fixture
def installation(tmp_path):
    return Installation(tmp_path / "environment")


@pytest.fixture(scope="session")
def wheels():
    """The wheels that were built, by the name of their distribution; `rtcg-icd` has nothing to do with the others."""
    found = {path.name.split("-")[0].replace("_", "-"): path for path in Path(PACKAGES).glob("*.whl")}
    return {name: path for name, path in found.items() if name != "rtcg-icd"}


@pytest.fixture(scope="session")
def native(wheels):
    """The name of the distribution with the native module."""
    [name] = [name for name, path in wheels.items() if not path.stem.endswith("-none-any")]
    return name


@pytest.fixture(scope="session")
def first_program():
    """The first Python program of the README."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    return text.split("\n```python\n")[1].split("\n```\n")[0]
