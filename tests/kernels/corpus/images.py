"""Image processing: filters, morphology, colour, geometry, features, with plain memory and with textures."""

from __future__ import annotations

import numpy as np

from tests.kernels import textures
from tests.kernels.case import Texture
from tests.kernels.compare import Within
from tests.kernels.corpus.tools import NUMPY, Family, L, cdiv, ints, normal, out, uniform, zeros

SUITE = F = Family("images")

W, H = 61, 43
FLOATS = Within("sums of fewer than 100 rounded terms below 256", atol=256 * 100 * 2.0**-24)


def pad(a, r, mode="edge"):
    return np.pad(a, r, mode=mode)


def near(a, r, mode="edge"):
    """The (2r + 1)**2 shifted images around each pixel: axes dy, dx, y, x."""
    p = pad(a, r, mode)
    n = 2 * r + 1
    return np.stack([np.stack([p[j:j + a.shape[0], i:i + a.shape[1]] for i in range(n)]) for j in range(n)])


_PIXEL = "    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;\n    if (x >= w || y >= h) return;\n"
_FILTERS = """
#define R $R
typedef $T T;
__device__ int edge(int i, int n) { return min(max(i, 0), n - 1); }
__global__ void box(int w, int h, const T *in, T *out) {
PIXEL
    $S s = 0;
    for (int j = -R; j <= R; ++j) for (int i = -R; i <= R; ++i) s += in[edge(y + j, h) * w + edge(x + i, w)];
    out[y * w + x] = (T)(s / ((2 * R + 1) * (2 * R + 1)));
}
__global__ void box_rows_sliding(int w, int h, const T *in, T *out) {
    int y = blockIdx.x * blockDim.x + threadIdx.x;
    if (y >= h) return;
    const T *row = in + y * w;
    $S s = 0;
    for (int i = -R; i <= R; ++i) s += row[edge(i, w)];
    for (int x = 0; x < w; ++x) { out[y * w + x] = (T)(s / (2 * R + 1)); s += row[edge(x + R + 1, w)]; s -= row[edge(x - R, w)]; }
}
__constant__ float weights[2 * R + 1];
__global__ void gauss_rows(int w, int h, const T *in, float *out) {
    __shared__ float s[4][16 + 2 * R];
    int x0 = blockIdx.x * 16, y = blockIdx.y * 4 + threadIdx.y;
    for (int i = threadIdx.x; i < 16 + 2 * R; i += 16) s[threadIdx.y][i] = in[edge(y, h) * w + edge(x0 + i - R, w)];
    __syncthreads();
    int x = x0 + threadIdx.x;
    if (x >= w || y >= h) return;
    float v = 0;
#pragma unroll
    for (int i = 0; i <= 2 * R; ++i) v += weights[i] * s[threadIdx.y][threadIdx.x + i];
    out[y * w + x] = v;
}
__global__ void gauss_columns(int w, int h, const float *in, float *out) {
    __shared__ float s[8 + 2 * R][17];
    int x = blockIdx.x * 16 + threadIdx.x, y0 = blockIdx.y * 8;
    for (int j = threadIdx.y; j < 8 + 2 * R; j += 8) s[j][threadIdx.x] = in[edge(y0 + j - R, h) * w + edge(x, w)];
    __syncthreads();
    int y = y0 + threadIdx.y;
    if (x >= w || y >= h) return;
    float v = 0;
    for (int j = 0; j <= 2 * R; ++j) v += weights[j] * s[threadIdx.y + j][threadIdx.x];
    out[y * w + x] = v;
}
__global__ void sobel(int w, int h, const T *in, float *gx, float *gy) {
PIXEL
    int l = edge(x - 1, w), r = edge(x + 1, w), t = edge(y - 1, h) * w, m = y * w, b = edge(y + 1, h) * w;
    gx[m + x] = (float)in[t + r] + 2 * (float)in[m + r] + (float)in[b + r] - (float)in[t + l] - 2 * (float)in[m + l] - (float)in[b + l];
    gy[m + x] = (float)in[b + l] + 2 * (float)in[b + x] + (float)in[b + r] - (float)in[t + l] - 2 * (float)in[t + x] - (float)in[t + r];
}
__global__ void laplacian_sharpen(int w, int h, const T *in, float *out) {
PIXEL
    float c = in[y * w + x];
    out[y * w + x] = 5 * c - in[y * w + edge(x - 1, w)] - in[y * w + edge(x + 1, w)] - in[edge(y - 1, h) * w + x] - in[edge(y + 1, h) * w + x];
}
__device__ void order(T &a, T &b) { T lo = min(a, b), hi = max(a, b); a = lo; b = hi; }
__global__ void median3(int w, int h, const T *in, T *out) {
PIXEL
    T p[9];
    for (int j = -1, k = 0; j <= 1; ++j) for (int i = -1; i <= 1; ++i, ++k) p[k] = in[edge(y + j, h) * w + edge(x + i, w)];
    order(p[1], p[2]); order(p[4], p[5]); order(p[7], p[8]); order(p[0], p[1]); order(p[3], p[4]); order(p[6], p[7]); order(p[1], p[2]); order(p[4], p[5]); order(p[7], p[8]);
    order(p[0], p[3]); order(p[5], p[8]); order(p[4], p[7]); order(p[3], p[6]); order(p[1], p[4]); order(p[2], p[5]); order(p[4], p[7]); order(p[4], p[2]); order(p[6], p[4]); order(p[4], p[2]);
    out[y * w + x] = p[4];
}
__global__ void median_by_selection(int w, int h, const T *in, T *out) {
PIXEL
    const int N = (2 * R + 1) * (2 * R + 1);
    T p[N];
    int k = 0;
    for (int j = -R; j <= R; ++j) for (int i = -R; i <= R; ++i) p[k++] = in[edge(y + j, h) * w + edge(x + i, w)];
    for (int a = 0; a <= N / 2; ++a) { int m = a; for (int b = a + 1; b < N; ++b) if (p[b] < p[m]) m = b; T v = p[a]; p[a] = p[m]; p[m] = v; }
    out[y * w + x] = p[N / 2];
}
__global__ void erode(int w, int h, const T *in, T *out) {
PIXEL
    T m = in[y * w + x];
    for (int j = max(y - R, 0); j <= min(y + R, h - 1); ++j) for (int i = max(x - R, 0); i <= min(x + R, w - 1); ++i) m = min(m, in[j * w + i]);
    out[y * w + x] = m;
}
__global__ void dilate_cross(int w, int h, const T *in, T *out) {
PIXEL
    T m = in[y * w + x];
    for (int k = -R; k <= R; ++k) m = max(m, max(in[y * w + edge(x + k, w)], in[edge(y + k, h) * w + x]));
    out[y * w + x] = m;
}
__global__ void bilateral(int w, int h, float spatial, float range, const T *in, float *out) {
PIXEL
    float c = in[y * w + x], s = 0, n = 0;
    for (int j = -R; j <= R; ++j) for (int i = -R; i <= R; ++i) {
        float v = in[edge(y + j, h) * w + edge(x + i, w)], d = v - c, g = expf(-(i * i + j * j) * spatial - d * d * range);
        s += g * v; n += g;
    }
    out[y * w + x] = s / n;
}
__global__ void local_variance(int w, int h, const T *in, float *out) {
PIXEL
    double s = 0, q = 0;
    for (int j = -R; j <= R; ++j) for (int i = -R; i <= R; ++i) { double v = in[edge(y + j, h) * w + edge(x + i, w)]; s += v; q += v * v; }
    double n = (2 * R + 1) * (2 * R + 1);
    out[y * w + x] = (float)(q / n - (s / n) * (s / n));
}
__global__ void adaptive_threshold(int w, int h, float offset, const T *in, const float *mean, unsigned char *out) {
PIXEL
    out[y * w + x] = in[y * w + x] > mean[y * w + x] - offset ? 255 : 0;
}
__global__ void flip_and_crop(int w, int h, int x0, int y0, int cw, int ch, const T *in, T *out) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < cw && y < ch) out[y * cw + x] = in[(y0 + y) * w + w - 1 - (x0 + x)];
}""".replace("PIXEL\n", _PIXEL)


