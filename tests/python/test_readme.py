"""The Python programs of the README and of `docs/` run as they stand there, each in a folder for what it writes."""

import re

import pytest

from tests.python.subprocesses import QUICK, ROOT, has_real_device, run_python

pytestmark = pytest.mark.usefixtures("context")

DOCUMENTS = sorted((ROOT / "docs").rglob("*.md"))


def programs(path):
    return re.findall(r"^```python\n(.*?)^```", path.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def test_the_first_programs(tmp_path):
    first, second, third = programs(ROOT / "README.md")
    run_python(first + "assert (doubled != a).any()\n", folder=tmp_path)
    result = run_python(second + "assert (softplus(a).get() > 0).all()\n", folder=tmp_path)
    assert result.stdout.count("[") == 10
    assert run_python(third, folder=tmp_path).stdout.startswith("3.741657")


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
    run_python(program, folder=tmp_path, **QUICK)
