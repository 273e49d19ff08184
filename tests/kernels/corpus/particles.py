"""Particles: gravity, springs, cells, Lennard-Jones, smoothed particles, particle in cell, collisions, flocks."""

from __future__ import annotations

import numpy as np

from tests.kernels.compare import Within
from tests.kernels.corpus.tools import NUMPY, Family, L, cdiv, ints, normal, out, uniform, zeros

SUITE = F = Family("particles")

_NBODY = """
typedef $T T;
typedef ${T}4 T4;
typedef ${T}3 T3;
__device__ T3 attract(T4 a, T4 b, T3 acc) {
    T x = b.x - a.x, y = b.y - a.y, z = b.z - a.z, r2 = x * x + y * y + z * z + (T)0.01, inv = $RSQRT(r2), s = b.w * inv * inv * inv;
    acc.x += x * s; acc.y += y * s; acc.z += z * s;
    return acc;
}
__global__ void all_pairs(int n, const T4 *p, T3 *a) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    T3 acc = {0, 0, 0};
    for (int j = 0; j < n; ++j) acc = attract(p[i], p[j], acc);
    a[i] = acc;
}
__global__ void tiled(int n, const T4 *p, T3 *a) {
    extern __shared__ __align__(32) unsigned char raw[];
    T4 *s = (T4 *)raw;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    T4 me = p[min(i, n - 1)];
    T3 acc = {0, 0, 0};
    for (int base = 0; base < n; base += blockDim.x) {
        int j = base + threadIdx.x;
        s[threadIdx.x] = p[min(j, n - 1)];
        if (j >= n) s[threadIdx.x].w = 0;
        __syncthreads();
#pragma unroll 4
        for (int k = 0; k < blockDim.x; ++k) acc = attract(me, s[k], acc);
        __syncthreads();
    }
    if (i < n) a[i] = acc;
}
__global__ void by_shuffle(int n, const T4 *p, T3 *a) {
    int i = blockIdx.x * 32 + threadIdx.x;
    T4 me = p[min(i, n - 1)];
    T3 acc = {0, 0, 0};
    for (int base = 0; base < n; base += 32) {
        T4 other = p[min(base + (int)threadIdx.x, n - 1)];
        if (base + threadIdx.x >= n) other.w = 0;
        for (int k = 0; k < 32; ++k) {
            T4 o;
            o.x = __shfl_sync(~0u, other.x, k); o.y = __shfl_sync(~0u, other.y, k); o.z = __shfl_sync(~0u, other.z, k); o.w = __shfl_sync(~0u, other.w, k);
            acc = attract(me, o, acc);
        }
    }
    if (i < n) a[i] = acc;
}
__global__ void warp_per_body(int n, const T4 *p, T3 *a) {
    int i = blockIdx.x, lane = threadIdx.x;
    T3 acc = {0, 0, 0};
    for (int j = lane; j < n; j += 32) acc = attract(p[i], p[j], acc);
    for (int d = 16; d; d >>= 1) { acc.x += __shfl_xor_sync(~0u, acc.x, d); acc.y += __shfl_xor_sync(~0u, acc.y, d); acc.z += __shfl_xor_sync(~0u, acc.z, d); }
    if (lane == 0) a[i] = acc;
}
__global__ void leapfrog(int n, T dt, T4 *p, T3 *v, const T3 *a) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    T3 u = v[i]; T4 q = p[i];
    u.x += dt * a[i].x; u.y += dt * a[i].y; u.z += dt * a[i].z;
    q.x += dt * u.x; q.y += dt * u.y; q.z += dt * u.z;
    v[i] = u; p[i] = q;
}
__global__ void structure_of_arrays(int n, T dt, const T *__restrict__ x, const T *__restrict__ y, const T *__restrict__ m, T *__restrict__ vx, T *__restrict__ vy) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    T ax = 0, ay = 0;
    for (int j = 0; j < n; ++j) { T dx = x[j] - x[i], dy = y[j] - y[i], r2 = dx * dx + dy * dy + (T)0.01; ax += m[j] * dx / r2; ay += m[j] * dy / r2; }
    vx[i] += dt * ax; vy[i] += dt * ay;
}
__global__ void potential(int n, const T4 *p, T *e) {
    __shared__ T s[64];
    T v = 0;
    for (int k = threadIdx.x; k < n * n; k += 64) { int i = k / n, j = k % n; if (i < j) { T x = p[i].x - p[j].x, y = p[i].y - p[j].y, z = p[i].z - p[j].z; v -= p[i].w * p[j].w / sqrt(x * x + y * y + z * z + (T)0.01); } }
    s[threadIdx.x] = v;
    for (int d = 32; d; d >>= 1) { __syncthreads(); if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d]; }
    if (threadIdx.x == 0) *e = s[0];
}
__global__ void centre_of_mass(int n, const T4 *p, T4 *c) {
    T4 s = {0, 0, 0, 0};
    for (int i = threadIdx.x; i < n; i += 32) { T4 q = p[i]; s.x += q.x * q.w; s.y += q.y * q.w; s.z += q.z * q.w; s.w += q.w; }
    for (int d = 16; d; d >>= 1) { s.x += __shfl_down_sync(~0u, s.x, d); s.y += __shfl_down_sync(~0u, s.y, d); s.z += __shfl_down_sync(~0u, s.z, d); s.w += __shfl_down_sync(~0u, s.w, d); }
    if (threadIdx.x == 0) { s.x /= s.w; s.y /= s.w; s.z /= s.w; *c = s; }
}
__global__ void coulomb_grid(int n, const T4 *atoms, T spacing, T *grid, int w) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, z = blockIdx.z;
    if (x >= w || y >= w) return;
    T v = 0;
    for (int a = 0; a < n; ++a) { T dx = atoms[a].x - spacing * x, dy = atoms[a].y - spacing * y, dz = atoms[a].z - spacing * z; v += atoms[a].w * $RSQRT(dx * dx + dy * dy + dz * dz + (T)0.1); }
    grid[(z * w + y) * w + x] = v;
}
__global__ void springs(int w, int h, T k, const T3 *p, T3 *f) {
    int x = threadIdx.x, y = blockIdx.x;
    T3 s = {0, 0, 0};
    const int dx[4] = {1, -1, 0, 0}, dy[4] = {0, 0, 1, -1};
    for (int e = 0; e < 4; ++e) {
        int u = x + dx[e], v = y + dy[e];
        if (u < 0 || v < 0 || u >= w || v >= h) continue;
        T3 a = p[y * w + x], b = p[v * w + u];
        T ex = b.x - a.x, ey = b.y - a.y, ez = b.z - a.z, r = sqrt(ex * ex + ey * ey + ez * ez), g = k * (r - 1) / r;
        s.x += g * ex; s.y += g * ey; s.z += g * ez;
    }
    f[y * w + x] = s;
}"""


