// What kernels of nearest neighbours have in common. Defined before: `types.cuh`, the types Q and P of stored queries and points, A of
// distances, the constants D (dimensions), K (candidates of a list), IS_EXACT, IS_TENSOR (products of tensor cores),
// and METRIC_L2, METRIC_L1, METRIC_CHEBYSHEV
// or METRIC_COSINE.
#define NOTHING 0xffffffffu

__device__ __forceinline__ float rt_infinity(float) { return __int_as_float(0x7f800000); }
__device__ __forceinline__ double rt_infinity(double) { return __longlong_as_double(0x7ff0000000000000ll); }

// What numbers i of a query and a point add to a distance: in double without fused operations, so that the bits are those
// of a loop in C or NumPy.
__device__ __forceinline__ double rt_add_term(double sum, double q, double p)
{
#if METRIC_COSINE
  return __dadd_rn(sum, __dmul_rn(q, p));
#else
  const double t = __dadd_rn(q, -p);
  return METRIC_L2 ? __dadd_rn(sum, __dmul_rn(t, t)) : METRIC_L1 ? __dadd_rn(sum, fabs(t)) : fmax(sum, fabs(t));
#endif
}

// A distance as it is compared: squared for L2, negative cosines. In the order of dimensions.
__device__ double rt_exact_distance(const Q *query, const P *point, double query_norm, double point_norm)
{
  double sum = 0;
  for (int t = 0; t < D; ++t) sum = rt_add_term(sum, (double)rt_load(query + t), (double)rt_load(point + t));
#if METRIC_COSINE
  const double length = sqrt(query_norm) * sqrt(point_norm);
  return length > 0 ? -sum / length : 0.0;
#else
  return sum;
#endif
}

// How work is divided: blocks of queries, times slices of points where there are too few of these for the grid.
__device__ __forceinline__ unsigned rt_slices(unsigned query_blocks, unsigned grid, unsigned most)
{
  const unsigned slices = grid / max(query_blocks, 1u);
  return max(min(slices, most), 1u);
}

// The nearest candidates so far, in order; equal distances in order of indices, which have to come ascending.
struct rt_list {
  A value[K];
  unsigned index[K];
  A worst;

  __device__ __forceinline__ void clear()
  {
#pragma unroll UNROLL_LIST
    for (int j = 0; j < K; ++j) { value[j] = rt_infinity(A()); index[j] = NOTHING; }
    worst = rt_infinity(A());
  }

  __device__ __forceinline__ void add(A x, unsigned i)
  {
    if (!(x < worst)) return;
#if UNROLL_LIST > 1
    // Registers: every place is looked at.
#pragma unroll
    for (int j = K - 1; j > 0; --j) {
      const bool moves = x < value[j - 1], goes_here = x < value[j];
      index[j] = moves ? index[j - 1] : goes_here ? i : index[j];
      value[j] = moves ? value[j - 1] : goes_here ? x : value[j];
    }
    if (x < value[0]) { value[0] = x; index[0] = i; }
#else
    int j = K - 1;
    for (; j > 0 && x < value[j - 1]; --j) { value[j] = value[j - 1]; index[j] = index[j - 1]; }
    value[j] = x;
    index[j] = i;
#endif
    worst = value[K - 1];
  }

  __device__ __forceinline__ void store(A *values, unsigned *indices, size_t list)
  {
    for (int j = 0; j < K; ++j) { values[list * K + j] = value[j]; indices[list * K + j] = index[j]; }
  }
};

// Where work is and what it needs: stored vectors with their squared lengths (norms), in all of which there are `m` queries
// and `n` points. Where `selected` is given, only these queries are looked at, `*selected_count` of them.
#define RT_SEARCH const Q *queries, const P *points, const double *query_norms, const double *point_norms, \
  const double *largest_norm, unsigned m, unsigned n, const unsigned *selected, const unsigned *selected_count

// The error of a distance in float32 that was computed as D numbers of at most this size in all: rounding of terms and
// sums. Tensor cores align the terms of 16 products to the largest and cut them there, by at most 17 units of 2^-23 for each
// 16 (M. Fasi et al., PeerJ Computer Science 7, 2021), and halves lose 2^-22 of a product: below 4 times as much.
__device__ __forceinline__ double rt_rounding(double size) { return (IS_TENSOR ? 4 : 1) * 6.6e-8 * (D + 8) * size + D * 1e-44; }

