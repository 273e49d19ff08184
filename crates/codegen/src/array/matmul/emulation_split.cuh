// The factors of a product as integers: a power of two scales each row of the first one and each column of the second, a
// vector in what follows, and what is left of division by each modulus is a plane of bytes.
typedef long long rt_step;
typedef unsigned long long rt_length;

#define RT_VECTORS const char *from, rt_length count, rt_length k, rt_step across, rt_step along

__device__ __forceinline__ E rt_element(const char *from, rt_length vector, rt_length i, rt_step across, rt_step along) {
  return *(const E *)(from + (rt_step)vector * across + (rt_step)i * along);
}
__device__ __forceinline__ double rt_scaled(double x, int exponent) {
  // The power itself may be no double.
  const int half = exponent / 2;
  return x * __hiloint2double((half + 1023) << 20, 0) * __hiloint2double((exponent - half + 1023) << 20, 0);
}

// Sums are of 2^-down times absolute values.
struct rt_totals {
  double most, sum, squares;
  // What is not a number stays the maximum.
  __device__ __forceinline__ void raise(double x) { if (x > most || x != x) most = x; }
  __device__ __forceinline__ void add(double x, int down) {
    raise(x);
    x = rt_scaled(x, -down);
    sum += x;
    squares = fma(x, x, squares);
  }
  __device__ __forceinline__ void merge(const rt_totals &other) {
    raise(other.most);
    sum += other.sum;
    squares += other.squares;
  }
};

// A block has 32 vectors. Threads read adjacent elements, of a vector or of 32 vectors.
extern "C" __global__ void __launch_bounds__(256) array_matmul_scale(rt_vector *vectors, RT_VECTORS, double limit)
{
  __shared__ rt_totals parts[8][33];
  const int lane = threadIdx.x % 32, row = threadIdx.x / 32;
  const rt_length first = blockIdx.x * (rt_length)32;
  auto totals_of = [&](rt_length vector, rt_length begin, int step, int down) {
    rt_totals totals = {};
    if (vector < count)
      #pragma unroll 8
      for (rt_length i = begin; i < k; i += step) totals.add(RT_MAGNITUDE(rt_element(from, vector, i, across, along), 1.0), down);
    return totals;
  };
  auto all_totals = [&](bool again) {
    __syncthreads();
    if (K_CONTIGUOUS) {
      for (int v = row; v < 32; v += 8) {
        if (again && !(parts[0][v].most > 1e150 || parts[0][v].most < 1e-100)) continue;
        rt_totals totals = totals_of(first + v, lane, 32, again ? ilogb(parts[0][v].most) : 0);
        #pragma unroll
        for (int d = 16; d > 0; d /= 2) totals.merge({__shfl_xor_sync(~0u, totals.most, d), __shfl_xor_sync(~0u, totals.sum, d), __shfl_xor_sync(~0u, totals.squares, d)});
        __syncwarp();
        if (lane == 0) parts[0][v] = totals;
      }
    } else {
      const double most = parts[0][lane].most;
      const bool wanted = !again || most > 1e150 || most < 1e-100;
      rt_totals totals = {};
      if (wanted) totals = totals_of(first + lane, row, 8, again ? ilogb(most) : 0);
      __syncthreads();
      if (wanted) parts[row][lane] = totals;
      __syncthreads();
      if (row == 0 && wanted) for (int r = 1; r < 8; r++) parts[0][lane].merge(parts[r][lane]);
    }
    __syncthreads();
  };
  all_totals(false);
  const double most = row == 0 ? parts[0][lane].most : 1.0;
  // Squares of very large or small elements are no doubles.
  const bool is_extreme = most > 1e150 || (most < 1e-100 && most > 0.0);
  const bool is_finite = most <= 1.7976931348623157e308;
  const bool again = __syncthreads_or(is_extreme && is_finite);
  if (again) {
    if (row == 0 && !(is_extreme && is_finite)) parts[0][lane].most = 1.0;
    all_totals(true);
  }
  if (row > 0 || first + lane >= count) return;
  const bool rescaled = is_extreme && is_finite;
  const int unit = rescaled ? ilogb(most) : 0;
  const double norm = sqrt(parts[0][lane].squares) * (1.0 + 1e-6);
  rt_vector result = {most, 0, 0.0f, 0.0f, 0};
  if (!is_finite) result = {0.0, 0, __int_as_float(0x7fffffff), 0.0f, 1};
  else if (most > 0.0) {
    result.exponent = (int)floor(limit - log2(norm) - 1e-9) - unit;
    const double per_unit = 255.0 / rt_scaled(most, -unit);
    result.norm = (float)(norm * per_unit);
    result.sum = (float)(parts[0][lane].sum * per_unit * (1.0 + 1e-6));
  }
  vectors[first + lane] = result;
}

// Where a vector lies in a plane: 64 columns of the second factor in the order in which threads have their sums.
__device__ __forceinline__ int rt_place(int v) { return IS_SECOND ? v / 2 % 8 * 8 + v / 16 % 4 * 2 + v % 2 : v; }

