"""Random numbers and what is done with them: generators, integrals, options, lattices, walks. Integer results are exact."""

from __future__ import annotations

import math

import numpy as np

from tests.kernels.compare import Within
from tests.kernels.corpus.tools import NUMPY, Family, L, ints, out, uniform, zeros

SUITE = F = Family("montecarlo")
M32 = np.uint64(0xFFFFFFFF)


def xorshift(s):
    """One step of Marsaglia's 32-bit xorshift for an array of states."""
    s = s ^ (s << np.uint32(13))
    s = s ^ (s >> np.uint32(17))
    return s ^ (s << np.uint32(5))


def hashed(i, seed):
    """Wang's hash: the kernels' seeds."""
    i = i.astype(np.uint32) + np.uint32(seed * 2654435761 & 0xFFFFFFFF)
    i = (i ^ np.uint32(61)) ^ (i >> np.uint32(16))
    i = i * np.uint32(9)
    i = i ^ (i >> np.uint32(4))
    i = i * np.uint32(0x27D4EB2D)
    i = i ^ (i >> np.uint32(15))
    return np.where(i == 0, np.uint32(1), i)


def philox(counter, key, rounds=10):
    """Philox4x32 of Salmon et al. (2011) on arrays of four words and two."""
    c, k = [v.astype(np.uint64) for v in counter], [v.astype(np.uint64) for v in key]
    for _ in range(rounds):
        a, b = c[0] * np.uint64(0xD2511F53), c[2] * np.uint64(0xCD9E8D57)
        c = [(b >> np.uint64(32)) ^ c[1] ^ k[0], b & M32, (a >> np.uint64(32)) ^ c[3] ^ k[1], a & M32]
        k = [k[0] + np.uint64(0x9E3779B9) & M32, k[1] + np.uint64(0xBB67AE85) & M32]
    return [v.astype(np.uint32) for v in c]


_DEVICE = """
__device__ unsigned xorshift(unsigned &s) { s ^= s << 13; s ^= s >> 17; s ^= s << 5; return s; }
__device__ unsigned seeded(unsigned i, unsigned seed) {
    i += seed * 2654435761u;
    i = (i ^ 61) ^ (i >> 16); i *= 9; i ^= i >> 4; i *= 0x27d4eb2du; i ^= i >> 15;
    return i ? i : 1;
}
__device__ uint4 philox(uint4 c, uint2 k) {
#pragma unroll
    for (int r = 0; r < 10; ++r) {
        unsigned h0 = __umulhi(0xD2511F53u, c.x), l0 = 0xD2511F53u * c.x, h1 = __umulhi(0xCD9E8D57u, c.z), l1 = 0xCD9E8D57u * c.z;
        c = make_uint4(h1 ^ c.y ^ k.x, l1, h0 ^ c.w ^ k.y, l0);
        k.x += 0x9E3779B9u; k.y += 0xBB67AE85u;
    }
    return c;
}
"""

