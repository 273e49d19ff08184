"""Stencils and lattices: heat, waves, Maxwell, lattice Boltzmann, cellular automata, relaxation, multigrid."""

from __future__ import annotations

import numpy as np

from tests.kernels.compare import Comparison, Within
from tests.kernels.corpus.tools import NUMPY, Family, L, cdiv, ints, normal, out, uniform, zeros

SUITE = F = Family("stencils")

#: Up to 6 sweeps of some ten roundings each, of values up to 60 in the larger sums.
SWEEPS: dict[str, Comparison] = {t: Within("up to 6 sweeps of ten roundings of sums below 64", atol=300 * 2.0**-bits) for t, bits in (("float", 22), ("double", 51))}

_HEAT = """
#define BX $BX
#define BY $BY
__global__ void heat1d(int n, $T r, const $T *u, $T *v) {
    __shared__ $T s[BX + 2];
    int i = blockIdx.x * BX + threadIdx.x, t = threadIdx.x + 1;
    if (i < n) s[t] = u[i];
    if (threadIdx.x == 0) s[0] = i > 0 ? u[i - 1] : u[0];
    if (threadIdx.x == BX - 1 || i == n - 1) s[t + 1] = i + 1 < n ? u[i + 1] : u[n - 1];
    __syncthreads();
    if (i < n) v[i] = s[t] + r * (s[t - 1] - 2 * s[t] + s[t + 1]);
}
__global__ void heat2d(int w, int h, $T r, const $T *u, $T *v) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    int i = y * w + x;
    if (x == 0 || y == 0 || x == w - 1 || y == h - 1) v[i] = u[i];
    else v[i] = u[i] + r * (u[i - 1] + u[i + 1] + u[i - w] + u[i + w] - 4 * u[i]);
}
__global__ void heat2d_tiled(int w, int h, $T r, const $T *__restrict__ u, $T *__restrict__ v) {
    __shared__ $T s[BY + 2][BX + 2];
    int x0 = blockIdx.x * BX, y0 = blockIdx.y * BY, tx = threadIdx.x, ty = threadIdx.y;
    for (int k = ty * BX + tx; k < (BX + 2) * (BY + 2); k += BX * BY) {
        int x = min(max(x0 + k % (BX + 2) - 1, 0), w - 1), y = min(max(y0 + k / (BX + 2) - 1, 0), h - 1);
        s[k / (BX + 2)][k % (BX + 2)] = u[y * w + x];
    }
    __syncthreads();
    int x = x0 + tx, y = y0 + ty;
    if (x < w && y < h) v[y * w + x] = s[ty + 1][tx + 1] + r * (s[ty + 1][tx] + s[ty + 1][tx + 2] + s[ty][tx + 1] + s[ty + 2][tx + 1] - 4 * s[ty + 1][tx + 1]);
}
__global__ void nine_points(int w, int h, const $T *u, $T *v) {
    int x = blockIdx.x * blockDim.x + threadIdx.x + 1, y = blockIdx.y * blockDim.y + threadIdx.y + 1;
    if (x >= w - 1 || y >= h - 1) return;
    const $T c[3] = {($T)0.25, ($T)0.125, ($T)0.0625};
    $T s = 0;
#pragma unroll
    for (int dy = -1; dy <= 1; ++dy)
#pragma unroll
        for (int dx = -1; dx <= 1; ++dx) s += c[dx * dx + dy * dy] * u[(y + dy) * w + x + dx];
    v[y * w + x] = s;
}
__global__ void heat3d_marching(int nx, int ny, int nz, $T r, const $T *u, $T *v) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || y < 1 || x >= nx - 1 || y >= ny - 1) return;
    int plane = nx * ny, i = y * nx + x + plane;
    $T below = u[i - plane], here = u[i];
    for (int z = 1; z < nz - 1; ++z, i += plane) {
        $T above = u[i + plane];
        v[i] = here + r * (below + above + u[i - 1] + u[i + 1] + u[i - nx] + u[i + nx] - 6 * here);
        below = here; here = above;
    }
}
__global__ void stencil_27(int n, const $T *u, $T *v) {
    int x = threadIdx.x, y = threadIdx.y, z = threadIdx.z + blockIdx.x * blockDim.z;
    if (x >= n || y >= n || z >= n) return;
    $T s = 0;
    for (int k = -1; k <= 1; ++k) for (int j = -1; j <= 1; ++j) for (int i = -1; i <= 1; ++i)
        s += u[((z + k + n) % n * n + (y + j + n) % n) * n + (x + i + n) % n];
    v[(z * n + y) * n + x] = s / 27;
}
__global__ void red_black(int w, int h, int colour, $T omega, const $T *f, $T *u) {
    int x = blockIdx.x * blockDim.x + threadIdx.x + 1, y = blockIdx.y * blockDim.y + threadIdx.y + 1;
    if (x >= w - 1 || y >= h - 1 || ((x + y) & 1) != colour) return;
    int i = y * w + x;
    u[i] += omega * ((u[i - 1] + u[i + 1] + u[i - w] + u[i + w] - f[i]) / 4 - u[i]);
}
__global__ void residual_max(int w, int h, const $T *f, const $T *u, $T *r) {
    __shared__ $T s[64];
    int t = threadIdx.x;
    $T m = 0;
    for (int k = t; k < (w - 2) * (h - 2); k += 64) {
        int i = (k / (w - 2) + 1) * w + k % (w - 2) + 1;
        m = max(m, abs(u[i - 1] + u[i + 1] + u[i - w] + u[i + w] - 4 * u[i] - f[i]));
    }
    s[t] = m;
    for (int d = 32; d; d /= 2) { __syncthreads(); if (t < d) s[t] = max(s[t], s[t + d]); }
    if (t == 0) *r = s[0];
}
__global__ void wave(int w, int h, $T c2, const $T *now, $T *old) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 2 || y < 2 || x >= w - 2 || y >= h - 2) return;
    int i = y * w + x;
    $T lap = (16 * (now[i - 1] + now[i + 1] + now[i - w] + now[i + w]) - (now[i - 2] + now[i + 2] + now[i - 2 * w] + now[i + 2 * w]) - 60 * now[i]) / 12;
    old[i] = 2 * now[i] - old[i] + c2 * lap;
}
__global__ void restrict_full_weight(int n, const $T *fine, $T *coarse) {
    int x = threadIdx.x + 1, y = blockIdx.x + 1, m = 2 * n - 1, i = 2 * y * m + 2 * x;
    coarse[y * n + x] = fine[i] / 4 + (fine[i - 1] + fine[i + 1] + fine[i - m] + fine[i + m]) / 8 + (fine[i - m - 1] + fine[i - m + 1] + fine[i + m - 1] + fine[i + m + 1]) / 16;
}
__global__ void prolong_bilinear(int n, const $T *coarse, $T *fine) {
    int m = 2 * n - 1, x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (x >= m) return;
    int i = y / 2 * n + x / 2, dx = x & 1, dy = (y & 1) * n;
    fine[y * m + x] = (coarse[i] + coarse[i + dx] + coarse[i + dy] + coarse[i + dx + dy]) / 4;
}
__global__ void upwind(int n, $T c, const $T *u, $T *v) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) v[i] = u[i] - c * (u[i] - u[(i + n - 1) % n]); }
__global__ void lax_wendroff(int n, $T c, const $T *u, $T *v) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    $T a = u[(i + n - 1) % n], b = u[i], d = u[(i + 1) % n];
    v[i] = b - c / 2 * (d - a) + c * c / 2 * (d - 2 * b + a);
}
__global__ void burgers_godunov(int n, $T c, const $T *u, $T *v) {
    extern __shared__ __align__(16) unsigned char raw[];
    $T *f = ($T *)raw;
    int i = threadIdx.x;
    $T a = u[i], b = u[(i + 1) % n], p = max(a, ($T)0), q = min(b, ($T)0);
    f[i] = max(p * p, q * q) / 2;
    __syncthreads();
    v[i] = a - c * (f[i] - f[(i + n - 1) % n]);
}"""


