// A row that may be the pivot, and the size of its element as an integer of two words, which is larger for larger sizes.
// NaN is larger than all numbers: a matrix with one is not singular for the zeros beside it.
struct Pivot { unsigned high, low; int row; };

// Of a row that is not there.
__device__ Pivot no_pivot() { return {0, 0, 0x7fffffff}; }

__device__ Pivot pivot_of(T x, int row)
{
    R size = magnitude(x);
    if (size != size) return {0xffffffffu, 0, row};
    if (sizeof(R) == 4) return {__float_as_uint((float)size), 0, row};
    return {(unsigned)__double2hiint(size), (unsigned)__double2loint(size), row};
}

// Whether `a` goes before `b`: the larger one, or the first of equally large ones.
__device__ bool is_better_pivot(Pivot a, Pivot b)
{
    if (a.high != b.high) return a.high > b.high;
    return a.low > b.low || a.low == b.low && a.row < b.row;
}

__device__ unsigned warp_max(unsigned x)
{
#if __CUDA_ARCH__ >= 800
    return __reduce_max_sync(0xffffffffu, x);
#else
    for (int step = 16; step > 0; step /= 2) {
        unsigned other = __shfl_xor_sync(0xffffffffu, x, step);
        x = x > other ? x : other;
    }
    return x;
#endif
}

// The one of a warp that goes before the others.
__device__ Pivot warp_best_pivot(Pivot own)
{
    Pivot first = {warp_max(own.high), 0, 0};
    bool is_left = own.high == first.high;
    unsigned all_left = __ballot_sync(0xffffffffu, is_left);
    if ((all_left & (all_left - 1)) == 0) {
        // Most often it is alone.
        int lane = 31 - __clz(all_left);
        first.low = __shfl_sync(0xffffffffu, own.low, lane);
        first.row = __shfl_sync(0xffffffffu, own.row, lane);
        return first;
    }
    if (sizeof(R) > 4) {
        first.low = warp_max(is_left ? own.low : 0);
        is_left = is_left && own.low == first.low;
    }
    first.row = 0x7fffffff - (int)warp_max(is_left ? 0x7fffffff - own.row : 0);
    return first;
}
