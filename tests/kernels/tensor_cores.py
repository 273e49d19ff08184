"""Matrix products of a warp: ``nvcuda::wmma`` in every type, tiled products, ``mma`` and ``ldmatrix`` by hand.

Oracle: NumPy. Integers, bits and small whole numbers are exact; sums of rounded products are within
the error of cutting each of 17 terms to 25 bits per step of 16, whatever the order of the steps.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.kernels import fragments as fr
from tests.kernels.case import Launch, Suite, poisoned
from tests.kernels.compare import Comparison, Exact, Within
from tests.kernels.inputs import rng

SUITE = Suite("tensor_cores")

HEAD = """#include <mma.h>
#include <cuda_fp16.h>
#include <cuda_bf16.h>
using namespace nvcuda;
"""
NUMPY = {"f16": np.float16, "bf16": np.uint16, "tf32": np.float32, "f32": np.float32, "f64": np.float64, "s8": np.int8,
         "u8": np.uint8, "s32": np.int32, "s4": np.uint32, "u4": np.uint32, "b1": np.uint32}
CTYPE = {"f16": "__half", "bf16": "__nv_bfloat16", "tf32": "float", "f32": "float", "f64": "double", "s8": "signed char",
         "u8": "unsigned char", "s32": "int"}
LAYOUT = {True: "col_major", False: "row_major"}


def _bound(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> Within:
    """Each step of 16 cuts 17 terms and the sum at 2**-23 of the largest term or less."""
    magnitude = (np.abs(a) @ np.abs(b) + np.abs(c)).max()
    steps = -(-a.shape[1] // 8)
    return Within("17 terms and their sum are cut, each below 2**-22 of the largest", atol=float(steps * 18 * 2.0**-22 * magnitude))


def _memory(ty: str, values: np.ndarray, col: bool = False) -> np.ndarray:
    """A matrix as a buffer, in rows or in columns."""
    values = np.ascontiguousarray(values.T if col else values)
    if ty == "bf16":
        return fr.encode("bf16", values).astype(np.uint16)
    if fr.BITS[ty] < 8:
        per = 32 // fr.BITS[ty]
        parts = fr.encode(ty, values).reshape(values.shape[0], -1, per) << (np.arange(per, dtype=np.uint64) * np.uint64(fr.BITS[ty]))
        return parts.sum(-1).astype(np.uint32)
    return values.astype(NUMPY[ty])


def _integers(ty: str, shape: tuple[int, int], seed: int) -> np.ndarray:
    low, high = {"s8": (-128, 128), "u8": (0, 256), "s4": (-8, 8), "u4": (0, 16), "b1": (0, 2), "s32": (-(2**20), 2**20)}.get(ty, (-8, 9))
    return rng(seed).integers(low, high, shape)


# ---- one product per warp ----

def _single(name: str, shape: tuple[int, int, int], ty: str, out: str, a_col: bool, b_col: bool, c_col: bool) -> None:
    m, n, k = shape
    size = f"{m}, {n}, {k}"
    element = {"tf32": "wmma::precision::tf32", "s4": "wmma::experimental::precision::s4", "u4": "wmma::experimental::precision::u4",
               "b1": "wmma::experimental::precision::b1"}.get(ty) or CTYPE[ty]
    pointer = "void" if fr.BITS[ty] < 8 else CTYPE[ty]
    convert = "for (int i = 0; i < fa.num_elements; ++i) fa.x[i] = wmma::__float_to_tf32(fa.x[i]);" if ty == "tf32" else ""
    call = "wmma::bmma_sync" if ty == "b1" else "wmma::mma_sync"
    a, b, c = _integers(ty, (m, k), 801), _integers(ty, (k, n), 802), _integers(out, (m, n), 803)
    want = (a[:, :, None] ^ b[None]).sum(1) + c if ty == "b1" else a @ b + c
    SUITE.add(name, HEAD + f"""