def _gravity(p):
    p = p.astype(np.float64)
    d = p[None, :, :3] - p[:, None, :3]
    return (d * (p[None, :, 3] / ((d**2).sum(2) + 0.01) ** 1.5)[..., None]).sum(1)


def _leap(p, v, a):
    u = v + 0.125 * a.astype(np.float64)
    q = p.astype(np.float64)
    q[:, :3] += 0.125 * u
    return q, u


def _flat(b):
    dx, dy = b.x[None] - b.x[:, None].astype(np.float64), b.y[None] - b.y[:, None].astype(np.float64)
    r = b.m / (dx**2 + dy**2 + 0.01)
    return b.vx + 0.125 * (dx * r).sum(1), b.vy + 0.125 * (dy * r).sum(1)


def _energy(p):
    p = p.astype(np.float64)
    d = np.sqrt(((p[None, :, :3] - p[:, None, :3]) ** 2).sum(2) + 0.01)
    return -np.triu(np.outer(p[:, 3], p[:, 3]) / d, 1).sum()


def _coulomb(p, w, spacing):
    g = spacing * np.arange(w)
    d = lambda k: (p[:, k, None].astype(np.float64) - g) ** 2
    return (p[:, 3, None, None, None] / np.sqrt(d(2)[:, :4, None, None] + d(1)[:, None, :, None] + d(0)[:, None, None] + 0.1)).sum(0)