_GENERATORS = _DEVICE + """
__global__ void lcg_fill(int n, unsigned *o) { int i = blockIdx.x * blockDim.x + threadIdx.x; unsigned s = i * 7919u + 12345u; for (int k = 0; k < 8; ++k) { s = s * 1664525u + 1013904223u; o[k * n + i] = s; } }
__global__ void lcg64_skip(unsigned long long *o, unsigned long long stride) {
    unsigned long long i = blockIdx.x * blockDim.x + threadIdx.x, e = i * stride, a = 6364136223846793005ull, c = 1442695040888963407ull, x = 42, pa = 1, pc = 0;
    for (; e; e >>= 1) { if (e & 1) { pa *= a; pc = pc * a + c; } c *= a + 1; a *= a; }
    o[i] = x * pa + pc;
}
__global__ void xorshift_fill(int n, unsigned seed, unsigned *o) { int i = blockIdx.x * blockDim.x + threadIdx.x; unsigned s = seeded(i, seed); for (int k = 0; k < 8; ++k) o[k * n + i] = xorshift(s); }
__global__ void xorwow(unsigned *state, unsigned *o, int rounds) {
    unsigned t = threadIdx.x + blockIdx.x * blockDim.x, *s = state + 6 * t, x = s[0], y = s[1], z = s[2], w = s[3], v = s[4], d = s[5];
    for (int r = 0; r < rounds; ++r) { unsigned u = x ^ x >> 2; x = y; y = z; z = w; w = v; v = v ^ v << 4 ^ u ^ u << 1; d += 362437; o[t * rounds + r] = d + v; }
    s[0] = x; s[1] = y; s[2] = z; s[3] = w; s[4] = v; s[5] = d;
}
__global__ void philox_fill(uint4 *o, unsigned k0, unsigned k1) { unsigned i = blockIdx.x * blockDim.x + threadIdx.x; o[i] = philox(make_uint4(i, i * i, 7, 0), make_uint2(k0, k1)); }
__global__ void pcg32(unsigned long long *states, unsigned *o) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned long long s = states[i];
    for (int k = 0; k < 6; ++k) {
        unsigned long long old = s;
        s = old * 6364136223846793005ull + (2 * i + 1);
        unsigned x = (unsigned)((old >> 18 ^ old) >> 27), r = (unsigned)(old >> 59);
        o[i * 6 + k] = x >> r | x << (-r & 31);
    }
    states[i] = s;
}
__global__ void mt19937(unsigned seed, unsigned *o, int n) {
    __shared__ unsigned s[624];
    int t = threadIdx.x;
    if (t == 0) { unsigned v = seed; s[0] = v; for (int i = 1; i < 624; ++i) s[i] = v = 1812433253u * (v ^ v >> 30) + i; }
    for (int base = 0; base < n; base += 624) {
        // The recurrence reads 397 ahead, so up to 227 words are made at once.
        for (int part = 0; part < 624; part += 208) {
            unsigned v = 0;
            __syncthreads();
            if (t < 208) { int i = part + t; unsigned y = (s[i] & 0x80000000u) | (s[(i + 1) % 624] & 0x7fffffffu); v = s[(i + 397) % 624] ^ y >> 1 ^ (y & 1 ? 0x9908b0dfu : 0); }
            __syncthreads();
            if (t < 208) s[part + t] = v;
        }
        __syncthreads();
        for (int i = t; i < 624 && base + i < n; i += blockDim.x) { unsigned y = s[i]; y ^= y >> 11; y ^= y << 7 & 0x9d2c5680u; y ^= y << 15 & 0xefc60000u; o[base + i] = y ^ y >> 18; }
    }
}
__global__ void van_der_corput(int n, $T *o) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) o[i] = ($T)__brev(i) * ($T)2.3283064365386963e-10; }
__global__ void halton3(int n, $T *o) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= n) return; $T f = 1, r = 0; for (int k = i + 1; k; k /= 3) { f /= 3; r += f * (k % 3); } o[i] = r; }
__global__ void box_muller(int n, const $T *u, $T *o) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (2 * i + 1 >= n) return;
    $T r = sqrt(-2 * log(u[2 * i])), s, c;
    sincospi(2 * u[2 * i + 1], &s, &c);
    o[2 * i] = r * c; o[2 * i + 1] = r * s;
}
__global__ void inverse_exponential(int n, $T rate, const $T *u, $T *o) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) o[i] = -log1p(-u[i]) / rate; }
__global__ void alias_sample(int n, int bins, const unsigned *u, const unsigned *threshold, const int *alias, int *histogram) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned long long p = (unsigned long long)u[i] * bins;
    int b = (int)(p >> 32);
    atomicAdd(&histogram[(unsigned)p < threshold[b] ? b : alias[b]], 1);
}
__global__ void shuffle_by_rank(int n, unsigned seed, int *o) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned mine = seeded(i, seed);
    int rank = 0;
    for (int j = 0; j < n; ++j) { unsigned other = seeded(j, seed); rank += other < mine || (other == mine && j < i); }
    o[rank] = i;
}"""


def _xorwow(state, rounds):
    s, o = state.reshape(-1, 6).astype(np.uint32).copy(), []
    for _ in range(rounds):
        t = s[:, 0] ^ s[:, 0] >> np.uint32(2)
        v = s[:, 4] ^ (s[:, 4] << np.uint32(4)) ^ t ^ (t << np.uint32(1))
        s = np.stack([s[:, 1], s[:, 2], s[:, 3], s[:, 4], v, s[:, 5] + np.uint32(362437)], 1)
        o.append(s[:, 5] + v)
    return s, np.stack(o, 1)