extern "C" __global__ void k(const {pointer} *a, const {pointer} *b, const {CTYPE[out]} *c, {CTYPE[out]} *d) {{
    wmma::fragment<wmma::matrix_a, {size}, {element}, wmma::{LAYOUT[a_col]}> fa;
    wmma::fragment<wmma::matrix_b, {size}, {element}, wmma::{LAYOUT[b_col]}> fb;
    wmma::fragment<wmma::accumulator, {size}, {CTYPE[out]}> fc;
    wmma::load_matrix_sync(fa, ({_loaded(ty)})a, {m if a_col else k});
    wmma::load_matrix_sync(fb, ({_loaded(ty)})b, {k if b_col else n});
    wmma::load_matrix_sync(fc, c, {m if c_col else n}, wmma::mem_{LAYOUT[c_col]});
    {convert}
    {call}(fc, fa, fb, fc);
    wmma::store_matrix_sync(d, fc, {n if c_col else m}, wmma::mem_{LAYOUT[not c_col]});
}}""", Launch(["a", "b", "c", "d"], (1,), (32,)), no_extern_c=True,
              buffers={"a": _memory(ty, a, a_col), "b": _memory(ty, b, b_col), "c": _memory(out, c, c_col),
                       "d": poisoned((m, n) if c_col else (n, m), NUMPY[out])},
              expect=lambda _, w=want, t=out, col=not c_col: {"d": _memory(t, w, col)})


def _loaded(ty: str) -> str:
    """The pointer type that ``load_matrix_sync`` wants."""
    return {"s4": "const void *", "u4": "const void *", "b1": "const void *"}.get(ty, f"const {CTYPE.get(ty, '')} *")


_LAYOUTS = ((False, True, False), (False, False, True), (True, False, False), (True, True, True))
for _shape in ((16, 16, 16), (8, 32, 16), (32, 8, 16)):
    for _ty, _out in (("f16", "f32"), ("f16", "f16"), ("bf16", "f32"), ("s8", "s32"), ("u8", "s32")):
        for _i, _layout in enumerate(_LAYOUTS):
            if _shape == (16, 16, 16) or _i == 1:
                _single("wmma_{}x{}x{}_{}_{}_{}".format(*_shape, _ty, _out, "".join("rc"[c] for c in _layout)), _shape, _ty, _out, *_layout)
for _i, _layout in enumerate(_LAYOUTS):
    _single(f"wmma_tf32_{_i}", (16, 16, 8), "tf32", "f32", *_layout)
    _single(f"wmma_f64_{_i}", (8, 8, 4), "f64", "f64", *_layout)


def _narrow(name: str, ty: str, k: int) -> None:
    """The experimental types go through pointers of 32-bit words, rows of `a` and columns of `b`."""
    a, b, c = _integers(ty, (8, k), 811), _integers(ty, (k, 8), 812), _integers("s32", (8, 8), 813)
    want = (a[:, :, None] ^ b[None]).sum(1) + c if ty == "b1" else a @ b + c
    call = "wmma::bmma_sync" if ty == "b1" else "wmma::mma_sync"
    SUITE.add(name, HEAD + f"""