def _springs(p, k):
    p = p.astype(np.float64)
    f = np.zeros_like(p)
    for to, of in ((np.s_[:, :-1], np.s_[:, 1:]), (np.s_[:-1], np.s_[1:])):
        d = p[of] - p[to]
        r = np.sqrt((d**2).sum(2, keepdims=True))
        g = k * (r - 1) / r * d
        f[to] += g
        f[of] -= g
    return f


for _t, _rsqrt, _n, _block in (("float", "rsqrtf", 100, 32), ("double", "rsqrt", 77, 64), ("float", "1.0f / sqrtf", 130, 48)):
    _d = _c = NUMPY[_t]
    _e = Within("up to 130 terms with an inverse cube of a distance of 0.1 or more", rtol=2e-4 if _t == "float" else 1e-11, atol=2e-3 if _t == "float" else 1e-10)
    F.run(f"nbody_{_t}_{_n}", _NBODY, [L("all_pairs", cdiv(_n, _block), _block, _n, "p", "a1"), L("tiled", cdiv(_n, _block), _block, _n, "p", "a2", shared=4 * _block * np.dtype(_d).itemsize), L("by_shuffle", cdiv(_n, 32), 32, _n, "p", "a3"), L("warp_per_body", _n, 32, _n, "p", "a4"),
          L("potential", 1, 64, _n, "p", "e"), L("centre_of_mass", 1, 32, _n, "p", "c"), L("coulomb_grid", (2, 2, 4), (8, 8), _n, "p", _c(0.25), "grid", 13), L("springs", 9, 11, 11, 9, _c(2), "cloth", "f"),
          L("structure_of_arrays", cdiv(_n, _block), _block, _n, _c(0.125), "x", "y", "m", "vx", "vy"), L("leapfrog", cdiv(_n, _block), _block, _n, _c(0.125), "p2", "v", "a0")],
          lambda b: {"a1": _gravity(b.p), "a2": _gravity(b.p), "a3": _gravity(b.p), "a4": _gravity(b.p), "e": [_energy(b.p)], "c": [*((b.p[:, :3].astype(np.float64) * b.p[:, 3:]).sum(0) / b.p[:, 3].sum(dtype=np.float64)), b.p[:, 3].sum(dtype=np.float64)],
                     "grid": _coulomb(b.p, 13, 0.25), "f": _springs(b.cloth, 2), "vx": _flat(b)[0], "vy": _flat(b)[1], "p2": _leap(b.p2, b.v, b.a0)[0], "v": _leap(b.p2, b.v, b.a0)[1]},
          compare=_e, given={"T": _t, "RSQRT": _rsqrt}, p=np.concatenate([normal(1, (_n, 3), _d), uniform(2, (_n, 1), 0.5, 1.5, _d)], 1), **{f"a{i}": out((_n, 3), _d) for i in (1, 2, 3, 4)}, e=out(1, _d), c=out(4, _d), grid=out((4, 13, 13), _d),
          cloth=(np.stack([*np.mgrid[:9, :11], np.zeros((9, 11))], 2) + uniform(3, (9, 11, 3), -0.2, 0.2)).astype(_d), f=out((9, 11, 3), _d), x=normal(4, _n, _d), y=normal(5, _n, _d), m=uniform(6, _n, 0, 1, _d), vx=normal(7, _n, _d), vy=normal(8, _n, _d),
          p2=normal(9, (_n, 4), _d), v=normal(10, (_n, 3), _d), a0=normal(11, (_n, 3), _d))