def _inner(u, r):
    v = u.astype(np.float64)
    w = v.copy()
    w[1:-1, 1:-1] += r * (v[1:-1, :-2] + v[1:-1, 2:] + v[:-2, 1:-1] + v[2:, 1:-1] - 4 * v[1:-1, 1:-1])
    return w


def _edge(u, r):
    v = np.pad(u.astype(np.float64), 1, "edge")
    return v[1:-1, 1:-1] + r * (v[1:-1, :-2] + v[1:-1, 2:] + v[:-2, 1:-1] + v[2:, 1:-1] - 4 * v[1:-1, 1:-1])


def _heat1(u, r):
    v = np.pad(u.astype(np.float64), 1, "edge")
    return v[1:-1] + r * (v[:-2] - 2 * v[1:-1] + v[2:])


def _nine(u):
    v, c = u.astype(np.float64), np.array([[1, 2, 1], [2, 4, 2], [1, 2, 1]]) / 16
    w = np.zeros_like(v)
    w[1:-1, 1:-1] = sum(c[j, i] * v[j:v.shape[0] - 2 + j, i:v.shape[1] - 2 + i] for j in range(3) for i in range(3))
    return w


def _seven(u, r):
    v = u.astype(np.float64)
    w, c = np.zeros_like(v), v[1:-1, 1:-1, 1:-1]
    w[1:-1, 1:-1, 1:-1] = c + r * (v[:-2, 1:-1, 1:-1] + v[2:, 1:-1, 1:-1] + v[1:-1, :-2, 1:-1] + v[1:-1, 2:, 1:-1] + v[1:-1, 1:-1, :-2] + v[1:-1, 1:-1, 2:] - 6 * c)
    return w


