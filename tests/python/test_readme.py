"""The Python programs of the README and of `docs/` run as they stand there, each in a folder for what it writes."""

import re

import pytest

from tests.python.subprocesses import QUICK, ROOT, has_real_device, run_python

pytestmark = pytest.mark.usefixtures("context")

DOCUMENTS = sorted((ROOT / "docs").rglob("*.md"))


def programs(path):
    return re.findall(r"^```python\n(.*?)^```", path.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def run_program(program, folder, **environment):
    """Run a program as a file: data-parallel programs are compiled from their source."""
    path = folder / "program.py"
    path.write_text(program, encoding="utf-8")
    return run_python(path, folder=folder, **environment)


def test_the_first_programs(tmp_path):
    first, second, third = programs(ROOT / "README.md")
    run_program(first + "assert (doubled != a).any()\n", tmp_path)
    result = run_program(second + "assert (softplus(a).get() > 0).all()\n", tmp_path)
    assert result.stdout.count("[") == 10
    assert run_program(third, tmp_path).stdout.startswith("3.741657")


def marks_of(path):
    needs_checks = path.name == "checking.md" and has_real_device()
    return pytest.mark.skipif(needs_checks, reason="a real device has no checked mode")


@pytest.mark.parametrize(
    "program",
    [
        pytest.param(text, id=f"{path.stem}-{n}", marks=marks_of(path))
        for path in DOCUMENTS
        for n, text in enumerate(programs(path))
    ],
)
def test_programs_of_the_documents(program, tmp_path):
    run_program(program, tmp_path, **QUICK)
