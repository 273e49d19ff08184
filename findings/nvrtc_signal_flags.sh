#!/usr/bin/env bash
# Find: the first compilation by NVRTC replaces the flags of the process' handlers of SIGINT, SIGTERM and SIGXFSZ: SA_ONSTACK is lost, SA_RESTART is added; the handlers themselves are put back.
# Guess: a compiler in a library leaves signal handlers alone, or restores all that sigaction knows of them.
# Seen: nvidia-cuda-nvrtc 13.0.88 and nvidia-cuda-nvrtc-cu12 12.9.86 change them, nvidia-cuda-nvrtc 13.5.37 does not; Linux on x86-64, 2026-11-28.
# Here: compilations save and restore the dispositions of these signals (crates/compile).
source "$(dirname "$0")/_find.sh"
cat > "$FOLDER/flags.py" <<'PYTHON'
"""Prints the signals whose sigaction differs after a first compilation, with the flags that came and went."""
import ctypes, glob, sys, sysconfig

LIBRARIES = sysconfig.get_paths()["purelib"] + "/nvidia/**/"
libc = ctypes.CDLL(None)

def dispositions():
    found = {}
    for number in range(1, 32):
        action = (ctypes.c_ulong * 19)()  # struct sigaction of glibc: handler, mask of 128 bytes, flags, restorer
        if libc.sigaction(number, None, action) == 0:
            found[number] = (action[0], action[17] & 0xFFFFFFFF)
    return found

FLAGS = {0x08000000: "SA_ONSTACK", 0x10000000: "SA_RESTART"}
before = dispositions()
for pattern in ("libnvrtc-builtins.so.1*", "libnvrtc.so.1*"):
    nvrtc = ctypes.CDLL(glob.glob(LIBRARIES + pattern, recursive=True)[0], mode=ctypes.RTLD_GLOBAL)
program = ctypes.c_void_p()
nvrtc.nvrtcCreateProgram(ctypes.byref(program), b"__global__ void f(int *x) { *x = 1; }", b"f.cu", 0, None, None)
assert nvrtc.nvrtcCompileProgram(program, 0, None) == 0
changes = []
for number, (handler, flags) in dispositions().items():
    old_handler, old_flags = before[number]
    lost, gained = ([n for bit, n in FLAGS.items() if mask & bit] for mask in (old_flags & ~flags, flags & ~old_flags))
    if handler != old_handler or lost or gained:
        changes.append(f"{number}{' handler' if handler != old_handler else ''} -{'|'.join(lost)} +{'|'.join(gained)}")
print("; ".join(changes) or "none")
PYTHON
packages nvidia-cuda-nvrtc==13.0.88
expect "NVRTC 13.0.88" "$("$PY" "$FOLDER/flags.py")" "2 -SA_ONSTACK +SA_RESTART; 15 - +SA_RESTART; 25 -SA_ONSTACK +SA_RESTART"
"$PY" -m pip uninstall --quiet --yes nvidia-cuda-nvrtc
packages nvidia-cuda-nvrtc==13.5.37
expect "NVRTC 13.5.37" "$("$PY" "$FOLDER/flags.py")" "none"
finish
