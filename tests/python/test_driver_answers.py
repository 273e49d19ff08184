"""What drivers answer to null handles, sizes of zero, handles that are gone and contexts that are not current.

The cases are those of `tests.driver_answers`, each of which runs in a process of its own. `answers.txt` there has
what is expected and where that is known from; all disagreements are shown at once.
"""

import functools
import os

import pytest

from tests.driver_answers.cases import all_cases
from tests.driver_answers.expected import DIFFERENT, EXPECTED, disagreements
from tests.python.subprocesses import run_python

ASK = """
import sys
from tests.driver_answers.cases import all_cases
from tests.driver_answers.library import Driver
from tests.driver_answers.run import answers
for case, text in answers(Driver(None, virtual=sys.argv[1] == "virtual"), all_cases(), int(sys.argv[2])).items():
    print(case, "->", text)
"""


@functools.cache
def _answers(virtual):
    processes = min(os.cpu_count() or 1, 12)
    output = run_python(ASK, "virtual" if virtual else "real", processes, timeout_s=900).stdout
    return dict(line.split(" -> ", 1) for line in output.splitlines())


def test_every_expectation_is_of_a_case():
    assert set(EXPECTED) <= set(all_cases())
    assert set(DIFFERENT) <= set(EXPECTED)


def test_answers(on_virtual_device):
    """Every case is answered as a real driver was seen to, or is listed with a reason."""
    found = _answers(on_virtual_device)
    assert set(found) == set(all_cases())
    table = disagreements(found, on_virtual_device)
    assert not table, f"{len(table)} of {len(EXPECTED)} answers are not as expected:\n" + "\n".join(table)


def test_no_case_ends_the_virtual_driver(on_virtual_device):
    """The virtual driver refuses what makes a real one crash."""
    if not on_virtual_device:
        pytest.skip("a real driver may crash where it is given handles that are gone")
    bad = [
        f"{case}: {text}"
        for case, text in _answers(True).items()
        if text.startswith(("crash", "no answer", "not asked"))
    ]
    assert not bad, "\n".join(bad)
