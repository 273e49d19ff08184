"""The Python programs of the README run as they stand there."""

import re

import pytest

from tests.python.subprocesses import ROOT, run_python

pytestmark = pytest.mark.usefixtures("context")


def blocks(language):
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def test_the_first_two_python_blocks():
    first, second = blocks("python")[:2]
    run_python(first)
    # The second continues the first, and prints twice what the first made.
    result = run_python(first + second + "assert ((2 * a_gpu).get() == doubled).all()\n")
    assert result.stdout.count("[") == 5