def _pcg(states):
    o, s = [], states.astype(object)
    inc, mask = 2 * np.arange(len(s)).astype(object) + 1, (1 << 64) - 1
    for _ in range(6):
        old, s = s, s * 6364136223846793005 + inc & mask
        x, r = (old >> 18 ^ old) >> 27 & 0xFFFFFFFF, old >> 59
        o.append([(int(a) >> int(b) | int(a) << (32 - int(b))) & 0xFFFFFFFF if b else int(a) for a, b in zip(x, r)])
    return s.astype(np.uint64), np.array(o, np.uint32).T


def _lcg(n):
    s, o = np.arange(n, dtype=np.uint32) * np.uint32(7919) + np.uint32(12345), []
    for _ in range(8):
        s = s * np.uint32(1664525) + np.uint32(1013904223)
        o.append(s)
    return np.stack(o)


def _lcg64(n, stride):
    x, o = 42, []
    for _ in range(n):
        o.append(x)
        for _ in range(stride):
            x = x * 6364136223846793005 + 1442695040888963407 & (1 << 64) - 1
    return np.array(o, np.uint64)


def _xorshifts(n, seed):
    s, o = hashed(np.arange(n), seed), []
    for _ in range(8):
        s = xorshift(s)
        o.append(s)
    return np.stack(o)


def _halton(n):
    o = []
    for i in range(n):
        f, r, k = 1.0, 0.0, i + 1
        while k:
            f /= 3
            r += f * (k % 3)
            k //= 3
        o.append(r)
    return np.array(o)


def _alias(u, threshold, alias, bins):
    p = u.astype(np.uint64) * np.uint64(bins)
    b = (p >> np.uint64(32)).astype(int)
    return np.bincount(np.where((p & M32) < threshold[b], b, alias[b]), minlength=bins)