_CELLS = """
typedef $T T;
typedef ${T}2 T2;
#define G $G
__device__ int cell_of(T2 p) { return min(G - 1, (int)p.y) * G + min(G - 1, (int)p.x); }
__global__ void count_cells(int n, const T2 *p, int *cell, int *count) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) { int c = cell_of(p[i]); cell[i] = c; atomicAdd(&count[c], 1); } }
__global__ void starts(const int *count, int *start) {
    __shared__ int s[128];
    int t = threadIdx.x, v = t < G * G ? count[t] : 0;
    s[t] = v;
    for (int d = 1; d < 128; d *= 2) { __syncthreads(); int u = t >= d ? s[t - d] : 0; __syncthreads(); s[t] += u; }
    if (t < G * G) start[t] = s[t] - v;
    if (t == 127) start[G * G] = s[127];
}
// The place of a particle is the number of particles of its cell before it, so that the order is fixed.
__global__ void place(int n, const T2 *p, const int *cell, const int *start, T2 *sorted, int *index) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int r = start[cell[i]];
    for (int j = 0; j < i; ++j) r += cell[j] == cell[i];
    sorted[r] = p[i]; index[r] = i;
}
template <typename Visit> __device__ void around(T2 me, const int *start, const T2 *sorted, Visit visit) {
    int c = cell_of(me), cx = c % G, cy = c / G;
    for (int y = max(0, cy - 1); y <= min(G - 1, cy + 1); ++y) for (int x = max(0, cx - 1); x <= min(G - 1, cx + 1); ++x)
        for (int k = start[y * G + x]; k < start[y * G + x + 1]; ++k) visit(k, sorted[k]);
}
__global__ void count_near(int n, T r2, const int *start, const T2 *sorted, int *near) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int c = 0;
    T2 me = sorted[i];
    around(me, start, sorted, [&](int k, T2 o) { T dx = o.x - me.x, dy = o.y - me.y; c += k != i && dx * dx + dy * dy < r2; });
    near[i] = c;
}
__global__ void lennard_jones(int n, const int *start, const T2 *sorted, T2 *f) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    T2 me = sorted[i], s = {0, 0};
    around(me, start, sorted, [&](int k, T2 o) {
        T dx = me.x - o.x, dy = me.y - o.y, r2 = dx * dx + dy * dy;
        if (k == i || r2 >= 1) return;
        T q = (T)0.25 / (r2 + (T)0.2), q3 = q * q * q, g = (2 * q3 * q3 - q3) * q;
        s.x += g * dx; s.y += g * dy;
    });
    f[i] = s;
}
__global__ void sph_density(int n, const int *start, const T2 *sorted, T *rho) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    T2 me = sorted[i];
    T s = 0;
    around(me, start, sorted, [&](int, T2 o) { T dx = o.x - me.x, dy = o.y - me.y, w = 1 - (dx * dx + dy * dy); if (w > 0) s += w * w * w; });
    rho[i] = s * (T)(4 / 3.14159265358979);
}
__global__ void sph_pressure(int n, T stiff, T rest, const int *start, const T2 *sorted, const T *rho, T2 *f) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    T2 me = sorted[i], s = {0, 0};
    T mine = stiff * (rho[i] - rest);
    around(me, start, sorted, [&](int k, T2 o) {
        T dx = me.x - o.x, dy = me.y - o.y, r = sqrt(dx * dx + dy * dy + (T)1e-4);
        if (k == i || r >= 1) return;
        T g = (mine + stiff * (rho[k] - rest)) / (2 * rho[k]) * (1 - r) * (1 - r) / r;
        s.x += g * dx; s.y += g * dy;
    });
    f[i] = s;
}
__global__ void deposit_charge(int n, const T2 *p, int *grid) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int x = (int)(p[i].x * 64), y = (int)(p[i].y * 64), cx = x / 64, cy = y / 64, fx = x % 64, fy = y % 64;
    atomicAdd(&grid[cy * (G + 1) + cx], (64 - fx) * (64 - fy)); atomicAdd(&grid[cy * (G + 1) + cx + 1], fx * (64 - fy));
    atomicAdd(&grid[(cy + 1) * (G + 1) + cx], (64 - fx) * fy); atomicAdd(&grid[(cy + 1) * (G + 1) + cx + 1], fx * fy);
}
__global__ void gather_field(int n, const T2 *p, const T *field, T *at) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int cx = (int)p[i].x, cy = (int)p[i].y;
    T a = p[i].x - cx, b = p[i].y - cy;
    const T *f = field + cy * (G + 1) + cx;
    at[i] = (1 - b) * ((1 - a) * f[0] + a * f[1]) + b * ((1 - a) * f[G + 1] + a * f[G + 2]);
}
__global__ void boris_push(int n, T e, T b, T dt, T2 *p, T2 *v) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    T h = dt / 2, t = b * h, s = 2 * t / (1 + t * t);
    T2 u = v[i], w;
    u.x += e * h;
    w.x = u.x + u.y * t; w.y = u.y - u.x * t;
    u.x += w.y * s; u.y -= w.x * s;
    u.x += e * h;
    v[i] = u; p[i].x += dt * u.x; p[i].y += dt * u.y;
}
__global__ void bounce(int n, T dt, T2 *p, T2 *v) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    T2 q = p[i], u = v[i];
    q.x += dt * u.x; q.y += dt * u.y;
    if (q.x < 0) { q.x = -q.x; u.x = -u.x; } else if (q.x > G) { q.x = 2 * G - q.x; u.x = -u.x; }
    if (q.y < 0) { q.y = -q.y; u.y = -u.y; } else if (q.y > G) { q.y = 2 * G - q.y; u.y = -u.y; }
    p[i] = q; v[i] = u;
}
__global__ void flock(int n, const T2 *p, const T2 *v, T2 *out) {
    __shared__ T2 sp[32], sv[32];
    int i = blockIdx.x * 32 + threadIdx.x;
    T2 me = p[min(i, n - 1)], mv = v[min(i, n - 1)], align = {0, 0}, away = {0, 0}, centre = {0, 0};
    int c = 0;
    for (int base = 0; base < n; base += 32) {
        int j = base + threadIdx.x;
        if (j < n) { sp[threadIdx.x] = p[j]; sv[threadIdx.x] = v[j]; }
        __syncthreads();
        for (int k = 0; k < min(32, n - base); ++k) {
            T dx = sp[k].x - me.x, dy = sp[k].y - me.y, r2 = dx * dx + dy * dy;
            if (r2 < 2 && base + k != i) { ++c; align.x += sv[k].x; align.y += sv[k].y; centre.x += dx; centre.y += dy; if (r2 < (T)0.5) { away.x -= dx; away.y -= dy; } }
        }
        __syncthreads();
    }
    if (i >= n) return;
    if (c) { mv.x += (T)0.1 * (align.x / c - mv.x) + (T)0.01 * centre.x / c + (T)0.2 * away.x; mv.y += (T)0.1 * (align.y / c - mv.y) + (T)0.01 * centre.y / c + (T)0.2 * away.y; }
    out[i] = mv;
}"""


