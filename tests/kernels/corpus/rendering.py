"""Pictures and geometry: rays, fractals, rasters, curves, hulls, curves that fill space."""

from __future__ import annotations

import numpy as np

from tests.kernels.compare import Predicate, Within
from tests.kernels.corpus.tools import NUMPY, Family, L, cdiv, ints, normal, out, uniform, zeros

SUITE = F = Family("rendering")

_RENDER = """
typedef $T T;
struct V { T x, y, z; };
__device__ V v3(T x, T y, T z) { V r = {x, y, z}; return r; }
__device__ V sub(V a, V b) { return v3(a.x - b.x, a.y - b.y, a.z - b.z); }
__device__ T dot(V a, V b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
__device__ V cross(V a, V b) { return v3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x); }
__global__ void spheres(int w, int h, int n, const T *sphere, T *depth) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    V d = v3((x - w / 2) * (T)0.125, (y - h / 2) * (T)0.125, 4);
    T a = dot(d, d), nearest = 100;
    for (int i = 0; i < n; ++i) {
        V c = v3(sphere[4 * i], sphere[4 * i + 1], sphere[4 * i + 2]);
        T b = dot(d, c), disc = b * b - a * (dot(c, c) - sphere[4 * i + 3]);
        if (disc > 0) { T t = (b - sqrt(disc)) / a; if (t > 0 && t < nearest) nearest = t; }
    }
    depth[y * w + x] = nearest;
}
__global__ void triangles(int n, const V *rays, int m, const V *corner, T *hit) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    T best = 100;
    V o = v3(0, 0, -5), d = rays[i];
    for (int k = 0; k < m; ++k) {
        V a = corner[3 * k], e1 = sub(corner[3 * k + 1], a), e2 = sub(corner[3 * k + 2], a), p = cross(d, e2);
        T det = dot(e1, p);
        if (abs(det) < (T)1e-6) continue;
        V s = sub(o, a), q = cross(s, e1);
        T u = dot(s, p) / det, v = dot(d, q) / det, t = dot(e2, q) / det;
        if (u >= 0 && v >= 0 && u + v <= 1 && t > 0) best = min(best, t);
    }
    hit[i] = best;
}
__global__ void mandelbrot(int w, int h, int limit, T step, int *count) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    T cr = (x - w * 3 / 4) * step, ci = (y - h / 2) * step, zr = 0, zi = 0;
    int k = 0;
    for (; k < limit && zr * zr + zi * zi < 4; ++k) { T t = zr * zr - zi * zi + cr; zi = 2 * zr * zi + ci; zr = t; }
    count[y * w + x] = k;
}
__global__ void julia(int w, int h, T re, T im, int *count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= w * h) return;
    T x = (i % w - w / 2) * (T)0.0625, y = (i / w - h / 2) * (T)0.0625;
    int k = 0;
    while (k < 12 && x * x + y * y < 16) { T t = x * x - y * y + re; y = 2 * x * y + im; x = t; ++k; }
    count[i] = k;
}
__global__ void rasterize(int n, const int *corner, int w, unsigned *buffer) {
    const int *c = corner + 6 * blockIdx.x;
    int area = (c[2] - c[0]) * (c[5] - c[1]) - (c[4] - c[0]) * (c[3] - c[1]);
    for (int p = threadIdx.x; p < w * w; p += blockDim.x) {
        int x = p % w, y = p / w;
        int a = (c[2] - c[0]) * (y - c[1]) - (x - c[0]) * (c[3] - c[1]), b = (c[4] - c[2]) * (y - c[3]) - (x - c[2]) * (c[5] - c[3]), d = (c[0] - c[4]) * (y - c[5]) - (x - c[4]) * (c[1] - c[5]);
        if (area && ((a >= 0 && b >= 0 && d >= 0) || (a <= 0 && b <= 0 && d <= 0))) atomicMin(&buffer[p], (unsigned)(blockIdx.x * 7919 % 1024) << 16 | blockIdx.x);
    }
}
__global__ void points_in_polygon(int n, const T *p, int m, const T *q, unsigned char *inside) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    bool in = false;
    T x = p[2 * i], y = p[2 * i + 1];
    for (int k = 0, j = m - 1; k < m; j = k++) if ((q[2 * k + 1] > y) != (q[2 * j + 1] > y) && x < (q[2 * j] - q[2 * k]) * (y - q[2 * k + 1]) / (q[2 * j + 1] - q[2 * k + 1]) + q[2 * k]) in = !in;
    inside[i] = in;
}
__global__ void bezier(int n, const T *control, T *curve) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    T t = (T)i / (n - 1), p[8];
    for (int k = 0; k < 8; ++k) p[k] = control[blockIdx.y * 8 + k];
#pragma unroll
    for (int r = 3; r > 0; --r)
#pragma unroll
        for (int k = 0; k < r; ++k) { p[2 * k] += t * (p[2 * k + 2] - p[2 * k]); p[2 * k + 1] += t * (p[2 * k + 3] - p[2 * k + 1]); }
    curve[2 * (blockIdx.y * n + i)] = p[0]; curve[2 * (blockIdx.y * n + i) + 1] = p[1];
}
__global__ void rotate_quaternion(int n, const T *q, const V *in, V *o) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    V u = v3(q[1], q[2], q[3]), c = cross(u, in[i]), e;
    c.x += q[0] * in[i].x; c.y += q[0] * in[i].y; c.z += q[0] * in[i].z;
    e = cross(u, c);
    o[i] = v3(in[i].x + 2 * e.x, in[i].y + 2 * e.y, in[i].z + 2 * e.z);
}
__global__ void morton(int n, const unsigned *p, unsigned *code) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned r = 0;
    for (int k = 0; k < 3; ++k) { unsigned v = p[3 * i + k] & 1023; v = (v | v << 16) & 0x030000ff; v = (v | v << 8) & 0x0300f00f; v = (v | v << 4) & 0x030c30c3; v = (v | v << 2) & 0x09249249; r |= v << k; }
    code[i] = r;
}
__global__ void hilbert(int side, int *x_y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, t = i, x = 0, y = 0;
    for (int s = 1; s < side; s *= 2) {
        int rx = 1 & t / 2, ry = 1 & (t ^ rx);
        if (!ry) { if (rx) { x = s - 1 - x; y = s - 1 - y; } int u = x; x = y; y = u; }
        x += s * rx; y += s * ry; t /= 4;
    }
    x_y[2 * i] = x; x_y[2 * i + 1] = y;
}
__global__ void voronoi(int w, int n, const int *seeds, int *owner) {
    extern __shared__ int s[];
    for (int k = threadIdx.x; k < 2 * n; k += blockDim.x) s[k] = seeds[k];
    __syncthreads();
    int x = threadIdx.x, y = blockIdx.x, best = 0x7fffffff, at = 0;
    for (int k = 0; k < n; ++k) { int dx = s[2 * k] - x, dy = s[2 * k + 1] - y, d = dx * dx + dy * dy; if (d < best) { best = d; at = k; } }
    owner[y * w + x] = at;
}
__global__ void hull_edges(int n, const int2 *p, unsigned char *on) {
    int i = blockIdx.x, j = threadIdx.x;
    if (i == j || j >= n) return;
    bool left = true;
    for (int k = 0; k < n && left; ++k) { int c = (p[j].x - p[i].x) * (p[k].y - p[i].y) - (p[j].y - p[i].y) * (p[k].x - p[i].x); left = c >= 0; }
    if (left) { on[i] = 1; on[j] = 1; }
}
__global__ void box_overlaps(int n, const int4 *box, unsigned *count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned c = 0;
    if (i < n) for (int j = i + 1; j < n; ++j) c += box[i].x <= box[j].z && box[j].x <= box[i].z && box[i].y <= box[j].w && box[j].y <= box[i].w;
    c = __reduce_add_sync(~0u, c);
    if ((threadIdx.x & 31) == 0) atomicAdd(count, c);
}
__global__ void height_normals(int w, const T *z, V *normal) {
    int x = threadIdx.x, y = blockIdx.x;
    T dx = z[y * w + min(x + 1, w - 1)] - z[y * w + max(x - 1, 0)], dy = z[min(y + 1, w - 1) * w + x] - z[max(y - 1, 0) * w + x], r = 1 / sqrt(dx * dx + dy * dy + 4);
    normal[y * w + x] = v3(-dx * r, -dy * r, 2 * r);
}"""


