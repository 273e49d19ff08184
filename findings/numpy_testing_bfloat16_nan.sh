#!/usr/bin/env bash
# Find: numpy.testing.assert_array_equal finds NaN of ml_dtypes' bfloat16 (and float8) unequal to itself, though equal_nan is True and numpy.isnan knows it; of float16 it is equal.
# Guess: NaN are equal there for every dtype that has them.
# Seen: numpy 2.4.6 with ml_dtypes 0.6.0; Linux on x86-64, 2026-11-29.
# Here: tests compare the bits of bfloat16 arrays (tests/python/test_fuse.py).
source "$(dirname "$0")/_find.sh"
packages numpy==2.4.6 ml_dtypes==0.6.0
ask() {
    "$PY" -W ignore - "$1" <<'P'
import sys
import ml_dtypes
import numpy as np
dtype = np.dtype(getattr(ml_dtypes, sys.argv[1], None) or sys.argv[1])
array = np.array([1, np.nan]).astype(dtype)
assert np.isnan(array).tolist() == [False, True]
try:
    np.testing.assert_array_equal(array, array.copy())
    print("equal")
except AssertionError:
    print("unequal")
P
}
for dtype in bfloat16 float8_e4m3fn float8_e5m2; do
    expect "NaN of $dtype" "$(ask $dtype)" "unequal"
done
expect "NaN of float16" "$(ask float16)" "equal"
finish
