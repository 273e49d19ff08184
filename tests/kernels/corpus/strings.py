"""Hashes, ciphers, checksums, text search, alignment, compression. All results are exact."""

from __future__ import annotations

import base64
import hashlib
import zlib

import numpy as np

from tests.kernels.corpus.tools import Family, L, ints, out, rng, zeros

SUITE = F = Family("strings")


def _text(seed, n, letters=b"abcd"):
    return np.frombuffer(letters, np.uint8)[rng(seed).integers(0, len(letters), n)]


def _roots():
    """The constants of SHA-256: the first 32 bits of the fractions of cube roots of primes, by whole numbers."""
    primes = [x for x in range(2, 312) if all(x % d for d in range(2, x))]
    found = []
    for p in primes[:64]:
        n, x = p << 96, 1 << 40
        while True:
            y = (2 * x + n // (x * x)) // 3
            if y >= x and x**3 <= n:
                break
            x = y
        while x**3 > n:
            x -= 1
        while (x + 1) ** 3 <= n:
            x += 1
        found.append(x & 0xFFFFFFFF)
    return np.array(found, np.uint32)


_MD5K = np.array([int(abs(np.sin(i + 1)) * 2**32) for i in range(64)], np.uint32)


def _crc_table():
    t = []
    for i in range(256):
        for _ in range(8):
            i = i >> 1 ^ (0xEDB88320 if i & 1 else 0)
        t.append(i)
    return np.array(t, np.uint32)


_HASHES = """
__constant__ unsigned K[64], M[64], crc_table[256];
__device__ unsigned ror(unsigned x, int n) { return __funnelshift_r(x, x, n); }
__device__ unsigned rol(unsigned x, int n) { return __funnelshift_l(x, x, n); }
__device__ unsigned padded(const unsigned char *m, int n, int i, bool big) {
    unsigned w = 0;
    for (int b = 0; b < 4; ++b) { int k = 4 * i + b; unsigned v = k < n ? m[k] : k == n ? 0x80 : 0; w |= v << (big ? 24 - 8 * b : 8 * b); }
    return w;
}
__global__ void sha256(int count, int stride, const int *length, const unsigned char *text, unsigned *digest) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= count) return;
    int n = length[t], blocks = (n + 9 + 63) / 64;
    unsigned h[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    for (int b = 0; b < blocks; ++b) {
        unsigned w[16], s[8];
        for (int i = 0; i < 16; ++i) w[i] = b == blocks - 1 && i == 15 ? n * 8 : padded(text + t * stride, n, b * 16 + i, true);
        for (int i = 0; i < 8; ++i) s[i] = h[i];
        for (int i = 0; i < 64; ++i) {
            if (i >= 16) {
                unsigned x = w[(i + 1) & 15], y = w[(i + 14) & 15];
                w[i & 15] += (ror(x, 7) ^ ror(x, 18) ^ x >> 3) + w[(i + 9) & 15] + (ror(y, 17) ^ ror(y, 19) ^ y >> 10);
            }
            unsigned e = s[4], a = s[0], u = s[7] + (ror(e, 6) ^ ror(e, 11) ^ ror(e, 25)) + (e & s[5] ^ ~e & s[6]) + K[i] + w[i & 15], v = (ror(a, 2) ^ ror(a, 13) ^ ror(a, 22)) + (a & s[1] ^ a & s[2] ^ s[1] & s[2]);
            for (int k = 7; k > 0; --k) s[k] = s[k - 1];
            s[4] += u; s[0] = u + v;
        }
        for (int i = 0; i < 8; ++i) h[i] += s[i];
    }
    for (int i = 0; i < 8; ++i) digest[t * 8 + i] = __byte_perm(h[i], 0, 0x0123);
}
__global__ void md5(int count, int stride, const int *length, const unsigned char *text, unsigned *digest) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= count) return;
    const int turns[16] = {7, 12, 17, 22, 5, 9, 14, 20, 4, 11, 16, 23, 6, 10, 15, 21};
    int n = length[t], blocks = (n + 9 + 63) / 64;
    unsigned h0 = 0x67452301, h1 = 0xefcdab89, h2 = 0x98badcfe, h3 = 0x10325476;
    for (int b = 0; b < blocks; ++b) {
        unsigned w[16], a = h0, x = h1, c = h2, d = h3;
        for (int i = 0; i < 16; ++i) w[i] = b == blocks - 1 && i == 14 ? n * 8 : padded(text + t * stride, n, b * 16 + i, false);
        for (int i = 0; i < 64; ++i) {
            unsigned f; int g;
            switch (i / 16) { case 0: f = x & c | ~x & d; g = i; break; case 1: f = d & x | ~d & c; g = 5 * i + 1; break; case 2: f = x ^ c ^ d; g = 3 * i + 5; break; default: f = c ^ (x | ~d); g = 7 * i; }
            unsigned u = a + f + M[i] + w[g & 15];
            a = d; d = c; c = x; x += rol(u, turns[i / 16 * 4 + i % 4]);
        }
        h0 += a; h1 += x; h2 += c; h3 += d;
    }
    digest[t * 4] = h0; digest[t * 4 + 1] = h1; digest[t * 4 + 2] = h2; digest[t * 4 + 3] = h3;
}
__global__ void sha1(int count, int stride, const int *length, const unsigned char *text, unsigned *digest) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= count) return;
    int n = length[t], blocks = (n + 9 + 63) / 64;
    unsigned h[5] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
    for (int b = 0; b < blocks; ++b) {
        unsigned w[80], a = h[0], x = h[1], c = h[2], d = h[3], e = h[4];
        for (int i = 0; i < 16; ++i) w[i] = b == blocks - 1 && i == 15 ? n * 8 : padded(text + t * stride, n, b * 16 + i, true);
        for (int i = 16; i < 80; ++i) w[i] = rol(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
        for (int i = 0; i < 80; ++i) {
            unsigned f = i < 20 ? (x & c | ~x & d) + 0x5a827999 : i < 40 ? (x ^ c ^ d) + 0x6ed9eba1 : i < 60 ? (x & c | x & d | c & d) + 0x8f1bbcdc : (x ^ c ^ d) + 0xca62c1d6;
            unsigned u = rol(a, 5) + f + e + w[i];
            e = d; d = c; c = rol(x, 30); x = a; a = u;
        }
        h[0] += a; h[1] += x; h[2] += c; h[3] += d; h[4] += e;
    }
    for (int i = 0; i < 5; ++i) digest[t * 5 + i] = __byte_perm(h[i], 0, 0x0123);
}
__global__ void crc32_table(int count, int stride, const int *length, const unsigned char *text, unsigned *o) {
    __shared__ unsigned s[256];
    for (int i = threadIdx.x; i < 256; i += blockDim.x) s[i] = crc_table[i];
    __syncthreads();
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= count) return;
    unsigned c = ~0u;
    for (int i = 0; i < length[t]; ++i) c = c >> 8 ^ s[(c ^ text[t * stride + i]) & 255];
    o[t] = ~c;
}
__global__ void crc32_bitwise(int count, int stride, const int *length, const unsigned char *text, unsigned *o) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= count) return;
    unsigned c = ~0u;
    for (int i = 0; i < length[t]; ++i) { c ^= text[t * stride + i]; for (int k = 0; k < 8; ++k) c = c >> 1 ^ (0xEDB88320u & -(c & 1)); }
    o[t] = ~c;
}
__global__ void adler32(int count, int stride, const int *length, const unsigned char *text, unsigned *o) {
    int lane = threadIdx.x, t = blockIdx.x, n = length[t];
    unsigned a = 0, b = 0;
    for (int i = lane; i < n; i += 32) { unsigned v = text[t * stride + i]; a += v; b += v * (n - i); }
    a = __reduce_add_sync(~0u, a); b = __reduce_add_sync(~0u, b);
    if (lane == 0) o[t] = (b + n) % 65521 << 16 | (a + 1) % 65521;
}
__global__ void fnv1a(int count, int stride, const int *length, const unsigned char *text, unsigned long long *o) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= count) return;
    unsigned long long h = 14695981039346656037ull;
    for (int i = 0; i < length[t]; ++i) h = (h ^ text[t * stride + i]) * 1099511628211ull;
    o[t] = h;
}
__global__ void rolling_hash(int n, int width, const unsigned char *text, unsigned *o) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i + width > n) return;
    unsigned long long h = 0;
    for (int k = 0; k < width; ++k) h = (h * 257 + text[i + k]) % 1000000007ull;
    o[i] = (unsigned)h;
}
__global__ void merkle_level(int n, const unsigned *in, unsigned *o) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned h = in[2 * i] * 0xcc9e2d51u;
    h = rol(h, 15) * 0x1b873593u ^ in[2 * i + 1]; h = rol(h, 13) * 5 + 0xe6546b64u; h ^= h >> 16; h *= 0x85ebca6bu; h ^= h >> 13;
    o[i] = h;
}"""


def _each(b, f):
    return [f(bytes(t[:n])) for t, n in zip(b.text.reshape(60, 130), b.length)]


def _words(b, name):
    return np.array([np.frombuffer(d, np.uint32) for d in _each(b, lambda m: hashlib.new(name, m).digest())])


def _fnv(m):
    h = 14695981039346656037
    for c in m:
        h = (h ^ c) * 1099511628211 & (1 << 64) - 1
    return h


def _roll(t, w):
    o = []
    for i in range(len(t) - w + 1):
        h = 0
        for c in t[i:i + w].tolist():
            h = (h * 257 + c) % 1000000007
        o.append(h)
    return o


def _merkle(v):
    m = 0xFFFFFFFF
    rol = lambda x, n: (x << n | x >> 32 - n) & m
    o = []
    for a, b in v.reshape(-1, 2).tolist():
        h = rol(a * 0xCC9E2D51 & m, 15) * 0x1B873593 & m ^ b
        h = rol(h, 13) * 5 + 0xE6546B64 & m
        h = (h ^ h >> 16) * 0x85EBCA6B & m
        o.append(h ^ h >> 13)
    return o


_batch = lambda kernel, grid, block, to: L(kernel, grid, block, 60, 130, "length", "text", to)
F.run("hashes", _HASHES, [_batch("sha256", 2, 32, "sha256"), _batch("md5", 1, 64, "md5"), _batch("sha1", 2, 48, "sha1"), _batch("crc32_table", 1, 96, "crc1"), _batch("crc32_bitwise", 2, 32, "crc2"), _batch("adler32", 60, 32, "adler"), _batch("fnv1a", 2, 32, "fnv"),
      L("rolling_hash", 9, 64, 520, 9, "text", "roll"), L("merkle_level", 2, 32, 40, "leaves", "tree")],
      lambda b: {"sha256": _words(b, "sha256"), "md5": _words(b, "md5"), "sha1": _words(b, "sha1"), "crc1": _each(b, zlib.crc32), "crc2": _each(b, zlib.crc32), "adler": _each(b, zlib.adler32), "fnv": np.array(_each(b, _fnv), np.uint64), "roll": _roll(b.text[:520], 9), "tree": _merkle(b.leaves)},
      constants={"K": _roots(), "M": _MD5K, "crc_table": _crc_table()}, text=ints(1, 60 * 130, 0, 256, np.uint8), length=np.concatenate([[0, 55, 56, 63, 64, 119, 120, 128], ints(2, 52, 0, 130)]).astype(np.int32), sha256=out((60, 8), np.uint32), md5=out((60, 4), np.uint32),
      sha1=out((60, 5), np.uint32), crc1=out(60, np.uint32), crc2=out(60, np.uint32), adler=out(60, np.uint32), fnv=out(60, np.uint64), roll=out(512, np.uint32), leaves=ints(3, 80, 0, 2**32, np.uint32), tree=out(40, np.uint32))

_CIPHERS = """
__device__ unsigned rol(unsigned x, int n) { return x << n | x >> (32 - n); }
#define QUARTER(a, b, c, d) a += b; d = rol(d ^ a, 16); c += d; b = rol(b ^ c, 12); a += b; d = rol(d ^ a, 8); c += d; b = rol(b ^ c, 7);
__global__ void chacha20(const unsigned *start, unsigned *o) {
    unsigned x[16], i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; k < 16; ++k) x[k] = start[k] + (k == 12 ? i : 0);
#pragma unroll 1
    for (int r = 0; r < 10; ++r) {
        QUARTER(x[0], x[4], x[8], x[12]) QUARTER(x[1], x[5], x[9], x[13]) QUARTER(x[2], x[6], x[10], x[14]) QUARTER(x[3], x[7], x[11], x[15])
        QUARTER(x[0], x[5], x[10], x[15]) QUARTER(x[1], x[6], x[11], x[12]) QUARTER(x[2], x[7], x[8], x[13]) QUARTER(x[3], x[4], x[9], x[14])
    }
    for (int k = 0; k < 16; ++k) o[16 * i + k] = x[k] + start[k] + (k == 12 ? i : 0);
}
__global__ void xtea(int n, const uint4 *key, uint2 *v) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const unsigned k[4] = {key->x, key->y, key->z, key->w};
    unsigned a = v[i].x, b = v[i].y, s = 0;
    for (int r = 0; r < 32; ++r) { a += ((b << 4 ^ b >> 5) + b) ^ (s + k[s & 3]); s += 0x9E3779B9u; b += ((a << 4 ^ a >> 5) + a) ^ (s + k[s >> 11 & 3]); }
    v[i] = make_uint2(a, b);
}
__device__ unsigned char twice(unsigned char x) { return x << 1 ^ (x & 0x80 ? 0x1b : 0); }
// Sixteen threads hold one state; `sbox` and the round keys are made on the host.
__global__ void aes128(const unsigned char *sbox, const unsigned char *keys, const unsigned char *in, unsigned char *o) {
    __shared__ unsigned char box[256], s[8][16];
    int t = threadIdx.x, g = t / 16, b = t % 16, i = blockIdx.x * 128 + t;
    box[t] = sbox[t]; box[t + 128] = sbox[t + 128];
    unsigned char v = in[i] ^ keys[b];
    for (int r = 1; r <= 10; ++r) {
        __syncthreads();
        s[g][b] = box[v];
        __syncthreads();
        int c = b / 4, y = b % 4;
        if (r < 10) {
            unsigned char a0 = s[g][(c + y) % 4 * 4 + y], a1 = s[g][(c + (y + 1) % 4) % 4 * 4 + (y + 1) % 4], a2 = s[g][(c + (y + 2) % 4) % 4 * 4 + (y + 2) % 4], a3 = s[g][(c + (y + 3) % 4) % 4 * 4 + (y + 3) % 4];
            v = twice(a0) ^ twice(a1) ^ a1 ^ a2 ^ a3;
        } else v = s[g][(c + y) % 4 * 4 + y];
        v ^= keys[16 * r + b];
    }
    o[i] = v;
}
__global__ void rc4(int n, const unsigned char *keys, unsigned char *o) {
    __shared__ unsigned char s[256][8];
    int t = threadIdx.x;
    for (int i = 0; i < 256; ++i) s[i][t] = i;
    for (int i = 0, j = 0; i < 256; ++i) { j = j + s[i][t] + keys[t * 16 + i % 16] & 255; unsigned char v = s[i][t]; s[i][t] = s[j][t]; s[j][t] = v; }
    for (int k = 0, i = 0, j = 0; k < n; ++k) { i = i + 1 & 255; j = j + s[i][t] & 255; unsigned char v = s[i][t]; s[i][t] = s[j][t]; s[j][t] = v; o[t * n + k] = s[s[i][t] + s[j][t] & 255][t]; }
}
__global__ void modular_power(int n, const unsigned long long *base, const unsigned *exponent, unsigned long long m, unsigned long long *o) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned long long r = 1, b = base[i] % m;
    for (unsigned e = exponent[i]; e; e >>= 1) { if (e & 1) r = (unsigned long long)((unsigned __int128)r * b % m); b = (unsigned long long)((unsigned __int128)b * b % m); }
    o[i] = r;
}
__global__ void big_multiply(int words, const unsigned *a, const unsigned *b, unsigned *o) {
    a += blockIdx.x * words; b += blockIdx.x * words;
    __shared__ unsigned long long low[64], high[64];
    int k = threadIdx.x;
    unsigned long long l = 0, h = 0;
    for (int i = max(0, k - words + 1); i <= min(k, words - 1); ++i) { unsigned long long p = (unsigned long long)a[i] * b[k - i]; l += p & 0xffffffffu; h += p >> 32; }
    low[k] = l; high[k] = h;
    __syncthreads();
    if (k == 0) for (unsigned long long c = 0, i = 0; i < 2 * words; ++i) { c += low[i] + (i ? high[i - 1] : 0); o[blockIdx.x * 2 * words + i] = (unsigned)c; c >>= 32; }
}
__global__ void gcd(int n, const unsigned *a, const unsigned *b, unsigned *o) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned u = a[i], v = b[i];
    int shift = __ffs(u | v) - 1;
    u >>= __ffs(u) - 1;
    do { v >>= __ffs(v) - 1; if (u > v) { unsigned t = u; u = v; v = t; } v -= u; } while (v);
    o[i] = u << shift;
}
__global__ void miller_rabin(int n, const unsigned *a, unsigned char *prime) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned p = a[i], d = p - 1;
    int s = __ffs(d) - 1;
    d >>= s;
    const unsigned witness[3] = {2, 7, 61};
    bool yes = true;
    for (int w = 0; w < 3 && yes; ++w) {
        unsigned long long x = 1, b = witness[w];
        for (unsigned e = d; e; e >>= 1) { if (e & 1) x = x * b % p; b = b * b % p; }
        bool ok = x == 1 || x == p - 1;
        for (int r = 1; r < s && !ok; ++r) { x = x * x % p; ok = x == p - 1; }
        yes = ok;
    }
    prime[i] = yes;
}
__global__ void base64_encode(int triples, const unsigned char *in, unsigned char *o) {
    const char *letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= triples) return;
    unsigned v = in[3 * i] << 16 | in[3 * i + 1] << 8 | in[3 * i + 2];
    *(uchar4 *)(o + 4 * i) = make_uchar4(letters[v >> 18], letters[v >> 12 & 63], letters[v >> 6 & 63], letters[v & 63]);
}
__global__ void base64_decode(int quads, const unsigned char *in, unsigned char *o) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= quads) return;
    unsigned v = 0;
    for (int k = 0; k < 4; ++k) { int c = in[4 * i + k]; v = v << 6 | (c >= 'a' ? c - 'a' + 26 : c >= 'A' ? c - 'A' : c >= '0' ? c - '0' + 52 : c == '+' ? 62 : 63); }
    o[3 * i] = v >> 16; o[3 * i + 1] = v >> 8; o[3 * i + 2] = v;
}
__global__ void hex_encode(int n, const unsigned char *in, char2 *o) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) { int h = in[i] >> 4, l = in[i] & 15; o[i] = make_char2(h + (h < 10 ? '0' : 'a' - 10), l + (l < 10 ? '0' : 'a' - 10)); } }"""


def _chacha(start, count):
    m, o = 0xFFFFFFFF, []
    rol = lambda x, n: (x << n | x >> 32 - n) & m
    for i in range(count):
        s = start.tolist()
        s[12] = s[12] + i & m
        x = list(s)
        for _ in range(10):
            for q in ((0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15), (0, 5, 10, 15), (1, 6, 11, 12), (2, 7, 8, 13), (3, 4, 9, 14)):
                a, b, c, d = q
                for r, (p, t, z) in zip((16, 12, 8, 7), ((a, b, d), (c, d, b), (a, b, d), (c, d, b))):
                    x[p] = x[p] + x[t] & m
                    x[z] = rol(x[z] ^ x[p], r)
        o.append([u + v & m for u, v in zip(x, s)])
    return np.array(o, np.uint32)


def _xtea(key, v):
    m, o = 0xFFFFFFFF, []
    k = key.tolist()
    for a, b in v.tolist():
        s = 0
        for _ in range(32):
            a = a + (((b << 4 ^ b >> 5) + b & m) ^ (s + k[s & 3] & m)) & m
            s = s + 0x9E3779B9 & m
            b = b + (((a << 4 ^ a >> 5) + a & m) ^ (s + k[s >> 11 & 3] & m)) & m
        o.append((a, b))
    return np.array(o, np.uint32)


def _gmul(a, b):
    r = 0
    while b:
        if b & 1:
            r ^= a
        a = a << 1 ^ (0x11B if a & 0x80 else 0)
        b >>= 1
    return r


def _sbox():
    box = []
    for x in range(256):
        inv = next((y for y in range(256) if _gmul(x, y) == 1), 0)
        v = 0x63
        for k in range(5):
            v ^= (inv << k | inv >> 8 - k) & 255
        box.append(v)
    return np.array(box, np.uint8)


_SBOX = _sbox()


def _round_keys(key):
    w, rcon = [list(key[i:i + 4]) for i in range(0, 16, 4)], 1
    for i in range(4, 44):
        t = list(w[i - 1])
        if i % 4 == 0:
            t = [int(_SBOX[v]) for v in t[1:] + t[:1]]
            t[0] ^= rcon
            rcon = _gmul(rcon, 2)
        w.append([a ^ b for a, b in zip(w[i - 4], t)])
    return np.array(w, np.uint8).ravel()


def _aes(b):
    keys, s = b.keys.reshape(11, 16), b.plain.reshape(-1, 4, 4)
    two = np.array([_gmul(x, 2) for x in range(256)], np.uint8)
    s = s ^ keys[0].reshape(4, 4)
    for r in range(1, 11):
        s = b.sbox[s]
        s = np.stack([np.roll(s[:, :, y], -y, 1) for y in range(4)], 2)
        if r < 10:
            n = [np.roll(s, -k, 2) for k in range(4)]
            s = two[n[0]] ^ two[n[1]] ^ n[1] ^ n[2] ^ n[3]
        s = s ^ keys[r].reshape(4, 4)
    return s


def _rc4(keys, n):
    o = []
    for key in keys.reshape(8, 16).tolist():
        s, j = list(range(256)), 0
        for i in range(256):
            j = j + s[i] + key[i % 16] & 255
            s[i], s[j] = s[j], s[i]
        i = j = 0
        for _ in range(n):
            i = i + 1 & 255
            j = j + s[i] & 255
            s[i], s[j] = s[j], s[i]
            o.append(s[s[i] + s[j] & 255])
    return np.array(o, np.uint8)


def _product(a, b):
    o = []
    for x, y in zip(a, b):
        p = int.from_bytes(x.tobytes(), "little") * int.from_bytes(y.tobytes(), "little")
        o.append(np.frombuffer(p.to_bytes(2 * x.nbytes, "little"), np.uint32))
    return np.stack(o)


_B64 = np.frombuffer(base64.b64encode(ints(14, 300, 0, 256, np.uint8).tobytes()), np.uint8)
_ODD = ints(15, 200, 500, 2**30, np.uint32) * 2 + 1
_ODD[:6] = [998244353, 1000000007, 2147483647, 1299709, 561, 25326001]
F.run("ciphers", _CIPHERS, [L("chacha20", 1, 20, "start", "stream"), L("xtea", 2, 32, 50, "teakey", "blocks"), L("aes128", 3, 128, "sbox", "keys", "plain", "cipher"), L("rc4", 1, 8, 40, "rckeys", "rc"), L("modular_power", 2, 32, 60, "base", "exponent", np.uint64(2**61 - 1), "power"),
      L("big_multiply", 5, 32, 16, "big1", "big2", "product"), L("gcd", 2, 64, 100, "ga", "gb", "g"), L("miller_rabin", 4, 64, 200, "odd", "prime"), L("base64_encode", 2, 64, 100, "raw", "encoded"), L("base64_decode", 1, 100, 100, "b64", "decoded"), L("hex_encode", 3, 100, 300, "raw", "hex")],
      lambda b: {"stream": _chacha(b.start, 20), "blocks": _xtea(b.teakey, b.blocks), "cipher": _aes(b), "rc": _rc4(b.rckeys, 40), "power": np.array([pow(int(x), int(e), 2**61 - 1) for x, e in zip(b.base, b.exponent)], np.uint64), "product": _product(b.big1, b.big2),
                 "g": np.gcd(b.ga, b.gb), "prime": [_is_prime(p) for p in b.odd.tolist()], "encoded": np.frombuffer(base64.b64encode(b.raw.tobytes()), np.uint8),
                 "decoded": np.frombuffer(base64.b64decode(b.b64.tobytes()), np.uint8), "hex": np.frombuffer(b.raw.tobytes().hex().encode(), np.int8)},
      options=("--device-int128",), cpp=False, start=ints(4, 16, 0, 2**32, np.uint32), stream=out((20, 16), np.uint32), teakey=ints(5, 4, 0, 2**32, np.uint32), blocks=ints(6, (50, 2), 0, 2**32, np.uint32), sbox=_SBOX, keys=_round_keys(list(range(16))), plain=ints(7, 384, 0, 256, np.uint8),
      cipher=out(384, np.uint8), rckeys=ints(8, 128, 0, 256, np.uint8), rc=out(320, np.uint8), base=ints(9, 60, 0, 2**62, np.uint64), exponent=ints(10, 60, 0, 2**32, np.uint32), power=out(60, np.uint64), big1=ints(11, (5, 16), 0, 2**32, np.uint32),
      big2=ints(12, (5, 16), 0, 2**32, np.uint32), product=out((5, 32), np.uint32), ga=ints(13, 100, 1, 5000, np.uint32) * np.uint32(12), gb=ints(16, 100, 1, 5000, np.uint32) * np.uint32(18), g=out(100, np.uint32), odd=_ODD, prime=out(200, np.uint8),
      raw=ints(17, 300, 0, 256, np.uint8), encoded=out(400, np.uint8), b64=_B64, decoded=out(300, np.uint8), hex=out((300, 2), np.int8))


def _is_prime(p):
    d = np.arange(3, int(p**0.5) + 1, 2)
    return bool(p > 2 and (p % d).all())


_TEXT = """
__global__ void naive_search(int n, int m, const char *text, const char *pattern, unsigned char *at) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int k = 0;
    while (k < m && i + k < n && text[i + k] == pattern[k]) ++k;
    at[i] = k == m;
}
__global__ void kmp_chunks(int n, int m, int chunk, const char *text, const char *pattern, const int *fail, int *count) {
    int begin = (blockIdx.x * blockDim.x + threadIdx.x) * chunk, end = min(n, begin + chunk + m - 1), c = 0;
    for (int i = begin, k = 0; i < end; ++i) { while (k && (k == m || text[i] != pattern[k])) k = fail[k - 1]; if (text[i] == pattern[k]) ++k; c += k == m; }
    if (c) atomicAdd(count, c);
}
__global__ void horspool(int n, int m, int chunk, const unsigned char *text, const unsigned char *pattern, int *count) {
    __shared__ int skip[256];
    for (int c = threadIdx.x; c < 256; c += blockDim.x) skip[c] = m;
    __syncthreads();
    if (threadIdx.x == 0) for (int k = 0; k < m - 1; ++k) skip[pattern[k]] = m - 1 - k;
    __syncthreads();
    int begin = (blockIdx.x * blockDim.x + threadIdx.x) * chunk, end = min(n - m + 1, begin + chunk);
    for (int i = begin; i < end; i += skip[text[i + m - 1]]) { int k = m - 1; while (k >= 0 && text[i + k] == pattern[k]) --k; if (k < 0) atomicAdd(count, 1); }
}
__global__ void aho_corasick(int n, int chunk, int overlap, const unsigned char *text, const short *next, const int *hits, int *count) {
    int begin = (blockIdx.x * blockDim.x + threadIdx.x) * chunk, state = 0, c = 0;
    for (int i = max(0, begin - overlap); i < min(n, begin + chunk); ++i) { state = next[state * 4 + text[i] - 'a']; if (i >= begin) c += hits[state]; }
    if (c) atomicAdd(count, c);
}
__global__ void shift_and(int count, int stride, int m, const unsigned char *text, const unsigned *masks, int *found) {
    int t = blockIdx.x * blockDim.x + threadIdx.x, c = 0;
    if (t >= count) return;
    unsigned d = 0;
    for (int i = 0; i < stride; ++i) { d = (d << 1 | 1) & masks[text[t * stride + i] - 'a']; c += d >> (m - 1) & 1; }
    found[t] = c;
}
__global__ void edit_distance_diagonals(int n, int m, const char *a, const char *b, int *result) {
    __shared__ int d[3][65];
    int t = threadIdx.x;
    for (int k = 0; k <= n + m; ++k) {
        int *now = d[k % 3], *last = d[(k + 2) % 3], *older = d[(k + 1) % 3], j = k - t;
        if (t <= n && j >= 0 && j <= m) now[t] = t == 0 ? j : j == 0 ? t : min(min(last[t] , last[t - 1]) + 1, older[t - 1] + (a[t - 1] != b[j - 1]));
        __syncthreads();
    }
    if (t == n) *result = d[(n + m) % 3][n];
}
__global__ void smith_waterman(int n, int m, const char *a, const char *b, int *scores) {
    __shared__ int h[3][65];
    int t = threadIdx.x, best = 0;
    b += blockIdx.x * m;
    for (int k = 0; k < 3; ++k) h[k][t] = 0;
    __syncthreads();
    for (int k = 2; k <= n + m; ++k) {
        int j = k - t, v = 0;
        if (t >= 1 && t <= n && j >= 1 && j <= m) v = max(max(0, h[(k + 1) % 3][t - 1] + (a[t - 1] == b[j - 1] ? 3 : -2)), max(h[(k + 2) % 3][t], h[(k + 2) % 3][t - 1]) - 2);
        h[k % 3][t] = v;
        best = max(best, v);
        __syncthreads();
    }
    atomicMax(&scores[blockIdx.x], best);
}
__global__ void longest_common_subsequence(int n, int m, const char *a, const char *b, int *result) {
    int row[40];
    b += (blockIdx.x * blockDim.x + threadIdx.x) * m;
    for (int j = 0; j <= m; ++j) row[j] = 0;
    for (int i = 0; i < n; ++i) for (int j = 1, corner = 0; j <= m; ++j) { int up = row[j]; row[j] = a[i] == b[j - 1] ? corner + 1 : max(up, row[j - 1]); corner = up; }
    result[blockIdx.x * blockDim.x + threadIdx.x] = row[m];
}
__global__ void case_and_words(int n, const char *in, char *upper, int *words) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    bool start = false;
    if (i < n) { char c = in[i]; upper[i] = c >= 'a' && c <= 'z' ? c - 32 : c; start = c != 'd' && (i == 0 || in[i - 1] == 'd'); }
    int s = __syncthreads_count(start);
    if (threadIdx.x == 0) atomicAdd(words, s);
}
__global__ void suffix_ranks(int n, const char *text, int *rank) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int r = 0;
    for (int j = 0; j < n; ++j) { int a = i, b = j; while (a < n && b < n && text[a] == text[b]) { ++a; ++b; } r += b >= n ? a < n : a < n && text[b] < text[a]; }
    rank[i] = r;
}
__global__ void reverse_complement(int n, const unsigned char *in, unsigned char *o) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) o[n - 1 - i] = 'a' + 'd' - in[i]; }
__global__ void kmer_counts(int n, const unsigned char *in, int *count) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i + 4 <= n) { int v = 0; for (int k = 0; k < 4; ++k) v = v << 2 | (in[i + k] - 'a'); atomicAdd(&count[v], 1); } }
__global__ void pack_two_bits(int n, const unsigned char *in, unsigned *o) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, c = i < n ? in[i] - 'a' : 0;
    unsigned low = __ballot_sync(~0u, c & 1), high = __ballot_sync(~0u, c >> 1);
    if ((threadIdx.x & 31) == 0) { o[i / 32 * 2] = low; o[i / 32 * 2 + 1] = high; }
}
__global__ void utf8_lengths(int n, const unsigned char *in, int *characters) { int i = blockIdx.x * blockDim.x + threadIdx.x; int c = __syncthreads_count(i < n && (in[i] & 0xC0) != 0x80); if (threadIdx.x == 0) atomicAdd(characters, c); }
__global__ void delta_zigzag_varint(int n, int each, const int *in, unsigned char *o, int *size) {
    int t = blockIdx.x * blockDim.x + threadIdx.x, last = 0, k = 0;
    if (t * each >= n) return;
    unsigned char *to = o + t * each * 5;
    for (int i = 0; i < each; ++i) { int v = in[t * each + i]; unsigned d = (unsigned)(v - last), z = d << 1 ^ (unsigned)((int)d >> 31); last = v; while (z >= 128) { to[k++] = z | 128; z >>= 7; } to[k++] = z; }
    size[t] = k;
}
__global__ void run_length_decode(int runs, const int *start, const unsigned char *value, unsigned char *o) { int r = blockIdx.x; if (r < runs) for (int i = start[r] + threadIdx.x; i < start[r + 1]; i += blockDim.x) o[i] = value[r]; }
__global__ void bit_unpack(int n, int width, const unsigned *in, unsigned *o) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int bit = i * width, w = bit / 32;
    o[i] = __funnelshift_r(in[w], in[w + 1], bit & 31) & ((1u << width) - 1);
}
__global__ void move_to_front(int n, const unsigned char *in, unsigned char *o) {
    unsigned char order[4] = {'a', 'b', 'c', 'd'};
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    for (int i = 0; i < n; ++i) { int k = 0; unsigned char c = in[t * n + i]; while (order[k] != c) ++k; o[t * n + i] = k; for (; k > 0; --k) order[k] = order[k - 1]; order[0] = c; }
}
__global__ void bracket_regex(int count, int stride, const unsigned char *text, unsigned char *match) {
    int t = blockIdx.x * blockDim.x + threadIdx.x, s = 0;
    if (t >= count) return;
    for (int i = 0; i < stride && s < 3; ++i) { unsigned char c = text[t * stride + i]; s = s == 0 ? c == 'a' : s == 1 ? (c == 'b' ? 1 : c == 'c' ? 2 : c == 'a') : c == 'd' ? 3 : c == 'a'; }
    match[t] = s == 3;
}"""


def _failure(p):
    f = [0] * len(p)
    k = 0
    for i in range(1, len(p)):
        while k and p[i] != p[k]:
            k = f[k - 1]
        k += p[i] == p[k]
        f[i] = k
    return np.array(f, np.int32)


_PATTERNS = (b"ab", b"cab", b"dcba", b"aa")


def _automaton():
    nodes, out_, fail = [{}], [0], [0]
    for p in _PATTERNS:
        s = 0
        for c in p:
            if c not in nodes[s]:
                nodes[s][c] = len(nodes)
                nodes.append({})
                out_.append(0)
            s = nodes[s][c]
        out_[s] += 1
    fail, table, queue = [0] * len(nodes), np.zeros((len(nodes), 4), np.int16), [0]
    while queue:
        s = queue.pop(0)
        if s:
            out_[s] += out_[fail[s]]
        for i, c in enumerate(b"abcd"):
            t = nodes[s].get(c)
            if t is None:
                table[s, i] = table[fail[s], i] if s else 0
            else:
                fail[t] = int(table[fail[s], i]) if s else 0
                table[s, i] = t
                queue.append(t)
    return table, np.array(out_, np.int32)


def _occurrences(t, p):
    return [t[i:i + len(p)] == p for i in range(len(t))]


def _edit(a, b):
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        later = [i]
        for j, y in enumerate(b, 1):
            later.append(min(row[j] + 1, later[-1] + 1, row[j - 1] + (x != y)))
        row = later
    return row[-1]


def _align(a, b):
    h = np.zeros((len(a) + 1, len(b) + 1), int)
    for i, x in enumerate(a, 1):
        for j, y in enumerate(b, 1):
            h[i, j] = max(0, h[i - 1, j - 1] + (3 if x == y else -2), h[i - 1, j] - 2, h[i, j - 1] - 2)
    return h.max()


def _lcs(a, b):
    row = [0] * (len(b) + 1)
    for x in a:
        later = [0]
        for j, y in enumerate(b):
            later.append(row[j] + 1 if x == y else max(row[j + 1], later[-1]))
        row = later
    return row[-1]


def _varint(v, each):
    data, sizes = np.zeros(len(v) * 5, np.uint8), []
    for t in range(len(v) // each):
        k, last = t * each * 5, 0
        for x in v[t * each:(t + 1) * each].tolist():
            d, last = x - last, x
            z = (d << 1 ^ d >> 31) & 0xFFFFFFFF
            while z >= 128:
                data[k], z, k = z & 127 | 128, z >> 7, k + 1
            data[k] = z
            k += 1
        sizes.append(k - t * each * 5)
    return data, sizes


def _front(t):
    o = []
    for part in t.reshape(8, 50).tolist():
        order = list(b"abcd")
        for c in part:
            k = order.index(c)
            o.append(k)
            order.insert(0, order.pop(k))
    return o


def _searches(b):
    import re

    t, p = b.text.tobytes(), b.pattern.tobytes()
    at = _occurrences(t, p)
    rows = [t[i * 40:i * 40 + 40] for i in range(20)]
    order = sorted(range(200), key=lambda i: t[i:200])
    rank = np.empty(200, int)
    rank[order] = np.arange(200)
    kmers = np.bincount(np.array([((t[i] - 97) * 4 + t[i + 1] - 97) * 16 + (t[i + 2] - 97) * 4 + t[i + 3] - 97 for i in range(797)]), minlength=256)
    bits = lambda k: np.packbits((b.text - 97 >> k & 1).astype(np.uint8), bitorder="little").view(np.uint32)
    unpacked = int.from_bytes(b.packed.tobytes(), "little")
    return {"at": at, "kmp": [sum(at)], "hor": [sum(at)], "aho": [sum(sum(_occurrences(t, q)) for q in _PATTERNS)], "found": [sum(_occurrences(r, p)) for r in rows], "edit": [_edit(t[:60], t[100:150])], "sw": [_align(t[:60], t[200 + 70 * i:270 + 70 * i]) for i in range(4)],
            "lcs": [_lcs(t[:60], t[39 * i:39 * i + 39]) for i in range(16)], "upper": np.frombuffer(t.upper(), np.int8), "words": [len([w for w in t.split(b"d") if w])], "rank": rank, "rc": np.frombuffer(bytes(197 - c for c in t[::-1]), np.uint8), "kmers": kmers,
            "two": np.stack([bits(0), bits(1)], 1), "chars": [len("aé€😀z" * 30)], "varint": _varint(b.numbers, 20)[0], "sizes": _varint(b.numbers, 20)[1], "rle": np.repeat(b.value, np.diff(b.runs)), "unpacked": [unpacked >> 11 * i & 2047 for i in range(90)],
            "mtf": _front(b.text[:400]), "match": [re.search(rb"ab*cd", r) is not None for r in rows]}


_UTF8 = np.frombuffer(("aé€😀z" * 30).encode(), np.uint8)
F.run("text", _TEXT, [L("naive_search", 7, 128, 800, 4, "text", "pattern", "at"), L("kmp_chunks", 1, 40, 800, 4, 20, "text", "pattern", "fail", "kmp"), L("horspool", 1, 32, 800, 4, 25, "text", "pattern", "hor"), L("aho_corasick", 1, 40, 800, 20, 3, "text", "next", "hits", "aho"),
      L("shift_and", 1, 32, 20, 40, 4, "text", "masks", "found"), L("edit_distance_diagonals", 1, 64, 60, 50, "text", "text2", "edit"), L("smith_waterman", 4, 64, 60, 70, "text", "text3", "sw"), L("longest_common_subsequence", 2, 8, 60, 39, "text", "text", "lcs"),
      L("case_and_words", 9, 96, 800, "text", "upper", "words"), L("suffix_ranks", 2, 128, 200, "text", "rank"), L("reverse_complement", 8, 100, 800, "text", "rc"), L("kmer_counts", 8, 100, 800, "text", "kmers"), L("pack_two_bits", 5, 160, 800, "text", "two"),
      L("utf8_lengths", 4, 96, len(_UTF8), "utf8", "chars"), L("delta_zigzag_varint", 1, 32, 400, 20, "numbers", "varint", "sizes"), L("run_length_decode", 40, 32, 40, "runs", "value", "rle"), L("bit_unpack", 2, 64, 90, 11, "packed", "unpacked"),
      L("move_to_front", 2, 4, 50, "text", "mtf"), L("bracket_regex", 1, 32, 20, 40, "text", "match")], _searches, text=_text(21, 800), pattern=np.frombuffer(b"abca", np.uint8), fail=_failure(b"abca"), at=out(800, np.uint8), kmp=zeros(1, np.int32), hor=zeros(1, np.int32),
      next=_automaton()[0], hits=_automaton()[1], aho=zeros(1, np.int32), masks=np.array([sum(1 << k for k, c in enumerate(b"abca") if c == l) for l in b"abcd"], np.uint32), found=out(20, np.int32), text2=_text(21, 800)[100:150].copy(), edit=out(1, np.int32),
      text3=_text(21, 800)[200:480].copy(), sw=zeros(4, np.int32), lcs=out(16, np.int32), upper=out(800, np.int8), words=zeros(1, np.int32), rank=out(200, np.int32), rc=out(800, np.uint8), kmers=zeros(256, np.int32), two=out((25, 2), np.uint32), utf8=_UTF8,
      chars=zeros(1, np.int32), numbers=ints(22, 400, -10**6, 10**6), varint=zeros(2000, np.uint8), sizes=out(20, np.int32), runs=np.cumsum(np.concatenate([[0], ints(23, 40, 1, 30)])).astype(np.int32), value=ints(24, 40, 0, 256, np.uint8),
      rle=out(int(ints(23, 40, 1, 30).sum()), np.uint8), packed=ints(25, 32, 0, 2**32, np.uint32), unpacked=out(90, np.uint32), mtf=out(400, np.uint8), match=out(20, np.uint8))
