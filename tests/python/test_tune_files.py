"""Files of other tuners: what Kernel Tuner's scripts and caches say, T1 files, and both of them damaged."""

import copy
import json
import os
import random
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from rtcg import tune
from tests.python.depth import at_depth

CACHE = {
    "device_name": "x", "problem_size": 100, "tune_params_keys": ["bx", "by"],
    "tune_params": {"bx": [16, 32], "by": [1, 2]}, "objective": "time",
    "cache": {
        f"{bx},{by}": {"bx": bx, "by": by, "time": bx / by, "times": [bx / by]} for bx in (16, 32) for by in (1, 2)
    },
}  # fmt: skip


def simulate(folder, cache=CACHE, params=None, **options):
    """What ``tune_kernel`` makes of a cache file."""
    name = folder / "cache.json"
    name.write_text(cache if isinstance(cache, str) else json.dumps(cache))
    params = params or CACHE["tune_params"]
    results, _ = tune.tune_kernel("k", "", 100, [], params, cache=name, simulation_mode=True, quiet=True, **options)
    return results


def configurations(results):
    return sorted((result["bx"], result["by"]) for result in results)


# -- Kernel Tuner's names ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options, message",
    [
        ({"strategy": "bayes-opt"}, "strategy is 'bayes-opt'; expected one of .*bayes_opt"),
        ({"objective": "GFLOPS"}, "objective is 'GFLOPS'; expected one of 'time'"),
        ({"objective": "own", "metrics": {"own": "1 / time"}}, "objective_higher_is_better"),
        ({"objective": "GB/s", "observers": [lambda config, trial: {}]}, "objective is 'GB/s'; expected one of 'bx'"),
        ({"restrictions": [3]}, "a restriction is 3; expected text, a function"),
        ({"restrictions": [(lambda bx: True, ["zz"])]}, "a restriction names 'zz'"),
    ],
)
def test_unknown_names_are_refused(tmp_path, options, message):
    with pytest.raises(ValueError, match=message):
        simulate(tmp_path, **options)


@pytest.mark.parametrize(
    "strategy", ["bayes_opt", "pso", "diff_evo", "firefly_algorithm", "brute_force", "local", None]
)
def test_strategies_of_kernel_tuner_are_taken(tmp_path, strategy):
    assert len(simulate(tmp_path, strategy=strategy)) == 4


def test_objectives_order_results(tmp_path):
    metrics = {"GB/s": "100 / time", "own": "time"}
    first = lambda **options: configurations(simulate(tmp_path, metrics=metrics, **options)[:1])  # noqa: E731
    assert first(objective="GB/s") == [(16, 2)]
    assert first(objective="GB/s", objective_higher_is_better=False) == [(32, 1)]
    assert first(objective="own", objective_higher_is_better=True) == [(32, 1)]


def named_by_two(bx, by):
    return bx * by <= 32


def with_default(bx, by=1, *, more=3):
    return bx * by + more <= 35


RESTRICTIONS = [
    "bx * by <= 32", named_by_two, lambda by, bx: bx * by <= 32, lambda config: config["bx"] * config["by"] <= 32,
    lambda a, b: a * b <= 32, lambda **names: names["bx"] * names["by"] <= 32, lambda *values: np.prod(values) <= 32,
    with_default, (lambda x, y: x * y <= 32, ["by", "bx"]), lambda bx, by: np.bool_(bx * by <= 32),
]  # fmt: skip


@pytest.mark.parametrize("restriction", RESTRICTIONS)
def test_restrictions_are_called_as_kernel_tuner_calls_them(tmp_path, restriction):
    assert configurations(simulate(tmp_path, restrictions=[restriction])) == [(16, 1), (16, 2), (32, 1)]