def _cells(b, g, r2):
    p = b.p.astype(np.float64)
    cell = np.minimum(g - 1, p[:, 1].astype(int)) * g + np.minimum(g - 1, p[:, 0].astype(int))
    order = np.argsort(cell, kind="stable")
    q = p[order]
    d = q[:, None] - q[None]
    dist, other = (d**2).sum(2), ~np.eye(len(q), dtype=bool)
    k = np.where(other & (dist < 1), 0.25 / (dist + 0.2), 0)
    lj = (d * ((2 * k**6 - k**3) * k)[..., None]).sum(1)
    rho = (np.maximum(1 - dist, 0) ** 3).sum(1) * 4 / np.pi
    r = np.sqrt(dist + 1e-4)
    press = 0.5 * (rho - 3)
    g_ = np.where(other & (r < 1), (press[:, None] + press[None]) / (2 * rho[None]) * (1 - r) ** 2 / r, 0)
    x, y = (b.p[:, 0] * 64).astype(int), (b.p[:, 1] * 64).astype(int)
    grid = np.zeros((g + 1, g + 1), int)
    for dx in (0, 1):
        for dy in (0, 1):
            np.add.at(grid, (y // 64 + dy, x // 64 + dx), (x % 64 if dx else 64 - x % 64) * (y % 64 if dy else 64 - y % 64))
    cx, cy = p.astype(int).T
    a, c = p[:, 0] - cx, p[:, 1] - cy
    f = b.field.astype(np.float64)
    at = (1 - c) * ((1 - a) * f[cy, cx] + a * f[cy, cx + 1]) + c * ((1 - a) * f[cy + 1, cx] + a * f[cy + 1, cx + 1])
    return {"count": np.bincount(cell, minlength=g * g), "start": np.concatenate([[0], np.cumsum(np.bincount(cell, minlength=g * g))]), "sorted": b.p[order], "index": order, "near": ((dist < r2) & other).sum(1), "lj": lj, "rho": rho,
            "press": (d * g_[..., None]).sum(1), "grid": grid, "at": at, **_movers(b, g), "flocked": _flock(b)}


def _movers(b, g):
    v = b.bv.astype(np.float64) + [0.25 * 0.0625, 0]
    t = 2.0 * 0.0625
    s = 2 * t / (1 + t * t)
    w = np.stack([v[:, 0] + v[:, 1] * t, v[:, 1] - v[:, 0] * t], 1)
    v = np.stack([v[:, 0] + w[:, 1] * s, v[:, 1] - w[:, 0] * s], 1) + [0.25 * 0.0625, 0]
    q = b.cp + 0.5 * b.cv.astype(np.float64)
    flip = (q < 0) | (q > g)
    return {"bv": v, "bp": b.bp + 0.125 * v, "cp": np.where(q < 0, -q, np.where(q > g, 2 * g - q, q)), "cv": np.where(flip, -b.cv, b.cv)}


def _flock(b):
    p, v = b.p.astype(np.float64), b.cv.astype(np.float64)
    d = p[None] - p[:, None]
    r2 = (d**2).sum(2)
    near = (r2 < 2) & ~np.eye(len(p), dtype=bool)
    c = near.sum(1)[:, None]
    m = np.maximum(c, 1)
    mean = (near[..., None] * v[None]).sum(1) / m
    new = v + 0.1 * (mean - v) + 0.01 * (d * near[..., None]).sum(1) / m - 0.2 * (d * (near & (r2 < 0.5))[..., None]).sum(1)
    return np.where(c > 0, new, v)


for _t, _n, _g in (("float", 250, 8), ("double", 311, 11)):
    _d = _c = NUMPY[_t]
    _k = cdiv(_n, 64)
    _e = Within("sums of fewer than 60 terms of order 1", rtol=1e-4 if _t == "float" else 1e-11, atol=1e-4 if _t == "float" else 1e-11)
    _one = lambda kernel, *args, k=_k, n=_n: L(kernel, k, 64, n, *args)
    F.run(f"cells_{_t}", _CELLS.replace("template <typename Visit>", 'extern "C++" template <typename Visit>'),
          [_one("count_cells", "p", "cell", "count"), L("starts", 1, 128, "count", "start"), _one("place", "p", "cell", "start", "sorted", "index"), _one("count_near", _c(0.3), "start", "sorted", "near"), _one("lennard_jones", "start", "sorted", "lj"),
           _one("sph_density", "start", "sorted", "rho"), _one("sph_pressure", _c(0.5), _c(3), "start", "sorted", "rho", "press"), _one("deposit_charge", "p", "grid"), _one("gather_field", "p", "field", "at"), _one("boris_push", _c(0.25), _c(2), _c(0.125), "bp", "bv"),
           L("flock", cdiv(_n, 32), 32, _n, "p", "cv", "flocked"), _one("bounce", _c(0.5), "cp", "cv")],
          lambda b, g=_g: _cells(b, g, 0.3), cpp=False, compare={k: _e for k in ("lj", "rho", "press", "at", "bv", "bp", "cp", "cv", "flocked")}, given={"T": _t, "G": _g}, p=(ints(21, (_n, 2), 0, 64 * _g) / 64).astype(_d), cell=out(_n, np.int32),
          count=zeros(_g * _g, np.int32), start=out(_g * _g + 1, np.int32), sorted=out((_n, 2), _d), index=out(_n, np.int32), near=out(_n, np.int32), lj=out((_n, 2), _d), rho=out(_n, _d), press=out((_n, 2), _d), grid=zeros((_g + 1, _g + 1), np.int32),
          field=normal(22, (_g + 1, _g + 1), _d), at=out(_n, _d), bp=normal(23, (_n, 2), _d), bv=normal(24, (_n, 2), _d), cp=uniform(25, (_n, 2), 0, _g, _d), cv=normal(26, (_n, 2), _d), flocked=out((_n, 2), _d))
