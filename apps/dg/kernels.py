"""CUDA C of a right-hand side of Maxwell's equations and of a Runge-Kutta stage, and the space of its variants.

One template makes every kernel. A kernel does some of the steps: `volume` (derivatives of fields, curls), `flux` (jumps
at faces), `lift` (face values to nodes), `stage` (the Runge-Kutta update). All are in one kernel, or in two to four:

1   volume flux lift stage
2   volume | flux lift stage
3   volume | flux | lift stage
4   volume | flux | lift | stage

Between kernels the right-hand side and the fluxes go through memory. A block takes `serial` batches one by one. A batch
has `parallel` sets of threads. With lanes="node" consecutive threads are nodes of an element, and a thread does `nodes`
nodes of `inline` elements: entries of matrices and numbers of elements are loaded once for all of them.

With lanes="tensor" (compute capability 8.0) tensor cores do the products: a warp has sums of `inline` tiles of sixteen
nodes by `columns` tiles of eight elements, all at once. Matrices are in the order in which lanes have their tiles. A
number of float32 is the sum of two of TF32, and three of the four products of such sums are enough for the precision
of float32.

Fields are taken along the edges of an element (covariant components), and the curl comes
across its faces (contravariant ones): 12 products with derivatives and not 18, six sums and not 18, and fluxes, which
are tangential, have no component across the three faces that belong to a coordinate. Fluxes, and then fields, are in
the same shared memory.
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
LAYOUTS = ("microblock", "element", "interleaved8", "interleaved16", "interleaved32", "field")

TEXT = """
typedef {{ real }} real;
enum { NP = {{ np }}, NF = {{ nf }}, N4 = 4 * NF };
{% set of_tensor, is_double = lanes == "tensor", real == "double" %}
{% set has_fluxes, has_products = "lift" in steps, "volume" in steps or "lift" in steps %}
enum { P = {{ parallel }}, I = {{ inline }}, S = {{ serial }} };
enum { E = P * {{ "8 * %d"|format(columns) if of_tensor else "I" }} };
{% if of_tensor %}
// Tiles of eight elements of a warp; tiles of sixteen nodes, warps that share them; nodes of a field and of all faces
// in whole steps of eight. The distance between elements is eight numbers more than a multiple of sixteen, so that
// loads have no bank conflicts.
enum { C = {{ columns }}, TILES = (NP + 15) / 16, WARPS = (TILES + I - 1) / I, THREADS = 32 * P * WARPS };
enum { STEPS = (NP + 7) / 8, FACE_STEPS = (N4 + 7) / 8 };
#define FIELD(e, n, c) ((e) * (6 * 8 * STEPS + 8) + (c) * (8 * STEPS) + (n))
#define FLUX(e, j, c) ((e) * (6 * 8 * FACE_STEPS + 8) + (c) * (8 * FACE_STEPS) + (j))
{% else %}
// Nodes of a thread, threads for an element. The numbers of elements that a thread does are together.
enum { J = {{ nodes }}, NODES = (NP + J - 1) / J, THREADS = (NODES * P + 31) / 32 * 32, ROW = 6 * I };
enum { FIELDS = {{ fields_of_set }}, FLUXES = {{ fluxes_of_set }} };
#define FIELD(e, n, c) ((e) / I * FIELDS + (n) * ROW + (e) % I * 6 + (c) % 3 * 2 + (c) / 3)
#define FLUX(e, j, c) ((e) / I * FLUXES + (j) * ROW + (e) % I * 6 + (c) % 3 * 2 + (c) / 3)
{% endif %}
#define EACH(x, n) _Pragma("unroll") for (int x = 0; x < (n); ++x)
#define AT(k, c, n) ({{ at }})

// Loaded at once: what is known of an element or a face, and for threads of nodes the numbers at a node of one element
// and of all that a thread does, and entries of a matrix.
struct __align__(16) Four { real x, y, z, w; };
{% if not of_tensor %}
enum { VECTOR = {{ vector }} };
struct __align__(VECTOR * sizeof(real)) Entries { real at[VECTOR]; };
struct __align__({{ 16 if is_double else 8 }}) Numbers { real at[6]; };
struct __align__({{ 8 if inline % 2 and not is_double else 16 }}) Row { real at[I][3][2]; };
{% endif %}
{% if has_products %}

