// Reductions and scans of segments. Elements are divided into at most TILE ranges, whose length depends on their number
// alone, so results do not depend on the device or on scheduling. A block walks over a range by tiles. Ranges leave their
// last sums, which one block scans; then what a range has before its first head is combined with what comes before it.
typedef unsigned long long u64;

// Elements of a tile: their values, and whether a segment begins at them.
struct tile_memory {
  __align__(16) unsigned char values[sizeof(T) * TILE];
  __align__(16) unsigned char sums[sizeof(T) * THREADS];
  __align__(16) unsigned char carry[sizeof(T)];
  unsigned char heads[TILE], flags[THREADS];
  bool has_carry;
  u64 first_offset;
  __device__ __forceinline__ T *value() { return (T *)values; }
  __device__ __forceinline__ T *sum() { return (T *)sums; }
  __device__ __forceinline__ T *before() { return (T *)carry; }
};

// The first of ascending offsets that is at least `least`.
__device__ __forceinline__ u64 lower_bound(const long long *offsets, u64 count, long long least)
{
  u64 low = 0;
  while (low < count) {
    const u64 middle = (low + count) / 2;
    if (offsets[middle] < least) low = middle + 1;
    else count = middle;
  }
  return low;
}

// Replaces the values of a tile by those combined since the last head, with the carry where there is none, and the carry by
// the last of them; returns whether there is a head at all. All threads take part.
__device__ bool scan_tile(tile_memory &tile, unsigned here)
{
  const unsigned at = threadIdx.x, first = at * ITEMS;
  T *value = tile.value(), *sum = tile.sum();
  bool flag = false;
  T own = IDENTITY;
  for (unsigned i = first; i < first + ITEMS && i < here; ++i) {
    flag |= tile.heads[i] != 0;
    if (i > first && !tile.heads[i]) value[i] = combine(value[i - 1], value[i]);
    own = value[i];
  }
  sum[at] = own;
  tile.flags[at] = flag;
  __syncthreads();
  const unsigned used = (here + ITEMS - 1) / ITEMS;
  for (unsigned step = 1; step < used; step *= 2) {
    const bool has = at >= step && at < used && !flag;
    T other = IDENTITY;
    bool other_flag = false;
    if (has) { other = sum[at - step]; other_flag = tile.flags[at - step] != 0; }
    __syncthreads();
    if (has) {
      own = combine(other, own);
      flag = other_flag;
      sum[at] = own;
      tile.flags[at] = flag;
    }
    __syncthreads();
  }
  // What comes before this thread's elements.
  bool has = at > 0 && at < used;
  T prefix = IDENTITY;
  if (has) prefix = sum[at - 1];
  if (tile.has_carry && at < used && (at == 0 || !tile.flags[at - 1])) {
    prefix = has ? combine(tile.before()[0], prefix) : tile.before()[0];
    has = true;
  }
  for (unsigned i = first; has && i < first + ITEMS && i < here && !tile.heads[i]; ++i) value[i] = combine(prefix, value[i]);
  const bool found = tile.flags[used - 1] != 0;
  __syncthreads();
  if (at == 0) { tile.before()[0] = value[here - 1]; tile.has_carry = true; }
  __syncthreads();
  return found;
}