def _relax(u, f, omega, sweeps):
    u = u.astype(np.float64)
    y, x = np.mgrid[:u.shape[0], :u.shape[1]]
    inside = (x > 0) & (y > 0) & (x < u.shape[1] - 1) & (y < u.shape[0] - 1)
    for s in range(2 * sweeps):
        n = np.roll(u, 1, 0) + np.roll(u, -1, 0) + np.roll(u, 1, 1) + np.roll(u, -1, 1)
        u = np.where(inside & ((x + y) % 2 == s % 2), u + omega * ((n - f) / 4 - u), u)
    n = np.roll(u, 1, 0) + np.roll(u, -1, 0) + np.roll(u, 1, 1) + np.roll(u, -1, 1)
    return u, np.abs((n - 4 * u - f)[1:-1, 1:-1]).max()


def _wave(now, old, c2, steps):
    now, old = now.astype(np.float64), old.astype(np.float64)
    for _ in range(steps):
        lap = np.zeros_like(now)
        s = lambda dy, dx: now[2 + dy:now.shape[0] - 2 + dy, 2 + dx:now.shape[1] - 2 + dx]
        lap = (16 * (s(0, 1) + s(0, -1) + s(1, 0) + s(-1, 0)) - (s(0, 2) + s(0, -2) + s(2, 0) + s(-2, 0)) - 60 * s(0, 0)) / 12
        old[2:-2, 2:-2] = 2 * s(0, 0) - old[2:-2, 2:-2] + c2 * lap
        now, old = old, now
    return now, old


def _restrict(f, n):
    f, c = f.astype(np.float64), np.zeros((n, n))
    k = np.array([[1, 2, 1], [2, 4, 2], [1, 2, 1]]) / 16
    for y in range(1, n - 1):
        for x in range(1, n - 1):
            c[y, x] = (k * f[2 * y - 1:2 * y + 2, 2 * x - 1:2 * x + 2]).sum()
    return c


def _prolong(c):
    m = 2 * len(c) - 1
    p = np.arange(m) / 2
    a, b, w = np.floor(p).astype(int), np.ceil(p).astype(int), (p % 1)
    rows = c[a].astype(np.float64) * (1 - w)[:, None] + c[b] * w[:, None]
    return rows[:, a] * (1 - w) + rows[:, b] * w


def _godunov(u, c):
    u = u.astype(np.float64)
    f = np.maximum(np.maximum(u, 0) ** 2, np.minimum(np.roll(u, -1), 0) ** 2) / 2
    return u - c * (f - np.roll(f, 1))