// Components of a vector along r, s, t.
__device__ __forceinline__ void transform(real *result, const Four (&g)[3], const real *v, real scale)
{
  result[0] = scale * (g[0].x * v[0] + g[1].x * v[1] + g[2].x * v[2]);
  result[1] = scale * (g[0].y * v[0] + g[1].y * v[1] + g[2].y * v[2]);
  result[2] = scale * (g[0].z * v[0] + g[1].z * v[1] + g[2].z * v[2]);
}

// Stores two vectors, where components have a distance.
__device__ __forceinline__ void put(real *to, int distance, const real (&v)[6])
{
{% if not of_tensor %}
  Numbers pairs;
  EACH(c, 6) pairs.at[c % 3 * 2 + c / 3] = v[c];
  *(Numbers *)to = pairs;
{% else %}
  EACH(c, 6) to[c * distance] = v[c];
{% endif %}
}
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
  // Beyond a boundary the element itself is read, so that loads need no branch.
  const bool is_inside = beyond.x >= 0;
  const int other = is_inside ? beyond.x : k, n = patterns[is_inside ? beyond.y * NF + i : 24 * NF + j];
  const Four face = faces[4 * k + f];
  const real nx = face.x, ny = face.y, nz = face.z, scale = face.w;
  real alpha = {{ flux|literal(dtype) }}, d[6];
{% if materials %}
  const Four material = materials[k], beside = materials[other];  // 1 / epsilon, 1 / mu, impedance, admittance
  const real z2 = beside.z, y2 = beside.w;
{% endif %}
  EACH(c, 6) d[c] = q[AT(other, c, n)] - own[c];
{% if 0 in kinds %}
  if (beyond.x == -1) EACH(c, 3) d[c] = -2 * own[c];  // the electric field is mirrored
{% endif %}
{% if incident %}
  if (beyond.x == -3 || beyond.x == -4) {
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
      EACH(c, 3) d[c] = -2 * (own[c] + wave[c]);
    }
  }
{% endif %}
  if (beyond.x == -2) {  // nothing comes in
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
  const real *derivative = matrices + {{ place[0] }}, *lift = matrices + {{ place[1] }};
{% if matrices == "shared" %}
  {
{% set copied, end = place[0 if "volume" in steps else 1], place[2 if has_fluxes else 1] %}
    const int4 *from = (const int4 *)(matrices + {{ copied }});
    for (int x = t; x < {{ end - copied }} * sizeof(real) / sizeof(int4); x += THREADS) ((int4 *)shared)[x] = from[x];
    derivative = shared;
    lift = shared + {{ place[1] - copied }};
    shared += {{ end - copied }};
    __syncthreads();
  }
{% endif %}
  const real time = clock[0] + c0 * clock[1], dt = clock[1];
{% if has_products %}
  Four *const geometry = (Four *)shared;  // of each element: rows of the cofactors of its metrics, and a scale
  real *const numbers = shared + 12 * E;  // fluxes, then fields
{% if of_tensor %}
  // First tile of nodes and first element of a warp; what a lane has of a tile of eight elements.
  const int across = t % 32 / 4, along = t % 4, tile = t / 32 % WARPS * I, set = t / (32 * WARPS) * 8 * C;
  const int last = TILES - 1 - tile;
  const real *const of_fluxes = numbers + FLUX(set + across, 2 * along, 0);
  const real *const of_fields = numbers + FIELD(set + across, 2 * along, 0);
  const Chunk *const of_derivative = (const Chunk *)derivative + tile * STEPS * 6 * 32 + t % 32;
  const Chunk *const of_lift = (const Chunk *)lift + tile * FACE_STEPS * 2 * 32 + t % 32;
{% else %}
  const bool is_active = t < NODES * P;
  const int node = t % NODES, set = t / NODES;
  #define NODE(v) (node + (v) * NODES)
  #define SOME_NODE(v) min(NODE(v), NP - 1)
  // Entries for VECTOR columns of a node.
  #define DERIVATIVE(x, m, v) \
    ((const Entries *)derivative)[((x) * ((NP + VECTOR - 1) / VECTOR) + (m) / VECTOR) * NP + SOME_NODE(v)]
  #define LIFT(f, j, v) ((const Entries *)lift)[((f) * ((NF + VECTOR - 1) / VECTOR) + (j) / VECTOR) * NP + SOME_NODE(v)]
{% endif %}
  for (int batch = 0; batch < S; ++batch) {
    const int begin = first + (blockIdx.x * S + batch) * E;
    const int left = min(E, first + count - begin);
    if (left <= 0) break;
    for (int e = t; e < E; e += THREADS) {
      const int k = begin + min(e, left - 1);
      const Four g[3] = {metrics[3 * k], metrics[3 * k + 1], metrics[3 * k + 2]};
      EACH(x, 3) {
        const Four a = g[(x + 1) % 3], b = g[(x + 2) % 3];
        geometry[3 * e + x] = {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x, 1};
      }
      const Four c = geometry[3 * e];
      geometry[3 * e].w = 1 / (g[0].x * c.x + g[0].y * c.y + g[0].z * c.z);
{% if materials %}
      geometry[3 * e + 1].w = materials[k].x, geometry[3 * e + 2].w = materials[k].y;
{% endif %}
    }
{% if of_tensor %}
    Sums sum[I][C][6] = {};
{% else %}
    real sum[J][I][6] = {};
{% endif %}
{% if has_fluxes %}
    #pragma unroll 2
    for (int x = t; x < E * N4; x += THREADS) {
      const int j = x % N4, e = x / N4, k = begin + min(e, left - 1);
      real result[6], along_edges[6];
{% if "flux" in steps %}
      const int n = face_nodes[j];
      real own[6];
      EACH(c, 6) own[c] = q[AT(k, c, n)];
      numerical_flux(result, own, q, faces, neighbors, materials, corners, matrices + {{ weights }}, patterns, K, k, j,
                     time);
{% else %}
      EACH(c, 6) result[c] = fluxes[((size_t)k * 6 + c) * N4 + j];
{% endif %}
      const Four g[3] = {metrics[3 * k], metrics[3 * k + 1], metrics[3 * k + 2]};
      EACH(h, 2) transform(along_edges + 3 * h, g, result + 3 * h, real(1));
      put(numbers + FLUX(e, j, 0), FLUX(0, 0, 1), along_edges);
    }
{% if of_tensor and 4 * nf % 8 %}
    #pragma unroll 1
    for (int x = t; x < E * 6 * {{ -4 * nf % 8 }}; x += THREADS)
      numbers[FLUX(x / {{ 6 * (-4 * nf % 8) }}, N4 + x % {{ -4 * nf % 8 }}, x / {{ -4 * nf % 8 }} % 6)] = 0;
{% endif %}
    __syncthreads();
    // Fluxes have no component across a face, so those along r, s, t need not be lifted from face 1, 2, 3.
{% if of_tensor %}
    #pragma unroll 1
    for (int step = 0; step < FACE_STEPS; ++step) {
      OfMatrix d[I];
      EACH(w, I) load_matrix(d[w], of_lift, min(w, last) * FACE_STEPS + step);
      const unsigned is_zero[] = { {% for steps in tangential %}{{ steps }}u, {% endfor %} };
      EACH(c, 3) if (!(is_zero[c] >> step & 1)) EACH(h, 2) EACH(y, C) {
        OfField v;
        load_field(v, of_fluxes + FLUX(8 * y, step * 8, 3 * h + c));
        EACH(w, I) add_one(sum[w][y][3 * h + c], d[w], v);
      }
    }
{% else %}
    if (is_active) EACH(f, 4) {
      const auto add_products = [&](int j0, int count) {
        Entries d[J];
        EACH(v, J) d[v] = LIFT(f, j0, v);
        EACH(y, VECTOR) if (y < count) {
          const Row row = *(const Row *)(numbers + FLUX(set * I, f * NF + j0 + y, 0));
          EACH(c, 3) if (c + 1 != f) EACH(h, 2) EACH(v, J) EACH(w, I)
            sum[v][w][3 * h + c] += d[v].at[y] * row.at[w][c][h];
        }
      };
      #pragma unroll {{ [unroll // vector, 1]|max }}
      for (int j0 = 0; j0 < NF / VECTOR * VECTOR; j0 += VECTOR) add_products(j0, VECTOR);
      if (NF % VECTOR) add_products(NF / VECTOR * VECTOR, NF % VECTOR);
    }
{% endif %}
    __syncthreads();
{% endif %}
{% if "volume" in steps %}
    {{ "__syncthreads();" if not has_fluxes }}
    enum { WIDTH = {{ "8 * STEPS" if of_tensor else "NP" }} };
    #pragma unroll 2
    for (int x = t; x < E * WIDTH; x += THREADS) {
      const int {{ "e = x % E, n = x / E" if interleaved else "n = x % WIDTH, e = x / WIDTH" }};
      real v[6], along_edges[6];
      EACH(c, 6) v[c] = {{ "n >= NP ? real(0) :" if of_tensor }} q[AT(begin + min(e, left - 1), c, n)];
      // Along edges, so that the curl has two derivatives and not six.
      const Four g[3] = {geometry[3 * e], geometry[3 * e + 1], geometry[3 * e + 2]};
      transform(along_edges, g, v + 3, real({{ "g[1].w" if materials else 1 }}));
      transform(along_edges + 3, g, v, real({{ "-g[2].w" if materials else -1 }}));
      put(numbers + FIELD(e, n, 0), FIELD(0, 0, 1), along_edges);
    }
    __syncthreads();
{% if of_tensor %}
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
{% else %}
    if (is_active) {
      const auto add_products = [&](int m0, int count) {
        Entries d[3][J];
        EACH(x, 3) EACH(v, J) d[x][v] = DERIVATIVE(x, m0, v);
        EACH(y, VECTOR) if (y < count) {
          const Row row = *(const Row *)(numbers + FIELD(set * I, m0 + y, 0));
          EACH(v, J) EACH(w, I) EACH(h, 2) EACH(c, 3) {
            real &s = sum[v][w][3 * h + c];
            s += d[(c + 1) % 3][v].at[y] * row.at[w][(c + 2) % 3][h];
            s -= d[(c + 2) % 3][v].at[y] * row.at[w][(c + 1) % 3][h];
          }
        }
      };
      #pragma unroll {{ [unroll // vector, 1]|max }}
      for (int m0 = 0; m0 < NP / VECTOR * VECTOR; m0 += VECTOR) add_products(m0, VECTOR);
      if (NP % VECTOR) add_products(NP / VECTOR * VECTOR, NP % VECTOR);
    }
{% endif %}
{% endif %}
    // Loads of all results of a thread come before stores, which the compiler can't tell from loads of the next one.
    struct Result { int e, n; bool is_there; real before[6], now[6]; };
    const auto start = [&](Result &result, int e, int n, bool is_there) {
      result = {e, n, is_there && e < left && n < NP};
      if (result.is_there) EACH(c, 6) {
        const int at = AT(begin + e, c, n);
{% if "stage" in steps %}
        if (a != 0) result.before[c] = a * residual[at];
        result.now[c] = q[at];
{% endif %}
        {{ "result.before[c] += dt * added[at];" if "volume" not in steps and "stage" in steps else
           "result.before[c] = added[at];" if "volume" not in steps }}
      }
    };
    const auto finish = [&](const Result &result, const real (&sums)[6]) {
      if (!result.is_there) return;
      const int e = result.e;
      const Four g[3] = {geometry[3 * e], geometry[3 * e + 1], geometry[3 * e + 2]};
      real rate[6];
      EACH(h, 2) {
        real f[3];
        EACH(c, 3) f[c] = g[0].w * sums[3 * h + c];
        EACH(c, 3) rate[3 * h + c] = g[c].x * f[0] + g[c].y * f[1] + g[c].z * f[2];
      }
      EACH(c, 6) {
        const int at = AT(begin + e, c, result.n);
{% if "stage" in steps %}
        const real change = result.before[c] + dt * rate[c];
        residual[at] = change;
        out[at] = result.now[c] + b * change;
{% else %}
        out[at] = result.before[c] + rate[c];
{% endif %}
      }
    };
{% if of_tensor %}
    EACH(w, I) EACH(x, 4) {
      const int n = (tile + w) * 16 + across + x / 2 * 8, e = set + 2 * along + x % 2;
      if (n < NP) EACH(y, C) EACH(c, 6) numbers[FIELD(e + 8 * y, n, c)] = sum[w][y][c][x];
    }
    __syncthreads();
    for (int x0 = t; x0 < E * NP; x0 += 2 * THREADS) {
      Result result[2];
      EACH(u, 2) {
        const int x = x0 + u * THREADS;
        start(result[u], {{ "x % E, x / E" if interleaved else "x / NP, x % NP" }}, x < E * NP);
      }
      EACH(u, 2) {
        real sums[6];
        EACH(c, 6) sums[c] = result[u].is_there ? numbers[FIELD(result[u].e, result[u].n, c)] : real(0);
        finish(result[u], sums);
      }
    }
{% else %}
    EACH(w, I) {
      Result result[J];
      EACH(v, J) start(result[v], set * I + w, NODE(v), is_active);
      EACH(v, J) finish(result[v], sum[v][w]);
    }
{% endif %}
    __syncthreads();
  }
{% else %}
  for (int batch = 0; batch < S; ++batch) {
    const int begin = first + (blockIdx.x * S + batch) * E;
    const int left = min(E, first + count - begin);
{% if "flux" in steps %}
    for (int x = t; x < E * N4; x += THREADS) {
      const int {{ "e = x % E, j = x / E" if interleaved else "j = x % N4, e = x / N4" }};
      if (e >= left) continue;
      const int n = face_nodes[j], k = begin + e;
      real own[6], result[6];
      EACH(c, 6) own[c] = q[AT(k, c, n)];
      numerical_flux(result, own, q, faces, neighbors, materials, corners, matrices + {{ weights }}, patterns, K, k, j,
                     time);
      EACH(c, 6) out[((size_t)k * 6 + c) * N4 + j] = result[c];
    }
{% else %}
    for (int x = t; x < E * 6 * NP; x += THREADS) {
      const int {{ order }};
      if (e >= left) continue;
      const int at = AT(begin + e, c, n);
      const real change = (a == 0 ? real(0) : a * residual[at]) + dt * added[at];
      residual[at] = change;
      out[at] = q[at] + b * change;
    }
{% endif %}
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


def _at_once(nodes, itemsize):
    """Entries of a matrix that a thread loads at once for each of its nodes: 16 bytes, or 8 where there are many."""
    return (16 if nodes <= 2 else 8) // itemsize


def matrices(element, itemsize):
    """What kernels read of an element: parts of a buffer, and the places of each form in it with its end.

    Derivatives and lift follow each other: at "tensor" for tensor cores, at a number of entries for threads of nodes
    that load so many columns at once. "weights" are barycentric coordinates of nodes on faces.
    """
    derivatives, faces = element.derivatives.transpose(0, 2, 1), element.lift.T.reshape(4, -1, element.n_nodes)
    forms = {n: (_by_node(derivatives, n), _by_node(faces, n)) for n in (16 // itemsize, 8 // itemsize)}
    forms["tensor"] = _tiles(element.derivatives, itemsize), _tiles(element.lift[None], itemsize)
    forms["weights"] = (element.nodes[element.face_nodes.ravel()].T,)
    parts = [np.pad(part.ravel(), (0, -part.size % 4)) for form in forms.values() for part in form]
    ends = iter(np.cumsum([part.size for part in parts]).tolist())
    places, end = {}, 0
    for name, form in forms.items():
        places[name] = [end, *(end := next(ends) for _ in form)]
    return parts, places


def _of_set(numbers, itemsize):
    """An expression: room for the numbers of a set of threads, an odd multiple of 16 bytes, so that sets that read
    at once are in different banks of shared memory."""
    at_once = 16 // itemsize
    return f"({numbers} + ({3 * at_once} - {numbers} % {2 * at_once}) % {2 * at_once})"


def source(problem, steps, **config):
    """The source of the kernel that does some of the steps of a `Problem`."""
    element, layout, itemsize = problem.element, problem.layout, problem.dtype.itemsize
    at_once, (_, places) = _at_once(config["nodes"], itemsize), matrices(element, itemsize)
    return _TEMPLATE.render(
        steps=steps.split(), real="double" if itemsize == 8 else "float", dtype=str(problem.dtype),
        np=element.n_nodes, nf=element.n_face_nodes, place=places["tensor" if config["lanes"] == "tensor" else at_once],
        weights=places["weights"][0], vector=at_once, tangential=_tangential(element),
        fields_of_set=_of_set("ROW * NP", itemsize), fluxes_of_set=_of_set("ROW * N4", itemsize),
        interleaved=layout.interleaved, at=layout.at, order=layout.order, flux=problem.flux,
        materials=problem.has_materials, kinds=list(problem.kinds), incident=problem.incident, **config,
    )  # fmt: skip


def _default(problem):
    """What is fast on an H200: tensor cores in float64, and from order 4 on; else two nodes a thread, 128 threads."""
    nodes, order, itemsize = problem.element.n_nodes, problem.order, problem.dtype.itemsize
    others = {"nodes": 2, "serial": 1, "matrices": "global", "unroll": 8, "columns": 1}
    if problem.capability >= (9, 0) and (itemsize == 8 or order >= 4):
        inline = 2 if itemsize == 8 and order >= 8 else 1
        return others | {"lanes": "tensor", "parallel": 1, "inline": inline, "blocks": 2 if order >= 8 else 0}
    threads = -(-nodes // 2)
    parallel = min((p for p in range(1, 65) if -(-p * threads // 32) * 32 <= 1.2 * p * threads),
                   key=lambda p: abs(p * threads - 128))  # fmt: skip
    return others | {
        "lanes": "node",
        "parallel": parallel,
        "inline": 2 if order >= 5 and itemsize == 4 else 1,
        "blocks": 0,
    }


@functools.cache
def kernel(problem, steps):
    """The tuned kernel that does some steps."""
    nodes, nf, itemsize = problem.element.n_nodes, problem.element.n_face_nodes, problem.dtype.itemsize
    has_volume, has_lift = "volume" in steps, "lift" in steps
    products = has_volume or has_lift
    parameters = {
        "lanes": ["node", *["tensor"] * (products and problem.capability >= (8, 0))],
        "parallel": [*range(1, 33), 48, 64, 96, 128],
        "inline": [1, 2, 3, 4] if products else [1],
        "nodes": [2, 1, 3, 4] if products else [1],
        "serial": [1, 2, 4],
        "matrices": ["global", "shared"] if products else ["global"],
        "unroll": [8, 4, 16] if products else [1],
        "blocks": [0, 2, 3, 4, 5, 6, 8, 10, 12, 16],
        "columns": [1, 2] if products else [1],
    }
    tiles, row = -(-nodes // 16), 8 * -(-max(nodes, 4 * nf * has_lift) // 8)
    batch = "(parallel * (inline if lanes == 'node' else 8 * columns))"
    of_set = f"ceil_div({nodes}, nodes)"
    threads = (
        f"(32 * (parallel * ceil_div({tiles}, inline) if lanes == 'tensor' else ceil_div({of_set} * parallel, 32)))"
    )
    # Columns are padded to at most four at once.
    entries = nodes * (3 * (nodes + -nodes % 4) * has_volume + 4 * (nf + -nf % 4) * has_lift)
    largest = max(nodes, 4 * nf * has_lift)
    of_node = f"(12 * {batch} + parallel * {_of_set(f'6 * inline * {largest}', itemsize)})"
    numbers = f"({batch} * {6 * row + 20} if lanes == 'tensor' else {entries} * (matrices == 'shared') + {of_node})"
    space = tune.Space(**parameters).require(
        f"{threads} <= 512", f"{threads} * max(1, blocks) <= 2048",
        f"{numbers} * {itemsize} <= {problem.max_shared}",
        f"lanes != 'node' or ({threads} <= 1.2 * {of_set} * parallel or parallel * {of_set} < 32)",
        f"lanes != 'node' or (inline * nodes <= {32 // itemsize} and nodes <= {nodes} and columns == 1)",
        f"lanes != 'tensor' or (parallel <= 8 and inline * columns <= 4 and inline <= {tiles})",
        "lanes != 'tensor' or (matrices == 'global' and unroll == 8 and nodes == 2)",
    ) if products else tune.Space(**parameters).require(f"{threads} <= 512")  # fmt: skip
    default = (
        _default(problem) if products else {"parallel": max(1, 256 // nodes), "inline": 1, "nodes": 1, "unroll": 1}
    )
    return tune.Kernel(
        functools.partial(source, problem, steps), "dg", space, block=threads,
        grid=f"ceil_div(count, {batch} * serial)", default=default, shared=f"{numbers} * {itemsize}" if products else 0,
    )  # fmt: skip
