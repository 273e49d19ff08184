// Products of taps of a filter bank, for a thread with PY rows times PX adjacent columns of FILTERS results; before the kernels.
enum { VECTOR = 16 / (int)sizeof(A), WEIGHTS = FILTERS < VECTOR ? FILTERS : VECTOR };
template <int N, class E = A> struct alignas(sizeof(E) * N) rt_pack { E at[N]; };

// Adds the products of COUNT adjacent taps of a row; pixels begin at a multiple of a vector. Rows of a thread and taps have
// these distances.
template <int COUNT, int ROW_DISTANCE, int TAP_DISTANCE> __device__ __forceinline__ void rt_add(A (&sum)[PY][PX][FILTERS], const A *pixels, const A *taps)
{
  constexpr int WIDTH = (PX + COUNT - 1 + VECTOR - 1) / VECTOR;
  rt_pack<VECTOR> row[PY][WIDTH];
  #pragma unroll
  for (int p = 0; p < PY; p++)
    #pragma unroll
    for (int v = 0; v < WIDTH; v++) row[p][v] = *(const rt_pack<VECTOR> *)(pixels + p * ROW_DISTANCE + v * VECTOR);
  #pragma unroll
  for (int t = 0; t < COUNT; t++) {
    rt_pack<WEIGHTS> weight[FILTERS / WEIGHTS];
    #pragma unroll
    for (int v = 0; v < FILTERS / WEIGHTS; v++) weight[v] = *(const rt_pack<WEIGHTS> *)(taps + t * TAP_DISTANCE + v * WEIGHTS);
    #pragma unroll
    for (int p = 0; p < PY; p++)
      #pragma unroll
      for (int q = 0; q < PX; q++)
        #pragma unroll
        for (int f = 0; f < FILTERS; f++)
          sum[p][q][f] += row[p][(q + t) / VECTOR].at[(q + t) % VECTOR] * weight[f / WEIGHTS].at[f % WEIGHTS];
  }
}
