"""Launches that ``recorder.c`` wrote on one platform, run on another: ``python -m tests.opencl.replay FILE ...``.

A file is one launch (``.launch``) or a pack of them (``.xz``). Buffers must have the recorded
bytes afterwards, or, where the kernel's argument is one of floating-point numbers, be within `LIMITS`. A kernel that
magnifies rounding errors may differ by more: `NOISE` times what it differs from itself when it is compiled without
contraction of multiplications and additions.
"""

import argparse
import collections
import lzma
import re
import struct
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np

from tests.opencl.opencl_calls import Device, OpenClError

ROOT = Path(__file__).resolve().parents[2]
#: Largest difference of an element, over the largest magnitude in its buffer.
LIMITS = {"float": 1e-6, "double": 1e-13}
NOISE = 4
UNCONTRACTED = b"#pragma OPENCL FP_CONTRACT OFF\n"
#: Work items of a group that a CUDA device runs.
MAX_GROUP = 1024


class Launch(NamedTuple):
    """A kernel's launch with its buffers before and after."""

    source: bytes
    options: bytes
    kernel: bytes
    offset: list
    global_: list
    local: list
    #: ``("buffer", number)``, ``("local_memory", bytes)``, ``("value", bytes)``.
    arguments: list
    before: list
    after: list


def entries(data):
    """``(name, bytes)`` of a record."""
    at = 0
    while at < len(data):
        end = data.index(b"\n", at)
        name, size = data[at:end].split()
        yield name.decode(), data[end + 1 : end + 1 + int(size)]
        at = end + 1 + int(size)


def parse(data):
    """The launches in the bytes of a file, those that the platform refused left out."""
    launches = []
    for name, value in entries(data):
        if name == "source":
            fields = collections.defaultdict(list)
        if name in ("offset", "global", "local"):
            fields[name] = list(struct.unpack(f"<{len(value) // 8}Q", value))
        elif name in ("before", "after"):
            fields[name].append(value)
        elif name in ("buffer", "local_memory"):
            fields["arguments"].append((name, struct.unpack("<Q", value)[0]))
        elif name == "value":
            fields["arguments"].append((name, value))
        elif name == "code":
            sizes = fields["offset"], fields["global"], fields["local"]
            texts = fields["source"], fields["options"], fields["kernel"]
            if value == bytes(4):
                launches.append(Launch(*texts, *sizes, fields["arguments"], fields["before"], fields["after"]))
        else:
            fields[name] = value
    return launches


def pack(paths, to):
    """Writes files of launches to one, without the options, in which PyOpenCL names its folder of headers."""
    data = b""
    for path in paths:
        for name, value in entries(path.read_bytes()):
            value = b"" if name == "options" else value
            data += f"{name} {len(value)}\n".encode() + value
    Path(to).write_bytes(lzma.compress(data, preset=9 | lzma.PRESET_EXTREME))


def load(path):
    """The launches in a file."""
    data = Path(path).read_bytes()
    return parse(lzma.decompress(data) if Path(path).suffix == ".xz" else data)


def number_type(type_name):
    """``float`` or ``double`` for ``float4*``, ``const double *``, else None."""
    found = re.search(r"\b(float|double)\d*\b", type_name)
    return found and found[1]


def resolve_typedef(type_name, source):
    """The type behind a name that the source defines, else the name."""
    name = re.search(r"\w+(?=\W*$)", type_name)
    found = name and re.search(rf"\btypedef\s+(\w+)\s+{name[0]}\s*;", source.decode(errors="replace"))
    return f"{found[1]}*" if found else type_name


def difference(got, expected, type_name):
    """0 for equal bytes, the difference of floating-point numbers over the largest magnitude, else infinity."""
    kind = number_type(type_name)
    if got == expected:
        return 0.0
    if kind is None or len(got) % np.dtype(kind if kind == "double" else "f4").itemsize:
        return float("inf")
    a, b = (np.frombuffer(data, "f8" if kind == "double" else "f4") for data in (got, expected))
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    with np.errstate(all="ignore"):
        largest = np.max(np.abs(b[np.isfinite(b)]), initial=0)
        worst = np.max(np.abs(a - b)[~same], initial=0)
    return float(worst / largest) if largest and np.isfinite(worst) else float("inf")


def replay(device, launch):
    """``(outcome, detail)``: "equal", "within", "within its noise", "does not fit", "differs", "fails"."""
    if np.prod(launch.local or [1]) > MAX_GROUP:
        return "does not fit", f"groups of {launch.local}"
    try:
        buffers, types = device.launch(launch)
        types = [resolve_typedef(type_name, launch.source) for type_name in types]
        errors = [difference(*row) for row in zip(buffers, launch.after, types, strict=True)]
        limits = [LIMITS.get(number_type(type_name), 0) for type_name in types]
        outcome = "within" if any(errors) else "equal"
        if any(error > limit for error, limit in zip(errors, limits, strict=True)):
            outcome = "within its noise"
            others = device.launch(launch._replace(source=UNCONTRACTED + launch.source))[0]
            noise = [difference(*row) for row in zip(others, buffers, types, strict=True)]
            limits = [max(limit, NOISE * own) for limit, own in zip(limits, noise, strict=True)]
    except OpenClError as error:
        return "fails", str(error)
    for number, (error, limit) in enumerate(zip(errors, limits, strict=True)):
        # What is not finite in one of the two has no noise.
        if error > limit or np.isinf(error):
            return "differs", f"buffer {number} ({types[number]}): {error:.3g}"
    worst = max(range(len(errors)), key=errors.__getitem__, default=None)
    return outcome, "" if outcome == "equal" else f"{types[worst]}: {errors[worst]:.3g}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--library", default=ROOT / "dist" / "opencl" / "libOpenCL.so.1")
    parser.add_argument("files", nargs="+")
    arguments = parser.parse_args()
    files = [path for name in arguments.files for path in (sorted(Path(name).glob("*")) or [Path(name)])]
    device, counts = Device(arguments.library), collections.Counter()
    for path in files:
        for launch in load(path):
            outcome, detail = replay(device, launch)
            counts[outcome] += 1
            if outcome not in ("equal", "within", "does not fit"):
                print(f"{path.name}: {launch.kernel.decode()}: {outcome}: {detail}", flush=True)
    print(", ".join(f"{count} {outcome}" for outcome, count in counts.items()))
    sys.exit(bool(counts["differs"] + counts["fails"]) or not counts)


if __name__ == "__main__":
    main()
