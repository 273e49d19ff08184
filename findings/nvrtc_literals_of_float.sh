#!/usr/bin/env bash
# Find: NVRTC rounds some literals of type float up where they lie exactly between two floats: 16777217.f becomes 16777218 (0x4B800001) and 33554434.f becomes 33554436, while the conversions (float)16777217 and (float)16777217.0 round to even.
# Guess: a literal is rounded to the nearest float, ties to even, as by gcc, clang and the conversion of an integer.
# Seen: nvidia-cuda-nvrtc 13.0.88, PTX for compute_80; Linux on x86-64, 2026-12-01. NVRTC 13.5.37 rounds all to even, and 13.0.88 some, as 16777221.f.
# Here: the comparison of compilers by random kernels (tests/kernels/fuzz.py) draws no such literals.
source "$(dirname "$0")/_find.sh"
cat > "$FOLDER/literals.py" <<'PYTHON'
"""Prints the bits of constants in NVRTC's PTX."""
import ctypes, glob, re, sysconfig

LIBRARIES = sysconfig.get_paths()["purelib"] + "/nvidia/**/"
for pattern in ("libnvrtc-builtins.so.1*", "libnvrtc.so.1*"):
    nvrtc = ctypes.CDLL(glob.glob(LIBRARIES + pattern, recursive=True)[0], mode=ctypes.RTLD_GLOBAL)

def bits(text):
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    source = f'extern "C" __global__ void f(float *a) {{ *a = {text}; }}'.encode()
    nvrtc.nvrtcCreateProgram(ctypes.byref(program), source, b"f.cu", 0, None, None)
    assert nvrtc.nvrtcCompileProgram(program, 1, (ctypes.c_char_p * 1)(b"--gpu-architecture=compute_80")) == 0
    nvrtc.nvrtcGetPTXSize(program, ctypes.byref(size))
    ptx = ctypes.create_string_buffer(size.value)
    nvrtc.nvrtcGetPTX(program, ptx)
    text = ptx.value.decode()
    number = re.search(r"mov.[bu]32\s+%r1, ([0-9]+)", text).group(1)
    return f"{int(number):08X}"

print(*(bits(text) for text in ("16777217.f", "33554434.f", "16777221.f", "(float)16777217", "(float)16777217.0")))
PYTHON
packages nvidia-cuda-nvrtc==13.0.88
expect "NVRTC 13.0.88" "$("$PY" "$FOLDER/literals.py")" "4B800001 4C000001 4B800002 4B800000 4B800000"
"$PY" -m pip uninstall --quiet --yes nvidia-cuda-nvrtc
packages nvidia-cuda-nvrtc==13.5.37
expect "NVRTC 13.5.37" "$("$PY" "$FOLDER/literals.py")" "4B800000 4C000000 4B800002 4B800000 4B800000"
finish
