"""CUDA C of a right-hand side of Maxwell's equations and of a Runge-Kutta stage, and the space of its variants.

One template makes every kernel. A kernel does some of the steps: `volume` (derivatives of fields, curls), `flux` (jumps
at faces), `lift` (face values to nodes), `stage` (the Runge-Kutta update). All are in one kernel, or in two to four:

1   volume flux lift stage
2   volume | flux lift stage
3   volume | flux | lift stage
4   volume | flux | lift | stage

Between kernels the right-hand side and the fluxes go through memory. A block takes `serial` batches one by one. A batch
has `parallel` sets of threads. With lanes="node" consecutive threads are nodes of an element, and a thread does
its node of `inline` elements, so that an entry of a matrix is loaded once for all of them. With lanes="element"
consecutive threads are elements, and a thread does `inline` nodes, so that a field is loaded once for all of them, and
entries of matrices in vectors. Where elements are not interleaved in memory, fields and results are then transposed in
shared memory, and consecutive threads gather consecutive nodes of a face.

With lanes="tensor" (compute capability 8.0) tensor cores do the products: a warp has sums of `inline` tiles of sixteen
nodes by `columns` tiles of eight elements, all at once; warps share fluxes and then fields in shared memory. Matrices
are in the order in which lanes have their tiles. A number of float32 is the sum of two of TF32, and three of the four
products of such sums are enough for the precision of float32. Fields are taken along the edges of an element (covariant
components), and the curl comes across its faces (contravariant ones): 12 products with derivatives and not 18, and
fluxes, which are tangential, have no component across the three faces that belong to a coordinate.
"""

import dataclasses
import functools

import numpy as np

from rtcg import template, tune

#: What each kernel does, by the number of kernels.
SPLITS = {
    1: ("volume flux lift stage",),
    2: ("volume", "flux lift stage"),
    3: ("volume", "flux", "lift stage"),
    4: ("volume", "flux", "lift", "stage"),
}
LAYOUTS = ("interleaved32", "interleaved16", "interleaved8", "element", "field", "microblock")

