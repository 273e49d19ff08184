#!/usr/bin/env bash
# Find: a program that uses a precompiled header of CUDA C++ reads every device function with a body in it, used or not; functions of the host are read when they are used, as in C++.
# Guess: a precompiled header is read lazily, whatever the language: an empty program reads nothing of it.
# Seen: clang 20.1.2 (ziglang 0.15.2), clang 19.1.7 (ziglang 0.14.1) and clang 18.1.6 (ziglang 0.13.0.post1), -cc1 -fcuda-is-device; Linux on x86-64, 2026-12-01. The header's record DECLS_TO_CHECK_FOR_DEFERRED_DIAGS lists the functions.
# Here: the record is given another code, which halves the time of clang's front end for small kernels (crates/compile/src/clang/precompiled.rs).
source "$(dirname "$0")/_find.sh"
# clang's count of functions in the syntax tree of an empty program that uses a header of 1000 functions.
functions_of() {
    for ((i = 0; i < 1000; i++)); do echo "static inline __attribute__(($1)) int f$i(int x) { return x + $i; }"; done > "$FOLDER/$1.h"
    local common=(-triple nvptx64-nvidia-cuda -aux-triple x86_64-unknown-linux-gnu -fcuda-is-device -x cuda)
    "$PY" -m ziglang clang -cc1 "${common[@]}" -emit-pch -o "$FOLDER/$1.pch" "$FOLDER/$1.h"
    : > "$FOLDER/empty.cu"
    "$PY" -m ziglang clang -cc1 "${common[@]}" -include-pch "$FOLDER/$1.pch" -fsyntax-only -print-stats "$FOLDER/empty.cu" 2>&1 |
        sed -n 's/^ *\([0-9]*\) Function decls.*/\1/p' | grep . || echo 0
}
for version in 0.15.2 0.14.1 0.13.0.post1; do
    packages ziglang==$version
    expect "ziglang $version, functions of the host, of the device" "$(functions_of host), $(functions_of device)" "0, 1000"
done
finish