def _spheres(s, w, h):
    y, x = np.mgrid[:h, :w]
    d = np.stack([(x - w // 2) * 0.125, (y - h // 2) * 0.125, np.full((h, w), 4.0)], 2)
    a, depth = (d * d).sum(2), np.full((h, w), 100.0)
    for *c, r2 in s.astype(np.float64):
        b = d @ c
        disc = b * b - a * (np.dot(c, c) - r2)
        t = (b - np.sqrt(np.maximum(disc, 0))) / a
        depth = np.where((disc > 0) & (t > 0) & (t < depth), t, depth)
    return depth


def _hits(rays, corners):
    d, best = rays.astype(np.float64), np.full(len(rays), 100.0)
    for a, b, c in corners.astype(np.float64).reshape(-1, 3, 3):
        m = np.stack([-d, np.broadcast_to(b - a, d.shape), np.broadcast_to(c - a, d.shape)], 2)
        t, u, v = np.linalg.solve(m, np.broadcast_to(np.array([0, 0, -5.0]) - a, d.shape)[..., None])[..., 0].T
        best = np.where((u >= 0) & (v >= 0) & (u + v <= 1) & (t > 0), np.minimum(best, t), best)
    return best


def _escape(zr, zi, cr, ci, limit, bound):
    count = np.zeros(np.broadcast(zr, cr).shape, int)
    with np.errstate(all="ignore"):
        for _ in range(limit):
            live = zr * zr + zi * zi < bound
            count += live
            zr, zi = np.where(live, zr * zr - zi * zi + cr, zr), np.where(live, 2 * zr * zi + ci, zi)
    return count


def _raster(corner, w):
    y, x = np.mgrid[:w, :w]
    z = np.full((w, w), 2**32 - 1)
    for i, (x0, y0, x1, y1, x2, y2) in enumerate(corner.reshape(-1, 6).tolist()):
        e = [(b - a) * (y - q) - (x - a) * (r - q) for a, q, b, r in ((x0, y0, x1, y1), (x1, y1, x2, y2), (x2, y2, x0, y0))]
        inside = np.all([v >= 0 for v in e], 0) | np.all([v <= 0 for v in e], 0)
        if (x1 - x0) * (y2 - y0) - (x2 - x0) * (y1 - y0):
            z = np.where(inside, np.minimum(z, i * 7919 % 1024 << 16 | i), z)
    return z


def _inside(p, q):
    p, q = p.astype(np.float64), q.astype(np.float64)
    n = np.zeros(len(p), bool)
    for a, b in zip(q, np.roll(q, 1, 0)):
        if a[1] != b[1]:
            n ^= ((a[1] > p[:, 1]) != (b[1] > p[:, 1])) & (p[:, 0] < (b[0] - a[0]) * (p[:, 1] - a[1]) / (b[1] - a[1]) + a[0])
    return n


def _curve(c, n):
    t = (np.arange(n) / (n - 1))[:, None]
    p = c.reshape(-1, 1, 4, 2).astype(np.float64)
    return sum(k * t**i * (1 - t) ** (3 - i) * p[:, :, i] for i, k in enumerate((1, 3, 3, 1)))


def _turn(q, v):
    w, x, y, z = q.astype(np.float64)
    m = np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)], [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)], [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]])
    return v @ m.T


