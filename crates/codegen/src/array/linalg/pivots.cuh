// A row that may be the pivot, and the size of its element. NaN is larger than all numbers: a matrix with one is not
// singular for the zeros beside it.
struct Pivot { R size; int row; };

// Whether `a` goes before `b`: the larger one, or the first of equally large ones.
__device__ bool goes_before(Pivot a, Pivot b)
{
    if (a.size > b.size || (a.size != a.size && b.size == b.size)) return true;
    return (a.size == b.size || a.size != a.size && b.size != b.size) && a.row < b.row;
}

// The one of groups of `width` lanes that goes before the others.
__device__ Pivot first_of_lanes(Pivot mine, int width)
{
    for (int step = width / 2; step > 0; step /= 2) {
        Pivot other;
        other.size = __shfl_xor_sync(0xffffffffu, mine.size, step);
        other.row = __shfl_xor_sync(0xffffffffu, mine.row, step);
        if (goes_before(other, mine)) mine = other;
    }
    return mine;
}
