// How products of sixteen-bit floats by tensor cores lie in shared memory: lines of 64 elements, whose eight chunks are
// exchanged by the line's number, so that neither copies nor reads of matrices meet in a bank. (The layout is the "128-byte
// swizzle" of compute capability 9.0.) Sums are float32, and rounded once.

// Lines along the common axis, or across it: then there is a block of DEPTH lines for every 64 elements.
struct rt_smem_layout {
  static __device__ __forceinline__ int at(int line, int item) { return item / 64 * (DEPTH * 128) + line * 128 + ((item % 64 / 8 ^ (line & 7)) << 4); }
  static constexpr int step(int lines) { return lines % 8 == 0 ? lines * 128 : -1; }
};

// Two adjacent elements of a row of the result, of which `room` are inside; finish(sum, v) is what is stored of the v-th.
template <class Finish> __device__ __forceinline__ void rt_store(O *to, bool even, int room, float left, float right, Finish finish) {
  if (even && room > 0) *(rt_pack<O, 2> *)to = rt_pack<O, 2>{{finish(left, 0), finish(right, 1)}};
  else {
    if (room > 0) to[0] = finish(left, 0);
    if (room > 1) to[1] = finish(right, 1);
  }
}
