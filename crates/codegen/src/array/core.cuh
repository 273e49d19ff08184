// What every kernel of arrays is written with: reading an element, converting between element types.
template <class T> struct rt_is_float { static const bool value = false; };
template <> struct rt_is_float<float> { static const bool value = true; };
template <> struct rt_is_float<double> { static const bool value = true; };
template <class T> struct rt_is_signed { static const bool value = T(-1) < T(0); };

// A record; only copied.
template <int N> struct rt_record { unsigned char bytes[N]; };

// Adjacent elements that are read and written at once.
template <class T, int N> struct alignas(sizeof(T) * N) rt_pack { T at[N]; };

// An element as it is computed with.
template <class T> __device__ __forceinline__ T rt_load(T x) { return x; }

template <class To> struct rt_to {
  template <class From> static __device__ __forceinline__ To from(From x) {
    if constexpr (rt_is_float<From>::value && !rt_is_float<To>::value) {
      // As processors convert: through a wider signed integer, so that negative numbers wrap.
      if constexpr (sizeof(To) < 4) return (To)(int)x;
      else if constexpr (sizeof(To) == 4) return (To)(long long)x;
      else if constexpr (rt_is_signed<To>::value) return (To)x;
      else return x < From(0) ? (To)(long long)x : (To)x;
    } else {
      return (To)x;
    }
  }
};
template <> struct rt_to<bool> {
  template <class From> static __device__ __forceinline__ bool from(From x) { return x != From(0); }
};
template <int N> struct rt_to<rt_record<N>> {
  static __device__ __forceinline__ rt_record<N> from(rt_record<N> x) { return x; }
};
template <class To, class From> __device__ __forceinline__ To rt_cast(From x) { return rt_to<To>::from(x); }
template <class T> __device__ __forceinline__ bool rt_true(T x) { return x != T(0); }
// Elements at any address, as fields of packed records have them.
template <class T> __device__ __forceinline__ T rt_gather_bytes(const char *from) {
  union { unsigned char bytes[sizeof(T)]; unsigned long long align; } all;
  #pragma unroll
  for (int k = 0; k < (int)sizeof(T); k++) all.bytes[k] = (unsigned char)from[k];
  return *(const T *)all.bytes;
}
template <class T> __device__ __forceinline__ void rt_scatter_bytes(char *to, T value) {
  #pragma unroll
  for (int k = 0; k < (int)sizeof(T); k++) to[k] = ((const char *)&value)[k];
}
