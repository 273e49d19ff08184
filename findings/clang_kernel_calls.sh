#!/usr/bin/env bash
# Find: clang 20 and 21 compile an OpenCL kernel that calls a kernel, for nvptx64 with -O3, to an empty one, `exit;`, without a warning.
# Guess: the call does the other kernel's work, as OpenCL C says: a kernel that is called by one is an ordinary function.
# Seen: ziglang 0.15.2 (clang 20.1.2) and 0.16.0 (clang 21.1.0) drop the call, which has another calling convention than the definition; ziglang 0.13.0.post1 (18.1.6) and 0.17.1 (22.1.8) keep it; Linux on x86-64, 2026-11-28.
# Here: kernels that are called get a body of their own before LLVM's text is optimised (crates/compile/src/clang/whole_program.rs).
source "$(dirname "$0")/_find.sh"
cat > "$FOLDER/kernels.cl" <<'SOURCE'
__kernel void inner(__global int *b, int n) { b[n] = 42; }
__kernel void outer(__global int *b, int n) { inner(b, n); }
SOURCE
outer() {
    "$PY" -m ziglang clang -x cl -cl-no-stdinc -target nvptx64-nvidia-cuda -Xclang -target-cpu -Xclang sm_80 -Xclang \
        -target-feature -Xclang +ptx70 -nocudalib -O3 -S -o - "$FOLDER/kernels.cl" | sed -n '/entry outer/,/^}/p'
}
for pair in 0.13.0.post1:calls 0.15.2:nothing 0.16.0:nothing 0.17.1:calls; do
    rm -rf "$FOLDER/venv"
    packages "ziglang==${pair%:*}"
    if outer | grep -qE 'call|st\.global'; then seen=calls; else seen=nothing; fi
    expect "what outer does with ziglang ${pair%:*}" "$seen" "${pair#*:}"
done
finish
