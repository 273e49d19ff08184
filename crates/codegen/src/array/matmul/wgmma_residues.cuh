// What is left of sums divided by the modulus of their plane. The second factor's columns are such that a thread has 16
// adjacent ones.
#define RT_STORE_SUMS rt_store_sums(sum, out, m, n, row + (group - 1) * 64, column, batch RT_EPILOGUE_ARGUMENT);
__device__ __forceinline__ void rt_store_sums(const int (&sum)[COLUMNS / 8][4], O *out, rt_length m, rt_length n, int row, int column, int batch RT_EPILOGUE_PARAMETER)
{
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32 % 4;
  const unsigned modulus = rt_modulus[batch / PARTS], magic = rt_magic[batch / PARTS], shift = rt_shift[batch / PARTS];
  #pragma unroll
  for (int half = 0; half < 2; half++) {
    const rt_length i = row + warp * 16 + half * 8 + lane / 4;
    if (i >= m) continue;
    #pragma unroll
    for (int c = 0; c < COLUMNS / 64; c++) {
      const rt_length j = column + c * 64 + lane % 4 * 16;
      unsigned word[4];
      #pragma unroll
      for (int w = 0; w < 4; w++) {
        unsigned rest[4];
        #pragma unroll
        for (int v = 0; v < 4; v++) {
          const unsigned x = sum[c * 8 + w * 2 + v / 2][half * 2 + v % 2];
          rest[v] = x - (__umulhi(x, magic) >> shift) * modulus;
        }
        word[w] = __byte_perm(__byte_perm(rest[0], rest[1], 0x0040), __byte_perm(rest[2], rest[3], 0x0040), 0x5410);
      }
      if (j < n) *(uint4 *)(out + (batch * m + i) * n + j) = make_uint4(word[0], word[1], word[2], word[3]);
    }
  }
}