def test_restrictions_name_single_parameters(tmp_path):
    assert configurations(simulate(tmp_path, restrictions=[lambda by: by == 1])) == [(16, 1), (32, 1)]
    assert configurations(simulate(tmp_path, restrictions=[(lambda n: n == 2, ["by"])])) == [(16, 2), (32, 2)]
    with pytest.raises(ValueError, match="no such"):
        simulate(tmp_path, restrictions=[lambda bx, by: {}["no such"]])


def test_constraints_of_python_constraint_are_restrictions(tmp_path):
    constraint = pytest.importorskip("constraint")
    cases = [
        (constraint.MaxProdConstraint(32), [(16, 1), (16, 2), (32, 1)]),
        (constraint.MinSumConstraint(33), [(32, 1), (32, 2)]),
        (constraint.ExactSumConstraint(18), [(16, 2)]),
        ((constraint.InSetConstraint([1]), ["by"]), [(16, 1), (32, 1)]),
        ((constraint.NotInSetConstraint([16]), ["bx"]), [(32, 1), (32, 2)]),
        (constraint.FunctionConstraint(lambda x, y: x == 16 * y), [(16, 1), (32, 2)]),
        (constraint.AllDifferentConstraint(), [(16, 1), (16, 2), (32, 1), (32, 2)]),
    ]
    for restriction, expected in cases:
        assert configurations(simulate(tmp_path, restrictions=[restriction])) == expected


class Constraint:
    """As python-constraint's classes are called."""

    __module__ = "constraint.constraints"

    def __call__(self, variables, domains, assignments, forwardcheck=False):
        return assignments[variables[0]] == 16


def test_objects_of_the_solver_are_called_with_assignments(tmp_path):
    assert configurations(simulate(tmp_path, restrictions=[Constraint()])) == [(16, 1), (16, 2)]


# -- damaged files ----------------------------------------------------------------------------------


def test_python_s_numbers_are_read(tmp_path):
    cache = copy.deepcopy(CACHE)
    cache["cache"]["16,1"]["times"].append(float("nan"))
    cache["cache"]["16,2"]["time"] = float("inf")
    results = simulate(tmp_path, cache)
    assert {(r["bx"], r["by"]): r["time"] for r in results}[16, 1] == pytest.approx(16)
    assert {(r["bx"], r["by"]): r["time"] for r in results}[16, 2] == "RuntimeFailedConfig"


def test_caches_cut_anywhere_are_named(tmp_path):
    text = json.dumps(CACHE)
    refused = 0
    for end in range(0, len(text), at_depth(7, 1)):
        try:
            simulate(tmp_path, text[:end])
        except ValueError as error:
            assert "cache.json" in str(error), end
            refused += 1
    assert refused > 10


T1_FILE = {
    "General": {"BenchmarkName": "copy"},
    "ConfigurationSpace": {
        "TuningParameters": [
            {"Name": "block", "Type": "int", "Values": "[16, 32]", "Default": 32},
            {"Name": "mode", "Type": "string", "Values": ["a", "b"]},
        ],
        "Conditions": [{"Expression": "block % 16 == 0", "Parameters": ["block"]}],
    },
    "KernelSpecification": {
        "Language": "CUDA", "KernelName": "copy", "KernelFile": "copy.cu", "CompilerOptions": ["-DA=1"],
        "ProblemSize": [64], "LocalSize": {"X": "block"}, "GridDivX": ["block"],
        "Arguments": [
            {"Name": "out", "Type": "float", "Size": "ProblemSize[0]", "FillType": "Constant", "FillValue": 0.0},
            {"Name": "in", "Type": "int32", "MemoryType": "Vector", "Size": 64, "FillType": "Random", "FillValue": 9},
            {"Name": "n", "Type": "int32", "MemoryType": "Scalar", "FillValue": "ProblemSize[0]"},
            {"Name": "g", "Type": "double", "Size": 4, "FillType": "Generator", "DataSource": "i * n"},
        ],
    },
    "Budget": [{"Type": "ConfigurationCount", "BudgetValue": 10}], "Search": {"Name": "random"},
}  # fmt: skip


