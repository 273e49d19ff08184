"""The helpers that thin tests leave nothing out that they promise."""

import itertools
import os
import subprocess
import sys

import depth
import numpy as np
import pytest


@pytest.fixture(autouse=True)
def _usual(monkeypatch):
    monkeypatch.setattr(depth, "ALL", False)


def test_pairs_covers_each_pair_of_values():
    axes = ["abc", range(4), [None, 1.5], "xy"]
    chosen = depth.pairs(*axes)
    assert len(chosen) < 20 < len(list(itertools.product(*axes)))
    for i, j in itertools.combinations(range(4), 2):
        assert {(case[i], case[j]) for case in chosen} == set(itertools.product(axes[i], axes[j]))


def test_each_kind_keeps_every_key_kind_and_dtype():
    dtypes = ["?", "i1", "i4", "u1", "u8", "f2", "f4", "f8", "c8", "c16"]
    names = ["one", "two", "three"]
    chosen = depth.each_kind(itertools.product(names, dtypes))
    kinds = {depth._kind(dtype) for dtype in dtypes}
    for name in names:
        assert {depth._kind(dtype) for other, dtype in chosen if other == name} == kinds
    assert {np.dtype(dtype) for _, dtype in chosen} == {np.dtype(dtype) for dtype in dtypes}
    assert len(chosen) == len(names) * len(kinds)


def test_groups_take_turns():
    assert depth.in_turns("abc", ["xy", "z"]) == [("a", "x"), ("a", "y"), ("b", "z"), ("c", "x"), ("c", "y")]


def test_some_refuses_what_is_no_value():
    assert depth.some(range(6), 2) == [0, 2, 4]
    assert depth.some("abcd", "db") == ["b", "d"]
    with pytest.raises(AssertionError):
        depth.some("abc", "z")


def test_all_variants_run_where_they_are_asked_for(monkeypatch):
    monkeypatch.setattr(depth, "ALL", True)
    assert len(depth.pairs("abc", "def", "ghi")) == 27
    assert depth.some("abc", "a") == ["a", "b", "c"]
    assert len(depth.in_turns("abc", ["xy", "z"])) == 9
    assert len(depth.each_kind(itertools.product("ab", ["i1", "i2"]))) == 4


def test_a_sample_is_chosen_by_a_hash_and_repeatable():
    def chosen(commit):
        command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "--sample", commit, "--share", "3", __file__]
        alone = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "RTCG_TEST"))}
        alone["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
        output = subprocess.run(command, capture_output=True, text=True, check=False, env=alone).stdout
        return {line for line in output.splitlines() if "::" in line}

    samples = [chosen(commit) for commit in ("1f", "1f", "2e", "3d")]
    assert samples[0] == samples[1]
    assert len(set(map(frozenset, samples))) > 1