extern "C" __global__ void k(const unsigned *a, const unsigned *b, const int *c, int *d) {{
    wmma::fragment<wmma::matrix_a, 8, 8, {k}, wmma::experimental::precision::{ty}, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 8, 8, {k}, wmma::experimental::precision::{ty}, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, 8, 8, {k}, int> fc;
    wmma::load_matrix_sync(fa, a, {k}); wmma::load_matrix_sync(fb, b, {k}); wmma::load_matrix_sync(fc, c, 8, wmma::mem_row_major);
    {call}(fc, fa, fb, fc);
    wmma::store_matrix_sync(d, fc, 8, wmma::mem_row_major);
}}""", Launch(["a", "b", "c", "d"], (1,), (32,)), no_extern_c=True,
              buffers={"a": _memory(ty, a), "b": _memory(ty, b, True), "c": c.astype(np.int32), "d": poisoned((8, 8), np.int32)},
              expect=lambda _, w=want: {"d": w.astype(np.int32)})


_narrow("wmma_s4", "s4", 32)
_narrow("wmma_u4", "u4", 32)
_narrow("wmma_b1_xor", "b1", 128)

# ---- tiled products ----

TILED = HEAD + """
// 64 x 64 results per block of four warps, each 32 x 32; tiles of 64 x 32 and 32 x 64 in shared memory.
extern "C" __global__ void k(int m, int n, int kk, float alpha, float beta, const __half *a, const __half *b, const float *c, float *d) {
    __shared__ __align__(32) __half sa[64][40];
    __shared__ __align__(32) __half sb[32][72];
    int warp = threadIdx.x / 32, row = blockIdx.y * 64, col = blockIdx.x * 64, wr = warp / 2 * 32, wc = warp % 2 * 32;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> acc[2][2];
    for (int i = 0; i < 2; ++i) for (int j = 0; j < 2; ++j) wmma::fill_fragment(acc[i][j], 0.0f);
    for (int k0 = 0; k0 < kk; k0 += 32) {
        for (int i = threadIdx.x; i < 64 * 32; i += blockDim.x) {
            sa[i / 32][i % 32] = a[(row + i / 32) * kk + k0 + i % 32];
            sb[i / 64][i % 64] = b[(k0 + i / 64) * n + col + i % 64];
        }
        __syncthreads();
        for (int k1 = 0; k1 < 32; k1 += 16) {
            wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> fa[2];
            wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> fb[2];
            for (int i = 0; i < 2; ++i) {
                wmma::load_matrix_sync(fa[i], &sa[wr + 16 * i][k1], 40);
                wmma::load_matrix_sync(fb[i], &sb[k1][wc + 16 * i], 72);
            }
            for (int i = 0; i < 2; ++i) for (int j = 0; j < 2; ++j) wmma::mma_sync(acc[i][j], fa[i], fb[j], acc[i][j]);
        }
        __syncthreads();
    }
    for (int i = 0; i < 2; ++i) for (int j = 0; j < 2; ++j) {
        wmma::fragment<wmma::accumulator, 16, 16, 16, float> old;
        int at = (row + wr + 16 * i) * n + col + wc + 16 * j;
        wmma::load_matrix_sync(old, c + at, n, wmma::mem_row_major);
        for (int e = 0; e < old.num_elements; ++e) old.x[e] = alpha * acc[i][j].x[e] + beta * old.x[e];
        wmma::store_matrix_sync(d + at, old, n, wmma::mem_row_major);
    }
}"""


def _tiled(name: str, a: np.ndarray, b: np.ndarray, c: np.ndarray, scale: tuple[float, float], compare: Comparison) -> None:
    (m, k), n, (alpha, beta) = a.shape, b.shape[1], scale
    a, b, c = a.astype(np.float16), b.astype(np.float16), c.astype(np.float32)
    want = alpha * (a.astype(np.float64) @ b.astype(np.float64)) + beta * c.astype(np.float64)
    args = [np.int32(m), np.int32(n), np.int32(k), np.float32(alpha), np.float32(beta), "a", "b", "c", "d"]
    SUITE.add(name, TILED, Launch(args, (n // 64, m // 64), (128,)), no_extern_c=True, compare=compare,
              buffers={"a": a, "b": b, "c": c, "d": poisoned((m, n), np.float32)}, expect=lambda _: {"d": want.astype(np.float32)})


_g = rng(820)
_tiled("wmma_tiled_whole_numbers", _g.integers(-8, 9, (128, 96)), _g.integers(-8, 9, (96, 192)), _g.integers(-99, 99, (128, 192)), (2.0, -1.0), Exact())
_a, _b, _c = _g.normal(size=(128, 128)), _g.normal(size=(128, 64)), _g.normal(size=(128, 64))
_tiled("wmma_tiled_random", _a, _b, _c, (0.5, 1.25), _bound(_a, _b, 2 * _c))

# ---- mma with fragments by hand ----

def _registers(count: int, constraint: str, name: str) -> str:
    return ", ".join(f'"{constraint}"({name}[{i}])' for i in range(count))


def _mma(name: str, shape: tuple[int, int, int], d: str, ta: str, tb: str, *, modifiers: str = "", tail: str = "",
         selector: int | None = None, whole: bool = True) -> None:
    """One `mma` per warp on registers that the host has laid out."""
    (m, n, k), sparse = shape, selector is not None
    stored, g = k // 2 if sparse else k, rng(830)
    def inputs(ty: str, size: tuple[int, int]) -> np.ndarray:
        return fr.encode(ty, _integers(ty, size, int(g.integers(1 << 30))) if whole else g.normal(size=size))

    a, b, c = inputs(ta, (m, stored)), inputs(tb, (k, n)), inputs(d, (m, n))
    words = [fr.planes("a", (m, n, stored), ta, a), fr.planes("b", shape, tb, b), fr.planes("c", shape, d, c)]
    choice = fr.choices(ta, (m, k // fr.chunk_of(ta)), g) if sparse else None
    if choice is not None:
        words.append(fr.metadata(ta, k, choice, selector or 0)[None])
        a = fr.sparse(ta, a, choice)
    counts, wide = [w.shape[0] for w in words], d == "f64"
    n_out = m * n * fr.BITS[d] // (32 * max(fr.BITS[d], 32))
    ctype, con = ("double", "d") if wide else ("unsigned", "r")
    first, lists = n_out, []
    for count in counts[:3]:
        lists.append("{" + ", ".join(f"%{first + i}" for i in range(count)) + "}")
        first += count
    form = f"mma{'.sp' if sparse else ''}.sync.aligned.m{m}n{n}k{k}.row.col{modifiers}.{d}.{ta}.{tb}.{d}{tail}"
    text = f"{form} {{{', '.join(f'%{i}' for i in range(n_out))}}}, {', '.join(lists)}" + (f", %{first}, {selector}" if sparse else "")
    if d == "f32":
        # Registers of floats have a constraint of their own.
        outputs, third = ", ".join(f'"=f"(fd[{i}])' for i in range(n_out)), _registers(counts[2], "f", "fc")
    else:
        outputs, third = ", ".join(f'"={con}"(rd[{i}])' for i in range(n_out)), _registers(counts[2], con, "rc")
    sources = ", ".join([_registers(counts[0], con, "ra"), _registers(counts[1], con, "rb"), third] + (['"r"(re[0])'] if sparse else []))
    names = "abce"[: len(counts)]
    loads = "\n".join(f"    {ctype} r{x}[{count}]; for (int i = 0; i < {count}; ++i) r{x}[i] = {x}[i * 32 + lane];" for x, count in zip(names, counts, strict=True))
    singles = "float fc[8], fd[8]; for (int i = 0; i < %d; ++i) fc[i] = __uint_as_float(rc[i]);" % counts[2] if d == "f32" else ""
    back = "__float_as_uint(fd[i])" if d == "f32" else "rd[i]"
    buffers: dict[str, Any] = {x: w.view(np.float64) if wide else w.astype(np.uint32) for x, w in zip(names, words, strict=True)}
    want = _result(d, a, b, c, ta, tb, modifiers + tail)
    planes = fr.planes("d", shape, d, want)
    compare: Comparison = Exact()
    expected: np.ndarray = planes.view(np.float64) if wide else planes.astype(np.uint32)
    out = poisoned((n_out, 32), np.float64 if wide else np.uint32)
    if not whole:
        expected, out = expected.view(np.float32), out.view(np.float32)
        compare = _bound(fr.values(ta, a), fr.values(tb, b), fr.values(d, c))
    parameters = "".join(f"const {ctype} *{x}, " for x in names)
    SUITE.add(name, f"""