for _t, _bx, _by in (("float", 16, 8), ("double", 32, 4), ("float", 13, 7)):
    _d = _c = NUMPY[_t]
    _w, _h = 61, 37
    _grid = (cdiv(_w, _bx), cdiv(_h, _by))
    F.run(f"heat_and_waves_{_t}_{_bx}x{_by}", _HEAT, [L("heat1d", cdiv(500, _bx), _bx, 500, _c(0.25), "line", "o1"), L("heat2d", _grid, (_bx, _by), _w, _h, _c(0.2), "u", "o2"), L("heat2d_tiled", _grid, (_bx, _by), _w, _h, _c(0.2), "u", "o3"),
          L("nine_points", _grid, (_bx, _by), _w, _h, "u", "o4"), L("heat3d_marching", (2, 3), (8, 6), 15, 14, 13, _c(0.125), "box", "o5"), L("stencil_27", 5, (9, 9, 2), 9, "cube", "o6"),
          *(L("red_black", _grid, (_bx, _by), _w, _h, _i % 2, _c(1.5), "f", "o7") for _i in range(6)), L("residual_max", 1, 64, _w, _h, "f", "o7", "res"),
          *(L("wave", _grid, (_bx, _by), _w, _h, _c(0.25), *(("now", "old") if _i % 2 == 0 else ("old", "now"))) for _i in range(4)), L("restrict_full_weight", 15, 15, 17, "fine", "coarse"),
          L("prolong_bilinear", (2, 33), 32, 17, "small", "big"), L("upwind", 5, 100, 500, _c(0.5), "line", "o8"), L("lax_wendroff", 5, 100, 500, _c(0.5), "line", "o9"), L("burgers_godunov", 1, 200, 200, _c(0.25), "line", "o10", shared=1600)],
          lambda b: {"o1": _heat1(b.line, 0.25), "o2": _inner(b.u, 0.2), "o3": _edge(b.u, 0.2), "o4": _nine(b.u), "o5": _seven(b.box, 0.125),
                     "o6": sum(np.roll(b.cube.astype(np.float64), (i, j, k), (0, 1, 2)) for i in (-1, 0, 1) for j in (-1, 0, 1) for k in (-1, 0, 1)) / 27, "o7": _relax(b.o7, b.f, 1.5, 3)[0], "res": [_relax(b.o7, b.f, 1.5, 3)[1]],
                     "now": _wave(b.now, b.old, 0.25, 4)[0], "old": _wave(b.now, b.old, 0.25, 4)[1], "coarse": _restrict(b.fine, 17), "big": _prolong(b.small), "o8": 0.5 * b.line.astype(np.float64) + 0.5 * np.roll(b.line, 1),
                     "o9": b.line - 0.25 * (np.roll(b.line.astype(np.float64), -1) - np.roll(b.line, 1)) + 0.125 * (np.roll(b.line.astype(np.float64), -1) - 2 * b.line + np.roll(b.line, 1)), "o10": _godunov(b.line[:200], 0.25)},
          compare=SWEEPS[_t], given={"T": _t, "BX": _bx, "BY": _by}, line=uniform(1, 500, -1, 1, _d), o1=out(500, _d), u=uniform(2, (_h, _w), 0, 1, _d),
          o2=out((_h, _w), _d), o3=out((_h, _w), _d), o4=zeros((_h, _w), _d), box=uniform(3, (13, 14, 15), 0, 1, _d), o5=zeros((13, 14, 15), _d), cube=uniform(4, (9, 9, 9), 0, 1, _d), o6=out((9, 9, 9), _d), f=uniform(5, (_h, _w), -1, 1, _d),
          o7=uniform(6, (_h, _w), -1, 1, _d), res=out(1, _d), now=uniform(7, (_h, _w), 0, 1, _d), old=uniform(8, (_h, _w), 0, 1, _d), fine=uniform(9, (33, 33), 0, 1, _d), coarse=zeros((17, 17), _d), small=uniform(10, (17, 17), 0, 1, _d),
          big=out((33, 33), _d), o8=out(500, _d), o9=out(500, _d), o10=out(200, _d))


