#!/usr/bin/env bash
# Find: NVRTC makes an empty kernel of one that stores through a pointer which, depending on an argument, is that of a local variable or of global memory. The local variable is read from a local array that was written at a variable index before; without that write the store is there.
# Guess: the store stays, since it goes to global memory for all arguments but one, and local variables have addresses of their own.
# Seen: nvidia-cuda-nvrtc 13.0.88, PTX for compute_80 and compute_90; Linux on x86-64, 2026-12-01. NVRTC 13.5.37 and clang 20.1.2 keep the store.
# Here: RTCG_COMPILER=clang compiles such kernels; the comparison of compilers by random kernels (tests/kernels/fuzz.py) found this one.
source "$(dirname "$0")/_find.sh"
cat > "$FOLDER/store.py" <<'PYTHON'
"""Prints how many stores to memory NVRTC's PTX has, with the write at a variable index and without it."""
import ctypes, glob, sysconfig

KERNEL = """
extern "C" __global__ void f(const int *given, int *own) {
    int table[2] = {3, 4};
    %s
    int one = table[1];
    int *p = given[1] == 77 ? &one : own + threadIdx.x;
    *p = one;
}"""
LIBRARIES = sysconfig.get_paths()["purelib"] + "/nvidia/**/"
for pattern in ("libnvrtc-builtins.so.1*", "libnvrtc.so.1*"):
    nvrtc = ctypes.CDLL(glob.glob(LIBRARIES + pattern, recursive=True)[0], mode=ctypes.RTLD_GLOBAL)

def stores(source, arch):
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    nvrtc.nvrtcCreateProgram(ctypes.byref(program), source.encode(), b"f.cu", 0, None, None)
    assert nvrtc.nvrtcCompileProgram(program, 1, (ctypes.c_char_p * 1)(f"--gpu-architecture={arch}".encode())) == 0
    nvrtc.nvrtcGetPTXSize(program, ctypes.byref(size))
    ptx = ctypes.create_string_buffer(size.value)
    nvrtc.nvrtcGetPTX(program, ptx)
    return ptx.value.decode().count("\tst.")

for arch in ("compute_80", "compute_90"):
    for write in ("table[given[0] & 1] = 32;", ""):
        print("store" if stores(KERNEL % write, arch) else "none", end=" ")
PYTHON
packages nvidia-cuda-nvrtc==13.0.88
expect "NVRTC 13.0.88" "$("$PY" "$FOLDER/store.py")" "none store none store "
"$PY" -m pip uninstall --quiet --yes nvidia-cuda-nvrtc
packages nvidia-cuda-nvrtc==13.5.37
expect "NVRTC 13.5.37" "$("$PY" "$FOLDER/store.py")" "store store store store "
finish
