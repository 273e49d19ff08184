"""Machine learning and finance: layers, attention, optimisers, clustering, option lattices; products on tensor cores."""

from __future__ import annotations

import math

import numpy as np

from tests.kernels.compare import Within
from tests.kernels.corpus.tools import NUMPY, Family, L, cdiv, ints, normal, out, uniform, zeros

SUITE = F = Family("learning")
_erf = np.vectorize(math.erf)

_LAYERS = """
typedef $T T;
__device__ T warp_sum(T v) { for (int d = 16; d; d >>= 1) v += __shfl_xor_sync(~0u, v, d); return v; }
__device__ T warp_max(T v) { for (int d = 16; d; d >>= 1) v = max(v, __shfl_xor_sync(~0u, v, d)); return v; }
__global__ void softmax_warp(int n, const T *x, T *y) {
    x += blockIdx.x * n; y += blockIdx.x * n;
    T m = -1e30f, s = 0;
    for (int i = threadIdx.x; i < n; i += 32) m = max(m, x[i]);
    m = warp_max(m);
    for (int i = threadIdx.x; i < n; i += 32) s += exp(x[i] - m);
    s = warp_sum(s);
    for (int i = threadIdx.x; i < n; i += 32) y[i] = exp(x[i] - m) / s;
}
__global__ void softmax_online(int n, const T *x, T *y) {
    __shared__ T sm[64], ss[64];
    int t = threadIdx.x;
    x += blockIdx.x * n; y += blockIdx.x * n;
    T m = -1e30f, s = 0;
    for (int i = t; i < n; i += 64) { T u = max(m, x[i]); s = s * exp(m - u) + exp(x[i] - u); m = u; }
    sm[t] = m; ss[t] = s;
    for (int d = 32; d; d >>= 1) {
        __syncthreads();
        if (t < d) { T u = max(sm[t], sm[t + d]); ss[t] = ss[t] * exp(sm[t] - u) + ss[t + d] * exp(sm[t + d] - u); sm[t] = u; }
    }
    __syncthreads();
    for (int i = t; i < n; i += 64) y[i] = exp(x[i] - sm[0]) / ss[0];
}
__global__ void layer_norm(int n, const T *x, const T *gain, const T *bias, T *y) {
    x += blockIdx.x * n; y += blockIdx.x * n;
    T s = 0, q = 0;
    for (int i = threadIdx.x; i < n; i += 32) s += x[i];
    T mean = warp_sum(s) / n;
    for (int i = threadIdx.x; i < n; i += 32) { T d = x[i] - mean; q += d * d; }
    T inv = 1 / sqrt(warp_sum(q) / n + (T)1e-5);
    for (int i = threadIdx.x; i < n; i += 32) y[i] = (x[i] - mean) * inv * gain[i] + bias[i];
}
__global__ void rms_norm(int n, const T *x, T *y) {
    T q = 0;
    for (int i = threadIdx.x; i < n; i += 32) { T v = x[blockIdx.x * n + i]; q += v * v; }
    T inv = rsqrt(warp_sum(q) / n + (T)1e-5);
    for (int i = threadIdx.x; i < n; i += 32) y[blockIdx.x * n + i] = x[blockIdx.x * n + i] * inv;
}
__global__ void batch_norm_statistics(int rows, int n, const T *x, T *mean, T *var) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= n) return;
    T s = 0, q = 0;
    for (int r = 0; r < rows; ++r) s += x[r * n + c];
    s /= rows;
    for (int r = 0; r < rows; ++r) q += (x[r * n + c] - s) * (x[r * n + c] - s);
    mean[c] = s; var[c] = q / rows;
}
__global__ void relu(int n, const T *x, T *y) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = max(x[i], (T)0); }
__global__ void gelu(int n, const T *x, T *y) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = x[i] / 2 * (1 + erf(x[i] * (T)0.70710678118654752)); }
__global__ void silu_and_gate(int n, const T *x, const T *g, T *y) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = x[i] / (1 + exp(-x[i])) * g[i]; }
__global__ void lstm_cell(int n, const T *gates, T *c, T *h) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    T f = 1 / (1 + exp(-gates[i])), in = 1 / (1 + exp(-gates[n + i])), o = 1 / (1 + exp(-gates[2 * n + i])), u = f * c[i] + in * tanh(gates[3 * n + i]);
    c[i] = u; h[i] = o * tanh(u);
}
__global__ void cross_entropy(int n, const T *x, const int *label, T *loss) {
    T s = 0;
    for (int i = threadIdx.x; i < n; i += 32) s += exp(x[blockIdx.x * n + i]);
    s = warp_sum(s);
    if (threadIdx.x == 0) loss[blockIdx.x] = log(s) - x[blockIdx.x * n + label[blockIdx.x]];
}
__global__ void attention(int n, int d, T scale, const T *q, const T *k, const T *v, T *o) {
    extern __shared__ __align__(16) unsigned char raw[];
    T *p = (T *)raw;
    int row = blockIdx.x, lane = threadIdx.x;
    T m = -1e30f, s = 0;
    for (int j = lane; j <= row; j += 32) { T dot = 0; for (int c = 0; c < d; ++c) dot += q[row * d + c] * k[j * d + c]; p[j] = dot * scale; m = max(m, p[j]); }
    m = warp_max(m);
    for (int j = lane; j <= row; j += 32) { p[j] = exp(p[j] - m); s += p[j]; }
    s = warp_sum(s);
    __syncwarp();
    for (int c = lane; c < d; c += 32) { T a = 0; for (int j = 0; j <= row; ++j) a += p[j] * v[j * d + c]; o[row * d + c] = a / s; }
}
// One thread per query; keys and values pass through shared memory in tiles, the softmax is corrected as it goes.
__global__ void attention_tiled(int n, T scale, const T *q, const T *k, const T *v, T *o) {
    const int D = 8;
    __shared__ T sk[16][D], sv[16][D];
    int row = blockIdx.x * 16 + threadIdx.x;
    T r[D], acc[D] = {}, m = -1e30f, s = 0;
    for (int c = 0; c < D; ++c) r[c] = row < n ? q[row * D + c] : 0;
    for (int base = 0; base < n; base += 16) {
        if (base + threadIdx.x < n) for (int c = 0; c < D; ++c) { sk[threadIdx.x][c] = k[(base + threadIdx.x) * D + c]; sv[threadIdx.x][c] = v[(base + threadIdx.x) * D + c]; }
        __syncthreads();
        for (int j = 0; j < min(16, n - base); ++j) {
            T dot = 0;
            for (int c = 0; c < D; ++c) dot += r[c] * sk[j][c];
            dot *= scale;
            T u = max(m, dot), f = exp(m - u), e = exp(dot - u);
            s = s * f + e; m = u;
            for (int c = 0; c < D; ++c) acc[c] = acc[c] * f + e * sv[j][c];
        }
        __syncthreads();
    }
    if (row < n) for (int c = 0; c < D; ++c) o[row * D + c] = acc[c] / s;
}
__global__ void rotary(int n, int d, const T *x, T *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, p = i / (d / 2), c = i % (d / 2);
    if (p >= n) return;
    T a = p * exp2(-(T)(2 * c) / d * (T)4), s, k;
    sincos(a, &s, &k);
    T u = x[p * d + 2 * c], w = x[p * d + 2 * c + 1];
    y[p * d + 2 * c] = u * k - w * s; y[p * d + 2 * c + 1] = u * s + w * k;
}
__global__ void conv2d(int w, int h, int in, const T *x, const T *k, T *y) {
    int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y, o = blockIdx.z;
    if (c >= w - 2) return;
    T s = 0;
    for (int i = 0; i < in; ++i) for (int b = 0; b < 3; ++b) for (int a = 0; a < 3; ++a) s += x[(i * h + r + b) * w + c + a] * k[((o * in + i) * 3 + b) * 3 + a];
    y[(o * (h - 2) + r) * (w - 2) + c] = s;
}
__global__ void im2col(int w, int h, int in, const T *x, T *columns) {
    int p = blockIdx.x * blockDim.x + threadIdx.x, pixels = (w - 2) * (h - 2), k = blockIdx.y;
    if (p < pixels) columns[k * pixels + p] = x[(k / 9 * h + p / (w - 2) + k % 9 / 3) * w + p % (w - 2) + k % 3];
}
__global__ void matmul_columns(int pixels, int depth, const T *k, const T *columns, T *y) {
    int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= pixels) return;
    T s = 0;
    for (int i = 0; i < depth; ++i) s += k[blockIdx.y * depth + i] * columns[i * pixels + p];
    y[blockIdx.y * pixels + p] = s;
}
__global__ void depthwise(int w, int h, const T *x, const T *k, T *y) {
    int c = threadIdx.x, r = blockIdx.x, ch = blockIdx.y;
    T s = 0;
    for (int b = -1; b <= 1; ++b) for (int a = -1; a <= 1; ++a) if (c + a >= 0 && c + a < w && r + b >= 0 && r + b < h) s += x[(ch * h + r + b) * w + c + a] * k[ch * 9 + (b + 1) * 3 + a + 1];
    y[(ch * h + r) * w + c] = s;
}
__global__ void max_pool(int w, int h, const T *x, T *y, int *at) {
    int c = threadIdx.x, r = blockIdx.x, best = 2 * r * w + 2 * c;
    for (int k = 1; k < 4; ++k) { int i = (2 * r + k / 2) * w + 2 * c + k % 2; if (x[i] > x[best]) best = i; }
    y[r * (w / 2) + c] = x[best]; at[r * (w / 2) + c] = best;
}
__global__ void average_pool(int w, const T *x, T *y) { int c = threadIdx.x, r = blockIdx.x, i = 2 * r * w + 2 * c; y[r * (w / 2) + c] = (x[i] + x[i + 1] + x[i + w] + x[i + w + 1]) / 4; }
__global__ void upsample(int w, const T *x, T *y) { int c = threadIdx.x, r = blockIdx.x; y[r * 2 * w + c] = x[r / 2 * w + c / 2]; }
__global__ void adam(int n, T rate, T c1, T c2, const T *g, T *m, T *v, T *w) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    T a = (T)0.9 * m[i] + (T)0.1 * g[i], b = (T)0.999 * v[i] + (T)0.001 * g[i] * g[i];
    m[i] = a; v[i] = b; w[i] -= rate * (a / c1) / (sqrt(b / c2) + (T)1e-8);
}
__global__ void momentum(int n, T rate, const T *g, T *v, T *w) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) { T u = (T)0.875 * v[i] - rate * g[i]; v[i] = u; w[i] += u; } }
__global__ void embedding(int d, const int *token, const T *table, T *o) { for (int c = threadIdx.x; c < d; c += blockDim.x) o[blockIdx.x * d + c] = table[token[blockIdx.x] * d + c]; }
__global__ void embedding_gradient(int d, const int *token, const T *g, T *table) { int c = threadIdx.x; if (c < d) atomicAdd(&table[token[blockIdx.x] * d + c], g[blockIdx.x * d + c]); }
__global__ void kmeans_assign(int n, int k, const T *p, const T *centre, int *owner) {
    __shared__ T s[32];
    if (threadIdx.x < 2 * k) s[threadIdx.x] = centre[threadIdx.x];
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x, best = 0;
    if (i >= n) return;
    T nearest = 1e30f;
    for (int c = 0; c < k; ++c) { T x = p[2 * i] - s[2 * c], y = p[2 * i + 1] - s[2 * c + 1], d = x * x + y * y; if (d < nearest) { nearest = d; best = c; } }
    owner[i] = best;
}
__global__ void kmeans_update(int n, int k, const T *p, const int *owner, T *centre) {
    int c = blockIdx.x, lane = threadIdx.x;
    T x = 0, y = 0, m = 0;
    for (int i = lane; i < n; i += 32) if (owner[i] == c) { x += p[2 * i]; y += p[2 * i + 1]; m += 1; }
    x = warp_sum(x); y = warp_sum(y); m = warp_sum(m);
    if (lane == 0 && m > 0) { centre[2 * c] = x / m; centre[2 * c + 1] = y / m; }
}
__global__ void nearest_neighbours(int n, const T *p, int m, const T *q, int *index) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= m) return;
    T best[4] = {1e30f, 1e30f, 1e30f, 1e30f}; int at[4] = {0, 0, 0, 0};
    for (int j = 0; j < n; ++j) {
        T x = p[2 * j] - q[2 * i], y = p[2 * j + 1] - q[2 * i + 1], d = x * x + y * y;
        if (d < best[3]) { int k = 3; for (; k > 0 && d < best[k - 1]; --k) { best[k] = best[k - 1]; at[k] = at[k - 1]; } best[k] = d; at[k] = j; }
    }
    for (int k = 0; k < 4; ++k) index[4 * i + k] = at[k];
}
__global__ void logistic_gradient(int n, const T *x, const int *y, const T *w, T *g) {
    T a = 0, b = 0, c = 0;
    for (int i = threadIdx.x; i < n; i += 32) { T p = 1 / (1 + exp(-(w[0] * x[2 * i] + w[1] * x[2 * i + 1] + w[2]))) - y[i]; a += p * x[2 * i]; b += p * x[2 * i + 1]; c += p; }
    a = warp_sum(a); b = warp_sum(b); c = warp_sum(c);
    if (threadIdx.x == 0) { g[0] = a / n; g[1] = b / n; g[2] = c / n; }
}
__global__ void binomial_option(int steps, T strike, T up, T discount, T chance, const T *spot, T *price) {
    extern __shared__ __align__(16) unsigned char raw[];
    T *v = (T *)raw, s = spot[blockIdx.x];
    int t = threadIdx.x;
    v[t] = max(strike - s * pow(up, (T)(2 * t - steps)), (T)0);
    for (int k = steps - 1; k >= 0; --k) {
        __syncthreads();
        T u = t <= k ? discount * (chance * v[t + 1] + (1 - chance) * v[t]) : 0;
        __syncthreads();
        if (t <= k) v[t] = max(u, strike - s * pow(up, (T)(2 * t - k)));
    }
    if (t == 0) price[blockIdx.x] = v[0];
}
__global__ void black_scholes_greeks(int n, T rate, T vol, T years, const T *spot, const T *strike, T *delta, T *gamma, T *vega) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    T w = vol * sqrt(years), d = (log(spot[i] / strike[i]) + (rate + vol * vol / 2) * years) / w, pdf = exp(-d * d / 2) * (T)0.39894228040143268;
    delta[i] = normcdf(d); gamma[i] = pdf / (spot[i] * w); vega[i] = spot[i] * pdf * sqrt(years);
}
__global__ void bond_prices(int n, const T *coupon, const T *yield, const int *periods, T *price) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    T f = 1 / (1 + yield[i]), d = 1, s = 0;
    for (int k = 0; k < periods[i]; ++k) { d *= f; s += coupon[i] * d; }
    price[i] = s + 100 * d;
}"""