# ---- coupled fields ----
_FIELDS = """
__global__ void fdtd_h(int w, int h, $T c, const $T *ez, $T *hx, $T *hy) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w - 1 || y >= h - 1) return;
    int i = y * w + x;
    hx[i] -= c * (ez[i + w] - ez[i]);
    hy[i] += c * (ez[i + 1] - ez[i]);
}
__global__ void fdtd_e(int w, int h, $T c, $T source, $T *ez, const $T *hx, const $T *hy) {
    int x = blockIdx.x * blockDim.x + threadIdx.x + 1, y = blockIdx.y * blockDim.y + threadIdx.y + 1;
    if (x >= w || y >= h) return;
    int i = y * w + x;
    $T v = ez[i] + c * (hy[i] - hy[i - 1] - hx[i] + hx[i - w]);
    if (x == w / 2 && y == h / 2) v += source;
    ez[i] = v;
}
__global__ void gray_scott(int n, $T f, $T k, const $T *u, const $T *v, $T *u2, $T *v2) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= n || y >= n) return;
    int l = (x + n - 1) % n, r = (x + 1) % n, t = (y + n - 1) % n, b = (y + 1) % n, i = y * n + x;
    $T lu = u[y * n + l] + u[y * n + r] + u[t * n + x] + u[b * n + x] - 4 * u[i], lv = v[y * n + l] + v[y * n + r] + v[t * n + x] + v[b * n + x] - 4 * v[i];
    $T q = u[i] * v[i] * v[i];
    u2[i] = u[i] + ($T)0.2 * lu - q + f * (1 - u[i]);
    v2[i] = v[i] + ($T)0.1 * lv + q - (f + k) * v[i];
}
__constant__ int cx[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1}, cy[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1}, opposite[9] = {0, 3, 4, 1, 2, 7, 8, 5, 6};
__constant__ $T weight[9] = {($T)(4. / 9), ($T)(1. / 9), ($T)(1. / 9), ($T)(1. / 9), ($T)(1. / 9), ($T)(1. / 36), ($T)(1. / 36), ($T)(1. / 36), ($T)(1. / 36)};
__global__ void lbm_d2q9(int w, int h, $T omega, const unsigned char *solid, const $T *in, $T *out) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    $T f[9], rho = 0, ux = 0, uy = 0;
    for (int q = 0; q < 9; ++q) {
        int sx = (x - cx[q] + w) % w, sy = (y - cy[q] + h) % h;
        f[q] = in[(q * h + sy) * w + sx];
        rho += f[q]; ux += cx[q] * f[q]; uy += cy[q] * f[q];
    }
    ux /= rho; uy /= rho;
    $T uu = ($T)1.5 * (ux * ux + uy * uy);
    for (int q = 0; q < 9; ++q) {
        $T cu = 3 * (cx[q] * ux + cy[q] * uy), eq = weight[q] * rho * (1 + cu + cu * cu / 2 - uu);
        out[(q * h + y) * w + x] = solid[y * w + x] ? f[opposite[q]] : f[q] + omega * (eq - f[q]);
    }
}
__global__ void shallow_water(int n, $T dt, const $T *h, const $T *q, $T *h2, $T *q2) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int l = max(i - 1, 0), r = min(i + 1, n - 1);
    $T fl = q[l], fr = q[r], gl = q[l] * q[l] / h[l] + ($T)4.905 * h[l] * h[l], gr = q[r] * q[r] / h[r] + ($T)4.905 * h[r] * h[r];
    h2[i] = (h[l] + h[r]) / 2 - dt / 2 * (fr - fl);
    q2[i] = (q[l] + q[r]) / 2 - dt / 2 * (gr - gl);
}
__global__ void advect(int w, int h, $T dt, const $T *u, const $T *v, const $T *d, $T *out) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    int i = y * w + x;
    $T px = min(max(x - dt * u[i], ($T)0), ($T)(w - 1)), py = min(max(y - dt * v[i], ($T)0), ($T)(h - 1));
    int x0 = min((int)px, w - 2), y0 = min((int)py, h - 2);
    $T a = px - x0, b = py - y0;
    const $T *p = d + y0 * w + x0;
    out[i] = (1 - b) * ((1 - a) * p[0] + a * p[1]) + b * ((1 - a) * p[w] + a * p[w + 1]);
}
__global__ void divergence(int w, int h, const $T *u, const $T *v, $T *d) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    int l = max(x - 1, 0), r = min(x + 1, w - 1), t = max(y - 1, 0), b = min(y + 1, h - 1);
    d[y * w + x] = (u[y * w + r] - u[y * w + l] + v[b * w + x] - v[t * w + x]) / 2;
}
__global__ void perona_malik(int w, int h, $T k2, const $T *u, $T *out) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    $T c = u[y * w + x], s = 0;
    $T d[4] = {u[y * w + max(x - 1, 0)] - c, u[y * w + min(x + 1, w - 1)] - c, u[max(y - 1, 0) * w + x] - c, u[min(y + 1, h - 1) * w + x] - c};
    for (int i = 0; i < 4; ++i) s += d[i] / (1 + d[i] * d[i] / k2);
    out[y * w + x] = c + s / 4;
}"""


