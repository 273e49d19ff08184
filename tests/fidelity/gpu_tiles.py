"""Hashes of what tensor cores compute: every `mma`, `mma.sp` and `wmma` of compute capability 8.0, 2^20 tiles of each.

`python gpu_tiles.py [--tiles N] [--only REGEX] [--against FILE] [--hashes FILE] [--dump CASE FIRST COUNT]`, from the
project's root. Tiles are made by the kernel from their number alone, so that two devices have the same. A tile's number
modulo 8 is its style (`number_bits`): moderate numbers, a wide range of exponents, few exponents with ties, another
wide range with short significands, subnormal numbers, zeros and ones, some infinities and NaNs, products that overflow.

A line is `gpu_tiles|case|hash of the first 2^15 tiles, hash of all, first results`. A chunk is 512 tiles; `--hashes`
writes a hash of each chunk. `--against` reads such a file of another device, says which chunks differ, and writes the
result of the first one that does to `gpu_tiles.zip` in the folder `$OUT` (for each tile and register 32 words, of the
lanes). `--dump` writes all registers of the named case there, in the order a, b, c, metadata, d.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import time

from common import Results, alloc, c_void_p, compile_cuda, cu, function, get, h8, init, launch, load, say, u32

Q = "gpu_tiles"
CHUNK = 512

PRELUDE = r"""
typedef unsigned long long u64;
__device__ __forceinline__ unsigned mix(unsigned x) {
  x ^= x >> 16; x *= 0x7feb352du; x ^= x >> 15; x *= 0x846ca68bu; return x ^ x >> 16; }
// Bits of a number with E exponent and M fraction bits. `center` is the exponent of a product of this style.
__device__ __forceinline__ unsigned number_bits(unsigned r, unsigned style, int E, int M, bool addend, int center) {
  unsigned q = mix(r ^ 0x9e3779b9u), fraction = r & ((1u << M) - 1), sign = q >> 31;
  int bias = (1 << (E - 1)) - 1, top = (1 << E) - 1, e;
  unsigned c = q & 0xffff;
  if (addend) { e = bias + center - 4 + (int)(c % 12); if (style == 6 && c % 64 == 0) e = top;
    if (style == 2 && c & 0x1000) fraction = 0; if (style == 5) { e = c & 0x100 ? bias : 0; fraction = 0; } }
  else if (style == 0) e = bias - 3 + (int)(c % 7);
  else if (style == 1) e = 1 + (int)(c % (bias + bias / 2));
  else if (style == 2) { e = bias + (int)(c % 2); if (c & 0xc00) fraction = 0; }
  else if (style == 3) { e = bias - 12 + (int)(c % 17); fraction &= ~0u << (M / 2); }
  else if (style == 4) e = c & 0x700 ? c % 4 : bias + (int)(c % 8);
  else if (style == 5) { e = c & 1 ? 0 : bias; fraction = 0; }
  else if (style == 6) { e = c % 64 == 0 ? top : bias - 3 + (int)(c % 7); if (c & 0x4000) fraction = 0; }
  else e = (c & 0xfff) == 0 ? top - 1 : bias + bias / 2 - 2 + (int)(c % 3);
  e = e < 0 ? 0 : e > top - 1 && !(style == 6) ? top - 1 : e;
  return sign << (E + M) | (unsigned)e << M | fraction; }
__device__ __forceinline__ int center_of(unsigned style, int bias) {
  return style == 4 ? 1 - bias : style == 7 ? bias - 7 : 0; }
__device__ __forceinline__ unsigned halves(unsigned r, unsigned style, int E, int M, bool addend, int center) {
  return number_bits(mix(r + 1), style, E, M, addend, center) | number_bits(mix(r + 2), style, E, M, addend, center) << 16; }