TEXT = """
typedef {{ real }} real;
enum { NP = {{ np }}, NF = {{ nf }}, N4 = 4 * NF, PADDED = {{ padded }} };
{% set of_node, of_tensor, is_double = lanes == "node", lanes == "tensor", real == "double" %}
{# Threads are elements and neighbours in memory are nodes: numbers go to memory and back through shared memory. #}
{% set is_transposed = lanes == "element" and not interleaved and ("volume" in steps or "lift" in steps) %}
enum { P = {{ parallel }}, I = {{ inline }}, S = {{ serial }} };
enum { E = P * {{ "I" if of_node else "8 * %d"|format(columns) if of_tensor else "1" }} };
{% if of_tensor %}
// Tiles of eight elements of a warp; tiles of sixteen nodes, warps that share them; nodes of a field and of all faces
// in whole steps of eight. The distance between elements is eight numbers more than a multiple of sixteen, so that
// loads have no bank conflicts.
enum { C = {{ columns }}, TILES = (NP + 15) / 16, WARPS = (TILES + I - 1) / I, THREADS = 32 * P * WARPS };
enum { STEPS = (NP + 7) / 8, FACE_STEPS = (N4 + 7) / 8 };
#define FIELD(e, n, c) ((e) * (6 * 8 * STEPS + 8) + (c) * (8 * STEPS) + (n))
#define FLUX(e, j, c) ((e) * (6 * 8 * FACE_STEPS + 8) + (c) * (8 * FACE_STEPS) + (j))
{% else %}
enum { THREADS = ({{ "NP" if of_node else "(NP + I - 1) / I" }} * P + 31) / 32 * 32 };
// An odd distance between nodes, so that nodes of an element are in different banks.
enum { PITCH = 6 * E{{ " + 1" if is_transposed }} };
{% endif %}
{% set from_shared = (fields == "shared" or is_transposed) and "volume" in steps %}
{% set has_fluxes = "lift" in steps %}
{% set result = "e, n, c" if is_transposed else "ELEMENT(w), NODE(w), c" %}
#define EACH(x, n) _Pragma("unroll") for (int x = 0; x < (n); ++x)
#define AT(k, c, n) ({{ at }})

// Loaded at once: what is known of an element or a face, the fields at a node, and entries of a matrix.
struct __align__(16) Four { real x, y, z, w; };
struct __align__({{ 16 if is_double else 8 }}) Numbers { real at[6]; };
{% if vector %}
enum { VECTOR = {{ vector }} };
struct __align__(VECTOR * sizeof(real)) Entries { real at[VECTOR]; };
{% endif %}
{% if of_node %}
// The numbers at a node of the elements that a thread does.
struct __align__({{ 8 if inline % 2 and not is_double else 16 }}) Row { real at[I][6]; };
#define FIELD(e, n, c) ((((e) / I * NP + (n)) * I + (e) % I) * 6 + (c))
#define FLUX(e, j, c) ((((e) / I * N4 + (j)) * I + (e) % I) * 6 + (c))
{% elif not of_tensor %}
#define FIELD(e, n, c) ((n) * PITCH + (c) * E + (e))
#define FLUX(e, j, c) ((j) * PITCH + (c) * E + (e))
{% endif %}
{% if of_tensor %}

// What a lane has of a tile of a matrix, and of one of a field; in float32 high parts, then low ones.
struct __align__(16) Chunk { real at[{{ 2 if is_double else 4 }}]; };
struct OfMatrix { Chunk at[2]; };
struct OfField { real at[{{ 2 if is_double else 4 }}]; };
typedef real Sums[4];

__device__ __forceinline__ void load_matrix(OfMatrix &a, const Chunk *tiles, int number)
{
  EACH(y, 2) a.at[y] = tiles[(2 * number + y) * 32];
}

// Components of a vector along r, s, t.
__device__ __forceinline__ void transform(real *result, int distance, const Four (&g)[3], const real *v, real scale)
{
  result[0] = scale * (g[0].x * v[0] + g[1].x * v[1] + g[2].x * v[2]);
  result[distance] = scale * (g[0].y * v[0] + g[1].y * v[1] + g[2].y * v[2]);
  result[2 * distance] = scale * (g[0].z * v[0] + g[1].z * v[1] + g[2].z * v[2]);
}

{% if is_double %}
__device__ __forceinline__ void load_field(OfField &v, const real *from)
{
  const double2 x = *(const double2 *)from;
  v = {x.x, x.y};
}

// Adds the product of a tile of 16 rows and 8 columns of a matrix, and of one of 8 rows and 8 columns.
__device__ __forceinline__ void multiply_add(Sums &d, const OfMatrix &a, const OfField &b)
{
#if __CUDA_ARCH__ >= 900
  asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 "
      "{ %0, %1, %2, %3}, { %4, %5, %6, %7}, { %8, %9}, { %0, %1, %2, %3};"
      : "+d"(d[0]), "+d"(d[1]), "+d"(d[2]), "+d"(d[3])
      : "d"(a.at[0].at[0]), "d"(a.at[0].at[1]), "d"(a.at[1].at[0]), "d"(a.at[1].at[1]), "d"(b.at[0]), "d"(b.at[1]));
#else
  EACH(y, 2) EACH(w, 2)
    asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 { %0, %1}, { %2}, { %3}, { %0, %1};"
        : "+d"(d[2 * w]), "+d"(d[2 * w + 1]) : "d"(a.at[y].at[w]), "d"(b.at[y]));
#endif
}

// Adds a v - b w.
__device__ __forceinline__ void add_curl(
  Sums &d, const OfMatrix &a, const OfField &v, const OfMatrix &b, const OfField &w)
{
  multiply_add(d, a, v);
  multiply_add(d, b, {-w.at[0], -w.at[1]});
}

__device__ __forceinline__ void add_one(Sums &d, const OfMatrix &a, const OfField &v) { multiply_add(d, a, v); }
{% else %}
__device__ __forceinline__ void load_field(OfField &v, const real *from)
{
  const float2 x = *(const float2 *)from;
  v.at[0] = __uint_as_float(__float_as_uint(x.x) & 0xffffe000);
  v.at[1] = __uint_as_float(__float_as_uint(x.y) & 0xffffe000);
  v.at[2] = x.x - v.at[0], v.at[3] = x.y - v.at[1];
}

// Adds the product of parts of a tile of 16 rows and 8 columns of a matrix, and of one of 8 rows and 8 columns.
__device__ __forceinline__ void of_parts(Sums &d, const OfMatrix &a, int of_a, const OfField &b, int of_b)
{
  const real (&x)[4] = a.at[of_a].at, *y = b.at + 2 * of_b;
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
      "{ %0, %1, %2, %3}, { %4, %5, %6, %7}, { %8, %9}, { %0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(__float_as_uint(x[0])), "r"(__float_as_uint(x[1])), "r"(__float_as_uint(x[2])),
        "r"(__float_as_uint(x[3])), "r"(__float_as_uint(y[0])), "r"(__float_as_uint(y[1])));
}

// Adds a v - b w, small parts first. Tensor cores cut off what a sum has no room for, so sums over many tiles are those
// of threads, which round.
__device__ __forceinline__ void add_curl(
  Sums &d, const OfMatrix &a, const OfField &v, const OfMatrix &b, const OfField &x)
{
  Sums sums = {};
  const OfField w = {-x.at[0], -x.at[1], -x.at[2], -x.at[3]};  // part of the instruction
  of_parts(sums, a, 1, v, 0);
  of_parts(sums, b, 1, w, 0);
  of_parts(sums, a, 0, v, 1);
  of_parts(sums, b, 0, w, 1);
  of_parts(sums, a, 0, v, 0);
  of_parts(sums, b, 0, w, 0);
  EACH(y, 4) d[y] += sums[y];
}

__device__ __forceinline__ void add_one(Sums &d, const OfMatrix &a, const OfField &v)
{
  Sums sums = {};
  of_parts(sums, a, 1, v, 0);
  of_parts(sums, a, 0, v, 1);
  of_parts(sums, a, 0, v, 0);
  EACH(y, 4) d[y] += sums[y];
}
{% endif %}
{% endif %}
{% if incident %}

// The incident wave at a point: amplitude of the phase s = t - direction * x.
__device__ __forceinline__ real amplitude(real s) { return {{ incident.amplitude }}; }
{% endif %}
{% if "flux" in steps %}

// The six numbers by which fields change at node i of face f of element k, before lifting.
__device__ __forceinline__ void numerical_flux(
    real *result, const real *own, const real *q, const Four *faces, const int2 *neighbors, const Four *materials,
    const real *corners, const real *weights, const unsigned char *patterns, int K, int k, int j, real time)
{
  const int f = j / NF, i = j % NF;
  const int2 beyond = neighbors[4 * k + f];
  real d[6];
  real alpha = {{ flux|literal(dtype) }};
{% if materials %}
  const Four material = materials[k];  // 1 / epsilon, 1 / mu, impedance, admittance
  real z2 = material.z, y2 = material.w;
{% endif %}
  const Four face = faces[4 * k + f];
  const real nx = face.x, ny = face.y, nz = face.z, scale = face.w;
  if (beyond.x >= 0) {
    const int n = patterns[beyond.y * NF + i];
    EACH(c, 6) d[c] = q[AT(beyond.x, c, n)] - own[c];
{% if materials %}
    z2 = materials[beyond.x].z, y2 = materials[beyond.x].w;
{% endif %}
  }
{% if 0 in kinds %}
  else if (beyond.x == -1) EACH(c, 3) d[c] = -2 * own[c], d[3 + c] = 0;  // the electric field is mirrored
{% endif %}
{% if incident %}
  else if (beyond.x == -3 || beyond.x == -4) {
    const real along[3] = { {% for x in incident.direction %}{{ x|literal(dtype) }}, {% endfor %} };
    real s = time;
    EACH(c, 3) {
      real x = 0;
      EACH(v, 4) x += weights[v * N4 + j] * corners[12 * k + 3 * v + c];
      s -= x * along[c];
    }
    const real g = amplitude(s);
    const real wave[6] = { {% for x in incident.fields %}g * {{ x|literal(dtype) }}, {% endfor %} };
    if (beyond.x == -3) {
      EACH(c, 6) d[c] = wave[c] - own[c];
      alpha = 1;
    } else {  // a conductor, for the scattered field
      EACH(c, 3) d[c] = -2 * (own[c] + wave[c]), d[3 + c] = 0;
    }
  }
{% endif %}
  else {  // nothing comes in
    EACH(c, 6) d[c] = -own[c];
    alpha = 1;
  }
{% if materials %}
  const real of_e = scale * material.x / (material.z + z2), of_h = scale * material.y / (material.w + y2);
{% else %}
  const real of_e = scale / 2, of_h = of_e, z2 = 1, y2 = 1;
{% endif %}
  const real ne = alpha * (nx * d[0] + ny * d[1] + nz * d[2]), nh = alpha * (nx * d[3] + ny * d[4] + nz * d[5]);
  result[0] = of_e * (z2 * (ny * d[5] - nz * d[4]) + alpha * d[0] - nx * ne);
  result[1] = of_e * (z2 * (nz * d[3] - nx * d[5]) + alpha * d[1] - ny * ne);
  result[2] = of_e * (z2 * (nx * d[4] - ny * d[3]) + alpha * d[2] - nz * ne);
  result[3] = of_h * (y2 * (nz * d[1] - ny * d[2]) + alpha * d[3] - nx * nh);
  result[4] = of_h * (y2 * (nx * d[2] - nz * d[0]) + alpha * d[4] - ny * nh);
  result[5] = of_h * (y2 * (ny * d[0] - nx * d[1]) + alpha * d[5] - nz * nh);
}
{% endif %}

__global__ void __launch_bounds__(THREADS{{ ", %d"|format(blocks) if blocks }}) dg(
    real *out, real *__restrict__ residual, const real *__restrict__ q, const real *added,
    const real *__restrict__ fluxes, const Four *__restrict__ metrics, const Four *__restrict__ faces,
    const int2 *__restrict__ neighbors, const Four *__restrict__ materials, const real *__restrict__ corners,
    const real *__restrict__ matrices, const unsigned char *__restrict__ patterns, const double *__restrict__ clock,
    real a, real b, double c0, int K, int first, int count)
{
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  real *shared = (real *)shared_bytes;
  const int t = threadIdx.x;
  const unsigned char *face_nodes = patterns + 24 * NF;
{% if matrices == "source" %}
  static constexpr real derivative[] = { {{ entries[0] }} }, lift[] = { {{ entries[1] }} };
{% else %}
  const real *derivative = matrices + {{ place[0] }}, *lift = matrices + {{ place[1] }};
{% endif %}
{% set of_derivative, of_lift = place[1] - place[0], place[2] - place[1] %}
{% set n_entries = (of_derivative if "volume" in steps else 0) + (of_lift if "lift" in steps else 0) %}
{% if matrices == "shared" and n_entries %}
  {
    const real *from = {{ "derivative" if "volume" in steps else "lift" }};
    for (int x = t; x < {{ n_entries }}; x += THREADS) shared[x] = from[x];
    derivative = shared;
    lift = shared + {{ of_derivative if "volume" in steps else 0 }};
    shared += {{ n_entries }};
    __syncthreads();
  }
{% endif %}
  const real time = clock[0] + c0 * clock[1], dt = clock[1];
{% if of_tensor %}

  // First tile of nodes and first element of a warp; what a lane has of a tile of eight elements.
  const int across = t % 32 / 4, along = t % 4, tile = t / 32 % WARPS * I, set = t / (32 * WARPS) * 8 * C;
  const int last = TILES - 1 - tile;
  Four *const geometry = (Four *)shared;  // of each element: rows of the cofactors of its metrics, and a scale
  real *const numbers = shared + 12 * E;  // fluxes, then fields, then rates
  const real *const of_fluxes = numbers + FLUX(set + across, 2 * along, 0);
  const real *const of_fields = numbers + FIELD(set + across, 2 * along, 0);
  const Chunk *const of_derivative = (const Chunk *)derivative + tile * STEPS * 6 * 32 + t % 32;
  const Chunk *const of_lift = (const Chunk *)lift + tile * FACE_STEPS * 2 * 32 + t % 32;
  for (int batch = 0; batch < S; ++batch) {
    const int begin = first + (blockIdx.x * S + batch) * E;
    const int left = min(E, first + count - begin);
    if (left <= 0) break;
    if (t < E) {
      const int k = begin + min(t, left - 1);
      const Four g[3] = {metrics[3 * k], metrics[3 * k + 1], metrics[3 * k + 2]};
      EACH(x, 3) {
        const Four a = g[(x + 1) % 3], b = g[(x + 2) % 3];
        geometry[3 * t + x] = {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x, 1};
      }
      const Four c = geometry[3 * t];
      geometry[3 * t].w = 1 / (g[0].x * c.x + g[0].y * c.y + g[0].z * c.z);
{% if materials %}
      geometry[3 * t + 1].w = materials[k].x, geometry[3 * t + 2].w = materials[k].y;
{% endif %}
    }
    Sums sum[I][C][6] = {};
{% if has_fluxes %}
    for (int x = t; x < E * N4; x += THREADS) {
      const int j = x % N4, e = x / N4, k = begin + min(e, left - 1);
      real result[6] = {};
{% if "flux" in steps %}
      const int n = face_nodes[j];
      real own[6];
      EACH(c, 6) own[c] = q[AT(k, c, n)];
      if (e < left)
        numerical_flux(result, own, q, faces, neighbors, materials, corners, matrices + {{ weights }},
                       patterns, K, k, j, time);
{% else %}
      if (e < left) EACH(c, 6) result[c] = fluxes[((size_t)k * 6 + c) * N4 + j];
{% endif %}
      const Four g[3] = {metrics[3 * k], metrics[3 * k + 1], metrics[3 * k + 2]};
      EACH(h, 2) transform(numbers + FLUX(e, j, 3 * h), FLUX(0, 0, 1), g, result + 3 * h, real(1));
    }
{% if 4 * nf % 8 %}
    #pragma unroll 1
    for (int x = t; x < E * 6 * {{ -4 * nf % 8 }}; x += THREADS)
      numbers[FLUX(x / {{ 6 * (-4 * nf % 8) }}, N4 + x % {{ -4 * nf % 8 }}, x / {{ -4 * nf % 8 }} % 6)] = 0;
{% endif %}
    __syncthreads();
    #pragma unroll 1
    for (int step = 0; step < FACE_STEPS; ++step) {
      OfMatrix d[I];
      EACH(w, I) load_matrix(d[w], of_lift, min(w, last) * FACE_STEPS + step);
      // Fluxes have no component across a face, so those along r, s, t need not be lifted from face 1, 2, 3.
      const unsigned is_zero[] = { {% for steps in tangential %}{{ steps }}u, {% endfor %} };
      EACH(c, 3) if (!(is_zero[c] >> step & 1)) EACH(h, 2) EACH(y, C) {
        OfField v;
        load_field(v, of_fluxes + FLUX(8 * y, step * 8, 3 * h + c));
        EACH(w, I) add_one(sum[w][y][3 * h + c], d[w], v);
      }
    }
    __syncthreads();
{% endif %}
{% if "volume" in steps %}
    {{ "__syncthreads();" if not has_fluxes }}
    for (int x = t; x < E * 8 * STEPS; x += THREADS) {
      const int {{ "e = x % E, n = x / E" if interleaved else "n = x % (8 * STEPS), e = x / (8 * STEPS)" }};
      real v[6] = {};
      if (n < NP && e < left) EACH(c, 6) v[c] = q[AT(begin + e, c, n)];
      // Along edges, so that the curl has two derivatives and not six.
      const Four g[3] = {geometry[3 * e], geometry[3 * e + 1], geometry[3 * e + 2]};
      transform(numbers + FIELD(e, n, 0), FIELD(0, 0, 1), g, v + 3, real({{ "g[1].w" if materials else 1 }}));
      transform(numbers + FIELD(e, n, 3), FIELD(0, 0, 1), g, v, real({{ "-g[2].w" if materials else -1 }}));
    }
    __syncthreads();
    #pragma unroll 1
    for (int step = 0; step < STEPS; ++step) {
      OfMatrix d[3][I];
      EACH(x, 3) EACH(w, I) load_matrix(d[x][w], of_derivative, (min(w, last) * STEPS + step) * 3 + x);
      EACH(y, C) EACH(h, 2) {
        OfField v[3];
        EACH(c, 3) load_field(v[c], of_fields + FIELD(8 * y, step * 8, 3 * h + c));
        EACH(c, 3) EACH(w, I)
          add_curl(sum[w][y][3 * h + c], d[(c + 1) % 3][w], v[(c + 2) % 3], d[(c + 2) % 3][w], v[(c + 1) % 3]);
      }
    }
    __syncthreads();
{% endif %}
    EACH(w, I) EACH(x, 4) {
      const int n = (tile + w) * 16 + across + x / 2 * 8, e = set + 2 * along + x % 2;
      if (n < NP) EACH(y, C) EACH(c, 6) numbers[FIELD(e + 8 * y, n, c)] = sum[w][y][c][x];
    }
    __syncthreads();
    for (int x = t; x < E * NP; x += THREADS) {
      const int {{ "e = x % E, n = x / E" if interleaved else "n = x % NP, e = x / NP" }};
      if (e >= left) continue;
      const Four g[3] = {geometry[3 * e], geometry[3 * e + 1], geometry[3 * e + 2]};
      real rate[6], before[6] = {}, now[6] = {};
      EACH(c, 6) {
        const int at = AT(begin + e, c, n);
{% if "stage" in steps %}
        if (a != 0) before[c] = a * residual[at];
        now[c] = q[at];
{% endif %}
        rate[c] = {{ "0" if "volume" in steps else "added[at]" }};
      }
      EACH(h, 2) {
        real f[3];
        EACH(c, 3) f[c] = g[0].w * numbers[FIELD(e, n, 3 * h + c)];
        EACH(c, 3) rate[3 * h + c] += g[c].x * f[0] + g[c].y * f[1] + g[c].z * f[2];
      }
      EACH(c, 6) {
        const int at = AT(begin + e, c, n);
{% if "stage" in steps %}
        residual[at] = before[c] += dt * rate[c];
        out[at] = now[c] + b * before[c];
{% else %}
        out[at] = rate[c];
{% endif %}
      }
    }
    __syncthreads();
  }
{% else %}
  real *const field = shared, *const flux = shared{{ " + PITCH * NP" if from_shared }};
{% if of_node %}
  const bool is_active = t < NP * P;
  const int node = t % NP, set = t / NP;
  #define DERIVATIVE(x, m) ((((x) * ((NP + VECTOR - 1) / VECTOR) + (m) / VECTOR) * NP + node) * VECTOR + (m) % VECTOR)
  #define LIFT(j) (((j) / VECTOR * NP + node) * VECTOR + (j) % VECTOR)
  #define NODE(w) node
  #define ELEMENT(w) (set * I + (w))
{% else %}
  const bool is_active = t < P * ((NP + I - 1) / I);
  const int node = t / P * I, set = t % P;
  #define NODE(w) (node + (w))
  #define ELEMENT(w) set
{% endif %}
  #define SOME_NODE(w) min(NODE(w), NP - 1)
  #define IS_THERE(w) (is_active && ELEMENT(w) < left && NODE(w) < NP)
{% if matrices == "registers" %}
{% if "volume" in steps %}
  real slope[3][NP];
  EACH(x, 3 * NP) slope[x / NP][x % NP] = is_active ? derivative[DERIVATIVE(x / NP, x % NP)] : real(0);
{% endif %}
{% if "lift" in steps %}
  real lifting[N4];
  EACH(j, N4) lifting[j] = is_active ? lift[LIFT(j)] : real(0);
{% endif %}
{% endif %}
  for (int batch = 0; batch < S; ++batch) {
    const int begin = first + (blockIdx.x * S + batch) * E;
    const int left = min(E, first + count - begin);
    if (left <= 0) break;
{% if from_shared and of_node and not interleaved %}
    if (is_active) {
      Row row;
      EACH(w, I) EACH(c, 6) row.at[w][c] = q[AT(begin + min(ELEMENT(w), left - 1), c, node)];
      ((Row *)field)[set * NP + node] = row;
    }
    __syncthreads();
{% elif from_shared %}
    for (int x = t; x < E * 6 * NP; x += THREADS) {
      const int {{ order }};
      field[FIELD(e, n, c)] = e < left ? q[AT(begin + e, c, n)] : real(0);
    }
    __syncthreads();
{% endif %}
{% if "flux" in steps %}
    for (int x = t; x < E * N4; x += THREADS) {
      const int {{ "j = x % N4, e = x / N4" if of_node or is_transposed else "e = x % E, j = x / E" }};
      Numbers own, result = {};
      const int n = face_nodes[j], k = begin + min(e, left - 1);
{% if of_node and from_shared %}
      own = *(const Numbers *)(field + FIELD(e, n, 0));
{% else %}
      EACH(c, 6) own.at[c] = {{ "field[FIELD(e, n, c)]" if from_shared else "q[AT(k, c, n)]" }};
{% endif %}
      if (e < left)
        numerical_flux(result.at, own.at, q, faces, neighbors, materials, corners, matrices + {{ weights }},
                       patterns, K, k, j, time);
{% if of_node and has_fluxes %}
      *(Numbers *)(flux + FLUX(e, j, 0)) = result;
{% else %}
      {{ "" if has_fluxes else "if (e < left) " }}EACH(c, 6)
        {{ "flux[FLUX(e, j, c)]" if has_fluxes else "out[((size_t)k * 6 + c) * N4 + j]" }} = result.at[c];
{% endif %}
    }
{% elif has_fluxes %}
    for (int x = t; x < E * 6 * N4; x += THREADS) {
      const int j = x % N4, c = x / N4 % 6, e = x / (N4 * 6);
      flux[FLUX(e, j, c)] = e < left ? fluxes[((size_t)(begin + e) * 6 + c) * N4 + j] : real(0);
    }
{% endif %}
{% if "volume" in steps or "lift" in steps or "stage" in steps %}
    real sum[I][6];
    EACH(w, I) EACH(c, 6) sum[w][c] =
      {{ "0" if "volume" in steps else "IS_THERE(w) ? added[AT(begin + ELEMENT(w), c, NODE(w))] : real(0)" }};
{% endif %}
{% if "volume" in steps %}
    if (is_active) {
      real r[I][6] = {}, s[I][6] = {}, u[I][6] = {};
{% if not from_shared %}
      const real *source[{{ inline if of_node else 1 }}];
      EACH(w, {{ inline if of_node else 1 }}) source[w] = q + AT(begin + min(ELEMENT(w), left - 1), 0, 0);
{% endif %}
{% if of_node %}
      #define ENTRY(x) {{ "slope[x][m0 + y]" if matrices == "registers" else "d[x].at[y]" }}
      const auto add_products = [&](int m0, int count) {
{% if matrices != "registers" %}
        Entries d[3];
        EACH(x, 3) d[x] = *(const Entries *)(derivative + DERIVATIVE(x, m0));
{% endif %}
        EACH(y, VECTOR) if (y < count) {
{% if from_shared %}
          const Row v = ((const Row *)field)[set * NP + m0 + y];
{% else %}
          Row v;
          EACH(w, I) EACH(c, 6) v.at[w][c] = source[w][AT(0, c, m0 + y)];
{% endif %}
          EACH(w, I) EACH(c, 6) {
            r[w][c] += ENTRY(0) * v.at[w][c];
            s[w][c] += ENTRY(1) * v.at[w][c];
            u[w][c] += ENTRY(2) * v.at[w][c];
          }
        }
      };
      #pragma unroll {{ [unroll // vector, 1]|max }}
      for (int m0 = 0; m0 < NP / VECTOR * VECTOR; m0 += VECTOR) add_products(m0, VECTOR);
      {{ "add_products(NP / VECTOR * VECTOR, NP % VECTOR);" if np % vector }}
{% else %}
      #pragma unroll {{ unroll }}
      for (int m = 0; m < NP; ++m) {
        real d[I][3], v[6];
{% if vector %}
        EACH(x, 3) EACH(w, I) {
          const Entries &some = ((const Entries *)(derivative + (x * NP + m) * PADDED + node))[w / VECTOR];
          d[w][x] = some.at[w % VECTOR];
        }
{% else %}
        EACH(x, 3) EACH(w, I) d[w][x] = derivative[(x * NP + m) * PADDED + SOME_NODE(w)];
{% endif %}
        EACH(c, 6) v[c] = {{ "field[FIELD(set, m, c)]" if from_shared else "source[0][AT(0, c, m)]" }};
        EACH(w, I) EACH(c, 6) {
          r[w][c] += d[w][0] * v[c];
          s[w][c] += d[w][1] * v[c];
          u[w][c] += d[w][2] * v[c];
        }
      }
{% endif %}
      EACH(w, I) {
        const int k = begin + min(ELEMENT(w), left - 1);
        const Four g[3] = {metrics[3 * k], metrics[3 * k + 1], metrics[3 * k + 2]};
        #define SLOPE(along, c) (g[along].x * r[w][c] + g[along].y * s[w][c] + g[along].z * u[w][c])
{% if materials %}
        const real of_e = materials[k].x, of_h = materials[k].y;
{% else %}
        const real of_e = 1, of_h = 1;
{% endif %}
        sum[w][0] = of_e * (SLOPE(1, 5) - SLOPE(2, 4));
        sum[w][1] = of_e * (SLOPE(2, 3) - SLOPE(0, 5));
        sum[w][2] = of_e * (SLOPE(0, 4) - SLOPE(1, 3));
        sum[w][3] = of_h * (SLOPE(2, 1) - SLOPE(1, 2));
        sum[w][4] = of_h * (SLOPE(0, 2) - SLOPE(2, 0));
        sum[w][5] = of_h * (SLOPE(1, 0) - SLOPE(0, 1));
      }
    }
{% endif %}
{% if has_fluxes %}
    __syncthreads();
    if (is_active) {
{% if of_node %}
      #pragma unroll {{ 4 * nf if matrices == "registers" else [unroll // vector, 1]|max }}
      for (int j0 = 0; j0 < N4; j0 += VECTOR) {
{% if matrices != "registers" %}
        const Entries d = *(const Entries *)(lift + LIFT(j0));
{% endif %}
        EACH(y, VECTOR) {
          const Row v = ((const Row *)flux)[set * N4 + j0 + y];
          EACH(w, I) EACH(c, 6)
            sum[w][c] += {{ "lifting[j0 + y]" if matrices == "registers" else "d.at[y]" }} * v.at[w][c];
        }
      }
{% else %}
      #pragma unroll {{ 4 * nf if matrices == "source" else unroll }}
      for (int j = 0; j < N4; ++j) {
        real d[I], v[6];
{% if vector %}
        EACH(w, I) d[w] = ((const Entries *)(lift + j * PADDED + node))[w / VECTOR].at[w % VECTOR];
{% else %}
        EACH(w, I) d[w] = lift[j * PADDED + SOME_NODE(w)];
{% endif %}
        EACH(c, 6) v[c] = flux[FLUX(set, j, c)];
        EACH(w, I) EACH(c, 6) sum[w][c] += d[w] * v[c];
      }
{% endif %}
    }
{% endif %}
{% if is_transposed %}
    // Sums take the place of fluxes, or else of fields, when all threads have read these.
{% if has_fluxes %}
    static_assert(NP <= N4, "sums have no room");
{% endif %}
    real *const sums = {{ "flux" if has_fluxes else "field" }};
    __syncthreads();
    EACH(w, I) if (IS_THERE(w)) EACH(c, 6) sums[FIELD(ELEMENT(w), NODE(w), c)] = sum[w][c];
    __syncthreads();
    for (int x = t; x < E * 6 * NP; x += THREADS) {
      const int {{ order }};
      if (e >= left) continue;
      const int at = AT(begin + e, c, n);
      const real rate = sums[FIELD({{ result }})];
{% elif "volume" in steps or "lift" in steps or "stage" in steps %}
    EACH(w, I) if (IS_THERE(w)) EACH(c, 6) {
      const int at = AT(begin + ELEMENT(w), c, NODE(w));
      const real rate = sum[w][c];
{% endif %}
{% if "volume" in steps or "lift" in steps or "stage" in steps %}
{% if "stage" in steps %}
      const real change = (a == 0 ? real(0) : a * residual[at]) + dt * rate;
      residual[at] = change;
      out[at] = {{ "field[FIELD(%s)]"|format(result) if from_shared else "q[at]" }} + b * change;
{% else %}
      out[at] = rate;
{% endif %}
    }
{% endif %}
    __syncthreads();
  }
{% endif %}
}
"""

