"""Discrete transforms: Fourier in several radices and sizes, cosine, Hadamard, number theoretic, wavelets."""

from __future__ import annotations

import numpy as np

from tests.kernels.compare import Within
from tests.kernels.corpus.tools import NUMPY, Family, L, cdiv, ints, normal, out, uniform

SUITE = F = Family("fft")

COMPLEX = {"float": np.complex64, "double": np.complex128}
#: An error of a few roundings per stage, of values that grow to sqrt(n) times the input.
BOUND = {"float": Within("log2(n) <= 10 stages of a few roundings of 2**-24 each, values below 200", atol=2e-4, rtol=1e-5),
         "double": Within("log2(n) <= 10 stages of a few roundings of 2**-53 each, values below 200", atol=1e-12, rtol=1e-13)}


def cnormal(seed, shape, t="float"):
    """Complex numbers, normally distributed."""
    return (normal(seed, shape, np.float64) + 1j * normal(seed + 1000, shape, np.float64)).astype(COMPLEX[t])


_FFT = """
typedef ${T}2 C;
__device__ C mul(C a, C b) { C r; r.x = a.x * b.x - a.y * b.y; r.y = a.x * b.y + a.y * b.x; return r; }
__device__ C add(C a, C b) { C r; r.x = a.x + b.x; r.y = a.y + b.y; return r; }
__device__ C sub(C a, C b) { C r; r.x = a.x - b.x; r.y = a.y - b.y; return r; }
__device__ C turn($T angle) { C r; sincospi$S(angle, &r.y, &r.x); return r; }
__device__ unsigned reversed(unsigned i, int bits) { return __brev(i) >> (32 - bits); }

__global__ void radix2_in_shared(const C *in, C *out, $T sign) {
    __shared__ C s[$N];
    int t = threadIdx.x;
    in += blockIdx.x * $N; out += blockIdx.x * $N;
    for (int i = t; i < $N; i += blockDim.x) s[reversed(i, $LOG)] = in[i];
    for (int half = 1; half < $N; half *= 2) {
        __syncthreads();
        for (int p = t; p < $N / 2; p += blockDim.x) {
            int j = p % half, i = 2 * (p - j) + j;
            C u = s[i], v = mul(s[i + half], turn(sign * j / half));
            s[i] = add(u, v); s[i + half] = sub(u, v);
        }
    }
    __syncthreads();
    for (int i = t; i < $N; i += blockDim.x) out[i] = s[i];
}
__global__ void stockham(const C *in, C *out) {
    extern __shared__ __align__(16) unsigned char raw[];
    C *x = (C *)raw, *y = x + $N;
    int t = threadIdx.x;
    for (int i = t; i < $N; i += blockDim.x) x[i] = in[blockIdx.x * $N + i];
    for (int n = $N, s = 1; n > 1; n /= 2, s *= 2) {
        int m = n / 2;
        __syncthreads();
        for (int k = t; k < $N / 2; k += blockDim.x) {
            int p = k / s, q = k % s;
            C a = x[q + s * p], b = x[q + s * (p + m)];
            y[q + s * 2 * p] = add(a, b);
            y[q + s * (2 * p + 1)] = mul(sub(a, b), turn(-($T)p / m));
        }
        C *swap = x; x = y; y = swap;
    }
    __syncthreads();
    for (int i = t; i < $N; i += blockDim.x) out[blockIdx.x * $N + i] = x[i];
}
__global__ void bit_reverse(C *a) { int i = blockIdx.x * blockDim.x + threadIdx.x, j = reversed(i, $LOG); if (i < j) { C t = a[i]; a[i] = a[j]; a[j] = t; } }
__global__ void stage(C *a, int half) {
    int p = blockIdx.x * blockDim.x + threadIdx.x, j = p & (half - 1), i = 2 * (p - j) + j;
    if (p >= $N / 2) return;
    C u = a[i], v = mul(a[i + half], turn(-($T)j / half));
    a[i] = add(u, v); a[i + half] = sub(u, v);
}
__global__ void radix4_per_thread(const C *in, C *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    C a[16];
#pragma unroll
    for (int k = 0; k < 16; ++k) a[k] = in[i * 16 + k];
#pragma unroll
    for (int pass = 0; pass < 2; ++pass) {
        C b[16];
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            C p = a[k], q = a[k + 4], r = a[k + 8], s = a[k + 12];
            C e = add(p, r), f = sub(p, r), g = add(q, s), h = sub(q, s), w; w.x = h.y; w.y = -h.x;
            C y[4] = {add(e, g), add(f, w), sub(e, g), sub(f, w)};
#pragma unroll
            for (int m = 0; m < 4; ++m) b[4 * k + m] = pass ? y[m] : mul(y[m], turn(-($T)(k * m) / 8));
        }
#pragma unroll
        for (int k = 0; k < 16; ++k) a[k] = pass ? b[(k & 3) * 4 + (k >> 2)] : b[k];
    }
#pragma unroll
    for (int k = 0; k < 16; ++k) out[i * 16 + k] = a[k];
}
__global__ void warp_shuffle_32(const C *in, C *out) {
    int lane = threadIdx.x & 31, base = (blockIdx.x * blockDim.x + threadIdx.x) & ~31;
    C v = in[base + reversed(lane, 5)];
    for (int half = 1; half < 32; half *= 2) {
        bool upper = lane & half;
        if (upper) v = mul(v, turn(-($T)(lane & (half - 1)) / half));
        C u; u.x = __shfl_xor_sync(~0u, v.x, half); u.y = __shfl_xor_sync(~0u, v.y, half);
        v = upper ? sub(u, v) : add(v, u);
    }
    out[base + lane] = v;
}
__global__ void naive_dft(int n, const C *in, C *out) {
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= n) return;
    C s; s.x = s.y = 0;
    for (int j = 0; j < n; ++j) s = add(s, mul(in[j], turn(-2 * ($T)(j * k % n) / n)));
    out[k] = s;
}
__global__ void goertzel(int n, const $T *x, int count, const int *bin, $T *power) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    $T c = 2 * cospi$S(2 * ($T)bin[i] / n), p = 0, q = 0;
    for (int j = 0; j < n; ++j) { $T s = x[j] + c * p - q; q = p; p = s; }
    power[i] = p * p + q * q - c * p * q;
}
__global__ void real_after_complex(int n, const C *z, C *out) {
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k > n) return;
    C a = z[k % n], b = z[(n - k) % n], e, o;
    e.x = (a.x + b.x) / 2; e.y = (a.y - b.y) / 2; o.x = (a.y + b.y) / 2; o.y = -(a.x - b.x) / 2;
    out[k] = add(e, mul(o, turn(-($T)k / n)));
}"""
for _t, _s, _n in (("float", "f", 64), ("float", "f", 256), ("double", "", 128), ("double", "", 1024)):
    _d, _c = NUMPY[_t], COMPLEX[_t]
    _log = _n.bit_length() - 1
    F.run(f"complex_{_t}_{_n}", _FFT, [L("radix2_in_shared", 3, 32 if _n < 200 else 128, "a", "o1", _d(-1)), L("radix2_in_shared", 3, 32 if _n < 200 else 128, "a", "o2", _d(1)),
          L("stockham", 2, 48, "a", "o3", shared=2 * _n * np.dtype(_c).itemsize), L("bit_reverse", _n // 32, 32, "o4"), *(L("stage", cdiv(_n // 2, 64), 64, "o4", 1 << _i) for _i in range(_log)),
          L("radix4_per_thread", 1, 8, "a", "o5"), L("warp_shuffle_32", 1, 64, "a", "o6"), L("naive_dft", 2, 32, 45, "a", "o7"), L("goertzel", 1, 32, 50, "x", 20, "bin", "o8"), L("real_after_complex", 2, 32, 32, "z", "o9")],
          lambda b, n=_n: {"o1": np.fft.fft(b.a), "o2": np.fft.ifft(b.a) * n, "o3": np.fft.fft(b.a[:2]), "o4": np.fft.fft(b.o4), "o5": np.fft.fft(b.a.ravel()[:128].reshape(8, 16)), "o6": np.fft.fft(b.a.ravel()[:64].reshape(2, 32)),
                           "o7": np.fft.fft(b.a.ravel()[:45]), "o8": np.abs(np.fft.fft(b.x.astype(np.float64)))[b.bin] ** 2, "o9": np.fft.rfft(np.fft.ifft(b.z.astype(np.complex128)).view(np.float64))},
          compare={**{f"o{_i}": BOUND[_t] for _i in range(1, 10)}, "o8": Within("a recurrence of 50 steps that grows errors about fiftyfold", rtol=1e-3 if _t == "float" else 1e-11, atol=2e-2 if _t == "float" else 1e-10)},
          given={"T": _t, "S": _s, "N": _n, "LOG": _log}, a=cnormal(1, (3, _n), _t), o1=out((3, _n), _c), o2=out((3, _n), _c), o3=out((2, _n), _c), o4=cnormal(2, _n, _t), o5=out((8, 16), _c), o6=out((2, 32), _c), o7=out(45, _c),
          x=normal(3, 50, _d), bin=ints(4, 20, 0, 25), o8=out(20, _d), z=cnormal(5, 32, _t), o9=out(33, _c))

_TWO_D = """
#include <cuComplex.h>
#define N $N
// One block per row or column; `step` is the distance of its elements, `next` that of rows.
__global__ void lines(float2 *a, int step, int next, float sign) {
    __shared__ float2 s[N];
    float2 *line = a + blockIdx.x * next;
    int t = threadIdx.x;
    for (int i = t; i < N; i += blockDim.x) { int r = 0; for (int k = i, m = 1; m < N; m *= 2, k >>= 1) r = 2 * r + (k & 1); s[r] = line[i * step]; }
    __syncthreads();
    for (int half = 1; half < N; half *= 2) {
        for (int p = t; p < N / 2; p += blockDim.x) {
            int j = p & (half - 1), i = 2 * p - j;
            float c, d;
            sincosf(sign * 3.14159265f * j / half, &d, &c);
            float2 u = s[i], v = s[i + half];
            v = make_float2(v.x * c - v.y * d, v.x * d + v.y * c);
            s[i] = make_float2(u.x + v.x, u.y + v.y); s[i + half] = make_float2(u.x - v.x, u.y - v.y);
        }
        __syncthreads();
    }
    for (int i = t; i < N; i += blockDim.x) line[i * step] = s[i];
}
__global__ void multiply_scaled(float2 *a, const float2 *b, float scale) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float2 u = a[i], v = b[i];
    a[i] = make_float2(scale * (u.x * v.x - u.y * v.y), scale * (u.x * v.y + u.y * v.x));
}
__global__ void shift_quadrants(const float2 *in, float2 *out) {
    int x = threadIdx.x, y = blockIdx.x;
    out[((y + N / 2) % N) * N + (x + N / 2) % N] = in[y * N + x];
}
__global__ void power_spectrum(const float2 *in, float *out) { int i = blockIdx.x * blockDim.x + threadIdx.x; out[i] = in[i].x * in[i].x + in[i].y * in[i].y; }
__global__ void laplace_inverse(float2 *a) {
    int kx = threadIdx.x, ky = blockIdx.x;
    float d = 2 * cospif(2.0f * kx / N) + 2 * cospif(2.0f * ky / N) - 4;
    float2 v = a[ky * N + kx];
    a[ky * N + kx] = kx || ky ? make_float2(v.x / d / (N * N), v.y / d / (N * N)) : make_float2(0, 0);
}"""


def _poisson(f):
    n = len(f)
    k = np.cos(2 * np.pi * np.arange(n) / n)
    d = 2 * k[None] + 2 * k[:, None] - 4
    d[0, 0] = np.inf
    return np.fft.ifft2(np.fft.fft2(f) / d)


for _n in (16, 32):
    _both = lambda name, sign, n=_n: [L("lines", n, 24, name, 1, n, sign), L("lines", n, 16, name, n, 1, sign)]
    F.run(f"plane_{_n}", _TWO_D, [*_both("a", -1.0), *_both("b", -1.0), L("shift_quadrants", _n, _n, "a", "s"), L("power_spectrum", _n, _n, "b", "p"), L("multiply_scaled", _n, _n, "a", "b", 1.0 / _n**2), *_both("a", 1.0),
          *_both("q", -1.0), L("laplace_inverse", _n, _n, "q"), *_both("q", 1.0)],
          lambda b: {"s": np.fft.fftshift(np.fft.fft2(b.a)), "p": np.abs(np.fft.fft2(b.b)) ** 2, "a": np.fft.ifft2(np.fft.fft2(b.a) * np.fft.fft2(b.b)), "q": _poisson(b.q)},
          compare={"s": Within("10 stages in float, values below 300", atol=1e-3, rtol=1e-5), "p": Within("a square of a transform", atol=5e-2, rtol=1e-4), "a": Within("three transforms in float of values up to 1e4", atol=2e-3, rtol=1e-4),
                   "q": Within("two transforms and a division by no less than 0.03", atol=2e-4, rtol=1e-4)},
          given={"N": _n}, a=cnormal(6, (_n, _n)), b=cnormal(7, (_n, _n)), s=out((_n, _n), np.complex64), p=out((_n, _n)), q=cnormal(8, (_n, _n)))


def _dct8():
    k, i = np.mgrid[:8, :8]
    return np.sqrt(np.where(k == 0, 1, 2) / 8) * np.cos(np.pi * (2 * i + 1) * k / 16)


_TRANSFORMS = """
__constant__ float basis[64];
__global__ void dct8x8(const float *in, float *out, int w) {
    __shared__ float s[8][9], u[8][9];
    int x = threadIdx.x, y = threadIdx.y, at = (blockIdx.y * 8 + y) * w + blockIdx.x * 8 + x;
    s[y][x] = in[at];
    __syncthreads();
    float v = 0;
    for (int i = 0; i < 8; ++i) v += basis[x * 8 + i] * s[y][i];
    u[y][x] = v;
    __syncthreads();
    v = 0;
    for (int i = 0; i < 8; ++i) v += basis[y * 8 + i] * u[i][x];
    out[at] = v;
}
__global__ void inverse_dct8x8(const float *in, float *out, int w) {
    __shared__ float s[64];
    int t = threadIdx.x, x = t & 7, y = t >> 3, at = (blockIdx.y * 8 + y) * w + blockIdx.x * 8 + x;
    s[t] = in[at];
    __syncthreads();
    float v = 0;
    for (int i = 0; i < 8; ++i) { float r = 0; for (int j = 0; j < 8; ++j) r += basis[j * 8 + x] * s[i * 8 + j]; v += basis[i * 8 + y] * r; }
    out[at] = v;
}
__global__ void quantize(int n, const float *a, short *q, const unsigned char *table) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) q[i] = (short)rintf(a[i] / table[i & 63]); }
__constant__ unsigned char zigzag[64];
__global__ void zigzag_order(const short *q, short *o) { o[blockIdx.x * 64 + threadIdx.x] = q[blockIdx.x * 64 + zigzag[threadIdx.x]]; }
__global__ void hadamard_shared(const $T *in, $T *out) {
    __shared__ $T s[256];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * 256 + t]; s[t + 128] = in[blockIdx.x * 256 + t + 128];
    for (int h = 1; h < 256; h *= 2) {
        __syncthreads();
        int i = 2 * t - (t & (h - 1));
        $T u = s[i], v = s[i + h];
        s[i] = u + v; s[i + h] = u - v;
    }
    __syncthreads();
    out[blockIdx.x * 256 + t] = s[t]; out[blockIdx.x * 256 + t + 128] = s[t + 128];
}
__global__ void hadamard_warp($T *a) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31;
    $T v = a[i];
    for (int h = 1; h < 32; h <<= 1) { $T u = __shfl_xor_sync(~0u, v, h); v = lane & h ? u - v : v + u; }
    a[i] = v;
}
__device__ unsigned power(unsigned b, unsigned e, unsigned p) { unsigned long long r = 1, x = b; for (; e; e >>= 1, x = x * x % p) if (e & 1) r = r * x % p; return (unsigned)r; }
__global__ void ntt(unsigned *a, unsigned root) {
    const unsigned P = 998244353u;
    __shared__ unsigned s[128];
    int t = threadIdx.x;
    s[__brev(t) >> 25] = a[blockIdx.x * 128 + t]; s[__brev(t + 64) >> 25] = a[blockIdx.x * 128 + t + 64];
    for (int h = 1; h < 128; h <<= 1) {
        __syncthreads();
        int j = t & (h - 1), i = 2 * t - j;
        unsigned w = power(root, 64 / h * j, P), u = s[i], v = (unsigned)((unsigned long long)s[i + h] * w % P);
        s[i] = u + v >= P ? u + v - P : u + v; s[i + h] = u >= v ? u - v : u + P - v;
    }
    __syncthreads();
    a[blockIdx.x * 128 + t] = s[t]; a[blockIdx.x * 128 + t + 64] = s[t + 64];
}
__global__ void haar(const $T *in, $T *out, int n) {
    extern __shared__ __align__(16) unsigned char raw[];
    $T *s = ($T *)raw;
    int t = threadIdx.x;
    s[t] = in[t];
    __syncthreads();
    for (int m = n / 2; m >= 1; m /= 2) {
        $T u = 0, v = 0;
        if (t < m) { u = s[2 * t]; v = s[2 * t + 1]; }
        __syncthreads();
        if (t < m) { s[t] = u + v; s[m + t] = u - v; }
        __syncthreads();
    }
    out[t] = s[t];
}
__global__ void lifting_53(const int *in, int *low, int *high, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, h = n / 2;
    if (i >= h) return;
#define D(k) (in[2 * (k) + 1] - ((in[2 * (k)] + in[2 * (k) + 2 < n ? 2 * (k) + 2 : 2 * (k)]) >> 1))
    int d = D(i), before = D(i > 0 ? i - 1 : 0);
    high[i] = d; low[i] = in[2 * i] + ((before + d + 2) >> 2);
}"""


def _hadamard(a, n):
    h = np.ones((1, 1), np.int64)
    while len(h) < n:
        h = np.block([[h, h], [h, -h]])
    return a.reshape(-1, n) @ h


def _ntt(a, root, p=998244353):
    w = np.array([[pow(root, i * j, p) for j in range(128)] for i in range(128)], object)
    return (w @ a.reshape(2, 128).T.astype(object) % p).T.astype(np.uint64)


def _haar(a):
    a = a.astype(np.float64)
    m = len(a) // 2
    while m >= 1:
        u, v = a[:2 * m:2].copy(), a[1:2 * m:2].copy()
        a[:m], a[m:2 * m] = u + v, u - v
        m //= 2
    return a


def _lifting(a):
    even, odd = a[::2].astype(int), a[1::2].astype(int)
    right = np.append(even[1:], even[-1])
    d = odd - (even + right >> 1)
    return even + (np.concatenate([d[:1], d[:-1]]) + d + 2 >> 2), d


_ZIGZAG = np.array(sorted(range(64), key=lambda i: (i // 8 + i % 8, i % 8 if (i // 8 + i % 8) % 2 == 0 else i // 8)), np.uint8)
for _t in ("float", "int", "double"):
    _d = NUMPY[_t]
    F.run(f"other_transforms_{_t}", _TRANSFORMS, [L("dct8x8", (3, 2), (8, 8), "image", "freq", 24), L("inverse_dct8x8", (3, 2), 64, "freq", "back", 24),
          L("quantize", 3, 128, 384, "steps", "quantized", "table"), L("zigzag_order", 6, 64, "quantized", "ordered"), L("hadamard_shared", 2, 128, "a", "h1"), L("hadamard_warp", 4, 64, "h2"), L("ntt", 2, 64, "residues", np.uint32(pow(3, 998244352 // 128, 998244353))),
          L("haar", 1, 128, "a", "h3", 128, shared=1024), L("lifting_53", 2, 64, "signal", "low", "high", 200)],
          lambda b: {"freq": np.einsum("ij,ajbk,lk->aibl", _dct8(), b.image.reshape(2, 8, 3, 8), _dct8()), "back": b.image, "ordered": np.rint(b.steps.reshape(6, 64) / b.table)[:, _ZIGZAG], "h1": _hadamard(b.a, 256), "h2": _hadamard(b.h2, 32),
                     "residues": _ntt(b.residues, pow(3, 998244352 // 128, 998244353)), "h3": _haar(b.a[:128]), "low": _lifting(b.signal)[0], "high": _lifting(b.signal)[1]},
          compare={"freq": Within("16 products in float of values below 300", atol=2e-3), "back": Within("32 products in float", atol=3e-3)}, constants={"basis": _dct8().astype(np.float32), "zigzag": _ZIGZAG}, given={"T": _t},
          image=uniform(9, (16, 24), -128, 128), freq=out((16, 24)), back=out((16, 24)), steps=ints(10, 384, -999, 999, np.float32), quantized=out(384, np.int16), table=np.full(64, 16, np.uint8), ordered=out((6, 64), np.int16),
          a=ints(11, 512, dtype=_d), h1=out(512, _d), h2=ints(12, 256, dtype=_d), residues=ints(13, 256, 0, 998244353, np.uint32), h3=out(128, _d), signal=ints(14, 200, 0, 256), low=out(100, np.int32), high=out(100, np.int32))