// Bits of integers; some styles have the extreme values only, or sums near them.
__device__ __forceinline__ unsigned integers(unsigned r, unsigned style, unsigned low, unsigned high) {
  if (style == 5) return r & 0x80 ? low : high; return style == 2 ? (r & high) : r; }
__device__ __forceinline__ unsigned addend_integer(unsigned r, unsigned style) {
  return style & 1 ? (r >> 31 ? 0x80000000u : 0x7fffffffu) ^ (r & 0x3ffu) : r; }
__device__ __forceinline__ unsigned nibbles(unsigned r, bool pairs) {
  unsigned out = 0;
  for (int i = 0; i < 8; i++) { unsigned x = mix(r + i);
    out |= (pairs ? (0xe4u >> (x & 1) * 4 & 15) : (0xedc984u >> x % 6 * 4 & 15)) << 4 * i; }
  return out; }
"""  # noqa: E501

KERNEL = r"""
extern "C" __global__ void NAME(u64 *out, unsigned *raw, unsigned first, unsigned per_warp) {
  __shared__ unsigned memory[4][32 * 32];
  unsigned lane = threadIdx.x & 31, warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32; u64 sum = 0;
  #pragma unroll 1
  for (unsigned i = 0; i < per_warp; i++) {
    unsigned tile = first + warp * per_warp + i, style = tile & 7, seed = mix(tile * 64 + lane * 0x2545f491u);
    REGISTERS
    unsigned h = 0;
    for (int j = 0; j < ND; j++) h = mix(h ^ d[j]) + j;
    sum = sum * 0x100000001b3ull + h;
    if (raw) { unsigned *p = raw + (u64)(tile - first) * (TOTAL * 32) + lane; DUMP } }
  out[warp * 32 + lane] = sum; }