def _fdtd(e, hx, hy, c, sources):
    e, hx, hy = (a.astype(np.float64) for a in (e, hx, hy))
    h, w = e.shape
    for s in sources:
        hx[:-1, :-1] -= c * (e[1:, :-1] - e[:-1, :-1])
        hy[:-1, :-1] += c * (e[:-1, 1:] - e[:-1, :-1])
        e[1:, 1:] += c * (hy[1:, 1:] - hy[1:, :-1] - hx[1:, 1:] + hx[:-1, 1:])
        e[h // 2, w // 2] += s
    return {"ez": e, "hx": hx, "hy": hy}


def _gray_scott(u, v, f, k):
    u, v = u.astype(np.float64), v.astype(np.float64)
    lap = lambda a: np.roll(a, 1, 0) + np.roll(a, -1, 0) + np.roll(a, 1, 1) + np.roll(a, -1, 1) - 4 * a
    q = u * v * v
    return u + 0.2 * lap(u) - q + f * (1 - u), v + 0.1 * lap(v) + q - (f + k) * v


def _lbm(f, solid, omega):
    c = np.array([(0, 0), (1, 0), (0, 1), (-1, 0), (0, -1), (1, 1), (-1, 1), (-1, -1), (1, -1)])
    w = np.array([4 / 9] + [1 / 9] * 4 + [1 / 36] * 4)
    f = np.stack([np.roll(f[q].astype(np.float64), (c[q, 1], c[q, 0]), (0, 1)) for q in range(9)])
    rho = f.sum(0)
    u = np.einsum("qi,qyx->iyx", c, f) / rho
    cu = np.einsum("qi,iyx->qyx", c, u)
    eq = w[:, None, None] * rho * (1 + 3 * cu + 4.5 * cu**2 - 1.5 * (u**2).sum(0))
    back = [next(j for j in range(9) if (c[j] == -c[i]).all()) for i in range(9)]
    return np.where(solid, f[back], f + omega * (eq - f))


def _shallow(h, q, dt):
    h, q = h.astype(np.float64), q.astype(np.float64)
    i = np.arange(len(h))
    l, r = np.maximum(i - 1, 0), np.minimum(i + 1, len(h) - 1)
    g = q * q / h + 4.905 * h * h
    return (h[l] + h[r]) / 2 - dt / 2 * (q[r] - q[l]), (q[l] + q[r]) / 2 - dt / 2 * (g[r] - g[l])


def _advect(u, v, d, dt):
    u, v, d = (a.astype(np.float64) for a in (u, v, d))
    h, w = d.shape
    y, x = np.mgrid[:h, :w]
    px, py = np.clip(x - dt * u, 0, w - 1), np.clip(y - dt * v, 0, h - 1)
    x0, y0 = np.minimum(px.astype(int), w - 2), np.minimum(py.astype(int), h - 2)
    a, b = px - x0, py - y0
    return (1 - b) * ((1 - a) * d[y0, x0] + a * d[y0, x0 + 1]) + b * ((1 - a) * d[y0 + 1, x0] + a * d[y0 + 1, x0 + 1])


def _central(a, axis):
    p = np.pad(a.astype(np.float64), 1, "edge")
    return (p[1:-1, 2:] - p[1:-1, :-2]) / 2 if axis else (p[2:, 1:-1] - p[:-2, 1:-1]) / 2


def _diffuse(u, k2):
    p = np.pad(u.astype(np.float64), 1, "edge")
    c = p[1:-1, 1:-1]
    return c + sum((d - c) / (1 + (d - c) ** 2 / k2) for d in (p[1:-1, :-2], p[1:-1, 2:], p[:-2, 1:-1], p[2:, 1:-1])) / 4


for _t, _block in (("float", (16, 16)), ("double", (32, 3))):
    _d = _c = NUMPY[_t]
    _w, _h = 45, 38
    _grid = (cdiv(_w, _block[0]), cdiv(_h, _block[1]))
    F.run(f"fields_{_t}", _FIELDS, [*(step for _s in (1.0, 0.5, 0.25) for step in (L("fdtd_h", _grid, _block, _w, _h, _c(0.5), "ez", "hx", "hy"), L("fdtd_e", _grid, _block, _w, _h, _c(0.5), _c(_s), "ez", "hx", "hy"))),
          L("gray_scott", (cdiv(33, _block[0]), cdiv(33, _block[1])), _block, 33, _c(0.04), _c(0.06), "u", "v", "u2", "v2"), L("lbm_d2q9", _grid, _block, _w, _h, _c(1.25), "solid", "f", "f2"),
          L("shallow_water", 4, 64, 200, _c(0.01), "wh", "wq", "wh2", "wq2"), L("advect", _grid, _block, _w, _h, _c(2), "vx", "vy", "ink", "ink2"), L("divergence", _grid, _block, _w, _h, "vx", "vy", "div"),
          L("perona_malik", _grid, _block, _w, _h, _c(0.01), "ink", "smooth")],
          lambda b: {**_fdtd(b.ez, b.hx, b.hy, 0.5, (1.0, 0.5, 0.25)), "u2": _gray_scott(b.u, b.v, 0.04, 0.06)[0], "v2": _gray_scott(b.u, b.v, 0.04, 0.06)[1], "f2": _lbm(b.f, b.solid, 1.25), "wh2": _shallow(b.wh, b.wq, 0.01)[0],
                     "wq2": _shallow(b.wh, b.wq, 0.01)[1], "ink2": _advect(b.vx, b.vy, b.ink, 2), "div": _central(b.vx, 1) + _central(b.vy, 0), "smooth": _diffuse(b.ink, 0.01)},
          compare=SWEEPS[_t], given={"T": _t}, ez=normal(11, (_h, _w), _d), hx=normal(12, (_h, _w), _d), hy=normal(13, (_h, _w), _d), u=uniform(14, (33, 33), 0, 1, _d), v=uniform(15, (33, 33), 0, 1, _d), u2=out((33, 33), _d), v2=out((33, 33), _d),
          solid=(ints(16, (_h, _w), 0, 8) == 0).astype(np.uint8), f=uniform(17, (9, _h, _w), 0.1, 0.2, _d), f2=out((9, _h, _w), _d), wh=uniform(18, 200, 1, 2, _d), wq=uniform(19, 200, -1, 1, _d), wh2=out(200, _d), wq2=out(200, _d),
          vx=uniform(20, (_h, _w), -2, 2, _d), vy=uniform(21, (_h, _w), -2, 2, _d), ink=uniform(22, (_h, _w), 0, 1, _d), ink2=out((_h, _w), _d), div=out((_h, _w), _d), smooth=out((_h, _w), _d))

# ---- cellular automata ----
F.run("automata", """
__global__ void life_bits(int w, int h, const unsigned *in, unsigned *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= w * h) return;
    int x = i % w, y = i / w;
    unsigned sum0 = 0, sum1 = 0, sum2 = 0, self = in[i];
    for (int dy = -1; dy <= 1; ++dy) {
        int r = (y + dy + h) % h * w;
        unsigned c = in[r + x], l = in[r + (x + w - 1) % w], g = in[r + (x + 1) % w];
        unsigned n[3] = {__funnelshift_l(l, c, 1), dy ? c : 0, __funnelshift_r(c, g, 1)};
        for (int k = 0; k < 3; ++k) { unsigned c0 = sum0 & n[k]; sum0 ^= n[k]; unsigned c1 = sum1 & c0; sum1 ^= c0; sum2 |= c1; }
    }
    out[i] = ~sum2 & sum1 & (sum0 | self);
}
__global__ void life_bytes(int w, int h, const unsigned char *in, unsigned char *out) {
    __shared__ unsigned char s[10][18];
    int tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * 16 + tx - 1, y = blockIdx.y * 8 + ty - 1;
    s[ty][tx] = in[(y + h) % h * w + (x + w) % w];
    __syncthreads();
    if (tx == 0 || ty == 0 || tx == 17 || ty == 9 || x >= w || y >= h) return;
    int n = s[ty - 1][tx - 1] + s[ty - 1][tx] + s[ty - 1][tx + 1] + s[ty][tx - 1] + s[ty][tx + 1] + s[ty + 1][tx - 1] + s[ty + 1][tx] + s[ty + 1][tx + 1];
    out[y * w + x] = n == 3 || (n == 2 && s[ty][tx]);
}
__global__ void elementary(int n, int rule, int steps, unsigned char *rows) {
    __shared__ unsigned char s[2][256];
    int t = threadIdx.x;
    s[0][t] = rows[t];
    for (int k = 1; k <= steps; ++k) {
        __syncthreads();
        const unsigned char *p = s[(k - 1) & 1];
        int v = p[(t + n - 1) % n] * 4 + p[t] * 2 + p[(t + 1) % n];
        s[k & 1][t] = rule >> v & 1;
        rows[k * n + t] = rule >> v & 1;
    }
}
__global__ void sandpile(int w, int h, const int *in, int *out, int *unstable) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    int v = in[y * w + x], o = v % 4;
    if (x > 0) o += in[y * w + x - 1] / 4;
    if (x < w - 1) o += in[y * w + x + 1] / 4;
    if (y > 0) o += in[(y - 1) * w + x] / 4;
    if (y < h - 1) o += in[(y + 1) * w + x] / 4;
    out[y * w + x] = o;
    if (o >= 4) atomicAdd(unstable, 1);
}
__global__ void forest_fire(int w, int h, const unsigned char *in, unsigned char *out) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (x >= w) return;
    bool near = (x > 0 && in[y * w + x - 1] == 2) || (x < w - 1 && in[y * w + x + 1] == 2) || (y > 0 && in[(y - 1) * w + x] == 2) || (y < h - 1 && in[(y + 1) * w + x] == 2);
    unsigned char c = in[y * w + x];
    out[y * w + x] = c == 2 ? 0 : c == 1 && near ? 2 : c;
}""", [L("life_bits", 4, 32, 3, 40, "bits", "bits2"), L("life_bytes", (4, 5), (18, 10), 50, 35, "cells", "cells2"), L("elementary", 1, 200, 200, 110, 20, "rows"), L("sandpile", (4, 5), (16, 8), 50, 35, "sand", "sand2", "unstable"),
       L("forest_fire", (2, 35), 32, 50, 35, "trees", "trees2")],
      lambda b: {"bits2": np.packbits(_life(np.unpackbits(b.bits.view(np.uint8), axis=1, bitorder="little")), axis=1, bitorder="little").view(np.uint32), "cells2": _life(b.cells), "rows": _elementary(b.rows, 110), "sand2": _topple(b.sand),
                 "unstable": [(_topple(b.sand) >= 4).sum()], "trees2": np.where(b.trees == 2, 0, np.where((b.trees == 1) & (_cross(b.trees == 2) > 0), 2, b.trees))},
      bits=ints(23, (40, 3), 0, 2**32, np.uint32), bits2=out((40, 3), np.uint32), cells=ints(24, (35, 50), 0, 2, np.uint8), cells2=out((35, 50), np.uint8), rows=np.concatenate([ints(25, (1, 200), 0, 2, np.uint8), np.zeros((20, 200), np.uint8)]),
      sand=ints(26, (35, 50), 0, 9), sand2=out((35, 50), np.int32), unstable=zeros(1, np.int32), trees=ints(27, (35, 50), 0, 3, np.uint8), trees2=out((35, 50), np.uint8))


def _life(a):
    n = sum(np.roll(a, (i, j), (0, 1)) for i in (-1, 0, 1) for j in (-1, 0, 1) if i or j)
    return ((n == 3) | ((n == 2) & (a == 1))).astype(np.uint8)


def _elementary(rows, rule):
    rows = rows.copy()
    for k in range(1, len(rows)):
        p = rows[k - 1]
        rows[k] = rule >> (np.roll(p, 1) * 4 + p * 2 + np.roll(p, -1)) & 1
    return rows


def _cross(a):
    p = np.pad(a.astype(int), 1)
    return p[1:-1, :-2] + p[1:-1, 2:] + p[:-2, 1:-1] + p[2:, 1:-1]


def _topple(a):
    return a % 4 + _cross(a // 4)
