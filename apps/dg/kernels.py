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

With lanes="tensor" (compute capability 8.0) tensor cores do the products: a warp has tiles of eight elements and eight
nodes in float64, sixteen in float32, `inline` tiles one by one. A number of float32 is the sum of two of TF32, and
three of the four products of such sums are enough for the precision of float32. All derivatives of a field at a node
are sums of one thread, so that the rest is as before.
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
enum { P = {{ parallel }}, I = {{ inline if not of_tensor else 2 if is_double else 4 }}, S = {{ serial }} };
// What a thread has the results of: elements times nodes.
enum { J = {{ nodes }}, W = I * J };
enum { E = P * {{ "I" if of_node else "8" if of_tensor else "1" }} };
{% if of_tensor %}
// Rows of a tile, tiles of nodes, warps that share them; numbers of a tile that a thread has; banks between nodes.
enum { ROWS = {{ 8 if is_double else 16 }}, TILES = (NP + ROWS - 1) / ROWS };
enum { WARPS = (TILES + {{ inline }} - 1) / {{ inline }} };
enum { OF_MATRIX = {{ 1 if is_double else 4 }}, OF_FIELD = {{ 1 if is_double else 2 }}, DEPTH = 4 * OF_FIELD };
enum { THREADS = 32 * P * WARPS, PITCH = 6 * E + {{ 4 if is_double else 8 }} };
{% else %}
enum { NODES = (NP + {{ "J - 1) / J" if of_node else "I - 1) / I" }}, THREADS = (NODES * P + 31) / 32 * 32 };
{% if not of_node %}
// An odd distance between nodes, so that nodes of an element are in different banks.
enum { PITCH = 6 * E{{ " + 1" if is_transposed }} };
{% endif %}
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
enum { ROW = 6 * I, FIELDS = {{ fields_of_set }}, FLUXES = {{ fluxes_of_set }} };
#define FIELD(e, n, c) ((e) / I * FIELDS + (n) * ROW + (e) % I * 6 + (c))
#define FLUX(e, j, c) ((e) / I * FLUXES + (j) * ROW + (e) % I * 6 + (c))
{% else %}
#define FIELD(e, n, c) ((n) * PITCH + (c) * E + (e))
#define FLUX(e, j, c) ((j) * PITCH + (c) * E + (e))
{% endif %}
{% if of_tensor %}

{% if is_double %}
typedef double Part;

__device__ __forceinline__ Part part(double x) { return x; }

// Adds the product of two tiles to those of field c.
__device__ __forceinline__ void multiply_add(real (&d)[I][6], int c, const Part (&a)[1], const Part (&b)[1])
{
  asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 { %0, %1}, { %2}, { %3}, { %0, %1};"
      : "+d"(d[0][c]), "+d"(d[1][c]) : "d"(a[0]), "d"(b[0]));
}
{% else %}
struct Part { unsigned high, low; };

__device__ __forceinline__ unsigned tf32(float x)
{
  unsigned value;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(value) : "f"(x));
  return value;
}

__device__ __forceinline__ Part part(float x)
{
  const unsigned high = tf32(x);
  return {high, tf32(x - __uint_as_float(high))};
}

__device__ __forceinline__ void of_parts(
    real (&d)[4], unsigned a0, unsigned a1, unsigned a2, unsigned a3, unsigned b0, unsigned b1)
{
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
      "{ %0, %1, %2, %3}, { %4, %5, %6, %7}, { %8, %9}, { %0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
}

// Adds the product of two tiles to those of field c, small parts first. Tensor cores cut off what a sum has no room
// for, so sums over many tiles are those of threads, which round.
__device__ __forceinline__ void multiply_add(real (&d)[I][6], int c, const Part (&a)[4], const Part (&b)[2])
{
  real product[4] = {};
  of_parts(product, a[0].low, a[1].low, a[2].low, a[3].low, b[0].high, b[1].high);
  of_parts(product, a[0].high, a[1].high, a[2].high, a[3].high, b[0].low, b[1].low);
  of_parts(product, a[0].high, a[1].high, a[2].high, a[3].high, b[0].high, b[1].high);
  EACH(w, 4) d[w][c] += product[w];
}
{% endif %}