"""

FORMATS = {"f16": (5, 10), "bf16": (8, 7), "tf32": (8, 23), "f32": (8, 23), "f64": (11, 20)}
#: The extreme values of elements in a register.
EXTREMES = {
    "s8": (0x80808080, 0x7F7F7F7F),
    "u8": (0, 0xFFFFFFFF),
    "s4": (0x88888888, 0x77777777),
    "u4": (0, 0xFFFFFFFF),
    "b1": (0, 0xFFFFFFFF),
}


def element(ty: str, factor: str, role: str) -> str:
    """The value of register `j`, of 32 bits, of `role`; of doubles the upper half."""
    r = "mix(seed + j * 0x85ebca6bu)"
    addend = role == "c"
    bias = (1 << (FORMATS[factor][0] - 1)) - 1 if factor in FORMATS else 0
    if ty == "s32":
        return f"addend_integer({r}, style)"
    if ty in EXTREMES:
        return f"integers({r}, style, {EXTREMES[ty][0]}u, {EXTREMES[ty][1]}u)"
    exponent, fraction = FORMATS[ty]
    call = f"{r}, style, {exponent}, {fraction}, {str(addend).lower()}, center_of(style, {bias}))"
    return ("halves(" if ty in ("f16", "bf16") else "number_bits(") + call


class Case:
    """One instruction."""

    def __init__(self, instruction: str, types: list[str], counts: list[int], metadata: str | None = None):
        self.instruction, self.types, self.counts, self.metadata = instruction, types, counts, metadata
        self.name = re.sub(r"\.sync\.aligned|\.row\.col", "", instruction) + (f" {metadata[-3:]}" if metadata else "")
        self.symbol = "k_" + re.sub(r"\W", "_", self.name)

    def kernel(self) -> str:
        """CUDA C of the kernel."""
        d_type, a_type, b_type, c_type = self.types
        nd, na, nb, nc = self.counts
        double = a_type == "f64"
        width = 2 if double else 1
        lines, slot = ["unsigned *m = memory[threadIdx.x / 32] + lane;"], 0
        for role, ty, n in (("a", a_type, na), ("b", b_type, nb), ("c", c_type, nc)):
            # A loop keeps the text short: the registers come from shared memory.
            value = element(ty, a_type, role)
            if double:
                value = f"j & 1 ? (style == 2 || style == 5 ? 0u : mix(seed + j * 0xc2b2ae35u)) : {value}"
            lines.append("#pragma unroll 1")
            lines.append(f"for (unsigned j = {slot}; j < {slot + width * n}; j++) m[32 * j] = {value};")
            lines.append(f"unsigned {role}[{width * n}];")
            lines.append(f"for (unsigned j = 0; j < {width * n}; j++) {role}[j] = m[32 * (j + {slot})];")
            slot += width * n
        total = width * (nd + na + nb + nc)

        def constraint(role, i):
            return f'"l"((u64){role}[{2 * i}] << 32 | {role}[{2 * i + 1}])' if double else f'"r"({role}[{i}])'

        inputs = [constraint(r, i) for r, n in (("a", na), ("b", nb), ("c", nc)) for i in range(n)]
        numbers = iter(range(100))
        groups = ["{" + ", ".join(f"%{next(numbers)}" for _ in range(n)) + "}" for n in (nd, na, nb, nc)]
        text = f"{self.instruction} {', '.join(groups)}"
        if self.metadata:
            pairs, selector = self.metadata.split()[0], self.metadata.split()[1]
            lines.append(f"unsigned metadata = nibbles(mix(seed + 77u), {pairs});")
            inputs.append('"r"(metadata)')
            text += f", %{next(numbers)}, {selector}"
            total += 1
        text += ";"
        if double:  # Registers of doubles are moved to and from integers.
            text = self.double_text(text, nd, na + nb + nc)
            lines += [f"u64 w[{nd}];"]
            outputs = [f'"=l"(w[{i}])' for i in range(nd)]
        else:
            outputs = [f'"=r"(d[{i}])' for i in range(nd)]
        lines.append(f"unsigned d[{width * nd}];")
        lines.append(f'asm volatile("{text}" : {", ".join(outputs)} : {", ".join(inputs)});')
        if double:
            lines += [f"d[{2 * i}] = w[{i}] >> 32; d[{2 * i + 1}] = w[{i}];" for i in range(nd)]
        dumped = [f"{r}[{i}]" for r, n in (("a", na), ("b", nb), ("c", nc)) for i in range(width * n)]
        dumped += ["metadata"] if self.metadata else []
        dumped += [f"d[{i}]" for i in range(width * nd)]
        self.total, self.results = total, width * nd
        dump = " ".join(f"p[{32 * i}] = {v};" for i, v in enumerate(dumped))
        kernel = KERNEL.replace("NAME", self.symbol).replace("REGISTERS", "\n    ".join(lines))
        return kernel.replace("ND", str(width * nd)).replace("TOTAL", str(total)).replace("DUMP", dump)

    @staticmethod
    def double_text(text: str, nd: int, inputs: int) -> str:
        """The instruction on registers of `.f64` in between."""
        before = "".join(f"mov.b64 x{nd + i}, %{nd + i}; " for i in range(inputs))
        after = "".join(f" mov.b64 %{i}, x{i};" for i in range(nd))
        body = re.sub(r"%(\d+)", r"x\1", text)
        return f"{{ .reg .f64 x<{nd + inputs}>; {before}{body}{after} }}"


def dense_cases() -> list[Case]:
    """`mma`."""
    mma = "mma.sync.aligned."
    cases = []
    for d, c in (("f32", "f32"), ("f32", "f16"), ("f16", "f16")):
        for layouts in ("row.col", "row.row", "col.col", "col.row"):
            n = {"f32": 8, "f16": 4}
            cases.append(Case(f"{mma}m8n8k4.{layouts}.{d}.f16.f16.{c}", [d, "f16", "f16", c], [n[d], 2, 2, n[c]]))
    for k, na, nb in ((8, 2, 1), (16, 4, 2)):
        cases.append(Case(f"{mma}m16n8k{k}.row.col.f16.f16.f16.f16", ["f16"] * 4, [2, na, nb, 2]))
        for ty in ("f16", "bf16"):
            cases.append(Case(f"{mma}m16n8k{k}.row.col.f32.{ty}.{ty}.f32", ["f32", ty, ty, "f32"], [4, na, nb, 4]))
    for k, na, nb in ((4, 2, 1), (8, 4, 2)):
        cases.append(Case(f"{mma}m16n8k{k}.row.col.f32.tf32.tf32.f32", ["f32", "tf32", "tf32", "f32"], [4, na, nb, 4]))
    cases.append(Case(f"{mma}m8n8k4.row.col.f64.f64.f64.f64", ["f64"] * 4, [2, 1, 1, 2]))
    for types, shapes in (
        ("s8 u8", (("m8n8k16", 2, 1, 1), ("m16n8k16", 4, 2, 1), ("m16n8k32", 4, 4, 2))),
        ("s4 u4", (("m8n8k32", 2, 1, 1), ("m16n8k32", 4, 2, 1), ("m16n8k64", 4, 4, 2))),
    ):
        for shape, nd, na, nb in shapes:
            for a in types.split():
                for b in types.split():
                    for sat in ("", ".satfinite"):
                        name = f"{mma}{shape}.row.col{sat}.s32.{a}.{b}.s32"
                        cases.append(Case(name, ["s32", a, b, "s32"], [nd, na, nb, nd]))
    for shape, nd, na, nb in (("m8n8k128", 2, 1, 1), ("m16n8k128", 4, 2, 1), ("m16n8k256", 4, 4, 2)):
        for op in ("xor", "and"):
            name = f"{mma}{shape}.row.col.s32.b1.b1.s32.{op}.popc"
            cases.append(Case(name, ["s32", "b1", "b1", "s32"], [nd, na, nb, nd]))
    return cases


def sparse_cases() -> list[Case]:
    """`mma.sp`, with each selector that the shape has."""
    cases = []
    for ty, small, large in (
        ("f16", 16, 32),
        ("bf16", 16, 32),
        ("tf32", 8, 16),
        ("s8", 32, 64),
        ("u8", 32, 64),
        ("s4", 64, 128),
        ("u4", 64, 128),
    ):
        for k, n in ((small, 2), (large, 4)):
            whole = ty in EXTREMES
            selectors = (1 if k == large else 2) if whole else (2 if k == large else 4)
            for d in ("s32",) if whole else ("f32", "f16") if ty == "f16" else ("f32",):
                nd = 2 if d == "f16" else 4
                for selector in range(selectors):
                    for sat in ("", ".satfinite") if whole and selector == 0 else ("",):
                        name = f"mma.sp.sync.aligned.m16n8k{k}.row.col{sat}.{d}.{ty}.{ty}.{d}"
                        pairs = "true" if ty == "tf32" else "false"
                        cases.append(Case(name, [d, ty, ty, d], [nd, n, n, nd], f"{pairs} 0x{selector}"))
    return cases


def wmma_cases() -> list[Case]:
    """`wmma.mma`, on registers that hold anything."""
    wmma = "wmma.mma.sync.aligned.row.col."
    shapes = {"m16n16k16": (16, 16), "m32n8k16": (32, 8), "m8n32k16": (8, 32)}
    cases = []
    for shape, (m, n) in shapes.items():
        for d in ("f32", "f16"):
            for c in ("f32", "f16"):
                size = {"f32": 8, "f16": 4}
                cases.append(Case(f"{wmma}{shape}.{d}.{c}", [d, "f16", "f16", c], [size[d], 8, 8, size[c]]))
        cases.append(Case(f"{wmma}{shape}.f32.bf16.bf16.f32", ["f32", "bf16", "bf16", "f32"], [8, m // 4, n // 4, 8]))
        for ty in ("s8", "u8"):
            for sat in ("", ".satfinite"):
                name = f"{wmma}{shape}.s32.{ty}.{ty}.s32{sat}"
                cases.append(Case(name, ["s32", ty, ty, "s32"], [8, m // 8, n // 8, 8]))
    cases.append(Case(f"{wmma}m16n16k8.f32.tf32.tf32.f32", ["f32", "tf32", "tf32", "f32"], [8, 4, 4, 8]))
    for rounding in ("", ".rz", ".rm", ".rp"):
        cases.append(Case(f"{wmma}m8n8k4{rounding}.f64.f64.f64.f64", ["f64"] * 4, [2, 1, 1, 2]))
    for ty in ("s4", "u4"):
        for sat in ("", ".satfinite"):
            cases.append(Case(f"{wmma}m8n8k32.s32.{ty}.{ty}.s32{sat}", ["s32", ty, ty, "s32"], [2, 1, 1, 2]))
    for op in ("xor", "and"):
        name = f"wmma.mma.{op}.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32"
        cases.append(Case(name, ["s32", "b1", "b1", "s32"], [2, 1, 1, 2]))
    return cases


LAYOUT_KERNEL = r"""
extern "C" __global__ void NAME(u64 *out, unsigned *raw, unsigned first, unsigned per_warp) {
  __shared__ __align__(32) unsigned memory[4][1024];
  unsigned lane = threadIdx.x & 31, warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32; u64 sum = 0;
  unsigned *m = memory[threadIdx.x / 32];
  for (unsigned i = 0; i < per_warp; i++) {
    unsigned tile = first + warp * per_warp + i;
    #pragma unroll 1
    for (int j = lane; j < WORDS; j += 32) m[j] = WORD;
    __syncwarp();
    unsigned d[COUNT]; LOAD
    __syncwarp();
    for (int j = lane; j < WORDS; j += 32) m[j] = 0;
    __syncwarp();
    STORE
    __syncwarp();
    unsigned h = 0;
    for (int j = 0; j < COUNT; j++) h = mix(h ^ d[j]) + j;
    for (int j = lane; j < WORDS; j += 32) h = mix(h ^ m[j]) + j;
    sum = sum * 0x100000001b3ull + h;
    if (raw) for (int j = 0; j < COUNT; j++) raw[(u64)(tile - first) * (COUNT * 32) + j * 32 + lane] = d[j];
    __syncwarp(); }
  out[warp * 32 + lane] = sum; }