def _gauss(r):
    g = np.exp(-0.5 * (np.arange(-r, r + 1) / (r * 0.6)) ** 2)
    return (g / g.sum()).astype(np.float32)


def _sobel(a):
    n = near(a.astype(np.float64), 1)
    k = np.array([[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]])
    return np.einsum("ji,jiyx->yx", k, n), np.einsum("ij,jiyx->yx", k, n)


def _filters(b, r):
    a, n = b.a.astype(np.float64), near(b.a, r)
    wide = n.astype(np.float64)
    size, whole = (2 * r + 1) ** 2, b.a.dtype.kind in "iu"
    rows = near(b.a, r)[r].astype(np.float64).sum(0)
    g = b.weights.astype(np.float64)
    gr = np.einsum("i,iyx->yx", g, wide[r])
    y, x = np.mgrid[-r:r + 1, -r:r + 1]
    weight = np.exp(-(x * x + y * y)[:, :, None, None] * 0.05 - (wide - a) ** 2 * (0.001 if whole else 4.0))
    p = np.pad(a, 1, "edge")
    divide = (lambda s, d: np.floor_divide(s, d)) if whole else np.divide
    flat = n.reshape(size, H, W)
    return {"box": divide(wide.sum((0, 1)), size), "slide": divide(rows, 2 * r + 1), "rows": gr, "gauss": np.einsum("i,iyx->yx", g, near(gr, r)[:, r]), "gx": _sobel(b.a)[0], "gy": _sobel(b.a)[1],
            "sharp": 5 * a - p[1:-1, :-2] - p[1:-1, 2:] - p[:-2, 1:-1] - p[2:, 1:-1], "med3": np.median(near(b.a, 1).reshape(9, H, W), 0), "med": np.sort(flat, 0)[size // 2], "low": flat.min(0),
            "high": np.maximum(n[r].max(0), n[:, r].max(0)), "bil": (weight * wide).sum((0, 1)) / weight.sum((0, 1)), "var": wide.var((0, 1)), "mask": np.where(a > b.mean - 10.0, 255, 0), "crop": b.a[5:25, ::-1][:, 7:40]}


for _t, _s, _r, _block, _a in (("unsigned char", "int", 1, (16, 16), ints(1, (H, W), 0, 256, np.uint8)), ("unsigned char", "int", 3, (32, 4), ints(2, (H, W), 0, 256, np.uint8)), ("float", "float", 2, (16, 8), uniform(3, (H, W))),
                               ("unsigned short", "int", 2, (13, 5), ints(4, (H, W), 0, 200, np.uint16))):
    _d, _g = NUMPY[_t], (cdiv(W, _block[0]), cdiv(H, _block[1]))
    _p = lambda kernel, *args, g=_g, bl=_block: L(kernel, g, bl, W, H, *args)
    F.run(f"filters_{_t.replace(' ', '_')}_{_r}", _FILTERS, [_p("box", "a", "box"), L("box_rows_sliding", 2, 32, W, H, "a", "slide"), L("gauss_rows", (4, 11), (16, 4), W, H, "a", "rows"), L("gauss_columns", (4, 6), (16, 8), W, H, "rows", "gauss"),
          _p("sobel", "a", "gx", "gy"), _p("laplacian_sharpen", "a", "sharp"), _p("median3", "a", "med3"), _p("median_by_selection", "a", "med"), _p("erode", "a", "low"), _p("dilate_cross", "a", "high"),
          _p("bilateral", 0.05, 4.0 if _t == "float" else 0.001, "a", "bil"), _p("local_variance", "a", "var"), _p("adaptive_threshold", 10.0, "a", "mean", "mask"), _p("flip_and_crop", 7, 5, 33, 20, "a", "crop")],
          lambda b, r=_r: _filters(b, r), given={"T": _t, "S": _s, "R": _r}, constants={"weights": _gauss(_r)},
          compare={k: FLOATS for k in ("rows", "gauss", "bil", "var", "gx", "gy", "sharp")} | ({"box": FLOATS, "slide": FLOATS} if _t == "float" else {}) | {"var": Within("one rounding to float of a variance in double", rtol=1e-6, atol=1e-9)},
          a=_a, mean=np.full((H, W), 100, np.float32), **{k: out((H, W), _d) for k in ("box", "slide", "med3", "med", "low", "high")}, **{k: out((H, W)) for k in ("rows", "gauss", "gx", "gy", "sharp", "bil", "var")}, mask=out((H, W), np.uint8),
          crop=out((20, 33), _d))

# ---- colour and point operations ----
_COLOUR = """
__global__ void rgb_to_gray(int n, const uchar3 *in, unsigned char *out) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) { uchar3 p = in[i]; out[i] = (77 * p.x + 150 * p.y + 29 * p.z + 128) >> 8; } }
__global__ void rgba_to_bgra(int n, const uchar4 *in, uchar4 *out) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) { uchar4 p = in[i]; out[i] = make_uchar4(p.z, p.y, p.x, p.w); } }
__global__ void premultiply(int n, const uchar4 *in, uchar4 *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    uchar4 p = in[i];
    out[i] = make_uchar4((p.x * p.w + 127) / 255, (p.y * p.w + 127) / 255, (p.z * p.w + 127) / 255, p.w);
}
__global__ void blend_over(int n, const uchar4 *a, const uchar4 *b, uchar4 *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    uchar4 p = a[i], q = b[i];
    int k = 255 - p.w;
    out[i] = make_uchar4(min(255, p.x + q.x * k / 255), min(255, p.y + q.y * k / 255), min(255, p.z + q.z * k / 255), p.w + q.w * k / 255);
}
__global__ void rgb_to_ycbcr(int n, const uchar3 *in, uchar3 *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int r = in[i].x, g = in[i].y, b = in[i].z;
    out[i] = make_uchar3((66 * r + 129 * g + 25 * b + 128 >> 8) + 16, (-38 * r - 74 * g + 112 * b + 128 >> 8) + 128, (112 * r - 94 * g - 18 * b + 128 >> 8) + 128);
}
__global__ void rgb_to_hsv(int n, const float3 *in, float3 *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float3 p = in[i];
    float v = fmaxf(p.x, fmaxf(p.y, p.z)), d = v - fminf(p.x, fminf(p.y, p.z)), h = 0;
    if (d > 0) { if (v == p.x) h = (p.y - p.z) / d; else if (v == p.y) h = (p.z - p.x) / d + 2; else h = (p.x - p.y) / d + 4; if (h < 0) h += 6; }
    out[i] = make_float3(h / 6, v > 0 ? d / v : 0, v);
}
__global__ void gamma_table(int n, const unsigned char *in, unsigned char *out, const unsigned char *table) {
    __shared__ unsigned char s[256];
    for (int i = threadIdx.x; i < 256; i += blockDim.x) s[i] = table[i];
    __syncthreads();
    int i = (blockIdx.x * blockDim.x + threadIdx.x) * 4;
    if (i + 3 < n) {
        uchar4 p = *(const uchar4 *)(in + i);
        *(uchar4 *)(out + i) = make_uchar4(s[p.x], s[p.y], s[p.z], s[p.w]);
    } else for (; i < n; ++i) out[i] = s[in[i]];
}
__global__ void srgb_to_linear(int n, const float *in, float *out) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) { float v = in[i]; out[i] = v <= 0.04045f ? v / 12.92f : powf((v + 0.055f) / 1.055f, 2.4f); } }
__global__ void tone_map(int n, float exposure, const float *in, unsigned char *out) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) { float v = in[i] * exposure; out[i] = (unsigned char)(__saturatef(v / (1 + v)) * 255 + 0.5f); } }
__global__ void sepia(int n, const uchar3 *in, uchar3 *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int r = in[i].x, g = in[i].y, b = in[i].z;
    out[i] = make_uchar3(min(255, (402 * r + 787 * g + 194 * b) >> 10), min(255, (357 * r + 702 * g + 172 * b) >> 10), min(255, (279 * r + 547 * g + 134 * b) >> 10));
}
__global__ void planar_to_packed(int n, const unsigned char *planes, uchar3 *out) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) out[i] = make_uchar3(planes[i], planes[n + i], planes[2 * n + i]); }
__global__ void bayer_rggb(int w, int h, const unsigned short *raw, ushort3 *out) {
    int x = 2 * (blockIdx.x * blockDim.x + threadIdx.x), y = 2 * (blockIdx.y * blockDim.y + threadIdx.y);
    if (x + 1 >= w || y + 1 >= h) return;
    unsigned short r = raw[y * w + x], b = raw[(y + 1) * w + x + 1], g = (raw[y * w + x + 1] + raw[(y + 1) * w + x]) / 2;
    for (int j = 0; j < 2; ++j) for (int i = 0; i < 2; ++i) out[(y + j) * w + x + i] = make_ushort3(r, g, b);
}
__global__ void error_diffusion_rows(int w, int h, const unsigned char *in, unsigned char *out) {
    int y = blockIdx.x * blockDim.x + threadIdx.x;
    if (y >= h) return;
    for (int x = 0, e = 0; x < w; ++x) { int v = in[y * w + x] + e; out[y * w + x] = v >= 128 ? 255 : 0; e = v - out[y * w + x]; }
}
__global__ void ordered_dither(int w, int h, const unsigned char *in, unsigned *bits) {
    const unsigned char m[4][4] = {{0, 8, 2, 10}, {12, 4, 14, 6}, {3, 11, 1, 9}, {15, 7, 13, 5}};
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y;
    bool on = x < w && in[y * w + min(x, w - 1)] > m[y & 3][x & 3] * 16 + 7;
    unsigned b = __ballot_sync(~0u, on);
    if (threadIdx.x == 0) bits[y * gridDim.x + blockIdx.x] = b;
}"""
_N = W * H


def _hsv(p):
    p = p.astype(np.float64)
    v, d = p.max(1), p.max(1) - p.min(1)
    r, g, b = p.T
    h = np.where(v == r, (g - b) / d, np.where(v == g, (b - r) / d + 2, (r - g) / d + 4))
    return np.stack([np.where(h < 0, h + 6, h) / 6, d / v, v], 1)


def _diffuse_rows(a):
    o = np.zeros_like(a)
    for y, row in enumerate(a.tolist()):
        e = 0
        for x, v in enumerate(row):
            v += e
            o[y, x] = 255 if v >= 128 else 0
            e = v - int(o[y, x])
    return o


def _dither(a):
    m = np.array([[0, 8, 2, 10], [12, 4, 14, 6], [3, 11, 1, 9], [15, 7, 13, 5]])
    on = a > np.tile(m, (11, 16))[:H, :W] * 16 + 7
    return np.packbits(np.pad(on, ((0, 0), (0, 3))), axis=1, bitorder="little").view(np.uint32)


def _matrix(p, m, shift=8):
    return p.astype(np.int64) @ np.array(m).T + (128 if shift == 8 else 0) >> shift


def _bayer(raw):
    q = raw.astype(int)
    s = np.stack([q[::2, ::2], (q[::2, 1::2] + q[1::2, ::2]) // 2, q[1::2, 1::2]], 2)
    return s.repeat(2, 0).repeat(2, 1)


def _over(a, b):
    k = 255 - a[:, 3:].astype(int)
    mixed = a + b * k // 255
    return np.minimum(255, mixed)


_1 = lambda kernel, n, *args: L(kernel, cdiv(n, 128), 128, n, *args)
F.run("colour", _COLOUR, [_1("rgb_to_gray", _N, "rgb", "gray"), _1("rgba_to_bgra", _N, "rgba", "bgra"), _1("premultiply", _N, "rgba", "pre"), _1("blend_over", _N, "layer", "rgba", "over"), _1("rgb_to_ycbcr", _N, "rgb", "ycc"), _1("rgb_to_hsv", 500, "frgb", "hsv"),
      L("gamma_table", cdiv(_N, 400), 100, _N, "gray", "corrected", "table"), _1("srgb_to_linear", 900, "unit", "linear"), _1("tone_map", 900, 1.5, "hdr", "mapped"), _1("sepia", _N, "rgb", "brown"), _1("planar_to_packed", 800, "planes", "packed"),
      L("bayer_rggb", (2, 2), (16, 16), 60, 42, "raw", "demosaiced"), L("error_diffusion_rows", 1, 64, W, H, "plain", "fs"), L("ordered_dither", (2, H), 32, W, H, "plain", "dots")],
      lambda b: {"gray": (b.rgb.astype(int) @ [77, 150, 29] + 128) >> 8, "bgra": b.rgba[:, [2, 1, 0, 3]], "pre": np.concatenate([(b.rgba[:, :3].astype(int) * b.rgba[:, 3:] + 127) // 255, b.rgba[:, 3:]], 1), "over": _over(b.layer, b.rgba),
                 "ycc": _matrix(b.rgb, [[66, 129, 25], [-38, -74, 112], [112, -94, -18]]) + [16, 128, 128], "hsv": _hsv(b.frgb), "corrected": b.table[(b.rgb.astype(int) @ [77, 150, 29] + 128) >> 8],
                 "linear": textures_srgb(b.unit), "mapped": np.floor(b.hdr * 1.5 / (1 + b.hdr * 1.5) * 255.0 + 0.5), "brown": np.minimum(255, _matrix(b.rgb, [[402, 787, 194], [357, 702, 172], [279, 547, 134]], 10)),
                 "packed": b.planes.T, "demosaiced": _bayer(b.raw), "fs": _diffuse_rows(b.plain), "dots": _dither(b.plain)},
      compare={"hsv": Within("five roundings", atol=2e-6), "linear": Within("powf within 4 ulp of the rounded base", rtol=2e-6, atol=1e-7), "mapped": Within("a value at the boundary of two levels may go to either", atol=1)},
      rgb=ints(5, (_N, 3), 0, 256, np.uint8), gray=out(_N, np.uint8), rgba=ints(6, (_N, 4), 0, 256, np.uint8), bgra=out((_N, 4), np.uint8), pre=out((_N, 4), np.uint8), layer=ints(7, (_N, 4), 0, 256, np.uint8), over=out((_N, 4), np.uint8),
      ycc=out((_N, 3), np.uint8), frgb=uniform(8, (500, 3)), hsv=out((500, 3)), corrected=out(_N, np.uint8), table=(255 * (np.arange(256) / 255) ** 0.45).astype(np.uint8), unit=uniform(9, 900), linear=out(900), hdr=uniform(10, 900, 0, 8), mapped=out(900, np.uint8),
      brown=out((_N, 3), np.uint8), planes=ints(11, (3, 800), 0, 256, np.uint8), packed=out((800, 3), np.uint8), raw=ints(12, (42, 60), 0, 4096, np.uint16), demosaiced=out((42, 60, 3), np.uint16), plain=ints(13, (H, W), 0, 256, np.uint8),
      fs=out((H, W), np.uint8), dots=out((H, 2), np.uint32))


def textures_srgb(v):
    v = v.astype(np.float64)
    return np.where(v <= 0.04045, v / 12.92, ((v + 0.055) / 1.055) ** 2.4)


# ---- several steps ----
F.run("features", """
#define PI 3.14159265f
__device__ int edge(int i, int n) { return min(max(i, 0), n - 1); }
__global__ void histogram(int n, const unsigned char *a, int *h) {
    __shared__ int s[256];
    s[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) atomicAdd(&s[a[i]], 1);
    __syncthreads();
    atomicAdd(h + threadIdx.x, s[threadIdx.x]);
}
__global__ void equalization_table(int n, const int *h, unsigned char *table) {
    __shared__ int s[256];
    int t = threadIdx.x;
    s[t] = h[t];
    for (int d = 1; d < 256; d *= 2) { __syncthreads(); int v = t >= d ? s[t - d] : 0; __syncthreads(); s[t] += v; }
    __syncthreads();
    __shared__ int low;
    if (h[t] && s[t] == h[t]) low = h[t];
    __syncthreads();
    table[t] = (unsigned char)((s[t] - low) * 255 / max(1, n - low));
}
__global__ void apply_table(int n, const unsigned char *in, const unsigned char *table, unsigned char *out) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) out[i] = table[in[i]]; }
__global__ void otsu(int n, const int *h, int *best) {
    __shared__ float score[256];
    __shared__ int where[256];
    int t = threadIdx.x;
    int w0 = 0, s0 = 0, s = 0;
    for (int i = 0; i < 256; ++i) { s += i * h[i]; if (i <= t) { w0 += h[i]; s0 += i * h[i]; } }
    double w1 = n - w0, d = w0 && w1 ? (double)s0 / w0 - (s - s0) / w1 : 0;
    score[t] = (float)(w0 * w1 * d * d / n); where[t] = t;
    for (int d = 128; d; d /= 2) { __syncthreads(); if (t < d && score[t + d] > score[t]) { score[t] = score[t + d]; where[t] = where[t + d]; } }
    if (t == 0) *best = where[0];
}
__global__ void integral_columns(int w, int h, const unsigned char *in, unsigned *out) { int x = blockIdx.x * blockDim.x + threadIdx.x; if (x < w) for (unsigned y = 0, s = 0; y < h; ++y) out[y * w + x] = s += in[y * w + x]; }
__global__ void integral_rows(int w, unsigned *a) {
    unsigned before = 0;
    for (int x = threadIdx.x; x - (int)threadIdx.x < w; x += 32) {
        unsigned v = x < w ? a[blockIdx.x * w + x] : 0;
        for (int d = 1; d < 32; d *= 2) { unsigned u = __shfl_up_sync(~0u, v, d); if (threadIdx.x >= d) v += u; }
        if (x < w) a[blockIdx.x * w + x] = before + v;
        before += __shfl_sync(~0u, v, 31);
    }
}
__global__ void box_from_integral(int w, int h, int r, const unsigned *sum, float *out) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    int x0 = max(x - r, 0) - 1, y0 = max(y - r, 0) - 1, x1 = min(x + r, w - 1), y1 = min(y + r, h - 1);
    unsigned a = x0 >= 0 && y0 >= 0 ? sum[y0 * w + x0] : 0, b = y0 >= 0 ? sum[y0 * w + x1] : 0, c = x0 >= 0 ? sum[y1 * w + x0] : 0;
    out[y * w + x] = (float)(sum[y1 * w + x1] - b - c + a) / ((x1 - x0) * (y1 - y0));
}
__global__ void gradient(int w, int h, const unsigned char *in, int *magnitude, unsigned char *direction) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    int l = edge(x - 1, w), r = edge(x + 1, w), t = edge(y - 1, h), b = edge(y + 1, h);
#define P(i, j) (int)in[(j) * w + (i)]
    int gx = P(r, t) + 2 * P(r, y) + P(r, b) - P(l, t) - 2 * P(l, y) - P(l, b), gy = P(l, b) + 2 * P(x, b) + P(r, b) - P(l, t) - 2 * P(x, t) - P(r, t);
    magnitude[y * w + x] = abs(gx) + abs(gy);
    int ax = abs(gx), ay = abs(gy);
    direction[y * w + x] = 5 * ay < 2 * ax ? 0 : 5 * ax < 2 * ay ? 2 : (gx > 0) == (gy > 0) ? 1 : 3;
}
__global__ void thin(int w, int h, const int *m, const unsigned char *direction, int low, int high, unsigned char *out) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    const int dx[4] = {1, 1, 0, -1}, dy[4] = {0, 1, 1, 1};
    int d = direction[y * w + x], v = m[y * w + x];
    int a = m[edge(y + dy[d], h) * w + edge(x + dx[d], w)], b = m[edge(y - dy[d], h) * w + edge(x - dx[d], w)];
    out[y * w + x] = v < a || v < b || v < low ? 0 : v >= high ? 2 : 1;
}
__global__ void hysteresis(int w, int h, const unsigned char *in, unsigned char *out) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    unsigned char v = in[y * w + x];
    if (v == 1) for (int j = -1; j <= 1; ++j) for (int i = -1; i <= 1; ++i) if (in[edge(y + j, h) * w + edge(x + i, w)] == 2) v = 2;
    out[y * w + x] = v;
}
__global__ void harris(int w, int h, const unsigned char *in, float *out) {
    __shared__ float ix[10][10], iy[10][10];
    int x0 = blockIdx.x * 8, y0 = blockIdx.y * 8, t = threadIdx.y * 8 + threadIdx.x;
    for (int k = t; k < 100; k += 64) {
        int x = edge(x0 + k % 10 - 1, w), y = edge(y0 + k / 10 - 1, h);
        ix[k / 10][k % 10] = ((int)in[y * w + edge(x + 1, w)] - (int)in[y * w + edge(x - 1, w)]) / 2.0f;
        iy[k / 10][k % 10] = ((int)in[edge(y + 1, h) * w + x] - (int)in[edge(y - 1, h) * w + x]) / 2.0f;
    }
    __syncthreads();
    float a = 0, b = 0, c = 0;
    for (int j = 0; j < 3; ++j) for (int i = 0; i < 3; ++i) { float u = ix[threadIdx.y + j][threadIdx.x + i], v = iy[threadIdx.y + j][threadIdx.x + i]; a += u * u; b += u * v; c += v * v; }
    int x = x0 + threadIdx.x, y = y0 + threadIdx.y;
    if (x < w && y < h) out[y * w + x] = a * c - b * b - 0.04f * (a + c) * (a + c);
}
__global__ void local_binary_pattern(int w, int h, const unsigned char *in, unsigned char *out) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    const signed char d[8][2] = {{-1, -1}, {0, -1}, {1, -1}, {1, 0}, {1, 1}, {0, 1}, {-1, 1}, {-1, 0}};
    int c = in[y * w + x], v = 0;
    for (int k = 0; k < 8; ++k) v |= (in[edge(y + d[k][1], h) * w + edge(x + d[k][0], w)] >= c) << k;
    out[y * w + x] = (unsigned char)v;
}
__global__ void hough_lines(int w, int h, int angles, const unsigned char *edges, int *votes) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= w * h || edges[i] != 2) return;
    const int c[4] = {1, 1, 0, -1}, s[4] = {0, 1, 1, 1};
    for (int a = 0; a < angles; ++a) atomicAdd(&votes[a * 256 + (i % w) * c[a] + (i / w) * s[a] + 64], 1);
}
__global__ void template_sad(int w, int h, int tw, int th, const unsigned char *in, const unsigned char *t, unsigned *best) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (x + tw > w || y + th > h) return;
    unsigned s = 0;
    for (int j = 0; j < th; ++j) for (int i = 0; i < tw; i += 4) {
        unsigned p = in[(y + j) * w + x + i] | in[(y + j) * w + x + i + 1] << 8 | in[(y + j) * w + x + i + 2] << 16 | (unsigned)in[(y + j) * w + x + i + 3] << 24;
        s += __vsadu4(p, *(const unsigned *)(t + j * tw + i));
    }
    atomicMin(best, s << 16 | y << 8 | x);
}
__global__ void distance_rows(int w, int h, const unsigned char *in, int *d) {
    int y = blockIdx.x * blockDim.x + threadIdx.x;
    if (y >= h) return;
    int far = 1000;
    for (int x = 0; x < w; ++x) { far = in[y * w + x] > 250 ? 0 : min(far + 1, 1000); d[y * w + x] = far; }
    far = 1000;
    for (int x = w - 1; x >= 0; --x) { far = min(d[y * w + x], far + 1); d[y * w + x] = far; }
}
__global__ void distance_columns(int w, int h, const int *d, int *out) {
    extern __shared__ int column[];
    for (int y = threadIdx.x; y < h; y += blockDim.x) column[y] = d[y * w + blockIdx.x];
    __syncthreads();
    for (int y = threadIdx.x; y < h; y += blockDim.x) {
        int best = 0x7fffffff;
        for (int k = 0; k < h; ++k) best = min(best, (y - k) * (y - k) + column[k] * column[k]);
        out[y * w + blockIdx.x] = best;
    }
}
__global__ void block_match(int w, int h, const unsigned char *now, const unsigned char *before, short2 *motion) {
    __shared__ unsigned cost[81];
    int t = threadIdx.x, bx = blockIdx.x * 8, by = blockIdx.y * 8, dx = t % 9 - 4, dy = t / 9 - 4;
    unsigned s = 0;
    for (int j = 0; j < 8; ++j) for (int i = 0; i < 8; ++i) s += __sad((int)now[(by + j) * w + bx + i], (int)before[edge(by + j + dy, h) * w + edge(bx + i + dx, w)], 0u);
    cost[t] = s << 8 | t;
    __syncthreads();
    if (t == 0) { unsigned m = cost[0]; for (int k = 1; k < 81; ++k) m = min(m, cost[k]); int b = m & 255; motion[blockIdx.y * gridDim.x + blockIdx.x] = make_short2(b % 9 - 4, b / 9 - 4); }
}""".replace("$", "$$"), [L("histogram", 3, 256, _N, "a", "h"), L("equalization_table", 1, 256, _N, "h", "table"), L("apply_table", cdiv(_N, 96), 96, _N, "a", "table", "equal"), L("otsu", 1, 256, _N, "h", "threshold"),
      L("integral_columns", 2, 32, W, H, "a", "sum"), L("integral_rows", H, 32, W, "sum"), L("box_from_integral", (4, 6), (16, 8), W, H, 4, "sum", "mean"), L("gradient", (4, 6), (16, 8), W, H, "a", "mag", "dir"),
      L("thin", (4, 6), (16, 8), W, H, "mag", "dir", 200, 500, "thin"), L("hysteresis", (4, 6), (16, 8), W, H, "thin", "edges"), L("harris", (8, 6), (8, 8), W, H, "a", "corners"), L("local_binary_pattern", (4, 6), (16, 8), W, H, "a", "lbp"),
      L("hough_lines", cdiv(_N, 128), 128, W, H, 4, "edges", "votes"), L("template_sad", (2, H), 32, W, H, 8, 5, "a", "patch", "match"), L("distance_rows", 2, 32, W, H, "a", "d1"), L("distance_columns", W, 32, W, H, "d1", "d2", shared=4 * H),
      L("block_match", (7, 5), 81, W, H, "a", "previous", "motion")],
      lambda b: _features(b), compare={"mean": Within("one division", rtol=1e-6), "corners": Within("9 products of up to 128**2 and their products", rtol=1e-4, atol=3e4)}, a=(lambda n: (128 + 90 * np.sin(n[0] / 5) * np.cos(n[1] / 7)).astype(np.uint8) // 2 + ints(14, (H, W), 0, 128, np.uint8))(np.mgrid[:H, :W]),
      h=zeros(256, np.int32), table=out(256, np.uint8), equal=out((H, W), np.uint8), threshold=out(1, np.int32), sum=out((H, W), np.uint32), mean=out((H, W)), mag=out((H, W), np.int32), dir=out((H, W), np.uint8), thin=out((H, W), np.uint8),
      edges=out((H, W), np.uint8), corners=out((H, W)), lbp=out((H, W), np.uint8), votes=zeros((4, 256), np.int32), patch=ints(15, (5, 8), 0, 256, np.uint8), match=np.full(1, 2**32 - 1, np.uint32), d1=out((H, W), np.int32), d2=out((H, W), np.int32),
      previous=ints(16, (H, W), 0, 256, np.uint8), motion=out((5, 7, 2), np.int16))


def _features(b):
    a = b.a.astype(np.int64)
    h = np.bincount(b.a.ravel(), minlength=256)
    c = np.cumsum(h)
    low = h[h > 0][0]
    table = np.trunc((c - low) * 255 / (_N - low)).astype(np.int64)
    s0, total = np.cumsum(np.arange(256) * h), (np.arange(256) * h).sum()
    with np.errstate(all="ignore"):
        score = np.nan_to_num(c * (_N - c) * (s0 / c - (total - s0) / (_N - c)) ** 2 / _N).astype(np.float32)
    integral = a.cumsum(0).cumsum(1)
    mean = np.zeros((H, W))
    for y in range(H):
        for x in range(W):
            mean[y, x] = a[max(y - 4, 0):y + 5, max(x - 4, 0):x + 5].mean()
    gx, gy = (g.astype(int) for g in _sobel(a))
    mag, ax, ay = abs(gx) + abs(gy), abs(gx), abs(gy)
    direction = np.where(5 * ay < 2 * ax, 0, np.where(5 * ax < 2 * ay, 2, np.where((gx > 0) == (gy > 0), 1, 3)))
    n = near(mag, 1)
    along = np.choose(direction, [n[1, 2], n[2, 2], n[2, 1], n[2, 0]]), np.choose(direction, [n[1, 0], n[0, 0], n[0, 1], n[0, 2]])
    thin = np.where((mag < along[0]) | (mag < along[1]) | (mag < 200), 0, np.where(mag >= 500, 2, 1))
    edges = np.where((thin == 1) & (near(thin, 1) == 2).any((0, 1)), 2, thin)
    p = np.pad(a.astype(np.float64), 1, "edge")
    ix, iy = (p[1:-1, 2:] - p[1:-1, :-2]) / 2, (p[2:, 1:-1] - p[:-2, 1:-1]) / 2
    xx, xy, yy = (near(v, 1).sum((0, 1)) for v in (ix * ix, ix * iy, iy * iy))
    m = near(a, 1)
    around = [m[0, 0], m[0, 1], m[0, 2], m[1, 2], m[2, 2], m[2, 1], m[2, 0], m[1, 0]]
    votes = np.zeros((4, 256), int)
    ys, xs = np.nonzero(edges == 2)
    for k, (c1, s1) in enumerate(((1, 0), (1, 1), (0, 1), (-1, 1))):
        np.add.at(votes[k], xs * c1 + ys * s1 + 64, 1)
    sad = {int(np.abs(a[y:y + 5, x:x + 8] - b.patch.astype(int)).sum()) << 16 | y << 8 | x for y in range(H - 4) for x in range(W - 7)}
    far = np.full((H, W), 10**6)
    ones = np.argwhere(a > 250)
    d1 = np.minimum.reduce([np.where(a[:, [k]] > 250, abs(np.arange(W) - k), 1000) for k in range(W)])
    d2 = np.minimum.reduce([(np.arange(H) - k)[:, None] ** 2 + d1[k] ** 2 for k in range(H)]) if len(ones) else far
    prev, motion = np.pad(b.previous.astype(int), 4, "edge"), np.zeros((5, 7, 2), int)
    for y in range(5):
        for x in range(7):
            block = a[8 * y:8 * y + 8, 8 * x:8 * x + 8]
            best = min((int(abs(block - prev[8 * y + j:8 * y + j + 8, 8 * x + i:8 * x + i + 8]).sum()), j * 9 + i) for j in range(9) for i in range(9))[1]
            motion[y, x] = best % 9 - 4, best // 9 - 4
    return {"h": h, "equal": table[b.a] & 255, "threshold": [score.argmax()], "sum": integral, "mean": mean, "mag": mag, "dir": direction, "thin": thin, "edges": edges, "corners": xx * yy - xy * xy - 0.04 * (xx + yy) ** 2,
            "lbp": sum((v >= a).astype(int) << k for k, v in enumerate(around)), "votes": votes, "match": [min(sad)], "d1": d1, "d2": d2, "motion": motion}


# ---- with textures ----
_TEXTURED = """
extern "C" __global__ void rotate(cudaTextureObject_t t, float *out, int w, int h, float c, float s) {
PIXEL
    float u = x - w / 2.0f, v = y - h / 2.0f;
    out[y * w + x] = tex2D<float>(t, c * u - s * v + w / 2.0f + 0.5f, s * u + c * v + h / 2.0f + 0.5f);
}
extern "C" __global__ void resize(cudaTextureObject_t t, float *out, int w, int h) {
PIXEL
    out[y * w + x] = tex2D<float>(t, (x + 0.5f) / w, (y + 0.5f) / h);
}
extern "C" __global__ void convolve3(cudaTextureObject_t t, float *out, int w, int h) {
PIXEL
    const float k[3] = {1, 2, 1};
    float s = 0;
#pragma unroll
    for (int j = -1; j <= 1; ++j)
#pragma unroll
        for (int i = -1; i <= 1; ++i) s += k[i + 1] * k[j + 1] * tex2D<float>(t, x + i + 0.5f, y + j + 0.5f);
    out[y * w + x] = s / 16;
}
extern "C" __global__ void sobel(cudaTextureObject_t t, int *out, int w, int h) {
PIXEL
#define P(i, j) (int)tex2D<unsigned char>(t, x + (i) + 0.5f, y + (j) + 0.5f)
    int gx = P(1, -1) + 2 * P(1, 0) + P(1, 1) - P(-1, -1) - 2 * P(-1, 0) - P(-1, 1), gy = P(-1, 1) + 2 * P(0, 1) + P(1, 1) - P(-1, -1) - 2 * P(0, -1) - P(1, -1);
    out[y * w + x] = abs(gx) + abs(gy);
}
extern "C" __global__ void box_colour(cudaTextureObject_t t, float4 *out, int w, int h) {
PIXEL
    float4 s = make_float4(0, 0, 0, 0);
    for (int j = 0; j < 3; ++j) for (int i = 0; i < 3; ++i) { float4 v = tex2D<float4>(t, x + i - 0.5f, y + j - 0.5f); s.x += v.x; s.y += v.y; s.z += v.z; s.w += v.w; }
    out[y * w + x] = make_float4(s.x / 9, s.y / 9, s.z / 9, s.w / 9);
}
extern "C" __global__ void swirl(cudaTextureObject_t t, float *out, int w, int h, const float2 *where) {
PIXEL
    float2 p = where[y * w + x];
    out[y * w + x] = tex2D<float>(t, p.x, p.y);
}
extern "C" __global__ void slice(cudaTextureObject_t t, float *out, int w, int h, float z) {
PIXEL
    out[y * w + x] = tex3D<float>(t, x * 0.25f + 0.5f, y * 0.25f + 0.5f, z);
}
extern "C" __global__ void max_projection(cudaTextureObject_t t, float *out, int w, int h, int depth) {
PIXEL
    float m = -1e30f;
    for (int z = 0; z < depth; ++z) m = fmaxf(m, tex3D<float>(t, x + 0.5f, y + 0.5f, z + 0.5f));
    out[y * w + x] = m;
}
extern "C" __global__ void lookup(cudaTextureObject_t t, float *out, int w, int h, const float *in) {
PIXEL
    out[y * w + x] = tex2D<float>(t, in[y * w + x], 0.5f);
}""".replace("PIXEL\n", _PIXEL)


def _at(texels, x, y, mode, linear, normalized, z=None):
    """The oracle of textures at broadcast positions."""
    axes = np.broadcast_arrays(*(np.asarray(v, np.float32) for v in ((x, y) if z is None else (x, y, z))))
    coords = np.stack([v.ravel() for v in axes], 1)
    return textures.sample(texels, coords, [mode] * 3, linear, normalized).reshape(*axes[0].shape, texels.shape[3])


def _rotated(texels, w, h, c, s, mode, linear):
    y, x = np.mgrid[:h, :w]
    u, v = x - w / 2, y - h / 2
    return _at(texels, c * u - s * v + w / 2 + 0.5, s * u + c * v + h / 2 + 0.5, mode, linear, False)


#: A weight is a multiple of 1/256 of positions that may round either way in the last place.
FILTERED = Within("hardware weights have 8 bits; a position may fall to the neighbouring weight, 1/256 of a difference of 2", atol=2 * 2 / 256 + 1e-5)
for _mode, _linear in ((textures.CLAMP, True), (textures.BORDER, True), (textures.BORDER, False)):
    _tx, _g = normal(17, (1, H, W, 1)).clip(-1, 1), ((4, 6), (16, 8))
    _soft = uniform(18, (1, H, W, 1))
    _bytes, _rgba, _box = ints(19, (1, H, W, 1), 0, 256, np.uint8), ints(20, (1, H, W, 4), 0, 256, np.uint8), uniform(21, (6, 9, 11, 1))
    _line = np.linspace(0, 1, 64, dtype=np.float32).reshape(1, 1, 64, 1)
    _y, _x = np.mgrid[:H, :W]
    _where = np.stack([_x + 0.5 + 3 * np.sin(_y / 4), _y + 0.5 + 3 * np.cos(_x / 5)], 2)
    _where = np.round(_where * 64 + 0.25) / 64 + (0 if _linear else 1 / 128)
    F.run(f"textured_{('wrap', 'clamp', 'mirror', 'border')[_mode]}_{'linear' if _linear else 'point'}", _TEXTURED, [L("rotate", *_g, Texture(_tx, _linear, _mode), "o1", W, H, 0.5, 0.75), L("resize", (7, 9), (16, 8), Texture(_soft, _linear, _mode, True), "o2", 100, 70),
          L("convolve3", *_g, Texture(_soft, False, _mode), "o3", W, H), L("sobel", *_g, Texture(_bytes, False, _mode, as_integer=True), "o4", W, H), L("box_colour", *_g, Texture(_rgba, False, _mode), "o5", W, H),
          L("swirl", *_g, Texture(_soft, _linear, _mode), "o6", W, H, "where"), L("slice", (3, 5), (16, 8), Texture(_box, _linear, _mode), "o7", 44, 36, 2.25), L("max_projection", (1, 2), (16, 8), Texture(_box, False, _mode), "o8", 11, 9, 6),
          L("lookup", *_g, Texture(_line, _linear, _mode, True), "o9", W, H, "unit")],
          lambda b, m=_mode, lin=_linear, tx=_tx, soft=_soft, by=_bytes, rgba=_rgba, box=_box, line=_line: _textured(b, m, lin, tx, soft, by, rgba, box, line),
          compare={"o1": FILTERED, "o2": FILTERED, "o3": Within("9 terms below 4", atol=1e-5), "o5": Within("9 terms below 1", atol=2e-6), "o6": FILTERED, "o7": FILTERED, "o9": FILTERED} if _linear else
          {"o1": Within("nearest texels are exact", atol=0), "o3": Within("9 terms below 4", atol=1e-5), "o5": Within("9 terms below 1", atol=2e-6)},
          where=_where.astype(np.float32), unit=((ints(22, (H, W), 0, 4096) + 0.5) / 4096).astype(np.float32), o1=out((H, W)), o2=out((70, 100)), o3=out((H, W)), o4=out((H, W), np.int32), o5=out((H, W, 4)), o6=out((H, W)), o7=out((36, 44)), o8=out((9, 11)), o9=out((H, W)))


def _textured(b, mode, linear, tx, soft, by, rgba, box, line):
    y, x = np.mgrid[:H, :W]
    fill = "constant" if mode == textures.BORDER else "edge"
    k = np.outer([1, 2, 1], [1, 2, 1])
    n = near(by[0, :, :, 0].astype(int), 1, fill)
    sx = np.array([[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]])
    ys, xs = np.mgrid[:70, :100]
    yz, xz = np.mgrid[:36, :44]
    return {"o1": _rotated(tx, W, H, 0.5, 0.75, mode, linear), "o2": _at(soft, (xs + 0.5) / 100, (ys + 0.5) / 70, mode, linear, True), "o3": np.einsum("ji,jiyx->yx", k / 16, near(soft[0, :, :, 0].astype(np.float64), 1, fill)),
            "o4": abs(np.einsum("ji,jiyx->yx", sx, n)) + abs(np.einsum("ij,jiyx->yx", sx, n)), "o5": np.stack([near(rgba[0, :, :, c] / 255, 1, fill).mean((0, 1)) for c in range(4)], 2),
            "o6": _at(soft, b.where[..., 0], b.where[..., 1], mode, linear, False), "o7": _at(box, xz * 0.25 + 0.5, yz * 0.25 + 0.5, mode, linear, False, 2.25), "o8": box[..., 0].max(0),
            "o9": _at(line, b.unit, 0.5, mode, linear, True)}
