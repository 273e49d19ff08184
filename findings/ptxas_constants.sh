#!/usr/bin/env bash
# Find: ptxas stores a single-precision constant in a .f64 variable as raw bits (0f3fc00000 becomes 0x3fc00000), and cuts an integer of more than 64 bits to its low ones; it warns of neither.
# Guess: 0f3fc00000 is 1.5 and becomes the double 1.5; a constant that does not fit is an error, or the largest number.
# Seen: nvidia-cuda-nvcc 13.5.37; Linux on x86-64, 2026-11-28.
# Here: large initialisers are cut in the same way (crates/ptx, tests/integration/operand_forms.rs); 0f in .f64 is converted.
source "$(dirname "$0")/_find.sh"
packages nvidia-cuda-nvcc==13.5.37
cat > "$FOLDER/a.ptx" <<'PTX'
.version 9.0
.target sm_80
.address_size 64
.visible .global .align 8 .f64 single = 0f3fc00000;
.visible .global .align 8 .u64 large = 18446744073709551618;
PTX
cat > "$FOLDER/values.py" <<'PYTHON'
"""Prints a variable's initial value in a cubin, an ELF file: python values.py FILE NAME."""
import struct, sys

data = open(sys.argv[1], "rb").read()
(offset,) = struct.unpack_from("<Q", data, 40)
(count,) = struct.unpack_from("<H", data, 60)
sections = [struct.unpack_from("<IIQQQQIIQQ", data, offset + 64 * i) for i in range(count)]

def text(table, at):
    return data[sections[table][4] + at :].split(b"\0", 1)[0].decode()

for kind, start, size, names in ((s[1], s[4], s[5], s[6]) for s in sections):
    for at in range(start, start + size, 24) if kind == 2 else ():
        name, _, _, section, value, _ = struct.unpack_from("<IBBHQQ", data, at)
        if text(names, name) == sys.argv[2] and sections[section][1] == 1:
            print(hex(struct.unpack_from("<Q", data, sections[section][4] + value)[0]))
PYTHON
PTXAS=$(find "$FOLDER/venv" -name ptxas -type f)
"$PTXAS" -arch sm_80 "$FOLDER/a.ptx" -o "$FOLDER/a.cubin"
expect ".f64 v = 0f3fc00000" "$("$PY" "$FOLDER/values.py" "$FOLDER/a.cubin" single)" 0x3fc00000
expect ".u64 v = 18446744073709551618" "$("$PY" "$FOLDER/values.py" "$FOLDER/a.cubin" large)" 0x2
finish
