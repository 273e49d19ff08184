"""Cases of the form ``out[i] = f(a[i], b[i], ...)``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any
from zlib import crc32

import numpy as np

from tests.kernels.case import Launch, Suite, poisoned
from tests.kernels.compare import Comparison, Exact

DTYPES: dict[str, Any] = {
    "signed char": np.int8, "unsigned char": np.uint8, "short": np.int16, "unsigned short": np.uint16,
    "int": np.int32, "unsigned int": np.uint32, "long long": np.int64, "unsigned long long": np.uint64,
    "float": np.float32, "double": np.float64, "bool": np.uint8,
    "__half": np.uint16, "__nv_bfloat16": np.uint16, "__half2": np.uint32, "__nv_bfloat162": np.uint32,
}

#: Block shapes that the cases take in turn: whole warps, one thread, partial warps, two and three dimensions.
BLOCKS: tuple[tuple[int, ...], ...] = (
    (64, 1, 1), (33, 1, 1), (256, 1, 1), (1024, 1, 1), (16, 16, 1), (96, 1, 1), (7, 5, 3), (32, 1, 1), (1, 1, 1), (100, 1, 1),
)


def block_for(name: str) -> tuple[int, ...]:
    """A block shape that depends only on the case's name."""
    return BLOCKS[crc32(name.encode()) % len(BLOCKS)]


INDEX = (
    "blockIdx.x * (blockDim.x * blockDim.y * blockDim.z)"
    " + (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x"
)


def elementwise(
    suite: Suite,
    name: str,
    params: str,
    result: str,
    body: str,
    inputs: Sequence[np.ndarray],
    oracle: Callable[..., Any],
    *,
    preamble: str = "",
    compare: Comparison = Exact(),
    options: tuple[str, ...] = (),
    scalar: bool = False,
    block: tuple[int, ...] | None = None,
    out_dtype: Any = None,
) -> None:
    """Add a case whose kernel applies `body` to each element.

    `params` are C declarations such as ``"int a, int b"``; `body` is an
    expression, or statements that assign ``r``. `oracle` takes the input arrays
    (or, with `scalar`, one Python value of each) and gives the results.
    """
    block = block or block_for(name)
    declared = [p.strip().rsplit(" ", 1) for p in params.split(",")]
    n = len(inputs[0])
    pointers = "".join(f", const {t} *in_{v}" for t, v in declared)
    loads = "".join(f"        {t} {v} = in_{v}[element_];\n" for t, v in declared)
    assign = body if ";" in body else f"r = {body};"
    includes = "#include" in preamble or "template" in preamble
    linkage = 'extern "C" ' if includes else ""
    source = (
        f"{preamble}\n{linkage}__global__ void k(int n, {result} *out{pointers})\n{{\n"
        f"    int element_ = {INDEX};\n    if (element_ < n) {{\n{loads}        {result} r;\n        {assign}\n        out[element_] = r;\n    }}\n}}\n"
    )
    buffers: dict[str, np.ndarray] = {}
    for (ctype, var), array in zip(declared, inputs, strict=True):
        if array.dtype != DTYPES[ctype] or len(array) != n:
            raise ValueError(f"{name}: {var} is {array.dtype}[{len(array)}], declared {ctype}, n = {n}")
        buffers[f"in_{var}"] = array
    dtype = np.dtype(out_dtype or DTYPES[result])
    buffers["out"] = poisoned(n, dtype)

    def expect(given: Any) -> dict[str, np.ndarray]:
        arrays = [given[f"in_{v}"] for _, v in declared]
        with np.errstate(all="ignore"):
            if scalar:
                return {"out": np.array([oracle(*(x.item() for x in xs)) for xs in zip(*arrays)], dtype=dtype)}
            return {"out": np.asarray(oracle(*arrays))}

    threads = int(np.prod(block))
    launch = Launch(
        [np.int32(n), "out", *(f"in_{v}" for _, v in declared)], grid=(-(-n // threads),), block=block
    )
    suite.add(
        name, source, launch, buffers=buffers, expect=expect, compare=compare, options=options, no_extern_c=includes
    )


def wrap(value: int, bits: int, signed: bool) -> int:
    """`value` modulo 2**bits, as two's complement if `signed`."""
    value &= (1 << bits) - 1
    return value - (1 << bits) if signed and value >> (bits - 1) else value


def s32(value: int) -> int:
    return wrap(value, 32, True)


def u32(value: int) -> int:
    return wrap(value, 32, False)


def s64(value: int) -> int:
    return wrap(value, 64, True)


def u64(value: int) -> int:
    return wrap(value, 64, False)