// Parameters: the result, per range what is combined since its last head, whether it has one, and what is combined to its
// first end; elements and their number; offsets and their number; elements of a range. For scans carries are given.
extern "C" __global__ __launch_bounds__(THREADS) void segments_ranges(O *out, T *last, unsigned char *has_head, T *first_part, const X *x, u64 n, const long long *offsets, u64 count, u64 length, bool has_carries)
{
  __shared__ tile_memory tile;
  const u64 begin = blockIdx.x * length, end = min(begin + length, n);
  if (threadIdx.x == 0) {
    tile.first_offset = lower_bound(offsets, count, (long long)begin);
    tile.has_carry = IS_SCAN && has_carries && blockIdx.x > 0;
    tile.before()[0] = tile.has_carry ? last[blockIdx.x - 1] : T(IDENTITY);
  }
  bool any_head = false;
  __syncthreads();
  u64 next = tile.first_offset;
  for (u64 base = begin; base < end; base += TILE) {
    const unsigned here = (unsigned)min((u64)TILE, end - base);
    for (unsigned i = threadIdx.x; i < here; i += THREADS) {
      tile.value()[i] = get(x[base + i]);
      tile.heads[i] = 0;
    }
    __syncthreads();
    // The last tile has the offset behind all elements too.
    const long long limit = (long long)(base + here) + (base + here == n);
    u64 j = next + threadIdx.x;
    int found;
    do {
      const long long offset = j < count ? offsets[j] : limit;
      // Of several segments that begin here all but one are empty.
      if (offset < limit && offset < (long long)(base + here) && (j == 0 || offsets[j - 1] < offset)) tile.heads[offset - (long long)base] = 1;
      found = __syncthreads_count(offset < limit);
      j += THREADS;
    } while (found == THREADS);
    const T carry = tile.before()[0];
    __syncthreads();
    any_head |= scan_tile(tile, here);
#if IS_SCAN
    if (out)
      for (unsigned i = threadIdx.x; i < here; i += THREADS) {
#if IS_EXCLUSIVE
        out[base + i] = rt_cast<O>(tile.heads[i] ? T(IDENTITY) : i > 0 ? tile.value()[i - 1] : carry);
#else
        out[base + i] = rt_cast<O>(tile.value()[i]);
#endif
      }
    next = j - threadIdx.x - THREADS + found;
#else
    // Segment j - 1 ends at offset j; segments that began before the range are completed later.
    j = next + threadIdx.x;
    do {
      const long long offset = j < count ? offsets[j] : limit;
      if (offset < limit && j > 0) {
        const long long start = offsets[j - 1];
        if (start == offset) out[j - 1] = rt_cast<O>(T(IDENTITY));
        else if (offset > (long long)begin) {
          const T value = offset > (long long)base ? tile.value()[offset - (long long)base - 1] : carry;
          if (start < (long long)begin) first_part[blockIdx.x] = value;
          else out[j - 1] = rt_cast<O>(value);
        }
      }
      found = __syncthreads_count(offset < limit);
      j += THREADS;
    } while (found == THREADS);
    next = j - threadIdx.x - THREADS + found;
#endif
    __syncthreads();
  }
  if (threadIdx.x == 0 && last && !(IS_SCAN && out)) {
    last[blockIdx.x] = tile.before()[0];
    has_head[blockIdx.x] = any_head;
  }
}

// What is combined since the last head at the end of each of `ranges` ranges, in place of that since the range's begin; for
// reductions completes segments that began in an earlier range.
extern "C" __global__ __launch_bounds__(THREADS) void segments_carries(O *out, T *last, const unsigned char *has_head, const T *first_part, unsigned ranges, u64 n, const long long *offsets, u64 count, u64 length)
{
  __shared__ tile_memory tile;
  for (unsigned i = threadIdx.x; i < ranges; i += THREADS) {
    tile.value()[i] = last[i];
    tile.heads[i] = has_head[i];
  }
  if (threadIdx.x == 0) { tile.has_carry = false; tile.before()[0] = T(IDENTITY); }
  __syncthreads();
  scan_tile(tile, ranges);
  for (unsigned i = threadIdx.x; i < ranges; i += THREADS) {
#if IS_SCAN
    last[i] = tile.value()[i];
#else
    if (i == 0) continue;
    const long long begin = (long long)(i * length), end = i + 1 == ranges ? (long long)n + 1 : begin + (long long)length;
    const u64 j = lower_bound(offsets, count, begin);
    if (j == 0 || j == count) continue;
    const long long offset = offsets[j];
    if (offset >= end) continue;
    const T carry = tile.value()[i - 1];
    out[j - 1] = rt_cast<O>(offset == begin ? carry : combine(carry, first_part[i]));
#endif
  }
}

// Notes in `state` the largest ~j of an offset j that is less than the one before it, or outside of 0 to n; else 0.
extern "C" __global__ __launch_bounds__(THREADS) void segments_check(u64 *state, const long long *offsets, u64 count, u64 n)
{
  for (u64 j = blockIdx.x * (u64)THREADS + threadIdx.x; j < count; j += gridDim.x * (u64)THREADS) {
    const long long offset = offsets[j];
    if (offset < (j ? offsets[j - 1] : 0) || offset > (long long)n) atomicMax(state, ~j);
  }
}