__global__ void k({parameters}{ctype} *out) {{
    int lane = threadIdx.x;
{loads}
    {ctype} rd[{n_out}]; {singles}
    asm volatile("{text};" : {outputs} : {sources});
    for (int i = 0; i < {n_out}; ++i) out[i * 32 + lane] = {back};
    (void)rd;
}}""", Launch([*names, "out"], (1,), (32,)), buffers={**buffers, "out": out}, expect=lambda _: {"out": expected}, compare=compare)


def _result(d: str, a: np.ndarray, b: np.ndarray, c: np.ndarray, ta: str, tb: str, op: str) -> np.ndarray:
    if d == "f64":
        return fr.double_product(a, b, c)
    if d == "s32":
        return fr.integer_product(a, b, c, (ta, tb), op)
    return fr.encode(d, fr.values(ta, a) @ fr.values(tb, b) + fr.values(d, c))


for _ty, _ks in (("f16", (8, 16)), ("bf16", (8, 16)), ("tf32", (4, 8))):
    for _k in _ks:
        _mma(f"mma_m16n8k{_k}_{_ty}", (16, 8, _k), "f32", _ty, _ty)
        _mma(f"mma_m16n8k{_k}_{_ty}_random", (16, 8, _k), "f32", _ty, _ty, whole=False)
_mma("mma_m16n8k8_f16_sum_f16", (16, 8, 8), "f16", "f16", "f16")
_mma("mma_m16n8k16_f16_sum_f16", (16, 8, 16), "f16", "f16", "f16")
_mma("mma_m8n8k4_f64", (8, 8, 4), "f64", "f64", "f64")
for _x, _y in (("s8", "s8"), ("u8", "s8"), ("s8", "u8"), ("u8", "u8")):
    for _m, _k in ((8, 16), (16, 16), (16, 32)):
        _mma(f"mma_m{_m}n8k{_k}_{_x}_{_y}", (_m, 8, _k), "s32", _x, _y, modifiers=".satfinite" if _m == 8 else "")
for _x, _y in (("s4", "s4"), ("u4", "s4")):
    for _m, _k in ((8, 32), (16, 32), (16, 64)):
        _mma(f"mma_m{_m}n8k{_k}_{_x}_{_y}", (_m, 8, _k), "s32", _x, _y)
for _m, _k in ((8, 128), (16, 128), (16, 256)):
    _mma(f"mma_m{_m}n8k{_k}_b1_xor", (_m, 8, _k), "s32", "b1", "b1", tail=".xor.popc")
    _mma(f"mma_m{_m}n8k{_k}_b1_and", (_m, 8, _k), "s32", "b1", "b1", tail=".and.popc")
for _ty, _k in (("f16", 16), ("bf16", 16), ("tf32", 8)):
    for _s in range(4):
        _mma(f"mma_sp_m16n8k{_k}_{_ty}_selector_{_s}", (16, 8, _k), "f32", _ty, _ty, selector=_s)
    for _s in range(2):
        _mma(f"mma_sp_m16n8k{2 * _k}_{_ty}_selector_{_s}", (16, 8, 2 * _k), "f32", _ty, _ty, selector=_s)
for _ty, _k in (("s8", 32), ("u4", 64)):
    for _s in range(2):
        _mma(f"mma_sp_m16n8k{_k}_{_ty}_selector_{_s}", (16, 8, _k), "s32", _ty, _ty, selector=_s)
    _mma(f"mma_sp_m16n8k{2 * _k}_{_ty}", (16, 8, 2 * _k), "s32", _ty, _ty, selector=0)

# ---- ldmatrix ----

_h = rng(840).integers(-8, 9, (2, 16, 16)).astype(np.float16)
SUITE.add("ldmatrix_feeds_mma", """
#include <cuda_fp16.h>
// c = a * b: a by rows, b by rows too and so transposed on the way.
extern "C" __global__ void k(const __half *a, const __half *b, float *c) {
    __shared__ __align__(16) __half sa[16][24], sb[16][24];
    int lane = threadIdx.x;
    for (int i = lane; i < 256; i += 32) { sa[i / 16][i % 16] = a[i]; sb[i / 16][i % 16] = b[i]; }
    __syncwarp();
    unsigned ra[4], rb[4];
    unsigned pa = (unsigned)__cvta_generic_to_shared(&sa[lane % 16][lane / 16 * 8]), pb = (unsigned)__cvta_generic_to_shared(&sb[lane % 16][lane / 16 * 8]);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(ra[0]), "=r"(ra[1]), "=r"(ra[2]), "=r"(ra[3]) : "r"(pa));
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(rb[0]), "=r"(rb[1]), "=r"(rb[2]), "=r"(rb[3]) : "r"(pb));
    for (int j = 0; j < 2; ++j) {
        float d[4] = {0, 0, 0, 0};
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
            : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(ra[0]), "r"(ra[1]), "r"(ra[2]), "r"(ra[3]), "r"(rb[2 * j]), "r"(rb[2 * j + 1]));
        for (int i = 0; i < 4; ++i) c[(lane / 4 + i / 2 * 8) * 16 + j * 8 + lane % 4 * 2 + i % 2] = d[i];
    }
}""", Launch(["a", "b", "c"], (1,), (32,)), no_extern_c=True, buffers={"a": _h[0], "b": _h[1], "c": poisoned((16, 16), np.float32)},
          expect=lambda b: {"c": b["a"].astype(np.float32) @ b["b"].astype(np.float32)})
SUITE.add("ldmatrix_x1_x2_and_movmatrix", """
extern "C" __global__ void k(const unsigned short *a, unsigned *out) {
    __shared__ __align__(16) unsigned short s[256];
    int lane = threadIdx.x;
    for (int i = lane; i < 256; i += 32) s[i] = a[i];
    __syncwarp();
    unsigned p = (unsigned)__cvta_generic_to_shared(s + (lane ^ 5) % 32 * 8), r[4];
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(r[0]) : "r"(p));
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];" : "=r"(r[1]), "=r"(r[2]) : "r"(p));
    asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(r[3]) : "r"(r[0]));
    for (int i = 0; i < 4; ++i) out[i * 32 + lane] = r[i];
}""", Launch(["a", "out"], (1,), (32,)), no_extern_c=True, buffers={"a": np.arange(256, dtype=np.uint16), "out": poisoned((4, 32), np.uint32)},
          expect=lambda b: {"out": _tiles(b["a"].reshape(32, 8)[np.arange(32) ^ 5])})


def _tiles(rows: np.ndarray) -> np.ndarray:
    """What the four registers of the kernel above hold."""
    first, second = rows[:8], rows[8:16]
    return np.stack([m.astype(np.uint16).reshape(-1).view(np.uint32) for m in map(np.ascontiguousarray, (first, first.T, second.T, first.T))])