def _hilbert_holds(got, want):
    """Every cell once, each a neighbour of the one before."""
    return len({tuple(p) for p in got.tolist()}) == len(got) == 256 and got.min() == 0 and got.max() == 15 and bool((abs(np.diff(got, axis=0)).sum(1) == 1).all())


def _hull(p):
    c = lambda i, j: (p[j, 0] - p[i, 0]) * (p[:, 1] - p[i, 1]) - (p[j, 1] - p[i, 1]) * (p[:, 0] - p[i, 0])
    return [any(i != j and ((c(i, j) >= 0).all() or (c(j, i) >= 0).all()) for j in range(len(p))) for i in range(len(p))]


def _normals(z):
    p = np.pad(z.astype(np.float64), 1, "edge")
    v = np.stack([p[1:-1, :-2] - p[1:-1, 2:], p[:-2, 1:-1] - p[2:, 1:-1], np.full(z.shape, 2.0)], 2)
    return v / np.sqrt((v**2).sum(2, keepdims=True))


_Q = np.array([0.5, 0.5, -0.5, 0.5])
for _t, _block in (("float", (16, 8)), ("double", (32, 3))):
    _d = _c = NUMPY[_t]
    _g = (cdiv(60, _block[0]), cdiv(40, _block[1]))
    _e = Within("tens of roundings of values of order 10", rtol=1e-4 if _t == "float" else 1e-11, atol=1e-4 if _t == "float" else 1e-11)
    F.run(f"scenes_{_t}", _RENDER, [L("spheres", _g, _block, 60, 40, 12, "sphere", "depth"), L("triangles", 4, 64, 200, "rays", 20, "corner", "hit"), L("mandelbrot", _g, _block, 60, 40, 6, _c(0.0625), "m"), L("julia", 19, 128, 60, 40, _c(-0.75), _c(0.125), "j"), L("rasterize", 30, 96, 30, "flat", 48, "z"),
          L("points_in_polygon", 4, 64, 200, "p", 11, "polygon", "in"), L("bezier", (2, 5), 32, 50, "control", "curve"), L("rotate_quaternion", 4, 64, 200, "quat", "rays", "turned"), L("morton", 2, 64, 100, "words", "code"), L("hilbert", 2, 128, 16, "walk"),
          L("voronoi", 40, 60, 60, 25, "seeds", "owner", shared=200), L("hull_edges", 50, 64, 50, "cloud", "on"), L("box_overlaps", 2, 64, 90, "box", "overlaps"), L("height_normals", 33, 33, 33, "height", "normal")],
          lambda b: {"depth": _spheres(b.sphere, 60, 40), "hit": _hits(b.rays, b.corner), "m": _escape(np.zeros((40, 60)), np.zeros((40, 60)), (np.arange(60) - 45) * 0.0625, ((np.arange(40) - 20) * 0.0625)[:, None], 6, 4),
                     "j": _escape((np.arange(60) - 30) * 0.0625, ((np.arange(40) - 20) * 0.0625)[:, None], np.full((40, 60), -0.75), 0.125, 12, 16), "z": _raster(b.flat, 48), "in": _inside(b.p, b.polygon), "curve": _curve(b.control, 50), "turned": _turn(b.quat, b.rays),
                     "code": [sum((int(v) >> i & 1) << 3 * i + k for k, v in enumerate(w) for i in range(10)) for w in b.words], "walk": b.walk, "owner": ((b.seeds[:, None, None, 0] - np.arange(60)) ** 2 + (b.seeds[:, None, None, 1] - np.arange(40)[:, None]) ** 2).argmin(0),
                     "on": _hull(b.cloud), "overlaps": [sum(bool((a[:2] <= c[2:]).all() and (c[:2] <= a[2:]).all()) for i, a in enumerate(b.box) for c in b.box[i + 1:])], "normal": _normals(b.height)},
          compare={k: _e for k in ("depth", "hit", "curve", "turned", "normal")} | {"walk": Predicate("the walk enters each of 256 cells once, by one step", _hilbert_holds),
                   "m": Within("a count whose last test may fall either way", atol=1 if _t == "float" else 0), "j": Within("a count whose last test may fall either way", atol=1 if _t == "float" else 0)},
          given={"T": _t}, sphere=np.concatenate([uniform(1, (12, 2), -4, 4, _d), uniform(2, (12, 1), 6, 12, _d), uniform(3, (12, 1), 0.5, 3, _d)], 1), depth=out((40, 60), _d), rays=np.concatenate([uniform(4, (200, 2), -0.5, 0.5, _d), np.ones((200, 1), _d)], 1), corner=normal(5, (60, 3), _d) * 2,
          hit=out(200, _d), m=out((40, 60), np.int32), j=out((40, 60), np.int32), flat=ints(6, (30, 6), 0, 48), z=np.full((48, 48), 2**32 - 1, np.uint32), p=uniform(7, (200, 2), -1, 1, _d), polygon=(np.stack([np.cos(np.arange(11) * 0.5712), np.sin(np.arange(11) * 0.5712)], 1) * np.resize([0.9, 0.5], 11)[:, None]).astype(_d),
          **{"in": out(200, np.uint8)}, control=normal(8, (5, 8), _d), curve=out((5, 50, 2), _d), quat=_Q.astype(_d), turned=out((200, 3), _d), words=ints(9, (100, 3), 0, 1024, np.uint32), code=out(100, np.uint32), walk=out((256, 2), np.int32), seeds=ints(10, (25, 2), 0, 60), owner=out((40, 60), np.int32),
          cloud=ints(11, (50, 2), -99, 99), on=zeros(50, np.uint8), box=np.concatenate([(_o := ints(12, (90, 2), 0, 300)), _o + ints(13, (90, 2), 1, 60)], 1), overlaps=zeros(1, np.uint32), height=uniform(14, (33, 33), 0, 2, _d), normal=out((33, 33, 3), _d))