def write_t1(folder, content):
    (folder / "copy.cu").write_text("__global__ void copy(float *out, const int *in, int n, double *g) {}")
    (folder / "copy.json").write_text(content if isinstance(content, str) else json.dumps(content))
    return folder / "copy.json"


def attempt_t1(path):
    """Read a file; True if that works, False if it is refused as documented."""
    try:
        tune.from_t1(path)
    except FileNotFoundError as error:
        assert "copy.json" in str(error)
        return False
    except ValueError as error:
        assert "copy.json" in str(error), error
        assert len(str(error)) < 5000
        return False
    return True


def test_t1_files_cut_anywhere_are_named(tmp_path):
    text = json.dumps(T1_FILE)
    assert attempt_t1(write_t1(tmp_path, text))
    for end in range(0, len(text) - 1, at_depth(11, 1)):
        assert not attempt_t1(write_t1(tmp_path, text[:end]))


ODD_VALUES = [
    None,
    True,
    0,
    -1,
    1.5,
    1e30,
    10**30,
    "",
    "x" * 3000,
    "1+" * 2000 + "1",
    "\x00",
    [],
    [[]],
    [None],
    {},
    {"X": []},
]


def places_of(value, path=()):
    """All places in a JSON value."""
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield from places_of(inner, (*path, key))


def test_t1_files_with_odd_values_are_read_or_named(tmp_path):
    variants = [(path, odd) for path in places_of(T1_FILE) if path for odd in ODD_VALUES]
    for path, odd in random.Random(1).sample(variants, at_depth(150, len(variants))):
        content = copy.deepcopy(T1_FILE)
        place = content
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = odd
        attempt_t1(write_t1(tmp_path, content))


def test_a_t1_file_that_is_no_text_is_named(tmp_path):
    path = write_t1(tmp_path, T1_FILE)
    path.write_bytes(b"\xff\xfe" + path.read_bytes())
    assert not attempt_t1(path)
    with pytest.raises(FileNotFoundError):
        tune.from_t1(tmp_path / "none.json")


# -- exceptions and ends ----------------------------------------------------------------------------


class Raising:
    """A strategy that asks for one configuration and then raises."""

    def __init__(self, error):
        self.error, self.calls = error, 0

    def ask(self, count, configurations, tried, pending):
        self.calls += 1
        if self.calls > 1 or self.error is KeyboardInterrupt:
            raise self.error("from ask")
        return [0]


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt, SystemExit, ValueError])
def test_what_a_strategy_raises_ends_the_search(error):
    space = tune.Space(x=[1, 2, 3])
    with pytest.raises(error, match="from ask"):
        tune.search(space, lambda x: x, strategy=Raising(error), progress=False)
    search = tune.Search(space, strategy=Raising(error))
    with pytest.raises(error, match="from ask"):
        for _ in range(3):
            for config in search.ask():
                search.tell(config, 1.0)


def test_what_a_strategy_returns_must_be_rows():
    class Odd:
        def ask(self, count, configurations, tried, pending):
            return "rows"

    with pytest.raises((TypeError, ValueError)):
        tune.search(tune.Space(x=[1, 2, 3]), lambda x: x, strategy=Odd(), progress=False)


ORPHAN = """
from rtcg.tune import _worker
from tests.python import busy_worker
worker = _worker.Worker(busy_worker.Busy, (), timeout=1000)
worker._start()
print(worker._process.pid, flush=True)
worker._call("spin")
"""


@pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="looks for processes in /proc")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_worker_ends_with_its_parent(number):
    with subprocess.Popen([sys.executable, "-c", ORPHAN], stdout=subprocess.PIPE, text=True) as parent:
        worker = int(parent.stdout.readline())
        time.sleep(0.3)
        parent.send_signal(number)
    deadline = time.monotonic() + 5
    while is_running(worker) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not is_running(worker)


def is_running(pid):
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False
