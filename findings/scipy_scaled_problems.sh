#!/usr/bin/env bash
# Find: SciPy's minres returns info 0 with 97 % error for Poisson's matrix times 1e-14 (rtol=1e-8), and eigsh with its default tol returns eigenvalues of diag(1..40) times 1e-28 that are not right to 6 digits; times 1 both are right to 7 digits.
# Guess: a tolerance that is called relative, or left to the default, is relative: a power of ten as a unit changes no digit.
# Seen: scipy 1.17.1, numpy 2.4.6, Linux on x86-64, 2026-11-28. minres adds norm(b)**2 to its estimate of norm(A)**2 in the first step and has an absolute eps in its rotations; ARPACK compares with eps**(2/3).
# Here: thresholds of solvers and of eigsh have units of the problem (crates/sparse/src/solver/symmetric.rs, eigen/lanczos.rs).
source "$(dirname "$0")/_find.sh"
packages scipy==1.17.1 numpy==2.4.6
cat > "$FOLDER/scales.py" <<'PYTHON'
import sys
import numpy as np
from scipy.sparse import diags_array, eye_array, kron
from scipy.sparse.linalg import eigsh, minres

scale = float(sys.argv[1])
line = diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(12, 12))
a = (kron(line, eye_array(12)) + kron(eye_array(12), line)).tocsr()
b = np.random.default_rng(0).random(144)
x, info = minres(a * scale, b, rtol=1e-8)
true = np.linalg.solve(a.toarray(), b)
w = eigsh(diags_array(np.arange(1.0, 41) * scale**2).tocsr(), k=3, which="LA", v0=np.ones(40))[0] / scale**2
print(info, np.linalg.norm(x * scale - true) < 1e-3 * np.linalg.norm(true), np.allclose(w, [38, 39, 40], rtol=1e-6))
PYTHON
expect "minres' info and whether it and eigsh are right, times 1" "$("$PY" "$FOLDER/scales.py" 1)" "0 True True"
expect "the same, times 1e-14 and 1e-28" "$("$PY" "$FOLDER/scales.py" 1e-14)" "0 False False"
finish