// The squared length below which float32 loses numbers of products; a negative cosine times the length of the query, from a
// product. Points that are shorter are taken for near ones, or for neither near nor far in counts, and looked at again.
#define RT_MIN_SQUARED_NORM 1e-30
__device__ __forceinline__ float rt_cosine(float product, double norm, bool is_count)
{
  if (norm > 0 && norm < RT_MIN_SQUARED_NORM) return __int_as_float(is_count ? 0x7fffffff : 0xff800000);
  return norm > 0 ? product * (float)(-1 / sqrt(norm)) : 0.0f;
}

// How far a distance of float32 may be from the exact one, at most, and what makes an exact one comparable with it:
// products have no squared length of the query, and cosines its length.
struct rt_bound {
  double scale, shift, slack;
  __device__ rt_bound(double query_norm, double largest_norm, double size)
  {
    scale = 1;
    shift = 0;
#if METRIC_COSINE
    scale = sqrt(query_norm);
    slack = rt_rounding(scale);
#elif IS_PRODUCT
    shift = -query_norm;
    slack = rt_rounding(query_norm + largest_norm + size);
#else
    slack = rt_rounding(size);
#endif
    // Squares of these are infinite in float32.
    if (!(query_norm + largest_norm < 1e37)) slack = rt_infinity(1.0);
    if (METRIC_COSINE && query_norm > 0 && query_norm < RT_MIN_SQUARED_NORM) slack = rt_infinity(1.0);
  }
  __device__ double low(double exact) const { return exact * scale + shift - slack; }
  __device__ double high(double exact) const { return exact * scale + shift + slack; }
};

// Of vectors rounded to float16 (`round.cuh`): how much squared distances are enlarged at most, so that errors of points need
// not be known by products; the length to which vectors are scaled for cosines.
#define RT_SLACK (1.0 / 512)
#define RT_COSINE_LENGTH 8192.0

// What a point of this squared length, and squared error, adds to products: so that sums are at least what they stand for, or
// at most.
__device__ __forceinline__ float rt_initial_sum(double length, double error, bool is_upper)
{
  const double rounding = rt_rounding(length + (1 + 1 / RT_SLACK) * error);
  return is_upper ? __double2float_ru((length + error / RT_SLACK) / 2 + rounding)
                  : __double2float_rd((length - (1 + 1 / RT_SLACK) * error) / 2 - rounding);
}

// The limit of a list for a query of this squared length and this error, where the k-th smallest of any sums is known.
__device__ __forceinline__ float rt_list_limit(double sum, double2 query)
{
  const double rounding = rt_rounding(query.x / 2);
  const double most = sqrt((1 + RT_SLACK) * fmax(query.x + 2 * (sum + rounding), 0.0)) + 2 * query.y;
  return __double2float_ru(((1 + RT_SLACK) * most * most - query.x) / 2 + rounding);
}

// `radius` is squared for METRIC_L2.
// Counts point `i` where it is within the radius of the query: at once where float32 shows that, else by its exact distance.
#if METRIC_COSINE
#define RT_LIMIT (radius - 1)
#define RT_IS_WITHIN(value) (1 + (value) <= radius)
#else
#define RT_LIMIT radius
#define RT_IS_WITHIN(value) ((value) <= radius)
#endif
#if IS_EXACT
#define RT_COUNT(inside, value, low, high, query, i) inside += RT_IS_WITHIN(value);
#else
#define RT_COUNT(inside, value, low, high, query, i) \
  if (value < low) ++inside; \
  else if (!(value > high)) inside += RT_IS_WITHIN(rt_exact_distance( \
    queries + (size_t)(query) * D, points + (size_t)(i) * D, query_norms[query], point_norms[i]));
#endif

#if IS_EXACT
#define RT_ADD_TERM(sum, q, p) sum = rt_add_term(sum, q, p)
#elif METRIC_COSINE || IS_PRODUCT
#define RT_ADD_TERM(sum, q, p) sum = fmaf(q, p, sum)
#elif METRIC_L2
#define RT_ADD_TERM(sum, q, p) do { const A difference = (q) - (p); sum = fmaf(difference, difference, sum); } while (0)
#elif METRIC_L1
#define RT_ADD_TERM(sum, q, p) sum += fabsf((q) - (p))
#else
#define RT_ADD_TERM(sum, q, p) sum = fmaxf(sum, fabsf((q) - (p)))
#endif
