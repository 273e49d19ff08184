#!/usr/bin/env bash
# Find: numpy.arange counts its elements in the dtype of NumPy's scalars: arange(int8(-100), int8(100)) is empty, though its dtype is int64.
# Guess: the elements are int64, so the difference of the ends is taken in int64, too.
# Seen: numpy 2.4.6; Linux on x86-64, 2026-11-28.
# Here: rtcg.numpy.arange does the same (python/rtcg/numpy/__init__.py).
source "$(dirname "$0")/_find.sh"
packages numpy==2.4.6
ask() { "$PY" -W ignore -c "import numpy as np; print($1)"; }
expect "size of arange(int8(-100), int8(100))" "$(ask 'np.arange(np.int8(-100), np.int8(100)).size')" "0"
expect "its dtype" "$(ask 'np.arange(np.int8(-100), np.int8(100)).dtype')" "int64"
expect "size of arange(-100, 100)" "$(ask 'np.arange(-100, 100).size')" "200"
finish
