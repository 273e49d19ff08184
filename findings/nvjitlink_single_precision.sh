#!/usr/bin/env bash
# Find: of the options about single precision that LTO-IR was compiled with, nvJitLink keeps those of square roots (-prec-sqrt and their .ftz) and forgets -fmad, -ftz and -prec-div; of its own it ignores -prec-sqrt.
# Guess: the link decides all of them, since code is generated there, as its options suggest; or each unit keeps its own.
# Seen: nvidia-cuda-nvrtc 13.0.88 with nvidia-nvjitlink 13.0.88; Linux on x86-64, 2026-11-28.
# Here: the table of link-time optimisation in docs/compiler.md.
source "$(dirname "$0")/_find.sh"
cat > "$FOLDER/link.py" <<'PYTHON'
"""Prints the arithmetic of a kernel that was compiled with the options before "link" and linked with those behind it."""
import ctypes, glob, re, sys, sysconfig

LIBRARIES = sysconfig.get_paths()["purelib"] + "/nvidia/**/"
for pattern in ("libnvrtc-builtins.so.13*", "libnvrtc.so.13", "libnvJitLink.so.13"):
    library = ctypes.CDLL(glob.glob(LIBRARIES + pattern, recursive=True)[0], mode=ctypes.RTLD_GLOBAL)
    if pattern.startswith("libnvrtc.so"):
        nvrtc = library
at = sys.argv.index("link")
SOURCE = b'extern "C" __global__ void k(float *a) { a[0] = sqrtf(a[1]); a[2] = a[3] / a[4]; a[5] = a[6] * a[7] + a[8]; }'

def strings(*options):
    return len(options), (ctypes.c_char_p * len(options))(*(option.encode() for option in options))

def buffer(size, get, handle):
    count = ctypes.c_size_t()
    assert size(handle, ctypes.byref(count)) == 0
    data = ctypes.create_string_buffer(count.value)
    assert get(handle, data) == 0
    return data.raw

program, link = ctypes.c_void_p(), ctypes.c_void_p()
nvrtc.nvrtcCreateProgram(ctypes.byref(program), SOURCE, b"k.cu", 0, None, None)
assert nvrtc.nvrtcCompileProgram(program, *strings("-arch=compute_80", "-dlto", *sys.argv[1:at])) == 0
ltoir = buffer(nvrtc.nvrtcGetLTOIRSize, nvrtc.nvrtcGetLTOIR, program)
def resolve(name):
    try:
        return getattr(library, name)
    except AttributeError:
        return getattr(library, f"__{name}_13_0")
assert resolve("nvJitLinkCreate")(ctypes.byref(link), *strings("-lto", "-arch=sm_80", "-ptx", *sys.argv[at + 1 :])) == 0
assert resolve("nvJitLinkAddData")(link, 3, ltoir, ctypes.c_size_t(len(ltoir)), b"k") == 0
assert resolve("nvJitLinkComplete")(link) == 0
ptx = buffer(resolve("nvJitLinkGetLinkedPtxSize"), resolve("nvJitLinkGetLinkedPtx"), link).decode()
print(*sorted(set(re.findall(r"(?:sqrt|div|fma|mul)\.[a-z.]*f32", ptx))))
PYTHON
packages nvidia-cuda-nvrtc==13.0.88 nvidia-nvjitlink==13.0.88
arithmetic() { "$PY" "$FOLDER/link.py" "$@"; }
expect "no option" "$(arithmetic link)" "div.rn.f32 fma.rn.f32 sqrt.rn.f32"
expect "compiled with -fmad=false -prec-div=false" "$(arithmetic -fmad=false -prec-div=false link)" "div.rn.f32 fma.rn.f32 sqrt.rn.f32"
expect "compiled with -ftz=true" "$(arithmetic -ftz=true link)" "div.rn.f32 fma.rn.f32 sqrt.rn.ftz.f32"
expect "compiled with -prec-sqrt=false" "$(arithmetic -prec-sqrt=false link)" "div.rn.f32 fma.rn.f32 sqrt.approx.f32"
expect "linked with -prec-sqrt=0" "$(arithmetic link -prec-sqrt=0)" "div.rn.f32 fma.rn.f32 sqrt.rn.f32"
expect "linked with -ftz=1 -prec-div=0 -fma=0" "$(arithmetic link -ftz=1 -prec-div=0 -fma=0)" "div.full.ftz.f32 mul.rn.ftz.f32 sqrt.rn.f32"
finish
