// The product from what is left of division by each modulus, by the Chinese remainder theorem: a sum of weights in limbs of
// LIMB_BITS bits, of which all operations but the last ones are exact.
typedef unsigned long long rt_length;

__device__ __forceinline__ double rt_double(unsigned x) { return __hiloint2double(0x43300000, x) - 4503599627370496.0; }

struct rt_limbs {
  double at[LIMBS], multiple;
  __device__ __forceinline__ void add(int s, unsigned rest) {
    const double x = rt_double(rest);
    #pragma unroll
    for (int l = 0; l < LIMBS; l++) at[l] = fma(x, rt_weight[s][l], at[l]);
    multiple = fma(x, rt_inverse[s], multiple);
  }
  __device__ __forceinline__ double total() const {
    const double n = rint(multiple);
    double high = 0.0, low = 0.0;
    #pragma unroll
    for (int l = LIMBS - 1; l >= 0; l--) {
      const double limb = fma(-n, rt_product[l], at[l]), scaled = high * LIMB;
      const double sum = scaled + limb, of_limb = sum - scaled;
      low = low * LIMB + ((scaled - (sum - of_limb)) + (limb - of_limb));
      high = sum;
    }
    return high + low;
  }
};

extern "C" __global__ void __launch_bounds__(256) array_matmul_join(E *out, const unsigned char *planes, const rt_vector *rows, const rt_vector *columns, rt_length m, rt_length n, rt_length pitch)
{
  const rt_length plane = m * pitch, groups = pitch / 4;
  for (rt_length at = blockIdx.x * (rt_length)256 + threadIdx.x; at < m * groups; at += gridDim.x * (rt_length)256) {
    const rt_length i = at / groups, j = at % groups * 4;
    if (j >= n) continue;
    rt_limbs limbs[4 * PARTS] = {};
    #pragma unroll
    for (int s = 0; s < MODULI; s++) {
      const unsigned char *from = planes + (rt_length)s * PARTS * plane + i * pitch + j;
      const unsigned first = *(const unsigned *)from;
#if PARTS == 2
      const unsigned second = *(const unsigned *)(from + plane);
#endif
      #pragma unroll
      for (int v = 0; v < 4; v++) {
        const unsigned x = first >> v * 8 & 255;
#if PARTS == 1
        limbs[v].add(s, x);
#else
        const unsigned y = second >> v * 8 & 255, rotated = (x + rt_modulus[s] - y) * rt_root[s];
        limbs[v * 2].add(s, x + y);
        limbs[v * 2 + 1].add(s, rotated - __umulhi(rotated, rt_magic_small[s]) * rt_modulus[s]);
#endif
      }
    }
    const int exponent = rows[i].exponent;
    #pragma unroll
    for (int v = 0; v < 4; v++) {
      if (j + v >= n) break;
      const int down = -exponent - columns[j + v].exponent;
#if PARTS == 1
      out[i * n + j + v] = (E)scalbn(limbs[v].total(), down);
#else
      E result;
      result.x = scalbn(limbs[v * 2].total(), down);
      result.y = scalbn(limbs[v * 2 + 1].total(), down);
      out[i * n + j + v] = result;
#endif
    }
  }
}