_TEMPLATE = template.Template(TEXT, name="dg.cu")


@dataclasses.dataclass(frozen=True)
class Layout:
    """Where field c of node n of element k is, in storage for a number of elements.

    element        k, c, n
    field          c, k, n
    interleaved8   k / 8, c, n, k % 8; also 16, 32
    microblock     elements of a block, padded so that it begins at a multiple of 32 numbers: k / M, c, (k % M, n)
    """

    name: str
    n_nodes: int
    elements: int = dataclasses.field(compare=False)

    def __post_init__(self):
        if self.name not in LAYOUTS:
            raise ValueError(f"layout is {self.name!r}; expected one of {', '.join(LAYOUTS)}")

    @property
    def interleaved(self):
        return int(self.name.removeprefix("interleaved")) if self.name.startswith("interleaved") else 0

    @property
    def block(self):
        """Elements whose numbers are together."""
        if self.name == "microblock":
            return min(m for m in range(1, 33) if -(-m * self.n_nodes // 32) * 32 <= 1.05 * m * self.n_nodes)
        return self.interleaved or 1

    @property
    def stride(self):
        """From one field of a block to the next."""
        return -(-self.block * self.n_nodes // 32) * 32 if self.name == "microblock" else self.block * self.n_nodes

    @property
    def order(self):
        """Field, node and element of number `x` of a batch, in the order of memory."""
        if self.name == "field":
            return "n = x % NP, e = x / NP % E, c = x / (NP * E)"
        if self.interleaved:
            return "e = x % E, n = x / E % NP, c = x / (NP * E)"
        return "n = x % NP, c = x / NP % 6, e = x / (NP * 6)"

    @property
    def blocks(self):
        return -(-self.elements // self.block)

    @property
    def size(self):
        """Numbers of all fields."""
        return 6 * self.elements * self.n_nodes if self.name == "field" else 6 * self.blocks * self.stride

    @property
    def at(self):
        """The place as an expression of C."""
        if self.name == "field":
            return "((c) * K + (k)) * NP + (n)"
        if self.interleaved:
            return f"(((k) / {self.block} * 6 + (c)) * NP + (n)) * {self.block} + (k) % {self.block}"
        if self.block == 1:
            return f"((k) * 6 + (c)) * {self.stride} + (n)"
        return f"((k) / {self.block} * 6 + (c)) * {self.stride} + (k) % {self.block} * NP + (n)"

    def store(self, fields, xp):
        """An array of this layout from one (6, elements, n_nodes); of `xp`, NumPy or rtcg.numpy."""
        if self.name == "field":
            return fields.reshape(-1)
        missing = self.blocks * self.block - self.elements
        if missing:
            fields = xp.concatenate([fields, xp.zeros((6, missing, self.n_nodes), fields.dtype)], axis=1)
        fields = fields.reshape(6, self.blocks, self.block, self.n_nodes)
        if self.interleaved:
            return fields.transpose(1, 0, 3, 2).reshape(-1)
        stored = xp.zeros((self.blocks, 6, self.stride), fields.dtype)
        stored[:, :, : self.block * self.n_nodes] = fields.reshape(6, self.blocks, -1).transpose(1, 0, 2)
        return stored.reshape(-1)

    def fields(self, stored, xp):
        """The inverse of `store`."""
        if self.name == "field":
            return stored.reshape(6, self.elements, self.n_nodes)
        if self.interleaved:
            fields = stored.reshape(self.blocks, 6, self.n_nodes, self.block).transpose(1, 0, 3, 2)
        else:
            fields = stored.reshape(self.blocks, 6, self.stride)[:, :, : self.block * self.n_nodes].transpose(1, 0, 2)
        fields = fields.reshape(6, self.blocks * self.block, self.n_nodes)
        return fields[:, : self.elements]


def padded_length(nodes):
    """Entries of a row of a matrix for threads of elements: a multiple of eight, so that vectors are aligned."""
    return nodes + -nodes % 8


def _entries_at_once(itemsize):
    """Entries of a matrix in 16 bytes."""
    return 16 // itemsize


def _padded(matrix):
    """A matrix (..., nodes) with zeros up to `padded_length`."""
    nodes = matrix.shape[-1]
    return np.pad(matrix, [(0, 0)] * (matrix.ndim - 1) + [(0, padded_length(nodes) - nodes)])


def _by_node(matrix, count):
    """A matrix (..., columns, nodes) in which `count` consecutive columns of a node are together."""
    *others, columns, nodes = matrix.shape
    matrix = np.pad(matrix, [(0, 0)] * len(others) + [(0, -columns % count), (0, 0)])
    return np.moveaxis(matrix.reshape(*others, -1, count, nodes), -2, -1)


def _tf32(numbers):
    """The nearest numbers of TF32."""
    bits = numbers.astype(np.float32).view(np.uint32)
    return ((bits + 0x1000) & 0xFFFFE000).astype(np.uint32).view(np.float32).astype(np.float64)


def _tiles(matrices, itemsize):
    """Matrices (count, nodes, columns) as the 32 lanes of tensor cores have tiles of 16 nodes and 8 columns.

    A lane has nodes g and g + 8, and columns 2 t and 2 t + 1, where g = lane / 4 and t = lane % 4; in float32 first
    high parts in TF32, then low ones. 16 bytes of each lane are together.
    """
    count, nodes, columns = matrices.shape
    parts = np.pad(matrices, [(0, 0), (0, -nodes % 16), (0, -columns % 8)])
    parts = parts.reshape(count, -(-nodes // 16), 2, 8, -(-columns // 8), 4, 2)  # matrix, tile, half, g, step, t, y
    if itemsize == 8:
        return parts.transpose(1, 4, 0, 6, 3, 5, 2)
    high = _tf32(parts)
    return np.stack([high, _tf32(parts - high)]).transpose(2, 5, 1, 0, 4, 6, 7, 3)


def _tangential(element):
    """For r, s, t the steps of eight nodes that are all on face 1, 2, 3, as bits."""
    face = np.pad(np.repeat(np.arange(4), element.n_face_nodes), (0, -4 * element.n_face_nodes % 8), mode="edge")
    same = face.reshape(-1, 8)
    return [sum(1 << int(n) for n in np.flatnonzero((same == f).all(axis=1))) for f in (1, 2, 3)]


def matrices(element, itemsize):
    """What kernels read of an element: parts of a buffer, and the place of each with the end.

    0 and 1 are derivatives and lift for threads of elements, 2 and 3 for threads of nodes, 4 barycentric coordinates of
    nodes on faces, 5 and 6 derivatives and lift for tensor cores.
    """
    derivatives, lift, count = element.derivatives.transpose(0, 2, 1), element.lift.T, _entries_at_once(itemsize)
    weights = element.nodes[element.face_nodes.ravel()].T
    parts = _padded(derivatives), _padded(lift), _by_node(derivatives, count), _by_node(lift, count), weights
    parts += _tiles(element.derivatives, itemsize), _tiles(element.lift[None], itemsize)
    return parts, np.cumsum([0, *(part.size for part in parts)]).tolist()


def source(problem, steps, **config):
    """The source of the kernel that does some of the steps of a `Problem`."""
    element, layout, itemsize = problem.element, problem.layout, problem.dtype.itemsize
    parts, places = matrices(element, itemsize)
    inline, lanes = config["inline"], config["lanes"]
    # Threads of elements load entries of consecutive nodes in vectors of at most 16 bytes.
    is_loaded = lanes == "element" and config["matrices"] in ("global", "shared")
    widths = [v for v in (4, 2) if v <= _entries_at_once(itemsize) and is_loaded and inline % v == 0]
    return _TEMPLATE.render(
        entries=[", ".join(map(repr, m.ravel().tolist())) for m in parts[:2] if config["matrices"] == "source"],
        steps=steps.split(), real="double" if itemsize == 8 else "float", dtype=str(problem.dtype),
        np=element.n_nodes, nf=element.n_face_nodes, padded=padded_length(element.n_nodes),
        place=places[{"element": 0, "node": 2, "tensor": 5}[lanes] :], weights=places[4],
        tangential=_tangential(element),
        vector=_entries_at_once(itemsize) if lanes == "node" else max(widths, default=0),
        interleaved=layout.interleaved, at=layout.at, order=layout.order, flux=problem.flux,
        materials=problem.has_materials, kinds=list(problem.kinds), incident=problem.incident, **config,
    )  # fmt: skip


def _parallel(nodes):
    """Numbers of sets of threads: those that leave at most a twentieth of the lanes idle, and some round ones."""
    padding = {p: -(-p * nodes // 32) * 32 / (p * nodes) for p in range(1, 33) if p * nodes <= 512}
    found = {p for p, waste in padding.items() if waste <= 1.05 or p in (1, 2, 4)} | {8, 16, 32, 128}
    return sorted(found, key=lambda p: abs(p * nodes - 128))


def _inline(nodes, by_element, itemsize):
    """Elements (or nodes) that a thread does at once.

    The registers of five nodes pay from 35 nodes on (H100); in float64 the sums of five need more than there are.
    """
    counts = [1, 2, 3, 4] + [nodes] * (nodes <= 10) + [5, 7, 8]
    if by_element:
        counts = [5 if nodes >= 35 and itemsize == 4 else 2, *counts]
    return list(dict.fromkeys(n for n in counts if n <= nodes))


@functools.cache
def kernel(problem, steps):
    """The tuned kernel that does some steps; the first values of its space are the default."""
    nodes, n4, words = problem.element.n_nodes, 4 * problem.element.n_face_nodes, steps.split()
    has_volume, has_lift = "volume" in words, "lift" in words
    products = has_volume or has_lift
    # Where elements are interleaved, consecutive threads read consecutive elements.
    interleaved = problem.layout.interleaved > 0
    by_element = products and interleaved
    of_tensor = ["tensor"] * (products and problem.has_tensor_cores)
    parameters = {
        "lanes": ["element", "node", *of_tensor]
        if by_element
        else ["node", "element", *of_tensor]
        if products or interleaved
        else ["node"],
        "parallel": sorted(_parallel(nodes), key=(32).__ne__) if by_element else _parallel(nodes),
        "inline": _inline(nodes, by_element, problem.dtype.itemsize) if products else [1],
        "serial": [1, 2, 4, 8],
        "matrices": ["global", "shared", "registers", "source"][: 4 if nodes <= 10 else 3 if nodes <= 20 else 2]
        if products
        else ["global"],
        "fields": ["shared"] if not has_volume else ["global", "shared"] if interleaved else ["shared", "global"],
        "unroll": list(dict.fromkeys([2, 4, 8] + [nodes] * (nodes <= 35))) if products else [1],
        "blocks": [0, 2, 4, 8],
        "columns": [1, 2] if of_tensor else [1],
    }
    tiles, row = -(-nodes // 16), 8 * -(-max(nodes, n4 * has_lift) // 8)
    batch = "(parallel * (inline if lanes == 'node' else 8 * columns if lanes == 'tensor' else 1))"
    of_set = f"({nodes} if lanes == 'node' else ceil_div({nodes}, inline))"
    threads = (f"(32 * (parallel * ceil_div({tiles}, inline) if lanes == 'tensor' else "
               f"ceil_div({of_set} * parallel, 32)))")  # fmt: skip
    transposed = "" if interleaved else " or lanes == 'element'"
    count = _entries_at_once(problem.dtype.itemsize)
    rows_of = {"node": (-(-nodes // count) * count, nodes), "element": (nodes, padded_length(nodes))}
    of_node, of_other = (length * (3 * columns * has_volume + n4 * has_lift) for columns, length in rows_of.values())
    entries = f"({of_node} if lanes == 'node' else {of_other})"
    of_batch = (f"({batch} * 6 + {int(not interleaved)} * (lanes == 'element')) * "
                f"({nodes * has_volume} * (fields == 'shared'{transposed}) + {n4 * has_lift})")  # fmt: skip
    numbers = (f"({batch} * {6 * row + 20} if lanes == 'tensor' else "
               f"{entries} * (matrices == 'shared') + {of_batch})")  # fmt: skip
    space = tune.Space(**parameters).require(
        f"{threads} <= 512", f"{threads} * max(1, blocks) <= 2048",
        f"{numbers} * {problem.dtype.itemsize} <= {problem.max_shared}",
        f"matrices != 'registers' or (lanes == 'node' and unroll == {nodes})",
        f"matrices != 'source' or (lanes == 'element' and inline == {nodes} and unroll == {nodes})",
        f"lanes != 'element' or (parallel >= 8 and inline <= {nodes})",
        f"lanes != 'element' or {by_element or not has_volume} or fields == 'shared'", "lanes != 'node' or inline <= 4",
        f"lanes != 'tensor' or (parallel <= 8 and inline * columns <= 4 and inline <= {tiles} and unroll == 2)",
        "lanes == 'tensor' or columns == 1",
        "lanes != 'tensor' or (matrices == 'global' and fields == 'shared')",
    )  # fmt: skip
    return tune.Kernel(
        functools.partial(source, problem, steps), "dg", space, block=threads,
        grid=f"ceil_div(count, {batch} * serial)", shared=f"{numbers} * {problem.dtype.itemsize}",
    )  # fmt: skip