// The eight digits, of base 256 and with a sign, of an integer.
__device__ __forceinline__ void rt_digits(long long x, int &low, int &high) {
  const unsigned long long shift = 0x8080808080808080ull, digits = ((unsigned long long)x + shift) ^ shift;
  low = (int)digits;
  high = (int)(digits >> 32);
}
__device__ __forceinline__ int rt_mod_small(int s, int low, int high, int coefficient_low, int coefficient_high, int start) {
  return __dp4a(low, coefficient_low, __dp4a(high, coefficient_high, start));
}
__device__ __forceinline__ unsigned rt_rest_small(int s, int x) { return x - __umulhi(x, rt_magic_small[s]) * rt_modulus[s]; }

// A block has 64 vectors by LENGTH elements of them.
constexpr int LENGTH = SPLIT_THREADS / 4;
extern "C" __global__ void __launch_bounds__(SPLIT_THREADS) array_matmul_split(unsigned char *planes, rt_vector *vectors, RT_VECTORS, rt_length plane, rt_length pitch)
{
  constexpr int ROW = LENGTH + LENGTH / 16 + 1;
  __shared__ E tile[64 * ROW];
  const rt_length first = blockIdx.y * (rt_length)64, begin = blockIdx.x * (rt_length)LENGTH;
  #pragma unroll 4
  for (int at = threadIdx.x; at < 64 * LENGTH; at += SPLIT_THREADS) {
    const int v = K_CONTIGUOUS ? at / LENGTH : at % 64, i = K_CONTIGUOUS ? at % LENGTH : at / 64;
    E x = {};
    if (first + v < count && begin + i < k) x = rt_element(from, first + v, begin + i, across, along);
    tile[v * ROW + i + i / 16] = x;
  }
  __syncthreads();
  const int v = threadIdx.x / (LENGTH / 16), part = threadIdx.x % (LENGTH / 16);
  const rt_vector vector = first + v < count ? vectors[first + v] : rt_vector{};
  int low[16 * PARTS], high[16 * PARTS];
  unsigned magnitude[4] = {};
  bool is_rounded = false;
  const double per_unit = vector.most > 0.0 ? 255.0 / vector.most : 0.0;
  #pragma unroll
  for (int i = 0; i < 16; i++) {
    const E x = tile[v * ROW + part * 17 + i];
    #pragma unroll
    for (int c = 0; c < PARTS; c++) {
      const double scaled = vector.most > 0.0 ? rt_scaled(RT_PART(x, c), vector.exponent) : 0.0;
      const long long integer = __double2ll_rn(scaled);
      // Scaling may lose a number altogether.
      is_rounded |= (double)integer != scaled || (integer == 0 && RT_PART(x, c) != 0.0);
      rt_digits(integer, low[i * PARTS + c], high[i * PARTS + c]);
    }
    // Not more than it is, so that sums of products are bounds from below.
    const double share = vector.most < 1e-290 ? RT_MAGNITUDE(x, 0x1p500) * 255.0 / (vector.most * 0x1p500) : RT_MAGNITUDE(x, 1.0) * per_unit;
    const unsigned units = vector.most > 0.0 ? (unsigned)fmin(share * (1.0 - 1e-6), 255.0) : 0;
    magnitude[i / 4] |= units << i % 4 * 8;
  }
  if (is_rounded) vectors[first + v].is_rounded = 1;
  const rt_length at = (first + rt_place(v)) * pitch + begin + part * 16;
  if (begin + part * 16 >= pitch || (!IS_SECOND && first + v >= count)) return;
  unsigned char *to = planes + at;
  #pragma unroll 1
  for (int s = 0; s < MODULI; s++) {
    unsigned words[PARTS][4] = {};
    #pragma unroll
    for (int i = 0; i < 16; i++) {
#if PARTS == 1
      const unsigned rest = rt_rest_small(s, rt_mod_small(s, low[i], high[i], rt_low[s], rt_high[s], rt_start[s]));
      words[0][i / 4] |= rest << i % 4 * 8;
#else
      // With a root of -1, a complex number is two integers whose products are independent.
      const int real = rt_mod_small(s, low[i * 2], high[i * 2], rt_low[s], rt_high[s], rt_start[s]);
      const int imaginary = rt_mod_small(s, low[i * 2 + 1], high[i * 2 + 1], rt_root_low[s], rt_root_high[s], 0);
      words[0][i / 4] |= rt_rest_small(s, real + imaginary) << i % 4 * 8;
      words[1][i / 4] |= rt_rest_small(s, real - imaginary) << i % 4 * 8;
#endif
    }
    #pragma unroll
    for (int c = 0; c < PARTS; c++) {
      *(uint4 *)to = make_uint4(words[c][0], words[c][1], words[c][2], words[c][3]);
      to += plane;
    }
  }
  *(uint4 *)to = make_uint4(magnitude[0], magnitude[1], magnitude[2], magnitude[3]);
}