// What a thread has of a tile of a matrix (columns, PADDED): from a row and a column on.
__device__ __forceinline__ void load(Part (&a)[OF_MATRIX], const real *matrix, int row, int column, int columns)
{
  EACH(v, OF_MATRIX)
    a[v] = part(matrix[min(column + v / 2 * 4, columns - 1) * PADDED + min(row + v % 2 * 8, NP - 1)]);
}
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
{% set of_derivative = place[1] - place[0] %}
{% set n_entries = (of_derivative if "volume" in steps else 0) + ((4 * nf * row + 3) // 4 * 4 if "lift" in steps else 0) %}
{% if matrices == "shared" and n_entries %}
  {
    const real *from = {{ "derivative" if "volume" in steps else "lift" }};
    const int lines = {{ n_entries }} * sizeof(real) / sizeof(int4);
    for (int x = t; x < lines; x += THREADS) ((int4 *)shared)[x] = ((const int4 *)from)[x];
    derivative = shared;
    lift = shared + {{ of_derivative if "volume" in steps else 0 }};
    shared += {{ n_entries }};
    __syncthreads();
  }
{% endif %}
  real *const field = shared, *const flux = shared{{ " + P * FIELDS" if from_shared and of_node else " + PITCH * NP" if from_shared }};
  const real time = clock[0] + c0 * clock[1], dt = clock[1];
{% if of_tensor %}
  const bool is_active = true;
  const int set = t / 32 % P, across = t % 32 / 4, along = t % 4;
  #define NODE(w) (row + across + (w) / 2 * 8)
  #define ELEMENT(w) (set * 8 + along * 2 + (w) % 2)
{% elif of_node %}
  const bool is_active = t < NODES * P;
  const int node = t % NODES, set = t / NODES;
  #define NODE(w) (node + (w) / I * NODES)
  #define ELEMENT(w) (set * I + (w) % I)
  // Of the node of result w.
  #define DERIVATIVE(x, m, w) ((((x) * ((NP + VECTOR - 1) / VECTOR) + (m) / VECTOR) * NP + SOME_NODE(w)) * VECTOR)
  #define LIFT(j, w) (((j) / VECTOR * NP + SOME_NODE(w)) * VECTOR)
{% else %}
  const bool is_active = t < P * NODES;
  const int node = t / P * I, set = t % P;
  #define NODE(w) (node + (w))
  #define ELEMENT(w) set
{% endif %}
  #define SOME_NODE(w) min(NODE(w), NP - 1)
  #define IS_THERE(w) (is_active && ELEMENT(w) < left && NODE(w) < NP)
  for (int batch = 0; batch < S; ++batch) {
    const int begin = first + (blockIdx.x * S + batch) * E;
    const int left = min(E, first + count - begin);
    if (left <= 0) break;
{% if from_shared and of_node and not interleaved %}
    if (is_active) {
      EACH(v, J) if (NODE(v * I) < NP) {
        Row row;
        EACH(w, I) EACH(c, 6) row.at[w][c] = q[AT(begin + min(ELEMENT(w), left - 1), c, NODE(v * I))];
        *(Row *)(field + FIELD(set * I, NODE(v * I), 0)) = row;
      }
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
      Numbers own, result;
      const int n = face_nodes[j], k = begin + min(e, left - 1);
{% if of_node and from_shared %}
      own = *(const Numbers *)(field + FIELD(e, n, 0));
{% else %}
      EACH(c, 6) own.at[c] = {{ "field[FIELD(e, n, c)]" if from_shared else "q[AT(k, c, n)]" }};
{% endif %}
      numerical_flux(result.at, own.at, q, faces, neighbors, materials, corners, matrices + {{ weights }}, patterns, K,
                     k, j, time);
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
{% if of_tensor %}
    {{ "__syncthreads();" if has_fluxes }}
    const int one = set * 8 + across, k_one = begin + min(one, left - 1);
    for (int row = t / (32 * P) * ROWS; row < NP; row += WARPS * ROWS) {
{% endif %}
{% if "volume" in steps or "lift" in steps or "stage" in steps %}
    real sum[W][6];
    EACH(w, W) EACH(c, 6) sum[w][c] =
      {{ "0" if "volume" in steps else "IS_THERE(w) ? added[AT(begin + ELEMENT(w), c, NODE(w))] : real(0)" }};
{% endif %}
{% if "volume" in steps %}
    if (is_active) {
      real r[W][6] = {}, s[W][6] = {}, u[W][6] = {};
{% if of_tensor %}
      #pragma unroll 1
      for (int m0 = 0; m0 < NP; m0 += DEPTH) {
        Part d[3][OF_MATRIX];
        EACH(x, 3) load(d[x], derivative + x * NP * PADDED, row + across, m0 + along, NP);
        EACH(c, 6) {
          Part v[OF_FIELD];
          EACH(y, OF_FIELD) {
            const int m = m0 + along + 4 * y;
            const real x = m < NP ? {{ "field[FIELD(one, m, c)]" if from_shared else "q[AT(k_one, c, m)]" }} : real(0);
            v[y] = part(x);
          }
          multiply_add(r, c, d[0], v);
          multiply_add(s, c, d[1], v);
          multiply_add(u, c, d[2], v);
        }
      }
{% else %}
{% if not from_shared %}
      const real *source[{{ inline if of_node else 1 }}];
      EACH(w, {{ inline if of_node else 1 }}) source[w] = q + AT(begin + min(ELEMENT(w), left - 1), 0, 0);
{% endif %}
{% if of_node %}
      const auto add_products = [&](int m0, int count) {
        Entries d[3][J];
        EACH(x, 3) EACH(v, J) d[x][v] = *(const Entries *)(derivative + DERIVATIVE(x, m0, v * I));
        EACH(y, VECTOR) if (y < count) {
{% if from_shared %}
          const Row v = *(const Row *)(field + FIELD(set * I, m0 + y, 0));
{% else %}
          Row v;
          EACH(w, I) EACH(c, 6) v.at[w][c] = source[w][AT(0, c, m0 + y)];
{% endif %}
          EACH(w, W) EACH(c, 6) {
            r[w][c] += d[0][w / I].at[y] * v.at[w % I][c];
            s[w][c] += d[1][w / I].at[y] * v.at[w % I][c];
            u[w][c] += d[2][w / I].at[y] * v.at[w % I][c];
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
{% endif %}
      EACH(w, W) {
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
{% if has_fluxes and of_tensor %}
    #pragma unroll 1
    for (int j0 = 0; j0 < N4; j0 += DEPTH) {
      Part d[OF_MATRIX];
      load(d, lift, row + across, j0 + along, N4);
      EACH(c, 6) {
        Part v[OF_FIELD];
        EACH(y, OF_FIELD) v[y] = part(j0 + along + 4 * y < N4 ? flux[FLUX(one, j0 + along + 4 * y, c)] : real(0));
        multiply_add(sum, c, d, v);
      }
    }
{% elif has_fluxes %}
    __syncthreads();
    if (is_active) {
{% if of_node %}
      #pragma unroll {{ [unroll // vector, 1]|max }}
      for (int j0 = 0; j0 < N4; j0 += VECTOR) {
        Entries d[J];
        EACH(v, J) d[v] = *(const Entries *)(lift + LIFT(j0, v * I));
        EACH(y, VECTOR) {
          const Row v = *(const Row *)(flux + FLUX(set * I, j0 + y, 0));
          EACH(w, W) EACH(c, 6)
            sum[w][c] += d[w / I].at[y] * v.at[w % I][c];
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
    EACH(w, W) if (IS_THERE(w)) EACH(c, 6) sums[FIELD(ELEMENT(w), NODE(w), c)] = sum[w][c];
    __syncthreads();
    for (int x = t; x < E * 6 * NP; x += THREADS) {
      const int {{ order }};
      if (e >= left) continue;
      const int at = AT(begin + e, c, n);
      const real rate = sums[FIELD({{ result }})];
{% elif "volume" in steps or "lift" in steps or "stage" in steps %}
    EACH(w, W) if (IS_THERE(w)) EACH(c, 6) {
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
    {{ "}" if of_tensor }}
    __syncthreads();
  }
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


def _padded(matrix):
    """A matrix (..., nodes) with zeros up to `padded_length`."""
    nodes = matrix.shape[-1]
    return np.pad(matrix, [(0, 0)] * (matrix.ndim - 1) + [(0, padded_length(nodes) - nodes)])


def _by_node(matrix, count):
    """A matrix (..., columns, nodes) in which `count` consecutive columns of a node are together."""
    *others, columns, nodes = matrix.shape
    matrix = np.pad(matrix, [(0, 0)] * len(others) + [(0, -columns % count), (0, 0)])
    return np.moveaxis(matrix.reshape(*others, -1, count, nodes), -2, -1)


def _at_once(nodes, itemsize):
    """Entries of a matrix that a thread loads at once for each of its nodes: 16 bytes, or 8 where there are many."""
    return (16 if nodes <= 2 else 8) // itemsize


def matrices(element, itemsize):
    """What kernels read of an element: parts of a buffer, and the place of each by its name.

    "weights" are barycentric coordinates of nodes on faces. Derivatives and lift follow each other: at "element" for
    threads of elements (and tensor cores), at a number of entries for threads of nodes that load so many at once.
    """
    derivatives, lift = element.derivatives.transpose(0, 2, 1), element.lift.T
    forms = {"element": (_padded(derivatives), _padded(lift))}
    forms |= {n: (_by_node(derivatives, n), _by_node(lift, n)) for n in (16 // itemsize, 8 // itemsize)}
    parts, places = [], {}
    for name, form in (forms | {"weights": (element.nodes[element.face_nodes.ravel()].T,)}).items():
        places[name] = []
        for part in form:
            places[name].append(sum(p.size for p in parts))
            parts.append(np.pad(part.ravel(), (0, -part.size % 4)))
    return parts, places


def _of_set(numbers, itemsize):
    """An expression: room for the numbers of a set of threads, an odd multiple of 16 bytes, so that sets that read
    at once are in different banks of shared memory."""
    at_once = 16 // itemsize
    return f"({numbers} + ({3 * at_once} - {numbers} % {2 * at_once}) % {2 * at_once})"


def source(problem, steps, **config):
    """The source of the kernel that does some of the steps of a `Problem`."""
    element, layout, itemsize = problem.element, problem.layout, problem.dtype.itemsize
    parts, places = matrices(element, itemsize)
    inline, lanes, at_once = config["inline"], config["lanes"], _at_once(config["nodes"], itemsize)
    place = places[at_once if lanes == "node" else "element"]
    # Threads of elements load entries of consecutive nodes in vectors of at most 16 bytes.
    is_loaded = lanes == "element" and config["matrices"] in ("global", "shared")
    widths = [v for v in (4, 2) if v * itemsize <= 16 and is_loaded and inline % v == 0]
    return _TEMPLATE.render(
        entries=[", ".join(map(repr, m.ravel().tolist())) for m in parts[:2] if config["matrices"] == "source"],
        steps=steps.split(), real="double" if itemsize == 8 else "float", dtype=str(problem.dtype),
        np=element.n_nodes, nf=element.n_face_nodes, padded=padded_length(element.n_nodes), row=element.n_nodes if lanes == "node" else padded_length(element.n_nodes),
        place=place, weights=places["weights"][0], vector=at_once if lanes == "node" else max(widths, default=0),
        fields_of_set=_of_set("ROW * NP", itemsize), fluxes_of_set=_of_set("ROW * N4", itemsize),
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
    rows, pad = (8, 4) if problem.dtype.itemsize == 8 else (16, 8)
    of_tensor = ["tensor"] * (by_element and problem.has_tensor_cores)
    parameters = {
        "lanes": ["element", "node", *of_tensor]
        if by_element
        else ["node", "element"]
        if products or interleaved
        else ["node"],
        "parallel": sorted(_parallel(nodes), key=(32).__ne__) if by_element else _parallel(nodes),
        "inline": _inline(nodes, by_element, problem.dtype.itemsize) if products else [1],
        "nodes": [1, 2, 3, 4] if products else [1],
        "serial": [1, 2, 4, 8],
        "matrices": (["global", "shared"] + ["source"] * (nodes <= 10)) if products else ["global"],
        "fields": ["shared"] if not has_volume else ["global", "shared"] if interleaved else ["shared", "global"],
        "unroll": list(dict.fromkeys([2, 4, 8] + [nodes] * (nodes <= 35))) if products else [1],
        "blocks": [0, 2, 3, 4, 8],
    }
    tiles = -(-nodes // rows)
    batch = "(parallel * (inline if lanes == 'node' else 8 if lanes == 'tensor' else 1))"
    of_set = f"ceil_div({nodes}, nodes if lanes == 'node' else inline)"
    threads = (f"(32 * (parallel * ceil_div({tiles}, inline) if lanes == 'tensor' else "
               f"ceil_div({of_set} * parallel, 32)))")  # fmt: skip
    transposed = "" if interleaved else " or lanes == 'element'"
    # Columns of derivatives are at most those of four at once.
    rows_of = {"node": (nodes + -nodes % 4, nodes), "element": (nodes, padded_length(nodes))}
    of_node, of_other = (
        length * (3 * columns * has_volume + n4 * has_lift) + 8 for columns, length in rows_of.values()
    )
    entries = f"({of_node} if lanes == 'node' else {of_other})"
    pitch = f"({batch} * 6 + {pad} * (lanes == 'tensor') + {int(not interleaved)} * (lanes == 'element'))"

    def of_rows(count):
        of_set = f"parallel * {_of_set(f'6 * inline * {count}', problem.dtype.itemsize)}"
        return f"({of_set} if lanes == 'node' else {pitch} * {count})"

    of_batch = (f"({of_rows(nodes)} * (fields == 'shared'{transposed}) * {int(has_volume)} + "
                f"{of_rows(n4)} * {int(has_lift)})")  # fmt: skip
    numbers = f"({entries} * (matrices == 'shared') + {of_batch})"
    space = tune.Space(**parameters).require(
        f"{threads} <= 512", f"{threads} * max(1, blocks) <= 2048",
        f"{numbers} * {problem.dtype.itemsize} <= {problem.max_shared}",
        f"matrices != 'source' or (lanes == 'element' and inline == {nodes} and unroll == {nodes})",
        f"lanes != 'element' or (parallel >= 8 and inline <= {nodes})",
        f"lanes != 'element' or {by_element or not has_volume} or fields == 'shared'", 
        "lanes != 'node' or inline * nodes <= 4", "lanes == 'node' or nodes == 1",
        f"lanes != 'tensor' or (parallel <= 8 and inline <= {tiles} and unroll == 2)",
    )  # fmt: skip
    return tune.Kernel(
        functools.partial(source, problem, steps), "dg", space, block=threads,
        grid=f"ceil_div(count, {batch} * serial)", shared=f"{numbers} * {problem.dtype.itemsize}",
    )  # fmt: skip
