#!/usr/bin/env bash
# Find: tinygrad's PTX back end has one text for each function and every dtype, so doubles get lg2.approx.f64, sqrt.approx.f64, rcp.approx.f64: PTX has none of them, and ptxas refuses each.
# Guess: a renderer writes instructions that its assembler knows, or says which dtypes it lacks.
# Seen: tinygrad 0.13.0, nvidia-cuda-nvcc-cu12 12.9.86; Linux on x86-64, 2026-11-29.
# Here: the test of doubles is a known failure of tinygrad's PTX back end (compat/known_failures.json).
source "$(dirname "$0")/_find.sh"
packages tinygrad==0.13.0 nvidia-cuda-nvcc-cu12==12.9.86
render() {
    "$PY" -W ignore - "$1" "$2" <<'P'
import sys
from tinygrad import dtypes
from tinygrad.renderer.ptx import asm_for_op
from tinygrad.uop.ops import Ops
name, letter = sys.argv[2], sys.argv[2][0] + ("d" if sys.argv[2] == "f64" else "")
print(asm_for_op[getattr(Ops, sys.argv[1])](f"%{letter}1", f"%{letter}0", getattr(dtypes, "float" + name[1:]), name))
P
}
PTXAS=$(echo "$FOLDER"/venv/lib/python3*/site-packages/nvidia/cuda_nvcc/bin/ptxas)
assemble() {
    printf '.version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k() { .reg .f64 %%fd<2>; .reg .f32 %%f<2>; %s ret; }\n' \
        "$1" > "$FOLDER/k.ptx"
    if "$PTXAS" -arch=sm_80 -o "$FOLDER/k.cubin" "$FOLDER/k.ptx" > "$FOLDER/log" 2>&1; then echo taken; else echo refused; fi
}
expect "log2 of a double" "$(render LOG2 f64)" "lg2.approx.f64 %fd1, %fd0;"
for op in LOG2 SIN SQRT RECIPROCAL; do
    expect "ptxas, $op of a double" "$(assemble "$(render $op f64)")" "refused"
    expect "ptxas, $op of a float" "$(assemble "$(render $op f32)")" "taken"
done
finish
