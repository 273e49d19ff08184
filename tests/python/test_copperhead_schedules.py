"""Programs of data-parallel Python under checks of the virtual GPU and in any order of its threads: equal results.

Each environment runs in a process of its own, which prints a checksum of the results of each program.
"""

import numpy as np
import pytest

from rtcg.copperhead import cu, op_sub, places, reduce, to_numpy
from tests.python.depth import at_depth
from tests.python.subprocesses import QUICK, run_python

CHAOS = [{"RTCG_SCHEDULE": f"chaos:{seed}"} for seed in range(1, 11)]
ENVIRONMENTS = [{"RTCG_CHECK": "1"}, {"RTCG_SCHEDULE": "deterministic"}, *at_depth(CHAOS[:1], CHAOS)]

PROGRAMS = """
import hashlib, sys, warnings
sys.path.insert(0, "tests/python")
import numpy as np
import copperhead_behaviours, copperhead_programs
from rtcg.copperhead import places, ragged, to_numpy

def digest(value):
    if isinstance(value, tuple):
        return "(" + " ".join(map(digest, value)) + ")"
    if isinstance(value, ragged):
        return "[" + digest(value.values) + digest(value.offsets) + "]"
    value = np.ascontiguousarray(value)
    return f"{value.dtype}{value.shape}{hashlib.sha256(value.tobytes()).hexdigest()[:12]}"

def outcome(program, args):
    try:
        return digest(to_numpy(program(*args, target_place=places.gpu0)))
    except (TypeError, ValueError, IndexError, OverflowError) as error:
        return type(error).__name__

warnings.simplefilter("ignore")
names, seeds, step = NAMES, SEEDS, STEP
chosen = [each for each in copperhead_behaviours.BEHAVIOURS if "repeated" not in each.name]
chosen = [each for each in chosen if any(each.name.startswith(name) for name in names)][::step]
for each in chosen:
    print(each.name, outcome(each.program, each.args))
for seed in seeds:
    program = copperhead_programs.Program(seed, 257)
    print(seed, outcome(program.function(), program.args))
"""
#: Of the behaviours those that combine elements across threads.
NAMES = at_depth(["reduce", "scan", "scatter", "permute", "filter", "sort"], [""])
CODE = (
    PROGRAMS.replace("NAMES", repr(NAMES))
    .replace("SEEDS", repr(at_depth([4], list(range(100)))))
    .replace("STEP", repr(at_depth(9, 1)))
)


@pytest.fixture(scope="module")
def expected():
    lines = run_python(CODE, **QUICK, RTCG_VIRTUAL_DEVICES=1, RTCG_LIBCUDA="none").stdout.splitlines()
    assert len(lines) >= 8
    return lines


@pytest.mark.parametrize("environment", ENVIRONMENTS, ids=lambda environment: "=".join(*environment.items()))
def test_programs_have_equal_results(environment, expected):
    result = run_python(CODE, **QUICK, RTCG_VIRTUAL_DEVICES=1, RTCG_LIBCUDA="none", **environment)
    assert result.stdout.splitlines() == expected


@cu
def differences(x):
    return reduce(op_sub, x, 0)


def test_a_function_that_is_not_associative_shows():
    x = np.arange(1, 1001)
    assert differences(x, target_place=places.here) == -x.sum()
    assert to_numpy(differences(x, target_place=places.gpu0)) != -x.sum()
