// The reflection that makes column k zero below its subdiagonal, whose vector v begins with 1 and takes the place of that
// column, and A v with the matrix A as it was before the panel; a warp for each row. Further rows are those of `right`,
// whose products correct it. `parts` are those of v^H A v.
#define WARPS (THREADS / 32)

extern "C" __global__ void array_tridiagonal_product(T *matrices, int n, int k, int i, T *taus, R *beside, T *lefts,
                                                     T *rights, T *inners, T *products, R *all_parts,
                                                     const T *columns, const R *all_squares, int count)
{
    __shared__ R shared_parts[WARPS];
    T *left = lefts + (I)blockIdx.x * 2 * PAIRS * n, *right = rights + (I)blockIdx.x * 2 * PAIRS * n;
    const T *x = columns + (I)blockIdx.x * n;
    int lane = threadIdx.x, own = blockIdx.y * WARPS + threadIdx.y, row = own + k + 1, extra = row - n;
    T *a = matrices + (I)blockIdx.x * n * n;
    int slot = extra < i ? extra : PAIRS + extra - i;
    const T *terms = row < n ? a + (I)row * n : right + (I)slot * n;
    T sum = made_of(0, 0);
    if (extra < 2 * i)
        for (int j = k + 2 + lane; j < n; j += 32) sum += terms[j] * x[j];
    R real = warp_sum(real_of(sum)), imag = IS_COMPLEX ? warp_sum(imag_of(sum)) : 0, rest = 0;
    for (int c = lane; c < count; c += 32) rest += all_squares[(I)blockIdx.x * count + c];
    rest = warp_sum(rest);
    T alpha = x[k + 1], tau = made_of(0, 0), inverse = made_of(0, 0);
    R beta = real_of(alpha), all = square_of(alpha) + rest;
    // What is smaller is as nothing beside the matrix, and its squares are not accurate.
    if (all > TINY / EPS && (rest != 0 || imag_of(alpha) != 0)) {
        beta = real_of(alpha) > 0 ? -sqrt(all) : sqrt(all);
        tau = made_of((beta - real_of(alpha)) / beta, -imag_of(alpha) / beta);
        inverse = made_of(1, 0) / (alpha - made_of(beta, 0));
    }
    R part = 0;
    if (lane == 0 && extra < 2 * i) {
        T product = terms[k + 1] + made_of(real, imag) * inverse;
        if (row < n) {
            T v = row == k + 1 ? made_of(1, 0) : x[row] * inverse;
            part = real_of(conj_of(v) * product);
            products[(I)blockIdx.x * n + row] = product;
            left[(I)i * n + row] = v;
            right[(I)(PAIRS + i) * n + row] = conj_of(v);
            a[(I)row * n + k] = v;
        } else {
            inners[(I)blockIdx.x * 2 * PAIRS + slot] = product;
        }
        if (own == 0) {
            taus[(I)blockIdx.x * n + k] = tau;
            beside[(I)blockIdx.x * n + k] = beta;
        }
    }
    if (lane == 0) shared_parts[threadIdx.y] = part;
    __syncthreads();
    if (lane != 0 || threadIdx.y != 0) return;
    for (int warp = 1; warp < WARPS; ++warp) part += shared_parts[warp];
    all_parts[(I)blockIdx.x * gridDim.y + blockIdx.y] = part;
}