"""


class Layout:
    """`wmma.load` of one fragment, and `wmma.store` of an accumulator: where the elements of a matrix are."""

    def __init__(self, role: str, shape: str, ty: str, layout: str, registers: int, gap: int):
        self.role, self.shape, self.ty, self.layout, self.registers, self.gap = role, shape, ty, layout, registers, gap
        self.name = f"wmma.load.{role}.{layout}.{shape}.{ty}" + (f" gap {gap}" if gap else "")
        self.symbol = "k_" + re.sub(r"\W", "_", self.name)
        self.total = self.results = registers * (2 if ty == "f64" else 1)

    def kernel(self) -> str:
        """CUDA C of the kernel."""
        m, n, k = map(int, re.findall(r"\d+", self.shape))
        rows, cols = {"a": (m, k), "b": (k, n)}.get(self.role, (m, n))
        length = cols if self.layout == "row" else rows
        bits = {"f64": 64, "b1": 1}.get(self.ty, int(re.sub(r"\D", "", self.ty)[-2:]))
        double, count = self.ty == "f64", self.registers
        variable, constraint = ("w", "d") if double else ("d", "r")

        def numbers(first):
            return "{" + ", ".join(f"%{first + i}" for i in range(count)) + "}"

        def operands(prefix):
            return ", ".join(f'"{prefix}{constraint}"({variable}[{i}])' for i in range(count))

        address = '"l"(__cvta_generic_to_shared(m))'
        name = f"{self.layout}.{self.shape}.shared.{self.ty}"
        load = (
            f'asm volatile("wmma.load.{self.role}.sync.aligned.{name} {numbers(0)}, [%{count}], {length + self.gap};"'
        )
        load += f' : {operands("=")} : {address} : "memory");'
        if double:
            words = (
                f"d[{2 * i}] = __double2hiint(w[{i}]); d[{2 * i + 1}] = __double2loint(w[{i}]);" for i in range(count)
            )
            load = f"double w[{count}]; {load} {' '.join(words)}"
        store = ""
        if self.role == "c":
            other, pitch = ("col", rows) if self.layout == "row" else ("row", cols)
            name = f"{other}.{self.shape}.shared.{self.ty}"
            store = f'asm volatile("wmma.store.d.sync.aligned.{name} [%0], {numbers(1)}, {pitch + self.gap};"'
            store += f' :: {address}, {operands("")} : "memory");'
        words = max(rows * (cols + self.gap), cols * (rows + self.gap)) * bits // 32
        places = {"NAME": self.symbol, "WORDS": words, "WORD": "mix(tile * 4096 + j)", "COUNT": self.total}
        places |= {"LOAD": load, "STORE": store}
        return re.sub(r"\b(NAME|WORDS|WORD|COUNT|LOAD|STORE)\b", lambda m: str(places[m[0]]), LAYOUT_KERNEL)


def layout_cases() -> list[Layout]:
    """Each fragment of `wmma` in each layout."""
    cases = []
    for shape in ("m16n16k16", "m32n8k16", "m8n32k16"):
        m, n = map(int, re.findall(r"\d+", shape)[:2])
        for ty in ("f16", "bf16", "s8", "u8"):
            bits = 8 if ty[1:] == "8" else 16
            for role, rows in (("a", m), ("b", n)):
                registers = 8 if ty == "f16" else rows * 16 * bits // 1024
                cases += [
                    Layout(role, shape, ty, layout, registers, gap) for layout in ("row", "col") for gap in (0, 16)
                ]
        for ty, registers in (("f16", 4), ("f32", 8), ("s32", 8)):
            cases += [Layout("c", shape, ty, layout, registers, gap) for layout in ("row", "col") for gap in (0, 8)]
    for role in ("a", "b"):
        cases += [Layout(role, "m16n16k8", "tf32", layout, 4, 0) for layout in ("row", "col")]
        cases += [Layout(role, "m8n8k4", "f64", layout, 1, 0) for layout in ("row", "col")]
        own = "row" if role == "a" else "col"
        cases += [
            Layout(role, shape, ty, own, 1, 0)
            for shape, ty in (("m8n8k32", "s4"), ("m8n8k32", "u4"), ("m8n8k128", "b1"))
        ]
    for layout in ("row", "col"):
        cases.append(Layout("c", "m16n16k8", "f32", layout, 8, 0))
        cases.append(Layout("c", "m8n8k4", "f64", layout, 2, 0))
        cases += [Layout("c", shape, "s32", layout, 2, 0) for shape in ("m8n8k32", "m8n8k128")]
    return cases


class Device:
    """Runs cases; each group of them is one module."""

    def __init__(self, tiles: int):
        self.chunks, self.out = tiles // CHUNK, alloc(tiles // CHUNK * 32 * 8)
        self.archive = Results("gpu_tiles.zip")

    def hashes(self, function_handle: c_void_p, chunks: int) -> list[str]:
        """A hash of each chunk of tiles."""
        blocks = (chunks + 3) // 4
        launch(function_handle, blocks, min(128, 32 * chunks), (self.out, 0, 0, CHUNK))
        data = get(self.out, 256 * chunks)
        return [hashlib.sha1(data[256 * i : 256 * (i + 1)]).hexdigest()[:8] for i in range(chunks)]

    def registers(self, function_handle: c_void_p, case: Case | Layout, first: int, count: int) -> bytes:
        """All registers of some tiles."""
        raw = alloc(count * case.total * 128)
        launch(function_handle, 1, 32, (self.out, raw, first, count))
        data = get(raw, count * case.total * 128)
        cu("cuMemFree_v2", raw)
        return data


def groups(pattern: str) -> list[list[Case | Layout]]:
    """The cases whose names match, in modules of a size that compiles fast."""
    modules = []
    for cases in (dense_cases(), sparse_cases(), wmma_cases(), layout_cases()):
        modules += [cases[i : i + 40] for i in range(0, len(cases), 40)]
    return [m for m in modules if any(re.search(pattern, c.name) for c in m)]


def write_registers(device: Device, handle: c_void_p, case: Case | Layout, first: int, count: int, whole: bool) -> None:
    """Writes the results of some tiles, or with `whole` all registers, to the archive."""
    data, total, kept = device.registers(handle, case, first, count), 128 * case.total, 128 * case.results
    if not whole:
        data = b"".join(data[i + total - kept : i + total] for i in range(0, len(data), total))
    name = re.sub(r"\W+", "_", f"{case.name} {first}") + ".bin"
    if device.archive.write(name, data):
        registers = case.total if whole else case.results
        say(Q, case.name + " registers", f"tiles {first}..{first + count - 1}, {registers} registers, {name}")


def main() -> None:
    """See the head of this file."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--tiles", type=int, default=1 << 20)
    parser.add_argument("--only", default="")
    parser.add_argument("--against")
    parser.add_argument("--hashes")
    parser.add_argument("--dump", nargs=3, metavar=("CASE", "FIRST", "COUNT"))
    parser.add_argument("--dumps", type=int, default=40, help="cases that --against writes at most")
    parser.add_argument("--times", action="store_true")
    arguments = parser.parse_args()
    init()
    device, all_hashes = Device(arguments.tiles), {}
    other = json.load(open(arguments.against)) if arguments.against else {}
    pattern, dumps = re.escape(arguments.dump[0]) if arguments.dump else arguments.only, arguments.dumps
    for cases in groups(pattern):
        module = load(compile_cuda(PRELUDE + "".join(c.kernel() for c in cases)))
        for case in cases:
            if not re.search(pattern, case.name):
                continue
            start = time.monotonic()
            try:
                handle = function(module, case.symbol)
                if arguments.dump:
                    if case.name == arguments.dump[0]:
                        write_registers(device, handle, case, int(arguments.dump[1]), int(arguments.dump[2]), True)
                    continue
                chunks = device.chunks if isinstance(case, Case) else min(8, device.chunks)
                hashes = device.hashes(handle, chunks)
                first = u32(device.registers(handle, case, 0, 1))[-32:][:4]
            except RuntimeError as e:
                say(Q, case.name, f"error {e}")
                continue
            all_hashes[case.name] = hashes
            both = ("".join(hashes[:64]), "".join(hashes))
            first_hash, hash_of_all = (hashlib.sha1(x.encode()).hexdigest()[:12] for x in both)
            took = f" {time.monotonic() - start:.2f} s" if arguments.times else ""
            say(Q, case.name, f"{first_hash} {hash_of_all} {h8(first)}{took}")
            differing = [
                i for i, (x, y) in enumerate(zip(hashes, other.get(case.name, hashes), strict=False)) if x != y
            ]
            if differing:
                compared = min(len(hashes), len(other[case.name]))
                say(Q, case.name + " differs", f"{len(differing)} of {compared} chunks, the first {differing[0]}")
                if dumps:
                    write_registers(device, handle, case, differing[0] * CHUNK, CHUNK, False)
                    dumps -= 1
    device.archive.close()
    if arguments.hashes:
        with open(arguments.hashes, "w") as file:
            json.dump(all_hashes, file)


if __name__ == "__main__":
    main()