def _softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def _lattice(spot, steps, strike, up, discount, chance):
    s = spot[:, None]
    k = np.arange(steps + 1)
    v = np.maximum(strike - s * up ** (2.0 * k - steps), 0)
    for t in range(steps - 1, -1, -1):
        v = np.maximum(discount * (chance * v[:, 1:] + (1 - chance) * v[:, :-1]), strike - s * up ** (2.0 * k[:t + 1] - t))
    return v[:, 0]


def _oracle(b):
    f = {k: v.astype(np.float64) if v.dtype.kind == "f" else v for k, v in vars(b).items()}
    x = f["x"]
    sig = lambda v: 1 / (1 + np.exp(-v))
    g = f["gates"]
    c = sig(g[0]) * f["c"] + sig(g[1]) * np.tanh(g[3])
    scores = f["q"] @ f["k"].T * 0.25
    causal = _softmax(np.where(np.tril(np.ones((40, 40))) > 0, scores, -1e30)) @ f["v"]
    pos = np.arange(40)[:, None] * 2.0 ** (-(2 * np.arange(4)) / 8 * 4)
    u, w = f["q"][:, ::2], f["q"][:, 1::2]
    im, kern = f["im"], f["kern"]
    patches = np.stack([im[i, dy:dy + 10, dx:dx + 15] for i in range(3) for dy in range(3) for dx in range(3)]).reshape(27, 150)
    conv = kern.reshape(4, 27) @ patches
    pad = np.pad(im, ((0, 0), (1, 1), (1, 1)))
    depth = sum(pad[:, dy:dy + 12, dx:dx + 17] * kern[:3, 0, dy, dx][:, None, None] for dy in range(3) for dx in range(3))
    pool = f["even"].reshape(6, 2, 8, 2).transpose(0, 2, 1, 3).reshape(6, 8, 4)
    best = pool.argmax(2)
    r, col = np.mgrid[:6, :8]
    m, v2 = 0.9 * f["m"] + 0.1 * f["g"], 0.999 * f["v2"] + 0.001 * f["g"] ** 2
    owner = ((f["points"][:, None] - f["centre"][None]) ** 2).sum(2).argmin(1)
    counts = np.bincount(owner, minlength=7)
    moved = np.stack([np.bincount(owner, f["points"][:, a], 7) for a in (0, 1)], 1) / np.maximum(counts, 1)[:, None]
    near = np.argsort(((f["points"][None] - f["queries"][:, None]) ** 2).sum(2), 1, kind="stable")[:, :4]
    p = sig(f["points"] @ f["lw"][:2] + f["lw"][2]) - f["y"]
    grads = zeros((30, 8), np.float64)
    np.add.at(grads, f["tokens"], f["tg"])
    wv = 0.25 * 1.0
    d = (np.log(f["spot"] / f["strike"]) + (0.03125 + 0.25**2 / 2)) / wv
    pdf = np.exp(-d * d / 2) / np.sqrt(2 * np.pi)
    disc = (1 + f["yields"]) ** -f["periods"].astype(np.float64)
    return {"y1": _softmax(x), "y2": _softmax(x), "y3": (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-5) * f["gain"] + f["bias"], "y4": x / np.sqrt((x**2).mean(1, keepdims=True) + 1e-5), "mean": x.mean(0), "var": x.var(0),
            "y5": np.maximum(x, 0), "y6": x / 2 * (1 + _erf(x / np.sqrt(2))), "y7": x * sig(x) * np.roll(x, 1), "c": c, "h": sig(g[2]) * np.tanh(c), "loss": np.log(np.exp(x).sum(1)) - x[np.arange(len(x)), f["label"]], "att": causal, "att2": _softmax(scores) @ f["v"],
            "rot": np.stack([u * np.cos(pos) - w * np.sin(pos), u * np.sin(pos) + w * np.cos(pos)], 2), "conv": conv, "columns": patches, "conv2": conv, "depth": depth, "pool": pool.max(2), "at": (2 * r + best // 2) * 16 + 2 * col + best % 2, "avg": pool.mean(2),
            "big": f["even"].repeat(2, 0).repeat(2, 1), "m": m, "v2": v2, "w": f["w"] - 0.01 * (m / 0.19) / (np.sqrt(v2 / 0.001999) + 1e-8), "mv": 0.875 * f["mv"] - 0.125 * f["g"], "mw": f["mw"] + 0.875 * f["mv"] - 0.125 * f["g"], "emb": f["table"][f["tokens"]], "eg": grads,
            "owner": owner, "centre": np.where(counts[:, None] > 0, moved, f["centre"]), "near": near, "lg": [(p * f["points"][:, 0]).mean(), (p * f["points"][:, 1]).mean(), p.mean()], "put": _lattice(f["spot"][:5], 30, 100.0, 1.03125, 0.999, 0.5),
            "delta": 0.5 * (1 + _erf(d / np.sqrt(2))), "gamma": pdf / (f["spot"] * wv), "vega": f["spot"] * pdf, "bond": f["coupon"] * (1 - disc) / f["yields"] + 100 * disc}


for _t in ("float", "double"):
    _d = _c = NUMPY[_t]
    _n = 90
    _e = Within("sums of fewer than 100 terms of order 1 to 100, a few elementary functions", rtol=1e-4 if _t == "float" else 1e-10, atol=1e-4 if _t == "float" else 1e-10)
    _x = normal(1, (7, _n), _d)
    _1 = lambda kernel, n, *args: L(kernel, cdiv(n, 64), 64, n, *args)
    _exact = ("at", "owner", "near")
    F.run(f"layers_{_t}", _LAYERS, [L("softmax_warp", 7, 32, _n, "x", "y1"), L("softmax_online", 7, 64, _n, "x", "y2"), L("layer_norm", 7, 32, _n, "x", "gain", "bias", "y3"), L("rms_norm", 7, 32, _n, "x", "y4"), L("batch_norm_statistics", 3, 32, 7, _n, "x", "mean", "var"),
          _1("relu", 630, "x", "y5"), _1("gelu", 630, "x", "y6"), _1("silu_and_gate", 630, "x", "xg", "y7"), _1("lstm_cell", 50, "gates", "c", "h"), L("cross_entropy", 7, 32, _n, "x", "label", "loss"), L("attention", 40, 32, 40, 8, _c(0.25), "q", "k", "v", "att", shared=320),
          L("attention_tiled", 3, 16, 40, _c(0.25), "q", "k", "v", "att2"), L("rotary", 3, 64, 40, 8, "q", "rot"), L("conv2d", (1, 10, 4), 32, 17, 12, 3, "im", "kern", "conv"), L("im2col", (3, 27), 64, 17, 12, 3, "im", "columns"), L("matmul_columns", (3, 4), 64, 150, 27, "kern", "columns", "conv2"),
          L("depthwise", (12, 3), 17, 17, 12, "im", "dk", "depth"), L("max_pool", 6, 8, 16, 12, "even", "pool", "at"), L("average_pool", 6, 8, 16, "even", "avg"), L("upsample", 24, 32, 16, "even", "big"), _1("adam", 200, _c(0.01), _c(0.19), _c(0.001999), "g", "m", "v2", "w"),
          _1("momentum", 200, _c(0.125), "g", "mv", "mw"), L("embedding", 25, 32, 8, "tokens", "table", "emb"), L("embedding_gradient", 25, 32, 8, "tokens", "tg", "eg"), _1("kmeans_assign", 150, 7, "points", "centre", "owner"), L("kmeans_update", 7, 32, 150, 7, "points", "owner", "centre"),
          L("nearest_neighbours", 2, 32, 150, "points", 40, "queries", "near"), L("logistic_gradient", 1, 32, 150, "points", "y", "lw", "lg"), L("binomial_option", 5, 31, 30, _c(100), _c(1.03125), _c(0.999), _c(0.5), "spot", "put", shared=8 * 32),
          _1("black_scholes_greeks", 60, _c(0.03125), _c(0.25), _c(1), "spot", "strike", "delta", "gamma", "vega"), _1("bond_prices", 60, "coupon", "yields", "periods", "bond")], _oracle,
          compare={k: _e for k in ("y1", "y2", "y3", "y4", "mean", "var", "y5", "y6", "y7", "c", "h", "loss", "att", "att2", "rot", "conv", "columns", "conv2", "depth", "pool", "avg", "big", "m", "v2", "w", "mv", "mw", "emb", "eg", "centre", "lg", "put", "delta", "gamma", "vega", "bond")},
          given={"T": _t}, x=_x, xg=np.roll(_x, 1), **{f"y{i}": out((7, _n), _d) for i in range(1, 8)}, gain=uniform(2, _n, 0, 1, _d), bias=normal(3, _n, _d), mean=out(_n, _d), var=out(_n, _d), gates=normal(4, (4, 50), _d), c=normal(5, 50, _d), h=out(50, _d), label=ints(6, 7, 0, _n),
          loss=out(7, _d), q=normal(7, (40, 8), _d), k=normal(8, (40, 8), _d), v=normal(9, (40, 8), _d), att=out((40, 8), _d), att2=out((40, 8), _d), rot=out((40, 4, 2), _d), im=normal(10, (3, 12, 17), _d), kern=normal(11, (4, 3, 3, 3), _d), conv=out((4, 150), _d), columns=out((27, 150), _d),
          conv2=out((4, 150), _d), dk=normal(11, (4, 3, 3, 3), _d)[:3, 0].copy(), depth=out((3, 12, 17), _d), even=normal(12, (12, 16), _d), pool=out((6, 8), _d), at=out((6, 8), np.int32), avg=out((6, 8), _d), big=out((24, 32), _d), g=normal(13, 200, _d), m=normal(14, 200, _d),
          v2=uniform(15, 200, 0.1, 1, _d), w=normal(16, 200, _d), mv=normal(17, 200, _d), mw=normal(18, 200, _d), tokens=ints(19, 25, 0, 30), table=normal(20, (30, 8), _d), emb=out((25, 8), _d), tg=normal(21, (25, 8), _d), eg=zeros((30, 8), _d), points=ints(22, (150, 2), -500, 500, _d) / _d(64),
          centre=ints(23, (7, 2), -500, 500, _d) / _d(64), owner=out(150, np.int32), queries=(ints(24, (40, 2), -500, 500, _d) / _d(64)), near=out((40, 4), np.int32), y=ints(25, 150, 0, 2), lw=np.array([0.5, -0.25, 0.125], _d), lg=out(3, _d), spot=uniform(26, 60, 80, 120, _d), put=out(5, _d),
          strike=uniform(27, 60, 80, 120, _d), delta=out(60, _d), gamma=out(60, _d), vega=out(60, _d), coupon=uniform(28, 60, 1, 8, _d), yields=uniform(29, 60, 0.01, 0.1, _d), periods=ints(30, 60, 1, 40), bond=out(60, _d))

# ---- on tensor cores: whole numbers, so that the sums are exact ----
_WMMA = """
#include <mma.h>
using namespace nvcuda;
extern "C" __global__ void gemm_warp(int m, int n, int k, const $A *a, const $A *b, $C *c) {
    int row = blockIdx.y * 16, col = (blockIdx.x * blockDim.y + threadIdx.y) * 16;
    if (col >= n) return;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, $A, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, $A, wmma::${LAYOUT}_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, $C> fc;
    wmma::fill_fragment(fc, ($C)0);
    for (int i = 0; i < k; i += 16) {
        wmma::load_matrix_sync(fa, a + row * k + i, k);
        wmma::load_matrix_sync(fb, $B, $LDB);
        wmma::mma_sync(fc, fa, fb, fc);
    }
    wmma::store_matrix_sync(c + row * n + col, fc, n, wmma::mem_row_major);
}
extern "C" __global__ void gemm_bias_relu(int n, int k, const $A *a, const $A *b, const $C *bias, $C *c) {
    __shared__ __align__(32) $A sa[32][16], sb[16][32];
    __shared__ __align__(32) $C sc[32][32];
    int warp = threadIdx.x / 32, wr = warp / 2 * 16, wc = warp % 2 * 16, row = blockIdx.y * 32, col = blockIdx.x * 32;
    wmma::fragment<wmma::accumulator, 16, 16, 16, $C> fc;
    wmma::fill_fragment(fc, ($C)0);
    for (int k0 = 0; k0 < k; k0 += 16) {
        for (int i = threadIdx.x; i < 512; i += 128) { sa[i / 16][i % 16] = a[(row + i / 16) * k + k0 + i % 16]; sb[i / 32][i % 32] = b[(k0 + i / 32) * n + col + i % 32]; }
        __syncthreads();
        wmma::fragment<wmma::matrix_a, 16, 16, 16, $A, wmma::row_major> fa;
        wmma::fragment<wmma::matrix_b, 16, 16, 16, $A, wmma::row_major> fb;
        wmma::load_matrix_sync(fa, &sa[wr][0], 16);
        wmma::load_matrix_sync(fb, &sb[0][wc], 32);
        wmma::mma_sync(fc, fa, fb, fc);
        __syncthreads();
    }
    wmma::store_matrix_sync(&sc[wr][wc], fc, 32, wmma::mem_row_major);
    __syncthreads();
    for (int i = threadIdx.x; i < 1024; i += 128) { $C v = sc[i / 32][i % 32] + bias[col + i % 32]; c[(row + i / 32) * n + col + i % 32] = v > ($C)0 ? v : ($C)0; }
}
extern "C" __global__ void gram_matrix(int n, int k, const $A *a, $C *c) {
    int i = blockIdx.y * 16, j = blockIdx.x * 16;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, $A, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, $A, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, $C> fc;
    wmma::fill_fragment(fc, ($C)0);
    for (int q = 0; q < k; q += 16) { wmma::load_matrix_sync(fa, a + i * k + q, k); wmma::load_matrix_sync(fb, a + j * k + q, k); wmma::mma_sync(fc, fa, fb, fc); }
    for (int e = 0; e < fc.num_elements; ++e) fc.x[e] = fc.x[e] + fc.x[e];
    wmma::store_matrix_sync(c + i * n + j, fc, n, wmma::mem_row_major);
}"""
for _name, _a, _c, _ad, _cd, _lay in (("half", "__half", "float", np.float16, np.float32, "row"), ("half_columns", "__half", "float", np.float16, np.float32, "col"), ("half_half", "__half", "__half", np.float16, np.float16, "row"), ("bytes", "signed char", "int", np.int8, np.int32, "col")):
    _range = (-3, 4) if _cd == np.float16 else (-8, 9)
    F.run(f"wmma_{_name}", _WMMA, [L("gemm_warp", (2, 3), (32, 2), 48, 64, 80, "a", "b", "c1"), L("gemm_bias_relu", (2, 2), 128, 64, 80, "a2", "b2", "bias", "c2"), L("gram_matrix", (3, 3), 32, 48, 80, "a", "c3")],
          lambda b, col=_lay == "col": {"c1": b.a.astype(int) @ (b.b.astype(int).T if col else b.b.astype(int)), "c2": np.maximum(b.a2.astype(int) @ b.b2.astype(int) + b.bias.astype(int), 0), "c3": 2 * (b.a.astype(int) @ b.a.astype(int).T)},
          given={"A": _a, "C": _c, "LAYOUT": _lay, "B": "b + col * k + i" if _lay == "col" else "b + i * n + col", "LDB": "k" if _lay == "col" else "n"}, a=ints(41, (48, 80), *_range, _ad), b=ints(42, (64, 80) if _lay == "col" else (80, 64), *_range, _ad), c1=out((48, 64), _cd),
          a2=ints(43, (64, 80), *_range, _ad), b2=ints(44, (80, 64), *_range, _ad), bias=ints(45, 64, -99, 99, _cd), c2=out((64, 64), _cd), c3=out((48, 48), _cd))
