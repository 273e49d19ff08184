#!/usr/bin/env bash
# Find: numpy.ldexp takes every Python int for float16: ldexp(70000, exponents) is infinite, ldexp(2049, exponents) is rounded.
# Guess: a Python int is an int64 there, as for ldexp of a scalar exponent or sqrt, and the result float64.
# Seen: numpy 2.4.6; Linux on x86-64, 2026-11-28.
# Here: rtcg.numpy.ldexp of a Python int is float64 (docs/arrays.md); tests/python/test_ufunc_types.py names the difference.
source "$(dirname "$0")/_find.sh"
packages numpy==2.4.6
ask() { "$PY" -W ignore -c "import numpy as np; e = np.array([0], 'i4'); print($1)"; }
expect "ldexp(70000, int32 array)" "$(ask 'np.ldexp(70000, e), np.ldexp(70000, e).dtype')" "[inf] float16"
expect "ldexp(2049, int32 array)" "$(ask 'np.ldexp(2049, e).astype(float)')" "[2048.]"
expect "ldexp(70000.0, int32 array)" "$(ask 'np.ldexp(70000.0, e), np.ldexp(70000.0, e).dtype')" "[70000.] float64"
expect "sqrt(70000 ** 2)" "$(ask 'np.sqrt(70000 ** 2), np.sqrt(70000 ** 2).dtype')" "70000.0 float64"
finish