for _t, _seed, _n in (("float", 1, 256), ("double", 77, 192)):
    _d, _b = NUMPY[_t], 64
    _e = 2e-6 if _t == "float" else 1e-14
    F.run(f"generators_{_t}", _GENERATORS, [L("lcg_fill", _n // _b, _b, _n, "lcg"), L("lcg64_skip", 2, 32, "lcg64", np.uint64(37)), L("xorshift_fill", _n // _b, _b, _n, np.uint32(_seed), "xs"), L("xorwow", 3, 32, "xw", "xwo", 9), L("philox_fill", _n // _b, _b, "ph", np.uint32(_seed), np.uint32(99)),
          L("pcg32", 2, 48, "pcg", "pcgo"), L("mt19937", 1, 224, np.uint32(5489 + _seed), "mt", 1500), L("van_der_corput", 4, 64, _n, "vdc"), L("halton3", 4, 64, _n, "halton"), L("box_muller", 3, 64, 300, "u", "gauss"), L("inverse_exponential", 5, 64, 300, _d(1.5), "u", "expo"),
          L("alias_sample", 8, 128, 1000, 10, "words", "threshold", "alias", "hist"), L("shuffle_by_rank", 4, 64, 200, np.uint32(_seed), "perm")],
          lambda b, n=_n, seed=_seed: {"lcg": _lcg(n), "lcg64": _lcg64(64, 37), "xs": _xorshifts(n, seed), "xw": _xorwow(b.xw, 9)[0], "xwo": _xorwow(b.xw, 9)[1],
                                       "ph": np.stack(philox([np.arange(n), np.arange(n) ** 2, np.full(n, 7), np.zeros(n, int)], [np.full(n, seed), np.full(n, 99)]), 1), "pcg": _pcg(b.pcg)[0], "pcgo": _pcg(b.pcg)[1],
                                       "mt": np.random.RandomState(5489 + seed).randint(0, 2**32, 1500, dtype=np.uint32), "vdc": [int(f"{i:032b}"[::-1], 2) / 2**32 for i in range(n)], "halton": _halton(n), "gauss": _box_muller(b.u),
                                       "expo": -np.log1p(-b.u.astype(np.float64)) / 1.5, "hist": _alias(b.words, b.threshold, b.alias, 10), "perm": np.argsort(hashed(np.arange(200), seed), kind="stable")},
          compare={k: Within("logarithm, root and sine within a few ulp", atol=8 * _e, rtol=_e) for k in ("gauss", "expo", "halton", "vdc")}, given={"T": _t}, lcg=out((8, _n), np.uint32), lcg64=out(64, np.uint64), xs=out((8, _n), np.uint32), xw=ints(2, (96, 6), 1, 2**32, np.uint32),
          xwo=out((96, 9), np.uint32), ph=out((_n, 4), np.uint32), pcg=ints(3, 96, 0, 2**63, np.uint64), pcgo=out((96, 6), np.uint32), mt=out(1500, np.uint32), vdc=out(_n, _d), halton=out(_n, _d), u=uniform(4, 300, 0.01, 0.99, _d), gauss=out(300, _d), expo=out(300, _d),
          words=ints(5, 1000, 0, 2**32, np.uint32), threshold=ints(6, 10, 0, 2**32, np.uint32), alias=ints(7, 10, 0, 10), hist=zeros(10, np.int32), perm=out(200, np.int32))


def _box_muller(u):
    u = u.astype(np.float64)
    r, a = np.sqrt(-2 * np.log(u[::2])), 2 * np.pi * u[1::2]
    return np.stack([r * np.cos(a), r * np.sin(a)], 1)


_ESTIMATES = _DEVICE + """
typedef $T T;
__device__ T unit(unsigned x) { return (T)(x >> 8) * (T)(1.0 / 16777216); }
__device__ void add_block(T v, T *where) {
    for (int d = 16; d; d >>= 1) v += __shfl_down_sync(~0u, v, d);
    __shared__ T s[32];
    if ((threadIdx.x & 31) == 0) s[threadIdx.x / 32] = v;
    __syncthreads();
    if (threadIdx.x == 0) { T r = 0; for (int i = 0; i < blockDim.x / 32; ++i) r += s[i]; where[blockIdx.x] = r; }
}
__global__ void pi(int tries, unsigned seed, unsigned long long *hits) {
    unsigned s = seeded(blockIdx.x * blockDim.x + threadIdx.x, seed), c = 0;
    for (int i = 0; i < tries; ++i) { unsigned x = xorshift(s) >> 16, y = xorshift(s) >> 16; c += (unsigned long long)x * x + (unsigned long long)y * y < 1ull << 32; }
    c = __reduce_add_sync(~0u, c);
    if ((threadIdx.x & 31) == 0) atomicAdd(hits, (unsigned long long)c);
}
__global__ void pi_philox(unsigned k0, unsigned *hits) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, c = 0;
    for (unsigned j = 0; j < 4; ++j) {
        uint4 r = philox(make_uint4(i, j, 0, 0), make_uint2(k0, 0));
        c += ((unsigned long long)(r.x >> 16) * (r.x >> 16) + (unsigned long long)(r.y >> 16) * (r.y >> 16)) >> 32 == 0;
        c += ((unsigned long long)(r.z >> 16) * (r.z >> 16) + (unsigned long long)(r.w >> 16) * (r.w >> 16)) >> 32 == 0;
    }
    atomicAdd(hits, c);
}
__global__ void integrate_gauss(int n, unsigned seed, T *sums) {
    unsigned s = seeded(blockIdx.x * blockDim.x + threadIdx.x, seed);
    T v = 0;
    for (int i = 0; i < n; ++i) { T x = unit(xorshift(s)); v += exp(-x * x); }
    add_block(v, sums);
}
__global__ void buffon(int n, unsigned seed, int *crossings) {
    unsigned s = seeded(blockIdx.x * blockDim.x + threadIdx.x, seed);
    int c = 0;
    for (int i = 0; i < n; ++i) { T y = unit(xorshift(s)) / 2, a = unit(xorshift(s)) * (T)0.5; c += y <= (T)0.5 * sinpi(a) - (T)1e-4; }
    atomicAdd(crossings, c);
}
__global__ void european_paths(int steps, T spot, T strike, T rate, T vol, T dt, const T *normals, T *payoff) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
    T drift = (rate - vol * vol / 2) * dt, w = vol * sqrt(dt), x = log(spot);
    for (int k = 0; k < steps; ++k) x += drift + w * normals[k * n + i];
    payoff[i] = max(exp(x) - strike, (T)0) * exp(-rate * dt * steps);
}
__global__ void asian_and_barrier(int steps, T spot, T strike, T barrier, T vol, const T *normals, T *asian, T *knocked) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
    T s = spot, mean = 0; bool alive = true;
    for (int k = 0; k < steps; ++k) { s *= 1 + vol * normals[k * n + i]; mean += s; alive &= s < barrier; }
    asian[i] = max(mean / steps - strike, (T)0);
    knocked[i] = alive ? max(s - strike, (T)0) : (T)0;
}
__global__ void walk_on_grid(int steps, int side, unsigned seed, int *visits) {
    unsigned s = seeded(blockIdx.x * blockDim.x + threadIdx.x, seed);
    int x = side / 2, y = side / 2;
    for (int k = 0; k < steps; ++k) {
        switch (xorshift(s) >> 30) { case 0: x = min(x + 1, side - 1); break; case 1: x = max(x - 1, 0); break; case 2: y = min(y + 1, side - 1); break; default: y = max(y - 1, 0); }
        atomicAdd(&visits[y * side + x], 1);
    }
}
__global__ void walk_from_table(int steps, const int *offsets, const int *targets, unsigned seed, int *ends) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, v = i % 16;
    unsigned s = seeded(i, seed);
    for (int k = 0; k < steps; ++k) { int d = offsets[v + 1] - offsets[v]; if (d) v = targets[offsets[v] + __umulhi(xorshift(s), d)]; }
    ends[i] = v;
}
// Half of the board at a time; the chances of a flip are compared as whole numbers.
__global__ void ising_half(int n, int colour, const unsigned *chance, unsigned *rng, signed char *spin) {
    int t = blockIdx.x * blockDim.x + threadIdx.x, y = t / (n / 2), x = 2 * (t % (n / 2)) + ((y + colour) & 1);
    if (y >= n) return;
    int e = spin[y * n + x] * (spin[y * n + (x + 1) % n] + spin[y * n + (x + n - 1) % n] + spin[(y + 1) % n * n + x] + spin[(y + n - 1) % n * n + x]);
    unsigned s = rng[t], r = xorshift(s);
    rng[t] = s;
    if (r < chance[(e + 4) / 2]) spin[y * n + x] = -spin[y * n + x];
}
__global__ void magnetization(int n, const signed char *spin, int *m) {
    int s = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) s += spin[i];
    s = __reduce_add_sync(~0u, s);
    if ((threadIdx.x & 31) == 0) atomicAdd(m, s);
}
__global__ void metropolis_chain(int steps, unsigned seed, const unsigned *accept, int *histogram) {
    unsigned s = seeded(blockIdx.x * blockDim.x + threadIdx.x, seed);
    int x = 8;
    for (int k = 0; k < steps; ++k) {
        int y = xorshift(s) & 1 ? min(x + 1, 15) : max(x - 1, 0);
        if (xorshift(s) < accept[x * 16 + y]) x = y;
        atomicAdd(&histogram[x], 1);
    }
}
__global__ void percolation(int n, const unsigned char *open, unsigned char *wet, int *reached) {
    __shared__ int changed;
    for (int i = threadIdx.x; i < n * n; i += blockDim.x) wet[i] = i < n && open[i];
    do {
        __syncthreads();
        if (threadIdx.x == 0) changed = 0;
        __syncthreads();
        for (int i = threadIdx.x; i < n * n; i += blockDim.x) {
            volatile unsigned char *w = wet;
            if (!open[i] || w[i]) continue;
            int x = i % n;
            if ((x > 0 && w[i - 1]) || (x < n - 1 && w[i + 1]) || (i >= n && w[i - n]) || (i < n * n - n && w[i + n])) { w[i] = 1; changed = 1; }
        }
        __syncthreads();
    } while (changed);
    if (threadIdx.x < n && wet[n * n - n + threadIdx.x]) *reached = 1;
}"""


def _pi(threads, tries, seed):
    s, c = hashed(np.arange(threads), seed), 0
    for _ in range(tries):
        x = s = xorshift(s)
        y = s = xorshift(s)
        c += ((x >> np.uint32(16)).astype(np.uint64) ** 2 + (y >> np.uint32(16)).astype(np.uint64) ** 2 < 1 << 32).sum()
    return c


def _pi_philox(threads, key):
    hits = 0
    for j in range(4):
        r = [v.astype(np.uint64) >> np.uint64(16) for v in philox([np.arange(threads), np.full(threads, j), np.zeros(threads, int), np.zeros(threads, int)], [np.full(threads, key), np.zeros(threads, int)])]
        hits += sum(((p * p + q * q) >> np.uint64(32) == 0).sum() for p, q in ((r[0], r[1]), (r[2], r[3])))
    return hits


def unit(x):
    return (x >> np.uint32(8)) / 2.0**24


def _gauss_sums(n, seed):
    s, v = hashed(np.arange(128), seed), 0
    for _ in range(n):
        s = xorshift(s)
        v = v + np.exp(-unit(s) ** 2)
    return v.reshape(2, 64).sum(1)


def _buffon(n, seed):
    s, c, near = hashed(np.arange(128), seed), 0, 0
    for _ in range(n):
        y = unit(s := xorshift(s)) / 2
        a = 0.5 * np.sin(np.pi * unit(s := xorshift(s)) / 2) - 1e-4
        c, near = c + (y <= a).sum(), near + (abs(y - a) < 1e-6).sum()
    assert not near, "a needle too close to call"
    return c


def _grid_walk(steps, side, seed):
    s, visits = hashed(np.arange(64), seed), np.zeros((side, side), int)
    x = y = np.full(64, side // 2)
    for _ in range(steps):
        s = xorshift(s)
        q = s >> np.uint32(30)
        x = np.clip(x + (q == 0) - (q == 1), 0, side - 1)
        y = np.clip(y + (q == 2) - (q == 3), 0, side - 1)
        np.add.at(visits, (y, x), 1)
    return visits


def _table_walk(b, steps, seed):
    s, v = hashed(np.arange(96), seed), np.arange(96) % 16
    for _ in range(steps):
        d = np.diff(b.offsets)[v]
        r = np.where(d > 0, xorshift(s), s).astype(np.uint32)
        step = (r.astype(np.uint64) * d.astype(np.uint64) >> np.uint64(32)).astype(int)
        v, s = np.where(d > 0, b.targets[np.minimum(b.offsets[v] + step, len(b.targets) - 1)], v), r
    return v


def _ising(b, n, sweeps):
    spin, s = b.spin.astype(int), b.rng.copy()
    for k in range(2 * sweeps):
        y, x = np.divmod(np.arange(n * n // 2), n // 2)
        x = 2 * x + (y + k % 2) % 2
        e = spin[y, x] * (spin[y, (x + 1) % n] + spin[y, x - 1] + spin[(y + 1) % n, x] + spin[y - 1, x])
        s = xorshift(s)
        flip = s < b.chance[(e + 4) // 2]
        spin[y[flip], x[flip]] *= -1
    return spin, s


def _metropolis(b, steps, seed):
    s, x, h = hashed(np.arange(64), seed), np.full(64, 8), np.zeros(16, int)
    for _ in range(steps):
        s = xorshift(s)
        y = np.where(s & np.uint32(1), np.minimum(x + 1, 15), np.maximum(x - 1, 0))
        s = xorshift(s)
        x = np.where(s < b.accept[x * 16 + y], y, x)
        h += np.bincount(x, minlength=16)
    return h


def _percolate(open_):
    wet = np.zeros_like(open_)
    wet[0] = open_[0]
    while True:
        p = np.pad(wet, 1)
        later = wet | (open_ & (p[1:-1, :-2] | p[1:-1, 2:] | p[:-2, 1:-1] | p[2:, 1:-1]))
        if (later == wet).all():
            return wet
        wet = later


def _paths(b, steps):
    z = b.normals.astype(np.float64)
    vol, rate, dt = 0.25, 0.03125, 0.125
    x = math.log(100) + ((rate - vol * vol / 2) * dt + vol * math.sqrt(dt) * z).sum(0)
    s = 100 * np.cumprod(1 + 0.0625 * z, 0)
    return np.maximum(np.exp(x) - 95, 0) * math.exp(-rate * dt * steps), np.maximum(s.mean(0) - 95, 0), np.where((s < 130).all(0), np.maximum(s[-1] - 95, 0), 0)


for _t, _seed in (("float", 3), ("double", 9)):
    _d = _c = NUMPY[_t]
    _e = 1e-4 if _t == "float" else 1e-11
    F.run(f"estimates_{_t}", _ESTIMATES, [L("pi", 3, 64, 30, np.uint32(_seed), "hits"), L("pi_philox", 3, 64, np.uint32(_seed), "hits2"), L("integrate_gauss", 2, 64, 20, np.uint32(_seed), "sums"), L("buffon", 2, 64, 20, np.uint32(_seed), "crossings"),
          L("european_paths", 3, 32, 16, _c(100), _c(95), _c(0.03125), _c(0.25), _c(0.125), "normals", "payoff"), L("asian_and_barrier", 2, 48, 16, _c(100), _c(95), _c(130), _c(0.0625), "normals", "asian", "knocked"),
          L("walk_on_grid", 2, 32, 50, 15, np.uint32(_seed), "visits"), L("walk_from_table", 3, 32, 20, "offsets", "targets", np.uint32(_seed), "ends"), *(L("ising_half", 4, 128, 30, i % 2, "chance", "rng", "spin") for i in range(12)),
          L("magnetization", 2, 96, 900, "spin", "m"), L("metropolis_chain", 1, 64, 60, np.uint32(_seed), "accept", "hist"), L("percolation", 1, 128, 25, "open", "wet", "reached")],
          lambda b, seed=_seed: {"hits": [_pi(192, 30, seed)], "hits2": [_pi_philox(192, seed)], "sums": _gauss_sums(20, seed), "crossings": [_buffon(20, seed)], "payoff": _paths(b, 16)[0], "asian": _paths(b, 16)[1], "knocked": _paths(b, 16)[2],
                                 "visits": _grid_walk(50, 15, seed), "ends": _table_walk(b, 20, seed), "spin": _ising(b, 30, 6)[0], "rng": _ising(b, 30, 6)[1], "m": [_ising(b, 30, 6)[0].sum()], "hist": _metropolis(b, 60, seed),
                                 "wet": _percolate(b.open), "reached": [_percolate(b.open)[-1].any()]},
          compare={k: Within("sums and products of at most 20 terms of order 100, one exponential", rtol=_e, atol=2 * _e) for k in ("sums", "payoff", "asian", "knocked")}, given={"T": _t}, hits=zeros(1, np.uint64), hits2=zeros(1, np.uint32), sums=out(2, _d),
          crossings=zeros(1, np.int32), normals=np.random.default_rng(11).normal(size=(16, 96)).astype(_d), payoff=out(96, _d), asian=out(96, _d), knocked=out(96, _d), visits=zeros((15, 15), np.int32), offsets=np.cumsum(np.concatenate([[0], np.arange(16) % 5])).astype(np.int32),
          targets=ints(12, 30, 0, 16), ends=out(96, np.int32), chance=np.array([2**32 - 1, 2**32 - 1, 2**31, 2**29, 2**25], np.uint32), rng=ints(13, 450, 1, 2**32, np.uint32), spin=ints(14, (30, 30), 0, 2, np.int8) * 2 - 1, m=zeros(1, np.int32),
          accept=ints(15, 256, 0, 2**32, np.uint32), hist=zeros(16, np.int32), open=(ints(16, (25, 25), 0, 10) < 7).astype(np.uint8), wet=out((25, 25), np.uint8), reached=zeros(1, np.int32))

for _state, _seed in (("curandState", 1), ("curandStatePhilox4_32_10_t", 2), ("curandStateMRG32k3a", 3)):
    F.run(f"curand_pi_{_state}", """
#include <curand_kernel.h>
extern "C" __global__ void start($STATE *states, unsigned long long seed) { int i = blockIdx.x * blockDim.x + threadIdx.x; curand_init(seed, i, 0, &states[i]); }
extern "C" __global__ void draw($STATE *states, int n, int *inside, double *sum, double *squares) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, c = 0;
    $STATE s = states[i];
    double a = 0, q = 0;
    for (int k = 0; k < n; ++k) { float x = curand_uniform(&s), y = curand_uniform(&s); c += x * x + y * y <= 1; }
    for (int k = 0; k < n; ++k) { float z = curand_normal(&s); a += z; q += z * z; }
    atomicAdd(inside, c); atomicAdd(sum, a); atomicAdd(squares, q);
    states[i] = s;
}""", [L("start", 2, 64, "states", np.uint64(1234 + _seed)), L("draw", 2, 64, "states", 100, "inside", "sum", "squares")], lambda b: {"inside": [12800 * np.pi / 4], "sum": [0.0], "squares": [12800.0]},
          compare={"inside": Within("5 standard deviations of a count of 12800", atol=5 * 46.5), "sum": Within("5 standard deviations of the sum of 12800 normals", atol=5 * 113.2), "squares": Within("5 standard deviations of their squares", atol=5 * 160)},
          given={"STATE": _state}, states=zeros(128 * 96, np.uint8), inside=zeros(1, np.int32), sum=zeros(1, np.float64), squares=zeros(1, np.float64))
