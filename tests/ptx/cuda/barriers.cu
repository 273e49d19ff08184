#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda/semaphore>
#include <cuda/latch>
#include <cuda_awbarrier_primitives.h>
#include <cuda_pipeline_primitives.h>
namespace cg = cooperative_groups;
using block_barrier = cuda::barrier<cuda::thread_scope_block>;
extern "C" __global__ void producer_consumer(const int *in, int *out, int n) {
    __shared__ block_barrier ready[2], filled[2];
    __shared__ int buffer[2][32];
    if (threadIdx.x < 2) { init(&ready[threadIdx.x], blockDim.x); init(&filled[threadIdx.x], blockDim.x); }
    __syncthreads();
    if (threadIdx.x < 32) for (int i = 0; i < n; i++) { ready[i % 2].arrive_and_wait(); buffer[i % 2][threadIdx.x] = in[32 * i + threadIdx.x]; auto t = filled[i % 2].arrive(); (void)t; }
    else {
        auto t1 = ready[0].arrive(), t2 = ready[1].arrive(); (void)t1; (void)t2;
        for (int i = 0; i < n; i++) { filled[i % 2].arrive_and_wait(); out[32 * i + threadIdx.x - 32] = buffer[i % 2][threadIdx.x - 32]; auto t = ready[i % 2].arrive(); (void)t; }
    }
}
extern "C" __global__ void parity(int *out) {
    __shared__ block_barrier b;
    if (threadIdx.x == 0) init(&b, blockDim.x);
    __syncthreads();
    b.arrive_and_drop(); b.wait_parity(false);
    auto t = b.arrive(2); b.wait(static_cast<block_barrier::arrival_token &&>(t)); b.wait(b.arrive());
    out[threadIdx.x] += (int)block_barrier::max();
}
extern "C" __global__ void barrier_copy(const float4 *in, float4 *out) {
    __shared__ block_barrier b; __shared__ float4 s[64]; __shared__ int t[64];
    if (threadIdx.x == 0) init(&b, blockDim.x);
    __syncthreads();
    auto block = cg::this_thread_block();
    cuda::memcpy_async(block, s, in, cuda::aligned_size_t<16>(sizeof s), b);
    cuda::memcpy_async(t + threadIdx.x, (const int *)in + threadIdx.x, sizeof(int), b);
    b.arrive_and_wait();
    out[threadIdx.x] = s[threadIdx.x]; out[threadIdx.x].x += t[threadIdx.x];
}
extern "C" __global__ void pipelined(const int *in, int *out, int n) {
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state; __shared__ int s[2][64];
    auto block = cg::this_thread_block(); auto p = cuda::make_pipeline(block, &state);
    for (int i = 0; i < n + 1; i++) {
        if (i < n) { p.producer_acquire(); cuda::memcpy_async(block, s[i & 1], in + 64 * i, cuda::aligned_size_t<4>(256), p); p.producer_commit(); }
        if (i) { p.consumer_wait(); out[64 * (i - 1) + threadIdx.x] = s[(i - 1) & 1][63 - threadIdx.x]; p.consumer_release(); }
    }
}
extern "C" __global__ void roles(const int *in, int *out, int n) {
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state; __shared__ int s[2][32];
    auto block = cg::this_thread_block(); auto role = threadIdx.x < 32 ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer;
    auto p = cuda::make_pipeline(block, &state, role);
    for (int i = 0; i < n; i++)
        if (threadIdx.x < 32) { p.producer_acquire(); cuda::memcpy_async(&s[i & 1][threadIdx.x], in + 32 * i + threadIdx.x, sizeof(int), p); p.producer_commit(); }
        else { p.consumer_wait(); out[32 * i + threadIdx.x - 32] = s[i & 1][threadIdx.x - 32]; p.consumer_release(); }
}
extern "C" __global__ void thread_pipeline(const int *in, int *out) {
    __shared__ int s[4][64]; auto p = cuda::make_pipeline();
    for (int i = 0; i < 4; i++) { p.producer_acquire(); cuda::memcpy_async(&s[i][threadIdx.x], in + 64 * i + threadIdx.x, sizeof(int), p); p.producer_commit(); }
    cuda::pipeline_consumer_wait_prior<1>(p); __syncthreads(); out[threadIdx.x] = s[0][63 - threadIdx.x] + s[2][threadIdx.x]; p.quit();
}
extern "C" __global__ void primitives(const int *in, int *out) {
    __shared__ __mbarrier_t b; __shared__ int s[64], r[64 * 4]; __shared__ long long l[64];
    if (threadIdx.x == 0) __mbarrier_init(&b, blockDim.x);
    __syncthreads();
    __pipeline_memcpy_async(&s[threadIdx.x], in + threadIdx.x, 4, 2); __pipeline_memcpy_async(&l[threadIdx.x], in + 2 * threadIdx.x, 8);
    __pipeline_memcpy_async(&r[threadIdx.x * 4], in + 4 * threadIdx.x, 16, 4); __pipeline_commit(); __pipeline_arrive_on(&b); auto t = __mbarrier_arrive(&b);
    while (!__mbarrier_test_wait(&b, t)); __pipeline_wait_prior(0);
    out[threadIdx.x] = s[threadIdx.x] + (int)l[threadIdx.x] + r[4 * threadIdx.x] + __mbarrier_token_pending_count(__mbarrier_arrive_and_drop(&b)) + __mbarrier_maximum_count();
    __syncthreads(); if (threadIdx.x == 0) __mbarrier_inval(&b);
}
extern "C" __global__ void group_copy(const int *in, int *out) {
    __shared__ int s[256]; auto block = cg::this_thread_block(); auto tile = cg::tiled_partition<32>(block);
    cg::memcpy_async(block, s, in, sizeof(int) * 256); cg::wait_prior<0>(block);
    cg::memcpy_async(tile, s + 32 * tile.meta_group_rank(), in + 7, cuda::aligned_size_t<4>(128)); cg::wait(tile); auto w = block.barrier_arrive(); block.barrier_wait(cg::thread_block::arrival_token(w));
    out[threadIdx.x] = s[threadIdx.x] + cg::reduce(tile, s[threadIdx.x], cg::bit_xor<int>()) + cg::exclusive_scan(tile, s[threadIdx.x]);
}
extern "C" __global__ void semaphores(cuda::counting_semaphore<cuda::thread_scope_device, 4> *a, cuda::latch<cuda::thread_scope_device> *l, cuda::barrier<cuda::thread_scope_device> *b) {
    a->acquire(); a->release(); l->count_down(); l->wait(); b->arrive_and_wait();
}
