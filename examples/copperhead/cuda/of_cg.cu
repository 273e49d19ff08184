// Optical flow by preconditioned conjugate gradients, in two kernels for each iteration: the first makes the direction from
// the preconditioned residual, applies the 7-point operator to it, and its dot product; the second updates solution and
// residual, preconditions, and has the other dot product. Nothing is stored but what the next kernel needs.
const unsigned ALL = 0xffffffffu;
const int THREADS = 256;

struct Fields { const float *m1, *m2, *m3, *m4, *m5, *m6, *m7; };

// The sums of all blocks in `sum`, by the block that ends last. `ticket` is 0 before and after.
__device__ void sum_grid(float own, float *partials, unsigned *ticket, float *sum)
{
  __shared__ float parts[THREADS / 32];
  __shared__ bool is_last;
  for (int round = 0;; ++round) {
    for (int d = 16; d > 0; d /= 2) own += __shfl_down_sync(ALL, own, d);
    __syncthreads();
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = own;
    __syncthreads();
    if (threadIdx.x == 0) {
      own = 0;
      for (int w = 0; w < THREADS / 32; ++w) own += parts[w];
      if (round == 1) *sum = own;
      else {
        partials[blockIdx.x] = own;
        __threadfence();
        is_last = atomicInc(ticket, gridDim.x - 1) == gridDim.x - 1;
        __threadfence();
      }
    }
    __syncthreads();
    if (round == 1 || !is_last) return;
    own = 0;
    for (int k = threadIdx.x; k < gridDim.x; k += THREADS) own += partials[k];
  }
}

// The operator at pixel i for a field whose elements `at` gives.
template <class At> __device__ __forceinline__ float2 operator_at(const Fields &m, int i, int width, int n, At at)
{
  const float2 here = at(i), zero = make_float2(0, 0);
  const float2 above = i >= width ? at(i - width) : zero, left = i >= 1 ? at(i - 1) : zero;
  const float2 right = i + 1 < n ? at(i + 1) : zero, below = i + width < n ? at(i + width) : zero;
  const float m2 = m.m2[i], m4 = m.m4[i], m5 = m.m5[i], m6 = m.m6[i], m7 = m.m7[i];
  return make_float2(
    m.m1[i] * here.x + m2 * here.y + m4 * above.x + m5 * left.x + m6 * right.x + m7 * below.x,
    m2 * here.x + m.m3[i] * here.y + m4 * above.y + m5 * left.y + m6 * right.y + m7 * below.y);
}

// Pairs of u and v lie beside each other. Begins with the solution `x`: residual, blocks, z and norm.
extern "C" __global__ void __launch_bounds__(THREADS)
start(Fields m, const float *right_u, const float *right_v, const float2 *x, float2 *r, float2 *z, float4 *blocks,
      int width, int n, float *partials, unsigned *ticket, float *norm)
{
  float sum = 0;
  for (int i = blockIdx.x * THREADS + threadIdx.x; i < n; i += gridDim.x * THREADS) {
    const float2 made = operator_at(m, i, width, n, [=](int k) { return x[k]; });
    const float a = m.m1[i], b = m.m2[i], c = m.m3[i], inverse = 1 / (a * c - b * b);
    const float2 rest = make_float2(right_u[i] - made.x, right_v[i] - made.y);
    const float2 p = make_float2(inverse * (c * rest.x - b * rest.y), inverse * (a * rest.y - b * rest.x));
    blocks[i] = make_float4(inverse * c, -inverse * b, inverse * a, 0);
    r[i] = rest;
    z[i] = p;
    sum += rest.x * p.x + rest.y * p.y;
  }
  sum_grid(sum, partials, ticket, norm);
}

// direction = z + norm / last_norm * last_direction; product = operator of it; curvature = their dot product.
extern "C" __global__ void __launch_bounds__(THREADS)
apply(Fields m, const float2 *__restrict__ z, const float2 *__restrict__ last_direction, float2 *__restrict__ direction,
      float2 *__restrict__ product, int width, int n, int is_first, const float *norm, const float *last_norm,
      float *partials, unsigned *ticket, float *curvature)
{
  const float beta = is_first ? 0 : *norm / *last_norm;
  auto at = [=](int k) {
    const float2 a = z[k], b = last_direction[k];
    return make_float2(beta * b.x + a.x, beta * b.y + a.y);
  };
  float sum = 0;
  for (int i = blockIdx.x * THREADS + threadIdx.x; i < n; i += gridDim.x * THREADS) {
    const float2 own = at(i), made = operator_at(m, i, width, n, at);
    direction[i] = own;
    product[i] = made;
    sum += own.x * made.x + own.y * made.y;
  }
  sum_grid(sum, partials, ticket, curvature);
}

extern "C" __global__ void __launch_bounds__(THREADS)
advance(const float2 *__restrict__ direction, const float2 *__restrict__ product, const float4 *__restrict__ blocks,
        float2 *x, float2 *r, float2 *__restrict__ z, int n, const float *norm, const float *curvature, float *partials,
        unsigned *ticket, float *next_norm)
{
  const float alpha = *norm / *curvature;
  float sum = 0;
  for (int i = blockIdx.x * THREADS + threadIdx.x; i < n; i += gridDim.x * THREADS) {
    const float2 d = direction[i], q = product[i];
    float2 solution = x[i], rest = r[i];
    const float4 p = blocks[i];
    solution.x += alpha * d.x;
    solution.y += alpha * d.y;
    rest.x -= alpha * q.x;
    rest.y -= alpha * q.y;
    const float2 made = make_float2(p.x * rest.x + p.y * rest.y, p.y * rest.x + p.z * rest.y);
    x[i] = solution;
    r[i] = rest;
    z[i] = made;
    sum += rest.x * made.x + rest.y * made.y;
  }
  sum_grid(sum, partials, ticket, next_norm);
}
